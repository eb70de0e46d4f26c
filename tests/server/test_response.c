/* test_response.c - checks that the end of a request is counted once, with the operation and the status that the log
 * shows. */
#include "server/net/response.h"
#include "server/work/clock.h"
#include "api/metrics.h"
#include "tests/target.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int     ends[2];
static srv_log lines;
static api    *service;

static srv_slow_log      slow;
static const srv_records records = {&lines, &slow};

static int open_all(void **state)
{
    char             error[200];
    const srv_config config  = {.log_format = SRV_LOG_TEXT, .log_level = SRV_WARNING, .log_refusals = 3};
    const api_config answers = {
        .version = "test", .target = test_target(), .limits = {.memory = 1 << 20, .models = 1, .timeout = 1}};
    service = api_open(&answers, error, sizeof error);
    api_set_ready(service);
    srv_slow_log_open(&slow);
    return service && pipe(ends) == 0 && srv_log_open(&lines, &config, ends[1]) ? 0 : -1;
}

static int close_all(void **state)
{
    srv_log_close(&lines);
    api_close(service);
    return 0;
}

/* End of a request; CUT_OFF: the client has not received the whole answer. */
typedef enum outcome { DELIVERED, CUT_OFF } outcome;

static void end_request(const char *method, const char *target, outcome end)
{
    const api_request request = {.method = method, .target = target};
    api_call         *call    = api_begin(service, &request);
    assert_non_null(call);
    const srv_access access = {.call      = call,
                               .method    = method,
                               .target    = target,
                               .client    = "boss",
                               .from      = "192.0.2.7:1",
                               .account   = "client:boss",
                               .began     = srv_now() - 3000000,
                               .answered  = true,
                               .delivered = end == DELIVERED};
    srv_use          use    = srv_response_record(&records, NULL, &access);
    assert_int_equal(use.status, api_reply_of(call)->status);
    api_end(call);
}

typedef struct found {
    const char       *first, *second;
    api_metric_series series;
    size_t            n; /* number of series of the metric */
} found;

static void find(void *arg, const api_metric_series *series)
{
    found *f = arg;
    f->n++;
    if (strcmp(series->label[0], f->first) == 0 && strcmp(series->label[1], f->second) == 0) f->series = *series;
}

static void test_requests(void **state)
{
    end_request("GET", "/livez", DELIVERED);
    end_request("GET", "/livez", DELIVERED);
    end_request("POST", "/v1/models/nobody/mass-matrix", DELIVERED);
    found answered = {.first = "none", .second = "200"}, missed = {.first = "mass-matrix", .second = "404"};
    api_metric_read(API_METRIC_REQUESTS, find, &answered);
    api_metric_read(API_METRIC_REQUESTS, find, &missed);
    assert_true(answered.series.value == 2);
    assert_true(missed.series.value == 1);
    assert_int_equal(missed.n, 2);
}

static void test_times(void **state)
{
    found none = {.first = "none", .second = ""};
    api_metric_read(API_METRIC_REQUEST_SECONDS, find, &none);
    assert_int_equal(none.series.bucket[API_BOUNDS], 2);
    assert_int_equal(none.series.bucket[6], 0); /* up to 2.5 ms: both requests took at least 3 ms */
    assert_true(none.series.value >= 0.006);
}

/* Refused requests must have no figures of work, and their answers count as bytes sent. */
static void test_bytes(void **state)
{
    int64_t sent = api_metric_value(API_METRIC_SENT_BYTES, API_NO_LABELS);
    end_request("GET", "/livez", DELIVERED);
    end_request("HEAD", "/livez", DELIVERED);
    end_request("GET", "/livez", CUT_OFF);
    assert_int_equal(api_metric_value(API_METRIC_SENT_BYTES, API_NO_LABELS), sent + 18);
    found queue = {.first = "none", .second = ""};
    api_metric_read(API_METRIC_QUEUE_SECONDS, find, &queue);
    assert_int_equal(queue.n, 0);
}

/* The log of this test has the level "warning": a change of a model must be logged all the same. */
static void test_audit_at_every_level(void **state)
{
    char lines_read[4096];
    end_request("GET", "/v1/models/nobody", DELIVERED);
    end_request("DELETE", "/v1/models/nobody?token=torqued_0123456789abcdef", DELIVERED);
    ssize_t n = read(ends[0], lines_read, sizeof lines_read - 1);
    assert_true(n > 0);
    lines_read[n] = '\0';
    assert_non_null(strstr(lines_read, " audit change method=DELETE target=\"/v1/models/nobody?token=torqued_***\" "
                                       "status=404 client=boss from=192.0.2.7:1 model=nobody "));
    assert_null(strstr(lines_read, "GET"));
}

/* A request that began 2 s ago, read its body for 0.5 s, waited 0.25 s and was sent for 1 s. Ten slow requests have a
 * line each within a second; the next line counts the others. */
static void test_slow_requests(void **state)
{
    const uint64_t    second  = 1000000000;
    const api_request request = {.method = "POST", .target = "/v1/models/nobody/mass-matrix", .request_id = "mine"};
    api_call         *call    = api_begin(service, &request);
    const uint64_t    now     = srv_now();
    srv_access        access  = {.call      = call,
                                 .method    = "POST",
                                 .target    = request.target,
                                 .from      = "192.0.2.7:1",
                                 .began     = now - 2 * second,
                                 .arrived   = now - 3 * second / 2,
                                 .took      = 0.125,
                                 .slow      = 3 * second,
                                 .answered  = true,
                                 .delivered = true};
    srv_response_record(&records, NULL, &access);
    access.slow = 2 * second;
    for (int i = 0; i < SRV_SLOW_LINES + 5; i++)
        assert_int_equal(srv_response_record(&records, NULL, &access).work, second / 8);
    api_end(call);
    char   text[20000] = "";
    size_t length      = 0;
    for (size_t lines_read = 0; lines_read < SRV_SLOW_LINES;) {
        ssize_t n = read(ends[0], text + length, sizeof text - 1 - length);
        assert_true(n > 0);
        length += (size_t)n;
        lines_read = 0;
        for (const char *c = text; (c = strchr(c, '\n')); c++)
            lines_read++;
    }
    assert_non_null(strstr(text, " warning slow-request method=POST target=/v1/models/nobody/mass-matrix status=404 "
                                 "from=192.0.2.7:1 ms=20"));
    assert_non_null(strstr(text, " read=500.000 queue=0.000 send=150"));
    assert_non_null(strstr(text, " processor=125.000 operation=mass-matrix problem=no-such-model id=mine\n"));
    uint64_t omitted = 0;
    assert_false(srv_slow_log_admits(&slow, now, &omitted));
    assert_true(srv_slow_log_admits(&slow, now + second, &omitted));
    assert_int_equal(omitted, 6);
    found counted = {.first = "mass-matrix", .second = ""};
    api_metric_read(API_METRIC_SLOW_REQUESTS, find, &counted);
    assert_true(counted.series.value == SRV_SLOW_LINES + 5);
}

/* With a log level above "info" refused requests have no lines, so that no line counts as omitted, and the lines of
   changes are not affected. */
static void test_refusals_without_lines_take_none_from_others(void **state)
{
    char   lines_read[4096];
    size_t lines_seen = 0;
    for (int i = 0; i < 50; i++)
        end_request("GET", "/v1/models/nobody", DELIVERED);
    end_request("DELETE", "/v1/models/nobody", DELIVERED);
    ssize_t n = read(ends[0], lines_read, sizeof lines_read - 1);
    assert_true(n > 0);
    for (ssize_t i = 0; i < n; i++)
        lines_seen += lines_read[i] == '\n';
    assert_int_equal(lines_seen, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),      cmocka_unit_test(test_times),
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_audit_at_every_level),
        cmocka_unit_test(test_slow_requests), cmocka_unit_test(test_refusals_without_lines_take_none_from_others),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
