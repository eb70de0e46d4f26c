/* contact.h - frames that something holds, and the wrenches with which it does: "held" of a request.
 *
 *     {"frame", "axes"?, "reference"?}      along these axes, of the world or its own, the frame's velocity is held
 *
 * Of all held frames J (k x nv) has the rows of the Jacobians that belong to these axes. What holds them are efforts
 * J^T l, and with M = L L^T (task_inertia.h)
 *
 *     Lambda = (J M^-1 J^T)^-1,    Jbar = M^-1 J^T Lambda,
 *     held:      J qdd + Jdot qd = 0:   b = J qdd_0 + Jdot qd,   l = -Lambda b,   qdd = qdd_0 - Jbar b,
 *     hit:       J qd+ = -e J qd:       b = (1 + e) J qd,        p = -Lambda b,   qd+ = qd - Jbar b,
 *
 * qdd_0 being the accelerations of the robot that nothing holds. Coordinates may be driven: their qdd are given
 * whatever the contacts do. In Lambda and Jbar rows and columns of M that belong to driven coordinates are then those
 * of the identity, and the columns of J are zero; b keeps all of J.
 *
 * Contacts may depend on each other (two hands on one thing, four feet on the ground): then the inverse is a
 * pseudo-inverse, and of all l that do the least is found, in the sum of squares of N and N m; the motion is the same
 * for all of them. */
#pragma once
#include "api/request/fields.h"
#include "api/evaluate/operation.h"
#include "task_inertia.h"

enum { API_MAX_HELD = 32 };

typedef struct api_held_frame {
    dyn_frame frame;
    bool      frame_axes;
    size_t    n; /* axes */
    int       axis[API_FRAME_AXES];
} api_held_frame;

typedef struct api_contact {
    size_t          n, k; /* frames; axes of all of them */
    api_held_frame *held; /* [n] */
} api_contact;

/* The states of one block in lanes; qd may be NULL. */
typedef struct api_contact_states {
    const dyn_kernels *kernels;
    const dyn_scene   *scene;
    void              *workspace;
    const double      *q, *qd;
} api_contact_states;

/* What is found of them, and of one after the other. */
typedef struct api_contact_block {
    const api_contact *contact;
    size_t             nv, W;
    double            *J;                     /* k x nv */
    double            *reach;                 /* k: api_task_row_scale of each row */
    double            *drift;                 /* k: Jdot qd */
    double            *M;                     /* nv x nv */
    double            *inverse, *singular;    /* nv x nv, 1: may be NULL, see dyn_mass_matrix */
    double            *frame_J, *frame_J_dot; /* 6 x nv, of a frame */
    const bool        *driven;                /* [nv]; NULL: no coordinate is driven */
    api_task           task;                  /* of one state */
} api_contact_block;

/* Reads "held"; *contact stays NULL when there is none. False with a problem. */
bool api_contact_read(api_evaluation *e, const api_node *options, const api_place *up, const api_contact **contact);

/* Entries a state of a block's lanes, and laying them out, J first; `inverse` and `singular` are NULL. */
size_t            api_contact_entries(size_t nv, const api_contact *contact);
api_contact_block api_contact_lay_out(const api_contact *contact, size_t nv, size_t W, double *lanes);

/* J, reach, drift, M. */
void api_contact_evaluate(const api_contact_block *b, const api_contact_states *states);

/* Lambda and Jbar of one lane, into b->task. False when figures are too large. */
bool api_contact_solve(api_contact_block *b, size_t lane);

/* Whether accelerations exist with J qdd + drift = 0, where the rows of J depend on each other: what of the drift they
 * cannot undo counts above this part of what velocities can make of it. With driven coordinates, `given` (nv, lanes)
 * holds their accelerations, which add to the drift; NULL: zeros. */
bool api_contact_is_consistent(const api_contact_block *b, const double *qd, const double *given, size_t lane,
                               double part);

/* to[a] += sum_v J_av x_v, of one lane; x may be NULL for zeros. */
void api_contact_add_jacobian_product(const api_contact_block *b, const double *x, size_t lane, double *to);

/* x -= Jbar b; and -Lambda b into n wrenches of 6, 0 where nothing is held. */
void api_contact_apply_correction(const api_contact_block *b, const double *along, size_t lane, double *x);
void api_contact_put_wrenches(const api_contact_block *b, const double *along, size_t lane, double *wrenches);

/* tau -= J^T l of one lane, l being these wrenches of n frames. */
void api_contact_subtract_efforts(const api_contact_block *b, const double *wrenches, size_t lane, double *tau);

/* Lanes from `live` on of `entries` values become copies of lane live - 1. */
void api_contact_pad(const api_contact_block *b, size_t live, size_t entries, double *values);

/* Of an operation: fails a state that could not be solved, or whose velocities disagree (api_fail_state). */
bool api_contact_fail(const api_evaluation *e, api_code code, size_t state);

#define API_CONTRADICTORY_TEXT                                                                                         \
    "no accelerations keep the velocities of all that is held: some of it is on one body that turns, or at the end "   \
    "of its reach. Hold fewer axes"
