/* mjcf_document.c - write the document: a link for each joint, in the order of MuJoCo's coordinates; a body with
 * several joints is a chain of massless links that ends in the body's own. */
#include "mjcf_reader.h"
#include "api/wire/number.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the fields of a joint ---------------------------------------------------------------------------------------- */

static bool has_several(const api_mjcf_joint *joint)
{
    return strcmp(joint->type, "spherical") == 0 || strcmp(joint->type, "floating") == 0;
}

static bool is_angle(const api_mjcf *m, const api_mjcf_joint *joint)
{
    return strcmp(joint->type, "revolute") == 0 && !m->settings.radians;
}

static json_t *open_object(api_mjcf *m, json_t *owner, const char *key)
{
    json_t *object = json_object();
    return api_xml_set_field(&m->xml, owner, key, object) ? object : NULL;
}

/* Reads the range of position of a joint with one coordinate. */
static bool write_limits(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields, bool *limited)
{
    static const char *const values[] = {"false", "true", "auto", NULL};
    const xmlNode           *element  = api_mjcf_with(m, &joint->item, "range");
    double                   range[2] = {0, 0};
    int                      state    = 2;
    if (!api_mjcf_choice(m, &joint->item, "limited", values, &state) ||
        !api_mjcf_numbers(m, &joint->item, "range", range, 2))
        return false;
    bool given      = range[0] != 0 || range[1] != 0;
    *limited        = !m->settings.no_limits && (state == 1 || (state == 2 && m->settings.auto_limits && given));
    bool has_effort = joint->has_effort && !joint->unlimited;
    if (!*limited && !has_effort) return true;
    json_t *limits = open_object(m, fields, "limits");
    if (!limits) return false;
    if (has_effort && !api_xml_set_field(&m->xml, limits, "effort", json_real(joint->effort))) return false;
    if (!*limited) return true;
    if (!(range[0] < range[1]))
        return api_xml_fail(&m->xml, element, API_BAD_VALUE, "range of <joint>: %s is not below %s",
                            API_NUMBER_TEXT(range[0]), API_NUMBER_TEXT(range[1]));
    for (int i = 0; i < 2; i++)
        if (is_angle(m, joint)) range[i] *= M_PI / 180;
    return api_xml_set_field(&m->xml, limits, "position", api_xml_vector(range, 2));
}

static bool write_friction(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    double damping = 0, loss = 0;
    if (!api_mjcf_numbers(m, &joint->item, "damping", &damping, 1) ||
        !api_mjcf_numbers(m, &joint->item, "frictionloss", &loss, 1))
        return false;
    if (loss < 0) return api_xml_fail(&m->xml, joint->element, API_BAD_VALUE, "frictionloss %.9g is negative", loss);
    if (m->settings.no_dampers) damping = 0;
    if (m->settings.no_friction) loss = 0;
    if (damping == 0 && loss == 0) return true;
    json_t *friction = open_object(m, fields, "friction");
    return friction && api_xml_set_field(&m->xml, friction, "viscous", json_real(damping)) &&
           api_xml_set_field(&m->xml, friction, "coulomb", json_real(loss));
}

static bool write_spring(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    double stiffness = 0, rest = 0, automatic[2] = {0, 0};
    if (!api_mjcf_numbers(m, &joint->item, "stiffness", &stiffness, 1) ||
        !api_mjcf_numbers(m, &joint->item, "springref", &rest, 1) ||
        !api_mjcf_numbers(m, &joint->item, "springdamper", automatic, 2))
        return false;
    if (automatic[0] > 0 && automatic[1] > 0 &&
        !api_xml_report(&m->xml, joint->element, "warning", "not-held",
                        "springdamper of joint \"%.*s\": stiffness and damping that follow from it are not part of the "
                        "model; give them as numbers",
                        api_text_shown(joint->name), joint->name))
        return false;
    if (stiffness == 0 || m->settings.no_springs) return true;
    json_t *spring = open_object(m, fields, "spring");
    return spring && api_xml_set_field(&m->xml, spring, "stiffness", json_real(stiffness)) &&
           api_xml_set_field(&m->xml, spring, "rest", json_real(is_angle(m, joint) ? rest * M_PI / 180 : rest));
}

static bool write_armature(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    double armature = 0;
    if (!api_mjcf_numbers(m, &joint->item, "armature", &armature, 1)) return false;
    if (armature < 0)
        return api_xml_fail(&m->xml, joint->element, API_BAD_INERTIA, "armature %.9g is negative", armature);
    return armature == 0 || api_xml_set_field(&m->xml, fields, "rotor_inertia", json_real(armature));
}

static bool write_mimic(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    if (joint->leader < 0) return true;
    json_t *mimic = open_object(m, fields, "mimic");
    return mimic && api_xml_set_field(&m->xml, mimic, "joint", json_string(m->joints[joint->leader].name)) &&
           api_xml_set_field(&m->xml, mimic, "multiplier", json_real(joint->multiplier)) &&
           api_xml_set_field(&m->xml, mimic, "offset", json_real(joint->offset));
}

/* Reports what a ball or free joint cannot have in a document. */
static bool report_several(api_mjcf *m, const api_mjcf_joint *joint)
{
    static const char *const attributes[] = {"armature", "damping", "frictionloss", "stiffness"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        double value = 0;
        if (!api_mjcf_numbers(m, &joint->item, attributes[i], &value, 1)) return false;
        if (value != 0 && !api_xml_report(&m->xml, joint->element, "warning", "not-held",
                                          "%s %.9g of joint \"%.*s\" is not part of the model: the joint has several "
                                          "coordinates",
                                          attributes[i], value, api_text_shown(joint->name), joint->name))
            return false;
    }
    if (!api_mjcf_has(m, &joint->item, "range")) return true;
    return api_xml_report(&m->xml, joint->element, "info", "dropped",
                          "range of joint \"%.*s\" has no effect: limits are for joints with one coordinate",
                          api_text_shown(joint->name), joint->name);
}

static bool write_home(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    if (strcmp(joint->type, "floating") == 0) {
        const dyn_pose *X = &m->bodies[joint->body].X_wb;
        double          pose[7];
        memcpy(pose, X->p, sizeof X->p);
        api_quaternion_of((const double(*)[3])X->R, pose + 3);
        for (int i = 0; i < 7; i++)
            pose[i] += 0.0; /* -0 becomes 0 */
        return api_xml_set_field(&m->xml, fields, "home", api_xml_vector(pose, 7));
    }
    return joint->ref == 0 || joint->leader >= 0 || api_xml_set_field(&m->xml, fields, "home", json_real(joint->ref));
}

static bool write_one_coordinate(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields, bool *limited)
{
    return api_xml_set_field(&m->xml, fields, "axis", api_xml_vector(joint->axis, 3)) &&
           write_limits(m, joint, fields, limited) && write_friction(m, joint, fields) &&
           write_spring(m, joint, fields) && write_armature(m, joint, fields) && write_mimic(m, joint, fields);
}

/* Writes all fields of a joint but its name, type and origin. *type is its type in the document. */
static json_t *write_joint(api_mjcf *m, const api_mjcf_joint *joint, const char **type)
{
    json_t *fields  = json_object();
    bool    limited = false;
    *type           = joint->locked ? "fixed" : joint->type;
    if (!fields) api_reader_no_memory(&m->xml.base);
    if (!fields || joint->locked) return fields;
    bool ok = has_several(joint) ? report_several(m, joint) : write_one_coordinate(m, joint, fields, &limited);
    ok      = ok && write_home(m, joint, fields) &&
         (!joint->passive || joint->driven || joint->leader >= 0 ||
          api_xml_set_field(&m->xml, fields, "actuated", json_false()));
    if (strcmp(joint->type, "revolute") == 0 && !limited) *type = "continuous";
    if (ok) return fields;
    json_decref(fields);
    return NULL;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

static const char *link_of(const api_mjcf *m, int body)
{
    return body < 0 ? "world" : m->bodies[body].name;
}

/* Returns how far a joint of one coordinate is turned or moved back: from `ref`, where the body stands as the file
 * says, to 0, or to the position where the joint is locked. rad or m. */
static double way_back(const api_mjcf_joint *joint)
{
    return has_several(joint) ? 0 : (joint->locked ? joint->offset : 0) - joint->ref;
}

/* The kernels take sines of angles up to DYN_MAX_ANGLE. */
static bool check_way_back(api_mjcf *m, const api_mjcf_joint *joint)
{
    const double most = strcmp(joint->type, "revolute") == 0 ? DYN_MAX_ANGLE : DBL_MAX, by = way_back(joint);
    return fabs(by) <= most || api_xml_fail(&m->xml, joint->element, API_ANGLE_TOO_LARGE,
                                            "\"%.64s\" is %s rad or m from its reference, beyond %g", joint->name,
                                            API_NUMBER_TEXT(by), most);
}

/* The joint's motion is about its own frame: the anchor, in the axes of the body, turned or moved by way_back(). */
static dyn_pose joint_frame(const api_mjcf_joint *joint, const dyn_pose *X_of_body)
{
    dyn_pose anchor = api_pose_translation(joint->pos[0], joint->pos[1], joint->pos[2]);
    dyn_pose X      = api_pose_compose(X_of_body, &anchor);
    double   by     = way_back(joint);
    if (by == 0) return X;
    dyn_pose back = api_pose_about(joint->axis, by);
    if (strcmp(joint->type, "prismatic") == 0)
        back = api_pose_translation(by * joint->axis[0], by * joint->axis[1], by * joint->axis[2]);
    return api_pose_compose(&X, &back);
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

/* Writes the chain of a body's joints. `X` is the pose of the body frame in the link before, where all joints are at
 * their reference. */
static bool write_joints(api_mjcf *m, const api_mjcf_body *body, api_xml_link *link)
{
    dyn_pose X = body->X_pb;
    for (size_t i = 0; i < body->n_joints; i++) {
        const api_mjcf_joint *joint = &m->joints[body->first_joint + i];
        bool                  last  = i + 1 == body->n_joints;
        if (strcmp(joint->type, "floating") == 0) X = api_pose_identity();
        link->element       = body->element;
        link->joint_element = joint->element;
        link->joint         = joint->name;
        if (!check_way_back(m, joint)) return false;
        link->fields = write_joint(m, joint, &link->type);
        if (!link->fields) return false;
        link->before = joint_frame(joint, &X);
        X            = api_pose_translation(0 - joint->pos[0], 0 - joint->pos[1], 0 - joint->pos[2]);
        link->after  = last ? X : api_pose_identity();
        link->name   = last ? body->name : between_name(m, body, joint);
        if (last) link->inertia = body->inertia;
        if (!link->name) json_decref(link->fields); /* not taken over by the link */
        if (!link->name || !api_xml_write_link(&m->document, link)) return api_reader_no_memory(&m->xml.base);
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
    link.after                        = api_pose_identity();
    link.inertia                      = body->inertia;
    if (!link.joint) return api_reader_no_memory(&m->xml.base);
    return api_xml_write_link(&m->document, &link);
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
        if (base || strcmp(m->joints[body->first_joint].type, "floating") != 0) return NULL;
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
    return !body || (report_several(m, &m->joints[body->first_joint]) &&
                     api_xml_write_inertial(&m->document, base, &body->inertia));
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

/* Gravity compensation of all moving bodies alike is a smaller gravity; a document holds no other. */
static bool write_gravity(api_mjcf *m)
{
    double         compensated = NAN, gravity[3];
    const xmlNode *different   = NULL;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const api_mjcf_body *body = &m->bodies[i];
        if (!body->moves || body->inertia.mass == 0) continue;
        if (isnan(compensated)) compensated = body->gravcomp;
        if (body->gravcomp != compensated) different = body->element;
    }
    if (different && !api_xml_report(&m->xml, different, "warning", "not-held",
                                     "gravcomp is not part of the model: it differs between bodies"))
        return false;
    bool   uniform = !different && !isnan(compensated) && compensated != 0;
    double share   = uniform ? 1 - compensated : 1;
    for (int i = 0; i < 3; i++)
        gravity[i] = share * m->settings.gravity[i] + 0.0;
    if (uniform &&
        !api_xml_report(&m->xml, m->xml.root, "info", "compensated",
                        "gravcomp %.9g of all bodies: gravity is %.9g times that of the file", compensated, share))
        return false;
    return api_xml_set_field(&m->xml, m->document.document, "gravity", api_xml_vector(gravity, 3));
}

bool api_mjcf_write_document(api_mjcf *m)
{
    const char          *name = NULL;
    const api_mjcf_body *base = find_base(m);
    if (!api_xml_text(&m->xml, m->xml.root, "model", API_OPTIONAL, &name)) return false;
    if (name && !api_xml_set_field(&m->xml, m->document.document, "name", json_string(name))) return false;
    if (!write_gravity(m) || !write_base(m, base) || !write_links(m, base) || !write_frames(m, base != NULL) ||
        !write_loops(m))
        return false;
    api_xml_document_finish(&m->document);
    return true;
}
