/* simulation.h - simulates motions by integrating the equations of motion: reads the request and runs it.
 *
 * Every row is a simulation of N samples; state b N + n is sample n of simulation b. The integrated vector is y = [q;
 * q'; state of the controller; friction load of joints that can stick; work]. The work entries are those of actuators,
 * of friction and dampers, and of wrenches on the robot, with
 *
 *     kinetic + potential = their sum at time 0 + work_1 + work_2 + work_3.
 *
 * Interval boundaries are all sample times and all times at which the input is not smooth. Steps end at boundaries, so
 * that jumps cost no accuracy. Quaternions are integrated as four numbers, q' = 1/2 q (w, 0), and normalized after
 * every step, which keeps the order of the method (Hairer, Lubich & Wanner 2006, IV.4). */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/requests/held/held_fields.h"
#include "api/requests/control/actuator_input.h"
#include "api/requests/control/joint_limits.h"
#include "api/requests/control/prescribed.h"
#include "api/requests/motion/sampling.h"
#include "api/requests/motion/wrench_signals.h"
#include "dynamics/simulation/simulation.h"
#include "contact_points.h"
#include "integrator.h"

typedef struct api_contact_events api_contact_events; /* defined in contact_events.h */

typedef struct api_simulation {
    const dyn_integrator *integrator;
    double                duration;  /* s */
    double                step;      /* s, longest fixed step; 0: not given */
    double                tolerance; /* relative and absolute error; 0: not given */
    api_sampling          sampling;
    api_actuator_input    input;
    api_prescribed_motion prescribed; /* coordinates that follow a given motion */
    api_wrench_signals    wrenches;   /* wrenches that change with time */
    const dyn_held_set   *contact;    /* held frames; NULL: none */
    double                damping;    /* contact damping; 0: none */
    api_contact_points    ground;     /* points that touch planes */
    api_joint_limits      limits;     /* joint limits to report */
    unsigned              works;      /* bit i: work entry i is integrated */
    size_t                n_boundaries;
    double               *boundaries; /* [n_boundaries] s, increasing, from 0 to the last sample */
    bool                 *is_break;   /* [n_boundaries] true: the input is not smooth at this boundary */
    /* Lanes of all states of the requested outputs; NULL: not requested. */
    double *q, *qd, *qdd, *tau, *time, *steps, *work[DYN_WORKS], *error[2], *contact_wrenches, *contact_residual,
        *contact_forces;
    api_contact_events *contact_events; /* NULL: not requested, or not yet simulated */
} api_simulation;

/* Reads and checks the fields of a simulation, and sets q->samples. Returns NULL with a problem. */
api_simulation *api_simulation_read(api_query *q, const api_node *fields);

/* Loads the numbers of the signals, after all fields are read. Returns false with a problem. */
bool api_simulation_prepare(api_plan *plan, api_simulation *simulation);

/* Integrates all rows and fills the lanes. Returns false with a problem. */
bool api_simulation_run(api_plan *plan, const api_simulation *simulation);
