/* damped_joints.h - positions of the motors of elastic joints with dampers, given or integrated.
 *
 * The fields of the request are "times" and "motor_positions". */
#pragma once
#include "motor_motion.h"

typedef struct api_damped_joints {
    bool positions_given; /* "motor_positions": "given": q has the motors' positions, with times those of the first row
                           */
    bool          integrated; /* the rows are instants of one motion, and some elastic joint has a damper */
    size_t        n_times;
    const double *times;      /* [n_times] s, increasing; NULL: absent */
    double       *row_errors; /* [n_times] scratch: errors of one joint; NULL: nothing is integrated */
} api_damped_joints;

/* Reads the fields, and checks that they determine the motors of all joints with dampers. False with a problem. */
bool api_damped_joints_read(api_query *q, const api_node *fields, const api_place *up, api_damped_joints *d);

/* Checks the fields against the rows and takes the series of m and row_errors, unless nothing is integrated. Call it
 * once all fields are read. False with a problem. */
bool api_damped_joints_open(const api_query *q, api_damped_joints *d, api_motor_motion *m);

/* Returns the lowest level (motor_orders.h), from `level` on, that has a joint with a damper; a number above all levels
 * if there is none. */
size_t api_damped_level(const api_query *q, const api_motor_orders *orders, size_t level);

/* Integrates the joints of a level (motor_orders.h): replaces the residuals in their series by deltas (motor_motion.h).
 * `errors` are lanes [nv] of all states, where the estimated errors of theta'' are written; NULL: they are not written.
 * False with e->problem: the deadline has passed. */
bool api_damped_joints_integrate(const api_evaluation *e, const api_damped_joints *d, const api_motor_motion *m,
                                 size_t level, double *errors);
