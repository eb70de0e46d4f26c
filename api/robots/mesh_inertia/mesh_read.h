/* mesh_read.h - read mesh files: STL (binary and text), OBJ, and MSH, MuJoCo's binary format. Only vertices and
 * triangles are read; vertices are rounded to 32-bit floats, as MuJoCo stores them.
 *
 * The readers are our own: assimp, Debian's library for 40 formats, throws C++ exceptions through C, allocates without
 * a limit, joins and removes vertices by options, and reads no MSH. */
#pragma once
#include "mesh.h"

typedef enum api_mesh_format { API_MESH_STL, API_MESH_OBJ, API_MESH_MSH, API_MESH_FORMATS } api_mesh_format;

/* Format of a file by the ending of its name, or by a media type "model/stl", "model/obj" or "model/vnd.mujoco.msh".
 * API_MESH_FORMATS: none of them. */
api_mesh_format api_mesh_format_of(const char *name);

typedef struct api_mesh_file {
    api_mesh_format format;
    const char     *bytes; /* [length] */
    size_t          length;
    bool first_group; /* only the faces of the first group of an OBJ file that has faces are read, as in MuJoCo;
                         left_out of the mesh counts the others */
} api_mesh_file;

/* Reads a mesh from a file. Polygons of an OBJ file become triangles. */
const char *api_mesh_read(api_mesh *mesh, api_arena *arena, const api_mesh_file *file, char reason[API_MESH_REASON]);

/* Readers of one format. */
const char *api_mesh_read_stl(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length,
                              char reason[API_MESH_REASON]);
const char *api_mesh_read_obj(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length, bool first_group,
                              char reason[API_MESH_REASON]);
