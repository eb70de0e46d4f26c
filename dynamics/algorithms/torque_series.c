/* torque_series.c - computes tau and its time derivatives of any order: inverse dynamics over power series in time.
 *
 * With x = R r for the points of a body relative to its origin, and their mass, h = int r dm and E = int r r^T dm,
 *
 *     f = m a + R'' h,    n = (R h) x a + int x x x'' dm,
 *
 * where the integral is the vector of the skew-symmetric matrix R'' E R^T - R E R''^T. From the tips to the base,
 * f_p += f and n_p += n + d x f, and tau is the component of f or n along the joint's axis, with rotor, friction and
 * springs as in joint_forces.h. Friction that depends on the load T is added last, with the series sign(T) T of |T|.
 *
 * The rotor of a motor has the momentum J (z . w + s') z, where w is the angular velocity of the link that carries it
 * and z its axis. Its own rotation, at a hundred times the rate of the joints, is in no series: the terms of R would
 * grow with powers of this rate. */
#include "kernels.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/external_wrenches.h"
#include "dynamics/recursion/series_motion.h"

/* --- wrenches --------------------------------------------------------------------------------------------------- */

/* Adds the wrench that accelerates body i, about its origin, in world axes, as series. */
static void add_inertial_wrench(const series_pass *p, size_t i)
{
    const series_size  z    = size_of_forces(p);
    const dyn_moments *mass = &p->scene->model->body[i].moments;
    const double      *e = mass->E, E[3][3] = {{e[0], e[1], e[2]}, {e[1], e[3], e[4]}, {e[2], e[4], e[5]}};
    const series_body  B    = series_body_of(p, (int)i);
    lane              *R_dd = p->scratch, *RE = R_dd + 9 * p->n, *Rh = RE + 9 * p->n;
    series_clear(21 * p->n, R_dd);
    for (size_t entry = 0; entry < 9 * p->n; entry += p->n)
        for (size_t k = 0; k < z.n; k++)
            R_dd[entry + k] = (double)((k + 1) * (k + 2)) * B.R[entry + k + 2];
    for (size_t row = 0; row < 3; row++)
        for (size_t j = 0; j < 3; j++)
            for (size_t l = 0; l < 3; l++)
                series_add_scaled(z.n, B.R + (3 * row + l) * p->n, E[l][j], RE + (3 * row + j) * p->n);
    series_add_rotated_const(z, B.R, mass->h, Rh);
    series_add_rotated_const(z, R_dd, mass->h, B.f);
    for (size_t row = 0; row < 3; row++)
        series_add_scaled(z.n, B.a + row * p->n, mass->mass, B.f + row * p->n);
    series_add_cross(z, Rh, B.a, B.n);
    series_add_axial(z, R_dd, RE, B.n);
}

/* Adds the moment J ((z . w + s') z)' of body i, which is a rotor. R' R^T - R R'^T is twice the matrix of w. */
static void add_rotor_wrench(const series_pass *p, size_t i)
{
    const series_size z = {p->n - 1, p->n};
    const dyn_body   *b = &p->scene->model->body[i];
    const series_body B = series_body_of(p, (int)i);
    lane *s = p->scratch, *R_d = s + p->n, *twice_w = R_d + 9 * p->n, *rate = twice_w + 3 * p->n, *spin = rate + p->n;
    series_clear(18 * p->n, s);
    joint_position_series(p, b, s);
    for (size_t entry = 0; entry < 9 * p->n; entry += p->n)
        series_rate(z.n, B.R + entry, R_d + entry);
    series_add_axial(z, R_d, B.R, twice_w);
    for (size_t e = 0; e < 3; e++)
        series_add_product(z.n, B.R + (3 * e + 2) * p->n, twice_w + e * p->n, rate);
    for (size_t k = 0; k < z.n; k++)
        rate[k] = add_mul((double)(k + 1) * s[k + 1], 0.5, rate[k]);
    for (size_t e = 0; e < 3; e++) {
        series_add_product(z.n, B.R + (3 * e + 2) * p->n, rate, spin + e * p->n);
        for (size_t k = 0; k + 1 < z.n; k++)
            B.n[e * p->n + k] =
                add_mul(B.n[e * p->n + k], b->joint.spin_inertia * (double)(k + 1), spin[e * p->n + k + 1]);
    }
}

/* Returns term k of the series of R x, with R the series of a rotation and x a constant vector. */
LANE_INLINE vec3 rotated_by_term(const series_pass *p, const lane *R, size_t k, vec3 x)
{
    lane out[3];
    for (size_t row = 0; row < 3; row++)
        out[row] = dot3(R[3 * row * p->n + k], R[(3 * row + 1) * p->n + k], R[(3 * row + 2) * p->n + k], x);
    return load3(out);
}

LANE_INLINE void subtract_term(const series_pass *p, lane *from, size_t k, vec3 x)
{
    from[k]            = from[k] - x.x;
    from[p->n + k]     = from[p->n + k] - x.y;
    from[2 * p->n + k] = from[2 * p->n + k] - x.z;
}

/* Subtracts an external wrench with constant components in link or world axes. */
static void subtract_external(const series_pass *p, const external_load *load)
{
    const series_body B = series_body_of(p, load->body);
    vec3              F = load->F, T = load->T;
    if (load->world_axes) {
        subtract_term(p, B.f, 0, times(load->weight, F));
        subtract_term(p, B.n, 0, T);
        for (size_t k = 0; k < p->n - 2; k++)
            subtract_term(p, B.n, k, cross(rotated_by_term(p, B.R, k, load->arm), F));
        return;
    }
    F = rotate_const(load->site->X_bl.R, F);
    T = cross_add(rotate_const(load->site->X_bl.R, T), load->arm, F);
    for (size_t k = 0; k < p->n - 2; k++) {
        subtract_term(p, B.f, k, rotated_by_term(p, B.R, k, F));
        subtract_term(p, B.n, k, rotated_by_term(p, B.R, k, T));
    }
}

/* Sets the wrench that each body's own mass requires, less its external wrenches. */
static void own_wrenches(const series_pass *p)
{
    const dyn_scene *scene = p->scene;
    for (size_t i = 0; i < scene->model->n_bodies; i++)
        if (scene->model->body[i].joint.is_rotor)
            add_rotor_wrench(p, i);
        else
            add_inertial_wrench(p, i);
    for (size_t k = external_first(scene, p->wrenches); k < external_end(scene); k++) {
        const external_load load = external_load_of(scene, p->wrenches, k);
        if (load.body != DYN_WORLD) subtract_external(p, &load);
    }
}

/* --- efforts ---------------------------------------------------------------------------------------------------- */

/* Adds friction to the effort of a joint. `sd`: series of its rate; `load`: series of the magnitude that depends on the
 * load, NULL: zero; `free`: four series of scratch. */
static void add_friction(const series_pass *p, const dyn_friction *f, const lane *sd, const lane *load, lane *free,
                         lane *effort)
{
    const size_t n = p->n - 2;
    lane        *x = free, *sense = x + p->n, *slope = sense + p->n, *magnitude = slope + p->n;
    series_clear(p->n, sense), series_clear(p->n, magnitude);
    sense[0] = lane_sign(sd[0]);
    if (f->coulomb_velocity > 0) {
        for (size_t k = 0; k < n; k++)
            x[k] = sd[k] / f->coulomb_velocity;
        series_tanh(n, x, slope, sense);
    }
    if (f->stribeck_velocity > 0) {
        for (size_t k = 0; k < n; k++)
            x[k] = sd[k] / f->stribeck_velocity;
        series_gauss(n, x, slope, magnitude);
        const lane at_rest = lane_select(lane_less(sd[0], lane_of(0)), lane_of(f->breakaway_negative - f->negative),
                                         lane_of(f->breakaway_positive - f->positive));
        for (size_t k = 0; k < n; k++)
            magnitude[k] = at_rest * magnitude[k];
    }
    magnitude[0] += coulomb_magnitude(f, sd[0]);
    if (load) series_add_scaled(n, load, 1, magnitude);
    series_add_scaled(n, sd, f->viscous, effort);
    series_add_product(n, magnitude, sense, effort);
}

/* Adds second x^2 + third x^3. Uses the two series of scratch memory after those of add_joint_forces. */
static void add_powers(const series_pass *p, const lane *x, lane second, double third, lane *effort)
{
    const size_t n      = p->n - 2;
    lane        *square = effort + 4 * p->n, *cube = square + p->n;
    series_clear(p->n, square), series_clear(p->n, cube);
    series_add_product(n, x, x, square);
    series_add_product(n, square, x, cube);
    for (size_t k = 0; k < n; k++)
        effort[k] = add_mul(add_mul(effort[k], second, square[k]), third, cube[k]);
}

/* Adds rotor, friction and spring to the effort of a joint with one coordinate. */
static void add_joint_forces(const series_pass *p, const dyn_body *b, lane *effort)
{
    const size_t n = p->n - 2;
    lane        *s = effort + p->n, *sd = s + p->n, *sdd = sd + p->n;
    joint_position_series(p, b, s);
    series_rate(n + 1, s, sd);
    series_rate(n, sd, sdd);
    series_add_scaled(n, sdd, b->joint.rotor_inertia, effort);
    if (b->joint.has_friction && (p->scene->terms & DYN_FRICTION))
        add_friction(p, &b->joint.friction, sd, NULL, sdd + p->n, effort);
    if (!b->joint.has_spring || !(p->scene->terms & DYN_SPRINGS)) return;
    s[0] = s[0] - b->joint.spring.rest;
    series_add_scaled(n, s, b->joint.spring.stiffness, effort);
    series_add_scaled(n, sd, b->joint.spring.damping, effort);
    if (!b->joint.has_nonlinear_spring) return;
    add_powers(p, s, b->joint.spring.stiffness2 * lane_of(1), b->joint.spring.stiffness3, effort);
    add_powers(p, sd, b->joint.spring.damping2 * lane_sign(sd[0]), b->joint.spring.damping3, effort);
}

/* Adds the series of an effort to tau and its derivatives. */
static void effort_out(const series_pass *p, const lane *effort, int v, lane *tau)
{
    double factorial = 1;
    for (size_t k = 0; k < p->n - 2; k++) {
        factorial *= k > 0 ? (double)k : 1;
        tau[k * (size_t)p->scene->model->nv + (size_t)v] += factorial * effort[k];
    }
}

/* Sets `effort` to the series of the component of `vector` along column `axis` of R: tau = S^T f. */
static void project(const series_pass *p, const lane *R, size_t axis, const lane *vector, lane *effort)
{
    series_clear(p->n, effort);
    for (size_t e = 0; e < 3; e++)
        series_add_product(p->n - 2, R + (3 * e + axis) * p->n, vector + e * p->n, effort);
}

/* Adds term k of the cross product a x b to sum; a vector is three series, p->n lanes apart. */
static void add_cross_term(const series_pass *p, size_t k, const lane *a, const lane *b, lane *sum)
{
    for (size_t e = 0; e < 3; e++) {
        const size_t y = (e + 1) % 3 * p->n, z = (e + 2) % 3 * p->n;
        lane        *term = &sum[e * p->n + k];
        *term             = series_subtract_term(k, series_add_term(k, *term, a + y, b + z), a + z, b + y);
    }
}

/* Sets terms 0 to k of c(y) (free_joint_spring.h) from those of y, by Horner's rule in series. */
static void set_spring_curve(size_t k, const lane *y, lane *spare, lane *c)
{
    series_clear(k + 1, c);
    for (int j = SPRING_TERMS; j-- > 0;) {
        series_clear(k + 1, spare);
        spare[0] = lane_of(spring_terms[j]);
        series_add_product(k + 1, c, y, spare);
        for (size_t i = 0; i <= k; i++)
            c[i] = spare[i];
    }
}

/* Sets the series of the rotation vector of a spherical joint, theta' = w + theta x w / 2 + c(y) theta x (theta x w),
 * term by term. `free`: nine series of scratch. */
static void rotation_series(const series_pass *p, const dyn_body *b, const lane *w, lane *theta, lane *free)
{
    lane *a = free, *twice = a + 3 * p->n, *y = twice + 3 * p->n, *c = y + p->n, *spare = c + p->n;
    series_clear(3 * p->n, theta), series_clear(9 * p->n, free);
    const vec3 start = joint_rotation_vector(p->motion + b->joint.q);
    theta[0] = start.x, theta[p->n] = start.y, theta[2 * p->n] = start.z;
    for (size_t k = 0; k + 1 < p->n - 2; k++) {
        add_cross_term(p, k, theta, w, a);
        add_cross_term(p, k, theta, a, twice);
        for (size_t e = 0; e < 3 * p->n; e += p->n)
            y[k] = series_add_term(k, y[k], theta + e, theta + e);
        set_spring_curve(k, y, spare, c);
        for (size_t e = 0; e < 3 * p->n; e += p->n) {
            const lane rate  = series_add_term(k, add_mul(w[e + k], 0.5, a[e + k]), c, twice + e);
            theta[e + k + 1] = rate / (double)(k + 1);
        }
    }
}

/* Adds J ((w x v) + u') + d u to the series of the efforts along one axis of a joint with a quaternion, with the rates
 * u = (v, w) (free_joint_forces.h), and k theta of a spring. `u`: 19 series of scratch, those of a spherical joint's v
 * are zero. */
static void add_free_forces(const series_pass *p, const dyn_body *b, int axis, lane *u, lane *effort)
{
    const size_t n         = p->n - 2;
    double       factorial = 1;
    series_clear(7 * p->n, u);
    for (size_t k = 0; k + 1 < p->n; k++) { /* u^(k) / k! */
        const lane *rates = p->motion + p->scene->model->nq + k * (size_t)p->scene->model->nv + b->joint.v;
        factorial *= k > 0 ? (double)k : 1;
        for (int e = joint_first_axis(b); e < 6; e++)
            u[(size_t)e * p->n + k] = rates[e - joint_first_axis(b)] / factorial;
    }
    lane *rate = u + 6 * p->n, *along = u + (size_t)axis * p->n;
    series_rate(n, along, rate);
    if (axis < 3) {
        const size_t y = (size_t)((axis + 1) % 3), z = (size_t)((axis + 2) % 3);
        series_add_product(n, u + (3 + y) * p->n, u + z * p->n, rate);
        series_subtract_product(n, u + (3 + z) * p->n, u + y * p->n, rate);
    }
    series_add_scaled(n, rate, b->joint.rotor_inertia, effort);
    series_add_scaled(n, along, free_damping(b, p->scene->terms), effort);
    if (!has_free_spring(b, p->scene->terms)) return;
    lane *theta = rate + p->n;
    rotation_series(p, b, u + 3 * p->n, theta, theta + 3 * p->n);
    series_add_scaled(n, theta + (size_t)(axis - 3) * p->n, b->joint.spring.stiffness, effort);
}

static void joint_efforts(const series_pass *p, size_t i, lane *tau)
{
    const dyn_body   *b      = &p->scene->model->body[i];
    const series_body B      = series_body_of(p, (int)i);
    lane             *effort = p->scratch;
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        for (int axis = joint_first_axis(b), v = b->joint.v; axis < 6; axis++, v++) {
            project(p, B.R, (size_t)(axis % 3), axis < 3 ? B.f : B.n, effort);
            if (has_free_forces(b)) add_free_forces(p, b, axis, effort + p->n, effort);
            effort_out(p, effort, v, tau);
        }
        return;
    }
    project(p, B.R, 2, b->joint.kind == DYN_PRISMATIC ? B.f : B.n, effort);
    add_joint_forces(p, b, effort);
    for (size_t k = 0; k < p->n - 2; k++)
        effort[k] = coordinate_effort(b, effort[k]);
    effort_out(p, effort, b->joint.v, tau);
}

enum { DRIVE_INERTIA = 1, DRIVE_FRICTION = 2 };

/* Adds the efforts of the motors of coupled transmissions: w (J sdd + friction), with the rates sd = w . qd. `parts`:
 * DRIVE_INERTIA, DRIVE_FRICTION or both. */
static void drive_efforts(const series_pass *p, unsigned parts, lane *tau)
{
    const size_t n      = p->n - 2;
    lane        *effort = p->scratch, *sd = effort + p->n, *sdd = sd + p->n, *weighted = sdd + p->n;
    for (size_t i = 0; i < p->scene->model->n_drives; i++) {
        const dyn_drive *d         = &p->scene->model->drive[i];
        double           factorial = 1;
        series_clear(p->n, effort);
        for (size_t k = 0; k + 1 < p->n; k++) {
            factorial *= k > 0 ? (double)k : 1;
            sd[k] = drive_sum(d, p->motion + p->scene->model->nq + k * (size_t)p->scene->model->nv) / factorial;
        }
        series_rate(n, sd, sdd);
        if (parts & DRIVE_INERTIA) series_add_scaled(n, sdd, d->rotor_inertia, effort);
        if (parts & DRIVE_FRICTION) add_friction(p, &d->friction, sd, NULL, weighted, effort);
        for (size_t j = 0; j < d->n; j++) {
            for (size_t k = 0; k < n; k++)
                weighted[k] = d->weight[j] * effort[k];
            effort_out(p, weighted, d->joint[j], tau);
        }
    }
}

/* Adds the wrench of body i to that of its parent, about the parent's origin: f_p += f, n_p += n + d x f, with d from
 * the parent's origin to the body's. */
static void wrench_to_parent(const series_pass *p, size_t i)
{
    const series_body B = series_body_of(p, (int)i), P = series_body_of(p, p->scene->model->body[i].tree.parent);
    for (size_t e = 0; e < 3 * p->n; e += p->n) {
        series_add_scaled(p->n - 2, B.f + e, 1, P.f + e);
        series_add_scaled(p->n - 2, B.n + e, 1, P.n + e);
    }
    series_add_cross(size_of_forces(p), B.d, B.f, P.n);
}

/* Returns the k-th time derivative of the positions (nv), from coordinate 0 on. */
static const lane *rates_of(const series_pass *p, size_t k)
{
    return p->motion + p->scene->model->nq + (k - 1) * (size_t)p->scene->model->nv;
}

/* Adds the efforts of all joints, transmissions and couplings to tau and its derivatives, from the tips to the base. */
static void efforts(const series_pass *p, lane *tau)
{
    const dyn_model *m  = p->scene->model;
    const size_t     nv = (size_t)m->nv;
    clear(tau, (p->n - 2) * nv);
    for (size_t i = m->n_bodies; i-- > 0;) {
        joint_efforts(p, i, tau);
        wrench_to_parent(p, i);
    }
    drive_efforts(p, DRIVE_INERTIA | (drive_has_friction(p->scene) ? DRIVE_FRICTION : 0), tau);
    couplings_add(p->scene, p->motion, rates_of(p, 1), 1, tau);
    for (size_t k = 1; k < p->n - 2; k++)
        couplings_add_rates(p->scene, rates_of(p, k), rates_of(p, k + 1), tau + k * nv);
}

/* --- friction that depends on the load -------------------------------------------------------------------------- */

/* Sets the series of |T| of all coordinates, from T and its derivatives. */
static void set_loads(const series_pass *p, const lane *T, lane *load)
{
    const size_t nv = (size_t)p->scene->model->nv;
    for (size_t v = 0; v < nv; v++) {
        const lane sign      = lane_sign(T[v]);
        double     factorial = 1;
        for (size_t k = 0; k < p->n - 2; k++) {
            factorial *= k > 0 ? (double)k : 1;
            load[v * p->n + k] = sign * T[k * nv + v] / factorial;
        }
    }
}

/* Adds the friction of all joints and motors to tau, which contains T (load_friction.h). The series of |T| overwrite
 * those of the bodies, which are no longer needed. */
static void add_loaded_friction(const series_pass *p, lane *tau)
{
    const size_t n      = p->n - 2;
    lane        *effort = p->scratch, *sd = effort + p->n, *load = sd + p->n, *free = load + p->n;
    set_loads(p, tau, p->bodies);
    for (size_t i = 0; i < p->scene->model->n_bodies; i++) {
        const dyn_body     *b = &p->scene->model->body[i];
        const dyn_friction *f = &b->joint.friction;
        const double        r = b->joint.ratio;
        if (!b->joint.has_friction) continue;
        series_clear(n, effort), series_clear(n, load);
        joint_position_series(p, b, sd);
        series_rate(n, sd, sd);
        series_add_scaled(n, p->bodies + (size_t)b->joint.v * p->n, f->load / (r < 0 ? -r : r), load);
        add_friction(p, f, sd, load, free, effort);
        for (size_t k = 0; k < n; k++)
            effort[k] = coordinate_effort(b, effort[k]);
        effort_out(p, effort, b->joint.v, tau);
    }
    drive_efforts(p, DRIVE_FRICTION, tau);
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

size_t LANE_NAME(torque_series_size)(const dyn_model *m)
{
    arena a = {0};
    arena_take_joints(&a, m);
    return a.used;
}

void LANE_NAME(torque_series)(const dyn_scene *scene, void *memory, const dyn_torque_series *io, size_t blocks)
{
    const dyn_model *m      = scene->model;
    const bool       loaded = scene_has_load(scene);
    const dyn_scene  terms  = loaded ? scene_without_friction(scene) : *scene;
    const size_t     n = (size_t)io->order + 3, nv = (size_t)m->nv;
    const size_t     entries = dyn_torque_series_work(m, io->order), nw = scene->n_wrenches;
    arena            a  = {.base = memory};
    joint_transform *XJ = arena_take_joints(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        lane       *work = block_out(io->work, block, entries);
        lane       *tau  = block_out(io->tau, block, (n - 2) * nv);
        series_pass p    = {.scene    = &terms,
                            .XJ       = XJ,
                            .motion   = block_in(io->motion, block, (size_t)m->nq + (n - 1) * nv),
                            .wrenches = nw ? block_in(io->wrenches, block, 9 * nw) : NULL,
                            .scratch  = work,
                            .bodies   = work + DYN_SCRATCH_SERIES * n,
                            .n        = n};
        set_joint_transforms(m, p.motion, XJ);
        series_motions(&p);
        own_wrenches(&p);
        efforts(&p, tau);
        if (loaded) add_loaded_friction(&p, tau);
    }
}
