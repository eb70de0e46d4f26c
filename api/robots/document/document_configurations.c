/* document_configurations.c - read "configurations": positions of the robot that have names. The coordinates are
 * resolved when the model has names for them (configurations.h in model/). */
#include "document.h"
#include <stdint.h>
#include <string.h>

/* Copies the positions to the canonical document, as they are. */
static bool read_positions(const api_entry *entry, api_document_configuration *c)
{
    const char   *coordinate;
    const json_t *value;
    json_t       *canonical = json_object();
    if (!api_entry_set_canonical(entry, "q", canonical)) return false;
    c->positions = json_object_get(entry->input, "q");
    if (!json_is_object(c->positions))
        return api_entry_fail(entry, "q", c->positions ? API_WRONG_TYPE : API_MISSING_FIELD,
                              "expected an object from names of coordinates to numbers, {\"elbow\": 1.57}");
    json_object_foreach ((json_t *)(uintptr_t)c->positions, coordinate, value) {
        if (!json_is_number(value))
            return api_entry_fail(entry, "q", API_WRONG_TYPE, "\"%.*s\" is no number", api_text_shown(coordinate),
                                  coordinate);
        if (json_object_set_new(canonical, coordinate, json_real(json_number_value(value) + 0.0)))
            return api_reader_no_memory(entry->reader);
    }
    return true;
}

bool api_document_read_configurations(const api_entry *root, api_document *document)
{
    static const char *const fields[] = {"name", "q", NULL};
    size_t                   n;
    if (!api_entry_list(root, "configurations", API_OPTIONAL, &n)) return false;
    document->configurations = api_arena_take(root->reader->arena, n, sizeof *document->configurations);
    if (!document->configurations) return api_reader_no_memory(root->reader);
    for (size_t i = 0; i < n; i++) {
        api_document_configuration *c = &document->configurations[i];
        api_entry                   entry;
        if (!api_entry_item(&entry, root, "configurations", i, fields) ||
            !api_entry_name(&entry, "name", API_REQUIRED, &c->name))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(document->configurations[k].name, c->name) == 0)
                return api_entry_fail(&entry, "name", API_DUPLICATE_NAME, "another configuration has this name");
        if (!read_positions(&entry, c)) return false;
        document->n_configurations++;
    }
    return true;
}
