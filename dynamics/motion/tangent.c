/* tangent.c - computes differences of positions of joints in the tangent space at a reference (tangent.h; Lynch & Park
 * 2017, ch. 3). */
#include "tangent.h"
#include "dynamics/math/double_double.h"
#include "dynamics/math/elementary.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

/* Sets x to the rotation vector of the unit quaternion d = (x, y, z, w), |x| at most pi. */
static void rotation_vector_of(const double d[4], double x[3])
{
    const double sign = d[3] < 0 ? -1 : 1, sine = dyn_norm(d), cosine = sign * d[3];
    const double factor = sign * (sine > 0 ? 2 * dyn_atan2(sine, cosine) / sine : 2);
    for (int i = 0; i < 3; i++)
        x[i] = factor * d[i];
}

/* Sets out = conj(a) b, the rotation from a to b as a unit quaternion. */
static void quaternion_between(const double a[4], const double b[4], double out[4])
{
    double cross[3];
    dyn_cross(a, b, cross);
    for (int i = 0; i < 3; i++)
        out[i] = a[3] * b[i] - b[3] * a[i] - cross[i];
    out[3] = a[3] * b[3] + dyn_dot(a, b);
}

void dyn_tangent_difference(const dyn_body *body, const double *reference, const double *q, size_t stride, double *dx)
{
    const int quaternion = dyn_quaternion_offset(body);
    if (quaternion < 0) {
        dx[0] = q[0] - reference[0];
        return;
    }
    double now[4], turn[4];
    for (int i = 0; i < 4; i++)
        now[i] = q[(size_t)(quaternion + i) * stride];
    quaternion_between(reference + quaternion, now, turn);
    rotation_vector_of(turn, dx + quaternion);
    if (quaternion == 0) return;
    const double  *r       = reference + quaternion;
    const dyn_pose X       = dyn_pose_wxyz((double[]){r[3], r[0], r[1], r[2]});
    const double   away[3] = {q[0] - reference[0], q[stride] - reference[1], q[2 * stride] - reference[2]};
    for (int i = 0; i < 3; i++)
        dx[i] = X.R[0][i] * away[0] + X.R[1][i] * away[1] +
                X.R[2][i] * away[2]; /* translation R_ref^T (p - p_ref) in the axes of the reference */
}

/* Returns (1 - a/2 cot(a/2)) / a^2 of an angle a with a^2 = s; half_sine and half_cosine are sine and cosine of a/2. */
static double inverse_factor(double s, double half_sine, double half_cosine)
{
    if (s < 1e-2) return 1.0 / 12 + s * (1.0 / 720 + s * (1.0 / 30240 + s * (1.0 / 1209600 + s / 47900160)));
    return (1 - 0.5 * sqrt(s) * half_cosine / half_sine) / s;
}

/* Adds factor [x] to M. */
static void add_scaled_skew(double factor, const double x[3], double M[3][3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        M[j][k] -= factor * x[i];
        M[k][j] += factor * x[i];
    }
}

/* Adds factor [x]^2 = factor (x x^T - s 1) to M. */
static void add_skew_square(double factor, const double x[3], double M[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] += factor * (x[i] * x[j] - (i == j ? dyn_dot(x, x) : 0));
}

void dyn_tangent_derivative(const dyn_body *body, const double *dx, double J[DYN_TANGENT_MOST][DYN_TANGENT_MOST])
{
    const int quaternion = dyn_quaternion_offset(body);
    memset(J, 0, DYN_TANGENT_MOST * sizeof *J);
    if (quaternion < 0) {
        J[0][0] = 1;
        return;
    }
    const double *x = dx + quaternion, s = dyn_dot(x, x), angle = sqrt(s);
    double        half_sine, half_cosine;
    dyn_sine_cosine(0.5 * angle, &half_sine, &half_cosine);
    double by_w[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    add_scaled_skew(0.5, x, by_w);
    add_skew_square(inverse_factor(s, half_sine, half_cosine), x, by_w);
    add_scaled_skew(angle > 0 ? 2 * half_sine * half_cosine / angle : 1, x, turn);
    add_skew_square(angle > 0 ? 2 * half_sine * half_sine / s : 0.5, x, turn);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            J[quaternion + i][quaternion + j] = by_w[i][j];
            if (quaternion > 0) J[i][j] = turn[i][j];
        }
}

/* Returns the derivative of inverse_factor with respect to s. */
static double inverse_factor_slope(double s, double half_sine, double half_cosine)
{
    if (s < 0.25)
        return 1.0 / 720 +
               s * (2.0 / 30240 + s * (3.0 / 1209600 +
                                       s * (4.0 / 47900160 + s * (5 * 691.0 / 1307674368000 + s * 6.0 / 74724249600))));
    const double angle = sqrt(s), factor = inverse_factor(s, half_sine, half_cosine);
    return -(half_cosine / (4 * angle * half_sine) - 1 / (8 * half_sine * half_sine) + factor) / s;
}

/* Adds factor ([a][b] + [b][a]) to M. */
static void add_skew_pair(double factor, const double a[3], const double b[3], double M[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] += factor * (a[i] * b[j] + b[i] * a[j] - (i == j ? 2 * dyn_dot(a, b) : 0));
}

void dyn_tangent_derivative_rate(const dyn_body *body, const double *dx, const double *e,
                                 double rate[DYN_TANGENT_MOST][DYN_TANGENT_MOST])
{
    const int quaternion = dyn_quaternion_offset(body);
    memset(rate, 0, DYN_TANGENT_MOST * sizeof *rate);
    if (quaternion < 0) return;
    const double *x = dx + quaternion, *w = e + quaternion, s = dyn_dot(x, x);
    double        J[DYN_TANGENT_MOST][DYN_TANGENT_MOST], half_sine, half_cosine, change[3], by_w[3][3] = {{0}};
    dyn_sine_cosine(0.5 * sqrt(s), &half_sine, &half_cosine);
    dyn_tangent_derivative(body, dx, J);
    for (int i = 0; i < 3; i++)
        change[i] = dyn_dot(J[quaternion + i] + quaternion, w);
    add_scaled_skew(0.5, change, by_w);
    add_skew_square(2 * dyn_dot(x, change) * inverse_factor_slope(s, half_sine, half_cosine), x, by_w);
    add_skew_pair(inverse_factor(s, half_sine, half_cosine), change, x, by_w);
    for (int i = 0; i < 3; i++) {
        double turn[3]; /* row i of R_ref^T R [w], the change of R_ref^T R with the orientation change w */
        dyn_cross(J[i], w, turn);
        for (int j = 0; j < 3; j++) {
            rate[quaternion + i][quaternion + j] = by_w[i][j];
            if (quaternion > 0) rate[i][j] = turn[j];
        }
    }
}
