/* xml_document.h - write a model document from poses, for formats whose frames are not those of documents.
 *
 * In a document the frame of a link is its joint's frame, moved. Other formats place the frame of a link anywhere.
 * Where the two differ, the joint carries a massless link `link.joint`, and the link itself is fixed to that one. */
#pragma once
#include "dynamics/math/geometry.h"
#include "api/robots/document/inertia.h"
#include "xml_reader.h"

/* A document that is being written. The caller owns `document`, which owns everything else of jansson's but the maps.
 */
typedef struct api_xml_document {
    api_xml_reader *reader;
    json_t         *document, *links, *frames, *loops;
    json_t         *names, *joints; /* maps whose keys are the names of links and frames, and of joints */
    const xmlNode **link_element;   /* [n] element of each link of the document, for problems */
    const xmlNode **joint_element;  /* [n] */
    size_t          n, capacity;    /* links written so far, and the most there may be */
} api_xml_document;

/* Opens a document with space for `capacity` links. False when memory is short, with the problem set. In either case
 * api_xml_document_close ends it. */
bool api_xml_document_open(api_xml_document *d, api_xml_reader *reader, size_t capacity);
void api_xml_document_close(api_xml_document *d);

/* Reserves a name in a map of the document: `wanted`, or if that is taken `wanted_2`, `wanted_3`... The text is in the
 * reader's arena; NULL when memory is short. */
const char *api_xml_reserve_name(api_xml_document *d, json_t *map, const char *wanted);

/* Reserves the name that an element of the file gives; reports it if the name had to be changed. */
bool api_xml_reserve_given(api_xml_document *d, json_t *map, const xmlNode *element, const char *given,
                           const char **name);

/* A link with its joint. */
typedef struct api_xml_link {
    const char    *name, *parent; /* names of links */
    const char    *joint, *type;  /* name and type of the joint */
    json_t        *fields;        /* further fields of the joint; taken over, NULL: none */
    dyn_pose       before, after; /* joint frame in the parent link's frame; link frame in the moved joint frame */
    dyn_inertia    inertia;       /* inertia in the link frame; zero: no mass */
    double         gravity_compensation; /* share of the link's weight */
    json_t        *visual;               /* shapes of the link; not taken over, NULL: none */
    const xmlNode *element, *joint_element;
} api_xml_link;

/* Appends a link, or two where link->after is not the identity. */
bool api_xml_write_link(api_xml_document *d, const api_xml_link *link);

/* Appends a frame that is fixed to a link. */
bool api_xml_write_frame(api_xml_document *d, const char *name, const char *link, const dyn_pose *X);

/* Sets "inertial" of a link or base unless the inertia is zero. */
bool api_xml_write_inertial(api_xml_document *d, json_t *owner, const dyn_inertia *inertia);

/* Sets "gravity_compensation" of a link or base unless the share is 0. */
bool api_xml_write_compensation(api_xml_document *d, json_t *owner, double share);

/* Ends writing: removes the lists that stayed empty. */
void api_xml_document_finish(api_xml_document *d);

/* Returns the element for a pointer into the document; the function is an api_xml_element_at. */
const xmlNode *api_xml_document_element(const void *document, const char *pointer);
