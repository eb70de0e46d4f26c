/* mass_matrix.c - computes the joint-space inertia matrix M(q) and its inverse.
 *
 * Composite rigid body algorithm, Featherstone (2008), ch. 6.2. Column i begins with the wrench that the composite of
 * body i requires when joint i alone accelerates; this wrench is transformed from body to body towards the base. The
 * inverse comes from M = L^T D L, which keeps the zeros of a tree (ibid., ch. 6.5). */
#include "kernels.h"
#include "dynamics/recursion/composite_inertia.h"
#include "dynamics/recursion/mass_factor.h"
#include <string.h>

typedef struct workspace {
    joint_transform *XJ;
    composite       *forked;
    factor           factor;
    lane            *x; /* [nv] scratch memory */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ     = arena_take_joints(a, m),
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

/* The structure of the matrix; a constant of the inlined code. */
typedef enum matrix_layout {
    SERIAL, /* serial model (model.h): every entry is written once, and bodies differ only in their transforms */
    TREE,   /* entries between coordinates of different branches are zero and are not written */
    SHARED /* in models with mimics, several pairs of joints add to one entry; a pair of joints with the same coordinate
              adds twice to a diagonal entry */
} matrix_layout;

/* Stores x as M_ij and M_ji; in the layout SHARED, adds x. */
LANE_INLINE void put_pair(lane *ij, lane *ji, lane x, const matrix_layout layout)
{
    *ij = layout == SHARED ? *ij + x : x;
    *ji = layout == SHARED ? *ji + x : x;
}

/* True if columns are transformed to the base two at a time, for two bodies of one run. With two columns, tests and
 * constants of each joint are shared, and the multiply-adds of both overlap, but both wrenches need registers. With one
 * lane two columns pay off in any case, because a single chain of multiply-adds leaves the processor idle. In the
 * functions below, F is the wrench of the first column, and G is that of the second: the next body and coordinate.
 * `has_second`, a constant of the inlined code: G is used. */
enum { COLUMNS_PAIR = LANE_REGISTERS == 32 || LANES == 1 };

LANE_INLINE void columns_to_parent_form(link_transform X, wrench *F, wrench *G, const bool has_second)
{
    wrench_to_parent_form(X, F);
    if (has_second) wrench_to_parent_form(X, G);
}
/* Computes only n.z of F in the parent's frame. A parent with a revolute joint on the world needs no more. */
LANE_INLINE void moment_to_grounded_form(link_transform X, const wrench *F, lane *moment)
{
    wrench at_parent = *F;
    wrench_to_parent_form(X, &at_parent);
    *moment = at_parent.n.z;
}
LANE_INLINE void moments_to_grounded_form(link_transform X, const wrench *F, const wrench *G, lane *moment_F,
                                          lane *moment_G, const bool has_second)
{
    moment_to_grounded_form(X, F, moment_F);
    if (has_second) moment_to_grounded_form(X, G, moment_G);
}
/* Starts column F from the composite and transforms it, the composite and G to the parent. */
LANE_INLINE void start_column_form(link_transform X, composite *c, wrench *F, wrench *G, double mass,
                                   const bool has_second)
{
    composite_column_form(X, c, F, mass);
    if (has_second) wrench_to_parent_form(X, G);
}
/* Starts column F, for a parent with a revolute joint on the world, and transforms G and the composite to the parent.
 * Only n.z of the columns is computed, and only E.xx and E.yy of the composite, which the parent's own column needs. */
LANE_INLINE void start_grounded_column_form(link_transform X, composite *c, const wrench *G, double mass,
                                            lane *moment_F, lane *moment_G, const bool has_second)
{
    wrench F;
    composite_column_form(X, c, &F, mass);
    *moment_F = F.n.z;
    *c        = (composite){.E.xx = c->E.xx, .E.yy = c->E.yy};
    if (has_second) moment_to_grounded_form(X, G, moment_G);
}

/* The progress of column v of M towards the base: the body b whose wrench the column is, and pointers to M_jv and M_vj,
 * with j the first coordinate of the parent of b. */
typedef struct column_cursor {
    const dyn_body        *b;
    const joint_transform *XJ;
    lane                  *in_row, *in_column;
} column_cursor;

LANE_INLINE column_cursor cursor_at(const dyn_model *m, const workspace *ws, size_t i, size_t v, lane *M,
                                    const matrix_layout layout)
{
    const dyn_body *b  = &m->body[i];
    const size_t    nv = (size_t)m->nv, j = layout == SERIAL ? i - 1 : (size_t)m->body[b->tree.parent].joint.v;
    return (column_cursor){b, &ws->XJ[i], M + j * nv + v, M + v * nv + j};
}
/* Moves the cursor to the parent. Returns false if the parent's own joint is on the world. In a serial model
 * cursor_is_last ends the column before that. */
LANE_INLINE bool cursor_advance(const dyn_model *m, const workspace *ws, column_cursor *s, size_t v, lane *M,
                                const matrix_layout layout)
{
    if (layout == SERIAL || s->b->tree.is_in_line) {
        *s = (column_cursor){s->b - 1, s->XJ - 1, s->in_row - m->nv, s->in_column - 1};
        return true;
    }
    const size_t i = (size_t)s->b->tree.parent;
    if (m->body[i].tree.parent_joint == DYN_PARENT_WORLD) return false;
    *s = cursor_at(m, ws, i, v, M, layout);
    return true;
}
LANE_INLINE bool cursor_is_last(const dyn_model *m, column_cursor s, const matrix_layout layout)
{
    return layout == SERIAL ? s.b == &m->body[1] : s.b->tree.parent_joint == DYN_PARENT_GROUNDED;
}

/* Stores S^T F for the joint of the parent of the cursor's body; S and F are in the parent's frame. */
LANE_INLINE void put_joint_entries(const dyn_model *m, column_cursor s, wrench F, const matrix_layout layout)
{
    if (layout == SERIAL || s.b->tree.parent_joint == DYN_PARENT_UNIT_REVOLUTE) {
        put_pair(s.in_row, s.in_column, F.n.z, layout);
        return;
    }
    const dyn_body *p        = &m->body[s.b->tree.parent];
    const lane      along[6] = {F.f.x, F.f.y, F.f.z, F.n.x, F.n.y, F.n.z};
    if (!dyn_joint_has_quaternion(p->joint.kind))
        put_pair(s.in_row, s.in_column, coordinate_effort(p, p->joint.kind == DYN_PRISMATIC ? F.f.z : F.n.z), layout);
    else
        for (int k = joint_first_axis(p); k < 6; k++, s.in_row += m->nv, s.in_column++)
            put_pair(s.in_row, s.in_column, along[k], layout);
}

/* Returns the cursor of the next coordinate's column at the same body. */
LANE_INLINE column_cursor cursor_of_next_column(const dyn_model *m, column_cursor s)
{
    return (column_cursor){s.b, s.XJ, s.in_row + 1, s.in_column + m->nv};
}

/* Stores M_jv = S_j^T F for coordinate v and every joint j on the way to the base. F is the wrench that the cursor's
 * body requires, G that of the next column. */
LANE_INLINE void columns_to_base(const dyn_model *m, const workspace *ws, column_cursor s, size_t v, wrench F, wrench G,
                                 lane *M, const matrix_layout layout, const bool has_second)
{
    do {
        assume_revolute(s.b, layout == SERIAL);
        const column_cursor beside = cursor_of_next_column(m, s);
        if (cursor_is_last(m, s, layout)) {
            lane moment_F, moment_G;
            WITH_LINK_TRANSFORM(s.b, s.XJ, moments_to_grounded_form, &F, &G, &moment_F, &moment_G, has_second)
            put_pair(s.in_row, s.in_column, moment_F, layout);
            if (has_second) put_pair(beside.in_row, beside.in_column, moment_G, layout);
            return;
        }
        WITH_LINK_TRANSFORM(s.b, s.XJ, columns_to_parent_form, &F, &G, has_second)
        put_joint_entries(m, s, F, layout);
        if (has_second) put_joint_entries(m, beside, G, layout);
    } while (cursor_advance(m, ws, &s, v, M, layout));
}

/* Transforms a column to the base as columns_to_base does, for a run that is not plain. */
LANE_NOINLINE void column_to_base(const dyn_model *m, const workspace *ws, const column_cursor *s, size_t v,
                                  const wrench *F, lane *M, bool shared)
{
    const wrench layout = *F;
    if (shared)
        columns_to_base(m, ws, *s, v, layout, layout, M, SHARED, false);
    else
        columns_to_base(m, ws, *s, v, layout, layout, M, TREE, false);
}

/* Stores M_ii = S_i^T F + rotor inertia. */
LANE_INLINE void put_diagonal(const dyn_body *b, const composite *c, size_t e, lane *M, const matrix_layout layout)
{
    lane own = b->joint.kind == DYN_PRISMATIC ? lane_of(b->derived.regrouped_mass) : c->E.xx + c->E.yy;
    if (!b->joint.is_ideal) {
        own += b->joint.rotor_inertia;
        own = b->joint.has_ratio ? b->joint.ratio * own * b->joint.ratio : own;
    }
    M[e] = layout == SHARED ? M[e] + own : own;
}

/* Starts the column of joint i and transforms the composite `c` to the parent. With `has_second`, G is the column of
 * the body after i, and both are completed. With `second_waits`, the new column is only started, and returned in G.
 * `plain`: the run is plain. */
LANE_INLINE void joint_column(const dyn_model *m, const workspace *ws, size_t i, composite *c, wrench *G, lane *M,
                              const matrix_layout layout, const bool plain, const bool has_second,
                              const bool second_waits)
{
    const dyn_body *b = &m->body[i];
    const size_t    v = layout == SERIAL ? i : (size_t)b->joint.v, nv = (size_t)m->nv;
    const double    mass =
        layout == SERIAL ? 0 : b->derived.regrouped_mass; /* zero: revolute bodies moved their mass to the parent */
    put_diagonal(b, c, v * (nv + 1), M, layout);
    if (!second_waits && (layout == SERIAL ? i == 0 : b->tree.parent == DYN_WORLD)) return;
    column_cursor       s      = cursor_at(m, ws, i, v, M, layout);
    const column_cursor beside = cursor_of_next_column(m, s);
    if (!second_waits && cursor_is_last(m, s, layout)) {
        lane moment_F, moment_G;
        WITH_LINK_TRANSFORM(b, s.XJ, start_grounded_column_form, c, G, mass, &moment_F, &moment_G, has_second)
        put_pair(s.in_row, s.in_column, coordinate_effort(b, moment_F), layout);
        if (has_second) put_pair(beside.in_row, beside.in_column, moment_G, layout);
        return;
    }
    wrench F;
    WITH_LINK_TRANSFORM(b, s.XJ, start_column_form, c, &F, G, mass, has_second)
    if (b->joint.has_ratio) F = (wrench){times(b->joint.ratio, F.f), times(b->joint.ratio, F.n)};
    put_joint_entries(m, s, F, layout);
    if (has_second) put_joint_entries(m, beside, *G, layout);
    if (second_waits)
        *G = F;
    else if (cursor_advance(m, ws, &s, v, M, layout)) {
        if (plain)
            columns_to_base(m, ws, s, v, F, *G, M, layout, has_second);
        else
            column_to_base(m, ws, &s, v, &F, M, layout == SHARED);
    }
}

/* Computes the columns of a joint with a quaternion; `first`, its first axis, is a constant of the inlined code. */
LANE_INLINE void free_columns_form(const dyn_model *m, const workspace *ws, size_t i, const composite *c, lane *M,
                                   const matrix_layout layout, const int first)
{
    const dyn_body *b  = &m->body[i];
    size_t          nv = (size_t)m->nv, v = (size_t)b->joint.v;
    wrench          F[6];
    for (int k = first; k < 6; k++) {
        F[k]                = composite_column(b, c, k);
        const lane along[6] = {F[k].f.x, F[k].f.y, F[k].f.z, F[k].n.x, F[k].n.y, F[k].n.z};
        for (int l = first; l < 6; l++)
            M[(v + (size_t)(l - first)) * nv + v + (size_t)(k - first)] = along[l];
    }
    if (b->tree.parent == DYN_WORLD) return;
    for (int k = first; k < 6; k++, v++) {
        const column_cursor s = cursor_at(m, ws, i, v, M, layout);
        column_to_base(m, ws, &s, v, &F[k], M, layout == SHARED);
    }
}

LANE_NOINLINE void free_columns(const dyn_model *m, const workspace *ws, size_t i, composite *c, lane *M,
                                const matrix_layout layout)
{
    const dyn_body *b = &m->body[i];
    if (b->joint.kind == DYN_FLOATING)
        free_columns_form(m, ws, i, c, M, layout, 0);
    else
        free_columns_form(m, ws, i, c, M, layout, 3);
    if (b->tree.parent != DYN_WORLD) composite_form(free_transform_of(b, &ws->XJ[i]), c, b->derived.regrouped_mass);
}

/* Returns body i of a plain run, and tells the compiler its properties. */
LANE_INLINE const dyn_body *plain_body(const dyn_model *m, size_t i, const matrix_layout layout)
{
    const dyn_body *b = &m->body[i];
    assume_plain_body(b, true);
    assume_serial_body(b, i, layout == SERIAL);
    return b;
}

/* Computes the columns of a plain run, last body first, each as soon as its composite is known. So the transforms of a
 * column overlap with the computation of the next composite. */
LANE_INLINE composite plain_columns(const dyn_model *m, const workspace *ws, dyn_run run, composite c, lane *M,
                                    const matrix_layout layout)
{
    const size_t first = (size_t)run.first, last = (size_t)run.end - 1;
    const size_t grounded = m->body[first].tree.parent == DYN_WORLD
                                ? first + 1
                                : first; /* a body on the world has no column towards the base */
    wrench       G;
    size_t       i = last;
    for (; COLUMNS_PAIR && i > grounded; i -= 2) {
        plain_body(m, i, layout);
        joint_column(m, ws, i, &c, &G, M, layout, true, false, true);
        c = composite_with_body(plain_body(m, i - 1, layout), &c);
        joint_column(m, ws, i - 1, &c, &G, M, layout, true, true, false);
        if (i - 1 == first) return c;
        c = composite_with_body(plain_body(m, i - 2, layout), &c);
    }
    for (;; i--) {
        plain_body(m, i, layout);
        joint_column(m, ws, i, &c, &G, M, layout, true, false, false);
        if (i == first) return c;
        c = composite_with_body(plain_body(m, i - 1, layout), &c);
    }
}

static composite general_columns(const dyn_model *m, const workspace *ws, dyn_run run, composite c, lane *M,
                                 const matrix_layout layout)
{
    for (size_t i = (size_t)run.end - 1;; i--) {
        const dyn_body *b = &m->body[i];
        if (dyn_joint_has_quaternion(b->joint.kind)) {
            composite whole = c; /* a copy, so that `c` stays in registers */
            free_columns(m, ws, i, &whole, M, layout);
            c = whole;
        } else {
            wrench none;
            joint_column(m, ws, i, &c, &none, M, layout, false, false, false);
        }
        if ((int)i == run.first) return c;
        c = composite_with_body(b - 1, &c);
    }
}

LANE_INLINE void matrix_form(const dyn_model *m, const workspace *ws, lane *M, const matrix_layout layout)
{
    composite handed = {0};
    if (layout == SERIAL) {
        const dyn_run run = {0, (int)m->n_bodies, true};
        plain_columns(m, ws, run, composite_gather(m, ws->forked, &handed, m->n_bodies - 1, false), M, layout);
        return;
    }
    for (size_t r = m->n_runs; r-- > 0;) {
        const dyn_run   run = m->run[r];
        const dyn_body *b   = &m->body[run.first];
        const composite c   = composite_gather(m, ws->forked, &handed, (size_t)run.end - 1, true);
        if (layout == TREE && run.plain)
            handed = plain_columns(m, ws, run, c, M, TREE);
        else
            handed = general_columns(m, ws, run, c, M, layout);
        if (b->tree.parent != DYN_WORLD) composite_fork(b, ws->forked, &handed, (size_t)run.first);
    }
}

static void mass_matrix(const dyn_model *m, const workspace *ws, lane *M, bool zeros_are_set)
{
    if (m->has_mimics || (m->branched && !zeros_are_set)) memset(M, 0, (size_t)m->nv * (size_t)m->nv * sizeof *M);
    if (m->serial)
        matrix_form(m, ws, M, SERIAL);
    else if (m->has_mimics)
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
        set_joint_transforms(m, block_in(io->q, block, nq), ws.XJ);
        mass_matrix(m, &ws, M, io->zeros_are_set);
        if (!inverse) continue;
        lane singular = factor_make(m, &ws.factor, M);
        if (io->singular) *block_out(io->singular, block, 1) = singular;
        factor_invert(m, &ws.factor, ws.x, inverse);
    }
}
