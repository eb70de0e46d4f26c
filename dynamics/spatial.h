/* spatial.h - vectors and matrices of lanes. Everything by value, everything inlined.
 * vec3 in lanes, constants of the model as const double [3] and alike. */
#pragma once
#include "lane.h"

typedef struct vec3 {
    lane x, y, z;
} vec3;
typedef struct sym3 { /* symmetric */
    lane xx, xy, xz, yy, yz, zz;
} sym3;
typedef struct mat3 { /* row-major */
    lane m[3][3];
} mat3;
typedef struct twist { /* a motion: of the frame's origin, and angular */
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
/* three entries from `first` on of an array that may be NULL, which is zeros */
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
LANE_INLINE vec3 times(double k, vec3 a) /* by a constant of the model */
{
    return (vec3){k * a.x, k * a.y, k * a.z};
}
LANE_INLINE lane dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
LANE_INLINE vec3 cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* s + a x b */
LANE_INLINE vec3 cross_add(vec3 s, vec3 a, vec3 b)
{
    return (vec3){s.x + a.y * b.z - a.z * b.y, s.y + a.z * b.x - a.x * b.z, s.z + a.x * b.y - a.y * b.x};
}
/* s + r x b and s + a x r, r a constant of the model */
LANE_INLINE vec3 const_cross_add(vec3 s, const double r[3], vec3 b)
{
    return (vec3){s.x + r[1] * b.z - r[2] * b.y, s.y + r[2] * b.x - r[0] * b.z, s.z + r[0] * b.y - r[1] * b.x};
}
LANE_INLINE vec3 cross_const_add(vec3 s, vec3 a, const double r[3])
{
    return (vec3){s.x + a.y * r[2] - a.z * r[1], s.y + a.z * r[0] - a.x * r[2], s.z + a.x * r[1] - a.y * r[0]};
}
/* s + r x b, r an offset of the model: along one or two axes in most robots, and what is zero there costs nothing */
LANE_INLINE vec3 offset_cross_add(vec3 s, const double r[3], vec3 b)
{
    if (r[0] != 0) s = (vec3){s.x, s.y - r[0] * b.z, s.z + r[0] * b.y};
    if (r[1] != 0) s = (vec3){s.x + r[1] * b.z, s.y, s.z - r[1] * b.x};
    if (r[2] != 0) s = (vec3){s.x - r[2] * b.y, s.y + r[2] * b.x, s.z};
    return s;
}
LANE_INLINE sym3 sym3_add(sym3 a, sym3 b)
{
    return (sym3){a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
LANE_INLINE vec3 sym3_mul(sym3 s, vec3 v)
{
    return (vec3){s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                  s.xz * v.x + s.yz * v.y + s.zz * v.z};
}
LANE_INLINE vec3 sym3_mul_xy(const sym3 *s, lane x, lane y) /* by (x, y, 0), as below */
{
    return (vec3){s->xx * x + s->xy * y, s->xy * x + s->yy * y, s->xz * x + s->yz * y};
}
LANE_INLINE vec3 mat3_column(const mat3 *a, int k)
{
    return (vec3){a->m[0][k], a->m[1][k], a->m[2][k]};
}
LANE_INLINE vec3 mat3_mul(const mat3 *a, vec3 v)
{
    return (vec3){a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                  a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                  a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z};
}
LANE_INLINE vec3 mat3_mul_transposed(const mat3 *a, vec3 v)
{
    return (vec3){a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                  a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                  a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z};
}
/* A B, A a constant of the model */
LANE_INLINE mat3 const_mat3_mul(const double A[3][3], const mat3 *B)
{
    mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[i][j] = A[i][0] * B->m[0][j] + A[i][1] * B->m[1][j] + A[i][2] * B->m[2][j];
    return C;
}
/* R A R^T */
LANE_INLINE mat3 mat3_rotate(const mat3 *R, const mat3 *A)
{
    mat3 RA, out; /* rows of R A */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RA.m[i][j] = R->m[i][0] * A->m[0][j] + R->m[i][1] * A->m[1][j] + R->m[i][2] * A->m[2][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = RA.m[i][0] * R->m[j][0] + RA.m[i][1] * R->m[j][1] + RA.m[i][2] * R->m[j][2];
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
LANE_INLINE vec3 mat3_mul_xy(const mat3 *a, lane x, lane y)
{
    return (vec3){a->m[0][0] * x + a->m[0][1] * y, a->m[1][0] * x + a->m[1][1] * y, a->m[2][0] * x + a->m[2][1] * y};
}
LANE_INLINE vec3 mat3_mul_transposed_xy(const mat3 *a, lane x, lane y)
{
    return (vec3){a->m[0][0] * x + a->m[1][0] * y, a->m[0][1] * x + a->m[1][1] * y, a->m[0][2] * x + a->m[1][2] * y};
}
/* R v and R^T v, R a constant of the model */
LANE_INLINE vec3 rotate_const(const double R[3][3], vec3 v)
{
    return (vec3){R[0][0] * v.x + R[0][1] * v.y + R[0][2] * v.z, R[1][0] * v.x + R[1][1] * v.y + R[1][2] * v.z,
                  R[2][0] * v.x + R[2][1] * v.y + R[2][2] * v.z};
}
LANE_INLINE vec3 unrotate_const(const double R[3][3], vec3 v)
{
    return (vec3){R[0][0] * v.x + R[1][0] * v.y + R[2][0] * v.z, R[0][1] * v.x + R[1][1] * v.y + R[2][1] * v.z,
                  R[0][2] * v.x + R[1][2] * v.y + R[2][2] * v.z};
}
LANE_INLINE wrench wrench_add(wrench a, wrench b)
{
    return (wrench){add(a.f, b.f), add(a.n, b.n)};
}
LANE_INLINE wrench wrench_sub(wrench a, wrench b)
{
    return (wrench){sub(a.f, b.f), sub(a.n, b.n)};
}
