/* test_log.c - checks the lines of the log: both formats, escapes, levels, fields that do not fit, and lost lines. */
#define _GNU_SOURCE /* for strptime, timegm */
#include "server/log.h"
#include "server/work/clock.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static int  ends[2];
static char written[8192];

static const struct timespec millisecond = {.tv_nsec = 1000000};

static void open_log(srv_log *log, bool json)
{
    srv_config config = {.log_format   = json ? SRV_LOG_JSON : SRV_LOG_TEXT,
                         .log_level    = SRV_INFO,
                         .log_sample   = 10,
                         .log_refusals = 4,
                         .log_slow     = 0.002};
    assert_int_equal(pipe(ends), 0);
    assert_true(srv_log_open(log, &config, ends[1]));
}

/* Closes the log and returns its lines. */
static const char *logged(srv_log *log)
{
    srv_log_close(log);
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
    srv_log_ms(&line, "number", 500);
    srv_log_end(&line);
}

static void test_json(void **state)
{
    srv_log log;
    open_log(&log, true);
    log_one(&log, SRV_WARNING, "a\"b\\c\n\x7f\xc3\xa4");
    const char *text = logged(&log);
    assert_memory_equal(text, "{\"time\":\"2", 10);
    const char *tail = strstr(text, ",\"level\"");
    assert_non_null(tail);
    assert_string_equal(tail, ",\"level\":\"warning\",\"event\":\"event\",\"text\":\"a\\\"b\\\\c\\u000a\\u007f??\","
                              "\"count\":18446744073709551615,\"number\":0.001}\n");
}

static void test_text(void **state)
{
    srv_log log;
    open_log(&log, false);
    log_one(&log, SRV_INFO, "two words\x1b[31m");
    const char *tail = strchr(logged(&log), ' ');
    assert_string_equal(tail, " event text=\"two words\\u001b[31m\" count=18446744073709551615 number=0.001\n");

    open_log(&log, false);
    log_one(&log, SRV_ERROR, "");
    assert_string_equal(strchr(logged(&log), ' '), " error event text=\"\" count=18446744073709551615 number=0.001\n");
}

static void test_below_the_level(void **state)
{
    srv_log log;
    open_log(&log, true);
    log_one(&log, SRV_DEBUG, "x");
    srv_log_message(&log, SRV_DEBUG, "event", "%s", "x");
    assert_string_equal(logged(&log), "");
}

/* A field that does not fit must be omitted completely; later fields are still written, and the line is marked as
 * truncated. */
static void test_a_field_that_does_not_fit(void **state)
{
    char large[5000];
    memset(large, '\n', sizeof large - 1); /* six characters each after escaping */
    large[sizeof large - 1] = '\0';
    for (int json = 0; json < 2; json++) {
        srv_log log;
        open_log(&log, json);
        log_one(&log, SRV_INFO, large);
        const char *text = logged(&log);
        assert_null(strstr(text, "\\u000a"));
        assert_non_null(strstr(text, "18446744073709551615"));
        const char *end = json ? ",\"truncated\":1}\n" : " truncated=1\n";
        assert_string_equal(text + strlen(text) - strlen(end), end);
    }
}

/* For field lengths around the size of a line the log must stay inside its buffer and always write one whole line. */
static void test_every_length(void **state)
{
    static char value[4200];
    for (size_t length = 3500; length < sizeof value; length++) {
        memset(value, 'v', length - 1);
        value[length - 1] = '\0';
        srv_log log;
        open_log(&log, true);
        log_one(&log, SRV_INFO, value);
        const char *text = logged(&log);
        size_t      size = strlen(text);
        assert_true(size > 3 && size <= sizeof(((srv_line *)0)->text));
        assert_string_equal(text + size - 2, "}\n");
    }
}

/* Times must be UTC and parsable by strptime. */
static void test_the_time(void **state)
{
    srv_log   log;
    struct tm utc    = {0};
    time_t    before = time(NULL);
    open_log(&log, false);
    log_one(&log, SRV_INFO, "x");
    const char *text = logged(&log), *tail = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
    assert_non_null(tail);
    assert_true(tail[0] == '.' && strspn(tail + 1, "0123456789") == 3 && tail[4] == 'Z');
    time_t logged_at = timegm(&utc);
    assert_true(logged_at >= before && logged_at <= time(NULL));
}

static void test_milliseconds(void **state)
{
    static const struct {
        uint64_t    ns;
        const char *text;
    } cases[] = {
        {0, "0.000"}, {499, "0.000"}, {1000000, "1.000"}, {12345678, "12.346"}, {60000000000000, "60000000.000"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        srv_log  log;
        srv_line line;
        char     expected[40];
        open_log(&log, false);
        srv_log_begin(&line, &log, SRV_INFO, "event");
        srv_log_ms(&line, "ms", cases[i].ns);
        srv_log_end(&line);
        snprintf(expected, sizeof expected, " event ms=%s\n", cases[i].text);
        assert_string_equal(strchr(logged(&log), ' '), expected);
    }
}

/* Reads to the end of the pipe; counts the lines and the lost lines that they report. */
static void *read_all(void *argument)
{
    atomic_ulong *counts = argument; /* [0]: lines received; [1]: lines reported as lost */
    FILE         *in     = fdopen(ends[0], "r");
    unsigned long number;
    char          line[8192];
    while (fgets(line, sizeof line, in)) {
        const char *lost = strstr(line, "\"event\":\"lost\",\"lines\":");
        if (lost && sscanf(lost, "\"event\":\"lost\",\"lines\":%lu}\n", &number) == 1)
            counts[1] += number;
        else if (strcmp(line + strlen(line) - 3, "1}\n") == 0)
            counts[0]++;
    }
    fclose(in);
    return NULL;
}

/* A full pipe must not block the callers; lost lines must be counted and reported later. */
static void test_full_pipe(void **state)
{
    srv_log       log;
    atomic_ulong  counts[2] = {0};
    unsigned long sent      = 0;
    bool          lost = false; /* 20000 lines may not suffice: a writer that starts late empties the buffer again */
    pthread_t     reader;
    open_log(&log, true);
    for (; sent < 20000 || !lost; sent++) {
        log_one(&log, SRV_INFO, "x");
        pthread_mutex_lock(&log.mutex);
        lost = log.lost > 0;
        pthread_mutex_unlock(&log.mutex);
    }
    assert_int_equal(pthread_create(&reader, NULL, read_all, counts), 0);
    for (bool room = false; !room;) { /* repeats until the log accepts a line; the report of lost lines precedes it */
        nanosleep(&millisecond, NULL);
        pthread_mutex_lock(&log.mutex);
        room = log.length < SRV_LOG_CAPACITY / 2;
        pthread_mutex_unlock(&log.mutex);
    }
    log_one(&log, SRV_INFO, "after");
    /* The log stops writing a second after its close: on a busy machine the reader may need longer. */
    for (int wait = 0; counts[0] + counts[1] < sent + 1 && wait < 60000; wait++)
        nanosleep(&millisecond, NULL);
    srv_log_close(&log);
    close(ends[1]);
    pthread_join(reader, NULL);
    assert_true(counts[1] > 0);
    assert_int_equal(counts[0] + counts[1], sent + 1);
}

/* Fills the pipe, so that the writer waits for its reader. Returns the number of bytes. */
static size_t fill_pipe(void)
{
    static const char bytes[4096];
    size_t            filled = 0;
    ssize_t           more;
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while ((more = write(ends[1], bytes, sizeof bytes)) > 0)
        filled += (size_t)more;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    return filled;
}

static void log_x(srv_log *log)
{
    srv_line line;
    srv_log_begin(&line, log, SRV_INFO, "x"); /* this line has 27 bytes, the report of lost lines 47 */
    srv_log_end(&line);
}

/* The report of lost lines must precede any later line: a short line is not accepted while the report does not fit. */
static void test_the_report_of_lost_lines_comes_first(void **state)
{
    srv_log log;
    char    bytes[4096];
    open_log(&log, false);
    size_t filled = fill_pipe();
    log_x(&log);
    for (bool taken = false; !taken;) { /* repeats until the writer has taken the line and waits for the reader */
        nanosleep(&millisecond, NULL);
        pthread_mutex_lock(&log.mutex);
        taken = log.length == 0;
        pthread_mutex_unlock(&log.mutex);
    }
    log.length = SRV_LOG_CAPACITY - 40;
    memset(log.pending, '\n', log.length);
    log.lost = 1;
    log_x(&log);
    assert_true(log.lost == 2 && log.length == SRV_LOG_CAPACITY - 40);
    log.length = log.lost = 0;
    log_x(&log);
    while (filled > 0)
        filled -= (size_t)read(ends[0], bytes, filled < sizeof bytes ? filled : sizeof bytes);
    const char *first = strchr(logged(&log), ' '), *second = strchr(first + 1, ' ');
    assert_memory_equal(first, " x\n", 3);
    assert_string_equal(second, " x\n");
}

/* A pipe that is never read must not prevent the log from closing. */
static void test_a_pipe_that_is_never_read(void **state)
{
    srv_log log;
    open_log(&log, true);
    for (int i = 0; i < 2000; i++)
        log_one(&log, SRV_INFO, "x");
    srv_log_close(&log);
    close(ends[0]);
    close(ends[1]);
}

/* One of ten routine requests must have a line; failed and slow ones always have one, and every line counts the
 * requests omitted before it. */
static void test_sampling(void **state)
{
    srv_log  log;
    uint64_t omitted, lines = 0, sum = 0;
    open_log(&log, false);
    for (int i = 0; i < 95; i++) {
        lines += srv_log_samples(&log, true, 1999999, &omitted);
        sum += omitted;
    }
    assert_int_equal(lines, 10);
    assert_int_equal(sum, 81); /* the line of request 90 counts 81 to 89, and so on */
    assert_true(srv_log_samples(&log, false, 0, &omitted));
    assert_int_equal(omitted, 4);
    assert_true(srv_log_samples(&log, true, 2000000, &omitted));
    assert_int_equal(omitted, 0);
    assert_false(srv_log_samples(&log, true, 0, &omitted));
    assert_int_equal(omitted, 0);
    assert_string_equal(strchr(logged(&log), ' '), " omitted requests=1\n");
}

static void test_sampling_below_the_level(void **state)
{
    srv_log  log;
    uint64_t omitted;
    open_log(&log, false);
    log.level = SRV_WARNING;
    for (int i = 0; i < 20; i++)
        assert_false(srv_log_samples(&log, i % 2, 0, &omitted));
    assert_string_equal(logged(&log), "");
}

/* At most four refusals a second of a client and status must have lines; the report at the end counts the others. */
static void test_refusals(void **state)
{
    srv_log  log;
    uint64_t lines = 0, began = srv_now();
    open_log(&log, false);
    for (int i = 0; i < 1000; i++)
        lines += srv_log_admits(&log, "client:a", 401);
    assert_true(lines >= 4 && lines <= 4 + 5 * (srv_now() - began) / 1000000000);
    assert_true(srv_log_admits(&log, "client:a", 404));
    assert_true(srv_log_admits(&log, "client:b", 401));
    char        expected[200];
    const char *text = strchr(logged(&log), ' ');
    snprintf(expected, sizeof expected,
             " audit omitted-refusals from=client:a status=401 requests=%u ms=", (unsigned)(1000 - lines));
    assert_memory_equal(text, expected, strlen(expected));
    assert_non_null(strstr(text, "more like this from client:a in "));
    assert_int_equal(strcspn(text, "\n"), strlen(text) - 1); /* one line */
}

/* Audit lines have a buffer of their own: none is lost while the log's reader does not read, and they are written
   before other lines that wait. */
static void test_audit_lines_are_kept_when_others_are_lost(void **state)
{
    enum { LINES = 100 };
    srv_log      log;
    char         bytes[4096];
    atomic_ulong counts[2] = {0};
    pthread_t    reader;
    open_log(&log, true);
    size_t filled = fill_pipe();
    for (int i = 0; i < 10000 || log.lost == 0; i++) /* on a busy machine the writer may take lines out of the buffer
                                                        once more */
        log_one(&log, SRV_INFO, "x");
    for (int i = 0; i < LINES; i++) {
        srv_line        line;
        srv_audit_line *reserved = srv_audit_reserve(&log.audit, SRV_AUDIT_LINES, 0, NULL);
        assert_non_null(reserved);
        srv_log_begin(&line, &log, SRV_AUDIT, "change");
        srv_log_count(&line, "number", (uint64_t)i * 10 + 1);
        srv_log_end_audit(&line, reserved);
    }
    assert_true(log.lost > 0);
    while (filled > 0)
        filled -= (size_t)read(ends[0], bytes, filled < sizeof bytes ? filled : sizeof bytes);
    assert_int_equal(pthread_create(&reader, NULL, read_all, counts), 0);
    for (int wait = 0; counts[0] < LINES && wait < 60000; wait++)
        nanosleep(&millisecond, NULL);
    assert_int_equal(srv_log_close(&log), 0);
    close(ends[1]);
    pthread_join(reader, NULL);
    assert_true(counts[0] >= LINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_below_the_level),
        cmocka_unit_test(test_a_field_that_does_not_fit),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_the_time),
        cmocka_unit_test(test_milliseconds),
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_audit_lines_are_kept_when_others_are_lost),
        cmocka_unit_test(test_sampling_below_the_level),
        cmocka_unit_test(test_full_pipe),
        cmocka_unit_test(test_the_report_of_lost_lines_comes_first),
        cmocka_unit_test(test_a_pipe_that_is_never_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
