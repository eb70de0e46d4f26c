/* test_rotation_vector.c - compares rotations of moving rotation vectors with identities that hold exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/motion/rotation_vector.h"
#include "draws.h"

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

/* A path whose rotation vector has lengths from 1e-12 to 2 pi. */
static api_rotation_path draw_path(uint64_t *seed)
{
    api_rotation_path p;
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

/* R is orthogonal, turns about x by |x|, and is the rotation of the quaternion. */
static void rotations(void **state)
{
    uint64_t seed = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        api_rotation_path   p = draw_path(&seed);
        api_rotation_motion m;
        double              K[3][3], KK[3][3], angle = 0;
        api_rotation_vector_move(&p, &m);
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

/* w = J x', w' = J x'' + J' x' and w' = dw/dx x' + J x''; and dw/dx = J' + [w] J, the structure equation of rotations.
 */
static void velocities(void **state)
{
    uint64_t seed = 2;
    for (int trial = 0; trial < TRIALS; trial++) {
        api_rotation_path   p = draw_path(&seed);
        api_rotation_motion m;
        double              W[3][3], WJ[3][3];
        api_rotation_vector_move(&p, &m);
        skew(m.w[0], W);
        multiply(W, m.J, WJ);
        for (int i = 0; i < 3; i++) {
            double w = 0, by_rate = 0, by_position = 0;
            for (int j = 0; j < 3; j++) {
                w += m.J[i][j] * p.x[1][j];
                by_rate += m.J[i][j] * p.x[2][j] + m.J_dot[i][j] * p.x[1][j];
                by_position += m.J[i][j] * p.x[2][j] + m.w_by_x[i][j] * p.x[1][j];
                near(m.w_by_x[i][j], m.J_dot[i][j] + WJ[i][j]);
            }
            near(m.w[0][i], w);
            near(m.w[1][i], by_rate);
            near(m.w[1][i], by_position);
        }
    }
}

/* w'' = (dw/dx)' x' + dw/dx x'' + J' x'' + J x''', the derivative of w' = dw/dx x' + J x''. */
static void accelerations(void **state)
{
    uint64_t seed = 3;
    for (int trial = 0; trial < TRIALS; trial++) {
        api_rotation_path   p = draw_path(&seed);
        api_rotation_motion m;
        api_rotation_vector_move(&p, &m);
        for (int i = 0; i < 3; i++) {
            double w = 0;
            for (int j = 0; j < 3; j++)
                w += m.w_by_x_dot[i][j] * p.x[1][j] + (m.w_by_x[i][j] + m.J_dot[i][j]) * p.x[2][j] +
                     m.J[i][j] * p.x[3][j];
            near(m.w[2][i], w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations),
        cmocka_unit_test(velocities),
        cmocka_unit_test(accelerations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
