/* metrics.c - see metrics.h.
 *
 * Each thread counts in a block of its own, which only it writes, so that counting takes neither an atomic
 * read-modify-write nor a cache line of another thread: the figures of a light request take 30 ns together. A reader
 * sums the blocks. Threads beyond BLOCKS - 1 share the last block, and so do all gauges: a gauge rises on one thread
 * and falls on another, and a sum of several blocks could show it below zero. Blocks outlive their threads. */
#include "metrics.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { BLOCKS = 24, SHARED = BLOCKS - 1 };

/* Numbers of counts in a series. A histogram has one count for each bound, one for larger values, and the sum of all
 * values. */
enum { OVERFLOW = API_BOUNDS, SUM, HISTOGRAM_COUNTS, COUNTER_COUNTS = 1, GAUGE_COUNTS = 1 };

enum {
#define X(LABEL, name, values) VALUES_OF_##LABEL = (values),
    API_LABELS(X)
#undef X
};

typedef _Atomic int64_t count;

/* The counts of each metric, [value of the first label][value of the second label][count]. */
typedef struct block {
#define X(METRIC, name, type, unit, first, second, help)                                                               \
    count METRIC[VALUES_OF_##first * VALUES_OF_##second * type##_COUNTS];
    _Alignas(64) API_METRICS(X)
#undef X
} block;

static block                  blocks[BLOCKS];
static atomic_uint            n_threads;    /* number of threads that have counted */
static _Thread_local unsigned own = BLOCKS; /* index of the block of this thread; BLOCKS: none yet */

typedef struct layout {
    size_t   first;     /* index of the first count in a block */
    unsigned values[2]; /* number of values of each label */
    unsigned counts;    /* number of counts in a series */
    bool     shared;    /* counted in the shared block */
} layout;

static const layout layouts[API_METRIC_COUNT] = {
#define X(METRIC, name, type, unit, first, second, help)                                                               \
    {offsetof(block, METRIC) / sizeof(count),                                                                          \
     {VALUES_OF_##first, VALUES_OF_##second},                                                                          \
     type##_COUNTS,                                                                                                    \
     API_##type == API_GAUGE},
    API_METRICS(X)
#undef X
};

static const api_metric_kind kinds[API_METRIC_COUNT] = {
#define X(METRIC, name, type, unit, first, second, help)                                                               \
    {name, help, API_##type, API_UNIT_##unit, {API_LABEL_##first, API_LABEL_##second}},
    API_METRICS(X)
#undef X
};

static const char *const label_names[] = {
#define X(LABEL, name, values) name,
    API_LABELS(X)
#undef X
};

#define X(VALUE, text) text,
static const char *const thread_texts[]      = {API_THREADS(X)};
static const char *const store_fault_texts[] = {API_STORE_FAULTS(X)};
static const char *const phase_texts[]       = {API_PHASES(X)};
static const char *const access_texts[]      = {API_ACCESSES(X)};
#undef X

static const char *_Atomic operation_names[VALUES_OF_OPERATION];

/* Upper bounds of the buckets in the unit of the counts: ns, and thousandths. */
static const uint64_t bounds_of_times[API_BOUNDS] = {
    25000,    50000,    100000,    250000,    500000,    1000000,    2500000,    5000000,    10000000,
    25000000, 50000000, 100000000, 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000};
static const uint64_t bounds_of_turns[API_BOUNDS] = {
    100000,   250000,   500000,   750000,    1000000,   1500000,   2000000,    3000000,    5000000,
    10000000, 20000000, 50000000, 100000000, 200000000, 500000000, 1000000000, 5000000000, 20000000000};
static const uint64_t bounds_of_ratios[API_BOUNDS] = {50,   100,  200,  300,  400,  500,  600,  700,   850,
                                                      1000, 1200, 1400, 1700, 2000, 3000, 5000, 10000, 20000};

static const uint64_t *bounds_of(api_metric metric)
{
    if (metric == API_METRIC_LOOP_TURN_SECONDS) return bounds_of_turns;
    return kinds[metric].unit == API_UNIT_RATIO ? bounds_of_ratios : bounds_of_times;
}

/* --- counting ---------------------------------------------------------------------------------------------------- */

static size_t index_of(const layout *l, api_label_values labels)
{
    size_t first  = labels.value[0] < l->values[0] ? labels.value[0] : 0;
    size_t second = labels.value[1] < l->values[1] ? labels.value[1] : 0;
    return l->first + (first * l->values[1] + second) * l->counts;
}

static count *counts_at(unsigned b, size_t index)
{
    return (count *)&blocks[b] + index;
}

static int64_t load(const count *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

static unsigned choose_block(void)
{
    unsigned number = atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed);
    return own      = number < SHARED ? number : SHARED;
}

static void add_to_count(unsigned b, count *c, int64_t by)
{
    if (b == SHARED)
        atomic_fetch_add_explicit(c, by, memory_order_relaxed);
    else
        atomic_store_explicit(c, load(c) + by, memory_order_relaxed); /* no other thread writes this block */
}

void api_metric_add(api_metric metric, api_label_values labels, int64_t by)
{
    const layout *l = &layouts[metric];
    unsigned      b = l->shared ? SHARED : own < BLOCKS ? own : choose_block();
    add_to_count(b, counts_at(b, index_of(l, labels)), by);
}

void api_metric_observe(api_metric metric, api_label_values labels, uint64_t value)
{
    const uint64_t *bounds = bounds_of(metric);
    unsigned        b      = own < BLOCKS ? own : choose_block();
    count          *series = counts_at(b, index_of(&layouts[metric], labels));
    size_t          bucket = 0;
    while (bucket < OVERFLOW && value > bounds[bucket])
        bucket++;
    add_to_count(b, &series[bucket], 1);
    add_to_count(b, &series[SUM], (int64_t)value);
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
    return label_names[label];
}

const char *api_store_fault_name(api_store_fault_label fault)
{
    return store_fault_texts[fault];
}

static double in_unit(api_metric metric, int64_t value)
{
    static const double parts[] = {[API_UNIT_NUMBER] = 1, [API_UNIT_SECONDS] = 1e9, [API_UNIT_RATIO] = 1e3};
    return (double)value / parts[kinds[metric].unit];
}

double api_metric_bound(api_metric metric, size_t i)
{
    return in_unit(metric, (int64_t)bounds_of(metric)[i]);
}

/* Sums a count over the blocks. */
static int64_t total(const layout *l, size_t index)
{
    if (l->shared) return load(counts_at(SHARED, index));
    unsigned n   = atomic_load_explicit(&n_threads, memory_order_relaxed);
    int64_t  sum = n > SHARED ? load(counts_at(SHARED, index)) : 0;
    for (unsigned b = 0; b < n && b < SHARED; b++)
        sum += load(counts_at(b, index));
    return sum;
}

int64_t api_metric_value(api_metric metric, api_label_values labels)
{
    return total(&layouts[metric], index_of(&layouts[metric], labels));
}

#define ENTRY(list, i) ((i) < sizeof(list) / sizeof *(list) ? (list)[i] : NULL)

static const char *text_of(api_label label, unsigned value)
{
    switch (label) {
    case API_LABEL_OPERATION: return atomic_load_explicit(&operation_names[value], memory_order_relaxed);
    case API_LABEL_PROBLEM: return api_problem_kind_of((api_code)value)->code;
    case API_LABEL_THREAD: return ENTRY(thread_texts, value);
    case API_LABEL_ACCESS: return ENTRY(access_texts, value);
    case API_LABEL_PHASE: return ENTRY(phase_texts, value);
    case API_LABEL_STORE_FAULT: return ENTRY(store_fault_texts, value);
    case API_LABEL_UNLABELLED: return "";
    case API_LABEL_STATUS: break;
    }
    return NULL;
}

static void write_label(api_label label, unsigned value, char text[API_LABEL_TEXT])
{
    const char *known = text_of(label, value);
    if (label == API_LABEL_STATUS)
        snprintf(text, API_LABEL_TEXT, "%u", value > 0 ? (value - 1) / 32 * 100 + 100 + (value - 1) % 32 : 0);
    else
        snprintf(text, API_LABEL_TEXT, "%s", known ? known : "none");
}

/* Reads the counts of a series. False if nothing was ever added to it. */
static bool read_counts(api_metric metric, api_label_values labels, api_metric_series *series)
{
    const layout *l         = &layouts[metric];
    size_t        index     = index_of(l, labels);
    bool          histogram = kinds[metric].type == API_HISTOGRAM;
    int64_t       value     = total(l, index + (histogram ? SUM : 0));
    series->value           = in_unit(metric, value);
    if (!histogram) return value != 0;
    uint64_t values = 0;
    for (size_t i = 0; i <= API_BOUNDS; i++)
        series->bucket[i] = values += (uint64_t)total(l, index + i);
    return values > 0;
}

/* True for a label value whose series is there before anything was added to it. */
static bool is_always_there(const api_metric_kind *kind, unsigned value)
{
    switch (kind->label[0]) {
    case API_LABEL_PROBLEM: return value != API_NO_PROBLEM;
    case API_LABEL_UNLABELLED:
    case API_LABEL_THREAD:
    case API_LABEL_ACCESS:
    case API_LABEL_PHASE:
    case API_LABEL_STORE_FAULT: return true;
    case API_LABEL_OPERATION:
    case API_LABEL_STATUS: break;
    }
    return false;
}

void api_metric_read(api_metric metric, api_metric_reader *read, void *arg)
{
    const api_metric_kind *kind = &kinds[metric];
    const layout          *l    = &layouts[metric];
    for (unsigned i = 0; i < l->values[0]; i++)
        for (unsigned j = 0; j < l->values[1]; j++) {
            api_metric_series series = {.labelled = {i, j}};
            if (!read_counts(metric, (api_label_values){{i, j}}, &series) && !is_always_there(kind, i)) continue;
            write_label(kind->label[0], i, series.label[0]);
            write_label(kind->label[1], j, series.label[1]);
            read(arg, &series);
        }
}
