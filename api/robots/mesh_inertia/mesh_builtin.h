/* mesh_builtin.h - make the meshes that MuJoCo knows by name: <mesh builtin="..." params="..."/>. */
#pragma once
#include "mesh.h"

typedef enum api_builtin_mesh {
    API_BUILTIN_HEMISPHERE,  /* parameter: resolution 0 to 10 */
    API_BUILTIN_SPHERE,      /* parameter: subdivisions of an icosahedron, 0 to 4 */
    API_BUILTIN_SUPERSPHERE, /* parameters: resolution from 3; exponents e, n */
    API_BUILTIN_SUPERTORUS,  /* parameters: resolution from 3; radius of the tube up to 1; exponents s, t */
    API_BUILTIN_WEDGE,       /* parameters: resolutions; fields of view, degrees; gamma. Vertices only, no faces */
    API_BUILTIN_PLATE,       /* parameters: resolutions. A shell */
    API_BUILTIN_CONE,        /* parameters: number of edges from 3, radius of the top. Vertices only, no faces */
    API_BUILTIN_MESHES
} api_builtin_mesh;

enum { API_BUILTIN_PARAMETERS = 5 /* most parameters of one of them */ };

/* Names of the shapes in the order of the enumeration, ended by NULL, and their numbers of parameters. */
extern const char *const api_builtin_mesh_names[API_BUILTIN_MESHES + 1];
extern const size_t      api_builtin_mesh_parameters[API_BUILTIN_MESHES];

/* Makes the mesh: vertices as MuJoCo rounds them, to 32-bit floats, and its faces; no faces for the shapes of which
 * MuJoCo takes the convex hull. */
const char *api_mesh_build(api_mesh *mesh, api_arena *arena, api_builtin_mesh shape, const double *parameters,
                           char reason[API_MESH_REASON]);
