/* robot_ode.h - declares the ordinary differential equations of a simulation (dynamics/integration/ode.h), with
 * y = [q; q'; state of the controller; friction load of joints that can stick (ode_stiction.h); work] (simulation.h).
 */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/integration/ode.h"
#include "simulation.h"

typedef struct api_ode_contact    api_ode_contact;    /* defined in ode_contact.c */
typedef struct api_ode_stiction   api_ode_stiction;   /* defined in ode_stiction.h */
typedef struct api_ode_friction   api_ode_friction;   /* defined in ode_friction.h */
typedef struct api_ode_prescribed api_ode_prescribed; /* defined in ode_prescribed.c */
typedef struct api_ode_limits     api_ode_limits;     /* defined in ode_limits.c */

typedef struct api_ode {
    dyn_ode               state; /* the equations as integrators see them, and the state of the integration */
    const api_evaluation *e;
    const api_simulation *s;
    api_row_share         share; /* share of the simulations side by side */
    const dyn_kernels    *kernels;
    dyn_kernels           loop_kernels; /* with loops: `kernels` points here */
    dyn_loop_workspace   *loops;        /* workspace of loop_kernels; NULL: no loops */
    api_ode_contact      *contact;      /* held frames; NULL: none */
    api_ode_stiction     *stiction;     /* joints that can stick; NULL: none */
    api_ode_friction     *friction;     /* map of efforts without friction; NULL: kernels apply the friction */
    api_ode_prescribed   *prescribed;   /* coordinates with a given motion; NULL: none */
    size_t                W;            /* lanes of `kernels`: state.W */
    size_t                row[DYN_MAX_LANES];
    double                interval_time;    /* s, a time inside the present interval between boundaries */
    dyn_scene             controller_scene; /* the robot as controllers know it, without payload and wrenches */
    dyn_scene             wrench_scene;     /* without gravity, friction and springs: for the power of wrenches */
    void                 *workspace;
    double               *wrenches;                  /* 9 per wrench; NULL: none */
    double               *step_q;                    /* nq: scratch */
    double               *closed_q, *closed_passive; /* nq, n_passive_q: the closed position after the last step */
    double               *q, *tau, *effort, *singular;
    double *reference[DYN_SIGNAL_ORDERS], *error[2], *controller_work; /* reference, tracking errors, scratch */
    api_limit_violation      *violation;          /* [limits][W] (joint_limits.h); NULL: not requested */
    double                   *unclipped;          /* nv: efforts before clipping */
    api_ode_limits           *limits;             /* efforts of mimic joints; NULL: none is compared with a limit */
    struct dyn_contact_block *controller_contact; /* work of a controller for held frames; NULL: none */
    double                   *controller_wrenches;
} api_ode;

/* Returns the number of lanes with states of their own; the others repeat the last of these. api_ode_first_lane returns
 * the first of them whose results are used. */
size_t api_ode_distinct_lanes(const api_ode *ode);
size_t api_ode_first_lane(const api_ode *ode);

/* Takes the arrays from the request's pool. Returns false with a problem. */
bool api_ode_open(api_evaluation *e, const api_simulation *s, api_ode *ode);

/* Initializes `rows` simulations from row `first` on. Afterwards call api_stiction_events_start if joints can stick. */
void api_ode_start(api_ode *ode, size_t first, size_t rows);

/* Finds y' at time t. Also sets the torques and the controller's errors, and records faults. */
void api_ode_rate(api_ode *ode, double t, const double *y, double *rate);

/* Closes the loops of all lanes at q (nq in lanes). Records a fault at time t where that fails, and returns false. */
bool api_ode_close_loops(api_ode *ode, double t, const double *q);

/* Normalizes the quaternions of `lanes` states whose entries are `stride` apart. */
void api_ode_normalize(const api_ode *ode, double *y, size_t stride, size_t lanes);

/* Corrects y after a step that ends at time t: prescribed coordinates, held frames, and closed loops. y has `lanes`
 * states whose entries are `stride` apart. */
void api_ode_finish_step(api_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Records faults of lanes whose state is out of range. */
void api_ode_check_range(api_ode *ode, double t);

/* Returns false if integration is pointless: the first simulation has a fault or, with "on_error": "row", all
 * simulations have one. */
bool api_ode_may_continue(const api_ode *ode);
