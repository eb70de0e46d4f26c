/* fuzz_mesh.c - reads arbitrary mesh files: the first byte chooses the format, and whether groups count. A mesh that is
 * read has faces between its vertices; its convex hull is closed, contains it and weighs at least as much. */
#include "api/robots/mesh_inertia/mesh_read.h"
#include "drive.h"
#include <math.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks the hull of a mesh: a closed surface outside of which no vertex lies by more than rounding. */
static void check_hull(const api_mesh *mesh, api_arena *arena)
{
    char           reason[API_MESH_REASON] = "";
    api_mesh       hull;
    api_mesh_edges edges = {0};
    api_mesh_body  body, exact;
    if (api_mesh_hull(mesh, arena, &hull, reason)) return;
    drive_expect(hull.n_faces >= 4 && hull.n_faces <= 2 * mesh->n_vertices, "a hull has 4 to 2 n - 4 faces");
    drive_expect(!api_mesh_count_edges(&hull, arena, &edges, reason) && edges.open == 0, "a hull is closed");
    drive_expect(edges.n == hull.n_faces * 3 / 2, "each edge of a hull has two faces");
    if (api_mesh_measure(&hull, API_MESH_CONVEX, &body, reason)) return;
    drive_expect(isfinite(body.size) && body.size > 0, "a hull that is measured has a volume");
    if (mesh->n_faces == 0 || api_mesh_count_edges(mesh, arena, &edges, reason) || edges.open > 0) return;
    if (!api_mesh_measure(mesh, API_MESH_LEGACY, &exact, reason))
        drive_expect(isfinite(exact.size), "a mesh that is measured is finite");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char      reason[API_MESH_REASON] = "";
    api_arena arena                   = {0};
    api_mesh  mesh;
    if (size == 0) return 0;
    const api_mesh_file file = {.format      = (api_mesh_format)(data[0] % API_MESH_FORMATS),
                                .bytes       = (const char *)data + 1,
                                .length      = size - 1,
                                .first_group = data[0] & 0x80};
    if (!api_mesh_read(&mesh, &arena, &file, reason) && !api_mesh_check(&mesh, reason) &&
        !api_mesh_merge(&mesh, &arena, reason)) {
        drive_expect(!api_mesh_check(&mesh, reason) || mesh.n_vertices < 4, "merging keeps faces between vertices");
        check_hull(&mesh, &arena);
    } else {
        drive_expect(reason[0] != '\0', "a refusal has a reason");
    }
    api_arena_free(&arena);
    return 0;
}
