/* answer_slots.c - reserve, fill and close the slots of arrays in the answer: see answer_slots.h. */
#include "answer_slots.h"
#include <stdio.h>
#include <string.h>

/* --- room ------------------------------------------------------------------------------------------------------- */

size_t api_answer_slot_room(api_media media, const api_lanes *a)
{
    size_t whole = a->states / API_CHUNK, left = a->states % API_CHUNK;
    return (whole > 0 ? whole * api_emit_lanes_room(media, a, API_CHUNK) : 0) +
           (left > 0 ? api_emit_lanes_room(media, a, left) : 0);
}

bool api_answer_slots_begin(api_answer *answer, bool in_chunks)
{
    const api_plan *plan = answer->plan;
    answer->in_chunks    = in_chunks;
    answer->n_lengths    = in_chunks ? (plan->blocks + plan->chunk - 1) / plan->chunk : 1;
    answer->slots        = api_take(plan->query->pool, answer->n_arrays * sizeof *answer->slots);
    return answer->slots != NULL;
}

bool api_answer_slot_leave(api_answer *answer, const api_answer_array *array)
{
    const api_query *q     = answer->plan->query;
    api_media        media = q->call->media;
    api_answer_slot *s     = &answer->slots[answer->n_slots++];
    *s                     = (api_answer_slot){.array = *array, .place = answer->body->length};
    s->room                = api_answer_slot_room(media, &array->a);
    s->chunk_room          = api_emit_lanes_room(media, &array->a, API_CHUNK);
    s->length              = api_take(q->pool, answer->n_lengths * sizeof *s->length);
    if (!s->length) return false;
    memset(s->length, 0, answer->n_lengths * sizeof *s->length);
    if (api_buffer_room(answer->body, s->room)) answer->body->length += s->room;
    return true;
}

/* --- what can be wrong ------------------------------------------------------------------------------------------ */

bool api_fail_outgrown(api_problem *problem)
{
    return api_fail(problem, API_INTERNAL_ERROR, NULL,
                    "a defect of the server, not of the request: the answer is longer than the size reserved for it");
}

/* Writes the indices of entry `place` of one state's row-major array, such as "[3]". */
static void name_entry(const api_lanes *a, size_t place, char *text, size_t size)
{
    size_t count = 1, n = 0;
    for (size_t axis = 0; axis < a->rank; axis++)
        count *= a->extent[axis];
    for (size_t axis = 0; axis < a->rank; axis++) {
        count /= a->extent[axis];
        n += (size_t)snprintf(text + n, size - n, "[%zu]", place / count % a->extent[axis]);
    }
}

size_t api_answer_array_fail(const api_evaluation *e, const api_answer_array *array, size_t fault, api_problem *found)
{
    const api_lanes *a          = &array->a;
    char             entry[100] = "";
    size_t           count = 1, samples = e->query->samples > 0 ? e->query->samples : 1;
    for (size_t axis = 0; axis < a->rank; axis++)
        count *= a->extent[axis];
    size_t state = fault / count;
    name_entry(a, fault % count, entry, sizeof entry);
    if (e->query->samples > 0)
        snprintf(entry + strlen(entry), sizeof entry - strlen(entry), " of sample %zu", state % samples);
    api_fail(found, API_RESULT_NOT_FINITE, NULL, "%.64s%s is not finite: figures of this state are too large%s",
             array->name, entry,
             e->model->dyn->mass > 0 ? "" : ", or it would take a mass and nothing that moves has one");
    if (e->query->batched) found->row = (long long)(state / samples);
    return state;
}

api_lanes api_answer_array_lanes(const api_evaluation *e, const api_answer_array *array)
{
    api_lanes a = array->a;
    a.first     = e->first * e->lanes;
    if (e->window_lanes) a.values = e->window_lanes + (a.values - e->plan->window_lanes);
    return a;
}

/* --- filling in and closing ------------------------------------------------------------------------------------- */

/* Writes states [first, first + states) into the slot, after the states of chunk `chunk` that are already written. */
static bool fill_slot(const api_answer *answer, const api_evaluation *e, const api_answer_slot *s, size_t chunk,
                      size_t first, size_t states)
{
    size_t *length = &s->length[answer->in_chunks ? chunk : 0], begin = answer->in_chunks ? chunk * s->chunk_room : 0;
    size_t  left = s->room - begin, fault;
    if (answer->in_chunks && left > s->chunk_room) left = s->chunk_room;
    left -= *length;
    api_buffer piece = {.data = answer->body->data + s->place + begin + *length, .capacity = left, .maximum = left};
    api_emit   out;
    api_emit_init(&out, e->query->call->media, &piece);
    api_lanes a = api_answer_array_lanes(e, &s->array);
    if (!api_emit_lanes_states(&out, &a, first, states, &fault)) {
        api_answer_array_fail(e, &s->array, fault, e->problem);
        return false;
    }
    *length += piece.length;
    return !piece.failed || api_fail_outgrown(e->problem);
}

bool api_answer_fill(const api_answer *answer, const api_evaluation *e, size_t chunk, size_t begin, size_t end)
{
    size_t first = begin * e->lanes, states = api_states(e->query) - first;
    if (states > (end - begin) * e->lanes) states = (end - begin) * e->lanes;
    for (size_t i = 0; i < answer->n_slots; i++)
        if (!fill_slot(answer, e, &answer->slots[i], chunk, first, states)) return false;
    return true;
}

/* Moves `bytes` bytes from offset `from` to offset `*end` of the buffer, and advances `*end`. */
static void move(api_buffer *b, size_t *end, size_t from, size_t bytes)
{
    if (*end != from) memmove(b->data + *end, b->data + from, bytes);
    *end += bytes;
}

void api_answer_slots_close(api_answer *answer)
{
    api_buffer *body = answer->body;
    size_t      end = 0, from = 0;
    for (size_t i = 0; i < answer->n_slots; i++) {
        const api_answer_slot *s = &answer->slots[i];
        move(body, &end, from, s->place - from);
        for (size_t k = 0; k < answer->n_lengths; k++)
            move(body, &end, s->place + k * s->chunk_room, s->length[k]);
        from = s->place + s->room;
    }
    move(body, &end, from, body->length - from);
    body->length = end;
}
