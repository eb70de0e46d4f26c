/* continuation.c - follows paths of closure equations by predictor and corrector steps (continuation.h). */
#include "continuation.h"
#include "dynamics/model/coordinates.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MAX_CORRECTIONS = 8, RIGHT_SIDES = 16 /* solved at a time, between two looks at the deadline */ };
#define MAX_STEP        0.5   /* longest step, in units of the path's length */
#define MAX_CORRECTION  0.5   /* largest first correction of a step: rad, or parts of the model's length */
#define MAX_CONTRACTION 0.25  /* largest ratio of a correction to the one before */
#define MAX_CHANGE      0.5   /* largest relative change of the Jacobian in a step, |M^4|^(1/4) of continuation.h */
#define CONVERGED       0.01  /* a step ends once a correction is this part of the first one */
#define MIN_STEP        1e-9  /* shortest step, in units of the path's length */
#define NO_PROGRESS     1e-6  /* the path ends if a shortest step has a first correction below this */
#define ROUNDING        1e-12 /* corrections below this are rounding errors and do not measure contraction */
#define MIN_PIVOT       1e-7  /* smallest entry of the Cholesky diagonal, for columns of length one */

/* The progress of one lane along its path. */
typedef struct lane_progress {
    double s, step;     /* the last accepted point; the trial step from it */
    double last_step;   /* the accepted step that ended at s */
    double first, last; /* sizes of the first and the latest correction of the present step */
    double contraction; /* the largest ratio of successive corrections in the present step */
    int    corrections;
    bool   started, running;
} lane_progress;

static double *inverse_of(const dyn_closure_solver *c, size_t lane)
{
    return c->inverse + lane * c->unknowns * c->rows;
}

static double *scale_of(const dyn_closure_solver *c, size_t lane)
{
    return c->scale + lane * c->unknowns;
}

enum { SIDE_BY_SIDE = 4 /* sums that are added up together: each addition waits for the one before in its sum */ };

/* Writes the products of the column a with SIDE_BY_SIDE columns from A on; m rows. */
static void multiply_columns(size_t m, const double *a, const double *A, double *products)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (size_t r = 0; r < m; r++) {
        s0 += A[r] * a[r];
        s1 += A[m + r] * a[r];
        s2 += A[2 * m + r] * a[r];
        s3 += A[3 * m + r] * a[r];
    }
    products[0] = s0, products[1] = s1, products[2] = s2, products[3] = s3;
}

static double multiply_column(size_t m, const double *a, const double *b)
{
    double sum = 0;
    for (size_t r = 0; r < m; r++)
        sum += b[r] * a[r];
    return sum;
}

/* Computes A^T A (lower triangle, column-major), where A is the Jacobian of the loop error with columns of length one.
 */
static void find_normal(dyn_closure_solver *c)
{
    size_t n = c->unknowns, m = c->rows;
    for (size_t j = 0; j < n && dyn_closure_may_continue(c); j++) {
        const double *a = c->A + j * m;
        size_t        i = j;
        for (; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
            multiply_columns(m, a, c->A + i * m, c->normal + j * n + i);
        for (; i < n; i++)
            c->normal[j * n + i] = multiply_column(m, a, c->A + i * m);
    }
}

/* Finds the pseudoinverse K of the Jacobian J by a Cholesky factorization of the normal equations, and the lengths of
 * J's columns, at the present position. The normal equations square the condition number; K is still accurate enough
 * for corrections. Returns false if J has lost rank. */
static bool factor_jacobian(dyn_closure_solver *c, size_t lane)
{
    size_t  n = c->unknowns, m = c->rows;
    double *K = inverse_of(c, lane);
    if (!dyn_closure_scale(c, lane)) return false;
    memcpy(scale_of(c, lane), c->column_norm, n * sizeof *c->column_norm);
    find_normal(c);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, c->normal, (lapack_int)n) != 0) return false;
    for (size_t i = 0; i < n; i++)
        if (c->normal[i * n + i] < MIN_PIVOT) return false;
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < n; i++)
            K[r * n + i] = c->A[i * m + r];
    for (size_t r = 0; r < m && dyn_closure_may_continue(c); r += RIGHT_SIDES) {
        const size_t some = m - r < RIGHT_SIDES ? m - r : RIGHT_SIDES;
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, (lapack_int)some, c->normal, (lapack_int)n, K + r * n,
                            (lapack_int)n);
    }
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < n; i++)
            K[r * n + i] /= c->column_norm[i];
    return true;
}

/* y = K x, with K the pseudoinverse of the Jacobian at the last accepted point */
static void apply(const dyn_closure_solver *c, size_t lane, const double *x, double *y)
{
    const double *K = inverse_of(c, lane);
    size_t        n = c->unknowns;
    memset(y, 0, n * sizeof *y);
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < n; i++)
            y[i] += K[r * n + i] * x[r];
}

/* Finds M = K J - 1 (column-major): K is the pseudoinverse of the Jacobian at the last accepted point, J the Jacobian
 * at the present position. M is scaled by the column lengths at the accepted point. */
static void find_change(const dyn_closure_solver *c, size_t lane, double *M)
{
    const double *scale  = scale_of(c, lane);
    double       *column = c->B;
    for (size_t j = 0; j < c->unknowns && dyn_closure_may_continue(c); j++, M += c->unknowns) {
        for (size_t r = 0; r < c->rows; r++)
            column[r] = c->J[(r * c->nv + (size_t)c->unknown[j]) * c->W + lane];
        apply(c, lane, column, M);
        M[j] -= 1;
        for (size_t i = 0; i < c->unknowns; i++)
            M[i] *= scale[i] / scale[j];
    }
}

/* to = M M, column-major. Returns the Frobenius norm of the product. */
static double square(const dyn_closure_solver *c, const double *M, double *to)
{
    size_t n   = c->unknowns;
    double sum = 0;
    memset(to, 0, n * n * sizeof *to);
    for (size_t j = 0; j < n && dyn_closure_may_continue(c); j++)
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++)
                to[j * n + i] += M[k * n + i] * M[j * n + k];
    for (size_t e = 0; e < n * n; e++)
        sum += to[e] * to[e];
    return sqrt(sum);
}

/* Returns |M^4|^(1/4), a bound of the spectral radius of the Jacobian's relative change M = K J - 1. Close to a
 * singular position M is nearly of rank one, and |M| is much larger than the spectral radius. */
static double jacobian_change(const dyn_closure_solver *c, size_t lane)
{
    size_t  n  = c->unknowns;
    double *M2 = c->normal + n * n, norm;
    find_change(c, lane, c->normal);
    square(c, c->normal, M2);
    norm = square(c, M2, c->normal);
    return sqrt(sqrt(norm));
}

/* Writes the correction -K (r - remaining) to c->step, with r the loop error and K the pseudoinverse of its Jacobian.
 * Returns the largest entry of the correction in units of step_limit. */
static double find_correction(dyn_closure_solver *c, size_t lane)
{
    double largest = 0, *correction = c->normal;
    dyn_closure_error(c, lane, c->B);
    apply(c, lane, c->B, correction);
    for (size_t i = 0; i < c->unknowns; i++) {
        c->step[(size_t)c->unknown[i] * c->W + lane] = -correction[i];
        largest                                      = fmax(largest, fabs(correction[i]) / c->step_limit[i]);
    }
    return isfinite(largest) ? largest : INFINITY;
}

/* Adds c->step to the lane's coordinates; the entries of known coordinates are zero. */
static void correct(dyn_closure_solver *c, size_t lane)
{
    const dyn_model *m = c->mechanism.tree;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic)
            dyn_coordinates_move(&m->body[i], c->q + (size_t)m->body[i].joint.q * c->W + lane, c->W,
                                 c->step + (size_t)m->body[i].joint.v * c->W + lane, 1);
}

static void copy_lane(const dyn_closure_solver *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* Ends the path of a lane. Steps towards a singular position shrink as a geometric series, whose sum estimates its
 * distance. */
static void stop(dyn_closure_solver *c, size_t lane, lane_progress *f)
{
    double ratio = f->last_step > 0 ? fmin(f->step / f->last_step, 0.98) : 0;
    copy_lane(c, c->accepted_q, lane, c->q);
    c->reached[lane] = fmin(f->s + f->step / (1 - ratio), nextafter(1, 0));
    f->running       = false;
}

/* Sets the trial point: known coordinates at s + step, unknowns of the last accepted point. */
static void set_trial_point(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, lane_progress *f)
{
    copy_lane(c, c->accepted_q, lane, c->q);
    if (f->s + f->step >= 1) f->step = 1 - f->s;
    if (!(f->s + f->step > f->s)) { /* the path is so long that s + step rounds to s */
        stop(c, lane, f);
        return;
    }
    path->set_point(path->arg, c, lane, f->s + f->step);
    f->corrections = 0;
    f->contraction = 0;
}

static void start(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, lane_progress *f)
{
    f->started = true;
    copy_lane(c, c->q, lane, c->accepted_q);
    f->step = 0;
    if (!factor_jacobian(c, lane)) {
        stop(c, lane, f);
        return;
    }
    f->step = fmin(1, MAX_STEP / path->length[lane]);
    set_trial_point(c, path, lane, f);
}

/* True if a trial step is too short to go on. Towards a singular position, steps become short and move the unknowns
 * less and less. Near a singular position that the path misses, short steps still move the unknowns far. */
static bool is_too_short(const dyn_continuation_path *path, size_t lane, double step, const lane_progress *f)
{
    double length = step * path->length[lane];
    return path->shortest > 0 ? length < path->shortest : length < MIN_STEP && f->first < NO_PROGRESS;
}

/* Tries another step, or ends the path if that step is too short. */
static void try_step(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, double step,
                     lane_progress *f)
{
    f->step = step;
    if (is_too_short(path, lane, step, f))
        stop(c, lane, f);
    else
        set_trial_point(c, path, lane, f);
}

/* Returns the next trial step: 0.6 of the step that would just meet the limits of change and contraction if both grow
 * linearly with it. */
static double next_step(const dyn_continuation_path *path, size_t lane, const lane_progress *f, double change)
{
    double factor = fmin(0.6 * MAX_CHANGE / fmax(change, 1e-3), 0.6 * MAX_CONTRACTION / fmax(f->contraction, 1e-3));
    return fmin(f->step * fmin(fmax(factor, 0.5), 2), MAX_STEP / path->length[lane]);
}

/* Accepts the trial point if the Jacobian has changed little enough, and starts the next step. Otherwise halves the
 * step. */
static void accept(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, lane_progress *f)
{
    double change = jacobian_change(c, lane);
    if (!(change <= MAX_CHANGE)) {
        try_step(c, path, lane, 0.5 * f->step, f);
        return;
    }
    double next = next_step(path, lane, f, change);
    if (f->step >= 1 - f->s) {
        c->reached[lane] = 1;
        f->running       = false;
        return;
    }
    copy_lane(c, c->q, lane, c->accepted_q);
    f->s += f->step;
    f->last_step = f->step;
    if (factor_jacobian(c, lane))
        try_step(c, path, lane, next, f);
    else
        stop(c, lane, f);
}

static void advance(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, lane_progress *f)
{
    if (!f->started) {
        start(c, path, lane, f);
        return;
    }
    double size = find_correction(c, lane);
    if (f->corrections == 0)
        f->first = size;
    else if (f->last > ROUNDING)
        f->contraction = fmax(f->contraction, size / f->last);
    f->last = size;
    f->corrections++;
    if (size > MAX_CORRECTION || f->contraction > MAX_CONTRACTION || f->corrections > MAX_CORRECTIONS) {
        try_step(c, path, lane, 0.5 * f->step, f);
        return;
    }
    correct(c, lane);
    if (size <= fmax(CONVERGED * f->first, ROUNDING) && f->corrections > 1) accept(c, path, lane, f);
}

/* Applies one correction to every unfinished lane. Returns false if all lanes are finished. */
static bool advance_all(dyn_closure_solver *c, const dyn_continuation_path *path, lane_progress *f)
{
    bool running = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        if (f[lane].running && dyn_may_continue(c->deadline)) advance(c, path, lane, &f[lane]);
        running = running || f[lane].running;
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    dyn_closure_pad(c, 12, c->goal);
    dyn_closure_pad(c, c->rows, c->remaining);
    return running;
}

bool dyn_continuation_follow(dyn_closure_solver *c, const dyn_scene *scene, const dyn_continuation_path *path)
{
    lane_progress f[DYN_MAX_LANES];
    bool          running = false, arrived = true, awaited = true;
    memset(c->step, 0, c->nv * c->W * sizeof *c->step);
    for (size_t lane = 0; lane < c->live; lane++) {
        f[lane] = (lane_progress){.running = path->length[lane] > 0};
        running = running || f[lane].running;
        if (!f[lane].running) path->set_point(path->arg, c, lane, 1);
        c->reached[lane] = f[lane].running ? 0 : 1;
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    for (size_t k = 0; running && awaited && (path->most_evaluations == 0 || k < path->most_evaluations); k++) {
        dyn_closure_evaluate(c, scene);
        running = advance_all(c, path, f);
        awaited = dyn_may_continue(c->deadline);
    }
    for (size_t lane = 0; lane < c->live; lane++) {
        c->stopped[lane] = f[lane].running && !awaited;
        if (f[lane].running) stop(c, lane, &f[lane]);
        arrived = arrived && c->reached[lane] == 1;
    }
    return arrived;
}

/* --- path of a guess ---------------------------------------------------------------------------------------------- */

/* Sets c->remaining to (1 - s) times the loop error at the start of the path. */
static void shrink_error(const void *arg, dyn_closure_solver *c, size_t lane, double s)
{
    const double *error = arg;
    for (size_t r = 0; r < c->rows; r++)
        c->remaining[r * c->W + lane] = (1 - s) * error[r * c->W + lane];
}

dyn_continuation_path dyn_continuation_guess_path(dyn_closure_solver *c, const dyn_scene *scene)
{
    dyn_continuation_path path = {.set_point = shrink_error, .arg = c->guess_error};
    memset(c->remaining, 0, c->rows * c->W * sizeof *c->remaining);
    dyn_closure_evaluate(c, scene);
    for (size_t lane = 0; lane < c->live; lane++) {
        path.length[lane] = dyn_closure_error(c, lane, c->B);
        for (size_t r = 0; r < c->rows; r++)
            c->guess_error[r * c->W + lane] = c->remaining[r * c->W + lane] = c->B[r];
    }
    return path;
}
