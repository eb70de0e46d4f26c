/* xml_unused.h - report what a file contains but its reader does not use, once per kind: elements without a part in the
 * dynamics, elements that a model cannot hold, unknown elements and attributes, repeated elements. */
#pragma once
#include "xml_reader.h"

/* How a reader treats an element. */
typedef enum api_xml_use {
    API_XML_READ,     /* attributes and children are read */
    API_XML_ONCE,     /* the first element of this row in its parent is read, others are reported */
    API_XML_DROPPED,  /* no effect on the dynamics, with all its content */
    API_XML_NOT_HELD, /* has an effect on the motion, but a model cannot hold it: a warning */
    API_XML_ELSEWHERE /* the reader itself reports it */
} api_xml_use;

/* What a reader knows of some elements. Lists of names have a space before and after each name. */
typedef struct api_xml_known {
    const char *in, *names; /* names of the parents, and of the elements */
    api_xml_use use;
    const char *attributes; /* those that are read, or of appearance only */
    const char *dropped;    /* known attributes without a part in the dynamics; NULL: none */
    const char *effect;     /* API_XML_DROPPED, API_XML_NOT_HELD: more words for the report; NULL: none */
} api_xml_known;

typedef struct api_xml_vocabulary {
    api_xml_known        root;
    size_t               n;
    const api_xml_known *known; /* [n], at most 64 */
} api_xml_vocabulary;

bool api_xml_report_unused(api_xml_reader *reader, const api_xml_vocabulary *vocabulary);
