/* path_friction.h - find what Coulomb friction and dampers add to the torques along a path (path.c). With the path's
 * derivative q' and ds/dt > 0, the sign of a coordinate's velocity is that of its q', and the sign of
 * the rate of a motor of a coupled transmission that of the same sum of entries of q'. */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* Outputs of the operation `path` that other operations use in their computation. Each of these operations
 * keeps an api_selection of `path`, and calls api_path.options, .prepare, .spare and .evaluate (operation.h). */
enum {
    API_PATH_A,
    API_PATH_B,
    API_PATH_C,
    API_PATH_D,
    API_PATH_DA_DS,
    API_PATH_DB_DS,
    API_PATH_DC_DS,
    API_PATH_DD_DS,
    API_PATH_JUMPS = API_PATH_DD_DS + 2
};

/* True if the model's Coulomb friction, sharp or smooth, is among the terms of the request. */
bool api_path_has_coulomb(const api_query *q);

/* True if Coulomb friction among the terms of the request is smooth, follows a Stribeck curve or depends on the load,
 * so that the torques are no polynomial in the rate. */
bool api_path_has_smooth(const api_query *q);
/* True if a damper depends on powers of its rate above the first. */
bool api_path_has_curved_damping(const api_query *q);

/* Returns the request's model without Coulomb friction, from the request's pool: a shallow copy with bodies and
 * motors of transmissions of its own.
 * NULL with a problem. */
const dyn_model *api_path_without_coulomb(const api_query *q);

/* True if the model has viscous friction, or a spring with damping, among the terms of the request. */
bool api_path_is_damped(const api_query *q);

/* Adds the sharp Coulomb friction of a block to c; `dq` is q' (nv, NULL: zero). */
void api_path_add_coulomb(const api_evaluation *e, const double *dq, double *c);

/* Emits the list of smooth Coulomb friction and of friction that depends on the load, an object for each joint that has
 * it, and then for the motors of transmissions: the coordinate or motor has the effort p tanh(rate / velocity), with p
 * = `positive` at rates > 0, else `negative`, plus `load` |T|, where T is the effort without friction. Joints with a
 * negative ratio move against their coordinates, so that the two magnitudes change places. */
void api_path_emit_smooth_friction(const api_query *q, api_emit *to);

/* Writes nv entries for each row of a block: where q' of a coordinate with sharp Coulomb friction changes its sign
 * between this row and the next, as a fraction of the way by linear interpolation; 0 if q' is zero in this row and not
 * in a neighbour; -1 otherwise. All rows must be in lanes at once. */
void api_path_find_jumps(const api_evaluation *e, size_t block, double *jumps);

/* Like api_path_find_jumps, for the rates of the motors of transmissions: one entry for each motor and row. */
void api_path_find_motor_jumps(const api_evaluation *e, size_t block, double *jumps);
