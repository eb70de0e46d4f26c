/* test_log.c - lines of the log: both formats, escapes, levels, and what does not fit. */
#include "server/log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int  ends[2];
static char written[8192];

static void open_log(srv_log *log, bool json)
{
    srv_config config = {.log_format = json ? SRV_LOG_JSON : SRV_LOG_TEXT, .log_level = SRV_INFO};
    assert_int_equal(pipe(ends), 0);
    srv_log_open(log, &config, ends[1]);
}

/* What was logged, after the time stamp. */
static const char *logged(void)
{
    close(ends[1]);
    ssize_t length = read(ends[0], written, sizeof written - 1);
    close(ends[0]);
    assert_true(length >= 0);
    written[length] = '\0';
    return written;
}

static void log_one(srv_log *log, srv_level level, const char *value)
{
    srv_line line;
    srv_log_begin(&line, log, level, "event");
    srv_log_text(&line, "text", value);
    srv_log_text(&line, "absent", NULL);
    srv_log_count(&line, "count", UINT64_MAX);
    srv_log_number(&line, "number", 0.0005);
    srv_log_end(&line);
}

static void test_json(void **state)
{
    srv_log log;
    open_log(&log, true);
    log_one(&log, SRV_WARNING, "a\"b\\c\n\x7f\xc3\xa4");
    const char *text = logged();
    assert_memory_equal(text, "{\"time\":\"2", 10);
    const char *rest = strstr(text, ",\"level\"");
    assert_non_null(rest);
    assert_string_equal(rest, ",\"level\":\"warning\",\"event\":\"event\",\"text\":\"a\\\"b\\\\c\\u000a\\u007f??\","
                              "\"count\":18446744073709551615,\"number\":0.001}\n");
}

static void test_text(void **state)
{
    srv_log log;
    open_log(&log, false);
    log_one(&log, SRV_INFO, "two words\x1b[31m");
    const char *rest = strchr(logged(), ' ');
    assert_string_equal(rest, " event text='two words\\u001b[31m' count=18446744073709551615 number=0.001\n");

    open_log(&log, false);
    log_one(&log, SRV_ERROR, "");
    assert_string_equal(strchr(logged(), ' '), " error event text='' count=18446744073709551615 number=0.001\n");
}

static void test_below_the_level(void **state)
{
    srv_log log;
    open_log(&log, true);
    log_one(&log, SRV_DEBUG, "x");
    srv_log_message(&log, SRV_DEBUG, "event", "%s", "x");
    assert_string_equal(logged(), "");
}

/* A field that does not fit is left out whole, later ones still come, and the line says so. */
static void test_a_field_that_does_not_fit(void **state)
{
    char large[5000];
    memset(large, '\n', sizeof large - 1); /* six characters each */
    large[sizeof large - 1] = '\0';
    for (int json = 0; json < 2; json++) {
        srv_log log;
        open_log(&log, json);
        log_one(&log, SRV_INFO, large);
        const char *text = logged();
        assert_null(strstr(text, "\\u000a"));
        assert_non_null(strstr(text, "18446744073709551615"));
        const char *end = json ? ",\"truncated\":1}\n" : " truncated=1\n";
        assert_string_equal(text + strlen(text) - strlen(end), end);
    }
}

/* Every length of a field around the line's size: never past the buffer, always one whole line. */
static void test_every_length(void **state)
{
    static char value[4200];
    for (size_t length = 3500; length < sizeof value; length++) {
        memset(value, 'v', length - 1);
        value[length - 1] = '\0';
        srv_log log;
        open_log(&log, true);
        log_one(&log, SRV_INFO, value);
        const char *text = logged();
        size_t      size = strlen(text);
        assert_true(size > 3 && size <= sizeof(((srv_line *)0)->text));
        assert_string_equal(text + size - 2, "}\n");
    }
}

/* A full pipe stops nobody: what has no room is lost, and said to be once there is room again. */
static void test_full_pipe(void **state)
{
    enum { SENT = 3000 };
    static char read_back[1 << 20];
    srv_log     log;
    open_log(&log, true);
    for (int i = 0; i < SENT; i++)
        log_one(&log, SRV_INFO, "x");
    assert_true(log.lost > 0);
    unsigned long lost = (unsigned long)log.lost, lines = 0;
    ssize_t       received = read(ends[0], read_back, sizeof read_back);
    assert_true(received > 0);
    for (ssize_t i = 0; i < received; i++)
        lines += read_back[i] == '\n';
    assert_int_equal(lines + lost, SENT);
    log_one(&log, SRV_INFO, "after");
    char expected[80];
    snprintf(expected, sizeof expected, "\"level\":\"error\",\"event\":\"lost\",\"lines\":%lu}\n", lost);
    const char *text = logged();
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\"text\":\"after\""));
    assert_int_equal(log.lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_below_the_level),
        cmocka_unit_test(test_a_field_that_does_not_fit),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_full_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
