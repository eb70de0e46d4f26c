/* urdf_reader.h - reading the elements of a URDF file, and what urdf*.c share. Lives while a file is read. */
#pragma once
#include "api/load/document/document_entry.h"
#include "urdf.h"
#include "xml.h"

typedef struct api_urdf_joint {
    const xmlNode *element;
    const char    *name, *type;
    const char    *parent, *child; /* names of links */
    const xmlNode *link;           /* the child's element */
} api_urdf_joint;

typedef struct api_urdf {
    api_reader              reader;
    const api_urdf_options *options;
    size_t                  max_links;
    const xmlNode          *robot;
    size_t                  n_links, n_joints;
    const xmlNode         **links;  /* [n_links], in the order of the file, as the joints */
    api_urdf_joint         *joints; /* [n_joints]: each carries one link of the document, in this order */
    const xmlNode          *root;   /* the link that no joint carries */
} api_urdf;

/* The first child element of that name, NULL when there is none. A second one is no error: api_urdf_report_unused
 * tells. */
const xmlNode *api_urdf_child(const xmlNode *element, const char *name);
const xmlNode *api_urdf_next(const xmlNode *element, const char *name); /* the next sibling of that name */
bool           api_urdf_is(const xmlNode *node, const char *name);      /* an element, without a prefix */

/* Attributes, as copies in the reader's arena. *text stays as it is when an optional one is absent. */
bool api_urdf_text(api_urdf *urdf, const xmlNode *element, const char *attribute, int need, const char **text);
bool api_urdf_name(api_urdf *urdf, const xmlNode *element, const char *attribute, const char **name); /* not empty */

/* `n` numbers with white space between them. */
bool api_urdf_numbers(api_urdf *urdf, const xmlNode *element, const char *attribute, int need, double *v, size_t n);
bool api_urdf_has(const xmlNode *element, const char *attribute);

/* `origin` of a joint or an inertial; zeros where nothing is given. */
bool api_urdf_read_origin(api_urdf *urdf, const xmlNode *element, double xyz[3], double rpy[3]);

/* Puts a field into a JSON object; takes over the reference to `value`, which may be NULL when memory is short. */
bool    api_urdf_set_field(api_urdf *urdf, json_t *object, const char *key, json_t *value);
json_t *api_urdf_vector(const double *v, size_t n);

/* Fill the reader's problem and return false: "line 12, joint "elbow": ..." (its nearest link, joint, transmission). */
bool api_urdf_fail(api_urdf *urdf, const xmlNode *element, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds an entry to the report, whose `where` is the line. */
bool api_urdf_report(api_urdf *urdf, const xmlNode *element, const char *severity, const char *code, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));

/* "joint" and "inertial" as the schema Link of api/openapi.yaml has them. `inertial` is left alone when the link has
 * none. */
json_t *api_urdf_read_joint(api_urdf *urdf, const api_urdf_joint *joint);
bool    api_urdf_read_inertial(api_urdf *urdf, const xmlNode *link, json_t *document_link);

/* Reports the elements and attributes that were not read, and the transmissions. */
bool api_urdf_report_unused(api_urdf *urdf);
