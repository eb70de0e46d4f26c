/* newton_euler.h - the recursive Newton-Euler algorithm: tau and joint wrenches from q, qd, qdd; with `rates`, also
 * their time derivatives from qddd, or the rates of tau along a direction. inverse_dynamics.c, torque_derivative.c and
 * directional.c call it.
 *
 * Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31, extended to trees, floating bases, friction,
 * rotors and wrenches on any link. Read newton_euler_forward.h first; newton_euler_fast.h only makes it faster.
 *
 * The same algorithm as printed in the book is book_rnea of tests/dynamics/book/algorithms.c. Differences: W states in
 * lanes; classical accelerations, with U = [wd x] + [w x]^2; canonical body frames, whose zeros are skipped, with fixed
 * links merged and masses regrouped (model.h). Friction that grows with the load is added later (load_friction.c). */
#pragma once
#include "newton_euler_fast.h"
#include "newton_euler_results.h"

/* --- one body ------------------------------------------------------------------------------------------------- */

/* Returns the rate of the wrench (f; n) of body b as seen from the parent, with components in the body's axes, for a
 * joint with a quaternion whose position has the linear and angular rate u, y: f' + y x f and n' + y x n + u x f.
 * wrench_to_parent_step applies R and the shift by p to them, which gives the rates of R f and R n + p x R f. */
LANE_NOINLINE wrench free_wrench_rate(const dyn_body *b, const lane *along_q, const wrench_state *s)
{
    const vec3   u = joint_linear(b, along_q), y = joint_angular(b, along_q);
    const wrench w = s->wrench, rate = s->rate;
    return (wrench){cross_add(rate.f, y, w.f), cross_add(cross_add(rate.n, y, w.n), u, w.f)};
}

/* --- the passes ----------------------------------------------------------------------------------------------- */

/* Does the backward pass along a run, tip to base: tau_i = S_i^T f_i + rotor + friction + spring,  f_p(i) += X_i^T
 * f_i. */
LANE_INLINE void backward_run(const newton_euler_pass *p, dyn_run run, newton_euler_variant v)
{
    const newton_euler_workspace *ws = p->ws;
    for (int i = run.end - 1; i >= run.first; i--) {
        const dyn_body *b    = &p->scene->model->body[i];
        const bool      free = dyn_joint_has_quaternion(b->joint.kind);
        wrench_state    s    = {.wrench = ws->required[i]};
        if (v.rates) s.rate = ws->required_rate[i];
        results_out(p, i, &s, v);
        if (b->tree.parent == DYN_WORLD) return;
        if (free && v.rates) s.rate = free_wrench_rate(b, p->io->along.q, &s);
        const lane e = free ? lane_of(0) : joint_rate(b, direction_of_rates(p->io, v).q);
        WITH_LINK_TRANSFORM(b, &ws->XJ[i], wrench_to_parent_step, e, &s, v)
        ws->required[b->tree.parent] = wrench_add(ws->required[b->tree.parent], s.wrench);
        if (v.rates) ws->required_rate[b->tree.parent] = wrench_add(ws->required_rate[b->tree.parent], s.rate);
    }
}

static inline void clear_efforts(const dyn_model *m, lane *tau)
{
    for (int v = 0; tau && m->has_mimics && v < m->nv; v++)
        tau[v] = lane_of(0);
}

LANE_INLINE void forward_pass(const newton_euler_pass *p, newton_euler_variant v)
{
    const dyn_model *m = p->scene->model;
    if (m->serial && !v.wrenches) {
        forward_plain_run(p, m->run[0], v, true);
        return;
    }
    for (size_t r = 0; r < m->n_runs; r++)
        if (m->run[r].plain)
            forward_plain_run(p, m->run[r], v, false);
        else
            forward_run(p, m->run[r], v);
}

LANE_INLINE void backward_pass(const newton_euler_pass *p, newton_euler_variant v)
{
    const dyn_model *m = p->scene->model;
    if (m->serial && !v.wrenches) {
        backward_plain_run(p, m->run[0], v, true);
        return;
    }
    clear_efforts(m, p->io->tau);
    clear_efforts(m, p->io->tau_dot);
    for (size_t r = m->n_runs; r-- > 0;)
        if (m->run[r].plain)
            backward_plain_run(p, m->run[r], v, false);
        else
            backward_run(p, m->run[r], v);
}

LANE_INLINE void displacement_to_child(link_transform X, vec3 *o)
{
    *o = to_child(X, *o);
}

/* Sets ws->w to the angular displacement o of each body along the direction of the rates: o = R^T o_p + e z, with the
 * displacement e of the joint. In body axes, external wrenches with constant components in world axes rotate by -o. */
static inline void set_displacements(const newton_euler_pass *p)
{
    for (size_t i = 0; i < p->scene->model->n_bodies; i++) {
        const dyn_body *b = &p->scene->model->body[i];
        vec3            o = b->tree.parent == DYN_WORLD ? vec3_zero() : p->ws->w[b->tree.parent];
        WITH_LINK_TRANSFORM(b, &p->ws->XJ[i], displacement_to_child, &o)
        if (dyn_joint_has_quaternion(b->joint.kind))
            o = add(o, joint_angular(b, p->io->along.q));
        else if (b->joint.kind == DYN_REVOLUTE)
            o.z += joint_rate(b, p->io->along.q);
        p->ws->w[i] = o;
    }
}

/* Does both passes with external or joint wrenches, which are rare: the function is not inlined. External wrenches must
 * be gathered before (newton_euler_prepare). */
LANE_NOINLINE void passes_with_wrenches(const newton_euler_pass *p, newton_euler_variant v)
{
    const bool externals = scene_has_externals(p->scene, p->io->wrenches);
    v.wrenches           = true;
    forward_pass(p, v);
    if (v.rates && externals) {
        if (v.along) set_displacements(p);
        subtract_external_rates(p);
    }
    backward_pass(p, v);
}

/* Sets the transforms of the joints, and gathers the external wrenches. */
LANE_INLINE void newton_euler_prepare(const newton_euler_pass *p)
{
    set_joint_transforms(p->scene->model, p->io->q, p->ws->XJ);
    if (scene_has_externals(p->scene, p->io->wrenches))
        gather_external_wrenches(p->scene, p->ws->XJ, p->io->wrenches, &p->ws->ext);
}

/* Computes the outputs by both passes. qd, qdd and, with rates, the direction in p->io must not be NULL
 * (values_or_zeros). */
LANE_INLINE void newton_euler_passes(const newton_euler_pass *p, newton_euler_variant v)
{
    const dyn_scene       *scene = p->scene;
    const newton_euler_io *io    = p->io;
    if (scene_has_externals(scene, io->wrenches) || io->joint_wrenches || io->joint_wrench_rates) {
        passes_with_wrenches(p, v);
    } else {
        forward_pass(p, v);
        backward_pass(p, v);
    }
    /* adds the efforts R of elastic joints and those of coupled transmissions to tau, and their rates to tau' */
    if (io->tau) couplings_add(scene, io->q, io->qd, 1, io->tau);
    if (io->tau) drives_add(scene, io->qd, io->qdd, io->tau);
    if (v.rates && io->tau_dot) couplings_add_rates(scene, io->along.q, io->along.qd, io->tau_dot);
    if (v.rates && io->tau_dot) drives_add_rates(scene, io->qd, io->along.qd, io->along.qdd, io->tau_dot);
}

LANE_INLINE void newton_euler(const dyn_scene *scene, const newton_euler_workspace *ws, newton_euler_io *io,
                              const bool rates)
{
    const newton_euler_pass p = {scene, ws, io};
    io->qd                    = values_or_zeros(ws, io->qd);
    io->qdd                   = values_or_zeros(ws, io->qdd);
    if (rates) io->along = (direction){io->qd, io->qdd, values_or_zeros(ws, io->along.qdd)};
    newton_euler_prepare(&p);
    newton_euler_passes(&p, (newton_euler_variant){.rates = rates});
}
