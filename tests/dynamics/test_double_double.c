/* test_double_double.c - checks sine, cosine, angle and length in double-double arithmetic to the last digit. The
 * constants of models are computed from these, so that models are the same on every machine. */
#include "tests/dynamics/support/check.h"
#include "dynamics/math/double_double.h"
#include "tests/dynamics/support/random_tree.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Sine and cosine of these exact doubles, from bc -l with 80 places: the nearest double and the remainder. */
static const struct {
    double angle, cosine[2], sine[2];
} published[] = {
    {1.0, {0.5403023058681398, -4.7609546126044172e-17}, {0.8414709848078965, 1.7768450929355361e-18}},
    {-0.5, {0.8775825618903728, -4.2623149864279997e-17}, {-0.479425538604203, 5.1039698605560129e-18}},
    {1.5707963267948966, {6.123233995736766e-17, -1.4973849048591698e-33}, {1.0, -1.874699728327322e-33}},
    {3.141592653589793, {-1.0, 7.498798913309288e-33}, {1.2246467991473532e-16, -2.99476980971834e-33}},
    {0.7853981633974483, {0.7071067811865476, -2.6687565161377232e-17}, {0.7071067811865475, 4.1036934489363755e-17}},
    {0.7853981633974484, {0.7071067811865475, 5.8301143669496652e-18}, {0.7071067811865476, 8.5192549610368528e-18}},
    {-1.0471975511965976, {0.5000000000000001, -1.1571038292233297e-17}, {-0.8660254037844386, 7.242793030926597e-18}},
    {1.1832e-09, {1.0, -6.9998112000000006e-19}, {1.1832e-09, -2.7607255372800002e-28}},
    {2.1, {-0.5048461045998576, 4.1960478485868078e-17}, {0.8632093666488737, 1.5360035571435458e-17}},
    {355.0, {-0.999999999545659, 1.0574612846643521e-17}, {-3.014435335948845e-05, 1.3012643991046347e-21}},
    {99999.5, {-0.8598827309222711, 2.4797424328993019e-18}, {0.5104916150747798, 1.0492647623186778e-17}},
    {-100000.0, {-0.9993608074382124, -2.3447088905187402e-17}, {-0.03574879797201651, -1.5429743706109861e-18}},
};

static void expect(double angle, dyn_double_double got, const double expected[2])
{
    if (got.high != expected[0] || !(fabs(got.low - expected[1]) <= 1e-29))
        fail_msg("of %.17g: %.17g %+.17g, not %.17g %+.17g", angle, got.high, got.low, expected[0], expected[1]);
}

static void test_published_digits(void **state)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        dyn_double_double c, s;
        dyn_cosine_sine(published[i].angle, &c, &s);
        expect(published[i].angle, c, published[i].cosine);
        expect(published[i].angle, s, published[i].sine);
    }
    dyn_double_double c, s;
    dyn_cosine_sine(0, &c, &s);
    assert_true(c.high == 1 && c.low == 0 && s.high == 0 && s.low == 0);
}

/* Compares sine and cosine with those of the C library in long double, to the latter's accuracy. */
static void test_angles_of_every_magnitude(void **state)
{
    random_source random = {.state = 1};
    for (int i = 0; i < 20000; i++) {
        double            size = pow(10, random_between(&random, -12, 5)), angle = random_between(&random, -size, size);
        dyn_double_double c, s;
        dyn_cosine_sine(angle, &c, &s);
        assert_true(fabsl((long double)c.high + c.low - cosl(angle)) <= LDBL_EPSILON + 1e-29L);
        assert_true(fabsl((long double)s.high + s.low - sinl(angle)) <= LDBL_EPSILON + 1e-29L);
        assert_true(fabs(c.low) <= 0.25 * DBL_EPSILON && fabs(s.low) <= fabs(s.high) * 0.5 * DBL_EPSILON);
    }
}

/* Recovers the angle from its cosine and sine, also if their vector is not exactly of unit length. */
static void test_angles_of_directions(void **state)
{
    random_source random = {.state = 2};
    for (int i = 0; i < 5000; i++) {
        double angle = random_between(&random, -3.14159, 3.14159), stretch = 1 + random_between(&random, -2e-16, 2e-16);
        dyn_double_double c, s;
        dyn_cosine_sine(angle, &c, &s);
        double x = c.high * stretch, y = s.high * stretch, got = dyn_angle(y, x);
        assert_true(fabsl(got - atan2l(y, x)) <= 0.501L * (nextafter(fabs(got), 4) - fabs(got)));
    }
    assert_true(dyn_angle(0, 1) == 0 && dyn_angle(1, 0) == 1.5707963267948966 &&
                dyn_angle(-1, 0) == -1.5707963267948966);
    assert_true(dyn_angle(0, -1) == 3.141592653589793);
}

static void test_lengths(void **state)
{
    random_source random = {.state = 3};
    for (int i = 0; i < 20000; i++) {
        double      size = pow(10, random_between(&random, -150, 150)), x = random_between(&random, -size, size);
        double      y = random_between(&random, -size, size), got = dyn_length(x, y);
        long double exact = sqrtl((long double)x * x + (long double)y * y);
        assert_true(fabsl(got - exact) <= 0.501L * (nextafter(got, INFINITY) - got));
    }
    assert_true(dyn_length(3e300, -4e300) == 5e300 && dyn_length(3e-320, 4e-320) == 5e-320);
    assert_true(dyn_length(0, 0) == 0 && dyn_length(0, -2) == 2);
    assert_true(isinf(dyn_length(1.7e308, 1.7e308)) && dyn_length(-INFINITY, 1) == INFINITY);
}

/* Continues an FNV-1a hash with n bytes. */
static uint64_t hash(uint64_t so_far, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        so_far = (so_far ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

/* Hashes the numbers of a body: each range has members of 8 bytes only, so it has no padding. */
static uint64_t hash_body(uint64_t sum, const dyn_body *b)
{
    const dyn_body_pose    *pose    = &b->pose;
    const dyn_body_derived *derived = &b->derived;
    sum = hash(sum, (const int[]){pose->form, (int)pose->offsets, (int)derived->next_offsets}, 3 * sizeof(int));
    sum = hash(sum, &b->joint.ratio, sizeof b->joint - offsetof(dyn_body_joint, ratio));
    sum = hash(sum, &pose->ca, sizeof *pose - offsetof(dyn_body_pose, ca));
    sum = hash(sum, &b->moments, sizeof b->moments);
    sum = hash(sum, derived, offsetof(dyn_body_derived, next_offsets));
    return hash(sum, derived->axis_moments, sizeof *derived - offsetof(dyn_body_derived, axis_moments));
}

/* Prints a hash of the models of random descriptions, which must be the same on every machine. */
static void test_models(void **state)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        random_tree t = random_tree_make(seed, 6 + seed % 20, seed % 3 == 0, TREE_ALL);
        dyn_model  *m;
        assert_int_equal(dyn_model_build(&t.description, &m, NULL), DYN_OK);
        for (size_t i = 0; i < m->n_bodies; i++) {
            sum = hash_body(sum, &m->body[i]);
        }
        for (size_t i = 0; i < m->n_links; i++)
            sum = hash(sum, &m->link[i].X_bl, sizeof m->link[i].X_bl);
        dyn_model_free(m);
        random_tree_free(&t);
    }
    print_message("# models: %016llx\n", (unsigned long long)sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_digits), cmocka_unit_test(test_angles_of_every_magnitude),
        cmocka_unit_test(test_angles_of_directions), cmocka_unit_test(test_lengths), cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
