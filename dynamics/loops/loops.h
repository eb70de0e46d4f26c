/* loops.h - describe the joints that close loops: which relative motions they constrain, and which coordinates of
 * the tree are actuated.
 *
 * A loop joins frame b to frame a like a joint: b moves against a as its type allows. It constrains `rows`
 * combinations E of the relative motion [dy/dt; w] of b seen from a (dyn_closure), where y is the position of b and
 * w its angular velocity. With the axis u, and y in units of the model's length so that all rows are comparable, the
 * constrained components are:
 *
 *     fixed       y, w                    spherical   y
 *     revolute    y, w across u           prismatic   y across u, w
 *     planar      y along u, w across u   helical     y across u, w across u, y along u - pitch w along u
 *     cylindrical y across u, w across u  universal   y, w along n = cross(x, u)
 *
 * A universal joint keeps its axes, u in a and x = R u_b in b, at right angles: u . x = 0. The time derivative of
 * this product is w . n. This last row depends on the configuration, so E leaves it zero and dyn_loop_universal_row
 * gives it; n has length 1 where the loop is closed.
 *
 * A loop is cut at a joint (Khalil 2010, 2.2). The coordinates of a model with loops are those of its actuated
 * joints and of a floating base; the other, passive coordinates follow from the closed loops.
 *
 * loops_build.h fills a dyn_loops, and says which of its members the caller sets. */
#pragma once
#include "dynamics/dynamics.h"

/* Types of the joint that closes a loop, with the relative motions that the head of this file lists. */
typedef enum dyn_loop_kind {
    DYN_LOOP_FIXED,
    DYN_LOOP_SPHERICAL,
    DYN_LOOP_REVOLUTE,
    DYN_LOOP_PRISMATIC,
    DYN_LOOP_PLANAR,
    DYN_LOOP_HELICAL,
    DYN_LOOP_CYLINDRICAL,
    DYN_LOOP_UNIVERSAL
} dyn_loop_kind;

enum { DYN_LOOP_ROWS = 6 /* most rows of one loop */ };

typedef struct dyn_loop {
    const char   *name, *type, *frame_a, *frame_b; /* for messages of the caller; the mechanics read none of them */
    dyn_loop_kind kind;
    double        u[3], across[2][3]; /* unit vectors in axes of frame a; across[0] x across[1] = u. Not read for fixed
                                         and spherical joints */
    double pitch;                     /* m/rad, of a helical joint */
    double u_b[3];                    /* of a universal joint: the unit axis fixed in b, in axes of b */
    size_t first, rows;               /* index of the loop's first row among those of all loops; number of rows */
    double E[DYN_LOOP_ROWS][6];
} dyn_loop;

typedef struct dyn_loops {
    size_t                n, rows;
    dyn_loop             *loop;          /* [n] loops */
    const dyn_frame_pair *pair;          /* [n] frames a and b of each loop */
    double                length;        /* m, the unit of y in residuals, rows and `travel` */
    bool                  has_universal; /* true when one of the loops is a universal joint */
    /* Coordinates of the tree (all joints, loops cut); nq and nv of mechanism.h count the actuated ones among them. */
    size_t       nq, nv, n_passive_q, n_passive;
    const char **position_names, **velocity_names; /* by coordinate of the tree; for messages of the caller */
    const int *active_q, *active_v; /* by coordinate of the mechanism: index in the tree of each actuated coordinate */
    const int *passive_q, *passive_v; /* [n_passive_q], [n_passive]: index in the tree of each passive coordinate */
    const char **passive_names;       /* [n_passive_q] */
    const int   *active_index_q, *active_index_v; /* [nq], [nv] by coordinate of the tree: its index among the model's
                                                     coordinates, -1: passive */
    const double *home;     /* [nq] by coordinate of the tree: home position of the joints in the document */
    const bool   *has_home; /* [nv] by coordinate of the tree: true when the document gives its joint a home */
    const double *travel; /* [nv] by coordinate of the tree: the largest motion of a joint inside a loop per unit of it,
                             in rad or in units of `length`; 0: no effect */
    const dyn_model *loaded; /* if friction depends on the load: the actuated joints with their motors, by coordinate of
                                the model, for friction_map.h; NULL: it does not */
    double *reference;       /* [nq] by coordinate of the tree: a position near home in which the loops are closed */
} dyn_loops;

/* The difference of a frame at y with rotation R from a given position and rotation: the translation, then the
 * rotation vector, in world axes. Matrices are row-major. */
void dyn_pose_residual(const double position[3], const double rotation[9], const double y[3], const double R[9],
                       double residual[6]);

/* Conversions of rotations: the matrix of a unit quaternion x y z w; the matrix of a rotation vector (angle times
 * axis); and the rotation vector, of an angle up to pi, with to = R(vector) from. Matrices are row-major. */
void dyn_rotation_of_quaternion(const double quaternion[4], double R[9]);
void dyn_rotation_of_vector(const double vector[3], double R[9]);
void dyn_rotation_between(const double from[9], const double to[9], double vector[3]);
/* Writes D (3x3, row-major) with d(vector)/dt = D w, where R(vector) rotates with the angular velocity w. */
void dyn_rotation_vector_rate(const double vector[3], double D[9]);

/* Computes the angular part n of the last row of a universal joint, a unit vector perpendicular to its two axes,
 * also where the loop is open. Frame b is rotated by R against frame a. dyn_loop_universal_row_rates gives the first
 * two time derivatives of n at the angular velocity w and acceleration wd of b seen from a, for a loop that is and
 * stays closed. */
void dyn_loop_universal_row(const dyn_loop *loop, const double R[9], double n[3]);
void dyn_loop_universal_row_rates(const dyn_loop *loop, const double R[9], const double w[3], const double wd[3],
                                  double nd[3], double ndd[3]);

/* Computes the rows E of a loop from its axis and kind, with y in units of `length`. */
void dyn_loop_rows(dyn_loop *loop, double length);

/* Computes `rows`, the angular part of the derivative of a loop's residual: residual' = rows w for an angular
 * velocity w, where frame b is rotated by R against frame a. Where the loop is closed, `rows` is the angular part of
 * E. Returns false for types of joint where that holds for every R (universal joints: with the row of
 * dyn_loop_universal_row). */
bool dyn_loop_angular_derivative(const dyn_loop *loop, const double R[9], double rows[DYN_LOOP_ROWS][3]);

/* Computes the residual of loop `k` for frame b at position y with rotation R (row-major) seen from frame a. The
 * residual is zero where the loop is closed; its derivatives there are the rows E. */
void dyn_loop_residual(const dyn_loops *loops, size_t k, const double y[3], const double R[9], double *residual);
