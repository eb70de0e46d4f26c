/* controller.c - see controller.h. */
#include "controller.h"
#include <stdio.h>
#include <string.h>

static const char *const fields[] = {"controller", "kp", "kd", "reference", NULL};

static void pd_gravity(const api_controlled *c, double *tau)
{
    dyn_bias io = {.q = c->q, .qd = c->qd, .gravity = c->room};
    c->kernels->bias(c->scene, c->workspace, &io, 1);
    for (size_t i = 0; i < c->nv * c->W; i++)
        tau[i] = c->gains[0][i / c->W] * c->error[0][i] + c->gains[1][i / c->W] * c->error[1][i] + c->room[i];
}

static void computed_torque(const api_controlled *c, double *tau)
{
    dyn_inverse_dynamics io = {.q = c->q, .qd = c->qd, .qdd = c->room, .tau = tau};
    for (size_t i = 0; i < c->nv * c->W; i++)
        c->room[i] =
            c->reference[2][i] + c->gains[1][i / c->W] * c->error[1][i] + c->gains[0][i / c->W] * c->error[0][i];
    c->kernels->inverse_dynamics(c->scene, c->workspace, &io, 1);
}

static const api_controller pd    = {.name = "pd_gravity", .fields = fields, .torques = pd_gravity};
static const api_controller ideal = {.name = "computed_torque", .fields = fields, .torques = computed_torque};

static const api_controller *const controllers[] = {&pd, &ideal, &api_hua_controller};

const api_controller *api_read_controller(const api_evaluation *e, const api_node *value, const api_place *at)
{
    enum { N = sizeof controllers / sizeof *controllers };
    char        known[200] = "";
    const char *name       = api_read_string(e, value, at);
    for (size_t i = 0; name && i < N; i++) {
        if (strcmp(controllers[i]->name, name) == 0) return controllers[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", controllers[i]->name);
    }
    if (name) api_fail_at(e, at, API_UNKNOWN_NAME, "\"%.64s\" is no controller; there are: %s", name, known);
    return NULL;
}

size_t api_controller_room(const api_controller *controller, const dyn_model *model)
{
    return controller->room ? controller->room(model) : (size_t)model->nv;
}

size_t api_controller_states(const api_controller *controller, const dyn_model *model)
{
    return controller && controller->states ? controller->states(model) : 0;
}
