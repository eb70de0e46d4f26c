/* urdf_inertial.c - read `inertial` of a link: mass, centre of mass, and the inertia tensor, which may have axes of
 * its own. */
#include "dynamics/math/geometry.h"
#include "api/robots/document/inertia.h"
#include "urdf_reader.h"

/* In the order xx xy xz yy yz zz. */
static const char *const attributes[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
static const char *const entries[6]    = {"xx", "xy", "xz", "yy", "yz", "zz"};

static bool read_tensor(api_urdf *urdf, const xmlNode *inertial, double about_com[6])
{
    const xmlNode *inertia = api_xml_child(inertial, "inertia");
    if (!inertia) return api_xml_fail(&urdf->xml, inertial, API_MISSING_FIELD, "<inertial> has no <inertia>");
    for (int i = 0; i < 6; i++)
        if (!api_xml_numbers(&urdf->xml, inertia, attributes[i], API_REQUIRED, &about_com[i], 1)) return false;
    return true;
}

static bool read_mass(api_urdf *urdf, const xmlNode *inertial, double *mass)
{
    const xmlNode *element = api_xml_child(inertial, "mass");
    if (!element) return api_xml_fail(&urdf->xml, inertial, API_MISSING_FIELD, "<inertial> has no <mass>");
    return api_xml_numbers(&urdf->xml, element, "value", API_REQUIRED, mass, 1);
}

/* Converts the tensor to link axes, as documents require: R T R^T. A tensor that is not rotated stays as given. */
static bool turn_tensor(api_urdf *urdf, const xmlNode *inertial, const double rpy[3], double about_com[6])
{
    const double origin[3] = {0};
    double       turned[6];
    if (rpy[0] == 0 && rpy[1] == 0 && rpy[2] == 0) return true;
    dyn_pose X = dyn_pose_rpy(origin, rpy);
    api_tensor_rotate((const double(*)[3])X.R, about_com, turned);
    for (int i = 0; i < 6; i++)
        about_com[i] = turned[i] + 0.0; /* -0 becomes 0 */
    xmlChar *name = xmlGetNoNsProp(inertial->parent, (const xmlChar *)"name");
    bool     ok   = api_xml_report(&urdf->xml, inertial, "info", "turned",
                                   "the inertia of \"%.*s\" is given in axes of its own: it was turned into link axes",
                             name ? api_text_shown((const char *)name) : 0, name ? (const char *)name : "");
    xmlFree(name);
    return ok;
}

static bool set_tensor(api_urdf *urdf, json_t *inertial, const double about_com[6])
{
    json_t *tensor = json_object();
    if (!api_xml_set_field(&urdf->xml, inertial, "inertia", tensor)) return false;
    for (int i = 0; i < 6; i++)
        if (!api_xml_set_number(&urdf->xml, tensor, entries[i], about_com[i])) return false;
    return true;
}

static bool write_inertial_fields(api_urdf *urdf, json_t *document_link, double mass, const double com[3],
                                  const double about_com[6])
{
    json_t *fields = json_object();
    return api_xml_set_field(&urdf->xml, document_link, "inertial", fields) &&
           api_xml_set_number(&urdf->xml, fields, "mass", mass) &&
           api_xml_set_vector(&urdf->xml, fields, "com", com, 3) && set_tensor(urdf, fields, about_com);
}

/* Gives a link without <inertial> the inertia of its collisions. */
static bool write_collisions(api_urdf *urdf, const xmlNode *link, json_t *document_link)
{
    dyn_inertia sum = {0};
    size_t      n   = 0;
    if (!api_urdf_read_collisions(urdf, link, &sum, &n)) return false;
    if (n == 0) return true;
    return write_inertial_fields(urdf, document_link, sum.mass, sum.com, sum.about_com) &&
           api_xml_report(&urdf->xml, link, "info", "assumed",
                          "the link has no <inertial>: it has that of its collisions with %.6g kg/m^3, %.6g kg",
                          urdf->options->density, sum.mass);
}

bool api_urdf_read_inertial(api_urdf *urdf, const xmlNode *link, json_t *document_link)
{
    const xmlNode *inertial = api_xml_child(link, "inertial");
    double         mass = 0, com[3], rpy[3], about_com[6] = {0};
    if (!inertial) return urdf->options->inertia != API_URDF_COLLISION || write_collisions(urdf, link, document_link);
    if (!read_mass(urdf, inertial, &mass) || !api_urdf_read_origin(urdf, inertial, com, rpy) ||
        !api_xml_review_angles(&urdf->xml, inertial, "rpy of <origin>", rpy) ||
        !read_tensor(urdf, inertial, about_com) || !turn_tensor(urdf, inertial, rpy, about_com))
        return false;
    return write_inertial_fields(urdf, document_link, mass, com, about_com);
}
