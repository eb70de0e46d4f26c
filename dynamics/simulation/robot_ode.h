/* robot_ode.h - declares the ordinary differential equations (ODE) of simulations of a robot, with
 *
 *     y = [q; q'; state of the controller; integrals of its errors; friction load of joints that can stick
 * (ode_stiction.h); works].
 *
 * Quaternions are integrated as four numbers, q' = 1/2 q (w, 0), and normalized after every step, which keeps the order
 * of the method (Hairer, Lubich & Wanner 2006, IV.4). */
#pragma once
#include "dynamics/loops/loop_kernels.h"
#include "dynamics/integration/ode.h"
#include "simulation.h"

typedef struct dyn_ode_held       dyn_ode_held;       /* defined in ode_held_frames.c */
typedef struct dyn_ode_stiction   dyn_ode_stiction;   /* defined in ode_stiction.h */
typedef struct dyn_ode_friction   dyn_ode_friction;   /* defined in ode_friction.h */
typedef struct dyn_ode_prescribed dyn_ode_prescribed; /* defined in ode_prescribed.c */
typedef struct dyn_ode_rigid      dyn_ode_rigid;      /* defined in rigid_contact/ode_rigid.h */
typedef struct dyn_ode_sampling   dyn_ode_sampling;   /* defined in ode_sampling.c */

/* A function of the caller that is called with states during a simulation. */
typedef struct dyn_observer {
    /* Called at the state that was evaluated last, at time t and with velocities qd (in lanes). NULL: no calls. */
    void (*observe)(void *arg, double t, const double *qd);
    void *arg;
} dyn_observer;

typedef struct dyn_robot_ode {
    dyn_ode                state; /* the equations in the form for integrators, and the state of the integration */
    const dyn_simulation  *s;
    dyn_observer           observer;
    const dyn_kernels     *kernels;
    dyn_kernels            loop_kernels;       /* with loops: `kernels` points here */
    dyn_loop_workspace    *loops;              /* workspace of loop_kernels; NULL: no loops */
    dyn_ode_held          *contact;            /* held frames; NULL: none */
    dyn_ode_rigid         *rigid;              /* rigid contacts; NULL: none */
    dyn_ode_stiction      *stiction;           /* joints that can stick; NULL: none */
    dyn_ode_friction      *friction;           /* map of efforts without friction; NULL: kernels apply the friction */
    dyn_ode_prescribed    *prescribed;         /* coordinates with a given motion; NULL: none */
    dyn_compliant_contacts ground;             /* compliant contacts; the last external wrenches are their forces */
    size_t                 W;                  /* lanes of `kernels`: state.W */
    size_t                 row[DYN_MAX_LANES]; /* row of the signals for each lane */
    bool                   ignored[DYN_MAX_LANES]; /* true: the results of this simulation are not used */
    double    interval_time;    /* s: a time inside the present interval; set by the caller before all but the first */
    dyn_scene controller_scene; /* the robot in the controller's model, without payload and wrenches */
    dyn_scene wrench_scene;     /* without gravity, friction and springs: for the power of wrenches */
    void     *workspace;
    double   *wrenches;                  /* external wrenches, 9 numbers each; NULL: none */
    double   *step_q;                    /* nq: scratch */
    double   *closed_q, *closed_passive; /* nq, n_passive_q: the closed position after the last step */
    double   *q, *tau, *effort, *singular;
    double   *reference[DYN_SIGNAL_ORDERS], *error[2], *controller_work; /* reference, tracking errors, scratch */
    double   *unclipped;                                                 /* nv: efforts before clipping */
    dyn_ode_sampling         *sampling;                                  /* sampled controller; NULL: none */
    struct dyn_contact_block *controller_contact; /* scratch of controllers for held frames; NULL: none */
    double                   *controller_wrenches;
} dyn_robot_ode;

/* Returns the number of lanes with different states; lanes after these repeat the last one. */
static inline size_t dyn_robot_ode_distinct_lanes(const dyn_robot_ode *ode)
{
    if (ode->state.alone > 0) return ode->state.alone;
    return ode->s->integrator->lanes == DYN_LANES_STATES ? ode->W : ode->state.rows;
}

/* Returns the first lane whose results are used. */
static inline size_t dyn_robot_ode_first_lane(const dyn_robot_ode *ode)
{
    return ode->state.alone > 0 ? ode->state.alone - 1 : 0;
}

/* Allocates all arrays. `deadline` ends all simulations of the call. ode->observer may be set before; all other members
 * are set here. Returns false if memory is refused. */
bool dyn_robot_ode_open(dyn_robot_ode *ode, const dyn_simulation *s, dyn_deadline deadline, dyn_memory memory);

/* Updates copies of gravity and model of s->scene, which the caller has changed since dyn_robot_ode_open or the start.
 * The model must have the same bodies and joints. */
void dyn_robot_ode_renew_scene(dyn_robot_ode *ode);

/* Begins state.rows simulations at state.y. The caller has set q and q' in state.y, ode->row, ode->wrenches and, with a
 * guess, closed_passive. Records faults of simulations that cannot begin. */
void dyn_robot_ode_start(dyn_robot_ode *ode);

/* Computes the rate y' at time t. Also sets the torques and the controller's errors, closes the loops for calls of
 * `kernels` at y, and records faults. After an integration the loops are closed at another state until this function is
 * called. */
void dyn_robot_ode_rate(dyn_robot_ode *ode, double t, const double *y, double *rate);

/* Sets ode->tau and ode->unclipped to the efforts of the controller at y and time t, even if it is sampled. Writes the
 * rates of the controller's state and of the integrals of its errors to `rate`, like dyn_robot_ode_rate. */
void dyn_robot_ode_control(dyn_robot_ode *ode, double t, const double *y, double *rate);

/* Closes the loops of all lanes at q (nq in lanes). Where that fails, records a fault at time t and returns false. */
bool dyn_robot_ode_close_loops(dyn_robot_ode *ode, double t, const double *q);

/* Normalizes the quaternions of `lanes` states whose entries are `stride` apart. */
void dyn_robot_ode_normalize(const dyn_robot_ode *ode, double *y, size_t stride, size_t lanes);

/* Corrects y after a step that ends at time t: prescribed coordinates, held frames, and closed loops. y has `lanes`
 * states whose entries are `stride` apart. */
void dyn_robot_ode_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Records faults of lanes whose state is out of range. */
void dyn_robot_ode_check_range(dyn_robot_ode *ode, double t);

/* Returns false if the integration can end: the first simulation has a fault or, with `fail_alone`, all simulations
 * have one that are not `ignored`. */
bool dyn_robot_ode_may_continue(const dyn_robot_ode *ode);

/* True if friction depends on the load of joints. */
static inline bool dyn_robot_ode_has_load(const dyn_robot_ode *ode)
{
    const dyn_loops *loops = ode->s->mechanism.loops;
    return (loops ? loops->loaded != NULL : ode->s->scene->model->has_load) && (ode->s->scene->terms & DYN_FRICTION);
}
