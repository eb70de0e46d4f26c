/* urdf_reader.h - read the elements and attributes of a URDF file; types shared by urdf*.c. An api_urdf lives while
 * one file is read. */
#pragma once
#include "api/load/document/document_entry.h"
#include "urdf.h"
#include "xml.h"

typedef struct api_urdf_joint {
    const xmlNode *element;
    const char    *name, *type;
    const char    *parent, *child; /* names of links */
    const xmlNode *link;           /* the element of the child link */
} api_urdf_joint;

typedef struct api_urdf {
    api_reader              reader;
    const api_urdf_options *options;
    size_t                  max_links;
    const xmlNode          *robot;
    size_t                  n_links, n_joints;
    const xmlNode         **links;  /* [n_links], in file order, like the joints */
    api_urdf_joint         *joints; /* [n_joints]; joint i carries link i of the document */
    const xmlNode          *root;   /* the link that no joint carries */
} api_urdf;

/* The first child element of that name, NULL when there is none. api_urdf_report_unused reports further children of
 * that name. */
const xmlNode *api_urdf_child(const xmlNode *element, const char *name);
const xmlNode *api_urdf_next(const xmlNode *element, const char *name); /* the next sibling of that name */
bool api_urdf_is(const xmlNode *node, const char *name); /* true for an element of that name without a prefix */

/* Read an attribute; the copy is in the reader's arena. *text is unchanged when an optional attribute is absent. */
bool api_urdf_text(api_urdf *urdf, const xmlNode *element, const char *attribute, int need, const char **text);
bool api_urdf_name(api_urdf *urdf, const xmlNode *element, const char *attribute, const char **name); /* fails for "" */

/* Reads an attribute of `n` numbers separated by white space. */
bool api_urdf_numbers(api_urdf *urdf, const xmlNode *element, const char *attribute, int need, double *v, size_t n);
bool api_urdf_has(const xmlNode *element, const char *attribute);

/* Reads `origin` of a joint or inertial, in m and rad; zeros when absent. */
bool api_urdf_read_origin(api_urdf *urdf, const xmlNode *element, double xyz[3], double rpy[3]);

/* Sets a field of a JSON object. Takes over the reference to `value`, which may be NULL when memory is short. */
bool    api_urdf_set_field(api_urdf *urdf, json_t *object, const char *key, json_t *value);
json_t *api_urdf_vector(const double *v, size_t n);

/* Set the reader's problem and return false. The message begins with the line and the enclosing link, joint or
 * transmission: "line 12, joint "elbow": ...". */
bool api_urdf_fail(api_urdf *urdf, const xmlNode *element, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds an entry to the report; its `where` is the line. */
bool api_urdf_report(api_urdf *urdf, const xmlNode *element, const char *severity, const char *code, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));

/* Read <joint> and <inertial> into the fields "joint" and "inertial" of a document's link (schema Link of
 * api/openapi.yaml). "inertial" is not set if the URDF link has none. */
json_t *api_urdf_read_joint(api_urdf *urdf, const api_urdf_joint *joint);
bool    api_urdf_read_inertial(api_urdf *urdf, const xmlNode *link, json_t *document_link);

/* Reports the elements and attributes that were not read, and the transmissions. */
bool api_urdf_report_unused(api_urdf *urdf);
