/* metrics_page.c - serve GET /metrics: all metrics of metrics.h and figures of the service, in the text format 0.0.4 of
 * Prometheus. */
#include "api/service/http/call.h"
#include "api/metrics.h"
#include "api/codec/number.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE_MAX = 8 << 20 }; /* bytes; far beyond all series together */

typedef struct page {
    api_buffer *b;
    api_metric  metric;
} page;

static void put_head(api_buffer *b, const char *name, const char *type, const char *help)
{
    api_buffer_format(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
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

static void put_histogram(const page *p, const api_metric_series *series)
{
    char bound[32];
    for (size_t i = 0; i <= API_BOUNDS; i++) {
        snprintf(bound, sizeof bound, "+Inf");
        if (i < API_BOUNDS) snprintf(bound, sizeof bound, "%g", api_metric_bound(p->metric, i));
        put_name(p, series, "_bucket", bound);
        api_buffer_format(p->b, "%llu\n", (unsigned long long)series->bucket[i]);
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

static void put_metrics(api_buffer *b)
{
    static const char *const types[] = {
        [API_COUNTER] = "counter", [API_GAUGE] = "gauge", [API_HISTOGRAM] = "histogram"};
    for (int m = 0; m < API_METRIC_COUNT; m++) {
        page                   p    = {b, (api_metric)m};
        const api_metric_kind *kind = api_metric_kind_of(p.metric);
        put_head(b, kind->name, types[kind->type], kind->help);
        api_metric_read(p.metric, put_series, &p);
    }
}

static void put_gauge(api_buffer *b, const char *name, const char *help, double value)
{
    put_head(b, name, "gauge", help);
    api_buffer_format(b, "%s %s\n", name, API_NUMBER_TEXT(value));
}

/* Figures that are read from the api when somebody asks. */
static void put_service(api_buffer *b, api *a)
{
    char        reason[API_REASON_MAX];
    const char *info = "torqued_build_info";
    put_head(b, info, "gauge", "Version of the server, target and arithmetic class of its kernels.");
    api_buffer_format(b, "%s{version=\"%s\",target=\"%s\",arithmetic=\"%s\"} 1\n", info, a->version, a->kernels->target,
                      dyn_kernels_arithmetic(a->kernels));
    put_gauge(b, "torqued_ready", "1 if /readyz answers 200, 0 if it answers 503.",
              atomic_load(&a->phase) == API_READY && !api_reasons_unready(a, reason));
    put_gauge(b, "torqued_memory_bytes", "Memory that requests in flight have claimed.",
              (double)atomic_load(&a->budget.used));
    put_gauge(b, "torqued_memory_limit_bytes", "Memory that all requests in flight may claim.",
              (double)a->budget.limit);
    put_gauge(b, "torqued_model_limit_bytes", "Memory that all models together may have.",
              (double)a->limits.model_memory);
    put_gauge(b, "torqued_models_limit", "Largest number of models.", (double)a->limits.models);
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

/* Figures of the process under the names that all clients of Prometheus use. */
static void put_process(api_buffer *b, const api *a)
{
    const char   *cpu = "process_cpu_seconds_total";
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    put_head(b, cpu, "counter", "CPU time of all threads.");
    api_buffer_format(b, "%s %s\n", cpu, API_NUMBER_TEXT(seconds));
    put_gauge(b, "process_start_time_seconds", "When the process was started, in seconds since 1970.", a->started);
    put_gauge(b, "process_resident_memory_bytes", "Physical memory of the process.", (double)api_resident_memory());
}

bool api_get_metrics(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_buffer b;
    api_buffer_init(&b, PAGE_MAX);
    put_service(&b, call->api);
    put_metrics(&b);
    put_process(&b, call->api);
    api_reply_static_header(call, "Cache-Control", "no-store");
    return api_reply_body(call, 200, "text/plain; version=0.0.4; charset=utf-8", &b, problem);
}
