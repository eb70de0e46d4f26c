/* actuation.h - find, for every coordinate of a model, its joint and whether an actuator acts on it. */
#pragma once
#include "model.h"

/* One of the model's nv velocities. */
typedef struct api_coordinate {
    int  joint;    /* index in model->joints; -1: the floating base */
    int  position; /* entry of q whose rate the velocity is; -1: the joint has a quaternion */
    int  motor;    /* of an elastic joint's own coordinate, the coordinate of its motor; else -1 */
    bool actuated; /* an actuator acts here: joints with "actuated": true, of elastic ones the motor's coordinate */
} api_coordinate;

/* Fills model->nv entries. */
void api_coordinates_describe(const api_model *model, api_coordinate *to);

/* The name of the joint that a coordinate belongs to, for messages. */
const char *api_coordinate_joint(const api_model *model, const api_coordinate *coordinate);
