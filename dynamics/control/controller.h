/* controller.h - computes the efforts of controllers that drive a simulated robot along a reference r(t).
 *
 *     pid tau = u with the feedback u = kp (r - q) + kd (r' - q') + ki z
 *     pd_gravity tau = u + g(q)
 *     computed_torque tau = inverse dynamics of r'' + u
 *     pd_feed_forward tau = u + inverse dynamics of (r, r', r'')
 *     hua for robots with elastic joints; the motors track angles that give the joints' torques (hua_torques.h)
 *     state_feedback tau = r + K (x_ref - x) with a matrix K of gains and constant x_ref (state_feedback.h)
 *
 * z is the integral of r - q; the caller integrates it. Without gains ki the term is left out.
 *
 * The signal r(t) of state_feedback has efforts, that of all others positions.
 *
 * Efforts act on actuated coordinates only (actuation.h); all others are zero. For a robot with passive coordinates p
 * and actuated coordinates a, computed_torque is collocated partial feedback linearization (Spong 1994):
 *
 *     qdd_a = r'' + kd (r' - q') + kp (r - q),
 *     M_pp qdd_p = -M_pa qdd_a - h_p, tau_a = M_ap qdd_p + M_aa qdd_a + h_a.
 *
 * Held frames (dynamics/contact/contact.h) add the efforts J^T l. computed_torque uses l and qdd_p of the held
 * robot whose actuated coordinates have the acceleration qdd_a. pd_gravity uses the l of static equilibrium, of least
 * norm; where no equilibrium exists, the least-squares solution:
 *
 *     J_p^T l = g_p, tau_a = ... + g_a - J_a^T l.
 *
 * The spring of an elastic joint passes the gravity load of its link to its motor. Therefore g of the joint's own
 * coordinate is added to that of the motor's coordinate, and columns of J likewise (Tomei 1991).
 *
 * A controller knows the model with gravity and friction, but neither payload nor wrenches: their effect shows in the
 * tracking errors. The controller's model may differ from that of the robot (dyn_actuator_input.model). */
#pragma once
#include "dynamics/contact/contact.h"
#include "dynamics/loops/mechanism.h"

typedef enum dyn_gain { DYN_KP, DYN_KD, DYN_KI, DYN_GAINS } dyn_gain;

/* The input of a controller, in lanes: W states side by side. */
typedef struct dyn_controller_input {
    const dyn_kernels *kernels;
    const dyn_scene   *scene;        /* the robot as the controller knows it, without payload */
    const dyn_scene   *actual_scene; /* the robot with payload and wrenches, for measured accelerations */
    const double      *wrenches;
    void              *workspace;
    size_t             nv, W, states; /* lanes with index `states` and above repeat lane states - 1 */
    const int         *motor;         /* [nv] for the coordinate of an elastic joint, its motor's coordinate; else -1 */
    const bool        *actuated;      /* [nv] coordinates with an actuator; NULL: all */
    const bool        *driven;        /* [nv] coordinates that are actuated or prescribed; NULL if `actuated` is NULL */
    const double      *prescribed_qdd; /* nv: accelerations of prescribed coordinates; NULL: none prescribed */
    /* [nv] coordinates whose gravity load is carried: actuated and prescribed coordinates, and those of elastic joints,
     * which load their motor. The wrenches on held frames must carry the load of all others. NULL if `actuated` is
     * NULL. */
    const bool        *supported;
    dyn_contact_block *contact; /* work for held frames; NULL: no held frames, or all coordinates are actuated */
    double            *contact_wrenches; /* 6 per held frame: work; NULL if `contact` is NULL */
    double            *singular;         /* 1: body with a singular pivot, or -1 (dyn_forward_dynamics) */
    const double      *q, *qd;
    const double      *gains[DYN_GAINS]; /* [nv] not in lanes; those of DYN_KI are NULL if there are none */
    const int         *position;         /* [nv] index in q of the coordinate; -1: the joint has a quaternion */
    size_t             nq;
    double            *reference[3]; /* nv each: signal r, r', r''; rad or m, of state_feedback N m or N; and per s */
    double            *error[2];     /* nv each: tracking errors r - q and r' - q' */
    const double      *integral;     /* nv: z, the integral of r - q; NULL without gains ki */
    const void        *options;      /* options of this controller, such as dyn_hua_options; NULL: it has none */
    const double      *state;        /* state of the controller itself; `state_rate` is its rate */
    double            *state_rate;
    double            *work; /* scratch: `entries` doubles per state */
} dyn_controller_input;

/* States in lanes, and the arrays that receive their differences from a reference. */
typedef struct dyn_controlled_state {
    const dyn_mechanism *mechanism;
    const int           *position; /* [nv] as in dyn_controller_input */
    size_t               W;
    const size_t        *row; /* [W] row of each lane in fields of the request */
    const double        *q, *qd;
    double *const       *error; /* nv each: differences of positions and of velocities, the reference less the state */
} dyn_controlled_state;

typedef struct dyn_controller {
    const char *name;
    bool        divides_by_kd;  /* true: all kd are greater than 0 */
    bool        fully_actuated; /* true: only for robots with a fixed base and without passive joints */
    bool        has_no_load;    /* true: only for friction that does not depend on the load: its equations are linear in
                                 * the accelerations */
    bool compensates_friction;  /* true: the efforts contain the friction that follows from the sign of q' */
    bool rigid;                 /* true: only for robots without elastic joints and without loops */
    bool drives_quaternions;    /* true: also for actuated joints with a quaternion */
    /* Doubles per state of `work` (NULL: 2 nv), and of the controller's own state, which is integrated with the robot's
     * (NULL: none). */
    size_t (*entries)(const dyn_model *model);
    size_t (*states)(const dyn_model *model);
    void (*torques)(const dyn_controller_input *c, double *tau);
    /* Sets the errors of a controller whose signal r(t) is not a reference position. NULL: the errors are r - q and r'
     * - q', and 0 for joints with a quaternion. */
    void (*errors)(const void *options, const dyn_controlled_state *x);
    /* Sets the controller's own state at the start of a simulation; on entry it is zero. `tau` (nv) is work. NULL: the
     * state starts at zero. */
    void (*start)(const dyn_controller_input *c, double *tau, double *state);
} dyn_controller;

extern const dyn_controller dyn_controller_pid, dyn_controller_pd_gravity, dyn_controller_computed_torque,
    dyn_controller_pd_feed_forward, dyn_controller_hua, dyn_controller_state_feedback;

/* Returns u of entry `i` of an array of nv in lanes: the feedback of position, velocity and integral errors. */
static inline double dyn_controller_feedback(const dyn_controller_input *c, size_t i)
{
    const size_t v = i / c->W;
    const double u = c->gains[DYN_KP][v] * c->error[0][i] + c->gains[DYN_KD][v] * c->error[1][i];
    return c->integral ? u + c->gains[DYN_KI][v] * c->integral[i] : u;
}

size_t dyn_controller_entries(const dyn_controller *controller, const dyn_model *model);
size_t dyn_controller_states(const dyn_controller *controller, const dyn_model *model); /* 0 if `controller` is NULL */
