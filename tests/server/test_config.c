/* test_config.c - checks the settings: precedence, defaults, all types of values, and the messages of refusals. */
#include "server/config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static srv_config config;
static char       error[600];

/* Reads up to four arguments after the program's name; NULL ends them. */
static srv_action read_args(const char *a, const char *b, const char *c, const char *d)
{
    char *argv[6] = {(char *)"torqued", (char *)a, (char *)b, (char *)c, (char *)d, NULL};
    int   argc    = 1;
    while (argv[argc])
        argc++;
    error[0] = '\0';
    return srv_config_read(&config, argc, argv, error, sizeof error);
}

static int clear_environment(void **state)
{
    extern char **environ;
    for (char **e = environ; *e;) {
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        if (strncmp(name, "TORQUED_", 8) == 0)
            unsetenv(name); /* unsetenv moves the next variable to this index, so the index stays */
        else
            e++;
    }
    return 0;
}

static void test_defaults(void **state)
{
    assert_int_equal(read_args(NULL, NULL, NULL, NULL), SRV_SERVE);
    assert_string_equal(config.listen, "127.0.0.1:8088");
    assert_null(config.models);
    assert_null(config.target);
    assert_int_equal(config.loops, 0);
    assert_int_equal(config.socket_mode, 0600);
    assert_int_equal(config.workers, 0);
    assert_int_equal(config.log_format, SRV_LOG_AUTO);
    assert_int_equal(config.log_level, SRV_INFO);
    /* The defaults must allow 100 000 states of a 7-joint arm: q, qd and qdd with up to 25 characters per number. */
    assert_true(config.max_rows >= 100000);
    assert_true(config.max_body >= 100000ull * 21 * 25 && config.max_answer >= 100000ull * 7 * 25);
    assert_true(config.memory >= config.max_body + config.max_answer);
}

static void test_flags_go_before_variables_before_defaults(void **state)
{
    setenv("TORQUED_MAX_ROWS", "7", 1);
    setenv("TORQUED_QUEUE", "", 1); /* an empty variable counts as absent */
    assert_int_equal(read_args(NULL, NULL, NULL, NULL), SRV_SERVE);
    assert_int_equal(config.max_rows, 7);
    assert_true(config.queue == 1);
    assert_int_equal(read_args("--max-rows", "8", NULL, NULL), SRV_SERVE);
    assert_int_equal(config.max_rows, 8);
    assert_int_equal(read_args("--max-rows=9", "--max-rows", "10", NULL), SRV_SERVE); /* the last one is used */
    assert_int_equal(config.max_rows, 10);
    clear_environment(state);
}

static void test_every_kind_of_value(void **state)
{
    assert_int_equal(read_args("--max-body", "1.5M", "--memory=3G", NULL), SRV_SERVE);
    assert_int_equal(config.max_body, 1572864);
    assert_true(config.memory == 3ull << 30);
    assert_int_equal(read_args("--max-answer=64K", "--drain", "0.25", NULL), SRV_SERVE);
    assert_int_equal(config.max_answer, 65536);
    assert_true(config.drain == 0.25);
    assert_true(config.drain_delay == 0);
    assert_int_equal(read_args("--drain-delay", "7", NULL, NULL), SRV_SERVE);
    assert_true(config.drain_delay == 7);
    assert_int_equal(read_args("--memory", "4M", NULL, NULL), SRV_SERVE);
    assert_int_equal(config.max_body,
                     3 << 20); /* defaults are limited to the part of --memory that one client may use */
    assert_int_equal(config.max_answer, 3 << 20);
    assert_int_equal(read_args("--log-format", "json", "--log-level=debug", NULL), SRV_SERVE);
    assert_int_equal(config.log_format, SRV_LOG_JSON);
    assert_int_equal(config.log_level, SRV_DEBUG);
    assert_int_equal(read_args("--log-sample", "1000", "--log-slow=0.0005", NULL), SRV_SERVE);
    assert_int_equal(config.log_sample, 1000);
    assert_true(config.log_slow == 0.0005);
    assert_int_equal(read_args("--inline-limit", "0", "--target=avx2", NULL), SRV_SERVE);
    assert_true(config.inline_limit == 0);
    assert_string_equal(config.target, "avx2");
}

static void test_special_flags(void **state)
{
    assert_int_equal(read_args("--help", NULL, NULL, NULL), SRV_HELP);
    assert_int_equal(read_args("--max-rows", "8", "--version", NULL), SRV_VERSION);
    assert_int_equal(read_args("--settings-table", NULL, NULL, NULL), SRV_SETTINGS_TABLE);
}

static void assert_refused(const char *flag, const char *value, const char *said)
{
    assert_int_equal(read_args(flag, value, NULL, NULL), SRV_MISUSE);
    if (!strstr(error, said)) fail_msg("%s %s: \"%s\" does not say \"%s\"", flag, value ? value : "", error, said);
}

static void test_refusals_say_what_is_expected(void **state)
{
    static const char *const numbers[] = {"",     "-1",
                                          "+1",   " 1",
                                          "1 ",   "0x10",
                                          "inf",  "nan",
                                          "1e9",  "1.5",
                                          "1..2", "1,5",
                                          "1KK",  "1T",
                                          "K",    ".",
                                          "0",    "99999999999999",
                                          "\xff", "1.0000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_refused("--max-rows", numbers[i], "--max-rows is \"");
    assert_refused("--max-rows", "0", "1 to 1000000000");
    assert_refused("--max-rows", "1K", "a whole number");
    assert_refused("--max-body", "1.0001K", "a size such as");
    assert_refused("--max-body", "2048G", "1024 to 1024G");
    assert_refused("--timeout", "0", "seconds, 0.001 to 86400");
    assert_refused("--timeout", "1s", "seconds, 0.001 to 86400");
    assert_refused("--log-level", "inf", "error|warning|info|debug");
    assert_refused("--log-level", "info|debug", "error|warning|info|debug");
    assert_refused("--listen", "8088", "HOST:PORT");
    assert_refused("--listen", "unix:", "unix:PATH");
    assert_refused("--socket-mode", "680", "an octal number, 0 to 777");
    assert_refused("--socket-mode", "1000", "an octal number, 0 to 777");
    assert_refused("--socket-mode", "-600", "an octal number, 0 to 777");
    assert_refused("--socket-mode", "00600", "an octal number, 0 to 777");
    assert_refused("--socket-mode", "40000000600", "an octal number, 0 to 777"); /* would be 600 after an overflow */
    assert_refused("--max-rows", "0000000000000000000000000000001", "a whole number"); /* 31 digits */
    assert_refused("--models", "", "--models is");
    assert_refused("--host", "a:80", "names without port");
    assert_refused("--host", "a,", "--host is \"a,\"");
    assert_refused("--allow-origin", "localhost:5173", "origins such as");
    assert_refused("--allow-origin", "http://a/", "--allow-origin is");
    assert_refused("--max-rows", NULL, "--max-rows needs a value");
    assert_refused("--max-row", "1", "setting of torqued");
    assert_refused("max-rows", "1", "setting of torqued");
    assert_refused("--", "1", "setting of torqued");
    assert_refused("-", "1", "setting of torqued");
    assert_refused("=", "1", "setting of torqued");
}

static void assert_contradiction(const char *a, const char *b, const char *said)
{
    assert_int_equal(read_args(a, b, NULL, NULL), SRV_MISUSE);
    if (!strstr(error, said)) fail_msg("%s %s: \"%s\" does not say \"%s\"", a, b ? b : "", error, said);
}

/* Limits that contradict each other are both named, with their origins. */
static void test_contradictions_name_both_settings(void **state)
{
    assert_contradiction("--memory=4M", "--max-answer=1G", "--max-answer 1G is above --memory 4M, which limits it");
    assert_contradiction("--max-body=2G", NULL, "--max-body 2G is above three quarters of --memory 2G (default)");
    assert_contradiction("--max-body=3G", NULL, "--max-body 3G is above --memory 2G (default)");
    assert_contradiction("--client-work=1.5", NULL, "--client-work 1.5 is above --queue 1 (default)");
    assert_contradiction("--inline-limit=2000", "--timeout=0.001", "--inline-limit 2000 is above --timeout 0.001");
    assert_contradiction("--models=/tmp", "--store=/tmp/", "--models and --store are the same folder");
    assert_contradiction("--models=/nowhere/models", "--store=/nowhere", "--models and --store are the same folder");
    assert_contradiction("--audit-log=/tmp/a", "--tokens=/tmp/a", "--audit-log and --tokens are the same file");
    setenv("TORQUED_MAX_BODY", "3G", 1);
    assert_contradiction("--memory=1G", NULL, "TORQUED_MAX_BODY=3G (environment) is above --memory 1G");
    clear_environment(NULL);
    assert_int_equal(read_args("--client-work=1", "--max-body=1536M", "--inline-limit=1000", "--timeout=0.001"),
                     SRV_SERVE);
}

static void test_a_bad_variable_is_named(void **state)
{
    setenv("TORQUED_LOG_LEVEL", "loud", 1);
    assert_int_equal(read_args(NULL, NULL, NULL, NULL), SRV_MISUSE);
    assert_non_null(strstr(error, "TORQUED_LOG_LEVEL is \"loud\""));
    clear_environment(state);
}

static void count_setting(void *arg, const char *name, const char *value)
{
    (*(int *)arg)++;
    if (strcmp(name, "max-body") == 0) assert_string_equal(value, "3M");
    if (strcmp(name, "memory") == 0) assert_string_equal(value, "8388609");
    if (strcmp(name, "drain") == 0) assert_string_equal(value, "0.25");
    if (strcmp(name, "log-level") == 0) assert_string_equal(value, "info");
    if (strcmp(name, "target") == 0) assert_string_equal(value, "");
}

static void test_values_in_force_are_printed_as_they_are_given(void **state)
{
    int settings = 0, rows = 0;
    assert_int_equal(read_args("--max-body=3M", "--memory=8388609", "--drain=0.250", NULL), SRV_SERVE);
    srv_config_visit(&config, count_setting, &settings);

    char  *table = NULL;
    size_t size  = 0;
    FILE  *out   = open_memstream(&table, &size);
    srv_config_table(out);
    fclose(out);
    for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n")) {
        int bars = 0;
        for (char *c = line; *c; c++)
            bars += *c == '|';
        assert_int_equal(bars, 7);
        rows++;
    }
    free(table);
    assert_int_equal(rows, settings + 2); /* without the heading and the separator */
}

static void test_settings_that_are_not_defaults_are_printed_with_these(void **state)
{
    char text[200], room[24];
    assert_int_equal(read_args(NULL, NULL, NULL, NULL), SRV_SERVE);
    srv_config_print_changed(&config, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(read_args("--queue=0.5", "--memory=2048M", "--max-rows=7", "--listen=[::1]:1"), SRV_SERVE);
    srv_config_print_changed(&config, text, sizeof text);
    assert_string_equal(text, "max-rows 7 (default 131072), queue 0.5 (default 1)");
    srv_config_print_changed(&config, room, sizeof room);
    assert_string_equal(room, "max-rows 7 (default 131");
}

static void test_models_folder(void **state)
{
    char folder[4096];
    assert_int_equal(read_args("--models", "/some/where", NULL, NULL), SRV_SERVE);
    srv_config_models_folder(&config, folder, sizeof folder);
    assert_string_equal(folder, "/some/where");
    assert_int_equal(read_args(NULL, NULL, NULL, NULL), SRV_SERVE);
    srv_config_models_folder(&config, folder, sizeof folder);
    assert_non_null(strstr(folder, "/tests/share/torqued/models")); /* this program is build/tests/server/test_config */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_flags_go_before_variables_before_defaults),
        cmocka_unit_test(test_every_kind_of_value),
        cmocka_unit_test(test_special_flags),
        cmocka_unit_test(test_refusals_say_what_is_expected),
        cmocka_unit_test(test_contradictions_name_both_settings),
        cmocka_unit_test(test_a_bad_variable_is_named),
        cmocka_unit_test(test_values_in_force_are_printed_as_they_are_given),
        cmocka_unit_test(test_settings_that_are_not_defaults_are_printed_with_these),
        cmocka_unit_test(test_models_folder),
    };
    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
