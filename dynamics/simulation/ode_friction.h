/* ode_friction.h - separates the efforts of a simulation from friction where joints can stick or friction depends on
 * the load.
 *
 * T = T(tau, q') are the efforts that joints transmit (dynamics/friction_map.h). The equations of motion are then those
 * of the robot without friction under T, so that the friction may have another sense than q' (ode_stiction.h). Models
 * with loops have no map: their kernels apply the friction by the sign of q', and T = tau + that friction - the
 * friction of another sense. */
#pragma once
#include "robot_ode.h"
#include "dynamics/friction_map.h"

struct dyn_ode_friction {
    /* The kernel friction_map; NULL: the model has loops. */
    void (*map)(const dyn_scene *, void *ws, const dyn_friction_map *, size_t blocks);
    dyn_scene rigid; /* the scene of the equations of motion: without friction, if there is a map */
    double   *T;     /* nv in lanes: efforts that joints transmit (file head), at the last evaluation */
    double   *side;  /* nv in lanes: sense of motion for sharp friction, 1, -1 or 0 */
};

/* Allocates ode->friction, after ode->stiction. ode->friction stays NULL if kernels apply the friction.
 * Returns false if memory is refused. */
bool dyn_ode_friction_open(dyn_memory memory, dyn_robot_ode *ode);

/* Takes model and gravity of the scene again. */
void dyn_ode_friction_renew(dyn_robot_ode *ode);
/* Returns the scene of the equations of motion: `rigid`, or that of the simulation if kernels apply the friction. */
const dyn_scene *dyn_ode_friction_scene(const dyn_robot_ode *ode);

/* Returns the efforts of the equations of motion: sets T, or returns tau if kernels apply the friction. */
const double *dyn_ode_friction_transmit(const dyn_robot_ode *ode, const double *qd);

/* Computes the efforts without the sharp friction of joints that can stick, in T; dyn_ode_friction_transmit_resting
 * only without that of joints at rest. */
void dyn_ode_friction_transmit_resting(const dyn_robot_ode *ode, const double *qd, double *T);
void dyn_ode_friction_transmit_unheld(const dyn_robot_ode *ode, const double *qd, double *T);

/* Gives the friction in ode->tau, which a controller has by the sign of q', the sense that it has within a step: that
 * of the side of joints that can stick. Otherwise the efforts would jump where a joint starts to move. */
void dyn_ode_friction_compensate(const dyn_robot_ode *ode, const double *qd);

/* Adds friction to efforts without it, nv in lanes, at q'. */
void dyn_ode_friction_add(const dyn_robot_ode *ode, const double *qd, double *efforts);

/* Subtracts the power of dampers: sum damping s'^2, with the higher powers, with s' = ratio q' of joints, of each
 * coordinate of a joint with a quaternion, and s' = q' - theta' of elastic joints. */
void dyn_ode_friction_subtract_damping(const dyn_robot_ode *ode, const double *qd, double *to);

/* Computes the friction of all coordinates, nv in lanes, at the last evaluation. */
void dyn_ode_friction_find(const dyn_robot_ode *ode, const double *qd, double *friction);
