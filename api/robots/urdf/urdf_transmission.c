/* urdf_transmission.c - read the rotors of actuators from transmissions, and report every transmission by name.
 *
 * A rotor of inertia I behind a gear of ratio n turns n times as fast as its joint: its kinetic energy I (n qd)^2 / 2
 * is that of the inertia n^2 I at the joint. Two conventions state it, both in <actuator> (or, in older files, in the
 * transmission itself):
 *
 *     Drake:  <drake:rotor_inertia value="I"/> <drake:gear_ratio value="n"/>, n = 1 when absent
 *     ROS:    <motorInertia>I</motorInertia> <mechanicalReduction>n</mechanicalReduction>
 */
#include "urdf_reader.h"
#include <stdio.h>
#include <string.h>

typedef struct urdf_rotor {
    double inertia, gear;
    bool   stated;
} urdf_rotor;

/* Arguments for "%.*s". */
#define SHOWN(text) api_text_shown(text), (text)

/* --- the report of a transmission --------------------------------------------------------------------------------- */

/* Appends to a text of `size` bytes as much as fits. */
static void append(char *text, size_t size, const char *before, const xmlChar *value, const char *behind)
{
    size_t length = strlen(text);
    if (value)
        snprintf(text + length, size - length, "%s%.*s%s", before, api_text_shown((const char *)value),
                 (const char *)value, behind);
}

static void append_name(char *text, size_t size, const char *before, const xmlNode *element)
{
    xmlChar *name = xmlGetNoNsProp(element, (const xmlChar *)"name");
    append(text, size, before, name, "\"");
    xmlFree(name);
}

static void append_reduction(char *text, size_t size, const xmlNode *in)
{
    for (const xmlNode *r = api_xml_child(in, "mechanicalReduction"); r; r = api_xml_next(r, "mechanicalReduction")) {
        xmlChar *value = xmlNodeGetContent(r);
        append(text, size, ", reduction ", value, "");
        xmlFree(value);
    }
}

/* Reports what the model does not use of a transmission. `mechanicalReduction` is in an actuator or a joint, in older
 * files in the transmission itself. */
static bool report_unused(api_urdf *urdf, const xmlNode *transmission)
{
    char text[400] = "transmission";
    append_name(text, sizeof text, " \"", transmission);
    for (const xmlNode *part = transmission->children; part; part = part->next) {
        if (part->type != XML_ELEMENT_NODE) continue;
        if (api_xml_is(part, "joint")) append_name(text, sizeof text, " of joint \"", part);
        append_reduction(text, sizeof text, part);
    }
    append_reduction(text, sizeof text, transmission);
    return api_xml_report(&urdf->xml, transmission, "info", "unused", "%s: not used, torques are those at the joints",
                          text);
}

/* --- a rotor ------------------------------------------------------------------------------------------------------ */

/* Reads the content of the first element `name` in the actuator, in a joint of the transmission or in the
 * transmission. */
static bool read_content(api_urdf *urdf, const xmlNode *actuator, const char *name, double *value, bool *found)
{
    const xmlNode *transmission = actuator->parent, *joint = api_xml_child(transmission, "joint");
    const xmlNode *element = api_xml_child(actuator, name);
    if (!element && joint) element = api_xml_child(joint, name);
    if (!element) element = api_xml_child(transmission, name);
    *found = element != NULL;
    return !element || api_xml_content_numbers(&urdf->xml, element, value, 1);
}

/* Reads attribute `value` of the first element of a qualified name in the actuator. */
static bool read_value(api_urdf *urdf, const xmlNode *actuator, const char *name, double *value, bool *found)
{
    const xmlNode *element = api_xml_qualified_child(actuator, name);
    *found                 = element != NULL;
    return !element || api_xml_numbers(&urdf->xml, element, "value", API_REQUIRED, value, 1);
}

/* Chooses the gear: Drake's for Drake's rotor, else the mechanical reduction. Reports a reduction that is left out. */
static bool choose_gear(api_urdf *urdf, const xmlNode *actuator, bool drake, urdf_rotor *rotor)
{
    double ratio = 1, reduction = 1;
    bool   has_ratio, has_reduction;
    if (!read_value(urdf, actuator, "drake:gear_ratio", &ratio, &has_ratio) ||
        !read_content(urdf, actuator, "mechanicalReduction", &reduction, &has_reduction))
        return false;
    rotor->gear = drake || !has_reduction ? ratio : reduction;
    if (rotor->gear == 0) return api_xml_fail(&urdf->xml, actuator, API_BAD_VALUE, "a gear ratio must not be 0");
    if (!has_reduction || (!has_ratio && !drake) || ratio == reduction) return true;
    return api_xml_report(&urdf->xml, actuator, "warning", "suspicious",
                          "drake:gear_ratio%s is %.9g, mechanicalReduction is %.9g: the rotor has the gear %.9g",
                          has_ratio ? "" : ", which is not stated,", ratio, reduction, rotor->gear);
}

static bool read_rotor(api_urdf *urdf, const xmlNode *actuator, urdf_rotor *rotor)
{
    double inertia = 0;
    bool   drake, ros;
    *rotor = (urdf_rotor){0};
    if (!read_value(urdf, actuator, "drake:rotor_inertia", &rotor->inertia, &drake) ||
        !read_content(urdf, actuator, "motorInertia", &inertia, &ros))
        return false;
    rotor->stated = drake || ros;
    if (!rotor->stated) return true;
    if (drake && ros && rotor->inertia != inertia)
        return api_xml_fail(&urdf->xml, actuator, API_BAD_VALUE,
                            "drake:rotor_inertia is %.9g, motorInertia is %.9g: give one of them", rotor->inertia,
                            inertia);
    if (!drake) rotor->inertia = inertia;
    if (rotor->inertia < 0)
        return api_xml_fail(&urdf->xml, actuator, API_BAD_VALUE, "the rotor inertia %.9g is negative", rotor->inertia);
    return choose_gear(urdf, actuator, drake, rotor);
}

/* --- the joint ---------------------------------------------------------------------------------------------------- */

static bool report_lost(api_urdf *urdf, const xmlNode *actuator, const urdf_rotor *rotor, const char *joint,
                        const char *reason)
{
    char text[120] = "";
    append_name(text, sizeof text, " of actuator \"", actuator);
    return rotor->inertia == 0 ||
           api_xml_report(&urdf->xml, actuator, "warning", "not-held",
                          "the rotor%s, %.9g kg m^2, is not part of the model: joint \"%.*s\" %s", text, rotor->inertia,
                          SHOWN(joint), reason);
}

static bool add_rotor(api_urdf *urdf, const xmlNode *actuator, const urdf_rotor *rotor, api_urdf_joint *joint)
{
    double reflected = rotor->gear * rotor->gear * rotor->inertia;
    joint->rotor_inertia += reflected;
    if (joint->n_rotors++ > 0 &&
        !api_xml_report(&urdf->xml, actuator, "warning", "assumed",
                        "joint \"%.*s\" has %zu actuators with rotors: their inertias are added", SHOWN(joint->name),
                        joint->n_rotors))
        return false;
    return api_xml_report(&urdf->xml, actuator, "info", "reflected",
                          "the rotor of joint \"%.*s\", %.9g kg m^2 behind a gear of %.9g, has %.9g kg m^2 at the "
                          "joint (kg at a prismatic one)",
                          SHOWN(joint->name), rotor->inertia, rotor->gear, reflected);
}

static bool place_rotor(api_urdf *urdf, const xmlNode *actuator, const urdf_rotor *rotor, const json_t *joints)
{
    const xmlNode *element = api_xml_child(actuator->parent, "joint");
    const char    *name    = "";
    if (element && !api_xml_name(&urdf->xml, element, "name", &name)) return false;
    if (element && api_xml_next(element, "joint"))
        return report_lost(urdf, actuator, rotor, name, "shares its transmission with another joint");
    const json_t *index = json_object_get(joints, name);
    if (!index) return report_lost(urdf, actuator, rotor, name, "is not a joint of this file");
    api_urdf_joint *joint = &urdf->joints[json_integer_value(index)];
    if (api_urdf_has_one_coordinate(joint)) return add_rotor(urdf, actuator, rotor, joint);
    return report_lost(urdf, actuator, rotor, name,
                       strcmp(joint->type, "fixed") == 0 ? "is fixed" : "has several coordinates");
}

static bool read_transmission(api_urdf *urdf, const xmlNode *transmission, const json_t *joints)
{
    bool stated = false;
    for (const xmlNode *a = api_xml_child(transmission, "actuator"); a; a = api_xml_next(a, "actuator")) {
        urdf_rotor rotor;
        if (!read_rotor(urdf, a, &rotor)) return false;
        stated |= rotor.stated;
        if (rotor.stated && !place_rotor(urdf, a, &rotor, joints)) return false;
    }
    return stated || report_unused(urdf, transmission);
}

bool api_urdf_read_transmissions(api_urdf *urdf, const json_t *joints)
{
    size_t n = 0;
    for (const xmlNode *t = api_xml_child(urdf->xml.root, "transmission"); t; t = api_xml_next(t, "transmission")) {
        if (n++ == urdf->xml.max_links)
            return api_xml_fail(&urdf->xml, t, API_MODEL_TOO_LARGE, "there are more than %zu transmissions, the limit",
                                urdf->xml.max_links);
        if (!read_transmission(urdf, t, joints)) return false;
    }
    return true;
}
