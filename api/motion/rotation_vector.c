/* rotation_vector.c - see rotation_vector.h. */
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

/* M += k [a] */
static void add_skew(double M[3][3], double k, const double a[3])
{
    for (int i = 0; i < 3; i++) {
        M[i][(i + 1) % 3] -= k * a[(i + 2) % 3];
        M[i][(i + 2) % 3] += k * a[(i + 1) % 3];
    }
}

/* M += k a b^T */
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

enum { TERMS = 28 /* the last one is below 1e-20 of the first for s <= 4 pi^2 */, ORDERS = 3 };

/* Writes f = sum (-s)^k / (2k + shift)! and its first two derivatives by s. */
static void evaluate_series(double s, int shift, double f[ORDERS])
{
    double coefficient[TERMS];
    coefficient[0] = shift == 2 ? 1.0 / 2 : 1.0 / 6;
    for (int k = 1; k < TERMS; k++)
        coefficient[k] = -coefficient[k - 1] / ((2 * k + shift - 1) * (2 * k + shift));
    f[0] = f[1] = f[2] = 0;
    for (int k = TERMS - 1; k >= 0; k--) {
        f[0] = f[0] * s + coefficient[k];
        if (k >= 1) f[1] = f[1] * s + k * coefficient[k];
        if (k >= 2) f[2] = f[2] * s + k * (k - 1) * coefficient[k];
    }
}

/* A function of s along the path: the derivatives f, f', f'' by s, then the first two derivatives of f by time, and the
 * derivative of f' by time. */
typedef struct scalar_path {
    double f[ORDERS], rate, rate_rate, slope_rate;
} scalar_path;

static scalar_path follow(int shift, const double x[4][3])
{
    scalar_path p  = {.rate = 0};
    double      sd = 2 * dot(x[0], x[1]), sdd = 2 * (dot(x[1], x[1]) + dot(x[0], x[2]));
    evaluate_series(dot(x[0], x[0]), shift, p.f);
    p.rate       = p.f[1] * sd;
    p.rate_rate  = p.f[2] * sd * sd + p.f[1] * sdd;
    p.slope_rate = p.f[2] * sd;
    return p;
}

/* --- the motion --------------------------------------------------------------------------------------------------- */

/* u = x x x' and z = x x u, each with its first two derivatives by time. */
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

/* w = x' - B u + C z, and its derivatives by time. */
static void find_velocity(const double x[4][3], const scalar_path *B, const scalar_path *C, const products *p,
                          double w[3][3])
{
    for (int i = 0; i < 3; i++) {
        w[0][i] = x[1][i] - B->f[0] * p->u[0][i] + C->f[0] * p->z[0][i];
        w[1][i] = x[2][i] - B->rate * p->u[0][i] - B->f[0] * p->u[1][i] + C->rate * p->z[0][i] + C->f[0] * p->z[1][i];
        w[2][i] = x[3][i] - B->rate_rate * p->u[0][i] - 2 * B->rate * p->u[1][i] - B->f[0] * p->u[2][i] +
                  C->rate_rate * p->z[0][i] + 2 * C->rate * p->z[1][i] + C->f[0] * p->z[2][i];
    }
}

/* J = (1 - s C) 1 - B [x] + C x x^T, and its derivative by time. */
static void find_velocity_by_rate(const double x[4][3], const scalar_path *B, const scalar_path *C,
                                  api_rotation_motion *to)
{
    double s = dot(x[0], x[0]);
    add_identity(to->J, 1 - s * C->f[0]);
    add_skew(to->J, -B->f[0], x[0]);
    add_outer(to->J, C->f[0], x[0], x[0]);
    add_identity(to->J_dot, -2 * dot(x[0], x[1]) * C->f[0] - s * C->rate);
    add_skew(to->J_dot, -B->rate, x[0]);
    add_skew(to->J_dot, -B->f[0], x[1]);
    add_outer(to->J_dot, C->rate, x[0], x[0]);
    add_outer(to->J_dot, C->f[0], x[1], x[0]);
    add_outer(to->J_dot, C->f[0], x[0], x[1]);
}

/* dw/dx = -2 B' u x^T + B [x'] + 2 C' z x^T + C E with E = (x.x') 1 + x x'^T - 2 x' x^T, and its derivative by time. */
static void find_velocity_by_position(const double x[4][3], const scalar_path *B, const scalar_path *C,
                                      const products *p, api_rotation_motion *to)
{
    const double along = dot(x[0], x[1]), along_dot = dot(x[1], x[1]) + dot(x[0], x[2]);
    double(*M)[3] = to->w_by_x, (*Md)[3] = to->w_by_x_dot;
    add_outer(M, -2 * B->f[1], p->u[0], x[0]);
    add_skew(M, B->f[0], x[1]);
    add_outer(M, 2 * C->f[1], p->z[0], x[0]);
    add_identity(M, C->f[0] * along);
    add_outer(M, C->f[0], x[0], x[1]);
    add_outer(M, -2 * C->f[0], x[1], x[0]);

    add_outer(Md, -2 * B->slope_rate, p->u[0], x[0]);
    add_outer(Md, -2 * B->f[1], p->u[1], x[0]);
    add_outer(Md, -2 * B->f[1], p->u[0], x[1]);
    add_skew(Md, B->rate, x[1]);
    add_skew(Md, B->f[0], x[2]);
    add_outer(Md, 2 * C->slope_rate, p->z[0], x[0]);
    add_outer(Md, 2 * C->f[1], p->z[1], x[0]);
    add_outer(Md, 2 * C->f[1], p->z[0], x[1]);
    add_identity(Md, C->rate * along + C->f[0] * along_dot);
    add_outer(Md, C->rate, x[0], x[1]);
    add_outer(Md, -2 * C->rate, x[1], x[0]);
    add_outer(Md, -C->f[0], x[1], x[1]); /* of x x'^T and -2 x' x^T together */
    add_outer(Md, C->f[0], x[0], x[2]);
    add_outer(Md, -2 * C->f[0], x[2], x[0]);
}

/* R = (1 - s B) 1 + A [x] + B x x^T; the quaternion has the half angle, with s/4 in place of s. */
static void find_rotation(const double x[3], double B, double C, api_rotation_motion *to)
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

void api_rotation_vector_move(const api_rotation_path *path, api_rotation_motion *motion)
{
    const double(*x)[3] = path->x;
    const scalar_path B = follow(2, x), C = follow(3, x);
    products          p = {.u = {{0}}};
    memset(motion, 0, sizeof *motion);
    multiply(x, &p);
    find_rotation(x[0], B.f[0], C.f[0], motion);
    find_velocity(x, &B, &C, &p, motion->w);
    find_velocity_by_rate(x, &B, &C, motion);
    find_velocity_by_position(x, &B, &C, &p, motion);
}
