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

/* Number of coordinates of a joint in MuJoCo's qpos. The first of the hinges that replace a ball joint has those of the
 * ball joint, the others none. */
static size_t size_of(const api_mjcf_joint *joint)
{
    if (joint->pinned) return sizes[API_MJCF_FREE];
    return joint->part > 1 ? 0 : sizes[joint->part == 1 ? API_MJCF_BALL : joint->type];
}

/* Sets the angle of the hinge `joint`, one of three that replace a ball joint with the quaternion w x y z. */
static bool set_part(api_mjcf *m, const api_mjcf_joint *joint, const double *quaternion, json_t *to)
{
    double w[4], norm;
    memcpy(w, quaternion, sizeof w);
    if (!dyn_quaternion_normalise_any(w, 1, &norm)) memcpy(w, (double[4]){1, 0, 0, 0}, sizeof w);
    return api_xml_set_number(&m->xml, to, joint->name, api_mjcf_part_angle(joint, w));
}

/* Sets the coordinates of a joint: in MJCF w is the first of a quaternion, here it is the last. */
static bool set_coordinates(api_mjcf *m, const api_mjcf_joint *joint, const char *joint_name, const double *qpos,
                            json_t *to)
{
    static const char *const suffixes[MOST] = {".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"};
    const size_t             n = sizes[joint->type], first = MOST - n;
    double                   q[MOST], norm;
    char                     name[NAME];
    if (joint->part > 0) return set_part(m, joint, joint->part == 1 ? qpos : qpos - sizes[API_MJCF_BALL], to);
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

/* Sets the quaternion of a pinned joint, a ball joint that replaces a free joint: the rotation from the orientation at
 * the reference. The position of the free joint is given by the loop. */
static bool set_pinned(api_mjcf *m, const api_mjcf_joint *joint, const double *qpos, json_t *to)
{
    const dyn_pose home = dyn_pose_inverse(&m->bodies[joint->body].X_pb);
    double         w[4], x[4], norm;
    memcpy(w, qpos + 3, sizeof w);
    if (!dyn_quaternion_normalise_any(w, 1, &norm)) memcpy(w, (double[4]){1, 0, 0, 0}, sizeof w);
    dyn_pose turned = dyn_pose_wxyz(w);
    turned          = dyn_pose_compose(&home, &turned);
    dyn_quaternion_of((const double(*)[3])turned.R, x);
    return set_coordinates(m, joint, joint->name, (double[4]){x[3], x[0], x[1], x[2]}, to);
}

/* True if the joint has coordinates in a configuration: a locked joint and one that follows another have none. */
static bool has_own(const api_mjcf_joint *joint)
{
    return !joint->locked && joint->leader < 0;
}

static bool set_positions(api_mjcf *m, const api_mjcf_body *base, const double *qpos, json_t *to)
{
    for (size_t i = 0; i < m->n_joints; qpos += size_of(&m->joints[i++])) {
        const api_mjcf_joint *joint = &m->joints[i];
        const bool            free  = base && base == &m->bodies[joint->body];
        if (joint->pinned) {
            if (!set_pinned(m, joint, qpos, to)) return false;
        } else if (has_own(joint) && !set_coordinates(m, joint, free ? "base" : joint->name, qpos, to)) {
            return false;
        }
    }
    return true;
}

static size_t count_positions(const api_mjcf *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_joints; i++)
        n += size_of(&m->joints[i]);
    return n;
}

/* Positions of a key without qpos, in which MuJoCo begins. */
static void set_reference(const api_mjcf *m, double *qpos)
{
    for (size_t i = 0; i < m->n_joints; qpos += size_of(&m->joints[i++])) {
        const api_mjcf_joint *joint = &m->joints[i];
        const size_t          n     = size_of(joint);
        const dyn_pose       *X     = &m->bodies[joint->body].X_wb;
        double                q[4]  = {0, 0, 0, 1};
        if (n == 0) continue;
        if (n == 1) {
            *qpos = joint->ref;
            continue;
        }
        if (joint->type == API_MJCF_FREE || joint->pinned) {
            memcpy(qpos, X->p, sizeof X->p);
            dyn_quaternion_of(X->R, q);
        }
        memcpy(qpos + n - 4, (double[4]){q[3], q[0], q[1], q[2]}, sizeof q);
    }
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

typedef struct keyframes {
    json_t *list;  /* configurations */
    json_t *names; /* map whose keys are their names */
    size_t  place; /* number of keys before the next one */
} keyframes;

/* Adds the name that a key has in the file to keys->names. Refuses a name that another key has. */
static bool take_name(api_mjcf *m, const xmlNode *key, keyframes *keys)
{
    const char *name = NULL;
    if (!api_xml_text(&m->xml, key, "name", API_OPTIONAL, &name)) return false;
    if (!name || !*name) return true;
    if (json_object_get(keys->names, name))
        return api_xml_fail(&m->xml, key, API_DUPLICATE_NAME, "another <key> has the name \"%.*s\"",
                            api_text_shown(name), name);
    return api_xml_reserve_name(&m->document, keys->names, name) || api_reader_no_memory(&m->xml.base);
}

/* Adds a key; one without a name is named after its index. */
static bool add_key(api_mjcf *m, const api_mjcf_body *base, const xmlNode *key, const double *qpos, keyframes *keys)
{
    char        number[40];
    const char *name = NULL;
    if (!api_xml_text(&m->xml, key, "name", API_OPTIONAL, &name)) return false;
    snprintf(number, sizeof number, "key%zu", keys->place);
    if (!name || !*name) name = api_xml_reserve_name(&m->document, keys->names, number);
    if (!name) return api_reader_no_memory(&m->xml.base);
    json_t *entry = json_object(), *q = json_object();
    if (json_array_append_new(keys->list, entry)) return json_decref(q), api_reader_no_memory(&m->xml.base);
    return api_xml_set_field(&m->xml, entry, "name", json_string(name)) && api_xml_set_field(&m->xml, entry, "q", q) &&
           set_positions(m, base, qpos, q);
}

/* Reads the positions of a key; a key without them has the reference position. */
static bool read_key(api_mjcf *m, const api_mjcf_body *base, const xmlNode *key, keyframes *keys)
{
    const size_t n    = count_positions(m);
    double      *qpos = api_arena_take(m->xml.base.arena, n, sizeof *qpos);
    if (!qpos) return api_reader_no_memory(&m->xml.base);
    api_xml_span span = {.v = qpos, .min = 0, .max = n};
    if (m->generates && api_xml_has(key, "qpos"))
        return api_xml_report(&m->xml, key, "warning", "not-held",
                              "qpos of <key> has coordinates of generated bodies, and is not a configuration");
    if (!api_xml_span_read(&m->xml, key, "qpos", API_OPTIONAL, &span)) return false;
    if (span.count == 0) set_reference(m, qpos);
    if (span.count != 0 && span.count != n)
        return api_xml_fail(&m->xml, key, API_WRONG_SHAPE,
                            "qpos of <key> has %zu numbers, the joints have %zu coordinates", span.count, n);
    return add_key(m, base, key, qpos, keys);
}

/* Reports the keys of attached models: they list the coordinates of their own model only. */
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

static bool read_keys(api_mjcf *m, const api_mjcf_body *base, keyframes *keys)
{
    const xmlNode *first = api_xml_child(m->xml.root, "keyframe");
    for (const xmlNode *s = first; s; s = api_xml_next(s, "keyframe"))
        for (const xmlNode *key = api_xml_child(s, "key"); key; key = api_xml_next(key, "key"))
            if (!take_name(m, key, keys)) return false;
    for (const xmlNode *s = first; s; s = api_xml_next(s, "keyframe"))
        for (const xmlNode *key = api_xml_child(s, "key"); key; key = api_xml_next(key, "key"), keys->place++)
            if (!read_key(m, base, key, keys)) return false;
    return true;
}

bool api_mjcf_write_keyframes(api_mjcf *m, const api_mjcf_body *base)
{
    keyframes keys = {.list = json_array(), .names = json_object()};
    bool      ok =
        keys.list && keys.names ? report_attached(m) && read_keys(m, base, &keys) : api_reader_no_memory(&m->xml.base);
    json_decref(keys.names);
    if (!ok || json_array_size(keys.list) == 0) return json_decref(keys.list), ok;
    return api_xml_set_field(&m->xml, m->document.document, "configurations", keys.list);
}
