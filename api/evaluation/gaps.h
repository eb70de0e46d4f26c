/* gaps.h - private to the answer: the places that its arrays have in it.
 *
 * What an answer says beside its arrays is written first, each array being left a gap as long as it can get. Then the
 * gaps are filled in chunk by chunk (api_answer_fill), as states are evaluated and by whoever does, and at last what
 * did not need all of its gap moves together (api_answer_close). Typed arrays of CBOR are as long as was expected, and
 * nothing moves. */
#pragma once
#include "api/wire/emit.h"
#include "evaluation.h"

typedef struct api_gap {
    api_lanes   a;
    const char *name;
    size_t      place, room; /* in the body */
    size_t      chunk_room;  /* of a whole chunk, at most */
    size_t     *length;      /* bytes there are: of each chunk, if they are filled in apart, else of all */
} api_gap;

typedef struct api_answer {
    const double *held; /* of the evaluation that the arrays' lanes belong to */
    bool          apart;
    size_t        pieces; /* lengths of each gap */
    size_t        n_gaps;
    api_gap      *gaps; /* [e->n_arrays] in order */
} api_answer;

/* e->answer, without gaps. */
bool api_gaps_begin(api_evaluation *e, bool apart);

/* Most bytes that the array takes. */
size_t api_gap_room(api_media media, const api_lanes *a);

/* Leaves room for the array, which messages call `name`, in e->body. False with a problem; the buffer tells when it has
 * no room. */
bool api_gap_leave(api_evaluation *e, const api_lanes *a, const char *name);

/* Gaps from number `first` on stand so many bytes further. */
void api_gaps_move(api_evaluation *e, size_t first, size_t bytes);

bool api_fail_outgrown(api_problem *problem);
