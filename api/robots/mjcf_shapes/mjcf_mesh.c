/* mjcf_mesh.c - read the meshes of <asset> as MuJoCo 3.14 does, from a file, from the element or by name of a built-in
 * shape, and measure them when a geom needs it.
 *
 * Vertices lose refpos, are turned back by refquat and scaled. Mass follows from the rule `inertia`; the frame of a
 * geom moves to the centre of mass, with the principal axes. */
#include "api/robots/mjcf/mjcf_reader.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FACES = 5000000 /* most faces that the meshes of a file have together */ };

/* --- names -------------------------------------------------------------------------------------------------------- */

bool api_mjcf_asset_name(api_mjcf *m, const xmlNode *element, const char **name)
{
    const char *file = NULL;
    *name            = NULL;
    if (!api_xml_text(&m->xml, element, "name", API_OPTIONAL, name)) return false;
    if (*name && **name) return true;
    *name = NULL;
    if (!api_xml_text(&m->xml, element, "file", API_OPTIONAL, &file)) return false;
    if (!file) return true;
    const char *slash = strrchr(file, '/');
    char       *copy  = api_arena_text(m->xml.base.arena, slash ? slash + 1 : file);
    if (!copy) return api_reader_no_memory(&m->xml.base);
    char *dot = strrchr(copy, '.');
    if (dot) *dot = '\0';
    *name = copy;
    return true;
}

static bool enter_mesh(api_mjcf *m, const xmlNode *element)
{
    api_mjcf_mesh *mesh = &m->meshes[m->n_meshes];
    *mesh               = (api_mjcf_mesh){.element = element};
    if (!api_mjcf_asset_name(m, element, &mesh->name) ||
        !api_mjcf_open_item(m, element, API_MJCF_MESH, m->main_class, &mesh->item))
        return false;
    if (!mesh->name) return true;
    if (json_object_get(m->mesh_index, mesh->name))
        return api_xml_fail(&m->xml, element, API_DUPLICATE_NAME, "another <mesh> has this name");
    return api_xml_set_field(&m->xml, m->mesh_index, mesh->name, json_integer((json_int_t)m->n_meshes++));
}

bool api_mjcf_index_meshes(api_mjcf *m)
{
    size_t n = 0;
    for (const xmlNode *asset = api_xml_child(m->xml.root, "asset"); asset; asset = api_xml_next(asset, "asset"))
        for (const xmlNode *e = api_xml_child(asset, "mesh"); e; e = api_xml_next(e, "mesh"))
            n++;
    m->meshes = api_arena_take(m->xml.base.arena, n + 1, sizeof *m->meshes);
    if (!m->meshes) return api_reader_no_memory(&m->xml.base);
    for (const xmlNode *asset = api_xml_child(m->xml.root, "asset"); asset; asset = api_xml_next(asset, "asset"))
        for (const xmlNode *e = api_xml_child(asset, "mesh"); e; e = api_xml_next(e, "mesh"))
            if (!enter_mesh(m, e)) return false;
    return true;
}

/* --- transformations ---------------------------------------------------------------------------------------------- */

/* Reads scale, refpos and refquat, and applies them to the vertices. If the scale mirrors the mesh, the order of the
 * corners of each face is reversed. */
static bool transform(api_mjcf *m, const api_mjcf_mesh *mesh, api_mesh *shape)
{
    double scale[3] = {1, 1, 1}, pos[3] = {0}, quat[4] = {1, 0, 0, 0};
    if (!api_mjcf_numbers(m, &mesh->item, "scale", scale, 3) ||
        !api_xml_numbers(&m->xml, mesh->element, "refpos", API_OPTIONAL, pos, 3) ||
        !api_xml_numbers(&m->xml, mesh->element, "refquat", API_OPTIONAL, quat, 4) ||
        !api_mjcf_normalise(m, mesh->element, "refquat", quat, 4))
        return false;
    dyn_pose turn = dyn_pose_wxyz(quat);
    for (size_t i = 0; i < shape->n_vertices; i++) {
        double *v = shape->vertex + 3 * i, d[3];
        for (int k = 0; k < 3; k++)
            d[k] = v[k] - pos[k];
        for (int k = 0; k < 3; k++)
            v[k] = scale[k] * (turn.R[0][k] * d[0] + turn.R[1][k] * d[1] + turn.R[2][k] * d[2]);
    }
    for (size_t i = 0; scale[0] * scale[1] * scale[2] < 0 && i < shape->n_faces; i++) {
        uint32_t *f = shape->face + 3 * i, second = f[1];
        f[1] = f[2];
        f[2] = second;
    }
    return true;
}

/* --- measures ----------------------------------------------------------------------------------------------------- */

/* Bounds of the vertices along the axes of the mesh. */
static void find_bounds(const api_mesh *shape, api_mjcf_mesh *mesh)
{
    dyn_pose back = dyn_pose_inverse(&mesh->axes);
    for (int k = 0; k < 3; k++) {
        mesh->low[k]  = INFINITY;
        mesh->high[k] = -INFINITY;
    }
    for (size_t i = 0; i < shape->n_vertices; i++)
        for (int k = 0; k < 3; k++) {
            double x      = dyn_dot(back.R[k], shape->vertex + 3 * i) + back.p[k];
            mesh->low[k]  = fmin(mesh->low[k], x);
            mesh->high[k] = fmax(mesh->high[k], x);
        }
}

static void find_frame(api_mjcf_mesh *mesh)
{
    double I[3];
    api_mjcf_find_axes(mesh->body.tensor, true, &mesh->axes, I);
    memcpy(mesh->axes.p, mesh->body.com, sizeof mesh->axes.p);
    for (int i = 0; i < 3; i++)
        mesh->box[i] = sqrt(fmax(0, 6 * (I[(i + 1) % 3] + I[(i + 2) % 3] - I[i]) / mesh->body.size)) / 2;
}

/* Reports an open surface, and a rule `legacy` whose volume differs from the enclosed one. */
static bool report_shape(api_mjcf *m, const api_mjcf_mesh *mesh, const api_mesh *shape, api_mesh_rule rule,
                         const api_mesh_edges *edges)
{
    char          reason[API_MESH_REASON];
    api_mesh_body exact;
    if (shape->left_out > 0 &&
        !api_xml_report(&m->xml, mesh->element, "info", "dropped",
                        "the file of mesh \"%.*s\" has %zu faces in further groups, which MuJoCo does not read",
                        api_text_shown(mesh->name), mesh->name, shape->left_out))
        return false;
    if (rule == API_MESH_SHELL || rule == API_MESH_CONVEX) return true;
    if (edges->open > 0)
        return api_xml_report(
            &m->xml, mesh->element, "warning", "suspicious",
            "mesh \"%.*s\" is no closed surface with faces that are turned alike: %zu of its %zu edges "
            "have no counterpart; its mass is that of the rule \"%s\"",
            api_text_shown(mesh->name), mesh->name, edges->open, edges->n, api_mjcf_mesh_rules[rule]);
    if (api_mesh_measure(shape, API_MESH_EXACT, &exact, reason))
        return api_xml_report(&m->xml, mesh->element, "warning", "suspicious", "mesh \"%.*s\": %s",
                              api_text_shown(mesh->name), mesh->name, reason);
    if (fabs(mesh->body.size - exact.size) <= 0.01 * exact.size) return true;
    return api_xml_report(
        &m->xml, mesh->element, "info", "assumed",
        "mesh \"%.*s\" weighs by the rule \"legacy\", as in MuJoCo: %.6g m^3 where its surface encloses "
        "%.6g m^3, which inertia=\"exact\" would count",
        api_text_shown(mesh->name), mesh->name, mesh->body.size, exact.size);
}

/* Measures the mesh in memory of its own; on failure `reason` receives the cause. */
static bool measure_mesh(api_mjcf *m, api_mjcf_mesh *mesh, api_arena *arena, char reason[API_MESH_REASON])
{
    api_mesh       shape, hull;
    api_mesh_edges edges = {0};
    api_mesh_rule  rule;
    if (!api_mjcf_load_mesh(m, mesh, arena, &shape, &rule, reason)) return false;
    if (*reason || api_mesh_check(&shape, reason) || api_mesh_merge(&shape, arena, reason)) return true;
    if (!transform(m, mesh, &shape)) return false;
    m->n_mesh_faces += shape.n_faces;
    if (m->n_mesh_faces > MOST_FACES) {
        api_mesh_fail(reason, "the meshes of the file have together more than %d faces", MOST_FACES);
        return true;
    }
    if (shape.n_faces == 0 || rule == API_MESH_CONVEX) {
        if (api_mesh_hull(&shape, arena, &hull, reason)) return true;
        hull.left_out = shape.left_out;
        shape         = hull;
    }
    if (api_mesh_measure(&shape, rule, &mesh->body, reason) || api_mesh_count_edges(&shape, arena, &edges, reason))
        return true;
    find_frame(mesh);
    find_bounds(&shape, mesh);
    return report_shape(m, mesh, &shape, rule, &edges);
}

bool api_mjcf_read_mesh(api_mjcf *m, const api_mjcf_item *geom, const api_mjcf_mesh **found, const char **reason)
{
    const char *name = NULL;
    *found           = NULL;
    if (!api_xml_text(&m->xml, api_mjcf_with(m, geom, "mesh"), "mesh", API_OPTIONAL, &name)) return false;
    if (!name) return api_xml_fail(&m->xml, geom->element, API_MISSING_FIELD, "the <geom> has no attribute \"mesh\"");
    const json_t *index = json_object_get(m->mesh_index, name);
    if (!index)
        return api_xml_fail(&m->xml, geom->element, API_UNKNOWN_NAME, "no <mesh> of <asset> has the name \"%.*s\"",
                            api_text_shown(name), name);
    api_mjcf_mesh *mesh = &m->meshes[json_integer_value(index)];
    if (!mesh->is_read) {
        char      why[API_MESH_REASON] = "", text[API_MESH_REASON + 80];
        api_arena arena                = {0};
        bool      ok                   = measure_mesh(m, mesh, &arena, why);
        api_arena_free(&arena);
        if (!ok) return false;
        snprintf(text, sizeof text, "mesh \"%.*s\": %s", api_text_shown(name), name, why);
        if (*why && !(mesh->failure = api_arena_text(m->xml.base.arena, text)))
            return api_reader_no_memory(&m->xml.base);
        mesh->is_read = true;
    }
    *found  = mesh->failure ? NULL : mesh;
    *reason = mesh->failure;
    return true;
}
