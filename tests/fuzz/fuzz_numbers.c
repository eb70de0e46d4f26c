/* fuzz_numbers.c - reads arbitrary text as numbers and writes arbitrary doubles. A list must give the same numbers as
 * its entries one by one and as the C library, and a written number must read back. Bits of the first byte choose the
 * reader or the writer, the portable code or the AVX2 code, and the width of the rows. */
#include "api/codec/number.h"
#include "drive.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Returns a copy in an allocation of exactly its size, for the sanitizer. */
static void *copy(const void *from, size_t size)
{
    void *bytes = malloc(size > 0 ? size : 1);
    drive_expect(bytes, "memory");
    memcpy(bytes, from, size);
    return bytes;
}

static double read_by_library(const char *text, size_t length)
{
    char *terminated = malloc(length + 1);
    drive_expect(terminated, "memory");
    memcpy(terminated, text, length);
    terminated[length] = '\0';
    double value       = strtod(terminated, NULL);
    free(terminated);
    return value;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && memchr(" \t\r\n", *p, 4))
        p++;
    return p;
}

static void read_list(const char *text, size_t length)
{
    const char *end = text + length, *p = text, *last = text;
    size_t      most = length / 2 + 1, count, used, n = 0;
    double     *values = malloc(most * sizeof *values), one;
    drive_expect(values, "memory");
    used = api_numbers_read(text, length, values, most, &count);
    while ((length = api_number_read(p, (size_t)(end - p), &one)) > 0 && isfinite(one)) {
        drive_expect(n < count, "a list has no number beyond its count");
        drive_expect(is_same(one, values[n++]), "a list is read as its numbers");
        drive_expect(is_same(one, read_by_library(p, length)), "a number is read as by the C library");
        last = p + length;
        p    = skip_space(last, end);
        if (p == end || *p != ',') break;
        p = skip_space(p + 1, end);
    }
    drive_expect(n == count && used == (size_t)(last - text), "a list ends behind its last number");
    free(values);
}

/* Reads the same rows with the portable code and with the AVX2 code. */
static void read_rows(const char *text, size_t length, size_t width)
{
    api_rows rows   = {.begin = text, .text = text, .end = text + length, .width = width};
    size_t   most   = length / 2 + 1, n, count, used;
    double  *values = malloc(2 * most * sizeof *values);
    drive_expect(values, "memory");
    api_numbers_choose("scalar");
    used = api_rows_read(&rows, values, most, &n);
    api_numbers_choose("avx2");
    drive_expect(api_rows_read(&rows, values + most, most, &count) == used && count == n,
                 "both readers end at the same byte");
    drive_expect(memcmp(values, values + most, n * sizeof *values) == 0, "both readers read the same numbers");
    free(values);
}

static void write_list(const double *values, size_t count)
{
    size_t room = count * (API_NUMBER_MAX + 1) + API_NUMBER_ROOM, length, n;
    char  *text = malloc(room), *exact, one[API_NUMBER_ROOM];
    double back;
    drive_expect(text, "memory");
    length        = api_numbers_write(values, count, text);
    exact         = copy(text, length);
    const char *p = exact;
    for (size_t i = 0; i < count; i++) {
        n = api_number_write(values[i], one);
        drive_expect(n <= API_NUMBER_MAX, "the text of a number is within its limit");
        drive_expect((size_t)(exact + length - p) >= n && memcmp(p, one, n) == 0,
                     "a list is written as its numbers one by one");
        drive_expect(is_same(read_by_library(p, n), values[i]), "the C library reads the text back as the same double");
        drive_expect(api_number_read(p, n, &back) == n && is_same(back, values[i]),
                     "the text reads back as the same double");
        p += n + (i + 1 < count);
    }
    drive_expect(p == exact + length, "a list ends behind its last number");
    free(text);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    size_t length = size - 1, count = 0;
    void  *bytes = copy(data + 1, length);
    api_numbers_choose(data[0] & 2 ? "avx2" : "scalar");
    if (data[0] % 2) {
        double *values = bytes;
        for (size_t i = 0; i < length / sizeof *values; i++)
            if (isfinite(values[i])) values[count++] = values[i];
        write_list(values, count);
    } else if (data[0] & 4) {
        read_rows(bytes, length, data[0] >> 3);
    } else {
        read_list(bytes, length);
    }
    free(bytes);
    return 0;
}
