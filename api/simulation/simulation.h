/* simulation.h - motions that follow from the equation of motion: a request for simulations, read, and integrated.
 *
 * Every row is a simulation of N samples; state b N + n is sample n of simulation b. What is integrated is
 * y = [q; q'; controller; sticking; work]: what the controller remembers; friction of joints that stick; the work of
 * actuators, of friction and dampers, and of wrenches on the robot, so that
 *
 *     kinetic + potential = their sum at time 0 + work_1 + work_2 + work_3.
 *
 * Time is cut at all samples, and wherever the input is not smooth; steps never reach over a cut, so that what jumps
 * there costs no accuracy. Quaternions are integrated as four numbers, q' = 1/2 q (w, 0), and projected on the unit
 * sphere after every step, which keeps the order of the method (Hairer, Lubich & Wanner 2006,
 * IV.4). */
#pragma once
#include "api/contact/contact.h"
#include "api/control/actuator_input.h"
#include "api/control/joint_limits.h"
#include "api/control/prescribed.h"
#include "api/motion/sampling.h"
#include "api/motion/wrench_signals.h"

enum { API_WORKS = 3 };

typedef enum api_work { API_WORK_ACTUATORS, API_WORK_FRICTION, API_WORK_WRENCHES } api_work;

typedef struct api_simulation {
    double                duration, tolerance; /* s; of errors relative and absolute, 0: fixed steps */
    double                step;                /* s, the longest of fixed ones */
    bool                  stiff;               /* an implicit method, where the tolerance is kept */
    api_sampling          sampling;
    api_actuator_input    drive;
    api_prescribed_motion prescribed; /* coordinates that follow a given motion */
    api_wrench_signals    wrenches;   /* that change with time */
    const api_contact    *contact;    /* frames that are held; NULL: none */
    api_joint_limits      limits;     /* of joints */
    unsigned              works;      /* bit i: that work is integrated */
    size_t                n_cuts;
    double               *cuts; /* s, from 0 to the last sample, rising */
    bool                 *kink; /* whether the input is not smooth there */
    /* Lanes of all states, of what is asked for; NULL: not. */
    double *q, *qd, *qdd, *tau, *time, *steps, *work[API_WORKS], *error[2], *held;
} api_simulation;

/* Reads and checks, and sets e->samples. NULL with a problem. */
api_simulation *api_simulation_read(api_evaluation *e, const api_node *fields);

/* After all fields are read: the numbers of the input, the cuts. False with a problem. */
bool api_simulation_prepare(api_evaluation *e, api_simulation *simulation);

/* Integrates all rows and fills the lanes. False with a problem. */
bool api_simulation_run(api_evaluation *e, const api_simulation *simulation);
