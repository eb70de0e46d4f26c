/* virtual_power.h - computes the derivatives of the virtual power of a robot, multipliers . tau, by one pass from the
 * base to the leaves and one back: own derivation.
 *
 * The multipliers are virtual rates of the coordinates. Each body then has a virtual velocity, u of its origin and
 * angular o, in body axes. The virtual power is the sum of u . f + o . n over the bodies, with their wrenches (f, n).
 * With the acceleration a, the angular velocity w, and U = [wd x] + [w x]^2 as in newton_euler_forward.h, a body with
 * the mass moments m, h, E has
 *
 *     A = m u + o x h,   N = h x u + I o,   W = (w x h) x u + E (w x o),   I = trace(E) 1 - E.
 *
 * All three are sums over mass points: A = sum m u(r), N = sum m r x u(r), W = sum m (w x r) x u(r). The derivatives of
 * the virtual power with respect to a, wd, w, u and o are A, N, 2 W - w x N, f and n, where all five are sums over the
 * body and its descendants. Towards the parent (suffix _p) they are summed by
 *
 *     A_p += R A,   N_p += R N + p x R A,   W_p += R W + (w_p x p + p') x R A,
 *
 * and (f, n) as in Newton-Euler. p is the origin of the body in its parent, and p' its rate within the parent: zero for
 * a revolute joint. For a joint with the axis z, or with a quaternion and the velocities v, y and their rates, the
 * derivatives are
 *
 *     by        revolute                  prismatic          with a quaternion: linear, angular
 *     qdd       N.z                       A.z                A,  N
 *     qd        2 (W + N x w).z           2 (A x w).z        A x (2 w - y),  2 (W + N x w) - N x y + v x A
 *     q         N.(U z) + (A x a +        A.(U z) +          A x wd0 + k x (k x A) + f x o0,
 *               2 W x w + f x u +         (f x o).z          (2 W - k x N + 2 v x A) x k + N x wd0 + A x a0
 *               n x o).z                                     + f x u0 + n x o0
 *
 * where k, wd0, a0, u0 and o0 are the motions of the parent at the body's origin, in the body's axes: k = w - y, wd0 =
 * wd - y' - k x y, a0 = a - v' - (2 k + y) x v. External wrenches in world axes do not rotate with the bodies. A force
 * F at the point x and a torque T add -(u(x) x F + o x T) to the sum Y of a body and its descendants, Y_p += R Y, and Y
 * is added to the derivatives with respect to rotations. virtual_power_fast.h only makes the passes faster. */
#pragma once
#include "dynamics/recursion/newton_euler_results.h"

/* Motion, virtual motion and derivatives of one body, in its axes. */
typedef struct power_body {
    vec3   w, wd, a; /* motion of the origin; wd is only set if `keeps` or the joint has a quaternion */
    vec3   U_z;      /* U e_z, with the unit vector e_z of the joint axis */
    twist  u;        /* virtual velocity (u, o) */
    wrench P;        /* A and N of the body; the backward pass adds those of the children */
    vec3   W;        /* W of the body; the backward pass adds that of the children */
    vec3   Y;        /* sum Y (first comment), likewise; only with external wrenches in world axes */
} power_body;

/* Outputs for one block. */
typedef struct power_outputs {
    lane *q, *qd;  /* [nv] derivatives with respect to q and qd */
    vec3 *gravity; /* sum of R A over the bodies on the world, or NULL */
} power_outputs;

typedef struct power_pass {
    newton_euler_pass    euler;    /* computes tau and the wrenches (f, n) */
    newton_euler_pass    inertial; /* writes the derivatives with respect to qdd: efforts of (A, N) and of the rotors */
    const lane          *multipliers;
    power_body          *body; /* [n_bodies] */
    const power_outputs *out;
    bool                 keeps; /* true: the motion of all bodies is kept, because it is read after the forward pass */
    bool                 world_fixed; /* true: some external wrench is in world axes */
} power_pass;

/* --- one body, forward ------------------------------------------------------------------------------------------ */

/* Sets A, N and W of a body from its mass moments. `revolute`: true if m, h.z and E.zz are zero, as they are for
 * regrouped revolute bodies (model.h). */
LANE_INLINE void virtual_moments(const dyn_moments *moments, vec3 w, twist u, const bool revolute, power_body *to)
{
    const double *h = moments->h, *E = moments->E; /* E: xx xy xz yy yz zz */
    const vec3    o = u.w, v = u.v, c = cross(w, o);
    vec3          d = {-(h[1] * w.z), h[0] * w.z, sub_mul(h[1] * w.x, h[0], w.y)}; /* w x h */
    to->P.f         = (vec3){-(h[1] * o.z), h[0] * o.z, sub_mul(h[1] * o.x, h[0], o.y)};
    to->P.n =
        (vec3){sub_mul(sub_mul(add_mul(E[3] * o.x, h[1], v.z), E[1], o.y), E[2], o.z),
               sub_mul(sub_mul(sub_mul(E[0] * o.y, h[0], v.z), E[1], o.x), E[4], o.z),
               sub_mul(sub_mul(sub_mul(add_mul((E[0] + E[3]) * o.z, h[0], v.y), h[1], v.x), E[2], o.x), E[4], o.y)};
    to->W = (vec3){add_mul(add_mul(E[0] * c.x, E[1], c.y), E[2], c.z),
                   add_mul(add_mul(E[1] * c.x, E[3], c.y), E[4], c.z), add_mul(E[2] * c.x, E[4], c.y)};
    if (!revolute) {
        d.x = add_mul(d.x, h[2], w.y);
        d.y = sub_mul(d.y, h[2], w.x);
        to->P.f =
            (vec3){add_mul(add_mul(to->P.f.x, moments->mass, v.x), h[2], o.y),
                   sub_mul(add_mul(to->P.f.y, moments->mass, v.y), h[2], o.x), add_mul(to->P.f.z, moments->mass, v.z)};
        to->P.n = (vec3){sub_mul(add_mul(to->P.n.x, E[5], o.x), h[2], v.y),
                         add_mul(add_mul(to->P.n.y, E[5], o.y), h[2], v.x), to->P.n.z};
        to->W.z = add_mul(to->W.z, E[5], c.z);
    }
    to->W = cross_add(to->W, d, v);
}

/* Adds to Y the term -(u(x) x F + o x T) of one external wrench in world axes. `applied` is (F, T) in the axes of the
 * body. */
LANE_INLINE vec3 add_world_turn(vec3 Y, wrench applied, const external_load *load, twist u)
{
    return cross_add(cross_add(Y, applied.f, cross_add(times(load->weight, u.v), u.w, load->arm)), applied.n, u.w);
}

/* Adds the virtual rate of a joint of one coordinate to the virtual velocity at the body's origin, in the body's axes.
 */
LANE_INLINE void virtual_step(link_transform X, lane rate, twist *u)
{
    twist_to_child_form(X, u);
    if (X.joint == DYN_PRISMATIC)
        u->v.z += rate;
    else
        u->w.z += rate;
}

/* Replaces the virtual velocity of the parent, at its own origin, by that of body i. */
LANE_INLINE void virtual_joint_step(const power_pass *p, int i, twist *u)
{
    const dyn_body        *b  = &p->euler.scene->model->body[i];
    const joint_transform *XJ = &p->euler.ws->XJ[i];
    *u                        = twist_at(*u, b->pose.p_pc, b->pose.offsets);
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        twist_to_child_form(free_transform_of(b, XJ), u);
        *u = (twist){add(u->v, joint_linear(b, p->multipliers)), add(u->w, joint_angular(b, p->multipliers))};
        return;
    }
    WITH_LINK_TRANSFORM(b, XJ, virtual_step, joint_rate(b, p->multipliers), u)
}

LANE_INLINE twist parent_virtual_velocity(const power_pass *p, const dyn_body *b)
{
    if (b->tree.parent == DYN_WORLD) return (twist){vec3_zero(), vec3_zero()};
    return p->body[b->tree.parent].u;
}

/* Runs the forward pass along a run, base to tip: forward_run of newton_euler_forward.h with the virtual motion. */
LANE_INLINE void power_forward_run(const power_pass *p, dyn_run run, newton_euler_variant v)
{
    const newton_euler_pass *e     = &p->euler;
    const dyn_body          *body  = e->scene->model->body;
    motion_state             state = parent_motion(e, &body[run.first], v);
    twist                    u     = parent_virtual_velocity(p, &body[run.first]);
    for (int i = run.first; i < run.end; i++) {
        const dyn_body *b    = &body[i];
        const bool      free = dyn_joint_has_quaternion(b->joint.kind);
        if (free) {
            motion_state moved = state; /* a copy: so the compiler keeps `state` in registers */
            free_joint_step(b, &e->ws->XJ[i], e->io, &moved, v);
            state = moved;
        } else {
            WITH_LINK_TRANSFORM(b, &e->ws->XJ[i], joint_step, joint_rates_of(b, e->io, v), &state, v)
        }
        set_acceleration_matrices(&state, v);
        require_wrench(e, i, &state, v);
        virtual_joint_step(p, i, &u);
        power_body *to = &p->body[i];
        to->w          = state.motion.w;
        to->a          = state.motion.a;
        to->U_z        = (vec3){state.U.xz, state.U.yz, -acceleration_zz(&state.U)};
        to->u          = u;
        if (free || p->keeps) to->wd = state.motion.wd;
        if (b->joint.kind == DYN_REVOLUTE)
            virtual_moments(&b->derived.regrouped, to->w, u, true, to);
        else
            virtual_moments(&b->derived.regrouped, to->w, u, false, to);
    }
    if (body[run.end - 1].tree.carries_run) e->ws->motion[run.end - 1] = state.motion;
}

/* --- one body, backward ----------------------------------------------------------------------------------------- */

/* The sums of the first comment over a body and its descendants. */
typedef struct power_sums {
    wrench w, P; /* w: the wrench (f, n); P: (A, N) */
    vec3   W, Y;
} power_sums;

/* Returns the z component of a x b. */
LANE_INLINE lane cross_z(vec3 a, vec3 b)
{
    return sub_mul(a.x * b.y, a.y, b.x);
}

/* Returns the derivative with respect to the position of a revolute joint. */
LANE_INLINE lane revolute_by_q(const power_body *B, const power_sums *s)
{
    const lane twice = cross_z(s->W, B->w);
    lane       sum   = add_mul(dot(s->P.n, B->U_z), 2.0, twice);
    sum              = sub_mul(add_mul(sum, s->P.f.x, B->a.y), s->P.f.y, B->a.x);
    sum              = sub_mul(add_mul(sum, s->w.f.x, B->u.v.y), s->w.f.y, B->u.v.x);
    return sub_mul(add_mul(sum, s->w.n.x, B->u.w.y), s->w.n.y, B->u.w.x);
}

/* Returns the derivative with respect to the rate of a revolute joint. */
LANE_INLINE lane revolute_by_qd(const power_body *B, const power_sums *s)
{
    return 2.0 * (s->W.z + cross_z(s->P.n, B->w));
}

/* Returns the derivative with respect to the position of a joint with one coordinate, without the term of Y. The
 * derivative is bilinear in the motion B and the sums s. The angle of a rotor has no effect. */
LANE_INLINE lane joint_by_q(const dyn_body *b, const power_body *B, const power_sums *s)
{
    if (b->joint.kind == DYN_PRISMATIC) return dot(s->P.f, B->U_z) + cross_z(s->w.f, B->u.w);
    return b->joint.is_rotor ? lane_of(0) : revolute_by_q(B, s);
}

/* Returns the derivative with respect to the rate of a joint with one coordinate. */
LANE_INLINE lane joint_by_qd(const dyn_body *b, const power_body *B, const power_sums *s)
{
    return b->joint.kind == DYN_PRISMATIC ? 2.0 * cross_z(s->P.f, B->w) : revolute_by_qd(B, s);
}

/* True if Y contributes to the derivative with respect to the position of the joint. */
LANE_INLINE bool joint_turns(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && !b->joint.is_rotor;
}

/* Writes the derivatives with respect to q and qd of a joint with one coordinate. */
LANE_INLINE void joint_gradients_out(const power_pass *p, const dyn_body *b, const power_body *B, const power_sums *s,
                                     newton_euler_variant v)
{
    const dyn_model *m    = p->euler.scene->model;
    lane             by_q = joint_by_q(b, B, s);
    if (v.wrenches && p->world_fixed && joint_turns(b)) by_q += s->Y.z;
    coordinate_effort_out(m, b, by_q, p->out->q);
    coordinate_effort_out(m, b, joint_by_qd(b, B, s), p->out->qd);
}

/* Writes the derivatives with respect to q and qd of a joint with a quaternion. */
LANE_NOINLINE void free_gradients_out(const power_pass *p, const dyn_body *b, const power_body *B, const power_sums *s)
{
    const newton_euler_io *io = p->euler.io;
    const vec3             v = joint_linear(b, io->qd), y = joint_angular(b, io->qd), vd = joint_linear(b, io->qdd),
               yd = joint_angular(b, io->qdd), A = s->P.f, N = s->P.n;
    const vec3 k = sub(B->w, y), wd0 = sub(sub(B->wd, yd), cross(k, y)),
               a0   = sub(sub(B->a, vd), cross(add(add(k, k), y), v));
    const vec3   u0 = sub(B->u.v, joint_linear(b, p->multipliers)), o0 = sub(B->u.w, joint_angular(b, p->multipliers));
    const vec3   spin = cross_add(add(s->W, s->W), N, k), coriolis = cross(v, A);
    const wrench by_q = {
        cross_add(cross_add(cross(A, wd0), k, cross(k, A)), s->w.f, o0),
        cross_add(
            cross_add(cross_add(cross_add(cross(add(spin, add(coriolis, coriolis)), k), N, wd0), A, a0), s->w.f, u0),
            s->w.n, o0)};
    const wrench by_qd = {cross(A, add(B->w, k)), add(cross_add(cross_add(add(s->W, s->W), N, B->w), N, k), coriolis)};
    free_effort_out(b, p->world_fixed ? (wrench){by_q.f, add(by_q.n, s->Y)} : by_q, p->out->q);
    free_effort_out(b, by_qd, p->out->qd);
}

/* Returns w x p + p', in the axes of the parent, whose angular velocity is w: the velocity of the body's origin
 * relative to the parent's origin. */
LANE_INLINE vec3 velocity_of_origin(link_transform X, vec3 w, const newton_euler_io *io)
{
    const vec3 velocity = cross(w, origin_in_parent(X));
    if (X.joint == DYN_PRISMATIC) {
        double z[3];
        axis_in_parent(X.b, z);
        return add_scaled(velocity, vec3_of(z), joint_rate(X.b, io->qd));
    }
    return dyn_joint_has_quaternion(X.joint) ? add(velocity, to_parent(X, joint_linear(X.b, io->qd))) : velocity;
}

/* Moves the sums of body i to the axes and origin of its parent, whose angular velocity is w. */
LANE_INLINE void sums_to_parent(link_transform X, vec3 w, const newton_euler_io *io, power_sums *s)
{
    wrench_to_parent_form(X, &s->w);
    wrench_to_parent_form(X, &s->P);
    s->W = cross_add(to_parent(X, s->W), velocity_of_origin(X, w, io), s->P.f);
}

LANE_INLINE void turn_to_parent(link_transform X, vec3 *x)
{
    *x = to_parent(X, *x);
}

LANE_INLINE void add_to_parent_sums(const power_pass *p, int parent, const power_sums *s, newton_euler_variant v)
{
    power_body *P                 = &p->body[parent];
    p->euler.ws->required[parent] = wrench_add(p->euler.ws->required[parent], s->w);
    P->P                          = wrench_add(P->P, s->P);
    P->W                          = add(P->W, s->W);
    if (v.wrenches && p->world_fixed) P->Y = add(P->Y, s->Y);
}

LANE_INLINE power_sums sums_of_body(const power_pass *p, int i, newton_euler_variant v)
{
    power_sums s = {.w = p->euler.ws->required[i], .P = p->body[i].P, .W = p->body[i].W};
    if (v.wrenches) s.Y = p->body[i].Y;
    return s;
}

/* Adds R A of a body on the world to out.gravity; the derivative with respect to gravity is minus this sum. */
LANE_NOINLINE void gravity_out(const power_pass *p, int i, vec3 A)
{
    const dyn_body *b = &p->euler.scene->model->body[i];
    WITH_LINK_TRANSFORM(b, &p->euler.ws->XJ[i], turn_to_parent, &A)
    *p->out->gravity = add(*p->out->gravity, A);
}

/* Runs the backward pass along a run, tip to base. */
LANE_INLINE void power_backward_run(const power_pass *p, dyn_run run, newton_euler_variant v)
{
    for (int i = run.end - 1; i >= run.first; i--) {
        const dyn_body   *b = &p->euler.scene->model->body[i];
        const power_body *B = &p->body[i];
        power_sums        s = sums_of_body(p, i, v);
        if (p->euler.io->tau) effort_out(&p->euler, b, s.w);
        effort_out(&p->inertial, b, s.P);
        if (dyn_joint_has_quaternion(b->joint.kind)) {
            const power_sums copy = s; /* so the compiler keeps `s` in registers */
            free_gradients_out(p, b, B, &copy);
        } else {
            joint_gradients_out(p, b, B, &s, v);
        }
        if (b->tree.parent == DYN_WORLD) {
            if (p->out->gravity) gravity_out(p, i, s.P.f);
            return;
        }
        WITH_LINK_TRANSFORM(b, &p->euler.ws->XJ[i], sums_to_parent, p->body[b->tree.parent].w, p->euler.io, &s)
        if (v.wrenches && p->world_fixed) {
            WITH_LINK_TRANSFORM(b, &p->euler.ws->XJ[i], turn_to_parent, &s.Y)
        }
        add_to_parent_sums(p, b->tree.parent, &s, v);
    }
}
