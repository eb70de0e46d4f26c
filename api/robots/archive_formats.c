/* archive_formats.c - read a robot from an archive: formats zip, tar, gzip and form of formats.h. The parameter `main`
 * names the file of the robot; all other parameters are those of its format. */
#include "api/archive/archive.h"
#include "api/codec/escape.h"
#include "formats.h"
#include <stdlib.h>
#include <string.h>

/* A query without its parameter `main`. */
typedef struct archive_query {
    char  main[API_FILE_PATH]; /* "": none */
    char *rest;                /* the other parameters, joined by "&"; owned by the caller, who frees it */
} archive_query;

/* Decodes the value of `main`, percent-encoded in [from, end). */
static bool decode_main(const char *from, const char *end, char to[API_FILE_PATH], api_problem *problem)
{
    size_t n = 0;
    for (; from < end && n + 1 < API_FILE_PATH; n++) {
        int byte = *from == '%' ? api_percent_decode(from) : *from;
        if (*from == '%' && byte <= 0) break;
        from += *from == '%' ? 3 : 1;
        to[n] = (char)byte;
    }
    to[n] = '\0';
    return (from == end && n > 0) ||
           api_fail(problem, API_BAD_VALUE, NULL, "main is the path of a file in the archive, percent-encoded");
}

/* Splits a query. False with a problem, also if `main` occurs twice; the caller frees query->rest. */
static bool split_query(const char *text, archive_query *query, api_problem *problem)
{
    *query->main = '\0';
    query->rest  = calloc(strlen(text ? text : "") + 1, 1);
    if (!query->rest) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the query");
    for (const char *part = text ? text : "", *end; *part; part = end + (*end == '&')) {
        end = part + strcspn(part, "&");
        if (strncmp(part, "main=", 5) != 0) {
            if (*query->rest) strcat(query->rest, "&");
            strncat(query->rest, part, (size_t)(end - part));
        } else if (*query->main) {
            return api_fail(problem, API_UNKNOWN_PARAMETER, NULL, "main is given twice");
        } else if (!decode_main(part + 5, end, query->main, problem)) {
            return false;
        }
    }
    return true;
}

static bool check_archive_query(const char *text, api_problem *problem)
{
    archive_query query = {.rest = NULL};
    bool          good =
        split_query(text, &query, problem) && (!*query.rest || api_model_format_xml.check_query(query.rest, problem));
    free(query.rest);
    return good;
}

/* Finds the file of the robot. NULL with a problem. */
static const api_file_entry *find_main(const api_files *files, const char *name, api_share *share, api_problem *problem)
{
    if (!*name) return api_main_file(files, share, problem);
    const api_file_entry *found = api_files_find(files, "", name);
    if (!found) api_fail(problem, API_BAD_VALUE, NULL, "main: the archive has no file \"%.200s\"", name);
    return found;
}

/* Reads the robot's main file in its own format. `source` holds the other files of the archive, such as meshes. */
static api_model *read_main(api_model_source *source, const api_file_entry *main, const char *query,
                            api_problem *problem)
{
    const api_model_format *format = api_model_format_of_text(main->bytes, main->length);
    size_t                  bytes  = format->estimate_memory(main->bytes, main->length);
    source->text                   = main->bytes;
    source->length                 = main->length;
    source->path                   = main->path;
    source->query                  = query;
    if (api_archive_kind_of(main->bytes, main->length) != API_NO_ARCHIVE) {
        api_fail(problem, API_BAD_ARCHIVE, NULL, "\"%.200s\" is itself an archive", main->path);
        return NULL;
    }
    if (*query && !format->check_query(query, problem)) return NULL;
    if (source->share && !api_claim(source->share, bytes, problem)) return NULL;
    api_model *model = format->read(source, problem);
    if (source->share) api_unclaim(source->share, bytes);
    return model;
}

static api_model *read_robot_archive(api_archive_kind kind, const api_model_source *source, api_problem *problem)
{
    archive_query query   = {.rest = NULL};
    api_archive   archive = {.share = source->share, .most = source->most};
    api_model    *model   = NULL;
    if (split_query(source->query, &query, problem) &&
        api_archive_open(&archive, kind, source->text, source->length, problem)) {
        const api_file_entry *main  = find_main(&archive.files, query.main, source->share, problem);
        api_model_source      inner = *source;
        inner.files                 = &archive.files;
        if (main) model = read_main(&inner, main, query.rest, problem);
    }
    free(query.rest);
    api_archive_close(&archive);
    return model;
}

/* Returns 0: readers of archives claim memory while they unpack the files. */
static size_t estimate_nothing(const char *text, size_t length)
{
    (void)text, (void)length;
    return 0;
}

#define ARCHIVE_FORMAT(name, kind, media_type)                                                                         \
    static api_model *read_##name(const api_model_source *source, api_problem *problem)                                \
    {                                                                                                                  \
        return read_robot_archive(kind, source, problem);                                                              \
    }                                                                                                                  \
    static const char *const name##_types[]          = {media_type, NULL};                                             \
    const api_model_format   api_model_format_##name = {.media_types     = name##_types,                               \
                                                        .check_query     = check_archive_query,                        \
                                                        .estimate_memory = estimate_nothing,                           \
                                                        .read            = read_##name};

ARCHIVE_FORMAT(zip, API_ARCHIVE_ZIP, "application/zip")
ARCHIVE_FORMAT(tar, API_ARCHIVE_TAR, "application/x-tar")
ARCHIVE_FORMAT(gzip, API_ARCHIVE_GZIP, "application/gzip")
ARCHIVE_FORMAT(form, API_ARCHIVE_FORM, "multipart/form-data")
