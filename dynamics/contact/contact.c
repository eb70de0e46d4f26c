/* contact.c - solves for the wrenches on held frames (contact.h). */
#include "contact.h"
#include "dynamics/dynamics.h"
#include "dynamics/held_directions.h"
#include "rolling.h"
#include <math.h>
#include <string.h>

/* --- a block of states ------------------------------------------------------------------------------------------ */

/* Sets the pointers of a block from `lanes` on; NULL: counts the entries only. */
static size_t lay_out_block(dyn_contact_block *b, double *lanes)
{
    const size_t   k = b->task.k, nv = b->nv, factors = dyn_constraint_lay_out(&b->factor, b->W, NULL);
    double **const array[]   = {&b->J,           &b->jdot_qd,       &b->sizes,   &b->M,          &b->frame_J,
                                &b->frame_J_dot, &b->along,         &b->efforts, &b->change,     &b->energy,
                                &b->driven,      &b->contradictory, &b->levers,  &b->frame_turn, &b->frame_rates};
    const size_t   entries[] = {k * nv, k, k, nv * nv, 6 * nv, 6 * nv, k, k, nv, 1, nv, 1, 3 * b->contact->n, 4, 9};
    size_t         total     = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; total += entries[i++])
        if (lanes) *array[i] = lanes + total * b->W;
    if (lanes) {
        dyn_constraint_lay_out(&b->factor, b->W, lanes + total * b->W);
        dyn_task_lay_out(&b->task, lanes + (total + factors) * b->W);
    }
    return total + factors + dyn_task_entries(nv, k); /* `task` needs memory for one state only, not for each lane */
}

static dyn_contact_block unplaced_block(const dyn_held_set *contact, size_t nv, size_t W)
{
    const size_t k = contact->k;
    return (dyn_contact_block){.contact   = contact,
                               .nv        = nv,
                               .W         = W,
                               .unsettled = 1,
                               .factor    = {.nv = nv, .k = k},
                               .task      = {.nv = nv, .k = k, .redundant = true}};
}

size_t dyn_contact_entries(size_t nv, const dyn_held_set *contact)
{
    dyn_contact_block b = unplaced_block(contact, nv, 1);
    return lay_out_block(&b, NULL);
}

dyn_contact_block dyn_contact_lay_out(const dyn_held_set *contact, size_t nv, size_t W, double *lanes)
{
    dyn_contact_block b = unplaced_block(contact, nv, W);
    lay_out_block(&b, lanes);
    b.factor.J = b.J, b.factor.mass_matrix = b.M;
    return b;
}

void dyn_contact_list_entries(const dyn_held_set *contact, size_t entry[DYN_MAX_HELD_AXES])
{
    for (size_t i = 0, a = 0; i < contact->n; i++)
        for (size_t j = 0; j < contact->frame[i].n; j++)
            entry[a++] = i * DYN_FRAME_AXES + (size_t)contact->frame[i].axis[j];
}

void dyn_contact_spread(const dyn_held_set *contact, size_t W, const double *along, double factor, double *to)
{
    size_t entry[DYN_MAX_HELD_AXES];
    memset(to, 0, contact->n * DYN_FRAME_AXES * W * sizeof *to);
    dyn_contact_list_entries(contact, entry);
    for (size_t a = 0; a < contact->k; a++)
        for (size_t lane = 0; lane < W; lane++)
            to[entry[a] * W + lane] = factor * along[a * W + lane];
}

/* Returns A of held_directions.h for linear rows, m/s^2: |gravity|, but at least standard gravity. */
static double gravity_of(const dyn_scene *scene)
{
    const double *g = scene->gravity;
    return fmax(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), DYN_STANDARD_GRAVITY);
}

/* Sets `sizes` of the rows of one held frame in one lane, from row `first` on. frame_J is the frame's Jacobian. */
static void set_frame_sizes(const dyn_contact_block *b, const dyn_held_frame *held_frame,
                            const dyn_contact_states *states, size_t first, size_t lane)
{
    const double reach = dyn_held_reach(states->scene->model, held_frame);
    size_t       nv = b->nv, W = b->W;
    double       u = 0, w = 0, gravity = gravity_of(states->scene);
    for (size_t v = 0; states->qd && v < nv; v++) {
        double linear = 0, angular = 0;
        for (size_t a = 0; a < 3; a++) {
            linear  = fmax(linear, fabs(b->frame_J[(a * nv + v) * W + lane]));
            angular = fmax(angular, fabs(b->frame_J[((3 + a) * nv + v) * W + lane]));
        }
        u += linear * fabs(states->qd[v * W + lane]);
        w += angular * fabs(states->qd[v * W + lane]);
    }
    for (size_t i = 0; i < held_frame->n; i++)
        b->sizes[(first + i) * W + lane] = held_frame->axis[i] < 3 ? gravity + b->unsettled * w * (reach * w + 2 * u)
                                                                   : gravity / reach + b->unsettled * w * w;
}

/* Copies row `axis` of b->frame_J to row `row` of J. In lanes where the row counts as zero (held_directions.h), writes
 * zeros. `reach` is the reach R of the frame, m. */
static void copy_held_row(const dyn_contact_block *b, size_t axis, double reach, size_t row)
{
    const size_t  nv = b->nv, W = b->W;
    const double *from = b->frame_J + axis * nv * W;
    double       *to   = b->J + row * nv * W;
    memcpy(to, from, nv * W * sizeof *to);
    for (size_t lane = 0; lane < W; lane++) {
        const double least = DYN_STILL * dyn_task_row_scale(b->frame_J + lane, nv, W, axis, reach);
        bool         still = isfinite(least);
        for (size_t v = 0; v < nv; v++)
            still = still && fabs(to[v * W + lane]) <= least;
        for (size_t v = 0; still && v < nv; v++)
            to[v * W + lane] = 0;
    }
}

/* Sets to = X qd for the n rows of X (n x nv). qd may be NULL (zero). */
static void multiply_rates(const dyn_contact_block *b, const double *X, size_t n, const double *qd, double *to)
{
    const size_t nv = b->nv, W = b->W;
    memset(to, 0, n * W * sizeof *to);
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; qd && v < nv; v++)
            for (size_t l = 0; l < W; l++)
                to[i * W + l] += X[(i * nv + v) * W + l] * qd[v * W + l];
}

/* Moves frame_J and frame_J_dot of rolling frame i to its contact point. Also sets the first 3 entries of frame_rates
 * to w x ds/dt, in the axes of the plane: the acceleration that the motion of the contact point along the body adds. */
static void move_to_contact(const dyn_contact_block *b, const dyn_rolling *rolling, const double *qd, size_t i)
{
    const size_t nv = b->nv, W = b->W;
    double      *s = b->levers + 3 * i * W, *moves = b->frame_rates, *w = moves + 3 * W, *rate = w + 3 * W;
    multiply_rates(b, b->frame_J + 3 * nv * W, 3, qd, w);
    for (size_t l = 0; l < W; l++)
        dyn_rolling_find_lever(rolling, W, b->frame_turn + l, w + l, s + l, rate + l);
    memset(moves, 0, 3 * W * sizeof *moves);
    dyn_rolling_add_rate(W, w, rate, moves);
    memset(w, 0, 3 * W * sizeof *w);
    dyn_rolling_move(rolling, W, s, 1, moves);
    dyn_rolling_move(rolling, W, s, nv, b->frame_J);
    dyn_rolling_move(rolling, W, s, nv, b->frame_J_dot);
}

/* Fills the rows of held frame i in J, jdot_qd and sizes, from row `first` on, by the kernel of kinematics. */
static void fill_frame(const dyn_contact_block *b, size_t i, const dyn_contact_states *states, size_t first)
{
    const dyn_held_frame *held_frame = &b->contact->frame[i];
    const size_t          nv = b->nv, W = b->W;
    const dyn_frame      *frame = &held_frame->frame;
    const double         *qd = states->qd, reach = dyn_held_reach(states->scene->model, held_frame);
    dyn_kinematics        io = {.q            = states->q,
                                .qd           = qd,
                                .n_frames     = held_frame->rolling ? 1 : 0,
                                .frames       = frame,
                                .orientations = held_frame->rolling ? b->frame_turn : NULL,
                                .frame        = frame,
                                .frame_axes   = held_frame->frame_axes,
                                .jacobian     = b->frame_J,
                                .jacobian_dot = b->frame_J_dot};
    states->kernels->kinematics(states->scene, states->workspace, &io, 1);
    if (held_frame->rolling) move_to_contact(b, held_frame->rolling, qd, i);
    for (size_t lane = 0; lane < W; lane++)
        set_frame_sizes(b, held_frame, states, first, lane);
    for (size_t a = 0; a < held_frame->n; a++) {
        const size_t axis    = (size_t)held_frame->axis[a];
        double      *jdot_qd = b->jdot_qd + (first + a) * W;
        copy_held_row(b, axis, reach, first + a);
        multiply_rates(b, b->frame_J_dot + axis * nv * W, 1, qd, jdot_qd);
        for (size_t l = 0; held_frame->rolling && l < W; l++)
            jdot_qd[l] += b->frame_rates[axis * W + l];
    }
}

/* Finds J, Jdot qd, sizes and M of all lanes. For a mechanism with loops there is no kernel constraint_rows: the rows
 * are then found frame by frame. */
void dyn_contact_evaluate(const dyn_contact_block *b, const dyn_contact_states *states)
{
    const dyn_held_set *contact = b->contact;
    dyn_mass_matrix     mass    = {.q = states->q, .mass_matrix = b->M, .inverse = b->inverse, .singular = b->singular};
    dyn_constraint_rows rows    = {.q           = states->q,
                                   .qd          = states->qd,
                                   .n_held      = contact->n,
                                   .held        = contact->frame,
                                   .unsettled   = b->unsettled,
                                   .J           = b->J,
                                   .drift       = b->jdot_qd,
                                   .sizes       = b->sizes,
                                   .levers      = b->levers,
                                   .mass_matrix = b->M};
    if (states->kernels->constraint_rows) {
        states->kernels->constraint_rows(states->scene, states->workspace, &rows, 1);
        return;
    }
    if (b->M) states->kernels->mass_matrix(states->scene, states->workspace, &mass, 1);
    for (size_t i = 0, first = 0; i < contact->n; first += contact->frame[i++].n)
        fill_frame(b, i, states, first);
}

/* --- all lanes ---------------------------------------------------------------------------------------------------- */

void dyn_contact_set_driven(dyn_contact_block *b, const bool *driven, size_t lane)
{
    for (size_t v = 0; v < b->nv; v++)
        b->driven[v * b->W + lane] = driven && driven[v] ? 1 : 0;
}

bool dyn_contact_factor(dyn_contact_block *b, const dyn_contact_states *states)
{
    b->factor.dense   = !states->kernels->constraint_rows;
    b->factor.damping = b->damping;
    b->factor.driven  = b->decoupled ? b->driven : NULL;
    states->kernels->constraint_factor(states->scene, states->workspace, &b->factor, 1);
    return dyn_may_continue(b->contact->deadline);
}

bool dyn_contact_is_factored(const dyn_contact_block *b, size_t lane)
{
    return b->factor.solved[lane] != 0;
}

void dyn_contact_find(const dyn_contact_block *b, const dyn_contact_states *states, const double *drift,
                      const double *x, double scale, bool checks)
{
    dyn_constraint_solution io = {.factor        = &b->factor,
                                  .drift         = drift,
                                  .x             = x,
                                  .scale         = scale,
                                  .sizes         = b->sizes,
                                  .along         = b->along,
                                  .efforts       = b->efforts,
                                  .change        = b->change,
                                  .contradictory = checks ? b->contradictory : NULL,
                                  .energy        = b->energy};
    states->kernels->constraint_solution(states->scene, states->workspace, &io, 1);
}

void dyn_contact_find_inertia(const dyn_contact_block *b, const dyn_contact_states *states, double *inertia,
                              double *inverse, double *bound)
{
    dyn_constraint_inertia io = {.factor = &b->factor, .inertia = inertia, .inverse = inverse, .bound = bound};
    states->kernels->constraint_inertia(states->scene, states->workspace, &io, 1);
}

void dyn_contact_turn_delassus(const dyn_contact_block *b, double *delassus)
{
    const size_t k = b->contact->k, W = b->W;
    for (size_t i = 0, first = 0; i < b->contact->n; first += b->contact->frame[i++].n) {
        const dyn_rolling *rolling = b->contact->frame[i].rolling;
        for (size_t a = 0; rolling && a < k * W; a++)
            dyn_rolling_to_world(rolling, k * W, delassus + first * k * W + a);
        for (size_t a = 0; rolling && a < k; a++)
            for (size_t lane = 0; lane < W; lane++)
                dyn_rolling_to_world(rolling, W, delassus + (a * k + first) * W + lane);
    }
    for (size_t a = 0; a < k; a++)
        for (size_t c = 0; c < a; c++)
            memcpy(delassus + (a * k + c) * W, delassus + (c * k + a) * W, W * sizeof *delassus);
}

void dyn_contact_add_change(const dyn_contact_block *b, size_t lane, double *x)
{
    for (size_t v = 0; v < b->nv; v++)
        x[v * b->W + lane] += b->change[v * b->W + lane];
}

void dyn_contact_put_wrenches(const dyn_contact_block *b, size_t lane, double *wrenches)
{
    const size_t W = b->W;
    size_t       entry[DYN_MAX_HELD_AXES];
    for (size_t i = 0; i < b->contact->n * DYN_FRAME_AXES; i++)
        wrenches[i * W + lane] = 0;
    dyn_contact_list_entries(b->contact, entry);
    for (size_t a = 0; a < b->contact->k; a++)
        wrenches[entry[a] * W + lane] = b->efforts[a * W + lane];
    for (size_t i = 0, first = 0; i < b->contact->n; first += b->contact->frame[i++].n) {
        const dyn_held_frame *frame = &b->contact->frame[i];
        double                along[DYN_FRAME_AXES];
        for (size_t a = 0; a < frame->n; a++)
            along[a] = b->efforts[(first + a) * W + lane];
        if (frame->rolling)
            dyn_rolling_put_wrench(frame, W, b->levers + 3 * i * W + lane, along,
                                   wrenches + i * DYN_FRAME_AXES * W + lane);
    }
}

/* --- one lane ----------------------------------------------------------------------------------------------------- */

/* Removes the driven coordinates from the system: rows and columns of M become those of the identity, columns of J
 * zero. */
static void decouple_driven(const dyn_contact_block *b, const bool *driven)
{
    const dyn_task *t  = &b->task;
    size_t          nv = b->nv;
    for (size_t v = 0; driven && v < nv; v++) {
        if (!driven[v]) continue;
        for (size_t i = 0; i < nv; i++)
            t->M[v + nv * i] = t->M[i + nv * v] = i == v;
        for (size_t a = 0; a < t->k; a++)
            t->X[v + nv * a] = 0;
    }
}

bool dyn_contact_solve(dyn_contact_block *b, const bool *driven, size_t lane)
{
    dyn_task *t = &b->task;
    if (!dyn_may_continue(b->contact->deadline)) return false;
    dyn_task_take_lane(t, b->M, b->J, b->W, lane);
    decouple_driven(b, driven);
    t->damping = sqrt(b->damping);
    return dyn_task_solve(t) == DYN_TASK_DONE;
}

void dyn_contact_add_jacobian_product(const dyn_contact_block *b, const double *x, size_t lane, double *to)
{
    size_t nv = b->nv, W = b->W;
    for (size_t a = 0; x && a < b->task.k; a++)
        for (size_t v = 0; v < nv; v++)
            to[a] += b->J[(a * nv + v) * W + lane] * x[v * W + lane];
}

void dyn_contact_put_residual(const dyn_contact_block *b, double damping, const double *wrenches, size_t lane,
                              double *residual)
{
    for (size_t i = 0; i < b->contact->n * DYN_FRAME_AXES; i++) {
        const bool lacks          = b->contact->frame[i / DYN_FRAME_AXES].rolling && i % DYN_FRAME_AXES >= 3;
        residual[i * b->W + lane] = lacks ? 0 : -damping * wrenches[i * b->W + lane];
    }
}

void dyn_contact_subtract_efforts(const dyn_contact_block *b, const double *wrenches, size_t lane, double *tau)
{
    const size_t nv = b->nv, W = b->W;
    for (size_t i = 0, row = 0; i < b->contact->n; i++) {
        const dyn_held_frame *frame  = &b->contact->frame[i];
        const double         *wrench = wrenches + i * DYN_FRAME_AXES * W + lane;
        for (size_t a = 0; a < frame->n; a++, row++) {
            const int    axis = frame->axis[a];
            const double along =
                frame->rolling ? dyn_rolling_force(frame->rolling, W, axis, wrench) : wrench[(size_t)axis * W];
            for (size_t v = 0; v < nv; v++)
                tau[v * W + lane] -= b->J[(row * nv + v) * W + lane] * along;
        }
    }
}

void dyn_contact_pad(const dyn_contact_block *b, size_t live, size_t entries, double *values)
{
    for (size_t i = 0; i < entries; i++)
        for (size_t l = live; l < b->W; l++)
            values[i * b->W + l] = values[i * b->W + live - 1];
}
