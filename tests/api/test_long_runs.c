/* test_long_runs.c - runs searches that take long, with a scheduler that counts their checks of the deadline, ends
   them, or moves them to another thread. */
#include "tests/api/support/door.h"
#include <string.h>

/* The tool of `arm` is far from this goal whatever the joints do. */
static const char unreachable[] = "{\"frame\":\"tool\",\"position\":[90,0,0],\"starts\":25,\"limits\":false}";

/* A scheduler that counts the checks of the deadline, and from check number leave_after on asks the computation to
   leave its thread. */
typedef struct counter {
    unsigned looks, leave_after; /* leave_after 0: never */
} counter;

static void count_look(void *arg, uint64_t now)
{
    (void)now;
    ((counter *)arg)->looks++;
}

static bool must_leave(void *arg, uint64_t now)
{
    (void)now;
    const counter *c = arg;
    return c->leave_after > 0 && c->looks >= c->leave_after;
}

/* Runs the operation with the scheduler. Returns the call, which is complete unless *done is false. */
static api_call *run_counted(const char *operation, const char *body, api_worker *worker, counter *c, bool *done)
{
    char                target[100];
    const api_scheduler scheduler = {.yield = count_look, .must_leave = must_leave, .arg = c};
    const api_deadline  deadline  = {.time = UINT64_MAX, .scheduler = &scheduler};
    snprintf(target, sizeof target, "/v1/models/arm/%s", operation);
    const api_request head = {.method = "POST", .target = target, .has_body = true};
    api_call         *call = api_begin(door_api(), &head);
    assert_non_null(call);
    *done = api_run(call, worker, body, strlen(body), &deadline);
    return call;
}

/* A search from 25 starts has at least one iteration for each, and checks the deadline after each iteration. A search
   from one start checks far less often. */
static void test_a_search_looks_at_the_deadline_after_each_iteration(void **state)
{
    (void)state;
    api_worker *worker = api_worker_open();
    counter     many = {0}, few = {0};
    bool        done;
    api_call   *call = run_counted("inverse-kinematics", unreachable, worker, &many, &done);
    assert_true(done);
    assert_int_equal(api_reply_of(call)->status, 422);
    api_end(call);
    call =
        run_counted("inverse-kinematics",
                    "{\"q\":[0.1,0.2,0.1,0.3],\"frame\":\"tool\",\"position\":[90,0,0],\"starts\":1,\"limits\":false}",
                    worker, &few, &done);
    api_end(call);
    assert_true(many.looks > 3 * 25);
    assert_true(few.looks > 2 && few.looks < many.looks / 5);
    api_worker_close(worker);
}

/* A run that must leave ends unfinished, without a reply. The same call then runs elsewhere from its beginning, and has
 * the answer of a call that was never interrupted. */
static void test_a_run_that_leaves_its_thread_is_repeated(void **state)
{
    (void)state;
    api_worker *worker = api_worker_open(), *other = api_worker_open();
    counter     c = {.leave_after = 20};
    bool        done;
    api_call   *call = run_counted("inverse-kinematics", unreachable, worker, &c, &done);
    assert_false(done);
    assert_int_equal(c.looks, 20);
    assert_true(api_run(call, other, unreachable, strlen(unreachable), NULL));
    assert_int_equal(api_reply_of(call)->status, 422);
    const answer *whole = post("arm/inverse-kinematics", unreachable);
    assert_int_equal(whole->length, api_reply_of(call)->length);
    assert_memory_equal(whole->text, api_reply_of(call)->body, whole->length);
    api_end(call);
    api_worker_close(worker);
    api_worker_close(other);
}

/* With "on_error": "row" a computation that leaves its thread discards its failed rows: the repeated computation lists
   each failed row once. */
static void test_rows_of_a_run_that_left_fail_once(void **state)
{
    (void)state;
    static const char rows[] =
        "{\"frame\":\"tool\",\"position\":[[90,0,0],[91,0,0],[92,0,0]],\"starts\":5,\"limits\":false,"
        "\"on_error\":\"row\"}";
    api_worker *worker = api_worker_open();
    bool        done   = false;
    for (unsigned leave = 1; !done; leave += 7) {
        counter   c    = {.leave_after = leave};
        api_call *call = run_counted("inverse-kinematics", rows, worker, &c, &done);
        if (!done) assert_true(api_run(call, worker, rows, strlen(rows), NULL));
        assert_int_equal(api_reply_of(call)->status, 200);
        const answer *whole = post("arm/inverse-kinematics", rows);
        assert_int_equal(whole->length, api_reply_of(call)->length);
        assert_memory_equal(whole->text, api_reply_of(call)->body, whole->length);
        api_end(call);
    }
    api_worker_close(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_search_looks_at_the_deadline_after_each_iteration),
        cmocka_unit_test(test_a_run_that_leaves_its_thread_is_repeated),
        cmocka_unit_test(test_rows_of_a_run_that_left_fail_once),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
