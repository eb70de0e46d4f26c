/* contact_points.h - reads the field "contacts" of a simulation: points of the robot that push against planes
 * (dynamics/contact/compliant_contact.h), or that planes do not let in (dynamics/rigid_contact/rigid_contact_solver.h).
 *
 *     {"frame", "position"?, "plane"?: {"point"?, "normal"?}, "friction_coefficient"?,
 *      "stiffness", "dissipation"?, "slip_velocity"?}          a compliant contact
 *     {..., "rigid": true, "restitution"?, "resting_speed"?}    a rigid one
 */
#pragma once
#include "api/requests/fields/fields.h"
#include "dynamics/simulation/simulation.h"

typedef struct api_contact_points {
    size_t                 n_all;
    bool                  *is_rigid; /* [n_all] true: the contact is rigid; in the order of the request */
    size_t                 n, n_rigid;
    dyn_compliant_contact *point; /* [n] the compliant ones */
    dyn_rigid_contact     *rigid; /* [n_rigid] the rigid contacts */
    size_t                *entry; /* [n_rigid] index of each rigid contact in the request */
    dyn_wrench_site       *sites; /* the wrenches of the request, then the forces at `point`; set by
                                     api_contact_points_list */
} api_contact_points;

/* Reads the field; n_all is 0 where there is none. Returns false with a problem. */
bool api_contact_points_read(api_query *q, const api_node *options, api_contact_points *points);

/* Lists the sites of wrenches and forces, after the wrenches of the request are read. Returns false if memory is
 * refused. */
bool api_contact_points_list(const api_query *q, api_contact_points *points);

/* Sets the scene of a simulation: that of `q` with the forces at compliant points. */
void api_contact_points_set_scene(const api_query *q, const api_contact_points *points, dyn_scene *scene);
