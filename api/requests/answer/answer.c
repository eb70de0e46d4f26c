/* answer.c - measure the answer, and write all of it except the numbers of its arrays (answer_slots.h). */
#include "api/large_block.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/fields/loop_state.h"
#include "answer.h"
#include "answer_slots.h"
#include "api/requests/fields/operation.h"
#include "api/requests/fields/platform.h"
#include "api/requests/fields/unit_warnings.h"
#include "dynamics/loops/loops.h"
#include <string.h>

/* A writer of the answer. With a buffer it writes; without one it measures the answer for `states` states, before lanes
 * are allocated. */
typedef struct writer {
    api_answer *answer;
    api_emit    out;
    size_t      states;
    size_t      arrays; /* number of arrays written so far */
    /* Index in query->selected of the operation being written; -1: the array belongs to the whole request. */
    int  operation;
    bool lists; /* true: only list the arrays in answer->arrays, and write nothing */
} writer;

static void begin(writer *w, api_answer *answer, api_buffer *to, size_t states)
{
    *w = (writer){.answer = answer, .states = states, .operation = -1};
    api_emit_init(&w->out, answer->plan->query->call->media, to);
}

static api_lanes lanes_of(const writer *w, const double *lanes, size_t entries, size_t first)
{
    const api_plan *plan = w->answer->plan;
    return (api_lanes){
        .values   = lanes ? lanes + first * plan->lanes : NULL,
        .kernels  = plan->target,
        .entries  = entries,
        .states   = w->states,
        .batched  = plan->query->batched || plan->query->samples > 0,
        .group    = plan->query->batched ? plan->query->samples : 0,
        .failed   = api_failed_rows_marks(plan->failed_rows, w->operation),
        .deadline = plan->query->input->deadline,
    };
}

/* --- the arrays ------------------------------------------------------------------------------------------------- */

/* True if null stands for the whole array: the motion of a request that is no batch has failed. */
static bool is_null(const writer *w, const api_lanes *a)
{
    const api_plan *plan = w->answer->plan;
    return w->out.buffer && api_media_has_null(w->out.media) && a->failed && plan->query->samples > 0 &&
           !plan->query->batched && a->failed[0];
}

static bool emit_array(writer *w, const api_lanes *a, const char *name)
{
    api_answer_array array = {.a = *a, .name = name, .operation = w->operation};
    if (w->lists) w->answer->arrays[w->arrays] = array;
    w->arrays++;
    if (is_null(w, a)) {
        api_emit_null(&w->out);
        return true;
    }
    api_emit_lanes_begin(&w->out, a);
    if (w->out.buffer && !api_answer_slot_leave(w->answer, &array)) return false;
    if (!w->out.buffer) w->out.bytes += api_answer_slot_room(w->out.media, a);
    api_emit_lanes_end(&w->out, a);
    return true;
}

/* Order of the indices along an axis of an array: that of the model, or that of "joints" in the request. */
typedef enum axis_order { AS_MODEL, BY_VELOCITY, BY_POSITION } axis_order;

/* Returns the index, among the entries of a state in the lanes, of the number at `place` of the row-major array in the
 * answer. An axis of several times nv has the order of "joints" in each part. */
static size_t entry_at(const api_lanes *a, const axis_order *turned, const api_query *q, size_t place)
{
    size_t entry = 0, stride = 1;
    for (size_t axis = a->rank; axis-- > 0;) {
        size_t i = place % a->extent[axis];
        place /= a->extent[axis];
        const size_t n     = turned[axis] == BY_POSITION ? q->model->nq : q->model->nv;
        const int   *order = turned[axis] == BY_POSITION ? q->order_q : q->order;
        entry += stride * (turned[axis] ? (size_t)order[i % n] + i / n * n : i);
        stride *= a->extent[axis];
    }
    return entry;
}

/* Sets a->order if the request has "joints" and the array has an axis of coordinates. False with a problem. */
static bool set_order(writer *w, api_lanes *a, const axis_order *turned)
{
    bool   any = false;
    size_t n   = 1;
    for (size_t axis = 0; axis < a->rank; axis++) {
        any |= turned[axis] != AS_MODEL;
        n *= a->extent[axis];
    }
    const api_query *q = w->answer->plan->query;
    if (!any || !q->order || !(w->out.buffer || w->lists)) return true;
    int *order = api_take(q->pool, n * sizeof *order);
    if (!order) return false;
    for (size_t place = 0; place < n; place++)
        order[place] = (int)entry_at(a, turned, q, place);
    a->order = order;
    return true;
}

/* --- what the answer is made of --------------------------------------------------------------------------------- */

/* Emits {"<frame>": {"position": ..., "orientation": ...}, ...}. The lanes contain the positions of all frames first,
 * then their orientations. */
static bool emit_poses(writer *w, const api_selection *selected, const double *lanes)
{
    const api_plan *plan         = w->answer->plan;
    size_t          n            = api_selected_extent(selected, API_SELECTED_FRAMES);
    const double   *orientations = lanes ? lanes + 3 * n * plan->window * plan->lanes : NULL;
    api_emit_object_of(&w->out, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = selected->operation->frame_name(plan->query->model, selected, i);
        api_lanes   p = lanes_of(w, lanes, 3 * n, 3 * i), o = lanes_of(w, orientations, 4 * n, 4 * i);
        p.rank = o.rank = 1;
        p.extent[0]     = 3;
        o.extent[0]     = 4;
        api_emit_key(&w->out, name);
        api_emit_object_of(&w->out, 2);
        api_emit_key(&w->out, "position");
        if (!emit_array(w, &p, name)) return false;
        api_emit_key(&w->out, "orientation");
        if (!emit_array(w, &o, name)) return false;
        api_emit_end(&w->out);
    }
    api_emit_end(&w->out);
    return true;
}

/* Emits the arrays of the output `full` under their names. The lanes of one array follow those of the previous
 * array. */
static bool emit_full(writer *w, const double *lanes)
{
    const api_plan     *plan = w->answer->plan;
    const dyn_loops    *l    = plan->query->model->loops;
    api_loop_state_part parts[API_LOOP_STATE_PARTS];
    size_t              first = 0;
    api_loop_state_parts(plan->query->model, parts);
    api_emit_object_of(&w->out, 2 + API_LOOP_STATE_PARTS);
    api_emit_names(&w->out, "position_names", l->position_names, l->nq);
    api_emit_names(&w->out, "velocity_names", l->velocity_names, l->nv);
    for (size_t i = 0; i < API_LOOP_STATE_PARTS; first += parts[i++].entries * plan->blocks) {
        const api_loop_state_part *part                  = &parts[i];
        api_lanes                  a                     = lanes_of(w, lanes, part->entries, first);
        axis_order                 turned[API_EMIT_RANK] = {AS_MODEL};
        a.rank                                           = part->rank;
        memcpy(a.extent, part->extent, sizeof part->extent);
        if (a.rank > 0) turned[a.rank - 1] = part->turned ? BY_VELOCITY : AS_MODEL;
        api_emit_key(&w->out, part->name);
        if (!set_order(w, &a, turned) || !emit_array(w, &a, part->name)) return false;
    }
    api_emit_end(&w->out);
    return true;
}

static bool emit_output(writer *w, const api_selection *selected, size_t output)
{
    const api_plan   *plan = w->answer->plan;
    const api_output *o    = &selected->operation->outputs[output];
    api_emit_key(&w->out, o->name);
    if (o->extent[0] == API_SELECTED_FRAMES) return emit_poses(w, selected, selected->result[output]);
    if (o->extent[0] == API_LOOP_STATE) return emit_full(w, selected->result[output]);
    if (o->extent[0] == API_STRUCTURED) {
        selected->operation->emit(plan, selected, output, &w->out);
        return true;
    }
    api_lanes  a = lanes_of(w, selected->result[output], api_output_entries(plan->query->model, selected, output), 0);
    axis_order turned[API_EMIT_RANK] = {AS_MODEL};
    for (; a.rank < API_MAX_RANK && o->extent[a.rank] != 0; a.rank++) {
        int extent       = o->extent[a.rank];
        a.extent[a.rank] = api_extent(plan->query->model, selected, extent);
        turned[a.rank]   = extent == API_NQ                            ? BY_POSITION
                           : extent == API_NV || extent == API_TANGENT ? BY_VELOCITY
                                                                       : AS_MODEL;
    }
    return set_order(w, &a, turned) && emit_array(w, &a, o->name);
}

/* Returns how many of q, qd and qdd were computed from "platform", which the answer then contains. */
static size_t count_reached(const api_query *q)
{
    size_t n = 0;
    for (int f = API_Q; q->platform && f <= API_QDD; f++)
        n += api_platform_gives(q, (api_field)f);
    return n;
}

/* Emits q, qd and qdd of the actuated coordinates if they were computed from "platform"; they are the first members of
 * the answer. */
static bool emit_reached(writer *w)
{
    const api_plan *plan = w->answer->plan;
    for (int f = API_Q; plan->query->platform && f <= API_QDD; f++) {
        if (!api_platform_gives(plan->query, (api_field)f)) continue;
        size_t    n = f == API_Q ? plan->query->model->nq : plan->query->model->nv;
        api_lanes a = lanes_of(w, plan->state[f], n, 0);
        a.rank      = 1;
        a.extent[0] = n;
        api_emit_key(&w->out, api_field_names[f]);
        if (!set_order(w, &a, (axis_order[]){f == API_Q ? BY_POSITION : BY_VELOCITY}) ||
            !emit_array(w, &a, api_field_names[f]))
            return false;
    }
    return true;
}

static size_t count_outputs(const api_selection *selected)
{
    size_t n = 0;
    for (size_t i = 0; api_has_output(selected->operation, i); i++)
        n += (selected->outputs & API_BIT(i)) != 0;
    return n;
}

static bool emit_outputs(writer *w, const api_selection *selected)
{
    for (size_t i = 0; api_has_output(selected->operation, i); i++)
        if ((selected->outputs & API_BIT(i)) && !emit_output(w, selected, i)) return false;
    return true;
}

/* Emits the answer of an evaluate request: one member for each operation, an object. */
static bool emit_operations(writer *w)
{
    const api_plan *plan = w->answer->plan;
    for (size_t i = 0; i < plan->query->n_selected; i++) {
        w->operation = (int)i;
        api_emit_key(&w->out, plan->query->selected[i].operation->name);
        api_emit_object_of(&w->out, count_outputs(&plan->query->selected[i]));
        if (!emit_outputs(w, &plan->query->selected[i])) return false;
        api_emit_end(&w->out);
    }
    w->operation = -1;
    return true;
}

/* Returns the number of members of the whole answer. */
static size_t count_members(const api_plan *plan)
{
    const api_query *q = plan->query;
    return count_reached(q) + (q->combined ? q->n_selected : count_outputs(q->selected)) + (q->warnings != NULL) +
           (plan->failed_rows != NULL);
}

/* Emits the whole answer. Its last member lists the errors of rows: it is written here as an empty array, which
 * api_answer_close replaces. */
static bool emit_answer(writer *w)
{
    const api_plan *plan = w->answer->plan;
    api_emit_object_of(&w->out, count_members(plan));
    if (!emit_reached(w) || !(plan->query->combined ? emit_operations(w) : emit_outputs(w, plan->query->selected)))
        return false;
    if (plan->query->warnings) {
        api_emit_key(&w->out, "warnings");
        api_unit_warnings_emit(plan->query, &w->out);
    }
    if (plan->failed_rows) {
        api_emit_key(&w->out, "errors");
        api_emit_array(&w->out);
        api_emit_end(&w->out);
    }
    api_emit_end(&w->out);
    return true;
}

/* --- how long --------------------------------------------------------------------------------------------------- */

static size_t measure(api_answer *answer, size_t states)
{
    writer w;
    begin(&w, answer, NULL, states);
    emit_answer(&w);
    answer->n_arrays = w.arrays;
    bool slack       = answer->plan->failed_rows &&
                 /* A failed output is null, which is longer than the empty array []. */
                 answer->plan->query->call->media == API_MEDIA_JSON;
    return api_emit_length(&w.out) + (slack ? answer->plan->query->n_selected * API_MAX_OUTPUTS * strlen("null") : 0);
}

/* Returns the largest number of states whose answer is within the limit; it is less than the request has. */
static size_t states_that_fit(api_answer *answer, size_t limit)
{
    size_t fit = 0, too_many = api_states(answer->plan->query);
    while (too_many - fit > 1) {
        size_t states = fit + (too_many - fit) / 2;
        if (measure(answer, states) <= limit)
            fit = states;
        else
            too_many = states;
    }
    return fit;
}

bool api_answer_bound(api_answer *answer, size_t *bytes)
{
    size_t limit = answer->plan->query->call->api->limits.answer, states = api_answered_states(answer->plan->query);
    const char *what = answer->plan->query->samples > 0 ? "samples" : "rows";
    *bytes           = measure(answer, states);
    if (*bytes <= limit) return true;
    return api_fail(answer->plan->query->problem, API_ANSWER_TOO_LARGE, NULL,
                    "the answer may take %zu bytes for %zu %s, the limit is %zu: %zu %s fit", *bytes, states, what,
                    limit, states_that_fit(answer, limit), what);
}

bool api_answer_list(api_answer *answer)
{
    writer w;
    if (!answer->plan->failed_rows) return true;
    answer->arrays = api_take(answer->plan->query->pool, answer->n_arrays * sizeof *answer->arrays);
    if (!answer->arrays) return false;
    begin(&w, answer, NULL, api_answered_states(answer->plan->query));
    w.lists = true;
    return emit_answer(&w);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

bool api_answer_open(api_answer *answer, size_t bytes, bool apart)
{
    if (!api_claim(&answer->plan->query->call->share, bytes, answer->plan->query->problem))
        return false; /* api_end returns the claimed bytes to the memory budget */
    api_buffer_init(answer->body, bytes);
    answer->body->data     = api_large_block(bytes + 1);
    answer->body->capacity = answer->body->data ? bytes : 0;
    if (!api_buffer_room(answer->body, bytes))
        return api_fail(answer->plan->query->problem, API_MEMORY_FULL, NULL,
                        "no memory for an answer of up to %zu bytes", bytes);
    if (!api_answer_slots_begin(answer, apart)) return false;
    writer w;
    begin(&w, answer, answer->body, api_answered_states(answer->plan->query));
    if (!emit_answer(&w)) return false;
    if (w.out.not_finite)
        return api_fail(answer->plan->query->problem, API_RESULT_NOT_FINITE, NULL,
                        "%.64s is not finite: figures of the request are too large", w.out.not_finite);
    return api_emit_done(&w.out) || api_fail_outgrown(answer->plan->query->problem);
}

/* Claims memory for `more` bytes after the body. False with a problem: the answer exceeds its limit, or memory is
 * short. */
static bool make_room(api_answer *answer, size_t more, size_t *bytes)
{
    size_t limit = answer->plan->query->call->api->limits.answer, length = answer->body->length;
    if (more > limit || length > limit - more)
        return api_fail(answer->plan->query->problem, API_ANSWER_TOO_LARGE, NULL,
                        "the answer would take %zu bytes with the errors of its rows, the limit is %zu", length + more,
                        limit);
    if (!api_claim(&answer->plan->query->call->share, more, answer->plan->query->problem)) return false;
    answer->body->maximum += more;
    *bytes += more;
    return true;
}

/* Ends the answer. If rows may fail alone, the body ends with an empty array of errors and, in JSON, a brace. Both are
 * removed, then the errors and a brace are appended. */
bool api_answer_close(api_answer *answer, size_t *bytes)
{
    bool     json = answer->plan->query->call->media == API_MEDIA_JSON;
    api_emit out;
    api_answer_slots_close(answer);
    if (!answer->plan->failed_rows) return true;
    if (!api_failed_rows_sort(answer->plan->failed_rows, answer->plan->query->problem)) return false;
    api_emit_init(&out, answer->plan->query->call->media, NULL);
    api_failed_rows_emit(answer->plan->failed_rows, &out);
    answer->body->length -= json ? strlen("[]}") : 1;
    if (!make_room(answer, api_emit_length(&out) + (json ? strlen("}") : 0), bytes)) return false;
    api_emit_init(&out, answer->plan->query->call->media, answer->body);
    api_failed_rows_emit(answer->plan->failed_rows, &out);
    if (json) api_buffer_text(answer->body, "}");
    return api_emit_done(&out) || api_fail_outgrown(answer->plan->query->problem);
}

/* --- numbers that are not finite --------------------------------------------------------------------------------- */

/* Marks those of the states [first, first + states) as failed that have an infinite or NaN number in this array. */
static bool check_array(const api_evaluation *e, const api_answer_array *array, size_t first, size_t states)
{
    api_lanes   a = api_answer_array_lanes(e, array);
    api_problem found;
    size_t      fault, end = first + states;
    while (first < end && api_emit_lanes_find_non_finite(&a, first, end - first, &fault)) {
        api_problem_clear(&found);
        size_t state = api_answer_array_fail(e, array, fault, &found);
        if (!api_failed_rows_add(e->plan->failed_rows, array->operation, state, &found, e->problem)) return false;
        first = state + 1;
    }
    return true;
}

bool api_answer_check(const api_answer *answer, const api_evaluation *e, size_t begin, size_t end)
{
    size_t first = begin * e->lanes, states = api_states(e->query) - first;
    if (states > (end - begin) * e->lanes) states = (end - begin) * e->lanes;
    for (size_t i = 0; i < answer->n_arrays; i++)
        if (!check_array(e, &answer->arrays[i], first, states)) return false;
    return true;
}
