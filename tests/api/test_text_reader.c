/* test_text_reader.c - compares the fast one-pass JSON reader with jansson: it must leave unusual texts to jansson,
 * read usual ones, and give the same nodes, bit for bit. */
#include "tests/api/support/door.h"
#include "tests/api/support/nodes.h"
#include <stdio.h>
#include <string.h>

/* Returns true if the one-pass reader read the text; asserts that jansson then reads it too, into the same nodes. */
static bool agree(const char *text, size_t length)
{
    const api_node *plain = nodes_read(NODES_TEXT, text, length);
    if (!plain) {
        assert_int_equal(nodes_problem()->code, API_NO_PROBLEM);
        return false;
    }
    const char     *nodes = nodes_text(plain);
    const api_node *tree  = nodes_read(NODES_JSON, text, length);
    if (!tree) fail_msg("jansson refuses %.*s: %s", (int)length, text, nodes_problem()->detail);
    assert_string_equal(nodes, nodes_text(tree));
    return true;
}

/* Texts that the one-pass reader reads. */
static const char *const usual_texts[] = {
    "{}",
    "[]",
    "0",
    "-0",
    "\"a\"",
    "true",
    "false",
    "null",
    " [ ] ",
    "\t{\n}\r\n",
    "[[]]",
    "[[],[]]",
    "[{}]",
    "[[],1]",
    "{\"q\":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],\"qd\":[1,1,1,1,1,1]}",
    "{ \"q\" : [ [ 1 , 2 ] , [ 3 , 4 ] ] , \"friction\" : false , \"outputs\" : [ \"tau\" ] }",
    "[1,2,[3,4],5]",
    "[[1,2],[3]]",
    "[[1,2],[3,4],5]",
    "[[1,2],{\"a\":[3,[4]]},[5,6]]",
    "[\"a\",1,2,3]",
    "[1,2,3,\"a\"]",
    "[1,true,2]",
    "[[[1],[2]],[[3],[4]]]",
    "[[[1],[2]],[[3]]]",
    "[[[[1,2]]],[[[3,4]]]]",
    "[[[[[[1]]]]]]",
    "[[1,2],[3,4,\"x\"]]",
    "[[1,2],[3,\"x\"]]",
    "[[[1,2],[3,4]],[[5,6],[7,8],[9]]]",
    "[1e5,1E5,1e+5,1e-5,1.5e300,-1.5E-300,123456789012345678901234567890,0.1,1e-400,-1e-400,2.5e-324,5e-324]",
    "[0.1000000000000000055511151231257827021181583404541015625,9007199254740993,-9007199254740993,1e22,1e23]",
    ("[179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558632766878171540458"
     "95361e0]"),
    "[4.9406564584124654e-324,2.2250738585072011e-308,2.2250738585072014e-308,1.7976931348623157e308]",
    "{\"a\":1,\"b\":{\"c\":[{\"d\":null}]},\"\":0}",
    "{\"a\":\"text with {[,:]} 0.5 \x7e\"}",
};

static void usual_requests_are_taken(void **state)
{
    for (size_t i = 0; i < sizeof usual_texts / sizeof *usual_texts; i++)
        if (!agree(usual_texts[i], strlen(usual_texts[i]))) fail_msg("not taken: %s", usual_texts[i]);
}

/* Texts that are malformed, or that have escapes, letters beyond ASCII, or a key twice. */
static const char *const unusual_texts[] = {
    "",
    " ",
    "{",
    "[",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,}",
    "{a:1}",
    "{1:1}",
    "[1 2]",
    "[1}",
    "{\"a\":1]",
    "01",
    "[01]",
    "[-]",
    "[+1]",
    "[.5]",
    "[1.]",
    "[1.e5]",
    "[1e]",
    "[1e+]",
    "[-.5]",
    "[0x10]",
    "[NaN]",
    "[Infinity]",
    "[-Infinity]",
    "[nan]",
    "[inf]",
    "[1e999]",
    "[-1e999]",
    "[1.5.2]",
    "[1e5e5]",
    "[--1]",
    "[\"\\n\"]",
    "{\"\\u0061\":1}",
    "[\"\xc3\xa4\"]",
    "[\"\xff\"]",
    "[\"a\nb\"]",
    "[\"\x7f\"]",
    "[\"a]",
    "tru",
    "trueX",
    "nul",
    "[truefalse]",
    "[]]",
    "{}{}",
    "1 2",
    "{\"a\":1,\"a\":2}",
    "{\"a\":{\"b\":1,\"b\":1}}",
    "\xef\xbb\xbf",
    "\xef\xbb\xbf\xef\xbb\xbf[]",
    "[\xef\xbb\xbf]",
    "//\n1",
    "[1]/**/",
    "'a'",
    "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
    "{\"a\":1,\"b\":2,\"a\"}",
};

/* The one-pass reader must return these texts unread: only jansson reads or refuses them. */
static void unusual_texts_are_left_to_jansson(void **state)
{
    for (size_t i = 0; i < sizeof unusual_texts / sizeof *unusual_texts; i++)
        if (agree(unusual_texts[i], strlen(unusual_texts[i]))) fail_msg("taken: %s", unusual_texts[i]);
    assert_false(agree("[1]\0", 4));
    assert_false(agree("[\"a\0b\"]", 7));
}

static unsigned long long random_bits(void)
{
    static unsigned long long x = 88172645463325252u; /* xorshift */
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

static size_t pick(size_t n)
{
    return (size_t)(random_bits() >> 11) % n;
}

/* Reads seeds with bytes changed, inserted, removed, and replaced by pieces of other seeds. */
static void mutants(void **state)
{
    static const char *const seeds[] = {
        "{\"q\":[0.5,-1e-3,3.25E+2],\"qd\":[[1,2,3],[4,5,6]],\"x\":{\"y\":[true,null,\"z\"]}}",
        "[[1,2],[3,4],[[5],[6]],{},[],\"a\",-0.0,12345678901234567890]",
        "{\"a\":{\"b\":{\"c\":[[[1,2],[3,4]],[[5,6],[7,8]]]}},\"d\":[{\"e\":1},{\"e\":2}]}",
    };
    static const char alphabet[] = "[]{}\",:0123456789.eE+-truefalsn \n\\u\xc3\xa4\x01";
    size_t            taken      = 0;
    for (int i = 0; i < 60000; i++) {
        char   text[160];
        size_t n = (size_t)snprintf(text, sizeof text - 16, "%s", seeds[pick(3)]);
        for (size_t changes = 1 + pick(4); changes > 0 && n > 1; changes--) {
            size_t offset = pick(n);
            switch (pick(3)) {
            case 0: text[offset] = alphabet[pick(sizeof alphabet - 1)]; break;
            case 1: memmove(text + offset, text + offset + 1, --n - offset); break;
            default:
                memmove(text + offset + 1, text + offset, n++ - offset);
                text[offset] = alphabet[pick(sizeof alphabet - 1)];
            }
        }
        taken += agree(text, n);
    }
    assert_in_range(taken, 2000, 59000);
}

/* Reads doubles of any size and length of text, in arrays long enough for several blocks. */
static void random_numbers(void **state)
{
    enum { NUMBERS = 3000, MOST = 64 };
    static char text[NUMBERS * MOST];
    for (int run = 0; run < 20; run++) {
        size_t n = 0, columns = 1 + pick(9);
        n += (size_t)sprintf(text + n, "[[");
        for (size_t i = 0; i < NUMBERS; i++) {
            union {
                unsigned long long bits;
                double             number;
            } u = {.bits = random_bits()};
            if (!(u.number - u.number == 0)) u.number = 0;
            const char *between = i == 0 ? "" : i % columns == 0 ? "],[" : ",";
            n += (size_t)sprintf(text + n, "%s%.*g", between, (int)pick(30),
                                 pick(2) ? u.number : (double)pick(1000) / 8);
        }
        n += (size_t)sprintf(text + n, "]]");
        assert_true(agree(text, n));
    }
}

/* The memory that reading claims must be in proportion to the numbers that are in the text. */
static void memory(void **state)
{
    enum { NUMBERS = 100000 };
    static char text[2 * NUMBERS + 2];
    text[0] = '[';
    for (size_t i = 0; i < NUMBERS; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    memcpy(text + 2 * NUMBERS, "]", 1);
    assert_non_null(nodes_read(NODES_TEXT, text, 2 * NUMBERS + 1));
    assert_in_range(nodes_taken(), 8 * NUMBERS, 32 * NUMBERS);
    memset(text, '[', sizeof text);
    assert_null(nodes_read(NODES_TEXT, text, sizeof text));
    memset(text, ',', sizeof text);
    assert_null(nodes_read(NODES_TEXT, text, sizeof text));
    assert_in_range(nodes_taken(), 1, sizeof text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_requests_are_taken),
        cmocka_unit_test(unusual_texts_are_left_to_jansson),
        cmocka_unit_test(mutants),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
