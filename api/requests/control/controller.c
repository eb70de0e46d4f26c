/* controller.c - lists the controllers, and reads the name of one (controller.h). */
#include "controller.h"
#include "api/requests/fields/fields.h"

#define ROW(name) &api_controller_##name,

const api_controller *const api_controllers[] = {API_CONTROLLERS(ROW) NULL};

static const char *name_at(const void *list, size_t i)
{
    const api_controller *const *controllers = list;
    return controllers[i]->name;
}

const api_controller *api_read_controller(const api_query *q, const api_node *value, const api_place *at)
{
    api_names known = {sizeof api_controllers / sizeof *api_controllers - 1, name_at, api_controllers};
    int       i     = api_read_choice(q, value, at, "a controller", &known);
    return i >= 0 ? api_controllers[i] : NULL;
}

size_t api_controller_entries(const api_controller *controller, const dyn_model *model)
{
    return controller->entries ? controller->entries(model) : 2 * (size_t)model->nv;
}

size_t api_controller_states(const api_controller *controller, const dyn_model *model)
{
    return controller && controller->states ? controller->states(model) : 0;
}
