/* motor_orders.h - find how many derivatives of the motion the motors of elastic joints depend on.
 *
 * No actuator acts on the link's side of an elastic joint. The row of this joint in the equation of motion is
 *
 *     tau_s + k (q - theta - rest) + d (q' - theta') = 0,
 *
 * where tau_s contains everything but the spring and its damper. Joints that move no link with the motor of an elastic
 * joint have level 1: their tau_s does not depend on motors. Otherwise tau_s contains the accelerations of these
 * motors, and the level of the joint is 1 + the highest level of theirs (De Luca & Book 2016).
 *
 * Inverse dynamics needs theta to theta'' of all motors. With d = 0, theta^(r) needs tau_s^(r). With d > 0 and theta
 * given, theta^(r) needs tau_s^(r-1). tau_s^(r) needs the derivative of order r + 2 of q, and of the motors that the
 * joint moves. */
#pragma once
#include "api/requests/fields/fields.h"
#include "dynamics/torque_series.h"

enum { API_MAX_MOTOR_LEVEL = (DYN_MAX_DERIVATIVE - 2) / 2 };

typedef struct api_motor_order {
    size_t level;  /* level of the joint, from 1 */
    size_t motion; /* order of the highest derivative of theta that is needed, at least 2 */
    size_t load;   /* order of the highest derivative of tau_s that is needed */
} api_motor_order;

typedef struct api_motor_orders {
    const api_motor_order *joint;   /* [n_couplings] */
    size_t                 levels;  /* highest level; 0: there are no elastic joints */
    size_t                 highest; /* the first coupling of this level */
    size_t                 motion;  /* order of the highest derivative of q that the torques depend on, at least 2 */
    size_t pass[API_MAX_MOTOR_LEVEL + 1]; /* [level] order of the highest derivative of tau_s of joints of this level */
} api_motor_orders;

/* Returns the name of the elastic joint with coupling i. */
const char *api_elastic_joint(const api_model *m, size_t i);

/* Sets the orders. `integrated`: motors of joints with dampers follow from derivatives of tau_s up to the order of
 * theta, as those of joints without dampers do. False with a problem: a torque depends on derivatives above the highest
 * that is taken. */
bool api_motor_orders_find(const api_query *q, bool integrated, api_motor_orders *orders);
