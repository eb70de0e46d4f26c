/* test_msgpack_reader.c - reads MessagePack into nodes: the values of the format's test suite (Kawasaki 2018) in all
 * their forms, malformed bodies, and bounds on the memory that a malformed body can claim. */
#include "tests/api/support/door.h"
#include "tests/api/support/nodes.h"
#include <stdio.h>
#include <string.h>

/* A value as JSON, and its forms in hexadecimal, separated by blanks. */
typedef struct forms {
    const char *json, *hex;
} forms;

/* --- the test suite of MessagePack ------------------------------------------------------------------------------ */

static const forms integers[] = {
    {"0", "00 cc00 cd0000 ce00000000 cf0000000000000000 d000 d10000 d200000000 d30000000000000000"},
    {"1", "01 cc01 cd0001 ce00000001 cf0000000000000001 d001 d10001 d200000001 d30000000000000001"},
    {"127", "7f cc7f cd007f ce0000007f cf000000000000007f d07f d1007f d20000007f d3000000000000007f"},
    {"128", "cc80 cd0080 ce00000080 cf0000000000000080 d10080 d200000080 d30000000000000080"},
    {"255", "ccff cd00ff ce000000ff cf00000000000000ff d100ff d2000000ff d300000000000000ff"},
    {"256", "cd0100 ce00000100 cf0000000000000100 d10100 d200000100 d30000000000000100"},
    {"65535", "cdffff ce0000ffff cf000000000000ffff d20000ffff d3000000000000ffff"},
    {"65536", "ce00010000 cf0000000000010000 d200010000 d30000000000010000"},
    {"2147483647", "ce7fffffff cf000000007fffffff d27fffffff d3000000007fffffff"},
    {"2147483648", "ce80000000 cf0000000080000000 d30000000080000000"},
    {"4294967295", "ceffffffff cf00000000ffffffff d300000000ffffffff"},
    {"4294967296", "cf0000000100000000 d30000000100000000 ca4f800000 cb41f0000000000000"},
    {"281474976710656", "cf0001000000000000 d30001000000000000 ca57800000 cb42f0000000000000"},
    {"9223372036854775808", "cf8000000000000000 ca5f000000 cb43e0000000000000"},
    {"-1", "ff d0ff d1ffff d2ffffffff d3ffffffffffffffff cabf800000 cbbff0000000000000"},
    {"-32", "e0 d0e0 d1ffe0 d2ffffffe0 d3ffffffffffffffe0 cac2000000 cbc040000000000000"},
    {"-33", "d0df d1ffdf d2ffffffdf d3ffffffffffffffdf"},
    {"-128", "d080 d1ff80 d2ffffff80 d3ffffffffffffff80"},
    {"-256", "d1ff00 d2ffffff00 d3ffffffffffffff00"},
    {"-32768", "d18000 d2ffff8000 d3ffffffffffff8000"},
    {"-65536", "d2ffff0000 d3ffffffffffff0000"},
    {"-2147483648", "d280000000 d3ffffffff80000000 cbc1e0000000000000"},
    {"-4294967296", "d3ffffffff00000000 cbc1f0000000000000"},
    {"-281474976710656", "d3ffff000000000000 cbc2f0000000000000"},
    {"-9223372036854775808", "d38000000000000000 cadf000000 cbc3e0000000000000"},
};

static const forms others[] = {
    {"null", "c0"},
    {"false", "c2"},
    {"true", "c3"},
    {"0.0", "ca00000000 cb0000000000000000"},
    {"-0.0", "ca80000000 cb8000000000000000"},
    {"0.5", "ca3f000000 cb3fe0000000000000"},
    {"-0.5", "cabf000000 cbbfe0000000000000"},
    {"1.1", "cb3ff199999999999a"},
    {"\"\"", "a0 d900 da0000 db00000000"},
    {"\"a\"", "a161 d90161 da000161 db0000000161"},
    {"\"1234567890123456789012345678901\"", "bf31323334353637383930313233343536373839303132333435363738393031 "
                                            "d91f31323334353637383930313233343536373839303132333435363738393031"},
    {"\"12345678901234567890123456789012\"", "d9203132333435363738393031323334353637383930313233343536373839303132 "
                                             "da00203132333435363738393031323334353637383930313233343536373839303132"},
    {"\"\\u041a\\u0438\"", "a4d09ad0b8"},
    {"\"\\u3072\"", "a3e381b2"},
    {"\"\\ud55c\\uae00\"", "a6ed959ceab880"},
    {"\"\\u6f22\\u5b57\"", "a6e6bca2e5ad97"},
    {"\"\\u2764\"", "a3e29da4"},
    {"\"\\ud83c\\udf7a\"", "a4f09f8dba"},
    {"[]", "90 dc0000 dd00000000"},
    {"[1]", "9101 dc000101 dd0000000101"},
    {"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]", "9f0102030405060708090a0b0c0d0e0f dc000f0102030405060708090a0b0c0d0e0f"},
    {"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]",
     "dc00100102030405060708090a0b0c0d0e0f10 dd000000100102030405060708090a0b0c0d0e0f10"},
    {"[\"a\"]", "91a161 dc0001a161 dd00000001a161"},
    {"{}", "80 de0000 df00000000"},
    {"{\"a\":1}", "81a16101 de0001a16101 df00000001a16101"},
    {"{\"a\":\"A\"}", "81a161a141 de0001a161a141"},
    {"[[]]", "9190 dc0001dc0000 dd00000001dd00000000"},
    {"[{}]", "9180 dc000180 dd0000000180"},
    {"{\"a\":{}}", "81a16180 de0001a161de0000 df00000001a161df00000000"},
    {"{\"a\":[]}", "81a16190 de0001a16190"},
};

static void assert_forms(const forms *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char        one[200];
        const char *p = values[i].hex;
        for (int length; sscanf(p, " %199s%n", one, &length) == 1; p += length)
            assert_hex_is(one, values[i].json);
    }
}

static void every_form_of_the_test_suite(void **state)
{
    assert_forms(integers, sizeof integers / sizeof *integers);
    assert_forms(others, sizeof others / sizeof *others);
}

/* Values that JSON cannot express (bin, ext) and integers that no double represents must be refused. */
static void values_beyond_json(void **state)
{
    static const struct {
        const char *hex;
        api_code    code;
    } each[] = {
        {"c400", API_WRONG_TYPE},
        {"c40101", API_WRONG_TYPE},
        {"c50000", API_WRONG_TYPE},
        {"c60000000200ff", API_WRONG_TYPE},
        {"d40110", API_WRONG_TYPE},
        {"d5022021", API_WRONG_TYPE},
        {"d60330313233", API_WRONG_TYPE},
        {"d7044041424344454647", API_WRONG_TYPE},
        {"d805505152535455565758595a5b5c5d5e5f", API_WRONG_TYPE},
        {"c70006", API_WRONG_TYPE},
        {"c70306606162", API_WRONG_TYPE},
        {"c8000006", API_WRONG_TYPE},
        {"c90000000006", API_WRONG_TYPE},
        {"d6ff5a4a48f0", API_WRONG_TYPE},
        /* timestamps */ {"c70cff0000000000000000deadbeef", API_WRONG_TYPE},
        {"cf7fffffffffffffff", API_BAD_VALUE},
        {"d37fffffffffffffff", API_BAD_VALUE},
        {"d38000000000000001", API_BAD_VALUE},
        {"cfffffffffffffffff", API_BAD_VALUE},
        {"cf0020000000000001", API_BAD_VALUE},
        {"ca7f800000", API_NON_FINITE},
        {"caffc00000", API_NON_FINITE},
        {"cb7ff0000000000000", API_NON_FINITE},
        {"cbfff8000000000000", API_NON_FINITE},
        {"a3610062", API_BAD_VALUE},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char hex[80];
        assert_hex_refused(each[i].hex, each[i].code, "", -1);
        snprintf(hex, sizeof hex, "82a17190a1619201%s", each[i].hex);
        assert_hex_refused(hex, each[i].code, "/a/1", -1);
    }
}

/* --- hostile bodies --------------------------------------------------------------------------------------------- */

static void malformed(void **state)
{
    static const struct {
        const char *hex;
        api_code    code;
        long long   offset;
    } each[] = {
        {"", API_BAD_MSGPACK, 0},
        {"c1", API_BAD_MSGPACK, 0},
        {"9201c1", API_BAD_MSGPACK, 2},
        {"cc", API_BAD_MSGPACK, 0},
        {"cb00", API_BAD_MSGPACK, 0},
        {"a2", API_BAD_MSGPACK, 0},
        {"91", API_BAD_MSGPACK, 0},
        {"81", API_BAD_MSGPACK, 0},
        {"9191", API_BAD_MSGPACK, 1},
        {"81a161", API_BAD_MSGPACK, 3},
        {"0000", API_BAD_MSGPACK, 1},
        {"a1ff", API_BAD_MSGPACK, 0},
        {"a2c328", API_BAD_MSGPACK, 0},
        {"a3eda080", API_BAD_MSGPACK, 0},
        {"810100", API_BAD_MSGPACK, 1},
        {"81c000", API_BAD_MSGPACK, 1},
        {"819000", API_BAD_MSGPACK, 1},
        {"81c401ff00", API_BAD_MSGPACK, 1},
        {"d4", API_BAD_MSGPACK, 0},
        {"d405", API_BAD_MSGPACK, 0},
        {"c705", API_BAD_MSGPACK, 0},
        {"5b305d", API_BAD_MSGPACK, 0},
        {"82a16101a16102", API_DUPLICATE_KEY, 4},
        {"7b2271223a5b305d7d", API_BAD_MSGPACK, 0},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        assert_hex_refused(each[i].hex, each[i].code, NULL, each[i].offset);
    assert_non_null(strstr(nodes_problem()->detail, "looks like JSON"));
}

/* A length that is announced without the bytes must claim no memory; arrays are nested no deeper than the limit. */
static void memory_and_depth(void **state)
{
    enum { MOST = 8192, DEEP = 1 << 16 };
    static const char *const bodies[] = {"ddffffffff",   "dfffffffff", "dbffffffff", "c6ffffffff",
                                         "c9ffffffff74", "dd00000001", "91919191"};
    static unsigned char     deep[DEEP];
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_null(hex_read(bodies[i]));
        assert_in_range(nodes_taken(), 1, MOST);
    }
    memset(deep, 0x91, sizeof deep);
    assert_null(nodes_read(NODES_MSGPACK, deep, sizeof deep));
    assert_int_equal(nodes_problem()->code, API_TOO_DEEP);
    assert_int_equal(nodes_problem()->offset, door_limits.nesting);
}

/* A body cut short anywhere must be refused, and a body with a changed byte must be read or refused without harm. */
static void cuts_and_changes(void **state)
{
    static const char good[] =
        "86a1719293cb3ff0000000000001"
        "00"
        "ca3f000000"
        "93cb3ff0000000000000d0ffcb3fe0000000000000"
        "a1659201c3a174c71174"
        "08" ONE TWO "c40162c0a163da000161" /* the next line is an array of NumPy */
        "a16485c4026e64c3c40474797065a33c6638c4046b696e64c400c4057368617065920102c40464617461c410" ONE TWO;
    unsigned char bytes[256], other[256];
    size_t        n     = hex_bytes(good, bytes);
    const bool    whole = nodes_read(NODES_MSGPACK, bytes, n) != NULL;
    if (!whole) fail_msg("%s at %lld", nodes_problem()->detail, nodes_problem()->offset);
    for (size_t cut = 0; cut < n; cut++) {
        assert_null(nodes_read(NODES_MSGPACK, bytes, cut));
        assert_int_equal(nodes_problem()->code, API_BAD_MSGPACK);
    }
    for (size_t offset = 0; offset < n; offset++)
        for (unsigned byte = 0; byte < 256; byte++) {
            memcpy(other, bytes, n);
            other[offset]        = (unsigned char)byte;
            const api_node *node = nodes_read(NODES_MSGPACK, other, n);
            assert_true(!node == (nodes_problem()->code != API_NO_PROBLEM));
            if (node) nodes_text(node);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_the_test_suite),
        cmocka_unit_test(values_beyond_json),
        cmocka_unit_test(malformed),
        cmocka_unit_test(memory_and_depth),
        cmocka_unit_test(cuts_and_changes),
    };
    hex_use(NODES_MSGPACK);
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
