/* test_framing.c - checks the verdicts of server/framing (the check of HTTP/1 messages in front of the HTTP library) on
 * the shapes of tests/data/framing_shapes, cut at every byte, and single rules that the shapes do not cover. */
#include "tests/server/support/framing_shapes.h"
#include "server/framing/framing.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 200000 };

/* Holds a connection whose input is checked piece by piece, as receive.c does. */
typedef struct run {
    srv_framing framing;
    char        buffer[MOST], passed[MOST];
    size_t      held, length;
} run;

static run whole, cut;

static void begin(run *r)
{
    r->framing = (srv_framing){0};
    r->held = r->length = 0;
}

static void feed(run *r, const char *bytes, size_t length)
{
    bool done = r->framing.stage == SRV_MALFORMED;
    /* a copy of the input in an allocation of exactly its size, so that a sanitizer notices an access beyond it */
    char *data = malloc(r->held + length + 1);
    memcpy(data, r->buffer, r->held);
    memcpy(data + r->held, bytes, length);
    srv_framed framed = srv_framing_check(&r->framing, data, r->held, length);
    assert_true(framed.ready + framed.held <= r->held + length);
    memcpy(r->passed + r->length, data, framed.ready);
    r->length += framed.ready;
    r->held = framed.held;
    memcpy(r->buffer, data + framed.ready, framed.held);
    free(data);
    if (r->framing.stage != SRV_MALFORMED || done) return;
    assert_int_equal(framed.held, 0);
    memcpy(r->passed + r->length, r->framing.substitute, r->framing.substitute_length);
    r->length += r->framing.substitute_length;
}

static void expect_same(const char *name, size_t place)
{
    if (cut.framing.stage != whole.framing.stage || cut.framing.messages != whole.framing.messages ||
        cut.length != whole.length || memcmp(cut.passed, whole.passed, cut.length) != 0)
        fail_msg("%s: cut at byte %zu, the result differs", name, place);
}

static void cut_everywhere(const framing_shape *shape)
{
    /* Long shapes are repetitive in the middle, so only some cuts are tried there. */
    for (size_t offset = 1; offset<shape->length; offset += offset> 400 && shape->length - offset > 400 ? 97 : 1) {
        begin(&cut);
        feed(&cut, shape->bytes, offset);
        feed(&cut, shape->bytes + offset, shape->length - offset);
        expect_same(shape->name, offset);
    }
    begin(&cut);
    for (size_t i = 0; i < shape->length; i++)
        feed(&cut, shape->bytes + i, 1);
    expect_same(shape->name, 0);
}

/* The check may rewrite a request; the bytes that it passed on must pass a second check unchanged. */
static void expect_canonical(const char *name)
{
    begin(&cut);
    feed(&cut, whole.passed, whole.length);
    if (cut.framing.stage == SRV_MALFORMED || cut.held != 0 || cut.length != whole.length ||
        memcmp(cut.passed, whole.passed, whole.length) != 0)
        fail_msg("%s: the bytes passed on do not pass again: %s", name, cut.framing.detail);
}

static void check_shape(const framing_shape *shape)
{
    static const char ahead[] = "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    begin(&whole);
    feed(&whole, shape->bytes, shape->length);
    bool refused = whole.framing.stage == SRV_MALFORMED;
    int  status  = refused ? (int)api_problem_kind_of(whole.framing.code)->status : 200;
    if (status != shape->status || (!refused && whole.framing.stage != SRV_REQUEST_LINE))
        fail_msg("%s: %d, stage %d, \"%s\"", shape->name, status, (int)whole.framing.stage, whole.framing.detail);
    assert_true(refused == (*whole.framing.detail != '\0'));
    bool same = whole.length == shape->length && memcmp(whole.passed, shape->bytes, shape->length) == 0;
    if (!refused && same == (shape->changed != 0)) fail_msg("%s: changed %d", shape->name, !same);
    assert_int_equal(whole.framing.messages, 1);
    expect_canonical(shape->name);
    begin(&whole);
    feed(&whole, shape->bytes, shape->length);
    cut_everywhere(shape);
    begin(&cut);
    feed(&cut, ahead, sizeof ahead - 1);
    feed(&cut, shape->bytes, shape->length);
    feed(&cut, ahead, sizeof ahead - 1);
    assert_int_equal(cut.framing.messages, refused ? 2 : 3);
    assert_int_equal(cut.length, sizeof ahead - 1 + whole.length + (refused ? 0 : sizeof ahead - 1));
}

static void test_shapes(void **state)
{
    each_framing_shape(check_shape);
}

static void test_the_substitute_names_the_request(void **state)
{
    static const char with_id[] =
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nRequest-Id: mine\r\nX Y: z\r\n\r\n";
    static const char bad_id[] = "GET /b HTTP/1.1\r\nRequest-Id: mi ne\r\nX Y: z\r\n\r\n";
    static const char before[] = "GET /a HTTP/1.1\r\nHost: a\r\nRequest-Id: old\r\n\r\n?";
    begin(&whole);
    feed(&whole, with_id, sizeof with_id - 1);
    assert_true(whole.framing.replaced);
    assert_int_equal(whole.framing.messages, 2);
    assert_non_null(strstr(whole.framing.substitute, "\r\nRequest-Id: mine\r\n"));
    begin(&whole);
    feed(&whole, bad_id, sizeof bad_id - 1);
    assert_null(strstr(whole.framing.substitute, "Request-Id"));
    begin(&whole);
    feed(&whole, before, sizeof before - 1);
    assert_null(strstr(whole.framing.substitute, "Request-Id"));
}

/* The limits of chunk extensions and trailers must apply to each request of a connection separately. */
static void test_each_body_has_its_own_limits(void **state)
{
    enum { REQUESTS = 9, EXTENSION = 200, CHUNKS = 4, TRAILER = 3000 };
    static const char head[] = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    char              text[2 * TRAILER], *p = text + sprintf(text, "%s", head);
    for (int i = 0; i < CHUNKS; i++)
        p += sprintf(p, "2;x%d=%0*d\r\nab\r\n", i, EXTENSION, i);
    p += sprintf(p, "0\r\nX-T: %0*d\r\n\r\n", TRAILER, 1);
    begin(&whole);
    for (unsigned i = 1; i <= REQUESTS; i++) {
        feed(&whole, text, (size_t)(p - text));
        if (whole.framing.stage != SRV_REQUEST_LINE)
            fail_msg("request %u: stage %d, \"%s\"", i, (int)whole.framing.stage, whole.framing.detail);
        assert_int_equal(whole.framing.messages, i);
        assert_int_equal(whole.held, 0);
    }
}

/* If a body is malformed, the check must end the request whose head it has passed on. */
static void test_a_malformed_body_is_ended(void **state)
{
    static const char head[] = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const struct {
        const char *body, *passed;
    } cases[] = {{"zz\r\n", "0\r\n\r\n"},
                 {"2;x=y\r\nabc\r\n", "2\r\nab\r\n0\r\n\r\n"},
                 {"1\r\na\r\n0\r\nX Y: z\r\n", "1\r\na\r\n0\r\n\r\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&whole);
        feed(&whole, head, sizeof head - 1);
        feed(&whole, cases[i].body, strlen(cases[i].body));
        assert_false(whole.framing.replaced);
        assert_int_equal(whole.framing.messages, 1);
        assert_int_equal(whole.length, sizeof head - 1 + strlen(cases[i].passed));
        assert_memory_equal(whole.passed + sizeof head - 1, cases[i].passed, strlen(cases[i].passed));
    }
}

static void test_midway(void **state)
{
    static const char request[] = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab";
    begin(&cut);
    assert_false(srv_framing_is_midway(&cut.framing));
    for (size_t i = 0; i < sizeof request - 1; i++) {
        feed(&cut, request + i, 1);
        bool line = i >= strlen("POST /a HTTP/1.1\r\n") - 1 && i < sizeof request - 2;
        assert_true(srv_framing_is_midway(&cut.framing) == line);
    }
}

static void test_authorities(void **state)
{
    static const char *const good[] = {"a",
                                       "a.b",
                                       "a.b.",
                                       "A-_~9.x:0",
                                       "localhost:65535",
                                       "127.0.0.1",
                                       "127.0.0.1:",
                                       "[::1]",
                                       "[::ffff:1.2.3.4]:8088",
                                       "999.1.1.1"};
    static const char *const bad[]  = {"",     ".",       ".a",       "a..b",      "a..",    ":",    ":80",
                                       "a:b",  "a:65536", "a:000080", "a:1:2",     "[",      "[]",   "[:]",
                                       "[::1", "[::1]a",  "[::1%lo]", "[1.2.3.4]", "::1",    "a b",  "a,b",
                                       "a@b",  "a/b",     "a%20",     "a\\b",      "[v1.a]", "a:-1", "a: 1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!srv_is_authority(good[i], strlen(good[i]))) fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (srv_is_authority(bad[i], strlen(bad[i]))) fail_msg("%s passes", bad[i]);
    assert_false(srv_is_authority("a\0b", 3));
    assert_false(srv_is_authority("[::1\0]", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_the_substitute_names_the_request),
        cmocka_unit_test(test_each_body_has_its_own_limits),
        cmocka_unit_test(test_a_malformed_body_is_ended),
        cmocka_unit_test(test_midway),
        cmocka_unit_test(test_authorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
