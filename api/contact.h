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
 * qdd_0 being the accelerations of the robot that nothing holds. Contacts may depend on each other (two hands on one
 * thing, four feet on the ground): then the inverse is a pseudo-inverse, and of all l that do the least is found, in
 * the sum of squares of N and N m; the motion is the same for all of them. */
#pragma once
#include "fields.h"
#include "operation.h"

enum { API_MOST_HELD = 32 };

typedef struct api_held {
    dyn_frame frame;
    bool      frame_axes;
    size_t    n; /* axes */
    int       axis[API_TASK_AXES];
} api_held;

typedef struct api_contact {
    size_t    n, k; /* frames; axes of all of them */
    api_held *held; /* [n] */
} api_contact;

/* A block of states in lanes, and one of them after the other. */
typedef struct api_contact_block {
    double  *J;                     /* k x nv */
    double  *drift;                 /* k: Jdot qd */
    double  *M;                     /* nv x nv */
    double  *inverse, *singular;    /* nv x nv, 1: may be NULL, see dyn_mass_matrix */
    double  *frame_J, *frame_J_dot; /* 6 x nv, of a frame */
    api_task task;                  /* of one state */
} api_contact_block;

/* Reads "held" into asked->contact, which stays NULL when there is none. False with a problem. */
bool api_contact_read(api_evaluation *e, api_asked *asked, const api_node *options, const api_place *up);

/* Entries a state of a block's lanes, and laying them out, J first; `inverse` and `singular` are left alone. */
size_t            api_contact_room(const api_model *model, const api_contact *contact);
api_contact_block api_contact_place(const api_evaluation *e, const api_contact *contact, double *lanes);

/* Of the states of block `block`: J, drift, M. */
void api_contact_fill(const api_evaluation *e, const api_contact *contact, const api_contact_block *b, size_t block);

/* Lambda and Jbar of one lane, into b->task. False with a problem. */
bool api_contact_solve(const api_evaluation *e, api_contact_block *b, size_t block, size_t lane);

/* Whether accelerations exist with J qdd + drift = 0, where the rows of J depend on each other. False with a problem.
 */
bool api_contact_agrees(const api_evaluation *e, const api_contact_block *b, size_t block, size_t lane);

/* to[a] += sum_v J_av x_v, of one lane; entries of x are W apart, x may be NULL for zeros. */
void api_contact_along(const api_evaluation *e, const api_contact_block *b, const double *x, size_t lane, double *to);

/* -Lambda b into the lane of n wrenches of 6, 0 where nothing is held; x -= Jbar b. */
void api_contact_apply(const api_evaluation *e, const api_contact *contact, const api_contact_block *b,
                       const double *along, size_t lane, double *wrenches, double *x);
