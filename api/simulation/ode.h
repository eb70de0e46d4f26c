/* ode.h - the robot as a system of differential equations: W simulations side by side, in lanes
 * y = [q; q'; what the controller remembers; friction of those that stick (ode_stiction.h); work] (simulation.h). */
#pragma once
#include "api/loops/loop_kernels.h"
#include "simulation.h"

typedef enum api_fault_kind {
    API_FAULT_NONE,
    API_FAULT_SINGULAR,
    API_FAULT_ANGLE,
    API_FAULT_VELOCITY,
    API_FAULT_PASSIVE_VELOCITY,
    API_FAULT_ACCELERATION,
    API_FAULT_INFINITE,
    API_FAULT_PROBLEM
} api_fault_kind;

/* What is wrong with a simulation: it goes on in its lane, since others do, and counts no more. */
typedef struct api_fault {
    api_fault_kind kind;
    double         time;
    size_t where; /* body, or coordinate; of API_FAULT_INFINITE entry of y; of API_FAULT_PASSIVE_VELOCITY of the tree */
    double value; /* of velocity or acceleration */
    api_problem told; /* API_FAULT_PROBLEM: what is wrong, of loops and what is held */
} api_fault;

typedef struct api_ode_contact    api_ode_contact;    /* ode_contact.h */
typedef struct api_ode_stiction   api_ode_stiction;   /* ode_stiction.h */
typedef struct api_ode_prescribed api_ode_prescribed; /* ode_prescribed.h */

typedef struct api_ode {
    const api_evaluation *e;
    const api_simulation *s;
    const dyn_kernels    *kernels;
    dyn_kernels           table;      /* with loops: these */
    api_loop_workspace   *closed;     /* and their workspace; NULL: a tree */
    api_ode_contact      *contact;    /* frames that are held; NULL: none */
    api_ode_stiction     *stick;      /* joints that may; NULL: there are none, or sharp friction is as it stands */
    api_ode_prescribed   *prescribed; /* coordinates with a given motion; NULL: none */
    const bool           *driven;     /* [nv] those that stick or are prescribed; NULL: none */
    size_t                W;       /* of these; one simulation alone goes through the narrowest, unless it is stiff */
    size_t                entries; /* of y: nq + nv, the controller's, those that can stick, API_WORKS */
    size_t                rows;    /* simulations, at most W; the other lanes repeat the last */
    size_t                row[DYN_MAX_LANES];
    api_fault             fault[DYN_MAX_LANES];
    double                inside; /* s, a time between the cuts of now */
    size_t                steps;  /* of the simulation so far */
    dyn_scene             known;  /* to a controller */
    dyn_scene             still;  /* without gravity, friction and springs */
    void                 *workspace;
    double               *wrenches; /* NULL: none */
    double               *settled;  /* nq, to work with */
    double *origin, *passive; /* actuated and passive coordinates after the last step: loops are closed from there */
    double *y, *q, *tau, *effort, *singular;
    double *reference[API_SIGNAL_ORDERS], *error[2], *control; /* what the controller works with */
    api_limit_violation      *exceeded;                        /* limits x W: joint_limits.h; NULL: not asked for */
    double                   *demand;                          /* nv: efforts before they are clipped */
    struct api_contact_block *control_contact; /* what it finds the forces on held frames with; NULL: nothing */
    double                   *control_wrenches;
    double                   *slope[4], *at; /* of the method's stages: y' and y */
} api_ode;

/* Memory of the request's; false with a problem. */
bool api_ode_open(api_evaluation *e, const api_simulation *s, api_ode *plant);

/* Begins `rows` simulations from row `first` on; what sticks is not decided yet (stiction_events.h). */
void api_ode_start(api_ode *p, size_t first, size_t rows);

/* y' at time t. Leaves the torques, and a controller's errors, in the plant, and faults where it is none. */
void api_ode_rate(api_ode *p, double t, const double *y, double *rate);

/* Closes the loops of all lanes at q, nq of each, and notes at time t where they do not: false. */
bool api_ode_close_loops(api_ode *p, double t, const double *q);

/* Puts quaternions back on the unit sphere; `stride` between entries, `lanes` states. */
void api_ode_normalize(const api_ode *p, double *y, size_t stride, size_t lanes);

/* After a step: where passive coordinates are now; and y where it is held. As for api_ode_normalize. */
void api_ode_finish_step(api_ode *p, double t, double *y, size_t stride, size_t lanes);

/* Notes what is wrong in a lane at time t, unless something was before. */
void api_ode_record_fault(api_ode *p, size_t lane, api_fault_kind kind, double t, size_t where);

/* Notes which simulations have left what can be computed. */
void api_ode_check_range(api_ode *p, double t);

/* The first simulation with a fault as a problem; true: there is none. */
bool api_ode_check_all(const api_ode *p, api_problem *problem);

/* The fault of one simulation as a problem; true: there is none. */
bool api_ode_check_lane(const api_ode *p, size_t lane, api_problem *problem);

/* Whether it is worth to go on: the first simulation has no fault, or, where rows fail alone, any. */
bool api_ode_may_continue(const api_ode *p);
