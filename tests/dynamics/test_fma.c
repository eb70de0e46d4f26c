/* test_fma.c - compares the emulated fused multiply-add with the C library, bit by bit. On a processor whose baseline
 * has the instruction, the test compares the instruction. */
#include "tests/dynamics/support/check.h"
#include "dynamics/math/fma.h"
#include "tests/dynamics/support/random_tree.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { TRIALS = 2000000 };

/* Draws a number in the middle of the range, with few digits or many, and sometimes 0 or 1. */
static double random_number(random_source *source)
{
    double x = random_between(source, -1, 1);
    switch (random_below(source, 8)) {
    case 0: return (double)(float)x;
    case 1: return ldexp(x, (int)random_below(source, 200) - 100);
    case 2: return (double)random_below(source, 3) - 1;
    default: return x;
    }
}

/* Draws an addend that cancels all or most of the product, or is half a unit of its last place. */
static double random_addend(random_source *source, double a, double b)
{
    double off = ldexp((double)random_below(source, 7) - 3, -53);
    switch (random_below(source, 4)) {
    case 0: return -(a * b);
    case 1: return -(a * b) * (1 + off);
    case 2: return a * b * off;
    default: return random_number(source);
    }
}

static void check_fused(double a, double b, double c)
{
    double  exact = fma(a, b, c), one = fma_double(a, b, c);
    double2 two = fma_double2((double2){a, b}, (double2){b, a}, (double2){c, c});
    for (int k = 0; k < 3; k++) {
        double got = k == 0 ? one : two[k - 1];
        if (memcmp(&got, &exact, sizeof got) != 0 && !(isnan(got) && isnan(exact)))
            fail_msg("%a * %a + %a is %a, expected %a", a, b, c, got, exact);
    }
}

static void test_ordinary_numbers(void **state)
{
    random_source source = {.state = 1};
    for (int i = 0; i < TRIALS; i++) {
        double a = random_number(&source), b = random_number(&source);
        check_fused(a, b, random_addend(&source, a, b));
    }
}

/* Tries all triples of numbers at the ends of the range. */
static void test_extremes(void **state)
{
    const double x[] = {0,        1,         3,           0x1p-52,    DBL_EPSILON / 4, DBL_MIN,     5e-324,
                        3e-310,   0x1p-900,  0x1.8p-969,  0x1p899,    0x1p900,         0x1.3p996,   DBL_MAX,
                        INFINITY, NAN,       -0.0,        -1,         -5e-324,         -0x1.7p-537, -1e160,
                        -DBL_MAX, -INFINITY, 1 - 0x1p-53, 1 + 0x1p-52};
    const size_t n   = sizeof x / sizeof *x;
    for (size_t i = 0; i < n * n * n; i++)
        check_fused(x[i % n], x[i / n % n], x[i / n / n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary_numbers),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
