/* payload.c - read "payload", rigid bodies fixed to links or frames, and add them to the model for this request. */
#include "fields.h"
#include "api/robots/document/inertia.h"

static const char *const fields[] = {"link", "mass", "com", "inertia", NULL};
/* Entries of a tensor, in the order of dyn_inertia. */
static const char *const tensor_fields[] = {"xx", "xy", "xz", "yy", "yz", "zz", NULL};

static bool read_number(const api_query *q, const api_node *object, const char *key, const api_place *up,
                        double *number)
{
    const api_node *value = api_node_get(object, key);
    api_place       at    = api_place_key(up, key);
    return !value || api_read_number(q, value, &at, number);
}

static bool read_tensor(const api_query *q, const api_node *payload, const api_place *up, double about_com[6])
{
    const api_node *tensor = api_node_get(payload, "inertia");
    api_place       at     = api_place_key(up, "inertia");
    if (!tensor) return true;
    if (!api_check_keys(q, tensor, &at, tensor_fields, "an inertia tensor")) return false;
    for (int i = 0; i < 6; i++)
        if (!read_number(q, tensor, tensor_fields[i], &at, &about_com[i])) return false;
    return true;
}

static bool require(const api_query *q, const api_node *payload, const char *key, const api_place *up)
{
    api_place at = api_place_key(up, key);
    return api_node_get(payload, key) || api_fail_at(q->problem, &at, API_MISSING_FIELD, "a payload needs its %s", key);
}

/* Reads a payload. Returns the frame that it is fixed to; -1 with a problem. */
static int read_body(const api_query *q, const api_node *given, const api_place *up, dyn_payload *payload)
{
    char            reason[160];
    api_place       link_at = api_place_key(up, "link"), com_at = api_place_key(up, "com");
    const api_node *com = api_node_get(given, "com");
    *payload            = (dyn_payload){0};
    if (!api_check_keys(q, given, up, fields, "a payload")) return -1;
    if (!require(q, given, "link", up) || !require(q, given, "mass", up)) return -1;
    int frame = api_read_frame(q, api_node_get(given, "link"), &link_at);
    if (frame < 0 || !read_number(q, given, "mass", up, &payload->inertia.mass) ||
        (com && !api_read_numbers(q, com, &com_at, 3, payload->inertia.com)) ||
        !read_tensor(q, given, up, payload->inertia.about_com))
        return -1;
    payload->body = q->model->frames[frame].frame.body;
    payload->X_bf = q->model->frames[frame].frame.X_bf;
    if (!api_inertia_refusal(&payload->inertia, reason)) return frame;
    api_fail_at(q->problem, up, API_BAD_INERTIA, "%s", reason);
    return -1;
}

static bool load(api_query *q, size_t n, const dyn_payload *payload)
{
    if (!api_pool_claim(q->pool, q->model->dyn->bytes)) return false;
    switch (dyn_model_with_payload(q->model->dyn, n, payload, &q->loaded)) {
    case DYN_OK: q->scene.model = q->loaded; return true;
    case DYN_NO_MEMORY: return api_fail(q->problem, API_MEMORY_FULL, NULL, "no memory for the model with its payload");
    case DYN_BAD_NUMBER: break;
    case DYN_TOO_MANY_DOF: /* A model that was built has none of the faults from here on. */
    case DYN_BAD_PARENT:
    case DYN_BAD_LEADER:
    case DYN_BAD_MOTOR:
    case DYN_BAD_DRIVE: break;
    }
    return api_fail(q->problem, API_BAD_VALUE, "/payload", "the payload's figures are too large to be added");
}

bool api_decode_payload(api_query *q)
{
    const api_node *given = q->field[API_PAYLOAD];
    api_place       at    = api_place_key(NULL, "payload");
    bool            list  = api_node_is(given, API_ARRAY);
    size_t          n     = list ? api_node_size(given) : 1;
    if (!given || n == 0) return true;
    if (!list && !api_node_is(given, API_OBJECT))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE, "%s given, a payload or an array of them expected",
                           api_node_kind_text(given));
    dyn_payload *payload = api_take(q->pool, n * sizeof *payload);
    int         *frame   = api_take(q->pool, n * sizeof *frame);
    if (!payload || !frame) return false;
    for (size_t i = 0; i < n; i++) {
        api_place entry = list ? api_place_index(&at, i) : at;
        api_node  item  = *given;
        if (list && !api_node_item(given, i, &item)) return false;
        if ((frame[i] = read_body(q, &item, &entry, &payload[i])) < 0) return false;
    }
    q->n_payloads     = n;
    q->payloads       = payload;
    q->payload_frames = frame;
    return load(q, n, payload);
}
