/* nodes.c - reads bytes and hexadecimal into nodes, and writes nodes as text (nodes.h). */
#include "nodes.h"
#include "api/base/memory/buffer.h"
#include "door.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static api_scratch scratch;
static api_budget  budget;
static api_problem problem;
static api_share   share = {.budget = &budget};
static api_pool    pool  = {&share, &scratch, &problem, 0, 0};
static api_node    root;
static char       *body;

/* Releases the memory of the last reading; scratch memory stays allocated. */
static void end(void)
{
    free(body);
    body = NULL;
    api_scratch_reset(&scratch);
    api_pool_end(&pool);
    assert_int_equal(budget.used, 0);
}

int nodes_teardown(void **state)
{
    end();
    api_scratch_free(&scratch);
    return 0;
}

static void start(const void *bytes, size_t length)
{
    end();
    body = malloc(length ? length : 1);
    assert_non_null(body);
    if (length > 0) memcpy(body, bytes, length);
    budget.limit = door_limits.memory;
    api_problem_clear(&problem);
}

const api_node *nodes_read(nodes_reader reader, const void *bytes, size_t length)
{
    static const char *const later[] = {"q", "qd"};
    const api_read_options   how     = {&pool, door_limits.nesting, later, 2, NULL, NULL};
    start(bytes, length);
    switch (reader) {
    case NODES_TEXT: return api_read_plain_json(&how, body, length, &root) == API_PLAIN_JSON_READ ? &root : NULL;
    case NODES_JSON: return api_read_json(&how, body, length, &root) ? &root : NULL;
    case NODES_CBOR: return api_read_request(&how, API_MEDIA_CBOR, body, length, &root) ? &root : NULL;
    case NODES_MSGPACK: break;
    }
    return api_read_request(&how, API_MEDIA_MSGPACK, body, length, &root) ? &root : NULL;
}

const api_problem *nodes_problem(void)
{
    return &problem;
}

size_t nodes_taken(void)
{
    return pool.used;
}

/* --- nodes as text ---------------------------------------------------------------------------------------------- */

static void print(api_buffer *b, const api_node *node);

static void print_array(api_buffer *b, const api_node *array, bool inside)
{
    api_node item;
    size_t   extent[API_PACKED_RANK], rank = api_node_packed(array, extent);
    if (rank > 0 && !inside) api_buffer_format(b, "#%zu", rank);
    api_buffer_text(b, "[");
    for (size_t i = 0; i < api_node_size(array); i++) {
        if (i > 0) api_buffer_text(b, ",");
        assert_true(api_node_item(array, i, &item));
        if (api_node_is(&item, API_ARRAY))
            print_array(b, &item, rank > 0);
        else
            print(b, &item);
    }
    api_buffer_text(b, "]");
    assert_false(api_node_item(array, api_node_size(array), &item));
}

static void print_object(api_buffer *b, const api_node *object)
{
    api_buffer_text(b, "{");
    for (size_t i = 0; i < api_node_size(object); i++) {
        const char *key = api_node_key(object, i);
        assert_ptr_equal(api_node_get(object, key), api_node_value(object, i));
        if (i > 0) api_buffer_text(b, ",");
        api_buffer_format(b, "\"%s\"", key);
        api_buffer_text(b, ":");
        print(b, api_node_value(object, i));
    }
    api_buffer_text(b, "}");
}

static void print(api_buffer *b, const api_node *node)
{
    size_t length;
    if (api_node_is(node, API_NUMBER)) {
        api_buffer_format(b, "%a", api_node_number(node));
    } else if (api_node_is(node, API_STRING)) {
        api_buffer_format(b, "\"%s\"", api_node_string(node, &length));
        assert_int_equal(length, strlen(api_node_string(node, NULL)));
    } else if (api_node_is(node, API_ARRAY)) {
        print_array(b, node, false);
    } else if (api_node_is(node, API_OBJECT)) {
        print_object(b, node);
    } else {
        api_buffer_text(b, api_node_kind_text(node));
    }
}

const char *nodes_text(const api_node *node)
{
    static api_buffer buffers[2];
    static int        turn;
    api_buffer       *b = &buffers[turn ^= 1];
    api_buffer_free(b);
    api_buffer_init(b, 1 << 26);
    print(b, node);
    api_buffer_put(b, "", 1);
    assert_false(b->failed);
    return b->data;
}

/* --- bodies in hexadecimal -------------------------------------------------------------------------------------- */

static nodes_reader hex_reader = NODES_CBOR;

void hex_use(nodes_reader reader)
{
    hex_reader = reader;
}

size_t hex_bytes(const char *hex, unsigned char *bytes)
{
    size_t   n = strlen(hex) / 2;
    unsigned byte;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (unsigned char)byte;
    }
    return n;
}

const api_node *hex_read(const char *hex)
{
    unsigned char bytes[1024];
    return nodes_read(hex_reader, bytes, hex_bytes(hex, bytes));
}

void assert_hex_is(const char *hex, const char *text)
{
    const api_node *node = hex_read(hex);
    if (!node) fail_msg("%s: %s", hex, nodes_problem()->detail);
    const char *nodes = nodes_text(node);
    node              = nodes_read(NODES_JSON, text, strlen(text));
    assert_non_null(node);
    if (strcmp(nodes, nodes_text(node)) != 0) fail_msg("%s is %s, expected %s", hex, nodes, nodes_text(node));
}

void assert_hex_refused(const char *hex, api_code code, const char *pointer, long long offset)
{
    api_problem        looked;
    const api_problem *p    = nodes_problem();
    const api_node    *node = hex_read(hex);
    api_problem_clear(&looked);
    if (node && api_node_is(node, API_OBJECT) && !api_check_members_finite(&looked, node->items, api_node_size(node)))
        p = &looked;
    if (node && p != &looked) fail_msg("%s is read", hex);
    if (p->code != code || p->offset != offset) fail_msg("%s: %d %s, offset %lld", hex, p->code, p->detail, p->offset);
    const char *found = p->has_pointer ? p->pointer : "(none)";
    if (strcmp(found, pointer ? pointer : "(none)") != 0) fail_msg("%s: %s points at %s", hex, p->detail, found);
}
