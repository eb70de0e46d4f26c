/* contact_polytope.h - writes the limits of contacts and efforts at a place of a path as a polytope in the derivatives
 * of s and the wrenches on held frames (dynamics/held/held_wrenches.h).
 *
 * With x = sd^2 and u = sdd, the efforts without contacts are tau_0 = a u + b x + c (timing.h). With J the Jacobian of
 * the held frames along their axes, the wrenches l on these frames, scaled to w = sqrt(weights) l, satisfy E w = e_a u
 * + e_b x + e_c for the coordinates without actuator. Hence
 *
 *     w = E^T (e_a u + e_b x + e_c) + weight N^T z,
 *
 * where the rows of N are an orthonormal basis of the null space of E, `weight` is the robot's weight, and z is free.
 * Limits are half spaces of w, and of the efforts tau_0 - J^T l. A friction cone is replaced by a pyramid inside it
 * whose edges are on the cone. The unknowns of the polytope are y = (u / scale, x / scale, z), without units and about
 * 1.
 *
 * All limits are narrowed by DYN_POLYTOPE_NARROWER: the wrenches of the fastest timing then keep to the limits
 * themselves in spite of rounding errors. */
#pragma once
#include "dynamics/held/held_wrenches.h"
#include "dynamics/motion/limit.h"
#include "simplex.h"

#define DYN_POLYTOPE_NARROWER 1e-9 /* share of the limit of an effort, or of the robot's weight */
#define DYN_POLYTOPE_MOST_U   1e4  /* bounds of u / scale, x / scale and z */
#define DYN_POLYTOPE_MOST_X   1e6
#define DYN_POLYTOPE_MOST_Z   1e6

enum { DYN_POLYTOPE_FACETS = 16 /* edges of a pyramid that replaces a cone */ };

/* The limits, which are the same at all places of the path. */
typedef struct dyn_polytope_limits {
    const dyn_held_choice *choice;
    size_t                 nv, n_efforts;
    const dyn_limit      **effort;        /* [n_efforts] limits of efforts of the nv coordinates */
    double                 weight, lever; /* the robot's weight, N; length that converts it to a moment, m */
} dyn_polytope_limits;

/* One place of a path, in a lane of W. */
typedef struct dyn_polytope_place {
    size_t        W, lane;
    const double *a, *b, *c; /* nv in lanes: efforts without contacts are a u + b x + c */
    const double *J;         /* k x nv in lanes: Jacobian of the k held axes */
    const double *E;         /* n_passive x k in lanes: orthonormal rows; a row without effect is zero */
    const double *e[3];      /* n_passive in lanes: e_a, e_b and e_c */
} dyn_polytope_place;

/* The polytope of one place. */
typedef struct dyn_polytope {
    dyn_simplex s;
    size_t      rows;       /* number of rows of limits: choice->row, pyramids, two per effort; then come bounds */
    double      scale;      /* 1/s^2: u and x are divided by it */
    double     *particular; /* [3][k]: w = particular_0 u + particular_1 x + particular_2 + weight N^T z */
    double     *N;          /* [k][k]: rows of the null space, the first s.n - 2 */
} dyn_polytope;

/* Returns the number of rows of limits in a polytope, without the bounds of unknowns. */
size_t dyn_polytope_rows(const dyn_polytope_limits *limits);

/* Returns the bytes that dyn_polytope_write needs at `room`, aligned to 16 bytes. */
size_t dyn_polytope_bytes(const dyn_polytope_limits *limits);

/* Returns the scale of a place, weight * lever / max(|a|, |b|): u or x of this size changes no effort by more than
 * weight * lever. */
double dyn_polytope_scale(const dyn_polytope_limits *limits, const dyn_polytope_place *place);

/* Writes the polytope of a place to the memory `room`, for dyn_simplex_begin. The caller sets the deadline of p->s. */
void dyn_polytope_write(dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_polytope_place *place,
                        void *room);

/* Returns the index of the limit that a row belongs to: those of contacts come first, choice->n_rows + choice->n_cones,
 * then those of efforts. */
size_t dyn_polytope_limit(const dyn_polytope_limits *limits, size_t row);

/* --- wrenches ----------------------------------------------------------------------------------------------------- */

/* Writes the half spaces of the wrenches in a lane for the efforts tau_0 (nv in lanes) without contacts: limits of
 * contacts first, then finite limits of efforts. `row`: [choice->n_rows + 2 n_efforts]; `coefficient`: [2
 * n_efforts][k], memory for the coefficients. Returns the number of half spaces. */
size_t dyn_polytope_half_spaces(const dyn_polytope_limits *limits, const dyn_polytope_place *place, const double *tau_0,
                                dyn_limit_row *row, double *coefficient);
