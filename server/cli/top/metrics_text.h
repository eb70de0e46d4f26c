/* metrics_text.h - read a page of metrics in the text format 0.0.4 of Prometheus. */
#pragma once
#include <stddef.h>

enum { CLI_METRIC_LABELS = 4, CLI_METRIC_NAME = 64, CLI_METRIC_VALUE = 128 };

typedef struct cli_metric_label {
    char name[CLI_METRIC_NAME], value[CLI_METRIC_VALUE];
} cli_metric_label;

/* One line of the page. Texts that are too long are cut, and labels beyond CLI_METRIC_LABELS are left out. */
typedef struct cli_metric {
    char             name[CLI_METRIC_NAME];
    cli_metric_label label[CLI_METRIC_LABELS];
    size_t           n_labels;
    double           value;
} cli_metric;

/* Returns the value of a label; "" if the series lacks it. */
const char *cli_metric_label_of(const cli_metric *metric, const char *name);

/* Calls `visit` for each series of a page. Comments and lines that are no series are skipped. */
void cli_metrics_read(const char *page, void (*visit)(void *arg, const cli_metric *metric), void *arg);
