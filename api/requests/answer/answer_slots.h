/* answer_slots.h - reserve space for the arrays of an answer, and fill it in any order. Private to api/requests/answer.
 *
 * Everything except the numbers of the arrays is written first; each array has a slot of the largest size that it may
 * need. While the states are evaluated, any thread fills the slots chunk by chunk (api_answer_fill). At the end
 * api_answer_slots_close removes the unused space of every slot. Typed arrays of CBOR leave no unused space. The heads
 * of all objects around a slot are final when they are written (api_emit_object_of), so that its offset is final, too.
 */
#pragma once
#include "answer.h"
#include "api/codec/emit.h"

/* One array of numbers in the answer. */
struct api_answer_array {
    api_lanes   a;         /* the numbers, in the lanes of the plan */
    const char *name;      /* name in messages */
    int         operation; /* index in query->selected of its operation; -1: the array belongs to the whole request */
};

/* Returns the array with its numbers in the lanes of the evaluation `e`. */
api_lanes api_answer_array_lanes(const api_evaluation *e, const api_answer_array *array);

/* Fills `found` with the problem that number `fault` of the array (row-major, states first) is not finite. Returns the
 * state of that number. */
size_t api_answer_array_fail(const api_evaluation *e, const api_answer_array *array, size_t fault, api_problem *found);

struct api_answer_slot {
    api_answer_array array;
    size_t           place, room; /* offset and size of the slot in the body, bytes */
    size_t           chunk_room;  /* largest size of a full chunk, bytes */
    size_t          *length;      /* [n_lengths] bytes written, per chunk */
};

/* Allocates memory for the slots; the list of slots is still empty. False with a problem. */
bool api_answer_slots_begin(api_answer *answer, bool in_chunks);

/* Returns the largest number of bytes that the array may take. */
size_t api_answer_slot_room(api_media media, const api_lanes *a);

/* Appends a slot for the array to the body. False with a problem if memory for the slot is short; if the body itself
 * has no space left, its buffer fails. */
bool api_answer_slot_leave(api_answer *answer, const api_answer_array *array);

/* Removes the unused space of all slots from the body. */
void api_answer_slots_close(api_answer *answer);

bool api_fail_outgrown(api_problem *problem);
