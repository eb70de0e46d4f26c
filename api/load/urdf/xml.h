/* xml.h - libxml2, with the product's rules around it: a text is well-formed UTF-8 and one element tree. No document
 * type declaration, hence no entities but the five that XML has; nothing is ever loaded from elsewhere; depth is
 * bounded. Nothing outside of this room knows libxml2. */
#pragma once
#include "api/problem.h"
#include <libxml/tree.h>

/* NULL and a problem (400 with offset, 422 for a document type declaration). The caller xmlFreeDoc's the tree, which
 * has a root element. Safe from any thread. */
xmlDoc *api_xml_parse(const char *text, size_t length, unsigned nesting, api_problem *problem);

/* Line on which an element of such a tree starts, from 1; libxml2's own count ends at 65535. */
unsigned long api_xml_line(const xmlNode *element);
