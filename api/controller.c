/* controller.c - see controller.h. */
#include "controller.h"
#include <stdio.h>
#include <string.h>

static void pd_gravity(const api_controlled *c, double *tau)
{
    dyn_bias io = {.q = c->q, .qd = c->qd, .gravity = c->command};
    c->kernels->bias(c->scene, c->workspace, &io, 1);
    for (size_t i = 0; i < c->n; i++)
        tau[i] = c->kp[i] * c->error[0][i] + c->kd[i] * c->error[1][i] + c->command[i];
}

static void computed_torque(const api_controlled *c, double *tau)
{
    dyn_inverse_dynamics io = {.q = c->q, .qd = c->qd, .qdd = c->command, .tau = tau};
    for (size_t i = 0; i < c->n; i++)
        c->command[i] = c->acceleration[i] + c->kd[i] * c->error[1][i] + c->kp[i] * c->error[0][i];
    c->kernels->inverse_dynamics(c->scene, c->workspace, &io, 1);
}

static const api_controller controllers[] = {{"pd_gravity", pd_gravity}, {"computed_torque", computed_torque}};

const api_controller *api_read_controller(const api_evaluation *e, const api_node *value, const api_place *at)
{
    enum { N = sizeof controllers / sizeof *controllers };
    char        known[200] = "";
    const char *name       = api_read_string(e, value, at);
    for (size_t i = 0; name && i < N; i++) {
        if (strcmp(controllers[i].name, name) == 0) return &controllers[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", controllers[i].name);
    }
    if (name) api_fail_at(e, at, API_UNKNOWN_NAME, "\"%.64s\" is no controller; there are: %s", name, known);
    return NULL;
}
