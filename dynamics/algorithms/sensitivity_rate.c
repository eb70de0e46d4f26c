/* sensitivity_rate.c - computes time derivatives of dtau/dq, dtau/dqd and dtau/dqdd along a motion: the equations of
 * sensitivity.c, differentiated one by one. The suffix _r means d/dt.
 *
 * All vectors are about a fixed point, in world axes. So a vector fixed to a body has the rate v x of it, and sums over
 * masses are differentiated mass by mass. With v_r = a - a_0, where a_0 = -g, and j = a_r:
 *
 *     S_r = v x S,   psi'_r = vr_p x S + v_p x S_r,   psi''_r = j_p x S + a_p x S_r + vr_p x psi' + v_p x psi'_r
 *     h_r = l,   E_r = C + C^T,   k = I v,   k_r = I_r v + I v_r   (I_r: of mass 0, h_r, E_r),   l_r: its force part
 *     C_r = v_r h^T + v l^T + [wd] E + [w] E_r,      f_r = I_r a + I j + v_r x* k + v x* k_r - external_r
 *
 * and (S_b . F)_r = Sr_b . F + S_b . F_r. The components of wrenches, in the axes in which they are given, are
 * constant. */
#include "kernels.h"
#include "dynamics/joint/joint_forces.h"
#include "dynamics/recursion/spatial_world.h"

typedef struct body_rate {
    twist  j; /* rate of the acceleration a */
    vec3   l; /* rates of l, C, X and f: of the body, and after gather_rates of the body with its descendants */
    mat3   C, X;
    wrench f;
} body_rate;

/* The derivatives of the force on a composite with respect to one dof (degree of freedom), F_q, F_qd and F_qdd, and the
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
    lane *dq, *dqd, *dqdd; /* nv x nv */
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
    return a.used;
}

LANE_INLINE mat3 mat3_add(const mat3 *a, const mat3 *b)
{
    mat3 sum;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum.m[i][j] = a->m[i][j] + b->m[i][j];
    return sum;
}

/* --- rates of motions, base to leaves ------------------------------------------------------------------------- */

/* Sets r to the rates of S, psi', psi'' and D = psi' + S'. The rate of S is S'. */
LANE_INLINE void axis_rates(const spatial_body *P, twist Pv_r, twist Pj, const spatial_body *B, twist v_r, const dof *d,
                            dof *r)
{
    r->S = twist_sub(d->D, d->P);
    r->P = twist_add(twist_cross(Pv_r, d->S), twist_cross(P->v, r->S));
    r->Q = twist_add(twist_add(twist_cross(Pj, d->S), twist_cross(P->a, r->S)),
                     twist_add(twist_cross(Pv_r, d->P), twist_cross(P->v, r->P)));
    r->D = twist_add(r->P, twist_add(twist_cross(v_r, d->S), twist_cross(B->v, r->S)));
}

/* Adds d/dt of S qdd + psi' qd, summed over the joint's axes, to j: the rate of the acceleration, of the parent before
 * and of the body after. */
static inline void acceleration_rate(const dyn_body *b, const dof *d, const dof *r, const lane *qd, const lane *qdd,
                                     const lane *qddd, twist *j)
{
    for (int k = 0; k < dyn_joint_nv(b->joint.kind); k++) {
        if (qddd) *j = twist_add_scaled(*j, d[k].S, qddd[b->joint.v + k]);
        if (qdd) *j = twist_add_scaled(*j, twist_add(r[k].S, d[k].P), qdd[b->joint.v + k]);
        if (qd) *j = twist_add_scaled(*j, r[k].P, qd[b->joint.v + k]);
    }
}

/* C + C^T, which is the rate of E */
LANE_INLINE sym3 twice_symmetric(const mat3 *C)
{
    return (sym3){.xx = C->m[0][0] + C->m[0][0],
                  .xy = C->m[0][1] + C->m[1][0],
                  .xz = C->m[0][2] + C->m[2][0],
                  .yy = C->m[1][1] + C->m[1][1],
                  .yz = C->m[1][2] + C->m[2][1],
                  .zz = C->m[2][2] + C->m[2][2]};
}

/* Product of the rate of a composite's inertia, which has mass 0 and moments l and C + C^T, with the motion u. */
LANE_INLINE wrench inertia_rate_mul(vec3 l, const mat3 *C, twist u)
{
    return inertia_mul(0, l, twice_symmetric(C), u);
}

LANE_INLINE void inertia_rates(double mass, const spatial_body *B, twist v_r, body_rate *r)
{
    wrench k   = inertia_mul(mass, B->h, B->E, B->v);
    wrench k_r = wrench_add(inertia_rate_mul(B->l, &B->C, B->v), inertia_mul(mass, B->h, B->E, v_r));
    mat3   C_a = velocity_moment(v_r, B->h, B->E), C_v = velocity_moment(B->v, B->l, twice_symmetric(&B->C));
    r->X = (mat3){0};
    r->l = k_r.f;
    r->C = mat3_add(&C_a, &C_v);
    r->f = wrench_add(inertia_rate_mul(B->l, &B->C, B->a), inertia_mul(mass, B->h, B->E, r->j));
    r->f = wrench_add(r->f, wrench_add(twist_cross_wrench(v_r, k), twist_cross_wrench(B->v, k_r)));
}

static void motion_rates(const dyn_scene *scene, const workspace *ws, const lane *qd, const lane *qdd, const lane *qddd)
{
    const dyn_model   *m     = scene->model;
    const spatial_body world = spatial_world(scene->gravity);
    const twist        still = {vec3_zero(), vec3_zero()};
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b    = &m->body[i];
        const spatial_body *P    = b->tree.parent == DYN_WORLD ? &world : &ws->body[b->tree.parent];
        const twist         Pj   = b->tree.parent == DYN_WORLD ? still : ws->body_rate[b->tree.parent].j;
        const twist         Pv_r = twist_sub(P->a, world.a), v_r = twist_sub(ws->body[i].a, world.a);
        const size_t        first = dof_first(m, i);
        const dof          *d     = &ws->dof[first];
        dof                *r     = &ws->dof_rate[first];
        for (size_t k = 0; k < dofs_of(b); k++)
            axis_rates(P, Pv_r, Pj, &ws->body[i], v_r, &d[k], &r[k]);
        ws->body_rate[i].j = Pj;
        acceleration_rate(b, d, r, qd, qdd, qddd, &ws->body_rate[i].j);
        inertia_rates(b->moments.mass, &ws->body[i], v_r, &ws->body_rate[i]);
    }
}

/* Rates of the external wrenches. The point moves with the link. A wrench in link axes rotates with the link; one in
 * world axes has constant components. */
static void external_rates(const dyn_scene *scene, const lane *values, const workspace *ws)
{
    for (size_t n = 0; n < scene->n_wrenches; n++, values += 9) {
        const dyn_wrench_site *site = &scene->wrench[n];
        if (site->body == DYN_WORLD) continue;
        const spatial_body *B = &ws->body[site->body];
        body_rate          *r = &ws->body_rate[site->body];
        vec3 F = external_in_site_axes(site, load3(values)), T = external_in_site_axes(site, load3(values + 3));
        vec3 x = wrench_point(site, B, values);
        if (!site->world_axes) {
            F    = mat3_mul(&B->R, rotate_const(site->X_bl.R, F));
            T    = mat3_mul(&B->R, rotate_const(site->X_bl.R, T));
            r->f = wrench_sub(r->f, twist_cross_wrench(B->v, (wrench){F, cross_add(T, x, F)}));
            continue;
        }
        vec3       x_r  = cross_add(B->v.v, B->v.w, x);
        const lane f[3] = {F.x, F.y, F.z};
        r->f.n          = sub(r->f.n, cross(x_r, F));
        for (int i = 0; i < 3; i++) {
            r->X.m[i][0] += f[i] * x_r.x;
            r->X.m[i][1] += f[i] * x_r.y;
            r->X.m[i][2] += f[i] * x_r.z;
        }
    }
}

/* --- rates of dtau -------------------------------------------------------------------------------------------- */

LANE_INLINE world_force_partials world_force_partials_of(double mass, const spatial_body *B,
                                                         const world_fixed_wrenches *world_fixed, const dof *d)
{
    world_force_partials F = {
        .qdd = inertia_mul(mass, B->h, B->E, d->S), .r = coriolis_mul_transposed(B->l, &B->C, d->S), .k = vec3_zero()};
    F.qd = wrench_add(coriolis_mul(B->l, &B->C, d->S.w), inertia_mul(mass, B->h, B->E, d->D));
    F.q  = wrench_add(coriolis_mul(B->l, &B->C, d->P.w), inertia_mul(mass, B->h, B->E, d->Q));
    F.q  = wrench_add(F.q, twist_cross_wrench(d->S, B->f));
    if (!world_fixed) return F;
    F.q = wrench_add(F.q, world_fixed_mul(world_fixed, d->S.w));
    F.k = world_fixed_mul_transposed(world_fixed, d->S);
    return F;
}

/* Time derivative of world_force_partials_of: first with the rates of the axes, then with those of inertia and force.
 */
LANE_INLINE world_force_partials world_force_partials_rate(double mass, const spatial_body *B, const body_rate *R,
                                                           const world_fixed_wrenches *world_fixed, const dof *d,
                                                           const dof *r)
{
    world_force_partials F = world_force_partials_of(mass, B, world_fixed, r);
    F.qdd                  = wrench_add(F.qdd, inertia_rate_mul(B->l, &B->C, d->S));
    F.qd = wrench_add(F.qd, wrench_add(coriolis_mul(R->l, &R->C, d->S.w), inertia_rate_mul(B->l, &B->C, d->D)));
    F.q  = wrench_add(F.q, wrench_add(coriolis_mul(R->l, &R->C, d->P.w), inertia_rate_mul(B->l, &B->C, d->Q)));
    F.q  = wrench_add(F.q, twist_cross_wrench(d->S, R->f));
    F.r  = add(F.r, coriolis_mul_transposed(R->l, &R->C, d->S));
    if (!world_fixed) return F;
    const world_fixed_wrenches moved = {.F = vec3_zero(), .T = vec3_zero(), .X = R->X};
    F.q                              = wrench_add(F.q, world_fixed_mul(&moved, d->S.w));
    F.k                              = add(F.k, world_fixed_mul_transposed(&moved, d->S));
    return F;
}

/* Adds the rates of d tau_a / db, from the rows of a (F, with the rates R): a is a dof of this body, b one of the body
 * or of an ancestor (d, with the rates r). */
LANE_INLINE void put_row(const results *out, size_t entry, const world_force_partials *F, const world_force_partials *R,
                         const dof *d, const dof *r, bool world_fixed)
{
    lane q = power(r->Q, F->qdd) + power(d->Q, R->qdd) + (dot(R->r, d->P.w) + dot(F->r, r->P.w));
    if (world_fixed) q += dot(R->k, d->S.w) + dot(F->k, r->S.w);
    out->dq[entry] += q;
    out->dqd[entry] += power(r->D, F->qdd) + power(d->D, R->qdd) + (dot(R->r, d->S.w) + dot(F->r, r->S.w));
    out->dqdd[entry] += power(r->S, F->qdd) + power(d->S, R->qdd);
}

/* Adds the rates of d tau_b / da, from the force partials of a (F, with the rates R): a is a dof of this body, b one of
 * an ancestor (d, with the rates r). */
LANE_INLINE void put_column(const results *out, size_t entry, const world_force_partials *F,
                            const world_force_partials *R, const dof *d, const dof *r)
{
    out->dq[entry] += power(r->S, F->q) + power(d->S, R->q);
    out->dqd[entry] += power(r->S, F->qd) + power(d->S, R->qd);
    out->dqdd[entry] += power(r->S, F->qdd) + power(d->S, R->qdd);
}

static void one_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t k,
                    const world_fixed_wrenches *world_fixed)
{
    size_t                     nv = (size_t)m->nv, a = (size_t)m->body[i].joint.v + k, own = dof_first(m, i) + k;
    double                     mass = m->body[i].derived.subtree_mass;
    const world_force_partials F    = world_force_partials_of(mass, &ws->body[i], world_fixed, &ws->dof[own]);
    const world_force_partials R    = world_force_partials_rate(mass, &ws->body[i], &ws->body_rate[i], world_fixed,
                                                                &ws->dof[own], &ws->dof_rate[own]);
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent) {
        size_t from = dof_first(m, (size_t)p), np = dofs_of(&m->body[p]);
        for (size_t j = 0; j < np; j++) {
            const dof *d = &ws->dof[from + j], *r = &ws->dof_rate[from + j];
            size_t     b = (size_t)m->body[p].joint.v + j;
            put_row(out, a * nv + b, &F, &R, d, r, world_fixed);
            if (p != (int)i) put_column(out, b * nv + a, &F, &R, d, r);
        }
    }
}

LANE_INLINE void gather_rates(const body_rate *R, body_rate *P)
{
    P->l = add(P->l, R->l);
    P->C = mat3_add(&P->C, &R->C);
    P->X = mat3_add(&P->X, &R->X);
    P->f = wrench_add(P->f, R->f);
}

static void pairs(const dyn_scene *scene, const workspace *ws, const results *out, bool any_world_fixed)
{
    const dyn_model *m = scene->model;
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body             *b           = &m->body[i];
        const world_fixed_wrenches *world_fixed = any_world_fixed ? &ws->world_fixed[i] : NULL;
        for (size_t k = 0; k < dofs_of(b); k++)
            one_dof(m, ws, out, (size_t)i, k, world_fixed);
        if (b->tree.parent == DYN_WORLD) continue;
        spatial_gather(&ws->body[i], &ws->body[b->tree.parent]);
        gather_rates(&ws->body_rate[i], &ws->body_rate[b->tree.parent]);
        if (any_world_fixed) world_fixed_accumulate(world_fixed, &ws->world_fixed[b->tree.parent]);
    }
}

/* Adds the rates of the derivatives of the joints' own forces. Only the slope of smooth friction changes with time. */
static void passive_rates(const dyn_scene *scene, const lane *qd, const lane *qdd, const results *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = m->floating; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.has_friction && (scene->terms & DYN_FRICTION))
            out->dqd[(size_t)b->joint.v * (size_t)(m->nv + 1)] +=
                b->joint.ratio * b->joint.ratio * joint_friction_slope_rate(b, joint_rate(b, qd), joint_rate(b, qdd));
    }
}

static void clear(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
}

void LANE_NAME(sensitivity_rate)(const dyn_scene *scene, void *memory, const dyn_sensitivity_rate *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    arena            a               = {.base = memory};
    const workspace  ws              = place(&a, m);
    const bool       any_world_fixed = io->wrenches && scene_has_world_fixed(scene);
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv),
                   *qdd = block_in(io->qdd, block, nv), *qddd = block_in(io->qddd, block, nv);
        const lane   *values = nw ? block_in(io->wrenches, block, 9 * nw) : NULL;
        const results out    = {block_out(io->dtau_dq_dot, block, nv * nv), block_out(io->dtau_dqd_dot, block, nv * nv),
                                block_out(io->dtau_dqdd_dot, block, nv * nv)};
        clear(out.dq, nv * nv);
        clear(out.dqd, nv * nv);
        clear(out.dqdd, nv * nv);
        set_joint_transforms(m, q, ws.XJ);
        spatial_motions(scene, ws.XJ, qd, qdd, ws.body, ws.dof);
        motion_rates(scene, &ws, qd, qdd, qddd);
        if (values) {
            spatial_subtract_externals(scene, values, ws.body, ws.world_fixed);
            external_rates(scene, values, &ws);
        }
        pairs(scene, &ws, &out, any_world_fixed);
        passive_rates(scene, qd, qdd, &out);
    }
}
