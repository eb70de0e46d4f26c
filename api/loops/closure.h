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
#include "api/work/deadline.h"

enum { API_PLACED_ROWS = 6 };

/* Of what is open, by rad or m of a coordinate: one that does no more does nothing, and this is what rounding left. (It
 * turns about the point where a loop closes, say.) */
#define API_CLOSURE_NEGLIGIBLE 1e-9

typedef struct api_closure {
    const api_model      *model;
    const api_loops      *loops;
    const dyn_kernels    *tree;
    void                 *workspace; /* the tree's */
    size_t                W, nv;     /* lanes; coordinates of the tree */
    size_t                live;      /* lanes that are looked at: the others repeat the last of them */
    size_t                n_pairs, rows, unknowns;
    const dyn_frame_pair *pair;     /* [n_pairs] those of the loops, then the frame in the world */
    const int            *unknown;  /* [unknowns] of the tree's velocities */
    const api_deadline   *deadline; /* looked at between steps; NULL: none */
    size_t                placed;   /* rows of the frame: 0, 3 of its origin, or 6 */
    /* Lanes. */
    double *goal;        /* where the frame is to be: its origin, 3, and its rotation in the world, 9, row-major */
    double *left;        /* rows: the part of the loop error that is to remain; zero but while a guess is followed */
    double *q;           /* tree nq */
    double *y, *R;       /* n_pairs x 3, x 9: b of each pair as seen from a */
    double *motion;      /* 6 n_pairs x nv: the Jacobian of that */
    double *J;           /* rows x nv: of what is open */
    double *raw;         /* 6 n_pairs x nv: for whoever needs it */
    double *raw_dot;     /* 6 n_pairs x nv: for second rates of universal joints */
    double *base, *step; /* nq, nv */
    double *open;        /* 1: root of the sum of the squares of what is open */
    /* Of one state, in columns as LAPACK has it. */
    double *A, *B, *work, *norm, *unit;
    int    *pivot;
    size_t  rank[DYN_MAX_LANES], widest[DYN_MAX_LANES]; /* of J_u; the pair that is furthest open, */
    double  widest_open[DYN_MAX_LANES];                 /* by so much */
    /* The continuation's last accepted point, one lane after the other. */
    double *inverse;                /* unknowns x rows: the pseudoinverse of J_u there, in columns */
    double *scale;                  /* unknowns: the lengths of the columns of J_u there */
    double *normal;                 /* 2 unknowns x unknowns, of one lane, to work with */
    double *error;                  /* rows, lanes: the loop error of a guess */
    double  reached[DYN_MAX_LANES]; /* fraction of the path that was followed: 1, or where it met a singular position */
} api_closure;

/* Takes its memory; what stands above q is set. False with the pool's problem. */
bool api_closure_open(api_pool *pool, api_closure *c);

/* Makes lanes of `entries` what the last live one is. */
void api_closure_pad(const api_closure *c, size_t entries, double *lanes);

/* Poses of all pairs and the Jacobian of the rows at c->q. */
void api_closure_evaluate(api_closure *c, const dyn_scene *scene);
/* The loop error of a lane less c->left, into `error` (rows); notes the pair that is furthest open. Returns the root of
 * the sum of the squares. */
double api_closure_error(api_closure *c, size_t lane, double *error);

/* Newton's method from c->q on, close to a solution. False where loops stay open, or the request has ended. */
bool api_closure_iterate(api_closure *c, const dyn_scene *scene);
bool api_closure_is_closed(const api_closure *c, size_t lane);

/* A position is singular where the condition number of J_u, its columns of length one, is beyond 1 / this: singular
 * loops that are closed to rounding show no more. */
#define API_CLOSURE_SINGULAR 1e-6

/* J_u of one lane into c->A, rows x unknowns in columns, these of length one; c->norm what they were, and zero columns
 * of what only rounding moves. False: a figure is not finite. */
bool api_closure_scale(api_closure *c, size_t lane);

/* The least-squares solution of J_u x = b of one lane: b, of so many columns, stands in c->B, whose columns are
 * api_closure_stride apart, and x too. Sets the rank, for which singular values below `singular` of the largest count
 * as zero. False: a figure is not finite. */
bool   api_closure_solve(api_closure *c, size_t lane, size_t columns, double singular);
size_t api_closure_stride(const api_closure *c);

/* The pseudoinverse of J_u of one lane, unknowns x rows, entries `stride` apart. Sets the rank; false as above. */
bool api_closure_invert(api_closure *c, size_t lane, double singular, size_t stride, double *inverse);

/* Rows of dJ/dt at velocities of the tree; of d2J/dt2 with accelerations. */
void api_closure_rate(const api_closure *c, const dyn_scene *scene, const double *qd, double *rows);
void api_closure_second_rate(const api_closure *c, const dyn_scene *scene, const double *qd, const double *qdd,
                             double *rows);
