/* urdf_unused.c - list what URDF files contain, for the report of what the reader does not use; and report each
 * transmission by name. */
#include "api/load/xml/xml_unused.h"
#include "urdf_reader.h"
#include <stdio.h>
#include <string.h>

static const api_xml_known known[] = {
    {" robot ", " link ", API_XML_READ, " name ", NULL, NULL},
    {" robot ", " joint ", API_XML_READ, " name type ", NULL, NULL},
    {" robot ", " transmission ", API_XML_ELSEWHERE, "", NULL, NULL},
    {" robot ", " material ", API_XML_DROPPED, "", NULL, NULL},
    {" robot ", " gazebo ", API_XML_DROPPED, "", NULL, NULL},
    {" link ", " inertial ", API_XML_ONCE, " ", NULL, NULL},
    {" link ", " visual ", API_XML_DROPPED, "", NULL, NULL},
    {" link ", " collision ", API_XML_DROPPED, "", NULL, NULL},
    {" inertial ", " origin ", API_XML_ONCE, " xyz rpy ", NULL, NULL},
    {" inertial ", " mass ", API_XML_ONCE, " value ", NULL, NULL},
    {" inertial ", " inertia ", API_XML_ONCE, " ixx ixy ixz iyy iyz izz ", NULL, NULL},
    {" joint ", " origin ", API_XML_ONCE, " xyz rpy ", NULL, NULL},
    {" joint ", " parent ", API_XML_ONCE, " link ", NULL, NULL},
    {" joint ", " child ", API_XML_ONCE, " link ", NULL, NULL},
    {" joint ", " axis ", API_XML_ONCE, " xyz ", NULL, NULL},
    {" joint ", " limit ", API_XML_ONCE, " lower upper velocity effort ", NULL, NULL},
    {" joint ", " dynamics ", API_XML_ONCE, " damping friction ", NULL, NULL},
    {" joint ", " mimic ", API_XML_ONCE, " joint multiplier offset ", NULL, NULL},
    {" joint ", " calibration ", API_XML_DROPPED, "", NULL, NULL},
    {" joint ", " safety_controller ", API_XML_DROPPED, "", NULL, NULL},
};

static const api_xml_vocabulary vocabulary = {.root  = {"", " robot ", API_XML_READ, " name version ", NULL, NULL},
                                              .n     = sizeof known / sizeof *known,
                                              .known = known};

/* --- transmissions ------------------------------------------------------------------------------------------------ */

/* Appends to a text of `size` bytes as far as there is room. */
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

/* `mechanicalReduction` is part of an actuator or a joint, in older files of the transmission itself. */
static bool report_transmission(api_urdf *urdf, const xmlNode *transmission)
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

static bool report_transmissions(api_urdf *urdf)
{
    size_t n = 0;
    for (const xmlNode *t = api_xml_child(urdf->xml.root, "transmission"); t; t = api_xml_next(t, "transmission")) {
        if (n++ == urdf->xml.max_links)
            return api_xml_fail(&urdf->xml, t, API_MODEL_TOO_LARGE, "there are more than %zu transmissions, the limit",
                                urdf->xml.max_links);
        if (!report_transmission(urdf, t)) return false;
    }
    return true;
}

bool api_urdf_report_unused(api_urdf *urdf)
{
    return api_xml_report_unused(&urdf->xml, &vocabulary) && report_transmissions(urdf);
}
