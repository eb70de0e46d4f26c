/* acceleration_matrix.h - computes the acceleration matrix U = [wd x] + [w x]^2, which maps a point of a body to its
 * acceleration relative to the body's origin, its rate U', and the inertial wrench of a body (Khalil 2010, eqs.
 * 18-31). */
#pragma once
#include "workspace.h"

/* The matrix U = [wd x] + [w x]^2. Its diagonal is never positive; xx and yy are the diagonal entries with the sign
 * changed. The third one, zz, is rarely used and not stored; y_z = yy - zz and z_x = zz - xx are stored instead. */
typedef struct acceleration_matrix {
    lane xx, yy, y_z, z_x, xy, yx, xz, zx, yz, zy;
} acceleration_matrix;

LANE_INLINE lane acceleration_zz(const acceleration_matrix *U)
{
    return U->yy - U->y_z;
}

LANE_INLINE acceleration_matrix acceleration_matrix_of(vec3 w, vec3 wd)
{
    lane xx = w.x * w.x, yy = w.y * w.y;
    return (acceleration_matrix){.xx  = add_mul(yy, w.z, w.z),
                                 .yy  = add_mul(xx, w.z, w.z),
                                 .y_z = add_mul(-yy, w.z, w.z),
                                 .z_x = sub_mul(xx, w.z, w.z),
                                 .xy  = add_mul(-wd.z, w.x, w.y),
                                 .yx  = add_mul(wd.z, w.x, w.y),
                                 .xz  = add_mul(wd.y, w.x, w.z),
                                 .zx  = add_mul(-wd.y, w.x, w.z),
                                 .yz  = add_mul(-wd.x, w.y, w.z),
                                 .zy  = add_mul(wd.x, w.y, w.z)};
}

/* Returns U' = [wdd x] + [wd x][w x] + [w x][wd x], the rate of the matrix U. */
LANE_INLINE acceleration_matrix acceleration_matrix_rate(vec3 w, vec3 wd, vec3 wdd)
{
    lane xx = (w.x + w.x) * wd.x, yy = (w.y + w.y) * wd.y, zz = (w.z + w.z) * wd.z;
    lane xy = add_mul(w.x * wd.y, wd.x, w.y), xz = add_mul(w.x * wd.z, wd.x, w.z), yz = add_mul(w.y * wd.z, wd.y, w.z);
    return (acceleration_matrix){.xx  = yy + zz,
                                 .yy  = xx + zz,
                                 .y_z = zz - yy,
                                 .z_x = xx - zz,
                                 .xy  = xy - wdd.z,
                                 .yx  = xy + wdd.z,
                                 .xz  = xz + wdd.y,
                                 .zx  = xz - wdd.y,
                                 .yz  = yz - wdd.x,
                                 .zy  = yz + wdd.x};
}

/* Returns s + U p: the acceleration of the point p of a body, in the body's axes, if s is the acceleration of its
 * origin. */
LANE_INLINE vec3 acceleration_of_point(vec3 s, const acceleration_matrix *U, vec3 p)
{
    return (vec3){sub_mul(add_mul(add_mul(s.x, U->xy, p.y), U->xz, p.z), U->xx, p.x),
                  sub_mul(add_mul(add_mul(s.y, U->yx, p.x), U->yz, p.z), U->yy, p.y),
                  sub_mul(add_mul(add_mul(s.z, U->zx, p.x), U->zy, p.y), acceleration_zz(U), p.z)};
}
/* Returns s + U p like acceleration_of_point, where p is a constant of the model; components of p that are not flagged
 * in `along` count as zero. */
LANE_INLINE vec3 acceleration_of_offset(vec3 s, const acceleration_matrix *U, const double p[3], unsigned along)
{
    if (along & DYN_ALONG_X)
        s = (vec3){sub_mul(s.x, p[0], U->xx), add_mul(s.y, p[0], U->yx), add_mul(s.z, p[0], U->zx)};
    if (along & DYN_ALONG_Y)
        s = (vec3){add_mul(s.x, p[1], U->xy), sub_mul(s.y, p[1], U->yy), add_mul(s.z, p[1], U->zy)};
    if (along & DYN_ALONG_Z)
        s = (vec3){add_mul(s.x, p[2], U->xz), add_mul(s.y, p[2], U->yz), sub_mul(s.z, p[2], acceleration_zz(U))};
    return s;
}

/* Returns the inertial wrench (f; n) about the origin of a body with mass moments m, h, E, whose origin has
 * acceleration a:
 *     f = m a + U h;  n = h x a + int r x (U r) dm. The integral is the vector e with [e x] = U E - (U E)^T.
 * The wrench is linear in a and U, so its rate is the same function of the rates a' and U'. `revolute`: m, h.z and E.zz
 * are zero. */
LANE_INLINE wrench inertial_wrench(const dyn_moments *moments, vec3 a, const acceleration_matrix *U, bool revolute)
{
    const double *h = moments->h, *E = moments->E; /* E: xx xy xz yy yz zz */
    wrench        w;
    w.f   = (vec3){sub_mul(h[1] * U->xy, h[0], U->xx), sub_mul(h[0] * U->yx, h[1], U->yy),
                   add_mul(h[0] * U->zx, h[1], U->zy)};
    w.n.x = add_mul(sub_mul(add_mul(E[1] * U->zx, E[3], U->zy), E[2], U->yx), E[4], U->y_z);
    w.n.y = add_mul(sub_mul(sub_mul(E[4] * U->xy, E[1], U->zy), E[0], U->zx), E[2], U->z_x);
    w.n.z = sub_mul(add_mul(sub_mul(E[2] * U->yz, E[4], U->xz), E[0], U->yx), E[3], U->xy);
    w.n   = (vec3){add_mul(w.n.x, h[1], a.z), sub_mul(w.n.y, h[0], a.z),
                   sub_mul(add_mul(add_mul(w.n.z, E[1], U->xx - U->yy), h[0], a.y), h[1], a.x)};
    if (revolute) return w;
    w.f   = (vec3){add_mul(add_mul(w.f.x, moments->mass, a.x), h[2], U->xz),
                   add_mul(add_mul(w.f.y, moments->mass, a.y), h[2], U->yz),
                   sub_mul(add_mul(w.f.z, moments->mass, a.z), h[2], acceleration_zz(U))};
    w.n.x = sub_mul(sub_mul(w.n.x, E[5], U->yz), h[2], a.y);
    w.n.y = add_mul(add_mul(w.n.y, E[5], U->xz), h[2], a.x);
    return w;
}

/* Returns the inertial wrench (see inertial_wrench) of the mass on the z axis of a body; axis_moments are m, h.z and
 * E.zz of this mass. */
LANE_INLINE wrench axis_inertial_wrench(const double axis_moments[3], vec3 a, const acceleration_matrix *U)
{
    double m = axis_moments[0], h = axis_moments[1], E = axis_moments[2];
    return (wrench){
        .f = {add_mul(m * a.x, h, U->xz), add_mul(m * a.y, h, U->yz), sub_mul(m * a.z, h, acceleration_zz(U))},
        .n = {-add_mul(E * U->yz, h, a.y), add_mul(E * U->xz, h, a.x), lane_of(0)}};
}
