/* integrator.h - describes a method of integration by one constant; API_INTEGRATORS lists all of them.
 *
 * The constant says which fields of a request the method needs, what the lanes of the kernels hold, and how it
 * integrates from one interval boundary to the next (simulation.h). integrate_fixed.h has the parts that methods share.
 * To add an integrator, write the file that defines its constant, add its row here, and list its name in openapi.yaml.
 */
#pragma once
#include "api/requests/fields/query.h"

/* The rows: X(name) stands for the constant api_integrator_<name>. A request without the field "integrator" gets the
 * first integrator whose fields match those of the request. */
#define API_INTEGRATORS(X)                                                                                             \
    X(rk4)                                                                                                             \
    X(dopri5)                                                                                                          \
    X(esdirk5)

typedef struct api_ode        api_ode;        /* ode.h */
typedef struct api_simulation api_simulation; /* simulation.h */

/* The part of a simulation between two boundaries, in s. */
typedef struct api_interval {
    double from, to;
    bool   starts_at_break; /* true: the input is not smooth at `from` */
} api_interval;

/* The states that the lanes of the kernels hold. */
typedef enum api_lane_use {
    API_LANES_ROWS,  /* one state of each of W simulations, which have the same steps */
    API_LANES_ONE,   /* the same state of one simulation in all lanes */
    API_LANES_STATES /* W states of one simulation, such as those for the columns of a Jacobian */
} api_lane_use;

typedef struct api_integrator {
    const char  *name;             /* value of the field "integrator" */
    api_set      needs, takes;     /* fields that a request must have, and flags that it may set */
    api_lane_use lanes;            /* use of the lanes */
    bool         locates_events;   /* true: joints start and end sticking within steps (ode_stiction.h) */
    size_t       stages;           /* number of arrays in stage_rate of api_ode, at least 1 */
    double       steps_per_sample; /* assumed by the estimate of costs; 0: `step` says how many steps there are */
    /* Returns the number of steps over `time` seconds. NULL: the number is known only after the integration. */
    double (*count_steps)(const api_simulation *s, double time);
    /* Returns the bytes that `open` allocates, not counting the request's pool; they are claimed before. NULL: none. */
    size_t (*bytes)(const api_ode *ode);
    /* Begins the integration of the ODE's simulations. Returns the method's data; NULL with a problem. A NULL function:
     * the method has no data. */
    void *(*open)(api_ode *ode, api_problem *problem);
    /* Integrates ode->y over an interval; `data` is from `open`. Returns false with a problem if the deadline has
     * passed or no simulation can continue. */
    bool (*integrate)(api_ode *ode, void *data, api_interval interval, api_problem *problem);
    /* Releases the data. NULL if `open` is NULL. */
    void (*close)(void *data);
} api_integrator;

#define API_INTEGRATOR_CONSTANT(name) extern const api_integrator api_integrator_##name;
API_INTEGRATORS(API_INTEGRATOR_CONSTANT)

extern const api_integrator *const api_integrators[]; /* ends with NULL */

/* Reads the field "integrator" of a request for a simulation, or chooses the integrator by the other fields, and checks
 * that these fit the integrator. NULL with a problem. */
const api_integrator *api_integrator_read(const api_query *q, const api_node *fields);
