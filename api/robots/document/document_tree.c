/* document_tree.c - build the tree of links: unique names, known parents, no cycle, and the depth-first order of the
 * coordinates, siblings in document order. There is no recursion, since a chain may have as many levels as links. */
#include "document.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *const api_base_position_names[7] = {"base.x",  "base.y",  "base.z", "base.qx",
                                                "base.qy", "base.qz", "base.qw"};
const char *const api_base_velocity_names[6] = {"base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz"};

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Adds a name to `map`, a jansson object from names to indices. Fails if the name is already in the map. */
static bool enter(json_t *map, api_reader *reader, const char *name, int place, const char *pointer, const char *reason)
{
    if (json_object_get(map, name))
        return api_fail(reader->problem, API_DUPLICATE_NAME, pointer, "the name \"%.*s\" is taken: %s",
                        api_text_shown(name), name, reason);
    json_t *value = json_integer(place);
    if (!value || json_object_set_new(map, name, value)) return api_reader_no_memory(reader);
    return true;
}

static const char *link_pointer(const api_document *document, size_t i, const char *field, char text[64])
{
    if (document->from_screws) return "/screws";
    snprintf(text, 64, "/links/%zu/%s", i, field);
    return text;
}

static bool enter_link_names(const api_document *document, api_reader *reader, json_t *map)
{
    static const char reason[] = "links and frames share one namespace";
    char              text[64];
    if (!enter(map, reader, document->base, DYN_WORLD, "/base/link", reason)) return false;
    for (size_t i = 0; i < document->n_links; i++)
        if (!enter(map, reader, document->links[i].name, (int)i, link_pointer(document, i, "name", text), reason))
            return false;
    return true;
}

/* Returns the JSON pointer to a field of frame i. A frame that a loop defines has the loop's name, so "name" of such
 * a frame points to the name of the loop. */
static const char *frame_pointer(const api_document *document, size_t i, const char *field, char text[64])
{
    size_t place = document->n_listed;
    snprintf(text, 64, "/frames/%zu/%s", i, field);
    for (size_t k = 0; i >= document->n_listed && k < document->n_loops; k++)
        for (int side = 0; side < 2; side++) {
            if (!document->loops[k].has_own_frame[side] || place++ != i) continue;
            if (strcmp(field, "name") == 0)
                snprintf(text, 64, "/loops/%zu/name", k);
            else
                snprintf(text, 64, "/loops/%zu/frame_%c/%s", k, "ab"[side], field);
        }
    return text;
}

static bool check_frame_names(const api_document *document, api_reader *reader, const json_t *links)
{
    static const char reason[] = "links and frames share one namespace";
    char              text[64];
    json_t           *names =
        json_copy((json_t *)(uintptr_t)links); /* a copy, so that the names of frames do not enter the map of links */
    bool ok = names || api_reader_no_memory(reader);
    if (ok && document->has_tip) ok = enter(names, reader, document->tip.name, 0, "/screws/M", reason);
    for (size_t i = 0; ok && i < document->n_frames; i++)
        if (!document->has_tip || i + 1 != document->n_listed)
            ok = enter(names, reader, document->frames[i].name, 0, frame_pointer(document, i, "name", text), reason);
    json_decref(names);
    return ok;
}

static bool is_base_coordinate(const char *name)
{
    for (int i = 0; i < 7; i++)
        if (strcmp(name, api_base_position_names[i]) == 0) return true;
    for (int i = 0; i < 6; i++)
        if (strcmp(name, api_base_velocity_names[i]) == 0) return true;
    return false;
}

const char *const *api_joint_coordinate_suffixes(const api_document_link *link, bool velocities)
{
    static const char *const none[] = {NULL}, *const driven[] = {"", ".motor", NULL};
    const dyn_joint_type *type = &dyn_joint_types[link->dyn.joint];
    if (link->dyn.mimic) return none;
    if (link->dyn.elastic) return driven;
    return velocities ? type->velocity_suffix : type->position_suffix;
}

/* Checks that a coordinate name formed from a joint's name is neither the name of another joint nor a coordinate
 * name of the base. */
static bool check_coordinate_names(const api_document *document, api_reader *reader, const json_t *joints, size_t i,
                                   bool velocities)
{
    const api_document_link *link = &document->links[i];
    char                     name[API_COORDINATE_NAME], pointer[64];
    const char *const       *ending = api_joint_coordinate_suffixes(link, velocities);
    for (; *ending; ending++) {
        snprintf(name, sizeof name, "%s%s", link->joint, *ending);
        bool taken = **ending && json_object_get(joints, name);
        if (!taken && !(document->floating && is_base_coordinate(name))) continue;
        return api_fail(reader->problem, API_DUPLICATE_NAME, link_pointer(document, i, "joint/name", pointer),
                        "\"%.*s\" is the name of a coordinate of this joint, and %s", api_text_shown(name), name,
                        taken ? "another joint's name" : "one of the floating base's");
    }
    return true;
}

static const char *link_name(const void *document, size_t i)
{
    const api_document *d = document;
    return i == 0 ? d->base : d->links[i - 1].name;
}

static const char *joint_name(const void *document, size_t i)
{
    return ((const api_document *)document)->links[i].joint;
}

api_names api_document_joint_names(const api_document *document)
{
    return (api_names){document->n_links, joint_name, document};
}

static bool fail_unknown(const api_document *document, api_reader *reader, bool link, const char *name,
                         const char *pointer)
{
    char      list[API_NAMES_TEXT];
    api_names known =
        link ? (api_names){document->n_links + 1, link_name, document} : api_document_joint_names(document);
    api_names_write(&known, name, list);
    return api_fail(reader->problem, API_UNKNOWN_NAME, pointer, "there is no %s \"%.*s\" in this model%s",
                    link ? "link" : "joint", api_text_shown(name), name, list);
}

/* A map from the names of links (or of joints) to their indices, with the data for problems about unknown names. */
typedef struct name_map {
    const api_document *document;
    api_reader         *reader;
    const json_t       *map;
    bool                links;
} name_map;

static bool find(const name_map *names, const char *name, const char *pointer, int *index)
{
    const json_t *value = json_object_get(names->map, name);
    if (!value) return fail_unknown(names->document, names->reader, names->links, name, pointer);
    *index = (int)json_integer_value(value);
    return true;
}

/* Finds the joints that motors drive. */
static bool find_turned(api_document *document, api_reader *reader, const json_t *joints)
{
    const name_map names = {document, reader, joints, false};
    for (size_t i = 0; i < document->n_motors; i++) {
        char text[64];
        snprintf(text, sizeof text, "/motors/%zu/joint", i);
        if (!find(&names, document->motors[i].joint, text, &document->motors[i].joint_link)) return false;
    }
    return true;
}

/* Finds the joints of coupled transmissions. */
static bool find_coupled(api_document *document, api_reader *reader, const json_t *joints)
{
    const name_map names = {document, reader, joints, false};
    for (size_t i = 0; i < document->n_transmissions; i++)
        for (size_t j = 0; j < document->transmissions[i].n; j++) {
            char text[80];
            snprintf(text, sizeof text, "/transmissions/%zu/joints/%zu", i, j);
            if (!find(&names, document->transmissions[i].joint[j], text, &document->transmissions[i].link[j]))
                return false;
        }
    return true;
}

static bool resolve_joint_names(api_document *document, api_reader *reader)
{
    char    text[64];
    json_t *map = json_object();
    bool    ok  = map || api_reader_no_memory(reader);
    for (size_t i = 0; ok && i < document->n_links; i++) {
        const char *joint   = document->links[i].joint;
        const char *pointer = link_pointer(document, i, "joint/name", text);
        ok                  = enter(map, reader, joint, (int)i, pointer, "joints have unique names");
    }
    for (size_t i = 0; ok && i < document->n_links; i++)
        ok = check_coordinate_names(document, reader, map, i, false) &&
             check_coordinate_names(document, reader, map, i, true);
    ok = ok && find_turned(document, reader, map) && find_coupled(document, reader, map);
    json_decref(map);
    return ok;
}

static bool find_parents(api_document *document, api_reader *reader, const json_t *map)
{
    const name_map names = {document, reader, map, true};
    char           text[64];
    for (size_t i = 0; i < document->n_links; i++) {
        api_document_link *link = &document->links[i];
        if (!find(&names, link->parent, link_pointer(document, i, "parent", text), &link->parent_index)) return false;
    }
    for (size_t i = 0; i < document->n_frames; i++) {
        api_document_frame *frame = &document->frames[i];
        if (!find(&names, frame->link_name, frame_pointer(document, i, "link", text), &frame->link)) return false;
    }
    for (size_t i = 0; i < document->n_motors; i++) {
        snprintf(text, sizeof text, "/motors/%zu/link", i);
        if (!find(&names, document->motors[i].link_name, text, &document->motors[i].dyn.link)) return false;
    }
    return true;
}

static bool resolve_names(api_document *document, api_reader *reader)
{
    json_t *map = json_object();
    bool    ok  = map || api_reader_no_memory(reader);
    ok          = ok && enter_link_names(document, reader, map) && check_frame_names(document, reader, map) &&
         resolve_joint_names(document, reader) && find_parents(document, reader, map);
    json_decref(map);
    return ok;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/* Sets the problem of a cycle in the tree. Some link was not reached from the base, so its chain of parents ends in
 * a cycle. */
static bool fail_with_circle(const api_document *document, api_reader *reader)
{
    size_t i = 0;
    char   text[64];
    while (document->links[i].core_index >= 0)
        i++;
    int current = (int)i;
    for (size_t steps = 0; steps < document->n_links; steps++) /* n_links steps lead to a link on the cycle */
        current = document->links[current].parent_index;
    const api_document_link *link = &document->links[current];
    return api_fail(reader->problem, API_BAD_MODEL, link_pointer(document, (size_t)current, "parent", text),
                    "link \"%.*s\" hangs on \"%.*s\", which hangs on it in turn: a cycle without the base",
                    api_text_shown(link->name), link->name, api_text_shown(link->parent), link->parent);
}

/* Orders the links depth-first. A link is followed by its first child; without children, by the next sibling of the
 * link or of its nearest ancestor that has one. */
static bool order_depth_first(api_document *document, api_reader *reader)
{
    size_t n = document->n_links, count = 0;
    int *first = api_arena_take(reader->arena, n + 1, sizeof *first); /* first child of link i - 1; [0]: of the base */
    int *next  = api_arena_take(reader->arena, n, sizeof *next);      /* next sibling of each link */
    document->order = api_arena_take(reader->arena, n, sizeof *document->order);
    if (!first || !next || !document->order) return api_reader_no_memory(reader);

    const int none = -1;
    for (size_t i = 0; i <= n; i++)
        first[i] = none;
    for (size_t i = n; i-- > 0;) { /* backwards, so that each list of siblings is in document order */
        document->links[i].core_index              = none;
        next[i]                                    = first[document->links[i].parent_index + 1];
        first[document->links[i].parent_index + 1] = (int)i;
    }
    for (int current = first[0]; current != none;) {
        document->links[current].core_index = (int)count;
        document->order[count++]            = current;
        if (first[current + 1] != none) {
            current = first[current + 1];
            continue;
        }
        while (current != DYN_WORLD && next[current] == none)
            current = document->links[current].parent_index;
        current = current == DYN_WORLD ? none : next[current];
    }
    return count == n || fail_with_circle(document, reader);
}

static bool check_coordinates(const api_document *document, api_reader *reader)
{
    size_t nv = document->floating ? 6 : 0;
    for (size_t i = 0; i < document->n_links; i++)
        for (const char *const *ending = api_joint_coordinate_suffixes(&document->links[i], true); *ending; ending++)
            nv++;
    if (document->n_locks > 0 && nv < 1)
        return api_fail(reader->problem, API_BAD_VALUE, "/locked",
                        "nothing moves: all joints are locked; leave at least one out");
    if (nv == 0)
        return api_fail(
            reader->problem, API_BAD_MODEL, "",
            "nothing moves: no moving joint and a fixed base; base=floating frees the base of a URDF or SDF "
            "file, <freejoint/> a body of MJCF, \"base\": {\"type\": \"floating\"} that of a document");
    if (nv <= DYN_MAX_DOF) return true;
    return api_fail(
        reader->problem, API_MODEL_TOO_LARGE, "",
        "the model has %zu degrees of freedom, the limit is %d: of several robots, each is a model of its own", nv,
        DYN_MAX_DOF);
}

bool api_document_build_tree(api_document *document, api_reader *reader)
{
    return resolve_names(document, reader) && order_depth_first(document, reader) &&
           api_document_resolve_mimics(document, reader) && api_document_check_bodies(document, reader) &&
           api_document_attach_motors(document, reader) && api_document_check_loads(document, reader) &&
           api_document_check_transmissions(document, reader) && api_document_lock_joints(document, reader) &&
           check_coordinates(document, reader);
}
