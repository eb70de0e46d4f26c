/* model_archive.c - restore stored models when the server starts, and export and import all models as one archive:
 *
 *      {"format": "torqued-archive", "version": 1, "models": {"arm": record, "ur5": record, ...}}
 *
 * record.h describes a record. */
#include "api/service/http/call.h"
#include "api/base/memory/shortage.h"
#include "api/robots/model/model_loops.h"
#include "api/robots/model/record.h"
#include "api/codec/json.h"
#include <stdlib.h>
#include <string.h>

enum {
    ARCHIVE_MAX       = 1 << 30, /* bytes */
    ARCHIVE_VERSION   = 1,
    LEVELS_OF_RECORD  = 2, /* nesting levels of a record around its document; its report has no more levels */
    LEVELS_OF_ARCHIVE = LEVELS_OF_RECORD + 2,
};

static const char FORMAT[] = "torqued-archive";

void api_set_store(api *a, const api_store *store)
{
    api_registry_set_store(a->models, store);
}

/* Reads a model with api_record_read, and computes the reference configuration if the model has loops. */
static bool read_record(const api *a, const json_t *record, const char *name, api_model **model, api_problem *problem)
{
    if (!api_record_read(record, name, a->limits.links, model, problem)) return false;
    bool tombstone = *model == NULL;
    *model         = api_find_reference(*model, NULL, NULL, problem);
    return tombstone || *model != NULL;
}

static bool check_name(const char *name, api_problem *problem)
{
    return api_model_name_is_valid(name) ||
           api_fail(problem, API_BAD_NAME, NULL, "\"%.80s\" is not a model name", name);
}

void api_read_saved(api *a, const char *name, const char *record, size_t length, api_saved_model *saved)
{
    saved->model = NULL;
    api_problem_clear(&saved->problem);
    if (!check_name(name, &saved->problem)) return;
    api_shortage_forget();
    json_t *json = api_json_parse(record, length, a->limits.nesting + LEVELS_OF_RECORD, &saved->problem);
    if (json) read_record(a, json, name, &saved->model, &saved->problem);
    if (api_shortage_check(&saved->problem)) {
        api_model_release(saved->model);
        saved->model = NULL;
    }
    json_decref(json);
}

/* Enters the model or the tombstone of a record of that number; a fault if the record could not be read, or the limit
 * of memory does not allow the model. A numbered change without memory has no effect: its caller repeats it. */
static bool enter(api *a, const char *name, uint64_t number, api_saved_model *saved)
{
    api_problem *problem = &saved->problem;
    api_origin   origin  = {saved->model == NULL, number};
    if (!check_name(name, problem)) return false;
    bool good = problem->code == API_NO_PROBLEM && api_registry_load(a->models, name, saved->model, origin, problem);
    bool repeated = problem->code == API_MEMORY_FULL && number > 0; /* the name must not have the change already */
    if (!good && !repeated) api_registry_load_fault(a->models, name, problem, (api_origin){.number = number});
    api_model_release(saved->model);
    saved->model = NULL;
    return good;
}

bool api_restore(api *a, const char *name, api_saved_model *saved)
{
    return enter(a, name, 0, saved);
}

bool api_follow(api *a, const char *name, const char *record, size_t length, uint64_t number, api_problem *problem)
{
    if (api_registry_has_change(a->models, name, number)) return true;
    if (record) {
        api_saved_model saved;
        api_read_saved(a, name, record, length, &saved);
        bool good = enter(a, name, number, &saved);
        *problem  = saved.problem;
        return good;
    }
    api_saved_model damaged = {.model = NULL};
    api_problem_clear(&damaged.problem);
    api_fail(&damaged.problem, API_BAD_VALUE, NULL, "it is damaged: its checksum is wrong");
    enter(a, name, number, &damaged);
    *problem = damaged.problem;
    return false;
}

void api_forget_deleted(api *a, const char *const *names, size_t n)
{
    api_registry_keep(a->models, names, n);
}

bool api_visit_models(api *a, void (*visit)(void *arg, const char *name, const char *revision), void *arg)
{
    api_registry_entries list;
    if (!api_registry_list(a->models, &list)) return false;
    for (size_t i = 0; i < list.n_models; i++)
        visit(arg, list.models[i]->name, list.models[i]->revision);
    api_registry_entries_free(&list);
    return true;
}

/* --- export ---------------------------------------------------------------------------------------------------- */

static bool print_entry(void *arg, const char *name, const api_model *model)
{
    api_buffer *b = arg, record;
    if (b->data[b->length - 1] != '{') api_buffer_text(b, ",");
    api_buffer_format(b, "\n\"%s\":", name);
    api_record_print(&record, model);
    api_buffer_put(b, record.data, record.length);
    b->failed = b->failed || record.failed;
    api_buffer_free(&record);
    return !b->failed;
}

char *api_export(api *a, size_t *length)
{
    api_buffer b;
    api_buffer_init(&b, ARCHIVE_MAX);
    api_buffer_format(&b, "{\"format\":\"%s\",\"version\":%d,\"models\":{", FORMAT, ARCHIVE_VERSION);
    if (!b.failed) api_registry_visit(a->models, print_entry, &b);
    api_buffer_text(&b, "\n}}\n");
    *length = b.length;
    return api_buffer_take(&b);
}

/* --- import ---------------------------------------------------------------------------------------------------- */

typedef struct incoming {
    const char *name;  /* borrowed from the archive's JSON */
    api_model  *model; /* NULL: the record marks the model as deleted */
} incoming;

static bool read_item(const api *a, const char *name, const json_t *record, incoming *item, api_problem *problem)
{
    api_problem found;
    char        pointer[API_NAME_MAX + sizeof "/models/"];
    if (!api_model_name_is_valid(name))
        return api_fail(problem, API_BAD_NAME, "/models", "\"%.80s\" is not a model name", name);
    snprintf(pointer, sizeof pointer, "/models/%s", name);
    api_problem_clear(&found);
    item->name = name;
    if (read_record(a, record, name, &item->model, &found)) return true;
    return api_fail_within(problem, pointer, &found);
}

/* Returns the member "models" after checking the format and the version; NULL with a problem. */
static json_t *check_archive(const json_t *archive, api_problem *problem)
{
    const char *format  = json_string_value(json_object_get(archive, "format"));
    double      version = json_number_value(json_object_get(archive, "version"));
    json_t     *models  = json_object_get(archive, "models");
    if (!format || strcmp(format, FORMAT) != 0)
        api_fail(problem, API_BAD_VALUE, "/format", "this is not an archive of models: its \"format\" is not \"%s\"",
                 FORMAT);
    else if (version != ARCHIVE_VERSION)
        api_fail(problem, API_BAD_VALUE, "/version", "the archive has version %g; expected %d", version,
                 ARCHIVE_VERSION);
    else if (!json_is_object(models))
        api_fail(problem, API_WRONG_TYPE, "/models", "expected an object, found %s", api_json_kind(models));
    else
        return models;
    return NULL;
}

/* True if the registry has this model with the same document and the same report, so that nothing must be written. */
static bool is_unchanged(api *a, const api_model *model)
{
    api_model *current = api_registry_find(a->models, model->name);
    bool same = current && !strcmp(current->revision, model->revision) && json_equal(current->report, model->report);
    api_model_release(current);
    return same;
}

static api_commit commit_item(api *a, const incoming *item, api_problem *problem)
{
    const api_preconditions none = {NULL, NULL, NULL};
    if (!item->model) return api_registry_put_tombstone(a->models, item->name, problem);
    if (is_unchanged(a, item->model)) return API_MODEL_NOT_FOUND; /* the model is unchanged: nothing to write */
    return api_registry_put(a->models, item->model, &none, NULL, problem);
}

static bool put_into_effect(api *a, const incoming *item, api_import_counts *done, api_problem *problem)
{
    switch (commit_item(a, item, problem)) {
    case API_CREATED: done->created++; return true;
    case API_REPLACED: done->replaced++; return true;
    case API_DELETED: done->deleted++; return true;
    case API_MODEL_NOT_FOUND: done->unchanged++; return true;
    case API_REGISTRY_FULL:
        return api_fail(problem, API_STORE_FULL, NULL, "%s: the limit of %zu models is reached", item->name,
                        a->limits.models);
    case API_PRECONDITION_NOT_MET:
    case API_MODEL_UNSERVED:
    case API_NOT_STORED: break;
    }
    return false;
}

static bool import(api *a, json_t *models, api_import_counts *done, api_problem *problem)
{
    size_t      n = 0;
    const char *name;
    json_t     *record;
    incoming   *items = calloc(json_object_size(models) + 1, sizeof *items);
    bool        good  = true;
    if (!items) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory");
    json_object_foreach (models, name, record)
        if (good) good = read_item(a, name, record, &items[n++], problem);
    if (api_shortage_check(problem)) good = false;
    for (size_t i = 0; good && i < n; i++)
        good = put_into_effect(a, &items[i], done, problem);
    for (size_t i = 0; i < n; i++)
        api_model_release(items[i].model);
    free(items);
    return good;
}

bool api_import(api *a, const char *archive, size_t length, api_import_counts *done, api_problem *problem)
{
    *done = (api_import_counts){0};
    api_shortage_forget();
    json_t *json   = api_json_parse(archive, length, a->limits.nesting + LEVELS_OF_ARCHIVE, problem);
    json_t *models = json ? check_archive(json, problem) : NULL;
    bool    good   = models && import(a, models, done, problem);
    json_decref(json);
    return !api_shortage_check(problem) && good;
}
