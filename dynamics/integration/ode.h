/* ode.h - describes the ordinary differential equations of simulations to integrators: y' = f(t, y) of W simulations
 * side by side, in lanes, with
 *
 *     y = [q; q'; other states; works].
 *
 * The functions of a dyn_ode compute f, correct y after a step, and handle events; its other members are the state of
 * the integration. integrator.h lists the methods. */
#pragma once
#include "fault.h"

/* The functions of the equations. The first argument is `system` of the dyn_ode. */
typedef struct dyn_ode_functions {
    /* Finds y' at time t. Records faults. */
    void (*rate)(void *system, double t, const double *y, double *rate);
    /* Normalizes the quaternions of `lanes` states whose entries are `stride` apart. */
    void (*normalize)(void *system, double *y, size_t stride, size_t lanes);
    /* Corrects y after a step that ends at time t, of `lanes` states whose entries are `stride` apart. */
    void (*finish_step)(void *system, double t, double *y, size_t stride, size_t lanes);
    void (*check_range)(void *system, double t); /* records faults of lanes whose y is out of range */
    bool (*may_continue)(const void *system);    /* returns false if every simulation has a fault */
    /* Observes the state y that `rate` evaluated last. Called only if the dyn_ode is `observed`. */
    void (*observe)(void *system, double t, const double *y);

    /* Functions that handle events: instants at which f changes. Called only if the dyn_ode has events. */
    void (*restart)(void *system, double t);  /* restarts at y, after a break of the input */
    void (*end_step)(void *system, double t); /* ends a fixed step at y */
    void (*switch_at)(void  *system,
                      double t); /* applies the events at y of one simulation: those whose `roots` is not 0 */
    /* Writes the values of the event functions at y (in lanes) of one simulation. An event occurs when a value becomes
     * negative. */
    void (*margins)(void *system, double t, const double *y, double *margins);
    /* Returns the least velocity of all sliding joints of one lane, each in its direction of sliding. Negative: an
     * event, the velocity of a joint has reversed since the lane had the velocities `from` (nv in lanes). */
    double (*advance)(void *system, size_t lane, const double *from);
    /* Applies the events of one lane since the lane had the velocities `from`: stops joints whose velocity has
     * reversed. With `stay`, joints at rest do not start to move, unless velocities would jump. */
    void (*stop)(void *system, double t, size_t lane, const double *from, bool stay);
} dyn_ode_functions;

enum { DYN_MAX_CARRIED = 2 /* most arrays besides y that each step takes over from the step before */ };

/* rad/s or m/s. The velocity of a coordinate has reversed if it is faster than this against its earlier direction; a
 * smaller velocity may be a rounding error. */
#define DYN_TURNED_RATE 1e-9

/* An array in lanes. */
typedef struct dyn_ode_array {
    double *lanes;
    size_t  entries;
} dyn_ode_array;

typedef struct dyn_ode {
    /* The equations, set by the caller before dyn_ode_open (integrator.h). */
    const dyn_ode_functions *functions;
    void                    *system;
    size_t                   W, entries;      /* lanes; entries of y */
    size_t                   nq, nv;          /* entries of q and of q' */
    size_t                   works;           /* last entries of y, on which no rate depends */
    bool                     weighs_works;    /* true: the errors of works count in the error control */
    double                   longest;         /* s, longest step with error control; 0: any */
    bool                     observed;        /* true: `observe` sees the state at the start of each step */
    double                   step;            /* s, longest fixed step */
    double                   tolerance;       /* relative and absolute error */
    double                   duration, end;   /* s; s, time at which the integration ends */
    dyn_deadline             deadline;        /* for the simulations side by side */
    dyn_deadline             deadline_of_all; /* for all simulations of the request: checked within a step, too */
    size_t                   n_events;        /* number of event functions */
    const bool              *uncorrected;     /* [DYN_MAX_LANES] lanes that end_step has still to correct; NULL: none */
    dyn_ode_array carried[DYN_MAX_CARRIED];   /* arrays of the system that each step takes over from the step before */
    size_t        n_carried;

    /* The state of the integration. The caller sets y, `rows` and `steps` before a simulation begins. */
    double                  *y;            /* state vector, `entries` numbers in lanes */
    size_t                   rows;         /* number of simulations, at most W; other lanes repeat the last */
    size_t                   steps;        /* number of steps taken */
    size_t                   alone;        /* 1 + the only lane whose results are used; 0: all lanes are used */
    int                     *roots;        /* [n_events] not 0 where an event occurred */
    double                  *stage_y;      /* entries, in lanes: scratch, the state of a stage */
    double                 **stage_rate;   /* [stages] entries, in lanes: scratch, y' of the stages */
    struct dyn_fixed_events *fixed_events; /* states of a divided step; only with fixed steps and events, else NULL */
    void                    *data;         /* data_bytes of the dyn_integrator */
    dyn_fault                fault[DYN_MAX_LANES];
} dyn_ode;

/* Returns the velocities of y. */
static inline double *dyn_ode_velocities(const dyn_ode *ode, double *y)
{
    return y + ode->nq * ode->W;
}

/* Evaluates y (in lanes) at time t and observes the state, if states are observed. */
void dyn_ode_observe(dyn_ode *ode, double t, const double *y);

/* True if no simulation has a fault. */
bool dyn_ode_is_sound(const dyn_ode *ode);

/* Returns the velocity index with the largest acceleration at y in lane 0, for messages; -1: all are zero or not
 * finite. */
int dyn_ode_find_worst(dyn_ode *ode, double t, double *acceleration);
