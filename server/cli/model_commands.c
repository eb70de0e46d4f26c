/* model_commands.c - implement `torqued check`, `torqued convert` and `torqued eval`: the answers of a server,
 * without a server. The commands use the same interface (api.h) as the server and store nothing. */
#define _GNU_SOURCE /* memrchr */
#include "commands.h"
#include "server/store/durable_file.h"
#include "command_session.h"
#include "api/robot_files.h"
#include "server/cli/files/format_options.h"
#include "server/cli/files/gather.h"
#include "server/cli/files/report_text.h"
#include "server/work/clock.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 30, NAME_MAX_BYTES = 64 };

/* --- files ----------------------------------------------------------------------------------------------------- */

/* Returns the length of a file name without its extension: also without both of robot.tar.gz and robot.urdf.xacro. */
static size_t stem_length(const char *name, size_t length)
{
    static const char *const inner[] = {".tar", ".urdf", ".sdf"};
    const char              *dot     = memrchr(name, '.', length);
    if (dot && dot > name) length = (size_t)(dot - name);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        size_t n = strlen(inner[i]);
        if (length > n && memcmp(name + length - n, inner[i], n) == 0) return length - n;
    }
    return length;
}

/* Derives a model's name from a file name: without folders and extension; invalid characters become '_'. */
static void derive_name(const char *file, char name[NAME_MAX_BYTES + 1])
{
    size_t end = strlen(file);
    while (end > 1 && file[end - 1] == '/')
        end--;
    const char *slash  = memrchr(file, '/', end);
    const char *base   = slash ? slash + 1 : file;
    size_t      length = stem_length(base, end - (size_t)(base - file));
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

/* The loading of a model, which is printed on standard error after 1, 2, 4 ... seconds. */
typedef struct loading {
    const char *file;
    uint64_t    began, next; /* ns; `next`: seconds after which it is printed again */
} loading;

static void tell_progress(void *arg, uint64_t now)
{
    loading *l = arg;
    if (now < l->began + l->next * UINT64_C(1000000000)) return;
    fprintf(stderr, "%s: closing the loops, %u s so far\n", l->file, (unsigned)l->next);
    l->next *= 2;
}

/* Appends ?main= to the query of an archive. False if it is too long. */
static bool append_main(const cli_robot *robot, const char *main, char query[CLI_QUERY])
{
    size_t length = strlen(query);
    if (!main || robot->path || api_archive_kind_of(robot->text, robot->length) == API_NO_ARCHIVE) return true;
    int n = snprintf(query + length, CLI_QUERY - length, "%smain=%s", length > 0 ? "&" : "", main);
    return n >= 0 && (size_t)n < CLI_QUERY - length;
}

/* Gathers a robot's files and loads its model; prints its problem to `out`. */
static bool load_file(const srv_session *s, const char *file, const cli_arguments *arguments, FILE *out,
                      const api_report_target *report, char name[NAME_MAX_BYTES + 1])
{
    api_problem      problem;
    cli_robot        robot;
    char             query[CLI_QUERY];
    cli_robot_source source = {
        .operand = file, .main = cli_value(arguments, "main"), .path = cli_value(arguments, "path"), .meshes = true};
    bool loaded = false;
    derive_name(file, name);
    if (!cli_format_query(arguments, query)) return false;
    api_problem_clear(&problem);
    loading             progress  = {file, srv_now(), 1};
    const api_scheduler scheduler = {.yield = tell_progress, .arg = &progress};
    const api_deadline  deadline  = {.time = progress.began + srv_ns(s->config.timeout), .scheduler = &scheduler};
    if (cli_robot_gather(&robot, &source)) {
        api_model_file model = {.name     = name,
                                .text     = robot.text,
                                .length   = robot.length,
                                .query    = query,
                                .files    = robot.path ? &robot.files : NULL,
                                .path     = robot.path,
                                .deadline = &deadline};
        loaded = append_main(&robot, source.main, query) && api_load_file(s->api, &model, report, &problem);
        if (!loaded) print_problem(out, file, &problem);
    } else if (*robot.error) {
        fprintf(out, "%s: error: %s\n", file, robot.error);
    }
    cli_robot_free(&robot);
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

const cli_option cli_check_options[] = {CLI_VERBOSE, {.name = NULL}};

/* Returns the worse of two statuses of files: refused, then lost, warned, good. */
static int worse_status(int a, int b)
{
    if (a == 1 || b == 1) return 1;
    return a > b ? a : b;
}

int srv_check(const cli_arguments *arguments)
{
    srv_session s;
    char        name[NAME_MAX_BYTES + 1];
    int         status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    for (size_t i = 0; i < arguments->n_operands; i++) {
        const char       *file    = arguments->operands[i];
        cli_report        printed = {.subject = file, .verbose = cli_value(arguments, "verbose") != NULL};
        api_report_target report  = {.entry = cli_report_entry, .arg = &printed};
        bool              loaded  = load_file(&s, file, arguments, stdout, &report, name);
        status                    = worse_status(status, loaded ? cli_report_end(&printed) : 1);
    }
    srv_session_close(&s);
    return status;
}

/* --- convert --------------------------------------------------------------------------------------------------- */

const cli_option cli_convert_options[] = {
    {"to", "document|urdf|mjcf|sdf", CLI_WORDS, NULL, "format to write; default document"},
    {"urdf-version", "1.0|1.2", CLI_WORDS, NULL,
     "version of URDF; default 1.0, whose rotations are angles, in 1.2 quaternions"},
    {"bound", NULL, CLI_NOTHING, NULL,
     "mend what simulators refuse: balance inertias that no distribution of mass has, give bare links that move 1e-6 "
     "kg "
     "and 1e-9 kg m^2; standard error lists each change"},
    {"strict", NULL, CLI_NOTHING, NULL, "fail, and write nothing, if the result would not hold the whole robot"},
    {.name = NULL},
};

/* Counts of what the result does not hold of the source. Not counted, only printed ("info"): changes that --bound asks
 * for, content that the result expresses in another way, and shapes, which have no part in the dynamics. */
typedef struct losses {
    const char *file;
    bool        writes; /* true: the entries are those of the result, not of the source */
    size_t      n;
} losses;

static void print_loss(void *arg, const char *severity, const char *code, const char *where, const char *text)
{
    losses    *found = arg;
    bool       lost = strcmp(code, "not-held") == 0, warns = strcmp(severity, "warning") == 0;
    const bool is_change = strcmp(code, "bounded") == 0 || (found->writes && strcmp(code, "replaced") == 0);
    if (!lost && !is_change && !warns) return;
    found->n += lost && warns;
    fprintf(stderr, "%s: %s: %s (%s)\n", found->file, code, text, where);
}

/* Writes the loaded model to standard output; prints what the format cannot hold. */
static int write_converted(const srv_session *s, const cli_arguments *arguments, const char *name, losses *found)
{
    size_t            length = 0;
    api_problem       problem;
    api_report_target report = {.entry = print_loss, .arg = found};
    const char       *to     = cli_value(arguments, "to");
    api_model_form    form   = {.format  = to ? to : "document",
                                .version = cli_value(arguments, "urdf-version"),
                                .bound   = cli_value(arguments, "bound")};
    api_problem_clear(&problem);
    found->writes = true;
    char *text    = api_write_model(s->api, name, &form, &report, &length, &problem);
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
    char              name[NAME_MAX_BYTES + 1];
    losses            found  = {.file = arguments->operands[0]};
    api_report_target report = {.entry = print_loss, .arg = &found};
    int               status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    status =
        load_file(&s, found.file, arguments, stderr, &report, name) ? write_converted(&s, arguments, name, &found) : 1;
    srv_session_close(&s);
    return status;
}

/* --- eval ------------------------------------------------------------------------------------------------------ */

/* Loads the model from a file, or, if there is no such file, finds a model of the server by name. Returns 0, or the
 * exit status after printing the error. */
static int find_model(srv_session *s, const char *model, const cli_arguments *arguments, char name[NAME_MAX_BYTES + 1])
{
    struct stat status;
    char        query[CLI_QUERY];
    if (!cli_format_query(arguments, query)) return 1;
    if (stat(model, &status) == 0 && !S_ISDIR(status.st_mode))
        return load_file(s, model, arguments, stderr, NULL, name) ? 0 : 1;
    if (strchr(model, '/')) return cli_fail(1, "there is no such file, and a model's name has no slash");
    if (snprintf(name, NAME_MAX_BYTES + 1, "%s", model) > NAME_MAX_BYTES)
        return cli_fail(1, "the model's name is longer than 64 bytes, and there is no such file");
    if (*query) return cli_fail(2, "options of a format, and --locked, are for a file, not for a model by name");
    return srv_session_load(s) ? 0 : 1;
}

/* Answers the request of standard input. Returns the exit status. */
static int answer_input(srv_session *s, const cli_arguments *arguments)
{
    char   name[NAME_MAX_BYTES + 1], target[200];
    size_t length;
    char  *body = srv_stream_read(stdin, FILE_MAX, &length);
    if (!body) return cli_fail(1, "cannot read the request from standard input");
    int status = find_model(s, arguments->operands[0], arguments, name);
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
