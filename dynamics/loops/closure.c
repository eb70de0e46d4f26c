/* closure.c - evaluates closure equations and solves them by Newton's method (closure.h). The _work functions of
 * LAPACKE use memory of the caller. */
#include "closure.h"
#include "dynamics/math/least_squares.h"
#include "dynamics/model/coordinates.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 200, LARGE = 64 /* unknowns, from which on LAPACK takes more than a millisecond or two */ };
#define CLOSED   1e-9    /* largest error norm of closed loops: units of the model's length, rad */
#define SHORTEST 0x1p-30 /* smallest part of a Newton step */
#define BETTER   0.25    /* a closed state is improved while each step reduces the error norm to less than this part */

/* --- memory ------------------------------------------------------------------------------------------------------ */

size_t dyn_closure_stride(const dyn_closure_solver *c)
{
    return c->rows > c->unknowns ? c->rows : c->unknowns;
}

/* The work array of dgelsy needs max(min(m, n) + 3 n + 1, 2 min(m, n) + nrhs) doubles. */
static size_t work_size(const dyn_closure_solver *c)
{
    return 4 * c->unknowns + 3 * c->rows + 8;
}

/* In one Newton step a prismatic joint moves by at most the model's length, any other coordinate by at most 1 (rad or
 * m). */
static void set_units(dyn_closure_solver *c)
{
    const dyn_model *m = c->mechanism.tree;
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t k = 0; k < c->unknowns; k++)
            if (c->unknown[k] >= m->body[i].joint.v && !m->body[i].joint.mimic)
                c->step_limit[k] = m->body[i].joint.kind == DYN_PRISMATIC ? c->loops->length : 1;
}

bool dyn_closure_open(dyn_memory memory, dyn_closure_solver *c)
{
    size_t W = c->W, nq = c->loops->nq, n = c->n_pairs;
    bool   room       = true;
    c->q              = dyn_take_zeroed(memory, nq * W, &room);
    c->accepted_q     = dyn_take_zeroed(memory, nq * W, &room);
    c->step           = dyn_take_zeroed(memory, c->nv * W, &room);
    c->error_norm     = dyn_take_zeroed(memory, W, &room);
    c->pair_position  = dyn_take_zeroed(memory, 3 * n * W, &room);
    c->pair_rotation  = dyn_take_zeroed(memory, 9 * n * W, &room);
    c->pair_jacobian  = dyn_take_zeroed(memory, 6 * n * c->nv * W, &room);
    c->pair_work      = dyn_take_zeroed(memory, 6 * n * c->nv * W, &room);
    c->pair_rate_work = dyn_take_zeroed(memory, c->loops->has_universal ? 6 * n * c->nv * W : 0, &room);
    c->J              = dyn_take_zeroed(memory, c->rows * c->nv * W, &room);
    c->goal           = dyn_take_zeroed(memory, 12 * W, &room);
    c->remaining      = dyn_take_zeroed(memory, c->rows * W, &room);
    c->inverse        = dyn_take_zeroed(memory, c->unknowns * c->rows * W, &room);
    c->normal         = dyn_take_zeroed(memory, 2 * c->unknowns * c->unknowns, &room);
    c->guess_error    = dyn_take_zeroed(memory, c->rows * W, &room);
    c->scale          = dyn_take_zeroed(memory, c->unknowns * W, &room);
    c->A              = dyn_take_zeroed(memory, c->rows * c->unknowns, &room);
    c->B              = dyn_take_zeroed(memory, dyn_closure_stride(c) * c->rows, &room);
    c->work           = dyn_take_zeroed(memory, work_size(c), &room);
    c->column_norm    = dyn_take_zeroed(memory, c->unknowns, &room);
    c->step_limit     = dyn_take_zeroed(memory, c->unknowns, &room);
    c->pivot          = dyn_take(memory, c->unknowns * sizeof *c->pivot);
    if (!room || !c->pivot) return false;
    set_units(c);
    return true;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* Returns the factor of a row of the platform frame's error: the origin's error is in units of the model's length, the
 * rotation's in rad. */
static double frame_row_factor(const dyn_closure_solver *c, size_t row)
{
    return row < 3 ? 1 / c->loops->length : 1;
}

static void get(const dyn_closure_solver *c, const double *lanes, size_t n, size_t lane, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = lanes[i * c->W + lane];
}

/* Adds factor n^T M to one lane of a row; M is the angular part of the pair Jacobian `raw`. */
static void add_turn(const dyn_closure_solver *c, size_t lane, double factor, const double n[3], const double *raw,
                     double *row)
{
    for (size_t v = 0; v < c->nv; v++)
        for (size_t i = 0; i < 3; i++)
            row[v * c->W + lane] += factor * n[i] * raw[((3 + i) * c->nv + v) * c->W + lane];
}

/* Adds n^T M to the last row of a universal joint: n is the normal of its two axes, M the angular part of the pair
 * Jacobian `raw`. */
static void add_cross(const dyn_closure_solver *c, size_t k, const double *raw, double *row)
{
    double R[9], n[3];
    for (size_t lane = 0; lane < c->W; lane++) {
        get(c, c->pair_rotation + 9 * k * c->W, 9, lane, R);
        dyn_loop_universal_row(&c->loops->loop[k], R, n);
        add_turn(c, lane, 1, n, raw, row);
    }
}

/* Finds the constraint rows from the Jacobians of all pairs that the closure kernel computes. */
static void find_rows(const dyn_closure_solver *c, const double *raw, double *rows)
{
    size_t n = c->nv * c->W;
    memset(rows, 0, c->rows * n * sizeof *rows);
    for (size_t k = 0; k < c->loops->n; k++, raw += 6 * n) {
        const dyn_loop *loop = &c->loops->loop[k];
        for (size_t r = 0; r < loop->rows; r++, rows += n)
            for (size_t i = 0; i < 6; i++)
                for (size_t e = 0; loop->E[r][i] != 0 && e < n; e++)
                    rows[e] += loop->E[r][i] * raw[i * n + e];
        if (loop->kind == DYN_LOOP_UNIVERSAL) add_cross(c, k, raw, rows - n);
    }
    for (size_t r = 0; r < c->frame_rows; r++)
        for (size_t e = 0; e < n; e++)
            rows[r * n + e] = frame_row_factor(c, r) * raw[r * n + e];
}

/* Adds M qd to w in one lane; M is the angular part of the pair Jacobian `raw`. */
static void add_angular(const dyn_closure_solver *c, size_t lane, const double *raw, const double *qd, double w[3])
{
    for (size_t i = 0; i < 3; i++)
        for (size_t v = 0; v < c->nv; v++)
            w[i] += raw[((3 + i) * c->nv + v) * c->W + lane] * qd[v * c->W + lane];
}

/* Adds to the rows n^T J of universal joints the terms with rates of n, the normal of the joint's axes: (n^T J)' = n^T
 * J' + n'^T J. If qdd is not NULL, c->pair_rate_work must hold J', and the terms are those of (n^T J)'' = n^T J'' + 2
 * n'^T J' + n''^T J. */
static void add_cross_rates(const dyn_closure_solver *c, const double *qd, const double *qdd, double *rows)
{
    size_t W = c->W, size = 6 * c->nv * W;
    double R[9], nd[3], ndd[3];
    for (size_t k = 0; c->loops->has_universal && k < c->loops->n; k++) {
        const dyn_loop *loop = &c->loops->loop[k];
        const double   *J = c->pair_jacobian + k * size, *Jd = c->pair_rate_work + k * size;
        double         *row = rows + (loop->first + loop->rows - 1) * c->nv * W;
        for (size_t lane = 0; loop->kind == DYN_LOOP_UNIVERSAL && lane < W; lane++) {
            double w[3] = {0}, wd[3] = {0};
            get(c, c->pair_rotation + 9 * k * W, 9, lane, R);
            add_angular(c, lane, J, qd, w);
            if (qdd) add_angular(c, lane, Jd, qd, wd);
            if (qdd) add_angular(c, lane, J, qdd, wd);
            dyn_loop_universal_row_rates(loop, R, w, wd, nd, ndd);
            if (qdd) add_turn(c, lane, 2, nd, Jd, row);
            add_turn(c, lane, 1, qdd ? ndd : nd, J, row);
        }
    }
}

void dyn_closure_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, double *rows)
{
    dyn_closure io = {.q = c->q, .qd = qd, .n_pairs = c->n_pairs, .pairs = c->pair, .jacobian_dot = c->pair_work};
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
                      .n_pairs       = c->n_pairs,
                      .pairs         = c->pair,
                      .jacobian_dot  = c->loops->has_universal ? c->pair_rate_work : NULL,
                      .jacobian_ddot = c->pair_work};
    c->tree->closure(scene, c->workspace, &io, 1);
    find_rows(c, c->pair_work, rows);
    add_cross_rates(c, qd, qdd, rows);
}

/* Replaces the angular parts of a loop's rows by the exact derivatives of its residual. These differ from the constant
 * rows loop->E where the loop is open. */
static void correct_rows(const dyn_closure_solver *c, size_t k, size_t lane, const double *raw, double *rows)
{
    const dyn_loop *loop = &c->loops->loop[k];
    size_t          W = c->W, n = c->nv;
    double          R[9], E[DYN_LOOP_ROWS][3];
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
    size_t        W = c->W, n = c->nv, k = c->loops->n;
    const double *raw  = c->pair_jacobian + 6 * k * n * W;
    double       *rows = c->J + c->loops->rows * n * W, R[9], goal[12], vector[3], D[9];
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

/* Corrects the rows of lanes with open loops, which exist only along the path of a guess. */
static void correct_open_loops(dyn_closure_solver *c)
{
    size_t n = c->nv * c->W;
    for (size_t lane = 0; lane < c->live; lane++) {
        bool open = false;
        for (size_t r = 0; r < c->rows; r++)
            open = open || c->remaining[r * c->W + lane] != 0;
        for (size_t k = 0; open && k < c->loops->n; k++)
            correct_rows(c, k, lane, c->pair_jacobian + 6 * k * n, c->J + c->loops->loop[k].first * n);
        if (open && c->frame_rows > 3) correct_frame_rows(c, lane);
    }
}

void dyn_closure_evaluate(dyn_closure_solver *c, const dyn_scene *scene)
{
    dyn_closure io = {.q         = c->q,
                      .n_pairs   = c->n_pairs,
                      .pairs     = c->pair,
                      .positions = c->pair_position,
                      .rotations = c->pair_rotation,
                      .jacobian  = c->pair_jacobian};
    c->tree->closure(scene, c->workspace, &io, 1);
    find_rows(c, c->pair_jacobian, c->J);
    correct_open_loops(c);
}

/* Writes the residual of pair k and returns its number of rows. */
static size_t pair_error(const dyn_closure_solver *c, size_t k, size_t lane, double *rows)
{
    double y[3], R[9], goal[12];
    get(c, c->pair_position + 3 * k * c->W, 3, lane, y);
    get(c, c->pair_rotation + 9 * k * c->W, 9, lane, R);
    if (k < c->loops->n) {
        dyn_loop_residual(c->loops, k, y, R, rows);
        return c->loops->loop[k].rows;
    }
    get(c, c->goal, 12, lane, goal);
    dyn_pose_residual(goal, goal + 3, y, R, rows);
    for (size_t r = 0; r < c->frame_rows; r++)
        rows[r] *= frame_row_factor(c, r);
    return c->frame_rows;
}

double dyn_closure_error(dyn_closure_solver *c, size_t lane, double *error)
{
    double sum = 0, *row = error;
    c->worst_error[lane] = 0;
    for (size_t k = 0; k < c->n_pairs; k++) {
        double open = 0;
        size_t n    = pair_error(c, k, lane, row);
        for (size_t i = 0; i < n; i++, row++) {
            *row -= c->remaining[(size_t)(row - error) * c->W + lane];
            open += *row * *row;
        }
        sum += open;
        if (open <= c->worst_error[lane]) continue;
        c->worst_error[lane] = open;
        c->worst_pair[lane]  = k;
    }
    c->worst_error[lane] = sqrt(c->worst_error[lane]);
    return sqrt(sum);
}

/* Writes minus the loop error to c->B, the right side of a Newton step. Returns its norm. */
static double find_right_side(dyn_closure_solver *c, size_t lane)
{
    double open = dyn_closure_error(c, lane, c->B);
    for (size_t r = 0; r < c->rows; r++)
        c->B[r] = -c->B[r];
    return open;
}

/* --- least squares ----------------------------------------------------------------------------------------------- */

/* A joint whose axis passes through the point where the loop closes does not move that point: its column is rounding
 * error and is set to zero. */
bool dyn_closure_scale(dyn_closure_solver *c, size_t lane)
{
    bool finite = true;
    for (size_t k = 0; k < c->unknowns; k++) {
        double sum = 0, *column = c->A + k * c->rows;
        for (size_t i = 0; i < c->rows; i++) {
            column[i] = c->J[(i * c->nv + (size_t)c->unknown[k]) * c->W + lane];
            sum += column[i] * column[i];
        }
        bool still        = sqrt(sum) <= DYN_CLOSURE_NEGLIGIBLE;
        c->column_norm[k] = still ? 1 : sqrt(sum);
        for (size_t i = 0; i < c->rows; i++)
            column[i] = still ? 0 : column[i] / c->column_norm[k];
        finite = finite && isfinite(sum);
    }
    return finite;
}

/* Divides the solutions by the lengths of the columns. */
static void unscale(const dyn_closure_solver *c, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t k = 0; k < c->unknowns; k++)
            c->B[j * dyn_closure_stride(c) + k] /= c->column_norm[k];
}

/* Solves a large system of full rank, while the deadline is watched. */
static dyn_least_squares_status solve_large(const dyn_closure_solver *c, size_t columns, double singular)
{
    const dyn_least_squares large = {.rows     = c->rows,
                                     .unknowns = c->unknowns,
                                     .A        = c->A,
                                     .B        = c->B,
                                     .stride   = dyn_closure_stride(c),
                                     .work     = c->work,
                                     .pivot    = c->pivot,
                                     .deadline = c->deadline};
    return dyn_least_squares_solve(&large, columns, singular);
}

bool dyn_closure_solve(dyn_closure_solver *c, size_t lane, size_t columns, double singular)
{
    lapack_int rank, m = (lapack_int)c->rows, n = (lapack_int)c->unknowns, stride = m > n ? m : n;
    if (!dyn_closure_scale(c, lane)) return false;
    if (c->unknowns >= LARGE && c->rows >= c->unknowns) {
        dyn_least_squares_status outcome = solve_large(c, columns, singular);
        c->rank[lane]                    = c->unknowns;
        if (outcome == DYN_SQUARES_SOLVED) unscale(c, columns);
        if (outcome != DYN_SQUARES_DEFICIENT) return outcome == DYN_SQUARES_SOLVED;
        if (!dyn_closure_scale(c, lane)) return false;
    }
    memset(c->pivot, 0, c->unknowns * sizeof *c->pivot);
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, m, n, (lapack_int)columns, c->A, m, c->B, stride, c->pivot, singular,
                            &rank, c->work, (lapack_int)work_size(c)) != 0)
        return false;
    c->rank[lane] = (size_t)rank;
    unscale(c, columns);
    return true;
}

bool dyn_closure_invert(dyn_closure_solver *c, size_t lane, double singular, size_t stride, double *inverse)
{
    size_t apart = dyn_closure_stride(c);
    memset(c->B, 0, apart * c->rows * sizeof *c->B);
    for (size_t i = 0; i < c->rows; i++)
        c->B[i * apart + i] = 1;
    if (!dyn_closure_solve(c, lane, c->rows, singular)) return false;
    for (size_t k = 0; k < c->unknowns; k++)
        for (size_t i = 0; i < c->rows; i++)
            inverse[(k * c->rows + i) * stride] = c->B[i * apart + k];
    return true;
}

/* --- Newton's method --------------------------------------------------------------------------------------------- */

typedef struct search {
    double part; /* fraction of the Newton step tried */
    bool   started, running;
} search;

static void copy_lane(const dyn_closure_solver *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* q = accepted_q + part step, along the coordinates (quaternions by the exponential map). */
static void move(const dyn_closure_solver *c, size_t lane, double part)
{
    const dyn_model *m = c->mechanism.tree;
    size_t           W = c->W;
    copy_lane(c, c->accepted_q, lane, c->q);
    for (size_t i = 0; i < m->n_bodies && part != 0; i++)
        if (!m->body[i].joint.mimic)
            dyn_coordinates_move(&m->body[i], c->q + (size_t)m->body[i].joint.q * W + lane, W,
                                 c->step + (size_t)m->body[i].joint.v * W + lane, part);
}

/* Finds the Newton step of a lane, shortened so that no entry exceeds its step_limit. Known coordinates do not move. */
static bool find_step(dyn_closure_solver *c, size_t lane)
{
    double longest = 1;
    if (!dyn_closure_solve(c, lane, 1, DYN_CLOSURE_SINGULAR)) return false;
    for (size_t k = 0; k < c->unknowns; k++)
        longest = fmax(longest, fabs(c->B[k]) / c->step_limit[k]);
    for (size_t k = 0; k < c->unknowns; k++)
        c->step[(size_t)c->unknown[k] * c->W + lane] = c->B[k] / longest;
    return isfinite(longest);
}

static void advance(dyn_closure_solver *c, size_t lane, search *s)
{
    double open = find_right_side(c, lane), before = c->error_norm[lane];
    if (s->started && !(open < before)) {
        s->part *= 0.5;
        s->running = before > CLOSED && s->part >= SHORTEST;
        move(c, lane, s->running ? s->part : 0);
        return;
    }
    copy_lane(c, c->q, lane, c->accepted_q);
    c->error_norm[lane] = open;
    s->running          = !(s->started && open <= CLOSED && open > BETTER * before) && open > 0 && find_step(c, lane);
    s->started          = true;
    s->part             = 1;
    if (s->running) move(c, lane, 1);
}

bool dyn_closure_is_closed(const dyn_closure_solver *c, size_t lane)
{
    return c->error_norm[lane] <= CLOSED;
}

void dyn_closure_pad(const dyn_closure_solver *c, size_t entries, double *lanes)
{
    for (size_t i = 0; i < entries; i++)
        for (size_t lane = c->live; lane < c->W; lane++)
            lanes[i * c->W + lane] = lanes[i * c->W + c->live - 1];
}

/* Advances every running lane by one step. Returns false if no lane is running any more. */
static bool advance_all(dyn_closure_solver *c, search *s)
{
    bool running = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        if (s[lane].running && dyn_may_continue(c->deadline)) advance(c, lane, &s[lane]);
        running = running || s[lane].running;
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    return running;
}

bool dyn_closure_check(dyn_closure_solver *c, const dyn_scene *scene)
{
    bool closed = true;
    dyn_closure_evaluate(c, scene);
    for (size_t lane = 0; lane < c->live; lane++) {
        c->error_norm[lane] = dyn_closure_error(c, lane, c->B);
        closed              = closed && dyn_closure_is_closed(c, lane);
    }
    dyn_closure_pad(c, 1, c->error_norm);
    return closed;
}

bool dyn_closure_iterate(dyn_closure_solver *c, const dyn_scene *scene)
{
    search s[DYN_MAX_LANES] = {{0}};
    bool   running = true, awaited = true;
    for (size_t lane = 0; lane < c->live; lane++)
        s[lane] = (search){.running = !c->stopped[lane]};
    for (int k = 0; k < MOST_STEPS && running && awaited; k++) {
        dyn_closure_evaluate(c, scene);
        running = advance_all(c, s);
        awaited = dyn_may_continue(c->deadline);
    }
    for (size_t lane = 0; lane < c->live; lane++) {
        if (s[lane].running) copy_lane(c, c->accepted_q, lane, c->q);
        c->stopped[lane] = c->stopped[lane] || (s[lane].running && !awaited);
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    return dyn_closure_check(c, scene);
}
