/* gzip.c - unpacks gzip files; see gzip.h. */
#include "gzip.h"
#include "api/base/memory/shortage.h"
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

enum { WINDOW = 1 << 15 /* bytes that are unpacked at a time while they are counted */ };

bool api_gzip_begins(const char *bytes, size_t length)
{
    return length >= 18 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

static bool fail_damaged(api_problem *problem)
{
    return api_fail(problem, API_BAD_ARCHIVE, NULL, "the gzip file is damaged or cut off");
}

/* Moves on to the next member, if bytes are left. *more is false after the last; zeros pad a file. */
static bool next_member(z_stream *z, bool *more, api_problem *problem)
{
    while (z->avail_in > 0 && *z->next_in == 0)
        z->next_in++, z->avail_in--;
    *more = z->avail_in > 0;
    return !*more || inflateReset(z) == Z_OK || fail_damaged(problem);
}

/* Unpacks all members: to `to`, or, if that is NULL, into a window that is overwritten. Stops behind `most` bytes. */
static bool unpack_members(z_stream *z, char *to, size_t most, size_t *unpacked, api_problem *problem)
{
    char window[WINDOW] = {0};
    bool more           = true;
    for (*unpacked = 0; more && *unpacked <= most;) {
        size_t room  = to && most - *unpacked < WINDOW ? most - *unpacked : WINDOW;
        z->next_out  = (Bytef *)(to ? to + *unpacked : window);
        z->avail_out = (uInt)room;
        int status   = inflate(z, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR) {
            api_shortage_note();
            return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to unpack");
        }
        if (status != Z_OK && status != Z_STREAM_END) return fail_damaged(problem);
        *unpacked += room - z->avail_out;
        if (status == Z_STREAM_END && !next_member(z, &more, problem)) return false;
    }
    return true;
}

static bool run_inflate(const char *bytes, size_t length, char *to, size_t most, size_t *unpacked, api_problem *problem)
{
    z_stream z = {0};
    if (length > UINT_MAX) return api_fail(problem, API_BAD_ARCHIVE, NULL, "the gzip file has 4 GB or more");
    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK) { /* 16: with a header of gzip */
        api_shortage_note();
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to unpack");
    }
    z.next_in  = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)length;
    bool good  = unpack_members(&z, to, most, unpacked, problem);
    inflateEnd(&z);
    return good;
}

bool api_gzip_count(const char *bytes, size_t length, size_t most, size_t *unpacked, api_problem *problem)
{
    return run_inflate(bytes, length, NULL, most, unpacked, problem);
}

bool api_gzip_unpack(const char *bytes, size_t length, char *to, size_t unpacked, api_problem *problem)
{
    size_t again = 0;
    return run_inflate(bytes, length, to, unpacked, &again, problem) && (again == unpacked || fail_damaged(problem));
}
