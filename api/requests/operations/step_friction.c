/* step_friction.c - stops joints within a step of integration by sharp Coulomb friction (step_friction.h). */
#include "step_friction.h"
#include "api/requests/contact/friction_problem.h"
#include <math.h>
#include <string.h>

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
    double *tau, *A, *B, *stops, *slides;    /* in lanes: nv, 2 nv x 2 nv, 2 nv x nv, nv, nv */
    double *M, *inverse, *qdd, *singular;    /* in lanes, without held frames: nv x nv, nv x nv, nv, 1 */
    double *block, *v, *positive, *negative; /* one state: n x n, n each */
    double *diagonal, *size, *f, *room;      /* one state: n each; the room of the problem */
    size_t *coordinate;                      /* [n] */
    int    *side;                            /* [n] */
} arrays;

size_t api_step_friction_joints(const api_static_friction *friction)
{
    size_t n = 0;
    if (friction) api_static_friction_joints(friction, &n);
    return n;
}

static size_t entries_of(size_t nv)
{
    return 8 * nv * nv + 4 * nv + 1 + nv * nv + 9 * nv + api_friction_problem_entries(nv);
}

size_t api_step_friction_entries(const api_model *m, const api_static_friction *friction)
{
    return friction ? entries_of(m->nv) : 0;
}

size_t api_step_friction_work(const api_query *q, const api_held_ranges *held, const api_static_friction *friction)
{
    const size_t n    = api_step_friction_joints(friction);
    size_t       most = 0;
    for (size_t r = 0; n > 0 && r < held->n; r++) {
        const api_contact *contact = held->range[r].contact;
        const size_t       entries = dyn_step_held_work(q->model->dyn, q->scene.n_wrenches, contact ? contact->n : 0,
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
                             &a.negative, &a.diagonal, &a.size,     &a.f,     &a.room};
    const size_t   lanes  = nv * W;
    const size_t   of[]   = {lanes,
                             4 * nv * lanes,
                             2 * nv * lanes,
                             lanes,
                             lanes,
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
                             api_friction_problem_entries(n)};
    for (size_t i = 0; i < sizeof of / sizeof *of; room += of[i++])
        *part[i] = room;
    void *integers = room; /* the memory of 2 n doubles holds the integers */
    a.coordinate   = integers;
    a.side         = (int *)(a.coordinate + n);
    return a;
}

/* A block of states: the joints that may stick, and the arrays. */
typedef struct friction_block {
    const dyn_model          *tree;
    const api_stiction_joint *joint; /* [n] */
    size_t                    n, nv, W;
    const double             *qd; /* NULL: zero */
    arrays                    a;
} friction_block;

static double rate_of(const friction_block *b, size_t i, size_t lane)
{
    return b->qd ? b->qd[b->joint[i].v * b->W + lane] : 0;
}

/* The size of the sharp friction of joint i in the direction `side`: with Stribeck's curve at the rate before the step.
 */
static double limit_of(const friction_block *b, size_t i, int side, size_t lane)
{
    const api_stiction_joint *j = &b->joint[i];
    if (j->stribeck) return fabs(api_stiction_sliding(b->tree, j->tree_v, side, rate_of(b, i, lane)));
    return side > 0 ? j->positive : j->negative;
}

/* Adds the sharp friction that the kernel subtracts, by the sign of the velocity before the step. */
static void leave_out_friction(const friction_block *b)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t lane = 0; lane < b->W; lane++) {
            const double rate = rate_of(b, i, lane);
            double      *tau  = &b->a.tau[b->joint[i].v * b->W + lane];
            if (rate != 0) *tau += rate > 0 ? limit_of(b, i, 1, lane) : -limit_of(b, i, -1, lane);
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
        const size_t v   = b->joint[i].v;
        const double own = a->inverse[(v * nv + v) * W + lane];
        a->diagonal[i]   = h * own;
        a->size[i]       = sqrt(own * energy) + fabs(a->v[i]);
    }
}

/* Decides which joints of one lane stop: subtracts the friction from tau and sets `stops` and `side`. */
static api_friction_status decide(const friction_block *b, const dyn_step *first, bool held, size_t lane)
{
    const arrays              *a     = &b->a;
    const api_step_clock      *clock = first->clock;
    const size_t               n = b->n, nv = b->nv, W = b->W;
    const api_friction_problem p = {.n             = n,
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
        const double *row = first->input_matrix + (nv + b->joint[i].v) * nv * W + lane;
        a->v[i]           = first->qd_after[b->joint[i].v * W + lane];
        a->positive[i]    = limit_of(b, i, 1, lane);
        a->negative[i]    = limit_of(b, i, -1, lane);
        for (size_t j = 0; j < n; j++)
            a->block[i * n + j] = row[b->joint[j].v * W];
    }
    if (held) set_sizes(b, first->h, lane);
    const api_friction_status status = api_friction_problem_solve(&p, clock->deadline, clock->problem);
    for (size_t i = 0; status == API_FRICTION_FOUND && i < n; i++) {
        a->tau[b->joint[i].v * W + lane] -= a->f[i];
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

/* Corrects A where Stribeck's curve of a joint that turns back acts on the other side than before the step. With the
 * rate qd before the step, the kernel differentiates the friction -sign(qd) f(|qd|) of the side of qd, but the step has
 * that of the other side, whose slope has the other sign. */
static void correct_slopes(const friction_block *b, const dyn_step *io, size_t i)
{
    const size_t v = b->joint[i].v, nv = b->nv, W = b->W;
    for (size_t lane = 0; lane < W; lane++) {
        const double rate = rate_of(b, i, lane), side = b->a.slides[i * W + lane];
        if (!(rate * side < 0)) continue;
        const double slope = api_stiction_slope(b->tree, b->joint[i].tree_v, 1, rate) +
                             api_stiction_slope(b->tree, b->joint[i].tree_v, -1, rate);
        for (size_t r = 0; r < 2 * nv; r++)
            io->state_matrix[(r * 2 * nv + nv + v) * W + lane] += slope * io->input_matrix[(r * nv + v) * W + lane];
    }
}

/* Evaluates the step with the friction that is decided. */
static void evaluate_final(const friction_block *b, const api_step_means *by, dyn_step io)
{
    for (size_t i = 0; i < b->n; i++)
        b->a.coordinate[i] = b->joint[i].v;
    io.tau        = b->a.tau;
    io.n_stopping = b->n;
    io.stopping   = b->a.coordinate;
    io.stops      = b->a.stops;
    api_step_integrate(by, &io);
    for (size_t i = 0; io.state_matrix && i < b->n; i++)
        if (b->joint[i].stribeck) correct_slopes(b, &io, i);
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
    b.a        = lay_out(nv, b.n, W, by->room);
    means.room = by->room + entries_of(nv) * W;
    memcpy(b.a.tau, io->tau, nv * W * sizeof *b.a.tau);
    leave_out_friction(&b);
    if (by->contact) evaluate_unheld(&b, by, io);
    const dyn_step first = evaluate_free(&means, io, &b.a);
    memset(b.a.stops, 0, b.n * W * sizeof *b.a.stops);
    memset(b.a.slides, 0, b.n * W * sizeof *b.a.slides);
    for (size_t lane = 0; lane < W; lane++) {
        const api_friction_status status = decide(&b, &first, by->contact, lane);
        undecided[lane]                  = status == API_FRICTION_UNDECIDED ? API_STEP_UNDECIDED : DYN_STEP_SOLVED;
        if (status == API_FRICTION_STOPPED) {
            stop(io, W);
            return;
        }
    }
    evaluate_final(&b, &means, *io);
    for (size_t lane = 0; lane < W; lane++)
        if (undecided[lane] != DYN_STEP_SOLVED) io->unsolved[lane] = undecided[lane];
    if (sticking) memset(sticking, 0, nv * W * sizeof *sticking);
    for (size_t i = 0; sticking && i < b.n; i++)
        memcpy(sticking + b.joint[i].v * W, b.a.stops + i * W, W * sizeof *sticking);
}
