/* gradient.c - computes the derivatives of multipliers . tau with respect to q, qd, qdd, inertial parameters, external
 * wrenches and gravity, and also tau, in O(n).
 *
 * virtual_power.h gives the derivatives of the rigid-body part. The derivatives with respect to qdd are M multipliers.
 * The functions of inverse dynamics write them as efforts of the virtual motion, and add the rotor inertias. This file
 * adds friction, springs, elastic joints and coupled transmissions, whose efforts are functions of single coordinates,
 * and three sums over bodies: the derivatives
 *
 *     with respect to the parameters of a body: virtual velocity times the wrench of each unit parameter (regressor.c),
 *     with respect to force and torque of a wrench at the point x: -u(x) and -o, the virtual velocity at x,
 *     with respect to gravity: the sum of -R A over the bodies on the world, with A of virtual_power.h.
 *
 * The derivative of the sign of sharp friction is 0. load_gradient.c handles friction that depends on the load. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/gradient.h"
#include "dynamics/joint/load_friction.h"
#include "virtual_power_fast.h"
#include "dynamics/recursion/world_fixed.h"

enum { PARAMETERS = 10 };

typedef struct workspace {
    newton_euler_workspace euler;
    power_body            *body; /* [n_bodies] motion and virtual motion of each body, and sums over its descendants */
} workspace;

/* Inputs and outputs of one block (dyn_gradient); an output that is not wanted is NULL. */
typedef struct block_arrays {
    const lane *q, *qd, *qdd, *wrenches, *multipliers;
    lane       *tau, *by_q, *by_qd, *by_qdd, *by_parameters, *by_wrenches, *by_gravity;
} block_arrays;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.euler = newton_euler_place(a, m, false),
                       .body  = arena_take(a, m->n_bodies, sizeof(power_body))};
}

size_t LANE_NAME(gradient_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_gradient_size)(m, a.used);
}

/* --- the passes ------------------------------------------------------------------------------------------------- */

LANE_INLINE void power_forward_pass(const power_pass *p, newton_euler_variant v)
{
    const dyn_model *m = p->euler.scene->model;
    if (m->serial && !v.wrenches) {
        power_forward_plain_run(p, m->run[0], v, true);
        return;
    }
    for (size_t r = 0; r < m->n_runs; r++)
        if (m->run[r].plain)
            power_forward_plain_run(p, m->run[r], v, false);
        else
            power_forward_run(p, m->run[r], v);
}

LANE_INLINE void power_backward_pass(const power_pass *p, newton_euler_variant v)
{
    const dyn_model *m = p->euler.scene->model;
    if (m->serial && !v.wrenches) {
        power_backward_plain_run(p, m->run[0], v, true);
        return;
    }
    for (size_t r = m->n_runs; r-- > 0;)
        if (m->run[r].plain)
            power_backward_plain_run(p, m->run[r], v, false);
        else
            power_backward_run(p, m->run[r], v);
}

/* Sets Y of each body (virtual_power.h) to the contribution of its own external wrenches in world axes. */
static void gather_turns(const power_pass *p)
{
    const dyn_scene              *scene  = p->euler.scene;
    const newton_euler_workspace *ws     = p->euler.ws;
    const lane                   *values = p->euler.io->wrenches;
    for (size_t i = 0; i < scene->model->n_bodies; i++)
        p->body[i].Y = vec3_zero();
    for (size_t k = external_first(scene, values); k < external_end(scene); k++) {
        const external_load load = external_load_of(scene, values, k);
        if (load.body == DYN_WORLD || !load.world_axes) continue;
        power_body *B = &p->body[load.body];
        B->Y          = add_world_turn(B->Y, external_applied(&load, &ws->ext.attitude[load.body]), &load, B->u);
    }
}

/* Runs the passes with external wrenches. External wrenches are rare, so the function is not inlined. */
LANE_NOINLINE void passes_with_wrenches(const power_pass *p)
{
    const newton_euler_variant v = {.wrenches = true};
    gather_external_wrenches(p->euler.scene, p->euler.ws->XJ, p->euler.io->wrenches, &p->euler.ws->ext);
    power_forward_pass(p, v);
    if (p->world_fixed) gather_turns(p);
    power_backward_pass(p, v);
}

/* --- efforts within joints --------------------------------------------------------------------------------------- */

/* Adds the derivatives of u . f + o . n of a joint with a quaternion. f and n are its efforts (free_joint_forces.h), u
 * and o the linear and angular part of its multipliers, v and w of its velocity. The terms are J u x w and J v x u of
 * the rotor inertia J, those of the damping, and k G^T o of a spring (G: free_joint_spring.h). */
static void free_gradients(const dyn_scene *scene, const dyn_body *b, const block_arrays *x, const power_outputs *out)
{
    const twist  rates = free_rates(b, x->qd), virtual_rates = free_rates(b, x->multipliers);
    const double J = b->joint.rotor_inertia, d = free_damping(b, scene->terms);
    wrench       by_qd = {.f = times(d, virtual_rates.v), .n = times(d, virtual_rates.w)};
    if (b->joint.kind == DYN_FLOATING) {
        by_qd.f = add(by_qd.f, times(J, cross(virtual_rates.v, rates.w)));
        by_qd.n = add(by_qd.n, times(J, cross(rates.v, virtual_rates.v)));
    }
    free_add_efforts(b, by_qd, out->qd);
    if (!has_free_spring(b, scene->terms)) return;
    const vec3 theta  = joint_rotation_vector(x->q + b->joint.q);
    const lane c      = spring_curve_at(dot(theta, theta)).value;
    const vec3 moment = times(b->joint.spring.stiffness, spring_turn(sub(vec3_zero(), theta), c, virtual_rates.w));
    free_add_efforts(b, (wrench){.f = vec3_zero(), .n = moment}, out->q);
}

/* Adds the derivatives of friction and springs of joints. */
static void passive_gradients(const dyn_scene *scene, const block_arrays *x, const power_outputs *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (has_free_forces(b)) free_gradients(scene, b, x, out);
        if (dyn_joint_has_quaternion(b->joint.kind) || (!b->joint.has_friction && !b->joint.has_spring)) continue;
        const lane rate = joint_rate(b, x->multipliers);
        lane       by_q = lane_of(0), by_qd = lane_of(0);
        if (b->joint.has_friction && (scene->terms & DYN_FRICTION))
            by_qd += joint_friction_slope(b, joint_rate(b, x->qd));
        if (b->joint.has_spring && (scene->terms & DYN_SPRINGS)) {
            const spring_slopes c = joint_spring_slopes(b, x->q, x->qd);
            by_q += c.by_s;
            by_qd += c.by_sd;
        }
        out->q[b->joint.v] += coordinate_effort(b, by_q * rate);
        out->qd[b->joint.v] += coordinate_effort(b, by_qd * rate);
    }
}

/* Adds the derivatives of the efforts of elastic joints. The effort is linear in the differences of position and rate
 * between link and motor, so its derivatives are stiffness and damping times the difference of the multipliers. */
static void coupling_gradients(const dyn_scene *scene, const lane *multipliers, const power_outputs *out)
{
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < scene->model->n_couplings; i++) {
        const dyn_coupling *c     = &scene->model->coupling[i];
        const lane          rate  = multipliers[c->v] - multipliers[c->v_theta];
        const lane          force = c->spring.stiffness * rate, damping = c->spring.damping * rate;
        out->q[c->v] += force;
        out->q[c->v_theta] -= force;
        out->qd[c->v] += damping;
        out->qd[c->v_theta] -= damping;
    }
}

/* Adds the derivatives of the friction of the motors of coupled transmissions. */
static void drive_gradients(const dyn_scene *scene, const lane *qd, const lane *multipliers, const power_outputs *out)
{
    for (size_t k = 0; drive_has_friction(scene) && k < scene->model->n_drives; k++) {
        const dyn_drive *d = &scene->model->drive[k];
        drive_put(d, friction_slope(&d->friction, drive_sum(d, qd)) * drive_sum(d, multipliers), 1, out->qd);
    }
}

/* --- parameters and wrenches ------------------------------------------------------------------------------------ */

/* Returns U^T u + s. */
LANE_INLINE vec3 acceleration_transposed_add(vec3 s, const acceleration_matrix *U, vec3 u)
{
    return (vec3){sub_mul(add_mul(add_mul(s.x, U->yx, u.y), U->zx, u.z), U->xx, u.x),
                  sub_mul(add_mul(add_mul(s.y, U->xy, u.x), U->zy, u.z), U->yy, u.y),
                  sub_mul(add_mul(add_mul(s.z, U->xz, u.x), U->yz, u.y), acceleration_zz(U), u.z)};
}

/* sum + a.i b.j + a.j b.i: one entry of a symmetric product of two vectors */
#define SYMMETRIC(sum, a, b, i, j) add_mul(add_mul(sum, (a).i, (b).j), (a).j, (b).i)

/* Writes the derivatives with respect to the parameters m, m c, J of a link:
 *     u . a,   U^T u + a x o,   o wd^T + (o x w) w^T,
 * with the motion a, U, w, wd and the virtual velocity (u, o) of the link frame, in its axes. An entry of J off the
 * diagonal stands twice in J, so that its derivative is the sum of two entries. */
static void body_parameters_out(const dyn_body *b, const power_body *B, lane *to)
{
    const double(*R)[3]               = b->pose.X_bl.R;
    const vec3                p       = vec3_of(b->pose.X_bl.p);
    const acceleration_matrix in_body = acceleration_matrix_of(B->w, B->wd);
    const vec3                a       = unrotate_const(R, acceleration_of_point(B->a, &in_body, p));
    const vec3                u = unrotate_const(R, cross_add(B->u.v, B->u.w, p)), o = unrotate_const(R, B->u.w);
    const vec3                w = unrotate_const(R, B->w), wd = unrotate_const(R, B->wd), c = cross(o, w);
    const acceleration_matrix U = acceleration_matrix_of(w, wd);
    to[0]                       = dot(a, u);
    store3(to + 1, acceleration_transposed_add(cross(a, o), &U, u));
    to[4] = add_mul(o.x * wd.x, c.x, w.x);
    to[5] = SYMMETRIC(SYMMETRIC(lane_of(0), o, wd, x, y), c, w, x, y);
    to[6] = add_mul(o.y * wd.y, c.y, w.y);
    to[7] = SYMMETRIC(SYMMETRIC(lane_of(0), o, wd, x, z), c, w, x, z);
    to[8] = SYMMETRIC(SYMMETRIC(lane_of(0), o, wd, y, z), c, w, y, z);
    to[9] = add_mul(o.z * wd.z, c.z, w.z);
}

/* Writes the derivatives with respect to the parameters of all bodies. For a body of which a share of the weight is
 * compensated, the acceleration `a`, which contains -g, contains -(1 - share) g instead. */
static void parameters_out(const power_pass *p, lane *to)
{
    const dyn_scene *scene = p->euler.scene;
    const dyn_model *m     = scene->model;
    for (size_t r = 0; r < m->n_rows; r++) {
        const int  i = m->row_body[r];
        power_body B = p->body[i];
        if (m->body[i].compensation.share != 0) {
            const attitude *att = &p->euler.ws->ext.attitude[i];
            for (int k = 0; k < 3; k++)
                B.a = add_scaled(B.a, att->row[k], lane_of(m->body[i].compensation.share * scene->gravity[k]));
        }
        body_parameters_out(&m->body[i], &B, to + PARAMETERS * r);
    }
}

/* Returns the virtual momentum of the compensated masses, in world axes. This is the derivative, with respect to
 * gravity, of the contribution of the compensation to multipliers . tau. */
static vec3 compensated_momentum(const power_pass *p)
{
    const dyn_model *m   = p->euler.scene->model;
    vec3             sum = vec3_zero();
    for (size_t i = 0; m->compensated && i < m->n_bodies; i++) {
        const dyn_compensation *c = &m->body[i].compensation;
        const twist             u = p->body[i].u;
        const vec3 *e = p->euler.ws->ext.attitude[i].row, l = cross_add(times(c->mass, u.v), u.w, vec3_of(c->h));
        sum = add(sum, (vec3){dot(e[0], l), dot(e[1], l), dot(e[2], l)});
    }
    return sum;
}

/* Rotates a vector from body axes to the axes in which the force or torque of `site` is given: the inverse of
 * external_in_body_axes. */
static vec3 in_axes_of_site(const dyn_wrench_site *site, const attitude *att, vec3 x)
{
    const vec3 *e = att->row;
    x = site->world_axes ? (vec3){dot(e[0], x), dot(e[1], x), dot(e[2], x)} : unrotate_const(site->X_bl.R, x);
    return external_in_given_axes(site, x);
}

/* Writes the derivatives with respect to each external wrench, in its own axes: -u(x) for the force and -o for the
 * torque, with u and o of virtual_power.h. */
static void wrenches_out(const power_pass *p, const lane *values, lane *to)
{
    const dyn_scene *scene = p->euler.scene;
    for (size_t k = 0; k < scene->n_wrenches; k++, to += 6) {
        const dyn_wrench_site *site = &scene->wrench[k];
        clear(to, 6);
        if (site->body == DYN_WORLD) continue;
        const twist     u     = p->body[site->body].u;
        const attitude *att   = &p->euler.ws->ext.attitude[site->body];
        const vec3      point = values ? load3(values + 9 * k + 6) : vec3_zero();
        const vec3      arm   = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, point));
        store3(to, sub(vec3_zero(), in_axes_of_site(site, att, cross_add(u.v, u.w, arm))));
        store3(to + 3, sub(vec3_zero(), in_axes_of_site(site, att, u.w)));
    }
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

static void clear_sums(const dyn_model *m, const power_pass *p)
{
    const size_t nv = (size_t)m->nv;
    if (p->out->gravity) *p->out->gravity = vec3_zero();
    if (!m->has_mimics) return;
    clear(p->euler.io->tau, nv);
    clear(p->inertial.io->tau, nv);
    clear(p->out->q, nv);
    clear(p->out->qd, nv);
}

static block_arrays block_arrays_of(const dyn_scene *scene, const workspace *ws, const dyn_gradient *io, size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (block_arrays){.q             = block_in(io->q, block, nq),
                          .qd            = values_or_zeros(&ws->euler, block_in(io->qd, block, nv)),
                          .qdd           = values_or_zeros(&ws->euler, block_in(io->qdd, block, nv)),
                          .wrenches      = nw ? block_in(io->wrenches, block, 9 * nw) : NULL,
                          .multipliers   = block_in(io->multipliers, block, nv),
                          .tau           = block_out(io->tau, block, nv),
                          .by_q          = block_out(io->gradient_q, block, nv),
                          .by_qd         = block_out(io->gradient_qd, block, nv),
                          .by_qdd        = block_out(io->gradient_qdd, block, nv),
                          .by_parameters = block_out(io->gradient_parameters, block, PARAMETERS * scene->model->n_rows),
                          .by_wrenches   = nw ? block_out(io->gradient_wrenches, block, 6 * nw) : NULL,
                          .by_gravity    = block_out(io->gradient_gravity, block, 3)};
}

/* Computes one block. `inertia_only` is the scene without friction and springs, for the derivatives with respect to
 * qdd. */
static void put_gradient_block(const dyn_scene *scene, const dyn_scene *inertia_only, const workspace *ws,
                               const block_arrays *x)
{
    vec3                  gravity;
    const power_outputs   out     = {x->by_q, x->by_qd, x->by_gravity ? &gravity : NULL};
    const newton_euler_io efforts = {.q = x->q, .qd = x->qd, .qdd = x->qdd, .wrenches = x->wrenches, .tau = x->tau},
                          momenta = {.q = x->q, .qdd = x->multipliers, .tau = x->by_qdd};
    const power_pass p            = {.euler       = {scene, &ws->euler, &efforts},
                                     .inertial    = {inertia_only, &ws->euler, &momenta},
                                     .multipliers = x->multipliers,
                                     .body        = ws->body,
                                     .out         = &out,
                                     .keeps       = x->by_parameters != NULL,
                                     .world_fixed = scene_has_world_fixed(scene, x->wrenches)};
    clear_sums(scene->model, &p);
    set_joint_transforms(scene->model, x->q, ws->euler.XJ);
    const bool externals = scene_has_externals(scene, x->wrenches);
    if (externals) {
        passes_with_wrenches(&p);
    } else {
        power_forward_pass(&p, (newton_euler_variant){.rates = false});
        power_backward_pass(&p, (newton_euler_variant){.rates = false});
    }
    if (x->by_wrenches && !externals) attitudes(scene->model, ws->euler.XJ, ws->euler.ext.attitude);
    if (x->by_wrenches) wrenches_out(&p, x->wrenches, x->by_wrenches);
    if (x->by_parameters) parameters_out(&p, x->by_parameters);
    if (x->by_gravity) store3(x->by_gravity, sub(compensated_momentum(&p), gravity));
    if (x->tau) couplings_add(scene, x->q, x->qd, 1, x->tau);
    if (x->tau) drives_add(scene, x->qd, x->qdd, x->tau);
    drives_add(inertia_only, NULL, x->multipliers, x->by_qdd);
    passive_gradients(scene, x, &out);
    coupling_gradients(scene, x->multipliers, &out);
    drive_gradients(scene, x->qd, x->multipliers, &out);
}

void LANE_NAME(gradient)(const dyn_scene *scene, void *memory, const dyn_gradient *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_gradient)(scene, memory, io, blocks);
        return;
    }
    arena           a            = {.base = memory};
    const workspace ws           = place(&a, scene->model);
    dyn_scene       inertia_only = *scene;
    inertia_only.terms           = 0;
    for (size_t block = 0; block < blocks; block++) {
        const block_arrays x = block_arrays_of(scene, &ws, io, block);
        put_gradient_block(scene, &inertia_only, &ws, &x);
    }
}
