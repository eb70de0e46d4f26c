/* metrics_reading.c - collects the figures of a page of metrics, and subtracts two collections (metrics_reading.h). */
#include "metrics_reading.h"
#include "metrics_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct figure_name {
    const char *name;
    size_t      offset;
    int         counts; /* 1: a counter, whose series are added up; 0: a gauge */
} figure_name;

#define FIGURE(name, field, counts)                                                                                    \
    {                                                                                                                  \
        name, offsetof(cli_top_figures, field) / sizeof(double), counts                                                \
    }

static const figure_name figures[] = {
    FIGURE("torqued_ready", ready, 0),
    FIGURE("process_start_time_seconds", started, 0),
    FIGURE("process_cpu_seconds_total", cpu, 1),
    FIGURE("process_resident_memory_bytes", resident, 0),
    FIGURE("torqued_connections", connections, 0),
    FIGURE("torqued_connections_limit", connections_limit, 0),
    FIGURE("torqued_displaced_connections_total", displaced, 1),
    FIGURE("torqued_queued_requests", queued, 0),
    FIGURE("torqued_admitted_work_seconds", admitted, 0),
    FIGURE("torqued_stuck_threads", stuck, 0),
    FIGURE("torqued_lost_log_lines_total", lost_lines, 1),
    FIGURE("torqued_slow_requests_total", slow, 1),
    FIGURE("torqued_store_errors_total", store_errors, 1),
    FIGURE("torqued_memory_bytes", memory, 0),
    FIGURE("torqued_memory_limit_bytes", memory_limit, 0),
    FIGURE("torqued_models", models, 0),
    FIGURE("torqued_models_limit", models_limit, 0),
    FIGURE("torqued_model_bytes", model_bytes, 0),
    FIGURE("torqued_model_limit_bytes", model_bytes_limit, 0),
    FIGURE("torqued_received_bytes_total", received, 1),
    FIGURE("torqued_sent_bytes_total", sent, 1),
    FIGURE("torqued_states_total", states, 1),
    FIGURE("torqued_last_reload_timestamp_seconds", reload, 0),
    FIGURE("torqued_last_failed_reload_timestamp_seconds", failed_reload, 0),
    FIGURE("torqued_certificate_expiry_seconds", certificate_end, 0),
    FIGURE("torqued_clock_jumps_total", clock_jumps, 0),
};

static double *figure_at(cli_top_reading *s, size_t i)
{
    return (double *)(void *)&s->figures + figures[i].offset;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void keep_text(char to[CLI_TOP_TEXT], const char *text)
{
    snprintf(to, CLI_TOP_TEXT, "%.*s", CLI_TOP_TEXT - 1, text);
}

/* Returns the operation of a name, which is added if there is room; NULL: there is none. */
static cli_top_operation *operation_named(cli_top_reading *s, const char *name)
{
    for (size_t i = 0; i < s->operations; i++)
        if (strcmp(s->operation[i].name, name) == 0) return &s->operation[i];
    if (s->operations == CLI_TOP_OPERATIONS) return NULL;
    keep_text(s->operation[s->operations].name, name);
    return &s->operation[s->operations++];
}

static cli_top_client *client_named(cli_top_reading *s, const char *name)
{
    for (size_t i = 0; i < s->clients; i++)
        if (strcmp(s->client[i].name, name) == 0) return &s->client[i];
    if (s->clients == CLI_TOP_CLIENTS) return NULL;
    keep_text(s->client[s->clients].name, name);
    return &s->client[s->clients++];
}

static void add_request(cli_top_reading *s, const cli_metric *metric)
{
    cli_top_operation *operation = operation_named(s, cli_metric_label_of(metric, "operation"));
    char class                   = *cli_metric_label_of(metric, "status");
    size_t number                = class >= '1' && class < '0' + CLI_TOP_CLASSES ? (size_t)(class - '0') : 0;
    s->answered[number] += metric->value;
    if (!operation) return;
    operation->requests += metric->value;
    if (number == 0 || number >= 4) operation->failed += metric->value;
}

static void add_bucket(cli_top_reading *s, const cli_metric *metric)
{
    cli_top_operation *o = operation_named(s, cli_metric_label_of(metric, "operation"));
    if (!o || o->buckets == CLI_TOP_BUCKETS) return;
    o->bound[o->buckets]    = strtod(cli_metric_label_of(metric, "le"), NULL); /* "+Inf" is infinity */
    o->bucket[o->buckets++] = metric->value;
}

static void add_client(cli_top_reading *s, const cli_metric *metric)
{
    static const char prefix[] = "torqued_client_";
    const char       *name = cli_metric_label_of(metric, "client"), *measure = metric->name + sizeof prefix - 1;
    cli_top_client   *c = client_named(s, *name ? name : cli_metric_label_of(metric, "from"));
    if (!c) return;
    if (strcmp(measure, "work_seconds_total") == 0) c->work = metric->value;
    if (strcmp(measure, "requests_total") == 0) c->requests = metric->value;
    if (strcmp(measure, "refused_requests_total") == 0) c->refused = metric->value;
    if (strcmp(measure, "memory_bytes") == 0) c->memory = metric->value;
}

static void add_series(void *arg, const cli_metric *metric)
{
    cli_top_reading *s = arg;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (strcmp(metric->name, figures[i].name) == 0) *figure_at(s, i) += metric->value;
    if (strcmp(metric->name, "torqued_requests_total") == 0) add_request(s, metric);
    if (strcmp(metric->name, "torqued_request_duration_seconds_bucket") == 0) add_bucket(s, metric);
    if (strncmp(metric->name, "torqued_client_", strlen("torqued_client_")) == 0) add_client(s, metric);
    if (strcmp(metric->name, "torqued_store_fault") == 0 && metric->value > 0)
        keep_text(s->fault, cli_metric_label_of(metric, "fault"));
    if (strcmp(metric->name, "torqued_build_info") == 0) {
        keep_text(s->version, cli_metric_label_of(metric, "version"));
        keep_text(s->target, cli_metric_label_of(metric, "target"));
    }
    if (strcmp(metric->name, "torqued_states_total") == 0) {
        cli_top_operation *operation = operation_named(s, cli_metric_label_of(metric, "operation"));
        if (operation) operation->states += metric->value;
    }
}

void cli_top_read(cli_top_reading *reading, const char *page, double time)
{
    *reading = (cli_top_reading){.time = time};
    cli_metrics_read(page, add_series, reading);
}

/* --- the rise ----------------------------------------------------------------------------------------------------- */

static double rise(double now, double before)
{
    return now < before ? now : now - before;
}

static void subtract_operation(cli_top_operation *o, const cli_top_operation *before)
{
    o->requests = rise(o->requests, before->requests);
    o->failed   = rise(o->failed, before->failed);
    o->states   = rise(o->states, before->states);
    for (size_t i = 0; i < o->buckets && i < before->buckets; i++)
        o->bucket[i] = rise(o->bucket[i], before->bucket[i]);
}

/* A client that is new in the list may have been among the others before: its rise is not known yet. */
static void subtract_client(cli_top_client *c, const cli_top_client *before)
{
    c->work     = before ? rise(c->work, before->work) : 0;
    c->requests = before ? rise(c->requests, before->requests) : 0;
    c->refused  = before ? rise(c->refused, before->refused) : 0;
}

void cli_top_subtract(cli_top_reading *now, const cli_top_reading *before)
{
    cli_top_reading earlier = *before;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i].counts) *figure_at(now, i) = rise(*figure_at(now, i), *figure_at(&earlier, i));
    for (size_t i = 0; i < CLI_TOP_CLASSES; i++)
        now->answered[i] = rise(now->answered[i], before->answered[i]);
    for (size_t i = 0; i < now->operations; i++)
        for (size_t j = 0; j < before->operations; j++)
            if (strcmp(now->operation[i].name, before->operation[j].name) == 0)
                subtract_operation(&now->operation[i], &before->operation[j]);
    for (size_t i = 0; i < now->clients; i++) {
        const cli_top_client *found = NULL;
        for (size_t j = 0; j < before->clients && !found; j++)
            if (strcmp(now->client[i].name, before->client[j].name) == 0) found = &before->client[j];
        subtract_client(&now->client[i], found);
    }
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

double cli_top_quantile(const cli_top_operation *operation, double part)
{
    size_t last = operation->buckets;
    if (last < 2 || !(operation->bucket[last - 1] > 0)) return 0;
    double wanted = part * operation->bucket[last - 1];
    size_t i      = 0;
    while (i + 1 < last && operation->bucket[i] < wanted)
        i++;
    double low = i > 0 ? operation->bound[i - 1] : 0, below = i > 0 ? operation->bucket[i - 1] : 0;
    if (isinf(operation->bound[i])) return low;
    double inside = operation->bucket[i] - below;
    return low + (operation->bound[i] - low) * (inside > 0 ? (wanted - below) / inside : 1);
}

static int by_requests(const void *left, const void *right)
{
    const cli_top_operation *a = left, *b = right;
    if (a->requests != b->requests) return a->requests < b->requests ? 1 : -1;
    return strcmp(a->name, b->name);
}

static int by_work(const void *left, const void *right)
{
    const cli_top_client *a = left, *b = right;
    if (a->work != b->work) return a->work < b->work ? 1 : -1;
    if (a->requests != b->requests) return a->requests < b->requests ? 1 : -1;
    if (a->refused != b->refused) return a->refused < b->refused ? 1 : -1;
    return strcmp(a->name, b->name);
}

void cli_top_sort(cli_top_reading *reading)
{
    qsort(reading->operation, reading->operations, sizeof *reading->operation, by_requests);
    qsort(reading->client, reading->clients, sizeof *reading->client, by_work);
}
