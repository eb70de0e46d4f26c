/* write_model.c - write a loaded model as the text of a file, for commands that run without a server. */
#include "api/service/http/call.h"
#include "api/robots/document/document.h"
#include "api/base/memory/shortage.h"
#include "report.h"
#include "write_model.h"
#include <stdlib.h>
#include <string.h>

static bool has_version(const api_model_format *format, const char *version)
{
    for (const char *const *v = format->versions; v && *v; v++)
        if (strcmp(*v, version) == 0) return true;
    return false;
}

static const api_model_format *find_format(const api_model_form *form, api_problem *problem)
{
    const api_model_format *format = api_model_format_named(form->format);
    char                    names[API_MODEL_FORMAT_NAMES];
    api_model_format_names(names);
    if (!format)
        api_fail(problem, API_BAD_VALUE, NULL, "\"%.40s\" is not a format to write; there are: %s", form->format,
                 names);
    if (format && form->bound && !format->bound) {
        api_fail(problem, API_BAD_VALUE, NULL,
                 "a document is not bounded: that is for files of simulators; there are: %s", names);
        return NULL;
    }
    if (format && form->version && !has_version(format, form->version)) {
        api_fail(problem, API_BAD_VALUE, NULL,
                 "%s is not written as version \"%.20s\": only urdf has a choice, 1.0 or 1.2", format->name,
                 form->version);
        return NULL;
    }
    return format;
}

/* Lists the warnings about the file that the model was read from. Warnings about the document are left out: they are
 * found again when the document is read. */
static json_t *list_warnings(const json_t *report)
{
    json_t *list = json_array(), *entry;
    size_t  i;
    json_array_foreach (report, i, entry) {
        const char *severity = json_string_value(json_object_get(entry, "severity"));
        const char *where    = json_string_value(json_object_get(entry, "where"));
        if (strcmp(severity, "warning") != 0 || *where == '/' || *where == '\0') continue;
        json_t *warning = json_pack("{sOsOsO}", "code", json_object_get(entry, "code"), "where",
                                    json_object_get(entry, "where"), "text", json_object_get(entry, "text"));
        if (!warning || json_array_append_new(list, warning)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static char *no_room_for_document(api_problem *problem)
{
    api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the document");
    return NULL;
}

/* Copies the document, and adds the warnings about the file. */
static char *copy_document(const api_model *model, size_t *length, api_problem *problem)
{
    api_buffer b;
    json_t    *warnings = list_warnings(model->report);
    if (!warnings) return no_room_for_document(problem);
    bool any = json_array_size(warnings) > 0;
    api_buffer_init(&b, SIZE_MAX);
    api_buffer_put(&b, model->document, model->document_length - any); /* the document without its closing brace */
    if (any) {
        api_buffer_text(&b, ",\"warnings\":");
        api_json_print(&b, warnings);
        api_buffer_text(&b, "}");
    }
    json_decref(warnings);
    *length    = b.length;
    char *text = api_buffer_take(&b);
    return text ? text : no_room_for_document(problem);
}

/* Reads the model's document again into an api_document, from which the writers of all formats work, and writes it. */
static char *write_document(const api *a, const api_model *model, const api_model_form *form, api_reader *reader,
                            size_t *length)
{
    const api_model_format *format  = api_model_format_named(form->format);
    const api_model_heading heading = {.name = model->name, .version = form->version};
    api_document            document;
    char                   *text = NULL;
    json_t *in = api_json_parse(model->document, model->document_length, API_EMIT_DEPTH, reader->problem);
    if (!in) return NULL;
    bool read = api_document_read(&document, reader, in, model->name, a->limits.links);
    json_array_clear(reader->report); /* removes the entries of this second reading: the caller has them already */
    if (read && (!form->bound || format->bound(&document, reader)))
        text = format->write(&document, &heading, reader, length);
    json_decref(document.canonical);
    json_decref(in);
    return text; /* cppcheck-suppress returnDanglingLifetime ; memory of the writer's own */
}

size_t api_write_model_estimate(const api_model *model)
{
    enum { XML_PER_BYTE = 40 }; /* nodes of libxml2, and the text, for each byte of a document */
    return api_model_format_json.estimate_memory(model->document, model->document_length) +
           XML_PER_BYTE * model->document_length;
}

char *api_write_model_file(const api *a, const api_model *model, const api_model_form *form,
                           const api_report_target *report, size_t *length, api_problem *problem)
{
    api_arena  arena  = {0};
    api_reader reader = {.arena = &arena, .problem = problem, .report = json_array()};
    char      *text   = NULL;
    api_shortage_forget();
    if (!reader.report)
        api_reader_no_memory(&reader);
    else
        text = write_document(a, model, form, &reader, length);
    if (api_shortage_check(problem)) { /* libxml2 leaves out an attribute for which it has no memory */
        free(text);
        text = NULL;
    }
    if (text) api_report_entries(reader.report, report);
    json_decref(reader.report);
    api_arena_free(&arena);
    return text;
}

char *api_write_model(api *a, const char *name, const api_model_form *form, const api_report_target *report,
                      size_t *length, api_problem *problem)
{
    const api_model_format *format = find_format(form, problem);
    api_model              *model  = format ? api_registry_find(a->models, name) : NULL;
    if (!format) return NULL;
    if (!model) {
        api_fail(problem, API_NO_SUCH_MODEL, NULL, "there is no model \"%.64s\"", name);
        return NULL;
    }
    char *text = format->write ? api_write_model_file(a, model, form, report, length, problem)
                               : copy_document(model, length, problem);
    api_model_release(model);
    return text;
}
