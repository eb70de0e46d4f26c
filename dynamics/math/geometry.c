/* geometry.c - see geometry.h: poses, and the nearest rotation or unit quaternion. */
#include "geometry.h"
#include "double_double.h"
#include "elementary.h"
#include <math.h>
#include <string.h>

dyn_pose dyn_pose_identity(void)
{
    return (dyn_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

dyn_pose dyn_pose_translation(double x, double y, double z)
{
    dyn_pose X = dyn_pose_identity();
    X.p[0]     = x;
    X.p[1]     = y;
    X.p[2]     = z;
    return X;
}

dyn_pose dyn_pose_rotation(dyn_axis axis, double angle)
{
    dyn_pose          X = dyn_pose_identity();
    int               i = ((int)axis + 1) % 3, j = ((int)axis + 2) % 3;
    dyn_double_double c, s;
    dyn_cosine_sine(angle, &c, &s);
    X.R[i][i] = c.high;
    X.R[i][j] = -s.high;
    X.R[j][i] = s.high;
    X.R[j][j] = c.high;
    return X;
}

dyn_pose dyn_pose_compose(const dyn_pose *X_ab, const dyn_pose *X_bc)
{
    dyn_pose X = {0};
    for (int i = 0; i < 3; i++) {
        const double *row = X_ab->R[i];
        for (int j = 0; j < 3; j++)
            X.R[i][j] = row[0] * X_bc->R[0][j] + row[1] * X_bc->R[1][j] + row[2] * X_bc->R[2][j];
        X.p[i] = X_ab->p[i] + (row[0] * X_bc->p[0] + row[1] * X_bc->p[1] + row[2] * X_bc->p[2]);
    }
    return X;
}

dyn_pose dyn_pose_inverse(const dyn_pose *X_ab)
{
    dyn_pose X;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            X.R[i][j] = X_ab->R[j][i];
        X.p[i] = 0 - (X.R[i][0] * X_ab->p[0] + X.R[i][1] * X_ab->p[1] + X.R[i][2] * X_ab->p[2]);
    }
    return X;
}

bool dyn_pose_is_identity(const dyn_pose *X)
{
    for (int i = 0; i < 3; i++) {
        if (X->p[i] != 0) return false;
        for (int j = 0; j < 3; j++)
            if (X->R[i][j] != (i == j)) return false;
    }
    return true;
}

/* Computes R by Rodrigues' formula: R = cos a 1 + sin a [u]x + (1 - cos a) u u^T, with the angle a. */
dyn_pose dyn_pose_about(const double u[3], double angle)
{
    dyn_pose          X = dyn_pose_identity();
    dyn_double_double c, s;
    dyn_cosine_sine(angle, &c, &s);
    const double skew[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            X.R[i][j] = (i == j ? c.high : 0) + s.high * skew[i][j] + (1 - c.high) * u[i] * u[j];
    return X;
}

dyn_pose dyn_pose_wxyz(const double q[4])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    return (dyn_pose){.R = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

/* Finds the yaw first, then roll and pitch from R with the yaw undone. This is accurate also if the pitch is near 90
 * degrees. */
void dyn_rpy_of(const double R[3][3], double rpy[3])
{
    double s, c;
    rpy[2] = dyn_atan2(R[1][0], R[0][0]);
    dyn_sine_cosine(rpy[2], &s, &c);
    rpy[1] = dyn_atan2(-R[2][0], c * R[0][0] + s * R[1][0]);
    rpy[0] = dyn_atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1]);
    for (int i = 0; i < 3; i++)
        rpy[i] += 0.0; /* -0 becomes 0 */
}

/* Computes first the quaternion entry of largest square, which is at least 1/4, so that the square root loses no digits
 * (Shepperd 1978). */
void dyn_quaternion_of(const double R[3][3], double q[4])
{
    double trace = R[0][0] + R[1][1] + R[2][2];
    int    i     = R[1][1] > R[0][0] ? 1 : 0;
    if (R[2][2] > R[i][i]) i = 2;
    if (trace >= R[i][i]) {
        double r = sqrt(1 + trace), f = 0.5 / r;
        q[0] = (R[2][1] - R[1][2]) * f, q[1] = (R[0][2] - R[2][0]) * f, q[2] = (R[1][0] - R[0][1]) * f, q[3] = 0.5 * r;
        return;
    }
    int    j = (i + 1) % 3, k = (i + 2) % 3;
    double r = sqrt(1 + R[i][i] - R[j][j] - R[k][k]), w = R[k][j] - R[j][k], f = copysign(0.5 / r, w);
    q[i] = f * r * r;
    q[j] = (R[j][i] + R[i][j]) * f;
    q[k] = (R[k][i] + R[i][k]) * f;
    q[3] = w * f;
}

dyn_pose dyn_pose_rpy(const double xyz[3], const double rpy[3])
{
    dyn_pose roll = dyn_pose_rotation(DYN_X, rpy[0]), pitch = dyn_pose_rotation(DYN_Y, rpy[1]);
    dyn_pose X = dyn_pose_rotation(DYN_Z, rpy[2]);
    X          = dyn_pose_compose(&X, &pitch);
    X          = dyn_pose_compose(&X, &roll);
    memcpy(X.p, xyz, sizeof X.p);
    return X;
}

/* RtR = R^T R */
static void gram(const double R[3][3], double RtR[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RtR[i][j] = R[0][i] * R[0][j] + R[1][i] * R[1][j] + R[2][i] * R[2][j];
}

double dyn_rotation_error(const double R[3][3])
{
    double RtR[3][3], error = 0;
    gram(R, RtR);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double off = fabs(RtR[i][j] - (i == j));
            if (!(off <= error)) error = isnan(off) ? INFINITY : off;
        }
    double det = R[0][0] * (R[1][1] * R[2][2] - R[1][2] * R[2][1]) - R[0][1] * (R[1][0] * R[2][2] - R[1][2] * R[2][0]) +
                 R[0][2] * (R[1][0] * R[2][1] - R[1][1] * R[2][0]);
    return det > 0 ? error : INFINITY;
}

/* Newton-Schulz iteration: R <- R (3 - R^T R) / 2 converges quadratically to the orthogonal polar factor of R. */
void dyn_rotation_orthonormalise(double R[3][3])
{
    for (int step = 0; step < 4; step++) {
        double RtR[3][3], old[3][3];
        gram((const double(*)[3])R, RtR);
        memcpy(old, R, sizeof old);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double product = old[i][0] * RtR[0][j] + old[i][1] * RtR[1][j] + old[i][2] * RtR[2][j];
                R[i][j]        = 1.5 * old[i][j] - 0.5 * product;
            }
    }
}

double dyn_norm(const double v[3])
{
    double scale = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (scale == 0 || (scale > 1e-140 && scale < 1e140)) return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double x = v[0] / scale, y = v[1] / scale, z = v[2] / scale;
    return scale * sqrt(x * x + y * y + z * z);
}

/* Normalises a quaternion if its length differs from 1 by at most `tolerance`. */
static bool normalise_within(double tolerance, double *quaternion, size_t stride, double *norm)
{
    double *x = quaternion, *y = x + stride, *z = y + stride, *w = z + stride;
    *norm = sqrt(*x * *x + *y * *y + *z * *z + *w * *w);
    if (!(fabs(*norm - 1) <= tolerance) || !(*norm > 0) || isinf(*norm)) return false;
    *x /= *norm;
    *y /= *norm;
    *z /= *norm;
    *w /= *norm;
    return true;
}

bool dyn_quaternion_normalise(double *quaternion, size_t stride, double *norm)
{
    return normalise_within(DYN_QUATERNION_TOLERANCE, quaternion, stride, norm);
}

bool dyn_quaternion_normalise_any(double *quaternion, size_t stride, double *norm)
{
    return normalise_within(INFINITY, quaternion, stride, norm);
}
