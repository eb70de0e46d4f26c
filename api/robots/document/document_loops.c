/* document_loops.c - read "loops": the joints that close loops. loops_build.c resolves their frames.
 *
 * The frame of a cut joint may be given in the loop itself, by modified DH parameters relative to the frame of its
 * link (Khalil 2010, 2.2); its z is the joint axis. Such a frame becomes a frame of the document, named after the
 * loop. */
#include "document.h"
#include "api/codec/names.h"
#include <stdio.h>
#include <string.h>

typedef struct loop_type {
    const char   *name;
    dyn_loop_kind kind;
    bool          axis, pitch, axis_b; /* true: the type has this field */
} loop_type;

static const loop_type types[] = {{"fixed", DYN_LOOP_FIXED, false, false, false},
                                  {"revolute", DYN_LOOP_REVOLUTE, true, false, false},
                                  {"continuous", DYN_LOOP_REVOLUTE, true, false, false},
                                  {"prismatic", DYN_LOOP_PRISMATIC, true, false, false},
                                  {"cylindrical", DYN_LOOP_CYLINDRICAL, true, false, false},
                                  {"universal", DYN_LOOP_UNIVERSAL, true, false, true},
                                  {"spherical", DYN_LOOP_SPHERICAL, false, false, false},
                                  {"planar", DYN_LOOP_PLANAR, true, false, false},
                                  {"helical", DYN_LOOP_HELICAL, true, true, false}};

enum { TYPES = sizeof types / sizeof *types };

static const char *type_name(const void *list, size_t i)
{
    return ((const loop_type *)list)[i].name;
}

static bool read_type(const api_entry *entry, const loop_type **type)
{
    const char     *name  = NULL;
    const api_names known = {TYPES, type_name, types};
    char            list[API_NAMES_TEXT];
    if (!api_entry_text(entry, "type", API_REQUIRED, &name)) return false;
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = &types[i];
            return true;
        }
    api_names_write(&known, name, list);
    return api_entry_fail(entry, "type", API_BAD_VALUE, "\"%.*s\" is not a type of loop%s", api_text_shown(name), name,
                          list);
}

static bool refuse(const api_entry *entry, const char *key, const loop_type *type)
{
    return !api_entry_has(entry, key) ||
           api_entry_fail(entry, key, API_BAD_VALUE, "a %s joint has no \"%s\"", type->name, key);
}

/* Reads the joint axis in frame a or b of a loop. It is z if that frame is given by DH parameters (`dh`). */
static bool read_axis(const api_entry *entry, const char *key, bool dh, double axis[3])
{
    axis[2] = 1;
    if (dh && api_entry_has(entry, key))
        return api_entry_fail(entry, key, API_BAD_VALUE, "the axis is z in DH forms: \"%s\" is not taken", key);
    return dh || api_document_read_axis(entry, key, axis);
}

/* Reads frame a (side 0) or frame b (side 1) of a loop: the name of a frame, or a frame defined by DH parameters. */
static bool read_frame(const api_entry *entry, const char *key, api_document_loop *loop, int side)
{
    static const char *const fields[] = {"link", "modified_dh", NULL};
    api_document_frame      *frame    = &loop->own_frame[side];
    const char             **name     = side == 0 ? &loop->frame_a : &loop->frame_b;
    api_entry                place;
    if (!json_is_object(json_object_get(entry->input, key))) return api_entry_name(entry, key, API_REQUIRED, name);
    if (!api_entry_open(&place, entry, key, fields) || !api_entry_name(&place, "link", API_REQUIRED, &frame->link_name))
        return false;
    if (!api_entry_has(&place, "modified_dh"))
        return api_entry_fail(&place, "modified_dh", API_MISSING_FIELD,
                              "a loop's own frame needs \"modified_dh\": gamma, b, alpha, d, theta and r, default 0");
    size_t size = strlen(loop->name) + sizeof ".a";
    char  *text = api_arena_take(entry->reader->arena, size, 1);
    if (!text) return api_reader_no_memory(entry->reader);
    snprintf(text, size, "%s.%c", loop->name, "ab"[side]);
    *name = frame->name       = text;
    loop->has_own_frame[side] = true;
    bool ok                   = api_document_read_modified_dh(&place, &frame->X_lf);
    api_entry_close(&place, true);
    return ok;
}

static bool read_loop(const api_entry *root, size_t index, api_document_loop *loop)
{
    static const char *const fields[] = {"name", "frame_a", "frame_b", "type", "axis", "axis_b", "pitch", NULL};
    api_entry                entry;
    const loop_type         *type = NULL;
    if (!api_entry_item(&entry, root, "loops", index, fields) ||
        !api_entry_name(&entry, "name", API_REQUIRED, &loop->name) || !read_frame(&entry, "frame_a", loop, 0) ||
        !read_frame(&entry, "frame_b", loop, 1) || !read_type(&entry, &type))
        return false;
    loop->type = type->name;
    loop->kind = type->kind;
    return (type->axis ? read_axis(&entry, "axis", loop->has_own_frame[0], loop->axis)
                       : refuse(&entry, "axis", type)) &&
           (type->axis_b ? read_axis(&entry, "axis_b", loop->has_own_frame[1], loop->axis_b)
                         : refuse(&entry, "axis_b", type)) &&
           (type->pitch ? api_entry_number(&entry, "pitch", API_REQUIRED, &loop->pitch)
                        : refuse(&entry, "pitch", type));
}

static bool check_names(const api_entry *root, const api_document *document)
{
    for (size_t i = 1; i < document->n_loops; i++)
        for (size_t k = 0; k < i; k++) {
            api_entry place = api_entry_location(root, "loops", i);
            if (strcmp(document->loops[i].name, document->loops[k].name) == 0)
                return api_entry_fail(&place, "name", API_DUPLICATE_NAME, "the name \"%.*s\" is taken by another loop",
                                      api_text_shown(document->loops[i].name), document->loops[i].name);
        }
    return true;
}

/* Appends the frames that loops define to the document's frames. */
static bool add_frames(const api_entry *root, api_document *document)
{
    size_t              n   = document->n_listed;
    api_document_frame *all = api_arena_take(root->reader->arena, n + 2 * document->n_loops, sizeof *all);
    if (!all) return api_reader_no_memory(root->reader);
    if (n > 0) memcpy(all, document->frames, n * sizeof *all);
    for (size_t k = 0; k < document->n_loops; k++)
        for (int side = 0; side < 2; side++)
            if (document->loops[k].has_own_frame[side]) all[n++] = document->loops[k].own_frame[side];
    document->frames   = all;
    document->n_frames = n;
    return true;
}

bool api_document_read_loops(const api_entry *root, api_document *document)
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
    return add_frames(root, document) && check_names(root, document);
}
