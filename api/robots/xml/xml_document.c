/* xml_document.c - see xml_document.h. */
#include "xml_document.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

bool api_xml_document_open(api_xml_document *d, api_xml_reader *reader, size_t capacity)
{
    *d               = (api_xml_document){.reader   = reader,
                                          .document = json_object(),
                                          .names    = json_object(),
                                          .joints   = json_object(),
                                          .capacity = capacity};
    d->link_element  = api_arena_take(reader->base.arena, capacity, sizeof *d->link_element);
    d->joint_element = api_arena_take(reader->base.arena, capacity, sizeof *d->joint_element);
    if (!d->document || !d->names || !d->joints || !d->link_element || !d->joint_element)
        return api_reader_no_memory(&reader->base);
    return api_xml_set_field(reader, d->document, "links", d->links = json_array()) &&
           api_xml_set_field(reader, d->document, "frames", d->frames = json_array()) &&
           api_xml_set_field(reader, d->document, "loops", d->loops = json_array());
}

void api_xml_document_close(api_xml_document *d)
{
    json_decref(d->document);
    json_decref(d->names);
    json_decref(d->joints);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* The map stores the last number that was appended to a name, so that the time for a further equal name does not
 * grow. */
const char *api_xml_reserve_name(api_xml_document *d, json_t *map, const char *wanted)
{
    api_arena *arena  = d->reader->base.arena;
    json_t    *last   = json_object_get(map, wanted);
    json_int_t number = last ? json_integer_value(last) : 1;
    size_t     size   = strlen(wanted) + 24;
    char      *name   = last ? api_arena_take(arena, size, 1) : api_arena_text(arena, wanted);
    if (!name) return NULL;
    do
        if (last) snprintf(name, size, "%s_%lld", wanted, (long long)++number);
    while (last && json_object_get(map, name));
    if (json_object_set_new(map, name, json_integer(1))) return NULL;
    if (last && json_object_set_new(map, wanted, json_integer(number))) return NULL;
    return name;
}

bool api_xml_reserve_given(api_xml_document *d, json_t *map, const xmlNode *element, const char *given,
                           const char **name)
{
    *name = api_xml_reserve_name(d, map, given);
    if (!*name) return api_reader_no_memory(&d->reader->base);
    if (strcmp(given, *name) == 0) return true;
    return api_xml_report(d->reader, element, "info", "renamed",
                          "<%.40s> \"%.*s\" is named \"%.*s\": the name was taken", (const char *)element->name,
                          api_text_shown(given), given, api_text_shown(*name), *name);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool set_matrix(api_xml_document *d, json_t *object, const dyn_pose *X)
{
    json_t *rows = json_array();
    if (!api_xml_set_field(d->reader, object, "matrix", rows)) return false;
    for (int i = 0; i < 4; i++) {
        double  row[4] = {0, 0, 0, 1};
        json_t *array  = json_array();
        for (int j = 0; i < 3 && j < 4; j++)
            row[j] = (j < 3 ? X->R[i][j] : X->p[i]) + 0.0; /* -0 becomes 0 */
        if (json_array_append_new(rows, array)) return api_reader_no_memory(&d->reader->base);
        if (!api_xml_append_numbers(d->reader, array, "matrix", row, 4)) return false;
    }
    return true;
}

static bool is_turned(const dyn_pose *X)
{
    dyn_pose turn = *X;
    memset(turn.p, 0, sizeof turn.p);
    return !dyn_pose_is_identity(&turn);
}

static bool set_position(api_xml_document *d, json_t *object, const dyn_pose *X)
{
    const double xyz[3] = {X->p[0] + 0.0, X->p[1] + 0.0, X->p[2] + 0.0}; /* -0 becomes 0 */
    return api_xml_set_vector(d->reader, object, "xyz", xyz, 3);
}

static bool set_origin(api_xml_document *d, json_t *joint, const dyn_pose *X)
{
    if (dyn_pose_is_identity(X)) return true;
    json_t *origin = json_object();
    if (!api_xml_set_field(d->reader, joint, "origin", origin)) return false;
    return is_turned(X) ? set_matrix(d, origin, X) : set_position(d, origin, X);
}

bool api_xml_write_inertial(api_xml_document *d, json_t *owner, const dyn_inertia *inertia)
{
    static const char *const entries[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};
    bool                     zero       = inertia->mass == 0;
    for (int i = 0; i < 6; i++)
        zero = zero && inertia->about_com[i] == 0;
    if (zero) return true;
    json_t *fields = json_object(), *tensor = NULL;
    if (!api_xml_set_field(d->reader, owner, "inertial", fields) ||
        !api_xml_set_number(d->reader, fields, "mass", inertia->mass) ||
        !api_xml_set_vector(d->reader, fields, "com", inertia->com, 3) ||
        !api_xml_set_field(d->reader, fields, "inertia", tensor = json_object()))
        return false;
    for (int i = 0; i < 6; i++)
        if (!api_xml_set_number(d->reader, tensor, entries[i], inertia->about_com[i] + 0.0)) return false;
    return true;
}

bool api_xml_write_compensation(api_xml_document *d, json_t *owner, double share)
{
    return share == 0 || api_xml_set_number(d->reader, owner, "gravity_compensation", share);
}

/* --- links and frames --------------------------------------------------------------------------------------------- */

/* Appends one link, whose frame is its joint's frame. Takes over `joint`, the fields of the joint. */
static bool append_link(api_xml_document *d, const api_xml_link *link, json_t *joint)
{
    json_t *entry = joint ? json_object() : NULL;
    if (!entry || json_array_append_new(d->links, entry)) {
        json_decref(joint);
        return api_reader_no_memory(&d->reader->base);
    }
    if (!api_xml_set_field(d->reader, entry, "joint", joint)) return false;
    if (d->n == d->capacity)
        return api_xml_fail(d->reader, link->element, API_MODEL_TOO_LARGE, "there are more than %zu links and joints",
                            d->capacity);
    d->link_element[d->n]    = link->element;
    d->joint_element[d->n++] = link->joint_element;
    return api_xml_set_field(d->reader, joint, "name", json_string(link->joint)) &&
           api_xml_set_field(d->reader, joint, "type", json_string(link->type)) &&
           set_origin(d, joint, &link->before) &&
           api_xml_set_field(d->reader, entry, "name", json_string(link->name)) &&
           api_xml_set_field(d->reader, entry, "parent", json_string(link->parent)) &&
           api_xml_write_inertial(d, entry, &link->inertia) &&
           api_xml_write_compensation(d, entry, link->gravity_compensation) &&
           (!link->visual || api_xml_set_field(d->reader, entry, "visual", json_incref(link->visual)));
}

/* Returns the name of the link or joint `name.suffix`, reserved; NULL when memory is short. */
static const char *derived_name(api_xml_document *d, json_t *map, const char *name, const char *suffix)
{
    size_t size = strlen(name) + strlen(suffix) + 2;
    char  *text = api_arena_take(d->reader->base.arena, size, 1);
    if (!text) return NULL;
    snprintf(text, size, "%s.%s", name, suffix);
    return api_xml_reserve_name(d, map, text);
}

bool api_xml_write_link(api_xml_document *d, const api_xml_link *link)
{
    json_t *fields = link->fields ? link->fields : json_object();
    if (dyn_pose_is_identity(&link->after)) return append_link(d, link, fields);
    api_xml_link mover = *link, body = *link;
    mover.name                 = derived_name(d, d->names, link->name, link->joint);
    mover.inertia              = (dyn_inertia){0};
    mover.gravity_compensation = 0;
    mover.visual               = NULL;
    body.parent                = mover.name;
    body.joint                 = derived_name(d, d->joints, link->name, "fixed");
    body.type                  = "fixed";
    body.before                = link->after;
    if (!mover.name || !body.joint) {
        json_decref(fields);
        return api_reader_no_memory(&d->reader->base);
    }
    return append_link(d, &mover, fields) && append_link(d, &body, json_object());
}

bool api_xml_write_frame(api_xml_document *d, const char *name, const char *link, const dyn_pose *X)
{
    double  rpy[3];
    json_t *frame = json_object();
    if (!frame || json_array_append_new(d->frames, frame)) return api_reader_no_memory(&d->reader->base);
    dyn_rpy_of((const double(*)[3])X->R, rpy);
    return api_xml_set_field(d->reader, frame, "name", json_string(name)) &&
           api_xml_set_field(d->reader, frame, "link", json_string(link)) && set_position(d, frame, X) &&
           (!is_turned(X) || api_xml_set_vector(d->reader, frame, "rpy", rpy, 3));
}

void api_xml_document_finish(api_xml_document *d)
{
    if (json_array_size(d->frames) == 0) json_object_del(d->document, "frames");
    if (json_array_size(d->loops) == 0) json_object_del(d->document, "loops");
}

const xmlNode *api_xml_document_element(const void *document, const char *pointer)
{
    const api_xml_document *d      = document;
    size_t                  i      = 0;
    int                     length = 0;
    if (sscanf(pointer, "/links/%zu%n", &i, &length) != 1 || i >= d->n) return NULL;
    const char *field   = pointer + length;
    bool        of_link = strncmp(field, "/name", 5) == 0 || strncmp(field, "/inertial", 9) == 0 ||
                   strncmp(field, "/visual", 7) == 0 || strncmp(field, "/gravity_compensation", 21) == 0;
    return of_link || !d->joint_element[i] ? d->link_element[i] : d->joint_element[i];
}
