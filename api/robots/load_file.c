/* load_file.c - load one model from the text of a file, for commands that run without a server. The format is
 * recognised from the text. */
#include "api/service/http/call.h"
#include "api/base/memory/shortage.h"
#include "read_robot.h"
#include "report.h"
#include <string.h>

static const char *entry_text(const json_t *entry, const char *member)
{
    return json_string_value(json_object_get(entry, member));
}

void api_report_entries(const json_t *report, const api_report_target *target)
{
    for (size_t i = 0; target && i < json_array_size(report); i++) {
        const json_t *entry = json_array_get(report, i);
        target->entry(target->arg, entry_text(entry, "severity"), entry_text(entry, "code"), entry_text(entry, "where"),
                      entry_text(entry, "text"));
    }
}

bool api_load_file(api *a, const api_model_file *file, const api_report_target *report, api_problem *problem)
{
    if (!api_model_name_is_valid(file->name))
        return api_fail(problem, API_BAD_NAME, NULL, "\"%.80s\" is not a model name", file->name);
    api_model_source source = {.text      = file->text,
                               .length    = file->length,
                               .name      = file->name,
                               .query     = file->query,
                               .nesting   = a->limits.nesting,
                               .max_links = a->limits.links,
                               .files     = file->files,
                               .path      = file->path,
                               .most      = a->limits.body};
    api_shortage_forget();
    api_model *model =
        api_read_robot(api_model_format_of_text(source.text, source.length), &source, file->deadline, problem);
    if (api_shortage_check(problem) || !model) {
        api_model_release(model);
        return false;
    }
    api_report_entries(model->report, report);
    bool loaded = api_registry_load(a->models, file->name, model, (api_origin){0}, problem);
    api_model_release(model);
    return loaded;
}
