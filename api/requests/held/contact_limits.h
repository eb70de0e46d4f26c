/* contact_limits.h - reads the limits of the wrenches on held frames: members of the entries of "held",
 *
 *     {"weight"?, "normal"?, "least_normal_force"?, "friction_coefficient"?, "facets"?,
 * "torsional_friction_coefficient"?, "sole"?}
 *
 * With the force f and the torque t about the frame's origin, and the unit normal n out of the ground:
 *
 *     n.f >= least_normal_force, |f - (n.f) n| <= friction_coefficient n.f, |n.t| <= torsional_friction_coefficient
 * n.f, the centre of pressure is in the polygon `sole`. */
#pragma once
#include "api/requests/fields/fields.h"
#include "dynamics/held/held_wrenches.h"

typedef enum api_limit_kind { API_NORMAL_LIMIT, API_FRICTION_LIMIT, API_TORSION_LIMIT, API_SOLE_LIMIT } api_limit_kind;

/* The held frame that a limit belongs to, its kind, and its number in the request: N, or a coefficient; 0 of a sole. */
typedef struct api_contact_limit {
    size_t         frame;
    api_limit_kind kind;
    double         bound;
} api_contact_limit;

/* The members of an entry of "held", an array that ends with NULL. */
extern const char *const api_contact_limit_members[];

/* Reads the weights and limits of the list "held" at `place` into the choice, whose contact is read. limits[i] becomes
 * the place of row i, and after the rows of the cones; NULL without limits. False with a problem. */
bool api_contact_limits_read(api_query *q, const api_node *list, const api_place *place, dyn_held_choice *choice,
                             api_contact_limit **limits);

/* Returns the name of the member of "held" that sets a limit, for messages. */
const char *api_contact_limit_name(api_limit_kind kind);
