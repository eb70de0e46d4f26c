/* directional.c - computes the rates of tau along directions of q, qd and qdd in O(n) for each direction: the tangent
 * of the Newton-Euler recursion (own derivation; Guarino Lo Bianco 2009 has the case of time derivatives).
 *
 * d is the rate of components in the axes of the body, which turn with its position. A joint with the axis z, the rates
 * s, sdd and the directions e, g, j of position, rate and acceleration takes the motion k of its parent, at the body's
 * origin and in the body's axes, to
 *
 *     revolute:   dw  = R^T dw_p + w x e z + g z
 *                 dwd = R^T dwd_p + wd_k x e z + dw x s z + w x g z + j z
 *                 da  = R^T (da_p + dU_p p) + a x e z
 *     prismatic:  dw and dwd of the parent, and da = R^T (da_p + dU_p p) + U e z + 2 dw x s z + 2 w x g z + j z
 *
 * The wrench (f, n) of a body is linear in a and U, so that (df, dn) is that of da and dU. To the parent's axes it goes
 * as df + e z x f. Friction, springs and drives have the rates that they have along a motion. External wrenches in
 * world axes turn backward as their body turns; a position moves with the angular displacement o of each body. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/directional.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/newton_euler_results.h"
#include "dynamics/recursion/world_fixed.h"

/* The motion of one body, the wrench that its joint transmits, and the rates along one direction. */
typedef struct tangent_body {
    motion_state state; /* motion and U; the rates are those of a and wd along the direction, and U' that of U */
    vec3         dw;    /* rate of the components of w */
    vec3         o;     /* angular displacement of the body */
    wrench       required, rate;
} tangent_body;

/* A direction. */
typedef struct direction {
    const lane *q, *qd, *qdd; /* [nv] */
} direction;

typedef struct workspace {
    newton_euler_workspace euler;
    tangent_body          *body;     /* [n_bodies] */
    load_friction         *friction; /* [nv]; this and T only with friction that depends on the load */
    lane                  *T;        /* [nv] */
    void                  *memory;   /* workspace of inverse dynamics */
} workspace;

typedef struct tangent_pass {
    const dyn_scene       *scene;
    const workspace       *ws;
    const newton_euler_io *io; /* the state */
    direction              along;
    lane                  *rates;       /* [nv] */
    bool                   world_fixed; /* some external wrench is in world axes */
} tangent_pass;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t loaded = m->has_load ? (size_t)m->nv : 0;
    return (workspace){.euler    = newton_euler_place(a, m, false),
                       .body     = arena_take(a, m->n_bodies, sizeof(tangent_body)),
                       .friction = arena_take(a, loaded, sizeof(load_friction)),
                       .T        = arena_take(a, loaded, sizeof(lane)),
                       .memory   = arena_take(a, LANE_NAME(inverse_dynamics_size)(m), 1)};
}

size_t LANE_NAME(directional_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- the state ---------------------------------------------------------------------------------------------------- */

/* Moves the motion of the parent, at its own origin, to body i. */
static void move_body(const tangent_pass *p, int i, motion_state *state)
{
    const newton_euler_variant v  = {.rates = false};
    const dyn_body            *b  = &p->scene->model->body[i];
    const joint_transform     *XJ = &p->ws->euler.XJ[i];
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_joint_step(b, XJ, p->io, state, false);
    } else {
        WITH_LINK_TRANSFORM(b, XJ, joint_step, joint_rates_of(b, p->io, v), state, v)
    }
    state->U = acceleration_matrix_of(state->motion.w, state->motion.wd);
}

LANE_INLINE void wrench_to_parent_of(link_transform X, wrench *w)
{
    wrench_to_parent_form(X, w);
}

/* Sets the motions of all bodies and the wrenches that their joints transmit. */
static void set_state(const tangent_pass *p)
{
    const dyn_model *m     = p->scene->model;
    tangent_body    *body  = p->ws->body;
    motion_state     world = {.motion = world_motion(p->scene->gravity)};
    world.U                = acceleration_matrix_of(world.motion.w, world.motion.wd);
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        body[i].state     = b->tree.parent == DYN_WORLD ? world : body[b->tree.parent].state;
        move_body(p, i, &body[i].state);
        body[i].required = inertial_wrench(&b->derived.regrouped, body[i].state.motion.a, &body[i].state.U,
                                           b->joint.kind == DYN_REVOLUTE);
        if (p->io->wrenches) body[i].required = wrench_sub(body[i].required, p->ws->euler.ext.sum[i]);
    }
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        wrench          w = body[i].required;
        if (b->tree.parent == DYN_WORLD) continue;
        WITH_LINK_TRANSFORM(b, &p->ws->euler.XJ[i], wrench_to_parent_of, &w)
        body[b->tree.parent].required = wrench_add(body[b->tree.parent].required, w);
    }
}

/* --- one body, forward ------------------------------------------------------------------------------------------ */

/* Rates of the parent's motion, in its axes. */
typedef struct tangent {
    vec3        dw, o;
    motion_rate rate; /* dwd and da */
} tangent;

/* The directions of a joint of one coordinate. The angle of a rotor has no effect. */
typedef struct joint_direction {
    lane e, g, j;
} joint_direction;

static joint_direction direction_of_joint(const tangent_pass *p, const dyn_body *b)
{
    return (joint_direction){.e = b->joint.is_rotor ? lane_of(0) : joint_rate(b, p->along.q),
                             .g = joint_rate(b, p->along.qd),
                             .j = joint_rate(b, p->along.qdd)};
}

/* x + y x factor z */
LANE_INLINE vec3 turn_about_z(vec3 x, vec3 y, lane factor)
{
    return subtract_spin(x, y, factor);
}

/* Rotates the rates to the body's axes; da becomes that at the body's origin. */
LANE_INLINE void tangent_to_child(link_transform X, const acceleration_matrix *dU, tangent *t)
{
    t->rate.ad  = to_child(X, acceleration_at_child(X, t->rate.ad, dU));
    t->rate.wdd = to_child(X, t->rate.wdd);
    t->dw       = to_child(X, t->dw);
    t->o        = to_child(X, t->o);
}

/* Adds the joint's part to the rates at the body's origin, in its axes. */
static void tangent_step(const dyn_body *b, const motion_state *body, lane s, joint_direction x, tangent *t)
{
    const motion *k = &body->motion;
    if (b->joint.kind == DYN_PRISMATIC) {
        vec3 ad    = turn_about_z(turn_about_z(t->rate.ad, t->dw, s + s), k->w, x.g + x.g);
        ad.x       = add_mul(ad.x, body->U.xz, x.e);
        ad.y       = add_mul(ad.y, body->U.yz, x.e);
        ad.z       = sub_mul(ad.z + x.j, acceleration_zz(&body->U), x.e);
        t->rate.ad = ad;
        return;
    }
    const vec3 carried = turn_about_z(k->wd, k->w, -s); /* wd_k but its z, which does not turn */
    t->dw              = turn_about_z(t->dw, k->w, x.e);
    t->dw.z += x.g;
    t->rate.wdd = turn_about_z(turn_about_z(turn_about_z(t->rate.wdd, carried, x.e), t->dw, s), k->w, x.g);
    t->rate.wdd.z += x.j;
    t->rate.ad = turn_about_z(t->rate.ad, k->a, x.e);
    t->o.z += x.e;
}

/* Adds the part of a joint with a quaternion. The parent's U gives the slope of the acceleration at the body's origin.
 */
static void free_tangent_step(const tangent_pass *p, const dyn_body *b, link_transform X, tangent *t)
{
    const tangent_body *parent = b->tree.parent == DYN_WORLD ? NULL : &p->ws->body[b->tree.parent];
    const motion       *body   = &p->ws->body[b - p->scene->model->body].state.motion;
    const twist         u = free_rates(b, p->io->qd), a = free_rates(b, p->io->qdd), e = free_rates(b, p->along.q),
                g = free_rates(b, p->along.qd), j = free_rates(b, p->along.qdd);
    const vec3 w = sub(body->w, u.w), wd = sub(sub(body->wd, a.w), cross(w, u.w)), two_w = add(add(w, w), u.w),
               origin = sub(sub(body->a, a.v), cross(two_w, u.v));
    const vec3 dw     = cross_add(t->dw, w, e.w);
    vec3       ad     = t->rate.ad;
    if (parent) ad = add(ad, to_child(X, acceleration_of_point(vec3_zero(), &parent->state.U, to_parent(X, e.v))));
    ad          = add(cross_add(ad, origin, e.w), j.v);
    t->rate.ad  = cross_add(cross_add(ad, add(add(dw, dw), g.w), u.v), two_w, g.v);
    t->rate.wdd = cross_add(cross_add(add(cross_add(t->rate.wdd, wd, e.w), j.w), dw, u.w), w, g.w);
    t->dw       = add(dw, g.w);
    t->o        = add(t->o, e.w);
}

/* Sets the rates of body i, and of the inertial wrench that its mass requires. */
static void move_tangent(const tangent_pass *p, int i)
{
    const dyn_body        *b  = &p->scene->model->body[i];
    const joint_transform *XJ = &p->ws->euler.XJ[i];
    tangent_body          *B  = &p->ws->body[i];
    tangent                t  = {vec3_zero(), vec3_zero(), {vec3_zero(), vec3_zero()}};
    if (b->tree.parent != DYN_WORLD) {
        const tangent_body *parent = &p->ws->body[b->tree.parent];
        t                          = (tangent){parent->dw, parent->o, parent->state.rate};
        WITH_LINK_TRANSFORM(b, XJ, tangent_to_child, &parent->state.Ud, &t)
    }
    if (dyn_joint_has_quaternion(b->joint.kind))
        free_tangent_step(p, b, free_transform_of(b, XJ), &t);
    else
        tangent_step(b, &B->state, joint_rate(b, p->io->qd), direction_of_joint(p, b), &t);
    B->dw         = t.dw;
    B->o          = t.o;
    B->state.rate = t.rate;
    B->state.Ud   = acceleration_matrix_rate(B->state.motion.w, t.dw, t.rate.wdd);
    B->rate       = inertial_wrench(&b->derived.regrouped, t.rate.ad, &B->state.Ud, b->joint.kind == DYN_REVOLUTE);
}

/* Subtracts the rates of the external wrenches in world axes. */
static void subtract_turning_wrenches(const tangent_pass *p)
{
    for (size_t k = 0; p->world_fixed && k < p->scene->n_wrenches; k++) {
        const dyn_wrench_site *site = &p->scene->wrench[k];
        if (site->body == DYN_WORLD || !site->world_axes) continue;
        tangent_body *B = &p->ws->body[site->body];
        B->rate         = wrench_sub(B->rate, external_wrench_rate_of(site, &p->ws->euler.ext.attitude[site->body],
                                                                      p->io->wrenches + 9 * k, NULL, B->o));
    }
}

/* --- one body, backward ------------------------------------------------------------------------------------------- */

/* Rates of the rotor, the damper and the spring of a joint with a quaternion. */
static wrench free_tangent_forces(const tangent_pass *p, const dyn_body *b)
{
    const twist u = free_rates(b, p->io->qd), g = free_rates(b, p->along.qd);
    twist       j = free_rates(b, p->along.qdd);
    j.v           = cross_add(cross_add(j.v, g.w, u.v), u.w, g.v);
    wrench sum    = free_efforts(b, p->scene->terms, j, g);
    if (has_free_spring(b, p->scene->terms)) sum.n = add(sum.n, free_spring_rate(b, p->io->q, p->along.q));
    return sum;
}

/* Rate of the friction and the spring of a joint of one coordinate. */
static lane passive_tangent(const tangent_pass *p, const dyn_body *b)
{
    const lane g    = joint_rate(b, p->along.qd);
    lane       rate = lane_of(0);
    if (b->joint.has_friction && (p->scene->terms & DYN_FRICTION))
        rate = joint_friction_slope(b, joint_rate(b, p->io->qd)) * g;
    if (b->joint.has_spring && (p->scene->terms & DYN_SPRINGS))
        rate = add_mul(add_mul(rate, b->joint.spring.damping, g), b->joint.spring.stiffness, joint_rate(b, p->along.q));
    return rate;
}

static void rate_out(const tangent_pass *p, const dyn_body *b, wrench rate)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_effort_out(b, rate, p->rates);
        if (has_free_forces(b)) free_add_efforts(b, free_tangent_forces(p, b), p->rates);
        return;
    }
    lane effort = effort_along(b, rate);
    if (b->joint.rotor_inertia != 0) effort = add_mul(effort, b->joint.rotor_inertia, joint_rate(b, p->along.qdd));
    if (b->joint.has_friction || b->joint.has_spring) effort += passive_tangent(p, b);
    coordinate_effort_out(p->scene->model, b, effort, p->rates);
}

/* The rate of a wrench w of body b whose components in the axes of the body change at `rate`, in axes that stay. */
static wrench rate_at_rest(const tangent_pass *p, const dyn_body *b, wrench w, wrench rate)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        const twist e = free_rates(b, p->along.q);
        return (wrench){cross_add(rate.f, e.w, w.f), cross_add(cross_add(rate.n, e.w, w.n), e.v, w.f)};
    }
    const lane e = direction_of_joint(p, b).e;
    if (b->joint.kind == DYN_PRISMATIC) return (wrench){rate.f, add_spin(rate.n, w.f, e)};
    return (wrench){add_spin(rate.f, w.f, e), add_spin(rate.n, w.n, e)};
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

static void put_tangent_rates(const tangent_pass *p)
{
    const dyn_model *m    = p->scene->model;
    tangent_body    *body = p->ws->body;
    clear(p->rates, (size_t)m->nv);
    for (int i = 0; i < (int)m->n_bodies; i++)
        move_tangent(p, i);
    subtract_turning_wrenches(p);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        rate_out(p, b, body[i].rate);
        if (b->tree.parent == DYN_WORLD) continue;
        wrench rate = rate_at_rest(p, b, body[i].required, body[i].rate);
        WITH_LINK_TRANSFORM(b, &p->ws->euler.XJ[i], wrench_to_parent_of, &rate)
        body[b->tree.parent].rate = wrench_add(body[b->tree.parent].rate, rate);
    }
    couplings_add_rates(p->scene, p->along.q, p->along.qd, p->rates);
    drives_add_rates(p->scene, p->io->qd, p->along.qd, p->along.qdd, p->rates);
}

/* Adds friction that depends on the load: the rates are those of T before, and a T' + (f' + g' |T|) g after. */
static void load_rates(const dyn_scene *scene, const tangent_pass *p)
{
    for (int v = 0; v < scene->model->nv; v++) {
        const load_friction *f = &p->ws->friction[v];
        p->rates[v] = add_mul(load_factor(f, p->ws->T[v]) * p->rates[v], load_slope(f, p->ws->T[v]), p->along.qd[v]);
    }
    drives_add_friction_rates(scene, p->io->qd, p->along.qd, p->rates);
}

/* Computes the efforts T before friction that depends on the load. */
static void find_transmitted(const dyn_scene *rigid, const workspace *ws, const dyn_directional *io, const lane *qd)
{
    const dyn_inverse_dynamics state = {
        .q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches, .tau = (double *)ws->T};
    LANE_NAME(inverse_dynamics)(rigid, ws->memory, &state, 1);
    load_friction_set(rigid->model, qd, ws->friction);
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_directional directional_block(const dyn_scene *scene, const dyn_directional *io, size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (dyn_directional){.q             = (const double *)block_in(io->q, block, nq),
                             .qd            = (const double *)block_in(io->qd, block, nv),
                             .qdd           = (const double *)block_in(io->qdd, block, nv),
                             .wrenches      = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                             .n             = io->n,
                             .direction_q   = (const double *)block_in(io->direction_q, block, io->n * nv),
                             .direction_qd  = (const double *)block_in(io->direction_qd, block, io->n * nv),
                             .direction_qdd = (const double *)block_in(io->direction_qdd, block, io->n * nv),
                             .rates         = (double *)block_out(io->rates, block, io->n * nv),
                             .tau           = (double *)block_out(io->tau, block, nv)};
}

/* Computes one block. `rigid` is the scene without friction that depends on the load, or the scene itself. */
static void put_directional_block(const dyn_scene *scene, const dyn_scene *rigid, const workspace *ws,
                                  const dyn_directional *io)
{
    const size_t          nv    = (size_t)scene->model->nv;
    const newton_euler_io state = {.q        = block_in(io->q, 0, 0),
                                   .qd       = values_or_zeros(&ws->euler, block_in(io->qd, 0, 0)),
                                   .qdd      = values_or_zeros(&ws->euler, block_in(io->qdd, 0, 0)),
                                   .wrenches = block_in(io->wrenches, 0, 0)};
    tangent_pass          p     = {
                     .scene = rigid, .ws = ws, .io = &state, .world_fixed = state.wrenches && scene_has_world_fixed(scene)};
    set_joint_transforms(scene->model, state.q, ws->euler.XJ);
    if (state.wrenches) gather_external_wrenches(scene, ws->euler.XJ, state.wrenches, &ws->euler.ext);
    set_state(&p);
    if (rigid != scene) find_transmitted(rigid, ws, io, state.qd);
    for (size_t k = 0; k < io->n && goes_on(scene->deadline, nv); k++) {
        p.along = (direction){values_or_zeros(&ws->euler, block_in(io->direction_q, k, nv)),
                              values_or_zeros(&ws->euler, block_in(io->direction_qd, k, nv)),
                              values_or_zeros(&ws->euler, block_in(io->direction_qdd, k, nv))};
        p.rates = block_out(io->rates, k, nv);
        put_tangent_rates(&p);
        if (rigid != scene) load_rates(scene, &p);
    }
}

void LANE_NAME(directional)(const dyn_scene *scene, void *memory, const dyn_directional *io, size_t blocks)
{
    arena           a      = {.base = memory};
    const workspace ws     = place(&a, scene->model);
    const dyn_scene rigid  = scene_without_friction(scene);
    const bool      loaded = scene_has_load(scene);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_directional one = directional_block(scene, io, block);
        put_directional_block(scene, loaded ? &rigid : scene, &ws, &one);
        if (one.tau) LANE_NAME(inverse_dynamics)
        (scene, ws.memory,
         &(dyn_inverse_dynamics){.q = one.q, .qd = one.qd, .qdd = one.qdd, .wrenches = one.wrenches, .tau = one.tau},
         1);
    }
}
