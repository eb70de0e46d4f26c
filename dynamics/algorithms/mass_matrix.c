/* mass_matrix.c - computes the joint-space inertia matrix M(q) and its inverse.
 *
 * M comes from the composite rigid body algorithm (mass_matrix_columns.h), the inverse from an elimination in blocks,
 * which keeps the zeros of a tree (mass_solve.h). Entries between coordinates of different branches are zero and are
 * not written. */
#include "kernels.h"
#include "mass_matrix_fast.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/recursion/mass_solve.h"
#include <string.h>

typedef struct workspace {
    joint_transform *XJ;
    composite       *other_children;
    mass_blocks      blocks;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ             = arena_take_joints(a, m),
                       .other_children = arena_take(a, m->n_bodies, sizeof(composite)),
                       .blocks         = mass_blocks_place(a, m)};
}

size_t LANE_NAME(mass_matrix_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Computes M run by run, tips first. The model is serial if it is one run of unit revolute joints with the coordinates
 * in the order of bodies. */
static void mass_matrix(const dyn_model *m, const workspace *ws, lane *M)
{
    const mass_matrix_pass p = {m->body, ws->XJ, M, (size_t)m->nv, m->has_mimics};
    composite              c = {0};
    if (m->n_runs == 1 && m->run[0].unit_revolute && m->body[0].joint.v == 0) {
        unit_run_columns(p, m->run[0], composite_gather(m, ws->other_children, &c, m->n_bodies - 1, false), true);
        return;
    }
    for (size_t r = m->n_runs; r-- > 0;) {
        const dyn_run run = m->run[r];
        c                 = composite_gather(m, ws->other_children, &c, (size_t)run.end - 1, true);
        c                 = run.unit_revolute ? unit_run_columns(p, run, c, false) : run_columns(p, run, c);
        if (m->body[run.first].tree.parent != DYN_WORLD)
            composite_add_to_parent(&m->body[run.first], ws->other_children, &c, (size_t)run.first);
    }
}

void LANE_NAME(mass_matrix)(const dyn_scene *scene, void *memory, const dyn_mass_matrix *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a  = {.base = memory};
    workspace        ws = place(&a, m);
    if (io->inverse) mass_blocks_prepare(scene, &ws.blocks);
    for (size_t block = 0; block < blocks; block++) {
        lane *M = block_out(io->mass_matrix, block, nv * nv), *inverse = block_out(io->inverse, block, nv * nv);
        set_joint_transforms(m, block_in(io->q, block, nq), ws.XJ);
        if (m->has_mimics || (m->branched && (m->dense || !io->zeros_are_set))) memset(M, 0, nv * nv * sizeof *M);
        mass_matrix(m, &ws, M);
        drives_add_inertia(m, M);
        if (!inverse) continue;
        lane singular = mass_blocks_factor(m, &ws.blocks, M);
        if (io->singular) *block_out(io->singular, block, 1) = singular;
        mass_blocks_invert(&ws.blocks, nv, io->zeros_are_set, inverse);
    }
}
