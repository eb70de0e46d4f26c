/* newton_euler.h - recursive Newton-Euler: tau and the joint wrenches from q, qd, qdd, and, with `rates`, their time
 * derivatives from qddd too. inverse_dynamics.c and torque_derivative.c are this text.
 *
 * Classical accelerations in body frames, after Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31,
 * gravity as an acceleration -g of the world. U = [wd x] + [w x]^2 maps a point of the body to its acceleration
 * relative to the origin. The rates are the derivatives of the components, equation by equation, as in Guarino Lo
 * Bianco (2009), here for trees, any base, friction, rotors and wrenches on any link. What turns with a revolute joint,
 * x_c = R^T x, has the rate R^T x' - sd z x x_c. Checked against a dense world-frame reference. */
#pragma once
#include "newton_euler_forward.h"
#include "dynamics/joint/joint_forces.h"

/* --- inward: efforts and joint wrenches --------------------------------------------------------------------- */

static inline void joint_wrench_out(const dyn_body *b, joint_at at, wrench w, lane *out)
{
    w = wrench_at_joint(b, at, w);
    store3(out, w.f);
    store3(out + 3, w.n);
}

/* tau = S^T wrench of a joint that turns freely; linear: so also of rates. */
LANE_INLINE void free_effort_out(const dyn_body *b, const wrench *w, lane *tau)
{
    lane *out = tau + b->v;
    if (b->joint == DYN_FLOATING) store3(out, w->f);
    store3(b->joint == DYN_FLOATING ? out + 3 : out, w->n);
}

/* tau_s = S^T wrench + rotor sdd + friction + spring */
LANE_INLINE void effort_out(const dyn_scene *scene, const dyn_body *b, const wrench *w, const euler_io *io)
{
    lane effort = b->joint == DYN_PRISMATIC ? w->f.z : w->n.z;
    if (b->bare) {
        io->tau[b->v] = effort;
        return;
    }
    if (dyn_joint_turns_freely(b->joint)) {
        free_effort_out(b, w, io->tau);
        return;
    }
    if (b->rotor_inertia != 0) effort = add_mul(effort, b->rotor_inertia, euler_rate(b, io->qdd));
    if (b->rough || b->sprung) effort += joint_passive(b, scene->terms, io->q, io->qd);
    effort        = coordinate_effort(b, effort);
    io->tau[b->v] = scene->model->coupled ? io->tau[b->v] + effort : effort;
}

LANE_INLINE void effort_rate_out(const dyn_scene *scene, const dyn_body *b, const wrench *rate, const euler_io *io)
{
    lane effort = b->joint == DYN_PRISMATIC ? rate->f.z : rate->n.z;
    if (b->bare) {
        io->tau_dot[b->v] = effort;
        return;
    }
    if (dyn_joint_turns_freely(b->joint)) {
        free_effort_out(b, rate, io->tau_dot);
        return;
    }
    if (b->rotor_inertia != 0) effort = add_mul(effort, b->rotor_inertia, euler_rate(b, io->qddd));
    if (b->rough || b->sprung) effort += joint_passive_rate(b, scene->terms, io->qd, io->qdd);
    effort            = coordinate_effort(b, effort);
    io->tau_dot[b->v] = scene->model->coupled ? io->tau_dot[b->v] + effort : effort;
}

/* The rate of what the parent needs, once `w` is in its axes: p x f' , and sd z x f where p moves. */
LANE_INLINE void rate_to_parent_form(const dyn_body *b, joint_at at, lane sd, wrench *w, wrench *rate,
                                     dyn_joint_kind joint, dyn_turn turn)
{
    if (joint == DYN_REVOLUTE)
        *rate = (wrench){spin(rate->f, w->f, sd), spin(rate->n, w->n, sd)};
    else if (joint == DYN_PRISMATIC)
        rate->n = spin(rate->n, w->f, sd);
    wrench_to_parent_form(b, at, rate, joint, turn);
    wrench_to_parent_form(b, at, w, joint, turn);
}

/* Both of a revolute joint with what is on the parent. */
LANE_INLINE void rate_onto_form(const dyn_body *b, joint_at at, lane sd, const wrench *on, const wrench *on_rate,
                                wrench *w, wrench *rate, dyn_turn turn)
{
    *rate = (wrench){spin(rate->f, w->f, sd), spin(rate->n, w->n, sd)};
    wrench_onto_form(b, at, on_rate, rate, turn);
    wrench_onto_form(b, at, on, w, turn);
}

/* The same for a joint that turns freely, before the turn: f' + y x f, n' + y x n + u x f. */
LANE_APART void free_rate(const dyn_body *b, const lane *qd, const wrench *w, wrench *rate)
{
    const vec3 u = joint_linear(b, qd), y = joint_angular(b, qd);
    *rate = (wrench){cross_add(rate->f, y, w->f), cross_add(cross_add(rate->n, y, w->n), u, w->f)};
}

LANE_INLINE void wrench_to_parent(const dyn_body *b, joint_at at, const lane *qd, wrench *w, wrench *rate, bool rates)
{
    if (rates) {
        const bool free = dyn_joint_turns_freely(b->joint);
        const lane sd   = free ? lane_of(0) : euler_rate(b, qd);
        if (free) {
            const wrench whole = *w;
            wrench       gains = *rate;
            free_rate(b, qd, &whole, &gains);
            *rate = gains;
        }
        BODY_FORMS(b, rate_to_parent_form, b, at, sd, w, rate)
    } else {
        BODY_FORMS(b, wrench_to_parent_form, b, at, w)
    }
}

/* In a plain run: with what is on the body before, which is about body i's origin. */
LANE_INLINE void wrench_onto_parent(const dyn_body *b, const euler_workspace *ws, int i, const lane *qd, wrench *w,
                                    wrench *rate, bool rates)
{
    body_known(b, true);
    if (rates) {
        TURN_FORMS(b, rate_onto_form, b, ws->at[i], qd[b->v], &ws->on[i - 1], &ws->on_rate[i - 1], w, rate)
    } else {
        TURN_FORMS(b, wrench_onto_form, b, ws->at[i], &ws->on[i - 1], w)
    }
}

static inline void clear_shared(const dyn_model *m, lane *tau)
{
    for (int v = 0; tau && m->coupled && v < m->nv; v++)
        tau[v] = lane_of(0);
}

/* What the joint carries in truth: also what the body gave away. */
LANE_INLINE wrench carried(wrench w, const dyn_body *b, const wrench *given)
{
    return b->joint == DYN_REVOLUTE ? wrench_add(w, *given) : w;
}

LANE_INLINE void results_out(const dyn_scene *scene, const euler_workspace *ws, int i, const wrench *w,
                             const wrench *rate, const euler_io *io, bool rates, bool loads)
{
    const dyn_body *b = &scene->model->body[i];
    if (io->tau) effort_out(scene, b, w, io);
    if (loads && io->joint_wrenches && b->row >= 0)
        joint_wrench_out(b, ws->at[i], carried(*w, b, &ws->given[i]), io->joint_wrenches + 6 * b->row);
    if (!rates) return;
    if (io->tau_dot) effort_rate_out(scene, b, rate, io);
    if (loads && io->joint_wrench_rates && b->row >= 0) {
        wrench r = carried(*rate, b, &ws->given_rate[i]);
        if (b->near_end && b->joint == DYN_PRISMATIC) r.n = spin(r.n, w->f, euler_rate(b, io->qd));
        joint_wrench_out(b, ws->at[i], r, io->joint_wrench_rates + 6 * b->row);
    }
}

LANE_INLINE void inward_run(const dyn_scene *scene, const euler_workspace *ws, const euler_io *io, dyn_run run,
                            bool rates, bool loads, const bool plain, const bool serial)
{
    const dyn_body *body = scene->model->body;
    const bool      led  = plain || (loads && run.plain);
    int             i    = run.end - 1;
    wrench          w = ws->on[i], rate = rates ? ws->on_rate[i] : w; /* what is needed of the body */
    next_known(&body[run.first], (size_t)run.first, serial);
    for (;; i--) {
        const dyn_body *b = &body[i];
        body_known(b, plain);
        next_known(b, (size_t)i, serial);
        results_out(scene, ws, i, &w, &rate, io, rates, loads);
        if (i == run.first) break;
        if (led) {
            wrench_onto_parent(b, ws, i, io->qd, &w, &rate, rates);
            continue;
        }
        wrench_to_parent(b, ws->at[i], io->qd, &w, &rate, rates);
        w = wrench_add(w, ws->on[i - 1]);
        if (rates) rate = wrench_add(rate, ws->on_rate[i - 1]);
    }
    if (body[i].parent == DYN_WORLD) return;
    body_known(&body[i], plain);
    wrench_to_parent(&body[i], ws->at[i], io->qd, &w, &rate, rates);
    i         = body[i].parent;
    ws->on[i] = wrench_add(ws->on[i], w);
    if (rates) ws->on_rate[i] = wrench_add(ws->on_rate[i], rate);
}

LANE_INLINE void inward(const dyn_scene *scene, const euler_workspace *ws, const euler_io *io, bool rates, bool loads)
{
    const dyn_model *m = scene->model;
    if (m->serial && !loads) {
        inward_run(scene, ws, io, (dyn_run){0, (int)m->n_bodies, true}, rates, false, true, true);
        return;
    }
    clear_shared(m, io->tau);
    clear_shared(m, io->tau_dot);
    for (size_t r = m->n_runs; r-- > 0;)
        if (m->run[r].plain && !loads)
            inward_run(scene, ws, io, m->run[r], rates, false, true, false);
        else
            inward_run(scene, ws, io, m->run[r], rates, loads, false, false);
}

LANE_APART void with_loads(const dyn_scene *scene, const euler_workspace *ws, const euler_io *io, bool rates)
{
    if (io->wrenches) externals_gather(scene, ws->at, io->wrenches, &ws->ext);
    outward(scene, ws, io, rates, true);
    if (rates && io->wrenches)
        externals_take_rates(scene, &ws->ext, io->wrenches, io->wrench_rates, ws->w, ws->on_rate);
    inward(scene, ws, io, rates, true);
}

LANE_INLINE void newton_euler(const dyn_scene *scene, const euler_workspace *ws, euler_io *io, bool rates)
{
    io->qd  = euler_given(ws, io->qd);
    io->qdd = euler_given(ws, io->qdd);
    if (rates) io->qddd = euler_given(ws, io->qddd);
    joints_place(scene->model, io->q, ws->at);
    if (io->wrenches || io->joint_wrenches || io->joint_wrench_rates) {
        with_loads(scene, ws, io, rates);
    } else {
        outward(scene, ws, io, rates, false);
        inward(scene, ws, io, rates, false);
    }
    if (io->tau) couplings_add(scene, io->q, io->qd, 1, io->tau);
    if (rates && io->tau_dot) couplings_add_rates(scene, io->qd, io->qdd, io->tau_dot);
}
