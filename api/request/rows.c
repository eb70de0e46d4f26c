/* rows.c - find out how many rows a request has: see rows.h. */
#include "rows.h"
#include "fields.h"
#include <string.h>

bool api_is_batch(const api_node *value, size_t depth)
{
    api_node at = *value, first;
    for (; depth > 0; depth--, at = first)
        if (!api_node_item(&at, 0, &first)) return false;
    return api_node_is(&at, API_ARRAY);
}

size_t api_row_of(const api_query *q, size_t state)
{
    size_t row = q->samples > 0 ? state / q->samples : state;
    return row < q->rows ? row : q->rows - 1;
}

bool api_batch_measure(api_query *q, const api_node *value, const api_place *at)
{
    return !api_is_batch(value, 1) || api_batch_rows(q, api_node_size(value), at);
}

bool api_batch_rows(api_query *q, size_t rows, const api_place *at)
{
    if (q->batched && rows != q->rows)
        return api_fail_at(q->problem, at, API_WRONG_SHAPE,
                           "%zu rows given, but %s has %zu: all batches of a request have the same", rows, q->rows_from,
                           q->rows);
    q->batched = true;
    q->rows    = rows;
    if (q->rows_from) return true;
    api_pointer pointer = api_place_pointer(at);
    char       *from    = api_take(q->pool, pointer.length + 1);
    if (!from) return false;
    q->rows_from = memcpy(from, pointer.text, pointer.length + 1);
    return true;
}
