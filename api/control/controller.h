/* controller.h - controllers that drive a simulated robot along a reference r(t).
 *
 *     pd_gravity        tau = kp (r - q) + kd (r' - q') + g(q)
 *     computed_torque   tau = inverse dynamics of  r'' + kd (r' - q') + kp (r - q)
 *     hua               hua_torques.h: for robots of which some joints are elastic, their motors following what these
 * need
 *
 * Efforts act on actuated coordinates alone (actuation.h); those of all others are zero. Of a robot with such passive
 * coordinates p and actuated ones a, computed_torque is partial feedback linearisation, collocated (Spong 1994):
 *
 *     M_pp qdd_p = -M_pa qdd_a - h_p,   tau_a = M_ap qdd_p + M_aa qdd_a + h_a,   qdd_a = r'' + kd (r' - q') + kp (r -
 * q).
 *
 * Held frames (contact.h) push with J^T l. computed_torque takes the l and qdd_p of the held robot whose actuated
 * coordinates are driven with qdd_a. pd_gravity takes the l of static equilibrium, of least norm, or where there is no
 * equilibrium the l that is nearest to one:
 *
 *     J_p^T l = g_p,   tau_a = ... + g_a - J_a^T l.
 *
 * The spring of an elastic joint carries the gravity of its link to its motor: g of the joint's own coordinate is added
 * to that of the motor's coordinate, and so are columns of J (Tomei 1991).
 *
 * Gains are one for each coordinate, or one for all. A controller knows the robot as it is held, with the gravity and
 * the friction of the request; payload and wrenches it does not know: what they do is seen in the tracking errors. */
#pragma once
#include "api/model/actuation.h"
#include "api/motion/signal.h"
#include "api/contact/contact.h"

/* What a controller sees, in lanes: W rows side by side. */
typedef struct api_controller_input {
    const dyn_kernels    *kernels;
    const dyn_scene      *scene;  /* the robot as the controller knows it */
    const dyn_scene      *actual; /* and as it is: to tell what would be measured */
    const double         *wrenches;
    void                 *workspace;
    size_t                nv, W, states; /* lanes behind the states repeat the last of them */
    const api_coordinate *coordinate;    /* [nv] */
    const bool           *actuated;      /* [nv]; NULL: all are */
    const bool           *driven;        /* [nv] the actuated and the prescribed ones; NULL as `actuated` is */
    const double         *given;         /* nv: accelerations of prescribed coordinates; NULL: none is prescribed */
    const bool           *resting; /* [nv] static equilibrium finds no force for: actuated, or carried by a motor */
    api_contact_block    *held;    /* lanes to work with; NULL: no frame is held, or all coordinates are actuated */
    double               *held_wrenches; /* lanes: 6 of each frame; NULL as `held` is */
    double               *singular;      /* 1: see dyn_forward_dynamics */
    const double         *q, *qd;
    const double         *gains[2];                     /* kp, kd: nv, not in lanes */
    double               *reference[API_SIGNAL_ORDERS]; /* nv: r, r', r'' */
    double               *error[2];                     /* nv: r - q, r' - q' */
    double                filter;                       /* rad/s */
    const double         *state;                        /* of the controller's own, and its rate */
    double               *state_rate;
    double               *room; /* lanes to work with */
} api_controller_input;

typedef struct api_controller {
    const char        *name;
    const char *const *fields; /* of a request, ending with NULL */
    bool               divides_by_kd;
    bool               fully_actuated; /* not for robots with passive joints or a floating base */
    /* Entries of room, and of a state of its own that is integrated with the robot's; NULL: 2 nv, and none. */
    size_t (*room)(const dyn_model *model);
    size_t (*states)(const dyn_model *model);
    void (*torques)(const api_controller_input *c, double *tau);
    /* Sets the state to begin with, which is 0 before; tau is to work with. NULL: it stays. */
    void (*start)(const api_controller_input *c, double *tau, double *state);
} api_controller;

extern const api_controller api_hua_controller; /* hua_controller.c */

/* NULL with a problem when a string value names none. */
const api_controller *api_read_controller(const api_evaluation *e, const api_node *value, const api_place *at);

size_t api_controller_entries(const api_controller *controller, const dyn_model *model);
size_t api_controller_states(const api_controller *controller, const dyn_model *model); /* of NULL none */
