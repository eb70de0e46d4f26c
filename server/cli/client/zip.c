/* zip.c - see zip.h. Section numbers are those of APPNOTE.TXT. */
#include "zip.h"
#include "server/cli/options.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    END_SIZE      = 22, /* 4.3.16, without the comment */
    CENTRAL_SIZE  = 46, /* 4.3.12, without name, extra field and comment */
    LOCAL_SIZE    = 30, /* 4.3.7 */
    COMMENT_MAX   = 65535,
    STORED        = 0,
    DEFLATED      = 8,
    ENCRYPTED     = 1,
    VERSION       = 20,
    FIRST_OF_1980 = 33, /* the date 1980-01-01: archives of equal content are equal */
};
static const uint32_t END_MARK = 0x06054b50, CENTRAL_MARK = 0x02014b50, LOCAL_MARK = 0x04034b50;

static uint32_t get(const char *bytes, size_t width)
{
    uint32_t value = 0;
    for (size_t i = width; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

/* --- read ------------------------------------------------------------------------------------------------------- */

typedef struct archive {
    const char *bytes, *name;
    size_t      length, left; /* left: bytes that may still be unpacked */
} archive;

/* Unpacks a deflated file into `size` bytes exactly. */
static bool inflate_all(const char *packed, size_t packed_size, char *to, size_t size)
{
    z_stream z = {0};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return false; /* negative: without a header of zlib */
    z.next_in   = (Bytef *)(uintptr_t)packed;
    z.avail_in  = (uInt)packed_size;
    z.next_out  = (Bytef *)to;
    z.avail_out = (uInt)size;
    int  status = inflate(&z, Z_FINISH);
    bool whole  = status == Z_STREAM_END && z.total_out == size;
    inflateEnd(&z);
    return whole;
}

/* Reads the file that a header of the central directory describes, and passes it on. */
static bool read_entry(archive *a, const char *central, bool (*visit)(void *arg, const cli_zip_entry *entry), void *arg)
{
    size_t   packed = get(central + 20, 4), size = get(central + 24, 4), at = get(central + 42, 4), rest;
    uint32_t method = get(central + 10, 2), crc = get(central + 16, 4);
    if (get(central + 8, 2) & ENCRYPTED) return cli_error("%s is encrypted", a->name);
    if (packed == UINT32_MAX || size == UINT32_MAX || at == UINT32_MAX)
        return cli_error("%s is a zip64 archive; write its arrays into .npy files", a->name);
    if (at > a->length || a->length - at < LOCAL_SIZE || get(a->bytes + at, 4) != LOCAL_MARK)
        return cli_error("%s is damaged: a file is not where the directory says", a->name);
    rest           = a->length - at - LOCAL_SIZE;
    size_t skipped = get(a->bytes + at + 26, 2) + get(a->bytes + at + 28, 2);
    if (skipped > rest || packed > rest - skipped) return cli_error("%s is cut off", a->name);
    const char *data = a->bytes + at + LOCAL_SIZE + skipped;
    if (method != STORED && method != DEFLATED) return cli_error("%s uses compression method %u", a->name, method);
    if (method == STORED && packed != size) return cli_error("%s is damaged: sizes differ", a->name);
    if (size > a->left) return cli_error("%s unpacks to too many bytes", a->name);
    a->left -= size;
    char *unpacked = method == DEFLATED ? malloc(size + 1) : NULL;
    if (method == DEFLATED && !unpacked) return cli_error("no memory to unpack %s", a->name);
    bool good = method == STORED || inflate_all(data, packed, unpacked, size);
    if (unpacked) data = unpacked;
    good = good && crc32(0, (const Bytef *)data, (uInt)size) == crc;
    good = good ? visit(arg, &(cli_zip_entry){.name        = central + CENTRAL_SIZE,
                                              .name_length = get(central + 28, 2),
                                              .bytes       = data,
                                              .length      = size})
                : cli_error("%s is damaged: a checksum is wrong", a->name);
    free(unpacked);
    return good;
}

/* Finds the record at the end, which a comment may follow; NULL if there is none. */
static const char *find_end(const archive *a)
{
    for (size_t back = END_SIZE; back <= a->length && back <= END_SIZE + COMMENT_MAX; back++)
        if (get(a->bytes + a->length - back, 4) == END_MARK) return a->bytes + a->length - back;
    return NULL;
}

bool cli_zip_read(const char *bytes, size_t length, const char *name, size_t most,
                  bool (*visit)(void *arg, const cli_zip_entry *entry), void *arg)
{
    archive     a   = {.bytes = bytes, .name = name, .length = length, .left = most};
    const char *end = length >= END_SIZE ? find_end(&a) : NULL;
    if (!end) return cli_error("%s is no zip archive, or it is cut off", name);
    size_t files = get(end + 10, 2), at = get(end + 16, 4), limit = (size_t)(end - bytes);
    for (size_t i = 0; i < files; i++) {
        if (at > limit || limit - at < CENTRAL_SIZE || get(bytes + at, 4) != CENTRAL_MARK)
            return cli_error("%s is damaged: its directory ends early", name);
        size_t size = CENTRAL_SIZE + get(bytes + at + 28, 2) + get(bytes + at + 30, 2) + get(bytes + at + 32, 2);
        if (size > limit - at) return cli_error("%s is damaged: its directory ends early", name);
        if (!read_entry(&a, bytes + at, visit, arg)) return false;
        at += size;
    }
    return true;
}

/* --- write ------------------------------------------------------------------------------------------------------ */

static void put(cli_text *to, size_t value, size_t width)
{
    char bytes[4];
    for (size_t i = 0; i < width; i++)
        bytes[i] = (char)(value >> (8 * i) & 255);
    cli_text_add(to, bytes, width);
}

/* Writes the fields that the local header and the central header share, from "version needed" to "extra length". */
static void put_common(cli_text *to, uint32_t crc, size_t length, size_t name_length)
{
    put(to, VERSION, 2);
    put(to, 0, 2); /* flags */
    put(to, STORED, 2);
    put(to, 0, 2); /* time */
    put(to, FIRST_OF_1980, 2);
    put(to, crc, 4);
    put(to, length, 4);
    put(to, length, 4);
    put(to, name_length, 2);
    put(to, 0, 2); /* length of the extra field */
}

bool cli_zip_add(cli_zip *zip, const char *name, const char *bytes, size_t length)
{
    size_t at = zip->bytes.length, n = strlen(name);
    if (length >= UINT32_MAX || at + length + n >= UINT32_MAX - (1u << 20) || zip->files == UINT16_MAX)
        return cli_error("the .npz file would be larger than 4 GB; write .npy");
    uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)bytes, length);
    put(&zip->bytes, LOCAL_MARK, 4);
    put_common(&zip->bytes, crc, length, n);
    cli_text_add(&zip->bytes, name, n);
    cli_text_add(&zip->bytes, bytes, length);
    put(&zip->directory, CENTRAL_MARK, 4);
    put(&zip->directory, VERSION, 2); /* made by */
    put_common(&zip->directory, crc, length, n);
    put(&zip->directory, 0, 2);  /* length of the comment */
    put(&zip->directory, 0, 2);  /* disk */
    put(&zip->directory, 0, 2);  /* internal attributes */
    put(&zip->directory, 0, 4);  /* external attributes */
    put(&zip->directory, at, 4); /* offset of the local header */
    cli_text_add(&zip->directory, name, n);
    zip->files++;
    return (!zip->bytes.failed && !zip->directory.failed) || cli_error("no memory for the .npz file");
}

bool cli_zip_finish(cli_zip *zip)
{
    size_t at = zip->bytes.length;
    cli_text_add(&zip->bytes, zip->directory.bytes, zip->directory.length);
    put(&zip->bytes, END_MARK, 4);
    put(&zip->bytes, 0, 4); /* disks */
    put(&zip->bytes, zip->files, 2);
    put(&zip->bytes, zip->files, 2);
    put(&zip->bytes, zip->directory.length, 4);
    put(&zip->bytes, at, 4);
    put(&zip->bytes, 0, 2); /* length of the comment */
    return (!zip->bytes.failed && !zip->directory.failed) || cli_error("no memory for the .npz file");
}
