/* actuator_input.h - reads the field "input" of a simulation: the torques or the controller that drive the robot's
 * actuators.
 *
 *     {"tau": signal} torques over time (api/requests/motion/signal.h)
 *     {"controller", "kp", "kd", "ki"?, "reference": signal, "clip"?, "period"?, "delay"?, "model"?, ...} a controller
 *                                                                           (dynamics/control/controller.h)
 *     {"controller": "state_feedback", "gain_matrix", "q", "qd"?, "tau"?: signal, "clip"?, "period"?, "delay"?}
 *
 * The efforts of a controller are clipped at the limits of effort and the torque-speed lines of joints, and then at
 * those of motors of transmissions, unless "clip" is false. Without the field all torques are zero. */
#pragma once
#include "api/requests/motion/signal.h"
#include "api/robots/model/actuation.h"
#include "dynamics/control/controller.h"
#include "dynamics/simulation/simulation.h"

typedef struct api_actuator_input {
    bool                         is_given;
    const dyn_controller        *controller;    /* NULL: the signal is torques */
    const struct api_controller *fields;        /* the controller's row (controller_fields.h); NULL with `controller` */
    api_signal                   signal;        /* torques, or the signal of the controller */
    double          *gains[DYN_GAINS];          /* [nv] each kind of gain; NULL: the request does not have this kind */
    bool             gain_is_scalar[DYN_GAINS]; /* true: the request gives one gain for all coordinates */
    dyn_sampling     sampling;
    const api_model *model;              /* the stored model that the controller uses; NULL: that of the request */
    bool  knows_payload, knows_friction; /* true: the controller's model includes the robot's payload, its friction */
    void *options;              /* options that only this controller has (dynamics/control/controller.h); NULL: none */
    bool  clip;                 /* clip efforts at their limits */
    api_coordinate *coordinate; /* [nv] joint and limits of each coordinate */
    int            *motor;      /* [nv] `motor` of each coordinate */
    const bool     *prescribed; /* [nv] coordinates with a prescribed motion; NULL: none */
    const bool     *actuated;   /* [nv] coordinates that a controller drives; NULL: all */
    const bool     *driven;     /* [nv] coordinates that are actuated or prescribed; NULL if `actuated` is NULL */
    const bool *supported;    /* [nv] coordinates whose load an actuator or motor carries; NULL if `actuated` is NULL */
    double     *effort_limit; /* [nv] effort limits, N m or N; INFINITY: none */
    dyn_speed_line *line;     /* [nv] torque-speed lines; a stall effort of INFINITY: none */
} api_actuator_input;

/* Reads and checks the field "input"; `value` is NULL if the request has none. `duration` is in s. `prescribed` [nv]
 * marks coordinates with a prescribed motion; NULL: none. Returns false with a problem. */
bool api_actuator_input_read(api_query *q, const api_node *value, double duration, const bool *prescribed,
                             api_actuator_input *input);

/* Loads the signal's numbers and brings the gains to the model's order. Call it after the field "joints" is read.
 * Returns false with a problem. */
bool api_actuator_input_load(const api_query *q, api_actuator_input *input);

/* Returns the torque-speed line of a drive. */
dyn_speed_line api_speed_line(const api_drive_limits *limits);

/* True if the input drives all joints of the motor: they are actuated, and none has a prescribed motion. */
bool api_actuator_input_drives(const api_model *model, const api_actuator_input *input, const api_coupled_motor *motor);
