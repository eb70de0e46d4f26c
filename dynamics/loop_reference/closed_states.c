/* closed_states.c - finds closed states of a model with loops near given coordinates (closed_states.h). */
#include "closed_states.h"
#include "dynamics/model/coordinates.h"

bool dyn_closed_states_open(dyn_memory memory, const dyn_mechanism *mechanism, const dyn_kernels *tree,
                            dyn_deadline deadline, dyn_closed_states *s)
{
    size_t parameters = 10 * mechanism->tree->n_rows + 3 * mechanism->n_movers;
    *s                = (dyn_closed_states){.mechanism = *mechanism, .W = (size_t)tree->lanes};
    s->closed = dyn_loop_workspace_open(memory, mechanism, tree, deadline, 0, mechanism->loops->nv * parameters);
    return s->closed != NULL;
}

/* Adds the coordinates of the reference to q, except to quaternions, which are absolute in q. */
static void add_reference(const dyn_closed_states *s, double *q)
{
    const dyn_loops *l = s->mechanism.loops;
    const dyn_model *m = s->mechanism.tree;
    for (size_t b = 0; b < m->n_bodies; b++) {
        int first = dyn_first_position(&s->mechanism, &m->body[b]), quaternion = dyn_quaternion_offset(&m->body[b]);
        if (first < 0 || m->body[b].joint.mimic) continue;
        size_t n = quaternion < 0 ? (size_t)dyn_joint_nq(m->body[b].joint.kind) : (size_t)quaternion;
        for (size_t i = (size_t)first; i < (size_t)first + n; i++)
            for (size_t lane = 0; lane < s->W; lane++)
                q[i * s->W + lane] += l->reference[l->active_q[i]];
    }
}

bool dyn_closed_states_approach(dyn_closed_states *s, const dyn_scene *scene, double *q)
{
    add_reference(s, q);
    return dyn_loop_close_towards(s->closed, scene, q);
}

double dyn_closed_states_seconds(const dyn_mechanism *mechanism)
{
    const dyn_loops *l     = mechanism->loops;
    const double     steps = 20;
    return 2e-8 * steps * (double)(l->rows * l->n_passive * l->n_passive);
}
