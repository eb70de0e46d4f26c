/* compress.h - compress answers with a content coding (RFC 9110, section 8.4): gzip (RFC 1952, zlib) or zstd (RFC
 * 8878). */
#pragma once
#include "api/api.h"
#include "api/base/memory/buffer.h"
#include "negotiate.h"

/* The largest size of `length` compressed bytes, and the approximate memory in bytes that compression needs. */
size_t api_compress_bound(api_coding coding, size_t length);
size_t api_compress_memory(api_coding coding, size_t length);

/* Compresses bytes[0..length) into the empty buffer `to`, whose maximum is at least api_compress_bound. `coding` is not
 * API_CODING_NONE. False with a problem if memory is short, the request was cancelled or its deadline has passed. The
 * output is deterministic. */
bool api_compress(api_coding coding, const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to,
                  api_problem *problem);

/* Decompresses gzip[0..gzip_length), one gzip member of `length` bytes of content, into an empty buffer whose maximum
 * is at least `length`. False with a problem if memory is short or the input is damaged. */
bool api_gunzip(const char *gzip, size_t gzip_length, size_t length, api_buffer *to, api_problem *problem);
