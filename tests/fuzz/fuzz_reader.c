/* fuzz_reader.c - passes arbitrary bytes to the readers of requests. A text that the one-pass reader of JSON accepts
 * must give the same nodes as jansson; the nodes of the readers of CBOR and MessagePack must hold finite numbers and
 * valid texts. The first byte chooses the reader. */
#include "api/codec/nodes/node_read.h"
#include "drive.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect_same(const api_node *a, const api_node *b);

static void expect_same_items(const api_node *a, const api_node *b)
{
    size_t   extent_a[API_PACKED_RANK], extent_b[API_PACKED_RANK], rank = api_node_packed(a, extent_a);
    api_node item_a, item_b;
    drive_expect(api_node_packed(b, extent_b) == rank, "both readers pack the same arrays");
    drive_expect(memcmp(extent_a, extent_b, rank * sizeof *extent_a) == 0, "packed arrays have the same shape");
    for (size_t i = 0; i < api_node_size(a); i++) {
        drive_expect(api_node_item(a, i, &item_a) && api_node_item(b, i, &item_b), "every item can be read");
        expect_same(&item_a, &item_b);
    }
}

static void expect_same(const api_node *a, const api_node *b)
{
    drive_expect(api_node_kind_text(a) == api_node_kind_text(b) && api_node_size(a) == api_node_size(b),
                 "both readers read the same type of node");
    if (api_node_is(a, API_NUMBER)) {
        double x = api_node_number(a), y = api_node_number(b);
        drive_expect(isfinite(x) && memcmp(&x, &y, sizeof x) == 0, "both readers read the same finite number");
    }
    if (api_node_is(a, API_STRING)) {
        size_t length;
        drive_expect(strcmp(api_node_string(a, &length), api_node_string(b, NULL)) == 0,
                     "both readers read the same text");
        drive_expect(strlen(api_node_string(a, NULL)) == length, "a text has no NUL inside");
    }
    if (api_node_is(a, API_ARRAY)) expect_same_items(a, b);
    for (size_t i = 0; api_node_is(a, API_OBJECT) && i < api_node_size(a); i++) {
        const char *key = api_node_key(a, i);
        drive_expect(strcmp(key, api_node_key(b, i)) == 0, "both readers read the same key");
        drive_expect(api_node_get(a, key) == api_node_value(a, i), "every key is unique");
        expect_same(api_node_value(a, i), api_node_value(b, i));
    }
}

enum { MEMORY = 1 << 28, NESTING = 32 };

static void read_json(const api_read_options *how, const char *text, size_t length)
{
    api_node plain, tree;
    if (api_read_plain_json(how, text, length, &plain) != API_PLAIN_JSON_READ) return;
    /* No request is a string or a number. For a text that begins with one, jansson's problem may differ: it may say
       that the text looks like a table (CSV). */
    if (!api_node_is(&plain, API_OBJECT) && !api_node_is(&plain, API_ARRAY)) return;
    drive_expect(api_read_json(how, text, length, &tree), "jansson accepts what the one-pass reader accepts");
    expect_same(&plain, &tree);
}

static void read_binary(const api_read_options *how, api_media content, const char *body, size_t length)
{
    api_node root;
    bool     read = api_read_request(how, content, body, length, &root);
    if (read && (!api_node_is(&root, API_OBJECT) ||
                 api_check_members_finite(how->pool->problem, root.items, api_node_size(&root))))
        expect_same(&root, &root);
    else
        drive_expect(how->pool->problem->code != API_NO_PROBLEM, "a refused text has a problem");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const later[] = {"q"};
    static api_scratch       scratch;
    if (size == 0) return 0;
    api_budget       budget  = {.limit = MEMORY};
    api_problem      problem = {.row = -1, .offset = -1};
    api_share        share   = {.budget = &budget};
    api_pool         pool    = {&share, &scratch, &problem, 0, 0};
    api_read_options how     = {&pool, NESTING, later, sizeof later / sizeof *later};
    char            *bytes   = malloc(size); /* an allocation of exactly this size, for the sanitizer */
    drive_expect(bytes, "memory");
    memcpy(bytes, data + 1, size - 1);
    if (data[0] % 2)
        read_binary(&how, data[0] % 4 == 1 ? API_MEDIA_CBOR : API_MEDIA_MSGPACK, bytes, size - 1);
    else
        read_json(&how, bytes, size - 1);
    api_pool_end(&pool);
    drive_expect(atomic_load(&budget.used) == 0, "all memory is released");
    api_scratch_reset(&scratch);
    free(bytes);
    return 0;
}
