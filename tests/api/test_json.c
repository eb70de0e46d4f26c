/* test_json.c - checks the product's rules for JSON: which texts are refused and at which offset, and that it writes
   nothing but valid JSON. */
#include "api/codec/json.h"
#include "api/codec/pointer.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NESTING = 4 };

static json_t *parse(const char *text, size_t length, api_problem *problem)
{
    api_problem_clear(problem);
    return api_json_parse(text, length, NESTING, problem);
}

static void refused(const char *text, api_code code, const char *pointer, long long offset)
{
    api_problem problem;
    json_t     *value = parse(text, strlen(text), &problem);
    if (value || problem.code != code) fail_msg("%s: code %d %s", text, problem.code, problem.detail);
    assert_string_equal(problem.has_pointer ? problem.pointer : "(none)", pointer ? pointer : "(none)");
    if (problem.offset != offset) fail_msg("%s: offset %lld, expected %lld", text, problem.offset, offset);
}

static void printed(const char *text, const char *expected)
{
    api_problem problem;
    api_buffer  b;
    json_t     *value = parse(text, strlen(text), &problem);
    if (!value) fail_msg("%s: %s", text, problem.detail);
    api_buffer_init(&b, 10000);
    api_json_print(&b, value);
    char *out = api_buffer_take(&b);
    assert_string_equal(out, expected);
    free(out);
    json_decref(value);
}

static void numbers_are_real_and_read_back(void **state)
{
    printed(" [1, -0, 0.0, 1e2, 12345678901234567890, 18446744073709551616, 1e-999]\n",
            "[1,-0,0,100,12345678901234567000,18446744073709552000,0]");
    printed("{\"b\":true,\"a\":[null,false,{}],\"c\":\"\"}", "{\"b\":true,\"a\":[null,false,{}],\"c\":\"\"}");
    printed("7", "7");
}

static void strings_read_back(void **state)
{
    printed("\"\\u0041\\n\\t\\\\\\\"/\\u20ac\"", "\"A\\u000a\\u0009\\\\\\\"/\xE2\x82\xAC\"");
    printed("\"\xF0\x9F\xA4\x96\"", "\"\xF0\x9F\xA4\x96\"");
}

/* Names are quoted in error messages, cut or taken from any bytes: bytes that are not UTF-8 must not make the message
 * invalid JSON. */
static void any_bytes_make_valid_json(void **state)
{
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            char       bytes[] = {'x', (char)a, (char)b, (char)(b ^ 0x40), 'y', 0};
            api_buffer out;
            api_emit   e;
            api_emit_init(&e, API_MEDIA_JSON, &out);
            api_buffer_init(&out, 100);
            api_emit_string(&e, bytes);
            json_t *back = json_loadb(out.data, out.length, JSON_DECODE_ANY, NULL);
            if (!json_is_string(back)) fail_msg("bytes %02x %02x give %.*s", a, b, (int)out.length, out.data);
            json_decref(back);
            api_buffer_free(&out);
        }
}

static void syntax(void **state)
{
    refused("", API_BAD_JSON, NULL, 0);
    refused(" ", API_BAD_JSON, NULL, 1);
    refused("{", API_BAD_JSON, NULL, 1);
    refused("[1,,2]", API_BAD_JSON, NULL, 4);
    refused("[1] 2", API_BAD_JSON, NULL, 5);
    refused("[01]", API_BAD_JSON, "/0", 2);
    refused("\"\\ud800\"", API_BAD_JSON, NULL, 8);
    refused("[NaN]", API_BAD_JSON, "/0", 4);
    refused("{\"a\":1,\"a\":2}", API_DUPLICATE_KEY, NULL, 10);
    refused("{\"a\":1,\"\\u0061\":2}", API_DUPLICATE_KEY, NULL, 15);
}

static void nesting(void **state)
{
    printed("[[[[1]]]]", "[[[[1]]]]");
    printed("[[[[]],{}],\"[[[[[[\"]", "[[[[]],{}],\"[[[[[[\"]");
    refused("[[[[[1]]]]]", API_TOO_DEEP, NULL, 4);
    refused("{\"a\":[{\"b\":[[", API_TOO_DEEP, NULL, 12);
    refused("\"\\\"[[[[[[[\"[[[[[", API_TOO_DEEP, NULL, 15);
}

static void overflows_are_located(void **state)
{
    refused("{\"q\":[0,0,1e999,0]}", API_NON_FINITE, "/q/2", -1);
    refused("{\"q\":[[0,0],[0,-1e999]]}", API_NON_FINITE, "/q/1/1", -1);
    refused("{\"a\":{\"b\":[{}, 1],\"c~/d\":1e400}}", API_NON_FINITE, "/a/c~0~1d", -1);
    refused("{\"w\":[{\"x\":\"]},{\",\"f\":[1e309]}]}", API_NON_FINITE, "/w/0/f/0", -1);
    refused("1e999", API_NON_FINITE, "", -1);
    refused("{\"a\":[1,\"b\\u0000c\"]}", API_BAD_VALUE, "/a/1", -1);
}

/* Words like NaN, which programs write although JSON has none: the error must have status 400, an offset, and the
 * pointer of an entry. */
static void non_finite_words_are_located(void **state)
{
    refused("{\"q\":[0,NaN]}", API_BAD_JSON, "/q/1", 11);
    refused("{\"q\":[[0,1],[nan,1]]}", API_BAD_JSON, "/q/1/0", 16);
    refused("{\"q\":[0,-Infinity]}", API_BAD_JSON, "/q/1", 9);
    refused("{\"q\":{\"a\":Infinity}}", API_BAD_JSON, "/q/a", 18);
    refused("{\"q\":[0,nil]}", API_BAD_JSON, "/q/1", 11);
    refused("Inf", API_BAD_JSON, "", 3);
}

static void other_encodings_are_named(void **state)
{
    static const struct {
        const char *text, *said;
    } bodies[] = {{"<robot name=\"r\"/>", "looks like XML"},
                  {"\xA1\x61q\x80", "looks like CBOR"},
                  {"\xD9\xD9\xF7\xA0", "looks like CBOR"}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        api_problem problem;
        assert_null(parse(bodies[i].text, strlen(bodies[i].text), &problem));
        assert_int_equal(problem.code, API_BAD_JSON);
        assert_int_equal(problem.offset, 0);
        assert_non_null(strstr(problem.detail, bodies[i].said));
    }
}

static void long_pointers_are_left_out(void **state)
{
    api_pointer place = api_pointer_root();
    char        name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    place                 = api_pointer_key(&place, name);
    assert_null(api_pointer_text(&place));
    place = api_pointer_index(&place, 1);
    assert_null(api_pointer_text(&place));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_real_and_read_back),
        cmocka_unit_test(strings_read_back),
        cmocka_unit_test(any_bytes_make_valid_json),
        cmocka_unit_test(syntax),
        cmocka_unit_test(nesting),
        cmocka_unit_test(overflows_are_located),
        cmocka_unit_test(non_finite_words_are_located),
        cmocka_unit_test(other_encodings_are_named),
        cmocka_unit_test(long_pointers_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
