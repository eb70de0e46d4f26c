/* loop_constraints.c - holds frames of a mechanism with loops, and stops its coordinates (loop_constraints.h). */
#include "loop_constraints.h"
#include "dynamics/loops/lane_matrix.h"
#include <math.h>
#include <string.h>

enum { SITE_VALUES = 9, MOST_ROWS = DYN_MAX_HELD_AXES + DYN_MAX_DOF };

static const dyn_held_set no_frames = {.n = 0};

/* --- memory ----------------------------------------------------------------------------------------------------- */

typedef struct cursor {
    double *base; /* NULL: the memory is only counted */
    size_t  W, entries;
} cursor;

static double *take(cursor *c, size_t entries)
{
    double *at = c->base ? c->base + c->entries * c->W : NULL;
    c->entries += entries;
    return at;
}

static void lay_out_frame(api_loop_constraints *s, cursor *c)
{
    const size_t n = DYN_FRAME_AXES * s->nv;
    s->frame_J     = take(c, n);
    s->v_q         = take(c, n);
    s->a_q         = take(c, n);
    s->a_qd        = take(c, n);
    s->velocity    = take(c, DYN_FRAME_AXES);
}

/* The task needs memory for one state only, but is counted for every lane, as that of `held`. */
size_t api_loop_constraints_lay_out(api_loop_constraints *s, double *lanes)
{
    cursor       c  = {.base = lanes, .W = s->W};
    const size_t nv = s->nv, square = nv * nv;
    if (!s->contact) s->contact = &no_frames;
    s->k              = s->contact->k + s->io->n_stopping;
    const size_t part = s->k * nv;
    double      *held = take(&c, dyn_contact_entries(nv, s->contact)), *task = take(&c, dyn_task_entries(nv, s->k));
    double      *inverse = take(&c, square), *singular = take(&c, 1);
    s->J     = take(&c, part);
    s->b     = take(&c, s->k);
    s->l     = take(&c, s->k);
    s->Jbar  = take(&c, part);
    s->JM    = take(&c, part);
    s->C_q   = take(&c, part);
    s->C_qd  = take(&c, part);
    s->T_q   = take(&c, square);
    s->T_qd  = take(&c, square);
    s->T_qdd = take(&c, square);
    lay_out_frame(s, &c);
    s->wrenches = take(&c, SITE_VALUES * (s->scene->n_wrenches + s->contact->n));
    if (!lanes) return c.entries;
    s->held          = dyn_contact_lay_out(s->contact, nv, s->W, held);
    s->held.inverse  = inverse;
    s->held.singular = singular;
    s->task          = (dyn_task){.nv = nv, .k = s->k, .redundant = true};
    dyn_task_lay_out(&s->task, task);
    return c.entries;
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static bool stops_in(const api_loop_constraints *s, size_t i, size_t lane)
{
    return s->io->stops[i * s->W + lane] != 0;
}

/* Sets the rows of the coordinates that stop: zero in the lanes in which they do not. */
static void set_stopping_rows(api_loop_constraints *s, const double *qd)
{
    const size_t W = s->W, nv = s->nv;
    for (size_t i = 0, a = s->contact->k; i < s->io->n_stopping; i++, a++) {
        const size_t v = s->io->stopping[i];
        memset(s->J + a * nv * W, 0, nv * W * sizeof *s->J);
        for (size_t lane = 0; lane < W; lane++) {
            const bool stops              = stops_in(s, i, lane);
            s->J[(a * nv + v) * W + lane] = stops;
            s->b[a * W + lane]            = stops && qd ? qd[v * W + lane] / s->io->h : 0;
        }
    }
}

void api_loop_constraints_set_rows(api_loop_constraints *s, const double *q, const double *qd)
{
    const dyn_contact_states states = {s->kernels, s->scene, s->closed, q, qd};
    const size_t             k      = s->contact->k;
    dyn_contact_evaluate(&s->held, &states);
    memcpy(s->J, s->held.J, k * s->nv * s->W * sizeof *s->J);
    memcpy(s->b, s->held.jdot_qd, k * s->W * sizeof *s->b);
    set_stopping_rows(s, qd);
}

/* --- one state -------------------------------------------------------------------------------------------------- */

/* Finds Jbar and Lambda of one lane. False if the mass matrix is not positive definite, or not finite. */
static bool solve_lane(api_loop_constraints *s, size_t lane)
{
    dyn_task_take_lane(&s->task, s->held.M, s->J, s->W, lane);
    return dyn_task_solve(&s->task) == DYN_TASK_DONE;
}

/* Returns 0, or 1 + the first row that contradicts those before it, for the accelerations x without constraints. */
static size_t find_contradiction(const api_loop_constraints *s, const double *x, size_t lane)
{
    const size_t W = s->W, nv = s->nv, k = s->k, held = s->contact->k;
    double       b[MOST_ROWS] = {0}, sizes[MOST_ROWS] = {0};
    for (size_t a = 0; a < k; a++) {
        b[a]     = s->b[a * W + lane];
        sizes[a] = a < held ? s->held.sizes[a * W + lane] : fabs(b[a]);
        for (size_t v = 0; v < nv; v++)
            sizes[a] += fabs(s->J[(a * nv + v) * W + lane] * x[v * W + lane]);
    }
    const size_t row = dyn_task_contradiction(&s->task, b, sizes);
    return row < k ? 1 + row : 0;
}

/* Sets s->l = Lambda b of one lane, and subtracts Jbar b from `to` (loop_constraints.h). */
static void correct_lane(api_loop_constraints *s, size_t lane, double *to)
{
    const dyn_task *t = &s->task;
    const size_t    W = s->W, nv = s->nv, k = s->k;
    for (size_t a = 0; a < k; a++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++)
            sum += t->Lambda[a + k * c] * s->b[c * W + lane];
        s->l[a * W + lane] = sum;
    }
    for (size_t v = 0; v < nv; v++) {
        double sum = 0;
        for (size_t a = 0; a < k; a++)
            sum += t->X[v + nv * a] * s->b[a * W + lane];
        to[v * W + lane] -= sum;
    }
}

void api_loop_constraints_solve(api_loop_constraints *s, const double *x, double *to, bool impact)
{
    const size_t    W = s->W, nv = s->nv, k = s->k;
    const dyn_lanes lanes = api_loop_constraints_lanes(s);
    s->task.damping       = impact ? 0 : sqrt(s->io->damping);
    if (x) dyn_matrix_mul(&lanes, k, nv, 1, s->J, x, 1, s->b);
    for (size_t lane = 0; lane < W; lane++) {
        const bool solved = solve_lane(s, lane);
        for (size_t v = 0; v < nv; v++)
            for (size_t a = 0; a < k; a++)
                s->Jbar[(v * k + a) * W + lane] = solved ? s->task.X[v + nv * a] : NAN;
        if (solved && !impact && s->contradictory[lane] == 0) s->contradictory[lane] = find_contradiction(s, x, lane);
        if (solved)
            correct_lane(s, lane, to);
        else
            for (size_t v = 0; v < nv; v++)
                to[v * W + lane] = NAN;
    }
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Writes the wrenches on the held frames after those of the request. Returns the scene that has them. */
static dyn_scene add_holding_wrenches(api_loop_constraints *s, const dyn_scene *scene)
{
    const size_t W = s->W, given = SITE_VALUES * scene->n_wrenches * W;
    double      *to = s->wrenches + given;
    size_t       entry[DYN_MAX_HELD_AXES];
    dyn_scene    pushed = *scene;
    if (given > 0) memcpy(s->wrenches, s->io->wrenches, given * sizeof *to);
    memset(to, 0, SITE_VALUES * s->contact->n * W * sizeof *to);
    dyn_contact_list_entries(s->contact, entry);
    for (size_t a = 0; a < s->contact->k; a++) {
        double *at_axis = to + (SITE_VALUES * (entry[a] / DYN_FRAME_AXES) + entry[a] % DYN_FRAME_AXES) * W;
        for (size_t lane = 0; lane < W; lane++)
            at_axis[lane] = -s->l[a * W + lane];
    }
    if (s->contact->n == 0) return pushed;
    pushed.wrench     = s->io->sites + (s->scene->n_wrenches - scene->n_wrenches);
    pushed.n_wrenches = scene->n_wrenches + s->contact->n;
    return pushed;
}

/* Subtracts the derivative of w x v from the derivatives of a frame's acceleration, because J' qd has the time
 * derivatives of the components of velocity. (v, w) is the velocity of the frame in its own axes, and `rates` (6 x nv)
 * its derivatives. */
static void subtract_turning(const api_loop_constraints *s, const double *rates, double *a)
{
    const size_t  n = s->nv * s->W, W = s->W;
    const double *v = s->velocity, *w = v + 3 * W;
    for (size_t i = 0; i < 3; i++) {
        const size_t x = (i + 1) % 3, y = (i + 2) % 3;
        for (size_t e = 0; e < n; e++) {
            const size_t lane = e % W;
            a[i * n + e] -= w[x * W + lane] * rates[y * n + e] - w[y * W + lane] * rates[x * n + e] +
                            rates[(3 + x) * n + e] * v[y * W + lane] - rates[(3 + y) * n + e] * v[x * W + lane];
        }
    }
}

/* Sets the rows of C_q and C_qd of one held frame, from row `first` on. */
static void set_frame_rates(api_loop_constraints *s, const dyn_held_frame *held, const api_constrained_motion *at,
                            size_t first)
{
    const size_t          n = s->nv * s->W, bytes = n * sizeof *s->C_q;
    dyn_kinematics        motion = {.q          = at->q,
                                    .qd         = at->qd,
                                    .frame      = &held->frame,
                                    .frame_axes = held->frame_axes,
                                    .jacobian   = s->frame_J,
                                    .velocity   = s->velocity};
    dyn_frame_sensitivity rates  = {.q                 = at->q,
                                    .qd                = at->qd,
                                    .qdd               = at->qdd_of_rows,
                                    .n_frames          = 1,
                                    .frames            = &held->frame,
                                    .frame_axes        = held->frame_axes,
                                    .dvelocity_dq      = s->v_q,
                                    .dacceleration_dq  = s->a_q,
                                    .dacceleration_dqd = s->a_qd};
    s->kernels->kinematics(s->scene, s->closed, &motion, 1);
    dyn_loop_frame_sensitivity(s->scene, s->closed, &rates, 1);
    if (held->frame_axes) {
        subtract_turning(s, s->v_q, s->a_q);
        subtract_turning(s, s->frame_J, s->a_qd);
    }
    for (size_t i = 0; i < held->n; i++) {
        memcpy(s->C_q + (first + i) * n, s->a_q + (size_t)held->axis[i] * n, bytes);
        memcpy(s->C_qd + (first + i) * n, s->a_qd + (size_t)held->axis[i] * n, bytes);
    }
}

/* Sets C_q and C_qd of all rows. The row of a coordinate that stops is d(qdd + qd / h)/dqd; Jbar is zero in lanes where
 * it does not stop. */
static void set_rates(api_loop_constraints *s, const api_constrained_motion *at)
{
    const size_t n = s->nv * s->W;
    size_t       a = 0;
    for (size_t i = 0; i < s->contact->n; a += s->contact->frame[i++].n)
        set_frame_rates(s, &s->contact->frame[i], at, a);
    for (size_t i = 0; i < s->io->n_stopping; i++, a++) {
        memset(s->C_q + a * n, 0, n * sizeof *s->C_q);
        memset(s->C_qd + a * n, 0, n * sizeof *s->C_qd);
        for (size_t lane = 0; lane < s->W; lane++)
            s->C_qd[a * n + s->io->stopping[i] * s->W + lane] = 1 / s->io->h;
    }
}

/* Sets to = -K T - Jbar C, the derivatives of qdd: T those of tau, C those of J qdd + J' qd. */
static void project(const api_loop_constraints *s, const double *K, const double *T, const double *C, double *to)
{
    const size_t    W = s->W, nv = s->nv;
    const dyn_lanes lanes = api_loop_constraints_lanes(s);
    memset(to, 0, nv * nv * W * sizeof *to);
    dyn_matrix_mul(&lanes, nv, nv, nv, K, T, -1, to);
    dyn_matrix_mul(&lanes, nv, s->k, nv, s->Jbar, C, -1, to);
}

void api_loop_constraints_differentiate(api_loop_constraints *s, const dyn_scene *scene,
                                        const api_constrained_motion *at, double *a_q, double *a_qd, double *K)
{
    const size_t    W = s->W, nv = s->nv;
    const dyn_lanes lanes  = api_loop_constraints_lanes(s);
    const dyn_scene pushed = add_holding_wrenches(s, scene);
    dyn_sensitivity torque = {.q         = at->q,
                              .qd        = at->qd,
                              .qdd       = at->qdd,
                              .wrenches  = s->wrenches,
                              .dtau_dq   = s->T_q,
                              .dtau_dqd  = s->T_qd,
                              .dtau_dqdd = s->T_qdd};
    s->kernels->sensitivity(&pushed, s->closed, &torque, 1);
    set_rates(s, at);
    dyn_matrix_mul(&lanes, s->k, nv, nv, s->J, s->held.inverse, 0, s->JM);
    memcpy(K, s->held.inverse, nv * nv * W * sizeof *K);
    dyn_matrix_mul(&lanes, nv, s->k, nv, s->Jbar, s->JM, -1, K);
    project(s, K, s->T_q, s->C_q, a_q);
    if (a_qd) project(s, K, s->T_qd, s->C_qd, a_qd);
}

/* --- a step ----------------------------------------------------------------------------------------------------- */

/* Writes the accelerations -damping l that remain along the held directions: as dyn_step.contact_residual. */
static void put_residual(api_loop_constraints *s)
{
    double *to = s->io->contact_residual;
    if (!to || (s->reported && s->io->method != DYN_IMPLICIT_EULER)) return;
    s->reported = true;
    dyn_contact_spread(s->contact, s->W, s->l, s->io->damping, to);
}

void api_loop_constrained_accelerate(void *constraints, const dyn_forward_sensitivity *io)
{
    api_loop_constraints *s     = constraints;
    dyn_forward_dynamics  alone = {
         .q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd, .singular = io->singular};
    s->kernels->forward_dynamics(s->scene, s->closed, &alone, 1);
    api_loop_constraints_set_rows(s, io->q, io->qd);
    api_loop_constraints_solve(s, io->qdd, io->qdd, false);
    put_residual(s);
    if (!io->dqdd_dq) return;
    const api_constrained_motion at = {io->q, io->qd, io->qdd, io->qdd};
    api_loop_constraints_differentiate(s, s->scene, &at, io->dqdd_dq, io->dqdd_dqd, io->dqdd_dtau);
}
