/* tar.c - reads tar archives; see tar.h. Offsets and types of headers: POSIX.1-2017, pax, "ustar Interchange Format";
 * GNU tar 1.34, Basic Tar Format. */
#include "tar.h"
#include <stdint.h>
#include <string.h>

enum {
    BLOCK       = 512,
    NAME_SIZE   = 100,
    SIZE_AT     = 124,
    SIZE_SIZE   = 12,
    SUM_AT      = 148,
    SUM_SIZE    = 8,
    TYPE_AT     = 156,
    MAGIC_AT    = 257,
    PREFIX_AT   = 345,
    PREFIX_SIZE = 155,
};

static bool fail_tar(api_problem *problem, const char *text)
{
    return api_fail(problem, API_BAD_ARCHIVE, NULL, "the tar archive %s", text);
}

/* Reads a number: octal digits between blanks, or GNU's base 256, which the highest bit marks. */
static bool read_tar_number(const char *field, size_t size, uint64_t *value)
{
    size_t i = 0;
    *value   = 0;
    if ((unsigned char)field[0] == 0x80) {
        for (i = 1; i < size; i++) {
            if (*value >> 56 != 0) return false;
            *value = *value << 8 | (unsigned char)field[i];
        }
        return true;
    }
    while (i < size && field[i] == ' ')
        i++;
    size_t start = i;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value << 3 | (uint64_t)(field[i] - '0');
    return i > start && (i == size || field[i] == ' ' || field[i] == '\0');
}

/* The sum of all bytes of a header, with blanks in place of the sum itself. */
static bool sum_is_right(const char *header)
{
    uint64_t sum = 0, stated;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i - SUM_AT < SUM_SIZE ? ' ' : (unsigned char)header[i];
    return read_tar_number(header + SUM_AT, SUM_SIZE, &stated) && stated == sum;
}

bool api_tar_begins(const char *bytes, size_t length)
{
    return length >= BLOCK && bytes[0] != '\0' && sum_is_right(bytes);
}

static bool is_zero_block(const char *block)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (block[i] != '\0') return false;
    return true;
}

static bool set_entry_name(api_tar_entry *entry, const char *name, size_t length, api_problem *problem)
{
    if (length >= API_TAR_NAME || memchr(name, '\0', length))
        return fail_tar(problem, "has a name that is too long or has a NUL");
    memcpy(entry->name, name, length);
    entry->name[length] = '\0';
    entry->name_length  = length;
    return true;
}

/* Sets the name of a header: the prefix of ustar, "/", and the name. */
static bool read_tar_name(const char *header, api_tar_entry *entry, api_problem *problem)
{
    char   name[PREFIX_SIZE + 1 + NAME_SIZE];
    size_t prefix = memcmp(header + MAGIC_AT, "ustar", 6) == 0 ? strnlen(header + PREFIX_AT, PREFIX_SIZE) : 0;
    size_t length = strnlen(header, NAME_SIZE);
    memcpy(name, header + PREFIX_AT, prefix);
    if (prefix > 0) name[prefix++] = '/';
    memcpy(name + prefix, header, length);
    return set_entry_name(entry, name, prefix + length, problem);
}

/* Fields of a pax header that apply to the file after it. */
typedef struct overrides {
    bool     has_name, has_size;
    uint64_t size;
} overrides;

/* Reads one record "LENGTH KEY=VALUE\n" of a pax header; *used is its length. */
static bool read_pax_record(const char *text, size_t length, size_t *used, api_tar_entry *entry, overrides *o,
                            api_problem *problem)
{
    size_t digits = 0, stated = 0;
    while (digits < length && digits < 10 && text[digits] >= '0' && text[digits] <= '9')
        stated = 10 * stated + (size_t)(text[digits++] - '0');
    if (digits == 0 || digits == length || text[digits] != ' ' || stated > length || stated < digits + 3 ||
        text[stated - 1] != '\n')
        return fail_tar(problem, "has a damaged pax header");
    const char *key = text + digits + 1, *end = text + stated - 1, *equals = memchr(key, '=', (size_t)(end - key));
    if (!equals) return fail_tar(problem, "has a damaged pax header");
    *used              = stated;
    size_t      n      = (size_t)(equals - key);
    const char *value  = equals + 1;
    size_t      behind = (size_t)(end - value);
    if (n >= 10 && memcmp(key, "GNU.sparse", 10) == 0)
        return fail_tar(problem, "has a sparse file: archive it without --sparse");
    if (n == 4 && memcmp(key, "path", 4) == 0) {
        o->has_name = true;
        return set_entry_name(entry, value, behind, problem);
    }
    if (n != 4 || memcmp(key, "size", 4) != 0) return true;
    o->has_size = true;
    o->size     = 0;
    for (size_t i = 0; i < behind; i++) {
        if (value[i] < '0' || value[i] > '9' || i > 15) return fail_tar(problem, "has a damaged pax header");
        o->size = 10 * o->size + (uint64_t)(value[i] - '0');
    }
    return true;
}

static bool read_pax(const api_tar_entry *header, api_tar_entry *entry, overrides *o, api_problem *problem)
{
    size_t used = 0;
    for (size_t i = 0; i < header->length; i += used)
        if (!read_pax_record(header->bytes + i, header->length - i, &used, entry, o, problem)) return false;
    return true;
}

/* Reads the header at the offset, and advances to the end of its data. `o` has the fields of the preceding pax
 * header. */
static bool read_tar_header(api_tar *tar, api_tar_entry *entry, const overrides *o, api_problem *problem)
{
    const char *header = tar->bytes + tar->offset;
    uint64_t    size;
    if (!sum_is_right(header)) return fail_tar(problem, "is damaged: the checksum of a header is wrong");
    if (!read_tar_number(header + SIZE_AT, SIZE_SIZE, &size))
        return fail_tar(problem, "is damaged: a size is no number");
    if (!o->has_name && !read_tar_name(header, entry, problem)) return false;
    entry->type = header[TYPE_AT] == '\0' || header[TYPE_AT] == '7' ? '0' : header[TYPE_AT];
    if (o->has_size) size = o->size;
    if (entry->type >= '1' && entry->type <= '6') size = 0; /* links, devices and folders have no data */
    tar->offset += BLOCK;
    if (size > tar->length - tar->offset)
        return api_fail(problem, API_BAD_ARCHIVE, NULL, "\"%.80s\" is cut off in the archive", entry->name);
    entry->bytes  = tar->bytes + tar->offset;
    entry->length = (size_t)size;
    size_t padded = ((size_t)size + BLOCK - 1) / BLOCK * BLOCK;
    tar->offset   = padded > tar->length - tar->offset ? tar->length : tar->offset + padded;
    return true;
}

bool api_tar_next(api_tar *tar, api_tar_entry *entry, bool *more, api_problem *problem)
{
    overrides o = {0};
    for (;;) {
        if (tar->length - tar->offset < BLOCK) return fail_tar(problem, "is cut off: it has no end");
        *more = !is_zero_block(tar->bytes + tar->offset);
        if (!*more) return true;
        api_tar_entry header = {.type = '\0'};
        char          type   = tar->bytes[tar->offset + TYPE_AT];
        if (type != 'x' && type != 'g' && type != 'L' && type != 'K') return read_tar_header(tar, entry, &o, problem);
        if (!read_tar_header(tar, &header, &(overrides){0}, problem)) return false;
        if (type == 'x' && !read_pax(&header, entry, &o, problem)) return false;
        if (type == 'L' && !set_entry_name(entry, header.bytes, strnlen(header.bytes, header.length), problem))
            return false;
        o.has_name |= type == 'L';
    }
}
