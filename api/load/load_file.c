/* load_file.c - load one model from the text of a file, for commands that run without a server. The first byte tells
 * a URDF file from a JSON document. */
#include "api/http/call.h"
#include "api/loops/reference.h"
#include <string.h>

static api_model *read_model(const api_model_source *source, api_problem *problem)
{
    const api_model_format *format = api_model_format_of_text(source->text, source->length);
    if (source->query && *source->query && !format->check_query(source->query, problem)) return NULL;
    return api_find_reference(format->read(source, problem), NULL, NULL, problem);
}

static const char *text_of(const json_t *entry, const char *member)
{
    return json_string_value(json_object_get(entry, member));
}

static void tell_all(const json_t *report, api_report_callback *told, void *arg)
{
    for (size_t i = 0; i < json_array_size(report); i++) {
        const json_t *entry = json_array_get(report, i);
        told(arg, text_of(entry, "severity"), text_of(entry, "code"), text_of(entry, "where"), text_of(entry, "text"));
    }
}

bool api_load_file(api *a, const char *name, const char *text, size_t length, const char *query,
                   api_report_callback *told, void *arg, api_problem *problem)
{
    if (!api_model_name_is_valid(name))
        return api_fail(problem, API_BAD_NAME, NULL, "\"%.80s\" is not a model name", name);
    api_model_source source = {.text      = text,
                               .length    = length,
                               .name      = name,
                               .query     = query,
                               .nesting   = a->limits.nesting,
                               .max_links = a->limits.links};
    api_model       *model  = read_model(&source, problem);
    if (!model) return false;
    if (told) tell_all(model->report, told, arg);
    bool held = api_registry_load(a->models, name, model, false);
    api_model_release(model);
    return held || api_fail(problem, API_MEMORY_FULL, NULL, "no memory to hold the model");
}
