/* virtual_power_fast.h - fast path of virtual_power.h for plain runs: chains of ideal revolute joints.
 *
 * As in newton_euler_fast.h, the wrench of a body, and here also its A, N and W, are taken about the origin of the next
 * body. So the sums of the next body are added first, and one shift moves the total to the body's own origin. The sums
 * stay in registers along a run. A first body on the world rotates about a fixed axis through its origin, so that u = 0
 * and w and o have a z component only. */
#pragma once
#include "dynamics/recursion/newton_euler_fast.h"
#include "virtual_power.h"

/* Returns w x p, where p is a constant offset of the model; only the components of p flagged in `along` are used. */
LANE_INLINE vec3 velocity_of_offset(vec3 w, const double p[3], unsigned along)
{
    return twist_at((twist){vec3_zero(), w}, p, along).v;
}

/* Stores the motion and the virtual velocity u of body i, both at its own origin. */
LANE_INLINE void keep_motion(const power_pass *p, int i, const motion_state *state, twist u)
{
    power_body *to = &p->body[i];
    to->w          = state->motion.w;
    to->a          = state->motion.a;
    to->u          = u;
    if (p->keeps) to->wd = state->motion.wd;
}

/* Moves the virtual velocity u of body i to next_origin, the origin of the next body, at which both bodies have the
 * same linear virtual velocity. Sets A, N and W about that point. */
LANE_INLINE void moments_at_next(const dyn_body *b, vec3 w, twist *u, power_body *to)
{
    *u = twist_at(*u, b->derived.next_origin, b->derived.next_offsets);
    virtual_moments(&b->derived.regrouped_at_next, w, *u, true, to);
}

/* Returns the motion of the first body on the world. U e_z of this body is zero, since the body rotates about the fixed
 * axis z. */
LANE_INLINE motion_state power_grounded_body(const power_pass *p, int i, newton_euler_variant v, twist *u)
{
    const dyn_body *b       = &p->euler.scene->model->body[i];
    motion_state    state   = grounded_body(&p->euler, i, v), at_origin;
    const vec3      gravity = world_motion(p->euler.scene->gravity).a;
    at_origin               = state;
    at_origin.motion.a      = gravity;
    WITH_REVOLUTE_TRANSFORM(b, &p->euler.ws->XJ[i], gravity_to_child, &at_origin.motion.a)
    *u = (twist){vec3_zero(), {lane_of(0), lane_of(0), p->multipliers[b->joint.v]}};
    keep_motion(p, i, &at_origin, *u);
    p->body[i].U_z = vec3_zero();
    moments_at_next(b, state.motion.w, u, &p->body[i]);
    return state;
}

/* Replaces the virtual velocity of the parent at body i's origin by that of the body. */
LANE_INLINE void plain_virtual_step(link_transform X, lane rate, twist *u)
{
    u->v = to_child(X, u->v);
    u->w = to_child(X, u->w);
    u->w.z += rate;
}

/* Computes motion and inertial wrench as plain_body of newton_euler_fast.h does, and also the virtual motion. */
LANE_INLINE void power_plain_body(const power_pass *p, int i, motion_state *state, twist *u, newton_euler_variant v)
{
    const newton_euler_pass *e  = &p->euler;
    const dyn_body          *b  = &e->scene->model->body[i];
    power_body              *to = &p->body[i];
    WITH_REVOLUTE_TRANSFORM(b, &e->ws->XJ[i], joint_step_at_origin, joint_rates_of(b, e->io, v), state, v)
    WITH_REVOLUTE_TRANSFORM(b, &e->ws->XJ[i], plain_virtual_step, p->multipliers[b->joint.v], u)
    keep_motion(p, i, state, *u);
    moments_at_next(b, state->motion.w, u, to);
    state->U = acceleration_matrix_of(state->motion.w, state->motion.wd);
    to->U_z  = (vec3){state->U.xz, state->U.yz, -acceleration_zz(&state->U)};
    state->motion.a =
        acceleration_of_offset(state->motion.a, &state->U, b->derived.next_origin, b->derived.next_offsets);
    e->ws->required[i] = inertial_wrench(&b->derived.regrouped_at_next, state->motion.a, &state->U, true);
    subtract_external_at_next(e, i, state, v);
}

LANE_INLINE void power_forward_plain_run(const power_pass *p, dyn_run run, newton_euler_variant v, const bool serial)
{
    const newton_euler_pass *e    = &p->euler;
    const dyn_body          *body = e->scene->model->body;
    int                      i    = run.first;
    motion_state             state;
    twist                    u;
    assume_plain_body(&body[i], true);
    assume_serial_body(&body[i], (size_t)i, serial);
    if (body[i].tree.parent == DYN_WORLD) {
        state = power_grounded_body(p, i++, v, &u);
    } else {
        state          = parent_motion(e, &body[i], v);
        state.motion.a = acceleration_of_offset(state.motion.a, &state.U, body[i].pose.p_pc, body[i].pose.offsets);
        u              = twist_at(parent_virtual_velocity(p, &body[i]), body[i].pose.p_pc, body[i].pose.offsets);
    }
    for (; i < run.end; i++) {
        assume_plain_body(&body[i], true);
        assume_serial_body(&body[i], (size_t)i, serial);
        power_plain_body(p, i, &state, &u, v);
    }
    if (!serial && body[i - 1].tree.carries_run) e->ws->motion[i - 1] = state.motion;
}

/* --- backward pass ---------------------------------------------------------------------------------------------- */

/* Rotates the sums of body i to the axes of the previous body, adds the previous body's own terms, and shifts the sum
 * to the previous body's origin. */
LANE_INLINE void sums_to_previous_body(link_transform X, const power_pass *p, int i, power_sums *s)
{
    const power_body *P    = &p->body[i - 1];
    const vec3        rate = velocity_of_offset(P->w, X.b->pose.p_pc, X.b->pose.offsets);
    wrench_to_parent_add_form(X, &p->euler.ws->required[i - 1], &s->w);
    wrench_to_parent_add_form(X, &P->P, &s->P);
    s->W = cross_add(to_parent_add(X, P->W, s->W), rate, s->P.f);
}

LANE_INLINE void turn_to_previous_body(link_transform X, vec3 add, vec3 *x)
{
    *x = to_parent_add(X, add, *x);
}

/* Writes the results of body i: derivatives with respect to q and qd, and efforts. */
LANE_INLINE void plain_results_out(const power_pass *p, int i, const power_sums *s, newton_euler_variant v)
{
    const dyn_body   *b = &p->euler.scene->model->body[i];
    const power_body *B = &p->body[i];
    const int         j = b->joint.v;
    if (p->euler.io->tau) p->euler.io->tau[j] = s->w.n.z;
    p->inertial.io->tau[j] = s->P.n.z;
    p->out->qd[j]          = revolute_by_qd(B, s);
    p->out->q[j]           = revolute_by_q(B, s);
    if (v.wrenches && p->world_fixed) p->out->q[j] += s->Y.z;
}

LANE_INLINE void power_backward_plain_run(const power_pass *p, dyn_run run, newton_euler_variant v, const bool serial)
{
    const dyn_body *body = p->euler.scene->model->body, *first = &body[run.first];
    int             i = run.end - 1;
    power_sums      s = sums_of_body(p, i, v);
    assume_serial_body(first, (size_t)run.first, serial);
    for (;; i--) {
        const dyn_body *b = &body[i];
        assume_plain_body(b, true);
        assume_serial_body(b, (size_t)i, serial);
        plain_results_out(p, i, &s, v);
        if (i == run.first) break;
        WITH_REVOLUTE_TRANSFORM(b, &p->euler.ws->XJ[i], sums_to_previous_body, p, i, &s)
        if (v.wrenches && p->world_fixed) {
            WITH_REVOLUTE_TRANSFORM(b, &p->euler.ws->XJ[i], turn_to_previous_body, p->body[i - 1].Y, &s.Y)
        }
    }
    if (first->tree.parent == DYN_WORLD) {
        if (p->out->gravity) gravity_out(p, i, s.P.f);
        return;
    }
    assume_plain_body(first, true);
    WITH_REVOLUTE_TRANSFORM(first, &p->euler.ws->XJ[i], sums_to_parent, p->body[first->tree.parent].w, p->euler.io, &s)
    if (v.wrenches && p->world_fixed) {
        WITH_REVOLUTE_TRANSFORM(first, &p->euler.ws->XJ[i], turn_to_parent, &s.Y)
    }
    add_to_parent_sums(p, first->tree.parent, &s, v);
}
