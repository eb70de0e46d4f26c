/* xml_collision.h - compute the inertia of a collision of URDF or SDF from its shape and density, and find files that a
 * robot's file names. */
#pragma once
#include "api/robots/document/inertia.h"
#include "api/robots/model/model.h"
#include "api/robots/mesh_inertia/mesh.h"
#include "api/robots/xml/xml_reader.h"

typedef enum api_collision_kind {
    API_COLLISION_SOLID,
    API_COLLISION_CONE,    /* size: radius, length along z; the origin is in the middle of its axis, the apex above */
    API_COLLISION_MESH,    /* a mesh; its mass is that of the enclosed volume */
    API_COLLISION_NO_SOLID /* shapes without a volume: planes, heightmaps, images */
} api_collision_kind;

typedef struct api_collision {
    const xmlNode     *element;
    api_collision_kind kind;
    api_solid          solid;
    double             size[3];  /* m, in the order that inertia.h gives for the solid */
    const char        *file;     /* name of the file of a mesh */
    double             scale[3]; /* factors of the coordinates of a mesh */
    double             density;  /* kg/m^3 */
    dyn_pose           X;        /* pose of the collision in the frame of the link */
} api_collision;

/* Adds the inertia of a collision to `sum`. False with a problem for sizes that are not positive, and for meshes that
 * cannot be read or are not closed. */
bool api_xml_add_collision(api_xml_reader *reader, const api_model_source *source, const api_collision *collision,
                           dyn_inertia *sum);

/* Finds a file among those that came with the text; `source` owns its bytes. NULL: there is none. */
const char *api_xml_find_file(const api_model_source *source, const char *name, size_t *length);
