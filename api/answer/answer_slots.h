/* answer_slots.h - private to the answer: the room that its arrays have in it.
 *
 * Everything but the numbers of the arrays is written first; each array has a slot, as long as it can get. The slots
 * are filled chunk by chunk (api_answer_fill), as the states are evaluated, by any thread. In the end the unused room
 * of every slot is closed (api_answer_slots_close). Typed arrays of CBOR need all of their room. */
#pragma once
#include "answer.h"
#include "api/wire/emit.h"

/* An array of the answer. */
struct api_answer_array {
    api_lanes   a;         /* lanes of the plan */
    const char *name;      /* for messages */
    int         operation; /* index in query->selected; -1: an array of all operations */
};

/* The array in the lanes of `e`. */
api_lanes api_answer_array_lanes(const api_evaluation *e, const api_answer_array *array);

/* Fills `found` for number `fault` of the array, states first, which is not finite. Returns its state. */
size_t api_answer_array_fail(const api_evaluation *e, const api_answer_array *array, size_t fault, api_problem *found);

struct api_answer_slot {
    api_answer_array array;
    size_t           place, room; /* in the body */
    size_t           chunk_room;  /* of a whole chunk, at most */
    size_t          *length;      /* [n_lengths] bytes that are written */
};

/* Takes memory for the slots, of which there are none yet. False with a problem. */
bool api_answer_slots_begin(api_answer *answer, bool in_chunks);

/* The most bytes that the array takes. */
size_t api_answer_slot_room(api_media media, const api_lanes *a);

/* Leaves a slot for the array at the end of the body. False with a problem; where the body has no room, its buffer
 * notes that. */
bool api_answer_slot_leave(api_answer *answer, const api_answer_array *array);

/* Slots from number `first` on are so many bytes further in the body. */
void api_answer_slots_move(api_answer *answer, size_t first, size_t bytes);

/* Closes the unused room of all slots. */
void api_answer_slots_close(api_answer *answer);

bool api_fail_outgrown(api_problem *problem);
