/* zip.c - see zip.h. Section numbers are those of APPNOTE.TXT. */
#include "zip.h"
#include "api/archive/zip.h"
#include "server/cli/options.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    STORED        = 0,
    VERSION       = 20,
    FIRST_OF_1980 = 33, /* the date 1980-01-01: archives of equal content are equal */
};
static const uint32_t END_MARK = 0x06054b50, CENTRAL_MARK = 0x02014b50, LOCAL_MARK = 0x04034b50;

/* --- read ------------------------------------------------------------------------------------------------------- */

/* Unpacks an entry, and passes it on. */
static bool read_entry(const api_zip_entry *entry, api_problem                    *problem,
                       bool (*visit)(void *arg, const cli_zip_entry *entry), void *arg)
{
    char *unpacked = malloc(entry->length + 1);
    if (!unpacked) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to unpack it");
    bool good =
        api_zip_unpack(entry, unpacked, problem) &&
        visit(arg,
              &(cli_zip_entry){
                  .name = entry->name, .name_length = entry->name_length, .bytes = unpacked, .length = entry->length});
    free(unpacked);
    return good;
}

bool cli_zip_read(const char *bytes, size_t length, const char *name, size_t most,
                  bool (*visit)(void *arg, const cli_zip_entry *entry), void *arg)
{
    api_zip       zip;
    api_zip_entry entry;
    api_problem   problem;
    api_problem_clear(&problem);
    bool good = api_zip_open(&zip, bytes, length, &problem);
    for (size_t i = 0; good && i < zip.files; i++) {
        good = api_zip_next(&zip, &entry, &problem);
        if (good && entry.length > most)
            good = api_fail(&problem, API_BAD_ARCHIVE, NULL, "it unpacks to too many bytes");
        most -= good ? entry.length : 0;
        good = good && read_entry(&entry, &problem, visit, arg);
    }
    return good || (problem.code != API_NO_PROBLEM && cli_error("%s: %s", name, problem.detail));
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
        return cli_error("the zip archive would be larger than 4 GB");
    uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)bytes, length);
    put(&zip->bytes, LOCAL_MARK, 4);
    put_common(&zip->bytes, crc, length, n);
    cli_text_add(&zip->bytes, name, n);
    cli_text_add(&zip->bytes, bytes, length);
    put(&zip->directory, CENTRAL_MARK, 4);
    put(&zip->directory, VERSION, 2); /* version made by */
    put_common(&zip->directory, crc, length, n);
    put(&zip->directory, 0, 2);  /* length of the comment */
    put(&zip->directory, 0, 2);  /* disk */
    put(&zip->directory, 0, 2);  /* internal attributes */
    put(&zip->directory, 0, 4);  /* external attributes */
    put(&zip->directory, at, 4); /* offset of the local header */
    cli_text_add(&zip->directory, name, n);
    zip->files++;
    return (!zip->bytes.failed && !zip->directory.failed) || cli_error("no memory for the zip archive");
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
    return (!zip->bytes.failed && !zip->directory.failed) || cli_error("no memory for the zip archive");
}
