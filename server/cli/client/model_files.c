/* model_files.c - implement `torqued models`, `torqued put` and `torqued delete`: list, create and remove the models of
 * a running server. */
#include "client_commands.h"
#include "connection.h"
#include "server/store/durable_file.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 30, DESCRIPTION_WIDTH = 60, PATH_SIZE = 500, QUERY_SIZE = 200 };

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
    json_decref(answer);
    cli_connection_close(&c);
    return good ? 0 : 1;
}

/* --- put, delete ------------------------------------------------------------------------------------------------- */

const cli_option cli_put_options[] = {
    {"base", "fixed|floating", CLI_WORDS, NULL, "URDF: whether the root link is fixed (default) or moves freely"},
    {"mimic", "independent|coupled|refuse", CLI_WORDS, NULL,
     "URDF: whether joints that mimic others move on their own (default), with them, or are refused"},
    {"inertia", "stated|collision|accept", CLI_WORDS, NULL,
     "URDF: whether links without an inertial have no mass (default) or the inertia of their collisions, or indefinite "
     "inertias load with a warning"},
    {"density", "KG/M3", CLI_NOTHING, NULL, "URDF: density of collisions that weigh (default 1000)"},
    {.name = NULL},
};

/* Writes the options as the query of the request. */
static void build_query(const cli_arguments *arguments, char query[QUERY_SIZE])
{
    size_t used = 0;
    *query      = '\0';
    for (const cli_option *o = cli_put_options; o->name; o++) {
        const char *value = cli_value(arguments, o->name);
        if (value)
            used +=
                (size_t)snprintf(query + used, QUERY_SIZE - used, "%c%s=%.30s", used > 0 ? '&' : '?', o->name, value);
    }
}

/* Tells the media type by the first character: a model document is an object, every other format is XML. */
static const char *media_type(const char *text)
{
    text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* byte order mark of UTF-8 */
    return text[strspn(text, " \t\r\n")] == '<' ? "application/xml" : "application/json";
}

/* Prints what the server answered: "panda: created, revision ..., 7 coordinates", and the report of the import. */
static void print_put(const cli_connection *c, const char *model)
{
    json_t     *answer   = json_loads(c->body.bytes, 0, NULL), *entry;
    const char *revision = json_string_value(json_object_get(answer, "revision"));
    size_t      i;
    printf("%s: %s, revision %s, nq %lld, nv %lld\n", model, c->status == 201 ? "created" : "replaced",
           revision ? revision : "?", (long long)json_integer_value(json_object_get(answer, "nq")),
           (long long)json_integer_value(json_object_get(answer, "nv")));
    json_array_foreach (json_object_get(answer, "report"), i, entry) {
        const char *part[4], *const keys[4] = {"severity", "code", "text", "where"};
        for (size_t k = 0; k < 4; k++) {
            part[k] = json_string_value(json_object_get(entry, keys[k]));
            if (!part[k]) part[k] = "";
        }
        printf("%s: %s %s: %s (%s)\n", model, part[0], part[1], part[2], part[3]);
    }
    json_decref(answer);
}

/* Sends a file as the model; prints what the server answers. False after printing an error. */
static bool put_file(cli_connection *c, const cli_arguments *arguments)
{
    const char *model = arguments->operands[0], *file = arguments->operands[1];
    char        path[PATH_SIZE], query[QUERY_SIZE];
    size_t      length;
    char       *text = srv_input_read(file, FILE_MAX, &length);
    if (!text) return cli_error("cannot read %s: %s", file, strerror(errno));
    build_query(arguments, query);
    bool good = cli_model_path(c, model, query, path, sizeof path) &&
                cli_connection_ask(c, &(cli_request){.method       = "PUT",
                                                     .path         = path,
                                                     .content_type = media_type(text),
                                                     .body         = text,
                                                     .length       = length,
                                                     .waits        = true});
    if (good) print_put(c, model);
    free(text);
    return good;
}

int cli_put(const cli_arguments *arguments)
{
    cli_connection c;
    int            status = cli_connection_open(&c, arguments);
    if (status != 0) return status;
    bool good = put_file(&c, arguments);
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
