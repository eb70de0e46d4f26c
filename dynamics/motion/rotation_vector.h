/* rotation_vector.h - computes the rotation, its angular velocity and their derivatives from a rotation vector that
 * moves.
 *
 * With the rotation vector x, K = [x] and s = x . x, the rotation and its angular velocity w in its own moving axes are
 * (Lynch & Park 2017, ch. 3)
 *
 *     R = 1 + A K + B K^2,  w = J x',  J = 1 - B K + C K^2,  C = (1 - A)/s,
 *
 * where B and C are power series of s: B = sum (-s)^k / (2k+2)!, C = sum (-s)^k / (2k+3)!, A = 1 - s C. J is singular
 * where |x| is a multiple of 2 pi other than 0. By the structure equation of rotations dw/dx = J' + [w] J. */
#pragma once

/* A rotation vector and its first three time derivatives. */
typedef struct dyn_rotation_path {
    double x[4][3];
} dyn_rotation_path;

typedef struct dyn_rotation_motion {
    double quaternion[4]; /* x y z w */
    double R[3][3];
    double w[3][3];         /* rad/s ...: w, w', w'' in the axes of R; derivatives are those of the entries */
    double J[4][3][3];      /* dw/dx', and its first three time derivatives */
    double w_by_x[3][3][3]; /* dw/dx, and its first two time derivatives */
} dyn_rotation_motion;

/* Computes *motion. |x|, in rad, must be at most 2 pi, so that the series converge to rounding. */
void dyn_rotation_vector_move(const dyn_rotation_path *path, dyn_rotation_motion *motion);
