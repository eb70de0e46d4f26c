/* metrics_page.c - serve GET /metrics: all metrics of metrics.h and client_metrics.h and figures of the service, in the
 * text format 0.0.4 of Prometheus, or as OpenMetrics 1.0.0 if the client prefers that.
 *
 * OpenMetrics names a counter without `_total` in HELP and TYPE, has exemplars, and ends with `# EOF`. Bounds of
 * buckets have its form in both formats, such as "1.0", so that a series has one name. */
#include "api/service/http/call.h"
#include "api/client_metrics.h"
#include "api/exemplars.h"
#include "api/metrics.h"
#include "api/codec/number.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE_MAX = 8 << 20 }; /* bytes; far beyond all series together */

typedef struct page {
    api_buffer *b;
    bool        openmetrics;
    api_metric  metric;
    const char *name; /* name of the series of clients */
} page;

static void put_head(const page *p, const char *name, const char *type, const char *help)
{
    const char *total  = p->openmetrics && strcmp(type, "counter") == 0 ? strstr(name, "_total") : NULL;
    int         length = total ? (int)(total - name) : (int)strlen(name);
    api_buffer_format(p->b, "# HELP %.*s %s\n# TYPE %.*s %s\n", length, name, help, length, name, type);
}

/* Writes the value of a label with the escapes of the format. Clients choose Request-Ids, and authorities the names in
 * certificates. Bytes that are no printable ASCII, which need not be UTF-8, are percent-encoded: two names must not
 * become one, since Prometheus refuses a page with two equal series. */
static void put_label(api_buffer *b, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\')
            api_buffer_format(b, "\\%c", c);
        else
            api_buffer_format(b, c < ' ' || c > '~' ? "%%%02X" : "%c", c);
    }
}

/* Writes the name of a series with its labels: NAME{operation="energy",le="0.5"}. `bound`: the text of `le`, or NULL.
 */
static void put_name(const page *p, const api_metric_series *series, const char *suffix, const char *bound)
{
    const api_metric_kind *kind = api_metric_kind_of(p->metric);
    const char            *mark = "{";
    api_buffer_format(p->b, "%s%s", kind->name, suffix);
    for (size_t i = 0; i < API_METRIC_LABELS && kind->label[i] != API_LABEL_UNLABELLED; i++, mark = ",")
        api_buffer_format(p->b, "%s%s=\"%s\"", mark, api_label_name(kind->label[i]), series->label[i]);
    if (bound) api_buffer_format(p->b, "%sle=\"%s\"", mark, bound);
    api_buffer_text(p->b, *mark == ',' || bound ? "} " : " ");
}

/* Writes the bound of bucket `i` in the form of OpenMetrics: always with a point or an exponent. */
static void print_bound(api_metric metric, size_t i, char *bound, size_t size)
{
    snprintf(bound, size, "+Inf");
    if (i == API_BOUNDS) return;
    snprintf(bound, size, "%g", api_metric_bound(metric, i));
    if (!strpbrk(bound, ".e")) snprintf(bound, size, "%g.0", api_metric_bound(metric, i));
}

/* Writes an exemplar: the id of a request counted in the bucket, by which its trace or its line in the log can be
 * found. */
static void put_exemplar(const page *p, const api_metric_series *series, size_t i)
{
    if (!p->openmetrics || p->metric != API_METRIC_REQUEST_SECONDS) return;
    api_exemplar e = api_exemplar_of(series->labelled[0], i);
    if (!*e.id) return;
    api_buffer_format(p->b, " # {%s=\"", e.is_trace ? "trace_id" : "request_id");
    put_label(p->b, e.id);
    api_buffer_format(p->b, "\"} %.9f %.3f", e.seconds, e.time);
}

static void put_histogram(const page *p, const api_metric_series *series)
{
    char bound[32];
    for (size_t i = 0; i <= API_BOUNDS; i++) {
        print_bound(p->metric, i, bound, sizeof bound);
        put_name(p, series, "_bucket", bound);
        api_buffer_format(p->b, "%llu", (unsigned long long)series->bucket[i]);
        put_exemplar(p, series, i);
        api_buffer_text(p->b, "\n");
    }
    put_name(p, series, "_sum", NULL);
    api_buffer_format(p->b, "%s\n", API_NUMBER_TEXT(series->value));
    put_name(p, series, "_count", NULL);
    api_buffer_format(p->b, "%llu\n", (unsigned long long)series->bucket[API_BOUNDS]);
}

static void put_series(void *arg, const api_metric_series *series)
{
    const page *p = arg;
    if (api_metric_kind_of(p->metric)->type == API_HISTOGRAM) {
        put_histogram(p, series);
        return;
    }
    put_name(p, series, "", NULL);
    api_buffer_format(p->b, "%s\n", API_NUMBER_TEXT(series->value));
}

static void put_metrics(page *p)
{
    static const char *const types[] = {
        [API_COUNTER] = "counter", [API_GAUGE] = "gauge", [API_HISTOGRAM] = "histogram"};
    for (int m = 0; m < API_METRIC_COUNT; m++) {
        const api_metric_kind *kind = api_metric_kind_of((api_metric)m);
        p->metric                   = (api_metric)m;
        put_head(p, kind->name, types[kind->type], kind->help);
        api_metric_read(p->metric, put_series, p);
    }
}

/* Writes the figure of a client. The labels are those of the log: `client` for a name, otherwise `from`. */
static void put_client_figure(void *arg, const char *client, double value)
{
    static const char *const prefixes[] = {"client:", "address:", ""};
    const page              *p          = arg;
    size_t                   i          = 0;
    while (strncmp(client, prefixes[i], strlen(prefixes[i])) != 0)
        i++;
    api_buffer_format(p->b, "%s{%s=\"", p->name, i == 0 ? "client" : "from");
    put_label(p->b, client + strlen(prefixes[i]));
    api_buffer_format(p->b, "\"} %s\n", API_NUMBER_TEXT(value));
}

static void put_clients(page *p)
{
    for (int m = 0; m < API_CLIENT_MEASURE_COUNT; m++) {
        p->name = api_client_measure_name((api_client_measure)m);
        put_head(p, p->name, "counter", api_client_measure_help((api_client_measure)m));
        api_client_read((api_client_measure)m, put_client_figure, p);
    }
}

static void put_memory_holders(page *p, const api *a)
{
    if (!a->memory_holders) return;
    p->name = "torqued_client_memory_bytes";
    put_head(p, p->name, "gauge",
             "Memory that requests in flight of a client hold, for the 20 clients that hold most.");
    a->memory_holders(a->memory_source, put_client_figure, p);
}

static void put_gauge(const page *p, const char *name, const char *help, double value)
{
    put_head(p, name, "gauge", help);
    api_buffer_format(p->b, "%s %s\n", name, API_NUMBER_TEXT(value));
}

/* Writes figures that are read from the api when the page is requested. */
static void put_service(const page *p, api *a)
{
    char        reason[API_REASON_MAX];
    const char *info = "torqued_build_info";
    put_head(p, info, "gauge", "Version of the server, target and arithmetic class of its kernels.");
    api_buffer_format(p->b, "%s{version=\"%s\",target=\"%s\",arithmetic=\"%s\"} 1\n", info, a->version,
                      a->kernels->target, dyn_kernels_arithmetic(a->kernels));
    put_gauge(p, "torqued_ready", "1 if /readyz answers 200, 0 if it answers 503.",
              atomic_load(&a->phase) == API_READY && !api_reasons_unready(a, reason));
    put_gauge(p, "torqued_reasons", "Number of faults that /readyz names although the server may be ready.",
              (double)api_reasons_count(a));
    put_gauge(p, "torqued_memory_bytes", "Memory that requests in flight have claimed.",
              (double)atomic_load(&a->budget.used));
    put_gauge(p, "torqued_memory_limit_bytes", "Memory that all requests in flight may claim.",
              (double)a->budget.limit);
    put_gauge(p, "torqued_model_limit_bytes", "Memory that all models together may have.",
              (double)a->limits.model_memory);
    put_gauge(p, "torqued_models_limit", "Largest number of models.", (double)a->limits.models);
}

size_t api_resident_memory(void)
{
    unsigned long pages = 0;
    FILE         *statm = fopen("/proc/self/statm", "re");
    if (!statm) return 0;
    if (fscanf(statm, "%*u %lu", &pages) != 1) pages = 0;
    fclose(statm);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Writes figures of the process under the names that all clients of Prometheus use. */
static void put_process(const page *p, const api *a)
{
    const char   *cpu = "process_cpu_seconds_total";
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    put_head(p, cpu, "counter", "CPU time of all threads.");
    api_buffer_format(p->b, "%s %s\n", cpu, API_NUMBER_TEXT(seconds));
    put_gauge(p, "process_start_time_seconds", "When the process was started, in seconds since 1970.", a->started);
    put_gauge(p, "process_resident_memory_bytes", "Physical memory of the process.", (double)api_resident_memory());
}

bool api_get_metrics(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_buffer b;
    api_buffer_init(&b, PAGE_MAX);
    page p = {.b = &b, .openmetrics = call->wants_openmetrics};
    put_service(&p, call->api);
    put_metrics(&p);
    put_clients(&p);
    put_memory_holders(&p, call->api);
    put_process(&p, call->api);
    if (p.openmetrics) api_buffer_text(&b, "# EOF\n");
    api_reply_static_header(call, "Cache-Control", "no-store");
    return api_reply_body(call, 200,
                          p.openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8",
                          &b, problem);
}
