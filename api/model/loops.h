/* loops.h - joints that close loops of a model: what they hold, and which coordinates of the tree are actuated.
 *
 * A loop joins frame b to frame a as a joint would: its joint frame is a, against which b moves as the type allows. Of
 * the motion [dy/dt; w_rel] of b seen from a (dyn_closure) it holds `rows` combinations E, with u the axis and y in
 * units of the model's length, so that all rows are of one kind:
 *
 *     fixed       y, w                    spherical   y
 *     revolute    y, w across u           prismatic   y across u, w
 *     planar      y along u, w across u   helical     y across u, w across u, y along u - pitch w along u
 *
 * (Khalil 2010, 2.2: a loop is cut at a joint). The coordinates of a model with loops are those of its actuated joints
 * and of a floating base; the others, passive, follow. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/document/document.h"

enum { API_LOOP_ROWS = 6 /* most that one holds */ };

typedef struct api_loop {
    const char   *name, *type, *frame_a, *frame_b;
    api_loop_kind kind;
    double        u[3], across[2][3]; /* unit vectors, right-handed: across[0] x across[1] = u */
    double        pitch;              /* m/rad */
    size_t        first, rows;        /* of all rows */
    double        E[API_LOOP_ROWS][6];
} api_loop;

typedef struct api_loops {
    size_t                n, rows;
    api_loop             *loop; /* [n] */
    const dyn_frame_pair *pair; /* [n] */
    double                length;
    /* The tree's coordinates, of which model->nq and nv are actuated. */
    size_t        nq, nv, n_passive_q, n_passive;
    const char  **position_names, **velocity_names;
    const int    *active_q, *active_v;   /* [model->nq], [model->nv]: which of the tree's */
    const int    *passive_q, *passive_v; /* [n_passive_q], [n_passive] */
    const char  **passive_names;         /* [n_passive_q] */
    const int    *place_q, *place_v;     /* [nq], [nv] of the tree's: which of the model's, -1: passive */
    const double *home;                  /* [nq] of the tree's: where loops are begun to be closed */
} api_loops;

/* How far a frame of pose y, R is from a position and a unit quaternion: the way, and the turn in world axes. */
void api_place_residual(const double position[3], const double orientation[4], const double y[3], const double R[9],
                        double residual[6]);

/* The rows E of a loop, its axis and kind being known, with y in units of `length`. */
void api_loop_rows(api_loop *loop, double length);

/* How far loop `k` is open where b has the pose y, R (row-major) as seen from a: rows whose derivatives are E's at
 * zero. */
void api_loop_residual(const api_loops *loops, size_t k, const double y[3], const double R[9], double *residual);
