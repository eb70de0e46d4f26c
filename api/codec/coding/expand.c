/* expand.c - counts and expands gzip and zstd bodies by zlib and libzstd: see expand.h. */
#include "expand.h"
#include "api/base/memory/shortage.h"
#include "api/base/work/deadline.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* WINDOW: bytes that are expanded at a time, and between two checks of the deadline. ZSTD_WINDOW_LOG: the largest
 * window of zstd; RFC 8878, section 3.1.1.1.2, asks decoders for 8 MiB at least. *_MEMORY: bytes that a decoder
 * needs. */
enum {
    WINDOW          = 1 << 16,
    ZSTD_WINDOW_LOG = 23,
    ZSTD_MEMORY     = (1 << ZSTD_WINDOW_LOG) + (1 << 19),
    GZIP_MEMORY     = 1 << 16,
    GZIP_HEADER     = 16, /* for inflateInit2: with a header of gzip */
    GZIP_LEAST      = 18, /* bytes of header and trailer */
    GZIP_SIZE       = 4   /* bytes of the trailer's last field, the length modulo 2^32 */
};

/* Expanded bytes. `to` is NULL while they are counted. */
typedef struct sink {
    char  *to;
    size_t used, most;
    char   window[WINDOW];
} sink;

static char *find_room(sink *s, size_t *room)
{
    *room = s->to && s->most - s->used < WINDOW ? s->most - s->used : WINDOW;
    return s->to ? s->to + s->used : s->window;
}

static bool fail_expansion(const api_coded *coded, size_t most, api_problem *problem)
{
    return most < API_EXPAND_RATIO * coded->length
               ? api_fail(problem, API_BODY_TOO_LARGE, NULL,
                          "the body expands to more than %zu bytes, the limit of this server", most)
               : api_fail(problem, API_BODY_TOO_LARGE, NULL,
                          "the body of %zu bytes expands to more than %zu bytes, %d times as many: send it without "
                          "Content-Encoding",
                          coded->length, most, API_EXPAND_RATIO);
}

static bool fail_coding(const api_coded *coded, const char *fault, api_problem *problem)
{
    return api_fail(problem, API_BAD_CODING, NULL, "the body, whose Content-Encoding is %s, %s",
                    api_coding_name(coded->coding), fault);
}

static bool fail_memory(api_problem *problem)
{
    api_shortage_note();
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to expand the body");
}

/* --- gzip --------------------------------------------------------------------------------------------------------- */

static bool inflate_members(const api_coded *coded, z_stream *z, sink *s, api_problem *problem)
{
    for (size_t room;;) {
        if (!api_deadline_check(coded->deadline, problem)) return false;
        z->next_out  = (Bytef *)find_room(s, &room);
        z->avail_out = (uInt)room;
        int status   = inflate(z, Z_NO_FLUSH);
        s->used += room - z->avail_out;
        if (status == Z_MEM_ERROR) return fail_memory(problem);
        if (s->used > s->most) return fail_expansion(coded, s->most, problem);
        if (status == Z_BUF_ERROR) return fail_coding(coded, "is cut off", problem);
        if (status == Z_STREAM_END && z->avail_in == 0) return true;
        if (status != Z_OK && (status != Z_STREAM_END || inflateReset(z) != Z_OK))
            return fail_coding(coded, "is damaged", problem);
    }
}

static bool expand_gzip(const api_coded *coded, sink *s, api_problem *problem)
{
    z_stream z = {.next_in = (z_const Bytef *)coded->bytes, .avail_in = (uInt)coded->length};
    if (coded->length > UINT_MAX) return fail_expansion(coded, UINT_MAX, problem);
    if (inflateInit2(&z, MAX_WBITS + GZIP_HEADER) != Z_OK) return fail_memory(problem);
    bool done = inflate_members(coded, &z, s, problem);
    inflateEnd(&z);
    return done;
}

/* --- zstd --------------------------------------------------------------------------------------------------------- */

static bool fail_zstd(const api_coded *coded, size_t result, api_problem *problem)
{
    switch ((int)ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation: return fail_memory(problem);
    case ZSTD_error_frameParameter_windowTooLarge:
        return fail_coding(coded, "needs a window above 8 MiB: compress it without --long", problem);
    case ZSTD_error_prefix_unknown: return fail_coding(coded, "does not begin as zstd does", problem);
    }
    return fail_coding(coded, "is damaged", problem);
}

static bool expand_frames(const api_coded *coded, ZSTD_DCtx *context, sink *s, api_problem *problem)
{
    ZSTD_inBuffer in   = {.src = coded->bytes, .size = coded->length};
    size_t        left = 1; /* 0 at the end of a frame */
    while (in.pos < in.size || left > 0) {
        ZSTD_outBuffer out = {0};
        if (!api_deadline_check(coded->deadline, problem)) return false;
        out.dst = find_room(s, &out.size);
        left    = ZSTD_decompressStream(context, &out, &in);
        s->used += out.pos;
        if (ZSTD_isError(left)) return fail_zstd(coded, left, problem);
        if (s->used > s->most) return fail_expansion(coded, s->most, problem);
        if (left > 0 && in.pos == in.size && out.pos < out.size) return fail_coding(coded, "is cut off", problem);
    }
    return true;
}

static bool expand_zstd(const api_coded *coded, sink *s, api_problem *problem)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context) return fail_memory(problem);
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    bool done = expand_frames(coded, context, s, problem);
    ZSTD_freeDCtx(context);
    return done;
}

/* --- both --------------------------------------------------------------------------------------------------------- */

static bool run_decoder(const api_coded *coded, sink *s, api_problem *problem)
{
    s->used = 0;
    return coded->coding == API_CODING_GZIP ? expand_gzip(coded, s, problem) : expand_zstd(coded, s, problem);
}

static size_t find_limit(const api_coded *coded, size_t most)
{
    size_t ratio = coded->length < SIZE_MAX / API_EXPAND_RATIO ? API_EXPAND_RATIO * coded->length : SIZE_MAX;
    if (ratio < API_EXPAND_SMALL) ratio = API_EXPAND_SMALL;
    return ratio < most ? ratio : most;
}

/* Expands a body whose length was counted. One byte more is allocated, so that the decoders have output space until
 * they end.
 */
static bool expand_counted(const api_coded *coded, size_t length, api_expanded *to, api_problem *problem)
{
    sink s = {.to = malloc(length + 1), .most = length + 1};
    if (!s.to) return fail_memory(problem);
    *to = (api_expanded){s.to, length, to->claimed};
    return run_decoder(coded, &s, problem) && (s.used == length || fail_coding(coded, "has changed", problem));
}

bool api_expand(const api_coded *coded, size_t most, api_share *share, api_expanded *to, api_problem *problem)
{
    const size_t decoder = coded->coding == API_CODING_GZIP ? GZIP_MEMORY : ZSTD_MEMORY;
    sink         count   = {.most = find_limit(coded, most)};
    *to                  = (api_expanded){0};
    if (!api_claim(share, decoder, problem)) return false;
    bool done = run_decoder(coded, &count, problem) && api_claim(share, count.used + 1, problem);
    if (done) to->claimed = count.used + 1;
    done = done && expand_counted(coded, count.used, to, problem);
    api_unclaim(share, decoder);
    if (!done) api_expanded_free(to, share);
    return done;
}

void api_expanded_free(api_expanded *expanded, api_share *share)
{
    free(expanded->bytes);
    if (expanded->claimed > 0) api_unclaim(share, expanded->claimed);
    *expanded = (api_expanded){0};
}

size_t api_expand_guess(const api_coded *coded, size_t most)
{
    const size_t         length = coded->length, limit = find_limit(coded, most);
    const unsigned char *end   = (const unsigned char *)coded->bytes + length;
    unsigned long long   guess = 0;
    if (coded->coding == API_CODING_ZSTD) {
        guess = ZSTD_getFrameContentSize(
            coded->bytes, length); /* values for an unknown size and for an error are larger than any size */
        if (guess >= ZSTD_CONTENTSIZE_ERROR) guess = 4ULL * length;
    } else if (length >= GZIP_LEAST) {
        for (int i = 1; i <= GZIP_SIZE; i++)
            guess = guess << 8 | end[-i];
    }
    return guess < length ? length : guess < limit ? (size_t)guess : limit;
}
