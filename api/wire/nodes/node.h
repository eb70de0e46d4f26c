/* node.h - a request for dynamics as a tree of values, whatever encoding it came in. Whatever decodes a request
 * looks at nodes alone. Arrays of numbers, of equal rows of numbers, and of equal tables
 * of such rows are packed: one block of numbers instead of a node for each, in memory of the request or, from CBOR,
 * where they stand in the body. Numbers are finite, but for what the reader has left `unchecked`: batches of states, on
 * their way into lanes, where it costs least. Texts are UTF-8 without U+0000, and an object has every key once.
 *
 * Nodes live as long as the request's scratch memory and body. All functions may be called from any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum api_kind { API_NULL, API_FALSE, API_TRUE, API_NUMBER, API_STRING, API_ARRAY, API_OBJECT } api_kind;

enum { API_PACKED_RANK = 3 };

/* How packed numbers stand in memory, little-endian and not aligned. */
typedef enum api_packing { API_DOUBLES, API_FLOATS } api_packing;

/* Fields are private to node.c and the readers. */
typedef struct api_node {
    const char *key;                     /* of a member, NUL-terminated; NULL: none */
    uint32_t    key_length;              /* bytes */
    uint32_t    key_offset;              /* in the body, for messages of the reader */
    uint8_t     kind;                    /* api_kind */
    uint8_t     rank;                    /* of packed numbers; 0: not packed */
    uint8_t     packing;                 /* api_packing */
    bool        unchecked;               /* of packed numbers: nobody has looked yet whether they are finite */
    uint32_t    extent[API_PACKED_RANK]; /* of packed numbers; [0] else: items, members, bytes of text */
    union {
        double                 number;
        const char            *text;    /* NUL-terminated */
        const struct api_node *items;   /* of an array that is not packed, or members in order of the text */
        const unsigned char   *numbers; /* packed, row-major */
    };
} api_node;

/* "a number", "an object" ...: the kind, for messages. NULL is "nothing". */
const char *api_node_kind_text(const api_node *node);
/* Items of an array, members of an object, else 0; also for NULL. */
size_t api_node_size(const api_node *node);

/* Packed numbers are API_ARRAY to everybody who asks. */
static inline bool api_node_is(const api_node *node, api_kind kind)
{
    return node && node->kind == kind;
}

/* The member of that key; NULL when there is none, or no object. `object` may be NULL. */
const api_node *api_node_get(const api_node *object, const char *key);
/* Members in order of the text, i < size. */
const char     *api_node_key(const api_node *object, size_t i);
const api_node *api_node_value(const api_node *object, size_t i);

/* Makes `item` a view of item i; a row of packed numbers is again packed. False: there is none, or no array. */
bool api_node_item(const api_node *array, size_t i, api_node *item);

double      api_node_number(const api_node *node);                 /* of API_NUMBER */
const char *api_node_string(const api_node *node, size_t *length); /* of API_STRING; `length` may be NULL */

/* Rank 1 to 3 and extents of packed numbers, row-major; 0: not packed. An empty array has rank 1 and extent 0. */
size_t api_node_packed(const api_node *node, size_t extent[API_PACKED_RANK]);
/* Copies numbers [first, first + count) of a packed node. */
void api_node_numbers(const api_node *node, size_t first, size_t count, double *to);
/* Number `first` of a packed node as it stands, if they are doubles; NULL: they are not. */
const void *api_node_doubles(const api_node *node, size_t first);

/* --- for the readers -------------------------------------------------------------------------------------------- */

enum { API_NODE_UNINDEXED_MAX = 16 }; /* objects of more members have an index of them, sorted by key */

/* Bytes of an object's members and their index. */
size_t api_node_members_bytes(size_t members);
/* Makes the index of an object whose `items` have room for it, and looks for two members of the same key: returns the
 * later of them, NULL: there are none. */
const api_node *api_node_find_repeated_key(const api_node *object);
/* The first of `count` packed numbers, as they stand in a body, that is not finite; `count`: all are. */
size_t api_node_find_non_finite(const api_node *node, size_t count);
