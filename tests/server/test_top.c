/* test_top.c - checks how `torqued top` reads pages of metrics, subtracts two of them, and draws the rise. */
#include "server/cli/top/metrics_text.h"
#include "server/cli/top/screen.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static cli_metric series[20];
static size_t     n_series;

static void keep_series(void *arg, const cli_metric *metric)
{
    (void)arg;
    assert_true(n_series < sizeof series / sizeof *series);
    series[n_series++] = *metric;
}

/* The escapes are those of the text format 0.0.4: backslash, quotation mark and line end. */
static void test_lines(void **state)
{
    n_series = 0;
    cli_metrics_read("# HELP a Help.\n# TYPE a counter\n"
                     "a 3\n"
                     "b{x=\"1\",y=\"two }, \\\" \\\\ \\n\"} 2.5e-3\n"
                     "c{} 7\n"
                     "d{x=\"no end\n"
                     "e{x=\"1\"}\n"
                     "f{x=1} 2\n"
                     "g nothing\n"
                     "h{le=\"+Inf\"} 4",
                     keep_series, NULL);
    assert_int_equal(n_series, 4);
    assert_true(series[0].value == 3 && series[0].n_labels == 0);
    assert_string_equal(series[1].name, "b");
    assert_true(series[1].value == 0.0025);
    assert_string_equal(cli_metric_label_of(&series[1], "x"), "1");
    assert_string_equal(cli_metric_label_of(&series[1], "y"), "two }, \" \\ \n");
    assert_string_equal(cli_metric_label_of(&series[1], "z"), "");
    assert_string_equal(series[2].name, "c");
    assert_string_equal(cli_metric_label_of(&series[3], "le"), "+Inf");
}

/* Texts of another server may be of any length. */
static void test_long_texts(void **state)
{
    char page[4000], longer[1000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    snprintf(page, sizeof page, "%s{%s=\"%s\",b=\"2\",c=\"3\",d=\"4\",e=\"5\"} 6\n", longer, longer, longer);
    n_series = 0;
    cli_metrics_read(page, keep_series, NULL);
    assert_int_equal(n_series, 1);
    assert_int_equal(strlen(series[0].name), CLI_METRIC_NAME - 1);
    assert_int_equal(strlen(series[0].label[0].value), CLI_METRIC_VALUE - 1);
    assert_int_equal(series[0].n_labels, CLI_METRIC_LABELS);
    assert_true(series[0].value == 6);
}

static const char first[]  = "torqued_build_info{version=\"9\",target=\"avx2\",arithmetic=\"fused\"} 1\n"
                             "process_start_time_seconds 900\nprocess_cpu_seconds_total 10\ntorqued_connections 5\n"
                             "torqued_requests_total{operation=\"bias\",status=\"200\"} 100\n"
                             "torqued_requests_total{operation=\"bias\",status=\"503\"} 10\n"
                             "torqued_client_requests_total{client=\"planner\"} 50\n"
                             "torqued_request_duration_seconds_bucket{operation=\"bias\",le=\"0.001\"} 100\n"
                             "torqued_request_duration_seconds_bucket{operation=\"bias\",le=\"0.01\"} 110\n"
                             "torqued_request_duration_seconds_bucket{operation=\"bias\",le=\"+Inf\"} 110\n";
static const char second[] = "torqued_build_info{version=\"9\",target=\"avx2\",arithmetic=\"fused\"} 1\n"
                             "process_start_time_seconds 900\nprocess_cpu_seconds_total 11\ntorqued_connections 7\n"
                             "torqued_requests_total{operation=\"bias\",status=\"200\"} 140\n"
                             "torqued_requests_total{operation=\"bias\",status=\"503\"} 15\n"
                             "torqued_requests_total{operation=\"energy\",status=\"200\"} 90\n"
                             "torqued_client_requests_total{client=\"planner\"} 70\n"
                             "torqued_client_requests_total{from=\"192.0.2.7\"} 1000\n"
                             "torqued_client_work_seconds_total{client=\"planner\"} 3\n"
                             "torqued_request_duration_seconds_bucket{operation=\"bias\",le=\"0.001\"} 120\n"
                             "torqued_request_duration_seconds_bucket{operation=\"bias\",le=\"0.01\"} 155\n"
                             "torqued_request_duration_seconds_bucket{operation=\"bias\",le=\"+Inf\"} 155\n";

/* The rise has 20 durations up to 1 ms and 25 up to 10 ms. The median is number 22.5, a tenth into the second bucket.
 */
static void test_rise(void **state)
{
    static cli_top_reading before, now;
    cli_top_read(&before, first, 1000);
    cli_top_read(&now, second, 1002);
    cli_top_subtract(&now, &before);
    cli_top_sort(&now);
    assert_true(now.figures.cpu == 1 && now.figures.connections == 7 && now.figures.started == 900);
    assert_true(now.answered[2] == 130 && now.answered[5] == 5);
    assert_string_equal(now.operation[0].name, "energy");
    assert_true(now.operation[0].requests == 90 && now.operation[1].requests == 45 && now.operation[1].failed == 5);
    assert_true(cli_top_quantile(&now.operation[0], 0.5) == 0);
    double median = cli_top_quantile(&now.operation[1], 0.5), highest = cli_top_quantile(&now.operation[1], 1);
    assert_true(median > 0.001899 && median < 0.001901 && highest > 0.009999 && highest < 0.010001);
    assert_string_equal(now.client[0].name, "planner");
    assert_true(now.client[0].requests == 20 && now.client[0].work == 3);
    assert_true(now.client[1].requests == 0);
}

/* Counters begin at 0 when a server is restarted: the rise is then the new value. */
static void test_restart(void **state)
{
    static cli_top_reading before, now;
    cli_top_read(&before, second, 1000);
    cli_top_read(&now, first, 1002);
    cli_top_subtract(&now, &before);
    assert_true(now.figures.cpu == 10 && now.answered[2] == 100);
}

/* No text of a server reaches the terminal with control characters, and no line is wider than the terminal. */
static void test_screen(void **state)
{
    static cli_top_reading now;
    const cli_top_view     view = {.address  = "http://robots",
                                   .state    = "rea\033[31mdy",
                                   .reasons  = "store: one\nstore: t\302\265o\n",
                                   .seconds  = 2,
                                   .interval = "",
                                   .columns  = 40,
                                   .rows     = 17};
    cli_text               text = {0};
    cli_top_read(&now, "torqued_client_requests_total{from=\"\033]0;x\007\"} 5\n", 10);
    cli_top_draw(&text, &now, &view);
    assert_false(text.failed);
    assert_null(strchr(text.bytes, '\033'));
    assert_non_null(strstr(text.bytes, "\nrea?[31mdy\n  store: one\n  store: t??o\n\nmemory "));
    size_t lines = 0;
    for (const char *line = text.bytes; *line; line = strchr(line, '\n') + 1) {
        assert_in_range(strcspn(line, "\n"), 0, 40);
        lines++;
    }
    assert_in_range(lines, 14, 17);
    assert_non_null(strstr(text.bytes, "\n?]0;x?  "));
    cli_text_free(&text);
}

static void test_faults_are_shown(void **state)
{
    static cli_top_reading now;
    const cli_top_view     view = {
            .address = "http://robots", .state = "ready", .reasons = "", .seconds = 1, .interval = "", .columns = 80};
    cli_text text = {0};
    cli_top_read(&now,
                 "torqued_last_reload_timestamp_seconds 1000\ntorqued_last_failed_reload_timestamp_seconds 1100\n"
                 "torqued_certificate_expiry_seconds 173960\ntorqued_clock_jumps_total 2\n"
                 "torqued_client_memory_bytes{from=\"192.0.2.7\"} 3000000\n",
                 1160);
    cli_top_draw(&text, &now, &view);
    assert_non_null(strstr(text.bytes, "\nreload       the last one failed, 1 min 0 s ago\n"));
    assert_non_null(strstr(text.bytes, "\ncertificate  ends in 2 d 0 h\n"));
    assert_non_null(strstr(text.bytes, "\nclock        set 2 times since the start\n"));
    assert_non_null(strstr(text.bytes, "\n192.0.2.7"));
    cli_text_free(&text);
    text = (cli_text){0};
    cli_top_read(&now,
                 "torqued_last_reload_timestamp_seconds 1200\ntorqued_last_failed_reload_timestamp_seconds 1100\n"
                 "torqued_certificate_expiry_seconds 0\n",
                 1300);
    cli_top_draw(&text, &now, &view);
    assert_null(strstr(text.bytes, "reload "));
    assert_null(strstr(text.bytes, "certificate "));
    cli_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_long_texts), cmocka_unit_test(test_rise),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_screen),     cmocka_unit_test(test_faults_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
