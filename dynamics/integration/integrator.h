/* integrator.h - describes a method of integration by one constant; DYN_INTEGRATORS lists all of them.
 *
 * The constant says what the lanes of the kernels hold, which memory the method needs, and how it integrates from one
 * interval boundary to the next. integrate_fixed.h and integrate_adaptive.h have the parts that methods share. To add
 * an integrator, write the file that defines its constant, and add its row here. */
#pragma once
#include "ode.h"

/* The rows: X(name) stands for the constant dyn_integrator_<name>. */
#define DYN_INTEGRATORS(X)                                                                                             \
    X(rk4)                                                                                                             \
    X(dopri5)                                                                                                          \
    X(esdirk5)

enum { DYN_MAX_STEPS = 10000000 }; /* largest number of steps of one simulation */

/* The part of a simulation between two boundaries, in s. */
typedef struct dyn_interval {
    double from, to;
    bool   starts_at_break; /* true: the input is not smooth at `from` */
} dyn_interval;

/* The states that the lanes of the kernels hold. */
typedef enum dyn_lane_use {
    DYN_LANES_ROWS,  /* one state of each of W simulations, which have the same steps */
    DYN_LANES_ONE,   /* the same state of one simulation in all lanes */
    DYN_LANES_STATES /* W states of one simulation, such as those for the columns of a Jacobian */
} dyn_lane_use;

typedef enum dyn_integration_status {
    DYN_INTEGRATION_DONE,
    DYN_INTEGRATION_LATE,        /* the deadline has passed */
    DYN_INTEGRATION_FAULTY,      /* no simulation can continue: its fault says why */
    DYN_INTEGRATION_SHORT,       /* no memory for SUNDIALS */
    DYN_INTEGRATION_STEP_LENGTH, /* a step within the tolerance would be shorter than the least step */
    DYN_INTEGRATION_EVENTS,      /* as STEP_LENGTH, at an event: joints begin to stick */
    DYN_INTEGRATION_STEPS        /* as STEP_LENGTH: DYN_MAX_STEPS steps would not reach the end */
} dyn_integration_status;

typedef struct dyn_integration {
    dyn_integration_status status;
    double                 time; /* s, the time that the integration has reached */
} dyn_integration;

typedef struct dyn_integrator {
    const char  *name;
    dyn_lane_use lanes;
    bool         locates_events; /* true: events are located within steps */
    bool         is_implicit;
    size_t       stages;     /* number of arrays in stage_rate of dyn_ode, at least 1 */
    size_t       data_bytes; /* size of the method's own data */
    /* Returns the number of steps of the length `step` at most over `time`, in s. NULL: the number is known only after
     * the integration. */
    double (*count_steps)(double step, double time);
    /* Returns the bytes that `open` allocates by malloc; the caller claims them before. NULL: none. */
    size_t (*bytes)(const dyn_ode *ode);
    /* Begins the integration from ode->y. Returns false if memory is short. NULL: nothing needs to begin. */
    bool (*open)(dyn_ode *ode);
    /* Integrates ode->y over an interval. */
    dyn_integration (*integrate)(dyn_ode *ode, dyn_interval interval);
    /* Frees what `open` allocated, also if it returned false. NULL if `open` is NULL. */
    void (*close)(dyn_ode *ode);
} dyn_integrator;

#define DYN_INTEGRATOR_CONSTANT(name) extern const dyn_integrator dyn_integrator_##name;
DYN_INTEGRATORS(DYN_INTEGRATOR_CONSTANT)

/* Allocates the arrays of the integration for ode->W lanes: y and those of the stages, and with events those of fixed
 * steps. False: memory is refused. */
bool dyn_ode_open(dyn_ode *ode, const dyn_integrator *integrator, dyn_memory memory);
