/* newton_euler_fast.h - fast path of newton_euler.h for plain runs: chains of ideal revolute joints.
 *
 * Condition: dyn_run.plain, a property of the model. Without this path inverse dynamics takes 1.25 (one lane) to 1.32
 * (8 lanes) times as long on average over the benchmark robots, torque derivative 1.56 to 1.93 times. A body's inertial
 * wrench is computed about the origin of the next body, whose acceleration both bodies then use, and is added to the
 * next body's wrench before the sum is shifted: `required` and its rate are about dyn_body's next_origin here, not
 * about the body's origin as in newton_euler_forward.h. The first joint, if on the world, rotates about a fixed axis:
 * its tau needs only n.z. The motion of the parent, and the wrench of the child, stay in registers. */
#pragma once
#include "newton_euler_results.h"

/* --- the first body on the world ------------------------------------------------------------------------------ */

LANE_INLINE void gravity_to_child(link_transform X, vec3 *a)
{
    *a = to_child(X, *a);
}

LANE_INLINE acceleration_matrix acceleration_matrix_about_z(lane squared, lane wd)
{
    lane zero = lane_of(0);
    return (acceleration_matrix){squared, squared, squared, -squared, -wd, wd, zero, zero, zero, zero};
}

/* Returns the motion of a revolute body on the world. The body rotates about the fixed axis z with rate sd,
 * acceleration sdd and their rates e, g, j (newton_euler_motion.h); its origin has the acceleration a = R^T (-g), whose
 * rate is -e z x a. */
LANE_INLINE motion_state grounded_motion(const newton_euler_pass *p, const dyn_body *b, const joint_transform *XJ,
                                         newton_euler_variant v)
{
    const joint_rates s     = joint_rates_of(b, p->io, v);
    const lane        zero  = lane_of(0);
    motion_state      state = {.motion = world_motion(p->scene->gravity)};
    WITH_REVOLUTE_TRANSFORM(b, XJ, gravity_to_child, &state.motion.a)
    state.motion.w.z  = s.sd;
    state.motion.wd.z = s.sdd;
    state.U           = acceleration_matrix_about_z(s.sd * s.sd, s.sdd);
    if (!v.rates) return state;
    state.rate = (motion_rate){.wdd = {zero, zero, s.j}, .ad = {s.e * state.motion.a.y, -s.e * state.motion.a.x, zero}};
    if (v.along) state.dw = (vec3){zero, zero, s.g};
    state.Ud = acceleration_matrix_about_z((s.sd + s.sd) * s.g, s.j);
    return state;
}

/* Returns the inertial wrench of a revolute body on the world, but only n.z, the moment about the joint's axis; the
 * other components are set to zero. */
LANE_INLINE wrench grounded_wrench(const dyn_moments *moments, vec3 a, const acceleration_matrix *U)
{
    const lane zero = lane_of(0), turn = sub_mul(moments->h[0] * a.y, moments->h[1], a.x);
    return (wrench){vec3_zero(), {zero, zero, add_mul(turn, moments->E[0] + moments->E[3], U->yx)}};
}

/* Returns the inertial wrench of a revolute body on the world with n.z = 0, plus the inertial wrench of the mass on the
 * body's axis. */
LANE_INLINE wrench grounded_rest(const dyn_body *b, vec3 a, const acceleration_matrix *U)
{
    wrench own = inertial_wrench(&b->derived.regrouped, a, U, true);
    own.n.z    = lane_of(0);
    return wrench_add(own, axis_inertial_wrench(b->derived.axis_moments, a, U));
}

/* Moves the reference point of a wrench w on body b from the body's origin to next_origin. Outside plain runs the two
 * points are equal. */
LANE_INLINE wrench external_at_next_origin(const dyn_body *b, wrench w)
{
    return (wrench){w.f, cross_const_add(w.n, w.f, b->derived.next_origin)};
}

LANE_INLINE void subtract_external_at_next(const newton_euler_pass *p, int i, const motion_state *state,
                                           newton_euler_variant v)
{
    if (!v.wrenches || !scene_has_externals(p->scene, p->io->wrenches)) return;
    const wrench external = external_at_next_origin(&p->scene->model->body[i], p->ws->ext.sum[i]);
    p->ws->required[i]    = wrench_sub(p->ws->required[i], external);
    if (v.rates && !v.along) p->ws->w[i] = state->motion.w;
}

LANE_INLINE motion_state grounded_body(const newton_euler_pass *p, int i, newton_euler_variant v)
{
    const dyn_body               *b     = &p->scene->model->body[i];
    const newton_euler_workspace *ws    = p->ws;
    motion_state                  state = grounded_motion(p, b, &ws->XJ[i], v);
    ws->required[i]                     = grounded_wrench(&b->derived.regrouped, state.motion.a, &state.U);
    if (v.rates) ws->required_rate[i] = grounded_wrench(&b->derived.regrouped, state.rate.ad, &state.Ud);
    if (v.wrenches && p->io->joint_wrenches) ws->axis_wrench[i] = grounded_rest(b, state.motion.a, &state.U);
    if (v.wrenches && p->io->joint_wrench_rates) ws->axis_wrench_rate[i] = grounded_rest(b, state.rate.ad, &state.Ud);
    state.motion.a = acceleration_of_offset(state.motion.a, &state.U, b->derived.next_origin, b->derived.next_offsets);
    if (v.rates)
        state.rate.ad =
            acceleration_of_offset(state.rate.ad, &state.Ud, b->derived.next_origin, b->derived.next_offsets);
    subtract_external_at_next(p, i, &state, v);
    return state;
}

/* Subtracts the rates of all external wrenches from required_rate, after the forward pass. */
static inline void subtract_external_rates(const newton_euler_pass *p)
{
    const dyn_scene              *scene = p->scene;
    const newton_euler_workspace *ws    = p->ws;
    for (size_t k = external_first(scene, p->io->wrenches); k < external_end(scene); k++) {
        const external_load load = external_load_of(scene, p->io->wrenches, k);
        const lane         *rate = load.site && p->io->wrench_rates ? p->io->wrench_rates + 6 * k : NULL;
        const int           i    = load.body;
        if (i == DYN_WORLD) continue;
        const wrench r       = external_wrench_rate_of(&load, &ws->ext.attitude[i], rate, ws->w[i]);
        ws->required_rate[i] = wrench_sub(ws->required_rate[i], external_at_next_origin(&scene->model->body[i], r));
    }
}

/* --- forward pass --------------------------------------------------------------------------------------------- */

/* Computes the rate of the inertial wrench of body i of a plain run, about next_origin. */
LANE_INLINE void plain_body_rate(const newton_euler_pass *p, int i, motion_state *state, newton_euler_variant v)
{
    const dyn_body               *b  = &p->scene->model->body[i];
    const newton_euler_workspace *ws = p->ws;
    state->Ud = acceleration_matrix_rate(state->motion.w, component_rate(state, v), state->rate.wdd);
    if (v.wrenches && p->io->joint_wrench_rates)
        ws->axis_wrench_rate[i] = axis_inertial_wrench(b->derived.axis_moments, state->rate.ad, &state->Ud);
    state->rate.ad =
        acceleration_of_offset(state->rate.ad, &state->Ud, b->derived.next_origin, b->derived.next_offsets);
    ws->required_rate[i] = inertial_wrench(&b->derived.regrouped_at_next, state->rate.ad, &state->Ud, true);
}

/* Replaces the parent's motion, with the acceleration at body i's origin, by the motion of body i, with the
 * acceleration at next_origin, and computes the inertial wrench. U' is computed after the last use of U: both do not
 * fit in registers. */
LANE_INLINE void plain_body(const newton_euler_pass *p, int i, motion_state *state, newton_euler_variant v)
{
    const dyn_body               *b  = &p->scene->model->body[i];
    const newton_euler_workspace *ws = p->ws;
    WITH_REVOLUTE_TRANSFORM(b, &ws->XJ[i], joint_step_at_origin, joint_rates_of(b, p->io, v), state, v)
    state->U = acceleration_matrix_of(state->motion.w, state->motion.wd);
    if (v.wrenches && p->io->joint_wrenches)
        ws->axis_wrench[i] = axis_inertial_wrench(b->derived.axis_moments, state->motion.a, &state->U);
    state->motion.a =
        acceleration_of_offset(state->motion.a, &state->U, b->derived.next_origin, b->derived.next_offsets);
    ws->required[i] = inertial_wrench(&b->derived.regrouped_at_next, state->motion.a, &state->U, true);
    if (v.rates) plain_body_rate(p, i, state, v);
    subtract_external_at_next(p, i, state, v);
}

/* Does the forward pass along a run of ideal revolute joints. `serial`, a constant of the inlined code: the model is
 * one such run with the coordinates in the order of bodies. */
LANE_INLINE void forward_plain_run(const newton_euler_pass *p, dyn_run run, newton_euler_variant v, const bool serial)
{
    const dyn_body *body = p->scene->model->body;
    int             i    = run.first;
    motion_state    state;
    assume_plain_body(&body[i], true);
    assume_serial_body(&body[i], (size_t)i, serial);
    if (body[i].tree.parent == DYN_WORLD) {
        state = grounded_body(p, i++, v);
    } else {
        state          = parent_motion(p, &body[i], v);
        state.motion.a = acceleration_of_offset(state.motion.a, &state.U, body[i].pose.p_pc, body[i].pose.offsets);
        if (v.rates)
            state.rate.ad = acceleration_of_offset(state.rate.ad, &state.Ud, body[i].pose.p_pc, body[i].pose.offsets);
    }
    for (; i < run.end; i++) {
        assume_plain_body(&body[i], true);
        assume_serial_body(&body[i], (size_t)i, serial);
        plain_body(p, i, &state, v);
    }
    if (serial || !body[i - 1].tree.carries_run) return;
    p->ws->motion[i - 1] = state.motion;
    if (v.rates) p->ws->motion_rate[i - 1] = state.rate;
    if (v.along) p->ws->dw[i - 1] = state.dw;
}

/* --- backward pass -------------------------------------------------------------------------------------------- */

/* Transforms the wrench of body i to the previous body and adds the wrench that the previous body requires. */
LANE_INLINE void wrench_to_previous_body(link_transform X, const newton_euler_workspace *ws, int i, lane e,
                                         wrench_state *s, newton_euler_variant v)
{
    if (v.rates) {
        s->rate = (wrench){add_spin(s->rate.f, s->wrench.f, e), add_spin(s->rate.n, s->wrench.n, e)};
        wrench_to_parent_add_form(X, &ws->required_rate[i - 1], &s->rate);
    }
    wrench_to_parent_add_form(X, &ws->required[i - 1], &s->wrench);
}

/* Does the backward pass along a plain run: tau_i = n_i.z. The wrench of the child stays in registers. */
LANE_INLINE void backward_plain_run(const newton_euler_pass *p, dyn_run run, newton_euler_variant v, const bool serial)
{
    const newton_euler_workspace *ws   = p->ws;
    const dyn_body               *body = p->scene->model->body, *first = &body[run.first];
    const lane                   *e = direction_of_rates(p->io, v).q;
    int                           i = run.end - 1;
    wrench_state                  s = {.wrench = ws->required[i]};
    if (v.rates) s.rate = ws->required_rate[i];
    assume_serial_body(first, (size_t)run.first, serial);
    for (;; i--) {
        const dyn_body *b = &body[i];
        assume_plain_body(b, true);
        assume_serial_body(b, (size_t)i, serial);
        results_out(p, i, &s, v);
        if (i == run.first) break;
        WITH_REVOLUTE_TRANSFORM(b, &ws->XJ[i], wrench_to_previous_body, ws, i, e[b->joint.v], &s, v)
    }
    if (first->tree.parent == DYN_WORLD) return;
    assume_plain_body(first, true);
    WITH_REVOLUTE_TRANSFORM(first, &ws->XJ[i], wrench_to_parent_step, e[first->joint.v], &s, v)
    ws->required[first->tree.parent] = wrench_add(ws->required[first->tree.parent], s.wrench);
    if (v.rates) ws->required_rate[first->tree.parent] = wrench_add(ws->required_rate[first->tree.parent], s.rate);
}
