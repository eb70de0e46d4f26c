/* npy.c - see npy.h. */
#include "npy.h"
#include "server/cli/options.h"
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
enum { MAGIC_LENGTH = 6, PREFIX = 10, ALIGNMENT = 64, HEADER_MAX = 65536 };

typedef struct header {
    char   kind;  /* 'f', 'i' or 'u' */
    size_t width; /* bytes of one number */
    bool   swapped, fortran;
} header;

/* --- the header: a dictionary as Python prints it ----------------------------------------------------------------- */

/* Returns the text after 'key': in the dictionary, without white space; NULL if the key is absent. */
static const char *find_value(const char *text, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(text, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    if (*at != ':') return NULL;
    return at + 1 + strspn(at + 1, " ");
}

/* Reads "'<f8'": byte order, kind and width. */
static bool read_type(const char *text, header *h)
{
    if (!text || (*text != '\'' && *text != '"')) return false;
    char order = text[1];
    h->kind    = order ? text[2] : '\0';
    if (!h->kind || !isdigit((unsigned char)text[3]) || text[4] != text[0]) return false;
    h->width   = (size_t)(text[3] - '0');
    h->swapped = order == '>';
    if (!strchr("<>=|", order) || (order == '|' && h->width != 1)) return false;
    return h->kind == 'f' ? h->width == 4 || h->width == 8
                          : strchr("iu", h->kind) && (h->width == 1 || h->width == 2 || h->width == 4 || h->width == 8);
}

/* Reads "(3, 4)", "(3,)" or "()". */
static bool read_shape(const char *text, cli_npy *array)
{
    array->rank  = 0;
    array->count = 1;
    if (!text || *text++ != '(') return false;
    for (;;) {
        text += strspn(text, " ");
        if (*text == ')') return true;
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 18 || array->rank == CLI_NPY_RANK_MOST) return false;
        size_t extent = (size_t)strtoull(text, NULL, 10);
        if (__builtin_mul_overflow(array->count, extent, &array->count)) return false;
        array->extent[array->rank++] = extent;
        text += digits;
        text += strspn(text, " L"); /* Python 2 wrote 3L */
        if (*text == ',')
            text++;
        else if (*text != ')')
            return false;
    }
}

/* Reads magic, version and dictionary. Sets *start to the first byte of the numbers. */
static bool read_header(const char *bytes, size_t length, const char *name, header *h, cli_npy *array, size_t *start)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length < PREFIX + 2 || memcmp(bytes, MAGIC, MAGIC_LENGTH) != 0)
        return cli_error("%s is no .npy file: it does not begin with \\x93NUMPY", name);
    if (b[6] < 1 || b[6] > 3) return cli_error("%s has version %d of .npy; expected 1 to 3", name, b[6]);
    bool   wide = b[6] > 1;
    size_t size = (size_t)b[8] | (size_t)b[9] << 8;
    if (wide) size |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    *start = PREFIX + (wide ? 2 : 0);
    if (size > HEADER_MAX || size > length - *start) return cli_error("%s ends within its header", name);
    char *text = malloc(size + 1);
    if (!text) return cli_error("out of memory");
    memcpy(text, bytes + *start, size);
    text[size] = '\0';
    *start += size;
    const char *order = find_value(text, "fortran_order");
    bool        good  = true;
    h->fortran        = order && strncmp(order, "True", 4) == 0;
    if (!read_type(find_value(text, "descr"), h))
        good = cli_error("%s: the numbers must be doubles, floats or integers ('<f8', '>f4', '<i4' ...): %.120s", name,
                         text);
    else if (!order || !(h->fortran || strncmp(order, "False", 5) == 0) ||
             !read_shape(find_value(text, "shape"), array))
        good = cli_error("%s has no valid shape or order, or more than %d axes: %.120s", name, CLI_NPY_RANK_MOST, text);
    free(text);
    return good;
}

/* --- the numbers ------------------------------------------------------------------------------------------------- */

static uint64_t npy_bits(const unsigned char *bytes, const header *h)
{
    unsigned char le[8] = {0};
    uint64_t      bits;
    for (size_t i = 0; i < h->width; i++)
        le[i] = bytes[h->swapped ? h->width - 1 - i : i];
    memcpy(&bits, le, 8); /* this product runs on little-endian processors only */
    return bits;
}

/* True if a number equals its nearest double: of integers of 64 bits, those with at most 53 bits from the first set bit
 * to the last. */
static bool is_exact(const unsigned char *bytes, const header *h)
{
    if (h->kind == 'f' || h->width < 8) return true;
    const uint64_t bits = npy_bits(bytes, h), magnitude = h->kind == 'i' && bits >> 63 ? 0 - bits : bits;
    return magnitude == 0 || magnitude >> __builtin_ctzll(magnitude) < UINT64_C(1) << 53;
}

static double convert(const unsigned char *bytes, const header *h)
{
    const uint64_t bits = npy_bits(bytes, h);
    if (h->kind == 'f' && h->width == 8) {
        double value;
        memcpy(&value, &bits, 8);
        return value;
    }
    if (h->kind == 'f') {
        float value;
        memcpy(&value, &bits, 4);
        return (double)value;
    }
    unsigned unused = (unsigned)(64 - 8 * h->width); /* bits above those of the number */
    return h->kind == 'u' ? (double)bits : (double)((int64_t)(bits << unused) >> unused);
}

/* Advances an index over the axes, the first axis fastest, and returns the offset in C order of the next element. */
static size_t next_in_fortran_order(const cli_npy *array, size_t *index)
{
    size_t offset = 0;
    for (size_t axis = 0; axis < array->rank; axis++) {
        if (++index[axis] < array->extent[axis]) break;
        index[axis] = 0;
    }
    for (size_t axis = 0; axis < array->rank; axis++)
        offset = offset * array->extent[axis] + index[axis];
    return offset;
}

static bool convert_all(const char *bytes, const char *name, const header *h, cli_npy *array)
{
    size_t index[CLI_NPY_RANK_MOST] = {0}, to = 0;
    for (size_t i = 0; i < array->count; i++) {
        const unsigned char *number = (const unsigned char *)bytes + i * h->width;
        if (!is_exact(number, h))
            return cli_error("%s: number %zu of the file is an integer that no double equals: write x.astype('<f8'), "
                             "which rounds it",
                             name, i);
        array->values[to] = convert(number, h);
        to                = h->fortran ? next_in_fortran_order(array, index) : i + 1;
    }
    return true;
}

bool cli_npy_read(const char *bytes, size_t length, const char *name, cli_npy *array)
{
    header h     = {0};
    size_t start = 0, size;
    *array       = (cli_npy){0};
    if (!read_header(bytes, length, name, &h, array, &start)) return false;
    if (__builtin_mul_overflow(array->count, h.width, &size) || size > length - start)
        return cli_error("%s is too short: its shape needs %zu numbers of %zu bytes, and %zu bytes follow the header",
                         name, array->count, h.width, length - start);
    if (size < length - start) return cli_error("%s has %zu bytes after its last number", name, length - start - size);
    array->values = malloc(array->count * sizeof(double) + 1);
    if (!array->values) return cli_error("no memory for the numbers of %s", name);
    if (h.kind == 'f' && h.width == 8 && !h.swapped && !h.fortran)
        memcpy(array->values, bytes + start, size);
    else if (!convert_all(bytes + start, name, &h, array)) {
        free(array->values);
        *array = (cli_npy){0};
        return false;
    }
    return true;
}

void cli_npy_write(cli_text *to, size_t rank, const size_t *extent, const double *values)
{
    cli_text dictionary = {0};
    size_t   count      = 1;
    cli_text_print(&dictionary, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (size_t i = 0; i < rank; i++) {
        cli_text_print(&dictionary, "%zu%s", extent[i], i + 1 < rank ? ", " : rank == 1 ? "," : "");
        count *= extent[i];
    }
    cli_text_print(&dictionary, "), }");
    while ((PREFIX + dictionary.length + 1) % ALIGNMENT != 0 && !dictionary.failed)
        cli_text_add(&dictionary, " ", 1);
    cli_text_add(&dictionary, "\n", 1);
    const char prefix[PREFIX] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(dictionary.length & 255), (char)(dictionary.length >> 8)};
    cli_text_add(to, prefix, PREFIX);
    cli_text_add(to, dictionary.bytes, dictionary.length);
    cli_text_add(to, values, count * sizeof *values);
    to->failed = to->failed || dictionary.failed;
    cli_text_free(&dictionary);
}
