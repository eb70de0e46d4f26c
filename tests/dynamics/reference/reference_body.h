/* reference_body.h - declares the bodies of the reference: links with inertia, velocity and acceleration in the
 * world. */
#pragma once
#include "reference_motion.h"

/* Describes a link in the world. All 6-vectors and the inertia are about the world's origin, in world axes. */
typedef struct body {
    real mass, com[3], share; /* mass; centre of mass in the world; part of gravity that the compensation leaves */
    real I[6][6];             /* spatial inertia, [linear; angular] */
    real v[6];                /* velocity, J qd */
    real drive[6];            /* part of the acceleration due to qdd, J qdd */
    real drift[6];            /* J' qd: the acceleration is drive + drift */
} body;

struct reference {
    const dyn_description *d;
    motion                 m;
    body                  *b; /* [m.n] one body for each link */
};

void *reference_allocate(size_t n, size_t size); /* allocates zeros; ends the test if there is no memory */

static inline void cross(const real a[3], const real b[3], real c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static inline real dot6(const real a[6], const real b[6])
{
    real s = 0;
    for (int i = 0; i < 6; i++)
        s += a[i] * b[i];
    return s;
}

static inline void apply6(const real I[6][6], const real a[6], real b[6])
{
    for (int i = 0; i < 6; i++)
        b[i] = dot6(I[i], a);
}

/* Computes the k-th time derivative of column c of a link's own joint: [linear velocity at the world's origin; angular
 * velocity]. */
void joint_column(const motion_link *l, int c, int k, real s[6]);

body *place_bodies(const reference *r, reference_state state);

/* The forces f of these functions are [force; moment] about the world's origin. */
void add_transposed_jacobian(const reference *r, size_t k, const real f[6], real *tau); /* tau += J_k^T f */

/* --- motors and elastic joints: reference_motor.c ------------------------------------------------------------- */

real friction_force(const dyn_friction *f, real ds);
void add_motors(const reference *r, bool drive,
                real *tau); /* adds the efforts that the rotors' spin requires; `drive`: including the terms in qdd */
void add_spin_moments(const reference *r, bool drive, real (*F)[6]); /* adds moments to the links that carry motors */
void add_motor_forces(const reference *r, bool friction, bool springs, real *tau);
void add_motor_inertia(const reference *r, real *M);
void motor_energies(const reference *r, real *kinetic, real *potential);
/* Adds the momentum of the rotors' spin to h, and its change per unit rate of coordinate v to columns[v]. */
void add_spin_momentum(const reference *r, real h[6], real (*columns)[6]);

/* --- rotors, dampers and springs of joints with a quaternion: reference_motor.c ----------------------------- */

void add_free_joints(const reference *r, bool springs, bool drive, real *tau); /* `drive`: as of add_motors */
void add_free_inertia(const reference *r, real *M);
void free_joint_energies(const reference *r, real *kinetic, real *potential);

/* --- motors of coupled transmissions: reference_motor.c ------------------------------------------------------- */

void add_drive_forces(const reference *r, bool friction, bool rotors, real *tau);
void add_drive_inertia(const reference *r, real *M);
real drive_energy(const reference *r);

void add_gyroscopic(const body *b, real f[6]);                           /* f += v x* I v */
void add_antigravity(const body *b, const double gravity[3], real f[6]); /* f -= I a_g */
void body_force(const reference *r, size_t k, const reference_scene *scene, bool drive, real f[6]);
