/* test_damped_spring.c - compares the deflection of a damped spring with closed forms, in extended precision: under
 * loads that are polynomials, and under a sine. */
#include "tests/dynamics/support/check.h"
#include "dynamics/integration/damped_spring.h"
#include "tests/dynamics/support/random_tree.h"
#include <math.h>
#include <stdlib.h>

enum { DEGREE_MOST = 5 + DYN_MAX_DERIVATIVE - 2, INSTANTS = 9 };

/* Relative to the magnitudes of the terms, and to the errors that rounding of the start and of the load causes. */
#define TOLERANCE 1e-13

/* A load f(t) = sum_m c_m t^m, and the deflection e_p(t) + C exp(-t / a) under it. */
typedef struct polynomial_load {
    size_t      degree;
    long double c[DEGREE_MOST + 1];
    long double C; /* rad */
} polynomial_load;

/* Returns the derivative of order `order` of the load at the time t, or with `magnitudes` the sum of the magnitudes of
 * its terms. */
static long double load_rate(const polynomial_load *p, size_t order, long double t, bool magnitudes)
{
    long double sum = 0;
    for (size_t m = p->degree + 1; m-- > order;) {
        long double factor = p->c[m];
        for (size_t k = 0; k < order; k++)
            factor *= (long double)(m - k);
        sum = sum * t + (magnitudes ? fabsl(factor) : factor);
    }
    return sum;
}

/* Returns the derivative of order `order` of the deflection: e_p = 1/stiffness sum_m (-a)^m f^(m). Adds the magnitudes
 * of the terms to `scale`. */
static long double exact_rate(const dyn_damped_spring *s, const polynomial_load *p, size_t order, long double t,
                              long double *scale)
{
    const long double a = (long double)s->damping / s->stiffness, decaying = p->C * powl(-1 / a, order) * expl(-t / a);
    long double       sum = decaying, power = 1;
    *scale += fabsl(decaying);
    for (size_t m = 0; m + order <= p->degree; m++, power *= -a) {
        sum += power / s->stiffness * load_rate(p, m + order, t, false);
        *scale += fabsl(power) / s->stiffness * load_rate(p, m + order, t, true);
    }
    return sum;
}

typedef struct motion {
    dyn_damped_spring s;
    double            times[INSTANTS], errors[INSTANTS], start;
    double            series[INSTANTS * (DYN_MAX_DERIVATIVE + 1)];
} motion;

/* Draws unequal instants and a spring whose time constant is `ratio` times their span. */
static void draw_motion(random_source *source, size_t order, double ratio, motion *m)
{
    m->times[0] = 0;
    for (size_t i = 1; i < INSTANTS; i++)
        m->times[i] = m->times[i - 1] + random_between(source, 0.05, 0.2);
    m->s = (dyn_damped_spring){
        .stiffness = random_between(source, 20, 900), .order = order, .span = m->times[INSTANTS - 1]};
    m->s.damping = ratio * m->s.stiffness * m->s.span;
}

static void draw_load(random_source *source, size_t degree, polynomial_load *p)
{
    *p = (polynomial_load){.degree = degree};
    for (size_t m = 0; m <= degree; m++)
        p->c[m] = random_between(source, -1, 1);
}

static void integrate_spring(motion *m, const polynomial_load *p, bool settled)
{
    const size_t width = m->s.order + 1;
    for (size_t i = 0; i < INSTANTS; i++)
        for (size_t k = 0; k < width; k++)
            m->series[i * width + k] = (double)load_rate(p, k, m->times[i], false);
    const dyn_damped_motion along = {INSTANTS, m->times, m->series, settled ? NULL : &m->start, m->errors};
    assert_true(dyn_damped_spring_integrate(&m->s, &along, (dyn_deadline){0}));
}

/* Returns by how much errors grow in the derivative of order k: those of the start and, where the highest derivative is
   integrated, those of the load to which the polynomials are fitted. */
static long double carried(const motion *m, const polynomial_load *p, size_t k, long double t)
{
    const long double a = (long double)m->s.damping / m->s.stiffness, shortest = 0.05L;
    long double       start = 0, load = load_rate(p, m->s.order - 2, t, true);
    (void)exact_rate(&m->s, p, 0, 0, &start);
    const long double fitted = load / (m->s.stiffness * shortest * shortest) * powl(a, m->s.order - k);
    return start * powl(1 / a, k) * expl(-t / a) + (a > m->s.span ? 0 : fitted);
}

static void compare_deflections(const motion *m, const polynomial_load *p, const char *what)
{
    const size_t width = m->s.order + 1;
    for (size_t i = 0; i < INSTANTS; i++)
        for (size_t k = 0; k < width; k++) {
            long double scale = 0, exact = exact_rate(&m->s, p, k, m->times[i], &scale);
            double      got = m->series[i * width + k];
            if (!(fabsl(got - exact) <= TOLERANCE * (scale + carried(m, p, k, m->times[i]))))
                fail_msg("%s, order %zu, a %g, instant %zu, derivative %zu: %.17g, expected %.17Lg", what, m->s.order,
                         m->s.damping / m->s.stiffness, i, k, got, exact);
        }
}

/* Checks that springs with time constants from a millionth to a million times the motion follow polynomials exactly,
 * from any start. A soft damper integrates the load itself, so its degree is at most 5. */
static void test_polynomials(void **state)
{
    random_source   source = {.state = 11};
    polynomial_load p;
    motion          m;
    for (size_t order = 2; order <= 8; order++)
        for (int power = -6; power <= 6; power++) {
            const double ratio = 1.3 * pow(10, power);
            draw_motion(&source, order, ratio, &m);
            draw_load(&source, ratio > 1 ? 5 : 3 + order, &p);
            long double scale = 0;
            p.C               = 0.1L * powl(ratio < 1 ? ratio : 1, order);
            m.start           = (double)exact_rate(&m.s, &p, 0, 0, &scale);
            p.C += m.start - exact_rate(&m.s, &p, 0, 0, &scale); /* the decaying part that rounding of the start adds */
            integrate_spring(&m, &p, false);
            compare_deflections(&m, &p, "a polynomial");
        }
}

/* Checks springs that are slower than the motion against the power series of the deflection about the first instant,
 * whose terms do not cancel: e^(m+1) = (f^(m) - stiffness e^(m)) / damping. */
static void test_slow_springs(void **state)
{
    enum { TERMS = 40 };
    random_source   source = {.state = 13};
    polynomial_load p;
    motion          m;
    for (size_t order = 2; order <= 6; order++)
        for (int power = 0; power <= 6; power++) {
            long double rate[TERMS + 1];
            draw_motion(&source, order, 1.3 * pow(10, power), &m);
            draw_load(&source, 5, &p);
            rate[0] = m.start = random_between(&source, -0.1, 0.1);
            for (size_t k = 0; k < TERMS; k++)
                rate[k + 1] = (load_rate(&p, k, 0, false) - m.s.stiffness * rate[k]) / m.s.damping;
            integrate_spring(&m, &p, false);
            for (size_t i = 0; i < INSTANTS; i++)
                for (size_t k = 0; k <= order; k++) {
                    long double term = 1, sum = 0, scale = 0;
                    for (size_t j = 0; k + j <= TERMS; term *= m.times[i] / (double)++j) {
                        sum += term * rate[k + j];
                        scale += fabsl(term * rate[k + j]);
                    }
                    if (k > 0)
                        scale += fabsl(m.start) / powl(m.s.damping / m.s.stiffness, k); /* the error of the
                                                                                           rounded start */
                    if (!(fabsl(m.series[i * (order + 1) + k] - sum) <= 1e-13 * scale))
                        fail_msg("order %zu, a %g, instant %zu, derivative %zu: %.17g, expected %.17Lg", order,
                                 m.s.damping / m.s.stiffness, i, k, m.series[i * (order + 1) + k], sum);
                }
        }
}

/* Under a polynomial load of degree r that has acted for long, the start must have no decaying part. */
static void test_settled(void **state)
{
    random_source   source = {.state = 12};
    polynomial_load p;
    motion          m;
    for (size_t order = 2; order <= 7; order++)
        for (int power = -6; power <= 1; power++) {
            draw_motion(&source, order, 0.4 * pow(10, power), &m);
            draw_load(&source, order < 5 ? order : 5, &p);
            integrate_spring(&m, &p, true);
            compare_deflections(&m, &p, "a settled spring");
        }
}

/* Integrates under f = sin(w t) from the exact start, in `n` equal intervals of one second. Returns the largest error
 * of the second derivative and, in `estimate`, the largest estimate, and checks that none is far below the error. */
static double sine_error(double stiffness, double damping, size_t n, double *estimate)
{
    enum { ORDER = 2 };
    const double      w = 5, gain = 1 / (stiffness * stiffness + damping * damping * w * w);
    dyn_damped_spring s     = {.stiffness = stiffness, .damping = damping, .order = ORDER, .span = 1};
    double           *times = calloc(n + 1, sizeof *times), *series = calloc((n + 1) * (ORDER + 1), sizeof *series),
           *errors = calloc(n + 1, sizeof *errors), start = -gain * damping * w, most = 0;
    assert_true(times && series && errors);
    for (size_t i = 0; i <= n; i++) {
        times[i]         = (double)i / (double)n;
        const double f[] = {sin(w * times[i]), w * cos(w * times[i]), -w * w * sin(w * times[i])};
        for (size_t k = 0; k <= ORDER; k++)
            series[i * (ORDER + 1) + k] = f[k];
    }
    const dyn_damped_motion m = {n + 1, times, series, &start, errors};
    assert_true(dyn_damped_spring_integrate(&s, &m, (dyn_deadline){0}));
    for (size_t i = 0; i <= n; i++) {
        double exact = -w * w * gain * (stiffness * sin(w * times[i]) - damping * w * cos(w * times[i]));
        double error = fabs(series[i * (ORDER + 1) + 2] - exact);
        if (i > 0) assert_true(error <= 1.5 * errors[i] + 1e-13);
        if (error > most) most = error;
        *estimate = fmax(*estimate, errors[i]);
    }
    free(times), free(series), free(errors);
    return most;
}

/* Checks under a sine that half the interval leaves at most a sixth of the error, and that the estimates are 5 to 80
 * times the errors: for time constants far below the interval, where the error falls with its third power, up to those
 * above the length of the motion, where it falls with the sixth. */
static void test_estimated_errors(void **state)
{
    static const double springs[][2] = {{100, 0.1}, {100, 0.3}, {100, 1}, {100, 7}, {3, 40}};
    for (size_t i = 0; i < sizeof springs / sizeof *springs; i++) {
        double estimate[2] = {0}, coarse = sine_error(springs[i][0], springs[i][1], 8, &estimate[0]),
               fine = sine_error(springs[i][0], springs[i][1], 16, &estimate[1]);
        assert_true(coarse < 1e-2 && fine < coarse / 6);
        assert_true(estimate[0] > 5 * coarse && estimate[0] < 80 * coarse);
        assert_true(estimate[1] > 5 * fine && estimate[1] < 80 * fine);
    }
}

static bool is_over(const void *arg)
{
    (void)arg;
    return false;
}

static void test_deadline(void **state)
{
    enum { MANY = 3000 };
    static double           times[MANY], series[MANY * 3], errors[MANY];
    const dyn_damped_spring s = {.stiffness = 100, .damping = 1, .order = 2, .span = MANY};
    const dyn_damped_motion m = {MANY, times, series, NULL, errors};
    for (size_t i = 0; i < MANY; i++)
        times[i] = (double)i;
    assert_true(dyn_damped_spring_integrate(&s, &m, (dyn_deadline){0}));
    assert_false(dyn_damped_spring_integrate(&s, &m, (dyn_deadline){is_over, NULL}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polynomials),      cmocka_unit_test(test_slow_springs), cmocka_unit_test(test_settled),
        cmocka_unit_test(test_estimated_errors), cmocka_unit_test(test_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
