/* model_commands.c - implement `torqued check`, `torqued convert` and `torqued eval`: the answers of a server,
 * without a server. The commands use the same interface (api.h) as the server and store nothing. */
#include "commands.h"
#include "server/store/durable_file.h"
#include "command_session.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 30, NAME_MAX_BYTES = 64, QUERY_MAX = 100 };

/* --- arguments and files --------------------------------------------------------------------------------------- */

/* Converts leading --base X and --mimic X options to the query of a PUT. Returns the index of the first other
 * argument, or argc + 1 if a value is missing or an option is unknown. The api checks the values. */
static int read_urdf_options(int argc, char *argv[], char *query, size_t size)
{
    int index = 1;
    *query    = '\0';
    for (; index < argc && (strcmp(argv[index], "--base") == 0 || strcmp(argv[index], "--mimic") == 0); index += 2) {
        if (index + 1 == argc) return argc + 1;
        size_t length = strlen(query);
        snprintf(query + length, size - length, "%s%s=%.30s", length > 0 ? "&" : "", argv[index] + 2, argv[index + 1]);
    }
    return index < argc && strncmp(argv[index], "--", 2) == 0 ? argc + 1 : index;
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
static bool load_file(const srv_session *s, const char *file, const char *query, FILE *out, api_report_callback *report,
                      char name[NAME_MAX_BYTES + 1])
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
    api_model_file model  = {.name = name, .text = text, .length = length, .query = query};
    bool           loaded = api_load_file(s->api, &model, report, (void *)(uintptr_t)file, &problem);
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
    if (!worker || !call) return srv_report_error(1, "out of memory"); /* frees nothing, because the process exits */
    if (api_wants_body(call) && api_reserve(call, length)) api_run(call, worker, body, length, NULL);
    const api_reply *reply   = api_reply_of(call);
    bool             good    = reply->status == 200;
    FILE            *out     = good ? stdout : stderr;
    bool             written = fwrite(reply->body, 1, reply->length, out) == reply->length && fputc('\n', out) >= 0;
    if (!written || fflush(out) != 0) srv_report_error(1, "cannot write the answer");
    api_end(call);
    api_worker_close(worker);
    return good && written ? 0 : 1;
}

/* --- check ----------------------------------------------------------------------------------------------------- */

static void print_report_entry(void *arg, const char *severity, const char *code, const char *where, const char *text)
{
    printf("%s: %s %s: %s (%s)\n", (const char *)arg, severity, code, text, where);
}

int srv_check(int argc, char *argv[])
{
    srv_session s;
    char        query[QUERY_MAX];
    int         index = read_urdf_options(argc, argv, query, sizeof query), status = 0;
    char       *none[] = {argv[0], NULL}, name[NAME_MAX_BYTES + 1];
    if (index >= argc) return srv_report_error(2, "check needs files: torqued check [--base B] [--mimic M] FILE...");
    if ((status = srv_session_open(&s, 1, none)) != 0) return status;
    for (; index < argc; index++) {
        bool good = load_file(&s, argv[index], query, stdout, print_report_entry, name);
        if (good)
            printf("%s: good\n", argv[index]);
        else
            status = 1;
    }
    srv_session_close(&s);
    return status;
}

/* --- convert --------------------------------------------------------------------------------------------------- */

int srv_convert(int argc, char *argv[])
{
    srv_session s;
    char        query[QUERY_MAX];
    int         index  = read_urdf_options(argc, argv, query, sizeof query), status;
    char       *none[] = {argv[0], NULL}, name[NAME_MAX_BYTES + 1], target[120];
    if (index != argc - 1)
        return srv_report_error(2, "convert needs one file: torqued convert [--base B] [--mimic M] FILE");
    if ((status = srv_session_open(&s, 1, none)) != 0) return status;
    if (load_file(&s, argv[index], query, stderr, NULL, name)) {
        api_set_ready(s.api);
        snprintf(target, sizeof target, "/v1/models/%s/document", name);
        status = answer(&s, "GET", target, NULL, 0);
    } else {
        status = 1;
    }
    srv_session_close(&s);
    return status;
}

/* --- eval ------------------------------------------------------------------------------------------------------ */

/* Loads the model from a file, or, if there is no such file, finds a model of the server by name. */
static bool find_model(srv_session *s, const char *model, const char *query, char name[NAME_MAX_BYTES + 1])
{
    struct stat status;
    if (stat(model, &status) == 0 && !S_ISDIR(status.st_mode)) return load_file(s, model, query, stderr, NULL, name);
    if (strchr(model, '/')) {
        srv_report_error(1, "there is no such file, and a model's name has no slash");
        return false;
    }
    if (snprintf(name, NAME_MAX_BYTES + 1, "%s", model) > NAME_MAX_BYTES) {
        srv_report_error(1, "the model's name is longer than 64 bytes, and there is no such file");
        return false;
    }
    if (*query) {
        srv_report_error(1, "--base and --mimic are for a URDF file, not for a model by name");
        return false;
    }
    return srv_session_load(s);
}

int srv_eval(int argc, char *argv[])
{
    srv_session s;
    char        query[QUERY_MAX];
    int         index = read_urdf_options(argc, argv, query, sizeof query), status;
    char        name[NAME_MAX_BYTES + 1], target[200];
    size_t      length;
    if (index + 1 >= argc)
        return srv_report_error(2,
                                "eval needs a model and an operation: torqued eval [--base B] [--mimic M] MODEL|FILE "
                                "OPERATION < request.json");
    const char *model = argv[index], *operation = argv[index + 1];
    if ((status = srv_session_open(&s, argc - index - 1, argv + index + 1)) != 0)
        return status; /* srv_session_open reads the remaining arguments as settings */
    char *body = srv_stream_read(stdin, FILE_MAX, &length);
    if (!body) {
        status = srv_report_error(1, "cannot read the request from standard input");
    } else if (find_model(&s, model, query, name)) {
        api_set_ready(s.api);
        snprintf(target, sizeof target, "/v1/models/%s/%.100s", name, operation);
        status = answer(&s, "POST", target, body, length);
    } else {
        status = 1;
    }
    free(body);
    srv_session_close(&s);
    return status;
}
