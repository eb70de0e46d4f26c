/* test_npy.c - checks the reader and the writer of .npy files: every type and order, the bytes that NumPy writes, and
 * truncated or hostile files. */
#include "server/cli/client/npy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Builds a file of version 1.0 from its dictionary and the bytes of its numbers. */
static cli_text npy_file(const char *dictionary, const void *numbers, size_t length)
{
    cli_text file     = {0};
    size_t   n        = strlen(dictionary);
    char     prefix[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(n & 255), (char)(n >> 8)};
    cli_text_add(&file, prefix, sizeof prefix);
    cli_text_add(&file, dictionary, n);
    cli_text_add(&file, numbers, length);
    assert_false(file.failed);
    return file;
}

/* Reads from an allocation of exactly that length, where a sanitizer notices a read beyond the end. */
static bool read_exactly(const char *bytes, size_t length, cli_npy *array)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    bool good = cli_npy_read(copy, length, "test", array);
    free(copy);
    return good;
}

static void assert_values(const char *dictionary, const void *numbers, size_t length, const double *expected,
                          size_t count)
{
    cli_npy  array;
    cli_text file = npy_file(dictionary, numbers, length);
    assert_true(read_exactly(file.bytes, file.length, &array));
    assert_int_equal(array.count, count);
    assert_memory_equal(array.values, expected, count * sizeof *expected);
    free(array.values);
    cli_text_free(&file);
}

static void test_every_type(void **state)
{
    static const double   six[] = {1, 2, 3, 4, 5, 6}, fortran[] = {1, 3, 5, 2, 4, 6}, third = 1.0 / 3;
    static const float    floats[] = {1, 2, 3, 4, 5, 6};
    static const int64_t  longs[] = {1, 2, 3, 4, 5, 6}, negative = -3;
    static const uint8_t  bytes[]           = {1, 2, 3, 4, 5, 6};
    static const int16_t  shorts[]          = {-2, 7};
    static const double   expected_shorts[] = {-2, 7}, expected_negative = -3;
    static const uint8_t  tops[]          = {200, 255};
    static const uint64_t top             = (1ull << 63) + (1ull << 40);
    static const double   expected_tops[] = {200, 255}, expected_top = 9223373136366403584.0;
    static const uint8_t big[] = {0x3f, 0xd5, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}, big_int[] = {0xff, 0xff, 0xff, 0xfd};
    assert_values("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", six, sizeof six, six, 6);
    assert_values("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", six, sizeof six, fortran, 6);
    assert_values("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", floats, sizeof floats, six, 6);
    assert_values("{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }\n", longs, sizeof longs, six, 6);
    assert_values("{'descr': '|u1', 'fortran_order': False, 'shape': (6, 1), }\n", bytes, sizeof bytes, six, 6);
    assert_values("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", tops, sizeof tops, expected_tops, 2);
    assert_values("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }\n", &top, 8, &expected_top, 1);
    assert_values("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", shorts, sizeof shorts, expected_shorts,
                  2);
    assert_values("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", &negative, 8, &expected_negative, 1);
    assert_values("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }\n", big, 8, &third, 1);
    assert_values("{'descr': '>i4', 'fortran_order': True, 'shape': (1L,), }\n", big_int, 4, &expected_negative, 1);
    assert_values("{'shape': (0, 7), 'fortran_order': False, 'descr': '<f8'}", NULL, 0, six, 0);
}

static void assert_refused(const char *dictionary, size_t length)
{
    static const double numbers[8] = {0};
    cli_npy             array;
    cli_text            file = npy_file(dictionary, numbers, length);
    if (read_exactly(file.bytes, file.length, &array)) fail_msg("%s is not refused", dictionary);
    cli_text_free(&file);
}

/* Integers that a double would round are refused, as in requests. */
static void test_integers_that_are_no_doubles(void **state)
{
    static const uint64_t exact[]    = {1ull << 53, 0 - (1ull << 53), 1ull << 63};
    static const double   expected[] = {9007199254740992.0, -9007199254740992.0, -9223372036854775808.0};
    static const struct {
        const char *type;
        uint64_t    number;
    } rounded[] = {{"<i8", (1ull << 53) + 1}, {"<i8", 0 - (1ull << 53) - 1},
                   {"<u8", (1ull << 53) + 1}, {"<u8", 0 - (1ull << 10)}, /* 54 bits are set */
                   {"<u8", UINT64_MAX},       {"<i8", UINT64_MAX >> 1}};
    assert_values("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n", exact, sizeof exact, expected, 3);
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
        char     dictionary[80];
        cli_npy  array;
        uint64_t numbers[2] = {7, rounded[i].number};
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n",
                 rounded[i].type);
        cli_text file = npy_file(dictionary, numbers, sizeof numbers);
        if (read_exactly(file.bytes, file.length, &array)) fail_msg("case %zu is rounded", i);
        cli_text_free(&file);
    }
}

static void test_hostile_headers(void **state)
{
    static const char *const dictionaries[] = {
        "",
        "{}",
        "'descr'",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'shape': (8,)}",
        "{'fortran_order': False, 'shape': (8,)}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (8,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (8",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (8,",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-8,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (8.0,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 8, }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (8 8), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }", /* one number more than the shape needs */
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }", /* one number fewer */
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953,), }", /* multiplied by 8 bytes, this
                                                                                          count overflows to 8 */
        "{'descr': '<f8', 'fortran_order': True, 'shape': (999999999999999999,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999999999,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,8), }", /* ten axes */
        "{'descr': '<f2', 'fortran_order': False, 'shape': (8,), }",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (8,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }",
        "{'descr': '<U8', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '|f8', 'fortran_order': False, 'shape': (8,), }",
        "{'descr': '<f88', 'fortran_order': False, 'shape': (8,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (8,), }",
        "{'descr': '",
    };
    for (size_t i = 0; i < sizeof dictionaries / sizeof dictionaries[0]; i++)
        assert_refused(dictionaries[i], 64);
    assert_refused("{'descr': '<f8', 'fortran_order': False, 'shape': (8,), }", 63); /* the last byte is missing */
}

/* Every truncated file must be refused, and none may be read beyond its end. */
static void test_cut_off(void **state)
{
    static const double numbers[] = {1, 2};
    static const size_t extent[]  = {2};
    cli_text            file      = {0};
    cli_npy             array;
    cli_npy_write(&file, 1, extent, numbers);
    for (size_t length = 0; length < file.length; length++)
        assert_false(read_exactly(file.bytes, length, &array));
    assert_true(read_exactly(file.bytes, file.length, &array));
    free(array.values);
    file.bytes[6] = 4; /* makes the version wrong */
    assert_false(read_exactly(file.bytes, file.length, &array));
    file.bytes[6] = 1;
    file.bytes[1] = 'M'; /* makes the magic number wrong */
    assert_false(read_exactly(file.bytes, file.length, &array));
    cli_text_free(&file);
}

/* The header of version 2 must be read: its length has four bytes. */
static void test_version_2(void **state)
{
    static const char dictionary[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n";
    const double      value        = -0.0;
    cli_text          file         = {0};
    cli_npy           array;
    char              prefix[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 2, 0, (char)strlen(dictionary), 0, 0, 0};
    cli_text_add(&file, prefix, sizeof prefix);
    cli_text_add(&file, dictionary, strlen(dictionary));
    cli_text_add(&file, &value, sizeof value);
    assert_true(read_exactly(file.bytes, file.length, &array));
    assert_int_equal(array.rank, 0);
    assert_memory_equal(array.values, &value, sizeof value);
    free(array.values);
    file.bytes[11] = 1; /* announces a header of 16 MB */
    assert_false(read_exactly(file.bytes, file.length, &array));
    cli_text_free(&file);
}

static void test_written_as_numpy_does(void **state)
{
    static const size_t extent[] = {3, 2};
    static const double numbers[6];
    cli_text            file = {0};
    cli_npy_write(&file, 2, extent, numbers);
    assert_int_equal(file.length, 128 + 48); /* the numbers begin at a multiple of 64 bytes */
    assert_memory_equal(file.bytes, "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }",
                        68);
    assert_int_equal(file.bytes[127], '\n');
    cli_text_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),      cmocka_unit_test(test_integers_that_are_no_doubles),
        cmocka_unit_test(test_hostile_headers), cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_version_2),       cmocka_unit_test(test_written_as_numpy_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
