/* tangent_pass.h - computes the rates of the motion of all bodies along a direction of q, qd and qdd, and those of the
 * wrenches that the bodies require: the tangent of the Newton-Euler recursion, for hessian_product.c.
 *
 * hessian_product.c reads the motions of all bodies again in its backward pass, so all of them are stored here. The
 * passes of newton_euler.h with rates along a direction store no motions: they are faster if only tau and its rates are
 * wanted.
 *
 * The prefix d marks the rate, along the direction, of the components of a vector in the axes of the body; these axes
 * rotate with the position. A joint has the axis z, the rate s, and the directions e, g, j of its position, rate and
 * acceleration. wd_k = R^T wd_p is the angular acceleration of the parent in body axes. The motion of the body has the
 * rates
 *
 *     revolute:   dw  = R^T dw_p + w x e z + g z
 *                 dwd = R^T dwd_p + wd_k x e z + dw x s z + w x g z + j z
 *                 da  = R^T (da_p + dU_p p) + a x e z
 *     prismatic:  dw and dwd of the parent, and da = R^T (da_p + dU_p p) + U e z + 2 dw x s z + 2 w x g z + j z
 *
 * The wrench (f, n) of a body is linear in a and U, so that (df, dn) is the same function of da and dU. Before df is
 * rotated to the parent's axes, e z x f is added, since the joint rotates by e about z; dn likewise. The direction
 * rotates each body by the angular displacement o; relative to the body, an external wrench in world axes rotates by
 * -o. */
#pragma once
#include "dynamics/recursion/newton_euler_results.h"
#include "dynamics/recursion/world_fixed.h"

/* The motion of one body, the wrench that its joint transmits, and the rates along one direction. */
typedef struct tangent_body {
    motion_state state; /* motion and U, and their rates along the direction */
    vec3         o;     /* angular displacement of the body along the direction */
    wrench       required, rate;
} tangent_body;

typedef struct tangent_pass {
    const dyn_scene              *scene;
    const newton_euler_workspace *ws;
    tangent_body                 *body; /* [n_bodies] motion of each body and its rates */
    const newton_euler_io        *io;   /* position, velocity, acceleration and wrenches */
    direction                     along;
    bool                          world_fixed; /* true: some external wrench is in world axes */
} tangent_pass;

/* --- the state ---------------------------------------------------------------------------------------------------- */

/* Replaces the motion of the parent, at the parent's origin, by the motion of body i with its U. */
static inline void move_body(const tangent_pass *p, int i, motion_state *state)
{
    const newton_euler_variant v  = {.rates = false};
    const dyn_body            *b  = &p->scene->model->body[i];
    const joint_transform     *XJ = &p->ws->XJ[i];
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_joint_step(b, XJ, p->io, state, v);
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
static inline void set_state(const tangent_pass *p)
{
    const dyn_model *m     = p->scene->model;
    tangent_body    *body  = p->body;
    motion_state     world = {.motion = world_motion(p->scene->gravity)};
    world.U                = acceleration_matrix_of(world.motion.w, world.motion.wd);
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        body[i].state     = b->tree.parent == DYN_WORLD ? world : body[b->tree.parent].state;
        move_body(p, i, &body[i].state);
        body[i].required = inertial_wrench(&b->derived.regrouped, body[i].state.motion.a, &body[i].state.U,
                                           b->joint.kind == DYN_REVOLUTE);
        if (scene_has_externals(p->scene, p->io->wrenches))
            body[i].required = wrench_sub(body[i].required, p->ws->ext.sum[i]);
    }
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        wrench          w = body[i].required;
        if (b->tree.parent == DYN_WORLD) continue;
        WITH_LINK_TRANSFORM(b, &p->ws->XJ[i], wrench_to_parent_of, &w)
        body[b->tree.parent].required = wrench_add(body[b->tree.parent].required, w);
    }
}

/* --- one body, forward ------------------------------------------------------------------------------------------ */

/* Rates, along the direction, of the motion of the parent, in the parent's axes. */
typedef struct tangent {
    vec3        dw, o;
    motion_rate rate; /* the rates dwd and da */
} tangent;

/* The directions e, g, j of position, rate and acceleration of a joint of one coordinate. The angle of a rotor has no
 * effect, so its e is zero. */
typedef struct joint_direction {
    lane e, g, j;
} joint_direction;

static inline joint_direction direction_of_joint(const tangent_pass *p, const dyn_body *b)
{
    return (joint_direction){.e = b->joint.is_rotor ? lane_of(0) : joint_rate(b, p->along.q),
                             .g = joint_rate(b, p->along.qd),
                             .j = joint_rate(b, p->along.qdd)};
}

/* Returns x + y x factor z, with z the unit vector of the joint axis. */
LANE_INLINE vec3 turn_about_z(vec3 x, vec3 y, lane factor)
{
    return subtract_spin(x, y, factor);
}

/* Rotates the rates from the parent's axes to the body's. Moves da from the parent's origin to the body's. */
LANE_INLINE void tangent_to_child(link_transform X, const acceleration_matrix *dU, tangent *t)
{
    t->rate.ad  = to_child(X, acceleration_at_child(X, t->rate.ad, dU));
    t->rate.wdd = to_child(X, t->rate.wdd);
    t->dw       = to_child(X, t->dw);
    t->o        = to_child(X, t->o);
}

/* Adds the terms of the joint in e, g and j to the rates at the body's origin, in its axes. */
static inline void tangent_step(const dyn_body *b, const motion_state *body, lane s, joint_direction x, tangent *t)
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
    const vec3 carried = turn_about_z(k->wd, k->w, -s); /* x and y of wd_k; its z is not needed */
    t->dw              = turn_about_z(t->dw, k->w, x.e);
    t->dw.z += x.g;
    t->rate.wdd = turn_about_z(turn_about_z(turn_about_z(t->rate.wdd, carried, x.e), t->dw, s), k->w, x.g);
    t->rate.wdd.z += x.j;
    t->rate.ad = turn_about_z(t->rate.ad, k->a, x.e);
    t->o.z += x.e;
}

/* Adds the terms of a joint with a quaternion. If the direction moves the body's origin by e, the acceleration of the
 * parent there changes by U e, with U the acceleration matrix of the parent. */
static inline void free_tangent_step(const tangent_pass *p, const dyn_body *b, link_transform X, tangent *t)
{
    const tangent_body *parent = b->tree.parent == DYN_WORLD ? NULL : &p->body[b->tree.parent];
    const motion       *body   = &p->body[b - p->scene->model->body].state.motion;
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

/* Sets the rates of the motion of body i, and of the inertial wrench that this motion requires. */
static inline void move_tangent(const tangent_pass *p, int i)
{
    const dyn_body        *b  = &p->scene->model->body[i];
    const joint_transform *XJ = &p->ws->XJ[i];
    tangent_body          *B  = &p->body[i];
    tangent                t  = {vec3_zero(), vec3_zero(), {vec3_zero(), vec3_zero()}};
    if (b->tree.parent != DYN_WORLD) {
        const tangent_body *parent = &p->body[b->tree.parent];
        t                          = (tangent){parent->state.dw, parent->o, parent->state.rate};
        WITH_LINK_TRANSFORM(b, XJ, tangent_to_child, &parent->state.Ud, &t)
    }
    if (dyn_joint_has_quaternion(b->joint.kind))
        free_tangent_step(p, b, free_transform_of(b, XJ), &t);
    else
        tangent_step(b, &B->state, joint_rate(b, p->io->qd), direction_of_joint(p, b), &t);
    B->state.dw   = t.dw;
    B->o          = t.o;
    B->state.rate = t.rate;
    B->state.Ud   = acceleration_matrix_rate(B->state.motion.w, t.dw, t.rate.wdd);
    B->rate       = inertial_wrench(&b->derived.regrouped, t.rate.ad, &B->state.Ud, b->joint.kind == DYN_REVOLUTE);
}

/* Subtracts the rates, in body axes, of external wrenches whose components in world axes are constant. */
static inline void subtract_turning_wrenches(const tangent_pass *p)
{
    const lane *values = p->io->wrenches;
    for (size_t k = external_first(p->scene, values); p->world_fixed && k < external_end(p->scene); k++) {
        const external_load load = external_load_of(p->scene, values, k);
        if (load.body == DYN_WORLD || !load.world_axes) continue;
        tangent_body *B = &p->body[load.body];
        B->rate = wrench_sub(B->rate, external_wrench_rate_of(&load, &p->ws->ext.attitude[load.body], NULL, B->o));
    }
}

/* --- to the parent ----------------------------------------------------------------------------------------------- */

/* Returns the rate, in axes that do not rotate, of a wrench w of body b whose components in the axes of the body change
 * at `rate`. */
static inline wrench rate_at_rest(const tangent_pass *p, const dyn_body *b, wrench w, wrench rate)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        const twist e = free_rates(b, p->along.q);
        return (wrench){cross_add(rate.f, e.w, w.f), cross_add(cross_add(rate.n, e.w, w.n), e.v, w.f)};
    }
    const lane e = direction_of_joint(p, b).e;
    if (b->joint.kind == DYN_PRISMATIC) return (wrench){rate.f, add_spin(rate.n, w.f, e)};
    return (wrench){add_spin(rate.f, w.f, e), add_spin(rate.n, w.n, e)};
}
