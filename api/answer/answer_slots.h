/* answer_slots.h - private to the answer: the places that its arrays have in it.
 *
 * What an answer says beside its arrays is written first, each array being left a gap as long as it can get. Then the
 * gaps are filled in chunk by chunk (api_answer_fill), as states are evaluated and by whoever does, and at last what
 * did not need all of its gap moves together (api_answer_slots_close). Typed arrays of CBOR are as long as was
 * expected, and nothing moves. */
#pragma once
#include "api/wire/emit.h"
#include "api/lanes/evaluation.h"

/* An array of the answer, whose lanes are those of the evaluation that describes it. */
typedef struct api_answer_array {
    api_lanes   a;
    const char *name;      /* for messages */
    int         operation; /* index in e->selected; -1: an array of all operations */
} api_answer_array;

/* The lanes that `e`, a seat, has of it. */
api_lanes api_answer_array_lanes(const api_evaluation *e, const api_answer_array *array);

/* Fills `found` for number `fault` of the array, states first, which is not finite. Returns its state. */
size_t api_answer_array_fail(const api_evaluation *e, const api_answer_array *array, size_t fault, api_problem *found);

typedef struct api_answer_slot {
    api_answer_array array;
    size_t           place, room; /* in the body */
    size_t           chunk_room;  /* of a whole chunk, at most */
    size_t          *length;      /* bytes there are: of each chunk, if they are filled in apart, else of all */
} api_answer_slot;

typedef struct api_answer {
    bool             apart;
    size_t           pieces; /* lengths of each gap */
    size_t           n_slots;
    api_answer_slot *gaps; /* [e->n_arrays] in order */
} api_answer;

/* e->answer, without gaps. */
bool api_answer_slots_begin(api_evaluation *e, bool apart);

/* Most bytes that the array takes. */
size_t api_answer_slot_room(api_media media, const api_lanes *a);

/* Leaves room for the array in e->body. False with a problem; the buffer tells when it has no room. */
bool api_answer_slot_leave(api_evaluation *e, const api_answer_array *array);

/* Gaps from number `first` on stand so many bytes further. */
void api_answer_slots_move(api_evaluation *e, size_t first, size_t bytes);

/* Moves together what did not need all of its room. */
void api_answer_slots_close(api_evaluation *e);

bool api_fail_outgrown(api_problem *problem);
