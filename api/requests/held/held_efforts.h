/* held_efforts.h - finds the wrenches on held frames under a given motion (dynamics/held/held_wrenches.h), and says why
 * there are none. Shared by the operations that compute efforts from a motion with "held" frames.
 *
 * No actuator moves the coordinates of a floating base, of joints with "actuated": false, and of elastic joints on the
 * link's side of the spring. */
#pragma once
#include "contact_limits.h"
#include "api/requests/lanes/evaluation.h"

/* The held frames of an operation. */
typedef struct api_held_efforts {
    dyn_held_choice        choice;
    api_contact_limit     *limits; /* [rows, then cones] place in the request of each limit; NULL: no limits */
    const dyn_wrench_site *sites;  /* the request's wrenches, then the contacts */
    dyn_scene              scene;  /* the scene of the request with these sites */
    double                 lever;  /* m, length by which the robot's weight is multiplied to scale efforts in N m */
    bool                  *linear; /* [choice.n_passive] true: the coordinate is in m, its effort in N */
} api_held_efforts;

/* The wrenches of a block of states. */
typedef struct api_held_wrenches {
    dyn_held_block block;
    dyn_least_norm limited[DYN_MAX_LANES]; /* the states of the block; their arrays exist only with limits */
    bool           found[DYN_MAX_LANES];   /* the states whose wrenches are found */
    double        *contacts;               /* n x 6 in lanes, wrenches on the held frames */
    double        *wrenches;               /* 9 each in lanes: those of the request, then of the contacts */
} api_held_wrenches;

/* Reads "held" with the limits of the contacts. *found stays NULL without held frames, and `output`, contact_wrenches,
 * is then refused; else it becomes a default output. False with a problem. */
bool api_held_efforts_read(api_query *q, api_selection *selected, size_t output, const api_node *options,
                           const api_place *up, api_held_efforts **found);

/* Finds the coordinates without actuator and the sites, when all fields are read. False with a problem. */
bool api_held_efforts_prepare(const api_query *q, api_held_efforts *efforts);

/* Returns the held frames in the scene of the slot's row: `efforts` itself if all rows have one scene, else *copy,
 * which lasts until the slot's next row. */
const api_held_efforts *api_held_efforts_in_row(const api_evaluation *e, const api_held_efforts *efforts,
                                                api_held_efforts *copy);

/* Returns the scratch entries of a state for the arrays of api_held_wrenches. `n_wrenches`: number of wrenches of the
 * request. */
size_t api_held_efforts_entries(const api_model *model, const api_held_efforts *efforts, size_t n_wrenches);

/* Finds the wrenches of a block under a motion with the efforts motion->tau without contacts. The caller sets
 * w->contacts, which receives the contact wrenches, or NULL. Moves *next past the arrays. False with a problem. */
bool api_held_efforts_find(const api_evaluation *e, const api_held_efforts *efforts, size_t block,
                           const dyn_inverse_dynamics *motion, double **next, api_held_wrenches *w);

/* Fails a state whose held direction `row` has the acceleration or, if `jerks`, the jerk `left`, where up to `most`
 * would count as zero. Returns as api_fail_state does. */
typedef struct api_held_residual {
    size_t row;
    double left, most;
    bool   jerks;
} api_held_residual;
bool api_held_efforts_fail_moving(const api_evaluation *e, const api_held_efforts *efforts,
                                  const api_held_residual *residual, size_t state);

/* Sets the efforts (nv in lanes) of the coordinates without actuator to zero, without rounding errors. */
void api_held_efforts_clear(const api_evaluation *e, const api_held_efforts *efforts, double *tau);

/* Estimates the seconds of a state with held frames: the motion of each of them and an inverse dynamics more. */
double api_held_efforts_seconds(const api_call *call);

/* Estimates the seconds of the search for wrenches within limits, of all states; `efforts` may be NULL. */
double api_held_efforts_decoded_seconds(const api_query *q, const api_held_efforts *efforts);
