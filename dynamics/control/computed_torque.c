/* computed_torque.c - computes the efforts of the controller computed_torque: inverse dynamics (controller.h). */
#include "controller.h"
#include "dynamics/friction_map.h"

/* Replaces qdd of the free robot by qdd of the robot with held frames, and finds the wrenches l along the held
 * directions. */
static void hold_contacts(const dyn_controller_input *c, double *qdd)
{
    dyn_contact_block *b      = c->contact;
    dyn_contact_states states = {
        .kernels = c->kernels, .scene = c->scene, .workspace = c->workspace, .q = c->q, .qd = c->qd};
    dyn_contact_evaluate(b, &states);
    b->decoupled = c->driven != NULL;
    for (size_t l = 0; l < c->W; l++)
        dyn_contact_set_driven(b, c->driven, l);
    dyn_contact_factor(b, &states);
    dyn_contact_find(b, &states, b->jdot_qd, qdd, 1, false);
    for (size_t l = 0; l < c->states; l++) {
        if (!dyn_contact_is_factored(b, l)) continue; /* the numbers are too large; the result is not finite either */
        dyn_contact_put_wrenches(b, l, c->contact_wrenches);
        dyn_contact_add_change(b, l, qdd);
    }
    dyn_contact_pad(b, c->states, c->nv, qdd);
}

/* Solves M_pp qdd_p = -M_pa qdd_a - h_p (controller.h) for the accelerations qdd_p of the passive coordinates. qdd
 * holds qdd_a of the actuated coordinates on entry, and both on return. */
static void find_passive(const dyn_controller_input *c, double *qdd)
{
    double *driven_qdd = c->work + c->nv * c->W;
    for (size_t i = 0; i < c->nv * c->W; i++)
        driven_qdd[i] = c->actuated[i / c->W] ? qdd[i] : c->prescribed_qdd ? c->prescribed_qdd[i] : 0;
    dyn_forward_dynamics io = {
        .q = c->q, .qd = c->qd, .driven = c->driven, .driven_qdd = driven_qdd, .qdd = qdd, .singular = c->singular};
    c->kernels->forward_dynamics(c->scene, c->workspace, &io, 1);
    if (c->contact) hold_contacts(c, qdd);
}

/* Computes tau. Friction that depends on the load is added last, because the wrenches on held frames change the
 * load. */
static void computed_torque(const dyn_controller_input *c, double *tau)
{
    dyn_inverse_dynamics io = {.q = c->q, .qd = c->qd, .qdd = c->work, .tau = tau};
    for (size_t i = 0; i < c->nv * c->W; i++) {
        const size_t v = i / c->W;
        c->work[i] = c->reference[2][i] + c->gains[DYN_KD][v] * c->error[1][i] + c->gains[DYN_KP][v] * c->error[0][i];
        if (c->integral) c->work[i] += c->gains[DYN_KI][v] * c->integral[i];
    }
    if (c->actuated) find_passive(c, c->work);
    dyn_scene  scene  = *c->scene;
    const bool loaded = c->contact && scene.model->has_load && scene.terms & DYN_FRICTION;
    if (loaded) scene.terms &= ~(unsigned)DYN_FRICTION;
    c->kernels->inverse_dynamics(&scene, c->workspace, &io, 1);
    for (size_t l = 0; c->contact && l < c->states; l++)
        dyn_contact_subtract_efforts(c->contact, c->contact_wrenches, l, tau);
    if (c->contact) dyn_contact_pad(c->contact, c->states, c->nv, tau);
    if (loaded)
        c->kernels->friction_map(c->scene, c->workspace, &(dyn_friction_map){.qd = c->qd, .T = tau, .result = tau}, 1);
}

const dyn_controller dyn_controller_computed_torque = {
    .name = "computed_torque", .compensates_friction = true, .torques = computed_torque};
