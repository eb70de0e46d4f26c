/* test_parallel.c - checks that several threads answer a request with the same bytes, or the same problem, as a single
 * thread. The helpers are first simulated by one thread that runs slots (shares of the work) in random order, then real
 * threads. */
#include "tests/api/support/door.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5000, SLOTS = 5 };

/* --- helpers ------------------------------------------------------------------------------------------------------ */

static unsigned seed;

static unsigned dice(unsigned sides)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % sides;
}

/* Runs the slots in random order, some of them late or never; slot 0, the worker's own, runs to its end. */
static void run_in_any_order(void *arg, size_t slots, api_next_task *task, void *task_arg)
{
    size_t *runs = arg;
    ++*runs;
    assert_in_range(slots, 2, SLOTS);
    for (bool over[SLOTS] = {false}; !over[0];) {
        size_t slot = dice((unsigned)slots);
        if (over[slot] || (slot == 0 && dice(3) > 0)) continue;
        over[slot] = !task(task_arg, slot);
    }
}

typedef struct helping_thread {
    api_next_task *task;
    void          *arg;
    size_t         slot;
    pthread_t      thread;
} helping_thread;

static void *help(void *arg)
{
    const helping_thread *h = arg;
    while (h->task(h->arg, h->slot))
        ;
    return NULL;
}

static void run_on_threads(void *arg, size_t slots, api_next_task *task, void *task_arg)
{
    helping_thread thread[SLOTS];
    size_t        *runs = arg;
    ++*runs;
    for (size_t slot = 1; slot < slots; slot++) {
        thread[slot] = (helping_thread){task, task_arg, slot, 0};
        assert_int_equal(pthread_create(&thread[slot].thread, NULL, help, &thread[slot]), 0);
    }
    help(&(helping_thread){task, task_arg, 0, 0});
    for (size_t slot = 1; slot < slots; slot++)
        pthread_join(thread[slot].thread, NULL);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static char  *body;
static size_t length;

/* Writes a field of rows of four numbers; numbers of the two `bad` rows are so large that squares of velocities
 * overflow. */
static void add_field(FILE *out, const char *name, const size_t *bad)
{
    fprintf(out, "\"%s\":[", name);
    for (size_t row = 0; row < ROWS; row++) {
        bool is_bad = bad && (row == bad[0] || row == bad[1]);
        fprintf(out, "%s[", row > 0 ? "," : "");
        for (int i = 0; i < 4; i++)
            fprintf(out, "%s%.6f%s", i > 0 ? "," : "", dice(2000000) * 1e-6 - 1, is_bad ? "e250" : "");
        fprintf(out, "]");
    }
    fprintf(out, "]");
}

static void make_body(const char *further, const size_t *bad_q, const size_t *bad_qd)
{
    free(body);
    body      = NULL;
    FILE *out = open_memstream(&body, &length);
    seed      = 1;
    fprintf(out, "{");
    add_field(out, "q", bad_q);
    fprintf(out, ",");
    add_field(out, "qd", bad_qd);
    fprintf(out, ",");
    add_field(out, "qdd", NULL);
    fprintf(out, ",%s}", further);
    fclose(out);
}

static api_call *run_call(const char *target, const char *accept, const api_helpers *helpers,
                          const api_deadline *deadline)
{
    const api_request head   = {.method = "POST", .target = target, .accept = accept, .has_body = true};
    api_worker       *worker = api_worker_open();
    api_call         *call   = api_begin(door_api(), &head);
    assert_true(worker && call && api_wants_body(call));
    api_worker_set_helpers(worker, helpers);
    api_run(call, worker, body, length, deadline);
    api_worker_close(worker);
    return call;
}

static void assert_same(const api_call *a, const api_call *b)
{
    const api_reply *x = api_reply_of(a), *y = api_reply_of(b);
    assert_int_equal(x->status, y->status);
    assert_int_equal(x->length, y->length);
    assert_memory_equal(x->body, y->body, x->length);
}

/* Runs the request on one thread, then on helpers of each number and type, and compares. Returns the call that ran on
 * one thread. */
static api_call *assert_same_by_all(const char *target, const char *accept)
{
    size_t    runs  = 0;
    api_call *alone = run_call(target, accept, NULL, NULL);
    for (unsigned i = 0; i < 12; i++) {
        const api_helpers helpers = {i % 2 ? run_on_threads : run_in_any_order, &runs, 1 + i % SLOTS};
        size_t            before  = runs;
        api_call         *call    = run_call(target, accept, &helpers, NULL);
        assert_same(alone, call);
        assert_true(helpers.most_slots == 1 ? runs == before : runs > before);
        api_end(call);
    }
    return alone;
}

static void test_the_same_answer(void **state)
{
    static const char everything[] =
        "\"operations\":{\"inverse-dynamics\":{\"outputs\":[\"tau\",\"joint_wrenches\"]},\"mass-matrix\":{},"
        "\"sensitivity\":{},\"kinematics\":{\"frame\":\"tool\",\"outputs\":[\"poses\",\"jacobian\"]},"
        "\"energy\":{\"outputs\":[\"kinetic\",\"momentum\"]},\"coriolis\":{}}";
    static const char *const types[] = {"application/json", "application/cbor"};
    make_body(everything, NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        api_call *call = assert_same_by_all("/v1/models/arm/evaluate", types[i]);
        assert_int_equal(api_reply_of(call)->status, 200);
        api_end(call);
    }
    make_body("\"joints\":[\"hip\",\"grasp\",\"elbow\",\"shoulder\"]", NULL, NULL);
    api_end(assert_same_by_all("/v1/models/arm/inverse-dynamics", NULL));
}

/* If two rows have a problem, the first must be reported, even if another thread finds the second one earlier. The
 * problem is found while reading (an angle) or while writing (an overflow of velocities). */
static void test_the_same_problem(void **state)
{
    static const size_t bad[][2] = {{700, 4900}, {4999, 0}, {513, 512}};
    for (size_t i = 0; i < 6; i++) {
        const size_t *rows = bad[i / 2];
        char          row[40];
        snprintf(row, sizeof row, "\"row\":%zu}", rows[0] < rows[1] ? rows[0] : rows[1]);
        make_body("\"outputs\":[\"tau\"]", i % 2 ? rows : NULL, i % 2 ? NULL : rows);
        api_call *call = assert_same_by_all("/v1/models/arm/inverse-dynamics", NULL);
        assert_int_equal(api_reply_of(call)->status, 422);
        assert_non_null(strstr(api_reply_of(call)->body, i % 2 ? "angle-too-large" : "result-not-finite"));
        assert_non_null(strstr(api_reply_of(call)->body, row));
        api_end(call);
    }
}

/* Finds the problem while evaluating: two links, of which the first has no mass, are stretched in some rows. */
static void test_the_same_singular_row(void **state)
{
    static const char document[] =
        "{'links':[{'name':'a','parent':'base','joint':{'name':'shoulder','type':'revolute','axis':[0,0,1]}},"
        "{'name':'b','parent':'a','joint':{'name':'elbow','type':'revolute','axis':[0,0,1],'origin':{'xyz':[1,0,0]}},"
        "'inertial':{'mass':1,'com':[1,0,0]}}]}";
    assert_int_equal(ask("PUT", "/v1/models/straight", document)->status, 201);
    free(body);
    body      = NULL;
    FILE *out = open_memstream(&body, &length);
    fprintf(out, "{\"tau\":[0,0],\"q\":[");
    for (int row = 0; row < ROWS; row++)
        fprintf(out, "%s[0,%s]", row > 0 ? "," : "", row % 1200 == 1199 ? "0" : "1.5");
    fprintf(out, "]}");
    fclose(out);
    api_call *call = assert_same_by_all("/v1/models/straight/forward-dynamics", NULL);
    assert_int_equal(api_reply_of(call)->status, 422);
    assert_non_null(strstr(api_reply_of(call)->body, "\"row\":1199}"));
    api_end(call);
}

/* With "on_error": "row", failed rows must be listed in order, and the other rows must be those of a request without
 * failures, on any number of threads. */
static void test_the_same_failed_rows(void **state)
{
    static const size_t      bad[] = {4999, 513}, worse[] = {1024, 0};
    static const char *const types[] = {"application/json", "application/cbor"};
    for (size_t i = 0; i < 2; i++) {
        make_body("\"on_error\":\"row\",\"outputs\":[\"tau\",\"joint_wrenches\"]", bad, worse);
        api_call *call = assert_same_by_all("/v1/models/arm/inverse-dynamics", types[i]);
        assert_int_equal(api_reply_of(call)->status, 200);
        if (i == 0) {
            const char *found = strstr(api_reply_of(call)->body, "\"errors\":[{\"row\":0,");
            assert_non_null(found);
            assert_non_null(found = strstr(found, "},{\"row\":513,\"code\":\"angle-too-large\""));
            assert_non_null(found = strstr(found, "},{\"row\":1024,\"code\":\"result-not-finite\""));
            assert_non_null(found = strstr(found, "},{\"row\":4999,"));
            assert_null(strstr(found + 4, "\"row\""));
        }
        api_end(call);
    }
}

static void make_motions(void)
{
    free(body);
    body      = NULL;
    FILE *out = open_memstream(&body, &length);
    fprintf(out, "{\"on_error\":\"row\",\"degree\":2,\"duration\":1,\"samples\":700,\"outputs\":[\"q\",\"tau\"],"
                 "\"control_points\":[");
    for (int row = 0; row < 12; row++)
        fprintf(out, "%s[[0,0,0,0],[0,%s,0,%s],[1,0,0,0],[1,1,1,1]]", row > 0 ? "," : "", row == 7 ? "1e9" : "1",
                row % 5 == 4 ? "1e150" : "1");
    fprintf(out, "]}");
    fclose(out);
}

static void test_the_same_failed_motions(void **state)
{
    make_motions();
    api_call   *call  = assert_same_by_all("/v1/models/arm/trajectory", NULL);
    const char *found = api_reply_of(call)->body;
    assert_int_equal(api_reply_of(call)->status, 200);
    assert_non_null(found = strstr(found, "\"errors\":[{\"row\":4,"));
    assert_non_null(found = strstr(found, "},{\"row\":7,\"code\":\"angle-too-large\""));
    assert_non_null(found = strstr(found, "},{\"row\":9,"));
    assert_null(strstr(found + 3, "{\"row\""));
    api_end(call);
}

static void test_a_client_that_is_gone(void **state)
{
    size_t            runs     = 0;
    const api_helpers helpers  = {run_on_threads, &runs, SLOTS};
    api_deadline      deadline = {.time = UINT64_MAX};
    atomic_init(&deadline.cancelled, true);
    make_body("\"outputs\":[\"tau\"]", NULL, NULL);
    api_call *call = run_call("/v1/models/arm/inverse-dynamics", NULL, &helpers, &deadline);
    assert_int_equal(api_reply_of(call)->status, 408);
    api_end(call);
}

/* Measured times of a request on several threads must change the estimate. The number of calls is odd, so that equal
 * steps up and down cannot cancel. */
static void test_times_of_helpers_change_the_estimate(void **state)
{
    enum { CALLS = 11 };
    const api_request head = {
        .method = "POST", .target = "/v1/models/arm/inverse-dynamics", .accept = "application/json", .has_body = true};
    size_t            runs    = 0;
    const api_helpers helpers = {run_on_threads, &runs, SLOTS};
    api_worker       *worker  = api_worker_open();
    double            cost[CALLS + 1];
    make_body("\"outputs\":[\"tau\"]", NULL, NULL);
    assert_non_null(worker);
    api_worker_set_helpers(worker, &helpers);
    for (size_t i = 0; i <= CALLS; i++) {
        api_call *call = api_begin(door_api(), &head);
        assert_true(call && api_wants_body(call));
        cost[i] = api_estimate_cost(call, body, length);
        if (i < CALLS) api_run(call, worker, body, length, NULL);
        api_end(call);
    }
    api_worker_close(worker);
    assert_true(runs >= CALLS);
    assert_true(cost[CALLS] != cost[0]);
}

/* Counts the deadline checks of a request; from a given check on returns true, so that the request leaves its
   thread. */
static bool leaves_at(void *arg, uint64_t now)
{
    size_t *left = arg;
    if (*left > 0 && now > 0) --*left;
    return *left == 0;
}

/* A request that leaves its thread at any of its checks has no reply. The second run has the bytes of a request that
 * was not interrupted: the first run left nothing behind. */
static void test_a_request_that_leaves_its_thread_runs_again(void **state)
{
    static const char *const targets[] = {"/v1/models/arm/inverse-dynamics", "/v1/models/arm/torque-derivative"};
    for (size_t i = 0; i < 2; i++) {
        const char *target = targets[i];
        make_body("\"outputs\":[\"tau\"]", NULL, NULL);
        const api_request head  = {.method = "POST", .target = target, .accept = "application/json", .has_body = true};
        api_call         *whole = run_call(target, "application/json", NULL, NULL);
        for (size_t checks = 1, done = 0; !done; checks *= 2) {
            size_t              left      = checks;
            const api_scheduler scheduler = {.must_leave = leaves_at, .arg = &left};
            const api_deadline  deadline  = {.time = UINT64_MAX, .scheduler = &scheduler};
            api_worker         *worker    = api_worker_open();
            api_call           *call      = api_begin(door_api(), &head);
            done                          = api_run(call, worker, body, length, &deadline);
            assert_true(done || left == 0);
            assert_true(done || !api_reply_of(call)->body);
            assert_true(done || api_wants_run(call));
            if (!done) assert_true(api_run(call, worker, body, length, NULL));
            assert_same(whole, call);
            assert_true(checks > 1 || !done); /* there is at least one check */
            api_end(call);
            api_worker_close(worker);
        }
        api_end(whole);
    }
}

static int open_door(void **state)
{
    const api_limits limits = {.body    = 16 << 20,
                               .answer  = 1 << 28,
                               .memory  = 1u << 31,
                               .rows    = 20000,
                               .nesting = 16,
                               .models  = 10,
                               .links   = 100,
                               .timeout = 600};
    door_open(&limits);
    return 0;
}

static int close_door(void **state)
{
    free(body);
    door_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_answer),
        cmocka_unit_test(test_the_same_problem),
        cmocka_unit_test(test_the_same_singular_row),
        cmocka_unit_test(test_a_client_that_is_gone),
        cmocka_unit_test(test_times_of_helpers_change_the_estimate),
        cmocka_unit_test(test_the_same_failed_rows),
        cmocka_unit_test(test_the_same_failed_motions),
        cmocka_unit_test(test_a_request_that_leaves_its_thread_runs_again),
    };
    return cmocka_run_group_tests(tests, open_door, close_door);
}
