/* sensitivity.c - derivatives of inverse dynamics with respect to q, qd, qdd; of the joint wrenches too; and of tau
 * with respect to external wrenches and gravity.
 *
 * Singh, Russell, Wensing (2022), in the quantities of spatial_world.h, for any joint, a floating base, mimics and
 * external wrenches. With composites over what hangs on a body, for a dof a of body i and a dof b of i or before it:
 *
 *     the force on i's subtree changes with a by  F_q = 2B psi'_a + I psi''_a + S_a x* f + K S_a,
 *         F_qd = 2B S_a + I (psi'_a + S'_a),  F_qdd = I S_a:          d tau_b / da = S_b . F
 *     and with b, seen from i (which turns with b), by the same without S x* f:   d tau_a / db = S_a . (...)
 *
 * The second is computed with rows t = I S_a and r = 2B^T S_a. The derivative of a wrench's components in its body's
 * axes is the respective vector turned into them. */
#include "spatial_world.h"

typedef struct columns { /* of one dof: how the force on its subtree changes */
    wrench q, qd, qdd;
} columns;

typedef struct workspace {
    joint_at      *at;
    spatial_body  *body;
    dof           *dof;
    held_wrenches *held;    /* [n_bodies] */
    columns       *columns; /* [dofs] */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.at      = arena_take(a, m->n_bodies, sizeof(joint_at)),
                       .body    = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .dof     = arena_take(a, dof_count(m), sizeof(dof)),
                       .held    = arena_take(a, m->n_bodies, sizeof(held_wrenches)),
                       .columns = arena_take(a, dof_count(m), sizeof(columns))};
}

size_t LANE_NAME(sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* One block of results. */
typedef struct results {
    lane *dq, *dqd, *dqdd;                      /* nv x nv */
    lane *dwrench_q, *dwrench_qd, *dwrench_qdd; /* n_bodies x 6 x nv */
} results;

/* Entry (row, column); with mimics several pairs of joints meet in one. */
LANE_INLINE void put(const dyn_model *m, lane *M, size_t row, size_t column, lane x)
{
    lane *entry = &M[row * (size_t)m->nv + column];
    *entry      = m->coupled ? *entry + x : x;
}

static void clear(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
}

/* --- dtau --------------------------------------------------------------------------------------------------- */

/* Rows of a dof as seen from its own body: S_a^T I and S_a^T 2B, S_a^T K. */
typedef struct rows {
    wrench t;
    vec3   r, k;
} rows;

LANE_INLINE columns columns_of(double mass, const spatial_body *B, const held_wrenches *held, const dof *d)
{
    wrench  t = inertia_mul(mass, B->h, B->E, d->S);
    columns F = {.qdd = t};
    F.qd      = wrench_add(coriolis_mul(B->l, &B->C, d->S.w), inertia_mul(mass, B->h, B->E, d->D));
    F.q       = wrench_add(coriolis_mul(B->l, &B->C, d->P.w), inertia_mul(mass, B->h, B->E, d->Q));
    F.q       = wrench_add(F.q, twist_cross_wrench(d->S, B->f));
    if (held) F.q = wrench_add(F.q, held_mul(held, d->S.w));
    return F;
}

LANE_INLINE rows rows_of(const spatial_body *B, const held_wrenches *held, const dof *d, wrench t)
{
    rows r = {.t = t, .r = coriolis_mul_transposed(B->l, &B->C, d->S), .k = vec3_zero()};
    if (held) r.k = held_mul_transposed(held, d->S);
    return r;
}

/* d tau_a / db for b of the same body or before it. */
LANE_INLINE void put_row(const dyn_model *m, const results *out, size_t a, size_t b, const rows *r, const dof *d,
                         bool held)
{
    lane q = power(d->Q, r->t) + dot(r->r, d->P.w);
    if (held) q += dot(r->k, d->S.w);
    put(m, out->dq, a, b, q);
    put(m, out->dqd, a, b, power(d->D, r->t) + dot(r->r, d->S.w));
}

/* d tau_b / da for b before a's body. */
LANE_INLINE void put_column(const dyn_model *m, const results *out, size_t b, size_t a, const columns *F, const dof *d)
{
    put(m, out->dq, b, a, power(d->S, F->q));
    put(m, out->dqd, b, a, power(d->S, F->qd));
}

LANE_INLINE size_t coordinate(const dyn_model *m, size_t i, size_t k)
{
    return (size_t)m->body[i].v + k;
}

static void one_dof(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t k,
                    const held_wrenches *held)
{
    size_t        first = dof_first(m, i), va = coordinate(m, i, k);
    const dof    *d        = &ws->dof[first + k];
    size_t        n        = dofs_of(&m->body[i]);
    const columns F        = columns_of(m->body[i].subtree_mass, &ws->body[i], held, d);
    const rows    r        = rows_of(&ws->body[i], held, d, F.qdd);
    ws->columns[first + k] = F;
    for (size_t j = 0; j < n; j++) {
        const dof *e = &ws->dof[first + j];
        put_row(m, out, va, coordinate(m, i, j), &r, e, held);
        put(m, out->dqdd, va, coordinate(m, i, j), power(e->S, F.qdd));
    }
    for (int p = m->body[i].parent; p != DYN_WORLD; p = m->body[p].parent) {
        size_t from = dof_first(m, (size_t)p), np = dofs_of(&m->body[p]);
        for (size_t j = 0; j < np; j++) {
            const dof *e  = &ws->dof[from + j];
            size_t     vb = coordinate(m, (size_t)p, j);
            lane       M  = power(e->S, F.qdd);
            put_row(m, out, va, vb, &r, e, held);
            put_column(m, out, vb, va, &F, e);
            put(m, out->dqdd, va, vb, M);
            put(m, out->dqdd, vb, va, M);
        }
    }
}

/* Joints' own forces, on the diagonal. */
static void passive_terms(const dyn_scene *scene, const lane *qd, const results *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = m->floating; i < m->n_bodies; i++) {
        const dyn_body *b      = &m->body[i];
        size_t          e      = (size_t)b->v * (size_t)m->nv + (size_t)b->v;
        double          square = b->ratio * b->ratio;
        if (b->rotor_inertia != 0) out->dqdd[e] += square * b->rotor_inertia;
        if (b->rough && (scene->terms & DYN_FRICTION))
            out->dqd[e] += square * joint_friction_slope(b, joint_rate(b, qd));
        if (b->sprung && (scene->terms & DYN_SPRINGS)) {
            out->dq[e] += square * b->spring.stiffness;
            out->dqd[e] += square * b->spring.damping;
        }
    }
}

/* --- joint wrenches ------------------------------------------------------------------------------------------ */

/* A change of the force on body i's subtree, as the joint wrench shows it. */
static void wrench_entry(const dyn_model *m, size_t i, const spatial_body *B, joint_at at, wrench F, wrench slide,
                         lane *out, size_t v)
{
    size_t          nv = (size_t)m->nv;
    const dyn_body *b  = &m->body[i];
    wrench          w  = {mat3_mul_transposed(&B->R, F.f), mat3_mul_transposed(&B->R, sub(F.n, cross(B->p, F.f)))};
    lane            x[6];
    w = wrench_at_joint(b, at, wrench_add(w, slide));
    store3(x, w.f);
    store3(x + 3, w.n);
    for (size_t r = 0; r < 6; r++)
        out[(i * 6 + r) * nv + v] += x[r];
}

static void wrench_entries(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t v,
                           const columns *F, wrench slide)
{
    const wrench none = {vec3_zero(), vec3_zero()};
    if (out->dwrench_q) wrench_entry(m, i, &ws->body[i], ws->at[i], F->q, slide, out->dwrench_q, v);
    if (out->dwrench_qd) wrench_entry(m, i, &ws->body[i], ws->at[i], F->qd, none, out->dwrench_qd, v);
    if (out->dwrench_qdd) wrench_entry(m, i, &ws->body[i], ws->at[i], F->qdd, none, out->dwrench_qdd, v);
}

/* Body i's wrench changes with every dof between it and the base, its own included, as seen from i ... */
static void wrench_of_ancestors(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                                const held_wrenches *held)
{
    const spatial_body *B = &ws->body[i];
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].parent) {
        size_t first = dof_first(m, (size_t)p), n = dofs_of(&m->body[p]);
        for (size_t k = 0; k < n; k++) {
            const dof *d     = &ws->dof[first + k];
            columns    F     = columns_of(m->body[i].subtree_mass, B, held, d);
            wrench     slide = {vec3_zero(), vec3_zero()};
            F.q              = wrench_sub(F.q, twist_cross_wrench(d->S, B->f));
            if (p == (int)i && m->body[i].near_end && m->body[i].joint == DYN_PRISMATIC) { /* s z x f moves with s */
                vec3 f  = times(m->body[i].ratio, mat3_mul_transposed(&B->R, B->f.f));
                slide.n = (vec3){-f.y, f.x, lane_of(0)};
            }
            wrench_entries(m, ws, out, i, coordinate(m, (size_t)p, k), &F, slide);
        }
    }
}

/* ... and with every dof beyond it as the whole does. */
static void wrench_of_descendants(const dyn_model *m, const workspace *ws, const results *out, size_t j)
{
    const wrench none = {vec3_zero(), vec3_zero()};
    for (int p = m->body[j].parent; p != DYN_WORLD; p = m->body[p].parent)
        wrench_entries(m, ws, out, (size_t)p, coordinate(m, j, 0), &ws->columns[dof_first(m, j)], none);
}

/* --- external wrenches and gravity --------------------------------------------------------------------------- */

/* tau_a falls by the power of a unit wrench: -(S at the point) in the wrench's axes. */
static void by_wrench(const dyn_scene *scene, const workspace *ws, const lane *values, lane *out)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    clear(out, scene->n_wrenches * nv * 6);
    for (size_t n = 0; n < scene->n_wrenches; n++, out += nv * 6, values += 9) {
        const dyn_wrench_site *site = &scene->wrench[n];
        if (site->body == DYN_WORLD) continue;
        const spatial_body *B = &ws->body[site->body];
        vec3                x = wrench_point(site, B, values);
        for (int p = site->body; p != DYN_WORLD; p = m->body[p].parent)
            for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
                const dof *d = &ws->dof[dof_first(m, (size_t)p) + k];
                vec3       v = cross_add(d->S.v, d->S.w, x), w = d->S.w;
                if (!site->world_axes) {
                    v = unrotate_const(site->X_bl.R, mat3_mul_transposed(&B->R, v));
                    w = unrotate_const(site->X_bl.R, mat3_mul_transposed(&B->R, w));
                }
                const lane entry[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
                for (size_t c = 0; c < 6; c++)
                    out[coordinate(m, (size_t)p, k) * 6 + c] -= entry[c];
            }
    }
}

/* Gravity enters as a = -g of everything: d tau_a / dg = -(linear part of I S_a). */
static void by_gravity(const dyn_model *m, const workspace *ws, lane *out)
{
    clear(out, (size_t)m->nv * 3);
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t k = 0; k < dofs_of(&m->body[i]); k++) {
            vec3  l   = ws->columns[dof_first(m, i) + k].qdd.f;
            lane *row = out + coordinate(m, i, k) * 3;
            row[0] -= l.x;
            row[1] -= l.y;
            row[2] -= l.z;
        }
}

/* --- the kernel ---------------------------------------------------------------------------------------------- */

static void pairs(const dyn_scene *scene, const workspace *ws, const results *out, bool holds, bool joint_wrenches)
{
    const dyn_model *m = scene->model;
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body      *b    = &m->body[i];
        const held_wrenches *held = holds ? &ws->held[i] : NULL;
        for (size_t k = 0; k < dofs_of(b); k++)
            one_dof(m, ws, out, (size_t)i, k, held);
        if (joint_wrenches) {
            wrench_of_ancestors(m, ws, out, (size_t)i, held);
            wrench_of_descendants(m, ws, out, (size_t)i);
        }
        if (b->parent == DYN_WORLD) continue;
        spatial_gather(&ws->body[i], &ws->body[b->parent]);
        if (holds) held_gather(held, &ws->held[b->parent]);
    }
}

void LANE_NAME(sensitivity)(const dyn_scene *scene, void *memory, const dyn_sensitivity *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, nj = m->n_bodies * 6 * nv;
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
                              block_out(io->djoint_wrenches_dqd, block, nj), block_out(io->djoint_wrenches_dqdd, block, nj)};
        if (m->branched || m->coupled) {
            clear(out.dq, nv * nv);
            clear(out.dqd, nv * nv);
            clear(out.dqdd, nv * nv);
        }
        clear(out.dwrench_q, nj);
        clear(out.dwrench_qd, nj);
        clear(out.dwrench_qdd, nj);
        joints_place(m, q, ws.at);
        spatial_motions(scene, ws.at, q, qd, qdd, ws.body, ws.dof);
        if (values) spatial_externals(scene, values, ws.body, ws.held);
        if (io->dtau_dwrench && values) by_wrench(scene, &ws, values, block_out(io->dtau_dwrench, block, nw * nv * 6));
        pairs(scene, &ws, &out, holds, joint_wrenches);
        passive_terms(scene, qd, &out);
        if (io->dtau_dgravity) by_gravity(m, &ws, block_out(io->dtau_dgravity, block, nv * 3));
    }
}
