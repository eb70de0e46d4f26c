/* reference.h - computes rigid-body dynamics in the most direct way, as a reference for the kernels.
 *
 * The reference uses only the description of the robot and the laws of motion, and shares nothing with the kernels: no
 * canonical frames, no recursion over articulated or composite bodies, no merging of fixed links. Every link, even a
 * fixed or massless one, has a pose in the world as a power series in time (jet.h), a dense 6x6 spatial inertia about
 * the world's origin in world axes, and a Jacobian with all nv columns:
 *
 *   M    = sum_k J_k^T I_k J_k
 *   tau  = sum_k J_k^T (I_k a_k + v_k x* I_k v_k - I_k a_g - W_k),   v_k = J_k qd,  a_k = J_k qdd + J'_k qd
 *
 * The reference computes in long double and rounds to double at the end. The cost is O(n^3). 6-vectors are
 * [linear; angular]. Link index -1 (DYN_WORLD) is the base link.
 *
 * Ownership: reference_at allocates, reference_free frees; the description must outlive the reference. */
#pragma once
#include "dynamics/model/model.h"

typedef struct reference reference;

/* Holds one state; a pointer that is NULL means zeros (not allowed for q). */
typedef struct reference_state {
    const double *q, *qd, *qdd, *qddd;
} reference_state;

/* Describes an external wrench on a link. */
typedef struct reference_wrench {
    int    link;
    bool   world_axes; /* true: force and torque in world axes; false: in link axes */
    double force[3], torque[3];
    double point[3]; /* point of application in the link frame */
} reference_wrench;

typedef struct reference_scene {
    double                  gravity[3];
    bool                    friction, springs;
    size_t                  n_wrenches;
    const reference_wrench *wrench;
} reference_scene;

/* Receives the results of reference_bias, nv entries each; NULL if not requested. */
typedef struct reference_bias_parts {
    double *bias, *coriolis, *gravity, *friction;
} reference_bias_parts;

/* Receives the motion of a frame fixed to a link; each output may be NULL. */
typedef struct reference_frame_motion {
    double *position, *orientation;         /* 3 entries; 4 entries x y z w with w >= 0 */
    double *jacobian, *jacobian_dot;        /* 6 x nv */
    double *velocity, *acceleration, *jerk; /* [linear; angular], 6 entries each */
} reference_frame_motion;

typedef struct reference_energies {
    double  kinetic, potential, mass;
    double  com[3], com_velocity[3], momentum[6]; /* momentum is about the centre of mass */
    double  centroidal_inertia[9];                /* 3 x 3, about the centre of mass, world axes */
    double *com_jacobian, *momentum_matrix;       /* 3 x nv and 6 x nv; NULL if not requested */
} reference_energies;

size_t reference_nq(const dyn_description *d);
size_t reference_nv(const dyn_description *d);
size_t reference_bodies(const dyn_description *d); /* links with a moving joint, plus the floating base */

reference *reference_at(const dyn_description *d, reference_state state);
void       reference_free(reference *r);

/* Computes inverse dynamics. tau has nv entries, joint_wrenches bodies x 6 in the axes of the body's link; either may
 * be NULL. */
void reference_inverse_dynamics(const reference *r, const reference_scene *scene, double *tau, double *joint_wrenches);
void reference_mass_matrix(const reference *r, double *M);
void reference_bias(const reference *r, const reference_scene *scene, reference_bias_parts out);
/* Computes qdd. Returns false if the mass matrix is not positive definite. */
bool reference_forward_dynamics(const reference *r, const reference_scene *scene, const double *tau, double *qdd);
/* Solves M_ff qdd_f = tau_f - bias_f - M_fd qdd_d. The caller gives tau of the free coordinates f and qdd of the driven
 * coordinates d; the function sets qdd of the free ones. Returns false if M_ff is not positive definite. */
bool reference_hybrid_dynamics(const reference *r, const reference_scene *scene, const bool *driven, const double *tau,
                               double *qdd);
bool reference_inverse_mass_matrix(const reference *r, double *inverse);
void reference_frame(const reference *r, int link, const dyn_pose *X_lf, bool frame_axes, reference_frame_motion out);
void reference_energy(const reference *r, const reference_scene *scene, reference_energies *out);
