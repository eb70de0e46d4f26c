/* friction_at_rest.h - finds the sharp friction (stiction_solver.h) that holds joints and motors at rest, for a block
 * of states in lanes:
 *
 *     dyn_friction_at_rest_begin(&b, scratch);
 *     dyn_friction_at_rest_find(&b, lane, deadline) for each lane
 *     dyn_friction_at_rest_finish(&b);
 *
 * On entry `qdd` holds the accelerations without held frames and without the friction of joints at rest. On return it
 * holds those with this friction, again without held frames. */
#pragma once
#include "friction_rows.h"

typedef struct dyn_friction_at_rest {
    const dyn_stiction_joint *joint; /* [n] joints and motors that can stick (dyn_friction_rows_list) */
    size_t                    n, nv;
    const dyn_kernels        *kernels;
    const dyn_scene          *scene;
    void                     *workspace;
    const double             *G;                    /* matrix G of dyn_friction_state; NULL: no loops */
    const double             *q, *qd;               /* in lanes: nq positions; nv velocities, NULL: zero */
    const double             *tau, *wrenches;       /* in lanes: nv efforts; values of the scene's external wrenches */
    dyn_contact_block        *held;                 /* after dyn_contact_evaluate; NULL: no frames are held */
    double                   *qdd;                  /* in lanes, nv: replaced by the accelerations with friction */
    double                   *friction;             /* in lanes, nv: result, zero for moving joints */
    double                   *stuck, *M, *singular; /* in lanes: nv, nv x nv, 1: scratch */
    double                   *efforts;              /* in lanes, nv: scratch */
    double                   *rows;                 /* one state: scratch of dyn_friction_rows */
    size_t                   *index;                /* [n] entries of `joint` that the rows belong to: scratch */
} dyn_friction_at_rest;

/* Returns the doubles per state, in lanes, of the scratch memory. */
size_t dyn_friction_at_rest_entries(size_t nv, size_t n);

/* Lays out the scratch arrays in memory of dyn_friction_at_rest_entries. Computes the mass matrix, unless frames are
 * held, and the efforts without friction, from which the limits of joints at rest follow. Sets the friction of all
 * lanes to zero. */
void dyn_friction_at_rest_begin(dyn_friction_at_rest *b, double *scratch);

/* Finds the friction of one lane. If the equations of its held frames cannot be solved, the friction of the lane is
 * zero. */
dyn_friction_status dyn_friction_at_rest_find(const dyn_friction_at_rest *b, size_t lane, dyn_deadline deadline);

/* Computes qdd of all lanes from the friction that was found. */
void dyn_friction_at_rest_finish(const dyn_friction_at_rest *b);

/* Sets to zero those of the n accelerations qdd, in lanes, whose coordinates stick. `scratch` is the memory that was
 * given to dyn_friction_at_rest_begin, after dyn_friction_at_rest_finish. */
void dyn_friction_at_rest_stop(const double *scratch, size_t n, double *qdd);
