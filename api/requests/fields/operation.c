/* operation.c - find operations by name, and compute the sizes of their outputs: see operation.h. */
#include "operation.h"
#include "dynamics/identification/base_parameters.h"
#include "loop_state.h"
#include <string.h>

size_t api_extent(const api_model *model, const api_selection *selected, int extent)
{
    switch (extent) {
    case API_NV: return model->nv;
    case API_NQ: return model->nq;
    case API_BODIES: return model->n_bodies;
    case API_BODY_PARAMETERS: return 10 * model->n_bodies;
    case API_JOINT_PARAMETERS: return 3 * model->n_movers;
    case API_LOOP_STATE: return api_loop_state_entries(model);
    case API_STRUCTURED: return 0;
    case API_MOVERS: return model->n_movers;
    case API_COUPLED_MOTORS: return model->dyn->n_drives;
    case API_TANGENT: return 2 * model->nv;
    default: return extent < 0 ? api_selected_extent(selected, extent) : (size_t)extent;
    }
}

size_t api_output_entries(const api_model *model, const api_selection *selected, size_t output)
{
    const int *extent = selected->operation->outputs[output].extent;
    size_t     n      = 1;
    for (size_t axis = 0; axis < API_MAX_RANK && extent[axis] != 0; axis++)
        n *= api_extent(model, selected, extent[axis]);
    return n;
}

size_t api_missing_entries(const api_model *model, const api_selection *selected, size_t first, size_t last)
{
    size_t entries = 0;
    for (size_t output = first; output <= last; output++)
        if (!selected->result[output]) entries += api_output_entries(model, selected, output);
    return entries;
}

unsigned api_operation_number(const api_operation *const *operations, const api_operation *operation)
{
    unsigned number = 1;
    while (*operations && *operations++ != operation)
        number++;
    return number;
}

static const char *operation_name(const void *operations, size_t i)
{
    const api_operation *operation = ((const api_operation *const *)operations)[i];
    return operation ? operation->name : "evaluate";
}

api_names api_operation_names(const api_operation *const *operations)
{
    size_t n = 0;
    while (operations[n])
        n++;
    return (api_names){n + 1, operation_name, operations};
}

const api_operation *api_operation_named(const api_operation *const *operations, const char *name)
{
    for (size_t i = 0; operations[i]; i++)
        if (strcmp(operations[i]->name, name) == 0) return operations[i];
    return NULL;
}
