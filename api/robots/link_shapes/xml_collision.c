/* xml_collision.c - see xml_collision.h. The moments of a cone are 3/10 m r^2 about its axis and 3/80 m (4 r^2 + L^2)
 * across, about the centre of mass at L/4 above the base. */
#include "xml_collision.h"
#include "api/robots/mesh_inertia/mesh_read.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *api_xml_find_file(const api_model_source *source, const char *name, size_t *length)
{
    char folder[API_FILE_PATH];
    api_files_folder(source->path ? source->path : "", folder);
    const api_file_entry *entry = api_files_find(source->files, folder, name);
    if (!entry) return NULL;
    *length = entry->length;
    return entry->bytes;
}

static dyn_inertia cone_inertia(const double *size, double density, const dyn_pose *X)
{
    double      r = size[0], L = size[1], mass = density * M_PI * r * r * L / 3;
    double      across = mass * 3 / 80 * (4 * r * r + L * L);
    dyn_pose    up     = dyn_pose_identity();
    dyn_inertia cone   = {.mass = mass};
    up.p[2]            = -L / 4;
    dyn_pose at_centre = dyn_pose_compose(X, &up);
    api_tensor_rotate(X->R, (double[6]){across, 0, 0, across, 0, mass * 0.3 * r * r}, cone.about_com);
    memcpy(cone.com, at_centre.p, sizeof cone.com);
    return cone;
}

/* --- meshes ------------------------------------------------------------------------------------------------------- */

static void scale_mesh(api_mesh *mesh, const double scale[3])
{
    for (size_t i = 0; i < 3 * mesh->n_vertices; i++)
        mesh->vertex[i] *= scale[i % 3];
    for (size_t i = 0; scale[0] * scale[1] * scale[2] < 0 && i < mesh->n_faces; i++) {
        uint32_t *face = mesh->face + 3 * i, second = face[1];
        face[1] = face[2];
        face[2] = second;
    }
}

/* Measures a closed mesh. On failure `reason` receives the cause as a clause. */
static void measure_file(const api_model_source *source, const api_collision *collision, api_arena *arena,
                         api_mesh_body *body, char reason[API_MESH_REASON])
{
    size_t                length = 0;
    api_mesh              mesh;
    api_mesh_edges        edges;
    const char           *bytes  = api_xml_find_file(source, collision->file, &length);
    const api_mesh_format format = api_mesh_format_of(collision->file);
    if (!bytes && format != API_MESH_FORMATS) /* a client sends only files of mesh formats along with the robot */
        api_mesh_fail(reason, "the file did not come with that of the robot");
    else
        api_mesh_read(&mesh, arena, &(api_mesh_file){format, bytes, length, false}, reason);
    if (*reason || api_mesh_check(&mesh, reason) || api_mesh_merge(&mesh, arena, reason)) return;
    scale_mesh(&mesh, collision->scale);
    if (api_mesh_count_edges(&mesh, arena, &edges, reason)) return;
    if (edges.n == 0 || edges.open > 0)
        api_mesh_fail(reason, "it is no closed surface: %zu of its %zu edges have no counterpart", edges.open, edges.n);
    else
        api_mesh_measure(&mesh, API_MESH_EXACT, body, reason);
}

static bool weigh_mesh(api_xml_reader *reader, const api_model_source *source, const api_collision *collision,
                       dyn_inertia *inertia)
{
    char          reason[API_MESH_REASON] = "";
    api_arena     arena                   = {0};
    api_mesh_body body;
    double        T[6], turned[6];
    measure_file(source, collision, &arena, &body, reason);
    api_arena_free(&arena);
    if (*reason)
        return api_xml_fail(reader, collision->element, API_BAD_INERTIA,
                            "the mesh \"%.*s\" of the collision cannot be weighed: %s", api_text_shown(collision->file),
                            collision->file, reason);
    inertia->mass = collision->density * body.size;
    for (int k = 0; k < 6; k++)
        T[k] = collision->density * body.tensor[k];
    api_tensor_rotate((const double(*)[3])collision->X.R, T, turned);
    memcpy(inertia->about_com, turned, sizeof turned);
    for (int i = 0; i < 3; i++)
        inertia->com[i] = dyn_dot(collision->X.R[i], body.com) + collision->X.p[i];
    return true;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bool check_sizes(api_xml_reader *reader, const api_collision *collision)
{
    size_t n = collision->kind == API_COLLISION_CONE    ? 2
               : collision->kind == API_COLLISION_SOLID ? api_solid_form_of(collision->solid)->n_sizes
                                                        : 0;
    for (size_t i = 0; i < n; i++)
        if (!(collision->size[i] > 0))
            return api_xml_fail(reader, collision->element, API_BAD_INERTIA,
                                "a size of the collision is %.9g m: a shape that weighs needs sizes above 0",
                                collision->size[i]);
    return (collision->density > 0 && isfinite(collision->density)) ||
           api_xml_fail(reader, collision->element, API_BAD_INERTIA,
                        "the density of the collision is %.9g kg/m^3, not "
                        "above 0",
                        collision->density);
}

bool api_xml_add_collision(api_xml_reader *reader, const api_model_source *source, const api_collision *collision,
                           dyn_inertia *sum)
{
    dyn_inertia   added = {0};
    const double *size  = collision->size;
    if (!check_sizes(reader, collision)) return false;
    switch (collision->kind) {
    case API_COLLISION_SOLID:
        added = api_solid_inertia(collision->solid, size, collision->density * api_solid_volume(collision->solid, size),
                                  &collision->X);
        break;
    case API_COLLISION_CONE: added = cone_inertia(size, collision->density, &collision->X); break;
    case API_COLLISION_MESH:
        if (!weigh_mesh(reader, source, collision, &added)) return false;
        break;
    case API_COLLISION_NO_SOLID:
        return api_xml_report(reader, collision->element, "warning", "not-held",
                              "a collision without a volume adds nothing to the inertia of its link");
    }
    api_inertia_add(sum, &added);
    return true;
}
