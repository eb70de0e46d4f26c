/* mesh.h - triangle meshes: their mass, centre of mass and inertia, their convex hull, and defects of their surface.
 *
 * A mesh lives in an arena while one file is read. Functions that can fail return NULL for success, else the reason as
 * a clause without a full stop ("the mesh has no faces"), written into `reason`. */
#pragma once
#include "api/base/memory/arena.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    API_MESH_FACES    = 1000000, /* most faces of a mesh */
    API_MESH_VERTICES = 3000000, /* most vertices of a mesh */
    API_MESH_POINTS   = 200000,  /* most vertices of a mesh for which a convex hull is computed */
    API_MESH_REASON   = 160      /* bytes of a reason, NUL included */
};

typedef struct api_mesh {
    size_t    n_vertices, n_faces;
    double   *vertex;   /* [3 n_vertices] m, each number representable as a 32-bit float */
    uint32_t *face;     /* [3 n_faces] vertices of a triangle, counter-clockwise as seen from outside */
    size_t    left_out; /* faces of further groups of an OBJ file, of which MuJoCo reads only the first */
} api_mesh;

/* Rules for the mass of a mesh: `inertia` of <mesh> in MJCF. */
typedef enum api_mesh_rule {
    API_MESH_CONVEX, /* the convex hull of the vertices */
    API_MESH_EXACT,  /* the volume that it encloses */
    API_MESH_LEGACY, /* the sum of the pyramids from its centre to each face, all counted as positive */
    API_MESH_SHELL,  /* the surface */
    API_MESH_RULES
} api_mesh_rule;

/* The body of a mesh with density 1. */
typedef struct api_mesh_body {
    double size;      /* volume in m^3, or area in m^2 of a shell */
    double com[3];    /* m, in the frame of the vertices */
    double tensor[6]; /* xx xy xz yy yz zz about the centre of mass, in m^5, or m^4 of a shell */
} api_mesh_body;

/* Integrates over the faces; API_MESH_CONVEX takes `mesh` as the hull. Refuses a size below 1e-15. */
const char *api_mesh_measure(const api_mesh *mesh, api_mesh_rule rule, api_mesh_body *body,
                             char reason[API_MESH_REASON]);

/* Finds the convex hull: *hull has the vertices of the mesh, and faces between those on the hull. */
const char *api_mesh_hull(const api_mesh *mesh, api_arena *arena, api_mesh *hull, char reason[API_MESH_REASON]);

/* Joins vertices at the same place. */
const char *api_mesh_merge(api_mesh *mesh, api_arena *arena, char reason[API_MESH_REASON]);

/* Edges of a mesh whose vertices are merged. In a closed surface with faces that are all turned outward, each edge
 * belongs to two faces, which pass it in opposite directions. */
typedef struct api_mesh_edges {
    size_t n, open; /* edges; edges that more faces pass in one direction than in the other */
} api_mesh_edges;
const char *api_mesh_count_edges(const api_mesh *mesh, api_arena *arena, api_mesh_edges *edges,
                                 char reason[API_MESH_REASON]);

/* Checks that all indices of faces are those of vertices, and that all coordinates are finite. */
const char *api_mesh_check(const api_mesh *mesh, char reason[API_MESH_REASON]);

/* Allocates memory for a mesh of these sizes; refuses more than a mesh may have. */
const char *api_mesh_take(api_mesh *mesh, api_arena *arena, size_t n_vertices, size_t n_faces,
                          char reason[API_MESH_REASON]);

/* Rounds a number to a 32-bit float. gcc 12 at -O2 drops the conversion (double)(float)x of neighbouring numbers. */
double api_mesh_round(double x);

/* Writes a reason and returns it. */
const char *api_mesh_fail(char reason[API_MESH_REASON], const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the reason for a failed allocation, which the arena has noted as a shortage. */
const char *api_mesh_no_memory(char reason[API_MESH_REASON]);
