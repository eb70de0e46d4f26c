/* stiction_solver.c - solves for the friction of joints and motors at rest by principal pivoting (stiction_solver.h).
 */
#include "stiction_solver.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Tolerances. Friction is compared relative to its limits, accelerations relative to the magnitudes of their terms, a
 * pivot relative to the diagonal entry of its row. */
#define ROUNDING  1e-12 /* rounding errors of friction and accelerations */
#define DEPENDENT 1e-12 /* smaller pivots count as zero */
#define FOLLOWS   1e-8  /* pivots below which a row at rest depends on other rows (follows) */
#define UNHELD    1e-9  /* relative acceleration above which no friction can hold a row */
#define SHARED    1e-9  /* tolerance of limits where several rows can share a load */
#define SOFTENED  1e-11 /* relative growth of the diagonal of A if rounding decides which rows move */
#define DECREASE  1e-12 /* relative to the terms of the objective: smaller decreases count as none */

enum { ROUNDS = 100, ROUNDS_PER_ROW = 20 /* limit of steps; a few are typical, more than one per row are rare */ };

/* Scratch memory and intermediate results of one problem. A row with side 0 is held, that is at rest; other rows
 * slide, with their friction at a limit. Scaled friction is p = f / span. e is the vanishing parameter of
 * stiction_solver.h. */
typedef struct solver {
    const dyn_friction_problem *s;
    double                     *A;             /* n x n: A of the problem, possibly softened (soften) */
    size_t                      n, held, rank; /* rows; rows with side 0; rank of their block of A */
    bool                        shares;        /* true: several rows may share a load, since A may be singular */
    double                     *factor;        /* n x n: Cholesky factor, or QR factors, of the held block */
    double                     *unit, *span;   /* n: 1 / sqrt(A_ii), or 0 if the row cannot move; n: sum of both
                                                  limits */
    double *a, *terms, *slope;  /* n: accelerations; n: sums of |terms| of these; n: derivatives of a by e */
    double *x, *y, *tau, *work; /* n, n, n, 2 n: solutions for the held rows, and scratch of LAPACK */
    double *depth;              /* n: pivots of the held rows in C, C_ij = unit_i A_ij unit_j */
    double *target, *next;      /* n: friction that minimizes the objective over the held rows; friction of a trial */
    int    *index, *pivot;      /* n: indices of the held rows; permutation of the factorization */
    int    *before;             /* n: values of `side` before rows were released */
} solver;

size_t dyn_friction_problem_entries(size_t n)
{
    return 2 * n * n + 16 * n;
}

static solver open(const dyn_friction_problem *s)
{
    const size_t n = s->n;
    solver       o = {.s = s, .n = n, .factor = s->room};
    o.A            = o.factor + n * n;
    o.unit         = o.A + n * n;
    o.span         = o.unit + n;
    o.a            = o.span + n;
    o.terms        = o.a + n;
    o.slope        = o.terms + n;
    o.x            = o.slope + n;
    o.y            = o.x + n;
    o.tau          = o.y + n;
    o.work         = o.tau + n;
    o.target       = o.work + 2 * n;
    o.next         = o.target + n;
    o.depth        = o.next + n;
    void *integers = o.depth + n; /* three arrays of n integers take the memory of 2 n doubles */
    o.index        = integers;
    o.pivot        = o.index + n;
    o.before       = o.pivot + n;
    memcpy(o.A, s->A, n * n * sizeof *o.A);
    for (size_t i = 0; i < n; i++) {
        const double diagonal = s->free_diagonal ? s->free_diagonal[i] : s->A[i * n + i];
        o.span[i]             = s->positive[i] + s->negative[i];
        o.unit[i]             = diagonal > 0 ? 1 / sqrt(diagonal) : 0;
    }
    return o;
}

/* Starts with all rows held and friction zero. A row that has no friction limits, or cannot move, is not held: its side
 * is 1. */
static void start(const solver *o)
{
    for (size_t i = 0; i < o->n; i++) {
        o->s->side[i] = o->unit[i] > 0 && o->span[i] > 0 ? 0 : 1;
        o->s->f[i]    = 0;
    }
}

/* --- the held rows ------------------------------------------------------------------------------------------------ */

/* Writes the rows and columns of held rows of C, C_ij = unit_i A_ij unit_j, to o->factor. Returns the largest diagonal
 * entry; NaN if a number is not finite. */
static double set_block(const solver *o)
{
    double most = 0;
    for (size_t c = 0; c < o->held; c++)
        for (size_t r = c; r < o->held; r++) {
            const size_t i = (size_t)o->index[r], j = (size_t)o->index[c];
            const double value         = o->A[i * o->n + j] * o->unit[i] * o->unit[j];
            o->factor[c * o->held + r] = value;
            if (!isfinite(value)) return NAN;
            if (r == c) most = fmax(most, value);
        }
    return most;
}

/* Lists the held rows and factors their part of C, with a permutation P: C = P L L^T P^T. Returns false if a number is
 * not finite. */
static bool factor(solver *o)
{
    lapack_int rank = 0, m;
    o->held = o->rank = 0;
    for (size_t i = 0; i < o->n; i++)
        if (o->s->side[i] == 0) o->index[o->held++] = (int)i;
    m                 = (lapack_int)o->held;
    const double most = set_block(o);
    for (lapack_int r = 0; r < m; r++)
        o->pivot[r] = r + 1;
    if (!(most > DEPENDENT)) return !isnan(most); /* dpstrf always takes its first pivot */
    if (LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'L', m, o->factor, m, o->pivot, &rank, DEPENDENT, o->work) < 0)
        return false;
    o->rank = (size_t)rank;
    for (size_t r = 0; r < o->rank; r++)
        o->depth[r] = o->factor[r * (o->held + 1)] * o->factor[r * (o->held + 1)];
    return true;
}

/* Returns the row of the problem that the pivoted factorization placed at position r. */
static size_t row_of(const solver *o, size_t r)
{
    return (size_t)o->index[o->pivot[r] - 1];
}

/* Replaces the factor of a singular block, the trapezoidal matrix X = diag(span / unit) L of full column rank, by its
 * QR factors. */
static bool factor_dependent(const solver *o)
{
    const lapack_int m = (lapack_int)o->held, rank = (lapack_int)o->rank;
    for (size_t c = 0; c < o->rank; c++)
        for (size_t r = 0; r < o->held; r++) {
            const size_t i = row_of(o, r);
            double      *x = &o->factor[c * o->held + r];
            *x             = r < c ? 0 : *x * o->span[i] / o->unit[i];
        }
    return LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, rank, o->factor, m, o->tau, o->work, m) == 0;
}

/* Solves diag(span) A diag(span) x = y for the held rows, in the order of the factor. x is the solution of least
 * norm. */
static bool solve_dependent(const solver *o, double *x)
{
    const lapack_int m = (lapack_int)o->held, rank = (lapack_int)o->rank;
    const double    *Q = o->factor;
    bool good = LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', m, 1, rank, Q, m, o->tau, x, m, o->work, m) == 0;
    memset(x + o->rank, 0, (o->held - o->rank) * sizeof *x);
    good = good && LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', rank, 1, Q, m, x, m) == 0;
    good = good && LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'T', 'N', rank, 1, Q, m, x, m) == 0;
    return good && LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', m, 1, rank, Q, m, o->tau, x, m, o->work, m) == 0;
}

/* Replaces a right side x, in the order of the factor and in scaled units, by the solution z of diag(span) A diag(span)
 * z = x. */
static bool solve_held(const solver *o, double *x)
{
    const lapack_int m = (lapack_int)o->held;
    if (o->held == 0 || o->rank == 0) {
        memset(x, 0, o->held * sizeof *x);
        return true;
    }
    if (o->rank < o->held) return solve_dependent(o, x);
    for (size_t r = 0; r < o->held; r++)
        x[r] *= o->unit[row_of(o, r)] / o->span[row_of(o, r)];
    if (LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', m, 1, o->factor, m, x, m) != 0) return false;
    for (size_t r = 0; r < o->held; r++)
        x[r] *= o->unit[row_of(o, r)] / o->span[row_of(o, r)];
    return true;
}

/* --- the minimum over the held rows ------------------------------------------------------------------------------- */

/* Sets o->target to the friction that minimizes the objective over the held rows, with the sliding rows at their
 * limits. */
static bool find_target(solver *o)
{
    const dyn_friction_problem *s = o->s;
    memcpy(o->target, s->f, o->n * sizeof *o->target);
    if (!factor(o) || (o->rank > 0 && o->rank < o->held && !factor_dependent(o))) return false;
    if (o->rank < o->held) o->shares = true;
    for (size_t r = 0; r < o->held; r++) {
        const size_t i   = row_of(o, r);
        double       sum = s->b[i];
        for (size_t j = 0; j < o->n; j++)
            if (s->side[j] != 0) sum -= o->A[i * o->n + j] * s->f[j];
        o->x[r] = sum * o->span[i];
    }
    if (!solve_held(o, o->x)) return false;
    for (size_t r = 0; r < o->held; r++)
        o->target[row_of(o, r)] = o->x[r] * o->span[row_of(o, r)];
    return true;
}

/* Sets o->a to the accelerations b - A target, and o->terms to the sums of the magnitudes of their terms. Returns false
 * if a number is not finite. */
static bool find_accelerations(const solver *o)
{
    const dyn_friction_problem *s    = o->s;
    bool                        good = true;
    for (size_t i = 0; i < o->n; i++) {
        o->a[i]     = s->b[i];
        o->terms[i] = s->size ? s->size[i] : fabs(s->b[i]);
        for (size_t j = 0; j < o->n; j++) {
            const double part = o->A[i * o->n + j] * o->target[j];
            o->a[i] -= part;
            o->terms[i] += fabs(part);
        }
        good = good && isfinite(o->a[i]) && isfinite(o->target[i]);
    }
    return good;
}

/* Finds the derivatives of the scaled accelerations of the sliding rows with respect to e, A_sh A_hh^+ p_h - p_s, where
 * s are the sliding and h the held rows. If an acceleration is zero, the sign of its derivative decides whether the row
 * leaves its limit. */
static bool find_slopes(const solver *o)
{
    const dyn_friction_problem *s = o->s;
    memcpy(o->y, o->x, o->held * sizeof *o->y);
    if (!solve_held(o, o->y)) return false;
    for (size_t i = 0; i < o->n; i++) {
        if (s->side[i] == 0 || !(o->span[i] > 0)) continue;
        double sum = 0;
        for (size_t r = 0; r < o->held; r++)
            sum += o->A[i * o->n + row_of(o, r)] * o->span[row_of(o, r)] * o->y[r];
        o->slope[i] = o->span[i] * sum - s->f[i] / o->span[i];
    }
    return true;
}

/* Returns the side, 1 or -1, of the limit that the target friction of a held row exceeds, or 0. A held row that
 * accelerates at the minimum cannot be held by any friction: the result is the sign of its acceleration. */
static int side_beyond(const solver *o, size_t i)
{
    const dyn_friction_problem *s    = o->s;
    const double                near = (o->shares ? SHARED : ROUNDING) * o->span[i];
    if (o->rank < o->held && fabs(o->a[i]) > UNHELD * o->terms[i]) return o->a[i] > 0 ? 1 : -1;
    return o->target[i] > s->positive[i] + near ? 1 : o->target[i] < -s->negative[i] - near ? -1 : 0;
}

static bool is_within(const solver *o)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->s->side[i] == 0 && side_beyond(o, i) != 0) return false;
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Returns the friction of row i at its limit on one side. */
static double limit_of(const dyn_friction_problem *s, size_t i, int side)
{
    return side > 0 ? s->positive[i] : -s->negative[i];
}

/* True if the objective f^T A f / 2 - b^T f is smaller for the friction o->next than for s->f, or equal with a smaller
 * sum of squares of the scaled friction p, the term of the objective that e multiplies. */
static bool decreases(const solver *o)
{
    const dyn_friction_problem *s      = o->s;
    double                      change = 0, size = 0, norm = 0, before = 0;
    for (size_t i = 0; i < o->n; i++) {
        const double d = o->next[i] - s->f[i];
        double       a = s->b[i];
        for (size_t j = 0; j < o->n; j++)
            a -= o->A[i * o->n + j] * 0.5 * (o->next[j] + s->f[j]);
        change -= a * d;
        size += fabs(d) * o->terms[i];
        if (!(o->span[i] > 0)) continue;
        norm += o->next[i] / o->span[i] * (o->next[i] / o->span[i]);
        before += s->f[i] / o->span[i] * (s->f[i] / o->span[i]);
    }
    return change < -DECREASE * size || (change <= DECREASE * size && norm < before * (1 - SHARED));
}

/* Sets the friction to the target, clamped at the limits that the target exceeds, if that decreases the objective.
 * Otherwise changes nothing and returns false. */
static bool step_to_limits(const solver *o)
{
    const dyn_friction_problem *s = o->s;
    for (size_t i = 0; i < o->n; i++) {
        const int side = s->side[i] == 0 ? side_beyond(o, i) : s->side[i];
        o->next[i]     = side == 0 ? o->target[i] : limit_of(s, i, side);
    }
    if (!decreases(o)) return false;
    for (size_t i = 0; i < o->n; i++)
        if (s->side[i] == 0) s->side[i] = side_beyond(o, i);
    memcpy(s->f, o->next, o->n * sizeof *s->f);
    return true;
}

/* Returns the direction of row i in a step from s->f: towards the target. If `open`, some held rows accelerate whatever
 * the friction: the step is then along their accelerations. */
static double direction_of(const solver *o, size_t i, bool open)
{
    if (o->s->side[i] != 0) return 0;
    if (!open) return o->target[i] - o->s->f[i];
    return fabs(o->a[i]) > UNHELD * o->terms[i] ? o->a[i] * o->span[i] * o->span[i] : 0;
}

/* Steps in the direction of direction_of up to the first limit that a row reaches, and makes that row slide at its
 * limit. */
static void step_to_first_limit(const solver *o)
{
    const dyn_friction_problem *s     = o->s;
    double                      least = HUGE_VAL;
    size_t                      first = 0;
    bool                        open  = false;
    for (size_t i = 0; i < o->n; i++)
        open = open || (s->side[i] == 0 && o->rank < o->held && fabs(o->a[i]) > UNHELD * o->terms[i]);
    for (size_t i = 0; i < o->n; i++) {
        const double d = direction_of(o, i, open);
        if (d == 0 || (!open && side_beyond(o, i) == 0)) continue;
        const double part = fmax((limit_of(s, i, d > 0 ? 1 : -1) - s->f[i]) / d, 0);
        if (part >= least) continue;
        least = part;
        first = i;
    }
    const int side = direction_of(o, first, open) > 0 ? 1 : -1;
    for (size_t i = 0; i < o->n; i++)
        s->f[i] = fmin(fmax(s->f[i] + least * direction_of(o, i, open), -s->negative[i]), s->positive[i]);
    s->f[first]    = limit_of(s, first, side);
    s->side[first] = side;
}

/* --- rows at their limits ----------------------------------------------------------------------------------------- */

/* Returns the priority with which a row at its limit should become held; 0: the row stays. An acceleration against the
 * row's side gives more than 1; a derivative with respect to e against the side, with zero acceleration, gives less
 * than 1. */
static double urge_of(const solver *o, size_t i)
{
    const int    side = o->s->side[i];
    const double a = o->a[i] * side, noise = ROUNDING * o->terms[i];
    if (side == 0 || !(o->unit[i] > 0) || !(o->span[i] > 0)) return 0;
    if (a < -noise) return 1 - a / o->terms[i];
    return o->shares && a <= noise && o->slope[i] * side < -SHARED ? -o->slope[i] * side / (1 - o->slope[i] * side) : 0;
}

/* Makes rows held that should leave their limits: all of them, or only the one of the highest priority (urge_of). Saves
 * the sides in o->before. Returns the number of rows that should leave. */
static size_t release(const solver *o, bool all)
{
    size_t n = 0, worst = 0;
    double most = 0;
    memcpy(o->before, o->s->side, o->n * sizeof *o->before);
    for (size_t i = 0; i < o->n; i++) {
        const double urge = urge_of(o, i);
        if (urge > most) most = urge, worst = i;
        if (urge > 0) n++;
        if (urge > 0 && all) o->s->side[i] = 0;
    }
    if (n > 0 && !all) o->s->side[worst] = 0;
    return n;
}

/* Sets the sides of the result. A row at its limit gets the sign of its acceleration, or 0 if it does not
 * accelerate. */
static void finish(const solver *o)
{
    const dyn_friction_problem *s = o->s;
    for (size_t i = 0; i < o->n; i++) {
        const double noise = (o->shares ? UNHELD : ROUNDING) * o->terms[i];
        const bool   free  = !(o->span[i] > 0) || !(o->unit[i] > 0);
        s->f[i]            = fmin(fmax(s->f[i], -s->negative[i]), s->positive[i]);
        if (free || (o->shares && fabs(o->a[i]) <= noise))
            s->side[i] = fabs(o->a[i]) <= noise ? 0 : o->a[i] > 0 ? 1 : -1;
    }
}

/* Marks the rows at rest that follow from others: held rows that depend on other held rows, exactly or nearly, and rows
 * at their limits that do not move. */
static void mark_followers(const solver *o, const int *before)
{
    const dyn_friction_problem *s = o->s;
    for (size_t i = 0; i < o->n; i++)
        s->follows[i] = s->side[i] == 0 && before[i] != 0;
    for (size_t r = 0; r < o->held; r++)
        if (r >= o->rank || o->depth[r] < FOLLOWS) s->follows[row_of(o, r)] = true;
}

/* Finds friction, accelerations and, if rows can share the load, derivatives at the minimum over the held rows. */
static bool evaluate(solver *o)
{
    return find_target(o) && find_accelerations(o) && (!o->shares || find_slopes(o));
}

/* Moves rows between held and sliding until the optimality conditions of stiction_solver.h hold. */
static dyn_friction_status pivot(solver *o, dyn_deadline deadline)
{
    const dyn_friction_problem *s        = o->s;
    bool                        released = false; /* true: more than one row was released at once since the last step */
    start(o);
    for (size_t round = 0; round < ROUNDS + ROUNDS_PER_ROW * s->n; round++) {
        if (!dyn_may_continue(deadline)) return DYN_FRICTION_STOPPED;
        if (!evaluate(o)) return DYN_FRICTION_UNDECIDED;
        if (is_within(o)) {
            memcpy(s->f, o->target, s->n * sizeof *s->f);
            const size_t n = release(o, true);
            if (n == 0) {
                finish(o);
                if (s->follows) mark_followers(o, o->before);
                return DYN_FRICTION_FOUND;
            }
            released = n > 1;
        } else if (step_to_limits(o)) {
            released = false;
        } else if (released) {
            memcpy(s->side, o->before, s->n * sizeof *s->side);
            if (!evaluate(o)) return DYN_FRICTION_UNDECIDED;
            release(o, false);
            released = false;
        } else {
            step_to_first_limit(o);
        }
    }
    return DYN_FRICTION_UNDECIDED;
}

/* Multiplies each diagonal entry of A by 1 + SOFTENED, so that A is positive definite and its solution unique. */
static void soften(solver *o)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->unit[i] > 0) o->A[i * o->n + i] += SOFTENED / (o->unit[i] * o->unit[i]);
    o->shares = false;
}

dyn_friction_status dyn_friction_problem_solve(const dyn_friction_problem *s, dyn_deadline deadline)
{
    solver              o      = open(s);
    dyn_friction_status status = pivot(&o, deadline);
    if (status != DYN_FRICTION_UNDECIDED || !o.shares) return status;
    soften(&o);
    return pivot(&o, deadline);
}
