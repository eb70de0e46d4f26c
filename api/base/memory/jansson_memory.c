/* jansson_memory.c - see jansson_memory.h.
 *
 * The buffer is the first block that the parser allocates, of FIRST bytes. It grows by allocating twice its size and
 * then freeing the old block. Between two allocations of other sizes, which fail in order, at most three blocks of just
 * that size are allocated that are not the buffer: an object's node, its key and its table. Hence SLOTS. */
#include "jansson_memory.h"
#include "shortage.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 16, SLOTS = 4, SMALL = 512 /* bytes of a slot for usual tokens */ };

static _Thread_local struct {
    bool   parsing;
    char  *buffer, *grown; /* the lexer's buffer; the last block allocated with twice its size, to which it grows */
    size_t size;           /* bytes of the buffer; 0: not allocated yet */
    char  *slots;          /* [SLOTS] of `slot_size` bytes: `small`, or allocated */
    size_t slot_size;
    bool   used[SLOTS];
    _Alignas(16) char small[SLOTS * SMALL];
} parser;

bool api_jansson_begin(size_t longest)
{
    size_t slot_size = SMALL;
    while (slot_size < longest + 2)
        slot_size *= 2;
    char *slots = slot_size > SMALL ? malloc(SLOTS * slot_size) : parser.small;
    if (!slots) {
        api_shortage_note();
        return false;
    }
    parser.slots     = slots;
    parser.slot_size = slot_size;
    parser.buffer = parser.grown = NULL;
    parser.size                  = 0;
    parser.parsing               = true;
    memset(parser.used, 0, sizeof parser.used);
    return true;
}

void api_jansson_end(void)
{
    if (parser.slots != parser.small) free(parser.slots);
    parser.slots   = NULL;
    parser.parsing = false;
}

static void *take_slot(size_t bytes)
{
    for (int i = 0; i < SLOTS && bytes <= parser.slot_size; i++)
        if (!parser.used[i]) {
            parser.used[i] = true;
            return parser.slots + (size_t)i * parser.slot_size;
        }
    return NULL;
}

/* Index of the slot of a block; SLOTS or more: it is none. */
static size_t slot_of(const char *memory)
{
    if (!parser.slots || (uintptr_t)memory < (uintptr_t)parser.slots) return SLOTS;
    return ((uintptr_t)memory - (uintptr_t)parser.slots) / parser.slot_size;
}

void *api_jansson_malloc(size_t bytes)
{
    bool  first  = parser.parsing && parser.size == 0;
    bool  grows  = parser.parsing && parser.size > 0 && bytes == 2 * parser.size;
    char *memory = malloc(bytes > 0 ? bytes : 1);
    if (!memory) {
        api_shortage_note();
        memory = grows ? take_slot(bytes) : NULL;
    }
    if (grows) parser.grown = memory;
    if (first) {
        parser.buffer = memory;
        parser.size   = bytes;
    }
    return memory;
}

void api_jansson_free(void *memory)
{
    if (!memory) return;
    if (memory == parser.buffer) {
        parser.buffer = parser.grown;
        parser.size   = parser.grown ? 2 * parser.size : 0;
        parser.grown  = NULL;
    }
    size_t slot = slot_of(memory);
    if (slot < SLOTS)
        parser.used[slot] = false;
    else
        free(memory);
}
