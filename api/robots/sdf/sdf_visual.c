/* sdf_visual.c - read the visuals of links. The colour is the diffuse one of the material. */
#include "api/robots/link_shapes/xml_visual.h"
#include "sdf_reader.h"

/* A link and its reader: poses of its visuals are in the frame of the link. */
typedef struct visual_place {
    api_sdf             *sdf;
    const api_sdf_frame *link;
} visual_place;

/* Reads <material><diffuse>: red, green, blue and perhaps opacity, which <transparency> of the visual reduces. */
static bool read_diffuse(api_sdf *sdf, const xmlNode *element, api_xml_visual *visual)
{
    const xmlNode *material     = api_xml_child(element, "material");
    const xmlNode *diffuse      = material ? api_xml_child(material, "diffuse") : NULL;
    double         transparency = 0;
    if (!api_sdf_number(sdf, element, "transparency", &transparency)) return false;
    visual->rgba[3]  = 1;
    visual->has_rgba = diffuse != NULL;
    if (!diffuse) return true;
    if (!api_xml_content_numbers(&sdf->xml, diffuse, visual->rgba, 4)) return false;
    visual->rgba[3] *= 1 - transparency;
    return true;
}

static bool read_sdf_visual(void *format, const xmlNode *element, api_xml_visual *visual)
{
    visual_place  *place    = format;
    api_sdf       *sdf      = place->sdf;
    const xmlNode *geometry = api_xml_child(element, "geometry");
    if (!geometry) return api_xml_fail(&sdf->xml, element, API_MISSING_FIELD, "the visual has no <geometry>");
    return api_sdf_read_shape_pose(sdf, place->link, element, &visual->shape.X) &&
           api_sdf_read_geometry(sdf, geometry, &visual->shape) && read_diffuse(sdf, element, visual);
}

bool api_sdf_read_visuals(api_sdf *sdf, const api_sdf_frame *link, json_t *owner)
{
    visual_place place = {sdf, link};
    return api_xml_read_visuals(&sdf->xml, link->element, owner, read_sdf_visual, &place);
}

bool api_sdf_write_link(api_sdf *sdf, const api_sdf_frame *link, api_xml_link *entry)
{
    json_t *owner = json_object();
    bool    ok    = (owner || api_reader_no_memory(&sdf->xml.base)) && api_sdf_read_visuals(sdf, link, owner);
    entry->visual = json_object_get(owner, "visual");
    if (ok)
        ok = api_xml_write_link(&sdf->document, entry);
    else
        json_decref(entry->fields);
    json_decref(owner);
    return ok;
}
