/* test_trace_context.c - checks which traceparent headers (W3C Trace Context) are continued, and the header of the
 * answer. */
#include "tests/api/support/door.h"
#include <string.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

/* Returns the traceparent of the answer to a request with this header; NULL: no header. */
static const char *joined(const char *traceparent)
{
    const api_request head = {.method = "GET", .target = "/livez", .traceparent = traceparent};
    const answer     *a    = ask_with(&head, NULL, 0, NULL);
    assert_int_equal(a->status, 200);
    return header_of(a, "traceparent");
}

static void test_valid(void **state)
{
    static const char *const valid[]  = {"00-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-00",
                                         "cc-" TRACE "-" SPAN "-01", "01-" TRACE "-" SPAN "-01-what-comes-later"};
    char                     last[17] = SPAN;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        const char *made = joined(valid[i]);
        assert_non_null(made);
        assert_int_equal(strlen(made), 55);
        assert_memory_equal(made, "00-" TRACE "-", 36);
        assert_int_equal(strspn(made + 36, "0123456789abcdef"), 16);
        assert_memory_equal(made + 52, valid[i] + 52, 3); /* the flags are those of the client */
        assert_memory_not_equal(made + 36, last, 16);     /* every request must be a span of its own */
        memcpy(last, made + 36, 16);
    }
}

static void test_malformed(void **state)
{
    static const char *const malformed[] = {
        NULL,
        "",
        "00",
        "00-" TRACE "-" SPAN,
        "00-" TRACE "-" SPAN "-0",
        "00-" TRACE "-" SPAN "-01-more",
        "00-" TRACE "-" SPAN "-01 ",
        "01-" TRACE "-" SPAN "-01more",
        "ff-" TRACE "-" SPAN "-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00_" TRACE "-" SPAN "-01",
        "00-" TRACE "_" SPAN "-01",
        "00-" TRACE "-" SPAN "_01",
        "00-" TRACE "-" SPAN "-0g",
        "0g-" TRACE "-" SPAN "-01",
        "00-" TRACE "-00f067aa0ba902bz-01",
        "00-" TRACE "-" SPAN "-01, 00-" TRACE "-" SPAN "-01", /* a header that was sent twice */
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_null(joined(malformed[i]));
}

/* The figures of a request for the log must have the trace and the parent span. */
static void test_figures(void **state)
{
    const api_request head = {.method = "GET", .target = "/v1/models/arm", .traceparent = "00-" TRACE "-" SPAN "-01"};
    api_call         *call = api_begin(door_api(), &head);
    api_figures       f    = api_call_figures(call);
    assert_string_equal(f.trace, TRACE);
    assert_string_equal(f.parent, SPAN);
    assert_int_equal(strlen(f.span), 16);
    assert_string_equal(f.model, "arm");
    assert_int_equal(f.decode, 0);
    api_end(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
