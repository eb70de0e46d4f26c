/* closure.h - coordinates of a tree from what they have to bring about: that loops are closed and, if one is given,
 * that a frame is where it is said to be. W states side by side, each by itself: the same bits in any company.
 *
 * Newton's method: with r what is open and J_u = dr/dq of the unknown coordinates, a step is the least-squares solution
 * of J_u dq = -r, of least norm where J_u has no full rank, halved until it takes the loops nearer to closing. When
 * they are closed it goes on as long as that makes them much better: to rounding. Columns of J_u are scaled to length
 * one, so that units of coordinates do not matter to its rank. */
#pragma once
#include "api/memory/pool.h"
#include "api/model/loops.h"
#include "api/model/model.h"
#include "api/watch.h"

enum { API_PLACED_ROWS = 6 };

/* Of what is open, by rad or m of a coordinate: one that does no more does nothing, and this is what rounding left. (It
 * turns about the point where a loop closes, say.) */
#define API_CLOSURE_STILL 1e-9

typedef struct api_closure {
    const api_model      *model;
    const api_loops      *loops;
    const dyn_kernels    *tree;
    void                 *workspace; /* the tree's */
    size_t                W, nv;     /* lanes; coordinates of the tree */
    size_t                live;      /* lanes that are looked at: the others repeat the last of them */
    size_t                n_pairs, rows, unknowns;
    const dyn_frame_pair *pair;                   /* [n_pairs] those of the loops, then the frame in the world */
    const int            *unknown;                /* [unknowns] of the tree's velocities */
    const api_watch      *watch;                  /* looked at between steps; NULL: none */
    size_t                placed;                 /* rows of the frame: 0, 3 of its origin, or 6 */
    const double         *position, *orientation; /* lanes: where it is to be, 3 and 4; NULL: no frame, or no matter */
    /* Lanes. */
    double *q;           /* tree nq */
    double *y, *R;       /* n_pairs x 3, x 9: b of each pair as seen from a */
    double *motion;      /* 6 n_pairs x nv: the Jacobian of that */
    double *J;           /* rows x nv: of what is open */
    double *raw;         /* 6 n_pairs x nv: for whoever needs it */
    double *base, *step; /* nq, nv */
    double *open;        /* 1: root of the sum of the squares of what is open */
    /* Of one state, in columns as LAPACK has it. */
    double *A, *B, *work, *norm, *unit;
    int    *pivot;
    size_t  rank[DYN_MAX_LANES], widest[DYN_MAX_LANES]; /* of J_u; the pair that is furthest open, */
    double  widest_open[DYN_MAX_LANES];                 /* by so much */
} api_closure;

/* Takes its memory; what stands above q is set. False with the pool's problem. */
bool api_closure_open(api_pool *pool, api_closure *c);

/* Makes lanes of `entries` what the last live one is. */
void api_closure_repeat(const api_closure *c, size_t entries, double *lanes);

/* Searches from c->q on. False where loops stay open, or nobody waits any longer. */
bool api_closure_search(api_closure *c, const dyn_scene *scene);
bool api_closure_closed(const api_closure *c, size_t lane);

/* The least-squares solution of J_u x = b of one lane: b, of so many columns, stands in c->B, whose columns are
 * api_closure_stride apart, and x too. Sets the rank. False: a figure is not finite. */
bool   api_closure_solve(api_closure *c, size_t lane, size_t columns);
size_t api_closure_stride(const api_closure *c);

/* Rows of dJ/dt at velocities of the tree; of d2J/dt2 with accelerations. */
void api_closure_rate(const api_closure *c, const dyn_scene *scene, const double *qd, double *rows);
void api_closure_second_rate(const api_closure *c, const dyn_scene *scene, const double *qd, const double *qdd,
                             double *rows);
