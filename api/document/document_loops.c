/* document_loops.c - "loops": joints that close loops, as the document has them; loops.c finds their frames. */
#include "document.h"
#include <string.h>

typedef struct loop_type {
    const char   *name;
    api_loop_kind kind;
    bool          axis, pitch; /* it has one */
} loop_type;

static const loop_type types[] = {
    {"fixed", API_LOOP_FIXED, false, false},         {"revolute", API_LOOP_REVOLUTE, true, false},
    {"continuous", API_LOOP_REVOLUTE, true, false},  {"prismatic", API_LOOP_PRISMATIC, true, false},
    {"spherical", API_LOOP_SPHERICAL, false, false}, {"planar", API_LOOP_PLANAR, true, false},
    {"helical", API_LOOP_HELICAL, true, true}};

static bool read_type(const api_entry *entry, const loop_type **type)
{
    const char *name = NULL;
    if (!api_entry_text(entry, "type", API_REQUIRED, &name)) return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = &types[i];
            return true;
        }
    return api_entry_fail(
        entry, "type", API_BAD_VALUE,
        "\"%.*s\" closes no loop; there are fixed, revolute, continuous, prismatic, spherical, planar "
        "and helical",
        api_text_shown(name), name);
}

static bool refuse(const api_entry *entry, const char *key, const loop_type *type)
{
    return !api_entry_has(entry, key) ||
           api_entry_fail(entry, key, API_BAD_VALUE, "a %s joint has no \"%s\"", type->name, key);
}

static bool read_loop(const api_entry *root, size_t index, api_document_loop *loop)
{
    static const char *const fields[] = {"name", "frame_a", "frame_b", "type", "axis", "pitch", NULL};
    api_entry                entry;
    const loop_type         *type = NULL;
    if (!api_entry_item(&entry, root, "loops", index, fields) ||
        !api_entry_name(&entry, "name", API_REQUIRED, &loop->name) ||
        !api_entry_name(&entry, "frame_a", API_REQUIRED, &loop->frame_a) ||
        !api_entry_name(&entry, "frame_b", API_REQUIRED, &loop->frame_b) || !read_type(&entry, &type) ||
        !(type->axis ? api_document_axis(&entry, loop->axis) : refuse(&entry, "axis", type)))
        return false;
    loop->type = type->name;
    loop->kind = type->kind;
    return type->pitch ? api_entry_number(&entry, "pitch", API_REQUIRED, &loop->pitch) : refuse(&entry, "pitch", type);
}

static bool check_names(const api_entry *root, const api_document *document)
{
    for (size_t i = 1; i < document->n_loops; i++)
        for (size_t k = 0; k < i; k++) {
            api_entry place = api_entry_place(root, "loops", i);
            if (strcmp(document->loops[i].name, document->loops[k].name) == 0)
                return api_entry_fail(&place, "name", API_DUPLICATE_NAME, "the name \"%.*s\" is taken by another loop",
                                      api_text_shown(document->loops[i].name), document->loops[i].name);
        }
    return true;
}

bool api_document_loops(const api_entry *root, api_document *document)
{
    size_t n;
    if (!api_entry_list(root, "loops", API_OPTIONAL, &n)) return false;
    if (n > DYN_MAX_DOF)
        return api_entry_fail(root, "loops", API_MODEL_TOO_LARGE, "the model has %zu loops, the limit is %d", n,
                              DYN_MAX_DOF);
    document->loops = api_arena_take(root->reader->arena, n, sizeof *document->loops);
    if (!document->loops) return api_reader_no_memory(root->reader);
    for (size_t i = 0; i < n; i++)
        if (!read_loop(root, i, &document->loops[i])) return false;
    document->n_loops = n;
    return check_names(root, document);
}
