/* answer.c - from lanes to an answer: how long it can get, and writing it.
 *
 * What an answer says beside its arrays is written first, each array being left a gap as long as it can get. Then the
 * gaps are filled in chunk by chunk, as states are evaluated and by whoever does, and at last what did not need all of
 * its gap moves together. Typed arrays of CBOR are as long as was expected, and nothing moves. */
#include "closing.h"
#include "emit.h"
#include "operation.h"
#include "parts.h"
#include "platform.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An array's place in the answer. */
typedef struct gap {
    api_lanes   a;
    const char *name;
    size_t      place, room; /* in the body */
    size_t      chunk_room;  /* of a whole chunk, at most */
    size_t     *length;      /* bytes there are: of each chunk, if they are filled in apart, else of all */
} gap;

typedef struct api_answer {
    const double *held; /* of the evaluation that the arrays' lanes belong to */
    bool          apart;
    size_t        pieces; /* lengths of each gap */
    size_t        n_gaps;
    gap          *gaps; /* [e->n_arrays] in order */
} api_answer;

/* An answer on its way out, or measured: then of `states` states, and there are no lanes yet. */
typedef struct writer {
    api_evaluation *e;
    api_emit        out;
    size_t          states;
    size_t          arrays; /* so far */
} writer;

static api_lanes lanes_of(const writer *w, const double *lanes, size_t entries, size_t first)
{
    const api_evaluation *e = w->e;
    return (api_lanes){
        .at      = lanes ? lanes + first * e->lanes : NULL,
        .kernels = e->call->api->kernels,
        .entries = entries,
        .states  = w->states,
        .batched = e->batched || e->samples > 0,
        .group   = e->batched ? e->samples : 0,
    };
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

static bool fail_not_finite(const api_evaluation *e, const api_lanes *a, const char *name, size_t fault,
                            api_problem *problem)
{
    char   entry[100] = "";
    size_t count = 1, samples = e->samples > 0 ? e->samples : 1;
    for (size_t axis = 0; axis < a->rank; axis++)
        count *= a->extent[axis];
    size_t state = fault / count;
    name_entry(a, fault % count, entry, sizeof entry);
    if (e->samples > 0)
        snprintf(entry + strlen(entry), sizeof entry - strlen(entry), " of sample %zu", state % samples);
    api_fail(problem, API_RESULT_NOT_FINITE, NULL, "%.64s%s is not finite: figures of this state are too large%s", name,
             entry, e->model->dyn->mass > 0 ? "" : ", or it would take a mass and nothing that moves has one");
    if (e->batched) problem->row = (long long)(state / samples);
    return false;
}

static bool fail_outgrown(api_problem *problem)
{
    return api_fail(problem, API_INTERNAL_ERROR, NULL, "the answer outgrew its computed size");
}

/* --- the arrays ------------------------------------------------------------------------------------------------- */

/* Most bytes of a chunk with so many states. */
static size_t most_bytes(const writer *w, const api_lanes *a, size_t states)
{
    api_emit measure = {.media = w->out.media};
    size_t   none;
    api_emit_lanes_states(&measure, a, 0, states, &none);
    return measure.bytes;
}

/* Of all chunks. */
static size_t room_of(const writer *w, const api_lanes *a)
{
    size_t whole = a->states / API_CHUNK, left = a->states % API_CHUNK;
    return (whole > 0 ? whole * most_bytes(w, a, API_CHUNK) : 0) + (left > 0 ? most_bytes(w, a, left) : 0);
}

static bool leave_gap(writer *w, const api_lanes *a, const char *name)
{
    api_evaluation *e      = w->e;
    api_answer     *answer = e->answer;
    gap            *g      = &answer->gaps[answer->n_gaps++];
    api_buffer     *to     = w->out.to;
    *g                     = (gap){.a = *a, .name = name, .place = to->length, .room = room_of(w, a)};
    g->length              = api_take(e, answer->pieces * sizeof *g->length);
    if (!g->length) return false;
    memset(g->length, 0, answer->pieces * sizeof *g->length);
    g->chunk_room = most_bytes(w, a, API_CHUNK);
    if (!api_buffer_room(to, g->room)) return true; /* `failed` tells */
    to->length += g->room;
    return true;
}

static bool emit_array(writer *w, const api_lanes *a, const char *name)
{
    w->arrays++;
    api_emit_lanes_begin(&w->out, a);
    if (w->out.to && !leave_gap(w, a, name)) return false;
    if (!w->out.to) w->out.bytes += room_of(w, a);
    api_emit_lanes_end(&w->out, a);
    return true;
}

/* Ends an object. A long one's head in CBOR is known now, and what is in it moves, with gaps from `first` on. */
static void end_object(writer *w, size_t first)
{
    size_t length = api_emit_length(&w->out);
    api_emit_end(&w->out);
    if (!w->out.to || w->out.media == API_MEDIA_JSON) return;
    for (size_t i = first; i < w->e->answer->n_gaps; i++)
        w->e->answer->gaps[i].place += api_emit_length(&w->out) - length;
}

static size_t gaps_so_far(const writer *w)
{
    return w->out.to ? w->e->answer->n_gaps : 0;
}

/* Entry of a state that stands at `place` of its row-major array, whose `turned` axes are in the request's order. */
static size_t entry_at(const api_lanes *a, const bool *turned, const int *order, size_t place)
{
    size_t entry = 0, stride = 1;
    for (size_t axis = a->rank; axis-- > 0;) {
        size_t i = place % a->extent[axis];
        place /= a->extent[axis];
        entry += stride * (turned[axis] ? (size_t)order[i] : i);
        stride *= a->extent[axis];
    }
    return entry;
}

/* Where the request has an order of its own, and there are numbers to be put in it. */
static bool set_order(writer *w, api_lanes *a, const bool *turned)
{
    bool   any = false;
    size_t n   = 1;
    for (size_t axis = 0; axis < a->rank; axis++) {
        any |= turned[axis];
        n *= a->extent[axis];
    }
    if (!any || !w->e->order || !w->out.to) return true;
    int *order = api_take(w->e, n * sizeof *order);
    if (!order) return false;
    for (size_t place = 0; place < n; place++)
        order[place] = (int)entry_at(a, turned, w->e->order, place);
    a->order = order;
    return true;
}

/* --- what the answer is made of --------------------------------------------------------------------------------- */

/* {"<frame>": {"position": ..., "orientation": ...}, ...}; the lanes hold all positions, then all orientations. */
static bool emit_poses(writer *w, const api_asked *asked, const double *lanes)
{
    const api_evaluation *e            = w->e;
    size_t                n            = asked->n_frames;
    const double         *orientations = lanes ? lanes + 3 * n * e->window * e->lanes : NULL;
    size_t                first        = gaps_so_far(w);
    api_emit_object(&w->out);
    for (size_t i = 0; i < n; i++) {
        const char *name = e->model->frames[asked->frame[i]].name;
        api_lanes   p = lanes_of(w, lanes, 3 * n, 3 * i), o = lanes_of(w, orientations, 4 * n, 4 * i);
        p.rank = o.rank = 1;
        p.extent[0]     = 3;
        o.extent[0]     = 4;
        api_emit_key(&w->out, name);
        api_emit_object(&w->out);
        api_emit_key(&w->out, "position");
        if (!emit_array(w, &p, name)) return false;
        api_emit_key(&w->out, "orientation");
        if (!emit_array(w, &o, name)) return false;
        api_emit_end(&w->out);
    }
    end_object(w, first);
    return true;
}

static void emit_names(api_emit *e, const char *key, const char *const *names, size_t n)
{
    api_emit_key(e, key);
    api_emit_array(e);
    for (size_t i = 0; i < n; i++)
        api_emit_string(e, names[i]);
    api_emit_end(e);
}

/* The parts of `full` under their names, one after the other in the lanes. */
static bool emit_full(writer *w, const double *lanes)
{
    const api_evaluation *e = w->e;
    const api_loops      *l = e->model->loops;
    api_full_part         parts[API_FULL_PARTS];
    size_t                first = 0;
    api_full_parts(e->model, parts);
    api_emit_object(&w->out);
    emit_names(&w->out, "position_names", l->position_names, l->nq);
    emit_names(&w->out, "velocity_names", l->velocity_names, l->nv);
    for (size_t i = 0; i < API_FULL_PARTS; first += parts[i++].entries * e->blocks) {
        const api_full_part *part                  = &parts[i];
        api_lanes            a                     = lanes_of(w, lanes, part->entries, first);
        bool                 turned[API_EMIT_RANK] = {false};
        a.rank                                     = part->rank;
        memcpy(a.extent, part->extent, sizeof part->extent);
        if (a.rank > 0) turned[a.rank - 1] = part->turned;
        api_emit_key(&w->out, part->name);
        if (!set_order(w, &a, turned) || !emit_array(w, &a, part->name)) return false;
    }
    api_emit_end(&w->out);
    return true;
}

static bool emit_output(writer *w, const api_asked *asked, size_t output)
{
    const api_evaluation *e = w->e;
    const api_output     *o = &asked->operation->outputs[output];
    api_emit_key(&w->out, o->name);
    if (o->extent[0] == API_FRAMES_ASKED) return emit_poses(w, asked, asked->result[output]);
    if (o->extent[0] == API_FULL) return emit_full(w, asked->result[output]);
    if (o->extent[0] == API_STRUCTURED) {
        asked->operation->emit(e, asked, output, &w->out);
        return true;
    }
    api_lanes a = lanes_of(w, asked->result[output], api_output_entries(e->model, asked, output), 0);
    bool      turned[API_EMIT_RANK] = {false};
    for (; a.rank < API_MAX_RANK && o->extent[a.rank] != 0; a.rank++) {
        int extent       = o->extent[a.rank];
        a.extent[a.rank] = api_extent(e->model, asked, extent);
        turned[a.rank]   = extent == API_NV || extent == API_NQ;
    }
    return set_order(w, &a, turned) && emit_array(w, &a, o->name);
}

/* What a platform takes of the actuated coordinates, before all else. */
static bool emit_reached(writer *w)
{
    const api_evaluation *e = w->e;
    for (int f = API_Q; f <= API_QDD; f++) {
        if (!api_platform_gives(e, (api_field)f)) continue;
        size_t    n = f == API_Q ? e->model->nq : e->model->nv;
        api_lanes a = lanes_of(w, e->state[f], n, 0);
        a.rank      = 1;
        a.extent[0] = n;
        api_emit_key(&w->out, api_field_names[f]);
        if (!set_order(w, &a, (bool[]){true}) || !emit_array(w, &a, api_field_names[f])) return false;
    }
    return true;
}

static bool emit_asked(writer *w, const api_asked *asked)
{
    api_emit_object(&w->out);
    if (!w->e->combined && !emit_reached(w)) return false;
    for (size_t i = 0; api_has_output(asked->operation, i); i++)
        if ((asked->outputs & API_BIT(i)) && !emit_output(w, asked, i)) return false;
    api_emit_end(&w->out);
    return true;
}

static bool emit_answer(writer *w)
{
    const api_evaluation *e = w->e;
    if (!e->combined) return emit_asked(w, e->asked);
    api_emit_object(&w->out);
    if (!emit_reached(w)) return false;
    for (size_t i = 0; i < e->n_asked; i++) {
        api_emit_key(&w->out, e->asked[i].operation->name);
        if (!emit_asked(w, &e->asked[i])) return false;
    }
    api_emit_end(&w->out);
    return true;
}

/* --- how long --------------------------------------------------------------------------------------------------- */

static size_t measure(api_evaluation *e, size_t states)
{
    writer w = {.e = e, .out = api_emit_to(e->call->media, NULL), .states = states};
    emit_answer(&w);
    e->n_arrays = w.arrays;
    return api_emit_length(&w.out);
}

/* Most states, of less than were given, whose answer is within the limit. */
static size_t states_that_fit(api_evaluation *e, size_t limit)
{
    size_t fit = 0, too_many = api_states(e);
    while (too_many - fit > 1) {
        size_t states = fit + (too_many - fit) / 2;
        if (measure(e, states) <= limit)
            fit = states;
        else
            too_many = states;
    }
    return fit;
}

bool api_answer_bound(api_evaluation *e, size_t *bytes)
{
    size_t      limit = e->call->api->limits.answer, states = api_states(e);
    const char *what = e->samples > 0 ? "samples" : "rows";
    *bytes           = measure(e, states);
    if (*bytes <= limit) return true;
    return api_fail(e->problem, API_ANSWER_TOO_LARGE, NULL,
                    "the answer may take %zu bytes for %zu %s, the limit is %zu: %zu %s fit", *bytes, states, what,
                    limit, states_that_fit(e, limit), what);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

bool api_answer_open(api_evaluation *e, size_t bytes, bool apart)
{
    if (!api_claim(e->call, bytes, e->problem)) return false; /* stays claimed until the call ends */
    api_buffer_init(&e->body, bytes);
    if (!api_buffer_room(&e->body, bytes))
        return api_fail(e->problem, API_MEMORY_FULL, NULL, "no memory for an answer of up to %zu bytes", bytes);
    api_answer *answer = api_take(e, sizeof *answer);
    gap        *gaps   = api_take(e, e->n_arrays * sizeof *gaps);
    if (!answer || !gaps) return false;
    size_t chunks = (e->blocks + e->chunk - 1) / e->chunk;
    *answer       = (api_answer){.held = e->held, .apart = apart, .pieces = apart ? chunks : 1, .gaps = gaps};
    e->answer     = answer;
    writer w      = {.e = e, .out = api_emit_to(e->call->media, &e->body), .states = api_states(e)};
    if (!emit_answer(&w)) return false;
    return api_emit_done(&w.out) || fail_outgrown(e->problem);
}

/* States [first, first + states) of chunk `chunk`, behind what there is of it. */
static bool fill_gap(const api_evaluation *e, const gap *g, size_t chunk, size_t first, size_t states,
                     api_problem *problem)
{
    const api_answer *answer = e->answer;
    size_t           *length = &g->length[answer->apart ? chunk : 0], begin = answer->apart ? chunk * g->chunk_room : 0;
    size_t            left = g->room - begin, fault;
    if (answer->apart && left > g->chunk_room) left = g->chunk_room;
    left -= *length;
    api_buffer piece = {.data = e->body.data + g->place + begin + *length, .capacity = left, .maximum = left};
    api_emit   out   = api_emit_to(e->call->media, &piece);
    api_lanes  a     = g->a;
    a.first          = e->first * e->lanes;
    if (e->held) a.at = e->held + (a.at - answer->held);
    if (!api_emit_lanes_states(&out, &a, first, states, &fault)) return fail_not_finite(e, &a, g->name, fault, problem);
    *length += piece.length;
    return !piece.failed || fail_outgrown(problem);
}

bool api_answer_fill(const api_evaluation *e, size_t chunk, size_t begin, size_t end, api_problem *problem)
{
    size_t first = begin * e->lanes, states = api_states(e) - first;
    if (states > (end - begin) * e->lanes) states = (end - begin) * e->lanes;
    for (size_t i = 0; i < e->answer->n_gaps; i++)
        if (!fill_gap(e, &e->answer->gaps[i], chunk, first, states, problem)) return false;
    return true;
}

/* To the end of what has moved so far. */
static void move(api_buffer *b, size_t *end, size_t from, size_t bytes)
{
    if (*end != from) memmove(b->data + *end, b->data + from, bytes);
    *end += bytes;
}

void api_answer_close(api_evaluation *e)
{
    const api_answer *answer = e->answer;
    size_t            end = 0, from = 0;
    for (size_t i = 0; i < answer->n_gaps; i++) {
        const gap *g = &answer->gaps[i];
        move(&e->body, &end, from, g->place - from);
        for (size_t piece = 0; piece < answer->pieces; piece++)
            move(&e->body, &end, g->place + piece * g->chunk_room, g->length[piece]);
        from = g->place + g->room;
    }
    move(&e->body, &end, from, e->body.length - from);
    e->body.length = end;
}
