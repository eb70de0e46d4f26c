/* reference.c - computes inverse and forward dynamics, mass matrix and bias by the equations in reference.h. */
#include "reference_body.h"
#include <stdlib.h>

size_t reference_nv(const dyn_description *d)
{
    size_t n = d->floating ? 6 : 0;
    for (size_t i = 0; i < d->n_links; i++)
        n += motion_count_velocities(&d->links[i]) + d->links[i].elastic;
    return n;
}

/* Counts the positions: one more than the velocities for every joint with a quaternion. */
size_t reference_nq(const dyn_description *d)
{
    size_t n = reference_nv(d) + (d->floating ? 1 : 0);
    for (size_t i = 0; i < d->n_links; i++)
        n += motion_has_quaternion(&d->links[i]);
    return n;
}

size_t reference_bodies(const dyn_description *d)
{
    size_t n = d->floating;
    for (size_t i = 0; i < d->n_links; i++)
        n += d->links[i].joint != DYN_FIXED;
    return n;
}

reference *reference_at(const dyn_description *d, reference_state state)
{
    reference *r = reference_allocate(1, sizeof *r);
    r->d         = d;
    if (!motion_at(&r->m, d, state)) abort();
    r->b = place_bodies(r, state);
    return r;
}

void reference_free(reference *r)
{
    if (!r) return;
    motion_free(&r->m);
    free(r->b);
    free(r);
}

void add_transposed_jacobian(const reference *r, size_t k, const real f[6], real *tau)
{
    if (!r->m.link[k].moves) return;
    for (int a = (int)k; a >= 0; a = r->m.link[a].parent)
        for (int c = 0; c < r->m.link[a].n; c++) {
            real s[6];
            joint_column(&r->m.link[a], c, 0, s);
            tau[r->m.link[a].v + c] += dot6(s, f);
        }
}

/* --- forces of the joints, as functions of the joint's s and ds ------------------------------------------------- */

real friction_force(const dyn_friction *f, real ds)
{
    real sign = f->coulomb_velocity > 0 ? tanhl(ds / f->coulomb_velocity) : (real)((ds > 0) - (ds < 0));
    real fast = ds > 0 ? f->positive : f->negative, slow = ds > 0 ? f->breakaway_positive : f->breakaway_negative;
    real u    = f->stribeck_velocity > 0 ? ds / (real)f->stribeck_velocity : 0;
    real more = f->stribeck_velocity > 0 ? (slow - fast) * expl(-u * u) : 0;
    return f->viscous * ds + (fast + more) * sign;
}

static real spring_force(const dyn_spring *s, real position, real ds)
{
    real x = position - s->rest;
    return s->stiffness * x + s->stiffness2 * powl(x, 2) + s->stiffness3 * powl(x, 3) + s->damping * ds +
           s->damping2 * ds * fabsl(ds) + s->damping3 * powl(ds, 3);
}

/* Adds the forces within joints to tau. The power of a joint's force is force * ds = (ratio force) * qd, hence the
 * factor ratio. For a planar joint the force acts on the angle, which is the last coordinate. */
static void add_joint_forces(const reference *r, bool friction, bool springs, bool rotors, real *tau)
{
    for (size_t k = 1; k < r->m.n; k++) {
        const motion_link *l = &r->m.link[k];
        const dyn_link    *d = &r->d->links[k - 1];
        if (l->n == 0 || motion_has_quaternion(d)) continue;
        real force = friction ? friction_force(&d->friction, jet_derivative(l->s, 1)) : 0;
        force += springs ? spring_force(&d->spring, l->s.c[0], jet_derivative(l->s, 1)) : 0;
        force += rotors && !d->elastic ? d->rotor_inertia * jet_derivative(l->s, 2) : 0;
        tau[l->v + l->n - 1] += l->ratio * force;
    }
}

static void round_out(size_t n, const real *from, double *to)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] = (double)from[i];
}

/* --- the terms of the equations of motion -------------------------------------------------------------------- */

/* Moves the wrench F from the world's origin to `origin`, and resolves it in the axes of link l. */
static void joint_wrench(const motion_link *l, const jet3 *origin, const real F[6], double *out)
{
    real p[3] = {origin->e[0].c[0], origin->e[1].c[0], origin->e[2].c[0]}, moment[3];
    cross(p, F, moment);
    for (int i = 0; i < 3; i++) {
        real force = 0, torque = 0;
        for (int j = 0; j < 3; j++) {
            force += l->R.e[j][i].c[0] * F[j];
            torque += l->R.e[j][i].c[0] * (F[3 + j] - moment[j]);
        }
        out[i]     = (double)force;
        out[3 + i] = (double)torque;
    }
}

/* Computes the wrench through every joint by a free body diagram: the sum of the wrenches that all links beyond the
 * joint require. */
static void joint_wrenches(const reference *r, const reference_scene *scene, double *out)
{
    real(*F)[6] = reference_allocate(r->m.n, sizeof *F);
    for (size_t k = 0; k < r->m.n; k++)
        body_force(r, k, scene, true, F[k]);
    add_spin_moments(r, true, F);
    for (size_t k = r->m.n - 1; k > 0; k--)
        for (int i = 0; i < 6; i++)
            F[r->m.link[k].parent][i] += F[k][i];
    for (size_t k = 0; k < r->m.n; k++) {
        const motion_link *l = &r->m.link[k];
        if (l->n == 0) continue;
        joint_wrench(l, k > 0 && r->d->links[k - 1].moment_at_parent_frame ? &l->near : &l->p, F[k], out);
        out += 6;
    }
    free(F);
}

void reference_inverse_dynamics(const reference *r, const reference_scene *scene, double *tau, double *wrenches)
{
    real *sum = reference_allocate((size_t)r->m.nv, sizeof *sum);
    for (size_t k = 0; k < r->m.n; k++) {
        real f[6];
        body_force(r, k, scene, true, f);
        add_transposed_jacobian(r, k, f, sum);
    }
    add_joint_forces(r, scene->friction, scene->springs, true, sum);
    add_free_joints(r, scene->springs, true, sum);
    add_motors(r, true, sum);
    add_motor_forces(r, scene->friction, scene->springs, sum);
    add_drive_forces(r, scene->friction, true, sum);
    round_out((size_t)r->m.nv, sum, tau);
    if (wrenches) joint_wrenches(r, scene, wrenches);
    free(sum);
}

/* Adds the terms of the bias to parts[0..3]: bias, coriolis, gravity, friction. Each has nv entries, zero on entry, or
 * is NULL. */
static void bias_parts(const reference *r, const reference_scene *scene, real *const parts[4])
{
    for (size_t k = 0; k < r->m.n; k++) {
        real f[3][6] = {{0}};
        body_force(r, k, scene, false, f[0]);
        apply6(r->b[k].I, r->b[k].drift, f[1]);
        add_gyroscopic(&r->b[k], f[1]);
        add_antigravity(&r->b[k], scene->gravity, f[2]);
        for (int i = 0; i < 3; i++)
            if (parts[i]) add_transposed_jacobian(r, k, f[i], parts[i]);
    }
    for (int i = 0; i < 2; i++)
        if (parts[i]) add_motors(r, false, parts[i]);
    for (int i = 0; i < 2; i++)
        if (parts[i]) add_free_joints(r, i == 0 && scene->springs, false, parts[i]);
    if (parts[0]) add_joint_forces(r, scene->friction, scene->springs, false, parts[0]);
    if (parts[0]) add_motor_forces(r, scene->friction, scene->springs, parts[0]);
    if (parts[0]) add_drive_forces(r, scene->friction, false, parts[0]);
    if (parts[3]) add_joint_forces(r, scene->friction, false, false, parts[3]);
    if (parts[3]) add_motor_forces(r, scene->friction, false, parts[3]);
    if (parts[3]) add_drive_forces(r, scene->friction, false, parts[3]);
}

void reference_bias(const reference *r, const reference_scene *scene, reference_bias_parts out)
{
    size_t        n     = (size_t)r->m.nv;
    double *const to[4] = {out.bias, out.coriolis, out.gravity, out.friction};
    real         *parts[4];
    for (int i = 0; i < 4; i++)
        parts[i] = to[i] ? reference_allocate(n, sizeof *parts[i]) : NULL;
    bias_parts(r, scene, parts);
    for (int i = 0; i < 4; i++) {
        round_out(n, parts[i], to[i]);
        free(parts[i]);
    }
}

/* Computes M = sum_k J_k^T I_k J_k and adds the rotors' inertias on the diagonal. */
static real *mass_matrix(const reference *r)
{
    size_t n = (size_t)r->m.nv;
    real  *M = reference_allocate(n * n, sizeof *M);
    for (size_t k = 0; k < r->m.n; k++)
        for (int a = r->m.link[k].moves ? (int)k : -1; a >= 0; a = r->m.link[a].parent)
            for (int c = 0; c < r->m.link[a].n; c++) {
                real s[6], f[6];
                joint_column(&r->m.link[a], c, 0, s);
                apply6(r->b[k].I, s, f);
                add_transposed_jacobian(r, k, f, M + n * (size_t)(r->m.link[a].v + c));
            }
    for (size_t k = 1; k < r->m.n; k++) {
        const motion_link *l = &r->m.link[k];
        if (l->n == 0 || motion_has_quaternion(&r->d->links[k - 1])) continue;
        const dyn_link *d     = &r->d->links[k - 1];
        real            ratio = d->elastic ? 1 : l->ratio;
        M[(n + 1) * (size_t)(d->elastic ? l->v_theta : l->v + l->n - 1)] += ratio * ratio * d->rotor_inertia;
    }
    add_motor_inertia(r, M);
    add_free_inertia(r, M);
    add_drive_inertia(r, M);
    return M;
}

void reference_mass_matrix(const reference *r, double *M)
{
    real *sum = mass_matrix(r);
    round_out((size_t)r->m.nv * (size_t)r->m.nv, sum, M);
    free(sum);
}

/* Factorises M = L L^T in place (Cholesky). Returns false if M is not positive definite. */
static bool factorise(real *M, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            real s = M[i * n + j];
            for (size_t k = 0; k < j; k++)
                s -= M[i * n + k] * M[j * n + k];
            if (i == j && !(s > 0)) return false;
            M[i * n + j] = i == j ? sqrtl(s) : s / M[j * n + j];
        }
    return true;
}

static void solve(const real *L, size_t n, real *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
}

bool reference_forward_dynamics(const reference *r, const reference_scene *scene, const double *tau, double *qdd)
{
    size_t n = (size_t)r->m.nv;
    real  *M = mass_matrix(r), *x = reference_allocate(n, sizeof *x);
    bias_parts(r, scene, (real *const[4]){x});
    for (size_t i = 0; i < n; i++)
        x[i] = (tau ? (real)tau[i] : 0) - x[i];
    bool regular = factorise(M, n);
    if (regular) {
        solve(M, n, x);
        round_out(n, x, qdd);
    }
    free(M), free(x);
    return regular;
}

bool reference_hybrid_dynamics(const reference *r, const reference_scene *scene, const bool *driven, const double *tau,
                               double *qdd)
{
    size_t  n = (size_t)r->m.nv, k = 0;
    real   *M = mass_matrix(r), *bias = reference_allocate(n, sizeof *bias), *x = reference_allocate(n, sizeof *x);
    real   *free_part   = reference_allocate(n * n, sizeof *free_part);
    size_t *coordinates = reference_allocate(n, sizeof *coordinates);
    bias_parts(r, scene, (real *const[4]){bias});
    for (size_t i = 0; i < n; i++)
        if (!driven[i]) coordinates[k++] = i;
    for (size_t a = 0; a < k; a++) {
        x[a] = (real)tau[coordinates[a]] - bias[coordinates[a]];
        for (size_t j = 0; j < n; j++)
            if (driven[j]) x[a] -= M[coordinates[a] * n + j] * (real)qdd[j];
        for (size_t b = 0; b < k; b++)
            free_part[a * k + b] = M[coordinates[a] * n + coordinates[b]];
    }
    bool regular = factorise(free_part, k);
    if (regular) solve(free_part, k, x);
    for (size_t a = 0; regular && a < k; a++)
        qdd[coordinates[a]] = (double)x[a];
    free(M), free(bias), free(x), free(free_part), free(coordinates);
    return regular;
}

bool reference_inverse_mass_matrix(const reference *r, double *inverse)
{
    size_t n = (size_t)r->m.nv;
    real  *M = mass_matrix(r), *x = reference_allocate(n, sizeof *x);
    bool   regular = factorise(M, n);
    for (size_t j = 0; regular && j < n; j++) {
        for (size_t i = 0; i < n; i++)
            x[i] = i == j;
        solve(M, n, x);
        round_out(n, x, inverse + j * n);
    }
    free(M), free(x);
    return regular;
}
