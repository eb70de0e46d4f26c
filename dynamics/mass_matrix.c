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
    SERIAL, /* an arm (model.h): every entry is written once, and nothing is asked of a body but its turn and offsets */
    TREE,   /* coordinates of different branches have nothing to do with each other: their entries are not written */
    SHARED  /* mimics: several pairs of joints meet in one entry, and one of one coordinate counts twice on its
             * diagonal */
} layout;

/* What two joints have to do with each other: M_ij and M_ji. */
LANE_INLINE void put_pair(lane *ij, lane *ji, lane x, const layout of)
{
    *ij = of == SHARED ? *ij + x : x;
    *ji = of == SHARED ? *ji + x : x;
}

/* n.z after the way to a parent that turns about the ground's axis: all that such a joint needs. */
LANE_INLINE void moment_to_first_form(const dyn_body *b, joint_at at, const wrench *F, lane *moment,
                                      dyn_joint_kind joint, dyn_turn turn)
{
    wrench at_parent = *F;
    wrench_to_parent_form(b, at, &at_parent, joint, turn);
    *moment = at_parent.n.z;
}
/* The same of a column where it begins; of the composite, that joint's own column needs E.xx + E.yy. */
LANE_INLINE void column_to_first_form(const dyn_body *b, joint_at at, composite *c, double mass, lane *moment,
                                      dyn_joint_kind joint, dyn_turn turn)
{
    wrench at_parent;
    composite_column_form(b, at, c, &at_parent, mass, joint, turn);
    *moment = at_parent.n.z;
    *c      = (composite){.E.xx = c->E.xx, .E.yy = c->E.yy};
}

/* A body on a column's way to the base, not yet there, and where the column has the first entries of its parent. */
typedef struct station {
    const dyn_body *b;
    const joint_at *at;
    lane           *in_row, *in_column;
} station;

LANE_INLINE station station_of(const dyn_model *m, const workspace *ws, size_t i, size_t v, lane *M, const layout of)
{
    const dyn_body *b  = &m->body[i];
    const size_t    nv = (size_t)m->nv, j = of == SERIAL ? i - 1 : (size_t)m->body[b->parent].v;
    return (station){b, &ws->at[i], M + j * nv + v, M + v * nv + j};
}
/* To the parent; false: that is on the ground. A serial model's way is left before. */
LANE_INLINE bool station_next(const dyn_model *m, const workspace *ws, station *s, size_t v, lane *M, const layout of)
{
    if (of == SERIAL || s->b->in_line) {
        *s = (station){s->b - 1, s->at - 1, s->in_row - m->nv, s->in_column - 1};
        return true;
    }
    const size_t i = (size_t)s->b->parent;
    if (m->body[i].above == DYN_ABOVE_WORLD) return false;
    *s = station_of(m, ws, i, v, M, of);
    return true;
}
LANE_INLINE bool station_is_last(const dyn_model *m, station s, const layout of)
{
    return of == SERIAL ? s.b == &m->body[1] : s.b->above == DYN_ABOVE_FIRST;
}

/* S^T F of the parent of the station's body. */
LANE_INLINE void meet(const dyn_model *m, station s, wrench F, const layout of)
{
    if (of == SERIAL || s.b->above == DYN_ABOVE_TURNS) {
        put_pair(s.in_row, s.in_column, F.n.z, of);
        return;
    }
    const dyn_body *p        = &m->body[s.b->parent];
    const lane      along[6] = {F.f.x, F.f.y, F.f.z, F.n.x, F.n.y, F.n.z};
    if (!dyn_joint_turns_freely(p->joint))
        put_pair(s.in_row, s.in_column, coordinate_effort(p, p->joint == DYN_PRISMATIC ? F.f.z : F.n.z), of);
    else
        for (int k = joint_first_axis(p); k < 6; k++, s.in_row += m->nv, s.in_column++)
            put_pair(s.in_row, s.in_column, along[k], of);
}

/* M_jv = S_j^T F for coordinate v, F what the station's body needs, and every joint j on the way to the base. */
LANE_INLINE void column_to_base(const dyn_model *m, const workspace *ws, station s, size_t v, wrench F, lane *M,
                                const layout of)
{
    do {
        joint_known(s.b, of == SERIAL);
        if (station_is_last(m, s, of)) {
            lane moment;
            BODY_FORMS(s.b, moment_to_first_form, s.b, *s.at, &F, &moment)
            put_pair(s.in_row, s.in_column, moment, of);
            return;
        }
        BODY_FORMS(s.b, wrench_to_parent_form, s.b, *s.at, &F)
        meet(m, s, F, of);
    } while (station_next(m, ws, &s, v, M, of));
}

/* M_ii = S_i^T F + rotor, the rest of the column, and the composite `c` to the parent. */
LANE_INLINE void joint_column(const dyn_model *m, const workspace *ws, size_t i, composite *c, lane *M, const layout of)
{
    const dyn_body *b = &m->body[i];
    const size_t    v = of == SERIAL ? i : (size_t)b->v, nv = (size_t)m->nv;
    const double    mass = of == SERIAL ? 0 : b->grouped_mass; /* bodies that turn give theirs away */
    lane            own  = b->joint == DYN_PRISMATIC ? lane_of(b->grouped_mass) : c->E.xx + c->E.yy;
    if (!b->bare) {
        own += b->rotor_inertia;
        own = b->geared ? b->ratio * own * b->ratio : own;
    }
    M[v * nv + v] = of == SHARED ? M[v * nv + v] + own : own;
    if (of == SERIAL ? i == 0 : b->parent == DYN_WORLD) return;
    station s = station_of(m, ws, i, v, M, of);
    if (station_is_last(m, s, of)) {
        lane moment;
        BODY_FORMS(b, column_to_first_form, b, *s.at, c, mass, &moment)
        put_pair(s.in_row, s.in_column, coordinate_effort(b, moment), of);
        return;
    }
    wrench F;
    BODY_FORMS(b, composite_column_form, b, *s.at, c, &F, mass)
    if (b->geared) F = (wrench){times(b->ratio, F.f), times(b->ratio, F.n)};
    meet(m, s, F, of);
    if (station_next(m, ws, &s, v, M, of)) column_to_base(m, ws, s, v, F, M, of);
}

/* The columns of a joint that turns freely, whose first axis is a constant of the inlined text. */
LANE_INLINE void free_columns_form(const dyn_model *m, const workspace *ws, size_t i, const composite *c, lane *M,
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
    if (b->parent == DYN_WORLD) return;
    for (int k = first; k < 6; k++, v++)
        column_to_base(m, ws, station_of(m, ws, i, v, M, of), v, F[k], M, of);
}

LANE_APART void free_columns(const dyn_model *m, const workspace *ws, size_t i, composite *c, lane *M, const layout of)
{
    const dyn_body *b = &m->body[i];
    if (b->joint == DYN_FLOATING)
        free_columns_form(m, ws, i, c, M, of, 0);
    else
        free_columns_form(m, ws, i, c, M, of, 3);
    if (b->parent != DYN_WORLD) composite_form(b, ws->at[i], c, b->grouped_mass, DYN_FLOATING, DYN_TURN_ZX);
}

/* A column as soon as its composite is there: its chain of hops then overlaps with the next composite. */
LANE_INLINE void matrix_form(const dyn_model *m, const workspace *ws, lane *M, const layout of)
{
    composite handed = {0};
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body *b = &m->body[i];
        next_known(b, i, of == SERIAL);
        composite c = composite_gather(m, ws->forked, &handed, i, of != SERIAL);
        if (dyn_joint_turns_freely(b->joint)) {
            composite whole = c; /* a copy: the other stays in registers */
            free_columns(m, ws, i, &whole, M, of);
            handed = whole;
        } else {
            joint_column(m, ws, i, &c, M, of);
            handed = c;
        }
        if (of != SERIAL && b->parent != DYN_WORLD) composite_fork(b, ws->forked, &handed, i);
    }
}

static void mass_matrix(const dyn_model *m, const workspace *ws, lane *M, bool zeros_stand)
{
    if (m->coupled || (m->branched && !zeros_stand)) memset(M, 0, (size_t)m->nv * (size_t)m->nv * sizeof *M);
    if (m->serial)
        matrix_form(m, ws, M, SERIAL);
    else if (m->coupled)
        matrix_form(m, ws, M, SHARED);
    else
        matrix_form(m, ws, M, TREE);
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
