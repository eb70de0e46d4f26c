/* metrics_reading.h - the figures of a server at one moment, from its page of metrics, and their rise between two
 * moments. */
#pragma once
#include <stddef.h>

enum { CLI_TOP_OPERATIONS = 40, CLI_TOP_CLIENTS = 64, CLI_TOP_BUCKETS = 32, CLI_TOP_TEXT = 64 };

/* Classes of statuses: the first character of the status, 0 for connections that ended without an answer. */
enum { CLI_TOP_CLASSES = 6 };

typedef struct cli_top_operation {
    char   name[CLI_TOP_TEXT];
    double requests, failed; /* numbers of requests, and of those that were answered 4xx or 5xx or not at all */
    double states;
    double bound[CLI_TOP_BUCKETS], bucket[CLI_TOP_BUCKETS]; /* bounds of durations, s, and numbers up to each */
    size_t buckets;
} cli_top_operation;

typedef struct cli_top_client {
    char   name[CLI_TOP_TEXT];
    double work, requests, refused; /* s of processor time, and numbers */
    double memory;                  /* bytes of requests in flight */
} cli_top_client;

/* Gauges and sums. Figures that the page lacks are 0. */
typedef struct cli_top_figures {
    double ready, started, cpu, resident;
    double connections, connections_limit, displaced;
    double queued, admitted, stuck, lost_lines, slow, store_errors;
    double memory, memory_limit, models, models_limit, model_bytes, model_bytes_limit;
    double received, sent, states;
    double reload, failed_reload, certificate_end; /* times in s since 1970; 0: none */
    double clock_jumps;                            /* number of jumps of the clock since the start */
} cli_top_figures;

typedef struct cli_top_reading {
    double            time; /* s since 1970, when the page was read */
    char              version[CLI_TOP_TEXT], target[CLI_TOP_TEXT], fault[CLI_TOP_TEXT];
    cli_top_figures   figures;
    double            answered[CLI_TOP_CLASSES]; /* numbers of requests by class of status */
    cli_top_operation operation[CLI_TOP_OPERATIONS];
    size_t            operations;
    cli_top_client    client[CLI_TOP_CLIENTS];
    size_t            clients;
} cli_top_reading;

/* Reads a page. `time`: now, s since 1970. */
void cli_top_read(cli_top_reading *reading, const char *page, double time);

/* Replaces all counters of `now` by their rise since `before`, which was read from the same server; gauges stay. A
 * counter that has fallen began anew at 0, since the server was started again. */
void cli_top_subtract(cli_top_reading *now, const cli_top_reading *before);

/* Returns the duration, s, that the fraction `part` of the requests of an operation did not exceed, interpolated within
 * a bucket; 0 without requests. A duration beyond the last bound is that bound. */
double cli_top_quantile(const cli_top_operation *operation, double part);

/* Sorts operations by requests and clients by work, then by requests and refusals; the greatest come first. */
void cli_top_sort(cli_top_reading *reading);
