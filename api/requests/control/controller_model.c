/* controller_model.c - finds the stored model that a controller uses (controller_model.h). */
#include "controller_model.h"
#include "api/requests/fields/fields.h"
#include <string.h>

/* Finds the stored model. Returns NULL with a problem. */
static api_model *find_stored(const api_query *q, const char *name, const api_place *where)
{
    api_registry *models = q->call->api->models;
    if (!api_may_use_model(q->call, name)) {
        api_fail_at(q->problem, where, API_FORBIDDEN,
                    "this client may not use the model \"%.64s\", only the models %.200s", name, q->call->models);
        return NULL;
    }
    api_model *model = api_registry_find(models, name);
    if (!model && api_registry_check_fault(models, name, q->problem))
        api_fail_at(q->problem, where, API_BAD_VALUE,
                    "there is no model \"%.64s\"; names are case-sensitive, GET /v1/models lists them", name);
    return model;
}

/* Checks that the names of n coordinates are those of the robot. */
static bool check_shared_names(const api_query *q, const api_place *where, const api_model *other,
                               const char *const *names, const char *const *expected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], expected[i]) != 0)
            return api_fail_at(q->problem, where, API_BAD_VALUE,
                               "coordinate %zu of %.64s is %.64s, that of the robot is %.64s: the controller's model "
                               "needs the same coordinates in the same order",
                               i, other->name, names[i], expected[i]);
    return true;
}

static bool check_controller_robot(const api_query *q, const api_place *where, const api_model *other)
{
    const api_model *robot = q->model;
    if (robot->loops || other->loops)
        return api_fail_at(q->problem, where, API_NOT_FOR_LOOPS,
                           "%.64s has loops: a controller's own model is for robots without",
                           robot->loops ? robot->name : other->name);
    if (other->nq != robot->nq || other->nv != robot->nv)
        return api_fail_at(q->problem, where, API_BAD_VALUE,
                           "%.64s has %zu positions and %zu velocities, the robot has %zu and %zu: the controller's "
                           "model needs the same coordinates",
                           other->name, other->nq, other->nv, robot->nq, robot->nv);
    return check_shared_names(q, where, other, other->position_names, robot->position_names, robot->nq) &&
           check_shared_names(q, where, other, other->velocity_names, robot->velocity_names, robot->nv);
}

bool api_controller_model_read(api_query *q, const api_node *fields, const api_place *up, api_actuator_input *input)
{
    const api_node *value      = api_node_get(fields, "model");
    const api_place where      = api_place_key(up, "model");
    const api_place payload_at = api_place_key(up, "knows_payload");
    if (!value) return true;
    const char *name = api_read_string(q, value, &where);
    if (!name) return false;
    if (input->knows_payload)
        return api_fail_at(q->problem, &payload_at, API_BAD_VALUE,
                           "true given beside a model: payload and parameters of the request are those of the "
                           "simulated robot; store a model that has them");
    q->controller_model = find_stored(q, name, &where);
    input->model        = q->controller_model;
    return q->controller_model && check_controller_robot(q, &where, q->controller_model);
}
