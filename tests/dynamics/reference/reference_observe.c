/* reference_observe.c - computes quantities that follow from the motion: poses and velocities of frames, energies,
 * momentum. */
#include "reference_body.h"
#include <stdlib.h>

static void round_out(size_t n, const real *from, double *to)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] = (double)from[i];
}

/* --- a frame fixed to a link ------------------------------------------------------------------------------- */

/* Converts a rotation matrix to a quaternion with w >= 0, from the component of largest magnitude (Shepperd 1978). */
static void matrix_to_quaternion(const jet33 *m, double out[4])
{
    real R[3][3], q[4], trace = 0;
    for (int i = 0; i < 9; i++)
        R[i / 3][i % 3] = m->e[i / 3][i % 3].c[0];
    for (int i = 0; i < 3; i++)
        trace += R[i][i];
    int largest = 3; /* index in x y z w; 4 q_i^2 - 1 is trace for w, 2 R_ii - trace for x y z */
    for (int i = 0; i < 3; i++)
        if (2 * R[i][i] - trace > (largest == 3 ? trace : 2 * R[largest][largest] - trace)) largest = i;
    if (largest == 3) {
        q[3] = sqrtl(1 + trace) / 2;
        for (int i = 0; i < 3; i++)
            q[i] = (R[(i + 2) % 3][(i + 1) % 3] - R[(i + 1) % 3][(i + 2) % 3]) / (4 * q[3]);
    } else {
        int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = sqrtl(1 + 2 * R[i][i] - trace) / 2;
        q[j] = (R[i][j] + R[j][i]) / (4 * q[i]);
        q[k] = (R[i][k] + R[k][i]) / (4 * q[i]);
        q[3] = (R[k][j] - R[j][k]) / (4 * q[i]);
    }
    for (int i = 0; i < 4; i++)
        out[i] = (double)(q[3] < 0 ? -q[i] : q[i]);
}

/* Computes one column of a frame's Jacobian, [velocity of the point; angular velocity], in the frame's axes (to_axes =
 * R^T) or in the world's. */
static void frame_column(const motion_link *joint, int c, const jet3 *point, const jet33 *to_axes, jet column[6])
{
    /* lin: from the velocity at the world's origin to the velocity at the point */
    jet3 ang = joint->ang[c], lin = jet3_add(joint->lin[c], jet3_cross(ang, *point));
    lin = jet33_apply(to_axes, lin);
    ang = jet33_apply(to_axes, ang);
    for (int i = 0; i < 3; i++) {
        column[i]     = lin.e[i];
        column[3 + i] = ang.e[i];
    }
}

static void frame_jacobian(const motion *m, int k, const jet3 *point, const jet33 *to_axes, reference_frame_motion out)
{
    size_t n = (size_t)m->nv;
    for (size_t i = 0; i < 6 * n; i++) {
        if (out.jacobian) out.jacobian[i] = 0;
        if (out.jacobian_dot) out.jacobian_dot[i] = 0;
    }
    for (; k >= 0; k = m->link[k].parent)
        for (int c = 0; c < m->link[k].n; c++) {
            jet column[6];
            frame_column(&m->link[k], c, point, to_axes, column);
            for (size_t i = 0; i < 6; i++) {
                size_t offset = i * n + (size_t)(m->link[k].v + c);
                if (out.jacobian) out.jacobian[offset] += (double)jet_derivative(column[i], 0);
                if (out.jacobian_dot) out.jacobian_dot[offset] += (double)jet_derivative(column[i], 1);
            }
        }
}

/* Computes w from [w]x = R' R^T, exact up to t^2, which is sufficient for the second derivative of w. */
static jet3 angular_velocity(const jet33 *R)
{
    jet33 rate, transposed = jet33_transpose(R);
    for (int i = 0; i < 9; i++)
        rate.e[i / 3][i % 3] = jet_rate(R->e[i / 3][i % 3]);
    jet33 skew = jet33_mul(&rate, &transposed);
    return (jet3){{skew.e[2][1], skew.e[0][2], skew.e[1][0]}};
}

/* Writes the k-th derivative of the point and the (k - 1)-th of the angular velocity, in the frame's axes at t = 0. */
static void components_in_axes(const jet3 *p, const jet3 *w, int k, const jet33 *to_axes, double *out)
{
    for (int i = 0; out && i < 3; i++) {
        real lin = 0, ang = 0;
        for (int j = 0; j < 3; j++) {
            lin += to_axes->e[i][j].c[0] * jet_derivative(p->e[j], k);
            ang += to_axes->e[i][j].c[0] * jet_derivative(w->e[j], k - 1);
        }
        out[i]     = (double)lin;
        out[3 + i] = (double)ang;
    }
}

void reference_frame(const reference *r, int link, const dyn_pose *X_lf, bool frame_axes, reference_frame_motion out)
{
    const double       identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const motion_link *l              = &r->m.link[link + 1];
    jet33              R_lf = jet33_constant(X_lf->R), R = jet33_mul(&l->R, &R_lf);
    jet3               p       = jet3_add(l->p, jet33_apply(&l->R, jet3_constant(X_lf->p)));
    jet33              to_axes = frame_axes ? jet33_transpose(&R) : jet33_constant(identity);
    jet3               w       = angular_velocity(&R);
    for (int i = 0; out.position && i < 3; i++)
        out.position[i] = (double)p.e[i].c[0];
    if (out.orientation) matrix_to_quaternion(&R, out.orientation);
    frame_jacobian(&r->m, link + 1, &p, &to_axes, out);
    components_in_axes(&p, &w, 1, &to_axes, out.velocity);
    components_in_axes(&p, &w, 2, &to_axes, out.acceleration);
    components_in_axes(&p, &w, 3, &to_axes, out.jerk);
}

/* --- energies and momentum --------------------------------------------------------------------------------- */

/* Moves the momentum h = [p; L] from the world's origin to c: L_c = L - c x p. */
static void move_momentum(const real c[3], real h[6])
{
    real moment[3];
    cross(c, h, moment);
    for (int i = 0; i < 3; i++)
        h[3 + i] -= moment[i];
}

static real centre_of_mass(const reference *r, real com[3])
{
    real mass = 0;
    for (int i = 0; i < 3; i++)
        com[i] = 0;
    for (size_t k = 0; k < r->m.n; k++) {
        mass += r->b[k].mass;
        for (int i = 0; i < 3; i++)
            com[i] += r->b[k].mass * r->b[k].com[i];
    }
    for (int i = 0; i < 3; i++)
        com[i] /= mass;
    return mass;
}

/* Computes the momentum matrix and the Jacobian of the centre of mass. Column v is the sum over the links k that
 * coordinate v moves of I_k s, about the centre of mass, with s the joint's column. */
static void momentum_matrices(const reference *r, const real com[3], real mass, reference_energies *out)
{
    size_t n          = (size_t)r->m.nv;
    real(*columns)[6] = reference_allocate(n, sizeof *columns);
    for (size_t k = 0; k < r->m.n; k++)
        for (int a = r->m.link[k].moves ? (int)k : -1; a >= 0; a = r->m.link[a].parent)
            for (int c = 0; c < r->m.link[a].n; c++) {
                real s[6], h[6];
                joint_column(&r->m.link[a], c, 0, s);
                apply6(r->b[k].I, s, h);
                for (int i = 0; i < 6; i++)
                    columns[r->m.link[a].v + c][i] += h[i];
            }
    add_spin_momentum(r, NULL, columns);
    for (size_t v = 0; v < n; v++) {
        move_momentum(com, columns[v]);
        for (size_t i = 0; i < 3 && out->com_jacobian; i++)
            out->com_jacobian[i * n + v] = (double)(columns[v][i] / mass);
        for (size_t i = 0; i < 6 && out->momentum_matrix; i++)
            out->momentum_matrix[i * n + v] = (double)columns[v][i];
    }
    free(columns);
}

/* Computes the centroidal inertia: column i is the angular momentum about the centre of mass if all links turn about it
 * at 1 rad/s around axis i. The world's origin, fixed in the links, then moves at com x e_i. */
static void turning_inertia(const reference *r, const real com[3], double *inertia)
{
    for (int i = 0; i < 3; i++) {
        real twist[6] = {0}, sum[6] = {0};
        twist[3 + i] = 1;
        cross(com, twist + 3, twist);
        for (size_t k = 0; k < r->m.n; k++) {
            real h[6];
            apply6(r->b[k].I, twist, h);
            for (int j = 0; j < 6; j++)
                sum[j] += h[j];
        }
        move_momentum(com, sum);
        for (int j = 0; j < 3; j++)
            inertia[3 * j + i] = (double)sum[3 + j];
    }
}

/* Adds kinetic and potential energy of rotors and springs, as functions of the joint's own position and rate. */
static void joint_energies(const reference *r, real *kinetic, real *potential)
{
    for (size_t k = 1; k < r->m.n; k++) {
        const motion_link *l = &r->m.link[k];
        const dyn_link    *d = &r->d->links[k - 1];
        if (l->n == 0 || motion_has_quaternion(d)) continue;
        real rate = jet_derivative(l->s, 1), stretch = l->s.c[0] - d->spring.rest;
        if (!d->elastic) *kinetic += d->rotor_inertia * rate * rate / 2;
        *potential += d->spring.stiffness * stretch * stretch / 2 + d->spring.stiffness2 * powl(stretch, 3) / 3 +
                      d->spring.stiffness3 * powl(stretch, 4) / 4;
    }
}

void reference_energy(const reference *r, const reference_scene *scene, reference_energies *out)
{
    real com[3], h[6] = {0}, kinetic = 0, potential = 0, mass = centre_of_mass(r, com);
    for (size_t k = 0; k < r->m.n; k++) {
        real momentum[6];
        apply6(r->b[k].I, r->b[k].v, momentum);
        kinetic += dot6(r->b[k].v, momentum) / 2;
        for (int i = 0; i < 6; i++)
            h[i] += momentum[i];
        for (int i = 0; i < 3; i++)
            potential -= r->b[k].share * r->b[k].mass * scene->gravity[i] * r->b[k].com[i];
    }
    joint_energies(r, &kinetic, &potential);
    motor_energies(r, &kinetic, &potential);
    kinetic += drive_energy(r);
    free_joint_energies(r, &kinetic, &potential);
    add_spin_momentum(r, h, NULL);
    move_momentum(com, h);
    out->kinetic   = (double)kinetic;
    out->potential = (double)potential;
    out->mass      = (double)mass;
    for (int i = 0; i < 3; i++) {
        out->com[i]          = (double)com[i];
        out->com_velocity[i] = (double)(h[i] / mass);
    }
    round_out(6, h, out->momentum);
    turning_inertia(r, com, out->centroidal_inertia);
    momentum_matrices(r, com, mass, out);
}
