/* spatial.h - defines vectors and matrices of lanes. All functions take and return values, and are inlined. The
 * components of a vec3 are lanes; constants of the model are plain doubles, such as `const double [3]`. */
#pragma once
#include "lane.h"
#include "dynamics/model/model.h"

typedef struct vec3 {
    lane x, y, z;
} vec3;
typedef struct sym3 { /* symmetric 3 x 3 matrix */
    lane xx, xy, xz, yy, yz, zz;
} sym3;
typedef struct mat3 { /* 3 x 3 matrix, row-major */
    lane m[3][3];
} mat3;
typedef struct twist { /* motion: linear velocity (or acceleration) v of the frame's origin, and angular velocity (or
                          acceleration) w */
    vec3 v, w;
} twist;
typedef struct wrench { /* force, and moment about the frame's origin */
    vec3 f, n;
} wrench;

LANE_INLINE vec3 vec3_of(const double a[3])
{
    return (vec3){lane_of(a[0]), lane_of(a[1]), lane_of(a[2])};
}
LANE_INLINE vec3 vec3_zero(void)
{
    return (vec3){lane_of(0), lane_of(0), lane_of(0)};
}
LANE_INLINE vec3 load3(const lane *a)
{
    return (vec3){a[0], a[1], a[2]};
}
/* Returns entries `first` to `first` + 2 of an array, or zeros if the array is NULL. */
LANE_INLINE vec3 load3_from(const lane *a, int first)
{
    return a ? load3(a + first) : vec3_zero();
}
LANE_INLINE void store3(lane *a, vec3 v)
{
    a[0] = v.x;
    a[1] = v.y;
    a[2] = v.z;
}
LANE_INLINE vec3 add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
LANE_INLINE vec3 sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
LANE_INLINE vec3 scale(vec3 a, lane k)
{
    return (vec3){a.x * k, a.y * k, a.z * k};
}
/* s + k a; k is a lane or a constant of the model */
LANE_INLINE vec3 add_scaled(vec3 s, vec3 a, lane k)
{
    return (vec3){add_mul(s.x, k, a.x), add_mul(s.y, k, a.y), add_mul(s.z, k, a.z)};
}
LANE_INLINE vec3 times(double k, vec3 a) /* k is a constant of the model */
{
    return (vec3){k * a.x, k * a.y, k * a.z};
}
/* a v.x + b v.y + c v.z; a, b and c are lanes or constants of the model */
#define dot3(a, b, c, v) add_mul(add_mul((a) * (v).x, b, (v).y), c, (v).z)
LANE_INLINE lane dot(vec3 a, vec3 b)
{
    return dot3(a.x, a.y, a.z, b);
}
LANE_INLINE vec3 cross(vec3 a, vec3 b)
{
    return (vec3){sub_mul(a.y * b.z, a.z, b.y), sub_mul(a.z * b.x, a.x, b.z), sub_mul(a.x * b.y, a.y, b.x)};
}
/* s + a x b */
LANE_INLINE vec3 cross_add(vec3 s, vec3 a, vec3 b)
{
    return (vec3){sub_mul(add_mul(s.x, a.y, b.z), a.z, b.y), sub_mul(add_mul(s.y, a.z, b.x), a.x, b.z),
                  sub_mul(add_mul(s.z, a.x, b.y), a.y, b.x)};
}
/* s + a x r, where r is a constant of the model */
LANE_INLINE vec3 cross_const_add(vec3 s, vec3 a, const double r[3])
{
    return (vec3){sub_mul(add_mul(s.x, r[2], a.y), r[1], a.z), sub_mul(add_mul(s.y, r[0], a.z), r[2], a.x),
                  sub_mul(add_mul(s.z, r[1], a.x), r[0], a.y)};
}
/* s + r x b, where r is a constant of the model; components of r not flagged in `along` (DYN_ALONG_X ...) count as
 * zero */
LANE_INLINE vec3 offset_cross_add(vec3 s, const double r[3], unsigned along, vec3 b)
{
    if (along & DYN_ALONG_X) s = (vec3){s.x, sub_mul(s.y, r[0], b.z), add_mul(s.z, r[0], b.y)};
    if (along & DYN_ALONG_Y) s = (vec3){add_mul(s.x, r[1], b.z), s.y, sub_mul(s.z, r[1], b.x)};
    if (along & DYN_ALONG_Z) s = (vec3){sub_mul(s.x, r[2], b.y), add_mul(s.y, r[2], b.x), s.z};
    return s;
}
LANE_INLINE sym3 sym3_add(sym3 a, sym3 b)
{
    return (sym3){a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
/* Returns a pointer to entry (i, j) of a symmetric matrix; i and j are constants of the inlined code. */
LANE_INLINE lane *sym3_at(sym3 *s, int i, int j)
{
    if (i == j) return i == 0 ? &s->xx : i == 1 ? &s->yy : &s->zz;
    return i + j == 1 ? &s->xy : i + j == 2 ? &s->xz : &s->yz;
}
LANE_INLINE vec3 sym3_mul(sym3 s, vec3 v)
{
    return (vec3){dot3(s.xx, s.xy, s.xz, v), dot3(s.xy, s.yy, s.yz, v), dot3(s.xz, s.yz, s.zz, v)};
}
LANE_INLINE vec3 mat3_column(const mat3 *a, int k)
{
    return (vec3){a->m[0][k], a->m[1][k], a->m[2][k]};
}
LANE_INLINE vec3 mat3_mul(const mat3 *a, vec3 v)
{
    return (vec3){dot(load3(a->m[0]), v), dot(load3(a->m[1]), v), dot(load3(a->m[2]), v)};
}
/* s - a v */
LANE_INLINE vec3 mat3_sub_mul(vec3 s, const mat3 *a, vec3 v)
{
    s = add_scaled(s, mat3_column(a, 0), -v.x);
    s = add_scaled(s, mat3_column(a, 1), -v.y);
    return add_scaled(s, mat3_column(a, 2), -v.z);
}
LANE_INLINE vec3 mat3_mul_transposed(const mat3 *a, vec3 v)
{
    return (vec3){dot(mat3_column(a, 0), v), dot(mat3_column(a, 1), v), dot(mat3_column(a, 2), v)};
}
/* A B, where A is a constant of the model */
LANE_INLINE mat3 const_mat3_mul(const double A[3][3], const mat3 *B)
{
    mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[i][j] = dot3(A[i][0], A[i][1], A[i][2], mat3_column(B, j));
    return C;
}
/* R A R^T */
LANE_INLINE mat3 mat3_rotate(const mat3 *R, const mat3 *A)
{
    mat3 RA, out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RA.m[i][j] = dot(load3(R->m[i]), mat3_column(A, j));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = dot(load3(RA.m[i]), load3(R->m[j]));
    return out;
}
/* R S R^T */
LANE_INLINE sym3 sym3_rotate(const mat3 *R, sym3 S)
{
    const vec3 x = {R->m[0][0], R->m[0][1], R->m[0][2]}, y = {R->m[1][0], R->m[1][1], R->m[1][2]},
               z  = {R->m[2][0], R->m[2][1], R->m[2][2]};
    const vec3 Sx = sym3_mul(S, x), Sy = sym3_mul(S, y), Sz = sym3_mul(S, z);
    return (sym3){dot(x, Sx), dot(x, Sy), dot(x, Sz), dot(y, Sy), dot(y, Sz), dot(z, Sz)};
}
/* s - a^T v */
LANE_INLINE vec3 mat3_sub_mul_transposed(vec3 s, const mat3 *a, vec3 v)
{
    s = add_scaled(s, load3(a->m[0]), -v.x);
    s = add_scaled(s, load3(a->m[1]), -v.y);
    return add_scaled(s, load3(a->m[2]), -v.z);
}
/* R v (rotate_const) and R^T v (unrotate_const), where R is a constant of the model */
LANE_INLINE vec3 rotate_const(const double R[3][3], vec3 v)
{
    return (vec3){dot3(R[0][0], R[0][1], R[0][2], v), dot3(R[1][0], R[1][1], R[1][2], v),
                  dot3(R[2][0], R[2][1], R[2][2], v)};
}
LANE_INLINE vec3 unrotate_const(const double R[3][3], vec3 v)
{
    return (vec3){dot3(R[0][0], R[1][0], R[2][0], v), dot3(R[0][1], R[1][1], R[2][1], v),
                  dot3(R[0][2], R[1][2], R[2][2], v)};
}
LANE_INLINE wrench wrench_add(wrench a, wrench b)
{
    return (wrench){add(a.f, b.f), add(a.n, b.n)};
}
LANE_INLINE wrench wrench_sub(wrench a, wrench b)
{
    return (wrench){sub(a.f, b.f), sub(a.n, b.n)};
}
/* Returns the twist u with its reference point moved to p: v + w x p. Components of p not flagged in `along` count as
 * zero. */
LANE_INLINE twist twist_at(twist u, const double p[3], unsigned along)
{
    if (along & DYN_ALONG_X) u.v = (vec3){u.v.x, add_mul(u.v.y, p[0], u.w.z), sub_mul(u.v.z, p[0], u.w.y)};
    if (along & DYN_ALONG_Y) u.v = (vec3){sub_mul(u.v.x, p[1], u.w.z), u.v.y, add_mul(u.v.z, p[1], u.w.x)};
    if (along & DYN_ALONG_Z) u.v = (vec3){add_mul(u.v.x, p[2], u.w.y), sub_mul(u.v.y, p[2], u.w.x), u.v.z};
    return u;
}
