/* test_trigonometry.c - compares the kernels' sine and cosine with the C library in long double. A revolute joint shows
 * them without other rounding: the point (1, 0, 0) of a body that rotates by q about z is at (cos q, sin q, 0). */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to SMALL_ANGLE the error is bounded relative to small results too. Beyond, argument reduction loses digits, and
 * the bound is absolute. */
#define SMALL_ANGLE    100
#define TOLERANCE_ULPS 1.5
#define TOLERANCE      1.5e-16

typedef struct pointer {
    dyn_model *model;
    dyn_frame  tip;
} pointer;

static pointer pointer_make(void)
{
    const dyn_pose  identity = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    dyn_link        link     = {.parent = DYN_WORLD,
                                .joint  = DYN_REVOLUTE,
                                .before = identity,
                                .axis   = {0, 0, 1},
                                .after  = identity,
                                .ratio  = 1};
    dyn_description d        = {.n_links = 1, .links = &link};
    pointer         p;
    assert_int_equal(dyn_model_build(&d, &p.model, NULL), DYN_OK);
    p.tip = (dyn_frame){p.model->link[0].body, p.model->link[0].X_bl};
    for (int i = 0; i < 3; i++) /* x axis of the link, for any angle of the body frame about z */
        p.tip.X_bf.p[i] += p.model->link[0].X_bl.R[i][0];
    return p;
}

/* Returns |got - exact| in units of the tolerance at this angle. */
static double error(double q, double got, long double exact)
{
    double      near = (double)exact;
    long double unit = nextafter(fabs(near), INFINITY) - fabs(near);
    return (double)(fabsl(got - exact) / (fabs(q) <= SMALL_ANGLE ? TOLERANCE_ULPS * unit : TOLERANCE));
}

static void check_angles(size_t n, const double *q)
{
    pointer            p      = pointer_make();
    dyn_scene          scene  = {.model = p.model};
    double            *points = calloc(3 * n, sizeof *points);
    const dyn_kernels *k;
    double             worst = 0;
    assert_non_null(points);
    for (size_t t = 0; (k = dyn_kernels_at(t)); t++) {
        rows_kinematics(k, &scene, n, (dyn_kinematics){.q = q, .n_frames = 1, .frames = &p.tip, .positions = points});
        for (size_t i = 0; i < n; i++) {
            double c = error(q[i], points[3 * i], cosl(q[i])), s = error(q[i], points[3 * i + 1], sinl(q[i]));
            worst = fmax(worst, fmax(c, s));
            if (!(c <= 1) || !(s <= 1))
                fail_msg("%s: q = %.17g: cosine %.17g off by %g, sine %.17g off by %g of what is allowed", k->target,
                         q[i], points[3 * i], c, points[3 * i + 1], s);
        }
    }
    if (getenv("CHECK_VERBOSE")) print_message("# worst %g\n", worst);
    free(points);
    dyn_model_free(p.model);
}

/* Tries the doubles next to k pi/2, where argument reduction must not lose digits of the small result. */
static void test_multiples_of_a_quarter_turn(void **state)
{
    size_t  most = (size_t)(DYN_MAX_ANGLE / M_PI_2), n = 0;
    double *q = calloc(6 * (most + 1), sizeof *q);
    assert_non_null(q);
    for (size_t k = 0; k <= most; k++) {
        double near = (double)((long double)k * 1.57079632679489661923132169163975144L);
        for (int side = -1; side <= 1; side++)
            for (int sign = -1; sign <= 1; sign += 2)
                q[n++] = (double)sign * (side ? nextafter(near, (double)side * INFINITY) : near);
    }
    check_angles(n, q);
    free(q);
}

static void test_angles_of_every_magnitude(void **state)
{
    enum { PER_OCTAVE = 400 };
    double *q = calloc(PER_OCTAVE * 60, sizeof *q), x = DYN_MAX_ANGLE;
    size_t  n = 0;
    assert_non_null(q);
    for (int octave = 0; octave < 60; octave++, x /= 2)
        for (int i = 0; i < PER_OCTAVE; i++)
            q[n++] = (i % 2 ? x : -x) * (1 - 0.5 * sin(1.0 + i) * sin(1.0 + i));
    check_angles(n, q);
    free(q);
}

/* Sine must be odd and cosine even to the last bit, and both exact at zero. */
static void test_symmetry_and_zero(void **state)
{
    const double       q[6] = {0, 1e-300, 5e-324, 0.7, 2.5, 1e5};
    double             minus[6], points[2][18];
    pointer            p     = pointer_make();
    dyn_scene          scene = {.model = p.model};
    dyn_kinematics     io    = {.n_frames = 1, .frames = &p.tip};
    const dyn_kernels *k     = test_kernels();
    for (int i = 0; i < 6; i++)
        minus[i] = -q[i];
    io.q         = q;
    io.positions = points[0];
    rows_kinematics(k, &scene, 6, io);
    io.q         = minus;
    io.positions = points[1];
    rows_kinematics(k, &scene, 6, io);
    for (int i = 0; i < 6; i++) {
        assert_true(points[0][3 * i] == points[1][3 * i]);
        assert_true(points[0][3 * i + 1] == -points[1][3 * i + 1]);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(points[0][3 * i] == 1);
        assert_true(points[0][3 * i + 1] == q[i]);
    }
    dyn_model_free(p.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiples_of_a_quarter_turn),
        cmocka_unit_test(test_angles_of_every_magnitude),
        cmocka_unit_test(test_symmetry_and_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
