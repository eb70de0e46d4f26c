/* urdf_reader.h - types and functions shared by urdf*.c. An api_urdf lives while one file is read. */
#pragma once
#include "api/robots/link_shapes/xml_collision.h"
#include "api/robots/xml/xml_reader.h"
#include "urdf.h"

typedef struct api_urdf_joint {
    const xmlNode *element;
    const char    *name, *type;
    const char    *parent, *child; /* names of links */
    const xmlNode *link;           /* the element of the child link */
    double         rotor_inertia;  /* rotor inertia of its actuators, at the joint, in kg m^2 or kg */
    size_t         n_rotors;
} api_urdf_joint;

typedef struct api_urdf {
    api_xml_reader          xml;
    const api_urdf_options *options;
    const api_model_source *source;
    size_t                  n_links, n_joints;
    const xmlNode         **links;        /* [n_links], in file order, like the joints */
    api_urdf_joint         *joints;       /* [n_joints]; joint i carries link i of the document */
    const xmlNode          *root;         /* the link that no joint carries */
    bool                    has_inertial; /* true: some link has <inertial> */
    int                     minor;        /* the file's version is 1.minor */
    json_t                 *materials;    /* names of the robot's materials to indices of `colours` */
    size_t                  n_colours;
    const xmlNode         **colours;
} api_urdf;

/* Reads the version of the file: 1.0 (also when it states none), 1.1 or 1.2; others are refused. */
bool api_urdf_read_version(api_urdf *urdf);

/* Reads `origin` of a joint or inertial, in m and rad; zeros when absent. A quaternion becomes roll, pitch and yaw. */
bool api_urdf_read_origin(api_urdf *urdf, const xmlNode *element, double xyz[3], double rpy[3]);

/* Reads the rotors of all transmissions into the joints that they drive, and reports each transmission. `joints` maps
 * names to indices of urdf->joints. */
bool api_urdf_read_transmissions(api_urdf *urdf, const json_t *joints);

/* True for the types of joints with limits, friction and a rotor. */
bool api_urdf_has_one_coordinate(const api_urdf_joint *joint);

/* Read <joint> and <inertial> into the fields "joint" and "inertial" of a document's link (schema Link of
 * api/openapi.yaml). "inertial" is not set if the URDF link has none. */
json_t *api_urdf_read_joint(api_urdf *urdf, const api_urdf_joint *joint);
bool    api_urdf_read_inertial(api_urdf *urdf, const xmlNode *link, json_t *document_link);

/* Reads the shape in a <geometry> into kind, solid, size, file and scale of `shape`. */
bool api_urdf_read_geometry(api_urdf *urdf, const xmlNode *geometry, api_collision *shape);

/* Enters the colours of the robot's materials. */
bool api_urdf_index_materials(api_urdf *urdf);

/* Reads the visuals of a link into the field "visual" of a document's link or base. One that cannot be read is
 * reported and left out, since it has no part in the dynamics. */
bool api_urdf_read_visuals(api_urdf *urdf, const xmlNode *link, json_t *owner);

/* Sums the inertias of the collisions of a link; *n is their number. */
bool api_urdf_read_collisions(api_urdf *urdf, const xmlNode *link, dyn_inertia *sum, size_t *n);

/* Reports the elements and attributes that were not read. */
bool api_urdf_report_unused(api_urdf *urdf);
