/* urdf_reader.h - types and functions shared by urdf*.c. An api_urdf lives while one file is read. */
#pragma once
#include "api/load/xml/xml_reader.h"
#include "urdf.h"

typedef struct api_urdf_joint {
    const xmlNode *element;
    const char    *name, *type;
    const char    *parent, *child; /* names of links */
    const xmlNode *link;           /* the element of the child link */
} api_urdf_joint;

typedef struct api_urdf {
    api_xml_reader          xml;
    const api_urdf_options *options;
    size_t                  n_links, n_joints;
    const xmlNode         **links;  /* [n_links], in file order, like the joints */
    api_urdf_joint         *joints; /* [n_joints]; joint i carries link i of the document */
    const xmlNode          *root;   /* the link that no joint carries */
} api_urdf;

/* Reads `origin` of a joint or inertial, in m and rad; zeros when absent. */
bool api_urdf_read_origin(api_xml_reader *reader, const xmlNode *element, double xyz[3], double rpy[3]);

/* Read <joint> and <inertial> into the fields "joint" and "inertial" of a document's link (schema Link of
 * api/openapi.yaml). "inertial" is not set if the URDF link has none. */
json_t *api_urdf_read_joint(api_urdf *urdf, const api_urdf_joint *joint);
bool    api_urdf_read_inertial(api_urdf *urdf, const xmlNode *link, json_t *document_link);

/* Reports the elements and attributes that were not read, and the transmissions. */
bool api_urdf_report_unused(api_urdf *urdf);
