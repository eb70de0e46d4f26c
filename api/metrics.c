/* metrics.c - see metrics.h.
 *
 * All threads add to the same counts. The three additions of a request take 40 ns on one thread and 55 ns on each of
 * two threads that do nothing else (2 cores); the lightest request takes some 10 us. Separate counts for each thread
 * would save a thousandth of it. */
#include "metrics.h"
#include <stdatomic.h>
#include <stdio.h>

/* Numbers of counts in a series. A histogram has one count for each bound, one for longer times, and the sum of all
 * times. */
enum { OVERFLOW = API_BOUNDS, SUM, HISTOGRAM_COUNTS, COUNTER_COUNTS = 1, GAUGE_COUNTS = 1 };

enum {
#define X(LABEL, name, values) VALUES_OF_##LABEL = (values),
    API_LABELS(X)
#undef X
};

typedef _Atomic int64_t count;

/* The counts of each metric, [value of the first label][value of the second label][count]. Metrics do not share cache
 * lines. */
#define X(METRIC, name, type, unit, first, second, help)                                                               \
    static _Alignas(64) count counts_of_##METRIC[VALUES_OF_##first * VALUES_OF_##second * type##_COUNTS];
API_METRICS(X)
#undef X

static count *const counts_of[API_METRIC_COUNT] = {
#define X(METRIC, ...) counts_of_##METRIC,
    API_METRICS(X)
#undef X
};

static const api_metric_kind kinds[API_METRIC_COUNT] = {
#define X(METRIC, name, type, unit, first, second, help)                                                               \
    {name, help, API_##type, API_UNIT_##unit, {API_LABEL_##first, API_LABEL_##second}},
    API_METRICS(X)
#undef X
};

static const struct {
    const char *name;
    unsigned    values;
} labels_of[] = {
#define X(LABEL, name, values) {name, values},
    API_LABELS(X)
#undef X
};

static const char *_Atomic operation_names[VALUES_OF_OPERATION];

const double api_metric_bounds[API_BOUNDS] = {25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3,
                                              25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1,    2.5,    5,    10};

static size_t counts_in_series(api_metric metric)
{
    return kinds[metric].type == API_HISTOGRAM ? HISTOGRAM_COUNTS : 1;
}

static unsigned values_of(api_metric metric, size_t label)
{
    return labels_of[kinds[metric].label[label]].values;
}

/* --- counting ---------------------------------------------------------------------------------------------------- */

static count *series_of(api_metric metric, api_label_values labels)
{
    size_t place = 0;
    for (size_t i = 0; i < API_METRIC_LABELS; i++) {
        unsigned n = values_of(metric, i);
        place      = place * n + (labels.value[i] < n ? labels.value[i] : 0);
    }
    return counts_of[metric] + place * counts_in_series(metric);
}

static int64_t load(const count *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

static void add(count *c, int64_t by)
{
    atomic_fetch_add_explicit(c, by, memory_order_relaxed);
}

void api_metric_add(api_metric metric, api_label_values labels, int64_t by)
{
    add(series_of(metric, labels), by);
}

void api_metric_observe(api_metric metric, api_label_values labels, uint64_t time)
{
    count *series  = series_of(metric, labels);
    double seconds = (double)time / 1e9; /* rounds like the constants: a time equal to a bound stays equal */
    size_t bucket  = 0;
    while (bucket < OVERFLOW && seconds > api_metric_bounds[bucket])
        bucket++;
    add(&series[bucket], 1);
    add(&series[SUM], (int64_t)time);
}

void api_metric_name_operation(unsigned value, const char *name)
{
    if (value < VALUES_OF_OPERATION) atomic_store_explicit(&operation_names[value], name, memory_order_relaxed);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

const api_metric_kind *api_metric_kind_of(api_metric metric)
{
    return &kinds[metric];
}

const char *api_label_name(api_label label)
{
    return labels_of[label].name;
}

int64_t api_metric_value(api_metric metric, api_label_values labels)
{
    return load(series_of(metric, labels));
}

static void write_label(api_label label, unsigned value, char text[API_LABEL_TEXT])
{
    const char *name = NULL;
    if (label == API_LABEL_OPERATION) name = atomic_load_explicit(&operation_names[value], memory_order_relaxed);
    if (label == API_LABEL_PROBLEM) name = api_problem_kind_of((api_code)value)->code;
    if (label == API_LABEL_STATUS)
        snprintf(text, API_LABEL_TEXT, "%u", value);
    else
        snprintf(text, API_LABEL_TEXT, "%s", name ? name : label == API_LABEL_UNLABELLED ? "" : "none");
}

/* Reads the counts of a series. False if nothing was ever added to it. */
static bool read_counts(api_metric metric, const count *counts, api_metric_series *series)
{
    bool    histogram = kinds[metric].type == API_HISTOGRAM;
    int64_t value     = load(&counts[histogram ? SUM : 0]);
    series->value     = kinds[metric].unit == API_UNIT_SECONDS ? (double)value / 1e9 : (double)value;
    if (!histogram) return value != 0;
    uint64_t times = 0;
    for (size_t i = 0; i <= API_BOUNDS; i++)
        series->bucket[i] = times += (uint64_t)load(&counts[i]);
    return times > 0;
}

void api_metric_read(api_metric metric, api_metric_reader *read, void *arg)
{
    const api_metric_kind *kind     = &kinds[metric];
    bool                   labelled = kind->label[0] != API_LABEL_UNLABELLED;
    for (unsigned i = 0; i < values_of(metric, 0); i++)
        for (unsigned j = 0; j < values_of(metric, 1); j++) {
            api_metric_series series = {0};
            if (!read_counts(metric, series_of(metric, (api_label_values){{i, j}}), &series) && labelled) continue;
            write_label(kind->label[0], i, series.label[0]);
            write_label(kind->label[1], j, series.label[1]);
            read(arg, &series);
        }
}
