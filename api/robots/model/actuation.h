/* actuation.h - find, for every coordinate of a model, its joint and whether an actuator acts on it. */
#pragma once
#include "model.h"

/* One of the model's nv velocity coordinates. */
typedef struct api_coordinate {
    int  joint;    /* index in model->joints; -1: the floating base */
    int  position; /* index in q of the coordinate whose rate this is; -1: the joint has a quaternion */
    int  motor;    /* on the joint side of an elastic joint: index of the motor's coordinate; else -1 */
    bool actuated; /* an actuator acts on it ("actuated": true); in an elastic joint, on the motor's coordinate */
} api_coordinate;

/* Describes every velocity coordinate of the model: writes model->nv entries. */
void api_coordinates_describe(const api_model *model, api_coordinate *to);

/* Name of the joint that a coordinate belongs to, for messages. */
const char *api_coordinate_joint(const api_model *model, const api_coordinate *coordinate);
