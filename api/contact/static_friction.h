/* static_friction.h - applies the option "friction_at_rest": "stick" of forward-dynamics: joints at rest stay at rest
 * if static friction (stiction.h) can hold them. */
#pragma once
#include "api/lanes/evaluation.h"
#include "api/request/operation.h"
#include "contact.h"
#include "stiction.h"

/* The joints of the model that can stick. */
typedef struct api_static_friction api_static_friction;

/* Reads the option into *sticking, which stays NULL unless joints may stick. The option is refused with held frames
 * (`contact` not NULL). Returns false with a problem. */
bool api_static_friction_read(api_query *q, const api_contact *contact, const api_node *given, const api_place *up,
                              const api_static_friction **sticking);

/* Checks, after all fields are read, that the request has friction. Returns false with a problem. */
bool api_static_friction_check(const api_query *q, const api_static_friction *sticking);

/* Returns the joints that can stick; *n is their number. */
const api_stiction_joint *api_static_friction_joints(const api_static_friction *sticking, size_t *n);

/* Returns the doubles per state that `room` of api_static_friction_apply needs in lanes. */
size_t api_static_friction_entries(const api_model *model);

/* Applies static friction to a block of states. On entry qdd are the accelerations without friction of joints at rest,
 * on return those with it. Writes the friction of joints at rest to `friction` (nv in lanes; zero for all other
 * joints). `room` is work. Returns false with a problem. */
bool api_static_friction_apply(const api_evaluation *e, const api_static_friction *s, size_t block, double *room,
                               double *qdd, double *friction);
