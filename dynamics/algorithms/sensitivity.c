/* sensitivity.c - computes the derivatives of tau and of the joint wrenches with respect to q, qd and qdd, and those of
 * tau with respect to external wrenches and gravity.
 *
 * Singh, Russell, Wensing (2022), with the quantities of spatial_algebra.h in body frames (spatial_body.h), for any
 * joint, any base, mimics and external wrenches. I, B, f are those of composites: bodies with their descendants. K S_a
 * corrects S_a x* f for external wrenches in world axes, which do not rotate with the composite (world_fixed.h). psi',
 * psi'' and S' are defined in spatial_algebra.h. Let a be a dof (degree of freedom) of body i, and b a dof of body i or
 * of an ancestor. The force on the composite of i changes
 *
 *     with a by  F_q = 2B psi'_a + I psi''_a + S_a x* f + K S_a,  F_qd = 2B S_a + I (psi'_a + S'_a),  F_qdd = I S_a,
 *     with b, as a derivative in the axes of body i: the formulas of the first line with b in place of a, without S x*
 * f. So d tau_b / da = S_b . F(a),     d tau_a / db = S_a . F(b).
 *
 * The second product is evaluated with the rows t = I S_a, r = 2B^T S_a and k = K^T S_a. F and the rows are transformed
 * from body to body towards the base. In each body's frame the joint's S is e_z times the ratio. Converted to the point
 * and axes of joint wrenches (wrench_at_joint), F is the derivative of the joint wrench. The composites are sums of
 * regrouped bodies (model.h), which give the same efforts; most of their masses are zero. Read spatial_body.h (forward
 * pass), force_partials.h (F), composite_motion.h (I, B, f) and sensitivity_pairs.h (backward pass);
 * force_partials_fast.h and sensitivity_fast.h only make them faster. */
#include "kernels.h"
#include "dynamics/math/clear_large.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "sensitivity_fast.h"
#include "sensitivity_wrenches.h"

size_t LANE_NAME(sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_size)(m, 0, a.used);
}

/* --- dtau ------------------------------------------------------------------------------------------------------- */

/* Adds the derivatives of the efforts of elastic joints. With joint position q and motor position theta, the effort R =
 * k (q - theta - rest) + d (qd - theta_d) acts on q and -R on theta. */
static void coupling_terms(const dyn_scene *scene, const results *out)
{
    const size_t nv = (size_t)scene->model->nv;
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < scene->model->n_couplings; i++) {
        const dyn_coupling *c        = &scene->model->coupling[i];
        const size_t        entry[2] = {(size_t)c->v, (size_t)c->v_theta};
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                double sign = a == b ? 1 : -1;
                out->dtau_dq[entry[a] * nv + entry[b]] += sign * c->spring.stiffness;
                out->dtau_dqd[entry[a] * nv + entry[b]] += sign * c->spring.damping;
            }
    }
}

/* Adds to dtau/dq, dtau/dqd and dtau/dqdd the derivatives of the rotor, the damper and the spring of a joint with a
 * quaternion. */
static void free_terms(const dyn_scene *scene, const dyn_body *b, const lane *q, const lane *qd, const results *out)
{
    const size_t nv = (size_t)scene->model->nv;
    if (!has_free_forces(b)) return;
    free_add_diagonal(b, nv, b->joint.rotor_inertia, out->dtau_dqdd);
    free_add_diagonal(b, nv, free_damping(b, scene->terms), out->dtau_dqd);
    free_add_turning(b, nv, qd, out->dtau_dqd);
    if (has_free_spring(b, scene->terms)) free_add_stiffness(b, nv, q, out->dtau_dq);
}

/* Adds the derivatives of the efforts of rotors, friction and springs to the diagonals of dtau/dq, dtau/dqd and
 * dtau/dqdd. */
static void passive_terms(const dyn_scene *scene, const lane *q, const lane *qd, const results *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.is_ideal) continue;
        if (dyn_joint_has_quaternion(b->joint.kind)) {
            free_terms(scene, b, q, qd, out);
            continue;
        }
        size_t e      = (size_t)b->joint.v * (size_t)m->nv + (size_t)b->joint.v;
        double square = b->joint.ratio * b->joint.ratio;
        if (b->joint.rotor_inertia != 0) out->dtau_dqdd[e] += square * b->joint.rotor_inertia;
        if (b->joint.has_friction && (scene->terms & DYN_FRICTION))
            out->dtau_dqd[e] += square * joint_friction_slope(b, joint_rate(b, qd));
        if (b->joint.has_spring && (scene->terms & DYN_SPRINGS)) {
            const spring_slopes c = joint_spring_slopes(b, q, qd);
            out->dtau_dq[e] += square * c.by_s;
            out->dtau_dqd[e] += square * c.by_sd;
        }
    }
}

/* Adds the derivatives of the efforts of coupled transmissions. */
static void drive_terms(const dyn_scene *scene, const lane *qd, const results *out)
{
    const dyn_model *m = scene->model;
    drives_add_inertia(m, out->dtau_dqdd);
    for (size_t k = 0; drive_has_friction(scene) && k < m->n_drives; k++) {
        const dyn_drive *d = &m->drive[k];
        drive_put_square(d, (size_t)m->nv, friction_slope(&d->friction, drive_sum(d, qd)), out->dtau_dqd);
    }
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

/* Computes composites and the entries of dtau/dq, dtau/dqd and dtau/dqdd, from the tips to the base. pairs_of_body with
 * put_ancestors_general is the general path. The fast path omits k and K, so world_fixed must be false there. */
static void backward_pass(const sensitivity_pass *p)
{
    const dyn_model *m = p->m;
    if (m->serial && !p->world_fixed) {
        pairs_of_arm(p);
        return;
    }
    for (size_t i = m->n_bodies; i-- > 0 && goes_on(p->deadline, (size_t)m->nv);)
        if (p->world_fixed)
            pairs_of_body(p, i, put_ancestors_general);
        else if (!is_unit_revolute(&m->body[i]))
            pairs_of_body(p, i, put_ancestors_fast);
        else if (m->body[i].tree.parent == DYN_WORLD)
            pairs_of_grounded(p, i, child_composite(p, i));
        else
            pairs_of_revolute(p, i, child_composite(p, i), false);
}

/* Clears the results that are sums. dtau_dq, dtau_dqd and dtau_dqdd are sums only with mimics. Entries between branches
 * are always zero, except those of elastic joints and coupled transmissions, which are added. */
static void clear_results(const dyn_scene *scene, const results *out, bool zeros_are_set)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv, nj = m->n_rows * 6 * nv;
    if (m->has_mimics || (m->branched && (m->n_couplings > 0 || m->dense || !zeros_are_set))) {
        clear(out->dtau_dq, nv * nv);
        clear(out->dtau_dqd, nv * nv);
        clear(out->dtau_dqdd, nv * nv);
    }
    clear_large(scene->deadline, out->dwrench_q, nj);
    clear_large(scene->deadline, out->dwrench_qd, nj);
    clear_large(scene->deadline, out->dwrench_qdd, nj);
    clear(out->dtau_dgravity, nv * 3);
}

/* Sums the external wrenches on each body. Sets the derivatives with respect to them (NULL: not requested). Adds the
 * terms of gravity compensation to the derivatives with respect to gravity. */
static void put_externals(const dyn_scene *scene, const sensitivity_pass *p, const lane *values, lane *by_wrenches)
{
    gather_external_wrenches(scene, p->ws->XJ, values, &p->ws->ext);
    if (p->world_fixed) world_fixed_gather(scene, &p->ws->ext, values, p->ws->world_fixed);
    if (values && by_wrenches) external_wrench_derivatives(scene, p->ws, values, by_wrenches);
    if (p->out->dtau_dgravity) compensation_by_gravity(scene, p->ws, p->out->dtau_dgravity);
}

void LANE_NAME(sensitivity)(const dyn_scene *scene, void *memory, const dyn_sensitivity *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_sensitivity)(scene, memory, io, blocks);
        return;
    }
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, nj = m->n_rows * 6 * nv;
    arena            a              = {.base = memory};
    workspace        ws             = place(&a, m);
    bool             joint_wrenches = io->djoint_wrenches_dq || io->djoint_wrenches_dqd || io->djoint_wrenches_dqdd;
    ws.children[ZERO]               = composite_motion_zero();
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv),
                   *qdd       = block_in(io->qdd, block, nv);
        const lane *values    = nw ? block_in(io->wrenches, block, 9 * nw) : NULL;
        results     out       = {block_out(io->dtau_dq, block, nv * nv),        block_out(io->dtau_dqd, block, nv * nv),
                                 block_out(io->dtau_dqdd, block, nv * nv),      block_out(io->djoint_wrenches_dq, block, nj),
                                 block_out(io->djoint_wrenches_dqd, block, nj), block_out(io->djoint_wrenches_dqdd, block, nj),
                                 block_out(io->dtau_dgravity, block, nv * 3)};
        const bool  externals = scene_has_externals(scene, values);
        const sensitivity_pass p = {scene->deadline, m, &ws, &out, externals, scene_has_world_fixed(scene, values)};
        clear_results(scene, &out, io->zeros_are_set);
        set_joint_transforms(m, q, ws.XJ);
        spatial_states(scene, ws.XJ, qd, qdd, ws.body);
        if (externals) {
            put_externals(scene, &p, values, block_out(io->dtau_dwrench, block, nw * nv * 6));
        } else if (io->dtau_dgravity) {
            attitudes(m, ws.XJ, ws.ext.attitude);
        }
        backward_pass(&p);
        if (joint_wrenches) {
            if (p.world_fixed) world_fixed_gather(scene, &ws.ext, values, ws.world_fixed);
            joint_wrench_derivatives(&p);
        }
        passive_terms(scene, q, qd, &out);
        coupling_terms(scene, &out);
        drive_terms(scene, qd, &out);
    }
}
