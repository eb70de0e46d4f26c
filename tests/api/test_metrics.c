/* test_metrics.c - checks the registry of metrics: names, labels, buckets, and counts by many threads at once. */
#include "api/client_metrics.h"
#include "api/metrics.h"
#include "tests/api/support/door.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 160 };

static api_metric_series read_series[SERIES];
static size_t            n_series;

static void keep(void *arg, const api_metric_series *series)
{
    assert_ptr_equal(arg, &n_series);
    assert_true(n_series < SERIES);
    read_series[n_series++] = *series;
}

static size_t read_all(api_metric metric)
{
    n_series = 0;
    api_metric_read(metric, keep, &n_series);
    return n_series;
}

static const api_metric_series *series_with(api_metric metric, const char *first, const char *second)
{
    read_all(metric);
    for (size_t i = 0; i < n_series; i++)
        if (strcmp(read_series[i].label[0], first) == 0 && strcmp(read_series[i].label[1], second) == 0)
            return &read_series[i];
    return NULL;
}

/* --- descriptions ------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) > strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static void test_names(void **state)
{
    for (int m = 0; m < API_METRIC_COUNT; m++) {
        const api_metric_kind *kind = api_metric_kind_of((api_metric)m);
        assert_memory_equal(kind->name, "torqued_", 8);
        assert_int_equal(strspn(kind->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(kind->name));
        assert_int_equal(ends_with(kind->name, "_total"), kind->type == API_COUNTER);
        assert_int_equal(strstr(kind->name, "_seconds") != NULL, kind->unit == API_UNIT_SECONDS);
        assert_int_equal(strstr(kind->name, "_ratio") != NULL, kind->unit == API_UNIT_RATIO);
        assert_true(kind->type != API_HISTOGRAM || kind->unit != API_UNIT_NUMBER);
        assert_true(ends_with(kind->help, "."));
        assert_true(kind->label[0] != API_LABEL_UNLABELLED || kind->label[1] == API_LABEL_UNLABELLED);
        for (int other = 0; other < m; other++)
            assert_string_not_equal(kind->name, api_metric_kind_of((api_metric)other)->name);
    }
    assert_string_equal(api_label_name(API_LABEL_STATUS), "status");
    assert_string_equal(api_label_name(API_LABEL_UNLABELLED), "");
    for (size_t i = 1; i < API_BOUNDS; i++) {
        assert_true(api_metric_bound(API_METRIC_QUEUE_SECONDS, i) > api_metric_bound(API_METRIC_QUEUE_SECONDS, i - 1));
        assert_true(api_metric_bound(API_METRIC_ESTIMATE_RATIO, i) >
                    api_metric_bound(API_METRIC_ESTIMATE_RATIO, i - 1));
    }
    assert_true(api_metric_bound(API_METRIC_QUEUE_SECONDS, 0) == 25e-6);
    assert_true(api_metric_bound(API_METRIC_ESTIMATE_RATIO, 9) == 1);
}

static void test_statuses(void **state)
{
    for (unsigned status = 0; status < 1000; status++) {
        unsigned label = api_status_label(status);
        bool     known = status >= 100 && status < 600 && status % 100 < 32;
        assert_int_equal(label > 0, known);
        assert_true(label < 161);
        for (unsigned other = 0; known && other < status; other++)
            assert_int_not_equal(api_status_label(other), label);
    }
}

/* --- counting on one thread --------------------------------------------------------------------------------------- */

static void test_gauge(void **state)
{
    assert_int_equal(read_all(API_METRIC_CONNECTIONS), 1); /* a gauge without labels exists from the start */
    assert_true(read_series[0].value == 0);
    api_metric_add(API_METRIC_CONNECTIONS, API_NO_LABELS, 5);
    api_metric_add(API_METRIC_CONNECTIONS, API_NO_LABELS, -7);
    assert_int_equal(api_metric_value(API_METRIC_CONNECTIONS, API_NO_LABELS), -2);
    assert_int_equal(read_all(API_METRIC_CONNECTIONS), 1);
    assert_true(read_series[0].value == -2);
    assert_string_equal(read_series[0].label[0], "");
    api_metric_add(API_METRIC_CONNECTIONS, API_NO_LABELS, 2);
}

static void test_labels(void **state)
{
    assert_int_equal(read_all(API_METRIC_REQUESTS), 0);
    enum { LAST = API_MOST_OPERATIONS - 1 };
    api_metric_name_operation(LAST, "juggle");
    api_metric_name_operation(LAST + 1, "beyond");
    api_metric_add(API_METRIC_REQUESTS, (api_label_values){{LAST, api_status_label(200)}}, 2);
    api_metric_add(API_METRIC_REQUESTS, (api_label_values){{0, api_status_label(531)}}, 3);
    api_metric_add(API_METRIC_REQUESTS, (api_label_values){{LAST + 1, 161}}, 4); /* the second label is out of range */
    api_metric_add(API_METRIC_REQUESTS, (api_label_values){{LAST, 0}}, 5);
    assert_int_equal(read_all(API_METRIC_REQUESTS), 4);
    assert_true(series_with(API_METRIC_REQUESTS, "juggle", "200")->value == 2);
    assert_true(series_with(API_METRIC_REQUESTS, "none", "531")->value == 3);
    assert_true(series_with(API_METRIC_REQUESTS, "none", "0")->value == 4);
    assert_true(series_with(API_METRIC_REQUESTS, "juggle", "0")->value == 5);
    assert_int_equal(api_metric_value(API_METRIC_REQUESTS, (api_label_values){{LAST, api_status_label(200)}}), 2);
    /* The series of all problem codes exist from the start with the value 0, so that Prometheus sees their first
       increase; each metric has counts of its own. */
    assert_int_equal(read_all(API_METRIC_PROBLEMS), API_PROBLEM_COUNT - 1);
    for (size_t i = 0; i < n_series; i++)
        assert_true(read_series[i].value == 0);
    api_metric_add(API_METRIC_RUNS, (api_label_values){{API_THREAD_WRITER}}, 1);
    assert_true(series_with(API_METRIC_RUNS, "writer", "")->value == 1 && read_all(API_METRIC_RUNS) == 3);
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_READ}}, 1);
    assert_true(series_with(API_METRIC_STORE_ERRORS, "read", "")->value == 1 &&
                series_with(API_METRIC_STORE_ERRORS, "write", "")->value == 0);
}

static void test_histogram(void **state)
{
    const api_label_values   labels = {{30}};
    const api_metric_series *h;
    static const struct {
        uint64_t time; /* ns */
        size_t   bucket;
    } cases[]    = {{0, 0},       {25000, 0},      {25001, 1},        {2500000, 6},
                    {2500001, 7}, {999999999, 14}, {10000000000, 17}, {10000000001, API_BOUNDS}};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t before[API_BOUNDS + 1] = {0};
        h                               = series_with(API_METRIC_REQUEST_SECONDS, "none", "");
        if (h) memcpy(before, h->bucket, sizeof before);
        api_metric_observe(API_METRIC_REQUEST_SECONDS, labels, cases[i].time);
        sum += cases[i].time;
        h = series_with(API_METRIC_REQUEST_SECONDS, "none", "");
        assert_non_null(h);
        for (size_t b = 0; b <= API_BOUNDS; b++)
            assert_int_equal(h->bucket[b], before[b] + (b >= cases[i].bucket));
        assert_true(h->value == (double)sum / 1e9);
    }
}

/* --- many threads ------------------------------------------------------------------------------------------------- */

/* More threads than the registry has blocks, so that some share one. */
enum { THREADS = 40, ROUNDS = 100000, LABELS = 3 };

static atomic_bool       counting;
static pthread_barrier_t start; /* starts the threads together; otherwise they might run one after the other */

static void *count_much(void *arg)
{
    unsigned self = *(const unsigned *)arg;
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned operation = 1 + (self + i) % LABELS;
        api_metric_add(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS, 1);
        api_metric_add(API_METRIC_REQUESTS, (api_label_values){{operation, api_status_label(201)}}, 1);
        api_metric_observe(API_METRIC_REQUEST_SECONDS, (api_label_values){{operation}}, 1000u * (i % 100));
        api_metric_add(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS, -1);
    }
    return NULL;
}

typedef struct totals {
    double   requests;
    uint64_t times;
    double   seconds;
} totals;

static void add_request(void *arg, const api_metric_series *series)
{
    if (strcmp(series->label[1], "201") == 0) ((totals *)arg)->requests += series->value;
}

static void add_times(void *arg, const api_metric_series *series)
{
    totals *t = arg;
    for (size_t i = 1; i <= API_BOUNDS; i++)
        assert_true(series->bucket[i] >= series->bucket[i - 1]);
    t->times += series->bucket[API_BOUNDS];
    t->seconds += series->value;
}

static totals read_totals(void)
{
    totals t = {0};
    api_metric_read(API_METRIC_REQUESTS, add_request, &t);
    api_metric_read(API_METRIC_REQUEST_SECONDS, add_times, &t);
    return t;
}

/* Reads while the other threads count: counters must never decrease. */
static void *watch(void *arg)
{
    totals last = {0};
    do {
        totals  now    = read_totals();
        int64_t queued = api_metric_value(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS);
        if (now.requests < last.requests || now.times < last.times || now.seconds < last.seconds || queued < 0 ||
            queued > THREADS)
            *(bool *)arg = false;
        last = now;
    } while (atomic_load(&counting));
    return NULL;
}

static void test_many_threads(void **state)
{
    pthread_t thread[THREADS], watcher;
    unsigned  number[THREADS];
    bool      never_fell = true;
    totals    before     = read_totals();
    atomic_store(&counting, true);
    pthread_barrier_init(&start, NULL, THREADS);
    assert_int_equal(pthread_create(&watcher, NULL, watch, &never_fell), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, count_much, &number[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&counting, false);
    pthread_join(watcher, NULL);
    pthread_barrier_destroy(&start);
    totals after = read_totals();
    assert_true(never_fell);
    assert_true(after.requests - before.requests == THREADS * ROUNDS);
    assert_int_equal(after.times - before.times, THREADS * ROUNDS);
    assert_true(fabs(after.seconds - before.seconds - THREADS * ROUNDS * 49.5e-6) < 1e-6);
    assert_int_equal(api_metric_value(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS), 0);
}

/* --- metrics of requests
 * --------------------------------------------------------------------------------------------- */

static int64_t problems(api_code code)
{
    return api_metric_value(API_METRIC_PROBLEMS, (api_label_values){{code}});
}

static void test_problems(void **state)
{
    int64_t paths = problems(API_NO_SUCH_PATH), fields = problems(API_MISSING_FIELD);
    ask("GET", "/livez", NULL);
    ask("GET", "/nowhere", NULL);
    assert_problem(404, "no-such-path", NULL, -1);
    assert_int_equal(problems(API_NO_SUCH_PATH), paths + 1);
    post("arm/mass-matrix", "{}");
    assert_problem(422, "missing-field", "/q", -1);
    assert_int_equal(problems(API_MISSING_FIELD), fields + 1);
    assert_true(series_with(API_METRIC_PROBLEMS, "no-such-path", "")->value >= 1);
    assert_null(series_with(API_METRIC_PROBLEMS, "none", ""));
}

static unsigned operation_of(const char *target)
{
    const api_request request = {.method = "POST", .target = target};
    api_call         *call    = api_begin(door_api(), &request);
    assert_non_null(call);
    unsigned number = api_call_operation(call);
    api_end(call);
    return number;
}

static void test_operations(void **state)
{
    static const struct {
        const char *target, *label;
    } cases[] = {{"/v1/models/arm/inverse-dynamics", "inverse-dynamics"},
                 {"/v1/models/nobody/mass-matrix", "mass-matrix"},
                 {"/v1/models/arm/evaluate", "evaluate"},
                 {"/v1/models/arm/juggle", "none"},
                 {"/v1/models", "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned number = operation_of(cases[i].target);
        api_metric_add(API_METRIC_REQUESTS, (api_label_values){{number, api_status_label(231 - (unsigned)i)}}, 1);
        char status[12];
        snprintf(status, sizeof status, "%zu", 231 - i);
        assert_non_null(series_with(API_METRIC_REQUESTS, cases[i].label, status));
    }
}

static uint64_t times_of(api_metric metric, const char *operation)
{
    const api_metric_series *series = series_with(metric, operation, "");
    return series ? series->bucket[API_BOUNDS] : 0;
}

static double states_of(const char *operation)
{
    const api_metric_series *series = series_with(API_METRIC_STATES, operation, "");
    return series ? series->value : 0;
}

/* Compares the counts for one chunk of states, several chunks, motions, several operations, and a request that fails:
 * all steps that were reached are counted, and states only of answers that were sent. */
static void test_steps(void **state)
{
    static const struct {
        const char *operation, *body;
        double      states;
        bool        evaluated;
    } cases[] = {{"bias", "{'q':[1,0,0,0]}", 1, true},
                 {"mass-matrix", "{'q':[[1,0,0,0],[2,0,0,0],[3,0,0,0]]}", 3, true},
                 {"evaluate", "{'q':[1,0,0,0],'operations':{'bias':{},'energy':{}}}", 1, true},
                 {"simulate", "{'q':[0,0,0,0],'qd':[0,0,0,0],'duration':0.1,'step':0.01,'samples':3}", 3, true},
                 {"bias", "{'q':[1,0]}", 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *operation = cases[i].operation;
        char        path[64];
        uint64_t    decoded = times_of(API_METRIC_DECODE_SECONDS, operation),
                 evaluated  = times_of(API_METRIC_EVALUATE_SECONDS, operation),
                 encoded    = times_of(API_METRIC_ENCODE_SECONDS, operation);
        double states       = states_of(operation);
        snprintf(path, sizeof path, "arm/%s", operation);
        assert_int_equal(post(path, cases[i].body)->status, cases[i].evaluated ? 200 : 422);
        assert_int_equal(times_of(API_METRIC_DECODE_SECONDS, operation), decoded + 1);
        assert_int_equal(times_of(API_METRIC_EVALUATE_SECONDS, operation), evaluated + cases[i].evaluated);
        assert_int_equal(times_of(API_METRIC_ENCODE_SECONDS, operation), encoded + cases[i].evaluated);
        assert_true(states_of(operation) == states + cases[i].states);
    }
}

/* --- the page of metrics ------------------------------------------------------------------------------------------ */

/* Returns the value of a series on the last page. */
static double page_value(const answer *page, const char *series)
{
    char line[200];
    snprintf(line, sizeof line, "\n%s ", series);
    const char *found = strstr(page->text, line);
    assert_non_null(found);
    return strtod(found + strlen(line), NULL);
}

static void test_page(void **state)
{
    post("slider/energy", "{'q':[[1],[2]],'qd':[0]}");
    ask("GET", "/nowhere", NULL);
    const answer *page = ask("GET", "/metrics", NULL);
    assert_int_equal(page->status, 200);
    assert_string_equal(header_of(page, "Cache-Control"), "no-store");
    assert_true(page_value(page, "torqued_ready") == 1);
    assert_true(page_value(page, "torqued_models") == 3);
    assert_in_range(page_value(page, "torqued_model_bytes"), 3000, 100000);
    assert_true(page_value(page, "torqued_states_total{operation=\"energy\"}") >= 2);
    assert_true(page_value(page, "torqued_problems_total{problem=\"no-such-path\"}") >= 1);
    assert_true(page_value(page, "torqued_decode_duration_seconds_bucket{operation=\"energy\",le=\"+Inf\"}") ==
                page_value(page, "torqued_decode_duration_seconds_count{operation=\"energy\"}"));
    assert_true(page_value(page, "torqued_estimate_ratio_count") >= 0);
    for (int m = 0; m < API_METRIC_COUNT; m++) {
        char type[100];
        snprintf(type, sizeof type, "# TYPE %s ", api_metric_kind_of((api_metric)m)->name);
        assert_non_null(strstr(page->text, type));
    }
    /* Names in certificates may have any bytes. */
    const api_client_figures used = {{[API_CLIENT_REQUESTS] = 7}};
    api_client_count("client:a \"b\" \\ \xc3\xbc\n", &used);
    api_client_count("address:2001:db8::/64", &used);
    page = ask("GET", "/metrics", NULL);
    assert_true(page_value(page, "torqued_client_requests_total{client=\"a \\\"b\\\" \\\\ %C3%BC%0A\"}") == 7);
    assert_true(page_value(page, "torqued_client_requests_total{from=\"2001:db8::/64\"}") == 7);
    assert_int_equal(ask("HEAD", "/metrics", NULL)->status, 200);
    assert_int_equal(ask("POST", "/metrics", "{}")->status, 405);
    assert_int_equal(ask("GET", "/metrics?name=up", NULL)->status, 422);
}

static void test_models(void **state)
{
    int64_t models = api_metric_value(API_METRIC_MODELS, API_NO_LABELS);
    int64_t bytes  = api_metric_value(API_METRIC_MODEL_BYTES, API_NO_LABELS);
    for (int i = 0; i < 2; i++) { /* the second PUT replaces a model of the same size */
        ask("PUT", "/v1/models/rod",
            "{'links':[{'name':'rod','parent':'base','joint':{'name':'hinge','type':'revolute','axis':[0,1,0]}}]}");
        assert_int_equal(api_metric_value(API_METRIC_MODELS, API_NO_LABELS), models + 1);
        assert_true(api_metric_value(API_METRIC_MODEL_BYTES, API_NO_LABELS) > bytes + 500);
    }
    ask("DELETE", "/v1/models/rod", NULL);
    assert_int_equal(api_metric_value(API_METRIC_MODELS, API_NO_LABELS), models);
    assert_int_equal(api_metric_value(API_METRIC_MODEL_BYTES, API_NO_LABELS), bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_gauge),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test_setup_teardown(test_problems, door_setup, door_teardown),
        cmocka_unit_test_setup_teardown(test_operations, door_setup, door_teardown),
        cmocka_unit_test_setup_teardown(test_steps, door_setup, door_teardown),
        cmocka_unit_test_setup_teardown(test_page, door_setup, door_teardown),
        cmocka_unit_test_setup_teardown(test_models, door_setup, door_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
