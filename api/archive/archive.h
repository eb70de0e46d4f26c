/* archive.h - read a zip or tar archive, a tar.gz or a multipart/form-data body into named files in memory.
 *
 * Every entry is checked before memory is taken for it. Refused by name as `bad-archive`: a name that is absolute,
 * leads outside by "..", occurs twice, is not UTF-8 or has a backslash or control characters; symbolic and hard links,
 * devices, sparse and encrypted files; too many entries, too deep folders; a file or an archive that unpacks to more
 * than API_ARCHIVE_RATIO times its size. Bytes of tar archives and forms stay where they are; unpacked ones are claimed
 * from the budget of the request first.
 *
 * libarchive is not used, although it is maintained and in Debian: it keeps every entry of a zip directory before a
 * caller can count them, converts names by the locale of the process, and its allocations would not be noted by
 * api/base/memory/shortage.h. zlib, which the server has, unpacks and checks. */
#pragma once
#include "api/base/memory/arena.h"
#include "api/robot_files.h"

enum {
    API_ARCHIVE_ENTRIES = 10000, /* files and folders of an archive */
    API_ARCHIVE_DEPTH   = 32,    /* folders in a name */
    API_ARCHIVE_RATIO =
        200, /* largest ratio of unpacked to packed bytes, in files and archives above API_ARCHIVE_SMALL */
    API_ARCHIVE_SMALL = 64 << 10 /* unpacked bytes up to which any ratio is accepted */
};

/* The caller sets `share` and `most`, and zeroes the rest. */
typedef struct api_archive {
    api_files       files;
    api_file_entry *entry; /* [capacity] */
    size_t          capacity, seen, unpacked;
    size_t          packed;         /* bytes of the archive */
    api_arena       names, content; /* memory of files.entry */
    api_share      *share;          /* NULL: the command line, which has no budget */
    size_t          claimed, most;  /* most: bytes that the archive may unpack to */
} api_archive;

/* Reads an archive, whose first bytes must show that kind. Pictures and the folder __MACOSX are left out. The bytes
 * must live as long. In any case the caller calls api_archive_close. False with a problem. */
bool api_archive_open(api_archive *archive, api_archive_kind kind, const char *bytes, size_t length,
                      api_problem *problem);
void api_archive_close(api_archive *archive);
