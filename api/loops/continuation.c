/* continuation.c - see continuation.h. */
#include "continuation.h"
#include "api/model/coordinates.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST_CORRECTIONS = 8 };
#define LONGEST     0.5   /* step, as the path's length is measured */
#define FARTHEST    0.5   /* first correction, rad or parts of the model's length */
#define CONTRACTION 0.25  /* of a correction by the one before */
#define CHANGE      0.5   /* of K J from 1 */
#define NEAR        0.01  /* last correction by the first one, to end a step */
#define SHORTEST    1e-9  /* step, as LONGEST */
#define STILL       1e-6  /* first correction of a step that gets nowhere */
#define ROUNDING    1e-12 /* corrections that tell nothing about contraction */
#define SINGULAR    1e-7  /* on Cholesky's diagonal, of columns of length one */

/* The continuation of one lane. */
typedef struct follower {
    double s, step;     /* the last accepted point; the trial step beyond it */
    double before;      /* the accepted step that ended at s */
    double first, last; /* corrections of this step */
    double contraction; /* the largest of this step */
    int    corrections;
    bool   begun, going;
} follower;

static double *inverse_of(const api_closure *c, size_t lane)
{
    return c->inverse + lane * c->unknowns * c->rows;
}

static double *scale_of(const api_closure *c, size_t lane)
{
    return c->scale + lane * c->unknowns;
}

/* N = A^T A of J_u with columns of length one; the lower triangle, in columns. */
static void find_normal(api_closure *c)
{
    size_t n = c->unknowns, m = c->rows;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = 0;
            for (size_t r = 0; r < m; r++)
                sum += c->A[i * m + r] * c->A[j * m + r];
            c->normal[j * n + i] = sum;
        }
}

/* K = N^-1 A^T, by Cholesky's factor, and the column lengths at the present position. That squares the condition
 * number, which a matrix for corrections can bear. False where J has lost rank. */
static bool anchor(api_closure *c, size_t lane)
{
    size_t  n = c->unknowns, m = c->rows;
    double *K = inverse_of(c, lane);
    if (!api_closure_scale(c, lane)) return false;
    memcpy(scale_of(c, lane), c->norm, n * sizeof *c->norm);
    find_normal(c);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, c->normal, (lapack_int)n) != 0) return false;
    for (size_t i = 0; i < n; i++)
        if (c->normal[i * n + i] < SINGULAR) return false;
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < n; i++)
            K[r * n + i] = c->A[i * m + r];
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, (lapack_int)m, c->normal, (lapack_int)n, K,
                        (lapack_int)n);
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < n; i++)
            K[r * n + i] /= c->norm[i];
    return true;
}

/* y = K x */
static void apply(const api_closure *c, size_t lane, const double *x, double *y)
{
    const double *K = inverse_of(c, lane);
    size_t        n = c->unknowns;
    memset(y, 0, n * sizeof *y);
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < n; i++)
            y[i] += K[r * n + i] * x[r];
}

/* M = K J - 1 in units of the columns of J at the last point, in columns; J at the present position. */
static void find_change(const api_closure *c, size_t lane, double *M)
{
    const double *scale  = scale_of(c, lane);
    double       *column = c->B;
    for (size_t j = 0; j < c->unknowns; j++, M += c->unknowns) {
        for (size_t r = 0; r < c->rows; r++)
            column[r] = c->J[(r * c->nv + (size_t)c->unknown[j]) * c->W + lane];
        apply(c, lane, column, M);
        M[j] -= 1;
        for (size_t i = 0; i < c->unknowns; i++)
            M[i] *= scale[i] / scale[j];
    }
}

/* to = M M, in columns; returns its Frobenius norm. */
static double square(size_t n, const double *M, double *to)
{
    double sum = 0;
    memset(to, 0, n * n * sizeof *to);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++)
                to[j * n + i] += M[k * n + i] * M[j * n + k];
    for (size_t e = 0; e < n * n; e++)
        sum += to[e] * to[e];
    return sqrt(sum);
}

/* |M^4|^(1/4), a bound of the spectral radius of M. Close to a singular position M is nearly of rank one, and its own
 * norm much larger. */
static double change_of(const api_closure *c, size_t lane)
{
    size_t  n  = c->unknowns;
    double *M2 = c->normal + n * n, norm;
    find_change(c, lane, c->normal);
    square(n, c->normal, M2);
    norm = square(n, M2, c->normal);
    return sqrt(sqrt(norm));
}

/* The correction -K (r - left) into c->step; the largest entry in units of its coordinate. */
static double find_correction(api_closure *c, size_t lane)
{
    double largest = 0, *correction = c->normal;
    api_closure_error(c, lane, c->B);
    apply(c, lane, c->B, correction);
    for (size_t i = 0; i < c->unknowns; i++) {
        c->step[(size_t)c->unknown[i] * c->W + lane] = -correction[i];
        largest                                      = fmax(largest, fabs(correction[i]) / c->unit[i]);
    }
    return isfinite(largest) ? largest : INFINITY;
}

/* Adds c->step to the lane's coordinates; those that are given have none. */
static void correct(api_closure *c, size_t lane)
{
    const dyn_model *m = c->model->dyn;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].mimic)
            api_coordinates_move(&m->body[i], c->q + (size_t)m->body[i].q * c->W + lane, c->W,
                                 c->step + (size_t)m->body[i].v * c->W + lane, 1);
}

static void copy_lane(const api_closure *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* The lane goes no further. Towards a singular position steps shrink as a geometric series: its sum is how far it is.
 */
static void end(api_closure *c, size_t lane, follower *f)
{
    double ratio = f->before > 0 ? fmin(f->step / f->before, 0.98) : 0;
    copy_lane(c, c->base, lane, c->q);
    c->reached[lane] = fmin(f->s + f->step / (1 - ratio), nextafter(1, 0));
    f->going         = false;
}

/* Sets the trial point: given coordinates at s + step, the unknowns of the last accepted point. */
static void set_out(api_closure *c, const api_continuation_path *path, size_t lane, follower *f)
{
    copy_lane(c, c->base, lane, c->q);
    if (f->s + f->step >= 1) f->step = 1 - f->s;
    if (!(f->s + f->step > f->s)) { /* the path is longer than fractions of it can be told apart */
        end(c, lane, f);
        return;
    }
    path->go(path->arg, c, lane, f->s + f->step);
    f->corrections = 0;
    f->contraction = 0;
}

static void begin(api_closure *c, const api_continuation_path *path, size_t lane, follower *f)
{
    f->begun = true;
    copy_lane(c, c->q, lane, c->base);
    f->step = 0;
    if (!anchor(c, lane)) {
        end(c, lane, f);
        return;
    }
    f->step = fmin(1, LONGEST / path->length[lane]);
    set_out(c, path, lane, f);
}

/* Towards a singular position steps become short, and move the unknowns ever less. Near one, which the path misses,
 * short steps move them far. */
static bool is_stuck(const api_continuation_path *path, size_t lane, double step, const follower *f)
{
    double length = step * path->length[lane];
    return path->shortest > 0 ? length < path->shortest : length < SHORTEST && f->first < STILL;
}

/* Starts a trial with another step, or ends the path if that step is too short. */
static void try_step(api_closure *c, const api_continuation_path *path, size_t lane, double step, follower *f)
{
    f->step = step;
    if (is_stuck(path, lane, step, f))
        end(c, lane, f);
    else
        set_out(c, path, lane, f);
}

/* The next trial step: 0.6 of the one that the limits of change and contraction would just allow, if both are linear.
 */
static double next_step(const api_continuation_path *path, size_t lane, const follower *f, double change)
{
    double by = fmin(0.6 * CHANGE / fmax(change, 1e-3), 0.6 * CONTRACTION / fmax(f->contraction, 1e-3));
    return fmin(f->step * fmin(fmax(by, 0.5), 2), LONGEST / path->length[lane]);
}

/* Accepts the trial point if the Jacobian has changed little enough, and starts the next step. */
static void accept(api_closure *c, const api_continuation_path *path, size_t lane, follower *f)
{
    double change = change_of(c, lane);
    if (!(change <= CHANGE)) {
        try_step(c, path, lane, 0.5 * f->step, f);
        return;
    }
    double next = next_step(path, lane, f, change);
    if (f->step >= 1 - f->s) {
        c->reached[lane] = 1;
        f->going         = false;
        return;
    }
    copy_lane(c, c->q, lane, c->base);
    f->s += f->step;
    f->before = f->step;
    if (anchor(c, lane))
        try_step(c, path, lane, next, f);
    else
        end(c, lane, f);
}

static void advance(api_closure *c, const api_continuation_path *path, size_t lane, follower *f)
{
    if (!f->begun) {
        begin(c, path, lane, f);
        return;
    }
    double size = find_correction(c, lane);
    if (f->corrections == 0)
        f->first = size;
    else if (f->last > ROUNDING)
        f->contraction = fmax(f->contraction, size / f->last);
    f->last = size;
    f->corrections++;
    if (size > FARTHEST || f->contraction > CONTRACTION || f->corrections > MOST_CORRECTIONS) {
        try_step(c, path, lane, 0.5 * f->step, f);
        return;
    }
    correct(c, lane);
    if (size <= fmax(NEAR * f->first, ROUNDING) && f->corrections > 1) accept(c, path, lane, f);
}

/* One correction in every unfinished lane; false: all lanes are finished. */
static bool advance_all(api_closure *c, const api_continuation_path *path, follower *f)
{
    bool going = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        if (f[lane].going) advance(c, path, lane, &f[lane]);
        going = going || f[lane].going;
    }
    api_closure_pad(c, c->loops->nq, c->q);
    api_closure_pad(c, 12, c->goal);
    api_closure_pad(c, c->rows, c->left);
    return going;
}

bool api_continuation_follow(api_closure *c, const dyn_scene *scene, const api_continuation_path *path)
{
    follower    f[DYN_MAX_LANES];
    api_problem late;
    bool        going = false, arrived = true, awaited = true;
    api_problem_clear(&late);
    memset(c->step, 0, c->nv * c->W * sizeof *c->step);
    for (size_t lane = 0; lane < c->live; lane++) {
        f[lane] = (follower){.going = path->length[lane] > 0};
        going   = going || f[lane].going;
        if (!f[lane].going) path->go(path->arg, c, lane, 1);
        c->reached[lane] = f[lane].going ? 0 : 1;
    }
    api_closure_pad(c, c->loops->nq, c->q);
    while (going && awaited) {
        api_closure_evaluate(c, scene);
        going   = advance_all(c, path, f);
        awaited = api_deadline_check(c->deadline, &late);
    }
    for (size_t lane = 0; lane < c->live; lane++)
        arrived = arrived && c->reached[lane] == 1;
    return arrived && awaited;
}

/* --- the path of a guess ----------------------------------------------------------------------------------- */

/* left = (1 - s) times the error at the start. */
static void shrink(const void *arg, api_closure *c, size_t lane, double s)
{
    const double *error = arg;
    for (size_t r = 0; r < c->rows; r++)
        c->left[r * c->W + lane] = (1 - s) * error[r * c->W + lane];
}

api_continuation_path api_continuation_guess_path(api_closure *c, const dyn_scene *scene)
{
    api_continuation_path path = {.go = shrink, .arg = c->error};
    memset(c->left, 0, c->rows * c->W * sizeof *c->left);
    api_closure_evaluate(c, scene);
    for (size_t lane = 0; lane < c->live; lane++) {
        path.length[lane] = api_closure_error(c, lane, c->B);
        for (size_t r = 0; r < c->rows; r++)
            c->error[r * c->W + lane] = c->left[r * c->W + lane] = c->B[r];
    }
    return path;
}
