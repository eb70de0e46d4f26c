/* reference_motor.c - computes the forces of motors as gyrostats, and of elastic joints, from their energies:
 *
 *   T = J s' (a . w) + 1/2 J s'^2,   s' = gear ratio times the rate that the motor drives.
 *
 * T is in addition to the energy of the link with the rotor locked; a is the motor's axis and w the link's angular
 * velocity. The spin J s' a is an angular momentum of the link, and its rate requires a moment. About the axis, the
 * rotor itself requires the torque d/dt J (a . w + s'). The spring of an elastic joint has V = 1/2 stiffness (q - theta
 * - rest)^2.
 *
 * Rotors and dampers of joints with a quaternion follow from the path of the moved frame: J p'' + d p' in the axes of
 * the joint's frame on the parent's side, turned into those of the moved frame, and J w' + d w of the components of the
 * angular velocity. The spring of a spherical joint has the moment k phi n with the angle phi about the axis n. */
#include "reference_body.h"

typedef struct spinning {
    size_t host;         /* index of the link that carries the motor */
    int    v;            /* the velocity coordinate that drives the motor */
    real   J, per_rate;  /* spin inertia; spin rate per unit rate of v */
    real   a[3];         /* axis in the world */
    real   rate, faster; /* spin rate and its time derivative */
    real   turned;       /* rate of the coordinate that drives the motor: of the joint or, for an elastic joint, of
                            theta */
} spinning;

static bool spinning_of(const reference *r, size_t k, bool drive, spinning *s)
{
    const dyn_link    *d = &r->d->links[k - 1];
    const motion_link *l = &r->m.link[k];
    if (!d->motor.present) return false;
    jet path = d->elastic ? l->theta : l->s;
    *s       = (spinning){.host     = (size_t)(d->motor.link + 1),
                          .v        = d->elastic ? l->v_theta : l->v,
                          .J        = d->motor.spin_inertia,
                          .per_rate = d->motor.gear_ratio * (d->elastic ? 1 : l->ratio),
                          .rate     = d->motor.gear_ratio * jet_derivative(path, 1),
                          .faster   = drive ? d->motor.gear_ratio * jet_derivative(path, 2) : 0,
                          .turned   = jet_derivative(path, 1)};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s->a[i] += r->m.link[s->host].R.e[i][j].c[0] * d->motor.axis[j];
    return true;
}

static real dot3(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Computes the moment that the spin requires from its link: d/dt (J s' a) = J s'' a + w x J s' a. */
static void spin_moment(const reference *r, const spinning *s, real n[3])
{
    real turning[3];
    cross(r->b[s->host].v + 3, s->a, turning);
    for (int i = 0; i < 3; i++)
        n[i] = s->J * (s->faster * s->a[i] + s->rate * turning[i]);
}

void add_motors(const reference *r, bool drive, real *tau)
{
    for (size_t k = 1; k < r->m.n; k++) {
        const dyn_link    *d = &r->d->links[k - 1];
        const motion_link *l = &r->m.link[k];
        spinning           s;
        if (d->elastic && drive) tau[l->v_theta] += d->rotor_inertia * jet_derivative(l->theta, 2);
        if (!spinning_of(r, k, drive, &s)) continue;
        real        f[6] = {0}, wd[3];
        const body *host = &r->b[s.host];
        spin_moment(r, &s, f + 3);
        add_transposed_jacobian(r, s.host, f, tau);
        for (int i = 0; i < 3; i++)
            wd[i] = host->drift[3 + i] + (drive ? host->drive[3 + i] : 0);
        tau[s.v] += s.per_rate * s.J * (dot3(wd, s.a) + s.faster);
    }
}

void add_spin_moments(const reference *r, bool drive, real (*F)[6])
{
    for (size_t k = 1; k < r->m.n; k++) {
        spinning s;
        real     n[3];
        if (!spinning_of(r, k, drive, &s)) continue;
        spin_moment(r, &s, n);
        for (int i = 0; i < 3; i++)
            F[s.host][3 + i] += n[i];
    }
}

void add_motor_forces(const reference *r, bool friction, bool springs, real *tau)
{
    for (size_t k = 1; k < r->m.n; k++) {
        const dyn_link    *d = &r->d->links[k - 1];
        const motion_link *l = &r->m.link[k];
        spinning           s;
        if (friction && spinning_of(r, k, false, &s))
            tau[s.v] += (d->elastic ? 1 : l->ratio) * friction_force(&d->motor.friction, s.turned);
        if (!springs || !d->elastic) continue;
        real R = d->elasticity.stiffness * (l->s.c[0] - l->theta.c[0] - d->elasticity.rest) +
                 d->elasticity.damping * (l->s.c[1] - l->theta.c[1]);
        tau[l->v] += R;
        tau[l->v_theta] -= R;
    }
}

void add_motor_inertia(const reference *r, real *M)
{
    size_t n = (size_t)r->m.nv;
    for (size_t k = 1; k < r->m.n; k++) {
        spinning s;
        if (!spinning_of(r, k, false, &s)) continue;
        size_t v = (size_t)s.v;
        M[v * n + v] += s.J * s.per_rate * s.per_rate;
        for (int a = (int)s.host; a >= 0; a = r->m.link[a].parent)
            for (int c = 0; c < r->m.link[a].n; c++) {
                real   column[6];
                size_t j = (size_t)(r->m.link[a].v + c);
                joint_column(&r->m.link[a], c, 0, column);
                M[v * n + j] += s.J * s.per_rate * dot3(s.a, column + 3);
                M[j * n + v] += s.J * s.per_rate * dot3(s.a, column + 3);
            }
    }
}

void motor_energies(const reference *r, real *kinetic, real *potential)
{
    for (size_t k = 1; k < r->m.n; k++) {
        const dyn_link    *d = &r->d->links[k - 1];
        const motion_link *l = &r->m.link[k];
        spinning           s;
        if (spinning_of(r, k, false, &s))
            *kinetic += s.J * s.rate * dot3(s.a, r->b[s.host].v + 3) + s.J * s.rate * s.rate / 2;
        if (!d->elastic) continue;
        real stretch = l->s.c[0] - l->theta.c[0] - d->elasticity.rest;
        *kinetic += d->rotor_inertia * l->theta.c[1] * l->theta.c[1] / 2;
        *potential += d->elasticity.stiffness * stretch * stretch / 2;
    }
}

void add_spin_momentum(const reference *r, real h[6], real (*columns)[6])
{
    for (size_t k = 1; k < r->m.n; k++) {
        spinning s;
        if (!spinning_of(r, k, false, &s)) continue;
        for (int i = 0; i < 3; i++) {
            if (h) h[3 + i] += s.J * s.rate * s.a[i];
            if (columns) columns[s.v][3 + i] += s.J * s.per_rate * s.a[i];
        }
    }
}

/* Returns the k-th time derivative of the weighted sum of the coordinates of a drive's joints. */
static real drive_derivative(const reference *r, const dyn_drive *d, int k)
{
    real sum = 0;
    for (size_t j = 0; j < d->n; j++) {
        const motion_link *l = &r->m.link[d->joint[j] + 1];
        sum += d->weight[j] * jet_derivative(l->s, k) / l->ratio;
    }
    return sum;
}

void add_drive_forces(const reference *r, bool friction, bool rotors, real *tau)
{
    for (size_t i = 0; i < r->d->n_drives; i++) {
        const dyn_drive *d     = &r->d->drives[i];
        real             force = friction ? friction_force(&d->friction, drive_derivative(r, d, 1)) : 0;
        force += rotors ? d->rotor_inertia * drive_derivative(r, d, 2) : 0;
        for (size_t j = 0; j < d->n; j++)
            tau[r->m.link[d->joint[j] + 1].v] += d->weight[j] * force;
    }
}

void add_drive_inertia(const reference *r, real *M)
{
    for (size_t k = 0; k < r->d->n_drives; k++) {
        const dyn_drive *d = &r->d->drives[k];
        for (size_t i = 0; i < d->n; i++)
            for (size_t j = 0; j < d->n; j++)
                M[r->m.link[d->joint[i] + 1].v * r->m.nv + r->m.link[d->joint[j] + 1].v] +=
                    (real)d->rotor_inertia * d->weight[i] * d->weight[j];
    }
}

real drive_energy(const reference *r)
{
    real energy = 0;
    for (size_t k = 0; k < r->d->n_drives; k++) {
        real rate = drive_derivative(r, &r->d->drives[k], 1);
        energy += r->d->drives[k].rotor_inertia * rate * rate / 2;
    }
    return energy;
}

/* --- joints with a quaternion ------------------------------------------------------------------------------------ */

/* Rotor inertia and damping of a joint with a quaternion, link k; zeros for another joint. */
typedef struct free_figures {
    real J, d, k;
    int  linear; /* number of linear coordinates */
} free_figures;

static free_figures figures_of(const reference *r, size_t k)
{
    const dyn_description *d = r->d;
    if (k == 0 && !d->floating) return (free_figures){0};
    if (k == 0) return (free_figures){d->base_rotor_inertia, d->base_damping, 0, 3};
    const dyn_link *l = &d->links[k - 1];
    if (!motion_has_quaternion(l)) return (free_figures){0};
    return (free_figures){l->rotor_inertia, l->spring.damping, l->spring.stiffness, l->joint == DYN_FLOATING ? 3 : 0};
}

/* Sets theta to the rotation vector of a joint; returns its angle. */
static real rotation_vector(const motion_link *l, real theta[3])
{
    real twice[3], sine = 0, cosine = -1;
    for (int i = 0; i < 3; i++) {
        const int y = (i + 1) % 3, z = (i + 2) % 3;
        twice[i] = l->turn.e[z][y].c[0] - l->turn.e[y][z].c[0]; /* 2 sin(phi) n_i */
        sine += twice[i] * twice[i] / 4;
        cosine += l->turn.e[i][i].c[0];
    }
    const real angle = atan2l(sqrtl(sine), cosine / 2);
    for (int i = 0; i < 3; i++)
        theta[i] = sine > 0 ? angle * twice[i] / (2 * sqrtl(sine)) : 0;
    return angle;
}

void add_free_joints(const reference *r, bool springs, bool drive, real *tau)
{
    for (size_t k = 0; k < r->m.n; k++) {
        const motion_link *l        = &r->m.link[k];
        const free_figures f        = figures_of(r, k);
        real               theta[3] = {0};
        if (f.J == 0 && f.d == 0 && f.k == 0) continue;
        if (springs && f.k != 0) rotation_vector(l, theta);
        for (int i = 0; i < f.linear; i++) {
            real force = drive ? 0 : -f.J * l->rates[i].c[1];
            for (int j = 0; j < 3; j++)
                force += l->turn.e[j][i].c[0] *
                         (f.J * jet_derivative(l->way.e[j], 2) + (springs ? f.d : 0) * jet_derivative(l->way.e[j], 1));
            tau[l->v + i] += force;
        }
        for (int i = 0; i < 3; i++)
            tau[l->v + f.linear + i] +=
                f.k * theta[i] + (drive ? f.J : 0) * l->rates[3 + i].c[1] + (springs ? f.d : 0) * l->rates[3 + i].c[0];
    }
}

void add_free_inertia(const reference *r, real *M)
{
    for (size_t k = 0; k < r->m.n; k++)
        for (int i = 0; i < r->m.link[k].n; i++)
            M[(size_t)(r->m.nv + 1) * (size_t)(r->m.link[k].v + i)] += figures_of(r, k).J;
}

void free_joint_energies(const reference *r, real *kinetic, real *potential)
{
    for (size_t k = 0; k < r->m.n; k++) {
        const motion_link *l = &r->m.link[k];
        const free_figures f = figures_of(r, k);
        real               theta[3];
        for (int i = 0; i < 3 && f.J != 0; i++) {
            const real rate = f.linear ? jet_derivative(l->way.e[i], 1) : 0, w = l->rates[3 + i].c[0];
            *kinetic += f.J * (rate * rate + w * w) / 2;
        }
        const real angle = f.k != 0 ? rotation_vector(l, theta) : 0;
        *potential += f.k * angle * angle / 2;
    }
}
