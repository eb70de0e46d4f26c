/* step_friction.c - stops joints within a step of integration by sharp Coulomb friction (step_friction.h). */
#include "step_friction.h"
#include "dynamics/joint_stiction/friction_rows.h"
#include <math.h>
#include <string.h>

/* Relative compliance of a motor below which the joints that have stopped hold it already. */
#define HELD_ALREADY 1e-12

/* --- request ---------------------------------------------------------------------------------------------------- */

bool api_step_friction_read(api_query *q, const api_held_ranges *held, dyn_step_method method, const api_node *given,
                            const api_place *up, const api_static_friction **friction)
{
    api_place at     = api_place_key(up, "friction_at_rest");
    bool      impact = false;
    *friction        = NULL;
    if (!api_static_friction_read(q, given, up, friction) || !api_static_friction_check_coordinates(q, up, *friction))
        return false;
    for (size_t r = 0; r < held->n; r++)
        impact = impact || held->range[r].impact;
    if (*friction && impact)
        return api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                           "friction_at_rest \"stick\" is not for steps that begin with an impact: ask impact for the "
                           "velocities after it, and start from these");
    return !*friction || method == DYN_EXPLICIT_EULER || method == DYN_SEMI_IMPLICIT_EULER ||
           api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                       "friction_at_rest \"stick\" is for the integrators explicit_euler and semi_implicit_euler");
}

/* --- lanes ------------------------------------------------------------------------------------------------------ */

/* Arrays of one block. */
typedef struct arrays {
    double *tau, *A, *B, *stops, *slides; /* in lanes, of the step without friction: nv; matrices of the step 2 nv x 2
                                             nv and 2 nv x nv; n each */
    double *M, *inverse, *qdd, *singular; /* in lanes, without held frames: nv x nv, nv x nv, nv, 1 */
    double *block, *v, *positive, *negative; /* one state: n x n; n each: problem of stiction_solver.h */
    double *diagonal, *size, *f, *room;      /* one state: n each, and the scratch memory of stiction_solver.h */
    double *effect;                          /* one state: 2 nv, change of the state by a unit effort of a motor */
    size_t *coordinate;                      /* [n] velocity coordinate of each joint that may stop */
    int    *side;                            /* [n] result of stiction_solver.h for each row */
} arrays;

size_t api_step_friction_joints(const api_static_friction *friction)
{
    size_t n = 0;
    if (friction) api_static_friction_joints(friction, &n);
    return n;
}

static size_t friction_entries(size_t nv, size_t n)
{
    return 8 * nv * nv + 2 * nv + 2 * n + 1 + n * n + 9 * n + 2 * nv + dyn_friction_problem_entries(n);
}

size_t api_step_friction_entries(const api_model *m, const api_static_friction *friction)
{
    return friction ? friction_entries(m->nv, api_step_friction_joints(friction)) : 0;
}

size_t api_step_friction_work(const api_query *q, const api_held_ranges *held, const api_static_friction *friction)
{
    const size_t n    = api_step_friction_joints(friction);
    size_t       most = 0;
    for (size_t r = 0; n > 0 && r < held->n; r++) {
        const dyn_held_set *contact = held->range[r].contact;
        const size_t        entries = dyn_step_held_work(q->model->dyn, q->scene.n_wrenches, contact ? contact->n : 0,
                                                         n + (contact ? contact->k : 0));
        if (entries > most) most = entries;
    }
    return most;
}

static arrays lay_out(size_t nv, size_t n, size_t W, double *room)
{
    arrays         a      = {.tau = NULL};
    double **const part[] = {&a.tau,      &a.A,        &a.B,        &a.stops, &a.slides, &a.M,
                             &a.inverse,  &a.qdd,      &a.singular, &a.block, &a.v,      &a.positive,
                             &a.negative, &a.diagonal, &a.size,     &a.f,     &a.room,   &a.effect};
    const size_t   lanes  = nv * W;
    const size_t   of[]   = {lanes,
                             4 * nv * lanes,
                             2 * nv * lanes,
                             n * W,
                             n * W,
                             nv * lanes,
                             nv * lanes,
                             lanes,
                             W,
                             n * n,
                             n,
                             n,
                             n,
                             n,
                             n,
                             n,
                             dyn_friction_problem_entries(n),
                             2 * nv};
    for (size_t i = 0; i < sizeof of / sizeof *of; room += of[i++])
        *part[i] = room;
    void *integers = room; /* the memory of 2 n doubles holds the integers */
    a.coordinate   = integers;
    a.side         = (int *)(a.coordinate + n);
    return a;
}

/* A block of states: the joints and motors that may stick, and the arrays. */
typedef struct friction_block {
    const dyn_model          *tree;
    const dyn_stiction_joint *joint; /* [n] joints, then motors of transmissions */
    size_t                    n, n_joints, nv, W;
    const double             *qd; /* nv in lanes, velocities before the step; NULL: zero */
    bool                      fused;
    arrays                    a;
} friction_block;

/* The row that gives the rate of a joint or motor from the velocities: a sum of weight[j] qd[v[j]]. */
typedef struct friction_row {
    size_t n, v[DYN_MAX_DRIVEN];
    double weight[DYN_MAX_DRIVEN];
} friction_row;

static friction_row row_of(const friction_block *b, size_t i)
{
    const dyn_drive *drive = b->joint[i].drive;
    friction_row     row   = {.n = 1, .v = {b->joint[i].v}, .weight = {1}};
    if (!drive) return row;
    row.n = drive->n;
    for (size_t j = 0; j < drive->n; j++) {
        row.v[j]      = (size_t)drive->joint[j];
        row.weight[j] = drive->weight[j];
    }
    return row;
}

/* Returns the sum of a row's weights times the entries of x, `stride` apart. */
static double along(const friction_row *row, const double *x, size_t stride)
{
    double sum = 0;
    for (size_t j = 0; j < row->n; j++)
        sum += row->weight[j] * x[row->v[j] * stride];
    return sum;
}

/* Adds an effort of a joint or motor to tau in one lane. */
static void add_effort(const friction_block *b, size_t i, double effort, size_t lane)
{
    const friction_row row = row_of(b, i);
    for (size_t j = 0; j < row.n; j++)
        b->a.tau[row.v[j] * b->W + lane] += row.weight[j] * effort;
}

static double rate_of(const friction_block *b, size_t i, size_t lane)
{
    const dyn_friction_state state = {.qd = b->qd, .W = b->W, .lane = lane, .fused = b->fused};
    if (!b->qd) return 0;
    if (b->joint[i].drive) return dyn_friction_motor_rate(&state, b->joint[i].drive);
    return b->qd[b->joint[i].v * b->W + lane];
}

/* Returns the size of the sharp friction of joint i in the direction `side`: with Stribeck's curve at the rate before
 * the step.
 */
static double limit_of(const friction_block *b, size_t i, int side, size_t lane)
{
    const dyn_stiction_joint *j = &b->joint[i];
    if (j->stribeck) return fabs(dyn_stiction_sliding(b->tree, j, side, rate_of(b, i, lane)));
    return side > 0 ? j->positive : j->negative;
}

/* Adds the sharp friction that the kernel subtracts, by the sign of the velocity before the step. */
static void leave_out_friction(const friction_block *b)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t lane = 0; lane < b->W; lane++) {
            const double rate = rate_of(b, i, lane);
            if (rate != 0) add_effort(b, i, rate > 0 ? limit_of(b, i, 1, lane) : -limit_of(b, i, -1, lane), lane);
        }
}

/* Finds the diagonal of B, and the sizes of the terms of v, of the robot without held frames in one lane: sizes are at
 * most |L^-1 e_i| |L^T v| with M = L L^T. */
static void set_sizes(const friction_block *b, double h, size_t lane)
{
    const arrays *a  = &b->a;
    const size_t  nv = b->nv, W = b->W;
    double        energy = 0;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            const double v = (b->qd ? b->qd[i * W + lane] : 0) + h * a->qdd[i * W + lane];
            const double u = (b->qd ? b->qd[j * W + lane] : 0) + h * a->qdd[j * W + lane];
            energy += v * a->M[(i * nv + j) * W + lane] * u;
        }
    for (size_t i = 0; i < b->n; i++) {
        const friction_row row = row_of(b, i);
        double             own = 0;
        for (size_t j = 0; j < row.n; j++)
            own += row.weight[j] * along(&row, &a->inverse[row.v[j] * nv * W + lane], W);
        a->diagonal[i] = h * own;
        a->size[i]     = sqrt(own * energy) + fabs(a->v[i]);
    }
}

/* Returns the change of the velocity along a row per unit effort of joint or motor j, from the matrix B. */
static double compliance(const friction_block *b, const double *B, const friction_row *row, size_t j, size_t lane)
{
    const size_t       nv  = b->nv;
    const friction_row to  = row_of(b, j);
    double             sum = 0;
    for (size_t r = 0; r < row->n; r++)
        sum += row->weight[r] * along(&to, B + (nv + row->v[r]) * nv * b->W + lane, b->W);
    return sum;
}

/* Decides which joints and motors of one lane stop: subtracts the friction from tau and sets `stops` and `side`. */
static dyn_friction_status decide(const friction_block *b, const dyn_step *first, bool held, size_t lane)
{
    const arrays              *a     = &b->a;
    const api_step_clock      *clock = first->clock;
    const size_t               n = b->n, W = b->W;
    const dyn_friction_problem p = {.n             = n,
                                    .A             = a->block,
                                    .b             = a->v,
                                    .positive      = a->positive,
                                    .negative      = a->negative,
                                    .free_diagonal = held ? a->diagonal : NULL,
                                    .size          = held ? a->size : NULL,
                                    .f             = a->f,
                                    .side          = a->side,
                                    .room          = a->room};
    for (size_t i = 0; i < n; i++) {
        const friction_row row = row_of(b, i);
        a->v[i]                = along(&row, first->qd_after + lane, W);
        a->positive[i]         = limit_of(b, i, 1, lane);
        a->negative[i]         = limit_of(b, i, -1, lane);
        for (size_t j = 0; j < n; j++)
            a->block[i * n + j] = compliance(b, first->input_matrix, &row, j, lane);
    }
    if (held) set_sizes(b, first->h, lane);
    const dyn_friction_status status = dyn_friction_problem_solve(&p, api_deadline_for_dynamics(clock->deadline));
    if (status == DYN_FRICTION_STOPPED) api_deadline_check(clock->deadline, clock->problem); /* writes the problem */
    for (size_t i = 0; status == DYN_FRICTION_FOUND && i < n; i++) {
        add_effort(b, i, -a->f[i], lane);
        a->stops[i * W + lane]  = a->side[i] == 0;
        a->slides[i * W + lane] = a->side[i];
    }
    return status;
}

/* Finds the mass matrix, its inverse and the accelerations without held frames and without the friction of the joints.
 */
static void evaluate_unheld(const friction_block *b, const api_step_means *by, const dyn_step *io)
{
    const arrays        *a    = &b->a;
    dyn_mass_matrix      mass = {.q = io->q, .mass_matrix = a->M, .inverse = a->inverse, .singular = a->singular};
    dyn_forward_dynamics free = {
        .q = io->q, .qd = io->qd, .tau = a->tau, .wrenches = io->wrenches, .qdd = a->qdd, .singular = a->singular};
    by->kernels->mass_matrix(by->scene, by->workspace, &mass, 1);
    by->kernels->forward_dynamics(by->scene, by->workspace, &free, 1);
}

/* --- a step ----------------------------------------------------------------------------------------------------- */

/* Evaluates the step without the friction of the joints, with A and B. */
static dyn_step evaluate_free(const api_step_means *by, const dyn_step *io, const arrays *a)
{
    dyn_step first         = *io;
    first.tau              = a->tau;
    first.state_matrix     = a->A;
    first.input_matrix     = a->B;
    first.wrench_matrix    = NULL;
    first.parameter_matrix = NULL;
    api_step_integrate(by, &first);
    return first;
}

/* Corrects A for a joint that reverses within the step and whose friction follows Stribeck's curve. The kernel
 * differentiates the friction -sign(qd) f(|qd|) at the rate qd before the step; the friction of the reversed motion has
 * the opposite sign, and so has its slope. */
static void correct_slopes(const friction_block *b, const dyn_step *io, size_t i)
{
    const friction_row row = row_of(b, i);
    const size_t       nv = b->nv, W = b->W;
    for (size_t lane = 0; lane < W; lane++) {
        const double rate = rate_of(b, i, lane), side = b->a.slides[i * W + lane];
        if (!(rate * side < 0)) continue;
        const double slope =
            dyn_stiction_slope(b->tree, &b->joint[i], 1, rate) + dyn_stiction_slope(b->tree, &b->joint[i], -1, rate);
        for (size_t r = 0; r < 2 * nv; r++) {
            const double effect = slope * along(&row, io->input_matrix + r * nv * W + lane, W);
            for (size_t j = 0; j < row.n; j++)
                io->state_matrix[(r * 2 * nv + nv + row.v[j]) * W + lane] += row.weight[j] * effect;
        }
    }
}

/* X -= effect y / own for a matrix X (2 nv x columns in lanes) of derivatives of the state after the step, where y are
 * those of a motor's rate. */
static void hold_columns(const friction_block *b, const friction_row *row, double own, double *X, size_t columns,
                         size_t lane)
{
    const size_t nv = b->nv, W = b->W;
    for (size_t c = 0; X && c < columns; c++) {
        const double y = along(row, X + (nv * columns + c) * W + lane, columns * W) / own;
        for (size_t r = 0; r < 2 * nv; r++)
            X[(r * columns + c) * W + lane] -= b->a.effect[r] * y;
    }
}

/* Changes the derivatives of a lane to those of a step in which motor i has no velocity: its effort follows from that.
 */
static void hold_motor(const friction_block *b, const api_step_means *by, const dyn_step *io, size_t i, size_t lane)
{
    const friction_row row = row_of(b, i);
    const size_t       nv = b->nv, W = b->W, wrenches = by->scene->n_wrenches;
    for (size_t r = 0; r < 2 * nv; r++)
        b->a.effect[r] = along(&row, io->input_matrix + r * nv * W + lane, W);
    const double own = along(&row, b->a.effect + nv, 1);
    if (!(own > HELD_ALREADY * compliance(b, b->a.B, &row, i, lane))) return;
    for (size_t w = 0; io->wrench_matrix && w < wrenches; w++)
        hold_columns(b, &row, own, io->wrench_matrix + w * 12 * nv * W, 6, lane);
    hold_columns(b, &row, own, io->parameter_matrix, 10 * (size_t)by->scene->model->n_rows, lane);
    hold_columns(b, &row, own, io->state_matrix, 2 * nv, lane);
    hold_columns(b, &row, own, io->input_matrix, nv, lane);
}

/* Evaluates the step with the friction that `decide` has found. */
static void evaluate_final(const friction_block *b, const api_step_means *by, dyn_step io)
{
    for (size_t i = 0; i < b->n_joints; i++)
        b->a.coordinate[i] = b->joint[i].v;
    io.tau        = b->a.tau;
    io.n_stopping = b->n_joints;
    io.stopping   = b->a.coordinate;
    io.stops      = b->a.stops;
    api_step_integrate(by, &io);
    for (size_t i = 0; io.state_matrix && i < b->n; i++)
        if (b->joint[i].stribeck) correct_slopes(b, &io, i);
    for (size_t i = b->n_joints; io.state_matrix && i < b->n; i++)
        for (size_t lane = 0; lane < b->W; lane++)
            if (b->a.stops[i * b->W + lane] != 0) hold_motor(b, by, &io, i, lane);
}

/* Marks all lanes as stopped by the deadline. */
static void stop(const dyn_step *io, size_t W)
{
    for (size_t lane = 0; lane < W; lane++)
        io->unsolved[lane] = DYN_STEP_STOPPED;
}

void api_step_friction_apply(const api_static_friction *friction, const api_step_means *by, const dyn_step *io,
                             double *sticking)
{
    const size_t   nv = (size_t)(by->joints ? by->joints->nv : by->scene->model->nv), W = (size_t)by->kernels->lanes;
    friction_block b     = {.tree = by->scene->model, .nv = nv, .W = W, .qd = io->qd};
    api_step_means means = *by;
    double         undecided[DYN_MAX_LANES];
    b.joint    = api_static_friction_joints(friction, &b.n);
    b.fused    = by->kernels->fused;
    b.a        = lay_out(nv, b.n, W, by->room);
    means.room = by->room + friction_entries(nv, b.n) * W;
    while (b.n_joints < b.n && !b.joint[b.n_joints].drive)
        b.n_joints++;
    memcpy(b.a.tau, io->tau, nv * W * sizeof *b.a.tau);
    leave_out_friction(&b);
    if (by->contact) evaluate_unheld(&b, by, io);
    const dyn_step first = evaluate_free(&means, io, &b.a);
    memset(b.a.stops, 0, b.n * W * sizeof *b.a.stops);
    memset(b.a.slides, 0, b.n * W * sizeof *b.a.slides);
    for (size_t lane = 0; lane < W; lane++) {
        const dyn_friction_status status = decide(&b, &first, by->contact, lane);
        undecided[lane]                  = status == DYN_FRICTION_UNDECIDED ? API_STEP_UNDECIDED : DYN_STEP_SOLVED;
        if (status == DYN_FRICTION_STOPPED) {
            stop(io, W);
            return;
        }
    }
    evaluate_final(&b, &means, *io);
    for (size_t lane = 0; lane < W; lane++)
        if (undecided[lane] != DYN_STEP_SOLVED) io->unsolved[lane] = undecided[lane];
    if (sticking) memset(sticking, 0, nv * W * sizeof *sticking);
    for (size_t i = 0; sticking && i < b.n_joints; i++)
        memcpy(sticking + b.joint[i].v * W, b.a.stops + i * W, W * sizeof *sticking);
}
