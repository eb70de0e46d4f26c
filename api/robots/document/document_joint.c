/* document_joint.c - read "joint" of a link: type, origin, axis, limits, mimic, home. */
#include "document.h"
#include "api/codec/number.h"
#include <stdio.h>
#include <string.h>

/* Returns that of a type's one or two names which equals `name`, or NULL. */
static const char *type_name(const dyn_joint_type *type, const char *name)
{
    if (strcmp(type->name, name) == 0) return type->name;
    return type->unlimited && strcmp(type->unlimited, name) == 0 ? type->unlimited : NULL;
}

/* Writes the names of all joint types. */
static void list_types(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < DYN_JOINT_KINDS && used < size; i++) {
        const dyn_joint_type *type = &dyn_joint_types[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", type->name);
        if (type->unlimited && used < size) used += (size_t)snprintf(text + used, size - used, ", %s", type->unlimited);
    }
}

static bool read_type(const api_entry *joint, api_document_link *link)
{
    const char *name = NULL;
    if (!api_entry_text(joint, "type", API_REQUIRED, &name)) return false;
    for (size_t i = 0; i < DYN_JOINT_KINDS; i++) {
        link->type      = type_name(&dyn_joint_types[i], name);
        link->dyn.joint = (dyn_joint_kind)i;
        if (link->type) return true;
    }
    char known[200];
    list_types(known, sizeof known);
    return api_entry_fail(joint, "type", API_BAD_VALUE, "\"%.*s\" is not a joint type; supported: %s",
                          api_text_shown(name), name, known);
}

bool api_document_read_axis(const api_entry *owner, const char *key, double axis[3])
{
    if (!api_entry_vector(owner, key, API_REQUIRED, axis, 3)) return false;
    double length = dyn_norm(axis);
    if (length == 0) return api_entry_fail(owner, key, API_BAD_VALUE, "the axis has no direction: it is [0,0,0]");
    for (int i = 0; i < 3; i++)
        axis[i] /= length;
    return true;
}

static bool read_axis(const api_entry *joint, api_document_link *link, bool dh)
{
    bool fixed = link->dyn.joint == DYN_FIXED, free = !fixed && !dyn_joint_types[link->dyn.joint].has_axis;
    link->dyn.axis[2] = 1;
    if (free && api_entry_has(joint, "axis"))
        return api_entry_fail(joint, "axis", API_BAD_VALUE, "a %s joint has no axis: it turns in all directions",
                              link->type);
    if (dh && api_entry_has(joint, "axis"))
        return api_entry_fail(joint, "axis", API_BAD_VALUE, "the axis is z in DH forms: \"axis\" is not taken");
    return dh || free || (fixed && !api_entry_has(joint, "axis")) ||
           api_document_read_axis(joint, "axis", link->dyn.axis);
}

static bool read_position_limits(const api_entry *limits, api_document_link *link)
{
    double range[2];
    if (!api_entry_has(limits, "position")) return true;
    if (!api_entry_vector(limits, "position", API_REQUIRED, range, 2)) return false;
    if (range[0] > range[1])
        return api_entry_fail(limits, "position", API_BAD_VALUE, "the lower limit %s is above the upper limit %s",
                              API_NUMBER_TEXT(range[0]), API_NUMBER_TEXT(range[1]));
    if (link->type == dyn_joint_types[link->dyn.joint].unlimited)
        return api_entry_report(limits, "position", "info", "dropped", "a %s joint has no limits of position",
                                link->type);
    link->has_position_limits = true;
    link->lower               = range[0];
    link->upper               = range[1];
    return true;
}

/* Reads a limit that must be greater than 0: an effort rate of 0 would freeze the effort, an acceleration of 0 the
 * joint. */
static bool read_positive(const api_entry *entry, const char *name, const char *unit, bool *has, double *limit)
{
    *has = api_entry_has(entry, name);
    if (!*has) return true;
    if (!api_entry_number(entry, name, API_REQUIRED, limit)) return false;
    return *limit > 0 || api_entry_fail(entry, name, API_BAD_VALUE, "%s given, %s greater than 0 expected",
                                        API_NUMBER_TEXT(*limit), unit);
}

/* Reads "effort_speed", the linear torque-speed limit of a motor with limited voltage. */
static bool read_effort_speed(const api_entry *limits, api_drive_limits *to)
{
    static const char *const fields[] = {"stall_effort", "slope", NULL};
    api_entry                line;
    to->has_effort_speed = api_entry_has(limits, "effort_speed");
    if (!to->has_effort_speed) return true;
    if (!api_entry_open(&line, limits, "effort_speed", fields) ||
        !api_entry_not_negative(&line, "stall_effort", API_REQUIRED, &to->stall_effort) ||
        !api_entry_not_negative(&line, "slope", API_REQUIRED, &to->speed_slope))
        return false;
    api_entry_close(&line, false);
    return true;
}

bool api_document_read_drive_limits(const api_entry *entry, api_drive_limits *limits)
{
    limits->has_velocity = api_entry_has(entry, "velocity");
    limits->has_effort   = api_entry_has(entry, "effort");
    if (limits->has_velocity && !api_entry_not_negative(entry, "velocity", API_REQUIRED, &limits->velocity))
        return false;
    if (limits->has_effort && !api_entry_not_negative(entry, "effort", API_REQUIRED, &limits->effort)) return false;
    return read_positive(entry, "effort_rate", "N m/s or N/s", &limits->has_effort_rate, &limits->effort_rate) &&
           read_positive(entry, "acceleration", "rad/s^2 or m/s^2", &limits->has_acceleration, &limits->acceleration) &&
           read_positive(entry, "jerk", "rad/s^3 or m/s^3", &limits->has_jerk, &limits->jerk) &&
           read_effort_speed(entry, limits);
}

static bool read_limits(const api_entry *joint, api_document_link *link)
{
    static const char *const fields[] = {"position",     "velocity", "effort",       "effort_rate",
                                         "acceleration", "jerk",     "effort_speed", NULL};
    api_entry                limits;
    if (!api_entry_has(joint, "limits")) return true;
    if (!api_entry_open(&limits, joint, "limits", fields) || !read_position_limits(&limits, link) ||
        !api_document_read_drive_limits(&limits, &link->limits))
        return false;
    api_entry_close(&limits, false);
    return true;
}

/* Reads "mimic": q = multiplier q_m + offset, where q_m is the position of the mimicked joint. document_mimic.c
 * finds that joint once all joints are read. */
static bool read_mimic(const api_entry *joint, api_document_link *link)
{
    static const char *const fields[] = {"joint", "multiplier", "offset", NULL};
    api_entry                mimic;
    if (!api_entry_has(joint, "mimic")) return true;
    link->dyn.mimic = true;
    if (!api_entry_open(&mimic, joint, "mimic", fields) ||
        !api_entry_name(&mimic, "joint", API_REQUIRED, &link->mimicked) ||
        !api_entry_number(&mimic, "multiplier", API_OPTIONAL, &link->dyn.ratio) ||
        !api_entry_number(&mimic, "offset", API_OPTIONAL, &link->dyn.offset))
        return false;
    if (link->dyn.ratio != 0) return true;
    return api_entry_fail(&mimic, "multiplier", API_BAD_VALUE,
                          "a multiplier of 0 couples nothing: a joint that does not move is \"fixed\"");
}

/* Normalises the quaternion of "home", which is its last four entries. */
static bool normalise_home(const api_entry *joint, api_document_link *link)
{
    double norm = 1;
    return dyn_quaternion_normalise(link->home + dyn_joint_nq(link->dyn.joint) - 4, 1, &norm) ||
           api_entry_fail(joint, "home", API_BAD_QUATERNION,
                          "the last four are a quaternion of the norm %.9g, which differs from 1 by more than %g", norm,
                          DYN_QUATERNION_TOLERANCE);
}

/* Checks that an angle in "home" is within the limit for angles of states. */
static bool check_home_angle(const api_entry *joint, const api_document_link *link)
{
    const int angle = dyn_joint_types[link->dyn.joint].angle;
    return angle < 0 ||
           api_entry_check_angle(joint, "home", dyn_joint_nq(link->dyn.joint) > 1 ? (size_t)angle : API_NO_INDEX,
                                 link->home[angle]);
}

/* Reads "home", the joint position from which the loops of the model are closed. */
static bool read_home(const api_entry *joint, api_document_link *link)
{
    link->has_home = api_entry_has(joint, "home");
    if (link->has_home && link->dyn.mimic)
        return api_entry_fail(joint, "home", API_BAD_VALUE, "a joint that mimics another has no position of its own");
    if (!link->has_home) return true;
    size_t n    = (size_t)dyn_joint_nq(link->dyn.joint);
    bool   read = n <= 1 ? api_entry_number(joint, "home", API_REQUIRED, link->home)
                         : api_entry_vector(joint, "home", API_REQUIRED, link->home, n);
    return read &&
           (dyn_joint_has_quaternion(link->dyn.joint) ? normalise_home(joint, link) : check_home_angle(joint, link));
}

static bool read_pitch(const api_entry *joint, api_document_link *link)
{
    if (dyn_joint_types[link->dyn.joint].has_pitch)
        return api_entry_number(joint, "pitch", API_REQUIRED, &link->dyn.pitch);
    if (!api_entry_has(joint, "pitch")) return true;
    return api_entry_fail(joint, "pitch", API_BAD_VALUE, "a %s joint has no pitch", link->type);
}

/* Checks that a joint with several coordinates has no field that describes a single coordinate. A rotor inertia or
 * damping belongs to each coordinate of a joint with a quaternion. */
static bool check_several(const api_entry *joint, const api_document_link *link)
{
    static const char *const single[] = {"limits", "friction", "elastic", "mimic", "rotor_inertia", "spring"};
    const size_t             n = sizeof single / sizeof *single - (dyn_joint_has_quaternion(link->dyn.joint) ? 2 : 0);
    for (size_t i = 0; dyn_joint_nv(link->dyn.joint) > 1 && i < n; i++)
        if (api_entry_has(joint, single[i]))
            return api_entry_fail(joint, single[i], API_BAD_VALUE,
                                  "a %s joint has several coordinates: \"%s\" is for joints with one", link->type,
                                  single[i]);
    return true;
}

/* Checks that only joints with one coordinate, an angle or a length, have Denavit-Hartenberg (DH) parameters. */
static bool check_origin(const api_entry *joint, const api_document_link *link, bool dh)
{
    if (!dh || (dyn_joint_nv(link->dyn.joint) <= 1 && !dyn_joint_types[link->dyn.joint].expand)) return true;
    return api_entry_fail(
        joint, "origin", API_BAD_VALUE,
        "DH parameters are for revolute and prismatic joints: a %s one takes xyz and rpy, or a matrix", link->type);
}

/* Drops and reports the fields of a fixed joint that only a moving joint has. The fields were read and checked before.
 */
static bool drop_motion(const api_entry *joint, dyn_link *link)
{
    static const char *const moving[] = {"axis",          "actuated", "limits",  "friction", "home",
                                         "rotor_inertia", "spring",   "elastic", "mimic"};
    link->friction                    = (dyn_friction){0};
    link->spring                      = (dyn_spring){0};
    link->rotor_inertia               = 0;
    link->elastic                     = false;
    link->mimic                       = false;
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        if (api_entry_has(joint, moving[i]) &&
            !api_entry_report(joint, moving[i], "info", "dropped", "a fixed joint does not move: \"%s\" has no effect",
                              moving[i]))
            return false;
    return true;
}

bool api_document_read_joint(const api_entry *link_node, api_document_link *link)
{
    static const char *const fields[] = {"name",          "type",   "actuated", "origin", "axis",  "limits", "friction",
                                         "rotor_inertia", "spring", "elastic",  "mimic",  "pitch", "home",   NULL};
    dyn_link                *dyn      = &link->dyn;
    api_entry                joint;
    bool                     dh;
    if (!api_entry_has(link_node, "joint"))
        return api_entry_fail(link_node, "joint", API_MISSING_FIELD, "\"joint\" is needed here but missing");
    if (!api_entry_open(&joint, link_node, "joint", fields)) return false;

    link->actuated = true;
    *dyn           = (dyn_link){.before = dyn_pose_identity(), .after = dyn_pose_identity(), .ratio = 1};
    if (!api_entry_name(&joint, "name", API_REQUIRED, &link->joint) || !read_type(&joint, link)) return false;
    if (!api_entry_flag(&joint, "actuated", &link->actuated) || !api_document_read_origin(&joint, dyn, &dh) ||
        !check_origin(&joint, link, dh) || !read_axis(&joint, link, dh) || !read_pitch(&joint, link) ||
        !check_several(&joint, link) || !read_limits(&joint, link) ||
        !api_document_read_friction(&joint, &dyn->friction) ||
        !api_entry_not_negative(&joint, "rotor_inertia", API_OPTIONAL, &dyn->rotor_inertia) ||
        !api_document_read_spring(&joint, dyn->joint, &dyn->spring) || !read_mimic(&joint, link) ||
        !read_home(&joint, link) || !api_document_read_elastic(&joint, dyn))
        return false;
    if (dyn->joint == DYN_FIXED && !drop_motion(&joint, dyn)) return false;
    api_entry_close(&joint, false);
    return true;
}
