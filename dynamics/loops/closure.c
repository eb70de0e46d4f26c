/* closure.c - evaluates closure equations: the poses of all pairs of frames, the loop error and its Jacobian
 * (closure.h). */
#include "closure.h"
#include <math.h>
#include <string.h>

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* Sets c->step_limit. In one Newton step a prismatic joint moves by at most the model's length, any other coordinate by
 * at most 1 (rad or m). */
static void set_units(dyn_closure_solver *c)
{
    const dyn_model *m = c->equations.mechanism.tree;
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t k = 0; k < c->equations.unknowns; k++)
            if (c->equations.unknown[k] >= m->body[i].joint.v && !m->body[i].joint.mimic)
                c->step_limit[k] = m->body[i].joint.kind == DYN_PRISMATIC ? c->loops->length : 1;
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool take_motion(dyn_memory memory, dyn_closure_solver *c)
{
    const size_t W = c->W, nq = c->loops->nq, n = c->equations.n_pairs, pairs = c->layout.pair_entries;
    bool         room = true;
    c->q              = dyn_take_zeroed(memory, nq * W, &room);
    c->accepted_q     = dyn_take_zeroed(memory, nq * W, &room);
    c->step           = dyn_take_zeroed(memory, c->nv * W, &room);
    c->correction     = dyn_take_zeroed(memory, c->nv * W, &room);
    c->error          = dyn_take_zeroed(memory, c->equations.rows * W, &room);
    c->error_norm     = dyn_take_zeroed(memory, W, &room);
    c->pair_position  = dyn_take_zeroed(memory, 3 * n * W, &room);
    c->pair_rotation  = dyn_take_zeroed(memory, 9 * n * W, &room);
    c->pair_jacobian  = dyn_take_zeroed(memory, pairs * W, &room);
    c->pair_work      = dyn_take_zeroed(memory, pairs * W, &room);
    c->pair_rate_work = dyn_take_zeroed(memory, c->loops->has_universal ? pairs * W : 0, &room);
    c->J              = dyn_take_zeroed(memory, c->layout.entries * W, &room);
    c->goal           = dyn_take_zeroed(memory, 12 * W, &room);
    c->remaining      = dyn_take_zeroed(memory, c->equations.rows * W, &room);
    c->guess_error    = dyn_take_zeroed(memory, c->equations.rows * W, &room);
    c->reference_q    = dyn_take_zeroed(memory, nq, &room);
    return room;
}

static bool take_factors(dyn_memory memory, dyn_closure_solver *c)
{
    const dyn_closure_layout *l = &c->layout;
    const size_t W = c->W, inverse = l->inverse_entries * W, unknowns = c->equations.unknowns * W, n = l->n * W;
    const size_t work =
        greater(dyn_closure_factor_work(l->most_m, l->most_n), dyn_closure_change_work(l->most_m, l->most_n));
    const size_t rows    = greater(l->most_columns, greater(l->most_m, l->most_n)); /* most rows of a factor */
    bool         room    = true;
    c->inverse           = dyn_take_zeroed(memory, inverse, &room);
    c->next_inverse      = dyn_take_zeroed(memory, inverse, &room);
    c->reference_inverse = dyn_take_zeroed(memory, inverse, &room);
    c->scale             = dyn_take_zeroed(memory, unknowns, &room);
    c->next_scale        = dyn_take_zeroed(memory, unknowns, &room);
    c->reference_scale   = dyn_take_zeroed(memory, unknowns, &room);
    c->pivot             = dyn_take_zeroed(memory, n, &room);
    c->norm              = dyn_take_zeroed(memory, n, &room);
    c->work              = dyn_take_zeroed(memory, work * W, &room);
    c->gathered          = dyn_take_zeroed(memory, rows * c->most_columns * W, &room);
    c->product           = dyn_take_zeroed(memory, rows * c->most_columns * W, &room);
    return room;
}

/* Allocates the arrays for the matrices of one component in one state (struct dyn_closure_solver). */
static bool take_one_state(dyn_memory memory, dyn_closure_solver *c)
{
    const size_t m = c->layout.most_m, n = c->layout.most_n;
    bool         room = true;
    c->A              = dyn_take_zeroed(memory, m * n, &room);
    c->B              = dyn_take_zeroed(memory, greater(m, n) * m, &room);
    c->dense_work     = dyn_take_zeroed(memory, dyn_closure_dense_work(m, n), &room);
    c->column_norm    = dyn_take_zeroed(memory, n, &room);
    c->step_limit     = dyn_take_zeroed(memory, c->equations.unknowns, &room);
    c->pivots         = dyn_take(memory, n * sizeof *c->pivots);
    return room && c->pivots;
}

bool dyn_closure_open(dyn_memory memory, dyn_closure_solver *c)
{
    if (!dyn_closure_lay_out(memory, &c->equations, &c->layout) || !take_motion(memory, c) ||
        !take_factors(memory, c) || !take_one_state(memory, c))
        return false;
    c->has_reference = c->evaluated = false;
    set_units(c);
    return true;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void get(const dyn_closure_solver *c, const double *lanes, size_t n, size_t lane, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = lanes[i * c->W + lane];
}

/* count_pair_columns returns the number of columns in the Jacobian of frame pair k; pair_place the index of the first
 * entry of this Jacobian in c->pair_jacobian; row_place the index of the first entry of row r in c->J. */
static size_t count_pair_columns(const dyn_closure_solver *c, size_t k)
{
    return c->layout.columns[k].n;
}
static size_t pair_place(const dyn_closure_solver *c, size_t k)
{
    return 6 * c->layout.columns[k].first * c->W;
}
static size_t row_place(const dyn_closure_solver *c, size_t r)
{
    return c->layout.row[r].first * c->W;
}

/* Adds n^T M to one row of the Jacobian in one lane; M is the angular part (rows 3 to 5) of `raw`, the Jacobian of
 * frame pair k. */
static void add_turn(const dyn_closure_solver *c, size_t lane, size_t k, const double n[3], const double *raw,
                     double *row)
{
    const size_t columns = count_pair_columns(c, k);
    for (size_t v = 0; v < columns; v++)
        for (size_t i = 0; i < 3; i++)
            row[v * c->W + lane] += n[i] * raw[((3 + i) * columns + v) * c->W + lane];
}

/* Adds n^T M to the last row of universal joint k: n is the common normal of its two axes, M the angular part of `raw`,
 * the Jacobian of its frame pair. */
static void add_universal_row(const dyn_closure_solver *c, size_t k, const double *raw, double *row)
{
    double R[9], n[3];
    for (size_t lane = 0; lane < c->W; lane++) {
        get(c, c->pair_rotation + 9 * k * c->W, 9, lane, R);
        dyn_loop_universal_row(&c->loops->loop[k], R, n);
        add_turn(c, lane, k, n, raw, row);
    }
}

/* Computes the rows of the Jacobian of the loop error from `raw`, the Jacobians of all frame pairs; or the rates of
 * these rows from the rates of those Jacobians. */
static void find_rows(const dyn_closure_solver *c, const double *raw, double *rows)
{
    const dyn_closure_rows io = {.n = c->equations.rows, .row = c->layout.row, .jacobian = raw, .rows = rows};
    c->tree->closure_rows(NULL, NULL, &io, 1);
    for (size_t k = 0; c->loops->has_universal && k < c->loops->n; k++)
        if (c->loops->loop[k].kind == DYN_LOOP_UNIVERSAL)
            add_universal_row(c, k, raw + pair_place(c, k), rows + row_place(c, c->layout.first[k + 1] - 1));
}

/* Adds to w, in one lane, the angular velocity M qd; M is the angular part of `raw`, the Jacobian of frame pair k. */
static void add_angular(const dyn_closure_solver *c, size_t lane, size_t k, const double *raw, const double *qd,
                        double w[3])
{
    const size_t columns  = count_pair_columns(c, k);
    const int   *velocity = c->layout.velocity + c->layout.columns[k].first;
    for (size_t i = 0; i < 3; i++)
        for (size_t e = 0; e < columns; e++)
            w[i] += raw[((3 + i) * columns + e) * c->W + lane] * qd[(size_t)velocity[e] * c->W + lane];
}

/* Adds to the rows n^T J of universal joints the terms with rates of n, the normal of the joint's axes: (n^T J)' = n^T
 * J' + n'^T J. If qdd is not NULL, c->pair_rate_work must hold J', and the terms are those of (n^T J)'' = n^T J'' + 2
 * n'^T J' + n''^T J. */
static void add_cross_rates(const dyn_closure_solver *c, const double *qd, const double *qdd, double *rows)
{
    size_t W = c->W;
    double R[9], nd[3], ndd[3];
    for (size_t k = 0; c->loops->has_universal && k < c->loops->n; k++) {
        const dyn_loop *loop = &c->loops->loop[k];
        const double   *J = c->pair_jacobian + pair_place(c, k), *Jd = c->pair_rate_work + pair_place(c, k);
        double         *row = rows + row_place(c, c->layout.first[k + 1] - 1);
        for (size_t lane = 0; loop->kind == DYN_LOOP_UNIVERSAL && lane < W; lane++) {
            double w[3] = {0}, wd[3] = {0};
            get(c, c->pair_rotation + 9 * k * W, 9, lane, R);
            add_angular(c, lane, k, J, qd, w);
            if (qdd) add_angular(c, lane, k, Jd, qd, wd);
            if (qdd) add_angular(c, lane, k, J, qdd, wd);
            dyn_loop_universal_row_rates(loop, R, w, wd, nd, ndd);
            add_turn(c, lane, k, qdd ? ndd : nd, J, row);
            for (size_t i = 0; i < 3; i++)
                nd[i] *= 2;
            if (qdd) add_turn(c, lane, k, nd, Jd, row);
        }
    }
}

void dyn_closure_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, double *rows)
{
    dyn_closure io = {.q            = c->q,
                      .qd           = qd,
                      .n_pairs      = c->equations.n_pairs,
                      .pairs        = c->equations.pair,
                      .columns      = c->layout.columns,
                      .jacobian_dot = c->pair_work};
    c->tree->closure(scene, c->workspace, &io, 1);
    find_rows(c, c->pair_work, rows);
    add_cross_rates(c, qd, NULL, rows);
}

void dyn_closure_second_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, const double *qdd,
                             double *rows)
{
    dyn_closure io = {.q             = c->q,
                      .qd            = qd,
                      .qdd           = qdd,
                      .n_pairs       = c->equations.n_pairs,
                      .pairs         = c->equations.pair,
                      .columns       = c->layout.columns,
                      .jacobian_dot  = c->loops->has_universal ? c->pair_rate_work : NULL,
                      .jacobian_ddot = c->pair_work};
    c->tree->closure(scene, c->workspace, &io, 1);
    find_rows(c, c->pair_work, rows);
    add_cross_rates(c, qd, qdd, rows);
}

/* Replaces the angular parts of the Jacobian rows of loop k by the exact derivatives of its residual, which differ from
 * the constant rows loop->E if the loop is open. */
static void correct_rows(const dyn_closure_solver *c, size_t k, size_t lane)
{
    const dyn_loop *loop = &c->loops->loop[k];
    size_t          W = c->W, n = count_pair_columns(c, k);
    const double   *raw  = c->pair_jacobian + pair_place(c, k);
    double         *rows = c->J + row_place(c, c->layout.first[k]), R[9], E[DYN_LOOP_ROWS][3];
    get(c, c->pair_rotation + 9 * k * W, 9, lane, R);
    if (!dyn_loop_angular_derivative(loop, R, E)) return;
    for (size_t r = 0; r < loop->rows; r++)
        for (size_t v = 0; v < n; v++)
            for (size_t i = 0; i < 3; i++)
                rows[(r * n + v) * W + lane] += (E[r][i] - loop->E[r][3 + i]) * raw[((3 + i) * n + v) * W + lane];
}

/* Replaces the rotation rows of the platform frame by the derivatives of the rotation vector from the goal to the
 * frame. */
static void correct_frame_rows(const dyn_closure_solver *c, size_t lane)
{
    size_t        W = c->W, k = c->loops->n, n = count_pair_columns(c, k);
    const double *raw  = c->pair_jacobian + pair_place(c, k);
    double       *rows = c->J + row_place(c, c->layout.first[k]), R[9], goal[12], vector[3], D[9];
    get(c, c->pair_rotation + 9 * k * W, 9, lane, R);
    get(c, c->goal, 12, lane, goal);
    dyn_rotation_between(goal + 3, R, vector);
    dyn_rotation_vector_rate(vector, D);
    for (size_t v = 0; v < n; v++)
        for (size_t r = 0; r < 3; r++) {
            double sum = 0;
            for (size_t i = 0; i < 3; i++)
                sum += D[3 * r + i] * raw[((3 + i) * n + v) * W + lane];
            rows[((3 + r) * n + v) * W + lane] = sum;
        }
}

/* Replaces Jacobian rows by the exact derivatives in lanes whose loops are open at the present point of a path
 * (c->remaining is not zero). Loops are open only along the path that starts at a guess. */
static void correct_open_loops(dyn_closure_solver *c)
{
    for (size_t lane = 0; lane < c->live; lane++) {
        bool open = false;
        for (size_t r = 0; r < c->equations.rows; r++)
            open = open || c->remaining[r * c->W + lane] != 0;
        for (size_t k = 0; open && k < c->loops->n; k++)
            correct_rows(c, k, lane);
        if (open && c->equations.frame_rows > 3) correct_frame_rows(c, lane);
    }
}

void dyn_closure_find_poses(const dyn_closure_solver *c, const dyn_scene *scene)
{
    dyn_closure io = {.q         = c->q,
                      .n_pairs   = c->equations.n_pairs,
                      .pairs     = c->equations.pair,
                      .positions = c->pair_position,
                      .rotations = c->pair_rotation};
    c->tree->closure(scene, c->workspace, &io, 1);
}

void dyn_closure_evaluate(dyn_closure_solver *c, const dyn_scene *scene)
{
    dyn_closure io = {.q         = c->q,
                      .n_pairs   = c->equations.n_pairs,
                      .pairs     = c->equations.pair,
                      .columns   = c->layout.columns,
                      .positions = c->pair_position,
                      .rotations = c->pair_rotation,
                      .jacobian  = c->pair_jacobian};
    c->tree->closure(scene, c->workspace, &io, 1);
    find_rows(c, c->pair_jacobian, c->J);
    correct_open_loops(c);
    c->evaluated = true;
}

/* Writes the residual of frame pair k in one lane to `rows`: the residual of loop k, or for the last pair that of the
 * platform frame. Returns its number of rows. */
static size_t pair_error(const dyn_closure_solver *c, size_t k, size_t lane, double *rows)
{
    double y[3], R[9] = {0}, goal[12];
    get(c, c->pair_position + 3 * k * c->W, 3, lane, y);
    if (k >= c->loops->n ||
        c->loops->loop[k].kind != DYN_LOOP_SPHERICAL) /* a spherical joint's error does not depend on R */
        get(c, c->pair_rotation + 9 * k * c->W, 9, lane, R);
    if (k < c->loops->n) {
        dyn_loop_residual(c->loops, k, y, R, rows);
        return c->loops->loop[k].rows;
    }
    get(c, c->goal, 12, lane, goal);
    dyn_pose_residual(goal, goal + 3, y, R, rows);
    for (size_t r = 0; r < c->equations.frame_rows; r++)
        rows[r] *= r < 3 ? 1 / c->loops->length : 1;
    return c->equations.frame_rows;
}

double dyn_closure_find_error(dyn_closure_solver *c, size_t lane)
{
    const size_t  W   = c->W;
    double        sum = 0, rows[DYN_FRAME_ROWS], *error = c->error + lane;
    const double *remaining = c->remaining + lane;
    c->worst_error[lane]    = 0;
    for (size_t k = 0; k < c->equations.n_pairs; k++) {
        double       open = 0;
        const size_t n    = pair_error(c, k, lane, rows);
        for (size_t i = 0; i < n; i++, error += W, remaining += W) {
            *error = rows[i] - *remaining;
            open += *error * *error;
        }
        sum += open;
        if (open <= c->worst_error[lane]) continue;
        c->worst_error[lane] = open;
        c->worst_pair[lane]  = k;
    }
    c->worst_error[lane] = sqrt(c->worst_error[lane]);
    return sqrt(sum);
}

bool dyn_closure_check(dyn_closure_solver *c, const dyn_scene *scene)
{
    bool closed = true;
    if (!c->evaluated) dyn_closure_evaluate(c, scene);
    for (size_t lane = 0; lane < c->live; lane++) {
        c->error_norm[lane] = dyn_closure_find_error(c, lane);
        closed              = closed && dyn_closure_is_closed(c, lane);
    }
    dyn_closure_pad(c, 1, c->error_norm);
    return closed;
}

bool dyn_closure_is_closed(const dyn_closure_solver *c, size_t lane)
{
    return c->error_norm[lane] <= DYN_CLOSURE_CLOSED;
}

void dyn_closure_pad(const dyn_closure_solver *c, size_t entries, double *lanes)
{
    for (size_t i = 0; i < entries && c->live < c->W; i++)
        for (size_t lane = c->live; lane < c->W; lane++)
            lanes[i * c->W + lane] = lanes[i * c->W + c->live - 1];
}
