/* node.h - hold a decoded request as a tree of values that is the same for every encoding. A rectangular array of
 * numbers, of rank 1 to 3, is packed: one block of numbers, in the request's memory or, from CBOR, in the body
 * itself. All numbers are finite, except in arrays marked `unchecked`: batches of states, which are checked while
 * they are copied into lanes, where it costs least. Texts are UTF-8 without U+0000, and no object has a key twice.
 *
 * Nodes live as long as the scratch memory and the body of the request. Every function may be called from any
 * thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum api_kind { API_NULL, API_FALSE, API_TRUE, API_NUMBER, API_STRING, API_ARRAY, API_OBJECT } api_kind;

enum { API_PACKED_RANK = 3 };

/* Type of packed numbers, little-endian and unaligned. */
typedef enum api_packing { API_DOUBLES, API_FLOATS } api_packing;

/* Fields are private to node.c and the readers. */
typedef struct api_node {
    const char *key;        /* of a member of an object, NUL-terminated; NULL: no member */
    uint32_t    key_length; /* bytes */
    uint32_t    key_offset; /* offset in the body, for messages */
    uint8_t     kind;       /* api_kind */
    uint8_t     rank;       /* of packed numbers, 1 to 3; 0: not packed */
    uint8_t     packing;    /* api_packing */
    bool        unchecked;  /* packed numbers that were not yet checked to be finite */
    uint32_t
        extent[API_PACKED_RANK]; /* of packed numbers; otherwise [0] is the number of items, members or bytes of text */
    union {
        double                 number;
        const char            *text;    /* NUL-terminated */
        const struct api_node *items;   /* items of an array that is not packed, or members in the order of the body */
        const unsigned char   *numbers; /* packed, row-major */
    };
} api_node;

/* The kind for messages: "a number", "an object" ...; NULL is "nothing". */
const char *api_node_kind_text(const api_node *node);
/* Number of items of an array or members of an object; 0 for other nodes and NULL. */
size_t api_node_size(const api_node *node);

/* Packed numbers count as API_ARRAY. `node` may be NULL. */
static inline bool api_node_is(const api_node *node, api_kind kind)
{
    return node && node->kind == kind;
}

/* The member with that key; NULL when there is none or `object` is not an object. `object` may be NULL. */
const api_node *api_node_get(const api_node *object, const char *key);
/* Key and value of member i, in the order of the body; i < size. */
const char     *api_node_key(const api_node *object, size_t i);
const api_node *api_node_value(const api_node *object, size_t i);

/* Makes `item` a view of item i; a row of packed numbers is packed too. False when there is no such item or no
 * array. */
bool api_node_item(const api_node *array, size_t i, api_node *item);

double      api_node_number(const api_node *node);                 /* only for API_NUMBER */
const char *api_node_string(const api_node *node, size_t *length); /* only for API_STRING; `length` may be NULL */

/* Returns the rank of packed numbers, 1 to 3, and writes their extents; 0: not packed. An empty array has rank 1 and
 * extent 0. */
size_t api_node_packed(const api_node *node, size_t extent[API_PACKED_RANK]);
/* Copies numbers [first, first + count), in row-major order, to `to`. */
void api_node_numbers(const api_node *node, size_t first, size_t count, double *to);
/* Address of number `first` of packed doubles, possibly unaligned; NULL when the numbers are not doubles. */
const void *api_node_doubles(const api_node *node, size_t first);

/* --- for the readers -------------------------------------------------------------------------------------------- */

enum { API_NODE_UNINDEXED_MAX = 16 }; /* an object with more members has an index sorted by key */

/* Bytes to allocate for the members of an object and their index. */
size_t api_node_members_bytes(size_t members);
/* Sorts the index of an object, whose `items` must have room for it, and looks for two members with one key: returns
 * the later one, or NULL. */
const api_node *api_node_find_repeated_key(const api_node *object);
/* Index of the first of `count` packed numbers that is not finite; `count` when all are finite. */
size_t api_node_find_non_finite(const api_node *node, size_t count);
