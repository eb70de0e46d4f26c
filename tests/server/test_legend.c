/* test_legend.c - checks the layout of a plot's legend: columns, rows, and shortened names. */
#include "server/cli/client/legend.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static cli_legend legend_of(size_t curves, const char *name)
{
    cli_legend legend = {0};
    for (size_t i = 0; i < curves; i++)
        cli_legend_add(&legend, i, name);
    return legend;
}

static void test_columns(void **state)
{
    static const struct {
        size_t      curves;
        const char *name;
        size_t      columns, rows;
    } cases[] = {
        {1, "kinetic", 1, 1},           {11, "joint1", 1, 11}, {12, "joint1", 2, 6},
        {12, "panda_joint1", 2, 6},     {13, "joint1", 2, 7},  {20, "a_longer_name_1", 1, 20},
        {21, "a_longer_name_1", 2, 11}, {40, "j", 2, 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_legend legend = legend_of(cases[i].curves, cases[i].name);
        assert_int_equal(cli_legend_columns(&legend), cases[i].columns);
        assert_int_equal(cli_legend_rows(&legend), cases[i].rows);
    }
}

/* Short names must stay; of long ones the first and last characters must stay, no character is cut, and the names
 * fit. */
static void test_cut(void **state)
{
    static const struct {
        const char *name, *cut;
        size_t      curves;
    } cases[] = {
        {"joint1", "joint1", 1},
        {"1234567890123456789012345678", "1234567890123456789012345678", 3},
        {"12345678901234567890123456789",
         "12345678901234\xe2\x80\xa6"
         "7890123456789",
         3},
        {"1234567890123456789",
         "123456789\xe2\x80\xa6"
         "23456789",
         21},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 0123456789",
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xe2\x80\xa6"
         "23456789",
         21},
        {"\xe9\x96\xa2\xe7\xaf\x80\xe9\x96\xa2\xe7\xaf\x80\xe9\x96\xa2\xe7\xaf\x80\xe9\x96\xa2\xe7\xaf\x80\xe9\x96\xa2"
         "\xe7\xaf\x80",
         "\xe9\x96\xa2\xe7\xaf\x80\xe9\x96\xa2\xe7\xaf\x80\xe2\x80\xa6\xe9\x96\xa2\xe7\xaf\x80\xe9\x96\xa2\xe7\xaf\x80",
         21},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char       cut[CLI_LEGEND_NAME_SIZE];
        cli_legend legend = legend_of(cases[i].curves, cases[i].name);
        cli_legend_cut(&legend, cases[i].name, cut);
        assert_string_equal(cut, cases[i].cut);
        assert_true(cli_text_width(cut, strlen(cut)) <= cli_legend_width(&legend));
    }
}

static void test_widths(void **state)
{
    assert_true(cli_text_width("abc", 3) == 3);
    assert_true(cli_text_width("\xc3\xa9", 2) == 1);
    assert_true(cli_text_width("\xe9\x96\xa2", 3) == 2);
    assert_true(cli_text_width("W", 1) > cli_text_width("A", 1) && cli_text_width("A", 1) > cli_text_width("a", 1));
    cli_legend wide = legend_of(25, "WWWWWWWWWWWWWWWWWWWWWWWWW");
    char       cut[CLI_LEGEND_NAME_SIZE];
    cli_legend_cut(&wide, "WWWWWWWWWWWWWWWWWWWWWWWWW", cut);
    assert_true(cli_text_width(cut, strlen(cut)) <= cli_legend_width(&wide));
    assert_non_null(strstr(cut, "\xe2\x80\xa6"));
}

/* The width must be that of the widest name, wherever that is in the list. */
static void test_widest(void **state)
{
    for (size_t widest = 0; widest < 3; widest++) {
        cli_legend legend = {0};
        for (size_t i = 0; i < 3; i++)
            cli_legend_add(&legend, i, i == widest ? "abcdefghij" : "abc");
        assert_true(cli_legend_width(&legend) == 10);
        assert_int_equal(cli_legend_rows(&legend), 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_widths), cmocka_unit_test(test_widest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
