/* urdf_write.h - types and functions shared by urdf_write*.c. */
#pragma once
#include "api/robots/xml/xml_writer.h"

typedef struct api_urdf_file {
    api_xml_writer w;
    xmlNode       *robot;
    bool           quaternions; /* true: rotations are written as quaternions, which URDF has from version 1.1 on */
} api_urdf_file;

/* Puts <origin> unless the pose is the identity. */
void api_urdf_put_origin(api_urdf_file *f, xmlNode *element, const dyn_pose *X);

/* Puts the shapes of a link. URDF has no ellipsoids, and version 1.0 no capsules: those are written as a cylinder and
 * two balls. */
void api_urdf_put_visuals(api_urdf_file *f, xmlNode *link, const api_document_visuals *visuals);
