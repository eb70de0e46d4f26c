/* gzip.h - unpack gzip files (RFC 1952) of one or more members in memory, in two passes: the first counts the bytes, so
 * that they are allocated once, and only if they may be. */
#pragma once
#include "api/problem.h"

/* True if the bytes begin as a gzip file. */
bool api_gzip_begins(const char *bytes, size_t length);

/* Counts the bytes that a file unpacks to, and stops once they are more than `most`: then *unpacked is greater than
 * `most`, and the rest of the file is not checked. False with `bad-archive` if the file is damaged; with `memory-full`.
 */
bool api_gzip_count(const char *bytes, size_t length, size_t most, size_t *unpacked, api_problem *problem);

/* Unpacks a file that api_gzip_count has counted to `to`, [unpacked]. False with `memory-full`. */
bool api_gzip_unpack(const char *bytes, size_t length, char *to, size_t unpacked, api_problem *problem);
