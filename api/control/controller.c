/* controller.c - computes the torques of pd_gravity and computed_torque, and lists the controllers (controller.h). */
#include "controller.h"
#include <stdio.h>
#include <string.h>

static const char *const fields[] = {"controller", "kp", "kd", "reference", "clip", NULL};

/* --- pd_gravity ------------------------------------------------------------------------------------------------- */

/* Adds the value of each elastic joint's own coordinate to the value of its motor's coordinate, and sets the former to
 * zero. */
static void move_to_motors(const api_controller_input *c, double *values)
{
    size_t W = c->W;
    for (size_t v = 0; v < c->nv; v++)
        for (size_t l = 0; c->coordinate[v].motor >= 0 && l < W; l++) {
            values[(size_t)c->coordinate[v].motor * W + l] += values[v * W + l];
            values[v * W + l] = 0;
        }
}

/* Finds the contact Jacobian J of the robot with locked springs, and sets M to the identity. api_contact_solve then
 * finds Lambda = (J_p J_p^T)^-1, with p the passive coordinates. */
static void evaluate_static(const api_controller_input *c)
{
    api_contact_block *b      = c->contact;
    api_contact_states states = {.kernels = c->kernels, .scene = c->scene, .workspace = c->workspace, .q = c->q};
    api_contact_evaluate(b, &states);
    for (size_t a = 0; a < b->task.k; a++)
        move_to_motors(c, b->J + a * c->nv * c->W);
    for (size_t i = 0; i < c->nv * c->nv; i++)
        for (size_t l = 0; l < c->W; l++)
            b->M[i * c->W + l] = i % (c->nv + 1) == 0;
}

/* Subtracts the efforts of the contact wrenches in static equilibrium from the gravity torques g: g -= J^T l with l =
 * (J_p J_p^T)^-1 J_p g_p, where p are the passive coordinates. */
static void subtract_contacts(const api_controller_input *c, double *g)
{
    api_contact_block *b = c->contact;
    evaluate_static(c);
    b->driven = c->supported;
    for (size_t l = 0; l < c->states; l++) {
        double right_side[API_MAX_HELD * API_FRAME_AXES] = {0};
        if (!api_contact_solve(b, l)) continue; /* the numbers are too large; the result is not finite either */
        for (size_t a = 0; a < b->task.k; a++)
            for (size_t v = 0; v < c->nv; v++)
                if (!c->supported[v]) right_side[a] -= b->J[(a * c->nv + v) * c->W + l] * g[v * c->W + l];
        api_contact_put_wrenches(b, right_side, l, c->contact_wrenches);
        api_contact_subtract_efforts(b, c->contact_wrenches, l, g);
    }
    api_contact_pad(b, c->states, c->nv, g);
}

static void pd_gravity(const api_controller_input *c, double *tau)
{
    dyn_bias io = {.q = c->q, .qd = c->qd, .gravity = c->work};
    c->kernels->bias(c->scene, c->workspace, &io, 1);
    if (c->actuated) move_to_motors(c, c->work);
    if (c->contact) subtract_contacts(c, c->work);
    for (size_t i = 0; i < c->nv * c->W; i++)
        tau[i] = c->gains[0][i / c->W] * c->error[0][i] + c->gains[1][i / c->W] * c->error[1][i] + c->work[i];
}

/* --- computed_torque -------------------------------------------------------------------------------------------- */

/* Turns qdd of the free robot into qdd of the held robot, and finds the contact wrenches l. */
static void apply_contacts(const api_controller_input *c, double *qdd)
{
    api_contact_block *b      = c->contact;
    api_contact_states states = {
        .kernels = c->kernels, .scene = c->scene, .workspace = c->workspace, .q = c->q, .qd = c->qd};
    api_contact_evaluate(b, &states);
    b->driven = c->driven;
    for (size_t l = 0; l < c->states; l++) {
        double right_side[API_MAX_HELD * API_FRAME_AXES];
        if (!api_contact_solve(b, l)) continue; /* the numbers are too large; the result is not finite either */
        for (size_t a = 0; a < b->task.k; a++)
            right_side[a] = b->jdot_qd[a * c->W + l];
        api_contact_add_jacobian_product(b, qdd, l, right_side);
        api_contact_put_wrenches(b, right_side, l, c->contact_wrenches);
        api_contact_apply_correction(b, right_side, l, qdd);
    }
    api_contact_pad(b, c->states, c->nv, qdd);
}

/* Finds the accelerations of the passive coordinates from those of the actuated coordinates; both are in qdd. */
static void find_passive(const api_controller_input *c, double *qdd)
{
    double *driven_qdd = c->work + c->nv * c->W;
    for (size_t i = 0; i < c->nv * c->W; i++)
        driven_qdd[i] = c->actuated[i / c->W] ? qdd[i] : c->prescribed_qdd ? c->prescribed_qdd[i] : 0;
    dyn_forward_dynamics io = {
        .q = c->q, .qd = c->qd, .driven = c->driven, .driven_qdd = driven_qdd, .qdd = qdd, .singular = c->singular};
    c->kernels->forward_dynamics(c->scene, c->workspace, &io, 1);
    if (c->contact) apply_contacts(c, qdd);
}

static void computed_torque(const api_controller_input *c, double *tau)
{
    dyn_inverse_dynamics io = {.q = c->q, .qd = c->qd, .qdd = c->work, .tau = tau};
    for (size_t i = 0; i < c->nv * c->W; i++)
        c->work[i] =
            c->reference[2][i] + c->gains[1][i / c->W] * c->error[1][i] + c->gains[0][i / c->W] * c->error[0][i];
    if (c->actuated) find_passive(c, c->work);
    c->kernels->inverse_dynamics(c->scene, c->workspace, &io, 1);
    for (size_t l = 0; c->contact && l < c->states; l++)
        api_contact_subtract_efforts(c->contact, c->contact_wrenches, l, tau);
    if (c->contact) api_contact_pad(c->contact, c->states, c->nv, tau);
}

/* --- the controllers ---------------------------------------------------------------------------------------------- */

static const api_controller pd       = {.name = "pd_gravity", .fields = fields, .torques = pd_gravity};
static const api_controller computed = {.name = "computed_torque", .fields = fields, .torques = computed_torque};

static const api_controller *const controllers[] = {&pd, &computed, &api_hua_controller};

const api_controller *api_read_controller(const api_query *q, const api_node *value, const api_place *at)
{
    enum { N = sizeof controllers / sizeof *controllers };
    char        known[200] = "";
    const char *name       = api_read_string(q, value, at);
    for (size_t i = 0; name && i < N; i++) {
        if (strcmp(controllers[i]->name, name) == 0) return controllers[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", controllers[i]->name);
    }
    if (name)
        api_fail_at(q->problem, at, API_UNKNOWN_NAME, "\"%.64s\" is not a controller; supported: %s", name, known);
    return NULL;
}

size_t api_controller_entries(const api_controller *controller, const dyn_model *model)
{
    return controller->entries ? controller->entries(model) : 2 * (size_t)model->nv;
}

size_t api_controller_states(const api_controller *controller, const dyn_model *model)
{
    return controller && controller->states ? controller->states(model) : 0;
}
