/* answer.c - from lanes to an answer: how long it can get, and writing it. */
#include "closing.h"
#include "emit.h"
#include "operation.h"
#include "parts.h"
#include "platform.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An answer on its way out, or measured: then of `states` states, and there are no lanes yet. */
typedef struct writer {
    api_evaluation *e;
    api_emit        out;
    size_t          states;
} writer;

static api_lanes lanes_of(const writer *w, const double *lanes, size_t entries, size_t first)
{
    const api_evaluation *e = w->e;
    return (api_lanes){
        .at      = lanes ? lanes + first * e->lanes : NULL,
        .width   = e->lanes,
        .entries = entries,
        .states  = w->states,
        .batched = e->batched || e->samples > 0,
        .group   = e->batched ? e->samples : 0,
        .order   = e->order,
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

/* States of an array that are written one chunk after the other, by several seats: each chunk where it can be at its
 * longest; then they are moved together. Alone, a chunk goes right behind the one before. */
typedef struct chunks {
    const writer    *w;
    const api_lanes *a;
    const char      *name;
    size_t           seats, room; /* bytes of a whole chunk, at most */
    size_t          *length;      /* of each */
} chunks;

static size_t chunk_states(const api_lanes *a, size_t chunk)
{
    size_t left = a->states - chunk * API_CHUNK;
    return left < API_CHUNK ? left : API_CHUNK;
}

static bool emit_chunk(void *arg, size_t seat, size_t chunk, api_problem *problem)
{
    (void)seat;
    chunks     *c    = arg;
    api_buffer *to   = c->w->out.to, own;
    size_t      at   = c->seats > 1 ? chunk * c->room : 0, fault;
    api_emit    out  = {.media = c->w->out.media, .to = &own};
    size_t      room = to->capacity - to->length - at;
    if (c->seats > 1 && room > c->room) room = c->room;
    own = (api_buffer){.data = to->data + to->length + at, .capacity = room, .maximum = room};
    if (!api_emit_lanes_states(&out, c->a, chunk * API_CHUNK, chunk_states(c->a, chunk), &fault))
        return fail_not_finite(c->w->e, c->a, c->name, fault, problem);
    if (own.failed) return api_fail(problem, API_INTERNAL_ERROR, NULL, "the answer outgrew its computed size");
    if (c->seats > 1)
        c->length[chunk] = own.length;
    else
        to->length += own.length;
    return true;
}

static void move_together(const chunks *c, size_t n)
{
    api_buffer *to    = c->w->out.to;
    const char *begin = to->data + to->length;
    for (size_t chunk = 0; chunk < n; chunk++) {
        memmove(to->data + to->length, begin + chunk * c->room, c->length[chunk]);
        to->length += c->length[chunk];
    }
}

static size_t most_bytes(const writer *w, const api_lanes *a, size_t states)
{
    api_emit measure = {.media = w->out.media};
    size_t   none;
    api_emit_lanes_states(&measure, a, 0, states, &none);
    return measure.bytes;
}

static bool emit_chunks(writer *w, const api_lanes *a, const char *name)
{
    size_t n = (a->states + API_CHUNK - 1) / API_CHUNK, seats = api_seats(w->e, n);
    chunks c = {.w = w, .a = a, .name = name, .seats = seats, .room = most_bytes(w, a, API_CHUNK)};
    if (seats > 1 && !(c.length = api_take(w->e, n * sizeof *c.length))) return false;
    if (!api_do_parts(w->e, seats, n, emit_chunk, &c)) return false;
    if (seats > 1) move_together(&c, n);
    return true;
}

static bool emit_array(writer *w, const api_lanes *a, const char *name)
{
    size_t fault;
    api_emit_lanes_begin(&w->out, a);
    if (w->out.to && a->batched) {
        if (!emit_chunks(w, a, name)) return false;
    } else if (!w->out.to) {
        for (size_t chunk = 0; chunk * API_CHUNK < a->states; chunk++)
            api_emit_lanes_states(&w->out, a, chunk * API_CHUNK, chunk_states(a, chunk), &fault);
    } else if (!api_emit_lanes_states(&w->out, a, 0, a->states, &fault)) {
        return fail_not_finite(w->e, a, name, fault, w->e->problem);
    }
    api_emit_lanes_end(&w->out, a);
    return true;
}

/* {"<frame>": {"position": ..., "orientation": ...}, ...}; the lanes hold all positions, then all orientations. */
static bool emit_poses(writer *w, const api_asked *asked, const double *lanes)
{
    const api_evaluation *e            = w->e;
    size_t                n            = asked->n_frames;
    const double         *orientations = lanes ? lanes + 3 * n * e->blocks * e->lanes : NULL;
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
    api_emit_end(&w->out);
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
        const api_full_part *part = &parts[i];
        api_lanes            a    = lanes_of(w, lanes, part->entries, first);
        a.rank                    = part->rank;
        memcpy(a.extent, part->extent, sizeof part->extent);
        if (a.rank > 0) a.turned[a.rank - 1] = part->turned && e->order;
        api_emit_key(&w->out, part->name);
        if (!emit_array(w, &a, part->name)) return false;
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
    for (; a.rank < API_MAX_RANK && o->extent[a.rank] != 0; a.rank++) {
        int extent       = o->extent[a.rank];
        a.extent[a.rank] = api_extent(e->model, asked, extent);
        a.turned[a.rank] = (extent == API_NV || extent == API_NQ) && e->order;
    }
    return emit_array(w, &a, o->name);
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
        a.turned[0] = e->order != NULL;
        api_emit_key(&w->out, api_field_names[f]);
        if (!emit_array(w, &a, api_field_names[f])) return false;
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

bool api_answer_write(api_evaluation *e, api_buffer *b)
{
    writer w = {.e = e, .out = api_emit_to(e->call->media, b), .states = api_states(e)};
    if (!emit_answer(&w)) return false;
    return api_emit_done(&w.out) ||
           api_fail(e->problem, API_INTERNAL_ERROR, NULL, "the answer outgrew its computed size");
}
