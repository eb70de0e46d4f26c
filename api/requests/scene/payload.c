/* payload.c - read "payload", rigid bodies fixed to links or frames, and add them to the model for this request. */
#include "api/robots/document/inertia.h"
#include "body_parameters.h"
#include "api/requests/fields/fields.h"
#include "row_scenes.h"
#include "api/requests/fields/rows.h"
#include <string.h>

enum { DEADLINE_EVERY = 1024 /* payloads that are read between two checks of the deadline */ };

static const char *const fields[] = {"link", "mass", "com", "inertia", NULL};
/* Names of the entries of an inertia tensor, in the order of dyn_inertia. */
static const char *const tensor_fields[] = {"xx", "xy", "xz", "yy", "yz", "zz", NULL};

/* Reads a number of a payload in one row: the value itself, or entry `row` of an array. */
static bool read_figure_number(const api_query *q, const api_node *object, const char *key, const api_place *up,
                               size_t row, double *number)
{
    const api_node *value = api_node_get(object, key);
    const api_place place = api_place_key(up, key), entry = api_place_index(&place, row);
    api_node        item;
    if (!value) return true;
    if (!api_node_is(value, API_ARRAY)) return api_read_number(q, value, &place, number);
    return !api_node_item(value, row, &item) || api_read_number(q, &item, &entry, number);
}

static bool read_figure_tensor(const api_query *q, const api_node *payload, const api_place *up, size_t row,
                               double about_com[6])
{
    const api_node *tensor = api_node_get(payload, "inertia");
    api_place       place  = api_place_key(up, "inertia");
    if (!tensor) return true;
    if (!api_check_keys(q, tensor, &place, tensor_fields, "an inertia tensor")) return false;
    for (int i = 0; i < 6; i++)
        if (!read_figure_number(q, tensor, tensor_fields[i], &place, row, &about_com[i])) return false;
    return true;
}

static bool read_com(const api_query *q, const api_node *payload, const api_place *up, size_t row, double com[3])
{
    const api_node *object = api_node_get(payload, "com");
    const api_place place = api_place_key(up, "com"), entry = api_place_index(&place, row);
    api_node        item;
    if (!object) return true;
    if (!api_is_batch(object, 1)) return api_read_numbers(q, object, &place, 3, com);
    return api_node_item(object, row, &item) && api_read_numbers(q, &item, &entry, 3, com);
}

static bool require(const api_query *q, const api_node *payload, const char *key, const api_place *up)
{
    api_place place = api_place_key(up, key);
    return api_node_get(payload, key) ||
           api_fail_at(q->problem, &place, API_MISSING_FIELD, "a payload needs its %s", key);
}

/* Returns the compensation of gravity of a payload at a frame: that of its body, unless links of the body differ. */
static double share_of_frame(const api_model *m, int frame)
{
    const dyn_compensation *body = &m->dyn->body[m->frames[frame].frame.body].compensation;
    const char             *name = m->frames[frame].link;
    const int               link = body->mixed ? api_model_frame(m, name, strlen(name)) : -1;
    return link < 0 ? body->share : m->attached[link].compensation.share;
}

/* Returns the frame that the payload is fixed to; -1 with a problem. */
static int read_payload_place(const api_query *q, const api_node *object, const api_place *up, dyn_payload *payload)
{
    const api_place link_at = api_place_key(up, "link");
    *payload                = (dyn_payload){0};
    if (!api_check_keys(q, object, up, fields, "a payload")) return -1;
    if (!require(q, object, "link", up) || !require(q, object, "mass", up)) return -1;
    const int frame = api_read_frame(q, api_node_get(object, "link"), &link_at);
    if (frame < 0) return -1;
    payload->body = q->model->frames[frame].frame.body;
    payload->X_bf = q->model->frames[frame].frame.X_bf;
    if (payload->body != DYN_WORLD) payload->gravity_compensation = share_of_frame(q->model, frame);
    return frame;
}

/* Reads mass, centre of mass and tensor in a row; a value without rows applies to all rows. */
static bool read_figure(const api_query *q, const api_node *object, const api_place *up, size_t row,
                        dyn_inertia *inertia)
{
    char reason[160];
    *inertia = (dyn_inertia){0};
    if (!read_figure_number(q, object, "mass", up, row, &inertia->mass) ||
        !read_com(q, object, up, row, inertia->com) || !read_figure_tensor(q, object, up, row, inertia->about_com))
        return false;
    if (!api_inertia_refusal(inertia, reason)) return true;
    return q->row_scenes && q->row_scenes->bodies
               ? api_fail_at(q->problem, up, API_BAD_INERTIA, "in row %zu: %s", row, reason)
               : api_fail_at(q->problem, up, API_BAD_INERTIA, "%s", reason);
}

static bool load_payloads(api_query *q, size_t n, const dyn_payload *payload)
{
    if (!api_pool_claim(q->pool, q->model->dyn->bytes)) return false;
    switch (dyn_model_with_payload(q->model->dyn, n, payload, &q->loaded)) {
    case DYN_OK: q->scene.model = q->loaded; return true;
    case DYN_NO_MEMORY: return api_fail(q->problem, API_MEMORY_FULL, NULL, "no memory for the model with its payload");
    case DYN_BAD_NUMBER: break;
    case DYN_TOO_MANY_DOF: /* the model has been built before, so the faults from here on cannot occur */
    case DYN_BAD_PARENT:
    case DYN_BAD_LEADER:
    case DYN_BAD_MOTOR:
    case DYN_BAD_DRIVE: break;
    }
    return api_fail(q->problem, API_BAD_VALUE, "/payload", "the payload's figures are too large to be added");
}

/* Sets *item to payload i of the list, or to the single payload that is no list, and *entry to its place. */
static bool take_payload(const api_query *q, size_t i, const api_place *place, api_node *item, api_place *entry)
{
    const api_node *object = q->field[API_PAYLOAD];
    const bool      list   = api_node_is(object, API_ARRAY);
    *entry                 = list ? api_place_index(place, i) : *place;
    *item                  = *object;
    return !list || api_node_item(object, i, item);
}

static size_t count_payloads(const api_query *q)
{
    const api_node *object = q->field[API_PAYLOAD];
    return !object ? 0 : api_node_is(object, API_ARRAY) ? api_node_size(object) : 1;
}

/* Counts the rows of one member of a payload, an array of `depth` levels in one row. */
static bool measure_figure(api_query *q, const api_node *object, const char *key, const api_place *up, size_t depth)
{
    const api_node *value = api_node_get(object, key);
    const api_place place = api_place_key(up, key);
    const bool      rows  = value && (depth == 0 ? api_node_is(value, API_ARRAY) : api_is_batch(value, depth));
    if (!rows) return true;
    api_row_scenes *scenes = api_row_scenes_of(q, "payload");
    if (!scenes || !api_batch_rows(q, api_node_size(value), &place)) return false;
    scenes->bodies = "payload";
    return true;
}

static bool measure_body(api_query *q, const api_node *payload, const api_place *up)
{
    const api_node *tensor   = api_node_get(payload, "inertia");
    const api_place place    = api_place_key(up, "inertia");
    bool            measured = measure_figure(q, payload, "mass", up, 0) && measure_figure(q, payload, "com", up, 1);
    for (int i = 0; measured && i < 6; i++)
        measured = measure_figure(q, tensor, tensor_fields[i], &place, 0);
    return measured;
}

bool api_measure_payload(api_query *q)
{
    const api_place place = api_place_key(NULL, "payload");
    for (size_t i = 0; i < count_payloads(q); i++) {
        api_place entry;
        api_node  item;
        if (take_payload(q, i, &place, &item, &entry) && !measure_body(q, &item, &entry)) return false;
    }
    return api_measure_parameters(q);
}

/* Reads the numbers of all payloads, the first n of which are in the field, in one row. */
static bool read_row_figures(const api_query *q, size_t n, size_t row, const dyn_payload *payload, dyn_inertia *inertia)
{
    const api_place place = api_place_key(NULL, "payload");
    for (size_t i = 0; i < n; i++) {
        api_place entry;
        api_node  item;
        if (!take_payload(q, i, &place, &item, &entry) || !read_figure(q, &item, &entry, row, &inertia[i]))
            return false;
    }
    return api_read_parameter_row(q, row, payload + n, inertia + n);
}

/* Reads mass, centre and inertia of the payloads of all rows, and sets those of the first row. */
static bool read_all_figures(const api_query *q, size_t n, size_t all, dyn_payload *payload)
{
    const bool   in_rows = q->row_scenes && q->row_scenes->bodies;
    const size_t rows    = in_rows ? q->rows : 1;
    dyn_inertia *inertia = api_take(q->pool, rows * all * sizeof *inertia);
    if (!inertia) return false;
    memset(inertia, 0, rows * all * sizeof *inertia);
    for (size_t row = 0; row < rows; row++) {
        if (row % DEADLINE_EVERY == 0 && !api_deadline_check(q->input->deadline, q->problem)) return false;
        if (!read_row_figures(q, n, row, payload, inertia + row * all)) return false;
    }
    for (size_t i = 0; i < all; i++)
        payload[i].inertia = inertia[i];
    if (!in_rows) return true;
    q->row_scenes->n       = all;
    q->row_scenes->payload = payload;
    q->row_scenes->inertia = inertia;
    return true;
}

bool api_decode_payload(api_query *q)
{
    const api_node *object = q->field[API_PAYLOAD];
    const api_place place  = api_place_key(NULL, "payload");
    const size_t    n = count_payloads(q), all = n + api_count_parameter_payloads(q);
    if (all == 0) return true;
    if (object && !api_node_is(object, API_ARRAY) && !api_node_is(object, API_OBJECT))
        return api_fail_at(q->problem, &place, API_WRONG_TYPE, "%s given, a payload or an array of them expected",
                           api_node_kind_text(object));
    dyn_payload *payload = api_take(q->pool, all * sizeof *payload);
    int         *frame   = api_take(q->pool, all * sizeof *frame);
    if (!payload || !frame) return false;
    for (size_t i = 0; i < n; i++) {
        api_place entry;
        api_node  item;
        if (!take_payload(q, i, &place, &item, &entry) ||
            (frame[i] = read_payload_place(q, &item, &entry, &payload[i])) < 0)
            return false;
    }
    q->n_payloads     = n;
    q->payloads       = payload;
    q->payload_frames = frame;
    return api_read_parameter_places(q, payload + n) && read_all_figures(q, n, all, payload) &&
           load_payloads(q, all, payload);
}
