/* mass_matrix.c - the joint-space inertia matrix M(q) and its inverse.
 *
 * Composite rigid body algorithm, Featherstone (2008), ch. 6.2: column i is what the composite of body i needs when joint
 * i alone accelerates, carried towards the base. The inverse comes from M = L^T D L, which keeps the tree's zeros
 * (ibid., ch. 6.5); its pivots are the articulated inertias of the joints, leaves first. */
#include "composite.h"

typedef struct workspace {
    joint_at  *at;
    composite *of;
    int       *ancestor; /* [nv] the coordinate before this one on the way to the base, or -1 */
    lane      *L;        /* [nv x nv] D on the diagonal, L below */
    lane      *x;        /* [nv] */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (workspace){.at       = arena_take(a, m->n_bodies, sizeof(joint_at)),
                       .of       = arena_take(a, m->n_bodies, sizeof(composite)),
                       .ancestor = arena_take(a, nv, sizeof(int)),
                       .L        = arena_take(a, nv * nv, sizeof(lane)),
                       .x        = arena_take(a, nv, sizeof(lane))};
}

size_t LANE_NAME(mass_matrix_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

static void ancestors(const dyn_model *m, int *ancestor)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        int             p = b->parent;
        ancestor[b->v]    = p == DYN_WORLD ? -1 : m->body[p].v + (m->body[p].joint == DYN_FLOATING ? 5 : 0);
        for (int k = 1; b->joint == DYN_FLOATING && k < 6; k++)
            ancestor[b->v + k] = b->v + k - 1;
    }
}

static void store_symmetric(lane *M, size_t nv, size_t i, size_t j, lane x)
{
    M[i * nv + j] = x;
    M[j * nv + i] = x;
}

/* Column of joint i: M_ii = S_i^T F + rotor, then M_ij = S_j^T F at every joint j on the way to the base. */
static void joint_column(const dyn_model *m, const workspace *ws, int i, lane *M)
{
    size_t          nv = (size_t)m->nv;
    const dyn_body *b  = &m->body[i];
    size_t          v  = (size_t)b->v;
    wrench          F  = composite_along_joint(b, &ws->of[i]);
    lane            own = (b->joint == DYN_PRISMATIC ? F.f.z : F.n.z) + b->rotor_inertia;
    if (b->geared)
        F = (wrench){times(b->ratio, F.f), times(b->ratio, F.n)};
    M[v * nv + v] = b->geared ? b->ratio * own * b->ratio : own;
    while (b->parent != DYN_WORLD) {
        BODY_FORMS(b, wrench_to_parent_form, b, ws->at[i], &F)
        i = b->parent;
        b = &m->body[i];
        if (b->joint != DYN_FLOATING) {
            store_symmetric(M, nv, (size_t)b->v, v, coordinate_effort(b, b->joint == DYN_PRISMATIC ? F.f.z : F.n.z));
            continue;
        }
        const lane base[6] = {F.f.x, F.f.y, F.f.z, F.n.x, F.n.y, F.n.z};
        for (size_t k = 0; k < 6; k++)
            store_symmetric(M, nv, k, v, base[k]);
    }
}

static void base_block(const dyn_model *m, const composite *c, lane *M)
{
    for (int k = 0; k < 6; k++) {
        wrench     F       = composite_column(&m->body[0], c, k);
        const lane base[6] = {F.f.x, F.f.y, F.f.z, F.n.x, F.n.y, F.n.z};
        for (int j = 0; j < 6; j++)
            M[j * m->nv + k] = base[j];
    }
}

/* A column as soon as its composite is there: its chain of hops then overlaps with the next composite. */
static void mass_matrix(const dyn_model *m, const workspace *ws, lane *M)
{
    if (m->branched) /* pairs on different branches stay zero */
        for (size_t e = 0; e < (size_t)m->nv * (size_t)m->nv; e++)
            M[e] = lane_of(0);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        composite_step(m, ws->at, ws->of, i);
        if (m->body[i].joint == DYN_FLOATING)
            base_block(m, &ws->of[i], M);
        else
            joint_column(m, ws, i, M);
    }
}

static int body_of(const dyn_model *m, int v)
{
    int i = (int)m->n_bodies - 1;
    while (m->body[i].v > v)
        i--;
    return i;
}

/* M = L^T D L, lower half; returns the body of the first bad pivot, or -1. A pivot that rounding alone could have left of M_kk counts as zero. */
static lane factor(const dyn_model *m, const workspace *ws, const lane *M)
{
    size_t     nv  = (size_t)m->nv;
    const int *up  = ws->ancestor;
    lane      *L   = ws->L;
    lane       bad = lane_of(-1);
    for (size_t e = 0; e < nv * nv; e++)
        L[e] = M[e];
    for (int k = (int)nv - 1; k >= 0; k--) {
        lane *row = &L[(size_t)k * nv], pivot = row[k], least = (double)nv * DBL_EPSILON * M[(size_t)k * nv + (size_t)k];
        lane_mask good = lane_positive(pivot) & lane_less(least, pivot);
        bad = lane_select(good | lane_less(lane_of(-1), bad), bad, lane_of(body_of(m, k)));
        for (int i = up[k]; i >= 0; i = up[i]) {
            lane f = row[i] / pivot;
            for (int j = i; j >= 0; j = up[j])
                L[(size_t)i * nv + (size_t)j] -= f * row[j];
            row[i] = f;
        }
    }
    return bad;
}

/* Column c of the inverse, rows 0..c: L^T y = e_c along c's ancestors, then L x = D^-1 y. */
static void inverse_column(const dyn_model *m, const workspace *ws, int c, lane *inverse)
{
    size_t     nv = (size_t)m->nv;
    const int *up = ws->ancestor;
    lane      *x  = ws->x;
    for (int k = 0; k <= c; k++)
        x[k] = lane_of(k == c);
    for (int k = c; k >= 0; k = up[k])
        for (int i = up[k]; i >= 0; i = up[i])
            x[i] -= ws->L[(size_t)k * nv + (size_t)i] * x[k];
    for (int k = 0; k <= c; k++) {
        const lane *row = &ws->L[(size_t)k * nv];
        x[k]            = x[k] / row[k];
        for (int i = up[k]; i >= 0; i = up[i])
            x[k] -= row[i] * x[i];
        store_symmetric(inverse, nv, (size_t)k, (size_t)c, x[k]);
    }
}

void LANE_NAME(mass_matrix)(const dyn_scene *scene, void *memory, const dyn_mass_matrix *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a  = {.base = memory};
    workspace        ws = place(&a, m);
    ancestors(m, ws.ancestor);
    for (size_t block = 0; block < blocks; block++) {
        lane *M = block_out(io->mass_matrix, block, nv * nv), *inverse = block_out(io->inverse, block, nv * nv);
        joints_place(m, block_in(io->q, block, nq), ws.at);
        mass_matrix(m, &ws, M);
        if (!inverse)
            continue;
        lane singular = factor(m, &ws, M);
        if (io->singular)
            *block_out(io->singular, block, 1) = singular;
        for (int c = 0; c < m->nv; c++)
            inverse_column(m, &ws, c, inverse);
    }
}
