/* unit_warnings.c - find numbers of a request that look like degrees or millimetres, and what has no effect: see
 * unit_warnings.h. */
#include "unit_warnings.h"
#include "api/codec/number.h"
#include "api/robots/document/document_entry.h"
#include "fields.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MANY_TURNS 30.0  /* rad (4.8 revolutions): joints with limits do not reach it; 30 degrees are common */
#define TOO_MANY   1e4   /* rad: too large even for an angle in degrees */
#define FAR_AWAY   100.0 /* m: beyond the reach of any robot, but a usual length in millimetres */

#define SUSPICIOUS "suspicious"

enum { MOST = 16 /* largest number of warnings in an answer */, TEXT = 200 };

typedef struct warning {
    api_pointer where;
    const char *code;
    char        text[TEXT];
} warning;

struct api_unit_warnings {
    size_t  n;
    warning warning[MOST];
};

/* A coordinate whose values are checked. */
typedef struct suspect {
    const api_joint_name *joint;
    size_t                position, place; /* index of the coordinate in q of the model, and in a row of the request */
    bool                  told;
} suspect;

typedef struct search {
    api_query *q;
    size_t     n, width; /* number of suspects; numbers of a row */
    suspect   *suspects; /* [n] coordinates that are checked */
    double    *numbers;  /* [width] one row of the request */
} search;

static bool add_warning(api_query *q, const api_place *at, const char *code, const char *text)
{
    if (!q->warnings) {
        if (!(q->warnings = api_take(q->pool, sizeof *q->warnings))) return false;
        q->warnings->n = 0;
    }
    if (q->warnings->n == MOST) return true;
    warning *w = &q->warnings->warning[q->warnings->n++];
    w->where   = api_place_pointer(at);
    w->code    = code;
    snprintf(w->text, sizeof w->text, "%s", text);
    return true;
}

/* --- coordinates ------------------------------------------------------------------------------------------------- */

/* True for a joint with a coordinate of its own, in rad, or in m within limits. */
static bool is_suspect(const api_joint_name *joint)
{
    const bool slides = joint->kind == DYN_PRISMATIC && joint->has_position_limits;
    return !joint->leader && (slides || joint->type == dyn_joint_types[DYN_REVOLUTE].name);
}

/* Returns the index, within a row of the request, of a position coordinate of the model. */
static size_t place_of(const api_query *q, size_t position)
{
    size_t i = position;
    for (size_t j = 0; q->order_q && j < q->model->nq; j++)
        if ((size_t)q->order_q[j] == position) i = j;
    return i;
}

static bool list_suspects(search *s)
{
    const api_model *m = s->q->model;
    s->width           = m->nq;
    s->suspects        = api_take(s->q->pool, m->n_joints * sizeof *s->suspects);
    s->numbers         = api_take(s->q->pool, m->nq * sizeof *s->numbers);
    if (!s->suspects || !s->numbers) return false;
    for (size_t i = 0; i < m->n_joints; i++) {
        const api_joint_name *joint    = &m->joints[i];
        int                   position = api_first_position(m, &m->dyn->body[joint->body]);
        if (position < 0 || !is_suspect(joint)) continue;
        s->suspects[s->n++] =
            (suspect){.joint = joint, .position = (size_t)position, .place = place_of(s->q, (size_t)position)};
    }
    return true;
}

static bool is_suspicious(const api_joint_name *joint, double x)
{
    bool turns = joint->kind == DYN_REVOLUTE;
    if (!(fabs(x) > (turns ? MANY_TURNS : FAR_AWAY)) || (turns && fabs(x) > TOO_MANY)) return false;
    return joint->has_position_limits ? x < joint->lower || x > joint->upper : x == rint(x);
}

static bool warn(search *s, suspect *it, double x, const api_place *at)
{
    char text[TEXT];
    bool turns = it->joint->kind == DYN_REVOLUTE;
    if (turns)
        snprintf(text, sizeof text, "%.64s at %s rad, %.3g turns: angles are in radians", it->joint->name,
                 API_NUMBER_TEXT(x), fabs(x) / (2 * M_PI));
    else
        snprintf(text, sizeof text, "%.64s at %s m: lengths are in metres", it->joint->name, API_NUMBER_TEXT(x));
    it->told = true;
    return add_warning(s->q, at, SUSPICIOUS, text);
}

/* True if a number exceeds the lesser of MANY_TURNS and FAR_AWAY, so that its unit may be wrong. */
static bool has_large(const double *numbers, size_t n)
{
    bool large = false;
    for (size_t i = 0; i < n; i++)
        large |= fabs(numbers[i]) > fmin(MANY_TURNS, FAR_AWAY);
    return large;
}

/* Like the check of a row, for the first `count` numbers of a packed array: one check of all rows is faster than one of
 * each. */
static bool has_large_rows(const api_node *packed, size_t count)
{
    double piece[256];
    for (size_t first = 0, n; first < count; first += n) {
        n = count - first < sizeof piece / sizeof *piece ? count - first : sizeof piece / sizeof *piece;
        api_node_numbers(packed, first, n, piece);
        if (has_large(piece, n)) return true;
    }
    return false;
}

/* Checks one row, whose numbers begin at number `first` of a packed array. `at` is the place of the row. */
static bool look_at_row(search *s, const api_node *packed, size_t first, const api_place *at)
{
    api_node_numbers(packed, first, s->width, s->numbers);
    if (!has_large(s->numbers, s->width)) return true;
    for (size_t i = 0; i < s->n; i++) {
        suspect *it = &s->suspects[i];
        if (it->told || !is_suspicious(it->joint, s->numbers[it->place])) continue;
        api_place entry = api_place_index(at, it->place);
        if (!warn(s, it, s->numbers[it->place], &entry)) return false;
    }
    return true;
}

/* Checks the rows of a field that is an array of one to three levels. Other arrays are skipped: the reader of the field
 * refuses them. */
static bool look_at_rows(search *s, const api_node *value, const api_place *at)
{
    size_t extent[API_PACKED_RANK] = {0}, rank = api_node_packed(value, extent), rows = 1;
    if (rank == 0 || rank > 3 || extent[rank - 1] != s->width) return true;
    for (size_t i = 0; i + 1 < rank; i++)
        rows *= extent[i];
    if (!has_large_rows(value, rows * s->width)) return true;
    for (size_t row = 0; row < rows; row++) {
        size_t    inner = rank == 3 ? extent[1] : 1;
        api_place outer = api_place_index(at, row / inner), point = api_place_index(&outer, row % inner);
        if (!look_at_row(s, value, row * s->width, rank == 1 ? at : rank == 2 ? &outer : &point)) return false;
    }
    return true;
}

static bool look_at_names(search *s, const api_node *value, const api_place *at)
{
    for (size_t i = 0; i < s->n; i++) {
        suspect        *it    = &s->suspects[i];
        const api_node *entry = api_node_get(value, s->q->model->position_names[it->position]);
        api_place       place = api_place_key(at, s->q->model->position_names[it->position]);
        if (!api_node_is(entry, API_NUMBER) || !is_suspicious(it->joint, api_node_number(entry))) continue;
        if (!warn(s, it, api_node_number(entry), &place)) return false;
    }
    return true;
}

static bool look_at_field(search *s, api_field field)
{
    const api_node *value = s->q->field[field];
    api_place       at    = api_place_key(NULL, api_field_names[field]);
    if (!value) return true;
    if (api_node_is(value, API_NUMBER)) { /* a model with one coordinate may have a number in place of an array */
        double x = api_node_number(value);
        return s->width != 1 || s->n != 1 || !is_suspicious(s->suspects->joint, x) || warn(s, s->suspects, x, &at);
    }
    return api_node_is(value, API_OBJECT) ? look_at_names(s, value, &at) : look_at_rows(s, value, &at);
}

/* Checks positions over time: an array of them, or an object with some of the keys of a signal. */
static bool look_at_signal(search *s, const api_node *signal, const api_place *where)
{
    static const char *const keys[] = {"values", "control_points", "offset", "amplitude"};
    if (!signal || !api_node_is(signal, API_OBJECT)) return !signal || look_at_rows(s, signal, where);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const api_node *value = api_node_get(signal, keys[k]);
        const api_place place = api_place_key(where, keys[k]);
        if (value && !look_at_rows(s, value, &place)) return false;
    }
    return true;
}

/* Checks the reference of a controller: the positions of state_feedback, or a signal. Joints with a quaternion have
 * other coordinates in a signal. */
static bool look_at_reference(search *s)
{
    const api_node *input = s->q->field[API_INPUT];
    const api_place up = api_place_key(NULL, "input"), where = api_place_key(&up, "reference"),
                    positions_at = api_place_key(&up, "q");
    if (!api_node_is(input, API_OBJECT)) return true;
    const api_node *positions = api_node_get(input, "q");
    if (positions) return look_at_rows(s, positions, &positions_at);
    return s->q->model->nq != s->q->model->nv || look_at_signal(s, api_node_get(input, "reference"), &where);
}

/* Keeps only those suspects that `coordinates` names, with their places in that list. */
static bool choose_suspects(search *s, const api_node *coordinates)
{
    size_t n = 0, length = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < api_node_size(coordinates); k++) {
            api_node item;
            if (!api_node_item(coordinates, k, &item)) return false;
            const char *name = api_node_is(&item, API_STRING) ? api_node_string(&item, &length) : NULL;
            if (!name || strlen(s->suspects[i].joint->name) != length ||
                memcmp(name, s->suspects[i].joint->name, length) != 0)
                continue;
            suspect chosen   = s->suspects[i];
            chosen.place     = k;
            s->suspects[n++] = chosen;
            break;
        }
    s->n     = n;
    s->width = api_node_size(coordinates);
    return true;
}

/* Checks the motion of prescribed coordinates. No check after this one uses the suspects. */
static bool look_at_prescribed(search *s)
{
    const api_node *prescribed = s->q->field[API_PRESCRIBED], *coordinates;
    const api_place up = api_place_key(NULL, "prescribed"), where = api_place_key(&up, "motion");
    if (!api_node_is(prescribed, API_OBJECT) || !(coordinates = api_node_get(prescribed, "coordinates"))) return true;
    if (!api_node_is(coordinates, API_ARRAY) || api_node_size(coordinates) > s->q->model->nq) return true;
    return choose_suspects(s, coordinates) && look_at_signal(s, api_node_get(prescribed, "motion"), &where);
}

/* Checks the positions of locked joints, which are not coordinates of the reduced model. */
static bool look_at_locked(search *s)
{
    const api_model *full         = s->q->call->model;
    const api_place  locked_place = api_place_key(NULL, "locked");
    for (size_t i = 0; s->q->reduced && i < full->n_joints; i++) {
        suspect         it    = {.joint = &full->joints[i]};
        const api_node *value = api_node_get(s->q->field[API_LOCKED], it.joint->name);
        const api_place entry = api_place_key(&locked_place, it.joint->name);
        if (!is_suspect(it.joint) || !api_node_is(value, API_NUMBER)) continue;
        if (is_suspicious(it.joint, api_node_number(value)) && !warn(s, &it, api_node_number(value), &entry))
            return false;
    }
    return true;
}

/* --- payloads and wrenches
 * ------------------------------------------------------------------------------------------------------ */

/* Checks a point, or the first of a batch of points. `from` says in the message what its distance is from. */
static bool look_at_point(api_query *q, const api_node *object, const char *key, const api_place *up, const char *from)
{
    const api_node *value                   = api_node_get(object, key);
    api_place       at                      = api_place_key(up, key);
    size_t          extent[API_PACKED_RANK] = {0}, rank = value ? api_node_packed(value, extent) : 0;
    double          p[3];
    if (rank == 0 || rank > 2 || extent[rank - 1] != 3 || extent[0] == 0) return true;
    api_node_numbers(value, 0, 3, p);
    if (!(hypot(hypot(p[0], p[1]), p[2]) > FAR_AWAY)) return true;
    char text[TEXT];
    snprintf(text, sizeof text, "more than 100 m from %s: lengths are in metres", from);
    return add_warning(q, &at, SUSPICIOUS, text);
}

static bool look_at_platform(api_query *q)
{
    const api_place up = api_place_key(NULL, "platform");
    return look_at_point(q, q->field[API_PLATFORM], "position", &up, "the origin of the world");
}

/* Checks that a payload or wrench acts on a link that moves. Unknown links are refused elsewhere, by the reader of the
 * field. */
static bool look_at_link(api_query *q, const api_node *object, const char *what, const api_place *up)
{
    const api_node *value  = api_node_get(object, "link");
    const api_place place  = api_place_key(up, "link");
    size_t          length = 0;
    if (!api_node_is(value, API_STRING)) return true;
    const char *name  = api_node_string(value, &length);
    const int   frame = api_model_frame(q->model, name, length);
    char        text[TEXT];
    if (frame < 0 || q->model->frames[frame].frame.body != DYN_WORLD) return true;
    snprintf(text, sizeof text, "\"%.64s\" is fixed to the world: the %s has no effect", name, what);
    return add_warning(q, &place, "no-effect", text);
}

/* A body or a force that a request adds: `what` it is, and the key of its point. */
typedef struct addition {
    api_field   field;
    const char *what, *point;
} addition;

static bool look_at_addition(api_query *q, const addition *a, const api_node *object, const api_place *up)
{
    return look_at_point(q, object, a->point, up, "the link's frame") && look_at_link(q, object, a->what, up);
}

static bool look_at_additions(api_query *q, const addition *a)
{
    const api_node *list = q->field[a->field];
    api_place       at   = api_place_key(NULL, api_field_names[a->field]);
    if (api_node_is(list, API_OBJECT)) return look_at_addition(q, a, list, &at);
    for (size_t i = 0; i < api_node_size(list); i++) {
        api_node  item;
        api_place entry = api_place_index(&at, i);
        if (api_node_item(list, i, &item) && !look_at_addition(q, a, &item, &entry)) return false;
    }
    return true;
}

/* Checks gravity, or that of the first row. */
static bool look_at_gravity(api_query *q)
{
    const api_node *value                   = q->field[API_GRAVITY];
    api_place       where                   = api_place_key(NULL, "gravity");
    size_t          extent[API_PACKED_RANK] = {0}, rank = value ? api_node_packed(value, extent) : 0;
    double          g[3];
    if (rank == 0 || rank > 2 || extent[rank - 1] != 3 || extent[0] == 0) return true;
    api_node_numbers(value, 0, 3, g);
    if (!(hypot(hypot(g[0], g[1]), g[2]) > API_SUSPICIOUS_GRAVITY)) return true;
    return add_warning(q, &where, SUSPICIOUS, "gravity of more than 100 m/s^2: lengths are in metres");
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

bool api_unit_warnings_find(api_query *q)
{
    static const addition payload = {API_PAYLOAD, "payload", "com"}, wrench = {API_WRENCHES, "wrench", "point"};

    search s = {.q = q};
    return list_suspects(&s) && look_at_field(&s, API_Q) && look_at_field(&s, API_CONTROL_POINTS) &&
           look_at_reference(&s) && look_at_locked(&s) && look_at_prescribed(&s) && look_at_additions(q, &payload) &&
           look_at_additions(q, &wrench) && look_at_platform(q) && look_at_gravity(q);
}

void api_unit_warnings_emit(const api_query *q, api_emit *to)
{
    api_emit_array(to);
    for (size_t i = 0; i < q->warnings->n; i++) {
        const warning *w     = &q->warnings->warning[i];
        const char    *where = api_pointer_text(&w->where);
        api_emit_object(to);
        api_emit_string_member(to, "where", where ? where : "");
        api_emit_string_member(to, "code", w->code);
        api_emit_string_member(to, "text", w->text);
        api_emit_end(to);
    }
    api_emit_end(to);
}
