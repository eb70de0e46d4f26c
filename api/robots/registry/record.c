/* record.c - see record.h: form and checks of a stored record. */
#include "record.h"
#include "api/codec/pointer.h"
#include <string.h>

enum { RECORD_MAX = 1 << 30 }; /* limit in bytes; no document is nearly as long */

void api_record_print(api_buffer *b, const api_model *model)
{
    api_buffer_init(b, RECORD_MAX);
    if (!model) {
        api_buffer_text(b, "{\"deleted\":true}");
        return;
    }
    api_buffer_format(b, "{\"version\":%d,\"document\":", API_RECORD_VERSION);
    api_buffer_put(b, model->document, model->document_length);
    api_buffer_text(b, ",\"report\":");
    api_json_print(b, model->report);
    api_buffer_text(b, "}");
}

static bool is_entry(const json_t *entry)
{
    static const char *const members[] = {"severity", "code", "where", "text"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (!json_is_string(json_object_get(entry, members[i]))) return false;
    return json_object_size(entry) == sizeof members / sizeof members[0];
}

static bool check_report(const json_t *report, api_problem *problem)
{
    size_t  i;
    json_t *entry;
    if (!json_is_array(report))
        return api_fail(problem, API_WRONG_TYPE, "/report", "expected an array, given %s", api_json_kind(report));
    json_array_foreach (report, i, entry)
        if (!is_entry(entry))
            return api_fail(problem, API_WRONG_TYPE, "/report",
                            "entry %zu is not of the form {\"severity\", \"code\", \"where\", \"text\"}, all texts", i);
    return true;
}

static bool check_version(const json_t *version, api_problem *problem)
{
    if (!version) return true;
    if (!json_is_number(version))
        return api_fail(problem, API_WRONG_TYPE, "/version", "expected a number, given %s", api_json_kind(version));
    double number = json_number_value(version);
    for (int known = 1; known <= API_RECORD_VERSION; known++)
        if (number == known) return true;
    return api_fail(problem, API_BAD_VALUE, "/version",
                    "the record has version %.15g, and this torqued reads up to version %d", number,
                    API_RECORD_VERSION);
}

static bool check_members(const json_t *record, const json_t *document, const json_t *report, api_problem *problem)
{
    size_t known = 1u + (report ? 1u : 0u) + (json_object_get(record, "version") ? 1u : 0u);
    if (!document)
        return api_fail(problem, API_MISSING_FIELD, "",
                        "a record is {\"version\": 1, \"document\": {...}, \"report\": [...]} or {\"deleted\": true}");
    if (json_object_size(record) != known)
        return api_fail(problem, API_UNKNOWN_FIELD, "",
                        "a record has no members but \"version\", \"document\" and \"report\"");
    return !report || check_report(report, problem);
}

bool api_record_read(const json_t *record, const char *name, size_t max_links, api_model **model, api_problem *problem)
{
    *model = NULL;
    if (!check_version(json_object_get(record, "version"), problem)) return false;
    if (json_is_true(json_object_get(record, "deleted")) && json_object_size(record) == 1) return true;
    json_t *document = json_object_get(record, "document"), *report = json_object_get(record, "report");
    if (!check_members(record, document, report, problem)) return false;
    api_problem found;
    api_problem_clear(&found);
    *model = api_model_from_document(document, name, max_links, &found);
    if (!*model) return api_fail_within(problem, "/document", &found);
    if (report) { /* the report may be replaced: no other thread has the model yet */
        json_decref((*model)->report);
        (*model)->report = json_incref(report);
    }
    return true;
}
