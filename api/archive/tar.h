/* tar.h - read tar archives in memory: the forms ustar, pax (POSIX.1-2017, pax) and that of GNU tar. Nothing is copied
 * or allocated. */
#pragma once
#include "api/problem.h"

/* An archive that is read. */
typedef struct api_tar {
    const char *bytes;
    size_t      length, offset;
} api_tar;

enum { API_TAR_NAME = 4096 /* bytes of a name, NUL included */ };

/* A file, folder or link of an archive. */
typedef struct api_tar_entry {
    char        name[API_TAR_NAME];
    size_t      name_length;
    char        type;  /* '0': a file; '5': a folder; '1', '2': a link; else a device or another kind */
    const char *bytes; /* [length] in the archive */
    size_t      length;
} api_tar_entry;

/* True if the bytes begin as a tar archive: a header whose checksum is right. */
bool api_tar_begins(const char *bytes, size_t length);

/* Reads the next entry. *more is false at the end of the archive. False with `bad-archive`. */
bool api_tar_next(api_tar *tar, api_tar_entry *entry, bool *more, api_problem *problem);
