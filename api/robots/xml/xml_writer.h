/* xml_writer.h - write an XML file element by element, and report what the format of the file cannot hold.
 *
 * Failures are remembered: every function may be called after one, and api_xml_writer_finish returns it. */
#pragma once
#include "api/robots/document/document.h"
#include "dynamics/math/geometry.h"
#include <libxml/tree.h>

typedef struct api_xml_writer {
    api_reader         *reader; /* receives the entries of the report, and the problem when memory is short */
    const api_document *document;
    xmlDoc             *file;
    bool                failed;
    size_t              shapes_left; /* shapes of links that the file does not hold */
} api_xml_writer;

/* Begins a file with that outermost element, after a comment with the description of the document.
 * api_xml_writer_finish ends it in any case. */
xmlNode *api_xml_writer_open(api_xml_writer *w, api_reader *reader, const api_document *document, const char *root);

/* Reports the shapes that the file does not hold; `why` says which ones: "URDF has no ellipsoids". */
void api_xml_report_shapes(api_xml_writer *w, const char *why);

/* Returns the text of the file, indented, and closes the writer. The caller frees it; NULL with a problem. */
char *api_xml_writer_finish(api_xml_writer *w, size_t *length);

/* Appends an element. NULL after a failure; the other functions accept NULL as an element. */
xmlNode *api_xml_put(api_xml_writer *w, xmlNode *parent, const char *name);
void     api_xml_put_text(api_xml_writer *w, xmlNode *element, const char *attribute, const char *text);
void     api_xml_put_numbers(api_xml_writer *w, xmlNode *element, const char *attribute, const double *v, size_t n);
void     api_xml_put_number(api_xml_writer *w, xmlNode *element, const char *attribute, double value);

/* Append a text, numbers or a number to the content of an element. */
void api_xml_put_content(api_xml_writer *w, xmlNode *element, const char *text);
void api_xml_put_content_numbers(api_xml_writer *w, xmlNode *element, const double *v, size_t n);
void api_xml_put_content_number(api_xml_writer *w, xmlNode *element, double value);

/* Joins a name and a suffix: "elbow" and "x" become "elbow.x". The text is in the reader's arena, "" after a failure.
 */
const char *api_xml_join(api_xml_writer *w, const char *name, const char *suffix);

/* Reports what the file does not hold, as a warning `not-held`. `where` is a pointer into the document. */
void api_xml_not_held(api_xml_writer *w, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports, like api_xml_not_held, the field `field` of the joint of a link. */
void api_xml_joint_not_held(api_xml_writer *w, size_t link, const char *field);

/* Reports links and a base whose gravity is compensated, for formats without that; `written` is a share that they have,
 * or 0. */
void api_xml_report_compensation(api_xml_writer *w, double written);

/* Reports of all links the fields that no format but the document has: elastic joints, motors, coupled transmissions,
 * smoothed or one-sided Coulomb friction, limits of the rate of effort, scaled screws. Reports each damping of a spring
 * that the file holds as viscous friction. */
void api_xml_report_forces(api_xml_writer *w);

/* Reports limits of acceleration and jerk of link i, for formats without them. */
void api_xml_report_motion_limits(api_xml_writer *w, size_t i);

/* Reports configurations, for formats without them. */
void api_xml_report_configurations(api_xml_writer *w);

/* Reports rotor inertia and spring of joints with a quaternion and of the base, for formats without them; some hold the
 * damping of joints. */
void api_xml_report_free_forces(api_xml_writer *w, bool damping_is_held);
/* Reports coefficients of springs and dampers for powers above the first. */
void api_xml_report_polynomials(api_xml_writer *w);

/* Name of the link that carries `link`, and of the joint that a mimic joint follows. */
const char *api_xml_parent_of(const api_document *document, const api_document_link *link);
const char *api_xml_leader_of(const api_document *document, const api_document_link *link);
/* Name of the link that a frame is fixed to. */
const char *api_xml_link_of(const api_document *document, int link);
