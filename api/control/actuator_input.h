/* actuator_input.h - "input" of a simulation: what drives the robot.
 *
 *     {"tau": signal}                                           torques (signal.h)
 *     {"controller", "kp", "kd", "reference": signal, "clip"?, ...}      a controller (controller.h)
 *
 * The efforts of a controller are clipped at the effort limits of joints unless "clip" is false.
 *
 * Without it nothing does: torques are zero. */
#pragma once
#include "controller.h"

typedef struct api_actuator_input {
    bool                  given;
    const api_controller *controller;    /* NULL: the signal is torques */
    api_signal            signal;        /* torques, or the reference */
    double               *gains[2];      /* kp, kd: [nv] */
    bool                  gain_alone[2]; /* one for all joints */
    double                filter;        /* rad/s */
    bool                  clip;          /* efforts at their limits */
    api_coordinate       *coordinate;    /* [nv] */
    const bool           *prescribed;    /* [nv] coordinates that follow a given motion; NULL: none */
    const bool           *actuated;      /* [nv] coordinates that a controller drives; NULL: all */
    const bool           *driven;        /* [nv] these and the prescribed ones; NULL as `actuated` is */
    const bool           *resting;       /* [nv] see api_controller_input; NULL as `actuated` is */
    double               *most;          /* [nv] N m or N: the effort limits; INFINITY: none */
} api_actuator_input;

/* Reads and checks; `value` may be NULL. `prescribed` [nv] tells coordinates that follow a given motion; NULL: none do.
 * False with a problem. */
bool api_actuator_input_read(api_evaluation *e, const api_node *value, double duration, const bool *prescribed,
                             api_actuator_input *drive);

/* After "joints" is read: the signal's numbers, and gains in the model's order. */
bool api_actuator_input_load(api_evaluation *e, api_actuator_input *drive);
