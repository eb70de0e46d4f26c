/* test_elementary.c - compares the kernels' sine, cosine, arc tangent and arc cosine with extended precision, and
 * prints a hash of the results that must be the same on every processor (test_processors.py). */
#include "tests/dynamics/support/check.h"
#include "dynamics/dynamics.h"
#include "dynamics/math/elementary.h"
#include "tests/dynamics/support/random_tree.h"
#include <math.h>
#include <string.h>

enum { DRAWS = 200000 };

static void assert_near(double got, long double exact, double ulps)
{
    double near = fabs((double)exact), unit = nextafter(near, INFINITY) - near;
    if (!(fabsl(got - exact) <= ulps * unit)) fail_msg("%.17g, expected %.20Lg", got, exact);
}

static double random_magnitude(random_source *source, double least, double most)
{
    return pow(10, random_between(source, least, most)) * (random_chance(source, 0.5) ? 1 : -1);
}

static void test_sine_and_cosine(void **state)
{
    random_source source = {.state = 1};
    double        s, c;
    for (int i = 0; i < DRAWS; i++) {
        double x = random_magnitude(&source, -9, 4.999);
        dyn_sine_cosine(x, &s, &c);
        assert_near(s, sinl(x), 2);
        assert_near(c, cosl(x), 2);
    }
    dyn_sine_cosine(-0.0, &s, &c);
    assert_true(s == 0 && signbit(s) && c == 1);
    dyn_sine_cosine(1e9, &s, &c);
    assert_near(s, sinl(1e9L), 1);
}

static void test_arc_tangent(void **state)
{
    random_source source = {.state = 2};
    for (int i = 0; i < DRAWS; i++) {
        double y = random_magnitude(&source, -9, 9),
               x = i % 2 ? random_magnitude(&source, -9, 9) : y * random_between(&source, -2, 2);
        assert_near(dyn_atan2(y, x), atan2l(y, x), 2);
    }
    const double special[] = {0, -0.0, 1, -1, 5e-324, -1e308, 1e308, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
            double got = dyn_atan2(special[i], special[k]), expected = atan2(special[i], special[k]);
            assert_near(got, expected, 1);
            assert_int_equal(signbit(got) != 0, signbit(expected) != 0);
        }
    assert_true(isnan(dyn_atan2(NAN, 1)) && isnan(dyn_atan2(1, NAN)));
}

static void test_arc_cosine(void **state)
{
    random_source source = {.state = 3};
    for (int i = 0; i < DRAWS; i++) {
        double x = i % 2 ? random_between(&source, -1, 1) : 1 - pow(10, random_between(&source, -15, 0));
        assert_near(dyn_acos(x), acosl(x), 3);
    }
    assert_true(dyn_acos(1) == 0 && dyn_acos(-1) == 3.141592653589793 && isnan(dyn_acos(1.5)));
}

static void test_the_same_on_every_processor(void **state)
{
    random_source source = {.state = 4};
    uint64_t      sum    = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = random_between(&source, -1e5, 1e5) * (i % 2 ? 1 : 1e-4), value[4], s, c;
        dyn_sine_cosine(x, &s, &c);
        memcpy(value, (double[]){s, c, dyn_atan2(x, random_between(&source, -9, 9)), dyn_acos(s)}, sizeof value);
        for (int k = 0; k < 4; k++) {
            uint64_t bits;
            memcpy(&bits, &value[k], sizeof bits);
            sum = sum * UINT64_C(0x100000001b3) + bits;
        }
    }
    print_message("# bits: %016llx\n", (unsigned long long)sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sine_and_cosine),
        cmocka_unit_test(test_arc_tangent),
        cmocka_unit_test(test_arc_cosine),
        cmocka_unit_test(test_the_same_on_every_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
