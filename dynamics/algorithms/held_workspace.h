/* held_workspace.h - prepares the lists that depend on the model and on the held frames, not on the state
 * (held_frames.h). Part of step.c. */
#pragma once
#include "dynamics/recursion/mass_factor.h"
#include "dynamics/recursion/mass_solve.h"
#include "dynamics/recursion/world_kinematics.h"
#include "dynamics/step.h"

/* A group of columns of [dtau; C] (held_derivatives.h) that have the same nonzero rows. Rows 0 to nv - 1 are
 * coordinates, the rows from nv on are held directions. */
typedef struct held_group {
    int    first, columns;
    size_t n;    /* number of entries of `rows` */
    int   *rows; /* [n] indices of the nonzero rows; the memory is for 2 nv + 6 DYN_MAX_HELD */
} held_group;

typedef struct held_workspace {
    factor      factor;
    mass_blocks blocks; /* blocks of M (mass_solve.h), for its inverse */
    size_t      n_groups;
    held_group *group; /* [n_groups] groups of columns */
    /* Chains: the coordinates at which the rows of J may be nonzero. The chain of a held frame has the coordinates that
     * move it, that of a stopping coordinate has the coordinate and its ancestors. Held frames come first. */
    int            *chains; /* [(DYN_MAX_HELD + nv) x nv] the chains, each from the tip to the base */
    size_t         *moving; /* [DYN_MAX_HELD + nv] number of coordinates in each chain */
    bool           *mark;   /* [nv] scratch: coordinates that are in a list */
    double         *reach;  /* [DYN_MAX_HELD] m, reach of each held frame (dyn_point_reach) */
    world_workspace world;  /* motions of the bodies that carry held frames, and of their ancestors */
} held_workspace;

static inline held_workspace held_workspace_place(arena *a, const dyn_model *m)
{
    const size_t   nv = (size_t)m->nv, rows = 2 * nv + 6 * DYN_MAX_HELD, chains = nv + DYN_MAX_HELD;
    held_workspace ws  = {.factor = factor_place(a, m),
                          .blocks = mass_blocks_place(a, m),
                          .group  = arena_take(a, nv, sizeof(held_group)),
                          .chains = arena_take(a, chains * nv, sizeof(int)),
                          .moving = arena_take(a, chains, sizeof(size_t)),
                          .mark   = arena_take(a, nv, sizeof(bool)),
                          .reach  = arena_take(a, DYN_MAX_HELD, sizeof(double)),
                          .world  = place_world(a, m)};
    int           *all = arena_take(a, nv * rows, sizeof(int));
    for (size_t i = 0; a->base && i < nv; i++)
        ws.group[i].rows = all + i * rows;
    return ws;
}

static inline int *held_chain(const held_workspace *ws, const dyn_model *m, size_t i)
{
    return ws->chains + i * (size_t)m->nv;
}

/* Returns the number of chains: one for each held frame, one for each stopping coordinate. A mechanism
 * (dyn_step_mechanism) satisfies these constraints in its own accelerations, and has no chains. */
static inline size_t held_chains(const dyn_step *io)
{
    return io->mechanism ? 0 : io->n_held + io->n_stopping;
}

/* Returns the number of rows of J that chain i has. */
static inline size_t held_rows_of(const dyn_step *io, size_t i)
{
    return i < io->n_held ? io->held[i].n : 1;
}

/* Lists the coordinates of chain i: v and its ancestors; v = -1: none. */
static inline void held_prepare_chain(const dyn_model *m, size_t i, int v, held_workspace *ws)
{
    ws->moving[i] = 0;
    for (; v >= 0; v = ws->factor.tree.ancestor[v])
        held_chain(ws, m, i)[ws->moving[i]++] = v;
}

/* Returns the last coordinate that moves a body; -1: none does. */
static inline int held_tip(const dyn_model *m, int body)
{
    if (body == DYN_WORLD) return -1;
    return m->dense ? m->nv - 1 : last_coordinate_of(m, body);
}

/* True if the columns of coordinates v - 1 and v have the same nonzero rows: v is the only child of v - 1, and moves
 * every frame that v - 1 moves. */
static inline bool held_continues(const dyn_model *m, const dyn_step *io, const held_workspace *ws, int v)
{
    int children = 0;
    for (int c = v; c < m->nv; c++)
        children += ws->factor.tree.ancestor[c] == v - 1;
    for (size_t i = 0; i < held_chains(io); i++)
        if (ws->moving[i] > 0 && held_chain(ws, m, i)[0] == v - 1) return false;
    return ws->factor.tree.ancestor[v] == v - 1 && children == 1;
}

/* True if a column of the group is a coordinate of chain i. */
static inline bool held_meets(const dyn_model *m, const held_workspace *ws, const held_group *g, size_t i)
{
    const int *chain = held_chain(ws, m, i);
    for (size_t e = 0; e < ws->moving[i]; e++)
        if (chain[e] >= g->first && chain[e] < g->first + g->columns) return true;
    return false;
}

/* Marks coordinate v and its ancestors, up to one that is marked already. */
static inline void mark_ancestors(const coordinate_tree *t, bool *mark, int v)
{
    for (; v >= 0 && !mark[v]; v = t->ancestor[v])
        mark[v] = true;
}

/* Marks the rows of dtau/dx that may be nonzero in the columns of a group: the descendants and ancestors of these
 * columns, and the coordinates that elastic joints couple with them. */
static inline void held_mark_nonzero(const dyn_model *m, const coordinate_tree *t, const held_group *g, bool *mark)
{
    const int first = g->first, end = first + g->columns;
    for (int v = 0; v < m->nv; v++) /* v is a column of the group or a descendant of one */
        mark[v] = (v >= first && v < end) || (t->ancestor[v] >= first && mark[t->ancestor[v]]);
    for (int v = first; v < end; v++)
        mark_ancestors(t, mark, t->ancestor[v]);
    for (size_t i = 0; i < m->n_couplings; i++) {
        const dyn_coupling *c = &m->coupling[i];
        if (c->v >= first && c->v < end) mark_ancestors(t, mark, c->v_theta);
        if (c->v_theta >= first && c->v_theta < end) mark_ancestors(t, mark, c->v);
    }
}

/* Lists the rows of [dtau; C] that can be nonzero in the columns of a group: first coordinates, then held directions
 * (nv + direction). */
static inline void held_list_rows(const dyn_model *m, const dyn_step *io, const held_workspace *ws, held_group *g)
{
    int row = m->nv;
    held_mark_nonzero(m, &ws->factor.tree, g, ws->mark);
    g->n = 0;
    for (int v = 0; v < m->nv; v++)
        if (ws->mark[v]) g->rows[g->n++] = v;
    for (size_t i = 0; i < held_chains(io); i++)
        for (size_t a = 0, meets = held_meets(m, ws, g, i); a < held_rows_of(io, i); a++, row++)
            if (meets) g->rows[g->n++] = row;
}

/* Lists the groups of neighbouring columns with the same nonzero rows. If a lane is one number, a group has at least 2
 * PACK columns, so that it fills vectors (pack.h), even if their nonzero rows differ. */
static inline void held_prepare_groups(const dyn_model *m, const dyn_step *io, held_workspace *ws)
{
    ws->n_groups = 0;
    for (int v = 0, first = 0; v < m->nv; v++) {
        const bool wide = PACK == 1 || v + 1 - first >= 2 * PACK;
        if (v + 1 < m->nv && (!wide || held_continues(m, io, ws, v + 1))) continue;
        held_group *g = &ws->group[ws->n_groups++];
        g->first      = first;
        g->columns    = v + 1 - first;
        held_list_rows(m, io, ws, g);
        first = v + 1;
    }
}

/* Prepares the workspace for all blocks; the groups only if derivatives are requested. */
static inline void held_workspace_prepare(const dyn_scene *scene, const dyn_step *io, bool differentiates,
                                          held_workspace *ws)
{
    const dyn_model *m  = scene->model;
    ws->factor.deadline = scene->deadline;
    coordinate_tree_prepare(m, &ws->factor.tree);
    need_nothing(m, &ws->world.needed);
    for (size_t i = 0; i < io->n_held; i++) {
        need_body(m, &ws->world.needed, io->held[i].frame.body);
        ws->reach[i] = dyn_held_reach(m, &io->held[i]);
        held_prepare_chain(m, i, held_tip(m, io->held[i].frame.body), ws);
    }
    for (size_t i = 0; i < io->n_stopping; i++)
        held_prepare_chain(m, io->n_held + i, (int)io->stopping[i], ws);
    list_needed(m, &ws->world.needed);
    if (!differentiates) return;
    mass_blocks_prepare(scene, &ws->blocks);
    held_prepare_groups(m, io, ws);
}
