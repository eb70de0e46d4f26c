/* urdf_write_visual.c - write the shapes of links. */
#include "urdf_write.h"
#include <stdio.h>

/* A visual in the pose X; returns its <geometry>. */
static xmlNode *put_urdf_visual(api_urdf_file *f, xmlNode *link, const api_document_visual *visual, const dyn_pose *X)
{
    xmlNode *element = api_xml_put(&f->w, link, "visual");
    api_urdf_put_origin(f, element, X);
    xmlNode *geometry = api_xml_put(&f->w, element, "geometry");
    if (visual->has_rgba) {
        char           name[120];
        const double  *c        = visual->rgba;
        xmlNode *const material = api_xml_put(&f->w, element, "material");
        snprintf(name, sizeof name, "rgba %.9g %.9g %.9g %.9g", c[0], c[1], c[2], c[3]);
        api_xml_put_text(&f->w, material, "name", name);
        api_xml_put_numbers(&f->w, api_xml_put(&f->w, material, "color"), "rgba", c, 4);
    }
    return geometry;
}

static void put_urdf_round(api_urdf_file *f, xmlNode *geometry, const char *name, const double *radius,
                           const double *length)
{
    xmlNode *shape = api_xml_put(&f->w, geometry, name);
    api_xml_put_number(&f->w, shape, "radius", *radius);
    if (length) api_xml_put_number(&f->w, shape, "length", *length);
}

static void put_capsule(api_urdf_file *f, xmlNode *link, const api_document_visual *visual)
{
    const double *size = visual->size;
    xmlNode      *body = put_urdf_visual(f, link, visual, &visual->X);
    put_urdf_round(f, body, f->quaternions ? "capsule" : "cylinder", &size[0], &size[1]);
    for (int end = -1; !f->quaternions && end <= 1; end += 2) {
        dyn_pose shift = dyn_pose_translation(0, 0, end * size[1] / 2), X = dyn_pose_compose(&visual->X, &shift);
        put_urdf_round(f, put_urdf_visual(f, link, visual, &X), "sphere", &size[0], NULL);
    }
}

static void put_urdf_mesh(api_urdf_file *f, xmlNode *link, const api_document_visual *visual)
{
    const double *s    = visual->scale;
    xmlNode      *mesh = api_xml_put(&f->w, put_urdf_visual(f, link, visual, &visual->X), "mesh");
    api_xml_put_text(&f->w, mesh, "filename", visual->mesh);
    if (s[0] != 1 || s[1] != 1 || s[2] != 1) api_xml_put_numbers(&f->w, mesh, "scale", s, 3);
}

static void put_shape(api_urdf_file *f, xmlNode *link, const api_document_visual *visual)
{
    const double *size = visual->size;
    switch (visual->solid) {
    case API_BOX:
        api_xml_put_numbers(&f->w, api_xml_put(&f->w, put_urdf_visual(f, link, visual, &visual->X), "box"), "size",
                            size, 3);
        return;
    case API_CYLINDER:
        put_urdf_round(f, put_urdf_visual(f, link, visual, &visual->X), "cylinder", &size[0], &size[1]);
        return;
    case API_SPHERE: put_urdf_round(f, put_urdf_visual(f, link, visual, &visual->X), "sphere", &size[0], NULL); return;
    case API_ELLIPSOID: f->w.shapes_left++; return;
    case API_CAPSULE: put_capsule(f, link, visual); return;
    case API_SOLIDS: put_urdf_mesh(f, link, visual); return;
    }
}

void api_urdf_put_visuals(api_urdf_file *f, xmlNode *link, const api_document_visuals *visuals)
{
    for (size_t i = 0; i < visuals->n; i++)
        put_shape(f, link, &visuals->list[i]);
}
