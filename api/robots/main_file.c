/* main_file.c - chooses the file among several from which a robot is read; see robot_files.h. */
#include "api/robot_files.h"
#include "api/base/memory/shortage.h"
#include "api/robots/formats.h"
#include "api/robots/sdf/sdf_model_file.h"
#include "api/robots/xml/xml_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* State of the search for files that other files include. */
typedef struct search {
    const api_files      *files;
    const api_file_entry *entry;    /* the file that is searched for names */
    bool                 *included; /* [files->n] */
} search;

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcasecmp(path + length - n, ending) == 0;
}

/* True for a robot. A template of xacro is none, since it has to be expanded first. */
static bool is_robot(const api_file_entry *entry)
{
    size_t      n = 0;
    const char *root =
        api_xml_begins(entry->bytes, entry->length) ? api_xml_root_name(entry->bytes, entry->length, &n) : NULL;
    return root && !ends_with(entry->path, ".xacro") && api_model_format_of_root(root, n);
}

/* Finds an included file of MJCF in the folder of the file that includes it, or in one around it, since the name is
 * relative to the folder of the main file, which is not known yet. */
static const api_file_entry *find_above(const api_files *files, const char *path, const char *name)
{
    char folder[API_FILE_PATH];
    api_files_folder(path, folder);
    for (;;) {
        const api_file_entry *found = api_files_find(files, folder, name);
        if (found || *folder == '\0') return found;
        char *slash               = strrchr(folder, '/');
        *(slash ? slash : folder) = '\0';
    }
}

static bool mark_reference(void *arg, api_reference_kind kind, const char *name)
{
    search               *s     = arg;
    const api_file_entry *found = NULL;
    char                  folder[API_FILE_PATH];
    if (kind == API_REFERENCE_MJCF) found = find_above(s->files, s->entry->path, name);
    if (kind == API_REFERENCE_SDF) {
        api_files_folder(s->entry->path, folder);
        found = api_sdf_find_model(s->files, folder, name);
    }
    if (found && found != s->entry) s->included[found - s->files->entry] = true;
    return true;
}

static void mark_older(void *arg, const api_file_entry *older)
{
    search *s                            = arg;
    s->included[older - s->files->entry] = true;
}

/* Marks the files that the current entry includes; for a model.config, the files of older versions of the same
 * model. */
static void mark_named(search *s)
{
    const api_file_entry *e    = s->entry;
    const char           *base = strrchr(e->path, '/') ? strrchr(e->path, '/') + 1 : e->path;
    if (strcmp(base, "model.config") == 0)
        api_sdf_visit_older(s->files, e, mark_older, s);
    else
        api_xml_references(e->bytes, e->length, mark_reference, s);
}

/* Marks every file that a robot among the files includes, and older versions of models. */
static bool mark_included(search *s, api_share *share, api_problem *problem)
{
    for (size_t i = 0; i < s->files->n; i++) {
        s->entry = &s->files->entry[i];
        if (!is_robot(s->entry) && !ends_with(s->entry->path, "model.config")) continue;
        size_t bytes = api_xml_estimate_memory(s->entry->bytes, s->entry->length);
        if (share && !api_claim(share, bytes, problem)) return false;
        mark_named(s);
        if (share) api_unclaim(share, bytes);
    }
    return !api_shortage_check(problem);
}

/* Fails, and lists the candidates. */
static bool fail_choice(const search *s, size_t robots, size_t candidates, api_problem *problem)
{
    char   list[300] = "";
    size_t length    = 0;
    if (robots == 0)
        return api_fail(problem, API_BAD_ARCHIVE, NULL,
                        "no file has <robot> (URDF), <mujoco> or <sdf> as its outermost element; a file .xacro is a "
                        "template: expand it by xacro first");
    for (size_t i = 0; i < s->files->n && length < sizeof list; i++) {
        bool listed = is_robot(&s->files->entry[i]) && (candidates == 0 || !s->included[i]);
        if (listed)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? ", " : "",
                                       s->files->entry[i].path);
    }
    return api_fail(problem, API_BAD_ARCHIVE, NULL,
                    "%zu files may be the robot; ?main=PATH or --main PATH chooses one: %s%s",
                    candidates > 0 ? candidates : robots, list, length < sizeof list ? "" : " ...");
}

static const api_file_entry *choose_candidate(const search *s, api_problem *problem)
{
    const api_file_entry *chosen = NULL;
    size_t                robots = 0, candidates = 0;
    for (size_t i = 0; i < s->files->n; i++) {
        if (!is_robot(&s->files->entry[i])) continue;
        robots++;
        if (s->included[i]) continue;
        candidates++;
        chosen = &s->files->entry[i];
    }
    if (candidates == 1) return chosen;
    fail_choice(s, robots, candidates, problem);
    return NULL;
}

const api_file_entry *api_main_file(const api_files *files, api_share *share, api_problem *problem)
{
    search s = {.files = files, .included = calloc(files->n + 1, sizeof *s.included)};
    if (!s.included) {
        api_fail(problem, API_MEMORY_FULL, NULL, "no memory to find the robot");
        return NULL;
    }
    const api_file_entry *chosen = mark_included(&s, share, problem) ? choose_candidate(&s, problem) : NULL;
    free(s.included);
    return chosen;
}
