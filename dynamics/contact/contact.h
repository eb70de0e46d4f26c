/* contact.h - finds the wrenches on frames whose velocity is held along some of their axes (dyn_held_frame).
 *
 * J (k x nv) stacks the rows of the frames' Jacobians along these axes. The efforts on the robot are J^T l. With M = L
 * L^T (task_inertia.h)
 *
 *     Lambda = (J M^-1 J^T)^-1, Jbar = M^-1 J^T Lambda,
 *     held: J qdd + Jdot qd = 0: b = J qdd_0 + Jdot qd, l = -Lambda b, qdd = qdd_0 - Jbar b,
 *     impact: J qd+ = -e J qd: b = (1 + e) J qd, p = -Lambda b, qd+ = qd - Jbar b,
 *
 * where qdd_0 are the accelerations of the free robot and e is the restitution.
 *
 * Driven coordinates have given accelerations, whatever the contacts do. For Lambda and Jbar their rows and columns of
 * M are those of the identity and their columns of J are zero; b uses all of J.
 *
 * Contacts may be redundant (two hands on one object, four feet on the ground). Then the inverse is a pseudoinverse: l
 * is the solution with the smallest sum of squares in N and N m, and the motion is the same for all solutions.
 * dynamics/held_directions.h says when directions are redundant, and when they contradict each other.
 *
 * With contact damping delta, Lambda = (J M^-1 J^T + delta)^-1, so that
 *
 *     J qdd + Jdot qd = -delta l,
 *
 * which has a solution for any velocities. delta has the unit 1/kg along linear directions and 1/(kg m^2) along angular
 * ones.
 *
 * The rows of a rolling frame (dyn_rolling) are those of its contact point in the axes of the plane. The wrench is that
 * of the force at this point about the frame's origin, in world axes. */
#pragma once
#include "dynamics/constraint.h"
#include "dynamics/memory/memory.h"
#include "task_inertia.h"

enum { DYN_FRAME_AXES = 6, DYN_MAX_HELD_AXES = DYN_MAX_HELD * DYN_FRAME_AXES };

/* The frames that are held at once, at most DYN_MAX_HELD. */
typedef struct dyn_held_set {
    size_t          n, k;     /* number of frames; number of held axes of all frames together */
    dyn_held_frame *frame;    /* [n] held frames */
    const char    **names;    /* [n] for messages of the caller; the mechanics read none of them */
    dyn_deadline    deadline; /* past it dyn_contact_solve fails */
} dyn_held_set;

/* The states of one block in lanes; qd may be NULL (zero). */
typedef struct dyn_contact_states {
    const dyn_kernels *kernels;
    const dyn_scene   *scene;
    void              *workspace;
    const double      *q, *qd;
} dyn_contact_states;

/* The constraint matrices of a block of states, in lanes. */
typedef struct dyn_contact_block {
    const dyn_held_set *contact;
    size_t              nv, W;
    double             *J;         /* k x nv; rows that count as zero are zeros */
    double             *jdot_qd;   /* k: Jdot qd */
    double             *sizes;     /* k: the accelerations A + V of dynamics/held_directions.h */
    double              unsettled; /* factor of V (held_directions.h): 1, or more for stages of an integrator */
    double              damping;   /* contact damping delta of the first comment */
    double             *M;         /* nv x nv, symmetric; NULL: not wanted */
    double             *inverse, *singular; /* nv x nv and 1: outputs of dyn_mass_matrix, only for mechanisms with
                                               loops; NULL: not wanted */
    double *levers;                         /* n x 3, m: contact points of rolling frames from their origins */
    double *frame_J, *frame_J_dot;          /* 6 x nv each, Jacobian of one frame and its rate: scratch */
    double *frame_turn, *frame_rates;       /* 4 and 9, orientation and rates of one rolling frame: scratch */
    bool    decoupled;                      /* false: no coordinate is driven */
    double *driven;                         /* nv: 1 for coordinates with given acceleration, else 0 */
    /* The factors of M and of the constraint, after dyn_contact_factor. `singular` is among them. */
    dyn_constraint_factor factor;
    /* Outputs of dyn_contact_find: the right side b and the efforts l (k), the change -Jbar b (nv), b^T Lambda b, and
     * 0, or 1 + the first row that contradicts those before it. */
    double  *along, *efforts, *change, *energy, *contradictory;
    dyn_task task; /* arrays for one state, for dyn_contact_solve */
} dyn_contact_block;

/* dyn_contact_entries returns the doubles per state that a block needs in lanes. dyn_contact_lay_out returns a block in
 * these lanes, with J first. */
size_t            dyn_contact_entries(size_t nv, const dyn_held_set *contact);
dyn_contact_block dyn_contact_lay_out(const dyn_held_set *contact, size_t nv, size_t W, double *lanes);

/* Sets entry[a] to the index of held direction a, of k, among the n x 6 numbers of the frames' wrenches. */
void dyn_contact_list_entries(const dyn_held_set *contact, size_t entry[DYN_MAX_HELD_AXES]);

/* Writes `factor` times the numbers `along` the held directions (k, in lanes of width W) to `to` (n x 6 in lanes), with
 * zeros along axes that are not held. */
void dyn_contact_spread(const dyn_held_set *contact, size_t W, const double *along, double factor, double *to);

/* Finds J, Jdot qd, sizes and M of all lanes. */
void dyn_contact_evaluate(const dyn_contact_block *b, const dyn_contact_states *states);

/* Marks the coordinates whose acceleration is given in one lane, [nv] (NULL: none), for dyn_contact_factor. */
void dyn_contact_set_driven(dyn_contact_block *b, const bool *driven, size_t lane);

/* --- all lanes: the same bits for a state in any lane, whatever the other lanes have ------------------------------ */

/* Factors M and the constraint in all lanes. Returns false after the deadline. */
bool dyn_contact_factor(dyn_contact_block *b, const dyn_contact_states *states);

/* False if M of this lane is not positive definite, or a number is not finite. */
bool dyn_contact_is_factored(const dyn_contact_block *b, size_t lane);

/* Finds the outputs for the right sides b = scale (drift + J x) in all lanes. `drift` (k) or x (nv) NULL: zeros. With
 * `checks`, sets b->contradictory too; b must then be the accelerations J qdd + Jdot qd without contacts. */
void dyn_contact_find(const dyn_contact_block *b, const dyn_contact_states *states, const double *drift,
                      const double *x, double scale, bool checks);

/* Finds Lambda (k x k) and Jbar (nv x k; NULL: not wanted) in all lanes, and a bound on the condition number of J M^-1
 * J^T + delta (1), which is infinite in lanes without Lambda. The factors of dyn_contact_factor are overwritten. */
void dyn_contact_find_inertia(const dyn_contact_block *b, const dyn_contact_states *states, double *inertia,
                              double *inverse, double *bound);

/* Rotates the rows and columns of rolling frames in J M^-1 J^T + delta (k x k in W lanes) from the axes of their planes
 * to those of the world. */
void dyn_contact_turn_delassus(const dyn_contact_block *b, double *delassus);

/* Adds -Jbar b to x in one lane, after dyn_contact_find. */
void dyn_contact_add_change(const dyn_contact_block *b, size_t lane, double *x);

/* Writes the efforts of one lane as n wrenches of 6 numbers, with zeros along axes that are not held. */
void dyn_contact_put_wrenches(const dyn_contact_block *b, size_t lane, double *wrenches);

/* --- one lane ----------------------------------------------------------------------------------------------------- */

/* Finds the task-space inertia Lambda and the dynamically consistent inverse Jbar of J in one lane by LAPACK, with the
 * singular values and vectors of L^-1 J^T, in b->task: the friction of joints at rest
 * (dynamics/joint_stiction/friction_rows.h) needs the vectors. `driven` as of dyn_contact_set_driven. Returns false if
 * numbers are not finite or M is not positive definite, and after the deadline. */
bool dyn_contact_solve(dyn_contact_block *b, const bool *driven, size_t lane);

/* Adds J x of one lane to `to` (k entries): to[a] += sum_v J_av x_v. If x is NULL, `to` does not change. */
void dyn_contact_add_jacobian_product(const dyn_contact_block *b, const double *x, size_t lane, double *to);

/* Subtracts the efforts J^T l of contact wrenches from tau in one lane; `wrenches` are the l of n frames, 6 numbers
 * each. */
void dyn_contact_subtract_efforts(const dyn_contact_block *b, const double *wrenches, size_t lane, double *tau);

/* Copies each of `entries` values from lane live - 1 to the lanes after it. */
void dyn_contact_pad(const dyn_contact_block *b, size_t live, size_t entries, double *values);

/* Writes the accelerations -delta l that contact wrenches l leave in one lane; both have n x 6 entries. */
void dyn_contact_put_residual(const dyn_contact_block *b, double damping, const double *wrenches, size_t lane,
                              double *residual);
