/* mass_matrix.c - the joint-space inertia matrix M(q) and its inverse.
 *
 * Composite rigid body algorithm, Featherstone (2008), ch. 6.2: column i is what the composite of body i needs when
 * joint i alone accelerates, carried towards the base. The inverse comes from M = L^T D L, which keeps the tree's zeros
 * (ibid., ch. 6.5); its pivots are the articulated inertias of the joints, leaves first. */
#include "composite.h"
#include "factor.h"
#include <string.h>

typedef struct workspace {
    joint_at  *at;
    composite *forked;
    factor     factor;
    lane      *x; /* [nv] */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.at     = joints_take(a, m),
                       .forked = arena_take(a, m->n_bodies, sizeof(composite)),
                       .factor = factor_place(a, m),
                       .x      = arena_take(a, (size_t)m->nv, sizeof(lane))};
}

size_t LANE_NAME(mass_matrix_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* What a model's tree asks of the matrix; a constant of the inlined text. */
typedef enum layout {
    CHAIN, /* every body hangs on the one before it: every entry is written once */
    TREE,  /* coordinates of different branches have nothing to do with each other: their entries are not written */
    SHARED /* mimics: several pairs of joints meet in one entry, and one of one coordinate counts twice on its diagonal
            */
} layout;

/* What two joints have to do with each other, at their coordinates. */
LANE_INLINE void put_pair(lane *M, size_t nv, size_t i, size_t j, lane x, const layout of)
{
    M[i * nv + j] = of == SHARED ? M[i * nv + j] + x : x;
    M[j * nv + i] = of == SHARED ? M[j * nv + i] + x : x;
}

/* n.z after the way to a parent that turns about the ground's axis: all that such a joint needs. */
LANE_INLINE void moment_to_first_form(const dyn_body *b, joint_at at, const wrench *w, lane *moment,
                                      dyn_joint_kind joint, dyn_turn turn)
{
    wrench at_parent = *w;
    wrench_to_parent_form(b, at, &at_parent, joint, turn);
    *moment = at_parent.n.z;
}

/* S^T F of a joint of any kind: its coordinates' entries of column v. */
LANE_INLINE void entries(const dyn_body *b, lane *M, size_t nv, size_t v, wrench F, const layout of)
{
    const lane along[6] = {F.f.x, F.f.y, F.f.z, F.n.x, F.n.y, F.n.z};
    size_t     j        = (size_t)b->v;
    if (!dyn_joint_turns_freely(b->joint)) {
        put_pair(M, nv, j, v, coordinate_effort(b, b->joint == DYN_PRISMATIC ? F.f.z : F.n.z), of);
        return;
    }
    for (int k = joint_first_axis(b); k < 6; k++, j++)
        put_pair(M, nv, j, v, along[k], of);
}

/* M_ij = S_j^T F for coordinate v of joint i and every joint j on the way to the base. */
LANE_INLINE void column_to_base(const dyn_model *m, const workspace *ws, int i, size_t v, wrench F, lane *M,
                                const layout of)
{
    const dyn_body *b  = &m->body[i];
    const joint_at *at = &ws->at[i];
    const size_t    nv = (size_t)m->nv;
    size_t          j  = (size_t)b->v;
    lane            first;
    while (b->above != DYN_ABOVE_WORLD) {
        const dyn_body *p = of == CHAIN ? b - 1 : &m->body[b->parent];
        if (b->above == DYN_ABOVE_ANY) {
            BODY_FORMS(b, wrench_to_parent_form, b, *at, &F)
            entries(p, M, nv, v, F, of);
            j = (size_t)p->v;
        } else {
            j = of == CHAIN ? j - 1 : (size_t)p->v;
            if (b->above == DYN_ABOVE_FIRST) {
                BODY_FORMS(b, moment_to_first_form, b, *at, &F, &first)
                put_pair(M, nv, j, v, first, of);
                return;
            }
            BODY_FORMS(b, wrench_to_parent_form, b, *at, &F)
            put_pair(M, nv, j, v, F.n.z, of);
        }
        at = of == CHAIN ? at - 1 : &ws->at[b->parent];
        b  = p;
    }
}

/* M_ii = S_i^T F + rotor, and the rest of the column. */
LANE_INLINE void joint_column(const dyn_model *m, const workspace *ws, int i, wrench F, lane *M, const layout of)
{
    const dyn_body *b = &m->body[i];
    size_t          v = (size_t)b->v, nv = (size_t)m->nv;
    lane            own = b->joint == DYN_PRISMATIC ? F.f.z : F.n.z;
    if (!b->bare) {
        own += b->rotor_inertia;
        if (b->geared) F = (wrench){times(b->ratio, F.f), times(b->ratio, F.n)};
        own = b->geared ? b->ratio * own * b->ratio : own;
    }
    M[v * nv + v] = of == SHARED ? M[v * nv + v] + own : own;
    column_to_base(m, ws, i, v, F, M, of);
}

/* The columns of a joint that turns freely, whose first axis is a constant of the inlined text. */
LANE_INLINE void free_columns_form(const dyn_model *m, const workspace *ws, int i, const composite *c, lane *M,
                                   const layout of, const int first)
{
    const dyn_body *b  = &m->body[i];
    size_t          nv = (size_t)m->nv, v = (size_t)b->v;
    wrench          F[6];
    for (int k = first; k < 6; k++) {
        F[k]                = composite_column(b, c, k);
        const lane along[6] = {F[k].f.x, F[k].f.y, F[k].f.z, F[k].n.x, F[k].n.y, F[k].n.z};
        for (int l = first; l < 6; l++)
            M[(v + (size_t)(l - first)) * nv + v + (size_t)(k - first)] = along[l];
    }
    if (b->parent == DYN_WORLD && v == 0) return;
    for (int k = first; k < 6; k++)
        column_to_base(m, ws, i, v + (size_t)(k - first), F[k], M, of);
}

LANE_APART void free_columns(const dyn_model *m, const workspace *ws, int i, const composite *c, lane *M,
                             const layout of)
{
    if (m->body[i].joint == DYN_FLOATING)
        free_columns_form(m, ws, i, c, M, of, 0);
    else
        free_columns_form(m, ws, i, c, M, of, 3);
}

/* A column as soon as its composite is there: its chain of hops then overlaps with the next composite. */
LANE_INLINE void matrix_form(const dyn_model *m, const workspace *ws, lane *M, const layout of)
{
    composite handed;
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body *b = &m->body[i];
        composite       c = composite_next(m, ws->at, ws->forked, &handed, i, of != CHAIN);
        if (dyn_joint_turns_freely(b->joint)) {
            const composite whole = c; /* a copy: the other stays in registers */
            free_columns(m, ws, (int)i, &whole, M, of);
        } else {
            joint_column(m, ws, (int)i, composite_along_joint(b, &c), M, of);
        }
    }
}

static void mass_matrix(const dyn_model *m, const workspace *ws, lane *M, bool zeros_stand)
{
    if (m->coupled || (m->branched && !zeros_stand)) memset(M, 0, (size_t)m->nv * (size_t)m->nv * sizeof *M);
    if (m->coupled)
        matrix_form(m, ws, M, SHARED);
    else if (m->branched)
        matrix_form(m, ws, M, TREE);
    else
        matrix_form(m, ws, M, CHAIN);
}

void LANE_NAME(mass_matrix)(const dyn_scene *scene, void *memory, const dyn_mass_matrix *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a  = {.base = memory};
    workspace        ws = place(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        lane *M = block_out(io->mass_matrix, block, nv * nv), *inverse = block_out(io->inverse, block, nv * nv);
        joints_place(m, block_in(io->q, block, nq), ws.at);
        mass_matrix(m, &ws, M, io->zeros_stand);
        if (!inverse) continue;
        lane singular = factor_make(m, &ws.factor, M);
        if (io->singular) *block_out(io->singular, block, 1) = singular;
        factor_invert(m, &ws.factor, ws.x, inverse);
    }
}
