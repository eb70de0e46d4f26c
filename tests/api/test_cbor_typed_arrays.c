/* test_cbor_typed_arrays.c - reads typed arrays (RFC 8746) and multi-dimensional arrays into nodes, and refuses invalid
 * ones. */
#include "tests/api/support/door.h"
#include "tests/api/support/nodes.h"
#include <string.h>

static void typed_arrays(void **state)
{
    assert_hex_is("d85640", "[]");
    assert_hex_is("d85540", "[]");
    assert_hex_is("d85650" ONE TWO, "[1,2]");
    assert_hex_is("d855480000803f00000040", "[1,2]");
    assert_hex_is("d8554401000000", "[1.401298464324817e-45]");
    assert_hex_is("d856480000000000000080", "[-0.0]");
    assert_hex_is("a16171d85650" ONE TWO, "{\"q\":[1,2]}");
    assert_hex_is("82d85650" ONE TWO "d85650" TWO ONE, "[[1,2],[2,1]]");
    assert_hex_is("82d85650" ONE TWO "d855480000803f00000040", "[[1,2],[1,2]]");
    assert_hex_is("82d85650" ONE TWO "820102", "[[1,2],[1,2]]");
    assert_hex_is("82820102d85650" ONE TWO, "[[1,2],[1,2]]");
    assert_hex_is("82d85650" ONE TWO "d85648" ONE, "[[1,2],[1]]");
    assert_hex_is("82d85648" ONE "02", "[[1],2]");
    assert_hex_is("8202d85648" ONE, "[2,[1]]");
    assert_hex_is("d828828102d85650" ONE TWO, "[1,2]");
    assert_hex_is("d82882820102d85650" ONE TWO, "[[1,2]]");
    assert_hex_is("d82882820201d85650" ONE TWO, "[[1],[2]]");
    assert_hex_is("d8288283020101d85650" ONE TWO, "[[[1]],[[2]]]");
    assert_hex_is("d8289f9f0201ffd85650" ONE TWO "ff", "[[1],[2]]");
    assert_hex_is("d82882820201820102", "[[1],[2]]");
    assert_hex_is("d828828202019f0102ff", "[[1],[2]]");
    assert_hex_is("d8288282020284010203f93c00", "[[1,2],[3,1]]");
    assert_hex_is("d82882820202d82984010203f93c00", "[[1,2],[3,1]]"); /* tag 41, a homogeneous array */
    assert_hex_is("d9041082d829820203d829860102030405f93c00", "[[1,3,5],[2,4,1]]");
    assert_hex_is("d82882820007d85640", "[]");
    assert_hex_is("d8288282000780", "[]");
    assert_hex_is("82d82882820201820102d82882820201820304", "[[[1],[2]],[[3],[4]]]");
    assert_hex_is("d9d9f7d9d9f781d9d9f701", "[1]");
    assert_hex_is("d8565f48" ONE "ff", "[1]"); /* an indefinite-length string of parts of any length */
    assert_hex_is("d8565f4300000047000000f03f000046000000000040ff", "[1,2]");
    assert_hex_is("d8565fff", "[]");
    assert_hex_is("d82882820201d8565f4048" ONE "48" TWO "ff", "[[1],[2]]");
}

#define INFINITE "000000000000f0ff"

static void typed_arrays_refused(void **state)
{
    assert_hex_refused("d8564700000000000000", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d8564c" ONE "00000000", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d85543000000", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d8568100", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d8565f47"
                       "00000000000000"
                       "ff",
                       API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d8565f48" ONE "6131ff", API_BAD_CBOR, NULL, 12);
    assert_hex_refused("d8565f5f48" ONE "ffff", API_BAD_CBOR, NULL, 3);
    assert_hex_refused("d8565f48" ONE, API_BAD_CBOR, NULL, 12);
    assert_hex_refused("a16171d8565f48" ONE "48" INFINITE "ff", API_NON_FINITE, "/q/1", -1);
    assert_hex_refused("d856d85648" ONE, API_WRONG_TYPE, "", -1);
    assert_hex_refused("a16171d85650" ONE INFINITE, API_NON_FINITE, "/q/1", -1);
    assert_hex_refused("a16171d855440000c07f", API_NON_FINITE, "/q/0", -1);
    assert_hex_refused("a16171d82882820202d8565820" ONE ONE INFINITE ONE, API_NON_FINITE, "/q/1/0", -1);
    assert_hex_refused("a1617182d85648" ONE "d85648" INFINITE, API_NON_FINITE, "/q/1/0", -1);
    assert_hex_refused("d82882820301d85650" ONE TWO, API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882820101d85650" ONE TWO, API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882820202820102", API_WRONG_SHAPE, "/1", -1);
    assert_hex_refused("d8288282010183010203", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882820101d82901", API_WRONG_TYPE, "", -1); /* tag 41 around a number, and around a tag */
    assert_hex_refused("d82882820102d829d85650" ONE TWO, API_WRONG_TYPE, "", -1);
    assert_hex_refused("d8288282010181f6", API_WRONG_TYPE, "/0/0", -1);
    assert_hex_refused("d82882850101010101d85648" ONE, API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882820200d85640", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d8288280d85640", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882811bffffffffffffffffd85640", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882831affffffff1affffffff1affffffffd85640", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d8288281f93c00d85648" ONE, API_WRONG_TYPE, "", -1);
    assert_hex_refused("d828818101", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d828838101d85648" ONE "00", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d8289f8101d85648" ONE "00ff", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d82800", API_WRONG_TYPE, "", -1);
}

/* Elements of every type that RFC 8746 defines, but floats of 128 bits, are read as the doubles of the same value. */
static void types_of_elements(void **state)
{
    static const char *const each[][2] = {
        {"d84043007fff", "[0,127,255]"},
        {"d844430180ff", "[1,128,255]"},
        {"d841440102ffff", "[258,65535]"},
        {"d845440201ffff", "[258,65535]"},
        {"d8424801020304ffffffff", "[16909060,4294967295]"},
        {"d8464804030201ffffffff", "[16909060,4294967295]"},
        {"d8435818010203040506070000200000000000008000000000000000",
         "[72623859790382848,9007199254740992,9223372036854775808]"},
        {"d8475818030000000000000000000000000020000008000000000080", "[3,9007199254740992,9223372036854777856]"},
        {"d8484380ff7f", "[-128,-1,127]"},
        {"d8494480000102", "[-32768,258]"},
        {"d84d4400800201", "[-32768,258]"},
        {"d84a488000000001020304", "[-2147483648,16909060]"},
        {"d84e4800000080feffffff", "[-2147483648,-2]"},
        {"d84b508000000000000000fffffffffffffffd", "[-9223372036854775808,-3]"},
        {"d84f581800000000000000800000000000000040000000000000e0ff",
         "[-9223372036854775808,4611686018427387904,-9007199254740992]"},
        {"d850463e00fbff0001", "[1.5,-65504,5.9604644775390625e-8]"},
        {"d85446003e00800004", "[1.5,-0.0,0.00006103515625]"},
        {"d851483f000000bfa00000", "[0.5,-1.25]"},
        {"d852503ff199999999999ac004000000000000", "[1.1,-2.5]"},
        {"d855440000803e", "[0.25]"},
        {"d856489a9999999999f13f", "[1.1]"},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        assert_hex_is(each[i][0], each[i][1]);
    assert_hex_is("a16171d82882820202d8404401020304", "{\"q\":[[1,2],[3,4]]}");
    assert_hex_is("82d840420102d85650" ONE TWO, "[[1,2],[1,2]]");
}

/* Elements are converted in pieces of 65536. */
static void many_elements(void **state)
{
    enum { COUNT = 65536 + 3, HEAD = 7 };
    static unsigned char body[HEAD + 2 * COUNT] = {0xd8, 0x41, 0x5a, 0, 2, 0, 6}; /* 2 COUNT bytes, of 16 bits each */
    static double        numbers[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        body[HEAD + 2 * i]     = (unsigned char)(i / 3 >> 8);
        body[HEAD + 2 * i + 1] = (unsigned char)(i / 3);
    }
    const api_node *node = nodes_read(NODES_CBOR, body, sizeof body);
    assert_non_null(node);
    assert_int_equal(api_node_size(node), COUNT);
    api_node_numbers(node, 0, COUNT, numbers);
    for (unsigned i = 0; i < COUNT; i++)
        if (numbers[i] != i / 3) fail_msg("number %u is %g", i, numbers[i]);
}

static void types_of_elements_refused(void **state)
{
    assert_hex_refused("a16171d84c4101", API_WRONG_TYPE, "/q", -1); /* reserved */
    assert_hex_refused("d85350" ONE ONE, API_WRONG_TYPE, "", -1);   /* 128 bits */
    assert_hex_refused("d85750" ONE ONE, API_WRONG_TYPE, "", -1);
    assert_hex_refused("d83f4101", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d85841ff", API_WRONG_TYPE, "", -1);
    assert_hex_refused("a16171d8435000000000000000010020000000000001", API_BAD_VALUE, "/q", -1); /* 2^53 + 1 */
    assert_hex_refused("d84748ffffffffffffffff", API_BAD_VALUE, "", -1);
    assert_hex_refused("d84b48ffdfffffffffffff", API_BAD_VALUE, "", -1); /* -2^53 - 1 */
    assert_hex_refused("d84f48ffffffffffffff7f", API_BAD_VALUE, "", -1);
    assert_hex_refused("a16171d850443c007c00", API_NON_FINITE, "/q/1", -1);
    assert_hex_refused("a16171d854443c0000fe", API_NON_FINITE, "/q/1", -1);
    assert_hex_refused("a16171d851487f8000003f800000", API_NON_FINITE, "/q/0", -1);
    assert_hex_refused("d84143010203", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d84d4101", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d82882820202d84043010203", API_WRONG_SHAPE, "", -1);
}

/* The examples of RFC 8746: figures 1 and 2 (row-major), 3 (column-major) and 4 (a homogeneous array), and an array of
 * arrays. */
static void examples_of_rfc_8746(void **state)
{
    static const char *const each[][2] = {
        {"d8288282020386020408041019"
         "0100",
         "[[2,4,8],[4,16,256]]"},
        {"d82882820203d8414c000200040008000400100100", "[[2,4,8],[4,16,256]]"},
        {"d9041082820203860204041008190100", "[[2,4,8],[4,16,256]]"},
        {"d82982f5f4", "[true,false]"},
        {"d82983820102820304820506", "[[1,2],[3,4],[5,6]]"},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        assert_hex_is(each[i][0], each[i][1]);
    assert_hex_refused("a16171d82907", API_WRONG_TYPE, "/q", -1);
    assert_hex_refused("a16171d829d85648" ONE, API_WRONG_TYPE, "/q", -1);
    assert_hex_refused("a16171d84c4101", API_WRONG_TYPE, "/q", -1);
}

/* In column-major order the first index runs fastest (RFC 8746, section 3.1.2). */
static void column_major_arrays(void **state)
{
    assert_hex_is("d9041082820203d84046010203040506", "[[1,3,5],[2,4,6]]");
    assert_hex_is("d904108282020386010203040506", "[[1,3,5],[2,4,6]]");
    assert_hex_is("d90410828202039f010203040506ff", "[[1,3,5],[2,4,6]]");
    assert_hex_is("d904108283020302d8404c0102030405060708090a0b0c", "[[[1,7],[3,9],[5,11]],[[2,8],[4,10],[6,12]]]");
    assert_hex_is("d90410828102d85650" ONE TWO, "[1,2]");
    assert_hex_is("d9041082820102d85650" ONE TWO, "[[1,2]]");
    assert_hex_is("d904108282000780", "[]");
    assert_hex_refused("d9041082820202d8565820" ONE ONE INFINITE ONE, API_NON_FINITE, "/0/1", -1);
    assert_hex_refused("d904108282020283010203", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d9041082820202850102030405", API_WRONG_SHAPE, "", -1);
    assert_hex_refused("d904108282020284010203f6", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d904108282020284010203f97c00", API_NON_FINITE, "/1/1", -1);
    assert_hex_refused("d9041082820202840102f97c0003", API_NON_FINITE, "/0/1", -1);
    assert_hex_refused("d90410820102", API_WRONG_TYPE, "", -1);
}

/* Tag 256 lists the strings of the body that are longer than a reference, tag 25 references one of them. */
static void referenced_strings(void **state)
{
    assert_hex_is("d9010082"
                  "63616263"
                  "d81900",
                  "[\"abc\",\"abc\"]");
    assert_hex_is("d9010083"
                  "6161"
                  "63616263"
                  "d81900",
                  "[\"a\",\"abc\",\"abc\"]"); /* "a" is too short */
    assert_hex_is("d9010082"
                  "a16361626301"
                  "a1d8190002",
                  "[{\"abc\":1},{\"abc\":2}]");
    assert_hex_is("d9010082"
                  "d85648" ONE "d856d81900",
                  "[[1],[1]]"); /* bytes of a typed array */
    assert_hex_is("d9d9f7d90100836378797a"
                  "7f63616263ff"
                  "d81900",
                  "[\"xyz\",\"abc\",\"xyz\"]");
    assert_hex_refused("d9010082"
                       "63616263"
                       "d81901",
                       API_BAD_VALUE, "/1", -1);
    assert_hex_refused("d9010081d81900", API_BAD_VALUE, "/0", -1);
    assert_hex_refused("8263616263d81900", API_WRONG_TYPE, "/1", -1);
    assert_hex_refused("81d9010080", API_WRONG_TYPE, "/0", -1);
    assert_hex_refused("d90100d9010080", API_WRONG_TYPE, "", -1);
    assert_hex_refused("d901008263616263d81920", API_WRONG_TYPE, "/1", -1);
}

/* Keys may be byte strings of text, and maps may be marked as maps. */
static void keys_and_maps(void **state)
{
    assert_hex_is("a1417101", "{\"q\":1}");
    assert_hex_is("a15f41714164ff01", "{\"qd\":1}");
    assert_hex_is("d90103a1617101", "{\"q\":1}");
    assert_hex_is("81d90103a0", "[{}]");
    assert_hex_refused("a141ff01", API_BAD_CBOR, NULL, 1);
    assert_hex_refused("a2617101417102", API_DUPLICATE_KEY, NULL, 4);
    assert_hex_refused("d9010380", API_WRONG_TYPE, "", -1);
    assert_hex_refused("a161714171", API_WRONG_TYPE, "/q", -1);
}

/* Records of cbor-x, as its Encoder writes them by default, are refused with the option that turns them off. */
static void records_of_cbor_x(void **state)
{
    assert_hex_refused("d9dfff8319e000816171820102", API_WRONG_TYPE, "", -1);
    assert_non_null(strstr(nodes_problem()->detail, "useRecords: false"));
    assert_hex_refused("81d9e00081820102", API_WRONG_TYPE, "/0", -1);
    assert_non_null(strstr(nodes_problem()->detail, "useRecords: false"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_arrays),        cmocka_unit_test(typed_arrays_refused),
        cmocka_unit_test(types_of_elements),   cmocka_unit_test(types_of_elements_refused),
        cmocka_unit_test(many_elements),       cmocka_unit_test(examples_of_rfc_8746),
        cmocka_unit_test(column_major_arrays), cmocka_unit_test(referenced_strings),
        cmocka_unit_test(keys_and_maps),       cmocka_unit_test(records_of_cbor_x),
    };
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
