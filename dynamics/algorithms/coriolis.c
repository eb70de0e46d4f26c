/* coriolis.c - computes the Coriolis matrix for which dM/dt - 2C is skew-symmetric, and its Christoffel symbols.
 *
 * Echeandia & Wensing (2021). For a dof (degree of freedom) a of body i, and a dof b of body i or of an ancestor, with
 * I and B (spatial_algebra.h) of the composite of i, which is body i with its descendants,
 *
 *     C_ba = S_b . (B S_a + I S'_a),    C_ab = S_a . (B S_b + I S'_b).
 *
 * C is linear in qd, so the Christoffel symbols are the matrices of unit velocities: Gamma_ijk = C_ij(e_k). */
#include "kernels.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/recursion/spatial_world.h"

typedef struct workspace {
    joint_transform *XJ;
    spatial_body    *body;
    dof             *dof;
    twist           *S_d;  /* [n_dofs] S' = v x S, the time derivative of the axis S of each degree of freedom */
    lane            *C;    /* [nv x nv] the Coriolis matrix of unit velocities, for the Christoffel symbols */
    lane            *unit; /* [nv] velocities: 1 for one coordinate, 0 for the others */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (workspace){.XJ   = arena_take_joints(a, m),
                       .body = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .dof  = arena_take(a, dof_count(m), sizeof(dof)),
                       .S_d  = arena_take(a, dof_count(m), sizeof(twist)),
                       .C    = arena_take(a, nv * nv, sizeof(lane)),
                       .unit = arena_take(a, nv, sizeof(lane))};
}

size_t LANE_NAME(coriolis_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Stores an entry of the Coriolis matrix. If several joints share the coordinate, adds to the entry instead. */
LANE_INLINE void put(const dyn_model *m, lane *entry, lane x)
{
    *entry = m->has_mimics ? *entry + x : x;
}

/* Stores the entries C_ab and C_ba of the Coriolis matrix for dof a, the k-th of body i, and every dof b of body i and
 * its ancestors. I, B, S' and the composite are those of the first comment:
 *
 *     F = B S_a + I S'_a,   C_ba = S_b . F,
 *     t = I S_a,   r = B^T S_a,   C_ab = S'_b . t + S_b . r.
 *
 * The row r lacks the factor 2 that it has in sensitivity.c. The linear part of r is zero. */
static void one_dof(const dyn_model *m, const workspace *ws, size_t i, size_t k, lane *C)
{
    const dyn_body     *b    = &m->body[i];
    const spatial_body *B    = &ws->body[i];
    const size_t        of_a = dof_first(m, i) + k;
    const dof          *d    = &ws->dof[of_a];
    size_t              nv = (size_t)m->nv, va = (size_t)b->joint.v + k;
    wrench              two = twice_coriolis_mul(B->l, &B->C, d->S.w); /* 2 B S_a */
    wrench              F   = {times(0.5, two.f), times(0.5, two.n)};
    wrench              t   = inertia_mul(b->derived.subtree_mass, B->h, B->E, d->S);
    vec3                r   = times(0.5, twice_coriolis_mul_transposed(B->l, &B->C, d->S));
    F                       = wrench_add(F, inertia_mul(b->derived.subtree_mass, B->h, B->E, ws->S_d[of_a]));
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent)
        for (size_t j = 0; j < dofs_of(&m->body[p]); j++) {
            const size_t of_b = dof_first(m, (size_t)p) + j, vb = (size_t)m->body[p].joint.v + j;
            const twist  S = ws->dof[of_b].S;
            put(m, &C[va * nv + vb], power(ws->S_d[of_b], t) + dot(r, S.w));
            if (p != (int)i) put(m, &C[vb * nv + va], power(S, F));
        }
}

/* Computes the Coriolis matrix C (nv x nv). zeros_are_set: C holds the matrix of another state, so that entries between
 * branches are zero already. */
static void coriolis_matrix(const dyn_scene *scene, const workspace *ws, const lane *qd, bool zeros_are_set, lane *C)
{
    const dyn_model *m = scene->model;
    if (m->has_mimics || (m->branched && !zeros_are_set)) clear(C, (size_t)m->nv * (size_t)m->nv);
    spatial_motions(scene, ws->XJ, (spatial_task){.qd = qd, .inertias = true}, ws->body, ws->dof);
    for (size_t d = 0; d < dof_count(m); d++)
        ws->S_d[d] = twist_sub(ws->dof[d].psi_d_plus_S_d, ws->dof[d].psi_d);
    for (int i = (int)m->n_bodies - 1; i >= 0 && goes_on(scene->deadline, (size_t)m->nv); i--) {
        const dyn_body *b = &m->body[i];
        for (size_t k = 0; k < dofs_of(b); k++)
            one_dof(m, ws, (size_t)i, k, C);
        if (has_free_forces(b)) free_add_coriolis(b, (size_t)m->nv, qd, C);
        if (b->tree.parent != DYN_WORLD) spatial_gather_inertia(&ws->body[i], &ws->body[b->tree.parent]);
    }
}

static void christoffel(const dyn_scene *scene, const workspace *ws, lane *out)
{
    size_t nv = (size_t)scene->model->nv;
    for (size_t v = 0; v < nv; v++)
        ws->unit[v] = lane_of(0);
    for (size_t k = 0; k < nv && goes_on(scene->deadline, nv); k++) {
        ws->unit[k] = lane_of(1);
        coriolis_matrix(scene, ws, ws->unit, k > 0, ws->C);
        ws->unit[k] = lane_of(0);
        for (size_t e = 0; e < nv * nv; e++)
            out[e * nv + k] = ws->C[e];
    }
}

void LANE_NAME(coriolis)(const dyn_scene *scene, void *memory, const dyn_coriolis *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a  = {.base = memory};
    workspace        ws = place(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        set_joint_transforms(m, block_in(io->q, block, nq), ws.XJ);
        if (io->coriolis_matrix)
            coriolis_matrix(scene, &ws, block_in(io->qd, block, nv), io->zeros_are_set,
                            block_out(io->coriolis_matrix, block, nv * nv));
        if (io->christoffel) christoffel(scene, &ws, block_out(io->christoffel, block, nv * nv * nv));
    }
}
