/* held_directions.h - defines when a held direction counts as zero, as dependent on others, and as contradicting them:
 * one rule for the kernels (algorithms/held_frames.h) and for single states (dynamics/contact/task_inertia.h).
 *
 * J (k x nv) has the rows of the held directions, delta >= 0 is the damping of contacts, G = J M^-1 J^T + delta, and
 * c = J qdd_0 + J' qd are the accelerations along the directions, with qdd_0 the accelerations without held frames.
 *
 * 1. A row is zero if no entry exceeds DYN_STILL times its scale. With the largest linear and angular entries j and i
 * of the frame's Jacobian and the reach R (dyn_point_reach, m), the scale is max(j, R i) of a linear row, and max(i, j
 * / R) of an angular one.
 * 2. G = L D L^T is eliminated from the first direction on. Direction a depends on those before it if
 *    D_a <= DYN_DEPENDENT G_aa. This does not depend on the units of the rows. The direction is then left out.
 * 3. The elimination turns c into r_a = c_a - sum_b L_ab r_b, over the directions b < a that are not left out. A
 *    direction that is left out contradicts them if |r_a| > DYN_CONSISTENT s_a, with
 *
 *        s_a = S_a + sum_b |L_ab| s_b,  S_a = A_a + V_a + sum_v |J_av qdd_0v|.
 *
 *    L converts the units. A is the acceleration by gravity: max(|g|, DYN_STANDARD_GRAVITY), for angular rows divided
 *    by R. Due to A, velocities of rounding size count as rest, even if gravity is switched off. V bounds J' qd: with
 *    the sums u and w of |qd_v| times the largest linear and angular entry of column v, V = w (R w + 2 u) for linear
 *    and w^2 for angular rows. The last term of S_a bounds J qdd_0, the part of efforts and wrenches. */
#pragma once

#define DYN_STILL            1e-8
#define DYN_DEPENDENT        1e-12
#define DYN_CONSISTENT       1e-8
#define DYN_STANDARD_GRAVITY 9.80665 /* m/s^2 */
