/* test_cbor_reader.c - reads CBOR into nodes: the examples of RFC 8949 (appendix A), malformed bodies, and bounds on
 * the memory that a malformed body can claim. (Typed arrays: test_cbor_typed_arrays.c.) */
#include "tests/api/support/door.h"
#include "tests/api/support/nodes.h"
#include <stdio.h>
#include <string.h>

/* --- RFC 8949, appendix A --------------------------------------------------------------------------------------- */

/* Examples of RFC 8949, appendix A, and the same values in JSON. */
static const char *const json_examples[][2] = {
    {"00", "0"},
    {"01", "1"},
    {"0a", "10"},
    {"17", "23"},
    {"1818", "24"},
    {"1819", "25"},
    {"1864", "100"},
    {"1903e8", "1000"},
    {"1a000f4240", "1000000"},
    {"1b000000e8d4a51000", "1000000000000"},
    {"3bffffffffffffffff", "-18446744073709551616"},
    {"20", "-1"},
    {"29", "-10"},
    {"3863", "-100"},
    {"3903e7", "-1000"},
    {"f90000", "0.0"},
    {"f98000", "-0.0"},
    {"f93c00", "1.0"},
    {"fb3ff199999999999a", "1.1"},
    {"f93e00", "1.5"},
    {"f97bff", "65504.0"},
    {"fa47c35000", "100000.0"},
    {"fa7f7fffff", "3.4028234663852886e+38"},
    {"fb7e37e43c8800759c", "1.0e+300"},
    {"f90001", "5.960464477539063e-8"},
    {"f90400", "0.00006103515625"},
    {"f9c400", "-4.0"},
    {"fbc010666666666666", "-4.1"},
    {"f4", "false"},
    {"f5", "true"},
    {"f6", "null"},
    {"f7", "null"}, /* undefined */
    {"60", "\"\""},
    {"6161", "\"a\""},
    {"6449455446", "\"IETF\""},
    {"62225c", "\"\\\"\\\\\""},
    {"62c3bc", "\"\\u00fc\""},
    {"63e6b0b4", "\"\\u6c34\""},
    {"64f0908591", "\"\\ud800\\udd51\""},
    {"80", "[]"},
    {"83010203", "[1,2,3]"},
    {"8301820203820405", "[1,[2,3],[4,5]]"},
    {"98190102030405060708090a0b0c0d0e0f101112131415161718181819",
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]"},
    {"a0", "{}"},
    {"a26161016162820203", "{\"a\":1,\"b\":[2,3]}"},
    {"826161a161626163", "[\"a\",{\"b\":\"c\"}]"},
    {"a56161614161626142616361436164614461656145", "{\"a\":\"A\",\"b\":\"B\",\"c\":\"C\",\"d\":\"D\",\"e\":\"E\"}"},
    {"7f657374726561646d696e67ff", "\"streaming\""},
    {"9fff", "[]"},
    {"9f018202039f0405ffff", "[1,[2,3],[4,5]]"},
    {"9f01820203820405ff", "[1,[2,3],[4,5]]"},
    {"83018202039f0405ff", "[1,[2,3],[4,5]]"},
    {"83019f0203ff820405", "[1,[2,3],[4,5]]"},
    {"9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]"},
    {"bf61610161629f0203ffff", "{\"a\":1,\"b\":[2,3]}"},
    {"826161bf61626163ff", "[\"a\",{\"b\":\"c\"}]"},
    {"bf6346756ef563416d7421ff", "{\"Fun\":true,\"Amt\":-2}"},
};

static void examples_that_json_could_hold(void **state)
{
    for (size_t i = 0; i < sizeof json_examples / sizeof *json_examples; i++)
        assert_hex_is(json_examples[i][0], json_examples[i][1]);
}

/* Integers n (0x1b) and -1 - n (0x3b) are read if they are doubles: at most 53 bits from the first to the last set bit.
 * A double would round other integers. They must be refused with their value in the detail, also within tags 40 and
 * 1040. */
static void large_integers(void **state)
{
    static const char *const doubles[][2] = {
        {"3b001ffffffffffffe", "-9007199254740991"},     {"3b001fffffffffffff", "-9007199254740992"},
        {"3b0020000000000001", "-9007199254740994"},     {"3b0020000000000003", "-9007199254740996"},
        {"3b7ffffffffffffbff", "-9223372036854774784"},  {"3b7fffffffffffffff", "-9223372036854775808"},
        {"3bfffffffffffff7ff", "-18446744073709549568"}, {"3bffffffffffffffff", "-18446744073709551616"},
        {"1b0020000000000000", "9007199254740992"},      {"1b0020000000000002", "9007199254740994"},
        {"1bfffffffffffff800", "18446744073709549568"},
    };
    static const char *const others[][2] = {
        {"3b0020000000000000", "-9007199254740993"},    {"3b0020000000000002", "-9007199254740995"},
        {"3b7ffffffffffffdff", "-9223372036854775296"}, {"3bfffffffffffffffe", "-18446744073709551615"},
        {"1b0020000000000001", "9007199254740993"},     {"1bffffffffffffffff", "18446744073709551615"},
        {"1bfffffffffffff801", "18446744073709549569"},
    };
    char nested[80];
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        assert_hex_is(doubles[i][0], doubles[i][1]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_hex_refused(others[i][0], API_BAD_VALUE, "", -1);
        assert_non_null(strstr(nodes_problem()->detail, others[i][1]));
        snprintf(nested, sizeof nested, "a161718307%s08", others[i][0]);
        assert_hex_refused(nested, API_BAD_VALUE, "/q/1", -1);
        snprintf(nested, sizeof nested, "d82882810282%s08", others[i][0]); /* row-major */
        assert_hex_refused(nested, API_BAD_VALUE, "/0", -1);
        snprintf(nested, sizeof nested, "d9041082810282%s08", others[i][0]); /* column-major */
        assert_hex_refused(nested, API_BAD_VALUE, "", -1);
    }
}

static void examples_beyond_json(void **state)
{
    static const struct {
        const char *hex;
        api_code    code;
        long long   offset;
    } examples[] = {
        {"c249010000000000000000", API_WRONG_TYPE, -1}, /* bignums */
        {"c349010000000000000000", API_WRONG_TYPE, -1},
        {"1bffffffffffffffff", API_BAD_VALUE, -1}, /* an integer that is no double */
        {"f97c00", API_NON_FINITE, -1},
        {"f97e00", API_NON_FINITE, -1},
        {"f9fc00", API_NON_FINITE, -1},
        {"fa7f800000", API_NON_FINITE, -1},
        {"fa7fc00000", API_NON_FINITE, -1},
        {"faff800000", API_NON_FINITE, -1},
        {"fb7ff0000000000000", API_NON_FINITE, -1},
        {"fb7ff8000000000000", API_NON_FINITE, -1},
        {"fbfff0000000000000", API_NON_FINITE, -1},
        {"f0", API_WRONG_TYPE, -1}, /* simple values */
        {"f8ff", API_WRONG_TYPE, -1},
        {"c074323031332d30332d32315432303a30343a30305a", API_WRONG_TYPE, -1}, /* tags */
        {"c11a514b67b0", API_WRONG_TYPE, -1},
        {"c1fb41d452d9ec200000", API_WRONG_TYPE, -1},
        {"d74401020304", API_WRONG_TYPE, -1},
        {"d818456449455446", API_WRONG_TYPE, -1},
        {"d82076687474703a2f2f7777772e6578616d706c652e636f6d", API_WRONG_TYPE, -1},
        {"40", API_WRONG_TYPE, -1}, /* byte strings */
        {"4401020304", API_WRONG_TYPE, -1},
        {"5f42010243030405ff", API_WRONG_TYPE, -1},
        {"a201020304", API_BAD_CBOR, 1}, /* keys that are not text */
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        assert_hex_refused(examples[i].hex, examples[i].code, examples[i].offset < 0 ? "" : NULL, examples[i].offset);
}

/* Offsets of the faults; -2: the body is refused as a wrong type, -3: the body is well-formed. */
static const struct {
    const char *hex;
    long long   offset;
} malformed_bodies[] = {
    {"", 0},
    {"18", 0},
    {"19", 0},
    {"1a", 0},
    {"1b", 0},
    {"1901", 0},
    {"1a0102", 0},
    {"1b01020304050607", 0},
    {"38", 0},
    {"58", 0},
    {"78", 0},
    {"98", 0},
    {"9a01ff00", 0},
    {"b8", 0},
    {"d8", 0},
    {"f8", 0},
    {"f900", 0},
    {"fa0000", 0},
    {"fb000000", 0},
    {"61", 0},
    {"41", 0},
    {"5affffffff00", 0},
    {"7affffffff00", 0},
    {"7b7fffffffffffffff010203", 0},
    {"81", 0},
    {"818181818181818181", 8},
    {"8200", 0},
    {"a1", 0},
    {"a20102", 0},
    {"a100", 0},
    {"a2000000", 0},
    {"7f6100", 3},
    {"9f", 1},
    {"9f0102", 3},
    {"bf", 1},
    {"9f819f819f9fffffff", 9},
    {"c0", -2},
    {"1c", 0},
    {"1d", 0},
    {"1e", 0},
    {"3c", 0},
    {"5c", 0},
    {"7c", 0},
    {"9c", 0},
    {"bc", 0},
    {"dc", 0},
    {"fc", 0},
    {"fd", 0},
    {"fe", 0},
    {"f800", 0},
    {"f818", 0},
    {"f81f", 0},
    {"7f00ff", 1},
    {"7f4100ff", 1},
    {"7f7f6100ffff", 1},
    {"ff", 0},
    {"81ff", 1},
    {"8200ff", 2},
    {"a16161ff", 3},
    {"9f81ff", 2},
    {"bf00ff", 1},
    {"bf616100ff", -3},
    {"1f", 0},
    {"3f", 0},
    {"df", 0},
    {"0000", 1},
    {"61ff", 0},
    {"62c328", 0},
    {"63eda080", 0},
    {"64f4908080", 0},
    {"62c080", 0},
    {"d9d9f7", 3},
    {"d9d9f7ff", 3},
};

/* Tries the examples of RFC 8949, appendix F, which are not well-formed. */
static void malformed(void **state)
{
    for (size_t i = 0; i < sizeof malformed_bodies / sizeof *malformed_bodies; i++) {
        if (malformed_bodies[i].offset >= 0)
            assert_hex_refused(malformed_bodies[i].hex, API_BAD_CBOR, NULL, malformed_bodies[i].offset);
        if (malformed_bodies[i].offset == -2) assert_hex_refused(malformed_bodies[i].hex, API_WRONG_TYPE, "", -1);
        if (malformed_bodies[i].offset == -3) assert_hex_is(malformed_bodies[i].hex, "{\"a\":0}");
    }
}

static void texts(void **state)
{
    assert_hex_refused("a161716100", API_BAD_VALUE, "/q", -1);
    assert_hex_refused("a26161a0617181a1610000", API_BAD_VALUE, "/q/0", -1);
    assert_hex_refused("a2616100616100", API_DUPLICATE_KEY, NULL, 4);
    assert_hex_refused("bf61610062616200616100ff", API_DUPLICATE_KEY, NULL, 8);
    assert_hex_refused("a26161007f6161ff00", API_DUPLICATE_KEY, NULL, 4);
    assert_hex_is("a16161a16161a1616100", "{\"a\":{\"a\":{\"a\":0}}}");
    assert_hex_is("a17f6171616460ff00", "{\"qd\":0}");
    assert_hex_is("7fff", "\"\"");
}

/* --- hostile bodies ---------------------------------------------------------------------------------------------- */

/* The error must say that a body looks like JSON: read as CBOR, its first byte begins a string longer than any body. */
static void json_is_named(void **state)
{
    assert_hex_refused("7b2271223a5b305d7d", API_BAD_CBOR, NULL, 0); /* {"q":[0]} */
    assert_non_null(strstr(nodes_problem()->detail, "looks like JSON"));
    assert_hex_refused("5b305d", API_BAD_CBOR, NULL, 0); /* [0] */
    assert_non_null(strstr(nodes_problem()->detail, "looks like JSON"));
    assert_hex_refused("7b0000000100000000", API_BAD_CBOR, NULL, 0); /* a long string */
    assert_null(strstr(nodes_problem()->detail, "looks like JSON"));
}

/* A length that a head announces without the bytes must claim no memory. */
static void memory(void **state)
{
    enum { MOST = 8192 };
    static const char *const bodies[] = {"9a7fffffff",
                                         "ba7fffffff",
                                         "7b0000000100000000",
                                         "5b0000000100000000",
                                         "d8565b0000000100000000",
                                         "d82882821a7fffffff1a7fffffff",
                                         "9a00000001",
                                         "9f",
                                         "bf6161",
                                         "81818181818181"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_null(hex_read(bodies[i]));
        assert_in_range(nodes_taken(), 1, MOST);
    }
    enum { NUMBERS = 1 << 17 };
    static unsigned char typed[8 * NUMBERS + 7] = {0xD8, 0x56, 0x5A, 0, 0x10, 0, 0};
    assert_non_null(nodes_read(NODES_CBOR, typed, sizeof typed));
    assert_in_range(nodes_taken(), 1, MOST);
    memset(typed, 0x81, sizeof typed);
    assert_null(nodes_read(NODES_CBOR, typed, sizeof typed));
    assert_int_equal(nodes_problem()->code, API_TOO_DEEP);
    assert_int_equal(nodes_problem()->offset, door_limits.nesting);
}

static void a_tag_may_be_repeated_without_a_stack(void **state)
{
    enum { TAGS = 200000 };
    static unsigned char body[3 * TAGS + 1];
    for (size_t i = 0; i < TAGS; i++)
        memcpy(body + 3 * i, "\xd9\xd9\xf7", 3);
    body[3 * TAGS] = 0x07;
    assert_string_equal(nodes_text(nodes_read(NODES_CBOR, body, sizeof body)), "0x1.cp+2");
}

/* A body cut short anywhere must be refused, and a body with a changed byte must be read or refused without harm. */
static void cuts_and_changes(void **state)
{
    static const char                  good[] =
        "a56171d82882820201d85650" ONE TWO "627164820102657769646572d8554400000000616f9f6361626381f4ff6165bf6166f6ff";
    unsigned char                      bytes[256], other[256];
    size_t                             n = hex_bytes(good, bytes);
    assert_non_null(nodes_read(NODES_CBOR, bytes, n));
    for (size_t cut = 0; cut < n; cut++) {
        assert_null(nodes_read(NODES_CBOR, bytes, cut));
        assert_int_equal(nodes_problem()->code, API_BAD_CBOR);
    }
    for (size_t offset = 0; offset < n; offset++)
        for (unsigned byte = 0; byte < 256; byte++) {
            memcpy(other, bytes, n);
            other[offset]        = (unsigned char)byte;
            const api_node *node = nodes_read(NODES_CBOR, other, n);
            assert_true(!node == (nodes_problem()->code != API_NO_PROBLEM));
            if (node) nodes_text(node);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_that_json_could_hold),
        cmocka_unit_test(large_integers),
        cmocka_unit_test(examples_beyond_json),
        cmocka_unit_test(malformed),
        cmocka_unit_test(texts),
        cmocka_unit_test(json_is_named),
        cmocka_unit_test(memory),
        cmocka_unit_test(a_tag_may_be_repeated_without_a_stack),
        cmocka_unit_test(cuts_and_changes),
    };
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
