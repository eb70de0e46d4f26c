/* xml_visual.c - write visual shapes to the document, and read the visuals of a link so that their errors do not refuse
 * the file. */
#include "xml_visual.h"
#include "api/robots/document/document.h"
#include "dynamics/math/geometry.h"
#include <math.h>

static bool can_be_held(const api_xml_visual *visual)
{
    const api_collision *shape = &visual->shape;
    if (shape->kind == API_COLLISION_MESH) return api_entry_is_name(shape->file);
    if (shape->kind != API_COLLISION_SOLID) return false;
    for (size_t i = 0; i < api_solid_form_of(shape->solid)->n_sizes; i++)
        if (!(shape->size[i] >= 0 && isfinite(shape->size[i]))) return false;
    return true;
}

static bool set_shape(api_xml_reader *reader, json_t *entry, const api_collision *shape)
{
    const double *s = shape->scale;
    if (shape->kind == API_COLLISION_MESH)
        return api_xml_set_field(reader, entry, "mesh", json_string(shape->file)) &&
               ((s[0] == 1 && s[1] == 1 && s[2] == 1) || api_xml_set_vector(reader, entry, "scale", s, 3));
    const api_solid_form *form = api_solid_form_of(shape->solid);
    return api_xml_set_field(reader, entry, "solid", json_string(form->name)) &&
           api_xml_set_vector(reader, entry, "size", shape->size, form->n_sizes);
}

static bool set_place(api_xml_reader *reader, json_t *entry, const dyn_pose *X)
{
    const double *p = X->p;
    double        rpy[3];
    dyn_rpy_of((const double(*)[3])X->R, rpy);
    return ((p[0] == 0 && p[1] == 0 && p[2] == 0) || api_xml_set_vector(reader, entry, "xyz", p, 3)) &&
           ((rpy[0] == 0 && rpy[1] == 0 && rpy[2] == 0) || api_xml_set_vector(reader, entry, "rpy", rpy, 3));
}

static bool set_colour(api_xml_reader *reader, json_t *entry, const api_xml_visual *visual)
{
    double rgba[4];
    if (!visual->has_rgba) return true;
    bool outside = false;
    for (int i = 0; i < 4; i++) {
        rgba[i] = fmin(fmax(visual->rgba[i], 0), 1);
        outside = outside || rgba[i] != visual->rgba[i];
    }
    return api_xml_set_vector(reader, entry, "rgba", rgba, 4) &&
           (!outside || api_xml_report(reader, visual->shape.element, "info", "assumed",
                                       "a colour has numbers outside 0 to 1; the nearest of these are taken"));
}

bool api_xml_add_visual(api_xml_reader *reader, json_t *owner, const api_xml_visual *visual)
{
    json_t *list = json_object_get(owner, "visual");
    if (!can_be_held(visual) || json_array_size(list) >= API_MOST_VISUALS || reader->base.n_shapes >= API_MOST_SHAPES)
        return api_xml_fail(reader, visual->shape.element, API_NOT_SUPPORTED, "the shape is not held");
    json_t *entry = json_object();
    bool    ok    = entry && set_shape(reader, entry, &visual->shape) && set_place(reader, entry, &visual->shape.X) &&
              set_colour(reader, entry, visual);
    if (!ok) {
        json_decref(entry);
        return entry ? false : api_reader_no_memory(&reader->base);
    }
    if (!list && !api_xml_set_field(reader, owner, "visual", list = json_array())) {
        json_decref(entry);
        return false;
    }
    reader->base.n_shapes++;
    return json_array_append_new(list, entry) == 0 || api_reader_no_memory(&reader->base);
}

/* Reads one visual; its error is set in `apart` instead of the reader's problem. */
static bool read_apart(api_xml_reader *reader, api_xml_visual *visual, json_t *owner, api_xml_visual_reader *read,
                       void *format, api_problem *apart)
{
    api_problem *outer   = reader->base.problem;
    reader->base.problem = apart;
    bool ok              = read(format, visual->shape.element, visual) && api_xml_add_visual(reader, owner, visual);
    reader->base.problem = outer;
    return ok;
}

bool api_xml_read_visuals(api_xml_reader *reader, const xmlNode *link, json_t *owner, api_xml_visual_reader *read,
                          void *format)
{
    const xmlNode *first = NULL;
    size_t         left = 0, n = 0;
    for (const xmlNode *e = api_xml_child(link, "visual"); e; e = api_xml_next(e, "visual"), n++) {
        api_problem    apart  = {0};
        api_xml_visual visual = {.shape = {.element = e, .scale = {1, 1, 1}, .X = dyn_pose_identity()}};
        if (read_apart(reader, &visual, owner, read, format, &apart)) continue;
        if (apart.code == API_MEMORY_FULL) return api_reader_no_memory(&reader->base);
        if (left++ == 0) first = e;
    }
    return left == 0 ||
           api_xml_report(reader, first, "info", "dropped",
                          "%zu of %zu <visual> of the link are not drawn: shapes are box, cylinder, sphere, "
                          "ellipsoid, capsule and mesh, with sizes of 0 and more, at most %d, and %d of all "
                          "links",
                          left, n, API_MOST_VISUALS, API_MOST_SHAPES);
}
