/* newton_euler.h - the recursive Newton-Euler algorithm: computes tau and joint wrenches from q, qd, qdd; with `rates`,
 * also their time derivatives from qddd. inverse_dynamics.c and torque_derivative.c call it.
 *
 * Classical accelerations in body frames, after Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31.
 * Gravity is an acceleration -g of the world. U = [wd x] + [w x]^2 maps a point of the body to its acceleration
 * relative to the origin. The rates are derivatives of the components, equation by equation, as in Guarino Lo Bianco
 * (2009), extended to trees, floating bases, friction, rotors and wrenches on any link. A vector that rotates with a
 * revolute joint, x_c = R^T x, has the rate R^T x' - sd z x x_c. */
#pragma once
#include "newton_euler_forward.h"
#include "dynamics/joint/joint_forces.h"

/* --- backward pass: efforts and joint wrenches --------------------------------------------------------------- */

static inline void joint_wrench_out(const dyn_body *b, joint_transform XJ, wrench w, lane *out)
{
    w = wrench_at_joint(b, XJ, w);
    store3(out, w.f);
    store3(out + 3, w.n);
}

/* tau = S^T wrench for a joint with a quaternion. The function is linear, so it also computes rates. */
LANE_INLINE void free_effort_out(const dyn_body *b, const wrench *w, lane *tau)
{
    lane *out = tau + b->v;
    if (b->joint == DYN_FLOATING) store3(out, w->f);
    store3(b->joint == DYN_FLOATING ? out + 3 : out, w->n);
}

/* Stores tau of a joint with one coordinate: ratio (S^T wrench + rotor sdd + friction + spring). */
LANE_INLINE void effort_out(const dyn_scene *scene, const dyn_body *b, const wrench *w, const newton_euler_io *io)
{
    lane effort = b->joint == DYN_PRISMATIC ? w->f.z : w->n.z;
    if (b->is_ideal) {
        io->tau[b->v] = effort;
        return;
    }
    if (dyn_joint_has_quaternion(b->joint)) {
        free_effort_out(b, w, io->tau);
        return;
    }
    if (b->rotor_inertia != 0) effort = add_mul(effort, b->rotor_inertia, joint_rate_of(b, io->qdd));
    if (b->has_friction || b->has_spring) effort += joint_passive(b, scene->terms, io->q, io->qd);
    effort        = coordinate_effort(b, effort);
    io->tau[b->v] = scene->model->has_mimics ? io->tau[b->v] + effort : effort;
}

LANE_INLINE void effort_rate_out(const dyn_scene *scene, const dyn_body *b, const wrench *rate,
                                 const newton_euler_io *io)
{
    lane effort = b->joint == DYN_PRISMATIC ? rate->f.z : rate->n.z;
    if (b->is_ideal) {
        io->tau_dot[b->v] = effort;
        return;
    }
    if (dyn_joint_has_quaternion(b->joint)) {
        free_effort_out(b, rate, io->tau_dot);
        return;
    }
    if (b->rotor_inertia != 0) effort = add_mul(effort, b->rotor_inertia, joint_rate_of(b, io->qddd));
    if (b->has_friction || b->has_spring) effort += joint_passive_rate(b, scene->terms, io->qd, io->qdd);
    effort            = coordinate_effort(b, effort);
    io->tau_dot[b->v] = scene->model->has_mimics ? io->tau_dot[b->v] + effort : effort;
}

/* Transforms a wrench and its rate to the parent. The joint's motion adds the terms sd z x f and sd z x n to the rate
 * for a revolute joint, and sd z x f to its moment for a prismatic joint. */
LANE_INLINE void rate_to_parent_form(link_transform X, lane sd, wrench *w, wrench *rate)
{
    if (X.joint == DYN_REVOLUTE)
        *rate = (wrench){add_spin(rate->f, w->f, sd), add_spin(rate->n, w->n, sd)};
    else if (X.joint == DYN_PRISMATIC)
        rate->n = add_spin(rate->n, w->f, sd);
    wrench_to_parent_form(X, rate);
    wrench_to_parent_form(X, w);
}

/* Transforms the wrench of a revolute body and its rate to the parent, and adds a wrench on the parent and its rate
 * (see wrench_to_parent_add_form). */
LANE_INLINE void rate_to_parent_add_form(link_transform X, lane sd, const wrench *addend, const wrench *addend_rate,
                                         wrench *w, wrench *rate)
{
    *rate = (wrench){add_spin(rate->f, w->f, sd), add_spin(rate->n, w->n, sd)};
    wrench_to_parent_add_form(X, addend_rate, rate);
    wrench_to_parent_add_form(X, addend, w);
}

/* Rate of the wrench w of a body whose joint has a quaternion, seen from the parent but in body axes: f' + y x f, n' +
 * y x n + u x f. u and y are the linear and angular velocity of the joint. */
LANE_NOINLINE void free_wrench_rate(const dyn_body *b, const lane *qd, const wrench *w, wrench *rate)
{
    const vec3 u = joint_linear(b, qd), y = joint_angular(b, qd);
    *rate = (wrench){cross_add(rate->f, y, w->f), cross_add(cross_add(rate->n, y, w->n), u, w->f)};
}

LANE_INLINE void wrench_to_parent(const dyn_body *b, joint_transform XJ, const lane *qd, wrench *w, wrench *rate,
                                  bool rates)
{
    if (rates) {
        const bool free = dyn_joint_has_quaternion(b->joint);
        const lane sd   = free ? lane_of(0) : joint_rate_of(b, qd);
        if (free) {
            const wrench whole = *w;
            wrench       gains = *rate;
            free_wrench_rate(b, qd, &whole, &gains);
            *rate = gains;
        }
        WITH_LINK_TRANSFORM(b, XJ, rate_to_parent_form, sd, w, rate)
    } else {
        WITH_LINK_TRANSFORM(b, XJ, wrench_to_parent_form, w)
    }
}

/* In a plain run: transforms the wrench w of body i to body i - 1 and adds the wrench that body i - 1 requires, which
 * is about the origin of body i. */
LANE_INLINE void wrench_to_parent_add(const dyn_body *b, const newton_euler_workspace *ws, int i, const lane *qd,
                                      wrench *w, wrench *rate, bool rates)
{
    assume_plain_body(b, true);
    if (rates) {
        WITH_REVOLUTE_TRANSFORM(b, ws->XJ[i], rate_to_parent_add_form, qd[b->v], &ws->required[i - 1],
                                &ws->required_rate[i - 1], w, rate)
    } else {
        WITH_REVOLUTE_TRANSFORM(b, ws->XJ[i], wrench_to_parent_add_form, &ws->required[i - 1], w)
    }
}

static inline void clear_efforts(const dyn_model *m, lane *tau)
{
    for (int v = 0; tau && m->has_mimics && v < m->nv; v++)
        tau[v] = lane_of(0);
}

/* The joint wrench including the force on the mass that the body moved to its parent (dyn_body.regrouped). */
LANE_INLINE wrench total_joint_wrench(wrench w, const dyn_body *b, const wrench *axis_wrench)
{
    return b->joint == DYN_REVOLUTE ? wrench_add(w, *axis_wrench) : w;
}

LANE_INLINE void results_out(const dyn_scene *scene, const newton_euler_workspace *ws, int i, const wrench *w,
                             const wrench *rate, const newton_euler_io *io, bool rates, bool with_wrenches)
{
    const dyn_body *b = &scene->model->body[i];
    if (io->tau) effort_out(scene, b, w, io);
    if (with_wrenches && io->joint_wrenches && b->row >= 0)
        joint_wrench_out(b, ws->XJ[i], total_joint_wrench(*w, b, &ws->axis_wrench[i]), io->joint_wrenches + 6 * b->row);
    if (!rates) return;
    if (io->tau_dot) effort_rate_out(scene, b, rate, io);
    if (with_wrenches && io->joint_wrench_rates && b->row >= 0) {
        wrench r = total_joint_wrench(*rate, b, &ws->axis_wrench_rate[i]);
        if (b->near_end && b->joint == DYN_PRISMATIC) r.n = add_spin(r.n, w->f, joint_rate_of(b, io->qd));
        joint_wrench_out(b, ws->XJ[i], r, io->joint_wrench_rates + 6 * b->row);
    }
}

LANE_INLINE void backward_run(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io,
                              dyn_run run, bool rates, bool with_wrenches, const bool plain, const bool serial)
{
    const dyn_body *body             = scene->model->body;
    const bool      uses_next_origin = plain || (with_wrenches && run.plain);
    int             i                = run.end - 1;
    wrench w = ws->required[i], rate = rates ? ws->required_rate[i] : w; /* wrench that body i requires, and its rate */
    assume_serial_body(&body[run.first], (size_t)run.first, serial);
    for (;; i--) {
        const dyn_body *b = &body[i];
        assume_plain_body(b, plain);
        assume_serial_body(b, (size_t)i, serial);
        results_out(scene, ws, i, &w, &rate, io, rates, with_wrenches);
        if (i == run.first) break;
        if (uses_next_origin) {
            wrench_to_parent_add(b, ws, i, io->qd, &w, &rate, rates);
            continue;
        }
        wrench_to_parent(b, ws->XJ[i], io->qd, &w, &rate, rates);
        w = wrench_add(w, ws->required[i - 1]);
        if (rates) rate = wrench_add(rate, ws->required_rate[i - 1]);
    }
    if (body[i].parent == DYN_WORLD) return;
    assume_plain_body(&body[i], plain);
    wrench_to_parent(&body[i], ws->XJ[i], io->qd, &w, &rate, rates);
    i               = body[i].parent;
    ws->required[i] = wrench_add(ws->required[i], w);
    if (rates) ws->required_rate[i] = wrench_add(ws->required_rate[i], rate);
}

LANE_INLINE void backward_pass(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io,
                               bool rates, bool with_wrenches)
{
    const dyn_model *m = scene->model;
    if (m->serial && !with_wrenches) {
        backward_run(scene, ws, io, (dyn_run){0, (int)m->n_bodies, true}, rates, false, true, true);
        return;
    }
    clear_efforts(m, io->tau);
    clear_efforts(m, io->tau_dot);
    for (size_t r = m->n_runs; r-- > 0;)
        if (m->run[r].plain && !with_wrenches)
            backward_run(scene, ws, io, m->run[r], rates, false, true, false);
        else
            backward_run(scene, ws, io, m->run[r], rates, with_wrenches, false, false);
}

LANE_NOINLINE void passes_with_wrenches(const dyn_scene *scene, const newton_euler_workspace *ws,
                                        const newton_euler_io *io, bool rates)
{
    if (io->wrenches) gather_external_wrenches(scene, ws->XJ, io->wrenches, &ws->ext);
    forward_pass(scene, ws, io, rates, true);
    if (rates && io->wrenches)
        subtract_external_rates(scene, &ws->ext, io->wrenches, io->wrench_rates, ws->w, ws->required_rate);
    backward_pass(scene, ws, io, rates, true);
}

LANE_INLINE void newton_euler(const dyn_scene *scene, const newton_euler_workspace *ws, newton_euler_io *io, bool rates)
{
    io->qd  = values_or_zeros(ws, io->qd);
    io->qdd = values_or_zeros(ws, io->qdd);
    if (rates) io->qddd = values_or_zeros(ws, io->qddd);
    set_joint_transforms(scene->model, io->q, ws->XJ);
    if (io->wrenches || io->joint_wrenches || io->joint_wrench_rates) {
        passes_with_wrenches(scene, ws, io, rates);
    } else {
        forward_pass(scene, ws, io, rates, false);
        backward_pass(scene, ws, io, rates, false);
    }
    if (io->tau) couplings_add(scene, io->q, io->qd, 1, io->tau);
    if (rates && io->tau_dot) couplings_add_rates(scene, io->qd, io->qdd, io->tau_dot);
}
