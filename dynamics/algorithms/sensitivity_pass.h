/* sensitivity_pass.h - workspace and results of the derivatives of tau (sensitivity.c), and the composites that the
 * backward pass hands from body to body. */
#pragma once
#include "dynamics/recursion/force_partials.h"
#include "dynamics/recursion/relative_pose.h"

/* Outputs for one block. */
typedef struct results {
    lane *dtau_dq, *dtau_dqd, *dtau_dqdd;       /* nv x nv each: derivatives of tau with respect to q, qd and qdd */
    lane *dwrench_q, *dwrench_qd, *dwrench_qdd; /* derivatives of the joint wrenches: n_rows x 6 x nv */
    lane *dtau_dgravity;                        /* dtau/dg: nv x 3 */
} results;

/* Indices into `workspace.children`. NEXT_BODY: composite of the body processed last, in the frame of its parent, if
 * the parent is the previous body; all bodies share this entry, which stays in cache: this saves up to 7 % of the time
 * of the kernel. ZERO: zeros, for bodies without children. */
enum { NEXT_BODY, ZERO };

typedef struct workspace {
    joint_transform      *XJ;
    spatial_state        *body;
    external_wrenches     ext;
    world_fixed_wrenches *world_fixed;    /* [n_bodies] sums of wrenches in world axes over each subtree */
    composite_motion     *children;       /* [2], see NEXT_BODY and ZERO */
    composite_motion     *other_children; /* [n_bodies] sums of the composites of all children but the next body */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ             = arena_take_joints(a, m),
                       .body           = arena_take(a, m->n_bodies, sizeof(spatial_state)),
                       .ext            = external_wrenches_place(a, m),
                       .world_fixed    = arena_take(a, m->n_bodies, sizeof(world_fixed_wrenches)),
                       .children       = arena_take(a, 2, sizeof(composite_motion)),
                       .other_children = arena_take(a, m->n_bodies, sizeof(composite_motion))};
}

typedef struct sensitivity_pass {
    dyn_deadline     deadline;
    const dyn_model *m;
    const workspace *ws;
    const results   *out;
    bool             wrenches;    /* there are external wrenches */
    bool             world_fixed; /* some external wrenches are in world axes */
} sensitivity_pass;

/* --- results ---------------------------------------------------------------------------------------------------- */

/* Returns the coordinate of degree of freedom k of body i: its row and column in the results. */
LANE_INLINE size_t coordinate_of_dof(const dyn_model *m, size_t i, size_t k)
{
    return (size_t)m->body[i].joint.v + k;
}

/* Stores x in an entry; with mimic joints adds x instead, because several pairs of joints share the entry. */
LANE_INLINE void put_entry(lane *entry, lane x, bool has_mimics)
{
    *entry = has_mimics ? *entry + x : x;
}
/* Stores x in entry (row, column) of M; with mimic joints adds it. */
LANE_INLINE void put(const dyn_model *m, lane *M, size_t row, size_t column, lane x)
{
    put_entry(&M[row * (size_t)m->nv + column], x, m->has_mimics);
}

LANE_INLINE void wrench_to_array(wrench w, lane x[6])
{
    store3(x, w.f);
    store3(x + 3, w.n);
}

/* Gravity acts as an acceleration -g of all bodies: d tau_a / dg = -(linear part of t = I S_a), with `a` a dof of body
 * i. */
LANE_INLINE void put_gravity(const sensitivity_pass *p, size_t i, size_t a, const wrench *t)
{
    if (!p->out->dtau_dgravity) return;
    lane *row = p->out->dtau_dgravity + 3 * a;
    for (int k = 0; k < 3; k++)
        row[k] -= dot(p->ws->ext.attitude[i].row[k], t->f);
}

/* --- composites of children ------------------------------------------------------------------------------------- */

/* Adds the composite `subtree` of body i, already in the frame of the parent, to the parent's entry of
 * `other_children`. The parent is not the previous body. */
LANE_INLINE void composite_motion_add_to_parent(const sensitivity_pass *p, size_t i, const composite_motion *subtree)
{
    const dyn_body   *b   = &p->m->body[i];
    composite_motion *sum = &p->ws->other_children[b->tree.parent];
    if (b->tree.is_last_child)
        *sum = *subtree;
    else
        composite_motion_accumulate(sum, subtree);
}

/* Returns the sum of the composites of body i's children; bodies i + 1 and later must have been processed. */
LANE_INLINE const composite_motion *child_composite(const sensitivity_pass *p, size_t i)
{
    const dyn_body  *b  = &p->m->body[i];
    const workspace *ws = p->ws;
    if (b->tree.is_leaf) return &ws->children[ZERO];
    const bool next = i + 1 < p->m->n_bodies && b[1].tree.parent == (int)i;
    if (b->tree.has_branch && next) composite_motion_accumulate(&ws->children[NEXT_BODY], &ws->other_children[i]);
    return next ? &ws->children[NEXT_BODY] : &ws->other_children[i];
}
