/* sdf_joint.c - read joints: type, parent and child, axes with limits and dynamics. */
#include "sdf_reader.h"
#include "api/codec/names.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const type_names[] = {"fixed",     "revolute",  "continuous", "prismatic", "ball",
                                         "universal", "revolute2", "screw",      "gearbox"};

#define NO_LIMIT 1e15 /* a greater limit is none; the format's default is 1e16 or infinite */

static const char *name_of(const api_sdf *sdf, const api_sdf_joint *joint)
{
    return sdf->frames[joint->frame].name;
}

bool api_sdf_has_two_axes(const api_sdf_joint *joint)
{
    return joint->type == API_SDF_UNIVERSAL || joint->type == API_SDF_REVOLUTE2;
}

const char *api_sdf_joint_type(const api_sdf_joint *joint, int *parts)
{
    *parts = api_sdf_has_two_axes(joint) ? 2 : 1;
    switch (joint->type) {
    case API_SDF_FIXED: return "fixed";
    case API_SDF_PRISMATIC: return "prismatic";
    case API_SDF_BALL: return "spherical";
    case API_SDF_SCREW: return "helical";
    case API_SDF_REVOLUTE:
    case API_SDF_UNIVERSAL: /* each axis may have limits */
    case API_SDF_REVOLUTE2: return "revolute";
    case API_SDF_CONTINUOUS:
    case API_SDF_GEARBOX: break;
    }
    return "continuous";
}

/* --- axes --------------------------------------------------------------------------------------------------------- */

/* True for the outermost model of a file. */
static bool is_outermost(const api_sdf *sdf, int model)
{
    const api_sdf_frame *frame = &sdf->frames[model];
    return model == API_SDF_MODEL || api_xml_file(frame->element) != api_xml_file(sdf->frames[frame->scope].element);
}

/* Reads before version 1.7 whether an axis is in the frame of the model: up to 1.4 that is so for joints of the
 * outermost model unless the joint states otherwise. */
static bool is_in_model(api_sdf *sdf, const api_sdf_frame *frame, const xmlNode *axis, bool *in_model)
{
    int minor = api_sdf_minor(sdf, frame->element);
    *in_model = minor < API_SDF_AXES_OF_JOINT && is_outermost(sdf, frame->scope);
    return minor >= API_SDF_FRAMES || api_sdf_flag(sdf, axis, "use_parent_model_frame", in_model);
}

/* Finds the rotation of the frame in which an axis is given, in the joint frame: that of the model before version 1.7,
 * else the one that `expressed_in` names, else the joint frame. */
static bool find_axes(api_sdf *sdf, const api_sdf_joint *joint, const xmlNode *axis, const xmlNode *xyz, dyn_pose *X_ja)
{
    const api_sdf_frame *frame = &sdf->frames[joint->frame];
    const char          *name  = NULL;
    bool                 in_model;
    *X_ja = dyn_pose_identity();
    if (!is_in_model(sdf, frame, axis, &in_model) || !api_xml_text(&sdf->xml, xyz, "expressed_in", API_OPTIONAL, &name))
        return false;
    dyn_pose X_jm = dyn_pose_inverse(&frame->X);
    if (!in_model && name && *name) {
        int other = api_sdf_find_frame(sdf, xyz, frame, name);
        if (other == API_SDF_NONE) return false;
        dyn_pose X_ma =
            other == API_SDF_WORLD ? dyn_pose_inverse(&sdf->X_wm) : api_sdf_pose_in(sdf, other, frame->scope);
        *X_ja = dyn_pose_compose(&X_jm, &X_ma);
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
    dyn_pose             X_ja  = dyn_pose_identity();
    bool                 any   = joint->type != API_SDF_FIXED && joint->type != API_SDF_BALL;
    joint->axis[which].element = axis;
    memcpy(joint->axis[which].axis, v, sizeof v);
    if (!any || (which == 1 && !api_sdf_has_two_axes(joint) && joint->type != API_SDF_GEARBOX)) return true;
    if (!axis && joint->type != API_SDF_GEARBOX &&
        !api_xml_report(&sdf->xml, frame->element, "warning", "assumed",
                        "the joint has no <%s>: SDF's default axis, 0 0 1, is taken", which == 0 ? "axis" : "axis2"))
        return false;
    if (xyz && (!api_xml_content_numbers(&sdf->xml, xyz, v, 3) || !find_axes(sdf, joint, axis, xyz, &X_ja)))
        return false;
    if (axis && !xyz &&
        !api_xml_report(&sdf->xml, axis, "info", "assumed", "<%s> has no <xyz>: SDF's default is 0 0 1",
                        (const char *)axis->name))
        return false;
    length = dyn_norm(v);
    if (!(length > 0)) return api_xml_fail(&sdf->xml, xyz, API_BAD_VALUE, "<xyz> has no direction: it is zero");
    for (int i = 0; i < 3; i++)
        joint->axis[which].axis[i] = dyn_dot(X_ja.R[i], v) / length + 0.0;
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
    bool turned = api_xml_child(element, "screw_thread_pitch"), old = !turned && api_xml_child(element, "thread_pitch");
    if (!turned && !old &&
        !api_xml_report(&sdf->xml, element, "warning", "assumed",
                        "the screw has no <screw_thread_pitch>: SDF's default is 1 m per turn, while libsdformat up to "
                        "version 12 takes <thread_pitch> 1, -1 m/rad"))
        return false;
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
    int other = api_sdf_find_frame(sdf, api_xml_child(frame->element, which), frame, name);
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

/* Reports limits and dynamics of fixed and ball joints, and a second axis of a joint with one. */
static bool report_axes(api_sdf *sdf, const api_sdf_joint *joint)
{
    static const char *const names[] = {"axis", "axis2"}, *const lost[] = {"dynamics", "limit"};
    const xmlNode *second = api_xml_child(sdf->frames[joint->frame].element, "axis2");
    bool           ball   = joint->type == API_SDF_BALL;
    if (second && !api_sdf_has_two_axes(joint) && joint->type != API_SDF_GEARBOX &&
        !api_xml_report(&sdf->xml, second, "info", "dropped", "the joint has no second axis: <axis2> has no effect"))
        return false;
    if (!ball && joint->type != API_SDF_FIXED) return true;
    for (int i = 0; i < 4; i++) {
        const xmlNode *axis    = api_xml_child(sdf->frames[joint->frame].element, names[i / 2]);
        const xmlNode *element = axis ? api_xml_child(axis, lost[i % 2]) : NULL;
        if (element && !api_xml_report(&sdf->xml, element, ball ? "warning" : "info", ball ? "not-held" : "dropped",
                                       "<%s> of a %s joint %s", lost[i % 2], ball ? "ball" : "fixed",
                                       ball ? "is not part of the model" : "has no effect"))
            return false;
    }
    return true;
}

/* Reads the type without regard to case, as libsdformat does. */
static bool read_type(api_sdf *sdf, const xmlNode *element, api_sdf_type *type)
{
    const char *text = NULL;
    if (!api_xml_text(&sdf->xml, element, "type", API_REQUIRED, &text)) return false;
    const api_names known = api_names_from_array(type_names, sizeof type_names / sizeof *type_names);
    char            list[API_NAMES_TEXT];
    for (size_t i = 0; i < known.n; i++) {
        *type = (api_sdf_type)i;
        if (strcasecmp(type_names[i], text) == 0) return true;
    }
    api_names_write(&known, text, list);
    return api_xml_fail(&sdf->xml, element, API_BAD_VALUE, "<joint> has the unknown type \"%.*s\"%s",
                        api_text_shown(text), text, list);
}

static bool read_joint(api_sdf *sdf, int frame, api_sdf_joint *joint)
{
    const xmlNode *element = sdf->frames[frame].element;
    *joint                 = (api_sdf_joint){.frame = frame, .follows = {{.leader = -1}, {.leader = -1}}};
    if (!read_type(sdf, element, &joint->type) || !read_end(sdf, joint, "parent", &joint->parent) ||
        !read_end(sdf, joint, "child", &joint->child) || !read_axis(sdf, joint, 0) || !read_axis(sdf, joint, 1) ||
        !read_pitch(sdf, joint) || !api_sdf_read_rotors(sdf, joint) || !report_axes(sdf, joint))
        return false;
    if (joint->parent == joint->child)
        return api_xml_fail(&sdf->xml, element, API_BAD_MODEL, "its parent and its child are the same link");
    return joint->type == API_SDF_GEARBOX || reserve_names(sdf, joint);
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

/* Leaves out a limit of 0 if zero_limits=none asks for that. `zero` tells whether the limit is 0. */
static bool leave_out_zero(api_sdf *sdf, const xmlNode *limit, const char *field, bool zero, bool *has)
{
    if (!sdf->no_zero_limits || !*has || !zero) return true;
    *has = false;
    return api_xml_report(&sdf->xml, limit, "info", "assumed",
                          "the %s limit of 0 counts as none, as zero_limits=none asks", field);
}

static bool write_limits(api_sdf *sdf, const xmlNode *axis, json_t *fields)
{
    const xmlNode *limit    = axis ? api_xml_child(axis, "limit") : NULL;
    json_t        *limits   = json_object();
    double         range[2] = {0}, effort = 0, velocity = 0;
    bool           has[4];
    if (!api_xml_set_field(&sdf->xml, fields, "limits", limits) ||
        !read_limit(sdf, limit, "lower", &range[0], &has[0]) || !read_limit(sdf, limit, "upper", &range[1], &has[1]) ||
        !read_limit(sdf, limit, "effort", &effort, &has[2]) || !read_limit(sdf, limit, "velocity", &velocity, &has[3]))
        return false;
    if (has[0] != has[1] && !api_xml_report(&sdf->xml, limit, "warning", "not-held",
                                            "the joint has one limit of position only: it is not part of the model"))
        return false;
    if (has[0] && has[1] && range[0] > range[1])
        return api_xml_fail(&sdf->xml, limit, API_BAD_VALUE, "the lower limit %.9g is above the upper limit %.9g",
                            range[0], range[1]);
    bool still = has[0] && has[1] && range[0] == 0 && range[1] == 0;
    if (!leave_out_zero(sdf, limit, "position", still, &has[0]) ||
        !leave_out_zero(sdf, limit, "effort", effort == 0, &has[2]) ||
        !leave_out_zero(sdf, limit, "velocity", velocity == 0, &has[3]))
        return false;
    /* Negative limits of effort and velocity are none. */
    return (!has[0] || !has[1] || api_xml_set_vector(&sdf->xml, limits, "position", range, 2)) &&
           (!has[2] || effort < 0 || api_xml_set_number(&sdf->xml, limits, "effort", effort)) &&
           (!has[3] || velocity < 0 || api_xml_set_number(&sdf->xml, limits, "velocity", velocity));
}

static bool write_dynamics(api_sdf *sdf, const xmlNode *axis, json_t *fields)
{
    const xmlNode *dynamics = axis ? api_xml_child(axis, "dynamics") : NULL;
    double         damping = 0, friction = 0, stiffness = 0, rest = 0;
    if (!dynamics) return true;
    if (!api_sdf_number(sdf, dynamics, "damping", &damping) || !api_sdf_number(sdf, dynamics, "friction", &friction) ||
        !api_sdf_number(sdf, dynamics, "spring_stiffness", &stiffness) ||
        !api_sdf_number(sdf, dynamics, "spring_reference", &rest))
        return false;
    if (friction < 0)
        return api_xml_fail(&sdf->xml, dynamics, API_BAD_VALUE, "the friction %.9g is negative", friction);
    json_t *losses = NULL, *spring = NULL;
    return ((damping == 0 && friction == 0) ||
            (api_xml_set_field(&sdf->xml, fields, "friction", losses = json_object()) &&
             api_xml_set_number(&sdf->xml, losses, "viscous", damping) &&
             api_xml_set_number(&sdf->xml, losses, "coulomb", friction))) &&
           (stiffness == 0 || (api_xml_set_field(&sdf->xml, fields, "spring", spring = json_object()) &&
                               api_xml_set_number(&sdf->xml, spring, "stiffness", stiffness) &&
                               api_xml_set_number(&sdf->xml, spring, "rest", rest)));
}

bool api_sdf_read_spring(api_sdf *sdf, const api_sdf_joint *joint, int part, bool *has)
{
    const xmlNode *axis      = joint->axis[part].element;
    const xmlNode *dynamics  = axis ? api_xml_child(axis, "dynamics") : NULL;
    double         stiffness = 0;
    if (dynamics && !api_sdf_number(sdf, dynamics, "spring_stiffness", &stiffness)) return false;
    *has = stiffness != 0;
    return true;
}

static bool write_mimic(api_sdf *sdf, const api_sdf_mimicked *follows, json_t *fields)
{
    json_t     *mimic = json_object();
    const char *name  = sdf->joints[follows->leader].name[follows->part];
    return api_xml_set_field(&sdf->xml, fields, "mimic", mimic) &&
           api_xml_set_field(&sdf->xml, mimic, "joint", json_string(name)) &&
           api_xml_set_number(&sdf->xml, mimic, "multiplier", follows->multiplier) &&
           api_xml_set_number(&sdf->xml, mimic, "offset", follows->offset);
}

/* Writes the axis of a joint. A reversed joint carries its parent, which moves relative to the child about the opposite
 * axis. */
static bool write_axis(api_sdf *sdf, const api_sdf_joint *joint, int part, json_t *fields)
{
    double axis[3];
    for (int i = 0; i < 3; i++)
        axis[i] = (joint->reversed ? -1 : 1) * joint->axis[part].axis[i] + 0.0;
    return api_xml_set_vector(&sdf->xml, fields, "axis", axis, 3) &&
           write_limits(sdf, joint->axis[part].element, fields) &&
           write_dynamics(sdf, joint->axis[part].element, fields);
}

json_t *api_sdf_joint_fields(api_sdf *sdf, const api_sdf_joint *joint, int part)
{
    json_t *fields = json_object();
    if (fields &&
        (joint->type == API_SDF_FIXED || joint->type == API_SDF_BALL || write_axis(sdf, joint, part, fields)) &&
        (joint->type != API_SDF_SCREW || api_xml_set_number(&sdf->xml, fields, "pitch", joint->pitch)) &&
        (joint->follows[part].leader < 0 || write_mimic(sdf, &joint->follows[part], fields)) &&
        (joint->rotor[part] == 0 || api_xml_set_number(&sdf->xml, fields, "rotor_inertia", joint->rotor[part])) &&
        (!joint->passive[part] || joint->follows[part].leader >= 0 || joint->type == API_SDF_FIXED ||
         api_xml_set_field(&sdf->xml, fields, "actuated", json_false())))
        return fields;
    api_reader_no_memory(&sdf->xml.base); /* keeps a problem that is already set */
    json_decref(fields);
    return NULL;
}

/* --- all joints --------------------------------------------------------------------------------------------------- */

/* Fixes a link of a nested static model to the world, by a joint that the file does not have. */
static bool fix_link(api_sdf *sdf, int link, api_sdf_joint *joint)
{
    const api_sdf_frame *frame = &sdf->frames[link];
    static const char    end[] = ".static";
    size_t               size  = strlen(frame->name) + sizeof end;
    char                *name  = api_arena_take(sdf->xml.base.arena, size, 1);
    if (!name) return api_reader_no_memory(&sdf->xml.base);
    snprintf(name, size, "%s%s", frame->name, end);
    *joint         = (api_sdf_joint){.frame   = link,
                                     .type    = API_SDF_FIXED,
                                     .parent  = API_SDF_WORLD,
                                     .child   = link,
                                     .follows = {{.leader = -1}, {.leader = -1}}};
    joint->name[0] = api_xml_reserve_name(&sdf->document, sdf->document.joints, name);
    if (!joint->name[0]) return api_reader_no_memory(&sdf->xml.base);
    return api_xml_report(&sdf->xml, frame->element, "info", "fixed",
                          "link \"%.*s\" is in a static model: it is fixed to the world", api_text_shown(frame->name),
                          frame->name);
}

static bool read_joint_or_link(api_sdf *sdf, int frame)
{
    if (sdf->frames[frame].kind == API_SDF_IS_JOINT) return read_joint(sdf, frame, &sdf->joints[sdf->n_joints++]);
    bool still = sdf->frames[frame].kind == API_SDF_IS_LINK && api_sdf_is_still(sdf, frame);
    return !still || fix_link(sdf, frame, &sdf->joints[sdf->n_joints++]);
}

bool api_sdf_read_joints(api_sdf *sdf)
{
    sdf->joints = api_arena_take(sdf->xml.base.arena, sdf->n_frames, sizeof *sdf->joints);
    if (!sdf->joints) return api_reader_no_memory(&sdf->xml.base);
    for (size_t i = 0; i < sdf->n_frames; i++)
        if (!read_joint_or_link(sdf, (int)i)) return false;
    return api_sdf_read_couplings(sdf);
}
