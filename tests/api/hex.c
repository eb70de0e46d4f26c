/* hex.c - reads CBOR and MessagePack written in hexadecimal (hex.h). */
#include "hex.h"
#include "door.h"
#include <stdio.h>
#include <string.h>

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
