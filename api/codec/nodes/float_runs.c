/* float_runs.c - convert runs of floats, over rows whose heads are the same bytes. */
#include "float_runs.h"
#include <string.h>

enum {
    FLOAT_BYTES = 1 + sizeof(double),
    MOST_FLOATS = 1 << 16 /* longest run of floats between two checks of the deadline, less than 1 ms */
};

/* Converts at most `most` floats. Stops at the end of the body, at an item of another kind and at a number that is not
 * finite, whose exponent has all bits set. Returns how many it converted. */
static size_t read_run(const api_float_runs *runs, size_t position, size_t most, double *to)
{
    const uint64_t       exponent = UINT64_C(0x7FF) << 52;
    const unsigned char *from     = runs->body + position;
    size_t               fit = (runs->length - position) / FLOAT_BYTES, n = most < fit ? most : fit, i = 0;
    for (; i < n && from[0] == runs->first; i++, from += FLOAT_BYTES) {
        uint64_t bits;
        memcpy(&bits, from + 1, sizeof bits);
        bits = __builtin_bswap64(bits);
        if ((bits & exponent) == exponent) break;
        memcpy(&to[i], &bits, sizeof bits);
    }
    return i;
}

/* Returns how many rows with the head of the innermost array may follow it in the array around it; 0 unless the
 * innermost array is at its beginning and is as long as the rows before it. */
static uint64_t rows_that_follow(const api_builder *b, const api_level *levels)
{
    size_t           width = api_build_row_width(b);
    const api_level *row   = &levels[b->depth - 1];
    if (width == 0 || row->indefinite || row->left != width) return 0;
    return row[-1].indefinite ? UINT64_MAX : row[-1].left;
}

bool api_read_float_runs(const api_float_runs *runs, api_builder *b, api_level *levels, size_t *position)
{
    size_t  room, start = *position, head = start - runs->array;
    double *to = start < runs->length && runs->body[start] == runs->first ? api_build_reserve_numbers(b, &room) : NULL;
    if (!to) return false;
    if (room > MOST_FLOATS) room = MOST_FLOATS;
    api_level *row   = &levels[b->depth - 1];
    uint64_t   rows  = rows_that_follow(b, levels);
    size_t     width = rows > 0 ? (size_t)row->left : 0, most = row->indefinite || row->left > room ? room : row->left;
    size_t     count = read_run(runs, start, most, to), in_row = count, end = start + count * FLOAT_BYTES;
    if (count == 0) return false;
    for (; rows > 0 && in_row == width && count < room; rows--) {
        if (runs->length - end <= head || memcmp(runs->body + end, runs->body + runs->array, head) != 0) break;
        size_t more = read_run(runs, end + head, width < room - count ? width : room - count, to + count);
        if (more == 0) break;
        if (!row[-1].indefinite) row[-1].left--;
        in_row = more;
        count += more;
        end += head + more * FLOAT_BYTES;
    }
    if (!row->indefinite) row->left -= in_row;
    api_build_commit_rows(b, count, width);
    *position = end;
    return true;
}
