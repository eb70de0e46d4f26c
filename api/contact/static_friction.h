/* static_friction.h - "friction_at_rest": "stick" of forward-dynamics: joints at rest stay there while static friction
 * (stiction.h) holds them. */
#pragma once
#include "api/evaluate/operation.h"
#include "contact.h"
#include "stiction.h"

/* The joints of the model that can stick. */
typedef struct api_static_friction api_static_friction;

/* Reads the option into *sticking, which stays NULL unless joints are to stick; `contact` must then be NULL. False with
 * a problem. */
bool api_static_friction_read(api_evaluation *e, const api_contact *contact, const api_node *given, const api_place *up,
                              const api_static_friction **sticking);

/* When all fields are read: whether there is friction at all. */
bool api_static_friction_check(const api_evaluation *e, const api_static_friction *sticking);

/* Lanes of one block that api_static_friction_apply works with, entries a state. */
size_t api_static_friction_entries(const api_model *model);

/* Turns accelerations of a block without friction at rest into those with it, and puts the friction that holds joints,
 * or is overcome by what moves them, into `friction` (nv; zero for all other joints). False with a problem. */
bool api_static_friction_apply(const api_evaluation *e, const api_static_friction *s, size_t block, double *room,
                               double *qdd, double *friction);
