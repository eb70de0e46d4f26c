/* sensitivity.c - computes the derivatives of tau and of the joint wrenches with respect to q, qd and qdd, and those of
 * tau with respect to external wrenches and gravity.
 *
 * Singh, Russell, Wensing (2022), with the quantities of spatial_world.h in body frames (spatial_body.h), for any
 * joint, any base, mimics and external wrenches. I, B, f, K are those of composites: bodies with their descendants. Let
 * a be a dof (degree of freedom) of body i, and b a dof of body i or of an ancestor. The force on the composite of i
 * changes
 *
 *     with a by  F_q = 2B psi'_a + I psi''_a + S_a x* f + K S_a,  F_qd = 2B S_a + I (psi'_a + S'_a),  F_qdd = I S_a,
 *     with b, seen from body i, by the same formulas of b without S x* f. So
 *         d tau_b / da = S_b . F(a),     d tau_a / db = S_a . F(b).
 *
 * The second product is evaluated with the rows t = I S_a, r = 2B^T S_a and k = K^T S_a. F and the rows are transformed
 * from body to body towards the base. In each body's frame the joint's S is e_z, and F in the definition of a joint
 * wrench is that wrench's derivative. Composites are of regrouped bodies (model.h): efforts are the same, and most
 * masses are zero. For a revolute joint on the world only quantities about its axis are computed. */
#include "kernels.h"
#include "dynamics/joint/joint_forces.h"
#include "sensitivity_wrenches.h"

size_t LANE_NAME(sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- dtau ------------------------------------------------------------------------------------------------------- */

/* Adds the derivatives of the effort  R = k (q - theta - rest) + d (qd - theta_d)  of elastic joints to the row of q,
 * and those of -R to the row of theta. */
static void coupling_terms(const dyn_scene *scene, const results *out)
{
    const size_t nv = (size_t)scene->model->nv;
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < scene->model->n_couplings; i++) {
        const dyn_coupling *c        = &scene->model->coupling[i];
        const size_t        entry[2] = {(size_t)c->v, (size_t)c->v_theta};
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                double sign = a == b ? 1 : -1;
                out->dq[entry[a] * nv + entry[b]] += sign * c->spring.stiffness;
                out->dqd[entry[a] * nv + entry[b]] += sign * c->spring.damping;
            }
    }
}

/* Adds the derivatives of rotor, friction and spring efforts to the diagonals. */
static void passive_terms(const dyn_scene *scene, const lane *qd, const results *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.is_ideal) continue;
        size_t e      = (size_t)b->joint.v * (size_t)m->nv + (size_t)b->joint.v;
        double square = b->joint.ratio * b->joint.ratio;
        if (b->joint.rotor_inertia != 0) out->dqdd[e] += square * b->joint.rotor_inertia;
        if (b->joint.has_friction && (scene->terms & DYN_FRICTION))
            out->dqd[e] += square * joint_friction_slope(b, joint_rate(b, qd));
        if (b->joint.has_spring && (scene->terms & DYN_SPRINGS)) {
            out->dq[e] += square * b->joint.spring.stiffness;
            out->dqd[e] += square * b->joint.spring.damping;
        }
    }
}

/* Gravity acts as an acceleration -g of all bodies: d tau_a / dg = -(linear part of I S_a). */
static void put_gravity(const attitude *att, const wrench *t, lane *row)
{
    for (int k = 0; k < 3; k++)
        row[k] -= dot(att->row[k], t->f);
}

/* --- external wrenches ------------------------------------------------------------------------------------------ */

/* Computes d tau_a / d wrench = -(S_a at the point of application) for each dof a, in the axes of the wrench. */
static void by_wrench(const dyn_scene *scene, const workspace *ws, const lane *values, lane *out)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    clear(out, scene->n_wrenches * nv * 6);
    for (size_t n = 0; n < scene->n_wrenches; n++, out += nv * 6, values += 9) {
        const dyn_wrench_site *site     = &scene->wrench[n];
        const attitude        *att      = &ws->ext.attitude[site->body == DYN_WORLD ? 0 : site->body];
        vec3                   x        = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(values + 6)));
        relative_pose          relative = relative_pose_identity();
        for (int p = site->body; p != DYN_WORLD; p = m->body[p].tree.parent) {
            for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
                twist S     = twist_in_descendant(&relative, dof_of(&m->body[p], &ws->body[p], k).S);
                lane *entry = out + coordinate(m, (size_t)p, k) * 6;
                for (int row = 0; row < 2; row++) {
                    vec3 u = row ? S.w : cross_add(S.v, S.w, x);
                    u      = site->world_axes ? (vec3){dot(att->row[0], u), dot(att->row[1], u), dot(att->row[2], u)}
                                              : unrotate_const(site->X_bl.R, u);
                    u      = external_in_given_axes(site, u);
                    store3(entry + 3 * row, sub(load3(entry + 3 * row), u));
                }
            }
            relative_pose_from_parent(&m->body[p], &ws->XJ[p], &relative);
        }
    }
}

/* --- the kernel ---------------------------------------------------------------------------------------------- */

/* Transforms the partials of a dof to a parent with a unit revolute joint on the world. Only the components that
 * grounded_row and the parent's columns need are set. */
LANE_INLINE void force_partials_to_grounded_form(link_transform X, const force_partials *c, force_partials *to)
{
    force_partials x = *c;
    force_partials_turn_form(X, &x, false);
    force_partials_shift_offsets(X.b, &x);
    to->q.n.z  = x.q.n.z;
    to->qd.n.z = x.qd.n.z;
    to->t.n.z  = x.t.n.z;
    to->t.f.x  = x.t.f.x;
    to->t.f.y  = x.t.f.y;
    to->r.z    = x.r.z;
}

/* Transforms the partials of a dof to the base and stores the entries with every dof on the way. `serial` (serial
 * model) and `world_fixed` (there are wrenches in world axes) are constants of the inlined code. */
LANE_INLINE void to_base_form(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t va,
                              const force_partials *start, const bool world_fixed, const bool serial)
{
    const size_t    nv         = (size_t)m->nv;
    const bool      has_mimics = !serial && m->has_mimics;
    const dyn_body *b          = &m->body[i];
    force_partials  c;
    force_partials_copy(&c, start);
    while (serial || b->tree.parent_joint != DYN_PARENT_WORLD) {
        const size_t           p     = serial ? i - 1 : (size_t)b->tree.parent;
        const joint_transform *XJ    = &ws->XJ[i];
        const dyn_parent_joint above = !serial  ? b->tree.parent_joint
                                       : i == 1 ? DYN_PARENT_GROUNDED
                                                : DYN_PARENT_UNIT_REVOLUTE;
        entries                e;
        assume_revolute(b, serial);
        if (!world_fixed && above == DYN_PARENT_GROUNDED) {
            force_partials first;
            WITH_LINK_TRANSFORM(b, XJ, force_partials_to_grounded_form, &c, &first)
            e = (entries){.q = first.q.n.z, .qd = first.qd.n.z, .t = first.t.n.z};
            grounded_row(&ws->body[p], &first, &e.row_q, &e.row_qd);
            put_entries(out, nv, has_mimics, va, serial ? p : (size_t)m->body[p].joint.v, &e);
            return;
        }
        WITH_LINK_TRANSFORM(b, XJ, force_partials_turn_form, &c, world_fixed)
        force_partials_shift_offsets(b, &c);
        i = p;
        b = &m->body[i];
        if (!world_fixed && above == DYN_PARENT_UNIT_REVOLUTE) {
            e = (entries){.q = c.q.n.z, .qd = c.qd.n.z, .t = c.t.n.z};
            unit_revolute_row(&ws->body[i], &c, &e.row_q, &e.row_qd);
        } else if (dyn_joint_has_quaternion(b->joint.kind)) {
            const force_partials here = c;
            put_free_row(m, out, va, b, &ws->body[i], &here);
            put_free_column(m, out, va, b, &here);
            continue;
        } else {
            const force_partials here = c;
            e                         = joint_entries(b, &ws->body[i], &here);
        }
        put_entries(out, nv, has_mimics, va, serial ? i : (size_t)b->joint.v, &e);
    }
}

/* Calls to_base_form for dofs of joints that are not unit revolute, and for all dofs if there are wrenches in world
 * axes. */
LANE_NOINLINE void to_base_any(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t va,
                               const force_partials *c, bool world_fixed)
{
    to_base_form(m, ws, out, i, va, c, world_fixed, false);
}

/* Stores the diagonal entries of a joint of one coordinate. */
LANE_INLINE void put_diagonal(const results *out, size_t nv, bool has_mimics, const dyn_body *b, const entries *e)
{
    const size_t own = (size_t)b->joint.v * (nv + 1);
    put_entry(out->dq + own, e->row_q, has_mimics);
    put_entry(out->dqd + own, e->row_qd, has_mimics);
    put_entry(out->dqdd + own, e->t, has_mimics);
}

/* Stores the entries of a unit revolute joint on a moving body, with itself and with all ancestors. */
LANE_INLINE void unit_revolute_entries(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                                       const force_partials *c, const bool serial)
{
    const dyn_body *b = &m->body[i];
    entries         e = {.t = c->t.n.z};
    unit_revolute_row(&ws->body[i], c, &e.row_q, &e.row_qd);
    put_diagonal(out, (size_t)m->nv, !serial && m->has_mimics, b, &e);
    if (out->dgravity) put_gravity(&ws->ext.attitude[i], &c->t, out->dgravity + 3 * b->joint.v);
    to_base_form(m, ws, out, i, serial ? i : (size_t)b->joint.v, c, false, serial);
}

/* Stores the entries of any joint of one coordinate, with itself and with all ancestors. */
static void joint_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i, const force_partials *c,
                      bool world_fixed)
{
    const dyn_body *b = &m->body[i];
    const entries   e = joint_entries(b, &ws->body[i], c);
    put_diagonal(out, (size_t)m->nv, m->has_mimics, b, &e);
    if (out->dgravity) put_gravity(&ws->ext.attitude[i], &c->t, out->dgravity + 3 * b->joint.v);
    to_base_any(m, ws, out, i, (size_t)b->joint.v, c, world_fixed);
}

static void free_dofs(const dyn_model *m, const workspace *ws, const results *out, size_t i, const composite_motion *S,
                      const world_fixed_wrenches *world_fixed)
{
    const dyn_body *b = &m->body[i];
    for (size_t k = 0; k < dofs_of(b); k++) {
        dof            d = dof_of(b, &ws->body[i], k);
        force_partials c = force_partials_of(b->derived.regrouped_mass, S, world_fixed, &d);
        size_t         v = coordinate(m, i, k);
        lane           t[6];
        wrench_to_array(c.t, t);
        put_free_row(m, out, v, b, &ws->body[i], &c);
        for (int n = joint_first_axis(b), j = b->joint.v; n < 6; n++, j++)
            put(m, out->dqdd, v, (size_t)j, t[n]);
        if (out->dgravity) put_gravity(&ws->ext.attitude[i], &c.t, out->dgravity + 3 * v);
        to_base_any(m, ws, out, i, v, &c, world_fixed);
    }
}

/* Stores the entries of a unit revolute joint on the world with itself. They need only h.x, h.y, E.xx + E.yy and C.xx +
 * C.yy of its composite. The body's own C.xx + C.yy is zero. */
LANE_INLINE void grounded_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                              const composite_motion *children)
{
    const dyn_body    *b   = &m->body[i];
    const dyn_moments *own = &b->derived.regrouped;
    const lane         x = children->c.h.x + own->h[0], y = children->c.h.y + own->h[1],
               z = children->C.m[0][0] + children->C.m[1][1];
    force_partials c;
    c.t.f     = (vec3){-y, x, lane_of(0)};
    c.r.z     = z + z;
    entries e = {.t = (children->c.E.xx + children->c.E.yy) + (own->E[0] + own->E[3])};
    grounded_row(&ws->body[i], &c, &e.row_q, &e.row_qd);
    put_diagonal(out, (size_t)m->nv, m->has_mimics, b, &e);
    if (out->dgravity) put_gravity(&ws->ext.attitude[i], &c.t, out->dgravity + 3 * b->joint.v);
}

/* Transforms a composite to a parent with a unit revolute joint on the world. Only the quantities that grounded_dof
 * uses are set. */
LANE_INLINE void hand_to_grounded(const dyn_body *b, const joint_transform *XJ, composite_motion S,
                                  composite_motion *to)
{
    WITH_LINK_TRANSFORM(b, XJ, composite_motion_form, &S, b->derived.regrouped_mass)
    composite_motion_shift_offsets(b, &S, b->derived.regrouped_mass);
    to->c.h.x     = S.c.h.x;
    to->c.h.y     = S.c.h.y;
    to->c.E.xx    = S.c.E.xx;
    to->c.E.yy    = S.c.E.yy;
    to->C.m[0][0] = S.C.m[0][0];
    to->C.m[1][1] = S.C.m[1][1];
}

/* Adds the composite S of body i, already in the parent's frame, to the sum of the parent. */
LANE_INLINE void hand_on(const dyn_body *b, size_t i, const workspace *ws, composite_motion S)
{
    if (b->tree.parent == (int)i - 1) {
        *ws->handed = S;
    } else if (b->tree.is_last_child) {
        ws->forked[b->tree.parent] = S;
    } else {
        const composite_motion here = S;
        composite_motion_accumulate(&ws->forked[b->tree.parent], &here);
    }
}

/* Returns the sum of the composites of body i's children; all later bodies must be done. */
LANE_INLINE const composite_motion *child_composite(const dyn_model *m, const workspace *ws, size_t i)
{
    const dyn_body *b = &m->body[i];
    if (b->tree.is_leaf) return ws->handed + 1;
    const bool next = i + 1 < m->n_bodies && b[1].tree.parent == (int)i;
    if (b->tree.has_branch && next) composite_motion_accumulate(ws->handed, &ws->forked[i]);
    return next ? ws->handed : &ws->forked[i];
}

/* Computes the composite and the entries of a unit revolute joint on a moving body. */
LANE_INLINE void unit_revolute_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                                   const composite_motion *children, bool with_wrenches, const bool serial)
{
    const dyn_body      *b = &m->body[i];
    const spatial_state *B = &ws->body[i];
    assume_serial_body(b, i, serial);
    composite_motion S = composite_motion_with_body(children, &b->derived.regrouped, B->v, B->a, true);
    if (with_wrenches) S.f = wrench_sub(S.f, ws->ext.sum[i]);
    if (serial
            ? i == 1
            : b->tree.parent_joint == DYN_PARENT_GROUNDED && b->tree.parent == (int)i - 1 && !b[-1].tree.has_branch) {
        hand_to_grounded(b, &ws->XJ[i], S, ws->handed);
    } else {
        composite_motion x = S;
        WITH_LINK_TRANSFORM(b, &ws->XJ[i], composite_motion_form, &x, b->derived.regrouped_mass)
        composite_motion_shift_offsets(b, &x, b->derived.regrouped_mass);
        hand_on(b, i, ws, x);
    }
    const force_partials c = force_partials_about_z(b->derived.regrouped_mass, &S, B);
    unit_revolute_entries(m, ws, out, i, &c, serial);
}

/* Computes the composite and the entries of any joint; `world_fixed` is NULL if there are no wrenches in world axes. */
LANE_NOINLINE void any_dofs(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                            const composite_motion *children, bool with_wrenches,
                            const world_fixed_wrenches *world_fixed)
{
    const dyn_body  *b = &m->body[i];
    composite_motion S =
        composite_motion_with_body(children, &b->derived.regrouped, ws->body[i].v, ws->body[i].a, false);
    if (with_wrenches) S.f = wrench_sub(S.f, ws->ext.sum[i]);
    if (b->tree.parent != DYN_WORLD)
        hand_on(b, i, ws, composite_motion_to_parent(b, &ws->XJ[i], S, b->derived.regrouped_mass));
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_dofs(m, ws, out, i, &S, world_fixed);
    } else {
        const dof            d = dof_of(b, &ws->body[i], 0);
        const force_partials c = force_partials_of(b->derived.regrouped_mass, &S, world_fixed, &d);
        joint_dof(m, ws, out, i, &c, world_fixed);
    }
    if (world_fixed && b->tree.parent != DYN_WORLD)
        world_fixed_to_parent(b, &ws->XJ[i], world_fixed, &ws->world_fixed[b->tree.parent]);
}

static void pairs(const dyn_model *m, const workspace *ws, const results *out, bool with_wrenches, bool any_world_fixed)
{
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body         *b        = &m->body[i];
        const composite_motion *children = child_composite(m, ws, i);
        if (any_world_fixed || !is_unit_revolute(b))
            any_dofs(m, ws, out, i, children, with_wrenches, any_world_fixed ? &ws->world_fixed[i] : NULL);
        else if (b->tree.parent == DYN_WORLD)
            grounded_dof(m, ws, out, i, children);
        else
            unit_revolute_dof(m, ws, out, i, children, with_wrenches, false);
    }
}

/* Computes all entries of a serial model without wrenches in world axes. */
static void serial_pairs(const dyn_model *m, const workspace *ws, const results *out, bool with_wrenches)
{
    for (size_t i = m->n_bodies; i-- > 1;)
        unit_revolute_dof(m, ws, out, i, ws->handed + (i + 1 == m->n_bodies), with_wrenches, true);
    grounded_dof(m, ws, out, 0, ws->handed + (m->n_bodies == 1));
}

/* Clears the results that are sums. dq, dqd and dqdd are sums only with mimics. Entries between branches are always
 * zero, except those of elastic joints, which are added. */
static void clear_results(const dyn_model *m, const results *out, bool zeros_are_set)
{
    size_t nv = (size_t)m->nv, nj = m->n_rows * 6 * nv;
    if (m->has_mimics || (m->branched && (m->n_couplings > 0 || !zeros_are_set))) {
        clear(out->dq, nv * nv);
        clear(out->dqd, nv * nv);
        clear(out->dqdd, nv * nv);
    }
    clear(out->dwrench_q, nj);
    clear(out->dwrench_qd, nj);
    clear(out->dwrench_qdd, nj);
    clear(out->dgravity, nv * 3);
}

void LANE_NAME(sensitivity)(const dyn_scene *scene, void *memory, const dyn_sensitivity *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, nj = m->n_rows * 6 * nv;
    arena            a               = {.base = memory};
    workspace        ws              = place(&a, m);
    bool             any_world_fixed = io->wrenches && scene_has_world_fixed(scene);
    bool             joint_wrenches  = io->djoint_wrenches_dq || io->djoint_wrenches_dqd || io->djoint_wrenches_dqdd;
    ws.handed[1]                     = composite_motion_zero();
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv),
                   *qdd    = block_in(io->qdd, block, nv);
        const lane *values = nw ? block_in(io->wrenches, block, 9 * nw) : NULL;
        results     out    = {block_out(io->dtau_dq, block, nv * nv),        block_out(io->dtau_dqd, block, nv * nv),
                              block_out(io->dtau_dqdd, block, nv * nv),      block_out(io->djoint_wrenches_dq, block, nj),
                              block_out(io->djoint_wrenches_dqd, block, nj), block_out(io->djoint_wrenches_dqdd, block, nj),
                              block_out(io->dtau_dgravity, block, nv * 3)};
        clear_results(m, &out, io->zeros_are_set);
        set_joint_transforms(m, q, ws.XJ);
        spatial_states(scene, ws.XJ, qd, qdd, ws.body);
        if (values) {
            gather_external_wrenches(scene, ws.XJ, values, &ws.ext);
            if (any_world_fixed) world_fixed_gather(scene, &ws.ext, values, ws.world_fixed);
            if (io->dtau_dwrench) by_wrench(scene, &ws, values, block_out(io->dtau_dwrench, block, nw * nv * 6));
        } else if (io->dtau_dgravity) {
            attitudes(m, ws.XJ, ws.ext.attitude);
        }
        if (m->serial && !any_world_fixed)
            serial_pairs(m, &ws, &out, values);
        else
            pairs(m, &ws, &out, values, any_world_fixed);
        if (joint_wrenches) {
            if (any_world_fixed) world_fixed_gather(scene, &ws.ext, values, ws.world_fixed);
            wrench_changes(m, &ws, &out, values, any_world_fixed);
        }
        passive_terms(scene, qd, &out);
        coupling_terms(scene, &out);
    }
}
