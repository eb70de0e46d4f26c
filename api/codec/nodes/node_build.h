/* node_build.h - build the nodes of a request, one value after another, for its readers.
 *
 *     api_build_start  ->  api_build_open, api_build_key, values ..., api_build_close  ->  b->root
 *
 * The numbers of an array are collected in one block, rows of the same shape one after another. Nodes are made for
 * them only when a value of another kind follows. Every function returns false, and sets the problem of the pool,
 * when memory is short or the deadline has passed; the memory of a partial tree is released with the request. */
#pragma once
#include "api/base/memory/pool.h"
#include "node.h"
#include "node_read.h"
#include "api/codec/pointer.h"

/* An array or object that is not closed yet. */
typedef struct api_open_value {
    bool        object;
    bool        nulls;   /* object: some member is null, which counts as absent */
    bool        packing; /* array: so far all items are numbers, or packed arrays of one shape */
    uint8_t     rank;    /* dimensions of each packed item; 0: the items are numbers */
    uint32_t    extent[API_PACKED_RANK - 1];
    size_t      count;        /* number of packed items */
    size_t      first_number; /* index of the first number of the packed items */
    size_t      first;        /* stack index of the first child: an item that is not packed, or a member */
    const char *key;          /* object: key of the next value */
    uint32_t    key_length, key_offset;
} api_open_value;

typedef struct api_builder {
    api_pool           *pool;
    const api_deadline *deadline; /* checked while many numbers move to a larger block; NULL: none */
    bool                late;     /* the deadline has passed */
    api_open_value     *open;     /* [nesting] arrays and objects that are not closed yet */
    size_t              depth, nesting;
    api_node           *stack; /* finished values of the arrays and objects that are still open */
    size_t              used, capacity;
    double             *numbers;
    size_t              n_numbers, numbers_capacity;
    char               *room, *room_end; /* free part of the block from which small pieces are allocated */
    api_node            root;            /* the finished tree, once everything is closed */
} api_builder;

/* Initialises a builder with the pool, the nesting limit and the deadline of `options`. `numbers`: estimated count of
 * the numbers in arrays, which sizes their first block; it may be too low. */
bool api_build_start(api_builder *b, const api_read_options *options, size_t numbers);

/* True if one more array or object would exceed the nesting limit; then api_build_open must not be called. */
static inline bool api_build_at_nesting_limit(const api_builder *b)
{
    return b->depth == b->nesting;
}
bool api_build_open(api_builder *b, bool object);
/* Closes the innermost array or object. Leaves out the members of an object that are null: fields that are null are
 * absent. False with 400 when an object has a key twice, be it with null. */
bool api_build_close(api_builder *b);

/* Sets the key of the next value; the key is copied. `offset` is the offset of the key in the body. */
bool api_build_key(api_builder *b, const char *key, size_t length, size_t offset);
bool api_build_string(api_builder *b, const char *text, size_t length); /* the text is copied */
bool api_build_constant(api_builder *b, api_kind kind);                 /* `kind`: null, true or false */
bool api_build_unpacked_number(api_builder *b, double number);          /* adds a number without packing */
/* Adds packed numbers, which stay in the body or in the request's memory. */
bool api_build_packed(api_builder *b, const api_node *numbers);
bool api_build_grow_numbers(api_builder *b, size_t count); /* makes space for `count` more numbers */

static inline bool api_build_number(api_builder *b, double number)
{
    api_open_value *top = b->depth > 0 ? &b->open[b->depth - 1] : NULL;
    if (!top || !top->packing || top->rank > 0) return api_build_unpacked_number(b, number);
    if (b->n_numbers == b->numbers_capacity && !api_build_grow_numbers(b, 1)) return false;
    b->numbers[b->n_numbers++] = number;
    top->count++;
    return true;
}

/* Returns the address for the next numbers of the innermost array, and in `*room` how many fit: at least one. NULL if
 * that array has items other than numbers, or if memory is short. api_build_commit_rows then counts the numbers that
 * were written. */
static inline double *api_build_reserve_numbers(api_builder *b, size_t *room)
{
    const api_open_value *top = b->depth > 0 ? &b->open[b->depth - 1] : NULL;
    if (!top || !top->packing || top->rank > 0) return NULL;
    if (b->n_numbers == b->numbers_capacity && !api_build_grow_numbers(b, 1)) return NULL;
    *room = b->numbers_capacity - b->n_numbers;
    return b->numbers + b->n_numbers;
}

/* Returns the count of numbers in a row if the innermost array is empty and the rows before it in its array all have
 * that count; 0 otherwise. */
static inline size_t api_build_row_width(const api_builder *b)
{
    const api_open_value *row = &b->open[b->depth - 1], *rows = row - 1;
    return b->depth > 1 && row->count == 0 && rows->packing && rows->rank == 1 ? rows->extent[0] : 0;
}

/* Records `numbers` that were just written to the innermost array. With a width they fill successive rows of that width
 * in the array around it; all rows but the last are closed. */
static inline void api_build_commit_rows(api_builder *b, size_t numbers, size_t width)
{
    api_open_value *row    = &b->open[b->depth - 1];
    size_t          closed = width > 0 && numbers > 0 ? (numbers - 1) / width : 0;
    b->n_numbers += numbers;
    row->count += numbers - closed * width;
    row->first_number += closed * width;
    if (closed > 0) row[-1].count += closed;
}

/* Returns the JSON pointer of the next value, for messages. */
api_pointer api_build_pointer(const api_builder *b);
