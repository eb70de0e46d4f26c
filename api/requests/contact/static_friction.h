/* static_friction.h - applies the option "friction_at_rest": "stick" of forward-dynamics: joints at rest stay at rest
 * if static friction (dynamics/joint_stiction/stiction_solver.h) can hold them, and the motors of coupled transmissions
 * likewise. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/operation.h"
#include "dynamics/contact/contact.h"
#include "dynamics/joint_stiction/stiction.h"

/* The cost of a friction problem of n rows, as a weight of api_operation for n^3: some factorizations. */
#define API_FRICTION_CUBE_WEIGHT 2

/* The joints and motors of the model that can stick. */
typedef struct api_static_friction api_static_friction;

/* Reads the option into *sticking, which stays NULL unless joints may stick. Returns false with a problem. */
bool api_static_friction_read(api_query *q, const api_node *given, const api_place *up,
                              const api_static_friction **sticking);

/* Refuses, for models with loops, motors of coupled transmissions and passive joints that can stick, at
 * "friction_at_rest" of `up`. Returns false with a problem. */
bool api_static_friction_check_coordinates(const api_query *q, const api_place *up, const api_static_friction *s);

/* Checks, after all fields are read, that the request has friction. Returns false with a problem. */
bool api_static_friction_check(const api_query *q, const api_static_friction *sticking);

/* Returns the joints and motors that can stick; *n is their number. */
const dyn_stiction_joint *api_static_friction_joints(const api_static_friction *sticking, size_t *n);

/* Returns the doubles per state that `room` of api_static_friction_apply needs in lanes. */
size_t api_static_friction_entries(const api_model *model, const api_static_friction *sticking);

/* Applies static friction to a block of states. On entry qdd are the accelerations of the robot without held frames and
 * without friction of joints at rest; on return those with this friction, still without held frames. `held` has the
 * held frames after dyn_contact_evaluate, NULL: none; they are used to decide which joints stick. Writes the friction
 * of joints at rest to `friction` (nv in lanes; zero for all other joints). `room` is scratch memory. Returns false
 * with a problem.
 */
bool api_static_friction_apply(const api_evaluation *e, const api_static_friction *s, size_t block,
                               dyn_contact_block *held, double *room, double *qdd, double *friction);

/* Sets qdd of the coordinates that stick to zero exactly, after api_static_friction_apply with the same `room`. */
void api_static_friction_stop(const api_evaluation *e, const double *room, double *qdd);
