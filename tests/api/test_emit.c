/* test_emit.c - compares what the emitter writes with bytes from RFC 8949 (appendix A) and RFC 8746, and computed by
 * hand; measuring must agree with writing. */
#include "api/codec/json.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef void said(api_emit *e);

/* Writes the values that `say` emits to b. Checks that measuring gives the same length, for JSON at least that length.
 * The caller frees b. */
static void emitted(api_media media, said *say, api_buffer *b)
{
    api_emit measure, write;
    api_emit_init(&measure, media, NULL);
    api_emit_init(&write, media, b);
    api_buffer_init(b, 1 << 21);
    say(&measure);
    say(&write);
    assert_true(api_emit_done(&measure));
    assert_true(api_emit_done(&write));
    assert_int_equal(api_emit_length(&write), b->length);
    if (media != API_MEDIA_JSON)
        assert_int_equal(api_emit_length(&measure), b->length);
    else
        assert_true(api_emit_length(&measure) >= b->length);
}

static void is_in_hex(api_media media, said *say, const char *expected)
{
    char       hex[4096] = "";
    api_buffer b;
    emitted(media, say, &b);
    for (size_t i = 0; i < b.length; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)b.data[i]);
    assert_string_equal(hex, expected);
    api_buffer_free(&b);
}

static void is(said *say, const char *json, const char *cbor)
{
    api_buffer b;
    emitted(API_MEDIA_JSON, say, &b);
    if (strlen(json) != b.length || memcmp(b.data, json, b.length) != 0)
        fail_msg("%.*s, expected %s", (int)b.length, b.data, json);
    api_buffer_free(&b);
    is_in_hex(API_MEDIA_CBOR_MULTIDIMENSIONAL, say, cbor);
}

/* --- single values ---------------------------------------------------------------------------------------------- */

#define SAYS(name, ...)                                                                                                \
    static void name(api_emit *e)                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }

SAYS(zero, api_emit_integer(e, 0))
SAYS(twenty_three, api_emit_integer(e, 23))
SAYS(twenty_four, api_emit_integer(e, 24))
SAYS(thousand, api_emit_integer(e, 1000))
SAYS(million, api_emit_integer(e, 1000000))
SAYS(billions, api_emit_integer(e, 1000000000000))
SAYS(minus_one, api_emit_integer(e, -1))
SAYS(minus_thousand, api_emit_integer(e, -1000))
SAYS(one_point_one, api_emit_number(e, 1.1))
SAYS(minus_four_point_one, api_emit_number(e, -4.1))
SAYS(huge, api_emit_number(e, 1.0e300))
SAYS(minus_zero, api_emit_number(e, -0.0))
SAYS(one, api_emit_number(e, 1))
SAYS(no, api_emit_boolean(e, false))
SAYS(yes, api_emit_boolean(e, true))
SAYS(nothing, api_emit_null(e))
SAYS(empty_text, api_emit_string(e, ""))
SAYS(ietf, api_emit_string(e, "IETF"))
SAYS(quoted, api_emit_string(e, "\"\\"))
SAYS(water, api_emit_string(e, "\u6c34"))
SAYS(newline, api_emit_string(e, "a\nb\x7F"))
SAYS(broken, api_emit_string(e, "a\xFF\xC3z\xE6\xB0"))

/* Compares with RFC 8949, appendix A; numbers that the RFC shortens have 64 bits here. */
static void values(void **state)
{
    is(zero, "0", "00");
    is(twenty_three, "23", "17");
    is(twenty_four, "24", "1818");
    is(thousand, "1000", "1903e8");
    is(million, "1000000", "1a000f4240");
    is(billions, "1000000000000", "1b000000e8d4a51000");
    is(minus_one, "-1", "20");
    is(minus_thousand, "-1000", "3903e7");
    is(one_point_one, "1.1", "fb3ff199999999999a");
    is(minus_four_point_one, "-4.1", "fbc010666666666666");
    is(huge, "1e+300", "fb7e37e43c8800759c");
    is(minus_zero, "-0", "fb8000000000000000");
    is(one, "1", "fb3ff0000000000000");
    is(no, "false", "f4");
    is(yes, "true", "f5");
    is(nothing, "null", "f6");
    is(empty_text, "\"\"", "60");
    is(ietf, "\"IETF\"", "6449455446");
    is(quoted, "\"\\\"\\\\\"", "62225c");
    is(water, "\"\u6c34\"", "63e6b0b4");
    is(newline, "\"a\\u000ab\\u007f\"", "64610a627f");
    is(broken, "\"a\uFFFD\uFFFDz\uFFFD\uFFFD\"", "6e61efbfbdefbfbd7aefbfbdefbfbd");
}

/* --- objects and arrays ----------------------------------------------------------------------------------------- */

static void count_to(api_emit *e, int n)
{
    api_emit_array(e);
    for (int i = 1; i <= n; i++)
        api_emit_integer(e, i);
    api_emit_end(e);
}

SAYS(empty_array, count_to(e, 0))
SAYS(empty_object, api_emit_object(e), api_emit_end(e))
SAYS(twenty_five, count_to(e, 25))

static void nested_arrays(api_emit *e)
{
    api_emit_array(e);
    api_emit_integer(e, 1);
    for (int i = 2; i <= 4; i += 2) {
        api_emit_array(e);
        api_emit_integer(e, i);
        api_emit_integer(e, i + 1);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void object_with_array(api_emit *e)
{
    api_emit_object(e);
    api_emit_key(e, "a");
    api_emit_integer(e, 1);
    api_emit_key(e, "b");
    api_emit_array(e);
    api_emit_integer(e, 2);
    api_emit_integer(e, 3);
    api_emit_end(e);
    api_emit_end(e);
}

static void array_with_object(api_emit *e)
{
    api_emit_array(e);
    api_emit_string(e, "a");
    api_emit_object(e);
    api_emit_key(e, "b");
    api_emit_string(e, "c");
    api_emit_end(e);
    api_emit_end(e);
}

/* Emits an object of 30 members, each an array of 300 numbers. The heads (length prefixes) of the object and of the
 * arrays are written before their lengths are known, and must grow. */
static void long_ones(api_emit *e)
{
    char key[8];
    api_emit_object(e);
    for (int i = 0; i < 30; i++) {
        snprintf(key, sizeof key, "k%d", i);
        api_emit_key(e, key);
        count_to(e, 300);
    }
    api_emit_end(e);
}

static void containers(void **state)
{
    is(empty_array, "[]", "80");
    is(empty_object, "{}", "a0");
    is(nested_arrays, "[1,[2,3],[4,5]]", "8301820203820405");
    is(object_with_array, "{\"a\":1,\"b\":[2,3]}", "a26161016162820203");
    is(array_with_object, "[\"a\",{\"b\":\"c\"}]", "826161a161626163");
    is(twenty_five, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
       "98190102030405060708090a0b0c0d0e0f101112131415161718181819");
}

/* Computes the length by hand: map(30), then 30 times a key of 2 or 3 bytes, array(300) and its numbers of 1, 2 and 3
 * bytes. */
static void heads_grow_inside_heads_that_grow(void **state)
{
    api_buffer b;
    emitted(API_MEDIA_CBOR, long_ones, &b);
    const size_t numbers = 23 + 2 * (255 - 23) + 3 * (300 - 255);
    assert_int_equal(b.length, 2 + 10 * 3 + 20 * 4 + 30 * (3 + numbers));
    const unsigned char *p = (const unsigned char *)b.data;
    assert_memory_equal(p, "\xb8\x1e\x62k0\x99\x01\x2c\x01\x02", 10);
    assert_memory_equal(p + 2 + 3 + 3 + numbers, "\x62k1\x99\x01\x2c\x01\x02", 8);
    assert_memory_equal(p + b.length - 6, "\x19\x01\x2b\x19\x01\x2c", 6);
    api_buffer_free(&b);
}

/* Parameters of members_around_an_array: an object of `members` members, whose number is announced if `announces`. With
 * an announced number the bytes must be those of an object whose members are counted at its end, and values inside must
 * keep the offset at which they were written. */
static size_t members, announced, offset_within;
static bool   announces;

static void members_around_an_array(api_emit *e)
{
    char key[16];
    announces ? api_emit_object_of(e, announced) : api_emit_object(e);
    for (size_t i = 0; i < members; i++) {
        snprintf(key, sizeof key, "k%u", (unsigned)i);
        api_emit_key(e, key);
        if (i == 0) offset_within = api_emit_length(e);
        count_to(e, 3);
    }
    api_emit_end(e);
}

static void announced_members(void **state)
{
    static const size_t counts[] = {0, 1, 23, 24, 25, 255, 256, 257, 65535, 65536};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (api_media media = API_MEDIA_JSON; media < API_MEDIA_COUNT; media++) {
            api_buffer counted, known;
            members = announced = counts[c];
            announces           = false;
            emitted(media, members_around_an_array, &counted);
            announces = true;
            emitted(media, members_around_an_array, &known);
            assert_int_equal(known.length, counted.length);
            assert_memory_equal(known.data, counted.data, known.length);
            const char *within = media == API_MEDIA_JSON      ? ":[1,2"
                                 : media == API_MEDIA_MSGPACK ? "\x93\x01\x02\x03"
                                                              : "\x83\x01\x02\x03";
            if (members > 0) /* the array [1,2,3] is still at the offset noted before it */
                assert_memory_equal(known.data + offset_within, within, 4);
            api_buffer_free(&counted);
            api_buffer_free(&known);
        }
}

/* --- arrays of numbers ------------------------------------------------------------------------------------------ */

static const double counting[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

#define D1 "000000000000f03f"
#define D2 "0000000000000040"
#define D3 "0000000000000840"
#define D4 "0000000000001040"
#define D5 "0000000000001440"
#define D6 "0000000000001840"

SAYS(three, api_emit_numbers(e, counting, 1, (size_t[]){3}))
SAYS(two_by_three, api_emit_numbers(e, counting, 2, (size_t[]){2, 3}))
SAYS(one_by_two_by_one, api_emit_numbers(e, counting, 3, (size_t[]){1, 2, 1}))
SAYS(none, api_emit_numbers(e, counting, 1, (size_t[]){0}))
SAYS(two_by_none, api_emit_numbers(e, counting, 2, (size_t[]){2, 0}))
SAYS(none_by_two, api_emit_numbers(e, counting, 2, (size_t[]){0, 2}))

static void numbers(void **state)
{
    is(three, "[1,2,3]", "d8565818" D1 D2 D3);
    is(two_by_three, "[[1,2,3],[4,5,6]]", "d82882820203d8565830" D1 D2 D3 D4 D5 D6);
    is(one_by_two_by_one, "[[[1],[2]]]", "d8288283010201d85650" D1 D2);
    is(none, "[]", "d85640");
    is(two_by_none, "[[],[]]", "82d85640d85640"); /* tag 40 allows no dimension of zero */
    is(none_by_two, "[]", "80");
}

/* `lanes` emits the second of two entries of each state, from lanes of the width of `kernels`, one block after the
 * other. */
static const dyn_kernels *kernels;

static void lanes(api_emit *e, bool batched, size_t rank)
{
    enum { STATES = 3 };
    _Alignas(DYN_ALIGN) double block[2 * STATES * DYN_MAX_LANES + 2 * DYN_MAX_LANES];
    size_t                     W = (size_t)kernels->lanes, fault;
    api_lanes                  a = {.values  = block + W,
                                    .kernels = kernels,
                                    .entries = 2,
                                    .states  = batched ? STATES : 1,
                                    .batched = batched,
                                    .rank    = rank,
                                    .extent  = {1}};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        block[i] = INFINITY;
    api_emit_lanes_begin(e, &a);
    for (a.first = 0; a.first < a.states; a.first += W) {
        size_t here = a.states - a.first < W ? a.states - a.first : W;
        for (size_t i = 0; i < here; i++)
            block[W + i] = (double)(a.first + i + 1);
        assert_true(api_emit_lanes_states(e, &a, a.first, here, &fault));
    }
    api_emit_lanes_end(e, &a);
}

SAYS(batch_of_scalars, lanes(e, true, 0))
SAYS(batch_of_rows, lanes(e, true, 1))
SAYS(scalar, lanes(e, false, 0))
SAYS(row, lanes(e, false, 1))

static void states_from_lanes(void **state)
{
    for (size_t t = 0; (kernels = dyn_kernels_at(t)); t++) {
        is(batch_of_scalars, "[1,2,3]", "d8565818" D1 D2 D3);
        is(batch_of_rows, "[[1],[2],[3]]", "d82882820301d8565818" D1 D2 D3);
        is(scalar, "1", "fb3ff0000000000000");
        is(row, "[1]", "d85648" D1);
    }
}

/* Writes an array of 2 x 3 x 2 numbers whose `order` reverses the first and the last axis. */
static void turned(api_emit *e)
{
    static const int order[] = {7, 6, 9, 8, 11, 10, 1, 0, 3, 2, 5, 4};
    api_lanes        a       = {
                     .values = counting, .kernels = dyn_kernels_at(0), .states = 1, .rank = 3, .extent = {2, 3, 2}, .order = order};
    size_t fault;
    api_emit_lanes_begin(e, &a);
    assert_true(api_emit_lanes_states(e, &a, 0, 1, &fault));
    api_emit_lanes_end(e, &a);
}

static void permuted_axes(void **state)
{
    is(turned, "[[[8,7],[10,9],[12,11]],[[2,1],[4,3],[6,5]]]",
       "d8288283020302d8565860"
       "0000000000002040"
       "0000000000001c40"
       "0000000000002440"
       "0000000000002240"
       "0000000000002840"
       "0000000000002640" D2 D1 D4 D3 D6 D5);
}

/* Writes the same numbers as arrays of typed arrays (RFC 8746) and as plain arrays of floats (RFC 8949, big-endian). */
#define N1 "fb3ff0000000000000"
#define N2 "fb4000000000000000"
#define N3 "fb4008000000000000"
#define N4 "fb4010000000000000"
#define N5 "fb4014000000000000"
#define N6 "fb4018000000000000"

static void forms_are(said *say, const char *typed, const char *plain)
{
    is_in_hex(API_MEDIA_CBOR_TYPED, say, typed);
    is_in_hex(API_MEDIA_CBOR, say, plain);
}

static void forms_of_arrays(void **state)
{
    kernels = dyn_kernels_at(0);
    forms_are(three, "d8565818" D1 D2 D3, "83" N1 N2 N3);
    forms_are(two_by_three, "82d8565818" D1 D2 D3 "d8565818" D4 D5 D6, "8283" N1 N2 N3 "83" N4 N5 N6);
    forms_are(one_by_two_by_one, "8182d85648" D1 "d85648" D2, "818281" N1 "81" N2);
    forms_are(none, "d85640", "80");
    forms_are(two_by_none, "82d85640d85640", "828080");
    forms_are(none_by_two, "80", "80");
    for (size_t t = 0; (kernels = dyn_kernels_at(t)); t++) {
        forms_are(batch_of_scalars, "d8565818" D1 D2 D3, "83" N1 N2 N3);
        forms_are(batch_of_rows, "83d85648" D1 "d85648" D2 "d85648" D3, "8381" N1 "81" N2 "81" N3);
        forms_are(scalar, N1, N1);
        forms_are(row, "d85648" D1, "81" N1);
    }
}

/* some_failed emits four numbers in two ranges, three and one. If `in_groups`, the numbers are two motions of two
 * samples, of which the second fails; otherwise they are states, of which the second fails. */
static bool in_groups;

static void some_failed(api_emit *e)
{
    static const unsigned char second[] = {0, 0, 1, 1}, middle[] = {0, 1, 0, 0};
    size_t                     fault;
    api_lanes                  a = {.values  = counting,
                                    .kernels = dyn_kernels_at(0),
                                    .entries = 1,
                                    .states  = 4,
                                    .batched = true,
                                    .group   = in_groups ? 2 : 0,
                                    .rank    = 1,
                                    .extent  = {1},
                                    .failed  = in_groups ? second : middle};
    api_emit_lanes_begin(e, &a);
    assert_true(api_emit_lanes_states(e, &a, 0, 3, &fault));
    assert_true(api_emit_lanes_states(e, &a, 3, 1, &fault));
    api_emit_lanes_end(e, &a);
}

static void failed_is(bool groups, api_media media, const char *expected)
{
    char       hex[400] = "";
    api_buffer b;
    api_emit   e;
    in_groups = groups;
    api_buffer_init(&b, 400);
    api_emit_init(&e, media, &b);
    some_failed(&e);
    assert_true(api_emit_done(&e));
    for (size_t i = 0; i < b.length; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)b.data[i]);
    assert_string_equal(hex, expected);
    api_buffer_free(&b);
}

/* A state or motion that failed must be null in arrays of floats, and NaN for each of its numbers in typed arrays. */
static void failed_states(void **state)
{
#define NOT "000000000000f87f"
    failed_is(false, API_MEDIA_CBOR, "8481" N1 "f681" N3 "81" N4);
    failed_is(false, API_MEDIA_CBOR_TYPED, "84d85648" D1 "d85648" NOT "d85648" D3 "d85648" D4);
    failed_is(false, API_MEDIA_CBOR_MULTIDIMENSIONAL, "d82882820401d8565820" D1 NOT D3 D4);
    failed_is(true, API_MEDIA_CBOR, "828281" N1 "81" N2 "f6");
    failed_is(true, API_MEDIA_CBOR_TYPED, "8282d85648" D1 "d85648" D2 "82d85648" NOT "d85648" NOT);
    failed_is(true, API_MEDIA_CBOR_MULTIDIMENSIONAL, "d8288283020201d8565820" D1 D2 NOT NOT);
}

/* --- jansson's trees -------------------------------------------------------------------------------------------- */

static const char *tree_text;

static void tree(api_emit *e)
{
    api_problem problem;
    api_problem_clear(&problem);
    json_t *value = api_json_parse(tree_text, strlen(tree_text), 16, &problem);
    if (!value) fail_msg("%s", problem.detail);
    api_json_emit(e, value);
    json_decref(value);
}

static void tree_is(const char *text, const char *cbor)
{
    tree_text = text;
    is(tree, text, cbor);
}

static void forms_of_trees(void **state)
{
    tree_text = "[[1,2],[3,4]]";
    forms_are(tree, "82d85650" D1 D2 "d85650" D3 D4, "8282" N1 N2 "82" N3 N4);
    tree_text = "{\"x\":[1,[2]]}";
    forms_are(tree, "a1617882" N1 "d85648" D2, "a1617882" N1 "81" N2);
}

static void trees(void **state)
{
    tree_is("{\"a\":[1,2],\"b\":[[1,2],[3,4]],\"c\":[]}",
            "a36161d85650" D1 D2 "6162d82882820202d8565820" D1 D2 D3 D4 "616380");
    tree_is("[[1],[2,3]]", "82d85648" D1 "d85650" D2 D3);
    tree_is("[1,\"x\"]", "82fb3ff00000000000006178");
    tree_is("[[[1]],[1]]", "82d82882820101d85648" D1 "d85648" D1);
    tree_is("[[1,2],[]]", "82d85650" D1 D2 "80");
    tree_is("[{\"x\":[1]},true,false,null]", "84a16178d85648" D1 "f5f4f6");
}

/* --- refusals --------------------------------------------------------------------------------------------------- */

static void not_finite(void **state)
{
    static const double bad[] = {1, 2, 3, 4, NAN, 6, INFINITY};
    const api_media each[]    = {API_MEDIA_JSON, API_MEDIA_CBOR, API_MEDIA_CBOR_TYPED, API_MEDIA_CBOR_MULTIDIMENSIONAL};
    for (size_t m = 0; m < sizeof each / sizeof *each; m++) {
        api_buffer b;
        api_buffer_init(&b, 1000);
        api_emit e, f;
        api_emit_init(&e, each[m], &b);
        api_emit_init(&f, each[m], &b);
        api_lanes a     = {.values  = bad,
                           .kernels = dyn_kernels_at(0),
                           .entries = 2,
                           .states  = 3,
                           .batched = true,
                           .rank    = 1,
                           .extent  = {2}};
        size_t    fault = 99;
        api_emit_lanes_begin(&e, &a);
        assert_true(api_emit_lanes_states(&e, &a, 0, 2, &fault));
        assert_false(api_emit_lanes_states(&e, &a, 2, 1, &fault));
        assert_int_equal(fault, 4);
        assert_false(api_emit_done(&e));
        api_emit_number(&f, -INFINITY);
        assert_false(api_emit_done(&f));
        api_buffer_free(&b);
    }
}

static void misuse(void **state)
{
    api_emit deep, open, shut;
    api_emit_init(&deep, API_MEDIA_CBOR, NULL);
    open = shut = deep;
    for (int i = 0; i < 2 * API_EMIT_DEPTH; i++)
        api_emit_array(&deep);
    for (int i = 0; i < 2 * API_EMIT_DEPTH; i++)
        api_emit_end(&deep);
    assert_false(api_emit_done(&deep));
    api_emit_array(&open);
    assert_false(api_emit_done(&open));
    api_emit_end(&shut);
    assert_false(api_emit_done(&shut));
}

/* An object with fewer or more members than announced would be a CBOR map of a wrong length. */
static void wrong_announcements(void **state)
{
    members   = 3;
    announces = true;
    for (announced = 0; announced < 6; announced++) {
        api_emit e;
        api_emit_init(&e, API_MEDIA_CBOR, NULL);
        members_around_an_array(&e);
        assert_int_equal(api_emit_done(&e), announced == 3);
    }
}

static void full_buffers(void **state)
{
    for (size_t room = 0; room < 40; room++) {
        api_buffer b;
        api_buffer_init(&b, room);
        api_emit e;
        api_emit_init(&e, API_MEDIA_CBOR, &b);
        twenty_five(&e);
        assert_int_equal(api_emit_done(&e), room >= 29);
        api_buffer_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(containers),
        cmocka_unit_test(heads_grow_inside_heads_that_grow),
        cmocka_unit_test(announced_members),
        cmocka_unit_test(numbers),
        cmocka_unit_test(states_from_lanes),
        cmocka_unit_test(permuted_axes),
        cmocka_unit_test(forms_of_arrays),
        cmocka_unit_test(failed_states),
        cmocka_unit_test(trees),
        cmocka_unit_test(forms_of_trees),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(misuse),
        cmocka_unit_test(wrong_announcements),
        cmocka_unit_test(full_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
