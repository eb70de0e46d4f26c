/* metrics.h - count events in the process, for monitoring.
 *
 * API_METRICS(X) lists every metric; the enum, the descriptions and the memory of the counts are generated from it. All
 * layers count into static memory, from any thread, without locks or allocation. A figure is counted at one place only.
 * Code that decides by a figure, such as the limit of connections, reads it here too.
 *
 * A metric with labels has one series for each combination of label values, like those of Prometheus. Label values are
 * small numbers with texts, so that memory and the number of series are bounded. */
#pragma once
#include "problem.h"
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* X(LABEL, "name of the label", number of its values) */
#define API_LABELS(X) \
    X(UNLABELLED, "", 1) \
    X(OPERATION, "operation", API_MOST_OPERATIONS) /* api_call_operation; 0: none, or one that does not exist */ \
    X(STATUS, "status", 161)                 /* api_status_label of the status of an answer */ \
    X(PROBLEM, "problem", API_PROBLEM_COUNT) /* api_code */ \
    X(THREAD, "thread", API_THREAD_COUNT)    /* api_thread_label */ \
    X(PHASE, "phase", API_PHASE_COUNT)       /* api_phase_label */ \
    X(ACCESS, "access", API_ACCESS_COUNT)    /* api_access_label */ \
    X(STORE_FAULT, "fault", API_STORE_FAULT_COUNT) /* api_store_fault_label */

/* One more than the greatest number of an operation in metrics. */
enum { API_MOST_OPERATIONS = 64 };

/* X(VALUE, "text") of labels with fixed texts: the thread that runs a request, and the access of the store. */
#define API_THREADS(X)  X(LOOP, "loop") X(WORKER, "worker") X(WRITER, "writer")
#define API_ACCESSES(X) X(WRITE, "write") X(READ, "read")

/* Phases of a connection in which the server waits for its client. */
#define API_PHASES(X) X(REQUEST, "request") X(ANSWER, "answer") X(IDLE, "idle")

/* Faults of the database of a store. */
#define API_STORE_FAULTS(X) \
    X(AWAY, "away") X(FROZEN, "frozen") X(REFUSED, "refused") X(RIGHTS, "rights") X(TABLES, "tables") \
    X(TABLES_VERSION, "tables-version") X(SERVER_VERSION, "server-version") X(READ_ONLY, "read-only") \
    X(FULL, "full") X(LOST, "lost-changes") X(OTHER, "other")

/* X(METRIC, "name", type, unit, first label, second label, "help"). Names follow the rules of Prometheus: unit in the
 * plural and `_total` for counters at the end. */
#define API_METRICS(X) \
    X(CONNECTIONS, "torqued_connections", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Open connections.") \
    X(CONNECTIONS_LIMIT, "torqued_connections_limit", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Largest number of open connections.") \
    X(ACCEPTED, "torqued_accepted_connections_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Connections that were accepted.") \
    X(DISPLACED, "torqued_displaced_connections_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Silent connections that were closed to make room for new ones.") \
    X(MEMORY_EXHAUSTED, "torqued_memory_exhausted", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "1 while requests in flight have held nearly all of their memory for seconds, so that /readyz answers 503.") \
    X(SLOW_READERS, "torqued_slow_readers_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Connections that were ended because their clients read large answers more slowly than --transfer-rate.") \
    X(QUEUED_REQUESTS, "torqued_queued_requests", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Requests that wait for a worker.") \
    X(ADMITTED_WORK, "torqued_admitted_work_seconds", GAUGE, SECONDS, UNLABELLED, UNLABELLED, \
      "Estimated duration of the requests that wait for a worker or run on one, without those whose client has left, to the microsecond.") \
    X(REQUESTS, "torqued_requests_total", COUNTER, NUMBER, OPERATION, STATUS, \
      "Requests that ended, by operation and by the status of the answer, 0 if the connection ended without one.") \
    X(REQUEST_SECONDS, "torqued_request_duration_seconds", HISTOGRAM, SECONDS, OPERATION, UNLABELLED, \
      "Time from the request line to the last byte of the answer, or to the end of the connection.") \
    X(QUEUE_SECONDS, "torqued_queue_duration_seconds", HISTOGRAM, SECONDS, OPERATION, UNLABELLED, \
      "Time that a request waited for a worker. Requests that ran on the thread of their connection are left out.") \
    X(DECODE_SECONDS, "torqued_decode_duration_seconds", HISTOGRAM, SECONDS, OPERATION, UNLABELLED, \
      "Time to read and check the body of a request.") \
    X(EVALUATE_SECONDS, "torqued_evaluate_duration_seconds", HISTOGRAM, SECONDS, OPERATION, UNLABELLED, \
      "Time to evaluate the states of a request.") \
    X(ENCODE_SECONDS, "torqued_encode_duration_seconds", HISTOGRAM, SECONDS, OPERATION, UNLABELLED, \
      "Time to write the answer, compression included.") \
    X(STATES, "torqued_states_total", COUNTER, NUMBER, OPERATION, UNLABELLED, \
      "States of the requests that were answered 200.") \
    X(ESTIMATE_RATIO, "torqued_estimate_ratio", HISTOGRAM, RATIO, UNLABELLED, UNLABELLED, \
      "Estimated duration of an operation divided by its actual duration.") \
    X(RUNS, "torqued_runs_total", COUNTER, NUMBER, THREAD, UNLABELLED, \
      "Complete requests, by the kind of thread that they were given to.") \
    X(LOOP_TURN_SECONDS, "torqued_loop_turn_seconds", HISTOGRAM, SECONDS, UNLABELLED, UNLABELLED, \
      "Processor time of a loop between two looks at all of its connections, of turns longer than 0.25 ms.") \
    X(RECEIVED_BYTES, "torqued_received_bytes_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Bytes of the bodies of requests.") \
    X(SENT_BYTES, "torqued_sent_bytes_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Bytes of the bodies of answers.") \
    X(PROBLEMS, "torqued_problems_total", COUNTER, NUMBER, PROBLEM, UNLABELLED, \
      "Requests that were refused or failed, by the code of the problem.") \
    X(MODELS, "torqued_models", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Models.") \
    X(MODEL_BYTES, "torqued_model_bytes", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Memory of all models.") \
    X(UNSERVED_MODELS, "torqued_unserved_models", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Models that are not served, because their record is damaged or cannot be read, or there is no memory for them.") \
    X(STORE_ERRORS, "torqued_store_errors_total", COUNTER, NUMBER, ACCESS, UNLABELLED, \
      "Accesses of the store that failed.") \
    X(STORE_CONNECTED, "torqued_store_connected", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "1 while the database of the store is there, 0 while it is away or the store is a folder.") \
    X(STORE_FAULT, "torqued_store_fault", GAUGE, NUMBER, STORE_FAULT, UNLABELLED, \
      "1 for the fault that the database of the store has now, 0 for others.") \
    X(STORE_CHANGE, "torqued_store_change", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Number of the last change in the database that this server has applied.") \
    X(STORE_CHANGES, "torqued_store_changes_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Changes of models read from the database.") \
    X(STORE_SECONDS, "torqued_store_change_duration_seconds", HISTOGRAM, SECONDS, UNLABELLED, UNLABELLED, \
      "Time for which a change of a model by a client waited for the database.") \
    X(STUCK_THREADS, "torqued_stuck_threads", GAUGE, NUMBER, THREAD, UNLABELLED, \
      "Threads that make no progress: loops that do not turn, others far beyond the deadline of their request.") \
    X(SLOW_REQUESTS, "torqued_slow_requests_total", COUNTER, NUMBER, OPERATION, UNLABELLED, \
      "Requests that took at least --slow-request.") \
    X(EXPIRED_CONNECTIONS, "torqued_expired_connections_total", COUNTER, NUMBER, PHASE, UNLABELLED, \
      "Connections that were closed because the client was too slow: to send, to read its answer, or to ask again.") \
    X(CERTIFICATE_EXPIRY, "torqued_certificate_expiry_seconds", GAUGE, SECONDS, UNLABELLED, UNLABELLED, \
      "When the certificate of the server or one of its chain ends, in seconds since 1970; 0 without TLS.") \
    X(CLOCK_JUMPS, "torqued_clock_jumps_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Times that the clock of dates was set by more than two seconds.") \
    X(LOST_LINES, "torqued_lost_log_lines_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Lines of the log that were lost because its reader is too slow.") \
    X(AUDIT_LINES, "torqued_audit_lines", GAUGE, NUMBER, UNLABELLED, UNLABELLED, \
      "Lines about changes that wait to be written to the log; from 256 on changes wait, too.") \
    X(RELOADS, "torqued_reloads_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Reloads by SIGHUP that have taken effect.") \
    X(FAILED_RELOADS, "torqued_failed_reloads_total", COUNTER, NUMBER, UNLABELLED, UNLABELLED, \
      "Reloads by SIGHUP that failed; the server goes on with the settings and files of before.") \
    X(RELOAD_TIME, "torqued_last_reload_timestamp_seconds", GAUGE, SECONDS, UNLABELLED, UNLABELLED, \
      "Time of the last reload that has taken effect, since 1970; 0: none has.") \
    X(FAILED_RELOAD_TIME, "torqued_last_failed_reload_timestamp_seconds", GAUGE, SECONDS, UNLABELLED, UNLABELLED, \
      "Time of the last reload that failed, since 1970; 0: none has.")
/* clang-format on */

typedef enum api_label {
#define X(LABEL, name, values) API_LABEL_##LABEL,
    API_LABELS(X)
#undef X
} api_label;

typedef enum api_metric {
#define X(METRIC, ...) API_METRIC_##METRIC,
    API_METRICS(X)
#undef X
        API_METRIC_COUNT
} api_metric;

typedef enum api_thread_label {
#define X(VALUE, text) API_THREAD_##VALUE,
    API_THREADS(X)
#undef X
        API_THREAD_COUNT
} api_thread_label;

typedef enum api_access_label {
#define X(VALUE, text) API_ACCESS_##VALUE,
    API_ACCESSES(X)
#undef X
        API_ACCESS_COUNT
} api_access_label;

typedef enum api_phase_label {
#define X(VALUE, text) API_PHASE_##VALUE,
    API_PHASES(X)
#undef X
        API_PHASE_COUNT
} api_phase_label;

typedef enum api_store_fault_label {
#define X(VALUE, text) API_STORE_FAULT_##VALUE,
    API_STORE_FAULTS(X)
#undef X
        API_STORE_FAULT_COUNT
} api_store_fault_label;

/* The label value of a status: each class has the statuses x00 to x31. Other numbers count as 0. */
static inline unsigned api_status_label(unsigned status)
{
    unsigned number = status % 100;
    return status >= 100 && status < 600 && number < 32 ? 1 + (status / 100 - 1) * 32 + number : 0;
}

const char *api_store_fault_name(api_store_fault_label fault);

typedef enum api_metric_type { API_COUNTER, API_GAUGE, API_HISTOGRAM } api_metric_type;

/* Units of the published figures. Counts are integers: a number of things, nanoseconds for API_UNIT_SECONDS, or
 * thousandths for API_UNIT_RATIO. */
typedef enum api_metric_unit { API_UNIT_NUMBER, API_UNIT_SECONDS, API_UNIT_RATIO } api_metric_unit;

enum { API_METRIC_LABELS = 2, API_LABEL_TEXT = 40, API_BOUNDS = 18 };

/* --- counting ---------------------------------------------------------------------------------------------------- */

/* Values of the two labels of a metric. A value out of range counts as 0; a label that the metric lacks is 0. */
typedef struct api_label_values {
    unsigned value[API_METRIC_LABELS];
} api_label_values;
#define API_NO_LABELS ((api_label_values){{0}})

/* Adds to a counter or a gauge. `by` is in units of the count; it is negative only for gauges. */
void api_metric_add(api_metric metric, api_label_values labels, int64_t by);

/* Adds one time, ns, or one ratio, thousandths, to a histogram. */
void api_metric_observe(api_metric metric, api_label_values labels, uint64_t value);

/* Gives an operation its text as a label value. `name` lives as long as the process. */
void api_metric_name_operation(unsigned value, const char *name);

/* --- reading ----------------------------------------------------------------------------------------------------- */

typedef struct api_metric_kind {
    const char     *name, *help;
    api_metric_type type;
    api_metric_unit unit;
    api_label       label[API_METRIC_LABELS]; /* API_LABEL_UNLABELLED: none; a metric with one label has it first */
} api_metric_kind;

const api_metric_kind *api_metric_kind_of(api_metric metric);
const char            *api_label_name(api_label label); /* "" for API_LABEL_UNLABELLED */

/* Returns the upper bound of bucket `i`, below API_BOUNDS, of a histogram, in its unit. */
double api_metric_bound(api_metric metric, size_t i);

/* One series of a metric as it was while it was read. */
typedef struct api_metric_series {
    unsigned labelled[API_METRIC_LABELS];              /* label values */
    char     label[API_METRIC_LABELS][API_LABEL_TEXT]; /* texts of the label values; "": the metric lacks the label */
    double   value;                  /* value of a counter or gauge, sum of a histogram; in the metric's unit */
    uint64_t bucket[API_BOUNDS + 1]; /* histogram: number of values up to each bound, then of all values */
} api_metric_series;

typedef void api_metric_reader(void *arg, const api_metric_series *series);

/* Calls `read` for each series of a metric. Series of operations and statuses to which nothing was ever added are left
 * out. Series of problems, threads, accesses, phases and faults are there from the start, so that Prometheus sees their
 * first rise. Each count is read once, while other threads go on counting: the buckets of a series agree with its
 * number of values, but its sum, and other series, may be ahead or behind by the requests of that moment. A counter
 * never falls. */
void api_metric_read(api_metric metric, api_metric_reader *read, void *arg);

/* Returns the count of one counter or gauge. */
int64_t api_metric_value(api_metric metric, api_label_values labels);
