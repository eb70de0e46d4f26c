/* compress.h - content codings of answers (RFC 9110, section 8.4): gzip (RFC 1952) by zlib, and zstd (RFC 8878). */
#pragma once
#include "api/api.h"
#include "api/memory/buffer.h"
#include "negotiate.h"

/* Most bytes that so many can become, and the memory it takes meanwhile, about. */
size_t api_compress_bound(api_coding coding, size_t length);
size_t api_compress_memory(api_coding coding, size_t length);

/* Codes bytes[0..length) into an empty buffer that has room for the bound; not API_CODING_NONE. False with a problem
 * when memory is short or the deadline says so. The same bytes give the same bytes. */
bool api_compress(api_coding coding, const char *bytes, size_t length, const api_deadline *deadline, api_buffer *to,
                  api_problem *problem);
