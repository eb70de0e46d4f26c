/* test_number.c - checks numbers as text against ECMAScript, RFC 8259 and the C library: layout, fewest digits, exact
 * reading, grammar. */
#include "api/codec/number.h"
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *written(double value)
{
    static char text[API_NUMBER_ROOM + 1];
    size_t      length = api_number_write(value, text);
    assert_in_range(length, 1, API_NUMBER_MAX);
    text[length] = '\0';
    return text;
}

/* Compares with ECMA-262, Number::toString, at each border between its forms. */
static void layout(void **state)
{
    static const struct {
        double      value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1, "-1"},
        {10, "10"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {123.456, "123.456"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {123456789012345680000.0, "123456789012345680000"},
        {1.5e21, "1.5e+21"},
        {999999999999999900000.0, "999999999999999900000"},
        {0.001, "0.001"},
        {0.000001, "0.000001"},
        {1e-7, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {1.234e-10, "1.234e-10"},
        {0.0000012345, "0.0000012345"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-1.7976931348623157e308, "-1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {9007199254740992, "9007199254740992"},
        {0.30000000000000004, "0.30000000000000004"},
        {1e100, "1e+100"},
        {4294967296, "4294967296"},
        {-0.0000012345678901234567, "-0.0000012345678901234567"},
        {3.14159, "3.14159"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(written(cases[i].value), cases[i].text);
}

/* Draws a number by SplitMix64. */
static uint64_t next(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z          = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z          = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void random_doubles_read_back(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 3000000; i++) {
        char   text[API_NUMBER_ROOM];
        double value = from_bits(next(&seed)), back = 0;
        if (!isfinite(value)) continue;
        size_t length = api_number_write(value, text);
        if (length > API_NUMBER_MAX || api_number_read(text, length, &back) != length || !same_bits(value, back))
            fail_msg("%.17g is written %.*s and read %.17g", value, (int)length, text, back);
    }
}

/* Compares with the C library: no text with fewer digits reads back, and the digits are the closest of that many. */
static void digits_are_the_fewest(void **state)
{
    uint64_t seed = 2;
    for (int i = 0; i < 60000; i++) {
        double value = i % 2 ? from_bits(next(&seed)) : (double)(int64_t)next(&seed) / (double)(1 << (i % 30));
        char   expected[40], digits[40], got[40];
        int    precision = 0;
        if (!isfinite(value) || value == 0) continue;
        do
            snprintf(expected, sizeof expected, "%.*e", precision, value);
        while (strtod(expected, NULL) != value && ++precision < 17);
        snprintf(digits, sizeof digits, "%.*e", precision, strtod(written(value), NULL));
        assert_string_equal(digits, expected);
        size_t n = 0;
        for (const char *p = written(value); *p && *p != 'e'; p++)
            if (*p >= '0' && *p <= '9' && (n > 0 || *p != '0')) got[n++] = *p;
        while (n > 1 && got[n - 1] == '0') /* the trailing zeros of an integer */
            n--;
        assert_true(n <= (size_t)precision + 1);
    }
}

/* Writes the value s * 10^(n - k), where s has k digits, in the layout of ECMA-262, Number::toString. */
static void lay_out(const char *s, int k, int n, char *text)
{
    if (k <= n && n <= 21)
        sprintf(text, "%.*s%.*s", k, s, n - k, "00000000000000000000");
    else if (0 < n && n <= 21)
        sprintf(text, "%.*s.%s", n, s, s + n);
    else if (-6 < n && n <= 0)
        sprintf(text, "0.%.*s%s", -n, "00000", s);
    else if (k == 1)
        sprintf(text, "%se%+d", s, n - 1);
    else
        sprintf(text, "%.1s.%se%+d", s, s + 1, n - 1);
}

/* Reads and writes numbers of sixteen digits whose last eight digits are close to 0 or to 10^8, where the split from
 * the first eight may go wrong. */
static void sixteen_digits(void **state)
{
    uint64_t seed = 10;
    for (int i = 0; i < 100000; i++) {
        uint64_t first = 10000000 + next(&seed) % 70000000,
                 last  = i % 2 ? 99999999 - next(&seed) % 3 : 1 + next(&seed) % 2;
        char   expected[32];
        double value;
        size_t length =
            (size_t)sprintf(expected, "%" PRIu64 ".%07" PRIu64 "%08" PRIu64, first / 10000000, first % 10000000, last);
        assert_int_equal(api_number_read(expected, length, &value), length);
        assert_string_equal(written(value), expected);
    }
}

/* Numbers of up to 15 digits must be written with the same digits: those are the shortest of the double. */
static void every_length_at_every_point(void **state)
{
    uint64_t seed = 3;
    for (int n = -330; n <= 308; n += n < -12 || n > 30 ? 7 : 1)
        for (int k = 1; k <= 15; k++)
            for (int i = 0; i < 20; i++) {
                char s[16] = {0}, decimal[40], expected[48];
                for (int j = 0; j < k; j++)
                    s[j] = (char)('0' + (j == 0 || j == k - 1 ? 1 + next(&seed) % 9 : next(&seed) % 10));
                sprintf(decimal, "%s0.%se%d", i % 2 ? "-" : "", s, n);
                double value = strtod(decimal, NULL);
                if (fabs(value) < 2.3e-308) continue; /* a subnormal double holds fewer digits */
                lay_out(s, k, n, expected);
                assert_string_equal(written(value) + i % 2, expected);
                assert_int_equal(written(value)[0] == '-', i % 2);
            }
}

/* Compares numbers in error messages with their expected texts. */
static void texts_of_messages(void **state)
{
    assert_string_equal(API_NUMBER_TEXT(0.1), "0.1");
    assert_string_equal(API_NUMBER_TEXT(-0.0), "-0");
    assert_string_equal(API_NUMBER_TEXT(-1.7976931348623157e308), "-1.7976931348623157e+308");
    assert_string_equal(API_NUMBER_TEXT(-INFINITY), "-inf");
    assert_string_equal(API_NUMBER_TEXT(NAN), "nan");
}

static void lists_are_written_as_one_by_one(void **state)
{
    static const double usual[] = {0, -0.0, 7, 0.5, -1e300, 0.1, 123456789, 5e-324, 0.00012, -3.25, 1e21, 1e20};
    enum { MOST = 20, ROOM = MOST * (API_NUMBER_MAX + 1) + API_NUMBER_ROOM };
    uint64_t seed = 6;
    for (int i = 0; i < 100000; i++) {
        char   text[ROOM + 1], expected[ROOM], *p = expected;
        double values[MOST];
        size_t n = next(&seed) % (MOST + 1);
        for (size_t k = 0; k < n; k++) {
            do
                values[k] = next(&seed) % 3 == 0   ? usual[next(&seed) % (sizeof usual / sizeof *usual)]
                            : next(&seed) % 2 == 0 ? from_bits(next(&seed))
                                                   : ldexp((double)(int64_t)next(&seed), -62);
            while (!isfinite(values[k]));
            p += sprintf(p, "%s%s", k > 0 ? "," : "", written(values[k]));
        }
        size_t room = (size_t)(p - expected) + API_NUMBER_ROOM;
        text[room]  = '!';
        assert_int_equal(api_numbers_write(values, n, text), p - expected);
        assert_memory_equal(text, expected, (size_t)(p - expected));
        assert_int_equal(text[room], '!');
    }
}

enum { MOST_IN_LIST = 100 };

static size_t read_text(const char *text, double *value)
{
    return api_number_read(text, strlen(text), value);
}

/* Compares with the grammar of RFC 8259, section 6. Reading must stop where the number ends. */
static void grammar(void **state)
{
    static const char *const none[] = {"",    "-",   "+1",  ".5",   "-.5",      "e5", "1.",  "1.e5", "1e", "1e+",
                                       "1E-", "nan", "inf", "-inf", "Infinity", " 1", "--1", "-e",   "0.", "0e"};
    static const struct {
        const char *text;
        size_t      length;
        double      value;
    } some[] = {{"0", 1, 0},     {"01", 1, 0},      {"-0", 2, -0.0},   {"1,", 1, 1},           {"1]", 1, 1},
                {"1E5", 3, 1e5}, {"1e+05", 5, 1e5}, {"0.50x", 4, 0.5}, {"-12.5e-1", 8, -1.25}, {"0x10", 1, 0},
                {"1 2", 1, 1},   {"10e0", 4, 10},   {"0e0", 3, 0},     {"-0.0e5", 6, -0.0}};
    double value;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(read_text(none[i], &value), 0);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        assert_int_equal(read_text(some[i].text, &value), some[i].length);
        assert_true(same_bits(value, some[i].value));
    }
}

static void ends_of_the_range(void **state)
{
    double value;
    assert_int_equal(read_text("1e999", &value), 5);
    assert_true(isinf(value) && value > 0);
    read_text("-1e309", &value);
    assert_true(isinf(value) && value < 0);
    read_text("1.7976931348623159e308", &value); /* a number halfway between the largest double and 2^1024 rounds up to
                                                    infinity */
    assert_true(isinf(value));
    read_text("1.7976931348623158e308", &value);
    assert_true(value == 1.7976931348623157e308);
    read_text("1e-999", &value);
    assert_true(same_bits(value, 0));
    read_text("-1e-999", &value);
    assert_true(same_bits(value, -0.0));
    read_text("2.4703282292062328e-324", &value); /* a little more than half of the smallest subnormal double */
    assert_true(value == 5e-324);
}

/* Numbers of any length must be rounded correctly: compared with strtod of the C library. */
static void long_numbers(void **state)
{
    uint64_t seed = 3;
    char     text[1200];
    double   value;
    for (int i = 0; i < 20000; i++) {
        size_t n = 0, digits = 1 + next(&seed) % (i % 100 == 0 ? 800 : 40), point = next(&seed) % digits;
        text[n++] = '1';
        for (size_t k = 0; k < digits; k++) {
            if (k == point) text[n++] = '.';
            text[n++] = (char)('0' + next(&seed) % 10);
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "e%d", (int)(next(&seed) % 600) - 300);
        assert_int_equal(api_number_read(text, n, &value), n);
        if (!same_bits(value, strtod(text, NULL))) fail_msg("%s is read %.17g", text, value);
    }
}

/* Any byte may follow a number of any length, and must not change the value. */
static void any_byte_ends_a_number(void **state)
{
    uint64_t seed = 4;
    char     text[64], alone[64];
    double   value;
    for (size_t places = 1; places <= 24; places++)
        for (int byte = 0; byte < 256; byte++) {
            if (strchr("0123456789eE", byte) && byte != 0) continue;
            size_t n = (size_t)sprintf(text, "%d.", (int)(next(&seed) % 20));
            for (size_t i = 0; i < places; i++)
                text[n++] = (char)('0' + next(&seed) % 10);
            memcpy(alone, text, n);
            alone[n] = '\0';
            text[n]  = (char)byte;
            for (size_t i = 1; i < 12; i++)
                text[n + i] = (char)next(&seed);
            assert_int_equal(api_number_read(text, n + 12, &value), n);
            if (!same_bits(value, strtod(alone, NULL))) fail_msg("%s is read %.17g", alone, value);
            assert_int_equal(api_number_read(text, n, &value), n); /* the text ends with the number */
            assert_true(same_bits(value, strtod(alone, NULL)));
        }
}

/* Asserts that reading a list gives the same bits as reading its numbers one by one. */
static void expect_list(const char *text, size_t length, size_t most)
{
    double all[MOST_IN_LIST], values[MOST_IN_LIST + 1], one;
    size_t offset = 0, behind = 0, count = 0, found, used;
    while (count < most && (used = api_number_read(text + offset, length - offset, &one)) > 0 && isfinite(one)) {
        all[count++] = one;
        behind       = offset += used;
        offset += strspn(text + offset, " \r\n\t");
        if (offset >= length || text[offset] != ',') break;
        offset += 1 + strspn(text + offset + 1, " \r\n\t");
        if (offset > length) offset = length;
    }
    values[most] = 42;
    assert_int_equal(api_numbers_read(text, length, values, most, &found), behind);
    assert_int_equal(found, count);
    if (count > 0 && memcmp(values, all, count * sizeof *all) != 0) fail_msg("%.*s", (int)length, text);
    assert_true(values[most] == 42);
}

/* Reads lists of numbers and other text that end anywhere, with any bound on the count. */
static void lists(void **state)
{
    static const char *const pieces[] = {
        "1",    "-0.5", "1e3", "123.456789012345", "0",    "1e999", "-1e-3", "01", "x", "", "5.", "7",
        "2.25", "-",    "1e5", "-1e400",           "null", "[1]"};
    static const char *const spaces[] = {"", "", "", " ", "\r\n\t ", "  "};
    uint64_t                 seed     = 5;
    for (int i = 0; i < 50000; i++) {
        char   text[600] = "";
        size_t n = 1 + next(&seed) % 12, sound = next(&seed) % 4 ? 5 : 18;
        for (size_t k = 0; k < n; k++)
            sprintf(text + strlen(text), "%s%s%s%s", k > 0 ? "," : "", k > 0 ? spaces[next(&seed) % 6] : "",
                    pieces[next(&seed) % sound], spaces[next(&seed) % 6]);
        size_t length = strlen(text);
        if (next(&seed) % 4 == 0) length -= next(&seed) % (length + 1);
        expect_list(text, length, next(&seed) % 14);
    }
}

/* Compares decimals with any number of digits on both sides of the point with the C library; with a byte or two
 * changed, with reading one by one. */
static void lists_of_decimals(void **state)
{
    static const char bytes[] = "0123456789.-+eE/, ]x\"\x80";
    uint64_t          seed    = 7;
    for (int i = 0; i < 60000; i++) {
        char   text[MOST_IN_LIST * 45], *p = text, *from;
        double values[MOST_IN_LIST];
        size_t n = 1 + next(&seed) % (i % 8 == 0 ? MOST_IN_LIST : 20), found;
        for (size_t k = 0; k < n; k++) {
            size_t whole = next(&seed) % 2 ? 1 : 1 + next(&seed) % 18, places = next(&seed) % 22;
            p += sprintf(p, "%s%s", k > 0 ? "," : "", next(&seed) % 2 ? "-" : "");
            from = p;
            for (size_t d = 0; d < whole; d++) /* a single zero, or no leading zero */
                *p++ = (char)('0' + (d == 0 && whole > 1 ? 1 + next(&seed) % 9 : next(&seed) % 10));
            if (places > 0) *p++ = '.';
            for (size_t d = 0; d < places; d++)
                *p++ = (char)('0' + (i % 3 == 0 ? 0 : next(&seed) % 10));
            *p        = '\0';
            values[k] = strtod(from > text && from[-1] == '-' ? from - 1 : from, NULL);
        }
        size_t length = (size_t)(p - text);
        double got[MOST_IN_LIST];
        assert_int_equal(api_numbers_read(text, length, got, n, &found), length);
        assert_int_equal(found, n);
        if (memcmp(got, values, n * sizeof *got) != 0) fail_msg("%s", text);
        for (size_t k = 0; k < 1 + next(&seed) % 2; k++)
            text[next(&seed) % length] = bytes[next(&seed) % (sizeof bytes - 1)];
        expect_list(text, length, n);
    }
}

/* Writes `count` numbers in rows of `width`, with few or many digits. Returns the length. */
static size_t make_rows(char *text, size_t count, size_t width, uint64_t *seed)
{
    static const char *const within[] = {",", ",", ",", ", "}, *const between[] = {"],[", "],[", "], [", "] ,\n["};
    size_t length = 0, kind = next(seed) % 4;
    for (size_t i = 0; i < count; i++) {
        char   number[API_NUMBER_ROOM];
        double value = ldexp((double)(int64_t)next(seed), -62);
        bool   rare  = next(seed) % 64 == 0;
        number[api_number_write(next(seed) % 4 == 0 ? round(100 * value) / 100 : value, number)] = '\0';
        if (i > 0) length += (size_t)sprintf(text + length, "%s", i % width == 0 ? between[kind] : within[kind]);
        length += (size_t)sprintf(text + length, "%s", rare ? "1e-3" : number);
    }
    return length;
}

/* Reads numbers of one digit among longer ones, in rows of any width or in one list. */
static void single_digits(void **state)
{
    static const char  bytes[]  = "0123456789.-e, ]";
    static const char *others[] = {"0.5", "-1", "10", "-0"};
    uint64_t           seed     = 11;
    for (int i = 0; i < 20000; i++) {
        char   text[MOST_IN_LIST * 10], *p = text;
        double values[MOST_IN_LIST], got[MOST_IN_LIST];
        size_t n = 1 + next(&seed) % MOST_IN_LIST, width = next(&seed) % 9, most = 1 + next(&seed) % n, count;
        for (size_t k = 0; k < n; k++) {
            if (k > 0) p += sprintf(p, width > 0 && k % width == 0 ? "],[" : ",");
            if (k > 0 && next(&seed) % 64 == 0) *p++ = ' ';
            bool digit = next(&seed) % (i % 2 ? 8 : 64) > 0;
            values[k]  = (double)(next(&seed) % 10);
            if (!digit) values[k] = strtod(others[next(&seed) % 4], NULL);
            p += api_number_write(values[k], p);
        }
        size_t   length = (size_t)(p - text);
        api_rows rows   = {.begin = text, .text = text, .end = p, .width = width};
        api_rows_read(&rows, got, most, &count);
        assert_int_equal(count, most);
        assert_memory_equal(got, values, most * sizeof *got);
        for (size_t k = 0; width == 0 && k < 2;
             k++, text[next(&seed) % length] = bytes[next(&seed) % (sizeof bytes - 1)])
            expect_list(text, length, n);
    }
}

/* The AVX2 code must read rows as the portable code does, also where random bytes are changed, and must not read beyond
   the text. */
static void rows_are_read_alike(void **state)
{
    enum { MOST = 400 };
    static const char bytes[] = "0123456789.-+eE/, ]x\"[\n";
    static char       text[MOST * 32];
    static double     wide[MOST], plain[MOST];
    uint64_t          seed = 8;
    for (int i = 0; i < 6000; i++) {
        size_t count = 1 + next(&seed) % MOST, width = 1 + next(&seed) % 12, most = 1 + next(&seed) % MOST;
        size_t length = make_rows(text, count, width, &seed), changes = next(&seed) % 4, n, used;
        for (size_t k = 0; k < changes; k++)
            text[next(&seed) % length] = bytes[next(&seed) % (sizeof bytes - 1)];
        char *exact = malloc(length);
        assert_non_null(exact);
        memcpy(exact, text, length);
        size_t   from = next(&seed) % 3 ? 0 : next(&seed) % length;
        api_rows rows = {.begin = exact, .text = exact + from, .end = exact + length, .width = width};
        api_numbers_choose("scalar");
        used = api_rows_read(&rows, plain, most, &count);
        api_numbers_choose("avx2");
        assert_int_equal(api_rows_read(&rows, wide, most, &n), used);
        assert_int_equal(n, count);
        assert_memory_equal(wide, plain, n * sizeof *wide);
        free(exact);
    }
}

static void rows_are_written_alike(void **state)
{
    enum { MOST = 40, ROOM = MOST * (API_NUMBER_MAX + 3) + API_NUMBER_ROOM };
    uint64_t seed = 9;
    for (int i = 0; i < 30000; i++) {
        double values[MOST];
        char   plain[ROOM], wide[ROOM];
        size_t n = 1 + next(&seed) % MOST, width = next(&seed) % 9, length;
        for (size_t k = 0; k < n; k++) {
            uint64_t bits = next(&seed);
            values[k]     = bits % 8 ? ldexp((double)(int64_t)bits, -(int)(next(&seed) % 90)) : from_bits(bits);
            if (!isfinite(values[k]) || bits % 16 == 3) values[k] = round(values[k] > 0 ? 17 : -0.0);
        }
        api_numbers_choose("scalar");
        length = api_rows_write(values, n, width, plain);
        api_numbers_choose("avx2");
        assert_int_equal(api_rows_write(values, n, width, wide), length);
        assert_memory_equal(wide, plain, length);
    }
}

static void check_rows_one_by_one(const double *values, size_t n, size_t width)
{
    char expected[1000], text[sizeof expected + API_NUMBER_ROOM], *p = expected;
    for (size_t k = 0; k < n; k++) {
        const char *gap = k == 0 ? "" : width > 0 && k % width == 0 ? "],[" : ",";
        p += sprintf(p, "%s%s", gap, written(values[k]));
    }
    assert_int_equal(api_rows_write(values, n, width, text), p - expected);
    assert_memory_equal(text, expected, (size_t)(p - expected));
}

/* The reader has special code for groups of zeros: puts another number at each position among zeros. */
static void zeros_beside_another_number(void **state)
{
    static const double others[] = {-0.0, 5e-324, 7};
    enum { MOST = 40 };
    for (size_t n = 1; n <= MOST; n++)
        for (size_t place = 0; place < n; place++)
            for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
                double values[MOST] = {0};
                values[place]       = others[i];
                check_rows_one_by_one(values, n, n % 9);
            }
}

static int choose_avx2(void **state)
{
    api_numbers_choose("avx2");
    return 0;
}

static int choose_portable(void **state)
{
    api_numbers_choose("scalar");
    return 0;
}

#define WITH_AVX2(test)                                                                                                \
    {                                                                                                                  \
#test " with AVX2", test, choose_avx2, NULL, NULL                                                              \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),
        cmocka_unit_test(random_doubles_read_back),
        cmocka_unit_test(digits_are_the_fewest),
        cmocka_unit_test(sixteen_digits),
        cmocka_unit_test(every_length_at_every_point),
        cmocka_unit_test(texts_of_messages),
        cmocka_unit_test(lists_are_written_as_one_by_one),
        cmocka_unit_test(grammar),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(long_numbers),
        cmocka_unit_test(any_byte_ends_a_number),
        cmocka_unit_test(lists),
        cmocka_unit_test(lists_of_decimals),
        cmocka_unit_test(single_digits),
        cmocka_unit_test(rows_are_read_alike),
        cmocka_unit_test(rows_are_written_alike),
        cmocka_unit_test(zeros_beside_another_number),
        WITH_AVX2(random_doubles_read_back),
        WITH_AVX2(sixteen_digits),
        WITH_AVX2(every_length_at_every_point),
        WITH_AVX2(lists_are_written_as_one_by_one),
        WITH_AVX2(zeros_beside_another_number),
        WITH_AVX2(lists),
        WITH_AVX2(lists_of_decimals),
        WITH_AVX2(single_digits),
    };
    return cmocka_run_group_tests(tests, choose_portable, NULL);
}
