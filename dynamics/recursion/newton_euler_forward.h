/* newton_euler_forward.h - the forward pass of recursive Newton-Euler: the motion of each body, and the wrench that
 * this motion requires; with `rates`, also their rates, in time or along a direction. The backward pass is in
 * newton_euler.h. */
#pragma once
#include "external_wrenches.h"
#include "newton_euler_motion.h"
#include "dynamics/joint/free_joint_forces.h"

typedef struct newton_euler_workspace {
    joint_transform *XJ;
    motion          *motion; /* [n_bodies] motion of each body; set only for bodies with carries_run */
    wrench *required;        /* [n_bodies] inertial minus external wrench of each regrouped body, about its origin; the
                                backward pass adds the wrenches of the children */
    wrench *axis_wrench; /* [n_bodies], inertial wrench of the mass on a revolute axis that the regrouped model counts
                            with the parent or the ground (dyn_body_derived), about the body's origin; added back to
                            joint wrenches */
    external_wrenches ext;
    motion_rate *motion_rate; /* motion_rate, required_rate and axis_wrench_rate: rates of the three arrays above */
    vec3        *dw;          /* [n_bodies] motion_state.dw of each body; set like `motion` */
    wrench      *required_rate, *axis_wrench_rate;
    vec3        *w; /* [n_bodies] angular velocities or, along a direction, angular displacements; only for the rates
                       of external wrenches */
    lane *zeros;    /* [nv] zeros, which replace input arrays that are NULL */
} newton_euler_workspace;

static inline newton_euler_workspace newton_euler_place(arena *a, const dyn_model *m, bool rates)
{
    newton_euler_workspace ws = {.XJ          = arena_take_joints(a, m),
                                 .motion      = arena_take(a, m->n_bodies, sizeof(motion)),
                                 .required    = arena_take(a, m->n_bodies, sizeof(wrench)),
                                 .axis_wrench = arena_take(a, m->n_bodies, sizeof(wrench)),
                                 .ext         = external_wrenches_place(a, m),
                                 .zeros       = arena_take(a, (size_t)m->nv, sizeof(lane))};
    for (int v = 0; ws.zeros && v < m->nv; v++)
        ws.zeros[v] = lane_of(0);
    if (rates) {
        ws.motion_rate      = arena_take(a, m->n_bodies, sizeof(motion_rate));
        ws.required_rate    = arena_take(a, m->n_bodies, sizeof(wrench));
        ws.axis_wrench_rate = arena_take(a, m->n_bodies, sizeof(wrench));
        ws.dw               = arena_take(a, m->n_bodies, sizeof(vec3));
        ws.w                = arena_take(a, m->n_bodies, sizeof(vec3));
    }
    return ws;
}

/* Inputs and outputs of one block. `along` is the direction of the rate tau_dot: {qd, qdd, qddd} for the time
 * derivative. */
typedef struct newton_euler_io {
    const lane *q, *qd, *qdd, *wrenches, *wrench_rates;
    direction   along;
    lane       *tau, *joint_wrenches, *tau_dot, *joint_wrench_rates;
} newton_euler_io;

typedef struct newton_euler_pass {
    const dyn_scene              *scene;
    const newton_euler_workspace *ws;
    const newton_euler_io        *io;
} newton_euler_pass;

/* Selects what a call computes: constants of the inlined code. */
typedef struct newton_euler_variant {
    bool rates;    /* rates are computed too */
    bool along;    /* the rates are along a direction, not time derivatives */
    bool wrenches; /* there are external wrenches, or joint wrenches are requested */
} newton_euler_variant;

/* Returns x, or an array of zeros if x is NULL, so that the compiler omits tests for NULL from the inner loops. */
LANE_INLINE const lane *values_or_zeros(const newton_euler_workspace *ws, const lane *x)
{
    const lane *values = x ? x : ws->zeros;
    if (!values) __builtin_unreachable();
    return values;
}

/* Returns the direction of the rates. Without v.along it is built from the inputs, which lets the compiler see that
 * they are equal. */
LANE_INLINE direction direction_of_rates(const newton_euler_io *io, newton_euler_variant v)
{
    return v.along ? io->along : (direction){io->qd, io->qdd, io->along.qdd};
}

LANE_INLINE joint_rates joint_rates_of(const dyn_body *b, const newton_euler_io *io, newton_euler_variant v)
{
    const direction along = direction_of_rates(io, v);
    joint_rates     s     = {.sd = joint_rate(b, io->qd), .sdd = joint_rate(b, io->qdd)};
    if (!v.rates) return s;
    s.e = joint_rate(b, along.q);
    s.g = joint_rate(b, along.qd);
    s.j = joint_rate(b, along.qdd);
    return s;
}

/* --- one body ------------------------------------------------------------------------------------------------- */

/* Returns the rate of the components of the angular velocity w; for time derivatives this is wd. */
LANE_INLINE vec3 component_rate(const motion_state *state, newton_euler_variant v)
{
    return v.along ? state->dw : state->motion.wd;
}

/* Replaces the motion of the parent, with the acceleration at the body's origin, by the motion of the body. */
LANE_INLINE void joint_step_at_origin(link_transform X, joint_rates s, motion_state *state, newton_euler_variant v)
{
    const motion k = motion_to_child(X, state->motion);
    if (v.rates) state->rate = motion_rate_to_child(X, state->rate, &k, s.e);
    if (v.along) state->dw = component_rate_to_child(X, state->dw, &k, s.e);
    state->motion = add_joint_motion(X, k, s);
    if (v.rates) state->rate = add_joint_motion_rate(X, state->rate, &k, component_rate(state, v), s);
    if (v.along && X.joint != DYN_PRISMATIC) state->dw.z += s.g;
}

/* Replaces the motion of the parent, with the acceleration at the parent's origin, by the motion of the body. */
LANE_INLINE void joint_step(link_transform X, joint_rates s, motion_state *state, newton_euler_variant v)
{
    if (v.rates) state->rate.ad = acceleration_rate_at_child(X, state, s.e);
    state->motion.a = acceleration_at_child(X, state->motion.a, &state->U);
    joint_step_at_origin(X, s, state, v);
}

/* Replaces the motion of the parent, at the parent's origin, by the motion of a body whose joint has a quaternion. The
 * joint has the linear velocity u, so that p_pc' = R u. */
LANE_NOINLINE void free_joint_step(const dyn_body *b, const joint_transform *XJ, const newton_euler_io *io,
                                   motion_state *state, newton_euler_variant v)
{
    const link_transform   X  = free_transform_of(b, XJ);
    const free_joint_rates s  = {free_rates(b, io->qd), free_rates(b, io->qdd), free_rates(b, io->along.q),
                                 free_rates(b, io->along.qd), free_rates(b, io->along.qdd)};
    motion                 k  = {vec3_zero(), vec3_zero(), state->motion.a};
    motion_rate            d  = {vec3_zero(), vec3_zero()};
    vec3                   dw = vec3_zero();
    if (b->tree.parent ==
        DYN_WORLD) { /* the world does not rotate: this saves 6 % of the torque derivative of solo12 */
        k.a = to_child(X, k.a);
    } else {
        if (v.rates) d = state->rate;
        if (v.rates)
            d.ad =
                acceleration_of_point(acceleration_rate_at_child(X, state, lane_of(0)), &state->U, to_parent(X, s.e.v));
        state->motion.a = acceleration_at_child(X, state->motion.a, &state->U);
        k               = motion_to_child(X, state->motion);
        if (v.rates) d = motion_rate_to_child(X, d, &k, lane_of(0));
        dw = v.along ? to_child(X, state->dw) : k.wd;
    }
    dw = cross_add(dw, k.w, s.e.w);
    if (v.rates) state->rate = add_free_motion_rate(d, &k, dw, &s);
    if (v.along) state->dw = add(dw, s.g.w);
    state->motion = add_free_motion(k, &s);
}

/* Sets `required` of body i to its inertial wrench minus the external wrench, and required_rate to the rate of the
 * inertial wrench. */
LANE_INLINE void require_wrench(const newton_euler_pass *p, int i, const motion_state *state, newton_euler_variant v)
{
    const dyn_body               *b  = &p->scene->model->body[i];
    const newton_euler_workspace *ws = p->ws;
    ws->required[i] = inertial_wrench(&b->derived.regrouped, state->motion.a, &state->U, b->joint.kind == DYN_REVOLUTE);
    if (v.rates)
        ws->required_rate[i] =
            inertial_wrench(&b->derived.regrouped, state->rate.ad, &state->Ud, b->joint.kind == DYN_REVOLUTE);
    if (!v.wrenches) return;
    if (scene_has_externals(p->scene, p->io->wrenches)) {
        ws->required[i] = wrench_sub(ws->required[i], ws->ext.sum[i]);
        if (v.rates && !v.along) ws->w[i] = state->motion.w;
    }
    if (p->io->joint_wrenches)
        ws->axis_wrench[i] = axis_inertial_wrench(b->derived.axis_moments, state->motion.a, &state->U);
    if (p->io->joint_wrench_rates)
        ws->axis_wrench_rate[i] = axis_inertial_wrench(b->derived.axis_moments, state->rate.ad, &state->Ud);
}

/* Sets U = [wd x] + [w x]^2 of a body and, with v.rates, its rate U'. */
LANE_INLINE void set_acceleration_matrices(motion_state *state, newton_euler_variant v)
{
    state->U = acceleration_matrix_of(state->motion.w, state->motion.wd);
    if (v.rates) state->Ud = acceleration_matrix_rate(state->motion.w, component_rate(state, v), state->rate.wdd);
}

/* --- the pass ------------------------------------------------------------------------------------------------- */

/* Returns the motion of the parent of body b. The world has the acceleration -g, which stands for gravity. */
LANE_INLINE motion_state parent_motion(const newton_euler_pass *p, const dyn_body *b, newton_euler_variant v)
{
    motion_state state = {.motion = world_motion(p->scene->gravity), .rate = {vec3_zero(), vec3_zero()}};
    if (v.along) state.dw = vec3_zero();
    if (b->tree.parent != DYN_WORLD) {
        state.motion = p->ws->motion[b->tree.parent];
        if (v.rates) state.rate = p->ws->motion_rate[b->tree.parent];
        if (v.along) state.dw = p->ws->dw[b->tree.parent];
    }
    set_acceleration_matrices(&state, v);
    return state;
}

/* Does the forward pass along a run, base to tip. */
LANE_INLINE void forward_run(const newton_euler_pass *p, dyn_run run, newton_euler_variant v)
{
    const dyn_body *body  = p->scene->model->body;
    motion_state    state = parent_motion(p, &body[run.first], v);
    for (int i = run.first; i < run.end; i++) {
        const dyn_body *b = &body[i];
        /* w, wd, a of the body, and their rates, from those of its parent */
        if (dyn_joint_has_quaternion(b->joint.kind)) {
            motion_state free = state; /* a copy, so that the compiler keeps `state` in registers */
            free_joint_step(b, &p->ws->XJ[i], p->io, &free, v);
            state = free;
        } else {
            WITH_LINK_TRANSFORM(b, &p->ws->XJ[i], joint_step, joint_rates_of(b, p->io, v), &state, v)
        }
        set_acceleration_matrices(&state, v);
        /* the inertial wrench f = m a + U h, n = h x a + int r x U r dm, minus the external wrench */
        require_wrench(p, i, &state, v);
    }
    if (!body[run.end - 1].tree.carries_run) return;
    p->ws->motion[run.end - 1] = state.motion;
    if (v.rates) p->ws->motion_rate[run.end - 1] = state.rate;
    if (v.along) p->ws->dw[run.end - 1] = state.dw;
}
