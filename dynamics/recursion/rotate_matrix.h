/* rotate_matrix.h - rotates symmetric and general 3 x 3 matrices S from a body's axes to its parent's, R_pc S R_pc^T,
 * with R_pc = Rz(gamma) Rx(beta) Rz(s + theta). Each rotation about one axis changes a 2 x 2 block by one angle, which
 * costs less than two matrix products. */
#pragma once
#include "dynamics/joint/joint.h"

/* --- symmetric matrices --------------------------------------------------------------------------------------- */

/* Returns Rz E Rz^T for a symmetric E; c and s are cosine and sine of the angle of Rz. With w = s (p - q) + 2 c r, the
 * block [p r; r q] of rows and columns x, y becomes p' = p - s w,   q' = q + s w,   r' = c w - r. */
LANE_INLINE sym3 sym3_turn_z(sym3 a, lane c, lane s)
{
    lane w = add_mul(c * (a.xy + a.xy), s, a.xx - a.yy);
    return (sym3){sub_mul(a.xx, s, w), add_mul(-a.xy, c, w),       sub_mul(c * a.xz, s, a.yz),
                  add_mul(a.yy, s, w), add_mul(c * a.yz, s, a.xz), a.zz};
}
/* Returns Rx(-90 deg) Rz E Rz^T Rx(90 deg) for a symmetric E; c and s are cosine and sine of the angle of Rz. Rx(-90
 * deg) only moves entries; its changes of sign cost nothing, because the formulas of Rz include them. */
LANE_INLINE sym3 sym3_turn_z_minus(sym3 a, lane c, lane s)
{
    lane w  = add_mul(c * (a.xy + a.xy), s, a.xx - a.yy);
    lane xx = sub_mul(a.xx, s, w), yy = add_mul(a.yy, s, w);
    return (sym3){xx, sub_mul(c * a.xz, s, a.yz), sub_mul(a.xy, c, w), a.zz, neg_sub_mul(c * a.yz, s, a.xz), yy};
}
/* Returns Rx E Rx^T for a symmetric E; c and s are cosine and sine of the angle of Rx. */
LANE_INLINE sym3 sym3_turn_x(sym3 a, double c, double s)
{
    lane w  = add_mul(c * (a.yz + a.yz), s, a.yy - a.zz);
    lane xy = sub_mul(c * a.xy, s, a.xz), xz = add_mul(c * a.xz, s, a.xy);
    return (sym3){a.xx, xy, xz, sub_mul(a.yy, s, w), add_mul(-a.yz, c, w), add_mul(a.zz, s, w)};
}
/* Returns R E R^T for a symmetric E, with R = Rz(gamma) Rx(beta), the constant rotation of the joint. */
LANE_INLINE sym3 sym3_rotate_by_constant(link_transform X, sym3 a)
{
    if (X.turn == DYN_TURN_NONE) return a;
    if (X.turn == DYN_TURN_X_PLUS) return (sym3){a.xx, -a.xz, a.xy, a.zz, -a.yz, a.yy};
    if (X.turn == DYN_TURN_X_MINUS) return (sym3){a.xx, a.xz, -a.xy, a.zz, -a.yz, a.yy};
    a = sym3_turn_x(a, X.b->pose.ca, X.b->pose.sa);
    return X.turn == DYN_TURN_X ? a : sym3_turn_z(a, lane_of(X.b->pose.cg), lane_of(X.b->pose.sg));
}
/* Returns R_pc E R_pc^T for a symmetric E: rotates it from the body's axes to the parent's. */
LANE_INLINE sym3 sym3_to_parent(link_transform X, sym3 a)
{
    if (dyn_joint_has_quaternion(X.joint)) return sym3_rotate(&X.pose->R, a);
    if (X.joint == DYN_REVOLUTE && X.turn == DYN_TURN_X_MINUS) return sym3_turn_z_minus(a, X.J.c, X.J.s);
    return sym3_rotate_by_constant(X, X.joint == DYN_REVOLUTE ? sym3_turn_z(a, X.J.c, X.J.s) : a);
}

/* Returns R_pc S R_pc^T for a revolute joint and a symmetric matrix S whose row and column z are zero. */
LANE_INLINE sym3 sym3_xy_to_parent(link_transform X, sym3 S)
{
    const lane zero = lane_of(0), c = X.J.c, s = X.J.s;
    lane       w = add_mul(c * (S.xy + S.xy), s, S.xx - S.yy), xx = sub_mul(S.xx, s, w), yy = add_mul(S.yy, s, w);
    if (X.turn == DYN_TURN_X_MINUS) return (sym3){xx, zero, sub_mul(S.xy, c, w), zero, zero, yy};
    lane xy = add_mul(-S.xy, c, w);
    if (X.turn == DYN_TURN_NONE) return (sym3){xx, xy, zero, yy, zero, zero};
    if (X.turn == DYN_TURN_X_PLUS) return (sym3){xx, zero, xy, zero, zero, yy};
    lane cy = X.b->pose.ca * yy, sy = X.b->pose.sa * yy;
    S = (sym3){xx, X.b->pose.ca * xy, X.b->pose.sa * xy, X.b->pose.ca * cy, X.b->pose.sa * cy, X.b->pose.sa * sy};
    return X.turn == DYN_TURN_X ? S : sym3_turn_z(S, lane_of(X.b->pose.cg), lane_of(X.b->pose.sg));
}

/* --- general matrices ----------------------------------------------------------------------------------------- */

/* Returns Rz H Rz^T, or Rx(-90 deg) Rz H Rz^T Rx(90 deg) if `minus`, which costs no more; c and s are cosine and sine
 * of the angle of Rz. With w = s (p - q) + c (r + t), the block [p r; t q] of rows and columns x, y becomes  p' = p - s
 * w,  q' = q + s w,  r' = c w - t,  t' = c w - r. `axis_row_is_zero`: the last row of H is zero. */
LANE_INLINE mat3 mat3_spin(mat3 H, lane c, lane s, bool axis_row_is_zero, bool minus)
{
    lane w  = add_mul(c * (H.m[0][1] + H.m[1][0]), s, H.m[0][0] - H.m[1][1]);
    lane xx = sub_mul(H.m[0][0], s, w), yy = add_mul(H.m[1][1], s, w), xz = sub_mul(c * H.m[0][2], s, H.m[1][2]);
    vec3 last = axis_row_is_zero ? vec3_zero() : (vec3){sub_mul(c * H.m[2][0], s, H.m[2][1]), H.m[2][1], H.m[2][2]};
    if (minus) {
        if (!axis_row_is_zero) last.y = neg_sub_mul(c * H.m[2][1], s, H.m[2][0]);
        return (mat3){{{xx, xz, sub_mul(H.m[1][0], c, w)},
                       {last.x, last.z, last.y},
                       {sub_mul(H.m[0][1], c, w), neg_sub_mul(c * H.m[1][2], s, H.m[0][2]), yy}}};
    }
    if (!axis_row_is_zero) last.y = add_mul(c * H.m[2][1], s, H.m[2][0]);
    return (mat3){{{xx, add_mul(-H.m[1][0], c, w), xz},
                   {add_mul(-H.m[0][1], c, w), yy, add_mul(c * H.m[1][2], s, H.m[0][2])},
                   {last.x, last.y, last.z}}};
}

/* Returns Rx H Rx^T; c and s are cosine and sine of the angle of Rx. `axis_row_is_zero`: the last row of H is zero. */
LANE_INLINE mat3 mat3_tilt(mat3 H, double c, double s, bool axis_row_is_zero)
{
    const vec3 x = {H.m[0][0], sub_mul(c * H.m[0][1], s, H.m[0][2]), add_mul(c * H.m[0][2], s, H.m[0][1])};
    if (axis_row_is_zero) {
        lane w = add_mul(c * H.m[1][2], s, H.m[1][1]);
        return (mat3){{{x.x, x.y, x.z},
                       {c * H.m[1][0], sub_mul(H.m[1][1], s, w), c * w},
                       {s * H.m[1][0], add_mul(-H.m[1][2], c, w), s * w}}};
    }
    lane w = add_mul(c * (H.m[1][2] + H.m[2][1]), s, H.m[1][1] - H.m[2][2]);
    return (mat3){{{x.x, x.y, x.z},
                   {sub_mul(c * H.m[1][0], s, H.m[2][0]), sub_mul(H.m[1][1], s, w), add_mul(-H.m[2][1], c, w)},
                   {add_mul(s * H.m[1][0], c, H.m[2][0]), add_mul(-H.m[1][2], c, w), add_mul(H.m[2][2], s, w)}}};
}

/* Returns R H R^T with the constant rotation R = Rz(gamma) Rx(beta) of the joint. `axis_row_is_zero`: the last row of
 * H is zero. */
LANE_INLINE mat3 mat3_rotate_by_constant(link_transform X, mat3 H, bool axis_row_is_zero)
{
    if (X.turn == DYN_TURN_X || X.turn == DYN_TURN_ZX) {
        H = mat3_tilt(H, X.b->pose.ca, X.b->pose.sa, axis_row_is_zero);
        return X.turn == DYN_TURN_X ? H : mat3_spin(H, lane_of(X.b->pose.cg), lane_of(X.b->pose.sg), false, false);
    }
    for (int j = 0; j < 3; j++) { /* rotates the columns of H */
        vec3 x    = rotate_by_constant(X, mat3_column(&H, j));
        H.m[0][j] = x.x;
        H.m[1][j] = x.y;
        H.m[2][j] = x.z;
    }
    for (int i = 0; i < 3; i++)
        store3(H.m[i], rotate_by_constant(X, load3(H.m[i])));
    return H;
}

/* Returns R_pc H R_pc^T for a joint of one coordinate: rotates H from the body's axes to the parent's.
 * `axis_row_is_zero`: the last row of H is zero. */
LANE_INLINE mat3 mat3_to_parent(link_transform X, mat3 H, bool axis_row_is_zero)
{
    if (X.joint != DYN_REVOLUTE) return mat3_rotate_by_constant(X, H, false);
    if (X.turn == DYN_TURN_X_MINUS) return mat3_spin(H, X.J.c, X.J.s, axis_row_is_zero, true);
    return mat3_rotate_by_constant(X, mat3_spin(H, X.J.c, X.J.s, axis_row_is_zero, false), axis_row_is_zero);
}
