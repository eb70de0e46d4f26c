/* xml.h - parse XML with libxml2 under the rules of the API: a text is well-formed UTF-8 with one root element, except
 * for the deviations that xml_prepare.h mends. Document type declarations with an internal or external subset are
 * refused, so there are no entities except the five predefined ones. Nothing is loaded from elsewhere, and depth is
 * bounded. Only api/robots calls libxml2. */
#pragma once
#include "api/problem.h"
#include <libxml/tree.h>

/* A text to parse. */
typedef struct api_xml_source {
    const char *text; /* [length] */
    size_t      length;
    unsigned    nesting; /* most levels of elements */
    unsigned    file;    /* number that api_xml_file returns for the elements, below API_XML_FILES */
    xmlDict    *names;   /* NULL, or the `dict` of a tree: nodes may then be moved into that tree */
} api_xml_source;

enum {
    API_XML_FILES   = 1000,
    API_XML_NESTING = 100 /* most levels of elements of a robot, with its included files in place; bounds recursions */
};

/* Parses a text. NULL and a problem: 400 with an offset, 422 for a refused document type declaration. The caller frees
 * the tree, which has a root element, with xmlFreeDoc. May be called from any thread. */
xmlDoc *api_xml_parse(const api_xml_source *source, api_problem *problem);

/* Line on which an element of a tree from api_xml_parse begins, from 1. (libxml2's own count ends at 65535.) */
unsigned long api_xml_line(const xmlNode *element);
/* Number of the file that the element was read from: `file` of the source. */
unsigned api_xml_file(const xmlNode *element);
