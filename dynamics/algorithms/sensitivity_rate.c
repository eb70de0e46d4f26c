/* sensitivity_rate.c - computes time derivatives of dtau/dq, dtau/dqd and dtau/dqdd along a motion: the equations of
 * sensitivity.c, differentiated one by one: own derivation. The suffix _r means d/dt.
 *
 * (S_b . F)_r = Sr_b . F + S_b . F_r; spatial_rate.h has the rates of axes, inertias and forces. The components of
 * external wrenches, in the axes in which they are given, are constant in time. */
#include "kernels.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/spatial_rate.h"

/* The derivatives F_q, F_qd and F_qdd of the force on a composite with respect to one dof (degree of freedom), and the
 * rows r = 2 B^T S and k = K^T S (sensitivity.c). */
typedef struct world_force_partials {
    wrench q, qd, qdd;
    vec3   r, k;
} world_force_partials;

typedef struct workspace {
    joint_transform      *XJ;
    spatial_body         *body;
    body_rate            *body_rate;
    dof                  *dof, *dof_rate;
    world_fixed_wrenches *world_fixed;
} workspace;

typedef struct results {
    lane *dtau_dq, *dtau_dqd, *dtau_dqdd; /* nv x nv each: time derivatives of dtau/dq, dtau/dqd and dtau/dqdd */
} results;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ          = arena_take_joints(a, m),
                       .body        = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .body_rate   = arena_take(a, m->n_bodies, sizeof(body_rate)),
                       .dof         = arena_take(a, dof_count(m), sizeof(dof)),
                       .dof_rate    = arena_take(a, dof_count(m), sizeof(dof)),
                       .world_fixed = arena_take(a, m->n_bodies, sizeof(world_fixed_wrenches))};
}

size_t LANE_NAME(sensitivity_rate_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_size)(m, 3, a.used);
}

/* --- rates of dtau -------------------------------------------------------------------------------------------- */

LANE_INLINE world_force_partials world_force_partials_of(double mass, const spatial_body *B,
                                                         const world_fixed_wrenches *world_fixed, const dof *d)
{
    world_force_partials F = {.qdd = inertia_mul(mass, B->h, B->E, d->S),
                              .r   = twice_coriolis_mul_transposed(B->l, &B->C, d->S),
                              .k   = vec3_zero()};
    F.qd = wrench_add(twice_coriolis_mul(B->l, &B->C, d->S.w), inertia_mul(mass, B->h, B->E, d->psi_d_plus_S_d));
    F.q  = wrench_add(twice_coriolis_mul(B->l, &B->C, d->psi_d.w), inertia_mul(mass, B->h, B->E, d->psi_dd));
    F.q  = wrench_add(F.q, twist_cross_wrench(d->S, B->f));
    if (!world_fixed) return F;
    F.q = wrench_add(F.q, world_fixed_mul(world_fixed, d->S.w));
    F.k = world_fixed_mul_transposed(world_fixed, d->S);
    return F;
}

/* Time derivative of world_force_partials_of: first the terms with the rates d_r of the axes, then those with the rates
 * of inertia and force.
 *     F_qdd_r = I S_r + I_r S,
 *     F_qd_r  = 2 B S_r + I (psi' + S')_r + 2 B_r S + I_r (psi' + S'),
 *     F_q_r   = 2 B psi'_r + I psi''_r + S_r x* f + K S_r + 2 B_r psi' + I_r psi'' + S x* f_r + K_r S,
 *     r_r     = 2 B^T S_r + 2 B_r^T S,   k_r = K^T S_r + K_r^T S.
 * K is built from F, T, X (world_fixed.h). In K_r, F_r = T_r = 0, since they are constant in world axes; X_r is not. */
LANE_INLINE world_force_partials world_force_partials_rate(double mass, const spatial_body *B, const body_rate *B_r,
                                                           const world_fixed_wrenches *world_fixed, const dof *d,
                                                           const dof *d_r)
{
    world_force_partials F = world_force_partials_of(mass, B, world_fixed, d_r);
    F.qdd                  = wrench_add(F.qdd, inertia_rate_mul(B->l, &B->C, d->S));
    F.qd                   = wrench_add(F.qd, wrench_add(twice_coriolis_mul(B_r->l, &B_r->C, d->S.w),
                                                         inertia_rate_mul(B->l, &B->C, d->psi_d_plus_S_d)));
    F.q                    = wrench_add(
                           F.q, wrench_add(twice_coriolis_mul(B_r->l, &B_r->C, d->psi_d.w), inertia_rate_mul(B->l, &B->C, d->psi_dd)));
    F.q = wrench_add(F.q, twist_cross_wrench(d->S, B_r->f));
    F.r = add(F.r, twice_coriolis_mul_transposed(B_r->l, &B_r->C, d->S));
    if (!world_fixed) return F;
    const world_fixed_wrenches K_r = {.F = vec3_zero(), .T = vec3_zero(), .X = B_r->X};
    F.q                            = wrench_add(F.q, world_fixed_mul(&K_r, d->S.w));
    F.k                            = add(F.k, world_fixed_mul_transposed(&K_r, d->S));
    return F;
}

/* Adds the time derivatives of d tau_a / db for a dof a, whose partials F have the rates F_r, and a dof b of the same
 * body or of an ancestor, whose axes d have the rates d_r. With the rows t and r of a, the terms whose rates are added
 * are
 *     q:  psi''_b . t + psi'_b . r,    qd:  (psi'_b + S'_b) . t + S_b . r,    qdd:  S_b . t.
 * one_dof adds the rate of the term  S_b . k  for q. */
LANE_INLINE void put_row(const results *out, size_t entry, const world_force_partials *F,
                         const world_force_partials *F_r, const dof *d, const dof *d_r)
{
    out->dtau_dq[entry] +=
        power(d_r->psi_dd, F->qdd) + power(d->psi_dd, F_r->qdd) + (dot(F_r->r, d->psi_d.w) + dot(F->r, d_r->psi_d.w));
    out->dtau_dqd[entry] += power(d_r->psi_d_plus_S_d, F->qdd) + power(d->psi_d_plus_S_d, F_r->qdd) +
                            (dot(F_r->r, d->S.w) + dot(F->r, d_r->S.w));
    out->dtau_dqdd[entry] += power(d_r->S, F->qdd) + power(d->S, F_r->qdd);
}

/* Adds the time derivatives of d tau_b / da = S_b . F(a) for a dof a, whose partials F have the rates F_r, and a dof b
 * of an ancestor, whose axis d has the rate d_r. */
LANE_INLINE void put_column(const results *out, size_t entry, const world_force_partials *F,
                            const world_force_partials *F_r, const dof *d, const dof *d_r)
{
    out->dtau_dq[entry] += power(d_r->S, F->q) + power(d->S, F_r->q);
    out->dtau_dqd[entry] += power(d_r->S, F->qd) + power(d->S, F_r->qd);
    out->dtau_dqdd[entry] += power(d_r->S, F->qdd) + power(d->S, F_r->qdd);
}

/* Adds the time derivatives of the entries of dof k of body i with every dof of the body and its ancestors. */
static void one_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t k,
                    const world_fixed_wrenches *world_fixed)
{
    size_t                     nv = (size_t)m->nv, a = (size_t)m->body[i].joint.v + k, own = dof_first(m, i) + k;
    double                     mass = m->body[i].derived.subtree_mass;
    const world_force_partials F    = world_force_partials_of(mass, &ws->body[i], world_fixed, &ws->dof[own]);
    const world_force_partials F_r  = world_force_partials_rate(mass, &ws->body[i], &ws->body_rate[i], world_fixed,
                                                                &ws->dof[own], &ws->dof_rate[own]);
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent) {
        size_t from = dof_first(m, (size_t)p), np = dofs_of(&m->body[p]);
        for (size_t j = 0; j < np; j++) {
            const dof *d = &ws->dof[from + j], *d_r = &ws->dof_rate[from + j];
            size_t     b = (size_t)m->body[p].joint.v + j;
            put_row(out, a * nv + b, &F, &F_r, d, d_r);
            if (world_fixed) out->dtau_dq[a * nv + b] += dot(F_r.k, d->S.w) + dot(F.k, d_r->S.w);
            if (p != (int)i) put_column(out, b * nv + a, &F, &F_r, d, d_r);
        }
    }
}

static void pairs(const dyn_scene *scene, const workspace *ws, const results *out, bool any_world_fixed)
{
    const dyn_model *m = scene->model;
    for (int i = (int)m->n_bodies - 1; i >= 0 && goes_on(scene->deadline, (size_t)m->nv); i--) {
        const dyn_body             *b           = &m->body[i];
        const world_fixed_wrenches *world_fixed = any_world_fixed ? &ws->world_fixed[i] : NULL;
        for (size_t k = 0; k < dofs_of(b); k++)
            one_dof(m, ws, out, (size_t)i, k, world_fixed);
        if (b->tree.parent == DYN_WORLD) continue;
        spatial_gather(&ws->body[i], &ws->body[b->tree.parent]);
        spatial_gather_rates(&ws->body_rate[i], &ws->body_rate[b->tree.parent]);
        if (any_world_fixed) world_fixed_accumulate(world_fixed, &ws->world_fixed[b->tree.parent]);
    }
}

/* Adds the time derivatives of the stiffness and damping of springs that are not linear. */
static void spring_rate(const dyn_scene *scene, const dyn_body *b, const free_motion *x, const results *out)
{
    if (has_free_spring(b, scene->terms))
        free_add_stiffness_rate(b, (size_t)scene->model->nv, x->q, x->qd, out->dtau_dq);
    if (!b->joint.has_nonlinear_spring || !(scene->terms & DYN_SPRINGS)) return;
    const spring_slopes c      = joint_spring_curvatures(b, x->q, x->qd);
    const size_t        e      = (size_t)b->joint.v * (size_t)(scene->model->nv + 1);
    const double        square = b->joint.ratio * b->joint.ratio;
    out->dtau_dq[e] += square * c.by_s * joint_rate(b, x->qd);
    out->dtau_dqd[e] += square * c.by_sd * joint_rate(b, x->qdd);
}

/* Adds three time derivatives: of d friction / dqd (nonzero for smooth friction), of the derivative of J w x v
 * (free_joint_forces.h), and of the derivatives of springs. */
static void passive_rates(const dyn_scene *scene, const free_motion *x, const results *out)
{
    const lane      *qd = x->qd, *qdd = x->qdd;
    const dyn_model *m = scene->model;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (has_free_forces(b)) free_add_turning(b, (size_t)m->nv, qdd, out->dtau_dqd);
        spring_rate(scene, b, x, out);
        if (b->joint.has_friction && (scene->terms & DYN_FRICTION))
            out->dtau_dqd[(size_t)b->joint.v * (size_t)(m->nv + 1)] +=
                b->joint.ratio * b->joint.ratio * joint_friction_slope_rate(b, joint_rate(b, qd), joint_rate(b, qdd));
    }
    for (size_t k = 0; drive_has_friction(scene) && k < m->n_drives; k++) {
        const dyn_drive *d = &m->drive[k];
        drive_put_square(d, (size_t)m->nv, friction_slope_rate(&d->friction, drive_sum(d, qd), drive_sum(d, qdd)),
                         out->dtau_dqd);
    }
}

/* Computes all quantities of spatial_world.h. Not inlined: `pairs` needs all registers. */
LANE_NOINLINE void motions(const dyn_scene *scene, const workspace *ws, const lane *qd, const lane *qdd)
{
    const spatial_task all = {qd, qdd, .accelerations = true, .inertias = true, .forces = true};
    spatial_motions(scene, ws->XJ, all, ws->body, ws->dof);
}

void LANE_NAME(sensitivity_rate)(const dyn_scene *scene, void *memory, const dyn_sensitivity_rate *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_sensitivity_rate)(scene, memory, io, blocks);
        return;
    }
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    arena            a               = {.base = memory};
    const workspace  ws              = place(&a, m);
    const bool       any_world_fixed = scene_has_world_fixed(scene, block_in(io->wrenches, 0, 0));
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv),
                   *qdd = block_in(io->qdd, block, nv), *qddd = block_in(io->qddd, block, nv);
        const lane   *values = nw ? block_in(io->wrenches, block, 9 * nw) : NULL;
        const results out    = {block_out(io->dtau_dq_dot, block, nv * nv), block_out(io->dtau_dqd_dot, block, nv * nv),
                                block_out(io->dtau_dqdd_dot, block, nv * nv)};
        clear(out.dtau_dq, nv * nv);
        clear(out.dtau_dqd, nv * nv);
        clear(out.dtau_dqdd, nv * nv);
        set_joint_transforms(m, q, ws.XJ);
        motions(scene, &ws, qd, qdd);
        const spatial_rate_pass rate = {qd, qdd, qddd, ws.body, ws.dof, ws.body_rate, ws.dof_rate};
        spatial_rates(scene, &rate);
        if (scene_has_externals(scene, values)) {
            spatial_subtract_externals(scene, values, ws.body, ws.world_fixed);
            external_rates(scene, values, ws.body, ws.body_rate);
        }
        pairs(scene, &ws, &out, any_world_fixed);
        passive_rates(scene, &(free_motion){q, qd, qdd}, &out);
    }
}
