/* fuzz_coded.c - expands arbitrary bytes as gzip or zstd, and bodies that it has compressed itself and then damaged: a
 * checksum would refuse almost all others. The first byte chooses the coding, the second the place of the damage. A
 * body that is expanded must be compressed and expanded to the same bytes again. */
#include "api/codec/coding/expand.h"
#include "api/codec/compress.h"
#include "drive.h"
#include <string.h>

enum { MOST = 1 << 20 };

static bool expand_body(api_coding coding, const char *bytes, size_t length, api_share *share, api_expanded *to)
{
    api_coded   coded = {.coding = coding, .bytes = bytes, .length = length};
    api_problem problem;
    api_problem_clear(&problem);
    size_t guess = api_expand_guess(&coded, MOST);
    drive_expect(guess >= (length < MOST ? length : MOST) && guess <= MOST, "the guess is within its bounds");
    bool done = api_expand(&coded, MOST, share, to, &problem);
    drive_expect(done == (problem.code == API_NO_PROBLEM), "a refused body has a problem");
    drive_expect(!done || to->length <= MOST, "a body is no longer than allowed");
    return done;
}

static void compress_body(api_coding coding, const char *bytes, size_t length, api_buffer *to)
{
    api_problem problem;
    api_problem_clear(&problem);
    api_buffer_init(to, api_compress_bound(coding, length));
    drive_expect(api_compress(coding, bytes, length, NULL, to, &problem), "every body can be compressed");
}

static void expect_same_body(api_coding coding, const api_expanded *body, api_share *share)
{
    api_buffer   compressed;
    api_expanded again = {0};
    compress_body(coding, body->bytes, body->length, &compressed);
    drive_expect(expand_body(coding, compressed.data, compressed.length, share, &again),
                 "a compressed body is expanded");
    drive_expect(again.length == body->length && memcmp(again.bytes, body->bytes, body->length) == 0,
                 "an expanded body is what was compressed");
    api_expanded_free(&again, share);
    api_buffer_free(&compressed);
}

static void expand_and_check(api_coding coding, const char *bytes, size_t length, api_share *share)
{
    api_expanded body = {0};
    if (!expand_body(coding, bytes, length, share, &body)) return;
    if (body.length > 0) expect_same_body(coding, &body, share);
    api_expanded_free(&body, share);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) return 0;
    api_budget budget = {.limit = 1 << 28};
    api_share  share  = {.budget = &budget};
    api_coding coding = data[0] % 2 ? API_CODING_GZIP : API_CODING_ZSTD;
    expand_and_check(coding, (const char *)data + 2, size - 2, &share);
    api_buffer compressed;
    compress_body(coding, (const char *)data + 2, size - 2, &compressed);
    compressed.data[data[1] % compressed.length] ^= (char)(data[0] | 1);
    expand_and_check(coding, compressed.data, compressed.length, &share);
    api_buffer_free(&compressed);
    drive_expect(atomic_load(&budget.used) == 0, "all memory is released");
    return 0;
}
