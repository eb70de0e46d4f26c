/* mjcf_keyframe.c - read <keyframe>: the positions of its keys become configurations of the document. Velocities,
 * controls and times have no place in a model. */
#include "mjcf_reader.h"
#include "api/robots/xml/xml_text.h"
#include "dynamics/math/geometry.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 7, NAME = 400 }; /* coordinates of a joint; bytes of a coordinate's name */

static const size_t sizes[API_MJCF_JOINT_TYPES] = {
    [API_MJCF_FREE] = 7, [API_MJCF_BALL] = 4, [API_MJCF_SLIDE] = 1, [API_MJCF_HINGE] = 1};

/* Sets the coordinates of a joint: in MJCF w is the first of a quaternion, here it is the last. */
static bool set_coordinates(api_mjcf *m, const api_mjcf_joint *joint, const char *joint_name, const double *qpos,
                            json_t *to)
{
    static const char *const suffixes[MOST] = {".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"};
    const size_t             n = sizes[joint->type], first = MOST - n;
    double                   q[MOST], norm;
    char                     name[NAME];
    if (n == 1) return api_xml_set_number(&m->xml, to, joint_name, *qpos);
    memcpy(q, qpos, n * sizeof *q);
    memmove(q + n - 4, qpos + n - 3, 3 * sizeof *q);
    q[n - 1] = qpos[n - 4];
    if (!dyn_quaternion_normalise_any(q + n - 4, 1, &norm)) q[n - 1] = 1;
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%.380s%s", joint_name, suffixes[first + i]);
        if (!api_xml_set_number(&m->xml, to, name, q[i])) return false;
    }
    return true;
}

/* Coordinates that a joint of the model has in a configuration: a locked joint and one that follows another have none.
 */
static bool has_own(const api_mjcf_joint *joint)
{
    return !joint->locked && joint->leader < 0;
}

static bool set_positions(api_mjcf *m, const api_mjcf_body *base, const double *qpos, json_t *to)
{
    for (size_t i = 0; i < m->n_joints; qpos += sizes[m->joints[i++].type]) {
        const api_mjcf_joint *joint = &m->joints[i];
        const bool            free  = base && base == &m->bodies[joint->body];
        if (has_own(joint) && !set_coordinates(m, joint, free ? "base" : joint->name, qpos, to)) return false;
    }
    return true;
}

static size_t count_positions(const api_mjcf *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_joints; i++)
        n += sizes[m->joints[i].type];
    return n;
}

static bool is_taken(const json_t *list, const char *name)
{
    size_t        i;
    const json_t *entry;
    json_array_foreach (list, i, entry)
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0) return true;
    return false;
}

/* Adds a key; one without a name is called after its place. */
static bool add_key(api_mjcf *m, const api_mjcf_body *base, const xmlNode *key, const double *qpos, json_t *list)
{
    char        number[40];
    const char *name = NULL;
    if (!api_xml_text(&m->xml, key, "name", API_OPTIONAL, &name)) return false;
    snprintf(number, sizeof number, "key%zu", json_array_size(list));
    if (!name || !*name) name = number;
    if (is_taken(list, name))
        return api_xml_fail(&m->xml, key, API_DUPLICATE_NAME, "another <key> has the name \"%.*s\"",
                            api_text_shown(name), name);
    json_t *entry = json_object(), *q = json_object();
    if (json_array_append_new(list, entry)) return json_decref(q), api_reader_no_memory(&m->xml.base);
    return api_xml_set_field(&m->xml, entry, "name", json_string(name)) && api_xml_set_field(&m->xml, entry, "q", q) &&
           set_positions(m, base, qpos, q);
}

/* Reads a key with positions; without them a key stands for the reference position and says nothing new. */
static bool read_key(api_mjcf *m, const api_mjcf_body *base, const xmlNode *key, json_t *list)
{
    const size_t n    = count_positions(m);
    double      *qpos = api_arena_take(m->xml.base.arena, n, sizeof *qpos);
    if (!qpos) return api_reader_no_memory(&m->xml.base);
    api_xml_span span = {.v = qpos, .min = 0, .max = n};
    if (!api_xml_has(key, "qpos")) return true;
    if (m->generates)
        return api_xml_report(&m->xml, key, "warning", "not-held",
                              "qpos of <key> has coordinates of generated bodies, and is not a configuration");
    if (!api_xml_span_read(&m->xml, key, "qpos", API_OPTIONAL, &span)) return false;
    if (span.count == 0) return true;
    if (span.count != n)
        return api_xml_fail(&m->xml, key, API_WRONG_SHAPE,
                            "qpos of <key> has %zu numbers, the joints have %zu coordinates", span.count, n);
    return add_key(m, base, key, qpos, list);
}

/* Keys of attached models list the coordinates of these alone. */
static bool report_attached(api_mjcf *m)
{
    for (size_t k = 1; k < m->files->n_models; k++) {
        const xmlNode *section = api_xml_child(m->files->model[k].root, "keyframe");
        if (section && api_xml_child(section, "key") &&
            !api_xml_report(&m->xml, m->files->model[k].declared, "warning", "not-held",
                            "keyframes of this attached model are not configurations of the robot"))
            return false;
    }
    return true;
}

bool api_mjcf_write_keyframes(api_mjcf *m, const api_mjcf_body *base)
{
    json_t *list = json_array();
    if (!list) return api_reader_no_memory(&m->xml.base);
    bool ok = report_attached(m);
    for (const xmlNode *s = api_xml_child(m->xml.root, "keyframe"); s && ok; s = api_xml_next(s, "keyframe"))
        for (const xmlNode *key = api_xml_child(s, "key"); key && ok; key = api_xml_next(key, "key"))
            ok = read_key(m, base, key, list);
    if (!ok || json_array_size(list) == 0) return json_decref(list), ok;
    return api_xml_set_field(&m->xml, m->document.document, "configurations", list);
}
