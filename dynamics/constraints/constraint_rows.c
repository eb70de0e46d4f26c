/* constraint_rows.c - finds the rows of the constraint of held frames (dynamics/constraint.h), with the functions of a
 * step with held frames (algorithms/held_rows.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/constraint.h"
#include "dynamics/algorithms/held_frames.h"

typedef struct rows_workspace {
    held_workspace held;
    lane          *frame_J; /* [6 x nv] Jacobian of one frame: scratch */
    void          *memory;  /* workspace of mass_matrix */
} rows_workspace;

static rows_workspace rows_place(arena *a, const dyn_model *m)
{
    rows_workspace ws = {.held = held_workspace_place(a, m), .frame_J = arena_take(a, 6 * (size_t)m->nv, sizeof(lane))};
    ws.memory         = arena_take(a, 0, 1);
    return ws;
}

size_t LANE_NAME(constraint_rows_size)(const dyn_model *m)
{
    arena a = {0};
    rows_place(&a, m);
    return a.used + LANE_NAME(mass_matrix_size)(m);
}

void LANE_NAME(constraint_rows)(const dyn_scene *scene, void *memory, const dyn_constraint_rows *io, size_t blocks)
{
    (void)blocks; /* `blocks` is always 1 */
    arena          a    = {.base = memory};
    rows_workspace ws   = rows_place(&a, scene->model);
    const dyn_step step = {.n_held = io->n_held, .held = io->held};
    held_workspace_prepare(scene, &step, false, &ws.held);
    held_system h = {.free      = *scene,
                     .io        = &step,
                     .ws        = &ws.held,
                     .nv        = (size_t)scene->model->nv,
                     .unsettled = io->unsettled,
                     .J         = block_out(io->J, 0, 0),
                     .c         = block_out(io->drift, 0, 0),
                     .S         = block_out(io->sizes, 0, 0),
                     .frame_J   = ws.frame_J,
                     .levers    = block_out(io->levers, 0, 0)};
    for (size_t i = 0; i < io->n_held; i++)
        h.k += io->held[i].n;
    if (io->mass_matrix)
        LANE_NAME(mass_matrix)(scene, ws.memory, &(dyn_mass_matrix){.q = io->q, .mass_matrix = io->mass_matrix}, 1);
    held_set_rows(&h, block_in(io->q, 0, 0), block_in(io->qd, 0, 0));
}
