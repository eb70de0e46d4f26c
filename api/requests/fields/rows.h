/* rows.h - count the rows of a request's batches. */
#pragma once
#include "query.h"

/* True if the value is a batch, an array of rows. `depth`: levels of arrays in a row, 1 for a vector. */
bool api_is_batch(const api_node *value, size_t depth);

/* Sets q->rows if the value is a batch of vectors; an empty array is a batch without rows if the model has coordinates.
 * False with a problem if an earlier batch has another number of rows. */
bool api_batch_measure(api_query *q, const api_node *value, const api_place *at);

/* Sets q->rows to the number of rows of a batch. False with a problem if an earlier batch has another number of
 * rows. */
bool api_batch_rows(api_query *q, size_t rows, const api_place *at);

/* True if the value is an empty array in a request whose batches have no rows. */
bool api_is_empty_batch(const api_query *q, const api_node *value);

/* Returns the row to which a state belongs. Padding states after the last one, which fill its block, get the last
 * row. */
size_t api_row_of(const api_query *q, size_t state);

/* Returns the row that holds the number at a JSON pointer, or -1 if the pointer has too few indices. The pointer ends
 * in one index for each dimension of the field's array. */
long long api_row_of_pointer(const char *pointer);
