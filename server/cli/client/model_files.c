/* model_files.c - implement `torqued models`, `torqued put` and `torqued delete`: list, create and remove the models of
 * a running server. */
#include "client_commands.h"
#include "connection.h"
#include "api/robot_files.h"
#include "server/cli/files/format_options.h"
#include "server/cli/files/gather.h"
#include "server/cli/files/report_text.h"
#include "zip.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTION_WIDTH = 60, PATH_SIZE = 4000 };

/* --- models ------------------------------------------------------------------------------------------------------ */

const cli_option cli_models_options[] = {
    {"names", NULL, CLI_NOTHING, NULL, "print the names alone, one a line"},
    {"json", NULL, CLI_NOTHING, NULL, "print the answer of the server"},
    {.name = NULL},
};

/* Prints one line: name, coordinates, base, first sentence of the description. */
static void print_model(const json_t *model, int width)
{
    const char *name = json_string_value(json_object_get(model, "name"));
    const char *base = json_string_value(json_object_get(model, "base"));
    const char *text = json_string_value(json_object_get(model, "description"));
    const char *stop = text ? strstr(text, ". ") : NULL;
    size_t      end  = stop ? (size_t)(stop - text) : text ? strcspn(text, "\n") : 0;
    long long   nq   = json_integer_value(json_object_get(model, "nq")),
              nv     = json_integer_value(json_object_get(model, "nv"));
    bool cut         = end > DESCRIPTION_WIDTH;
    if (cut)
        for (end = DESCRIPTION_WIDTH; end > 0 && text[end] != ' ';)
            end--;
    printf("%-*s %4lld %4lld  %-8s  %.*s%s\n", width, name ? name : "", nq, nv, base ? base : "", (int)end,
           text ? text : "", cut ? " ..." : "");
}

static void print_models(const json_t *models, bool names)
{
    const json_t *model;
    size_t        i;
    int           width = 4;
    json_array_foreach (models, i, model) {
        const char *name = json_string_value(json_object_get(model, "name"));
        if (names) puts(name ? name : "");
        if (name && (int)strlen(name) > width) width = (int)strlen(name);
    }
    if (!names) printf("%-*s %4s %4s  %-8s  %s\n", width, "name", "nq", "nv", "base", "description");
    json_array_foreach (models, i, model)
        if (!names) print_model(model, width);
}

/* Names the models that the server does not serve, with the reason, on standard error. */
static void print_unserved(const json_t *unserved)
{
    const json_t *fault;
    size_t        i;
    json_array_foreach (unserved, i, fault) {
        const char *name   = json_string_value(json_object_get(fault, "name"));
        const char *code   = json_string_value(json_object_get(fault, "code"));
        const char *detail = json_string_value(json_object_get(fault, "detail"));
        cli_error("%s is not served (%s): %s", name ? name : "", code ? code : "", detail ? detail : "");
    }
}

int cli_models(const cli_arguments *arguments)
{
    cli_connection c;
    int            status = cli_connection_open(&c, arguments);
    if (status != 0) return status;
    bool    good   = cli_connection_ask(&c, &(cli_request){.method = "GET", .path = "/v1/models"});
    json_t *answer = good ? json_loads(c.body.bytes, 0, NULL) : NULL, *models = json_object_get(answer, "models");
    if (good && cli_value(arguments, "json"))
        puts(c.body.bytes);
    else if (good && json_is_array(models))
        print_models(models, cli_value(arguments, "names") != NULL);
    else if (good)
        good = cli_error("%s is no torqued server: its answer lists no models", c.base);
    if (good && !cli_value(arguments, "json")) print_unserved(json_object_get(answer, "unserved"));
    json_decref(answer);
    cli_connection_close(&c);
    return good ? 0 : 1;
}

/* --- put, delete ------------------------------------------------------------------------------------------------- */

const cli_option cli_put_options[] = {
    {"meshes", NULL, CLI_NOTHING, NULL, "send the meshes of a URDF file, too"},
    CLI_VERBOSE,
    {.name = NULL},
};

/* Tells the media type by the first bytes: an archive, XML, or a model document, which is an object. */
static const char *media_type(const char *text, size_t length)
{
    switch (api_archive_kind_of(text, length)) {
    case API_NO_ARCHIVE: break;
    case API_ARCHIVE_ZIP: return "application/zip";
    case API_ARCHIVE_TAR: return "application/x-tar";
    case API_ARCHIVE_GZIP: return "application/gzip";
    case API_ARCHIVE_FORM: return "multipart/form-data";
    }
    text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* byte order mark of UTF-8 */
    return text[strspn(text, " \t\r\n")] == '<' ? "application/xml" : "application/json";
}

/* Prints what the server answered: "panda: created, revision ..., 7 coordinates", and the report of the import. */
static void print_put(const cli_connection *c, const char *model, bool verbose)
{
    json_t     *answer   = json_loads(c->body.bytes, 0, NULL), *entry;
    const char *revision = json_string_value(json_object_get(answer, "revision"));
    cli_report  report   = {.subject = model, .verbose = verbose};
    size_t      i;
    printf("%s: %s, revision %s, nq %lld, nv %lld\n", model, c->status == 201 ? "created" : "replaced",
           revision ? revision : "?", (long long)json_integer_value(json_object_get(answer, "nq")),
           (long long)json_integer_value(json_object_get(answer, "nv")));
    json_array_foreach (json_object_get(answer, "report"), i, entry) {
        const char *part[4], *const keys[4] = {"severity", "code", "where", "text"};
        for (size_t k = 0; k < 4; k++) {
            part[k] = json_string_value(json_object_get(entry, keys[k]));
            if (!part[k]) part[k] = "";
        }
        cli_report_entry(&report, part[0], part[1], part[2], part[3]);
    }
    cli_report_end(&report);
    json_decref(answer);
}

/* Sends a body as the model. False after printing an error. */
static bool send_robot(cli_connection *c, const char *model, const char *query, const char *body, size_t length)
{
    char path[PATH_SIZE], rest[PATH_SIZE];
    snprintf(rest, sizeof rest, "%s%s", *query ? "?" : "", query);
    return cli_model_path(c, model, rest, path, sizeof path) &&
           cli_connection_ask(c, &(cli_request){.method       = "PUT",
                                                .path         = path,
                                                .content_type = media_type(body, length),
                                                .body         = body,
                                                .length       = length,
                                                .waits        = true});
}

/* Appends main=PATH, percent-encoded, to a query. */
static bool escape_main(cli_connection *c, const char *main, char query[PATH_SIZE])
{
    size_t length  = strlen(query);
    char  *escaped = c->curl.easy_escape(c->handle, main, 0);
    int    n = escaped ? snprintf(query + length, PATH_SIZE - length, "%smain=%s", length > 0 ? "&" : "", escaped) : -1;
    if (escaped) c->curl.free(escaped);
    return (n >= 0 && (size_t)n < PATH_SIZE - length) || cli_error("the path %.80s is too long", main);
}

/* Sends a robot of several files as a zip archive. */
static bool put_archive(cli_connection *c, const char *model, const cli_robot *robot, char query[PATH_SIZE])
{
    cli_zip zip  = {0};
    bool    good = escape_main(c, robot->path + robot->common, query);
    for (size_t i = 0; i < robot->files.n && good; i++) {
        const api_file_entry *e = &robot->files.entry[i];
        good                    = cli_zip_add(&zip, e->path + robot->common, e->bytes, e->length);
    }
    good = good && cli_zip_finish(&zip) && send_robot(c, model, query, zip.bytes.bytes, zip.bytes.length);
    cli_text_free(&zip.bytes);
    cli_text_free(&zip.directory);
    return good;
}

/* Gathers a robot's files, sends them and prints what the server answers. False after printing an error. */
static bool put_robot(cli_connection *c, const cli_arguments *arguments)
{
    cli_robot        robot;
    char             query[PATH_SIZE];
    const char      *model  = arguments->operands[0];
    cli_robot_source source = {.operand = arguments->operands[1],
                               .main    = cli_value(arguments, "main"),
                               .path    = cli_value(arguments, "path"),
                               .meshes  = cli_value(arguments, "meshes") != NULL};
    if (!cli_format_query(arguments, query)) return false;
    bool good = cli_robot_gather(&robot, &source);
    if (!good && *robot.error) cli_error("%s: %s", source.operand, robot.error);
    if (good && robot.files.n > 1)
        good = put_archive(c, model, &robot, query);
    else if (good)
        good = (!source.main || robot.path || escape_main(c, source.main, query)) &&
               send_robot(c, model, query, robot.text, robot.length);
    if (good) print_put(c, model, cli_value(arguments, "verbose") != NULL);
    cli_robot_free(&robot);
    return good;
}

int cli_put(const cli_arguments *arguments)
{
    cli_connection c;
    int            status = cli_connection_open(&c, arguments);
    if (status != 0) return status;
    bool good = put_robot(&c, arguments);
    cli_connection_close(&c);
    return good ? 0 : 1;
}

int cli_delete(const cli_arguments *arguments)
{
    cli_connection c;
    char           path[PATH_SIZE];
    int            status = cli_connection_open(&c, arguments);
    if (status != 0) return status;
    bool good = true;
    for (size_t i = 0; i < arguments->n_operands && good; i++) {
        const char *model = arguments->operands[i];
        good              = cli_model_path(&c, model, "", path, sizeof path) &&
               cli_connection_ask(&c, &(cli_request){.method = "DELETE", .path = path, .waits = true});
        if (good) printf("%s: deleted\n", model);
    }
    cli_connection_close(&c);
    return good ? 0 : 1;
}
