/* urdf_visual.c - read the visuals of links. The colour is that of the material in the visual, or of the robot's
 * material with the same name. */
#include "api/robots/link_shapes/xml_visual.h"
#include "dynamics/math/geometry.h"
#include "urdf_reader.h"

bool api_urdf_index_materials(api_urdf *urdf)
{
    for (const xmlNode *m = api_xml_child(urdf->xml.root, "material"); m; m = api_xml_next(m, "material")) {
        const xmlNode *color = api_xml_child(m, "color");
        const char    *name  = NULL;
        if (!api_xml_text(&urdf->xml, m, "name", API_OPTIONAL, &name)) return false;
        if (!name || !color) continue;
        json_t *place = json_integer((json_int_t)urdf->n_colours);
        if (!api_xml_set_field(&urdf->xml, urdf->materials, name, place)) return false;
        urdf->colours[urdf->n_colours++] = color;
    }
    return true;
}

static bool read_material(api_urdf *urdf, const xmlNode *element, api_xml_visual *visual)
{
    const xmlNode *material = api_xml_child(element, "material");
    const char    *name     = NULL;
    if (!material) return true;
    const xmlNode *color = api_xml_child(material, "color");
    if (!api_xml_text(&urdf->xml, material, "name", API_OPTIONAL, &name)) return false;
    const json_t *place = name ? json_object_get(urdf->materials, name) : NULL;
    if (!color && place) color = urdf->colours[json_integer_value(place)];
    visual->has_rgba = color && api_xml_has(color, "rgba");
    return !visual->has_rgba || api_xml_numbers(&urdf->xml, color, "rgba", API_REQUIRED, visual->rgba, 4);
}

static bool read_urdf_visual(void *format, const xmlNode *element, api_xml_visual *visual)
{
    api_urdf      *urdf     = format;
    const xmlNode *geometry = api_xml_child(element, "geometry");
    double         xyz[3], rpy[3];
    if (!geometry) return api_xml_fail(&urdf->xml, element, API_MISSING_FIELD, "the visual has no <geometry>");
    if (!api_urdf_read_origin(urdf, element, xyz, rpy) || !api_urdf_read_geometry(urdf, geometry, &visual->shape) ||
        !read_material(urdf, element, visual))
        return false;
    visual->shape.X = dyn_pose_rpy(xyz, rpy);
    return true;
}

bool api_urdf_read_visuals(api_urdf *urdf, const xmlNode *link, json_t *owner)
{
    return api_xml_read_visuals(&urdf->xml, link, owner, read_urdf_visual, urdf);
}
