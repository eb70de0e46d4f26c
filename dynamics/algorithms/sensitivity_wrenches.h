/* sensitivity_wrenches.h - derivatives of the joint wrenches, whatever lies on the joints' axes included: composites of
 * true bodies, apart from those of dtau. */
#pragma once
#include "sensitivity_entries.h"
#include <string.h>

typedef struct workspace {
    joint_at      *at;
    spatial_state *body;
    external       ext;
    held_wrenches *held;   /* [n_bodies] */
    moving        *handed; /* what the body just done has handed its parent, if that is next; behind it none, zeros */
    moving        *forked; /* [n_bodies] what others have */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.at     = joints_take(a, m),
                       .body   = arena_take(a, m->n_bodies, sizeof(spatial_state)),
                       .ext    = external_place(a, m),
                       .held   = arena_take(a, m->n_bodies, sizeof(held_wrenches)),
                       .handed = arena_take(a, 2, sizeof(moving)),
                       .forked = arena_take(a, m->n_bodies, sizeof(moving))};
}

static void clear(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
}

LANE_INLINE size_t coordinate(const dyn_model *m, size_t i, size_t k)
{
    return (size_t)m->body[i].v + k;
}

/* --- joint wrenches --------------------------------------------------------------------------------------------- */

/* A change of the force on body i's subtree, as the joint wrench shows it. */
static void wrench_entry(const dyn_model *m, size_t i, joint_at at, wrench F, lane *out, size_t v)
{
    const dyn_body *b  = &m->body[i];
    size_t          nv = (size_t)m->nv, first = 6 * (size_t)b->row;
    lane            x[6];
    F = wrench_at_joint(b, at, F);
    store3(x, F.f);
    store3(x + 3, F.n);
    for (size_t r = 0; r < 6; r++)
        out[(first + r) * nv + v] += x[r];
}

static void wrench_entries(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t v,
                           const change *c)
{
    if (m->body[i].row < 0) return;
    if (out->dwrench_q) wrench_entry(m, i, ws->at[i], c->q, out->dwrench_q, v);
    if (out->dwrench_qd) wrench_entry(m, i, ws->at[i], c->qd, out->dwrench_qd, v);
    if (out->dwrench_qdd) wrench_entry(m, i, ws->at[i], c->t, out->dwrench_qdd, v);
}

/* Body i's wrench changes with every dof between it and the base, its own included, as seen from i; with those beyond
 * it as the whole does, which wrenches_to_base shows on their way. */
static void wrench_of_ancestors(const dyn_model *m, const workspace *ws, const results *out, size_t i, const moving *S,
                                const held_wrenches *held)
{
    const dyn_body *b    = &m->body[i];
    sight           seen = sight_own();
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].parent) {
        for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
            dof    d = dof_seen(&seen, dof_of(&m->body[p], &ws->body[p], k));
            change c = change_of(b->subtree_mass, S, held, &d);
            c.q      = wrench_sub(c.q, twist_cross_wrench(d.S, S->f));
            if (p == (int)i && b->near_end && b->joint == DYN_PRISMATIC) { /* s z x f moves with s */
                vec3 f = times(b->ratio, S->f.f);
                c.q.n  = add(c.q.n, (vec3){-f.y, f.x, lane_of(0)});
            }
            wrench_entries(m, ws, out, i, coordinate(m, (size_t)p, k), &c);
        }
        sight_from_parent(&m->body[p], ws->at[p], &seen);
    }
}

/* From a dof's own body to the base. */
static void wrenches_to_base(const dyn_model *m, const workspace *ws, const results *out, size_t i, size_t v, change c)
{
    for (const dyn_body *b = &m->body[i]; b->parent != DYN_WORLD; b = &m->body[i]) {
        BODY_FORMS(b, hop_form, b, ws->at[i], &c, false)
        hop_offsets(b, &c);
        i = (size_t)b->parent;
        wrench_entries(m, ws, out, i, v, &c);
    }
}

/* A body with what hangs on it, true bodies. */
static moving whole_of(const dyn_model *m, const workspace *ws, size_t i, bool loads)
{
    const dyn_body      *b   = &m->body[i];
    const spatial_state *B   = &ws->body[i];
    dyn_moments          own = {.mass = b->mass};
    memcpy(own.h, b->h, sizeof own.h);
    memcpy(own.E, b->E, sizeof own.E);
    moving S = moving_add_body(b->leaf ? ws->handed + 1 : &ws->forked[i], &own, B->v, B->a, false);
    if (loads) S.f = wrench_sub(S.f, ws->ext.on[i]);
    return S;
}

/* Of all joint wrenches with all dofs. `loads`: there are external wrenches, `holds`: some in world axes. */
static void wrench_changes(const dyn_model *m, const workspace *ws, const results *out, bool loads, bool holds)
{
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body      *b    = &m->body[i];
        const held_wrenches *held = holds ? &ws->held[i] : NULL;
        moving               S    = whole_of(m, ws, i, loads);
        for (size_t k = 0; k < dofs_of(b); k++) {
            dof d = dof_of(b, &ws->body[i], k);
            wrenches_to_base(m, ws, out, i, coordinate(m, i, k), change_of(b->subtree_mass, &S, held, &d));
        }
        if (b->row >= 0) wrench_of_ancestors(m, ws, out, i, &S, held);
        if (b->parent == DYN_WORLD) continue;
        S = moving_to_parent(b, ws->at[i], S, b->subtree_mass);
        if (b->first)
            ws->forked[b->parent] = S;
        else
            moving_gather(&ws->forked[b->parent], &S);
        if (holds) held_to_parent(b, ws->at[i], held, &ws->held[b->parent]);
    }
}
