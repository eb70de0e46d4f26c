/* pd_feed_forward.c - computes the efforts of the controller pd_feed_forward: those that the reference needs, and
 * feedback of the errors (controller.h). */
#include "controller.h"
#include <string.h>

static size_t entries(const dyn_model *m)
{
    return (size_t)m->nq + (size_t)m->nv;
}

/* Copies the positions of the reference to q. The controller is only for robots whose joints are all actuated: each
 * coordinate then has a reference, and no joint has a quaternion. */
static void set_reference_positions(const dyn_controller_input *c, double *q)
{
    const size_t lane_bytes = c->W * sizeof *q;
    memcpy(q, c->q, c->nq * lane_bytes);
    for (size_t v = 0; v < c->nv; v++)
        memcpy(q + (size_t)c->position[v] * c->W, c->reference[0] + v * c->W, lane_bytes);
}

static void pd_feed_forward(const dyn_controller_input *c, double *tau)
{
    double              *q = c->work, *needed = q + c->nq * c->W;
    dyn_inverse_dynamics io = {.q = q, .qd = c->reference[1], .qdd = c->reference[2], .tau = needed};
    set_reference_positions(c, q);
    c->kernels->inverse_dynamics(c->scene, c->workspace, &io, 1);
    for (size_t i = 0; i < c->nv * c->W; i++)
        tau[i] = dyn_controller_feedback(c, i) + needed[i];
}

const dyn_controller dyn_controller_pd_feed_forward = {
    .name = "pd_feed_forward", .fully_actuated = true, .rigid = true, .entries = entries, .torques = pd_feed_forward};
