/* xml_visual.h - read the <visual> elements of a link, of URDF or SDF, into "visual" of a document's link or base, and
 * append shapes of any format there. Shapes have no part in the dynamics: one that cannot be read never refuses a file.
 */
#pragma once
#include "xml_collision.h"

/* A shape and its colour. */
typedef struct api_xml_visual {
    api_collision shape; /* members that are used: kind, solid, size, file, scale, X */
    bool          has_rgba;
    double        rgba[4];
} api_xml_visual;

/* Reads one <visual>. May fail with a problem of its own. */
typedef bool api_xml_visual_reader(void *format, const xmlNode *element, api_xml_visual *visual);

/* Appends a shape to "visual" of a link or base of the document. One that a document cannot hold (a plane, a negative
 * size, the 1001st) gives false with a problem. */
bool api_xml_add_visual(api_xml_reader *reader, json_t *owner, const api_xml_visual *visual);

/* Reads all <visual> children of a link, and reports how many of them cannot be read, or are more than a document can
 * hold. False when memory is short. */
bool api_xml_read_visuals(api_xml_reader *reader, const xmlNode *link, json_t *owner, api_xml_visual_reader *read,
                          void *format);
