/* contact.h - finds the wrenches on frames whose velocity is held, the field "held" of a request:
 *
 *     {"frame", "axes"?, "reference"?} held along these axes, of the world or of the frame
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
 * ones. */
#pragma once
#include "api/requests/fields/fields.h"
#include "api/requests/fields/operation.h"
#include "dynamics/contact/task_inertia.h"

enum { API_MAX_HELD = 32 };

typedef struct api_held_frame {
    const char *name;
    dyn_frame   frame;
    bool        frame_axes;
    size_t      n; /* number of axes */
    int         axis[API_FRAME_AXES];
} api_held_frame;

typedef struct api_contact {
    size_t          n, k;     /* number of frames; axes of all frames */
    api_held_frame *frame;    /* [n] */
    dyn_deadline    deadline; /* past it api_contact_solve fails */
} api_contact;

/* The states of one block in lanes; qd may be NULL (zero). */
typedef struct api_contact_states {
    const dyn_kernels *kernels;
    const dyn_scene   *scene;
    void              *workspace;
    const double      *q, *qd;
} api_contact_states;

/* The constraint matrices of a block of states, in lanes. */
typedef struct api_contact_block {
    const api_contact *contact;
    size_t             nv, W;
    double            *J;                     /* k x nv */
    double            *row_scale;             /* k: scale of each row (dyn_task_row_scale) */
    double            *jdot_qd;               /* k: Jdot qd */
    double            *sizes;                 /* k: the accelerations A + V of dynamics/held_directions.h */
    double             unsettled;             /* V is multiplied by it: 1, or more for stages of an integrator */
    double            *M;                     /* nv x nv, symmetric */
    double            *inverse, *singular;    /* nv x nv and 1: outputs of dyn_mass_matrix; NULL: not wanted */
    double            *frame_J, *frame_J_dot; /* 6 x nv, of one frame: scratch */
    const bool        *driven;                /* [nv] coordinates with given acceleration; NULL: none */
    dyn_task           task;                  /* arrays for one state, used for each in turn */
} api_contact_block;

/* True if `options` have the field "held". An empty list counts as no field. */
bool api_contact_is_given(const api_node *options);

/* Reads the field "held" of `options` at the place `up`. *contact stays NULL if it is not given. Returns false with a
 * problem. */
bool api_contact_read(api_query *q, const api_node *options, const api_place *up, const api_contact **contact);

/* Reads "contact_damping", which needs held frames: `held` is true if there are some. *damping is 0 without the field.
 * Returns false with a problem. */
bool api_contact_read_damping(api_query *q, const api_node *options, const api_place *up, bool held, double *damping);

/* Makes `output`, contact_residual, a default output of a request with damping. Returns false with a problem if it is
 * requested without damping. */
bool api_contact_select_residual(api_query *q, api_selection *selected, size_t output, double damping,
                                 const api_node *options, const api_place *up);

/* api_contact_entries returns the doubles per state that a block needs in lanes. api_contact_lay_out returns a block in
 * these lanes, with J first and `inverse` and `singular` NULL. */
size_t            api_contact_entries(size_t nv, const api_contact *contact);
api_contact_block api_contact_lay_out(const api_contact *contact, size_t nv, size_t W, double *lanes);

/* Finds J, row_scale, Jdot qd, sizes and M of all lanes. */
void api_contact_evaluate(const api_contact_block *b, const api_contact_states *states);

/* Finds the task-space inertia Lambda and the dynamically consistent inverse Jbar of J in one lane, in b->task. Returns
 * false if numbers are not finite or M is not positive definite, and after the deadline. */
bool api_contact_solve(api_contact_block *b, size_t lane);

/* Returns 0, or 1 + the first row that contradicts those before it (dynamics/held_directions.h), after
 * api_contact_solve. `along` (k) are the accelerations J qdd + Jdot qd without contacts, qdd (nv in lanes) those of the
 * coordinates. */
size_t api_contact_find_contradiction(const api_contact_block *b, const double *along, const double *qdd, size_t lane);

/* Adds J x of one lane to `to` (k entries): to[a] += sum_v J_av x_v. If x is NULL, `to` does not change. */
void api_contact_add_jacobian_product(const api_contact_block *b, const double *x, size_t lane, double *to);

/* api_contact_apply_correction subtracts Jbar b from x in one lane. api_contact_put_wrenches writes l = -Lambda b as n
 * wrenches of 6 numbers, with zeros along axes that are not held. b is `right_side`. */
void api_contact_apply_correction(const api_contact_block *b, const double *right_side, size_t lane, double *x);
void api_contact_put_wrenches(const api_contact_block *b, const double *right_side, size_t lane, double *wrenches);

/* Subtracts the efforts J^T l of contact wrenches from tau in one lane; `wrenches` are the l of n frames, 6 numbers
 * each. */
void api_contact_subtract_efforts(const api_contact_block *b, const double *wrenches, size_t lane, double *tau);

/* Copies each of `entries` values from lane live - 1 to the lanes after it. */
void api_contact_pad(const api_contact_block *b, size_t live, size_t entries, double *values);

/* Writes why no accelerations hold the frames: `row` is 1 + the direction that api_contact_find_contradiction returned.
 * Returns false. */
bool api_contact_describe(const api_contact *contact, size_t row, double damping, api_problem *problem);

/* Writes the accelerations -delta l that contact wrenches l leave in one lane; both have n x 6 entries. */
void api_contact_put_residual(const api_contact_block *b, double damping, const double *wrenches, size_t lane,
                              double *residual);
