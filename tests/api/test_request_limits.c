/* test_request_limits.c - checks the limits of requests: rows, answers, models, memory, bodies, deadlines; and that
 * claimed memory is released. */
#include "tests/api/support/door.h"
#include "api/requests/lanes/evaluation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID "arm/inverse-dynamics"

static char *batch(size_t rows, const char *more)
{
    char *text = malloc(rows * 32 + 100);
    char *p    = text + sprintf(text, "{'q':[");
    for (size_t i = 0; i < rows; i++)
        p += sprintf(p, "%s[0.1,0.2,0.3,0.4]", i > 0 ? "," : "");
    sprintf(p, "]%s}", more);
    return text;
}

static void reopen(api_limits limits)
{
    door_close();
    door_open(&limits);
}

static void rows(void **state)
{
    api_limits limits = door_limits;
    limits.rows       = 10;
    reopen(limits);
    char *ten = batch(10, ""), *eleven = batch(11, "");
    assert_int_equal(post(ID, ten)->status, 200);
    post(ID, eleven);
    assert_problem(413, "too-many-rows", "/q", -1);
    free(ten);
    free(eleven);
    reopen(door_limits);
}

/* The number of rows that a refusal says would fit must fit, and the bound must not be much larger than the bytes
 * written. */
static void answers(void **state)
{
    api_limits limits = door_limits;
    size_t     fit    = 0;
    char      *many   = batch(1000, ",'outputs':['mass_matrix','inverse']");
    limits.answer     = 100000;
    reopen(limits);
    const answer *a = post("arm/mass-matrix", many);
    assert_problem(413, "answer-too-large", NULL, -1);
    const char *said = strstr(json_string_value(json_object_get(a->json, "detail")), "100000: ");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "100000: %zu rows fit", &fit), 1);
    assert_in_range(fit, 80, 150);
    free(many);
    many = batch(fit, ",'outputs':['mass_matrix','inverse']");
    a    = post("arm/mass-matrix", many);
    assert_int_equal(a->status, 200);
    assert_in_range(a->length, 40000, 100000);
    free(many);
    reopen(door_limits);
}

static void models(void **state)
{
    api_limits limits = door_limits;
    limits.models     = 4;
    reopen(limits);
    static const char document[] =
        "{'links':[{'name':'l','parent':'base','joint':{'name':'j','type':'revolute','axis':[0,0,1]}}]}";
    assert_int_equal(ask("PUT", "/v1/models/m4", document)->status, 201);
    ask("PUT", "/v1/models/m5", document);
    assert_problem(507, "store-full", NULL, -1);
    assert_int_equal(ask("PUT", "/v1/models/m4", document)->status, 200);
    assert_int_equal(ask("DELETE", "/v1/models/m4", NULL)->status, 204);
    assert_int_equal(ask("PUT", "/v1/models/m5", document)->status, 201);
    reopen(door_limits);
}

/* Every claim must be released: a budget that one request nearly fills serves a thousand requests one after another. */
static void memory(void **state)
{
    api_limits limits  = door_limits;
    char      *hundred = batch(100, ""), *bad = batch(100, ",'x':1"), *thousands = batch(10000, "");
    limits.memory = 108000;
    reopen(limits);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(post(ID, hundred)->status, 200);
        assert_int_equal(post(ID, bad)->status, 422);
        assert_int_equal(ask("PUT", "/v1/models/again", "{'links':[]}")->status, 422);
        post(ID, thousands);
        assert_problem(413, "too-much-memory", NULL, -1);
        /* Retry-After is absent, since a retry would not help. */
        assert_null(header_of(ask("POST", "/v1/models/arm/inverse-dynamics", thousands), "Retry-After"));
    }
    free(hundred);
    free(bad);
    free(thousands);
    reopen(door_limits);
}

/* Memory is claimed for numbers of the greatest length; an answer with shorter numbers must use no more than its own
   bytes until it is sent. */
static void answers_hold_only_their_bytes(void **state)
{
    enum { ROWS = 5000, REST = 32 * 1024 };
    api_limits        limits = door_limits;
    const api_request head   = {
          .method = "POST", .target = "/v1/models/slider/bias", .content_type = "application/json", .has_body = true};
    char *text = malloc(4 * ROWS + 100), *p = text + sprintf(text, "{\"q\":[");
    limits.memory = 1 << 20;
    reopen(limits);
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%s[0]", i > 0 ? "," : "");
    strcpy(p, "]}");
    api_worker *worker = api_worker_open();
    api_call   *call = api_begin(door_api(), &head), *other = api_begin(door_api(), &head);
    assert_true(worker && call && other);
    api_run(call, worker, text, strlen(text), NULL);
    assert_int_equal(api_reply_of(call)->status, 200);
    assert_in_range(api_reply_of(call)->length, 4 * ROWS, 5 * ROWS);
    assert_true(api_reserve(other, limits.memory - api_reply_of(call)->length - REST));
    assert_false(api_reserve(other, REST + 1));
    api_end(other);
    api_end(call);
    api_worker_close(worker);
    free(text);
    reopen(door_limits);
}

static void bodies_and_syntax(void **state)
{
    api_limits limits = door_limits;
    limits.body       = 3000;
    reopen(limits);
    char *long_body = batch(400, "");
    post(ID, long_body);
    assert_problem(413, "body-too-large", NULL, -1);
    free(long_body);
    post(ID, "{'q':[1,2,3,4]");
    assert_problem(400, "bad-json", NULL, -1);
    post(ID, "");
    assert_problem(400, "bad-json", NULL, -1);
    assert_detail("the body is empty");
    post(ID, "[[[[[[[[[[[[[[[[[[[[");
    assert_problem(400, "too-deep", NULL, -1);
    post(ID, "{'q':[1,2,3,4],'q':[1,2,3,4]}");
    assert_problem(400, "duplicate-key", NULL, -1);
    reopen(door_limits);
}

/* A deadline that has passed, or a client that has disconnected, must stop a request; the next one is served. */
static void watches(void **state)
{
    char        *text = batch(2000, "");
    api_request  head = {.method = "POST", .target = "/v1/models/arm/inverse-dynamics"};
    api_deadline past = {.time = 1}, later = {.time = UINT64_MAX}, gone = {.cancelled = true, .time = UINT64_MAX};
    for (char *p = text; *p; p++)
        if (*p == '\'') *p = '"';
    ask_with(&head, text, strlen(text), &past);
    assert_problem(504, "deadline-passed", NULL, -1);
    assert_int_not_equal(ask_with(&head, text, strlen(text), &gone)->status, 200);
    assert_int_equal(ask_with(&head, text, strlen(text), &later)->status, 200);
    free(text);
}

/* --- results that a kernel has not reached -------------------------------------------------------------------------
 */

/* Checks one entry of `singular` in a request whose deadline is at `time`, ns. */
static bool check_singular_entry(double singular, uint64_t time, api_problem *problem)
{
    api_deadline   deadline = {.time = time};
    api_input      input    = {.deadline = &deadline};
    api_query      query    = {.input = &input, .rows = 1, .problem = problem};
    api_plan       plan     = {.query = &query};
    api_evaluation e        = {.plan = &plan, .query = &query, .lanes = 1, .problem = problem};
    api_problem_clear(problem);
    return api_check_singular(&e, &singular, 0, 1);
}

static void results_behind_the_deadline_are_not_read(void **state)
{
    (void)state;
    const double left[] = {1e30, NAN, 0, 7};
    api_problem  problem;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        assert_false(check_singular_entry(left[i], 1, &problem));
        assert_int_equal(problem.code, API_DEADLINE_PASSED);
    }
}

static void no_singular_body(void **state)
{
    (void)state;
    api_problem problem;
    assert_true(check_singular_entry(-1, UINT64_MAX, &problem));
    assert_true(check_singular_entry(-1, 1, &problem)); /* the function itself reports no problem: the caller reports
                                                           the deadline at the end of the request */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(answers),
        cmocka_unit_test(models),
        cmocka_unit_test(memory),
        cmocka_unit_test(answers_hold_only_their_bytes),
        cmocka_unit_test(bodies_and_syntax),
        cmocka_unit_test(watches),
        cmocka_unit_test(results_behind_the_deadline_are_not_read),
        cmocka_unit_test(no_singular_body),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
