/* newton_euler_results.h - writes efforts and joint wrenches, with their rates, from the wrench that each joint
 * transmits, and transforms this wrench to the parent. */
#pragma once
#include "newton_euler_forward.h"
#include "dynamics/joint/drive_forces.h"

/* Wrench of a body about its origin, in its axes, and its time derivative. The rate is not set if a call computes no
 * rates. */
typedef struct wrench_state {
    wrench wrench, rate;
} wrench_state;

/* Writes the efforts S^T w of a joint with a quaternion to its entries of tau. The efforts are linear in w: a rate of w
 * gives the rate of tau. */
LANE_INLINE void free_effort_out(const dyn_body *b, wrench w, lane *tau)
{
    lane *out = tau + b->joint.v;
    if (b->joint.kind == DYN_FLOATING) store3(out, w.f);
    store3(b->joint.kind == DYN_FLOATING ? out + 3 : out, w.n);
}

/* Adds to io->tau the efforts of rotor, damper and spring of a joint with a quaternion. */
LANE_NOINLINE void add_free_effort_out(const newton_euler_pass *p, const dyn_body *b)
{
    const newton_euler_io *io = p->io;
    free_add_efforts(b, free_forces(b, p->scene->terms, &(free_motion){io->q, io->qd, io->qdd}), io->tau);
}

/* Adds to io->tau_dot the rates of the efforts of rotor, damper and spring of a joint with a quaternion. */
LANE_NOINLINE void add_free_rate_out(const newton_euler_pass *p, const dyn_body *b)
{
    const newton_euler_io *io = p->io;
    free_add_efforts(b, free_force_rates(b, p->scene->terms, io->q, io->qd, io->along), io->tau_dot);
}

/* Returns the effort S^T w of a joint with one coordinate: the force or moment of w along its axis. */
LANE_INLINE lane effort_along(const dyn_body *b, wrench w)
{
    return b->joint.kind == DYN_PRISMATIC ? w.f.z : w.n.z;
}

/* Writes the effort of a coordinate, tau_q = ratio tau_s, with the effort tau_s of a joint. In models with mimics the
 * effort is added, since several joints may belong to one coordinate. */
LANE_INLINE void coordinate_effort_out(const dyn_model *m, const dyn_body *b, lane effort, lane *tau)
{
    effort          = coordinate_effort(b, effort);
    tau[b->joint.v] = m->has_mimics ? tau[b->joint.v] + effort : effort;
}

/* Writes the effort of a joint with one coordinate, tau_s = S^T w + rotor inertia * sdd + friction + spring. */
LANE_INLINE void effort_out(const newton_euler_pass *p, const dyn_body *b, wrench w)
{
    const newton_euler_io *io = p->io;
    if (b->joint.is_ideal) {
        io->tau[b->joint.v] = effort_along(b, w);
    } else if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_effort_out(b, w, io->tau);
        if (has_free_forces(b)) add_free_effort_out(p, b);
    } else {
        lane effort = effort_along(b, w);
        if (b->joint.rotor_inertia != 0) effort = add_mul(effort, b->joint.rotor_inertia, joint_rate(b, io->qdd));
        if (b->joint.has_friction || b->joint.has_spring) effort += joint_passive(b, p->scene->terms, io->q, io->qd);
        coordinate_effort_out(p->scene->model, b, effort, io->tau);
    }
}

/* Writes the rate of the effort that effort_out writes: tau_s' = S^T w' + rotor inertia * j + (friction + spring)'. */
LANE_INLINE void effort_rate_out(const newton_euler_pass *p, const dyn_body *b, wrench rate)
{
    const newton_euler_io *io = p->io;
    if (b->joint.is_ideal) {
        io->tau_dot[b->joint.v] = effort_along(b, rate);
    } else if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_effort_out(b, rate, io->tau_dot);
        if (has_free_forces(b)) add_free_rate_out(p, b);
    } else {
        lane effort = effort_along(b, rate);
        if (b->joint.rotor_inertia != 0) effort = add_mul(effort, b->joint.rotor_inertia, joint_rate(b, io->along.qdd));
        if (b->joint.has_friction || b->joint.has_spring)
            effort += joint_passive_rate(b, p->scene->terms, io->q, io->qd, io->along);
        coordinate_effort_out(p->scene->model, b, effort, io->tau_dot);
    }
}

/* Returns the wrench that the joint transmits to body b: w, that of the regrouped bodies, plus the wrench of the mass
 * that regrouping moved from the body to its parent (model.h). */
LANE_INLINE wrench total_joint_wrench(const dyn_body *b, wrench w, const wrench *axis_wrench)
{
    return b->joint.kind == DYN_REVOLUTE ? wrench_add(w, *axis_wrench) : w;
}

LANE_INLINE void joint_wrench_out(const dyn_body *b, const joint_transform *XJ, wrench w, lane *wrenches)
{
    lane *out = wrenches + 6 * b->tree.row;
    w         = wrench_at_joint(b, XJ, w);
    store3(out, w.f);
    store3(out + 3, w.n);
}

/* Returns the rate of the joint wrench of body i. With moment_at_parent_frame the moment is about the origin of the
 * joint frame on the parent. A prismatic joint displaces the body by s z from there: n + s z x f has the rate n' + s z
 * x f' + sd z x f. */
LANE_INLINE wrench joint_wrench_rate(const newton_euler_pass *p, int i, const wrench_state *s)
{
    const dyn_body *b = &p->scene->model->body[i];
    wrench          r = total_joint_wrench(b, s->rate, &p->ws->axis_wrench_rate[i]);
    if (b->joint.moment_at_parent_frame && b->joint.kind == DYN_PRISMATIC)
        r.n = add_spin(r.n, s->wrench.f, joint_rate(b, p->io->qd));
    return r;
}

LANE_INLINE void results_out(const newton_euler_pass *p, int i, const wrench_state *s, newton_euler_variant v)
{
    const dyn_body               *b  = &p->scene->model->body[i];
    const newton_euler_workspace *ws = p->ws;
    const newton_euler_io        *io = p->io;
    if (io->tau) effort_out(p, b, s->wrench);
    if (v.rates && io->tau_dot) effort_rate_out(p, b, s->rate);
    if (!v.wrenches || b->tree.row < 0) return;
    if (io->joint_wrenches)
        joint_wrench_out(b, &ws->XJ[i], total_joint_wrench(b, s->wrench, &ws->axis_wrench[i]), io->joint_wrenches);
    if (v.rates && io->joint_wrench_rates)
        joint_wrench_out(b, &ws->XJ[i], joint_wrench_rate(p, i, s), io->joint_wrench_rates);
}

/* Transforms the wrench s, and its rate, to the parent's axes and origin: f_p = R f, n_p = R n + p x R f. e is the rate
 * of the joint's position. */
LANE_INLINE void wrench_to_parent_step(link_transform X, lane e, wrench_state *s, newton_euler_variant v)
{
    if (v.rates) {
        /* R x has the rate R (x' + e z x x); if p slides along z, p x R f has R (e z x f) in addition. */
        if (X.joint == DYN_REVOLUTE)
            s->rate = (wrench){add_spin(s->rate.f, s->wrench.f, e), add_spin(s->rate.n, s->wrench.n, e)};
        else if (X.joint == DYN_PRISMATIC)
            s->rate.n = add_spin(s->rate.n, s->wrench.f, e);
        wrench_to_parent_form(X, &s->rate);
    }
    wrench_to_parent_form(X, &s->wrench);
}
