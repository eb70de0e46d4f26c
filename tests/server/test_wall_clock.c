/* test_wall_clock.c - checks that jumps of the clock and the end of a certificate are logged once and counted. */
#include "server/operating/wall_clock.h"
#include "api/metrics.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { DAY = 86400 };

static const int64_t second = 1000000000;

static int     ends[2];
static srv_log lines;

static int open_pipe(void **state)
{
    const srv_config config = {.log_format = SRV_LOG_TEXT, .log_level = SRV_WARNING};
    (void)state;
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && srv_log_open(&lines, &config, ends[1]) ? 0
                                                                                                                 : -1;
}

static int close_pipe(void **state)
{
    (void)state;
    srv_log_close(&lines);
    return 0;
}

/* Checks the clock three times, so that a message that is repeated would be seen, and returns what was logged. The log
 * writes within some milliseconds; a marker shows that all lines before it are written. */
static const char *check_thrice(srv_wall_clock *watched)
{
    static char text[8000];
    size_t      length = 0;
    for (int i = 0; i < 3; i++)
        srv_wall_clock_check(watched);
    srv_log_message(&lines, SRV_WARNING, "marker", "end");
    text[0] = '\0';
    while (!strstr(text, " marker ")) {
        ssize_t n = read(ends[0], text + length, sizeof text - 1 - length);
        if (n <= 0) usleep(1000);
        if (n > 0) length += (size_t)n;
        text[length] = '\0';
    }
    return text;
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static int64_t counted_jumps(void)
{
    return api_metric_value(API_METRIC_CLOCK_JUMPS, API_NO_LABELS);
}

/* Changes the stored offset of the last check, which has the effect of a clock that has jumped since. */
static void test_jumps(void **state)
{
    (void)state;
    srv_wall_clock watched;
    srv_wall_clock_begin(&watched, &lines);
    assert_int_equal(count_of(check_thrice(&watched), "clock-jump"), 0);
    watched.offset -= 90 * second;
    const char *forward = check_thrice(&watched);
    assert_int_equal(count_of(forward, "clock-jump"), 1);
    assert_non_null(strstr(forward, "was set forward by 90."));
    watched.offset += 5 * second / 2;
    assert_non_null(strstr(check_thrice(&watched), "was set back by 2."));
    assert_int_equal(counted_jumps(), 2);
    watched.offset += second; /* a correction as large as a time service makes at most, which is no jump */
    assert_int_equal(count_of(check_thrice(&watched), "clock-jump"), 0);
    assert_int_equal(counted_jumps(), 2);
}

static void test_certificate(void **state)
{
    (void)state;
    time_t         now = time(NULL);
    srv_wall_clock watched;
    srv_wall_clock_begin(&watched, &lines);
    srv_wall_clock_set_expiry(&watched, now + 15 * DAY);
    assert_int_equal(count_of(check_thrice(&watched), "certificate"), 0);
    assert_int_equal(api_metric_value(API_METRIC_CERTIFICATE_EXPIRY, API_NO_LABELS), (now + 15 * DAY) * second);
    srv_wall_clock_set_expiry(&watched, now + 13 * DAY);
    assert_int_equal(count_of(check_thrice(&watched), " certificate-ends "), 1);
    srv_wall_clock_set_expiry(&watched, now + 9 * DAY); /* a new certificate that ends soon, too */
    assert_int_equal(count_of(check_thrice(&watched), " certificate-ends "), 1);
    srv_wall_clock_set_expiry(&watched, now - 1);
    assert_int_equal(count_of(check_thrice(&watched), " certificate-ended "), 1);
    srv_wall_clock_set_expiry(&watched, 0);
    assert_int_equal(count_of(check_thrice(&watched), "certificate"), 0);
    assert_int_equal(api_metric_value(API_METRIC_CERTIFICATE_EXPIRY, API_NO_LABELS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_jumps), cmocka_unit_test(test_certificate)};
    return cmocka_run_group_tests(tests, open_pipe, close_pipe);
}
