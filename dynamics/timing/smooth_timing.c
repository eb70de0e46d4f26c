/* smooth_timing.c - finds a fast timing with limits of the third derivative of s (smooth_timing.h): Wright 1997. */
#include "smooth_check.h"
#include <math.h>
#include <stdbool.h>

enum {
    LOCAL     = 4 /* unknowns of an interval */,
    HALF_BAND = 3,
    STEPS     = 300,
    HALVINGS  = 40,
    STARTS    = 200,
    ROUNDS    = 1,
    SLOWER    = 40
};

#define ROW_INLINE static inline __attribute__((always_inline))

#define GAP   1e-7 /* complementarity at the end, in parts of the duration */
#define ROUGH 1e-6 /* complementarity before limits are narrowed between places */
#define WARM  1e-3 /* complementarity at the begin of the search after that */
#define BETWEEN                                                                                                        \
    5e-6               /* part of a limit that is kept free between places, since rows are looked at at three instants \
                        */
#define BOUNDARY 0.995 /* part of the way to a limit that a step may go */
#define SHRINK   0.2   /* part of x below which a step may not bring it */

/* --- states ------------------------------------------------------------------------------------------------------- */

dyn_grading dyn_grading_at(size_t place, size_t n)
{
    const double r = (double)place / (double)n, f = 1 - r;
    return (dyn_grading){.s  = place == n ? 1 : r * r * r * (10 + r * (6 * r - 15)),
                         .d1 = 30 * r * r * f * f,
                         .d2 = 60 * r * f * (1 - 2 * r),
                         .d3 = 60 * (1 - 6 * r * f)};
}

/* Weights of the four unknowns in x, u and u' at a fraction f of an interval of width h. */
typedef struct weights {
    double x[LOCAL], u[LOCAL], du[LOCAL];
} weights;

static weights weights_at(double f, double h)
{
    const double g = 1 - f;
    return (weights){
        .x  = {g * g * (1 + 2 * f), f * g * g, f * f * (3 - 2 * f), -f * f * g},
        .u  = {-3 * f * g / h, (1 - 4 * f + 3 * f * f) / (2 * h), 3 * f * g / h, f * (3 * f - 2) / (2 * h)},
        .du = {(6 * f - 3) / (h * h), (3 * f - 2) / (h * h), (3 - 6 * f) / (h * h), (3 * f - 1) / (h * h)}};
}

static double dot_local(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static dyn_smooth_state local_state(const weights *w, const double *local)
{
    return (dyn_smooth_state){dot_local(w->x, local), dot_local(w->u, local), dot_local(w->du, local)};
}

dyn_smooth_state dyn_smooth_at(const dyn_smooth *t, size_t i, double fraction)
{
    const weights w = weights_at(fraction, 1 / (double)t->intervals);
    return local_state(&w, t->node + 2 * i);
}

double dyn_smooth_value(const dyn_smooth_row *k, const dyn_smooth_state *y)
{
    return k->b2 * y->u + k->b1 * y->x + k->b0 + sqrt(y->x) * (k->a3 * y->du + k->a2 * y->u + k->a1 * y->x + k->a0);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Arrays of the search in t->work. Samples are the places of all intervals, each with both ends. */
typedef struct search {
    dyn_smooth *t;
    size_t      n, rows, samples;    /* unknowns; rows of a place; intervals * (parts + 1) */
    double     *band, *right, *step; /* n x 4: lower band of the matrix; n; n */
    double     *multiplier, *change; /* [samples][rows][2]: of high and low */
    weights    *shape;               /* [parts + 1] */
    double      duration, mu;
    double      products, count; /* sum and number of the products of rooms and multipliers */
} search;

/* A row at a state: room to both limits, and the derivatives of the room to `high`; those to `low` have the other sign
 * but for the parts of 1 / rho. */
typedef struct room {
    double high, low;
    double high_x, low_x, high_u, high_du; /* low_u = -high_u, low_du = -high_du */
    double high_xx, low_xx, high_xu;       /* low_xu = -high_xu */
} room;

static size_t samples_of(const dyn_smooth *t)
{
    return t->intervals * (t->parts + 1);
}

size_t dyn_smooth_work(const dyn_smooth *t)
{
    const size_t n = 2 * (t->intervals + 1);
    return n * (HALF_BAND + 1) + 2 * n + 4 * samples_of(t) * (t->second + t->third) +
           (t->parts + 1) * (sizeof(weights) / sizeof(double));
}

/* True if the deadline has passed, at interval i of a pass over all rows. The pass then stops, its results do not
 * count, and the deadline stays passed. */
static bool is_late(const search *s, size_t i)
{
    enum { LOOK = 16384 /* rows between two looks */ };
    const size_t per = (s->t->parts + 1) * s->rows, every = per < LOOK ? LOOK / per : 1;
    return i % every == 0 && !dyn_may_continue(s->t->deadline);
}

static search lay_out_search(dyn_smooth *t)
{
    search s     = {.t = t, .n = 2 * (t->intervals + 1), .rows = t->second + t->third, .samples = samples_of(t)};
    s.band       = t->work;
    s.right      = s.band + s.n * (HALF_BAND + 1);
    s.step       = s.right + s.n;
    s.multiplier = s.step + s.n;
    s.change     = s.multiplier + 2 * s.samples * s.rows;
    s.shape      = (weights *)(void *)(s.change + 2 * s.samples * s.rows);
    for (size_t j = 0; j <= t->parts; j++)
        s.shape[j] = weights_at((double)j / (double)t->parts, 1 / (double)t->intervals);
    return s;
}

static const dyn_smooth_row *rows_at(const search *s, size_t i, size_t j)
{
    return s->t->row + (i * s->t->parts + j) * s->rows;
}

/* Index of the first row of sample j of interval i in `multiplier` and `change`. */
static size_t row_index(const search *s, size_t i, size_t j)
{
    return 2 * (i * (s->t->parts + 1) + j) * s->rows;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

ROW_INLINE room second_room(const dyn_smooth_row *k, const dyn_smooth_state *y, double rho)
{
    const double value = k->b2 * y->u + k->b1 * y->x + k->b0 + rho * k->a0, curve = k->a0 / (4 * rho * y->x);
    const double by_x = k->b1 + k->a0 / (2 * rho);
    return (room){.high    = k->high - value,
                  .low     = value - k->low,
                  .high_x  = -by_x,
                  .low_x   = by_x,
                  .high_u  = -k->b2,
                  .high_xx = curve,
                  .low_xx  = -curve};
}

/* Divided by rho. */
ROW_INLINE room third_room(const dyn_smooth_row *k, const dyn_smooth_state *y, double rho)
{
    const double q = 1 / rho, q3 = q * q * q, A = k->a3 * y->du + k->a2 * y->u + k->a1 * y->x + k->a0;
    const double B = k->b2 * y->u + k->b1 * y->x + k->b0, over = k->high - B, under = B - k->low;
    const double by_x = k->b1 * q + k->a1;
    return (room){.high    = over * q - A,
                  .low     = under * q + A,
                  .high_x  = -over * q3 / 2 - by_x,
                  .low_x   = -under * q3 / 2 + by_x,
                  .high_u  = -k->b2 * q - k->a2,
                  .high_du = -k->a3,
                  .high_xx = 0.75 * over * q3 * q * q + k->b1 * q3,
                  .low_xx  = 0.75 * under * q3 * q * q - k->b1 * q3,
                  .high_xu = k->b2 * q3 / 2};
}

ROW_INLINE room room_of(const search *s, size_t k, const dyn_smooth_row *row, const dyn_smooth_state *y, double rho)
{
    return k < s->t->second ? second_room(row, y, rho) : third_room(row, y, rho);
}

/* True if all rows have room on both sides and x > 0; then s->products and s->count are set. Otherwise the problem has
 * the first row without room. */
static bool rows_have_room(search *s)
{
    dyn_smooth *t = s->t;
    s->products = s->count = 0;
    for (size_t i = 0; i < t->intervals; i++) {
        if (is_late(s, i)) return false;
        for (size_t j = 0; j <= t->parts; j++) {
            const dyn_smooth_state y      = local_state(&s->shape[j], t->node + 2 * i);
            const double           rho    = sqrt(y.x);
            const dyn_smooth_row  *row    = rows_at(s, i, j);
            const double          *lambda = s->multiplier + row_index(s, i, j);
            for (size_t k = 0; y.x > 0 && k < s->rows; k++, lambda += 2) {
                const room c    = room_of(s, k, &row[k], &y, rho);
                const bool both = !isinf(row[k].low);
                t->place        = i * t->parts + j;
                t->bad_row      = k;
                if (!(c.high > 0 && c.low > 0)) return false;
                s->products += lambda[0] * c.high + (both ? lambda[1] * c.low : 0);
                s->count += 1 + both;
            }
            if (!(y.x > 0)) return false;
        }
    }
    return true;
}

/* --- Newton's equations ------------------------------------------------------------------------------------------- */

/* Sums of a place over its rows: gradient and second derivatives by x, u and u'. */
typedef struct sums {
    double x, u, du, xx, xu, xd, uu, ud, dd;
} sums;

static inline void add_side(sums *m, double mu, double lambda, double c, const double slopes[3])
{
    const double pull = mu / c, stiff = lambda / c;
    m->x -= pull * slopes[0];
    m->u -= pull * slopes[1];
    m->du -= pull * slopes[2];
    m->xx += stiff * slopes[0] * slopes[0];
    m->xu += stiff * slopes[0] * slopes[1];
    m->xd += stiff * slopes[0] * slopes[2];
    m->uu += stiff * slopes[1] * slopes[1];
    m->ud += stiff * slopes[1] * slopes[2];
    m->dd += stiff * slopes[2] * slopes[2];
}

/* Adds the rows of a place. With `convex` the second derivatives of the rows are left out where they lower the
 * curvature. */
static sums sum_rows(const search *s, size_t i, size_t j, const dyn_smooth_state *y, bool convex)
{
    const dyn_smooth_row *row    = rows_at(s, i, j);
    const double         *lambda = s->multiplier + row_index(s, i, j);
    const double          rho    = sqrt(y->x);
    sums                  m      = {0};
    for (size_t k = 0; k < s->rows; k++, lambda += 2) {
        const room   c     = room_of(s, k, &row[k], y, rho);
        const double curve = -lambda[0] * c.high_xx - lambda[1] * (isinf(row[k].low) ? 0 : c.low_xx);
        add_side(&m, s->mu, lambda[0], c.high, (double[]){c.high_x, c.high_u, c.high_du});
        if (!isinf(row[k].low)) add_side(&m, s->mu, lambda[1], c.low, (double[]){c.low_x, -c.high_u, -c.high_du});
        m.xx += convex ? fmax(curve, 0) : curve;
        if (!convex) m.xu -= (lambda[0] - lambda[1]) * c.high_xu;
    }
    return m;
}

/* Adds the sums of a place to the equations of the interval's unknowns. */
static void scatter_sums(search *s, size_t i, const weights *w, const sums *m)
{
    for (size_t p = 0; p < LOCAL; p++) {
        const double by_x = m->xx * w->x[p] + m->xu * w->u[p] + m->xd * w->du[p];
        const double by_u = m->xu * w->x[p] + m->uu * w->u[p] + m->ud * w->du[p];
        const double by_d = m->xd * w->x[p] + m->ud * w->u[p] + m->dd * w->du[p];
        s->right[2 * i + p] -= m->x * w->x[p] + m->u * w->u[p] + m->du * w->du[p];
        for (size_t r = 0; r <= p; r++)
            s->band[(2 * i + p) * (HALF_BAND + 1) + HALF_BAND - (p - r)] +=
                by_x * w->x[r] + by_u * w->u[r] + by_d * w->du[r];
    }
}

/* Weight of a place in the duration: that of the trapezoidal rule. */
static double share_of(const search *s, size_t j)
{
    const double part = 1 / (double)(s->t->intervals * s->t->parts);
    return j == 0 || j == s->t->parts ? part / 2 : part;
}

static void assemble_newton(search *s, bool convex)
{
    for (size_t k = 0; k < s->n * (HALF_BAND + 1); k++)
        s->band[k] = 0;
    for (size_t k = 0; k < s->n; k++)
        s->right[k] = 0;
    s->duration = 0;
    for (size_t i = 0; i < s->t->intervals && !is_late(s, i); i++)
        for (size_t j = 0; j <= s->t->parts; j++) {
            const dyn_smooth_state y = local_state(&s->shape[j], s->t->node + 2 * i);
            sums                   m = sum_rows(s, i, j, &y, convex);
            const double           t = share_of(s, j) / sqrt(y.x);
            s->duration += t;
            m.x -= 0.5 * t / y.x;
            m.xx += 0.75 * t / (y.x * y.x);
            scatter_sums(s, i, &s->shape[j], &m);
        }
}

/* Solves the equations by a banded Cholesky factorisation into `step`. Returns false if the matrix is not positive
 * definite. */
static bool solve_newton(search *s)
{
    enum { W = HALF_BAND + 1 };
    double *L = s->band;
    for (size_t p = 0; p < s->n; p++) {
        for (size_t r = p > HALF_BAND ? p - HALF_BAND : 0; r <= p; r++) {
            double sum = L[p * W + HALF_BAND - (p - r)];
            for (size_t k = p > HALF_BAND ? p - HALF_BAND : 0; k < r; k++)
                if (r - k <= HALF_BAND) sum -= L[p * W + HALF_BAND - (p - k)] * L[r * W + HALF_BAND - (r - k)];
            if (r < p)
                L[p * W + HALF_BAND - (p - r)] = sum / L[r * W + HALF_BAND];
            else if (!(sum > 0))
                return false;
            else
                L[p * W + HALF_BAND] = sqrt(sum);
        }
    }
    for (size_t p = 0; p < s->n; p++) {
        double sum = s->right[p];
        for (size_t k = p > HALF_BAND ? p - HALF_BAND : 0; k < p; k++)
            sum -= L[p * W + HALF_BAND - (p - k)] * s->step[k];
        s->step[p] = sum / L[p * W + HALF_BAND];
    }
    for (size_t p = s->n; p-- > 0;) {
        double sum = s->step[p];
        for (size_t k = p + 1; k < s->n && k <= p + HALF_BAND; k++)
            sum -= L[k * W + HALF_BAND - (k - p)] * s->step[k];
        s->step[p] = sum / L[p * W + HALF_BAND];
    }
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Largest parts of a step for the unknowns and the multipliers. */
typedef struct lengths {
    double primal, dual;
} lengths;

static inline void shorten_step(double *length, double value, double change)
{
    if (value + *length * change < (1 - BOUNDARY) * value) *length = -BOUNDARY * value / change;
}

/* Changes of multipliers: lambda + change = (mu - lambda by) / c, where `by` is the change of the room c. */
static inline double change_of(const search *s, double lambda, double c, double slopes)
{
    return (s->mu - lambda * slopes) / c - lambda;
}

/* Finds the changes of the multipliers and the lengths. */
static lengths limit_step(search *s)
{
    lengths l = {1, 1};
    for (size_t i = 0; i < s->t->intervals && !is_late(s, i); i++)
        for (size_t j = 0; j <= s->t->parts; j++) {
            const dyn_smooth_state y     = local_state(&s->shape[j], s->t->node + 2 * i),
                                   d     = local_state(&s->shape[j], s->step + 2 * i);
            const double          rho    = sqrt(y.x);
            const dyn_smooth_row *row    = rows_at(s, i, j);
            const double         *lambda = s->multiplier + row_index(s, i, j);
            double               *change = s->change + row_index(s, i, j);
            if (y.x + l.primal * d.x < SHRINK * y.x) l.primal = -(1 - SHRINK) * y.x / d.x;
            for (size_t k = 0; k < s->rows; k++, lambda += 2, change += 2) {
                const room   c     = room_of(s, k, &row[k], &y, rho);
                const double other = c.high_u * d.u + c.high_du * d.du;
                const double high = c.high_x * d.x + other, low = c.low_x * d.x - other;
                shorten_step(&l.primal, c.high, high);
                shorten_step(&l.dual, lambda[0], change[0] = change_of(s, lambda[0], c.high, high));
                change[1] = 0;
                if (isinf(row[k].low)) continue;
                shorten_step(&l.primal, c.low, low);
                shorten_step(&l.dual, lambda[1], change[1] = change_of(s, lambda[1], c.low, low));
            }
        }
    return l;
}

static void move_multipliers(search *s, double length)
{
    for (size_t k = 0; k < 2 * s->samples * s->rows; k++)
        s->multiplier[k] += length * s->change[k];
}

static void move_nodes(search *s, double length)
{
    for (size_t k = 0; k < s->n; k++)
        s->t->node[k] += length * s->step[k];
}

/* Moves the nodes by the largest part of the step that leaves room, at most `length`. Returns that part; 0: none. */
static double move_within(search *s, double length)
{
    for (int halving = 0; halving < HALVINGS; halving++, length /= 2) {
        move_nodes(s, length);
        if (rows_have_room(s)) return length;
        move_nodes(s, -length);
    }
    return 0;
}

/* Sets the multipliers to mu / room. */
static void set_centre(search *s)
{
    for (size_t i = 0; i < s->t->intervals && !is_late(s, i); i++)
        for (size_t j = 0; j <= s->t->parts; j++) {
            const dyn_smooth_state y      = local_state(&s->shape[j], s->t->node + 2 * i);
            const double           rho    = sqrt(y.x);
            const dyn_smooth_row  *row    = rows_at(s, i, j);
            double                *lambda = s->multiplier + row_index(s, i, j);
            for (size_t k = 0; k < s->rows; k++, lambda += 2) {
                const room c = room_of(s, k, &row[k], &y, rho);
                lambda[0]    = s->mu / c.high;
                lambda[1]    = isinf(row[k].low) ? 0 : s->mu / c.low;
            }
        }
}

/* --- search ------------------------------------------------------------------------------------------------------- */

/* Sets a constant rate of r that leaves room. */
static bool start_constant(search *s)
{
    double x = 1e8;
    for (int trial = 0; trial < STARTS; trial++, x /= 2) {
        for (size_t k = 0; k < s->n; k++)
            s->t->node[k] = k % 2 == 0 ? x : 0;
        if (!rows_have_room(s)) continue;
        for (size_t k = 0; k < s->n; k += 2)
            s->t->node[k] = x / 2;
        return rows_have_room(s);
    }
    return false;
}

/* Sets the multipliers so that all products are equal and add to `gap`, in parts of the duration. The nodes have room.
 */
static bool centre_multipliers(search *s, double gap)
{
    double duration = 0;
    for (size_t i = 0; i < s->t->intervals; i++)
        for (size_t j = 0; j <= s->t->parts; j++)
            duration += share_of(s, j) / sqrt(local_state(&s->shape[j], s->t->node + 2 * i).x);
    s->duration = duration;
    s->mu       = gap * duration / (2 * (double)(s->samples * s->rows));
    set_centre(s);
    return rows_have_room(s);
}

/* Takes Newton steps until the products of rooms and multipliers add to `gap`, in parts of the duration. */
static dyn_timing_status descend_to(search *s, double gap)
{
    double  centring = 0.3;
    lengths l        = {0, 0};
    for (int step = 0; step < STEPS; step++, s->t->steps++) {
        if (!dyn_may_continue(s->t->deadline)) return DYN_TIMING_LATE;
        if (s->products < gap * s->duration && l.primal > 0.5) return DYN_TIMING_DONE;
        s->mu = centring * s->products / s->count;
        assemble_newton(s, false);
        if (!solve_newton(s)) {
            assemble_newton(s, true);
            if (!solve_newton(s)) break;
        }
        l = limit_step(s);
        move_multipliers(s, l.dual);
        l.primal           = move_within(s, l.primal);
        const double least = fmin(l.primal, l.dual);
        centring           = least > 0.9 ? 0.05 : least > 0.5 ? 0.2 : least > 0.1 ? 0.5 : 0.9;
        if (l.primal == 0) break;
    }
    return rows_have_room(s) && s->products < 1e3 * gap * s->duration ? DYN_TIMING_DONE : DYN_TIMING_UNDECIDED;
}

/* Lowers all rates in one proportion. */
static void slow_down(search *s, double part)
{
    for (size_t k = 0; k < s->n; k++)
        s->t->node[k] *= (1 - part) * (1 - part);
}

/* Slows the timing down until no limit is exceeded between places. */
static dyn_timing_status keep_between(search *s)
{
    for (int trial = 0; trial < SLOWER; trial++) {
        const double excess = dyn_smooth_excess_between(s->t, false) + BETWEEN;
        if (excess <= 0) return DYN_TIMING_DONE;
        slow_down(s, 1.05 * excess);
    }
    return DYN_TIMING_UNDECIDED;
}

static dyn_timing_status search_smooth(dyn_smooth *t)
{
    search s = lay_out_search(t);
    t->steps = 0;
    for (size_t k = 0; k < 2 * dyn_smooth_places(t) * s.rows; k++)
        t->narrowed[k] = 0;
    for (size_t k = 0; k < 2 * s.samples * s.rows; k++)
        s.multiplier[k] = 0;
    if (!start_constant(&s) || !centre_multipliers(&s, 1)) return DYN_TIMING_INFEASIBLE;
    dyn_timing_status status = descend_to(&s, ROUGH);
    for (int round = 0; round < ROUNDS && status == DYN_TIMING_DONE; round++) {
        const double excess = fmax(dyn_smooth_excess_between(t, true), ROUGH);
        for (int trial = 0; trial < HALVINGS && !rows_have_room(&s); trial++)
            slow_down(&s, excess);
        slow_down(&s, excess);
        if (!rows_have_room(&s) || !centre_multipliers(&s, WARM)) return DYN_TIMING_UNDECIDED;
        status = descend_to(&s, round + 1 < ROUNDS ? ROUGH : GAP);
    }
    return status == DYN_TIMING_DONE ? keep_between(&s) : status;
}

dyn_timing_status dyn_smooth_solve(dyn_smooth *t)
{
    const dyn_timing_status status = search_smooth(t);
    return dyn_may_continue(t->deadline) ? status : DYN_TIMING_LATE;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

void dyn_smooth_times(const dyn_smooth *t, double *time)
{
    static const double shape[3]  = {0.1127016653792583, 0.5, 0.8872983346207417},
                        weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    const double part             = 1 / (double)(t->intervals * t->parts);
    time[0]                       = 0;
    for (size_t i = 0; i < t->intervals; i++)
        for (size_t j = 0; j < t->parts; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += weight[k] / sqrt(dyn_smooth_at(t, i, ((double)j + shape[k]) / (double)t->parts).x);
            time[i * t->parts + j + 1] = time[i * t->parts + j] + part * sum;
        }
}
