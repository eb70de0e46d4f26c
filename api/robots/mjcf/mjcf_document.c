/* mjcf_document.c - name links, joints and frames, and write the document: a link for each joint, in the order of
 * MuJoCo's coordinates; a body with several joints is a chain of massless links that ends in the body's own. */
#include "mjcf_reader.h"
#include "api/codec/number.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *open_object(api_mjcf *m, json_t *owner, const char *key)
{
    json_t *object = json_object();
    return api_xml_set_field(&m->xml, owner, key, object) ? object : NULL;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* In MJCF bodies and sites have separate names; in a document links and frames share one list. On a conflict the site
 * is renamed, not the body, and a generated name, not one from the file. */
static const char *link_of(const api_mjcf *m, int body)
{
    return body < 0 ? "world" : m->bodies[body].name;
}

static bool name_given(api_mjcf *m, json_t *map, const xmlNode *element, const char *given, const char **name)
{
    return !given || api_xml_reserve_given(&m->document, map, element, given, name);
}

/* Names an unnamed body or joint after a body. */
static bool name_after(api_mjcf *m, json_t *map, const char *body, const char *suffix, const char **name)
{
    char wanted[300];
    if (*name) return true;
    snprintf(wanted, sizeof wanted, "%.250s.%s", body, suffix);
    *name = api_xml_reserve_name(&m->document, map, wanted);
    return *name || api_reader_no_memory(&m->xml.base);
}

static bool name_unnamed(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!name_after(m, m->document.names, link_of(m, m->bodies[i].parent), "body", &m->bodies[i].name))
            return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (!name_after(m, m->document.joints, m->bodies[m->joints[i].body].name, "joint", &m->joints[i].name))
            return false;
    return m->n_unnamed == 0 ||
           api_xml_report(&m->xml, m->unnamed, "info", "assumed",
                          "%zu bodies and joints have no name: they are named after the bodies that hold them",
                          m->n_unnamed);
}

bool api_mjcf_name_all(api_mjcf *m)
{
    if (!api_xml_reserve_name(&m->document, m->document.names, "world")) return api_reader_no_memory(&m->xml.base);
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!name_given(m, m->document.names, m->bodies[i].element, m->bodies[i].given_name, &m->bodies[i].name))
            return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (!name_given(m, m->document.joints, m->joints[i].element, m->joints[i].given_name, &m->joints[i].name))
            return false;
    if (!name_unnamed(m)) return false;
    for (size_t i = 0; i < m->n_sites; i++)
        if (!name_given(m, m->document.names, m->sites[i].element, m->sites[i].given_name, &m->sites[i].name))
            return false;
    return true;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Returns the displacement, rad or m, that takes a joint with one coordinate from `ref`, its position in the pose of
 * the file, to 0, or to the position at which the joint is locked. */
static double way_back(const api_mjcf_joint *joint)
{
    return api_mjcf_has_several(joint) ? 0 : (joint->locked ? joint->offset : 0) - joint->ref;
}

/* Checks that the way back from the reference is within DYN_MAX_ANGLE, up to which the kernels take sines of angles. */
static bool check_way_back(api_mjcf *m, const api_mjcf_joint *joint)
{
    const double most = joint->type == API_MJCF_HINGE ? DYN_MAX_ANGLE : DBL_MAX, by = way_back(joint);
    return fabs(by) <= most || api_xml_fail(&m->xml, joint->element, API_ANGLE_TOO_LARGE,
                                            "\"%.64s\" is %s rad or m from its reference, beyond %g", joint->name,
                                            API_NUMBER_TEXT(by), most);
}

/* Pose of the joint's frame in the body: the anchor, in the axes of the body, displaced by way_back(). */
static dyn_pose joint_frame(const api_mjcf_joint *joint, const dyn_pose *X_of_body)
{
    dyn_pose anchor = dyn_pose_translation(joint->pos[0], joint->pos[1], joint->pos[2]);
    dyn_pose X      = dyn_pose_compose(X_of_body, &anchor);
    double   by     = way_back(joint);
    if (by == 0) return X;
    dyn_pose back = dyn_pose_about(joint->axis, by);
    if (joint->type == API_MJCF_SLIDE)
        back = dyn_pose_translation(by * joint->axis[0], by * joint->axis[1], by * joint->axis[2]);
    return dyn_pose_compose(&X, &back);
}

/* Name of the massless link between two joints of a body. */
static const char *between_name(api_mjcf *m, const api_mjcf_body *body, const api_mjcf_joint *joint)
{
    size_t size = strlen(body->name) + strlen(joint->name) + 2;
    char  *text = api_arena_take(m->xml.base.arena, size, 1);
    if (!text) return NULL;
    snprintf(text, size, "%s.%s", body->name, joint->name);
    return api_xml_reserve_name(&m->document, m->document.names, text);
}

/* Writes the link of a body itself, with its shapes. */
static bool write_own_link(api_mjcf *m, const api_mjcf_body *body, api_xml_link *link)
{
    json_t *owner = json_object();
    bool    ok    = (owner || api_reader_no_memory(&m->xml.base)) && api_mjcf_write_visuals(m, body, owner);
    link->visual  = json_object_get(owner, "visual");
    if (ok)
        ok = api_xml_write_link(&m->document, link);
    else
        json_decref(link->fields);
    json_decref(owner);
    return ok;
}

/* Writes the chain of a body's joints. `X` is the pose of the body frame in the previous link, with all joints at their
 * reference. */
static bool write_joints(api_mjcf *m, const api_mjcf_body *body, api_xml_link *link)
{
    dyn_pose X = body->X_pb;
    for (size_t i = 0; i < body->n_joints; i++) {
        const api_mjcf_joint *joint = &m->joints[body->first_joint + i];
        bool                  last  = i + 1 == body->n_joints;
        if (joint->type == API_MJCF_FREE && !joint->locked) X = dyn_pose_identity();
        link->element       = body->element;
        link->joint_element = joint->element;
        link->joint         = joint->name;
        if (!check_way_back(m, joint)) return false;
        link->fields = api_mjcf_joint_fields(m, joint, &link->type);
        if (!link->fields) return false;
        link->before = joint_frame(joint, &X);
        X            = dyn_pose_translation(0 - joint->pos[0], 0 - joint->pos[1], 0 - joint->pos[2]);
        link->after  = last ? X : dyn_pose_identity();
        link->name   = last ? body->name : between_name(m, body, joint);
        if (last) link->inertia = body->inertia;
        if (last) link->gravity_compensation = body->gravcomp;
        if (!link->name) json_decref(link->fields); /* on failure, nothing below frees the fields */
        if (!link->name || !(last ? write_own_link(m, body, link) : api_xml_write_link(&m->document, link)))
            return api_reader_no_memory(&m->xml.base);
        link->parent = link->name;
    }
    return true;
}

static bool write_body(api_mjcf *m, const api_mjcf_body *body)
{
    api_xml_link link = {.parent = link_of(m, body->parent)};
    if (body->n_joints > 0) return write_joints(m, body, &link);
    size_t size = strlen(body->name) + sizeof ".fixed";
    char  *name = api_arena_take(m->xml.base.arena, size, 1);
    if (!name) return api_reader_no_memory(&m->xml.base);
    snprintf(name, size, "%s.fixed", body->name);
    link.element = link.joint_element = body->element;
    link.name                         = body->name;
    link.joint                        = api_xml_reserve_name(&m->document, m->document.joints, name);
    link.type                         = "fixed";
    link.before                       = body->X_pb;
    link.after                        = dyn_pose_identity();
    link.inertia                      = body->inertia;
    link.gravity_compensation         = body->gravcomp;
    if (!link.joint) return api_reader_no_memory(&m->xml.base);
    return write_own_link(m, body, &link);
}

/* --- base, frames, loops, gravity --------------------------------------------------------------------------------- */

static bool loops_touch_world(const api_mjcf *m)
{
    for (size_t i = 0; i < m->n_loops; i++)
        for (int side = 0; side < 2; side++)
            if (m->loops[i].body[side] < 0 || !m->bodies[m->loops[i].body[side]].moves) return true;
    return false;
}

/* Returns the body of the floating base: the only moving body of the world, if it is free; NULL if the base is the
 * world. */
static const api_mjcf_body *find_base(const api_mjcf *m)
{
    const api_mjcf_body *base = NULL;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const api_mjcf_body *body = &m->bodies[i];
        if (body->n_joints == 0 || (body->parent >= 0 && m->bodies[body->parent].moves)) continue;
        const api_mjcf_joint *joint = &m->joints[body->first_joint];
        if (base || joint->type != API_MJCF_FREE || joint->locked) return NULL;
        base = body;
    }
    return base && !loops_touch_world(m) ? base : NULL;
}

static bool write_base(api_mjcf *m, const api_mjcf_body *body)
{
    json_t *base = open_object(m, m->document.document, "base");
    if (!base || !api_xml_set_field(&m->xml, base, "type", json_string(body ? "floating" : "fixed")) ||
        !api_xml_set_field(&m->xml, base, "link", json_string(body ? body->name : "world")))
        return false;
    return !body ||
           (api_mjcf_write_several(m, &m->joints[body->first_joint], base) &&
            api_xml_write_inertial(&m->document, base, &body->inertia) &&
            api_xml_write_compensation(&m->document, base, body->gravcomp) && api_mjcf_write_visuals(m, body, base));
}

/* With a floating base the world is no link: bodies and sites that are fixed to it are left out. */
static bool write_links(api_mjcf *m, const api_mjcf_body *base)
{
    size_t         left_out = 0;
    const xmlNode *first    = NULL;
    for (size_t i = 0; i < m->n_bodies; i++) {
        if (base && !m->bodies[i].moves) {
            if (left_out++ == 0) first = m->bodies[i].element;
        } else if (&m->bodies[i] != base && !write_body(m, &m->bodies[i])) {
            return false;
        }
    }
    return left_out == 0 || api_xml_report(&m->xml, first, "info", "dropped",
                                           "%zu bodies are fixed to the world, beside the floating base \"%.*s\": they "
                                           "have no part in the dynamics",
                                           left_out, api_text_shown(base->name), base->name);
}

static bool write_frames(api_mjcf *m, bool floating)
{
    size_t         left_out = 0;
    const xmlNode *first    = NULL;
    for (size_t i = 0; i < m->n_sites; i++) {
        const api_mjcf_site *site = &m->sites[i];
        bool                 held = !floating || (site->body >= 0 && m->bodies[site->body].moves);
        if (!held && left_out++ == 0) first = site->element;
        if (held && !api_xml_write_frame(&m->document, site->name, link_of(m, site->body), &site->X_bs)) return false;
    }
    return left_out == 0 || api_xml_report(&m->xml, first, "info", "dropped",
                                           "%zu sites are fixed to the world, beside a floating base: they are not "
                                           "frames of the model",
                                           left_out);
}

/* Writes a frame `<loop>.a` or `<loop>.b` and names it in the loop. */
static bool write_loop_frame(api_mjcf *m, const api_mjcf_loop *loop, int side, json_t *entry)
{
    static const char *const keys[] = {"frame_a", "frame_b"};
    size_t                   size   = strlen(loop->name) + sizeof ".a";
    char                    *text   = api_arena_take(m->xml.base.arena, size, 1);
    if (!text) return api_reader_no_memory(&m->xml.base);
    snprintf(text, size, "%s.%c", loop->name, "ab"[side]);
    const char *name = api_xml_reserve_name(&m->document, m->document.names, text);
    if (!name) return api_reader_no_memory(&m->xml.base);
    return api_xml_write_frame(&m->document, name, link_of(m, loop->body[side]), &loop->X[side]) &&
           api_xml_set_field(&m->xml, entry, keys[side], json_string(name));
}

static bool write_loops(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_loops; i++) {
        const api_mjcf_loop *loop  = &m->loops[i];
        json_t              *entry = json_object();
        if (!entry || json_array_append_new(m->document.loops, entry)) return api_reader_no_memory(&m->xml.base);
        if (!api_xml_set_field(&m->xml, entry, "name", json_string(loop->name)) ||
            !api_xml_set_field(&m->xml, entry, "type", json_string(loop->type)) ||
            !write_loop_frame(m, loop, 0, entry) || !write_loop_frame(m, loop, 1, entry))
            return false;
    }
    return true;
}

static bool write_gravity(api_mjcf *m)
{
    double gravity[3];
    return api_mjcf_read_gravity(m, gravity) &&
           api_xml_set_vector(&m->xml, m->document.document, "gravity", gravity, 3);
}

bool api_mjcf_write_document(api_mjcf *m)
{
    const char          *name = NULL;
    const api_mjcf_body *base = find_base(m);
    if (!api_xml_text(&m->xml, m->xml.root, "model", API_OPTIONAL, &name)) return false;
    if (name && !api_xml_set_field(&m->xml, m->document.document, "name", json_string(name))) return false;
    if (!write_gravity(m) || !write_base(m, base) || !write_links(m, base) || !write_frames(m, base != NULL) ||
        !write_loops(m) || !api_mjcf_write_keyframes(m, base))
        return false;
    api_xml_document_finish(&m->document);
    return true;
}
