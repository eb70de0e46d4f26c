/* bench.c - implement `torqued bench`: measure the latency of single requests on one connection.
 *
 * A request is sent when the answer to the one before it has come. The first tenth, at most a hundred, is not counted:
 * the connection is opened there, and caches are filled. */
#include "call.h"
#include "cbor.h"
#include "client_commands.h"
#include "progress.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_REQUESTS = 2000, WARM_UP_MOST = 100, BAR = 50, PATH_SIZE = 400 };
static const double BINS_PER_DECADE = 10;

const cli_option cli_bench_options[] = {
    {"requests", "N", CLI_NOTHING, NULL, "number of requests that are measured (default: 2000)"},
    {.name = NULL},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the nearest-rank percentile of sorted values. */
static double percentile(const double *sorted, size_t n, double fraction)
{
    size_t rank = (size_t)ceil(fraction * (double)n);
    return sorted[rank > 0 ? rank - 1 : 0];
}

/* Prints a bar for each bin; bins are equally wide on a logarithmic scale. */
static void print_histogram(const double *sorted, size_t n)
{
    double first = floor(BINS_PER_DECADE * log10(sorted[0]));
    size_t most  = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0, bin = 0; i < n; bin++) {
            double low   = pow(10, (first + (double)bin) / BINS_PER_DECADE),
                   high  = pow(10, (first + (double)bin + 1) / BINS_PER_DECADE);
            size_t count = 0;
            while (i < n && sorted[i] < high) {
                i++;
                count++;
            }
            if (count > most) most = count;
            if (pass == 0) continue;
            int bar = (int)((double)BAR * (double)count / (double)most + 0.5);
            printf("%9.3f to %9.3f ms %8zu |%.*s\n", 1e3 * low, 1e3 * high, count, bar,
                   "##################################################");
        }
}

static void print_results(const cli_connection *c, const char *what, double *seconds, size_t n, double total)
{
    static const struct {
        const char *name;
        double      fraction;
    } rows[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
    qsort(seconds, n, sizeof *seconds, compare);
    printf("%s at %s: %zu requests, one after the other on one connection, %.0f per second\n\n", what,
           strncmp(c->listen, "unix:", 5) == 0 ? c->listen : c->base, n, (double)n / total);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%-6s %9.3f ms\n", rows[i].name, 1e3 * percentile(seconds, n, rows[i].fraction));
    putchar('\n');
    print_histogram(seconds, n);
}

/* Sends the requests; seconds[i] is the time of request i. */
static bool measure(cli_connection *c, const cli_request *request, double *seconds, size_t n, double *total)
{
    size_t       warm_up = n / 10 < WARM_UP_MOST ? n / 10 + 1 : WARM_UP_MOST;
    cli_progress progress;
    double       start = 0;
    cli_progress_start(&progress);
    for (size_t i = 0; i < warm_up + n; i++) {
        if (i == warm_up) start = cli_now();
        double sent = cli_now();
        if (!cli_connection_ask(c, request)) return false;
        if (i >= warm_up) seconds[i - warm_up] = cli_now() - sent;
        cli_progress_show(&progress, "bench", i, (double)i / (double)(warm_up + n));
    }
    *total = cli_now() - start;
    cli_progress_end(&progress);
    return true;
}

/* Returns {"q": ...} of a position that every model can have: its reference if it has loops; else zeros, quaternions of
 * norm 1. */
static json_t *state_of(const cli_coordinates *coordinates)
{
    json_t *fields = json_object(), *q = json_array();
    json_t *reference = json_object_get(json_object_get(coordinates->model, "reference"), "q");
    for (size_t i = 0; i < coordinates->nq; i++) {
        const char *name = cli_coordinate_name(coordinates, "q", i), *dot = strrchr(name, '.');
        json_array_append_new(q, json_real(dot && strcmp(dot, ".qw") == 0 ? 1 : 0));
    }
    if (json_is_array(reference)) {
        json_object_set(fields, "q", reference);
        json_decref(q);
    } else {
        json_object_set_new(fields, "q", q);
    }
    return fields;
}

/* Measures POST of a model's inverse dynamics at rest, in CBOR; or GET of /livez if no model is named. */
int cli_bench(const cli_arguments *arguments)
{
    cli_connection  c;
    cli_coordinates coordinates = {0};
    cli_text        body        = {0};
    double          n, total = 0, *seconds = NULL;
    const char     *model           = cli_operand_at(arguments, 0);
    char            path[PATH_SIZE] = "/livez", what[200] = "GET /livez";
    cli_request     request = {.method = "GET", .path = path};
    if (!cli_number(arguments, "requests", 1, 1e8, DEFAULT_REQUESTS, &n)) return 2;
    int status = cli_connection_open(&c, arguments);
    if (status != 0) return status;
    bool good = true;
    if (model) {
        good = cli_coordinates_ask(&c, model, &coordinates) &&
               cli_model_path(&c, model, "/inverse-dynamics", path, sizeof path);
        json_t *fields = good ? state_of(&coordinates) : NULL;
        good           = good && cli_cbor_write(&body, &(cli_batch){0}, fields);
        json_decref(fields);
        request = (cli_request){.method       = "POST",
                                .path         = path,
                                .content_type = "application/cbor",
                                .body         = body.bytes,
                                .length       = body.length};
        snprintf(what, sizeof what, "inverse dynamics of %.64s", model);
    }
    if (good) seconds = malloc((size_t)n * sizeof *seconds);
    if (good && !seconds) cli_error("out of memory");
    good = seconds && measure(&c, &request, seconds, (size_t)n, &total);
    if (good) print_results(&c, what, seconds, (size_t)n, total);
    free(seconds);
    cli_text_free(&body);
    cli_coordinates_free(&coordinates);
    cli_connection_close(&c);
    return good ? 0 : 1;
}
