/* pd_gravity.c - computes the efforts of the controller pd_gravity: feedback of the errors, and gravity (controller.h).
 */
#include "controller.h"

/* Moves the load of each elastic joint to its motor: adds the value at the joint's coordinate to that at the motor's
 * coordinate, and sets the former to zero. */
static void move_to_motors(const dyn_controller_input *c, double *values)
{
    size_t W = c->W;
    for (size_t v = 0; v < c->nv; v++)
        for (size_t l = 0; c->motor[v] >= 0 && l < W; l++) {
            values[(size_t)c->motor[v] * W + l] += values[v * W + l];
            values[v * W + l] = 0;
        }
}

/* Finds the contact Jacobian J of the robot with locked springs, and factors the constraint with the identity for M:
 * then Lambda = (J_p J_p^T)^-1, with p the passive coordinates. */
static void factor_static(const dyn_controller_input *c, const dyn_contact_states *states)
{
    dyn_contact_block *b = c->contact;
    dyn_contact_evaluate(b, states);
    for (size_t a = 0; a < b->task.k; a++)
        move_to_motors(c, b->J + a * c->nv * c->W);
    for (size_t i = 0; i < c->nv * c->nv; i++)
        for (size_t l = 0; l < c->W; l++)
            b->M[i * c->W + l] = i % (c->nv + 1) == 0;
    b->decoupled = true;
    for (size_t l = 0; l < c->W; l++)
        dyn_contact_set_driven(b, c->supported, l);
    dyn_contact_factor(b, states);
}

/* Subtracts the efforts of the contact wrenches in static equilibrium from the gravity torques g: g -= J^T l with l =
 * (J_p J_p^T)^-1 J_p g_p, where p are the passive coordinates. */
static void subtract_contacts(const dyn_controller_input *c, double *g)
{
    dyn_contact_block *b      = c->contact;
    dyn_contact_states states = {.kernels = c->kernels, .scene = c->scene, .workspace = c->workspace, .q = c->q};
    double *passive = b->frame_J; /* g of coordinates whose load the wrenches must carry, else 0; in memory that is not
                                     needed any more */
    factor_static(c, &states);
    for (size_t i = 0; i < c->nv * c->W; i++)
        passive[i] = c->supported[i / c->W] ? 0 : g[i];
    dyn_contact_find(b, &states, NULL, passive, -1, false);
    for (size_t l = 0; l < c->states; l++) {
        if (!dyn_contact_is_factored(b, l)) continue; /* the numbers are too large; the result is not finite either */
        dyn_contact_put_wrenches(b, l, c->contact_wrenches);
        dyn_contact_subtract_efforts(b, c->contact_wrenches, l, g);
    }
    dyn_contact_pad(b, c->states, c->nv, g);
}

static void pd_gravity(const dyn_controller_input *c, double *tau)
{
    dyn_bias io = {.q = c->q, .qd = c->qd, .gravity = c->work};
    c->kernels->bias(c->scene, c->workspace, &io, 1);
    if (c->actuated) move_to_motors(c, c->work);
    if (c->contact) subtract_contacts(c, c->work);
    for (size_t i = 0; i < c->nv * c->W; i++)
        tau[i] = dyn_controller_feedback(c, i) + c->work[i];
}

const dyn_controller dyn_controller_pd_gravity = {.name = "pd_gravity", .torques = pd_gravity};
