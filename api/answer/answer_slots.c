/* answer_slots.c - see answer_slots.h. */
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

bool api_answer_slots_begin(api_evaluation *e, bool apart)
{
    api_answer      *answer = api_take(e->pool, sizeof *answer);
    api_answer_slot *gaps   = api_take(e->pool, e->n_arrays * sizeof *gaps);
    if (!answer || !gaps) return false;
    size_t chunks = (e->blocks + e->chunk - 1) / e->chunk;
    *answer       = (api_answer){.apart = apart, .pieces = apart ? chunks : 1, .gaps = gaps};
    e->answer     = answer;
    return true;
}

bool api_answer_slot_leave(api_evaluation *e, const api_answer_array *array)
{
    api_answer      *answer = e->answer;
    api_media        media  = e->call->media;
    api_answer_slot *g      = &answer->gaps[answer->n_slots++];
    *g = (api_answer_slot){.array = *array, .place = e->body.length, .room = api_answer_slot_room(media, &array->a)};
    g->chunk_room = api_emit_lanes_room(media, &array->a, API_CHUNK);
    g->length     = api_take(e->pool, answer->pieces * sizeof *g->length);
    if (!g->length) return false;
    memset(g->length, 0, answer->pieces * sizeof *g->length);
    if (api_buffer_room(&e->body, g->room)) e->body.length += g->room;
    return true;
}

void api_answer_slots_move(api_evaluation *e, size_t first, size_t bytes)
{
    for (size_t i = first; i < e->answer->n_slots; i++)
        e->answer->gaps[i].place += bytes;
}

/* --- what can be wrong ------------------------------------------------------------------------------------------ */

bool api_fail_outgrown(api_problem *problem)
{
    return api_fail(problem, API_INTERNAL_ERROR, NULL, "the answer outgrew its computed size");
}

/* "tau[3]": the entry of one state's array at that place of it. */
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
    size_t           count = 1, samples = e->samples > 0 ? e->samples : 1;
    for (size_t axis = 0; axis < a->rank; axis++)
        count *= a->extent[axis];
    size_t state = fault / count;
    name_entry(a, fault % count, entry, sizeof entry);
    if (e->samples > 0)
        snprintf(entry + strlen(entry), sizeof entry - strlen(entry), " of sample %zu", state % samples);
    api_fail(found, API_RESULT_NOT_FINITE, NULL, "%.64s%s is not finite: figures of this state are too large%s",
             array->name, entry,
             e->model->dyn->mass > 0 ? "" : ", or it would take a mass and nothing that moves has one");
    if (e->batched) found->row = (long long)(state / samples);
    return state;
}

api_lanes api_answer_array_lanes(const api_evaluation *e, const api_answer_array *array)
{
    api_lanes a = array->a;
    a.first     = e->first * e->lanes;
    if (e->held) a.values = e->held + (a.values - e->held_by_all);
    return a;
}

/* --- filling in and closing ------------------------------------------------------------------------------------- */

/* States [first, first + states) of chunk `chunk`, behind what there is of it. */
static bool fill_slot(const api_evaluation *e, const api_answer_slot *g, size_t chunk, size_t first, size_t states,
                      api_problem *problem)
{
    const api_answer *answer = e->answer;
    size_t           *length = &g->length[answer->apart ? chunk : 0], begin = answer->apart ? chunk * g->chunk_room : 0;
    size_t            left = g->room - begin, fault;
    if (answer->apart && left > g->chunk_room) left = g->chunk_room;
    left -= *length;
    api_buffer piece = {.data = e->body.data + g->place + begin + *length, .capacity = left, .maximum = left};
    api_emit   out;
    api_emit_init(&out, e->call->media, &piece);
    api_lanes a = api_answer_array_lanes(e, &g->array);
    if (!api_emit_lanes_states(&out, &a, first, states, &fault)) {
        api_answer_array_fail(e, &g->array, fault, problem);
        return false;
    }
    *length += piece.length;
    return !piece.failed || api_fail_outgrown(problem);
}

bool api_answer_fill(const api_evaluation *e, size_t chunk, size_t begin, size_t end, api_problem *problem)
{
    size_t first = begin * e->lanes, states = api_states(e) - first;
    if (states > (end - begin) * e->lanes) states = (end - begin) * e->lanes;
    for (size_t i = 0; i < e->answer->n_slots; i++)
        if (!fill_slot(e, &e->answer->gaps[i], chunk, first, states, problem)) return false;
    return true;
}

/* To the end of what has moved so far. */
static void move(api_buffer *b, size_t *end, size_t from, size_t bytes)
{
    if (*end != from) memmove(b->data + *end, b->data + from, bytes);
    *end += bytes;
}

void api_answer_slots_close(api_evaluation *e)
{
    const api_answer *answer = e->answer;
    size_t            end = 0, from = 0;
    for (size_t i = 0; i < answer->n_slots; i++) {
        const api_answer_slot *g = &answer->gaps[i];
        move(&e->body, &end, from, g->place - from);
        for (size_t piece = 0; piece < answer->pieces; piece++)
            move(&e->body, &end, g->place + piece * g->chunk_room, g->length[piece]);
        from = g->place + g->room;
    }
    move(&e->body, &end, from, e->body.length - from);
    e->body.length = end;
}
