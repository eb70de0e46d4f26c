/* sensitivity_wrenches.h - computes the derivatives of the joint wrenches. Unlike tau, joint wrenches depend on mass on
 * the joint axes. So the composites here are of true bodies, not of regrouped bodies. */
#pragma once
#include "sensitivity_entries.h"
#include <string.h>

typedef struct workspace {
    joint_transform      *XJ;
    spatial_state        *body;
    external_wrenches     ext;
    world_fixed_wrenches *world_fixed; /* [n_bodies] */
    composite_motion *handed; /* handed[0]: composite that the last processed body passed to its parent, if that is the
                                 previous body; handed[1]: zeros */
    composite_motion *forked; /* [n_bodies] sums of the composites of the other children */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ          = arena_take_joints(a, m),
                       .body        = arena_take(a, m->n_bodies, sizeof(spatial_state)),
                       .ext         = external_wrenches_place(a, m),
                       .world_fixed = arena_take(a, m->n_bodies, sizeof(world_fixed_wrenches)),
                       .handed      = arena_take(a, 2, sizeof(composite_motion)),
                       .forked      = arena_take(a, m->n_bodies, sizeof(composite_motion))};
}

static void clear(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
}

LANE_INLINE size_t coordinate(const dyn_model *m, size_t i, size_t k)
{
    return (size_t)m->body[i].joint.v + k;
}

/* --- joint wrenches --------------------------------------------------------------------------------------------- */

/* Adds a change F of the force on body i's composite to column v of the derivatives of its joint wrench. */
static void wrench_entry(const dyn_model *m, size_t i, const joint_transform *XJ, wrench F, lane *out, size_t v)
{
    const dyn_body *b  = &m->body[i];
    size_t          nv = (size_t)m->nv, first = 6 * (size_t)b->tree.row;
    lane            x[6];
    F = wrench_at_joint(b, XJ, F);
    store3(x, F.f);
    store3(x + 3, F.n);
    for (size_t r = 0; r < 6; r++)
        out[(first + r) * nv + v] += x[r];
}

static void wrench_entries(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t v,
                           const force_partials *c)
{
    if (m->body[i].tree.row < 0) return;
    if (out->dwrench_q) wrench_entry(m, i, &ws->XJ[i], c->q, out->dwrench_q, v);
    if (out->dwrench_qd) wrench_entry(m, i, &ws->XJ[i], c->qd, out->dwrench_qd, v);
    if (out->dwrench_qdd) wrench_entry(m, i, &ws->XJ[i], c->t, out->dwrench_qdd, v);
}

/* Adds the derivatives of body i's wrench with respect to every dof (degree of freedom) of the body and its ancestors,
 * in the frame of body i. wrenches_to_base adds those with respect to dofs of descendants. */
static void wrench_of_ancestors(const dyn_model *m, const workspace *ws, const results *out, size_t i,
                                const composite_motion *S, const world_fixed_wrenches *world_fixed)
{
    const dyn_body *b        = &m->body[i];
    relative_pose   relative = relative_pose_identity();
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent) {
        for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
            dof            d = dof_in_descendant(&relative, dof_of(&m->body[p], &ws->body[p], k));
            force_partials c = force_partials_of(b->derived.subtree_mass, S, world_fixed, &d);
            c.q              = wrench_sub(c.q, twist_cross_wrench(d.S, S->f));
            if (p == (int)i && b->joint.near_end &&
                b->joint.kind == DYN_PRISMATIC) { /* the moment n + s z x f depends on s */
                vec3 f = times(b->joint.ratio, S->f.f);
                c.q.n  = add(c.q.n, (vec3){-f.y, f.x, lane_of(0)});
            }
            wrench_entries(m, ws, out, i, coordinate(m, (size_t)p, k), &c);
        }
        relative_pose_from_parent(&m->body[p], &ws->XJ[p], &relative);
    }
}

/* Adds the derivatives of the ancestors' joint wrenches with respect to a dof of body i, whose partials are c. */
static void wrenches_to_base(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t v,
                             force_partials c)
{
    for (const dyn_body *b = &m->body[i]; b->tree.parent != DYN_WORLD; b = &m->body[i]) {
        WITH_LINK_TRANSFORM(b, &ws->XJ[i], force_partials_turn_form, &c, false)
        force_partials_shift_offsets(b, &c);
        i = (size_t)b->tree.parent;
        wrench_entries(m, ws, out, i, v, &c);
    }
}

/* Returns the composite of body i with its true inertia. */
static composite_motion true_composite_of(const dyn_model *m, const workspace *ws, size_t i, bool with_wrenches)
{
    const dyn_body      *b   = &m->body[i];
    const spatial_state *B   = &ws->body[i];
    dyn_moments          own = {.mass = b->moments.mass};
    memcpy(own.h, b->moments.h, sizeof own.h);
    memcpy(own.E, b->moments.E, sizeof own.E);
    composite_motion S =
        composite_motion_with_body(b->tree.is_leaf ? ws->handed + 1 : &ws->forked[i], &own, B->v, B->a, false);
    if (with_wrenches) S.f = wrench_sub(S.f, ws->ext.sum[i]);
    return S;
}

/* Computes the derivatives of all joint wrenches with respect to all dofs. `with_wrenches`: there are external
 * wrenches; `any_world_fixed`: some external wrenches are in world axes. */
static void wrench_changes(const dyn_model *m, const workspace *ws, const results *out, bool with_wrenches,
                           bool any_world_fixed)
{
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body             *b           = &m->body[i];
        const world_fixed_wrenches *world_fixed = any_world_fixed ? &ws->world_fixed[i] : NULL;
        composite_motion            S           = true_composite_of(m, ws, i, with_wrenches);
        for (size_t k = 0; k < dofs_of(b); k++) {
            dof d = dof_of(b, &ws->body[i], k);
            wrenches_to_base(m, ws, out, i, coordinate(m, i, k),
                             force_partials_of(b->derived.subtree_mass, &S, world_fixed, &d));
        }
        if (b->tree.row >= 0) wrench_of_ancestors(m, ws, out, i, &S, world_fixed);
        if (b->tree.parent == DYN_WORLD) continue;
        S = composite_motion_to_parent(b, &ws->XJ[i], S, b->derived.subtree_mass);
        if (b->tree.is_last_child)
            ws->forked[b->tree.parent] = S;
        else
            composite_motion_accumulate(&ws->forked[b->tree.parent], &S);
        if (any_world_fixed) world_fixed_to_parent(b, &ws->XJ[i], world_fixed, &ws->world_fixed[b->tree.parent]);
    }
}
