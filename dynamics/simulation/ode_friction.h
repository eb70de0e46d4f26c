/* ode_friction.h - separates the efforts of a simulation from friction if joints can stick or friction depends on the
 * load.
 *
 * T = T(tau, q') are the efforts that joints transmit, without their friction (dynamics/friction_map.h). The equations
 * of motion are then those of the robot without friction under T, so that the sign of the friction may differ from that
 * of q' (ode_stiction.h). Models with loops have no such map: their kernels apply the friction by the sign of q', and T
 * = tau + this friction - the friction by the side of each joint. */
#pragma once
#include "robot_ode.h"
#include "dynamics/friction_map.h"

struct dyn_ode_friction {
    /* The kernel friction_map; NULL: the model has loops. */
    void (*map)(const dyn_scene *, void *ws, const dyn_friction_map *, size_t blocks);
    dyn_scene rigid; /* the scene of the equations of motion; if there is a map, without friction */
    double   *T;     /* nv in lanes: efforts without friction (see above) at the last evaluation */
    double   *side;  /* nv in lanes: sense of motion for sharp friction, 1, -1 or 0 */
};

/* Allocates ode->friction, after ode->stiction. ode->friction stays NULL if the kernels apply the friction. Returns
 * false if memory is refused. */
bool dyn_ode_friction_open(dyn_memory memory, dyn_robot_ode *ode);

/* Updates ode->friction after model or gravity of the simulation's scene have changed. */
void dyn_ode_friction_renew(dyn_robot_ode *ode);
/* Returns the scene of the equations of motion: `rigid`, or that of the simulation if the kernels apply the
 * friction. */
const dyn_scene *dyn_ode_friction_scene(const dyn_robot_ode *ode);

/* Returns the efforts of the equations of motion: T, which is computed, or tau if the kernels apply the friction. */
const double *dyn_ode_friction_transmit(const dyn_robot_ode *ode, const double *qd);

/* Compute T by subtracting friction from ode->tau: dyn_ode_friction_transmit_resting all friction but the sharp
 * friction of joints at rest, dyn_ode_friction_transmit_unheld all but the sharp friction of joints that can stick. */
void dyn_ode_friction_transmit_resting(const dyn_robot_ode *ode, const double *qd, double *T);
void dyn_ode_friction_transmit_unheld(const dyn_robot_ode *ode, const double *qd, double *T);

/* Corrects the friction that a controller has put into ode->tau by the sign of q': joints that can stick get the
 * friction of their side, which is constant within a step. Otherwise the efforts would jump when a joint starts to
 * move. */
void dyn_ode_friction_compensate(const dyn_robot_ode *ode, const double *qd);

/* Adds the friction at q' to efforts without friction, nv in lanes, if there is a map. */
void dyn_ode_friction_add(const dyn_robot_ode *ode, const double *qd, double *efforts);

/* Subtracts from `to` the power of dampers: the sum of damping s'^2, with the higher powers; s' = ratio q' for joints,
 * also for each coordinate of a joint with a quaternion, and s' = q' - theta' for elastic joints. */
void dyn_ode_friction_subtract_damping(const dyn_robot_ode *ode, const double *qd, double *to);

/* Computes the friction of all coordinates, nv in lanes, at the last evaluation. */
void dyn_ode_friction_find(const dyn_robot_ode *ode, const double *qd, double *friction);
