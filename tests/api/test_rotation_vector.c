/* test_rotation_vector.c - checks rotations, velocities and derivatives of moving rotation vectors against exact
 * identities and differences, and the forms of differences on the tangent space against each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dynamics/motion/rotation_vector.h"
#include "dynamics/motion/tangent.h"
#include "tests/api/support/draws.h"

/* Rounding of the series, whose terms reach 2 where |x| is 2 pi, times products of rates. */
#define TOLERANCE 2e-13

enum { TRIALS = 300 };

static void multiply(const double A[3][3], const double B[3][3], double C[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}

static void skew(const double a[3], double K[3][3])
{
    const double entries[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
    for (int i = 0; i < 9; i++)
        K[i / 3][i % 3] = entries[i / 3][i % 3];
}

/* Draws a path whose rotation vector has lengths from 1e-12 to 2 pi. */
static dyn_rotation_path draw_path(uint64_t *seed)
{
    dyn_rotation_path p;
    double            length = fabs(draw(seed)) < 0.2 ? 1e-12 : 6.283 * fabs(draw(seed)), norm = 0;
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 3; i++)
            p.x[r][i] = draw(seed);
    for (int i = 0; i < 3; i++)
        norm += p.x[0][i] * p.x[0][i];
    for (int i = 0; i < 3; i++)
        p.x[0][i] *= length / sqrt(norm);
    return p;
}

static void near(double got, double expected)
{
    assert_true(fabs(got - expected) <= TOLERANCE * (1 + fabs(expected)));
}

/* R must be orthogonal, rotate about x by |x|, and be the rotation of the quaternion. */
static void rotations(void **state)
{
    uint64_t seed = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        dyn_rotation_path   p = draw_path(&seed);
        dyn_rotation_motion m;
        double              K[3][3], KK[3][3], angle = 0;
        dyn_rotation_vector_move(&p, &m);
        for (int i = 0; i < 3; i++)
            angle += p.x[0][i] * p.x[0][i];
        angle = sqrt(angle);
        skew(p.x[0], K);
        multiply(K, K, KK);
        for (int i = 0; i < 9; i++) {
            double a = i / 3 == i % 3, A = angle > 1e-8 ? sin(angle) / angle : 1,
                   B = angle > 1e-8 ? 2 * sin(angle / 2) * sin(angle / 2) / (angle * angle) : 0.5;
            near(m.R[i / 3][i % 3], a + A * K[i / 3][i % 3] + B * KK[i / 3][i % 3]);
        }
        for (int i = 0; i < 3; i++)
            near(m.quaternion[i], angle > 1e-8 ? sin(angle / 2) / angle * p.x[0][i] : p.x[0][i] / 2);
        near(m.quaternion[3], cos(angle / 2));
    }
}

/* Checks w = J x', w' = dw/dx x' + J x'', and the product rule for w''. */
static void velocities(void **state)
{
    uint64_t seed = 2;
    for (int trial = 0; trial < TRIALS; trial++) {
        dyn_rotation_path   p = draw_path(&seed);
        dyn_rotation_motion m;
        dyn_rotation_vector_move(&p, &m);
        for (int i = 0; i < 3; i++) {
            double w[3] = {0}, by_position = 0;
            for (int j = 0; j < 3; j++) {
                w[0] += m.J[0][i][j] * p.x[1][j];
                w[1] += m.J[0][i][j] * p.x[2][j] + m.J[1][i][j] * p.x[1][j];
                w[2] += m.J[0][i][j] * p.x[3][j] + 2 * m.J[1][i][j] * p.x[2][j] + m.J[2][i][j] * p.x[1][j];
                by_position += m.J[0][i][j] * p.x[2][j] + m.w_by_x[0][i][j] * p.x[1][j];
            }
            for (int r = 0; r < 3; r++)
                near(m.w[r][i], w[r]);
            near(m.w[1][i], by_position);
        }
    }
}

/* Checks w'' = (dw/dx)' x' + dw/dx x'' + J' x'' + J x''', the derivative of w' = dw/dx x' + J x''. */
static void accelerations(void **state)
{
    uint64_t seed = 3;
    for (int trial = 0; trial < TRIALS; trial++) {
        dyn_rotation_path   p = draw_path(&seed);
        dyn_rotation_motion m;
        dyn_rotation_vector_move(&p, &m);
        for (int i = 0; i < 3; i++) {
            double w = 0;
            for (int j = 0; j < 3; j++)
                w += m.w_by_x[1][i][j] * p.x[1][j] + (m.w_by_x[0][i][j] + m.J[1][i][j]) * p.x[2][j] +
                     m.J[0][i][j] * p.x[3][j];
            near(m.w[2][i], w);
        }
    }
}

/* Compares the derivatives of w, w' and w'' by x with differences of sixth order. */
static void by_position(void **state)
{
    static const double weight[7] = {-1, 9, -45, 0, 45, -9, 1}, step = 2e-3;
    uint64_t            seed = 4;
    for (int trial = 0; trial < TRIALS; trial++) {
        const dyn_rotation_path p = draw_path(&seed);
        dyn_rotation_motion     m;
        dyn_rotation_vector_move(&p, &m);
        for (int j = 0; j < 3; j++) {
            double by_x[3][3] = {{0}};
            for (int k = 0; k < 7; k++) {
                dyn_rotation_path   moved = p;
                dyn_rotation_motion other;
                moved.x[0][j] += (k - 3) * step;
                dyn_rotation_vector_move(&moved, &other);
                for (int i = 0; i < 9; i++)
                    by_x[i / 3][i % 3] += weight[k] / (60 * step) * other.w[i / 3][i % 3];
            }
            for (int i = 0; i < 9; i++)
                assert_true(fabs(m.w_by_x[i / 3][i % 3][j] - by_x[i / 3][i % 3]) <= 1e-10);
        }
    }
}

/* The differences of positions take one of two forms by the angle: a series below 0.1 or 0.5 rad. At these angles the
 * forms agree. */
static void forms_of_tangents(void **state)
{
    static const double angles[] = {0.1, 0.5}, axis[3] = {2.0 / 7, -3.0 / 7, 6.0 / 7}, e[3] = {0.7, 0.4, -1.1};
    const dyn_body      ball = {.joint.kind = DYN_SPHERICAL};
    for (size_t k = 0; k < sizeof angles / sizeof *angles; k++) {
        double J[2][DYN_TANGENT_MOST][DYN_TANGENT_MOST], rate[2][DYN_TANGENT_MOST][DYN_TANGENT_MOST];
        for (int side = 0; side < 2; side++) {
            double dx[DYN_TANGENT_MOST];
            for (int i = 0; i < 3; i++)
                dx[i] = angles[k] * (side == 0 ? 1 - 1e-14 : 1 + 1e-14) * axis[i];
            dyn_tangent_derivative(&ball, dx, J[side]);
            dyn_tangent_derivative_rate(&ball, dx, e, rate[side]);
        }
        for (int i = 0; i < 9; i++) {
            assert_true(fabs(J[0][i / 3][i % 3] - J[1][i / 3][i % 3]) <= 1e-13);
            if (fabs(rate[0][i / 3][i % 3] - rate[1][i / 3][i % 3]) > 1e-12)
                fail_msg("%g: off by %g of %g", angles[k], rate[0][i / 3][i % 3] - rate[1][i / 3][i % 3],
                         rate[0][i / 3][i % 3]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations),   cmocka_unit_test(velocities),        cmocka_unit_test(accelerations),
        cmocka_unit_test(by_position), cmocka_unit_test(forms_of_tangents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
