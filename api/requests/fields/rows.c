/* rows.c - find out how many rows a request has: see rows.h. */
#include "rows.h"
#include "fields.h"
#include <stdlib.h>
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
    const bool empty = q->model->nv > 0 && api_node_is(value, API_ARRAY) && api_node_size(value) == 0;
    return !(empty || api_is_batch(value, 1)) || api_batch_rows(q, api_node_size(value), at);
}

bool api_is_empty_batch(const api_query *q, const api_node *value)
{
    return q->empty && api_node_is(value, API_ARRAY) && api_node_size(value) == 0;
}

#define ONE_ROW_REMEDY "; a single row is for all rows without its outer brackets"

bool api_batch_rows(api_query *q, size_t rows, const api_place *at)
{
    if (q->batched && rows != api_answered_rows(q))
        return api_fail_at(
            q->problem, at, API_WRONG_SHAPE, "%zu rows given, but %s has %zu: all batches of a request have the same%s",
            rows, q->rows_from, api_answered_rows(q), rows == 1 || api_answered_rows(q) == 1 ? ONE_ROW_REMEDY : "");
    q->batched = true;
    q->empty   = rows == 0;
    q->rows    = rows > 0 ? rows : 1;
    if (q->rows_from) return true;
    api_pointer pointer = api_place_pointer(at);
    char       *from    = api_take(q->pool, pointer.length + 1);
    if (!from) return false;
    q->rows_from = memcpy(from, pointer.text, pointer.length + 1);
    return true;
}

static bool is_index(const char *from, const char *to)
{
    while (from < to && *from >= '0' && *from <= '9')
        from++;
    return from == to;
}

/* True if the field is, or may be, a list of vectors for a single row. */
static bool is_list(const char *name, size_t length)
{
    static const char *const lists[] = {"control_points", "higher_derivatives", "torque_multipliers", "torques",
                                        "values"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strncmp(name, lists[i], length) == 0 && lists[i][length] == '\0') return true;
    return false;
}

/* Returns the row of a JSON pointer. It is the first index of a batch: of two indices for a vector, of three for a list
 * of vectors. Each vector of higher_derivatives is a batch of its own. */
long long api_row_of_pointer(const char *pointer)
{
    enum { MOST = 3 };
    const char *index[MOST + 1] = {0}, *end = pointer + strlen(pointer), *from = end;
    size_t      n = 0;
    for (; n <= MOST; end = index[n++] - 1) {
        for (from = end; from > pointer && from[-1] != '/';)
            from--;
        if (from == pointer || !is_index(from, end)) break;
        index[n] = from;
    }
    const size_t length = (size_t)(end - from);
    if (n > MOST || n != (is_list(from, length) ? 3u : 2u)) return -1;
    return atoll(strncmp(from, "higher", 6) == 0 ? index[1] : index[n - 1]);
}
