/* zip.h - read zip archives (PKWARE, APPNOTE.TXT 6.3.9) in memory, by their central directory.
 *
 * Files are stored or deflated; zlib unpacks and checks them. Archives of 4 GB (zip64), of several parts, encrypted
 * files and other compressions are refused. Nothing is allocated but the state of zlib. */
#pragma once
#include "api/problem.h"
#include <stdint.h>

/* An archive that is read; all fields are private. */
typedef struct api_zip {
    const char *bytes;
    size_t      length, directory, end; /* directory: offset of the next header; end: offset after the last */
    size_t      files, next;
} api_zip;

/* A file, folder or link of an archive. */
typedef struct api_zip_entry {
    const char *name; /* name[0..name_length), as the archive has it */
    size_t      name_length;
    const char *packed;                /* [packed_length] */
    size_t      packed_length, length; /* length: bytes that it unpacks to, as the archive says */
    uint32_t    checksum;
    bool        deflated;
    unsigned    mode; /* st_mode of an archive that was made by UNIX, else 0 */
} api_zip_entry;

/* True if the bytes begin as a zip archive. */
bool api_zip_begins(const char *bytes, size_t length);

/* Finds the directory of an archive; zip->files is the number of its entries. False with `bad-archive`. */
bool api_zip_open(api_zip *zip, const char *bytes, size_t length, api_problem *problem);

/* Reads the header of the next entry, of which there are zip->files. False with `bad-archive`. */
bool api_zip_next(api_zip *zip, api_zip_entry *entry, api_problem *problem);

/* Unpacks an entry to `to`, [entry->length], and checks it. False with `bad-archive` or `memory-full`. */
bool api_zip_unpack(const api_zip_entry *entry, char *to, api_problem *problem);
