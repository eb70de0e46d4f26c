/* mjcf_visual.c - collect the geoms that MuJoCo draws by default, those of groups 0 to 2, as shapes of the links. */
#include "api/robots/document/document.h"
#include "api/robots/mjcf/mjcf_reader.h"
#include "dynamics/math/geometry.h"
#include <string.h>

enum { LAST_SHOWN_GROUP = 2 };

static bool enter_material(api_mjcf *m, const xmlNode *element)
{
    const char *name = NULL;
    if (!api_xml_has(element, "rgba")) return true;
    if (!api_xml_text(&m->xml, element, "name", API_OPTIONAL, &name) || !name) return name == NULL;
    double  rgba[4];
    json_t *array = json_array();
    return api_xml_numbers(&m->xml, element, "rgba", API_REQUIRED, rgba, 4) &&
           api_xml_set_field(&m->xml, m->material_index, name, array) &&
           api_xml_append_numbers(&m->xml, array, "rgba", rgba, 4);
}

bool api_mjcf_index_materials(api_mjcf *m)
{
    for (const xmlNode *asset = api_xml_child(m->xml.root, "asset"); asset; asset = api_xml_next(asset, "asset"))
        for (const xmlNode *e = api_xml_child(asset, "material"); e; e = api_xml_next(e, "material"))
            if (!enter_material(m, e)) return false;
    return true;
}

/* Reads the colour of a geom: its own, else that of its material. */
static bool read_geom_colour(api_mjcf *m, const api_mjcf_item *geom, api_xml_visual *visual)
{
    const char *name = NULL;
    visual->has_rgba = api_mjcf_has(m, geom, "rgba");
    if (visual->has_rgba) return api_mjcf_numbers(m, geom, "rgba", visual->rgba, 4);
    if (!api_xml_text(&m->xml, api_mjcf_with(m, geom, "material"), "material", API_OPTIONAL, &name)) return false;
    const json_t *rgba = name ? json_object_get(m->material_index, name) : NULL;
    visual->has_rgba   = json_array_size(rgba) == 4;
    for (size_t i = 0; visual->has_rgba && i < 4; i++)
        visual->rgba[i] = json_number_value(json_array_get(rgba, i));
    return true;
}

/* Counts a geom that MuJoCo draws and a document cannot hold. */
static bool count_undrawn(api_mjcf *m, const xmlNode *geom)
{
    if (m->n_undrawn++ == 0) m->undrawn = geom;
    return true;
}

bool api_mjcf_report_visuals(api_mjcf *m)
{
    return m->n_undrawn == 0 ||
           api_xml_report(
               &m->xml, m->undrawn, "info", "dropped",
               "%zu <geom> are not drawn: shapes are box, cylinder, sphere, ellipsoid, capsule, and meshes of "
               "files without refpos and refquat, at most %d of a link and %d of all links",
               m->n_undrawn, API_MOST_VISUALS, API_MOST_SHAPES);
}

/* Reads the file and scale of the mesh that a geom names. False for another shape, for a mesh without a file, and for
 * one whose coordinates the file moves. */
static bool read_mesh_visual(api_mjcf *m, const api_mjcf_item *geom, api_collision *shape)
{
    const char *name = NULL;
    if (!api_xml_text(&m->xml, api_mjcf_with(m, geom, "mesh"), "mesh", API_OPTIONAL, &name) || !name) return false;
    const json_t *index = json_object_get(m->mesh_index, name);
    if (!index) return false;
    const api_mjcf_mesh *mesh = &m->meshes[json_integer_value(index)];
    shape->kind               = API_COLLISION_MESH;
    return api_xml_has(mesh->element, "file") && !api_xml_has(mesh->element, "refpos") &&
           !api_xml_has(mesh->element, "refquat") &&
           api_xml_text(&m->xml, mesh->element, "file", API_REQUIRED, &shape->file) &&
           api_mjcf_numbers(m, &mesh->item, "scale", shape->scale, 3);
}

/* Reads what is drawn of a geom; *drawn is false for one that MuJoCo hides. False for one that cannot be held. */
static bool read_geom_visual(api_mjcf *m, const api_mjcf_item *geom, double half_length, api_xml_visual *visual,
                             bool *drawn)
{
    double         group = 0;
    api_collision *shape = &visual->shape;
    if (!api_mjcf_numbers(m, geom, "group", &group, 1) || !read_geom_colour(m, geom, visual)) return false;
    *drawn = group <= LAST_SHOWN_GROUP && !(visual->has_rgba && visual->rgba[3] == 0);
    if (!*drawn) return true;
    shape->kind = API_COLLISION_SOLID;
    if (!api_mjcf_read_solid(m, geom, half_length, &shape->solid, shape->size)) return false;
    return shape->solid != API_SOLIDS || read_mesh_visual(m, geom, shape);
}

bool api_mjcf_add_visual(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, double half_length,
                         api_mjcf_body *body)
{
    api_xml_visual visual = {.shape = {.element = geom->element, .scale = {1, 1, 1}, .X = *X}};
    api_problem    apart = {0}, *problem = m->xml.base.problem;
    bool           drawn = false;
    m->xml.base.problem  = &apart; /* a shape never refuses a file */
    bool ok              = read_geom_visual(m, geom, half_length, &visual, &drawn);
    m->xml.base.problem  = problem;
    if (!ok && apart.code == API_MEMORY_FULL) return api_reader_no_memory(&m->xml.base);
    if (!ok || (drawn && m->n_visuals++ >= API_MOST_SHAPES)) return count_undrawn(m, geom->element);
    if (!drawn) return true;
    api_mjcf_visual *entry = api_arena_take(m->xml.base.arena, 1, sizeof *entry);
    if (!entry) return api_reader_no_memory(&m->xml.base);
    *entry        = (api_mjcf_visual){visual, body->visuals};
    body->visuals = entry;
    return true;
}

bool api_mjcf_write_visuals(api_mjcf *m, const api_mjcf_body *body, json_t *owner)
{
    api_mjcf_visual *first = NULL, *next;
    for (api_mjcf_visual *v = body->visuals; v;
         v                  = next) { /* reverse the list: the last geom of the file is the first */
        next    = v->next;
        v->next = first;
        first   = v;
    }
    for (const api_mjcf_visual *v = first; v; v = v->next) {
        api_xml_visual visual = v->visual;
        api_problem    apart = {0}, *problem = m->xml.base.problem;
        if (body->aligned) visual.shape.X = dyn_pose_compose(&body->principal, &visual.shape.X);
        m->xml.base.problem = &apart;
        bool ok             = api_xml_add_visual(&m->xml, owner, &visual);
        m->xml.base.problem = problem;
        if (!ok && apart.code == API_MEMORY_FULL) return api_reader_no_memory(&m->xml.base);
        if (!ok) count_undrawn(m, visual.shape.element);
    }
    return true;
}
