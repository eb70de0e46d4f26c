/* reference.h - rigid-body dynamics the plain way, to measure the kernels against.
 *
 * Written from the description of the robot and the law of motion alone, and shares nothing with the kernels: no
 * canonical frames, no recursion over articulated or composite bodies, no merging. Every link, also a fixed or
 * massless one, has its pose in the world as a power series in time (jet.h), its spatial inertia as a dense 6x6
 * matrix about the world's origin in world axes, and its Jacobian with all nv columns:
 *
 *     M    = sum_k J_k^T I_k J_k
 *     tau  = sum_k J_k^T (I_k a_k + v_k x* I_k v_k - I_k a_g - W_k),   v_k = J_k qd,  a_k = J_k qdd + J'_k qd
 *
 * in long double, rounded to double on the way out. O(n^3) and slow, on purpose simple. 6-vectors are
 * [linear; angular]. Link index -1 (DYN_WORLD) is the base link.
 *
 * Ownership: reference_at allocates, reference_free frees; the description must outlive the reference. */
#pragma once
#include "dynamics/model/model.h"

typedef struct reference reference;

/* One state; NULL means zeros (but for q). */
typedef struct reference_state {
    const double *q, *qd, *qdd, *qddd;
} reference_state;

/* An external wrench on a link. */
typedef struct reference_wrench {
    int    link;
    bool   world_axes; /* else link axes */
    double force[3], torque[3];
    double point[3]; /* of application, link frame */
} reference_wrench;

typedef struct reference_scene {
    double                  gravity[3];
    bool                    friction, springs;
    size_t                  n_wrenches;
    const reference_wrench *wrench;
} reference_scene;

/* What reference_bias splits; each nv, NULL where not wanted. */
typedef struct reference_bias_parts {
    double *bias, *coriolis, *gravity, *friction;
} reference_bias_parts;

/* Motion of a frame fixed to a link; each NULL where not wanted. */
typedef struct reference_frame_motion {
    double *position, *orientation;         /* 3; 4: x y z w with w >= 0 */
    double *jacobian, *jacobian_dot;        /* 6 x nv */
    double *velocity, *acceleration, *jerk; /* 6 */
} reference_frame_motion;

typedef struct reference_energies {
    double  kinetic, potential, mass;
    double  com[3], com_velocity[3], momentum[6]; /* momentum about the centre of mass */
    double *com_jacobian, *momentum_matrix;       /* 3 x nv, 6 x nv; NULL where not wanted */
} reference_energies;

size_t reference_nq(const dyn_description *d);
size_t reference_nv(const dyn_description *d);
size_t reference_bodies(const dyn_description *d); /* links with a moving joint, and the floating base */

reference *reference_at(const dyn_description *d, reference_state state);
void       reference_free(reference *r);

/* tau nv; joint_wrenches bodies x 6 in the axes of the body's link; either may be NULL. */
void reference_inverse_dynamics(const reference *r, const reference_scene *scene, double *tau, double *joint_wrenches);
void reference_mass_matrix(const reference *r, double *M);
void reference_bias(const reference *r, const reference_scene *scene, reference_bias_parts out);
/* false: the mass matrix is not positive definite */
bool reference_forward_dynamics(const reference *r, const reference_scene *scene, const double *tau, double *qdd);
/* tau given for the free coordinates, qdd for the driven; the others' qdd is written:
 *     M_ff qdd_f = tau_f - bias_f - M_fd qdd_d.   false: M_ff is not positive definite */
bool reference_hybrid_dynamics(const reference *r, const reference_scene *scene, const bool *driven, const double *tau,
                               double *qdd);
bool reference_inverse_mass_matrix(const reference *r, double *inverse);
void reference_frame(const reference *r, int link, const dyn_pose *X_lf, bool frame_axes, reference_frame_motion out);
void reference_energy(const reference *r, const reference_scene *scene, reference_energies *out);
