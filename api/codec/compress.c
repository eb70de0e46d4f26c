/* compress.c - see compress.h. Both codings use their fastest level: digits of measured numbers hardly repeat, so
 * higher levels gain little. */
#include "compress.h"
#include "api/base/memory/shortage.h"
#include "api/base/work/deadline.h"
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { STEP = 1 << 18, LEVEL = 1, GZIP_FRAME = 64, GZIP_WRAPPER = 16 };

/* --- gzip ------------------------------------------------------------------------------------------------------- */

/* log2 of zlib's window size: the smallest that contains the input, from 2^10 to 2^MAX_WBITS bytes. */
static int window_bits(size_t length)
{
    int bits = 10;
    while (bits < MAX_WBITS && length >> bits)
        bits++;
    return bits;
}

/* Compresses in steps of STEP bytes: zlib counts bytes in unsigned int, and the deadline is checked between steps. */
static bool run_gzip(z_stream *z, const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to,
                     api_problem *problem)
{
    for (size_t offset = 0; offset < length;) {
        size_t step = length - offset < STEP ? length - offset : STEP, room = to->maximum - to->length;
        if (!api_deadline_check_here(deadline, problem)) return false;
        z->next_in   = (z_const Bytef *)bytes + offset;
        z->avail_in  = (uInt)step;
        z->avail_out = room < (1u << 30) ? (uInt)room : 1u << 30;
        z->next_out  = (Bytef *)to->data + to->length;
        offset += step;
        uInt before = z->avail_out;
        int  result = deflate(z, offset == length ? Z_FINISH : Z_NO_FLUSH);
        to->length += before - z->avail_out;
        if (result != (offset == length ? Z_STREAM_END : Z_OK)) {
            to->failed = true;
            return true;
        }
    }
    return true;
}

static bool gzip(const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to, api_problem *problem)
{
    z_stream z    = {0};
    int      bits = window_bits(length);
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, bits + GZIP_WRAPPER, bits - 7, Z_DEFAULT_STRATEGY) != Z_OK)
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to compress the answer");
    bool done = run_gzip(&z, bytes, length, deadline, to, problem);
    deflateEnd(&z);
    return done;
}

bool api_gunzip(const char *gzip, size_t gzip_length, size_t length, api_buffer *to, api_problem *problem)
{
    z_stream z    = {.next_in = (z_const Bytef *)gzip, .avail_in = (uInt)gzip_length};
    char    *room = api_buffer_room(to, length);
    if (!room || inflateInit2(&z, MAX_WBITS + GZIP_WRAPPER) != Z_OK)
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to decompress %zu bytes", length);
    z.next_out  = (Bytef *)room;
    z.avail_out = (uInt)length;
    int  result = inflate(&z, Z_FINISH);
    bool whole  = result == Z_STREAM_END && z.avail_out == 0;
    inflateEnd(&z);
    to->length += length - z.avail_out;
    return whole || api_fail(problem, API_INTERNAL_ERROR, NULL, "a file of the server is damaged");
}

/* --- zstd ------------------------------------------------------------------------------------------------------- */

static bool run_zstd(ZSTD_CCtx *context, const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to,
                     api_problem *problem)
{
    ZSTD_outBuffer out = {.dst = to->data, .size = to->maximum};
    for (size_t offset = 0; offset < length;) {
        size_t        step = length - offset < STEP ? length - offset : STEP, left;
        ZSTD_inBuffer in   = {.src = bytes + offset, .size = step};
        if (!api_deadline_check_here(deadline, problem)) return false;
        offset += step;
        do
            left = ZSTD_compressStream2(context, &out, &in, offset == length ? ZSTD_e_end : ZSTD_e_continue);
        while (!ZSTD_isError(left) && (in.pos < in.size || (offset == length && left > 0)) && out.pos < out.size);
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) api_shortage_note();
        if (ZSTD_isError(left) || in.pos < in.size) to->failed = true;
    }
    to->length = out.pos;
    return true;
}

static bool zstd(const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to, api_problem *problem)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to compress the answer");
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setPledgedSrcSize(context, length);
    bool done = run_zstd(context, bytes, length, deadline, to, problem);
    ZSTD_freeCCtx(context);
    return done;
}

/* --- both ------------------------------------------------------------------------------------------------------- */

/* Returns the largest compressed size. For gzip: the formula of zlib's deflateBound for a window smaller than the
 * default, plus the gzip header and trailer. */
size_t api_compress_bound(api_coding coding, size_t length)
{
    return coding == API_CODING_GZIP ? length + length / 8 + length / 64 + GZIP_FRAME : ZSTD_compressBound(length);
}

/* Returns the memory that compression needs. zlib: the window, the table of previous positions, and hash tables whose
 * size depends on the window (zconf.h). zstd, level 1: a window of 512 KB, plus a block and tables of about the same
 * size. */
size_t api_compress_memory(api_coding coding, size_t length)
{
    size_t estimate = 256 * 1024 + 4 * length, limit = 2 * 1024 * 1024;
    if (coding == API_CODING_GZIP) return ((size_t)2 << (window_bits(length) + 2)) + 16 * 1024;
    return estimate < limit ? estimate : limit;
}

bool api_compress(api_coding coding, const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to,
                  api_problem *problem)
{
    if (!api_buffer_room(to, to->maximum))
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for %zu bytes of answer", to->maximum);
    bool done = coding == API_CODING_GZIP ? gzip(bytes, length, deadline, to, problem)
                                          : zstd(bytes, length, deadline, to, problem);
    return done && (!to->failed || api_fail(problem, API_INTERNAL_ERROR, NULL, "the answer could not be compressed"));
}
