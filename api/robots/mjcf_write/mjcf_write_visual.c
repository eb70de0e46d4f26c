/* mjcf_write_visual.c - write the shapes of links as geoms. */
#include "mjcf_write.h"

/* Writes the sizes of a solid in the terms of MJCF, half lengths. They must be above 0: thinner solids get the least
 * thickness. */
static size_t sizes_of(const api_document_visual *visual, double size[3])
{
    const double          least = 1e-6;
    const api_solid_form *form  = api_solid_form_of(visual->solid);
    for (size_t i = 0; i < form->n_sizes; i++) {
        bool whole =
            visual->solid == API_BOX || (i == 1 && (visual->solid == API_CYLINDER || visual->solid == API_CAPSULE));
        size[i] = whole ? visual->size[i] / 2 : visual->size[i];
        if (size[i] < least) size[i] = least;
    }
    return form->n_sizes;
}

static void put_geom(api_xml_writer *w, xmlNode *body, const api_document_visual *visual)
{
    double   size[3];
    size_t   n    = sizes_of(visual, size);
    xmlNode *geom = api_xml_put(w, body, "geom");
    api_xml_put_text(w, geom, "type", api_solid_form_of(visual->solid)->name);
    api_xml_put_numbers(w, geom, "size", size, n);
    api_mjcf_put_pose(w, geom, &visual->X);
    if (visual->has_rgba) api_xml_put_numbers(w, geom, "rgba", visual->rgba, 4);
    api_xml_put_text(w, geom, "group", "2");
    api_xml_put_text(w, geom, "mass", "0");
    api_xml_put_text(w, geom, "contype", "0");
    api_xml_put_text(w, geom, "conaffinity", "0");
}

bool api_mjcf_is_shaped(const api_document_visuals *visuals)
{
    for (size_t i = 0; i < visuals->n; i++)
        if (!visuals->list[i].mesh) return true;
    return false;
}

void api_mjcf_put_visuals(api_xml_writer *w, xmlNode *body, const api_document_visuals *visuals)
{
    for (size_t i = 0; i < visuals->n; i++)
        if (visuals->list[i].mesh)
            w->shapes_left++;
        else
            put_geom(w, body, &visuals->list[i]);
}
