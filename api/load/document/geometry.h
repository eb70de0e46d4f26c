/* geometry.h - vectors of three, rotations, and poses from the forms in which documents give them. X_ab is the pose of
 * frame b in frame a; figures are used as they are: nothing is snapped to a nearby zero or right angle. */
#pragma once
#include "dynamics/model/model.h"

typedef enum api_axis { API_X, API_Y, API_Z } api_axis;

dyn_pose api_pose_identity(void);
dyn_pose api_pose_translation(double x, double y, double z);           /* m, pure translation */
dyn_pose api_pose_rotation(api_axis axis, double angle);               /* rad, pure rotation about a coordinate axis */
dyn_pose api_pose_rpy(const double xyz[3], const double rpy[3]);       /* R = Rz(y) Ry(p) Rx(r), p = xyz */
dyn_pose api_pose_compose(const dyn_pose *X_ab, const dyn_pose *X_bc); /* X_ac */

/* How far R is from a rotation: the largest entry of |R^T R - 1|; infinite for a reflection or NaN. */
double api_rotation_error(const double R[3][3]);
/* The rotation next to R, which must be within 1e-3 of one. */
void api_rotation_orthonormalise(double R[3][3]);

#define API_QUATERNION_TOLERANCE 1e-6 /* of its length */

/* A quaternion x y z w, entries `stride` apart, that is of unit length within the tolerance becomes so to rounding;
 * *norm is what it was. False: it is not, and stays. */
bool api_quaternion_normalise(double *quaternion, size_t stride, double *norm);

/* Length of a vector; neither overflows nor underflows on the way. */
double api_length(const double v[3]);

static inline double api_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a x b, which may be neither of the two */
static inline void api_cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Three entries that are `stride` apart, as those of one lane are, times `factor`. */
static inline void api_get3(const double *from, size_t stride, double factor, double v[3])
{
    for (size_t i = 0; i < 3; i++)
        v[i] = factor * from[i * stride];
}
