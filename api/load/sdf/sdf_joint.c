/* sdf_joint.c - read joints: type, parent and child, axes with limits and dynamics, mimics, gears. */
#include "sdf_reader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const type_names[] = {"fixed",     "revolute",  "continuous", "prismatic", "ball",
                                         "universal", "revolute2", "screw",      "gearbox",   NULL};

#define NO_LIMIT 1e15 /* a greater limit is none; the format's default is 1e16 or infinite */

static const char *name_of(const api_sdf *sdf, const api_sdf_joint *joint)
{
    return sdf->frames[joint->frame].name;
}

static bool has_two_axes(const api_sdf_joint *joint)
{
    return joint->type == API_SDF_UNIVERSAL || joint->type == API_SDF_REVOLUTE2;
}

static bool turns(const api_sdf_joint *joint)
{
    return joint->type == API_SDF_REVOLUTE || joint->type == API_SDF_CONTINUOUS;
}

const char *api_sdf_joint_type(const api_sdf_joint *joint, int *parts)
{
    *parts = has_two_axes(joint) ? 2 : 1;
    switch (joint->type) {
    case API_SDF_FIXED: return "fixed";
    case API_SDF_PRISMATIC: return "prismatic";
    case API_SDF_BALL: return "spherical";
    case API_SDF_SCREW: return "helical";
    case API_SDF_REVOLUTE: return "revolute";
    default: return "continuous";
    }
}

/* --- axes --------------------------------------------------------------------------------------------------------- */

/* Finds the rotation of the frame in which an axis is given, in the joint frame. Until version 1.4 that is the frame of
 * the model, later that of the joint, unless `use_parent_model_frame` or `expressed_in` names another. */
static bool find_axes(api_sdf *sdf, const api_sdf_joint *joint, const xmlNode *axis, const xmlNode *xyz, dyn_pose *X_ja)
{
    const api_sdf_frame *frame    = &sdf->frames[joint->frame];
    const char          *name     = NULL;
    bool                 in_model = sdf->version < 1.45;
    *X_ja                         = api_pose_identity();
    if (!api_sdf_flag(sdf, axis, "use_parent_model_frame", &in_model) ||
        !api_xml_text(&sdf->xml, xyz, "expressed_in", API_OPTIONAL, &name))
        return false;
    dyn_pose X_jm = api_pose_inverse(&frame->X);
    if (name && *name) {
        int other = api_sdf_find_frame(sdf, xyz, frame->scope, name);
        if (other == API_SDF_NONE) return false;
        dyn_pose X_ma = api_sdf_pose_in(sdf, other, frame->scope);
        *X_ja         = api_pose_compose(&X_jm, &X_ma);
    } else if (in_model) {
        *X_ja = X_jm;
    }
    return true;
}

static bool read_axis(api_sdf *sdf, api_sdf_joint *joint, int which)
{
    const api_sdf_frame *frame = &sdf->frames[joint->frame];
    const xmlNode       *axis  = api_xml_child(frame->element, which == 0 ? "axis" : "axis2");
    const xmlNode       *xyz   = axis ? api_xml_child(axis, "xyz") : NULL;
    double               v[3]  = {0, 0, 1}, length;
    dyn_pose             X_ja  = api_pose_identity();
    bool                 any   = joint->type != API_SDF_FIXED && joint->type != API_SDF_BALL;
    joint->axis[which].element = axis;
    memcpy(joint->axis[which].axis, v, sizeof v);
    if (!any || (which == 1 && !has_two_axes(joint) && joint->type != API_SDF_GEARBOX)) return true;
    if (!axis && joint->type != API_SDF_GEARBOX)
        return api_xml_fail(&sdf->xml, frame->element, API_MISSING_FIELD, "the joint has no <%s>",
                            which == 0 ? "axis" : "axis2");
    if (xyz && (!api_xml_content_numbers(&sdf->xml, xyz, v, 3) || !find_axes(sdf, joint, axis, xyz, &X_ja)))
        return false;
    length = api_length(v);
    if (!(length > 0)) return api_xml_fail(&sdf->xml, xyz, API_BAD_VALUE, "<xyz> has no direction: it is zero");
    for (int i = 0; i < 3; i++)
        joint->axis[which].axis[i] = api_dot(X_ja.R[i], v) / length + 0.0;
    return true;
}

/* Pitch in m/rad: `screw_thread_pitch` is in m per turn; `thread_pitch` in rad/m, of the opposite sign. */
static bool read_pitch(api_sdf *sdf, api_sdf_joint *joint)
{
    const xmlNode *element = sdf->frames[joint->frame].element;
    double         turn = 1, thread = 1;
    if (joint->type != API_SDF_SCREW) return true;
    if (!api_sdf_number(sdf, element, "screw_thread_pitch", &turn) ||
        !api_sdf_number(sdf, element, "thread_pitch", &thread))
        return false;
    bool old = !api_xml_child(element, "screw_thread_pitch") && api_xml_child(element, "thread_pitch");
    if (old && thread == 0) return api_xml_fail(&sdf->xml, element, API_BAD_VALUE, "<thread_pitch> is 0");
    joint->pitch = old ? -1 / thread : turn / (2 * M_PI);
    return true;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static bool read_end(api_sdf *sdf, const api_sdf_joint *joint, const char *which, int *link)
{
    const api_sdf_frame *frame = &sdf->frames[joint->frame];
    const char          *name;
    *link = API_SDF_WORLD;
    if (!api_sdf_text(sdf, frame->element, which, &name)) return false;
    if (strcmp(name, "world") == 0) return true;
    int other = api_sdf_find_frame(sdf, api_xml_child(frame->element, which), frame->scope, name);
    if (other != API_SDF_NONE) *link = sdf->frames[other].link;
    return other != API_SDF_NONE;
}

/* Names of a joint in the document: of a joint with two axes, `name.1` and `name.2`. */
static bool reserve_names(api_sdf *sdf, api_sdf_joint *joint)
{
    const char *name  = name_of(sdf, joint);
    int         parts = 1;
    api_sdf_joint_type(joint, &parts);
    for (int i = 0; i < parts; i++) {
        size_t size = strlen(name) + 3;
        char  *text = api_arena_take(sdf->xml.base.arena, size, 1);
        if (!text) return api_reader_no_memory(&sdf->xml.base);
        snprintf(text, size, parts == 1 ? "%s" : "%s.%d", name, i + 1);
        joint->name[i] = api_xml_reserve_name(&sdf->document, sdf->document.joints, text);
        if (!joint->name[i]) return api_reader_no_memory(&sdf->xml.base);
    }
    return true;
}

static bool read_joint(api_sdf *sdf, int frame, api_sdf_joint *joint)
{
    const xmlNode *element = sdf->frames[frame].element;
    int            type    = -1;
    *joint                 = (api_sdf_joint){.frame = frame, .leader = -1, .multiplier = 1};
    if (!api_xml_choice(&sdf->xml, element, "type", type_names, &type)) return false;
    if (type < 0) return api_xml_fail(&sdf->xml, element, API_MISSING_FIELD, "<joint> has no attribute \"type\"");
    joint->type = (api_sdf_type)type;
    if (!read_end(sdf, joint, "parent", &joint->parent) || !read_end(sdf, joint, "child", &joint->child) ||
        !read_axis(sdf, joint, 0) || !read_axis(sdf, joint, 1) || !read_pitch(sdf, joint))
        return false;
    if (joint->parent == joint->child)
        return api_xml_fail(&sdf->xml, element, API_BAD_MODEL, "its parent and its child are the same link");
    return joint->type == API_SDF_GEARBOX || reserve_names(sdf, joint);
}

/* --- couplings ---------------------------------------------------------------------------------------------------- */

static bool report_independent(api_sdf *sdf, const xmlNode *element, const char *why)
{
    return api_xml_report(&sdf->xml, element, "warning", "not-held", "<%.40s> is not part of the model: %s",
                          (const char *)element->name, why);
}

/* Decides by the option whether to couple. *couple is false after a report. */
static bool ask_mimic(api_sdf *sdf, const xmlNode *element, bool *couple)
{
    *couple = sdf->mimic == API_SDF_MIMIC_COUPLED;
    if (*couple) return true;
    if (sdf->mimic == API_SDF_MIMIC_REFUSE)
        return api_xml_fail(&sdf->xml, element, API_NOT_SUPPORTED, "<%.40s>: mimic=refuse was requested",
                            (const char *)element->name);
    return report_independent(sdf, element, "mimic=independent was requested");
}

static api_sdf_joint *joint_of_frame(api_sdf *sdf, int frame)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        if (sdf->joints[i].frame == frame) return &sdf->joints[i];
    return NULL;
}

/* q = multiplier (q_leader - reference) + offset */
static bool read_mimic(api_sdf *sdf, api_sdf_joint *joint)
{
    const xmlNode *mimic      = joint->axis[0].element ? api_xml_child(joint->axis[0].element, "mimic") : NULL;
    const char    *name       = NULL;
    double         multiplier = 1, offset = 0, reference = 0;
    bool           couple;
    if (!mimic) return true;
    if (!api_xml_name(&sdf->xml, mimic, "joint", &name) || !api_sdf_number(sdf, mimic, "multiplier", &multiplier) ||
        !api_sdf_number(sdf, mimic, "offset", &offset) || !api_sdf_number(sdf, mimic, "reference", &reference) ||
        !ask_mimic(sdf, mimic, &couple))
        return false;
    int            frame  = api_sdf_find_frame(sdf, mimic, sdf->frames[joint->frame].scope, name);
    api_sdf_joint *leader = frame == API_SDF_NONE ? NULL : joint_of_frame(sdf, frame);
    if (frame == API_SDF_NONE) return false;
    if (!leader || leader == joint)
        return api_xml_fail(&sdf->xml, mimic, API_UNKNOWN_NAME, "\"%.*s\" is not another joint of this model",
                            api_text_shown(name), name);
    if (!couple) return true;
    if (has_two_axes(joint) || has_two_axes(leader) || joint->type == API_SDF_BALL || leader->type == API_SDF_BALL)
        return report_independent(sdf, mimic, "one of its joints has several coordinates");
    joint->leader     = (int)(leader - sdf->joints);
    joint->multiplier = multiplier;
    joint->offset     = offset - multiplier * reference;
    return true;
}

/* Finds the revolute joint between a link and the body to which gears refer. */
static api_sdf_joint *find_geared(api_sdf *sdf, int link, int body)
{
    for (size_t i = 0; i < sdf->n_joints; i++) {
        api_sdf_joint *joint = &sdf->joints[i];
        if (turns(joint) &&
            ((joint->parent == body && joint->child == link) || (joint->child == body && joint->parent == link)))
            return joint;
    }
    return NULL;
}

/* 1 if the turn of `link` about the axis of a gear is the joint's coordinate, -1 if it is its opposite, 0 if neither.
 */
static int gear_sign(const api_sdf *sdf, const api_sdf_joint *gear, int which, const api_sdf_joint *joint, int link)
{
    double   along = 0;
    int      sign  = joint->child == link ? 1 : -1;
    dyn_pose X_g = api_sdf_in_world(sdf, gear->frame), X_j = api_sdf_in_world(sdf, joint->frame);
    if (!gear->axis[which].element) return sign;
    for (int i = 0; i < 3; i++)
        along += api_dot(X_g.R[i], gear->axis[which].axis) * api_dot(X_j.R[i], joint->axis[0].axis);
    return fabs(along) < 1 - 1e-6 ? 0 : along > 0 ? sign : -sign;
}

/* The child turns -ratio times as far as the parent, both against the reference body. */
static bool read_gearbox(api_sdf *sdf, const api_sdf_joint *gear)
{
    const api_sdf_frame *frame = &sdf->frames[gear->frame];
    const char          *name;
    double               ratio = 1;
    bool                 couple;
    if (!api_sdf_number(sdf, frame->element, "gearbox_ratio", &ratio) ||
        !api_sdf_text(sdf, frame->element, "gearbox_reference_body", &name) || !ask_mimic(sdf, frame->element, &couple))
        return false;
    int body = api_sdf_find_frame(sdf, frame->element, frame->scope, name);
    if (body == API_SDF_NONE) return false;
    if (!couple) return true;
    api_sdf_joint *first  = find_geared(sdf, gear->parent, sdf->frames[body].link);
    api_sdf_joint *second = find_geared(sdf, gear->child, sdf->frames[body].link);
    int            sign   = first && second
                                ? gear_sign(sdf, gear, 0, first, gear->parent) * gear_sign(sdf, gear, 1, second, gear->child)
                                : 0;
    if (sign == 0 || first == second || second->leader >= 0 || first->leader == (int)(second - sdf->joints))
        return report_independent(sdf, frame->element,
                                  "it must couple two revolute joints between its links and the reference body, about "
                                  "its axes");
    second->leader     = (int)(first - sdf->joints);
    second->multiplier = -ratio * sign;
    return true;
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* Reads a limit, which may be infinite; *has tells whether it limits. */
static bool read_limit(api_sdf *sdf, const xmlNode *limit, const char *name, double *value, bool *has)
{
    const xmlNode *element = limit ? api_xml_child(limit, name) : NULL;
    const char    *text;
    *has = false;
    if (!element) return true;
    if (!api_xml_content_text(&sdf->xml, element, &text)) return false;
    const char *word = text + (*text == '-' || *text == '+');
    if (strcmp(word, "inf") == 0 || strcmp(word, "Inf") == 0 || strcmp(word, "infinity") == 0) return true;
    if (!api_xml_content_numbers(&sdf->xml, element, value, 1)) return false;
    *has = fabs(*value) < NO_LIMIT;
    return true;
}

static bool write_limits(api_sdf *sdf, const xmlNode *axis, json_t *fields)
{
    const xmlNode *limit    = api_xml_child(axis, "limit");
    json_t        *limits   = json_object();
    double         range[2] = {0}, effort = 0, velocity = 0;
    bool           has[4];
    if (!api_xml_set_field(&sdf->xml, fields, "limits", limits) ||
        !read_limit(sdf, limit, "lower", &range[0], &has[0]) || !read_limit(sdf, limit, "upper", &range[1], &has[1]) ||
        !read_limit(sdf, limit, "effort", &effort, &has[2]) || !read_limit(sdf, limit, "velocity", &velocity, &has[3]))
        return false;
    if (has[0] != has[1] && !api_xml_report(&sdf->xml, limit, "info", "dropped",
                                            "the joint has one limit of position only: it has no effect"))
        return false;
    if (has[0] && has[1] && range[0] > range[1])
        return api_xml_fail(&sdf->xml, limit, API_BAD_VALUE, "the lower limit %.9g is above the upper limit %.9g",
                            range[0], range[1]);
    /* Negative limits of effort and velocity are none. */
    return (!has[0] || !has[1] || api_xml_set_field(&sdf->xml, limits, "position", api_xml_vector(range, 2))) &&
           (!has[2] || effort < 0 || api_xml_set_field(&sdf->xml, limits, "effort", json_real(effort))) &&
           (!has[3] || velocity < 0 || api_xml_set_field(&sdf->xml, limits, "velocity", json_real(velocity)));
}

static bool write_dynamics(api_sdf *sdf, const xmlNode *axis, json_t *fields)
{
    const xmlNode *dynamics = api_xml_child(axis, "dynamics");
    double         damping = 0, friction = 0, stiffness = 0, rest = 0;
    if (!dynamics) return true;
    if (!api_sdf_number(sdf, dynamics, "damping", &damping) || !api_sdf_number(sdf, dynamics, "friction", &friction) ||
        !api_sdf_number(sdf, dynamics, "spring_stiffness", &stiffness) ||
        !api_sdf_number(sdf, dynamics, "spring_reference", &rest))
        return false;
    if (friction < 0)
        return api_xml_fail(&sdf->xml, dynamics, API_BAD_VALUE, "the friction %.9g is negative", friction);
    json_t *losses = json_object(), *spring = NULL;
    return api_xml_set_field(&sdf->xml, fields, "friction", losses) &&
           api_xml_set_field(&sdf->xml, losses, "viscous", json_real(damping)) &&
           api_xml_set_field(&sdf->xml, losses, "coulomb", json_real(friction)) &&
           (stiffness == 0 || (api_xml_set_field(&sdf->xml, fields, "spring", spring = json_object()) &&
                               api_xml_set_field(&sdf->xml, spring, "stiffness", json_real(stiffness)) &&
                               api_xml_set_field(&sdf->xml, spring, "rest", json_real(rest))));
}

static bool write_mimic(api_sdf *sdf, const api_sdf_joint *joint, json_t *fields)
{
    json_t *mimic = json_object();
    return api_xml_set_field(&sdf->xml, fields, "mimic", mimic) &&
           api_xml_set_field(&sdf->xml, mimic, "joint", json_string(sdf->joints[joint->leader].name[0])) &&
           api_xml_set_field(&sdf->xml, mimic, "multiplier", json_real(joint->multiplier)) &&
           api_xml_set_field(&sdf->xml, mimic, "offset", json_real(joint->offset));
}

/* A reversed joint moves its parent against its child: about the opposite axis. */
static bool write_axis(api_sdf *sdf, const api_sdf_joint *joint, int part, json_t *fields)
{
    double axis[3];
    for (int i = 0; i < 3; i++)
        axis[i] = (joint->reversed ? -1 : 1) * joint->axis[part].axis[i] + 0.0;
    return api_xml_set_field(&sdf->xml, fields, "axis", api_xml_vector(axis, 3)) &&
           write_limits(sdf, joint->axis[part].element, fields) &&
           write_dynamics(sdf, joint->axis[part].element, fields);
}

json_t *api_sdf_joint_fields(api_sdf *sdf, const api_sdf_joint *joint, int part)
{
    json_t *fields = json_object();
    if (fields &&
        (joint->type == API_SDF_FIXED || joint->type == API_SDF_BALL || write_axis(sdf, joint, part, fields)) &&
        (joint->type != API_SDF_SCREW || api_xml_set_field(&sdf->xml, fields, "pitch", json_real(joint->pitch))) &&
        (joint->leader < 0 || write_mimic(sdf, joint, fields)) &&
        (!joint->passive || joint->leader >= 0 || joint->type == API_SDF_FIXED ||
         api_xml_set_field(&sdf->xml, fields, "actuated", json_false())))
        return fields;
    api_reader_no_memory(&sdf->xml.base); /* keeps a problem that is already set */
    json_decref(fields);
    return NULL;
}

/* --- all joints --------------------------------------------------------------------------------------------------- */

bool api_sdf_read_joints(api_sdf *sdf)
{
    size_t n = 0;
    for (size_t i = 0; i < sdf->n_frames; i++)
        n += sdf->frames[i].kind == API_SDF_IS_JOINT;
    sdf->joints = api_arena_take(sdf->xml.base.arena, n, sizeof *sdf->joints);
    if (!sdf->joints) return api_reader_no_memory(&sdf->xml.base);
    for (size_t i = 0; i < sdf->n_frames; i++)
        if (sdf->frames[i].kind == API_SDF_IS_JOINT && !read_joint(sdf, (int)i, &sdf->joints[sdf->n_joints++]))
            return false;
    for (size_t i = 0; i < n; i++)
        if (sdf->joints[i].type != API_SDF_GEARBOX && !read_mimic(sdf, &sdf->joints[i])) return false;
    for (size_t i = 0; i < n; i++)
        if (sdf->joints[i].type == API_SDF_GEARBOX && !read_gearbox(sdf, &sdf->joints[i])) return false;
    return true;
}
