/* geometry.h - computes with 3-vectors, rotations and poses in the forms that robot documents use. X_ab is the pose of
 * frame b in frame a. Nothing is rounded to a nearby zero or right angle. */
#pragma once
#include "dynamics/model/model.h"

typedef enum dyn_axis { DYN_X, DYN_Y, DYN_Z } dyn_axis;

dyn_pose dyn_pose_identity(void);
dyn_pose dyn_pose_translation(double x, double y, double z);     /* a pure translation, in m */
dyn_pose dyn_pose_rotation(dyn_axis axis, double angle);         /* a pure rotation about a coordinate axis, in rad */
dyn_pose dyn_pose_rpy(const double xyz[3], const double rpy[3]); /* R = Rz(yaw) Ry(pitch) Rx(roll), p = xyz */
dyn_pose dyn_pose_compose(const dyn_pose *X_ab, const dyn_pose *X_bc); /* X_ac = X_ab X_bc */
dyn_pose dyn_pose_inverse(const dyn_pose *X_ab);                       /* X_ba */
bool     dyn_pose_is_identity(const dyn_pose *X);                      /* exactly */

/* A pure rotation by `angle` (rad) about a vector `u` of length 1. */
dyn_pose dyn_pose_about(const double u[3], double angle);
/* A pure rotation by a unit quaternion w x y z. */
dyn_pose dyn_pose_wxyz(const double quaternion[4]);

/* Roll, pitch and yaw of a rotation, as dyn_pose_rpy takes them; exact to rounding for every rotation. */
void dyn_rpy_of(const double R[3][3], double rpy[3]);
/* Unit quaternion x y z w of a rotation, with w >= 0. */
void dyn_quaternion_of(const double R[3][3], double quaternion[4]);

/* Distance of R from a rotation: the largest entry of |R^T R - 1|; infinite for a reflection or NaN. */
double dyn_rotation_error(const double R[3][3]);
/* Replaces R by the nearest rotation. The caller ensures that dyn_rotation_error(R) is at most 1e-3. */
void dyn_rotation_orthonormalise(double R[3][3]);

#define DYN_QUATERNION_TOLERANCE 1e-6 /* tolerance of the length of a quaternion */

/* Normalises a quaternion x y z w, entries `stride` apart, if its length is 1 within the tolerance; *norm receives the
 * old length. Returns false, and leaves the quaternion unchanged, if the length is not 1. */
bool dyn_quaternion_normalise(double *quaternion, size_t stride, double *norm);

/* Normalises a quaternion of any length. Returns false, and leaves the quaternion unchanged, if the length is zero or
 * not finite. */
bool dyn_quaternion_normalise_any(double *quaternion, size_t stride, double *norm);

/* Euclidean length of a vector, without intermediate overflow or underflow. */
double dyn_norm(const double v[3]);

static inline double dyn_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a x b; `out` must not be a or b. */
static inline void dyn_cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Copies three entries that are `stride` apart (the entries of one lane), times `factor`. */
static inline void dyn_get3(const double *from, size_t stride, double factor, double v[3])
{
    for (size_t i = 0; i < 3; i++)
        v[i] = factor * from[i * stride];
}
