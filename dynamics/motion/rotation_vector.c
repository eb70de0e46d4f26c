/* rotation_vector.c - computes rotation, angular velocity and their derivatives from a moving rotation vector
 * (rotation_vector.h). */
#include "rotation_vector.h"
#include <math.h>
#include <string.h>

/* --- vectors ------------------------------------------------------------------------------------------------------ */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Adds k [a] to M, with [a] the cross matrix of a. */
static void add_skew(double M[3][3], double k, const double a[3])
{
    for (int i = 0; i < 3; i++) {
        M[i][(i + 1) % 3] -= k * a[(i + 2) % 3];
        M[i][(i + 2) % 3] += k * a[(i + 1) % 3];
    }
}

/* Adds k a b^T to M. */
static void add_outer(double M[3][3], double k, const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] += k * a[i] * b[j];
}

static void add_identity(double M[3][3], double k)
{
    for (int i = 0; i < 3; i++)
        M[i][i] += k;
}

/* --- the series --------------------------------------------------------------------------------------------------- */

enum { TERMS = 28 /* terms of the series; the last one is below 1e-20 of the first for s <= 4 pi^2 */, ORDERS = 4 };

static const double binomial[ORDERS][ORDERS] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};

/* Writes the sum f of (-s)^k / (2k + shift)! over k, and its first three derivatives with respect to s. */
static void evaluate_series(double s, int shift, double f[ORDERS])
{
    double coefficient[TERMS];
    coefficient[0] = shift == 2 ? 1.0 / 2 : 1.0 / 6;
    for (int k = 1; k < TERMS; k++)
        coefficient[k] = -coefficient[k - 1] / ((2 * k + shift - 1) * (2 * k + shift));
    f[0] = f[1] = f[2] = f[3] = 0;
    for (int k = TERMS - 1; k >= 0; k--) {
        f[0] = f[0] * s + coefficient[k];
        if (k >= 1) f[1] = f[1] * s + k * coefficient[k];
        if (k >= 2) f[2] = f[2] * s + k * (k - 1) * coefficient[k];
        if (k >= 3) f[3] = f[3] * s + k * (k - 1) * (k - 2) * coefficient[k];
    }
}

/* The functions s = x . x, B(s) and C(s) (rotation_vector.h) of a moving rotation vector x, each with three time
 * derivatives. */
typedef struct scalars {
    double s[ORDERS], B[ORDERS], C[ORDERS];
} scalars;

/* Writes B (shift 2) or C (shift 3) of rotation_vector.h and its time derivatives, from s and its time derivatives. */
static void follow(int shift, const double s[ORDERS], double by_time[ORDERS])
{
    double f[ORDERS];
    evaluate_series(s[0], shift, f);
    by_time[0] = f[0];
    by_time[1] = f[1] * s[1];
    by_time[2] = f[2] * s[1] * s[1] + f[1] * s[2];
    by_time[3] = f[3] * s[1] * s[1] * s[1] + 3 * f[2] * s[1] * s[2] + f[1] * s[3];
}

static scalars find_scalars(const double x[4][3])
{
    scalars p = {.s = {0}};
    for (int n = 0; n < ORDERS; n++)
        for (int k = 0; k <= n; k++)
            p.s[n] += binomial[n][k] * dot(x[k], x[n - k]);
    follow(2, p.s, p.B);
    follow(3, p.s, p.C);
    return p;
}

/* --- the motion --------------------------------------------------------------------------------------------------- */

/* The products u = x cross x' and z = x cross u of the rotation vector x, each with its first two time derivatives. */
typedef struct products {
    double u[3][3], z[3][3];
} products;

static void multiply(const double x[4][3], products *p)
{
    double a[3], b[3], c[3];
    cross(x[0], x[1], p->u[0]);
    cross(x[0], x[2], p->u[1]);
    cross(x[1], x[2], a);
    cross(x[0], x[3], b);
    for (int i = 0; i < 3; i++)
        p->u[2][i] = a[i] + b[i];
    cross(x[0], p->u[0], p->z[0]);
    cross(x[1], p->u[0], a);
    cross(x[0], p->u[1], b);
    for (int i = 0; i < 3; i++)
        p->z[1][i] = a[i] + b[i];
    cross(x[2], p->u[0], a);
    cross(x[1], p->u[1], b);
    cross(x[0], p->u[2], c);
    for (int i = 0; i < 3; i++)
        p->z[2][i] = a[i] + 2 * b[i] + c[i];
}

/* Sets the angular velocity w = x' - B u + C z, and its time derivatives. */
static void find_velocity(const double x[4][3], const scalars *f, const products *p, double w[3][3])
{
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 3; i++) {
            w[n][i] = x[n + 1][i];
            for (int k = 0; k <= n; k++)
                w[n][i] += binomial[n][k] * (f->C[n - k] * p->z[k][i] - f->B[n - k] * p->u[k][i]);
        }
}

/* Sets J = dw/dx' = (1 - s C) 1 - B [x] + C x x^T, and its time derivatives. */
static void find_velocity_by_rate(const double x[4][3], const scalars *f, double J[ORDERS][3][3])
{
    for (int n = 0; n < ORDERS; n++) {
        if (n == 0) add_identity(J[n], 1);
        for (int k = 0; k <= n; k++) {
            add_identity(J[n], -binomial[n][k] * f->s[k] * f->C[n - k]);
            add_skew(J[n], -binomial[n][k] * f->B[n - k], x[k]);
            for (int l = 0; l <= k; l++)
                add_outer(J[n], binomial[n][k] * binomial[k][l] * f->C[n - k], x[l], x[k - l]);
        }
    }
}

/* Adds k [a] B to M. */
static void add_skew_product(double M[3][3], double k, const double a[3], const double B[3][3])
{
    for (int j = 0; j < 3; j++) {
        const double column[3] = {B[0][j], B[1][j], B[2][j]};
        double       product[3];
        cross(a, column, product);
        for (int i = 0; i < 3; i++)
            M[i][j] += k * product[i];
    }
}

/* Sets dw/dx = J' + [w] J, and its time derivatives. */
static void find_velocity_by_position(dyn_rotation_motion *m)
{
    for (int n = 0; n < 3; n++) {
        memcpy(m->w_by_x[n], m->J[n + 1], sizeof m->w_by_x[n]);
        for (int k = 0; k <= n; k++)
            add_skew_product(m->w_by_x[n], binomial[n][k], m->w[k], m->J[n - k]);
    }
}

/* Sets R = (1 - s B) 1 + A [x] + B x x^T, and the quaternion of the rotation vector x. The functions B and C of the
 * quaternion are those of the half angle, with s/4 in place of s. */
static void find_rotation(const double x[3], double B, double C, dyn_rotation_motion *to)
{
    double s = dot(x, x), half_B[ORDERS], half_C[ORDERS];
    evaluate_series(s / 4, 2, half_B);
    evaluate_series(s / 4, 3, half_C);
    double half = 0.5 * (1 - s / 4 * half_C[0]), *q = to->quaternion;
    for (int i = 0; i < 3; i++)
        q[i] = half * x[i];
    q[3]        = 1 - s / 4 * half_B[0];
    double norm = sqrt(dot(q, q) + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        q[i] /= norm;
    add_identity(to->R, 1 - s * B);
    add_skew(to->R, 1 - s * C, x);
    add_outer(to->R, B, x, x);
}

void dyn_rotation_vector_move(const dyn_rotation_path *path, dyn_rotation_motion *motion)
{
    const double(*x)[3] = path->x;
    const scalars f     = find_scalars(x);
    products      p     = {.u = {{0}}};
    memset(motion, 0, sizeof *motion);
    multiply(x, &p);
    find_rotation(x[0], f.B[0], f.C[0], motion);
    find_velocity(x, &f, &p, motion->w);
    find_velocity_by_rate(x, &f, motion->J);
    find_velocity_by_position(motion);
}
