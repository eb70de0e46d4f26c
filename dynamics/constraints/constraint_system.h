/* constraint_system.h - lays out in memory the factors of a constraint, for the kernels of dynamics/constraint.h. */
#pragma once
#include "dynamics/algorithms/kernels.h"
#include "dynamics/constraint.h"
#include "dynamics/recursion/mass_factor.h"

/* The factors of a constraint (dynamics/constraint.h), as lanes. */
typedef struct constraint_system {
    const dyn_constraint_factor *io;
    size_t                       nv, k, n; /* n: rows of Q */
    dyn_model        coupled; /* a model in which all coordinates are ancestors of each other, for a dense M */
    const dyn_model *model;
    factor           mass;
    lane            *root, *Q, *U, *weight, *B, *T;
    size_t          *first, *end; /* [nv] row v of X is nonzero only in the columns first[v] to end[v] - 1 */
} constraint_system;

/* Takes from the workspace the arrays that are not among the factors of the caller. */
static inline void constraint_place_scratch(arena *a, const dyn_model *m, constraint_system *s)
{
    s->mass.tree = coordinate_tree_place(a, m);
    s->first     = arena_take(a, (size_t)m->nv, sizeof *s->first);
    s->end       = arena_take(a, (size_t)m->nv, sizeof *s->end);
}

static inline size_t constraint_size(const dyn_model *m)
{
    arena             a = {0};
    constraint_system s;
    constraint_place_scratch(&a, m, &s);
    return a.used;
}

/* Sets *s. *s may point to its own member `coupled`, so that *s must not be copied. */
static inline void constraint_place(const dyn_scene *scene, void *memory, const dyn_constraint_factor *io,
                                    constraint_system *s)
{
    arena a    = {.base = memory};
    s->io      = io;
    s->nv      = io->nv;
    s->k       = io->k;
    s->n       = io->damping > 0 ? io->nv + io->k : io->nv;
    s->coupled = (dyn_model){.nv = (int)io->nv, .dense = true};
    s->model   = io->dense ? &s->coupled : scene->model;
    s->mass    = (factor){
           .deadline = scene->deadline, .L = block_out(io->L, 0, 0), .reciprocal = block_out(io->reciprocal, 0, 0)};
    constraint_place_scratch(&a, s->model, s);
    s->root   = block_out(io->root, 0, 0);
    s->Q      = block_out(io->Q, 0, 0);
    s->U      = block_out(io->U, 0, 0);
    s->weight = block_out(io->weight, 0, 0);
    s->B      = block_out(io->B, 0, 0);
    s->T      = block_out(io->T, 0, 0);
    for (size_t v = 0; io->dense && v < s->nv; v++)
        s->mass.tree.body[v] = 0;
    coordinate_tree_prepare(s->model, &s->mass.tree);
}

/* Returns the lanes in which some direction depends on those before it. */
LANE_INLINE lane_mask constraint_depends(const constraint_system *s)
{
    return lane_less(*block_in(s->io->rank, 0, 0), lane_of((double)s->k));
}

/* Sets x = L^-1 D^-1/2 x for `columns` vectors stored side by side. */
static inline void constraint_substitute(const constraint_system *s, size_t columns, lane *x)
{
    const int *up = s->mass.tree.ancestor;
    for (size_t v = 0; v < s->nv && goes_on(s->mass.deadline, s->nv); v++) {
        lane       *to = x + v * columns;
        const lane *L  = s->mass.L + v * s->nv;
        for (size_t c = 0; c < columns; c++)
            to[c] = s->root[v] * to[c];
        for (int i = up[v]; i >= 0; i = up[i])
            for (size_t c = 0; c < columns; c++)
                to[c] = sub_mul(to[c], L[i], x[(size_t)i * columns + c]);
    }
}
