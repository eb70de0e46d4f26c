/* held_fields.h - reads the frames that a request holds (dynamics/contact/contact.h), the field "held":
 *
 *     {"frame", "axes"?, "reference"?} held along these axes, of the world or of the frame
 *     {"frame", "rolling": {"radius", "axle"?, "normal"?}} a sphere or a disc about the axle that rolls on a plane
 */
#pragma once
#include "api/requests/fields/fields.h"
#include "api/requests/fields/operation.h"
#include "dynamics/contact/contact.h"

/* True if `options` have the field "held". An empty list counts as no field. */
bool api_contact_is_given(const api_node *options);

/* Reads the field "held" of `options` at the place `up`. *contact stays NULL if it is not given. Returns false with a
 * problem. */
bool api_contact_read(api_query *q, const api_node *options, const api_place *up, const dyn_held_set **contact);

/* Refuses rolling frames for an operation that does not compute them: `what` names it for the message. contact NULL: no
 * held frames. Returns false with a problem. */
bool api_contact_refuse_rolling(const api_query *q, const dyn_held_set *contact, const api_place *up, const char *what);

/* Returns the text of a problem of numbers that are not finite in a state with these held frames. */
const char *api_contact_not_finite(const dyn_held_set *contact);

/* Like api_contact_read, for entries that may have the members `fields`, an array that ends with NULL and has those of
 * api_contact_read among them. The caller reads the others. */
bool api_contact_read_members(api_query *q, const api_node *options, const api_place *up, const char *const *fields,
                              const dyn_held_set **contact);

/* Reads "contact_damping", which needs held frames: `held` is true if there are some. *damping is 0 without the field.
 * Returns false with a problem. */
bool api_contact_read_damping(api_query *q, const api_node *options, const api_place *up, bool held, double *damping);

/* Makes `output`, contact_residual, a default output of a request with damping. Returns false with a problem if it is
 * requested without damping. */
bool api_contact_select_residual(api_query *q, api_selection *selected, size_t output, double damping,
                                 const api_node *options, const api_place *up);

enum { API_SITE_VALUES = 9 /* numbers of a wrench in lanes: force, torque, point */ };

/* Returns the sites of the request's wrenches, then of the contacts. NULL with a problem. */
const dyn_wrench_site *api_contact_list_sites(const api_query *q, const dyn_held_set *contact);

/* Gathers force, torque and point of all wrenches of a block: those of the request, then `contacts` (n x 6 in lanes),
 * whose points are the origins of the frames. */
void api_contact_gather_wrenches(const api_evaluation *e, const dyn_held_set *contact, const double *contacts,
                                 size_t block, double *to);

/* Returns the name of direction `a` of a held frame, for messages. */
const char *api_contact_axis_name(const dyn_held_frame *frame, size_t a);

/* Writes why no accelerations hold the frames: `row` is 1 + the direction that dyn_contact_find_contradiction returned.
 * Returns false. */
bool api_contact_describe(const dyn_held_set *contact, size_t row, double damping, api_problem *problem);
