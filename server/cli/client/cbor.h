/* cbor.h - write requests and read answers in CBOR (RFC 8949), with arrays of numbers as typed arrays (RFC 8746), by
 * libcbor. */
#pragma once
#include "batch.h"
#include "text.h"

/* Writes a request: the arrays of the batch and the members of its `rest` and of `options` (NULL: none). A member of
 * `options` replaces an array or a member of the same name. False after printing an error. */
bool cli_cbor_write(cli_text *to, const cli_batch *batch, json_t *options);

/* Reads an answer. With `rows` above 0 the answer is batched: an array whose first axis has that length has a row for
 * each state. With `rows` 0 it is one state. Everything that is no array of numbers goes to `rest`. False after
 * printing an error. */
bool cli_cbor_read(const char *bytes, size_t length, size_t rows, cli_batch *batch);
