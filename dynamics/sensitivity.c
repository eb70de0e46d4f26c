/* sensitivity.c - derivatives of inverse dynamics with respect to q, qd, qdd; of the joint wrenches too; and of tau
 * with respect to external wrenches and gravity.
 *
 * Singh, Russell, Wensing (2022), in the quantities of spatial_world.h seen from each body (spatial_body.h), for any
 * joint, any base, mimics and external wrenches. With composites over what hangs on a body, for a dof a of body
 * i and a dof b of i or before it:
 *
 *     the force on i's subtree changes with a by  F_q = 2B psi'_a + I psi''_a + S_a x* f + K S_a,
 *         F_qd = 2B S_a + I (psi'_a + S'_a),  F_qdd = I S_a:          d tau_b / da = S_b . F
 *     and with b, seen from i (which turns with b), by the same without S x* f:   d tau_a / db = S_a . (...)
 *
 * The second is computed with rows t = I S_a, r = 2B^T S_a and k = K^T S_a. F and the rows go from body to body towards
 * the base; where they are, a joint's S is e_z, and the derivative of a joint wrench is F as the wrench is shown. */
#include "sensitivity_entries.h"

typedef struct workspace {
    joint_at      *at;
    spatial_state *body;
    external       ext;
    held_wrenches *held; /* [n_bodies] */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.at   = joints_take(a, m),
                       .body = arena_take(a, m->n_bodies, sizeof(spatial_state)),
                       .ext  = external_place(a, m),
                       .held = arena_take(a, m->n_bodies, sizeof(held_wrenches))};
}

size_t LANE_NAME(sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

static void clear(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
}

LANE_INLINE size_t coordinate(const dyn_model *m, size_t i, size_t k)
{
    return (size_t)m->body[i].v + k;
}

/* --- dtau ------------------------------------------------------------------------------------------------------- */

LANE_APART change hop_freely(const joint_pose *at, change c)
{
    wrench *const all[3] = {&c.q, &c.qd, &c.t};
    for (int i = 0; i < 3; i++) {
        all[i]->f = mat3_mul(&at->R, all[i]->f);
        all[i]->n = cross_add(mat3_mul(&at->R, all[i]->n), at->p, all[i]->f);
    }
    c.r = mat3_mul(&at->R, c.r);
    c.k = mat3_mul(&at->R, c.k);
    return c;
}

LANE_INLINE void hop_form(const dyn_body *b, joint_at at, change *c, bool held, dyn_joint_kind joint, dyn_turn turn)
{
    if (dyn_joint_turns_freely(joint)) {
        *c = hop_freely(joint_posed(at), *c);
        return;
    }
    wrench_to_parent_form(b, at, &c->q, joint, turn);
    wrench_to_parent_form(b, at, &c->qd, joint, turn);
    wrench_to_parent_form(b, at, &c->t, joint, turn);
    c->r = to_parent(b, at, c->r, joint, turn);
    if (held) c->k = to_parent(b, at, c->k, joint, turn);
}

/* Of  R = k (q - theta - rest) + d (qd - theta_d)  in q's row, -R in theta's. */
static void coupling_terms(const dyn_scene *scene, const results *out)
{
    const size_t nv = (size_t)scene->model->nv;
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < scene->model->n_couplings; i++) {
        const dyn_coupling *c     = &scene->model->coupling[i];
        const size_t        at[2] = {(size_t)c->v, (size_t)c->v_theta};
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                double sign = a == b ? 1 : -1;
                out->dq[at[a] * nv + at[b]] += sign * c->spring.stiffness;
                out->dqd[at[a] * nv + at[b]] += sign * c->spring.damping;
            }
    }
}

/* Joints' own forces, on the diagonal. */
static void passive_terms(const dyn_scene *scene, const lane *qd, const results *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->bare) continue;
        size_t e      = (size_t)b->v * (size_t)m->nv + (size_t)b->v;
        double square = b->ratio * b->ratio;
        if (b->rotor_inertia != 0) out->dqdd[e] += square * b->rotor_inertia;
        if (b->rough && (scene->terms & DYN_FRICTION))
            out->dqd[e] += square * joint_friction_slope(b, joint_rate(b, qd));
        if (b->sprung && (scene->terms & DYN_SPRINGS)) {
            out->dq[e] += square * b->spring.stiffness;
            out->dqd[e] += square * b->spring.damping;
        }
    }
}

/* Gravity enters as a = -g of everything: d tau_a / dg = -(linear part of I S_a). */
static void put_gravity(const attitude *att, const wrench *t, lane *row)
{
    for (int k = 0; k < 3; k++)
        row[k] -= dot(att->row[k], t->f);
}

/* --- joint wrenches --------------------------------------------------------------------------------------------- */

/* A change of the force on body i's subtree, as the joint wrench shows it. */
static void wrench_entry(const dyn_model *m, size_t i, joint_at at, wrench F, lane *out, size_t v)
{
    const dyn_body *b  = &m->body[i];
    size_t          nv = (size_t)m->nv, first = 6 * (size_t)b->row;
    lane            x[6];
    F = wrench_at_joint(b, at, F);
    store3(x, F.f);
    store3(x + 3, F.n);
    for (size_t r = 0; r < 6; r++)
        out[(first + r) * nv + v] += x[r];
}

static void wrench_entries(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t v,
                           const change *c)
{
    if (m->body[i].row < 0) return;
    if (out->dwrench_q) wrench_entry(m, i, ws->at[i], c->q, out->dwrench_q, v);
    if (out->dwrench_qd) wrench_entry(m, i, ws->at[i], c->qd, out->dwrench_qd, v);
    if (out->dwrench_qdd) wrench_entry(m, i, ws->at[i], c->t, out->dwrench_qdd, v);
}

/* Body i's wrench changes with every dof between it and the base, its own included, as seen from i; with those beyond
 * it as the whole does, which `pairs` shows on their way. */
static void wrench_of_ancestors(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                                const held_wrenches *held)
{
    const dyn_body      *b    = &m->body[i];
    const spatial_state *B    = &ws->body[i];
    sight                seen = sight_own();
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].parent) {
        for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
            dof    d = dof_seen(&seen, dof_of(&m->body[p], &ws->body[p], k));
            change c = change_of(b->subtree_mass, B, held, &d);
            c.q      = wrench_sub(c.q, twist_cross_wrench(d.S, B->f));
            if (p == (int)i && b->near_end && b->joint == DYN_PRISMATIC) { /* s z x f moves with s */
                vec3 f = times(b->ratio, B->f.f);
                c.q.n  = add(c.q.n, (vec3){-f.y, f.x, lane_of(0)});
            }
            wrench_entries(m, ws, out, i, coordinate(m, (size_t)p, k), &c);
        }
        sight_from_parent(&m->body[p], ws->at[p], &seen);
    }
}

/* --- external wrenches ------------------------------------------------------------------------------------------ */

/* tau_a falls by the power of a unit wrench: -(S at the point) in the wrench's axes. */
static void by_wrench(const dyn_scene *scene, const workspace *ws, const lane *values, lane *out)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    clear(out, scene->n_wrenches * nv * 6);
    for (size_t n = 0; n < scene->n_wrenches; n++, out += nv * 6, values += 9) {
        const dyn_wrench_site *site = &scene->wrench[n];
        const attitude        *att  = &ws->ext.attitude[site->body == DYN_WORLD ? 0 : site->body];
        vec3                   x    = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(values + 6)));
        sight                  seen = sight_own();
        for (int p = site->body; p != DYN_WORLD; p = m->body[p].parent) {
            for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
                twist S     = twist_seen(&seen, dof_of(&m->body[p], &ws->body[p], k).S);
                lane *entry = out + coordinate(m, (size_t)p, k) * 6;
                for (int row = 0; row < 2; row++) {
                    vec3 u = row ? S.w : cross_add(S.v, S.w, x);
                    u      = site->world_axes ? (vec3){dot(att->row[0], u), dot(att->row[1], u), dot(att->row[2], u)}
                                              : unrotate_const(site->X_bl.R, u);
                    store3(entry + 3 * row, sub(load3(entry + 3 * row), u));
                }
            }
            sight_from_parent(&m->body[p], ws->at[p], &seen);
        }
    }
}

/* --- the kernel ---------------------------------------------------------------------------------------------- */

/* From a dof's own body to the base: entries with every dof on the way. The change stays in registers; what is rarely
 * asked for gets a copy. */
LANE_INLINE void to_base(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t va, change c,
                         bool held, bool joint_wrenches)
{
    const size_t nv      = (size_t)m->nv;
    const bool   coupled = m->coupled;
    for (const dyn_body *b = &m->body[i]; b->parent != DYN_WORLD;) {
        BODY_FORMS(b, hop_form, b, ws->at[i], &c, held)
        i = (size_t)b->parent;
        b = &m->body[i];
        if (joint_wrenches) {
            const change here = c;
            wrench_entries(m, ws, out, i, va, &here);
        }
        if (dyn_joint_turns_freely(b->joint)) {
            const change here = c;
            put_free_row(m, out, va, b, &ws->body[i], &here);
            put_free_column(m, out, va, b, &here);
            continue;
        }
        const size_t row = va * nv + (size_t)b->v, column = (size_t)b->v * nv + va;
        lane         q, qd, t;
        along(b, &c, &q, &qd, &t);
        put_joint_row(out, row, coupled, b, &ws->body[i], &c, held);
        put_at(out->dq + column, q, coupled);
        put_at(out->dqd + column, qd, coupled);
        put_at(out->dqdd + row, t, coupled);
        put_at(out->dqdd + column, t, coupled);
    }
}

/* Of a joint of one coordinate that is no plain turn. Apart: else what both ways read would be loaded before they part.
 */
LANE_APART change change_along(const dyn_body *b, const spatial_state *B, const held_wrenches *held)
{
    const dof d = dof_of(b, B, 0);
    return change_of(b->subtree_mass, B, held, &d);
}

static void joint_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i, const held_wrenches *held,
                      bool joint_wrenches)
{
    const dyn_body *b = &m->body[i];
    size_t          v = (size_t)b->v;
    change          c;
    if (b->joint == DYN_REVOLUTE && !b->geared)
        c = change_about_z(b->subtree_mass, &ws->body[i], held);
    else
        c = change_along(b, &ws->body[i], held);
    lane         q, qd, t;
    const size_t own = v * (size_t)m->nv + v;
    along(b, &c, &q, &qd, &t);
    put_joint_row(out, own, m->coupled, b, &ws->body[i], &c, held);
    put_at(out->dqdd + own, t, m->coupled);
    if (out->dgravity) put_gravity(&ws->ext.attitude[i], &c.t, out->dgravity + 3 * v);
    to_base(m, ws, out, i, v, c, held, joint_wrenches);
}

static void free_dofs(const dyn_model *m, const workspace *ws, const results *out, size_t i, const held_wrenches *held,
                      bool joint_wrenches)
{
    const dyn_body *b = &m->body[i];
    for (size_t k = 0; k < dofs_of(b); k++) {
        dof    d = dof_of(b, &ws->body[i], k);
        change c = change_of(b->subtree_mass, &ws->body[i], held, &d);
        size_t v = coordinate(m, i, k);
        lane   t[6];
        spread(c.t, t);
        put_free_row(m, out, v, b, &ws->body[i], &c);
        for (int n = joint_first_axis(b), j = b->v; n < 6; n++, j++)
            put(m, out->dqdd, v, (size_t)j, t[n]);
        if (out->dgravity) put_gravity(&ws->ext.attitude[i], &c.t, out->dgravity + 3 * v);
        to_base(m, ws, out, i, v, c, held, joint_wrenches);
    }
}

static void pairs(const dyn_scene *scene, const workspace *ws, const results *out, bool holds, bool joint_wrenches)
{
    const dyn_model *m = scene->model;
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body      *b    = &m->body[i];
        const held_wrenches *held = holds ? &ws->held[i] : NULL;
        if (dyn_joint_turns_freely(b->joint))
            free_dofs(m, ws, out, (size_t)i, held, joint_wrenches);
        else
            joint_dof(m, ws, out, (size_t)i, held, joint_wrenches);
        if (joint_wrenches && b->row >= 0) wrench_of_ancestors(m, ws, out, (size_t)i, held);
        if (b->parent == DYN_WORLD) continue;
        spatial_to_parent(b, ws->at[i], &ws->body[i], &ws->body[b->parent]);
        if (holds) held_to_parent(b, ws->at[i], held, &ws->held[b->parent]);
    }
}

/* Of the matrices by q, qd, qdd: with mimics pairs of joints add up in one entry, and elastic joints add to what is
 * between branches; else the latter's entries are zero always. */
static void clear_results(const dyn_model *m, const results *out, bool zeros_stand)
{
    size_t nv = (size_t)m->nv, nj = m->n_rows * 6 * nv;
    if (m->coupled || (m->branched && (m->n_couplings > 0 || !zeros_stand))) {
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
    arena            a              = {.base = memory};
    workspace        ws             = place(&a, m);
    bool             holds          = io->wrenches && scene_holds(scene);
    bool             joint_wrenches = io->djoint_wrenches_dq || io->djoint_wrenches_dqd || io->djoint_wrenches_dqdd;
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv),
                   *qdd    = block_in(io->qdd, block, nv);
        const lane *values = nw ? block_in(io->wrenches, block, 9 * nw) : NULL;
        results     out    = {block_out(io->dtau_dq, block, nv * nv),        block_out(io->dtau_dqd, block, nv * nv),
                              block_out(io->dtau_dqdd, block, nv * nv),      block_out(io->djoint_wrenches_dq, block, nj),
                              block_out(io->djoint_wrenches_dqd, block, nj), block_out(io->djoint_wrenches_dqdd, block, nj),
                              block_out(io->dtau_dgravity, block, nv * 3)};
        clear_results(m, &out, io->zeros_stand);
        joints_place(m, q, ws.at);
        spatial_states(scene, ws.at, qd, qdd, ws.body);
        if (values) {
            externals_gather(scene, ws.at, values, &ws.ext);
            spatial_loads(scene, &ws.ext, values, ws.body, holds ? ws.held : NULL);
            if (io->dtau_dwrench) by_wrench(scene, &ws, values, block_out(io->dtau_dwrench, block, nw * nv * 6));
        } else if (io->dtau_dgravity) {
            attitudes(m, ws.at, ws.ext.attitude);
        }
        pairs(scene, &ws, &out, holds, joint_wrenches);
        passive_terms(scene, qd, &out);
        coupling_terms(scene, &out);
    }
}
