/* controller.c - sizes the memory of controllers (controller.h). */
#include "controller.h"

size_t dyn_controller_entries(const dyn_controller *controller, const dyn_model *model)
{
    return controller->entries ? controller->entries(model) : 2 * (size_t)model->nv;
}

size_t dyn_controller_states(const dyn_controller *controller, const dyn_model *model)
{
    return controller && controller->states ? controller->states(model) : 0;
}
