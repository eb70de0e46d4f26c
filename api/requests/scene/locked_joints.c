/* locked_joints.c - see locked_joints.h. The reader of documents checks names and positions: "locked" of a request has
 * the form of "locked" of a document. */
#include "locked_joints.h"
#include "api/base/memory/shortage.h"
#include "api/robots/locked_joints/locked.h"
#include "api/requests/fields/fields.h"
#include <stdio.h>
#include <string.h>

static bool fail_for_memory_of_locks(const api_query *q)
{
    return api_fail(q->problem, API_MEMORY_FULL, NULL, "no memory to lock joints");
}

/* Reads an array of at most API_LOCK_VALUES numbers. NULL with a problem. */
static json_t *read_array(const api_query *q, const api_node *value, const api_place *place)
{
    double       numbers[API_LOCK_VALUES];
    const size_t n     = api_node_size(value);
    json_t      *array = NULL;
    if (n > API_LOCK_VALUES) {
        api_fail_at(q->problem, place, API_WRONG_SHAPE,
                    "%zu numbers given, a position has at most %d: \"locked\" is the same for all rows", n,
                    API_LOCK_VALUES);
        return NULL;
    }
    if (!api_read_numbers(q, value, place, n, numbers)) return NULL;
    bool ok = (array = json_array()) != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = json_array_append_new(array, json_real(numbers[i])) == 0;
    if (ok) return array;
    json_decref(array);
    fail_for_memory_of_locks(q);
    return NULL;
}

/* Returns a position as JSON. NULL with a problem. */
static json_t *read_position(const api_query *q, const api_node *value, const api_place *place)
{
    double number = 0;
    if (api_node_is(value, API_ARRAY)) return read_array(q, value, place);
    if (!api_read_number(q, value, place, &number)) return NULL;
    json_t *position = json_real(number);
    if (!position) fail_for_memory_of_locks(q);
    return position;
}

static bool read_locks(const api_query *q, const api_node *field, json_t *locked)
{
    const api_place place = api_place_key(NULL, "locked");
    if (!api_node_is(field, API_OBJECT))
        return api_fail_at(q->problem, &place, API_WRONG_TYPE,
                           "%s given, expected an object from names of joints to positions, {\"elbow\": 1.57}",
                           api_node_kind_text(field));
    for (size_t i = 0; i < api_node_size(field); i++) {
        const char     *name     = api_node_key(field, i);
        const api_place entry    = api_place_key(&place, name);
        json_t         *position = read_position(q, api_node_value(field, i), &entry);
        if (!position) return false;
        if (json_object_set_new(locked, name, position)) return fail_for_memory_of_locks(q);
    }
    return true;
}

/* Writes the key of the reduced model in the cache. Returns false if it is too long. */
static bool write_key(const api_query *q, const json_t *locked, char key[API_LOCKED_KEY_MOST])
{
    api_buffer text;
    api_buffer_init(&text, API_LOCKED_KEY_MOST);
    api_json_print(&text, locked);
    int n = text.failed ? -1
                        : snprintf(key, API_LOCKED_KEY_MOST, "%s %s %.*s", q->model->name, q->model->revision,
                                   (int)text.length, text.data);
    api_buffer_free(&text);
    return n >= 0 && n < API_LOCKED_KEY_MOST;
}

static bool take_reduced_model(api_query *q, const json_t *locked)
{
    char              key[API_LOCKED_KEY_MOST];
    api_locked_cache *cache = &q->call->api->locked;
    const bool        keyed = write_key(q, locked, key);
    q->reduced              = keyed ? api_locked_cache_find(cache, key) : NULL;
    if (!q->reduced) {
        q->reduced = api_model_lock(q->model, locked, &q->call->share, q->input->deadline, q->problem);
        if (api_shortage_check(q->problem) || !q->reduced) return false;
        if (keyed) api_locked_cache_keep(cache, key, q->reduced);
    }
    q->model       = q->reduced;
    q->scene.model = q->reduced->dyn;
    return api_pool_claim(q->pool, api_model_bytes(q->reduced));
}

bool api_lock_joints(api_query *q, const api_node *request)
{
    const api_node *field = api_node_get(request, "locked");
    if (!field || (api_node_is(field, API_OBJECT) && api_node_size(field) == 0)) return true;
    json_t *locked = json_object();
    bool    done =
        (locked || fail_for_memory_of_locks(q)) && read_locks(q, field, locked) && take_reduced_model(q, locked);
    json_decref(locked);
    return done;
}
