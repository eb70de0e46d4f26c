/* reference_continuation.c - moves a model with loops away from its reference (reference_continuation.h). */
#include "reference_continuation.h"
#include "dynamics/model/coordinates.h"

bool api_reference_continuation_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                     const api_deadline *deadline, api_reference_continuation *w)
{
    size_t parameters = 10 * model->n_bodies + 3 * model->n_movers;
    *w                = (api_reference_continuation){.model = model, .W = (size_t)tree->lanes};
    w->closed         = api_loop_workspace_open(pool, model, tree, deadline, 0, model->loops->nv * parameters);
    return w->closed != NULL;
}

/* Adds the reference to all coordinates except quaternions, which are absolute. */
static void add_reference(const api_reference_continuation *w, double *q)
{
    const api_loops *l = w->model->loops;
    const dyn_model *m = w->model->dyn;
    for (size_t b = 0; b < m->n_bodies; b++) {
        int first = api_first_position(w->model, &m->body[b]), quaternion = api_quaternion_offset(&m->body[b]);
        if (first < 0 || m->body[b].joint.mimic) continue;
        size_t n = quaternion < 0 ? (size_t)dyn_joint_nq(m->body[b].joint.kind) : (size_t)quaternion;
        for (size_t i = (size_t)first; i < (size_t)first + n; i++)
            for (size_t lane = 0; lane < w->W; lane++)
                q[i * w->W + lane] += l->reference[l->active_q[i]];
    }
}

bool api_reference_continuation_follow(api_reference_continuation *w, const dyn_scene *scene, double *q)
{
    add_reference(w, q);
    return api_loop_close_towards(w->closed, scene, q);
}

double api_reference_continuation_seconds(const api_model *m)
{
    const api_loops *l     = m->loops;
    const double     steps = 20;
    return 2e-8 * steps * (double)(l->rows * l->n_passive * l->n_passive);
}
