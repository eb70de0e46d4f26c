/* simulation.h - describes simulations that have all but their start in common: the robot, its input, held frames and
 * the integrator. The caller owns all arrays. robot_ode.h has the equations.
 *
 * Each simulation is a row of the signals and wrenches. The works are the work of actuators, of friction and dampers,
 * and of wrenches on the robot, with
 *
 *     kinetic + potential energy = their sum at time 0 + work_1 + work_2 + work_3. */
#pragma once
#include "dynamics/contact/compliant_contact.h"
#include "dynamics/rigid_contact/rigid_contact_solver.h"
#include "dynamics/control/controller.h"
#include "dynamics/loops/mechanism.h"
#include "dynamics/motion/limit.h"
#include "dynamics/motion/signal_value.h"
#include "dynamics/integration/integrator.h"

typedef enum dyn_work { DYN_WORK_ACTUATORS, DYN_WORK_FRICTION, DYN_WORK_WRENCHES, DYN_WORKS } dyn_work;

/* The effort limits of a motor of a transmission. */
typedef struct dyn_motor_limit {
    const dyn_drive *drive;
    const double    *effort; /* [drive->n] weights: the motor's effort is the weighted sum of joint efforts */
    double           most;   /* N m or N; INFINITY: none */
    dyn_speed_line   line;
} dyn_motor_limit;

/* Times of a sampled controller (ode_input.h). */
typedef struct dyn_sampling {
    double period; /* s between two samples; 0: the controller is continuous */
    double delay;  /* s from a sample until its efforts act */
} dyn_sampling;

/* The efforts of actuators: torques over time, or a controller. */
typedef struct dyn_actuator_input {
    const dyn_controller *controller;       /* NULL: the signal is the torques */
    const dyn_signal     *signal;           /* torques, or signal of the controller; NULL: all efforts are zero */
    const double         *gains[DYN_GAINS]; /* [nv] of each gain; integral gains DYN_KI are NULL if there are none */
    dyn_sampling          sampling;
    /* Model of the robot that the controller uses, with the same coordinates as the robot; NULL: the robot itself, with
     * the payload if `knows_payload`. Only for robots without loops, and without held frames. */
    const dyn_model       *model;
    bool                   knows_payload;  /* true: the controller knows the payload; false with `model` */
    bool                   knows_friction; /* true: the controller knows the friction of joints */
    const void            *options;        /* options of the controller; NULL: none */
    bool                   clip;           /* true: efforts of the controller are clipped at their limits */
    const int             *position;       /* [nv] index in q of the coordinate; -1: the joint has a quaternion */
    const int             *motor;          /* [nv] see dyn_controller_input, also for the next three members */
    const bool            *actuated;       /* [nv] NULL: all */
    const bool            *driven;         /* [nv] NULL if `actuated` is NULL */
    const bool            *supported;      /* [nv] NULL if `actuated` is NULL */
    const double          *effort_limit;   /* [nv] N m or N; INFINITY: none */
    const dyn_speed_line  *line;           /* [nv] */
    size_t                 n_motor_limits;
    const dyn_motor_limit *motor_limit; /* [n_motor_limits] */
} dyn_actuator_input;

/* Coordinates that follow a given motion r(t): q = r, q' = r' and q'' = r''. Their efforts are those that the motion
 * needs; hybrid dynamics give the accelerations of the other coordinates (Featherstone 2008, ch. 9.2). */
typedef struct dyn_prescribed_motion {
    size_t            n;      /* 0: none */
    const size_t     *v, *q;  /* [n] indices of velocities and positions */
    const bool       *mask;   /* [nv]; NULL if n is 0 */
    const dyn_signal *motion; /* signal of n entries, in the order of `v` */
} dyn_prescribed_motion;

/* A part of a wrench that changes with time. */
typedef struct dyn_wrench_signal {
    size_t            wrench, part; /* index of the wrench; 0: force, 1: torque, 2: point */
    const dyn_signal *value;        /* 3 numbers */
} dyn_wrench_signal;

typedef struct dyn_simulation {
    const dyn_integrator        *integrator;
    const dyn_kernels           *kernels; /* kernels of the tree */
    const dyn_scene             *scene;
    dyn_mechanism                mechanism; /* the robot without payload */
    size_t                       n_angles;
    const dyn_bound             *angle;     /* [n_angles] allowed ranges of angles; an angle out of range is a fault */
    double                       step;      /* s, longest fixed step */
    double                       tolerance; /* relative and absolute error */
    double                       duration;  /* s */
    double                       first_end; /* s, end of the first interval of the integration; 0: no such interval */
    double                       end;       /* s, end of the last interval of the integration */
    dyn_actuator_input           input;
    dyn_prescribed_motion        prescribed;
    size_t                       n_wrench_signals;
    const dyn_wrench_signal     *wrench_signal; /* [n_wrench_signals] */
    const dyn_held_set          *contact;       /* held frames; NULL: none */
    size_t                       n_ground;
    const dyn_compliant_contact *ground; /* [n_ground] contacts whose forces are the last wrenches of `scene` */
    size_t                       n_rigid;
    const dyn_rigid_contact     *rigid;      /* [n_rigid] points that must not penetrate planes */
    double                       damping;    /* contact damping; 0: none */
    unsigned                     works;      /* bit mask of the works to be integrated: 1 << DYN_WORK_ACTUATORS ... */
    bool                         fail_alone; /* true: a fault ends only its simulation; false: a fault ends all */
    bool has_guess; /* true: closed_passive holds a guess of the passive coordinates at the start */
} dyn_simulation;
