/* coordinate_tree.h - finds the tree of the coordinates of a model: the pattern of zeros of the mass matrix M, in which
 * M_ij is zero unless one of i and j is an ancestor of the other (Featherstone 2008, ch. 6.4). Mimics connect branches,
 * except rotors on a link of their joint. A model with such mimics is dense: each coordinate is the ancestor of the
 * next.
 *
 * The parts of a model are the trees whose bases are joints on the world. No derivative of an effort or of an
 * acceleration connects two parts, unless frames are held. */
#pragma once
#include "workspace.h"
#include <string.h>

typedef struct coordinate_tree {
    int *ancestor; /* [nv] the previous coordinate on the way to the base, or -1: lambda of Featherstone (2008),
                      ch. 6.5, with one entry per coordinate */
    int    *body;  /* [nv] the body whose joint has the coordinate */
    double *floor; /* [nv] pivots up to this value count as zero: see pivot_floor */
} coordinate_tree;

static inline coordinate_tree coordinate_tree_place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (coordinate_tree){.ancestor = arena_take(a, nv, sizeof(int)),
                             .body     = arena_take(a, nv, sizeof(int)),
                             .floor    = arena_take(a, nv, sizeof(double))};
}

/* Sets floor[v], the value up to which the pivot of coordinate v counts as zero. With mimics a coordinate moves several
 * joints, and their floors are added. */
static inline void pivot_floors(const dyn_model *m, double *floor)
{
    for (int v = 0; v < m->nv; v++)
        floor[v] = 0;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        for (int k = joint_first_axis(b), v = b->joint.v; dyn_joint_has_quaternion(b->joint.kind) && k < 6; k++, v++)
            floor[v] = pivot_floor(b, k < 3);
        if (!dyn_joint_has_quaternion(b->joint.kind))
            floor[b->joint.v] += b->joint.ratio * b->joint.ratio * pivot_floor(b, b->joint.kind == DYN_PRISMATIC);
    }
}

/* Returns the last coordinate of the joint of body i or, if that joint is a mimic, which has none, of the nearest
 * ancestor whose joint is not a mimic; -1 on the world. */
static inline int last_coordinate_of(const dyn_model *m, int i)
{
    while (i != DYN_WORLD && m->body[i].joint.mimic)
        i = m->body[i].tree.parent;
    return i == DYN_WORLD ? -1 : m->body[i].joint.v + dyn_joint_nv(m->body[i].joint.kind) - 1;
}

/* Sets `ancestor` and `body`, which depend on the model only. */
static inline void coordinate_tree_prepare(const dyn_model *m, const coordinate_tree *t)
{
    for (int v = 0; v < m->nv; v++) /* v - 1 is the ancestor of v within a joint, and everywhere in a dense model */
        t->ancestor[v] = v - 1;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body_joint *joint = &m->body[i].joint;
        if (joint->mimic) continue;
        for (int v = joint->v; v < joint->v + dyn_joint_nv(joint->kind); v++)
            t->body[v] = (int)i;
        if (!m->dense) t->ancestor[joint->v] = last_coordinate_of(m, m->body[i].tree.parent);
    }
    pivot_floors(m, t->floor);
}

/* Returns the value up to which pivot k counts as zero. A floating joint on a moving body adds the inertia of its body
 * to M, and the factorization subtracts it again. The rounding error of this difference is proportional to M_kk. */
LANE_INLINE lane floor_of(const dyn_model *m, const coordinate_tree *t, const lane *M, int k)
{
    lane floor = lane_of(t->floor[k]);
    return m->has_floating_body ? add_mul(floor, PIVOT_TOLERANCE, M[(size_t)k * (size_t)m->nv + (size_t)k]) : floor;
}

/* Returns `bad`, the number of the first singular body or -1. In lanes in which it is -1 and the pivot of coordinate k
 * is zero up to rounding or negative, it becomes the body of coordinate k. */
LANE_INLINE lane first_singular(lane bad, const dyn_model *m, const coordinate_tree *t, const lane *M, int k,
                                lane pivot)
{
    lane_mask good = lane_positive(pivot) & lane_less(floor_of(m, t, M, k), pivot);
    return lane_select(good | lane_less(lane_of(-1), bad), bad, lane_of(t->body[k]));
}

/* Returns the end of the part (top of the file) that begins with coordinate `first`: the smallest end such that
 * every coordinate whose ancestor lies in [first, end) lies in [first, end) too. The coordinates of a part are
 * consecutive. */
static inline size_t part_end(const dyn_model *m, size_t first)
{
    int end = (int)first + 1;
    if (m->dense || m->n_couplings > 0) return (size_t)m->nv;
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t i = 0; i < m->n_bodies; i++) {
            const dyn_body_joint *joint = &m->body[i].joint;
            const int up = last_coordinate_of(m, m->body[i].tree.parent), last = joint->v + dyn_joint_nv(joint->kind);
            if (joint->mimic || joint->v < (int)first || last <= end) continue;
            if (joint->v >= end && (up < (int)first || up >= end)) continue;
            end   = last;
            grows = true;
        }
    }
    return (size_t)end;
}

/* Lists the relatives of the coordinates first to end - 1 in ascending order: these coordinates, their ancestors and
 * their descendants. The rows of these coordinates in M and its derivatives are nonzero only in the columns of
 * relatives. Returns the number of relatives. */
static inline size_t list_relatives(const dyn_model *m, size_t first, size_t end, int list[DYN_MAX_DOF])
{
    bool   below[DYN_MAX_DOF], marked[DYN_MAX_DOF];
    size_t n = 0;
    memset(below, 0, (size_t)m->nv);
    memset(marked, 0, (size_t)m->nv);
    for (size_t i = 0; !m->dense && i < m->n_bodies; i++) {
        const dyn_body_joint *joint    = &m->body[i].joint;
        const int             last     = joint->v + dyn_joint_nv(joint->kind);
        const bool            in_range = joint->v < (int)end && last > (int)first;
        int                   up       = last_coordinate_of(m, m->body[i].tree.parent);
        if (joint->mimic || !(in_range || (up >= 0 && below[up]))) continue;
        for (int v = joint->v; v < last; v++)
            below[v] = marked[v] = true;
        for (int a = m->body[i].tree.parent; in_range && a != DYN_WORLD; a = m->body[a].tree.parent)
            for (int k = 0; k < dyn_joint_nv(m->body[a].joint.kind); k++)
                marked[m->body[a].joint.v + k] = true;
    }
    for (int v = 0; v < m->nv; v++)
        if (m->dense || marked[v]) list[n++] = v;
    return n;
}
