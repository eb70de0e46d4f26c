/* hessian.c - computes second derivatives of tau, contracted with multipliers m of tau: those of s = m . tau with
 * respect to q, qd and qdd: own derivation.
 *
 * s is a virtual power (virtual_motion.h): s = sum of u . f. A change of q by a dof (degree of freedom) c moves all
 * bodies from c on with S_c; their v, their f and their u change in addition as if the base moved with psi'_c, phi_c,
 * as in sensitivity.c. With the composites of the body of a dof,
 *
 *     ds/dq_c = phi_c . f + psi''_c . P + psi'_c . R + S_c . kappa,
 *     ds/dqd_c = (psi'_c + S'_c) . P + S_c . R,    ds/dqdd_c = S_c . P,
 *
 * where kappa = K^T u belongs to external wrenches in world axes. Let b be a dof of the same body or of a descendant.
 * It changes f, P, R and kappa of the composites of all ancestors alike:
 *
 *     with q_b by    F_q = S x* f + I psi'' + 2B psi' + K S,   P_q = S x* P + I phi,
 *                    R_q = S x R + 2B^T phi - 2D^T psi',       kappa_q = K^T phi + tr(Y) w - Y^T w,
 *     with qd_b by   F_qd = I (psi' + S') + 2B S,              R_qd = -2D^T S,
 *     with qdd_b by  t = I S,
 *
 * all of b, where 2D^T has the form of 2B^T with p and D in place of l and C. So with b of a descendant of c,
 *
 *     d2s/dq_b dq_c   = phi_c . F_q + psi''_c . P_q + psi'_c . R_q + S_c . kappa_q,
 *     d2s/dq_b dqd_c  = (psi'_c + S'_c) . P_q + S_c . R_q,    d2s/dq_c dqd_b  = phi_c . F_qd + psi'_c . R_qd,
 *     d2s/dq_b dqdd_c = S_c . P_q,                            d2s/dq_c dqdd_b = phi_c . t,
 *     d2s/dqd_b dqd_c = S_c . R_qd,
 *
 * and zero if neither body is a descendant of the other. Within one joint the formulas on the right hold, that of
 * d2s/dq_b dq_c as the derivative along c of ds/dq_b, and d2s/dqd_b dqd_c = S_c . R_qd + (S_b x S_c) . P. */
#include "kernels.h"
#include "dynamics/hessian.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/virtual_motion.h"

typedef struct workspace {
    joint_transform      *XJ;
    spatial_body         *body;
    virtual_body         *virtual_motion;
    dof                  *dof;
    twist                *phi;
    world_fixed_wrenches *world_fixed;
    lane                 *unit; /* [nv] multipliers of one torque */
} workspace;

/* Smaller than the workspace of sensitivity_rate.c, which has the rates of bodies and dofs in place of virtual motions.
 */
static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ             = arena_take_joints(a, m),
                       .body           = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .virtual_motion = arena_take(a, m->n_bodies, sizeof(virtual_body)),
                       .dof            = arena_take(a, dof_count(m), sizeof(dof)),
                       .phi            = arena_take(a, dof_count(m), sizeof(twist)),
                       .world_fixed    = arena_take(a, m->n_bodies, sizeof(world_fixed_wrenches)),
                       .unit           = arena_take(a, (size_t)m->nv, sizeof(lane))};
}

/* State of one block. */
typedef struct block_state {
    const lane *q, *qd, *qdd, *wrenches;
} block_state;

/* Outputs for one block, nv x nv each; NULL: not requested. */
typedef struct results {
    lane *q_q, *q_qd, *q_qdd, *qd_qd, *qd_qdd;
} results;

typedef struct hessian_pass {
    dyn_deadline     deadline;
    const dyn_model *m;
    const workspace *ws;
    const results   *out;
    bool             world_fixed; /* some external wrenches are in world axes */
} hessian_pass;

/* --- pairs of degrees of freedom -------------------------------------------------------------------------------- */

/* Changes of the composites of a body and of its ancestors with a dof b: see the top of the file. */
typedef struct composite_changes {
    wrench F_q, F_qd, t, P_q;
    vec3   R_q, R_qd, kappa_q;
} composite_changes;

/* tr(A) w - A^T w */
LANE_INLINE vec3 trace_minus_transposed_mul(const mat3 *A, vec3 w)
{
    return mat3_sub_mul_transposed(scale(w, A->m[0][0] + A->m[1][1] + A->m[2][2]), A, w);
}

LANE_INLINE composite_changes changes_of(const hessian_pass *p, size_t i, size_t b)
{
    const double        mass = p->m->body[i].derived.subtree_mass;
    const spatial_body *B    = &p->ws->body[i];
    const virtual_body *V    = &p->ws->virtual_motion[i];
    const dof          *d    = &p->ws->dof[b];
    const twist         phi  = p->ws->phi[b];
    composite_changes   c    = {.t = inertia_mul(mass, B->h, B->E, d->S), .kappa_q = vec3_zero()};
    c.F_qd = wrench_add(twice_coriolis_mul(B->l, &B->C, d->S.w), inertia_mul(mass, B->h, B->E, d->psi_d_plus_S_d));
    c.F_q  = wrench_add(twice_coriolis_mul(B->l, &B->C, d->psi_d.w), inertia_mul(mass, B->h, B->E, d->psi_dd));
    c.F_q  = wrench_add(c.F_q, twist_cross_wrench(d->S, B->f));
    c.P_q  = wrench_add(twist_cross_wrench(d->S, virtual_momentum(V)), inertia_mul(mass, B->h, B->E, phi));
    c.R_q  = cross_add(twice_coriolis_mul_transposed(B->l, &B->C, phi), d->S.w, V->R);
    c.R_q  = sub(c.R_q, twice_coriolis_mul_transposed(V->p, &V->D, d->psi_d));
    c.R_qd = sub(vec3_zero(), twice_coriolis_mul_transposed(V->p, &V->D, d->S));
    if (!p->world_fixed) return c;
    c.F_q     = wrench_add(c.F_q, world_fixed_mul(&p->ws->world_fixed[i], d->S.w));
    c.kappa_q = add(world_fixed_mul_transposed(&p->ws->world_fixed[i], phi), trace_minus_transposed_mul(&V->Y, d->S.w));
    return c;
}

LANE_INLINE lane by_positions(const composite_changes *b, const dof *c, twist phi)
{
    return (power(phi, b->F_q) + power(c->psi_dd, b->P_q)) + (dot(c->psi_d.w, b->R_q) + dot(c->S.w, b->kappa_q));
}

/* Adds x to an entry, which is zero unless the model has mimics. To load an entry a multiple of 4 KiB after a store
 * would wait for this store. */
LANE_INLINE void add_second_derivative(const hessian_pass *p, lane *entry, lane x)
{
    *entry = (p->m->has_mimics ? *entry : lane_of(0)) + x;
}

/* Adds the derivatives with respect to a dof b and a dof of an ancestor of its body. v_b, v_c: their coordinates. */
LANE_INLINE void put_ancestor(const hessian_pass *p, const composite_changes *b, size_t v_b, size_t c, size_t v_c)
{
    const size_t   nv = (size_t)p->m->nv, down = v_b * nv + v_c, up = v_c * nv + v_b;
    const dof     *d   = &p->ws->dof[c];
    const twist    phi = p->ws->phi[c];
    const results *out = p->out;
    if (out->q_q) {
        const lane x = by_positions(b, d, phi);
        add_second_derivative(p, out->q_q + down, x);
        add_second_derivative(p, out->q_q + up, x);
    }
    if (out->q_qd) {
        add_second_derivative(p, out->q_qd + down, power(d->psi_d_plus_S_d, b->P_q) + dot(d->S.w, b->R_q));
        add_second_derivative(p, out->q_qd + up, power(phi, b->F_qd) + dot(d->psi_d.w, b->R_qd));
    }
    if (out->q_qdd) {
        add_second_derivative(p, out->q_qdd + down, power(d->S, b->P_q));
        add_second_derivative(p, out->q_qdd + up, power(phi, b->t));
    }
    if (out->qd_qd) {
        const lane x = dot(d->S.w, b->R_qd);
        add_second_derivative(p, out->qd_qd + down, x);
        add_second_derivative(p, out->qd_qd + up, x);
    }
}

/* Adds the derivatives with respect to two dofs b and c of the joint of body i, which may be the same. */
LANE_INLINE void put_own(const hessian_pass *p, size_t i, const composite_changes *b, size_t k_b, size_t k_c)
{
    const size_t   nv = (size_t)p->m->nv, first = (size_t)p->m->body[i].joint.v, v_b = first + k_b, v_c = first + k_c;
    const dof     *joint = &p->ws->dof[dof_first(p->m, i)], *d = &joint[k_c];
    const twist    phi = p->ws->phi[dof_first(p->m, i) + k_c];
    const results *out = p->out;
    if (out->q_q) out->q_q[v_b * nv + v_c] += by_positions(b, d, phi);
    if (out->q_qd) out->q_qd[v_c * nv + v_b] += power(phi, b->F_qd) + dot(d->psi_d.w, b->R_qd);
    if (out->q_qdd) out->q_qdd[v_c * nv + v_b] += power(phi, b->t);
    if (!out->qd_qd) return;
    out->qd_qd[v_b * nv + v_c] += dot(d->S.w, b->R_qd);
    if (k_b != k_c)
        out->qd_qd[v_b * nv + v_c] +=
            power(twist_cross(joint[k_b].S, d->S), virtual_momentum(&p->ws->virtual_motion[i]));
}

/* Adds the derivatives with respect to the dof k_b of body i and every dof of the body and its ancestors. */
static void one_dof(const hessian_pass *p, size_t i, size_t k_b)
{
    const dyn_body         *body = p->m->body;
    const composite_changes b    = changes_of(p, i, dof_first(p->m, i) + k_b);
    const size_t            v_b  = (size_t)body[i].joint.v + k_b;
    for (size_t k = 0; k < dofs_of(&body[i]); k++)
        put_own(p, i, &b, k_b, k);
    for (int j = body[i].tree.parent; j != DYN_WORLD; j = body[j].tree.parent)
        for (size_t k = 0; k < dofs_of(&body[j]); k++)
            put_ancestor(p, &b, v_b, dof_first(p->m, (size_t)j) + k, (size_t)body[j].joint.v + k);
}

/* Computes the composites, tips to base, and adds the derivatives of all pairs of dofs. */
static void pairs(const hessian_pass *p)
{
    const workspace *ws = p->ws;
    for (size_t i = p->m->n_bodies; i-- > 0 && goes_on(p->deadline, (size_t)p->m->nv);) {
        const int parent = p->m->body[i].tree.parent;
        for (size_t k = 0; k < dofs_of(&p->m->body[i]); k++)
            one_dof(p, i, k);
        if (parent == DYN_WORLD) continue;
        spatial_gather(&ws->body[i], &ws->body[parent]);
        virtual_gather(&ws->virtual_motion[i], &ws->virtual_motion[parent], p->world_fixed);
        if (p->world_fixed) world_fixed_accumulate(&ws->world_fixed[i], &ws->world_fixed[parent]);
    }
}

/* Adds the second derivatives of the rotors and springs of joints with a quaternion. */
static void free_curvatures(const dyn_scene *scene, const block_state *x, const lane *multipliers, const results *out)
{
    const dyn_model *m  = scene->model;
    const size_t     nv = (size_t)m->nv;
    for (size_t i = 0; m->n_quaternions > 0 && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (has_free_forces(b) && out->qd_qd) free_add_curvature(b, nv, multipliers, out->qd_qd);
        if (has_free_spring(b, scene->terms) && out->q_q) free_add_spring_curvature(b, nv, x->q, multipliers, out->q_q);
    }
}

/* Adds the second derivatives of springs and dampers of joints with one coordinate, which are polynomials. */
static void spring_curvatures(const dyn_scene *scene, const block_state *x, const lane *multipliers, const results *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = m->floating; (scene->terms & DYN_SPRINGS) && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!b->joint.has_polynomial_spring) continue;
        const spring_slopes c    = joint_spring_curvatures(b, x->q, x->qd);
        const size_t        e    = (size_t)b->joint.v * (size_t)(m->nv + 1);
        const double        cube = b->joint.ratio * b->joint.ratio * b->joint.ratio;
        if (out->q_q) out->q_q[e] += cube * multipliers[b->joint.v] * c.by_s;
        if (out->qd_qd) out->qd_qd[e] += cube * multipliers[b->joint.v] * c.by_sd;
    }
}

/* Adds the second derivatives of friction: smooth friction and Stribeck friction have them. */
static void passive_terms(const dyn_scene *scene, const lane *qd, const lane *multipliers, lane *qd_qd)
{
    const dyn_model *m = scene->model;
    for (size_t i = m->floating; qd_qd && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!b->joint.has_friction || !(scene->terms & DYN_FRICTION)) continue;
        const double cube = b->joint.ratio * b->joint.ratio * b->joint.ratio;
        qd_qd[(size_t)b->joint.v * (size_t)(m->nv + 1)] +=
            cube * multipliers[b->joint.v] * joint_friction_slope_rate(b, joint_rate(b, qd), lane_of(1));
    }
    if (qd_qd && drive_has_friction(scene)) drives_add_friction_curvature(m, qd, multipliers, qd_qd);
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

/* Computes all quantities of spatial_world.h. Not inlined: the pairs need the registers. */
LANE_NOINLINE void motions(const dyn_scene *scene, const workspace *ws, const lane *qd, const lane *qdd)
{
    const spatial_task all = {qd, qdd, .accelerations = true, .inertias = true, .forces = true};
    spatial_motions(scene, ws->XJ, all, ws->body, ws->dof);
}

/* Computes the derivatives that are contracted with `multipliers`. The joint transforms are set. */
static void contract(const dyn_scene *scene, const workspace *ws, block_state x, const lane *multipliers,
                     const results *out)
{
    const size_t       n    = (size_t)scene->model->nv * (size_t)scene->model->nv;
    const hessian_pass pass = {scene->deadline, scene->model, ws, out, scene_has_world_fixed(scene, x.wrenches)};
    clear(out->q_q, n);
    clear(out->q_qd, n);
    clear(out->q_qdd, n);
    clear(out->qd_qd, n);
    clear(out->qd_qdd, n);
    motions(scene, ws, x.qd, x.qdd);
    virtual_motions(scene->model, multipliers, ws->body, ws->dof, ws->virtual_motion, ws->phi);
    if (scene_has_externals(scene, x.wrenches))
        spatial_subtract_externals(scene, x.wrenches, ws->body, ws->world_fixed);
    if (pass.world_fixed) virtual_externals(scene, x.wrenches, ws->body, ws->virtual_motion);
    pairs(&pass);
    passive_terms(scene, x.qd, multipliers, out->qd_qd);
    spring_curvatures(scene, &x, multipliers, out);
    free_curvatures(scene, &x, multipliers, out);
}

static results results_of(const dyn_hessian *io, size_t index, size_t n)
{
    return (results){block_out(io->q_q, index, n), block_out(io->q_qd, index, n), block_out(io->q_qdd, index, n),
                     block_out(io->qd_qd, index, n), block_out(io->qd_qdd, index, n)};
}

size_t LANE_NAME(hessian_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_size)(m, 3, a.used);
}

void LANE_NAME(hessian)(const dyn_scene *scene, void *memory, const dyn_hessian *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_hessian)(scene, memory, io, blocks);
        return;
    }
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    arena            a  = {.base = memory};
    const workspace  ws = place(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        const block_state x = {block_in(io->q, block, nq), block_in(io->qd, block, nv), block_in(io->qdd, block, nv),
                               nw ? block_in(io->wrenches, block, 9 * nw) : NULL};
        const lane       *multipliers = block_in(io->multipliers, block, nv);
        set_joint_transforms(m, x.q, ws.XJ);
        for (size_t i = 0; i < nv && goes_on(scene->deadline, nv); i++) {
            const results out = multipliers ? results_of(io, block, nv * nv) : results_of(io, block * nv + i, nv * nv);
            clear(ws.unit, nv);
            ws.unit[i] = lane_of(1);
            contract(scene, &ws, x, multipliers ? multipliers : ws.unit, &out);
            if (multipliers) break;
        }
    }
}
