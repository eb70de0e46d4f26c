/* node_build.h - putting a request's nodes together, for its readers: value after value as they come.
 *
 *     api_build_start  ->  api_build_open, api_build_key, values ..., api_build_close  ->  b->root
 *
 * Numbers of an array are gathered in one block, rows of the same shape one behind the other, and no node is made for
 * them until something else turns up among them. Every function returns false with the problem of the pool when memory
 * is short; what was built until then goes with the request. */
#pragma once
#include "api/memory/pool.h"
#include "node.h"
#include "api/wire/pointer.h"

/* An array or object that is not closed yet. */
typedef struct api_open_value {
    bool        object;
    bool        packing; /* array: all items so far are numbers, or packed and of one shape */
    uint8_t     rank;    /* of these items; 0: numbers */
    uint32_t    extent[API_PACKED_RANK - 1];
    size_t      count;        /* of these items */
    size_t      first_number; /* of these items */
    size_t      first;        /* on the stack, of other items or of members */
    const char *key;          /* object: of the value to come */
    uint32_t    key_length, key_offset;
} api_open_value;

typedef struct api_builder {
    api_pool       *pool;
    api_open_value *open; /* [nesting] */
    size_t          depth, nesting;
    api_node       *stack; /* values that are closed, of what is not */
    size_t          used, capacity;
    double         *numbers;
    size_t          n_numbers, numbers_capacity;
    char           *room, *room_end; /* small pieces of memory are cut from here */
    api_node        root;            /* the finished tree, when everything is closed */
} api_builder;

/* `numbers`: about how many there will be in arrays, or fewer; their first block has room for them. */
bool api_build_start(api_builder *b, api_pool *pool, unsigned nesting, size_t numbers);

/* Whether one more array or object would be nested too deeply; then api_build_open must not be called. */
static inline bool api_build_at_nesting_limit(const api_builder *b)
{
    return b->depth == b->nesting;
}
bool api_build_open(api_builder *b, bool object);
/* False with 400 when the object has a key twice. */
bool api_build_close(api_builder *b);

/* Key of the value that comes next; a copy. `offset` is where it stands in the body. */
bool api_build_key(api_builder *b, const char *key, size_t length, size_t offset);
bool api_build_string(api_builder *b, const char *text, size_t length); /* a copy */
bool api_build_constant(api_builder *b, api_kind kind);                 /* null, true, false */
bool api_build_unpacked_number(api_builder *b, double number);          /* one that cannot be packed */
/* Packed numbers that stand in the body (or wherever the request's memory is). */
bool api_build_packed(api_builder *b, const api_node *numbers);
bool api_build_grow_numbers(api_builder *b, size_t count); /* room for them */

static inline bool api_build_number(api_builder *b, double number)
{
    api_open_value *top = b->depth > 0 ? &b->open[b->depth - 1] : NULL;
    if (!top || !top->packing || top->rank > 0) return api_build_unpacked_number(b, number);
    if (b->n_numbers == b->numbers_capacity && !api_build_grow_numbers(b, 1)) return false;
    b->numbers[b->n_numbers++] = number;
    top->count++;
    return true;
}

/* Where the next numbers of the innermost array go, if it has had nothing else so far, and room for how many: one at
 * least. NULL: it is another, or memory is short. And when so many of them are there. */
static inline double *api_build_reserve_numbers(api_builder *b, size_t *room)
{
    const api_open_value *top = b->depth > 0 ? &b->open[b->depth - 1] : NULL;
    if (!top || !top->packing || top->rank > 0) return NULL;
    if (b->n_numbers == b->numbers_capacity && !api_build_grow_numbers(b, 1)) return NULL;
    *room = b->numbers_capacity - b->n_numbers;
    return b->numbers + b->n_numbers;
}
static inline void api_build_commit_numbers(api_builder *b, size_t numbers)
{
    b->n_numbers += numbers;
    b->open[b->depth - 1].count += numbers;
}

/* Where the next value would stand, for messages. */
api_pointer api_build_pointer(const api_builder *b);
