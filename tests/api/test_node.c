/* test_node.c - checks the nodes of a request: packing of number arrays, views of items, members by key,
 * construction. */
#include "api/service/http/call.h"
#include "api/codec/nodes/node_build.h"
#include "tests/api/support/door.h"
#include "tests/api/support/nodes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const api_node *read_text(const char *text)
{
    const api_node *node = nodes_read(NODES_TEXT, text, strlen(text));
    if (!node) fail_msg("%s is not read", text);
    return node;
}

static void kinds(void **state)
{
    static const struct {
        const char *text, *words;
        api_kind    kind;
        size_t      size;
    } values[] = {
        {"null", "null", API_NULL, 0},         {"false", "false", API_FALSE, 0},
        {"true", "true", API_TRUE, 0},         {"1", "a number", API_NUMBER, 0},
        {"\"ab\"", "a string", API_STRING, 0}, {"[1,2]", "an array", API_ARRAY, 2},
        {"[\"a\"]", "an array", API_ARRAY, 1}, {"{\"a\":1}", "an object", API_OBJECT, 1},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const api_node *node = read_text(values[i].text);
        assert_true(api_node_is(node, values[i].kind));
        assert_string_equal(api_node_kind_text(node), values[i].words);
        assert_int_equal(api_node_size(node), values[i].size);
    }
    assert_string_equal(api_node_kind_text(NULL), "nothing");
    assert_int_equal(api_node_size(NULL), 0);
    assert_false(api_node_is(NULL, API_NULL));
    assert_null(api_node_get(NULL, "a"));
    assert_null(api_node_get(read_text("[1]"), "a"));
}

static void texts(void **state)
{
    size_t          length;
    const api_node *node = read_text("{\"q\":\"tool\",\"\":\"\"}");
    assert_string_equal(api_node_string(api_node_get(node, "q"), &length), "tool");
    assert_int_equal(length, 4);
    assert_string_equal(api_node_string(api_node_get(node, ""), &length), "");
    assert_int_equal(length, 0);
    assert_string_equal(api_node_key(node, 0), "q");
    assert_string_equal(api_node_key(node, 1), "");
}

/* Compares the text of the nodes, which shows a packed array as # and its rank. */
static void packing(void **state)
{
    static const char *const texts[][2] = {
        {"[]", "#1[]"},
        {"[1]", "#1[0x1p+0]"},
        {"[[],[]]", "#2[[],[]]"},
        {"[[1],[2]]", "#2[[0x1p+0],[0x1p+1]]"},
        {"[[[1]],[[2]]]", "#3[[[0x1p+0]],[[0x1p+1]]]"},
        {"[[[[1]]],[[[2]]]]", "#4[[[[0x1p+0]]],[[[0x1p+1]]]]"},
        {"[[[[[1]]]],[[[[2]]]]]", "[#4[[[[0x1p+0]]]],#4[[[[0x1p+1]]]]]"},
        {"[1,[2]]", "[0x1p+0,#1[0x1p+1]]"},
        {"[[1],2]", "[#1[0x1p+0],0x1p+1]"},
        {"[[1],[2,3]]", "[#1[0x1p+0],#1[0x1p+1,0x1.8p+1]]"},
        {"[[1],[]]", "[#1[0x1p+0],#1[]]"},
        {"[[1],[[2]]]", "[#1[0x1p+0],#2[[0x1p+1]]]"},
        {"[[[1]],[2]]", "[#2[[0x1p+0]],#1[0x1p+1]]"},
        {"[[1],{},[2]]", "[#1[0x1p+0],{},#1[0x1p+1]]"},
        {"[1,null,2]", "[0x1p+0,null,0x1p+1]"},
        {"[[1,2],[3,null]]", "[#1[0x1p+0,0x1p+1],[0x1.8p+1,null]]"},
        {"[[1,2],[3,[4]],[5,6]]", "[#1[0x1p+0,0x1p+1],[0x1.8p+1,#1[0x1p+2]],#1[0x1.4p+2,0x1.8p+2]]"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(nodes_text(read_text(texts[i][0])), texts[i][1]);
}

static void packed_numbers(void **state)
{
    double          numbers[12];
    api_node        table, row, number;
    size_t          extent[API_PACKED_RANK];
    const api_node *node = read_text("[[[1,2],[3,4],[5,6]],[[7,8],[9,10],[11,12]]]");
    assert_int_equal(api_node_packed(node, extent), 3);
    assert_int_equal(extent[0] * 100 + extent[1] * 10 + extent[2], 232);
    api_node_numbers(node, 0, 12, numbers);
    for (int i = 0; i < 12; i++)
        assert_true(numbers[i] == i + 1);
    assert_true(api_node_item(node, 1, &table) && api_node_item(&table, 2, &row) && api_node_item(&row, 1, &number));
    assert_int_equal(api_node_packed(&table, extent), 2);
    assert_int_equal(extent[0] * 10 + extent[1], 32);
    api_node_numbers(&table, 3, 2, numbers);
    assert_true(numbers[0] == 10 && numbers[1] == 11);
    assert_int_equal(api_node_packed(&number, extent), 0);
    assert_true(api_node_number(&number) == 12);
    assert_false(api_node_item(&row, 2, &number));
    assert_false(api_node_item(&number, 0, &number));
    assert_false(api_node_item(NULL, 0, &number));
}

/* Reads 32-bit floats of a body at an unaligned address: they are converted to doubles when a vector is read from the
   node. */
static void floats(void **state)
{
    static const unsigned char body[] = {0xD8, 0x28, 0x82, 0x82, 2,    1,    0xD8, 0x55, 0x48,
                                         0,    0,    0x80, 0x3F, 0xCD, 0xCC, 0xCC, 0x3D};
    double                     numbers[2];
    api_node                   row;
    const api_node            *node = nodes_read(NODES_CBOR, body, sizeof body);
    assert_non_null(node);
    api_node_numbers(node, 0, 2, numbers);
    assert_true(numbers[0] == 1 && numbers[1] == (double)0.1f);
    assert_true(api_node_item(node, 1, &row));
    api_node_numbers(&row, 0, 1, numbers);
    assert_true(numbers[0] == (double)0.1f);
}

/* Writes an object of n members k0, k1 ..., in an order other than that of their names. */
static char *large_object(size_t n, const char *more)
{
    char  *text = malloc(24 * n + 64), *p = text;
    size_t step = 7919;
    assert_non_null(text);
    p += sprintf(p, "{");
    for (size_t i = 0; i < n; i++)
        p += sprintf(p, "%s\"k%zu\":%zu", i > 0 ? "," : "", i * step % n, i);
    sprintf(p, "%s}", more);
    return text;
}

static void members_by_key(void **state)
{
    for (size_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
        char           *text = large_object(n, "");
        const api_node *node = read_text(text);
        char            key[32];
        assert_int_equal(api_node_size(node), n);
        for (size_t i = 0; i < n; i++) {
            sprintf(key, "k%zu", i * 7919 % n);
            assert_string_equal(api_node_key(node, i), key);
            assert_ptr_equal(api_node_get(node, key), api_node_value(node, i));
            assert_true(api_node_number(api_node_value(node, i)) == (double)i);
        }
        assert_null(api_node_get(node, "k"));
        assert_null(api_node_get(node, "j0"));
        assert_null(api_node_get(node, "k00"));
        free(text);
    }
}

static void repeated_keys(void **state)
{
    for (size_t n = 1; n < 2000; n = n * 2 + 1)
        for (size_t twice = 0; twice < n; twice = twice * 2 + 1) {
            char more[32];
            sprintf(more, ",\"k%zu\":0", twice);
            char *text = large_object(n, more);
            assert_null(nodes_read(NODES_TEXT, text, strlen(text)));
            assert_null(nodes_read(NODES_JSON, text, strlen(text)));
            assert_int_equal(nodes_problem()->code, API_DUPLICATE_KEY);
            free(text);
        }
}

/* While a text is read, numbers of open arrays must move to new blocks of memory, those of closed arrays must stay. */
static void growing(void **state)
{
    enum { ROWS = 2000, COLUMNS = 7 };
    static char text[64 * ROWS];
    size_t      extent[API_PACKED_RANK], n = 0;
    n += (size_t)sprintf(text, "{\"a\":[1,2,3],\"b\":[");
    for (size_t i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%s[%zu,1,2,3,4,5,6]", i > 0 ? "," : "", i % 10);
    sprintf(text + n, "],\"c\":[\"x\",[1,2],7],\"d\":[8]}");
    const api_node *node = read_text(text), *b = api_node_get(node, "b");
    assert_int_equal(api_node_packed(b, extent), 2);
    assert_true(extent[0] == ROWS && extent[1] == COLUMNS);
    for (size_t i = 0; i < ROWS; i++) {
        double row[COLUMNS];
        api_node_numbers(b, i * COLUMNS, COLUMNS, row);
        assert_true(row[0] == (double)(i % 10) && row[1] == 1 && row[6] == 6);
    }
    assert_string_equal(nodes_text(api_node_get(node, "a")), "#1[0x1p+0,0x1p+1,0x1.8p+1]");
    assert_string_equal(nodes_text(api_node_get(node, "c")), "[\"x\",#1[0x1p+0,0x1p+1],0x1.cp+2]");
    assert_string_equal(nodes_text(api_node_get(node, "d")), "#1[0x1p+3]");
}

/* A number that is not finite must be found at any place, in the part that vectors read and in the rest. */
static void infinite_numbers(void **state)
{
    enum { MOST = 40 };
    static const double strange[] = {INFINITY, -INFINITY, NAN, -NAN}, fine[] = {0, -0.0, 1e-320, -1.7e308, 1};
    double              doubles[MOST];
    float               floats[MOST];
    const api_node      node[] = {{.packing = API_DOUBLES, .numbers = (unsigned char *)doubles},
                                  {.packing = API_FLOATS, .numbers = (unsigned char *)floats}};
    for (size_t i = 0; i < MOST; i++) {
        doubles[i] = fine[i % 5];
        floats[i]  = i % 2 ? 3.4e38f : -1e-45f;
    }
    for (size_t count = 0; count <= MOST; count++) {
        for (int k = 0; k < 2; k++)
            assert_int_equal(api_node_find_non_finite(&node[k], count), count);
        for (size_t i = 0; i < count; i++)
            for (size_t s = 0; s < 4; s++) {
                double kept_double = doubles[i];
                float  kept_float  = floats[i];
                doubles[i]         = strange[s];
                floats[i]          = (float)strange[s];
                for (int k = 0; k < 2; k++)
                    assert_int_equal(api_node_find_non_finite(&node[k], count), i);
                doubles[i] = kept_double;
                floats[i]  = kept_float;
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),          cmocka_unit_test(texts),   cmocka_unit_test(packing),
        cmocka_unit_test(packed_numbers), cmocka_unit_test(floats),  cmocka_unit_test(members_by_key),
        cmocka_unit_test(repeated_keys),  cmocka_unit_test(growing), cmocka_unit_test(infinite_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
