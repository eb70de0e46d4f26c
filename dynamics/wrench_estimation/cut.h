/* cut.h - computes the wrench through a joint, fixed or moving, that carries a part of the robot.
 *
 * The robot is cut at the joint. The part behind the cut is a rigid body, made of links that are fixed to each other,
 * and the bodies that move relative to it by their joints. With the frame F fixed to the rigid body, its mass m, first
 * moment h and inertia I about the origin of F, and the motion of F (angular velocity w, angular acceleration a_w,
 * acceleration a of the origin, gravity g), the parent exerts
 *
 *     f = m (a - g) + a_w x h + w x (w x h) + sum of f_c - sum of F_e,
 *     n = h x (a - g) + I a_w + w x I w + sum of J (r'' u + r' w x u) + sum of (n_c + p_c x f_c) - sum of (N_e + p_e x
 *     F_e)
 *
 * (Newton & Euler). If gravity is compensated, m g and h x g are reduced by the compensated shares. f_c, n_c are the
 * wrenches on the children that move, at points p_c; F_e, N_e are those of the environment on the rigid body, at points
 * p_e. A rotor on the rigid body spins at r' about u with the inertia J; the inertia I contains it without its spin. */
#pragma once
#include "dynamics/dynamics.h"

/* A rotor on the rigid body, with the spin rate r' = ratio qd[v]. */
typedef struct dyn_cut_rotor {
    size_t v;
    double ratio, spin_inertia, u[3]; /* u in the axes of F */
} dyn_cut_rotor;

/* An external wrench of the scene on the rigid body: its index, and the pose of its link in F. */
typedef struct dyn_cut_push {
    size_t   index;
    dyn_pose X_fl;
} dyn_cut_push;

typedef struct dyn_cut {
    double mass, h[3], I[6];                   /* kg, kg m, kg m^2: xx xy xz yy yz zz; all 0 at a joint that moves */
    double compensated_mass, compensated_h[3]; /* kg, kg m: sums over the rigid body of dyn_link.gravity_compensation */
    size_t n_children, n_rotors, n_pushes;
    const size_t *rows; /* [n_children] rows of the children in `joint_wrenches` */
    /* [1 + 2 n_children] the frame F; then two frames of each child: one has the axes of the child's joint wrench, the
     * origin of the other one is the reference point of its moment. */
    const dyn_frame     *frames;
    const dyn_cut_rotor *rotors; /* [n_rotors] */
    const dyn_cut_push  *pushes; /* [n_pushes] */
} dyn_cut;

/* A block of states in lanes, as for the kernels. joint_wrenches are results of inverse dynamics. */
typedef struct dyn_cut_states {
    const dyn_kernels *kernels;
    const dyn_scene   *scene;
    void              *workspace;
    const double      *q, *qd, *qdd, *wrenches;
    const double      *joint_wrenches; /* n_rows x 6; NULL: no cut has children */
} dyn_cut_states;

/* Adds another rigid body to the rigid body behind the cut: `inertia` is in a frame whose pose in F is X. The
 * compensation of its gravity must be added by dyn_cut_add_compensation. */
void dyn_cut_add_inertia(dyn_cut *cut, const dyn_inertia *inertia, const dyn_pose *X);

/* Adds the compensated mass and its first moment h (kg m), in a frame whose pose in F is X. */
void dyn_cut_add_compensation(dyn_cut *cut, double mass, const double h[3], const dyn_pose *X);

/* Returns the number of doubles per state of the scratch memory `room` of dyn_cut_evaluate. */
size_t dyn_cut_entries(const dyn_cut *cut);

/* Writes the wrench that the parent exerts, [force; moment about the origin of F] in the axes of F, 6 entries in
 * lanes. */
void dyn_cut_evaluate(const dyn_cut *cut, const dyn_cut_states *states, double *room, double *wrench);

/* The reading of an inertial sensor at a frame, in the frame's axes, 3 entries each in lanes; NULL: not requested.
 * dyn_inertial_evaluate needs dyn_inertial_entries() doubles per state at `room`. */
typedef struct dyn_inertial_reading {
    double *specific_force;   /* m/s^2, acceleration of the origin minus gravity */
    double *angular_velocity; /* rad/s */
} dyn_inertial_reading;

size_t dyn_inertial_entries(void);
void   dyn_inertial_evaluate(const dyn_frame *frame, const dyn_cut_states *states, double *room,
                             const dyn_inertial_reading *reading);
