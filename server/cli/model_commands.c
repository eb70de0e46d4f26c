/* model_commands.c - implement `torqued check`, `torqued convert` and `torqued eval`: the answers of a server,
 * without a server. The commands use the same interface (api.h) as the server and store nothing. */
#include "commands.h"
#include "server/store/durable_file.h"
#include "command_session.h"
#include "read_beside.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 30, NAME_MAX_BYTES = 64, QUERY_MAX = 200 };

/* --- options and files ----------------------------------------------------------------------------------------- */

const cli_option cli_format_options[] = {
    {"base", "fixed|floating", CLI_WORDS, NULL,
     "URDF: whether the root link is fixed (default) or moves freely; SDF: instead of what the file says"},
    {"mimic", "independent|coupled|refuse", CLI_WORDS, NULL,
     "URDF, SDF: whether joints that mimic others move on their own (default of URDF), with them (default of SDF), or "
     "are "
     "refused"},
    {"inertia", "stated|collision|accept", CLI_WORDS, NULL,
     "URDF: whether links without an inertial have no mass (default) or the inertia of their collisions, or indefinite "
     "inertias load with a warning"},
    {"density", "KG/M3", CLI_NOTHING, NULL, "URDF: density of collisions that weigh (default 1000)"},
    {"equality", "coupled|independent|refuse", CLI_WORDS, NULL,
     "MJCF: whether equalities become mimics and loops (default), are left out, or are refused"},
    {.name = NULL},
};

/* Converts the options to the query of a PUT. */
static void build_query(const cli_arguments *arguments, char query[QUERY_MAX])
{
    *query = '\0';
    for (const cli_option *o = cli_format_options; o->name; o++) {
        size_t      length = strlen(query);
        const char *value  = cli_value(arguments, o->name);
        if (value) snprintf(query + length, QUERY_MAX - length, "%s%s=%.30s", length > 0 ? "&" : "", o->name, value);
    }
}

/* Derives a model's name from a file name: without folders and extension; invalid characters become '_'. */
static void derive_name(const char *file, char name[NAME_MAX_BYTES + 1])
{
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file, *dot = strrchr(base, '.');
    size_t      length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (length > NAME_MAX_BYTES) length = NAME_MAX_BYTES;
    for (size_t i = 0; i < length; i++)
        name[i] = isalnum((unsigned char)base[i]) || strchr("._-", base[i]) ? base[i] : '_';
    name[length] = '\0';
    if (!isalnum((unsigned char)name[0])) strcpy(name, "model");
}

static void print_problem(FILE *out, const char *file, const api_problem *problem)
{
    fprintf(out, "%s: error %s: %s", file, api_problem_kind_of(problem->code)->code, problem->detail);
    if (problem->has_pointer && *problem->pointer) fprintf(out, " (%s)", problem->pointer);
    if (problem->offset >= 0) fprintf(out, " (byte %lld)", problem->offset);
    fputc('\n', out);
}

/* Reads a file and loads its model; prints its problem to `out`. */
static bool load_file(const srv_session *s, const char *file, const char *query, FILE *out,
                      const api_report_target *report, char name[NAME_MAX_BYTES + 1])
{
    size_t      length;
    api_problem problem;
    char       *text = srv_input_read(file, FILE_MAX, &length);
    if (!text) {
        fprintf(out, "%s: error: cannot read it: %s\n", file, strerror(errno));
        return false;
    }
    derive_name(file, name);
    api_problem_clear(&problem);
    api_model_file model  = {.name        = name,
                             .text        = text,
                             .length      = length,
                             .query       = query,
                             .read_beside = srv_read_beside,
                             .arg         = (void *)(uintptr_t)file};
    bool           loaded = api_load_file(s->api, &model, report, &problem);
    if (!loaded) print_problem(out, file, &problem);
    free(text);
    return loaded;
}

/* --- requests -------------------------------------------------------------------------------------------------- */

/* Executes one request. Prints the answer to standard output, or a problem to standard error. Returns the exit
 * status. */
static int answer(const srv_session *s, const char *method, const char *target, const char *body, size_t length)
{
    api_request request = {.method = method, .target = target, .has_body = body != NULL};
    api_worker *worker  = api_worker_open();
    api_call   *call    = api_begin(s->api, &request);
    if (!worker || !call) return cli_fail(1, "out of memory"); /* frees nothing, because the process exits */
    if (api_wants_body(call) && api_reserve(call, length)) api_run(call, worker, body, length, NULL);
    const api_reply *reply = api_reply_of(call);
    bool             good  = reply->status == 200;
    FILE            *out   = good ? stdout : stderr;
    fwrite(reply->body, 1, reply->length, out); /* cli_close_stdout reports a failure */
    fputc('\n', out);
    api_end(call);
    api_worker_close(worker);
    return good ? 0 : 1;
}

/* --- check ----------------------------------------------------------------------------------------------------- */

/* A file that is checked, and the warnings about it. */
typedef struct check_state {
    const char *file;
    size_t      warnings;
} check_state;

static void print_report_entry(void *arg, const char *severity, const char *code, const char *where, const char *text)
{
    check_state *check = arg;
    check->warnings += strcmp(severity, "warning") == 0;
    printf("%s: %s %s: %s (%s)\n", check->file, severity, code, text, where);
}

static void print_verdict(const check_state *check)
{
    if (check->warnings == 0)
        printf("%s: good\n", check->file);
    else
        printf("%s: loads, with %zu warning%s\n", check->file, check->warnings, check->warnings == 1 ? "" : "s");
}

int srv_check(const cli_arguments *arguments)
{
    srv_session s;
    char        query[QUERY_MAX], name[NAME_MAX_BYTES + 1];
    int         status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    build_query(arguments, query);
    for (size_t i = 0; i < arguments->n_operands; i++) {
        const char       *file   = arguments->operands[i];
        check_state       check  = {.file = file};
        api_report_target report = {.entry = print_report_entry, .arg = &check};
        bool              good   = load_file(&s, file, query, stdout, &report, name);
        if (good)
            print_verdict(&check);
        else
            status = 1;
    }
    srv_session_close(&s);
    return status;
}

/* --- convert --------------------------------------------------------------------------------------------------- */

const cli_option cli_convert_options[] = {
    {"to", "document|urdf|mjcf", CLI_WORDS, NULL, "format to write; default document"},
    {"strict", NULL, CLI_NOTHING, NULL, "fail, and write nothing, if the result would not hold the whole robot"},
    {.name = NULL},
};

/* Findings: content of the source that the result does not hold. */
typedef struct losses {
    const char *file;
    size_t      n;
} losses;

static void print_loss(void *arg, const char *severity, const char *code, const char *where, const char *text)
{
    losses *found = arg;
    (void)severity;
    if (strcmp(code, "not-held") != 0) return;
    found->n++;
    fprintf(stderr, "%s: %s: %s (%s)\n", found->file, code, text, where);
}

/* Writes the loaded model to standard output; prints what the format cannot hold. */
static int write_converted(const srv_session *s, const cli_arguments *arguments, const char *name, losses *found)
{
    size_t            length = 0;
    api_problem       problem;
    api_report_target report = {.entry = print_loss, .arg = found};
    const char       *to     = cli_value(arguments, "to");
    api_problem_clear(&problem);
    char *text = api_write_model(s->api, name, to ? to : "document", &report, &length, &problem);
    if (!text) {
        print_problem(stderr, found->file, &problem);
        return 1;
    }
    int status = 0;
    if (found->n > 0 && cli_value(arguments, "strict"))
        status = cli_fail(1, "%s: nothing was written: --strict, and the result would not hold the whole robot",
                          found->file);
    else
        fwrite(text, 1, length, stdout); /* cli_close_stdout reports a failure */
    if (status == 0 && text[length - 1] != '\n') putchar('\n');
    free(text);
    return status;
}

int srv_convert(const cli_arguments *arguments)
{
    srv_session       s;
    char              query[QUERY_MAX], name[NAME_MAX_BYTES + 1];
    losses            found  = {.file = arguments->operands[0]};
    api_report_target report = {.entry = print_loss, .arg = &found};
    int               status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    build_query(arguments, query);
    status = load_file(&s, found.file, query, stderr, &report, name) ? write_converted(&s, arguments, name, &found) : 1;
    srv_session_close(&s);
    return status;
}

/* --- eval ------------------------------------------------------------------------------------------------------ */

/* Loads the model from a file, or, if there is no such file, finds a model of the server by name. Returns 0, or the
 * exit status after printing the error. */
static int find_model(srv_session *s, const char *model, const char *query, char name[NAME_MAX_BYTES + 1])
{
    struct stat status;
    if (stat(model, &status) == 0 && !S_ISDIR(status.st_mode))
        return load_file(s, model, query, stderr, NULL, name) ? 0 : 1;
    if (strchr(model, '/')) return cli_fail(1, "there is no such file, and a model's name has no slash");
    if (snprintf(name, NAME_MAX_BYTES + 1, "%s", model) > NAME_MAX_BYTES)
        return cli_fail(1, "the model's name is longer than 64 bytes, and there is no such file");
    if (*query) return cli_fail(2, "options of a format are for a file, not for a model by name");
    return srv_session_load(s) ? 0 : 1;
}

/* Answers the request of standard input. Returns the exit status. */
static int answer_input(srv_session *s, const cli_arguments *arguments)
{
    char   query[QUERY_MAX], name[NAME_MAX_BYTES + 1], target[200];
    size_t length;
    char  *body = srv_stream_read(stdin, FILE_MAX, &length);
    if (!body) return cli_fail(1, "cannot read the request from standard input");
    build_query(arguments, query);
    int status = find_model(s, arguments->operands[0], query, name);
    if (status == 0) {
        api_set_ready(s->api);
        snprintf(target, sizeof target, "/v1/models/%s/%.100s", name, arguments->operands[1]);
        status = answer(s, "POST", target, body, length);
    }
    free(body);
    return status;
}

int srv_eval(const cli_arguments *arguments)
{
    srv_session s;
    int         status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    status = answer_input(&s, arguments);
    srv_session_close(&s);
    return status;
}
