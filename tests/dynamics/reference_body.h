/* reference_body.h - declares the parts of the reference that compute with links as bodies in the world. */
#pragma once
#include "reference_motion.h"

/* A link as a body in the world, all about the world's origin. */
typedef struct body {
    real mass, com[3];
    real I[6][6];  /* spatial inertia, [linear; angular] */
    real v[6];     /* J qd */
    real drive[6]; /* J qdd */
    real drift[6]; /* J' qd: the acceleration is drive + drift */
} body;

struct reference {
    const dyn_description *d;
    motion                 m;
    body                  *b; /* [m.n] */
};

void *reference_allocate(size_t n, size_t size); /* set to zero; ends the test if there is no memory */

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

/* Column c of a link's own joint, its k-th time derivative: [linear at the world's origin; angular]. */
void joint_column(const motion_link *l, int c, int k, real s[6]);

body *place_bodies(const reference *r, reference_state state);

/* All about the world's origin. */
void add_transposed_jacobian(const reference *r, size_t k, const real f[6], real *tau); /* tau += J_k^T f */

/* --- motors and elastic joints: reference_motor.c ------------------------------------------------------------- */

real friction_force(const dyn_friction *f, real ds);
void add_motors(const reference *r, bool drive,
                real *tau); /* efforts that the spin requires; `drive`: including qdd terms */
void add_spin_moments(const reference *r, bool drive, real (*F)[6]); /* moments on the links that carry motors */
void add_motor_forces(const reference *r, bool friction, bool springs, real *tau);
void add_motor_inertia(const reference *r, real *M);
void motor_energies(const reference *r, real *kinetic, real *potential);
/* h += spin momentum, columns[v] += that at unit rate of v */
void add_spin_momentum(const reference *r, real h[6], real (*columns)[6]);

/* --- motors of coupled transmissions: reference_motor.c ------------------------------------------------------- */

void add_drive_forces(const reference *r, bool friction, bool rotors, real *tau);
void add_drive_inertia(const reference *r, real *M);
real drive_energy(const reference *r);

void add_gyroscopic(const body *b, real f[6]);                           /* f += v x* I v */
void add_antigravity(const body *b, const double gravity[3], real f[6]); /* f -= I a_g */
void body_force(const reference *r, size_t k, const reference_scene *scene, bool drive, real f[6]);
