/* spline.c - evaluates B-spline basis functions by the recursion of Cox and de Boor (spline.h). */
#include "spline.h"
#include <string.h>

void dyn_spline_clamp(const dyn_spline *s)
{
    size_t spans = s->n - s->degree;
    for (size_t i = 0; i < s->n + s->degree + 1; i++) {
        size_t span = i < s->degree ? 0 : i - s->degree;
        s->knots[i] = (double)(span < spans ? span : spans) / (double)spans;
    }
}

/* Checks the knots. A spline of degree d is continuous where at most d knots coincide. The spline jumps where
 * d + 1 knots coincide, which is allowed only at its two ends. */
bool dyn_spline_knots_fail(const dyn_spline *s, size_t *at, dyn_knots *what)
{
    const double *t = s->knots;
    size_t        d = s->degree, count = s->n + d + 1, equal = 1;
    for (size_t i = 1; i < count; i++) {
        equal      = t[i] == t[i - 1] ? equal + 1 : 1;
        bool inner = t[i] > t[d] && t[i] < t[s->n];
        *at        = i;
        *what      = t[i] < t[i - 1] ? DYN_KNOTS_FALL : DYN_KNOTS_REPEATED;
        if (t[i] < t[i - 1] || equal > d + (inner ? 0 : 1)) return true;
        *what = DYN_KNOTS_NEAR;
        if (t[i] > t[i - 1] && t[i] - t[i - 1] < DYN_SPLINE_NEAR) return true;
    }
    *at   = t[s->n] - t[d] >= DYN_SPLINE_NEAR ? count - 1 : s->n;
    *what = *at == s->n ? DYN_KNOTS_NO_RANGE : DYN_KNOTS_FAR;
    return *at == s->n || !(t[count - 1] - t[0] <= DYN_SPLINE_FAR);
}

/* Returns the index i of the span with t_i <= u < t_i+1; if u is the end of the spline, the last span that is not
 * empty. */
static size_t span_of(const dyn_spline *s, double u)
{
    size_t low = s->degree, high = s->n;
    if (!(u < s->knots[high])) {
        while (s->knots[high - 1] >= s->knots[high])
            high--;
        return high - 1;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (u < s->knots[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Replaces the d basis functions of degree d - 1 on span i, in B, by the d + 1 functions of degree d at u or, with
 * `derive`, by the first derivatives of these functions. B may also contain derivatives of the functions, of any
 * order. */
static void raise_degree(const double *t, size_t i, size_t d, double u, bool derive, double *B)
{
    double w[DYN_SPLINE_SUPPORT + 1];
    w[0] = w[d + 1] = 0;
    for (size_t j = 1; j <= d; j++)
        w[j] = B[j - 1] / (t[i + j] - t[i + j - d]);
    for (size_t j = 0; j <= d; j++)
        B[j] = derive ? (double)d * (w[j] - w[j + 1]) : (u - t[i + j - d]) * w[j] + (t[i + j + 1] - u) * w[j + 1];
}

/* Returns the knot value u at a fraction (0 to 1) of the spline's range. */
static double knot_at(const dyn_spline *s, double fraction)
{
    double first = s->knots[s->degree], last = s->knots[s->n], u = first + fraction * (last - first);
    return u > last ? last : u; /* rounding may exceed the last knot */
}

size_t dyn_spline_first(const dyn_spline *s, double fraction)
{
    return span_of(s, knot_at(s, fraction)) - s->degree;
}

void dyn_spline_piece(const dyn_spline *s, size_t first, double fraction,
                      double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT])
{
    double range = s->knots[s->n] - s->knots[s->degree], u = knot_at(s, fraction), scale = 1;
    for (size_t order = 0; order < DYN_SPLINE_ORDERS; order++, scale *= range) {
        double *B = basis[order];
        memset(B, 0, sizeof basis[order]);
        if (order > s->degree) continue;
        B[0] = scale;
        for (size_t d = 1; d <= s->degree; d++)
            raise_degree(s->knots, first + s->degree, d, u, d > s->degree - order, B);
    }
}

size_t dyn_spline_basis(const dyn_spline *s, double fraction, double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT])
{
    size_t first = dyn_spline_first(s, fraction);
    dyn_spline_piece(s, first, fraction, basis);
    return first;
}

/* --- by knots ----------------------------------------------------------------------------------------------------- */

/* A number with its derivative with respect to one knot. */
typedef struct dual {
    double x, d;
} dual;

static dual subtract(dual a, dual b)
{
    return (dual){a.x - b.x, a.d - b.d};
}
static dual multiply(dual a, dual b)
{
    return (dual){a.x * b.x, a.d * b.x + a.x * b.d};
}
static dual divide(dual a, dual b)
{
    double x = a.x / b.x;
    return (dual){x, (a.d - x * b.d) / b.x};
}

/* The knots of the spline, and the index of the knot with respect to which values are differentiated. */
typedef struct moving_knots {
    const double *t;
    size_t        moves;
} moving_knots;

static dual knot_of(const moving_knots *t, size_t i)
{
    return (dual){t->t[i], i == t->moves};
}

/* Does the step of raise_degree with the basis functions and their derivatives with respect to knot t->moves. */
static void raise_degree_by_knot(const moving_knots *t, size_t i, size_t d, dual u, bool derive, dual *B)
{
    dual w[DYN_SPLINE_SUPPORT + 1], degree = {(double)d, 0};
    w[0] = w[d + 1] = (dual){0, 0};
    for (size_t j = 1; j <= d; j++)
        w[j] = divide(B[j - 1], subtract(knot_of(t, i + j), knot_of(t, i + j - d)));
    for (size_t j = 0; j <= d; j++) {
        /* w[0] and w[d + 1] are zero: their denominators would need knots beyond the first or the last one. */
        dual left  = j > 0 ? multiply(subtract(u, knot_of(t, i + j - d)), w[j]) : w[0];
        dual right = j < d ? multiply(subtract(knot_of(t, i + j + 1), u), w[j + 1]) : w[d + 1];
        B[j]       = derive ? multiply(degree, subtract(w[j], w[j + 1])) : (dual){left.x + right.x, left.d + right.d};
    }
}

void dyn_spline_piece_by_knot(const dyn_spline *s, size_t first, double fraction, size_t knot,
                              double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT])
{
    const moving_knots t     = {s->knots, knot};
    const dual         begin = knot_of(&t, s->degree), range = subtract(knot_of(&t, s->n), begin);
    const dual         u     = {knot_at(s, fraction), begin.d + fraction * range.d};
    dual               scale = {1, 0};
    for (size_t order = 0; order < DYN_SPLINE_ORDERS; order++, scale = multiply(scale, range)) {
        dual B[DYN_SPLINE_SUPPORT] = {{0, 0}};
        if (order <= s->degree) B[0] = scale;
        for (size_t d = 1; order <= s->degree && d <= s->degree; d++)
            raise_degree_by_knot(&t, first + s->degree, d, u, d > s->degree - order, B);
        for (size_t k = 0; k < DYN_SPLINE_SUPPORT; k++)
            basis[order][k] = B[k].d;
    }
}
