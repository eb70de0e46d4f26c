/* sdf_write_visual.c - write the shapes of links. */
#include "sdf_write.h"
#include <stdio.h>

static void put_round(api_sdf_writer *s, xmlNode *geometry, const api_document_visual *visual, const char *name)
{
    xmlNode *shape = api_xml_put(&s->w, geometry, name);
    api_sdf_put_number(s, shape, "radius", visual->size[0]);
    if (visual->solid != API_SPHERE) api_sdf_put_number(s, shape, "length", visual->size[1]);
}

static void put_edges(api_sdf_writer *s, xmlNode *geometry, const api_document_visual *visual, const char *name,
                      const char *sizes)
{
    xmlNode *shape = api_xml_put(&s->w, geometry, name);
    api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, shape, sizes), visual->size, 3);
}

static void put_mesh(api_sdf_writer *s, xmlNode *geometry, const api_document_visual *visual)
{
    const double *scale = visual->scale;
    xmlNode      *mesh  = api_xml_put(&s->w, geometry, "mesh");
    api_sdf_put(s, mesh, "uri", visual->mesh);
    if (scale[0] != 1 || scale[1] != 1 || scale[2] != 1)
        api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, mesh, "scale"), scale, 3);
}

static void put_geometry(api_sdf_writer *s, xmlNode *geometry, const api_document_visual *visual)
{
    switch (visual->solid) {
    case API_BOX: put_edges(s, geometry, visual, "box", "size"); return;
    case API_ELLIPSOID: put_edges(s, geometry, visual, "ellipsoid", "radii"); return;
    case API_CYLINDER:
    case API_SPHERE:
    case API_CAPSULE: put_round(s, geometry, visual, api_solid_form_of(visual->solid)->name); return;
    case API_SOLIDS: put_mesh(s, geometry, visual); return;
    }
}

void api_sdf_put_visuals(api_sdf_writer *s, xmlNode *link, const api_document_visuals *visuals)
{
    for (size_t i = 0; i < visuals->n; i++) {
        const api_document_visual *visual  = &visuals->list[i];
        xmlNode                   *element = api_xml_put(&s->w, link, "visual");
        char                       name[40];
        snprintf(name, sizeof name, "visual%zu", i + 1);
        api_xml_put_text(&s->w, element, "name", name);
        if (!dyn_pose_is_identity(&visual->X)) api_sdf_put_own_pose(s, element, &visual->X);
        put_geometry(s, api_xml_put(&s->w, element, "geometry"), visual);
        if (!visual->has_rgba) continue;
        xmlNode *material = api_xml_put(&s->w, element, "material");
        api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, material, "ambient"), visual->rgba, 4);
        api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, material, "diffuse"), visual->rgba, 4);
    }
}
