/* reference_continuation.c - moves a model with loops away from its reference (reference_continuation.h). */
#include "reference_continuation.h"
#include "dynamics/model/coordinates.h"

bool dyn_reference_continuation_open(dyn_memory memory, const dyn_mechanism *mechanism, const dyn_kernels *tree,
                                     dyn_deadline deadline, dyn_reference_continuation *w)
{
    size_t parameters = 10 * mechanism->tree->n_rows + 3 * mechanism->n_movers;
    *w                = (dyn_reference_continuation){.mechanism = *mechanism, .W = (size_t)tree->lanes};
    w->closed = dyn_loop_workspace_open(memory, mechanism, tree, deadline, 0, mechanism->loops->nv * parameters);
    return w->closed != NULL;
}

/* Adds the reference to all coordinates except quaternions, which are absolute. */
static void add_reference(const dyn_reference_continuation *w, double *q)
{
    const dyn_loops *l = w->mechanism.loops;
    const dyn_model *m = w->mechanism.tree;
    for (size_t b = 0; b < m->n_bodies; b++) {
        int first = dyn_first_position(&w->mechanism, &m->body[b]), quaternion = dyn_quaternion_offset(&m->body[b]);
        if (first < 0 || m->body[b].joint.mimic) continue;
        size_t n = quaternion < 0 ? (size_t)dyn_joint_nq(m->body[b].joint.kind) : (size_t)quaternion;
        for (size_t i = (size_t)first; i < (size_t)first + n; i++)
            for (size_t lane = 0; lane < w->W; lane++)
                q[i * w->W + lane] += l->reference[l->active_q[i]];
    }
}

bool dyn_reference_continuation_follow(dyn_reference_continuation *w, const dyn_scene *scene, double *q)
{
    add_reference(w, q);
    return dyn_loop_close_towards(w->closed, scene, q);
}

double dyn_reference_continuation_seconds(const dyn_mechanism *mechanism)
{
    const dyn_loops *l     = mechanism->loops;
    const double     steps = 20;
    return 2e-8 * steps * (double)(l->rows * l->n_passive * l->n_passive);
}
