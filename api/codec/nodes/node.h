/* node.h - hold a decoded request as a tree of values that is the same for every encoding. A rectangular array of
 * numbers, of rank 1 to 4, is packed: one block of numbers, in the request's memory or, from CBOR, in the body
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

enum { API_PACKED_RANK = 4 };

/* Type of packed numbers, little-endian and unaligned. */
typedef enum api_packing { API_DOUBLES, API_FLOATS } api_packing;

/* A value of a decoded request. The fields are private to node.c and the readers. */
typedef struct api_node {
    const char *key;        /* key of a member of an object, NUL-terminated; NULL: the value is no member */
    uint32_t    key_length; /* bytes */
    uint32_t    key_offset; /* offset of the key in the body, for messages */
    uint8_t     kind;       /* a value of api_kind */
    uint8_t     rank;       /* dimensions of packed numbers, 1 to 4; 0: not packed */
    uint8_t     packing;    /* a value of api_packing */
    bool        unchecked;  /* true: packed numbers that were not yet checked to be finite */
    uint32_t    extent[API_PACKED_RANK]; /* lengths of packed numbers; else [0]: number of items, members or bytes */
    union {
        double                 number;
        const char            *text;    /* text of a string, NUL-terminated */
        const struct api_node *items;   /* items of an array that is not packed, or members in the order of the body */
        const unsigned char   *numbers; /* packed numbers, row-major */
    };
} api_node;

/* Returns the kind of a node for messages: "a number", "an object" ...; for NULL "nothing". */
const char *api_node_kind_text(const api_node *node);
/* Returns a hint to append to a message about a node of the wrong kind: "", or "; " and which encoders write such a
 * node. */
const char *api_node_remedy(const api_node *node);
/* Returns the number of items of an array or members of an object; 0 for other nodes and NULL. */
size_t api_node_size(const api_node *node);

/* True if the node is of this kind; packed numbers count as API_ARRAY, and NULL is of no kind. */
static inline bool api_node_is(const api_node *node, api_kind kind)
{
    return node && node->kind == kind;
}

/* Returns the member of an object with this key; NULL if there is no such member, or `object` is NULL or no object. */
const api_node *api_node_get(const api_node *object, const char *key);
/* Return the key and the value of member i, counted in the order of the body; i < size. */
const char     *api_node_key(const api_node *object, size_t i);
const api_node *api_node_value(const api_node *object, size_t i);

/* Sets `item` to item i of an array; a row of packed numbers is a packed array, too. False if `array` is no array or
 * has no item i. */
bool api_node_item(const api_node *array, size_t i, api_node *item);

double      api_node_number(const api_node *node);                 /* only for API_NUMBER */
const char *api_node_string(const api_node *node, size_t *length); /* only for API_STRING; `length` may be NULL */

/* Returns the rank of packed numbers, 1 to 4, and writes their extents; 0: not packed. An empty array has rank 1 and
 * extent 0. */
size_t api_node_packed(const api_node *node, size_t extent[API_PACKED_RANK]);
/* Copies numbers [first, first + count) of a packed array, in row-major order, to `to`. */
void api_node_numbers(const api_node *node, size_t first, size_t count, double *to);
/* Returns the address of number `first` of packed doubles, possibly unaligned; NULL if the numbers are not doubles. */
const void *api_node_doubles(const api_node *node, size_t first);

/* --- for the readers -------------------------------------------------------------------------------------------- */

enum { API_NODE_UNINDEXED_MAX = 16 }; /* an object with more members has an index sorted by key */

/* Returns the bytes to allocate for the members of an object and their index. */
size_t api_node_members_bytes(size_t members);
/* Sorts the index of an object, whose `items` must have space for the index. Returns the later of two members with the
 * same key, or NULL if all keys differ. */
const api_node *api_node_find_repeated_key(const api_node *object);
/* Returns the index of the first of `count` packed numbers that is not finite; `count` if all are finite. */
size_t api_node_find_non_finite(const api_node *node, size_t count);
