/* rows.h - the rows of batches: how many a request has. */
#pragma once
#include "query.h"

/* True if the value is a batch, of rows that are `depth` levels of arrays each: 1 for vectors. */
bool api_is_batch(const api_node *value, size_t depth);

/* Notes the number of rows if the field is a batch of vectors. False with a problem: another batch has another number.
 */
bool api_batch_measure(api_query *q, const api_node *value, const api_place *at);

/* Notes a batch of so many rows. */
bool api_batch_rows(api_query *q, size_t rows, const api_place *at);

/* The row of a state. The states behind the last one, which fill its block, belong to the last row. */
size_t api_row_of(const api_query *q, size_t state);
