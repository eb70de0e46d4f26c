/* test_cbor_arrays.c - reads typed arrays (RFC 8746) and multi-dimensional arrays into nodes, and refuses invalid
 * ones. */
#include "door.h"
#include "hex.h"

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
    assert_hex_refused("d8288282010181f6", API_WRONG_TYPE, "/0/0", -1);
    assert_hex_refused("d828828401010101d85648" ONE, API_WRONG_SHAPE, "", -1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_arrays),
        cmocka_unit_test(typed_arrays_refused),
    };
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
