/* loops.h - joints that close loops of a model: what they hold, and which coordinates of the tree are actuated.
 *
 * A loop joins frame b to frame a as a joint would: its joint frame is a, against which b moves as the type allows. Of
 * the motion [dy/dt; w_rel] of b seen from a (dyn_closure) it holds `rows` combinations E, with u the axis and y in
 * units of the model's length, so that all rows are of one kind:
 *
 *     fixed       y, w                    spherical   y
 *     revolute    y, w across u           prismatic   y across u, w
 *     planar      y along u, w across u   helical     y across u, w across u, y along u - pitch w along u
 *     cylindrical y across u, w across u  universal   y, w along n = x x u
 *
 * The axes of a universal joint, u in a and x = R u_b in b, stay at right angles: u . x = 0 has the derivative
 * u . (w x x) = w . n. Its last row therefore turns with the joint, and E has none (api_loop_universal_row); n is of
 * length one where the loop is closed.
 *
 * (Khalil 2010, 2.2: a loop is cut at a joint). The coordinates of a model with loops are those of its actuated joints
 * and of a floating base; the others, passive, follow. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/load/document/document.h"

enum { API_LOOP_ROWS = 6 /* most that one holds */ };

typedef struct api_loop {
    const char   *name, *type, *frame_a, *frame_b;
    api_loop_kind kind;
    double        u[3], across[2][3]; /* unit vectors, right-handed: across[0] x across[1] = u */
    double        pitch;              /* m/rad */
    double        u_b[3];             /* of a universal joint: the axis fixed in b, in its axes */
    size_t        first, rows;        /* of all rows */
    double        E[API_LOOP_ROWS][6];
} api_loop;

typedef struct api_loops {
    size_t                n, rows;
    api_loop             *loop; /* [n] */
    const dyn_frame_pair *pair; /* [n] */
    double                length;
    bool                  has_universal; /* whether a universal joint is among them */
    /* The tree's coordinates, of which model->nq and nv are actuated. */
    size_t        nq, nv, n_passive_q, n_passive;
    const char  **position_names, **velocity_names;
    const int    *active_q, *active_v;             /* [model->nq], [model->nv]: which of the tree's */
    const int    *passive_q, *passive_v;           /* [n_passive_q], [n_passive] */
    const char  **passive_names;                   /* [n_passive_q] */
    const int    *active_index_q, *active_index_v; /* [nq], [nv] of the tree's: which of the model's, -1: passive */
    const double *home;     /* [nq] of the tree's: where the document says that its joints stand */
    const bool   *has_home; /* [nv] of the tree's: whether the document gives its joint a home */
    const double *travel;   /* [nv] of the tree's: how far a unit of it moves a joint that lies in a loop, at
                               most: rad, or parts of `length`; 0: no loop depends on it */
    double *reference;      /* [nq] of the tree's: a position in which the loops are closed, near home */
} api_loops;

/* How far a frame of pose y, R is from a position and a rotation: the way, and the turn in world axes. Matrices are
 * row-major. */
void api_pose_residual(const double position[3], const double rotation[9], const double y[3], const double R[9],
                       double residual[6]);

/* Rotations: the row-major matrix of a unit quaternion x y z w; that of a rotation vector (angle times axis); and the
 * vector of the rotation that takes one matrix to another, to = R(vector) from, of an angle up to pi. */
void api_rotation_of_quaternion(const double quaternion[4], double R[9]);
void api_rotation_of_vector(const double vector[3], double R[9]);
void api_rotation_between(const double from[9], const double to[9], double vector[3]);
/* D, row-major, with d(vector)/dt = D w of a rotation of that vector that turns with w. */
void api_rotation_vector_rate(const double vector[3], double D[9]);

/* n of a universal joint where b is turned by R as seen from a, of length one even where the loop is open; and its
 * first two time derivatives at the angular velocity w and acceleration wd of b seen from a, where the loop is closed
 * and stays closed. */
void api_loop_universal_row(const api_loop *loop, const double R[9], double n[3]);
void api_loop_universal_row_rates(const api_loop *loop, const double R[9], const double w[3], const double wd[3],
                                  double nd[3], double ndd[3]);

/* The rows E of a loop, its axis and kind being known, with y in units of `length`. */
void api_loop_rows(api_loop *loop, double length);

/* The angular part of the rows' derivative where b is turned by R as seen from a: the rows E, of w, where loops are
 * closed. False: it is E's, and that of api_loop_universal_row, anywhere. */
bool api_loop_angular_derivative(const api_loop *loop, const double R[9], double rows[API_LOOP_ROWS][3]);

/* How far loop `k` is open where b has the pose y, R (row-major) as seen from a: rows whose derivatives are E's at
 * zero. */
void api_loop_residual(const api_loops *loops, size_t k, const double y[3], const double R[9], double *residual);
