/* test_request_head.c - check the detection of folded headers, which depends on the addresses of a header's name and
 * value. This file replaces libmicrohttpd's function that enumerates header fields, because a client cannot choose
 * addresses in its buffers. */
#include "server/net/request_head.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef struct field {
    const char *name, *value;
} field;

static field fields[2];

/* Overrides the library's function. */
int MHD_get_connection_values_n(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                                MHD_KeyValueIteratorN iterator, void *arg)
{
    for (int i = 0; i < 2; i++)
        iterator(arg, kind, fields[i].name, strlen(fields[i].name), fields[i].value, strlen(fields[i].value));
    return 2;
}

/* Returns the problem of a head with Host and a header whose name and value are at these offsets in a buffer. */
static const char *problem_with(size_t name, size_t value, const char *between)
{
    static srv_head head;
    static char     buffer[200], line[] = "Host\0 x";
    memset(buffer, '\0', sizeof buffer);
    memcpy(buffer + name, "Accept", 6);
    memcpy(buffer + value, "text/html", 9);
    if (value > name) memcpy(buffer + name + 7, between, strlen(between));
    fields[0] = (field){line, line + 6};
    fields[1] = (field){buffer + name, buffer + value};
    assert_true(srv_head_read(&head, NULL, "GET", "HTTP/1.1", "/livez"));
    srv_head_free(&head);
    return head.problem;
}

static void test_a_value_right_behind_its_name(void **state)
{
    assert_string_equal(problem_with(0, 7, ""), "");
    assert_string_equal(problem_with(0, 8, " "), "");
    assert_string_equal(problem_with(20, 31, " \t  "), "");
}

/* libmicrohttpd moves the name of a folded header. */
static void test_a_value_apart_from_its_name(void **state)
{
    static const struct {
        size_t      name, value;
        const char *between;
    } apart[] = {{100, 0, ""}, {0, 100, ""}, {0, 100, " "}, {0, 9, " x"}, {0, 20, "another line"}};
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        const char *problem = problem_with(apart[i].name, apart[i].value, apart[i].between);
        if (!strstr(problem, "continued on a second line")) fail_msg("%zu: \"%s\"", i, problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_right_behind_its_name),
        cmocka_unit_test(test_a_value_apart_from_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
