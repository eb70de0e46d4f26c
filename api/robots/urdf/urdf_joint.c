/* urdf_joint.c - read a joint: type, origin, axis, limit, dynamics, mimic. */
#include "api/codec/names.h"
#include "dynamics/math/geometry.h"
#include "urdf_reader.h"
#include <math.h>
#include <string.h>

static bool is_type(const api_urdf_joint *joint, const char *type)
{
    return strcmp(joint->type, type) == 0;
}

bool api_urdf_has_one_coordinate(const api_urdf_joint *joint)
{
    return is_type(joint, "revolute") || is_type(joint, "continuous") || is_type(joint, "prismatic");
}

/* Arguments for "%.*s". */
#define SHOWN(text) api_text_shown(text), (text)

/* Refuses a joint type that URDF does not have. Spherical joints are an extension of Bullet and MuJoCo; the parameters
 * of other types of documents have no place in URDF. */
static bool check_type(api_urdf *urdf, const api_urdf_joint *joint)
{
    static const char *const types[] = {"revolute", "continuous", "prismatic", "planar",
                                        "floating", "fixed",      "spherical"};
    const api_names          known   = api_names_from_array(types, sizeof types / sizeof *types);
    char                     list[API_NAMES_TEXT];
    for (size_t i = 0; i < known.n; i++)
        if (is_type(joint, types[i])) return true;
    api_names_write(&known, joint->type, list);
    return api_xml_fail(&urdf->xml, joint->element, API_BAD_VALUE,
                        "\"%.*s\" is not a joint type of URDF%s; a JSON document has further ones", SHOWN(joint->type),
                        list);
}

static bool read_origin(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    double xyz[3], rpy[3];
    if (!api_xml_child(joint->element, "origin")) return true;
    if (!api_urdf_read_origin(urdf, joint->element, xyz, rpy)) return false;
    json_t *origin = json_object();
    return api_xml_set_field(&urdf->xml, fields, "origin", origin) &&
           api_xml_set_vector(&urdf->xml, origin, "xyz", xyz, 3) &&
           api_xml_set_vector(&urdf->xml, origin, "rpy", rpy, 3);
}

/* Reads the axis, x when absent. Its length is kept; the document's reader normalises it. */
static bool read_axis(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    const xmlNode *element = api_xml_child(joint->element, "axis");
    double         axis[3] = {1, 0, 0};
    if (is_type(joint, "fixed") || is_type(joint, "floating") ||
        is_type(joint, "spherical")) /* an axis has no effect, but is checked */
        return !element || api_xml_numbers(&urdf->xml, element, "xyz", API_OPTIONAL, axis, 3);
    if (element && !api_xml_numbers(&urdf->xml, element, "xyz", API_REQUIRED, axis, 3)) return false;
    if (!element && !api_xml_report(&urdf->xml, joint->element, "info", "assumed",
                                    "joint \"%.*s\" has no axis: it is x", SHOWN(joint->name)))
        return false;
    double length = dyn_norm(axis);
    if (fabs(length - 1) > 1e-6 && length != 0 &&
        !api_xml_report(&urdf->xml, element, "info", "normalised",
                        "the axis of joint \"%.*s\" has the length %.9g, not 1", SHOWN(joint->name), length))
        return false;
    return api_xml_set_vector(&urdf->xml, fields, "axis", axis, 3);
}

/* --- limit -------------------------------------------------------------------------------------------------------- */

/* Leaves out a limit of 0, as zero_limits=none asks. */
static bool leave_out(api_urdf *urdf, const api_urdf_joint *joint, const xmlNode *limit, const char *field)
{
    return api_xml_report(&urdf->xml, limit, "info", "assumed",
                          "joint \"%.*s\": the %s limit of 0 counts as none, as zero_limits=none asks",
                          SHOWN(joint->name), field);
}

/* Reports a revolute or prismatic joint whose `limit` has neither `lower` nor `upper`. Other programs read 0 for both,
 * which would keep the joint from moving. */
static bool report_no_range(api_urdf *urdf, const api_urdf_joint *joint, const xmlNode *limit)
{
    if (!is_type(joint, "revolute") && !is_type(joint, "prismatic")) return true;
    return api_xml_report(&urdf->xml, limit, "info", "assumed",
                          "joint \"%.*s\" has neither a lower nor an upper limit: it has no limits of position",
                          SHOWN(joint->name));
}

/* Reads the position limits; if only one is given, the other is 0, its default before version 1.2. */
static bool read_range(api_urdf *urdf, const api_urdf_joint *joint, const xmlNode *limit, json_t *limits)
{
    double range[2]  = {0, 0};
    bool   has_lower = api_xml_has(limit, "lower"), has_upper = api_xml_has(limit, "upper");
    if (!api_xml_numbers(&urdf->xml, limit, "lower", API_OPTIONAL, &range[0], 1) ||
        !api_xml_numbers(&urdf->xml, limit, "upper", API_OPTIONAL, &range[1], 1))
        return false;
    if (is_type(joint, "continuous")) return true;
    if (!has_lower && !has_upper) return report_no_range(urdf, joint, limit);
    if (has_lower != has_upper && urdf->minor >= 2)
        return api_xml_report(&urdf->xml, limit, "warning", "suspicious",
                              "joint \"%.*s\" has no %s limit, which version 1.2 needs: it has no limits of position",
                              SHOWN(joint->name), has_lower ? "upper" : "lower");
    if (range[0] > range[1])
        return api_xml_report(&urdf->xml, limit, "warning", "suspicious",
                              "joint \"%.*s\": the lower limit %.9g is above the upper limit %.9g; both were dropped",
                              SHOWN(joint->name), range[0], range[1]);
    if (has_lower != has_upper &&
        !api_xml_report(&urdf->xml, limit, "info", "assumed", "joint \"%.*s\" has no %s limit: it is 0",
                        SHOWN(joint->name), has_lower ? "upper" : "lower"))
        return false;
    if (urdf->options->no_zero_limits && range[0] == 0 && range[1] == 0)
        return leave_out(urdf, joint, limit, "position");
    return api_xml_set_vector(&urdf->xml, limits, "position", range, 2);
}

static bool read_magnitude(api_urdf *urdf, const api_urdf_joint *joint, const xmlNode *limit, const char *attribute,
                           json_t *limits)
{
    double value = 0;
    if (!api_xml_has(limit, attribute)) return true;
    if (!api_xml_numbers(&urdf->xml, limit, attribute, API_REQUIRED, &value, 1)) return false;
    if (value < 0)
        return api_xml_report(&urdf->xml, limit, "warning", "suspicious",
                              "joint \"%.*s\": the %s limit %.9g is negative; it was dropped", SHOWN(joint->name),
                              attribute, value);
    if (value == 0 && urdf->options->no_zero_limits) return leave_out(urdf, joint, limit, attribute);
    return api_xml_set_number(&urdf->xml, limits, attribute, value);
}

/* Reads a limit of acceleration or jerk (URDF 1.2); 0 would keep the joint from moving. */
static bool read_positive_limit(api_urdf *urdf, const api_urdf_joint *joint, const xmlNode *limit,
                                const char *attribute, json_t *limits)
{
    double value = 0;
    if (!api_xml_has(limit, attribute)) return true;
    if (!api_xml_numbers(&urdf->xml, limit, attribute, API_REQUIRED, &value, 1)) return false;
    if (!(value > 0))
        return api_xml_report(&urdf->xml, limit, "warning", "suspicious",
                              "joint \"%.*s\": the %s limit %.9g is not greater than 0; it was dropped",
                              SHOWN(joint->name), attribute, value);
    return api_xml_set_number(&urdf->xml, limits, attribute, value);
}

/* Reads `limit`. Suspicious limits are dropped and reported, not refused: most operations do not use them. */
static bool read_limit(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    const xmlNode *limit = api_xml_child(joint->element, "limit");
    if (!limit) {
        if (!is_type(joint, "revolute") && !is_type(joint, "prismatic")) return true;
        return api_xml_report(&urdf->xml, joint->element, "info", "assumed", "joint \"%.*s\" has no limits",
                              SHOWN(joint->name));
    }
    json_t *limits = json_object();
    return api_xml_set_field(&urdf->xml, fields, "limits", limits) && read_range(urdf, joint, limit, limits) &&
           read_magnitude(urdf, joint, limit, "velocity", limits) &&
           read_magnitude(urdf, joint, limit, "effort", limits) &&
           read_positive_limit(urdf, joint, limit, "acceleration", limits) &&
           read_positive_limit(urdf, joint, limit, "jerk", limits);
}

/* --- dynamics and mimic ------------------------------------------------------------------------------------------- */

static bool read_dynamics(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    const xmlNode *dynamics = api_xml_child(joint->element, "dynamics");
    double         damping = 0, coulomb = 0;
    if (!dynamics) return true;
    if (!api_xml_numbers(&urdf->xml, dynamics, "damping", API_OPTIONAL, &damping, 1) ||
        !api_xml_numbers(&urdf->xml, dynamics, "friction", API_OPTIONAL, &coulomb, 1))
        return false;
    if (coulomb < 0) return api_xml_fail(&urdf->xml, dynamics, API_BAD_VALUE, "the friction %.9g is negative", coulomb);
    json_t *friction = json_object();
    return api_xml_set_field(&urdf->xml, fields, "friction", friction) &&
           api_xml_set_number(&urdf->xml, friction, "viscous", damping) &&
           api_xml_set_number(&urdf->xml, friction, "coulomb", coulomb);
}

static bool keep_mimic(api_urdf *urdf, const char *leader, double multiplier, double offset, json_t *fields)
{
    json_t *mimic = json_object();
    return api_xml_set_field(&urdf->xml, fields, "mimic", mimic) &&
           api_xml_set_field(&urdf->xml, mimic, "joint", json_string(leader)) &&
           api_xml_set_number(&urdf->xml, mimic, "multiplier", multiplier) &&
           api_xml_set_number(&urdf->xml, mimic, "offset", offset);
}

static bool read_mimic(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    const xmlNode *mimic      = api_xml_child(joint->element, "mimic");
    const char    *leader     = NULL;
    double         multiplier = 1, offset = 0;
    if (!mimic) return true;
    if (!api_xml_name(&urdf->xml, mimic, "joint", &leader) ||
        !api_xml_numbers(&urdf->xml, mimic, "multiplier", API_OPTIONAL, &multiplier, 1) ||
        !api_xml_numbers(&urdf->xml, mimic, "offset", API_OPTIONAL, &offset, 1))
        return false;
    if (!api_urdf_has_one_coordinate(joint)) return true;
    switch (urdf->options->mimic) {
    case API_MIMIC_COUPLED: return keep_mimic(urdf, leader, multiplier, offset, fields);
    case API_MIMIC_REFUSE:
        return api_xml_fail(&urdf->xml, mimic, API_NOT_SUPPORTED, "it mimics \"%.*s\", and mimic=refuse was requested",
                            SHOWN(leader));
    case API_MIMIC_INDEPENDENT: break;
    }
    return api_xml_report(&urdf->xml, mimic, "warning", "independent",
                          "joint \"%.*s\" mimics \"%.*s\" (multiplier %.9g, offset %.9g): it was given a coordinate "
                          "of its own; mimic=coupled couples it",
                          SHOWN(joint->name), SHOWN(leader), multiplier, offset);
}

static bool write_rotor(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    return joint->rotor_inertia == 0 || api_xml_set_number(&urdf->xml, fields, "rotor_inertia", joint->rotor_inertia);
}

/* Keeps the damping of a joint that turns about all axes, which belongs to each of its velocities. *complete: nothing
 * else is in <dynamics>. */
static bool keep_damping(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields, bool *complete)
{
    const json_t *friction = json_object_get(fields, "friction");
    const double  damping  = json_number_value(json_object_get(friction, "viscous"));
    *complete              = (is_type(joint, "floating") || is_type(joint, "spherical")) &&
                json_number_value(json_object_get(friction, "coulomb")) == 0;
    if (is_type(joint, "fixed") || is_type(joint, "planar") || damping == 0) return true;
    json_t *spring = json_object();
    return api_xml_set_field(&urdf->xml, fields, "spring", spring) &&
           api_xml_set_number(&urdf->xml, spring, "damping", damping);
}

/* Drops and reports the fields that only joints with one coordinate have. They were checked when they were read. A
 * joint with several coordinates may have friction and limits in the file, a fixed joint cannot. */
static bool drop_figures(api_urdf *urdf, const api_urdf_joint *joint, json_t *fields)
{
    static const char *const elements[] = {"limit", "dynamics", "mimic"};
    bool                     fixed      = is_type(joint, "fixed"), damped;
    if (!keep_damping(urdf, joint, fields, &damped)) return false;
    json_object_del(fields, "limits");
    json_object_del(fields, "friction");
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const xmlNode *element = api_xml_child(joint->element, elements[i]);
        if (i == 1 && damped) continue;
        if (element && !api_xml_report(&urdf->xml, element, fixed ? "info" : "warning", fixed ? "dropped" : "not-held",
                                       "joint \"%.*s\" is %s: <%s> %s", SHOWN(joint->name), joint->type, elements[i],
                                       fixed ? "has no effect" : "is not part of the model"))
            return false;
    }
    return true;
}

json_t *api_urdf_read_joint(api_urdf *urdf, const api_urdf_joint *joint)
{
    if (!check_type(urdf, joint)) return NULL;
    json_t *fields = json_object();
    if (fields && api_xml_set_field(&urdf->xml, fields, "name", json_string(joint->name)) &&
        api_xml_set_field(&urdf->xml, fields, "type", json_string(joint->type)) && read_origin(urdf, joint, fields) &&
        read_axis(urdf, joint, fields) && read_limit(urdf, joint, fields) && read_dynamics(urdf, joint, fields) &&
        read_mimic(urdf, joint, fields) && write_rotor(urdf, joint, fields) &&
        (api_urdf_has_one_coordinate(joint) || drop_figures(urdf, joint, fields)))
        return fields;
    api_reader_no_memory(&urdf->xml.base); /* keeps a problem that is already set */
    json_decref(fields);
    return NULL;
}
