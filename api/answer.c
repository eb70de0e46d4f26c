/* answer.c - from lanes to text: how long an answer can get, and writing it. */
#include "base_parameters.h"
#include "number.h"
#include "operation.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One output's array of one state: extents, and which axes the request's "joints" turn. */
typedef struct shape {
    size_t rank, extent[API_MAX_RANK];
    bool   turned[API_MAX_RANK];
} shape;

static shape shape_of(const api_evaluation *e, const api_asked *asked, size_t output)
{
    const int *extent = asked->operation->outputs[output].extent;
    shape      s      = {.rank = 0};
    for (; s.rank < API_MAX_RANK && extent[s.rank] != 0; s.rank++) {
        s.extent[s.rank] = api_extent(e->model, asked, extent[s.rank]);
        s.turned[s.rank] = extent[s.rank] == API_NV && e->order;
    }
    return s;
}

static bool is_poses(const api_asked *asked, size_t output)
{
    return asked->operation->outputs[output].extent[0] == API_FRAMES_ASKED;
}

static bool is_grouping(const api_asked *asked, size_t output)
{
    return asked->operation->outputs[output].extent[0] == API_GROUPING;
}

static const shape position_shape = {.rank = 1, .extent = {3}}, orientation_shape = {.rank = 1, .extent = {4}};

/* --- how long --------------------------------------------------------------------------------------------------- */

/* Most bytes of one state's array with the comma behind it: brackets and a comma around each array, a comma behind
 * each number. */
static size_t state_bytes(const shape *s)
{
    size_t bytes = 0, arrays = 1;
    for (size_t axis = 0; axis < s->rank; axis++) {
        bytes += 3 * arrays;
        arrays *= s->extent[axis];
    }
    return bytes + arrays * (API_NUMBER_MAX + 1);
}

/* A JSON string with quotes, colon and comma, every byte escaped at worst. */
static size_t name_bytes(const char *name)
{
    return 6 * strlen(name) + 4;
}

/* Adds what an output takes once and what it takes for each state. */
static void add_output(const api_evaluation *e, const api_asked *asked, size_t output, size_t *once, size_t *each)
{
    static const char members[] = "{\"position\":,\"orientation\":},";
    *once += name_bytes(asked->operation->outputs[output].name) + sizeof "[],";
    if (is_grouping(asked, output)) {
        *once += asked->base->length;
        return;
    }
    if (!is_poses(asked, output)) {
        shape s = shape_of(e, asked, output);
        *each += state_bytes(&s);
        return;
    }
    for (size_t i = 0; i < asked->n_frames; i++)
        *once += name_bytes(e->model->frames[asked->frame[i]].name) + sizeof members + 2 * sizeof "[]";
    *each += asked->n_frames * (state_bytes(&position_shape) + state_bytes(&orientation_shape));
}

bool api_answer_bound(const api_evaluation *e, size_t *bytes)
{
    size_t once = sizeof "{}", each = 0, limit = e->call->api->limits.answer;
    for (size_t i = 0; i < e->n_asked; i++) {
        const api_operation *operation = e->asked[i].operation;
        once += name_bytes(operation->name) + sizeof "{}";
        for (size_t output = 0; output < api_output_count(operation); output++)
            if (e->asked[i].outputs & API_BIT(output)) add_output(e, &e->asked[i], output, &once, &each);
    }
    *bytes = once + e->rows * each;
    if (*bytes <= limit) return true;
    size_t fit = limit > once && each > 0 ? (limit - once) / each : 0;
    return api_fail(e->problem, API_ANSWER_TOO_LARGE, NULL,
                    "the answer may take %zu bytes for %zu rows, the limit is %zu: %zu rows fit", *bytes, e->rows,
                    limit, fit);
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

/* One state's array on its way out. */
typedef struct writer {
    const double *at;    /* entry 0 of the state in its lane */
    size_t        lanes; /* entries are this far apart */
    const int    *order;
    shape         shape;
    size_t        index[API_MAX_RANK]; /* where the writer is, in the order of the answer */
    char         *to;
} writer;

/* Writes the subarray below `axis`, whose first entry is `entry`; false at an entry that is not finite. */
static bool write_axis(writer *w, size_t axis, size_t entry)
{
    if (axis == w->shape.rank) {
        double value = w->at[entry * w->lanes];
        if (!isfinite(value)) return false;
        w->to += api_number_write(value, w->to);
        return true;
    }
    size_t stride = 1;
    for (size_t i = axis + 1; i < w->shape.rank; i++)
        stride *= w->shape.extent[i];
    *w->to++ = '[';
    for (size_t i = 0; i < w->shape.extent[axis]; i++) {
        if (i > 0) *w->to++ = ',';
        w->index[axis] = i;
        size_t k       = w->shape.turned[axis] ? (size_t)w->order[i] : i;
        if (!write_axis(w, axis + 1, entry + k * stride)) return false;
    }
    *w->to++ = ']';
    return true;
}

static bool fail_not_finite(const api_evaluation *e, const writer *w, const char *name, size_t row)
{
    char   entry[64] = "";
    size_t n         = 0;
    for (size_t axis = 0; axis < w->shape.rank; axis++)
        n += (size_t)snprintf(entry + n, sizeof entry - n, "[%zu]", w->index[axis]);
    api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "%.64s%s is not finite: figures of this state are too large%s",
             name, entry, e->model->dyn->mass > 0 ? "" : ", or it would take a mass and nothing that moves has one");
    if (e->batched) e->problem->row = (long long)row;
    return false;
}

/* Writes one array for all states: `lanes` holds `entries` a state, of which the array's begin at `first`. */
static bool write_array(const api_evaluation *e, api_buffer *b, const shape *s, const char *name, const double *lanes,
                        size_t entries, size_t first)
{
    size_t W = e->lanes;
    if (e->batched) api_buffer_put(b, "[", 1);
    for (size_t row = 0; row < e->rows; row++) {
        writer w = {
            .at = lanes + (row / W * entries + first) * W + row % W, .lanes = W, .order = e->order, .shape = *s};
        char *from = api_buffer_room(b, state_bytes(s));
        if (!from) return api_fail(e->problem, API_INTERNAL_ERROR, NULL, "the answer outgrew its computed size");
        w.to = from;
        if (row > 0) *w.to++ = ',';
        if (!write_axis(&w, 0, 0)) return fail_not_finite(e, &w, name, row);
        b->length += (size_t)(w.to - from);
        if (row % API_CHUNK == 0 && !api_watch_check(e->input->watch, e->problem)) return false;
    }
    if (e->batched) api_buffer_put(b, "]", 1);
    return true;
}

/* {"<frame>": {"position": ..., "orientation": ...}, ...}; the lanes hold all positions, then all orientations. */
static bool write_poses(const api_evaluation *e, const api_asked *asked, api_buffer *b, const double *lanes)
{
    size_t        n            = asked->n_frames;
    const double *orientations = lanes + 3 * n * e->blocks * e->lanes;
    api_buffer_put(b, "{", 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = e->model->frames[asked->frame[i]].name;
        if (i > 0) api_buffer_put(b, ",", 1);
        api_json_string(b, name);
        api_buffer_text(b, ":{\"position\":");
        if (!write_array(e, b, &position_shape, name, lanes, 3 * n, 3 * i)) return false;
        api_buffer_text(b, ",\"orientation\":");
        if (!write_array(e, b, &orientation_shape, name, orientations, 4 * n, 4 * i)) return false;
        api_buffer_put(b, "}", 1);
    }
    api_buffer_put(b, "}", 1);
    return true;
}

static bool write_output(const api_evaluation *e, const api_asked *asked, api_buffer *b, size_t output)
{
    const double *lanes = asked->result[output];
    shape         s     = shape_of(e, asked, output);
    if (is_poses(asked, output)) return write_poses(e, asked, b, lanes);
    if (!is_grouping(asked, output))
        return write_array(e, b, &s, asked->operation->outputs[output].name, lanes,
                           api_output_entries(e->model, asked, output), 0);
    api_buffer_put(b, asked->base->grouping, asked->base->length); /* names: never batched */
    return true;
}

static bool write_asked(const api_evaluation *e, const api_asked *asked, api_buffer *b)
{
    const char *comma = "";
    api_buffer_put(b, "{", 1);
    for (size_t i = 0; i < api_output_count(asked->operation); i++) {
        const char *name = asked->operation->outputs[i].name;
        if (!(asked->outputs & API_BIT(i))) continue;
        api_buffer_format(b, "%s\"%s\":", comma, name);
        comma = ",";
        if (!write_output(e, asked, b, i)) return false;
    }
    api_buffer_put(b, "}", 1);
    return true;
}

bool api_answer_write(const api_evaluation *e, api_buffer *b)
{
    if (!e->combined) return write_asked(e, e->asked, b);
    api_buffer_put(b, "{", 1);
    for (size_t i = 0; i < e->n_asked; i++) {
        api_buffer_format(b, "%s\"%s\":", i > 0 ? "," : "", e->asked[i].operation->name);
        if (!write_asked(e, &e->asked[i], b)) return false;
    }
    api_buffer_put(b, "}", 1);
    return true;
}
