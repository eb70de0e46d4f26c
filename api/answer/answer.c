/* answer.c - what an answer is made of: how long it can get, and all of it but the numbers of its arrays
 * (answer_slots.h). */
#include "api/lanes/failed_rows.h"
#include "api/loops/loop_state.h"
#include "answer_slots.h"
#include "api/request/operation.h"
#include "api/request/platform.h"
#include "api/request/unit_warnings.h"
#include <string.h>

/* An answer on its way out, or measured: then of `states` states, and there are no lanes yet. */
typedef struct writer {
    api_evaluation *e;
    api_emit        out;
    size_t          states;
    size_t          arrays;    /* so far */
    int             operation; /* index in e->selected of the operation being written; -1: an array of all operations */
    bool            lists;     /* the arrays are listed in e->arrays; nothing is written */
} writer;

static void begin(writer *w, api_evaluation *e, api_buffer *to, size_t states)
{
    *w = (writer){.e = e, .states = states, .operation = -1};
    api_emit_init(&w->out, e->call->media, to);
}

static api_lanes lanes_of(const writer *w, const double *lanes, size_t entries, size_t first)
{
    const api_evaluation *e = w->e;
    return (api_lanes){
        .values  = lanes ? lanes + first * e->lanes : NULL,
        .kernels = e->target,
        .entries = entries,
        .states  = w->states,
        .batched = e->batched || e->samples > 0,
        .group   = e->batched ? e->samples : 0,
        .failed  = api_failed_rows_marks(e, w->operation),
    };
}

/* --- the arrays ------------------------------------------------------------------------------------------------- */

/* True for the single motion of a request that is no batch: when it fails, null stands for the whole array. */
static bool is_null(const writer *w, const api_lanes *a)
{
    const api_evaluation *e = w->e;
    return w->out.buffer && w->out.media == API_MEDIA_JSON && a->failed && e->samples > 0 && !e->batched &&
           a->failed[0];
}

static bool emit_array(writer *w, const api_lanes *a, const char *name)
{
    api_answer_array array = {.a = *a, .name = name, .operation = w->operation};
    if (w->lists) w->e->arrays[w->arrays] = array;
    w->arrays++;
    if (is_null(w, a)) {
        api_emit_null(&w->out);
        return true;
    }
    api_emit_lanes_begin(&w->out, a);
    if (w->out.buffer && !api_answer_slot_leave(w->e, &array)) return false;
    if (!w->out.buffer) w->out.bytes += api_answer_slot_room(w->out.media, a);
    api_emit_lanes_end(&w->out, a);
    return true;
}

/* Ends an object. A long one's head in CBOR is known now, and what is in it moves, with gaps from `first` on. */
static void end_object(writer *w, size_t first)
{
    size_t length = api_emit_length(&w->out);
    api_emit_end(&w->out);
    if (w->out.buffer && w->out.media != API_MEDIA_JSON)
        api_answer_slots_move(w->e, first, api_emit_length(&w->out) - length);
}

static size_t slots_so_far(const writer *w)
{
    return w->out.buffer ? w->e->answer->n_slots : 0;
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
    if (!any || !w->e->order || !(w->out.buffer || w->lists)) return true;
    int *order = api_take(w->e->pool, n * sizeof *order);
    if (!order) return false;
    for (size_t place = 0; place < n; place++)
        order[place] = (int)entry_at(a, turned, w->e->order, place);
    a->order = order;
    return true;
}

/* --- what the answer is made of --------------------------------------------------------------------------------- */

/* {"<frame>": {"position": ..., "orientation": ...}, ...}; the lanes hold all positions, then all orientations. */
static bool emit_poses(writer *w, const api_selection *selected, const double *lanes)
{
    const api_evaluation *e            = w->e;
    size_t                n            = api_selected_extent(selected, API_SELECTED_FRAMES);
    const double         *orientations = lanes ? lanes + 3 * n * e->window * e->lanes : NULL;
    size_t                first        = slots_so_far(w);
    api_emit_object(&w->out);
    for (size_t i = 0; i < n; i++) {
        const char *name = selected->operation->frame_name(e->model, selected, i);
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

/* The parts of `full` under their names, one after the other in the lanes. */
static bool emit_full(writer *w, const double *lanes)
{
    const api_evaluation *e = w->e;
    const api_loops      *l = e->model->loops;
    api_loop_state_part   parts[API_LOOP_STATE_PARTS];
    size_t                first = 0;
    api_loop_state_parts(e->model, parts);
    api_emit_object(&w->out);
    api_emit_names(&w->out, "position_names", l->position_names, l->nq);
    api_emit_names(&w->out, "velocity_names", l->velocity_names, l->nv);
    for (size_t i = 0; i < API_LOOP_STATE_PARTS; first += parts[i++].entries * e->blocks) {
        const api_loop_state_part *part                  = &parts[i];
        api_lanes                  a                     = lanes_of(w, lanes, part->entries, first);
        bool                       turned[API_EMIT_RANK] = {false};
        a.rank                                           = part->rank;
        memcpy(a.extent, part->extent, sizeof part->extent);
        if (a.rank > 0) turned[a.rank - 1] = part->turned;
        api_emit_key(&w->out, part->name);
        if (!set_order(w, &a, turned) || !emit_array(w, &a, part->name)) return false;
    }
    api_emit_end(&w->out);
    return true;
}

static bool emit_output(writer *w, const api_selection *selected, size_t output)
{
    const api_evaluation *e = w->e;
    const api_output     *o = &selected->operation->outputs[output];
    api_emit_key(&w->out, o->name);
    if (o->extent[0] == API_SELECTED_FRAMES) return emit_poses(w, selected, selected->result[output]);
    if (o->extent[0] == API_LOOP_STATE) return emit_full(w, selected->result[output]);
    if (o->extent[0] == API_STRUCTURED) {
        selected->operation->emit(e, selected, output, &w->out);
        return true;
    }
    api_lanes a = lanes_of(w, selected->result[output], api_output_entries(e->model, selected, output), 0);
    bool      turned[API_EMIT_RANK] = {false};
    for (; a.rank < API_MAX_RANK && o->extent[a.rank] != 0; a.rank++) {
        int extent       = o->extent[a.rank];
        a.extent[a.rank] = api_extent(e->model, selected, extent);
        turned[a.rank]   = extent == API_NV || extent == API_NQ;
    }
    return set_order(w, &a, turned) && emit_array(w, &a, o->name);
}

/* What a platform takes of the actuated coordinates, before all else. */
static bool emit_reached(writer *w)
{
    const api_evaluation *e = w->e;
    for (int f = API_Q; e->platform && f <= API_QDD; f++) {
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

static bool emit_outputs(writer *w, const api_selection *selected)
{
    for (size_t i = 0; api_has_output(selected->operation, i); i++)
        if ((selected->outputs & API_BIT(i)) && !emit_output(w, selected, i)) return false;
    return true;
}

/* Every operation of several has an object of its own. */
static bool emit_operations(writer *w)
{
    const api_evaluation *e = w->e;
    for (size_t i = 0; i < e->n_selected; i++) {
        w->operation = (int)i;
        api_emit_key(&w->out, e->selected[i].operation->name);
        api_emit_object(&w->out);
        if (!emit_outputs(w, &e->selected[i])) return false;
        api_emit_end(&w->out);
    }
    w->operation = -1;
    return true;
}

/* The errors of rows come last. api_answer_close puts them in place of the empty array that is written here. */
static bool emit_answer(writer *w)
{
    const api_evaluation *e = w->e;
    api_emit_object(&w->out);
    if (!emit_reached(w) || !(e->combined ? emit_operations(w) : emit_outputs(w, e->selected))) return false;
    if (e->warnings) {
        api_emit_key(&w->out, "warnings");
        api_unit_warnings_emit(e, &w->out);
    }
    if (e->failed_rows) {
        api_emit_key(&w->out, "errors");
        api_emit_array(&w->out);
        api_emit_end(&w->out);
    }
    api_emit_end(&w->out);
    return true;
}

/* --- how long --------------------------------------------------------------------------------------------------- */

static size_t measure(api_evaluation *e, size_t states)
{
    writer w;
    begin(&w, e, NULL, states);
    emit_answer(&w);
    e->n_arrays = w.arrays;
    bool slack  = e->failed_rows && e->call->media == API_MEDIA_JSON; /* null is longer than a list without entries */
    return api_emit_length(&w.out) + (slack ? e->n_selected * API_MAX_OUTPUTS * strlen("null") : 0);
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

bool api_answer_list(api_evaluation *e)
{
    writer w;
    if (!e->failed_rows) return true;
    e->arrays = api_take(e->pool, e->n_arrays * sizeof *e->arrays);
    if (!e->arrays) return false;
    begin(&w, e, NULL, api_states(e));
    w.lists = true;
    return emit_answer(&w);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

bool api_answer_open(api_evaluation *e, size_t bytes, bool apart)
{
    if (!api_claim(&e->call->share, bytes, e->problem)) return false; /* stays claimed until the call ends */
    api_buffer_init(&e->body, bytes);
    if (!api_buffer_room(&e->body, bytes))
        return api_fail(e->problem, API_MEMORY_FULL, NULL, "no memory for an answer of up to %zu bytes", bytes);
    if (!api_answer_slots_begin(e, apart)) return false;
    writer w;
    begin(&w, e, &e->body, api_states(e));
    if (!emit_answer(&w)) return false;
    return api_emit_done(&w.out) || api_fail_outgrown(e->problem);
}

/* Claims `more` bytes behind the body. False with a problem: the answer is over its limit, or memory is short. */
static bool make_room(api_evaluation *e, size_t more, size_t *bytes)
{
    size_t limit = e->call->api->limits.answer, length = e->body.length;
    if (more > limit || length > limit - more)
        return api_fail(e->problem, API_ANSWER_TOO_LARGE, NULL,
                        "the answer would take %zu bytes with the errors of its rows, the limit is %zu", length + more,
                        limit);
    if (!api_claim(&e->call->share, more, e->problem)) return false;
    e->body.maximum += more;
    *bytes += more;
    return true;
}

/* The body ends with the empty array of errors and, in JSON, a brace: the errors replace them. */
bool api_answer_close(api_evaluation *e, size_t *bytes)
{
    bool     json = e->call->media == API_MEDIA_JSON;
    api_emit out;
    api_answer_slots_close(e);
    if (!e->failed_rows) return true;
    if (!api_failed_rows_sort(e)) return false;
    api_emit_init(&out, e->call->media, NULL);
    api_failed_rows_emit(e, &out);
    e->body.length -= json ? strlen("[]}") : 1;
    if (!make_room(e, api_emit_length(&out) + (json ? strlen("}") : 0), bytes)) return false;
    api_emit_init(&out, e->call->media, &e->body);
    api_failed_rows_emit(e, &out);
    if (json) api_buffer_text(&e->body, "}");
    return api_emit_done(&out) || api_fail_outgrown(e->problem);
}
