/* expand.h - expand request bodies with a content coding (RFC 9110, section 8.4): gzip (RFC 1952) and zstd (RFC 8878).
 * The body is expanded twice: once to count its bytes, in a window that is overwritten, and once into memory of this
 * size, which is claimed between. So no memory is taken for a body that is refused. */
#pragma once
#include "api/base/memory/client_memory_budget.h"
#include "api/codec/negotiate.h"

enum {
    API_EXPAND_RATIO = 200,    /* largest ratio of expanded to coded bytes, for bodies above API_EXPAND_SMALL */
    API_EXPAND_SMALL = 1 << 20 /* expanded bytes up to which any ratio is accepted */
};

/* A body with a content coding. */
typedef struct api_coded {
    api_coding          coding; /* gzip or zstd */
    const char         *bytes;
    size_t              length;
    const api_deadline *deadline; /* may be NULL */
} api_coded;

/* An expanded body; all zero: none. */
typedef struct api_expanded {
    char  *bytes;
    size_t length;
    size_t claimed; /* bytes of the memory budget */
} api_expanded;

/* Expands a body to at most `most` bytes; all gzip members or zstd frames, one after another. False with a problem, and
 * without memory or claims: 400 for bytes that are damaged, cut off or need a window above 8 MiB, 413 for a body that
 * expands too much, 503 without memory, and when the deadline has passed. */
bool api_expand(const api_coded *coded, size_t most, api_share *share, api_expanded *to, api_problem *problem);

/* Frees an expanded body, and returns its claim. */
void api_expanded_free(api_expanded *expanded, api_share *share);

/* Guesses the expanded length without expanding, for estimates of time: from the length that the coding names, which
 * may be wrong, between coded->length and `most`. */
size_t api_expand_guess(const api_coded *coded, size_t most);
