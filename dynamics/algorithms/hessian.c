/* hessian.c - computes second derivatives of tau, contracted with multipliers m of tau: those of s = m . tau with
 * respect to q, qd and qdd: own derivation.
 *
 * s is a virtual power (virtual_motion.h): s = sum of u . f. A change of q along a dof (degree of freedom) c moves all
 * bodies from c on with S_c; their v, their f and their u change in addition as if the base moved with psi'_c, phi_c,
 * as in sensitivity.c. With the composites of the body of a dof,
 *
 *     ds/dq_c = phi_c . f + psi''_c . P + psi'_c . R + S_c . kappa,
 *     ds/dqd_c = (psi'_c + S'_c) . P + S_c . R,    ds/dqdd_c = S_c . P,
 *
 * where kappa = K^T u belongs to external wrenches in world axes. Let b be a dof of the same body or of a descendant. A
 * change of dof b adds the same amounts to f, P, R and kappa of the composites of all ancestors:
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
 * d2s/dq_b dq_c as the derivative along c of ds/dq_b, and d2s/dqd_b dqd_c = S_c . R_qd + (S_b x S_c) . P.
 *
 * Without multipliers, s is the effort of one dof a after the other. F_q, F_qd and t do not depend on a. Body a and its
 * descendants have the virtual velocity u = S_a, so a composite has the sums p, D, R and Y of one body with its mass,
 * moments and velocities; the ancestors of a have the sums of the body of a. phi_c = S_a x S_c is zero but for the
 * descendants of a. So only triples a, b, c on one path to the base have nonzero derivatives. */
#include "kernels.h"
#include "dynamics/hessian.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/virtual_motion.h"
#include <string.h>

typedef struct workspace {
    joint_transform      *XJ;
    spatial_body         *body;
    virtual_body         *virtual_motion;
    dof                  *dof;
    twist                *phi;
    world_fixed_wrenches *world_fixed;
    /* only without multipliers: */
    lane          *unit;    /* [nv] multipliers that select one torque: 1 for this torque, 0 for the others */
    force_changes *changes; /* [n_dofs] changes F_q, F_qd and t of forces along each dof */
    bool          *below;   /* [n_bodies] true: body pass->top or a descendant of it */
} workspace;

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
    int top; /* body of the dof a: phi_c is nonzero for dofs c of its descendants; DYN_WORLD: with multipliers */
} hessian_pass;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ             = arena_take_joints(a, m),
                       .body           = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .virtual_motion = arena_take(a, m->n_bodies, sizeof(virtual_body)),
                       .dof            = arena_take(a, dof_count(m), sizeof(dof)),
                       .phi            = arena_take(a, dof_count(m), sizeof(twist)),
                       .world_fixed    = arena_take(a, m->n_bodies, sizeof(world_fixed_wrenches)),
                       .unit           = arena_take(a, (size_t)m->nv, sizeof(lane)),
                       .changes        = arena_take(a, dof_count(m), sizeof(force_changes)),
                       .below          = arena_take(a, m->n_bodies, sizeof(bool))};
}

/* Inputs of one block of states; NULL means zeros. */
typedef struct block_state {
    const lane *q, *qd, *qdd, *wrenches;
} block_state;

/* --- pairs of degrees of freedom -------------------------------------------------------------------------------- */

/* Changes of f, P, R and kappa of a composite along a dof b: F_q, P_q, ... of the first comment. */
typedef struct composite_changes {
    const force_changes *f;
    virtual_changes      v;
} composite_changes;

/* Returns d2s/dq_b dq_c (first comment); phi: phi_c, NULL: zero. */
LANE_INLINE lane by_positions(const composite_changes *b, const dof *c, const twist *phi)
{
    const lane by_P = power(c->psi_dd, b->v.P_q);
    return (phi ? power(*phi, b->f->F_q) + by_P : by_P) + (dot(c->psi_d.w, b->v.R_q) + dot(c->S.w, b->v.kappa_q));
}

/* Returns d2s/dq_c dqd_b (first comment). phi: phi_c; NULL: zero. */
LANE_INLINE lane by_velocities(const composite_changes *b, const dof *c, const twist *phi)
{
    return phi ? power(*phi, b->f->F_qd) + dot(c->psi_d.w, b->v.R_qd) : dot(c->psi_d.w, b->v.R_qd);
}

/* Adds x to an entry. Without mimics the entry was zero and is not loaded: a load from an address a multiple of 4 KiB
 * behind an earlier store would wait for this store. */
LANE_INLINE void add_second_derivative(const hessian_pass *p, lane *entry, lane x)
{
    *entry = (p->m->has_mimics ? *entry : lane_of(0)) + x;
}

/* The velocity coordinates of two dofs b and c. */
typedef struct coordinate_pair {
    size_t b, c;
} coordinate_pair;

/* Adds second derivatives of s by a dof b and a dof c of an ancestor of its body. phi: phi_c; NULL: zero. */
LANE_INLINE void put_ancestor(const hessian_pass *p, const composite_changes *b, coordinate_pair v, const dof *c,
                              const twist *phi)
{
    const size_t   nv = (size_t)p->m->nv, down = v.b * nv + v.c, up = v.c * nv + v.b;
    const results *out = p->out;
    if (out->q_q) {
        const lane x = by_positions(b, c, phi);
        add_second_derivative(p, out->q_q + down, x);
        add_second_derivative(p, out->q_q + up, x);
    }
    if (out->q_qd) {
        add_second_derivative(p, out->q_qd + down, power(c->psi_d_plus_S_d, b->v.P_q) + dot(c->S.w, b->v.R_q));
        add_second_derivative(p, out->q_qd + up, by_velocities(b, c, phi));
    }
    if (out->q_qdd) {
        add_second_derivative(p, out->q_qdd + down, power(c->S, b->v.P_q));
        if (phi) add_second_derivative(p, out->q_qdd + up, power(*phi, b->f->t));
    }
    if (out->qd_qd) {
        const lane x = dot(c->S.w, b->v.R_qd);
        add_second_derivative(p, out->qd_qd + down, x);
        add_second_derivative(p, out->qd_qd + up, x);
    }
}

/* Adds second derivatives of s by two dofs b and c of one joint; b may be c. P: virtual momentum of the subtree. */
LANE_INLINE void put_own(const hessian_pass *p, const composite_changes *b, coordinate_pair v, const dof *pair[2],
                         const twist *phi, wrench P)
{
    const size_t   nv = (size_t)p->m->nv, down = v.b * nv + v.c, up = v.c * nv + v.b;
    const dof     *c   = pair[1];
    const results *out = p->out;
    if (out->q_q) add_second_derivative(p, out->q_q + down, by_positions(b, c, phi));
    if (out->q_qd) {
        add_second_derivative(p, out->q_qd + up, by_velocities(b, c, phi));
    }
    if (out->q_qdd) add_second_derivative(p, out->q_qdd + up, phi ? power(*phi, b->f->t) : lane_of(0));
    if (!out->qd_qd) return;
    lane x = dot(c->S.w, b->v.R_qd);
    if (v.b != v.c) x += power(twist_cross(pair[0]->S, c->S), P);
    add_second_derivative(p, out->qd_qd + down, x);
}

/* Returns the sums of the external wrenches in world axes over body i and its descendants; NULL: none. */
LANE_INLINE const world_fixed_wrenches *world_fixed_of(const hessian_pass *p, size_t i)
{
    return p->world_fixed ? &p->ws->world_fixed[i] : NULL;
}

LANE_INLINE force_changes changes_of_force(const hessian_pass *p, size_t i, size_t k)
{
    return force_changes_of(p->m->body[i].derived.subtree_mass, &p->ws->body[i], world_fixed_of(p, i),
                            &p->ws->dof[dof_first(p->m, i) + k]);
}

/* Adds second derivatives of s by dof k_b of body i and all dofs up to the base. f: changes of forces along k_b. V:
 * sums over the subtree. moves: the body is a descendant of p->top, and phi of its dofs is not zero. */
LANE_INLINE void one_dof(const hessian_pass *p, size_t i, size_t k_b, const force_changes *f, const virtual_body *V,
                         bool moves)
{
    const dyn_body         *body  = p->m->body;
    const size_t            first = dof_first(p->m, i), v_b = (size_t)body[i].joint.v + k_b;
    const dof              *dofs = p->ws->dof, *joint = &dofs[first];
    const twist            *phi = p->ws->phi;
    const composite_changes b   = {f,
                                   virtual_changes_of(body[i].derived.subtree_mass, &p->ws->body[i], world_fixed_of(p, i),
                                                      V, &joint[k_b], moves ? &phi[first + k_b] : NULL)};
    int                     j   = body[i].tree.parent;
    for (size_t k = 0; k < dofs_of(&body[i]); k++)
        put_own(p, &b, (coordinate_pair){v_b, (size_t)body[i].joint.v + k}, (const dof *[2]){&joint[k_b], &joint[k]},
                moves ? &phi[first + k] : NULL, virtual_momentum(V));
    for (; moves && j != p->top; j = body[j].tree.parent)
        for (size_t k = 0, c = dof_first(p->m, (size_t)j); k < dofs_of(&body[j]); k++)
            put_ancestor(p, &b, (coordinate_pair){v_b, (size_t)body[j].joint.v + k}, &dofs[c + k], &phi[c + k]);
    for (; j != DYN_WORLD; j = body[j].tree.parent)
        for (size_t k = 0, c = dof_first(p->m, (size_t)j); k < dofs_of(&body[j]); k++)
            put_ancestor(p, &b, (coordinate_pair){v_b, (size_t)body[j].joint.v + k}, &dofs[c + k], NULL);
}

/* Three variants of one_dof, not inlined to save registers: compute the changes; read ws->changes; and phi is zero. */
LANE_NOINLINE void pairs_of_dof(const hessian_pass *p, size_t i, size_t k_b, const virtual_body *V)
{
    const force_changes f = changes_of_force(p, i, k_b);
    one_dof(p, i, k_b, &f, V, true);
}
LANE_NOINLINE void pairs_of_moved_dof(const hessian_pass *p, size_t i, size_t k_b, const virtual_body *V)
{
    one_dof(p, i, k_b, &p->ws->changes[dof_first(p->m, i) + k_b], V, true);
}
LANE_NOINLINE void pairs_of_resting_dof(const hessian_pass *p, size_t i, size_t k_b, const virtual_body *V)
{
    one_dof(p, i, k_b, &p->ws->changes[dof_first(p->m, i) + k_b], V, false);
}

/* Computes the composites, tips to base, and adds the derivatives of all pairs of dofs. */
static void pairs(const hessian_pass *p)
{
    const workspace *ws = p->ws;
    for (size_t i = p->m->n_bodies; i-- > 0 && goes_on(p->deadline, (size_t)p->m->nv);) {
        const int parent = p->m->body[i].tree.parent;
        for (size_t k = 0; k < dofs_of(&p->m->body[i]); k++)
            pairs_of_dof(p, i, k, &ws->virtual_motion[i]);
        if (parent == DYN_WORLD) continue;
        spatial_gather(&ws->body[i], &ws->body[parent]);
        virtual_gather(&ws->virtual_motion[i], &ws->virtual_motion[parent], p->world_fixed);
        if (p->world_fixed) world_fixed_accumulate(&ws->world_fixed[i], &ws->world_fixed[parent]);
    }
}

/* --- one torque ------------------------------------------------------------------------------------------------- */

/* Computes the composites of all bodies, tips to base, and the changes of their forces along each dof. */
static void composites(const hessian_pass *p)
{
    const workspace *ws = p->ws;
    for (size_t i = p->m->n_bodies; i-- > 0 && goes_on(p->deadline, (size_t)p->m->nv);) {
        const int parent = p->m->body[i].tree.parent;
        for (size_t k = 0, d = dof_first(p->m, i); k < dofs_of(&p->m->body[i]); k++)
            ws->changes[d + k] = changes_of_force(p, i, k);
        if (parent == DYN_WORLD) continue;
        spatial_gather(&ws->body[i], &ws->body[parent]);
        if (p->world_fixed) world_fixed_accumulate(&ws->world_fixed[i], &ws->world_fixed[parent]);
    }
}

/* Adds the second derivatives of s by the dofs of body i and of its ancestors. moves: as of one_dof. */
static void pairs_of_body(const hessian_pass *p, size_t i, const virtual_body *V, bool moves)
{
    for (size_t k = 0; k < dofs_of(&p->m->body[i]); k++)
        if (moves)
            pairs_of_moved_dof(p, i, k, V);
        else
            pairs_of_resting_dof(p, i, k, V);
}

/* Adds the second derivatives of the effort of a dof of body p->top, with axis S. */
static void pairs_of_effort(const hessian_pass *p, twist S)
{
    const workspace *ws  = p->ws;
    const dyn_body  *all = p->m->body;
    const size_t     top = (size_t)p->top;
    virtual_body     V   = {.u = S};
    memset(ws->below, 0, p->m->n_bodies * sizeof *ws->below);
    for (size_t i = top; i < p->m->n_bodies; i++) {
        const bool moves = all[i].tree.parent != DYN_WORLD && ws->below[all[i].tree.parent];
        if (!moves && i != top) continue;
        ws->below[i] = true;
        for (size_t k = 0, d = dof_first(p->m, i); k < dofs_of(&all[i]); k++)
            ws->phi[d + k] = twist_cross(S, ws->dof[d + k].S);
        virtual_sums(all[i].derived.subtree_mass, &ws->body[i], world_fixed_of(p, i), &V);
        pairs_of_body(p, i, &V, moves);
    }
    virtual_sums(all[top].derived.subtree_mass, &ws->body[top], world_fixed_of(p, top), &V);
    for (int j = all[top].tree.parent; j != DYN_WORLD; j = all[j].tree.parent)
        pairs_of_body(p, (size_t)j, &V, false);
}

/* Adds second derivatives of smoothed and Stribeck friction with respect to qd, times multipliers. */
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

/* Computes motions and forces of single bodies from joint transforms. Not inlined: `pairs` needs all registers. */
LANE_NOINLINE void motions(const dyn_scene *scene, const workspace *ws, const block_state *x)
{
    const spatial_task all = {x->qd, x->qdd, .accelerations = true, .inertias = true, .forces = true};
    spatial_motions(scene, ws->XJ, all, ws->body, ws->dof);
    if (scene_has_externals(scene, x->wrenches))
        spatial_subtract_externals(scene, x->wrenches, ws->body, ws->world_fixed);
}

/* Sets all results to zero. This is left out if the results hold another state (zeros_are_set) and every other entry is
 * written anew. Mimics sum entries, and elastic joints and the motors of coupled transmissions write entries between
 * branches, so that results of such models are always cleared. qd_qdd is zero here. */
static void clear_hessians(const hessian_pass *p, size_t n, bool zeros_are_set)
{
    const results *out = p->out;
    clear(out->qd_qdd, n);
    if (zeros_are_set && !p->m->has_mimics && !p->m->dense && p->m->n_couplings == 0) return;
    clear(out->q_q, n);
    clear(out->q_qd, n);
    clear(out->q_qdd, n);
    clear(out->qd_qd, n);
}

/* Computes the second derivatives of the sum of multipliers[v] tau[v]. */
static void contract(const dyn_scene *scene, hessian_pass *pass, const block_state *x, const lane *multipliers)
{
    const workspace *ws = pass->ws;
    motions(scene, ws, x);
    virtual_motions(scene->model, multipliers, ws->body, ws->dof, ws->virtual_motion, ws->phi);
    if (pass->world_fixed) virtual_externals(scene, x->wrenches, ws->body, ws->virtual_motion);
    pairs(pass);
    passive_terms(scene, x->qd, multipliers, pass->out->qd_qd);
    springs_add_curvatures(scene, x->q, x->qd, multipliers, pass->out->q_q, pass->out->qd_qd);
    free_add_curvatures(scene, x->q, multipliers, pass->out->q_q, pass->out->qd_qd);
}

/* Returns the results with each pointer moved on by `offset` entries. */
static results results_from(const results *r, size_t offset)
{
    return (results){r->q_q ? r->q_q + offset : NULL, r->q_qd ? r->q_qd + offset : NULL,
                     r->q_qdd ? r->q_qdd + offset : NULL, r->qd_qd ? r->qd_qd + offset : NULL, NULL};
}

/* Adds, for each dof, the second derivatives of its effort to the matrices of its coordinate. pass->out points to the
 * matrices of coordinate 0. */
static void put_tensors(const dyn_scene *scene, hessian_pass *pass, const block_state *x)
{
    const dyn_model *m     = scene->model;
    const results   *first = pass->out;
    const size_t     nv = (size_t)m->nv, n = nv * nv;
    results          out;
    motions(scene, pass->ws, x);
    composites(pass);
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t k = 0; k < dofs_of(&m->body[i]) && goes_on(scene->deadline, nv); k++) {
            out       = results_from(first, ((size_t)m->body[i].joint.v + k) * n);
            pass->out = &out;
            pass->top = (int)i;
            pairs_of_effort(pass, pass->ws->dof[dof_first(m, i) + k].S);
        }
    for (size_t v = 0; v < nv; v++) {
        out = results_from(first, v * n);
        clear(pass->ws->unit, nv);
        pass->ws->unit[v] = lane_of(1);
        passive_terms(scene, x->qd, pass->ws->unit, out.qd_qd);
        springs_add_curvatures(scene, x->q, x->qd, pass->ws->unit, out.q_q, out.qd_qd);
        free_add_curvatures(scene, x->q, pass->ws->unit, out.q_q, out.qd_qd);
    }
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
    const size_t     entries = io->multipliers ? nv * nv : nv * nv * nv;
    arena            a       = {.base = memory};
    const workspace  ws      = place(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        const block_state x    = {block_in(io->q, block, nq), block_in(io->qd, block, nv), block_in(io->qdd, block, nv),
                               nw ? block_in(io->wrenches, block, 9 * nw) : NULL};
        const results     out  = results_of(io, block, entries);
        hessian_pass      pass = {scene->deadline, m, &ws, &out, scene_has_world_fixed(scene, x.wrenches), DYN_WORLD};
        clear_hessians(&pass, entries, io->zeros_are_set);
        set_joint_transforms(m, x.q, ws.XJ);
        if (io->multipliers)
            contract(scene, &pass, &x, block_in(io->multipliers, block, nv));
        else
            put_tensors(scene, &pass, &x);
    }
}
