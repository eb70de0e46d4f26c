/* contact_points.h - reads the field "contacts" of a simulation: points of the robot that push against planes
 * (dynamics/contact/ground_points.h).
 *
 *     {"frame", "position"?, "plane"?: {"point"?, "normal"?}, "stiffness", "dissipation"?, "friction_coefficient"?,
 *      "slip_velocity"?}
 */
#pragma once
#include "api/requests/fields/fields.h"
#include "dynamics/simulation/simulation.h"

typedef struct api_contact_points {
    size_t            n;
    dyn_ground_point *point; /* [n] */
    dyn_wrench_site  *sites; /* the wrenches of the request, then the forces at the points; set by
                                api_contact_points_list */
} api_contact_points;

/* Reads the field; n is 0 where there is none. Returns false with a problem. */
bool api_contact_points_read(api_query *q, const api_node *options, api_contact_points *points);

/* Lists the sites, when the wrenches of the request are read. Returns false if memory is refused. */
bool api_contact_points_list(const api_query *q, api_contact_points *points);

/* Sets the scene of a simulation: that of `q` with the forces at the points. */
void api_contact_points_set_scene(const api_query *q, const api_contact_points *points, dyn_scene *scene);
