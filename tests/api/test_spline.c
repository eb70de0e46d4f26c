/* test_spline.c - checks basis functions of B-splines against their definition, against polynomials whose control
 * points are known, and at coincident knots. */
#include "dynamics/motion/spline.h"
#include <float.h>
#include "tests/api/support/draws.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TRIALS = 400, MOST = 20, KNOTS = MOST + DYN_SPLINE_DEGREE + 1 };

static double uniform(double low, double high)
{
    return low + (high - low) * (double)rand() / RAND_MAX;
}

/* Makes a random spline of any degree and range, clamped or not, with inner knots that coincide or are about 1
 * apart. */
static dyn_spline random_spline(double knots[KNOTS])
{
    size_t     degree = 1 + (size_t)rand() % DYN_SPLINE_DEGREE, n = degree + 1 + (size_t)rand() % (MOST - degree);
    dyn_spline s       = {.degree = degree, .n = n, .knots = knots};
    bool       clamped = rand() % 2;
    size_t     equal   = 1, knot;
    dyn_knots  what;
    knots[0] = uniform(-5, 5);
    for (size_t i = 1; i < n + degree + 1; i++) {
        bool same = clamped ? i <= degree || i > n : false;
        if (!same && equal < degree && i > degree + 1 && i < n) same = rand() % 3 == 0;
        knots[i] = knots[i - 1] + (same ? 0 : uniform(0.3, 2));
        equal    = same ? equal + 1 : 1;
    }
    assert_false(dyn_spline_knots_fail(&s, &knot, &what));
    return s;
}

/* Computes B_k,d and its derivatives by u from the recursive definition over all indices, where 0/0 is 0. */
static double defined(const dyn_spline *s, size_t k, size_t d, size_t order, double u)
{
    const double *t = s->knots;
    if (d == 0) {
        bool inside = u < t[s->n] ? t[k] <= u && u < t[k + 1] : t[k] < t[s->n] && t[k + 1] >= t[s->n];
        return order == 0 && inside ? 1 : 0;
    }
    double left = t[k + d] - t[k], right = t[k + d + 1] - t[k + 1], sum = 0;
    if (order > 0) {
        if (left > 0) sum += (double)d / left * defined(s, k, d - 1, order - 1, u);
        if (right > 0) sum -= (double)d / right * defined(s, k + 1, d - 1, order - 1, u);
        return sum;
    }
    if (left > 0) sum += (u - t[k]) / left * defined(s, k, d - 1, 0, u);
    if (right > 0) sum += (t[k + d + 1] - u) / right * defined(s, k + 1, d - 1, 0, u);
    return sum;
}

/* Returns a fraction of the range: a random one, those of the ends, and that of each knot. */
static double fraction_of(const dyn_spline *s, size_t trial)
{
    const double *t = s->knots;
    size_t        i = s->degree + trial % (s->n - s->degree + 1);
    if (trial % 3 == 0) return uniform(0, 1);
    if (trial % 3 == 1) return (double)(trial % 2);
    return (t[i] - t[s->degree]) / (t[s->n] - t[s->degree]);
}

static double u_of(const dyn_spline *s, double fraction)
{
    double first = s->knots[s->degree], last = s->knots[s->n];
    return fmin(first + fraction * (last - first), last);
}

static void assert_near(double got, double expected, double size)
{
    if (!(fabs(got - expected) <= 2e-13 * size)) fail_msg("%.17g, expected %.17g", got, expected);
}

static void by_definition(void **state)
{
    double knots[KNOTS], basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
    for (size_t trial = 0; trial < TRIALS; trial++) {
        dyn_spline s = random_spline(knots);
        double     f = fraction_of(&s, trial), scale = 1;
        size_t     first = dyn_spline_basis(&s, f, basis);
        assert_in_range(first, 0, s.n - s.degree - 1);
        for (size_t order = 0; order < DYN_SPLINE_ORDERS; order++, scale *= knots[s.n] - knots[s.degree]) {
            double expected[MOST], size = 0;
            for (size_t k = 0; k < s.n; k++) {
                expected[k] = scale * defined(&s, k, s.degree, order, u_of(&s, f));
                size        = fmax(size, fabs(expected[k]));
            }
            for (size_t k = 0; k < s.n; k++)
                assert_near(k < first || k > first + s.degree ? 0 : basis[order][k - first], expected[k], size);
        }
    }
}

/* Returns the control point of u^m: its coefficient k is the mean of all products of m of the knots k + 1 to k + degree
 * (the polar form). For m <= degree the basis must reproduce u^m and its derivatives everywhere. */
static double polar(const double *t, size_t degree, size_t m)
{
    double e[DYN_SPLINE_DEGREE + 1] = {1}, choose = 1;
    for (size_t i = 0; i < degree; i++)
        for (size_t j = i + 1; j > 0; j--)
            e[j] += e[j - 1] * t[i];
    for (size_t j = 0; j < m; j++)
        choose = choose * (double)(degree - j) / (double)(j + 1);
    return e[m] / choose;
}

static void polynomials(void **state)
{
    double knots[KNOTS], basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
    for (size_t trial = 0; trial < TRIALS; trial++) {
        dyn_spline s = random_spline(knots);
        double     f = fraction_of(&s, trial), u = u_of(&s, f), range = knots[s.n] - knots[s.degree];
        size_t     first = dyn_spline_basis(&s, f, basis);
        for (size_t m = 0; m <= s.degree; m++) {
            double expected = pow(u, (double)m);
            for (size_t order = 0; order < DYN_SPLINE_ORDERS && order <= s.degree; order++) {
                double sum = 0, size = 0;
                for (size_t k = 0; k <= s.degree; k++) {
                    double term = basis[order][k] * polar(knots + first + k + 1, s.degree, m);
                    sum += term;
                    size += fabs(term);
                }
                assert_near(sum, expected, 100 * fmax(size, DBL_MIN));
                expected = m > order ? (double)(m - order) * pow(u, (double)(m - order - 1)) : 0;
                for (size_t i = 0; i < order; i++)
                    expected *= (double)(m - i);
                expected *= pow(range, (double)(order + 1));
            }
        }
    }
}

/* Without inner knots the basis must be the Bernstein polynomials, whose sum is 1. */
static void bernstein(void **state)
{
    for (size_t degree = 1; degree <= DYN_SPLINE_DEGREE; degree++) {
        double     knots[KNOTS], basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
        dyn_spline s = {.degree = degree, .n = degree + 1, .knots = knots};
        dyn_spline_clamp(&s);
        for (double u = 0; u <= 1; u += 0.0625) {
            double choose = 1, sum = 0;
            assert_int_equal(dyn_spline_basis(&s, u, basis), 0);
            for (size_t k = 0; k <= degree; k++) {
                assert_near(basis[0][k], choose * pow(u, (double)k) * pow(1 - u, (double)(degree - k)), 1);
                choose = choose * (double)(degree - k) / (double)(k + 1);
                sum += basis[0][k];
            }
            assert_near(sum, 1, 1);
        }
    }
}

/* A line with a corner: at the knot the slope must be that of the second span, and at the end no third span may be
 * used. */
static void jumps(void **state)
{
    double     knots[] = {0, 0, 1, 2, 2}, basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
    dyn_spline s       = {.degree = 1, .n = 3, .knots = knots};
    assert_int_equal(dyn_spline_basis(&s, 0.5, basis), 1);
    assert_true(basis[0][0] == 1 && basis[0][1] == 0 && basis[1][0] == -2 && basis[1][1] == 2);
    assert_true(basis[2][0] == 0 && basis[2][1] == 0 && basis[3][0] == 0 && basis[3][1] == 0);
    assert_int_equal(dyn_spline_basis(&s, 1, basis), 1);
    assert_true(basis[0][0] == 0 && basis[0][1] == 1 && basis[1][1] == 2);
    assert_int_equal(dyn_spline_basis(&s, 0.25, basis), 0);
    assert_true(basis[0][0] == 0.5 && basis[0][1] == 0.5);
}

/* If two knots coincide at the end of the range and further ones follow, the last span must be the one before the
 * two. */
static void ends_before_equal_knots(void **state)
{
    double     knots[] = {0, 0, 0, 1, 1, 2, 2}, basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
    dyn_spline s       = {.degree = 2, .n = 4, .knots = knots};
    assert_int_equal(dyn_spline_first(&s, 1), 0);
    assert_int_equal(dyn_spline_basis(&s, 1, basis), 0);
    assert_near(basis[0][0], 0, 1);
    assert_near(basis[0][1], 0, 1);
    assert_near(basis[0][2], 1, 1);
}

/* For any range and any rounding of its end, the last parameter must not lie beyond the last control point. */
static void range_ends_at_the_last_point(void **state)
{
    uint64_t seed       = 5;
    size_t   rounded_up = 0;
    for (int i = 0; i < 1000; i++) {
        double     a = 0.5 + 0.5 * draw(&seed), b = 2 + draw(&seed), basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
        double     knots[] = {a, a, a, b, b, b};
        dyn_spline s       = {.degree = 2, .n = 3, .knots = knots};
        rounded_up += a + (b - a) > b;
        assert_int_equal(dyn_spline_basis(&s, 1, basis), 0);
        assert_true(basis[0][0] >= 0 && basis[0][1] >= 0 && basis[0][2] <= 1 && basis[0][2] > 1 - 1e-14);
    }
    assert_true(rounded_up > 0);
}

static void clamped(void **state)
{
    const double expected[] = {0, 0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1, 1};
    double       knots[11];
    dyn_spline   s = {.degree = 3, .n = 7, .knots = knots};
    dyn_spline_clamp(&s);
    assert_memory_equal(knots, expected, sizeof expected);
}

static void expect_fault(size_t degree, size_t n, double *knots, size_t knot, dyn_knots what)
{
    dyn_spline s = {.degree = degree, .n = n, .knots = knots};
    size_t     found;
    dyn_knots  kind;
    assert_true(dyn_spline_knots_fail(&s, &found, &kind));
    assert_int_equal(found, knot);
    assert_int_equal(kind, what);
}

static void bad_knots(void **state)
{
    size_t     knot;
    dyn_knots  what;
    double     fall[] = {0, 0, 1, 0.5, 2, 2}, inner[] = {0, 0, 0, 1, 1, 1, 2, 2, 2}, start[] = {0, 0, 0, 0, 1, 1, 1};
    double     end[] = {0, 0, 0, 1, 1, 1, 1}, equal[] = {1, 1, 1, 1, 2}, far[] = {-1e308, 0, 1, 1e308};
    double     free_ends[] = {0, 1, 2, 3, 4, 5, 6};
    dyn_spline s           = {.degree = 2, .n = 4, .knots = free_ends};
    expect_fault(2, 3, fall, 3, DYN_KNOTS_FALL);
    expect_fault(2, 6, inner, 5, DYN_KNOTS_REPEATED);
    expect_fault(2, 4, start, 3, DYN_KNOTS_REPEATED);
    expect_fault(2, 4, end, 6, DYN_KNOTS_REPEATED);
    expect_fault(1, 2, (double[]){1, 1, 1, 2}, 2, DYN_KNOTS_REPEATED);
    expect_fault(1, 3, equal, 2, DYN_KNOTS_REPEATED);
    expect_fault(1, 2, far, 3, DYN_KNOTS_FAR);
    expect_fault(1, 2, (double[]){0, 0, 5e-324, 5e-324}, 2, DYN_KNOTS_NEAR);
    expect_fault(1, 3, (double[]){0, 0, 1e-101, 1, 1}, 2, DYN_KNOTS_NEAR);
    expect_fault(1, 2, (double[]){0, 1, 1, 2}, 2, DYN_KNOTS_NO_RANGE);
    assert_false(dyn_spline_knots_fail(&s, &knot, &what));
}

/* Shifting or scaling all knots must not change the basis: sum dB/dt_i = 0 and sum t_i dB/dt_i = 0. Knots beyond those
 * of the span, and beyond the range, must have no effect. */
static void by_knots(void **state)
{
    double knots[KNOTS], basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT], by_knot[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
    for (size_t trial = 0; trial < TRIALS; trial++) {
        dyn_spline s                       = random_spline(knots);
        double     f                       = fraction_of(&s, trial);
        size_t     first                   = dyn_spline_basis(&s, f, basis);
        double     size[DYN_SPLINE_ORDERS] = {0}, shifted[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT] = {{0}},
               scaled[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT] = {{0}};
        for (size_t i = 0; i < s.n + s.degree + 1; i++) {
            bool near = (i > first && i <= first + 2 * s.degree) || i == s.degree || i == s.n;
            dyn_spline_piece_by_knot(&s, first, f, i, by_knot);
            for (size_t order = 0; order < DYN_SPLINE_ORDERS; order++)
                for (size_t k = 0; k <= s.degree; k++) {
                    double d = by_knot[order][k];
                    shifted[order][k] += d;
                    scaled[order][k] += knots[i] * d;
                    size[order] += (1 + fabs(knots[i])) * (fabs(d) + fabs(basis[order][k]));
                    assert_true(near || d == 0);
                }
        }
        for (size_t order = 0; order < DYN_SPLINE_ORDERS; order++)
            for (size_t k = 0; k <= s.degree; k++) {
                assert_near(shifted[order][k], 0, 100 * fmax(size[order], DBL_MIN));
                assert_near(scaled[order][k], 0, 100 * fmax(size[order], DBL_MIN));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_definition),
                                       cmocka_unit_test(polynomials),
                                       cmocka_unit_test(by_knots),
                                       cmocka_unit_test(bernstein),
                                       cmocka_unit_test(jumps),
                                       cmocka_unit_test(clamped),
                                       cmocka_unit_test(ends_before_equal_knots),
                                       cmocka_unit_test(range_ends_at_the_last_point),
                                       cmocka_unit_test(bad_knots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
