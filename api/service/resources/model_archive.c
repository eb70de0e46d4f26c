/* model_archive.c - restore stored models when the server starts, and export and import all models as one archive.
 *
 * archive_manifest.h has the form of an archive, record.h that of a record. An archive of version 1, which earlier
 * releases wrote, has no manifest:
 *
 *      {"format": "torqued-archive", "version": 1, "models": {"arm": record, "ur5": record, ...}} */
#include "archive_manifest.h"
#include "api/service/http/call.h"
#include "api/base/memory/shortage.h"
#include "api/robots/model/model_loops.h"
#include "api/robots/registry/record.h"
#include "api/codec/json.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_OF_RECORD   = 2, /* nesting levels of a record around its document; its report has no more levels */
    LEVELS_OF_ARCHIVE  = LEVELS_OF_RECORD + 2,
    MEMBERS_OF_ARCHIVE = 3, /* without manifest and checksum */
};

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

void api_forget_model(api *a, const char *name)
{
    api_problem ignored;
    api_problem_clear(&ignored);
    api_registry_load(a->models, name, NULL, (api_origin){.bundled = false}, &ignored);
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

static bool add_to_archive(void *arg, const char *name, const api_model *model)
{
    api_archive *archive = arg;
    api_buffer   record;
    api_record_print(&record, model);
    if (record.failed)
        archive->text.failed = true;
    else
        api_archive_add(archive, name, &record);
    api_buffer_free(&record);
    return !archive->text.failed;
}

bool api_check_served(api *a, api_problem *problem)
{
    api_registry_entries list;
    if (!api_registry_list(a->models, &list)) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory");
    bool whole = list.n_faults == 0;
    if (!whole)
        api_fail(problem, list.faults[0].code, NULL,
                 "an archive would not be whole without the models that cannot be read; the first of %zu is %s: %s",
                 list.n_faults, list.faults[0].name, list.faults[0].detail);
    api_registry_entries_free(&list);
    return whole;
}

char *api_export(api *a, const char *made, size_t *length, api_problem *problem)
{
    api_archive archive;
    api_archive_begin(&archive);
    api_registry_visit(a->models, add_to_archive, &archive);
    char *text = api_archive_end(&archive, a->version, made, length);
    if (!text) api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the archive, or it is larger than 1 GiB");
    return text;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

typedef struct incoming {
    const char *name;  /* borrowed from the archive's JSON */
    api_model  *model; /* NULL: the record marks the model as deleted */
} incoming;

/* The contents of an archive. */
typedef struct contents {
    json_t           *json;
    incoming         *item; /* [n] */
    size_t            n;
    api_archive_facts facts;
} contents;

static void free_contents(contents *c)
{
    for (size_t i = 0; i < c->n; i++)
        api_model_release(c->item[i].model);
    free(c->item);
    json_decref(c->json);
}

static void show_progress(const api_archive_watch *watch, size_t done, size_t all)
{
    if (watch) watch->show(watch->arg, done, all);
}

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

/* Checks that there is nothing in the archive that would be ignored, and that the manifest counts the models. */
static bool check_archive_members(const json_t *archive, bool has_manifest, api_problem *problem)
{
    const json_t *manifest = json_object_get(archive, "manifest");
    size_t        known    = MEMBERS_OF_ARCHIVE + (has_manifest ? 2u : 0u);
    size_t        n        = json_object_size(json_object_get(archive, "models"));
    if (json_object_size(archive) != known || !manifest != !has_manifest)
        return api_fail(problem, API_UNKNOWN_FIELD, "",
                        "the archive has members that are not known, or is damaged outside its models");
    if (!has_manifest || json_number_value(json_object_get(manifest, "count")) == (double)n) return true;
    return api_fail(problem, API_BAD_VALUE, "/manifest/count", "the archive has %zu models; its manifest counts %g", n,
                    json_number_value(json_object_get(manifest, "count")));
}

/* Returns the member "models" after checking the format and the version; NULL with a problem. */
static json_t *check_archive(const json_t *archive, bool has_manifest, api_problem *problem)
{
    const char *format  = json_string_value(json_object_get(archive, "format"));
    double      version = json_number_value(json_object_get(archive, "version"));
    json_t     *models  = json_object_get(archive, "models");
    if (!format || strcmp(format, "torqued-archive") != 0)
        api_fail(problem, API_BAD_VALUE, "/format",
                 "this is not an archive of models: its \"format\" is not \"torqued-archive\"");
    else if (version != 1 && version != API_ARCHIVE_VERSION)
        api_fail(problem, API_BAD_VALUE, "/version", "the archive has version %g; this torqued reads 1 and %d", version,
                 API_ARCHIVE_VERSION);
    else if (!json_is_object(models))
        api_fail(problem, API_WRONG_TYPE, "/models", "expected an object, found %s", api_json_kind(models));
    else if (check_archive_members(archive, has_manifest, problem))
        return models;
    return NULL;
}

static void copy_fact(char *to, size_t size, const json_t *text)
{
    snprintf(to, size, "%s", json_is_string(text) ? json_string_value(text) : "");
}

static void describe_archive(const json_t *archive, size_t n, bool has_manifest, api_archive_facts *facts)
{
    const json_t *manifest = json_object_get(archive, "manifest");
    *facts                 = (api_archive_facts){.models = n, .has_manifest = has_manifest};
    copy_fact(facts->version, sizeof facts->version, json_object_get(manifest, "torqued"));
    copy_fact(facts->made, sizeof facts->made, json_object_get(manifest, "made"));
}

static bool read_items(const api *a, json_t *models, const api_archive_watch *watch, contents *c, api_problem *problem)
{
    const char *name;
    json_t     *record;
    size_t      all  = json_object_size(models);
    bool        good = true;
    c->item          = calloc(all + 1, sizeof *c->item);
    if (!c->item) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory");
    json_object_foreach (models, name, record) {
        if (good) good = read_item(a, name, record, &c->item[c->n++], problem);
        if (good) show_progress(watch, c->n, all);
    }
    return good && !api_shortage_check(problem);
}

/* Reads and checks a whole archive. The caller frees the contents, also after a failure. */
static bool read_archive(const api *a, const char *text, size_t length, const api_archive_watch *watch, contents *c,
                         api_problem *problem)
{
    bool has_manifest;
    *c = (contents){0};
    api_shortage_forget();
    if (!api_manifest_check(text, length, &has_manifest, problem)) return false;
    c->json        = api_json_parse(text, length, a->limits.nesting + LEVELS_OF_ARCHIVE, problem);
    json_t *models = c->json ? check_archive(c->json, has_manifest, problem) : NULL;
    bool    good   = models && read_items(a, models, watch, c, problem);
    if (good) describe_archive(c->json, c->n, has_manifest, &c->facts);
    return !api_shortage_check(problem) && good;
}

bool api_verify(api *a, const char *archive, size_t length, const api_archive_watch *watch, api_archive_facts *facts,
                api_problem *problem)
{
    contents c;
    bool     good = read_archive(a, archive, length, watch, &c, problem);
    *facts        = c.facts;
    free_contents(&c);
    return good;
}

/* --- import ---------------------------------------------------------------------------------------------------- */

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

bool api_import(api *a, const char *archive, size_t length, const api_import_options *options, api_import_counts *done,
                api_problem *problem)
{
    contents c;
    *done     = (api_import_counts){0};
    bool good = read_archive(a, archive, length, options->watch, &c, problem);
    if (good && !c.facts.has_manifest && !options->unverified)
        good = api_fail(problem, API_BAD_VALUE, NULL,
                        "the archive has no manifest, so that nothing tells whether it is whole: it was written by "
                        "hand or by an earlier torqued; with --unverified it is taken all the same");
    for (size_t i = 0; good && i < c.n; i++) {
        good = put_into_effect(a, &c.item[i], done, problem);
        show_progress(options->watch, i + 1, c.n);
    }
    free_contents(&c);
    return good;
}
