/* xml_unused.h - report what a file contains but its reader does not use, once per kind: elements without a part in the
 * dynamics, elements and attributes that a model cannot hold, unknown elements and attributes, repeated elements. */
#pragma once
#include "xml_reader.h"

/* How a reader treats an element: held, expanded, irrelevant to the dynamics, or not held. */
typedef enum api_xml_use {
    API_XML_READ,      /* held: attributes and children are read */
    API_XML_ONCE,      /* held: the first element of this row in its parent is read, others are reported */
    API_XML_DROPPED,   /* irrelevant: neither the element nor its content has an effect on the dynamics, except content
                          with a row of its own */
    API_XML_NOT_HELD,  /* has an effect on the motion, but a model cannot hold it: a warning */
    API_XML_ELSEWHERE, /* expanded: the reader itself reports it */
    /* `names` of these rows are attributes of the elements `in`: read, irrelevant to the dynamics, or with an effect
     * that a model cannot hold */
    API_XML_ATTRIBUTE_READ,
    API_XML_ATTRIBUTE_DROPPED,
    API_XML_ATTRIBUTE_NOT_HELD
} api_xml_use;

/* One row of a reader's table: elements or attributes, and how the reader treats them. Lists of names have a space
 * before and after each name; a name with a prefix is written with it: " drake:joint ". */
typedef struct api_xml_known {
    const char *in, *names; /* names of the parents, or "grandparent/parent" where a parent's name is ambiguous, and of
                               the elements */
    api_xml_use use;
    const char *attributes; /* names of attributes that are read or concern only the appearance. For API_XML_DROPPED:
                               all known attributes; NULL: any attribute is accepted, and only content that a model
                               cannot hold is reported */
    const char *dropped; /* names of known attributes without effect on the dynamics. For API_XML_NOT_HELD: values with
                            which the element has no effect, such as " false 0 ", as its content or, if it is empty, as
                            its attributes. NULL: none */
    const char *effect;  /* more words for the report; NULL: none */
} api_xml_known;

typedef struct api_xml_vocabulary {
    api_xml_known        root;
    size_t               n;
    const api_xml_known *known; /* [n] */
    size_t               n_more;
    const api_xml_known *more; /* [n_more] rows that follow those of `known`; together at most API_XML_ROWS */
} api_xml_vocabulary;

enum { API_XML_ROWS = 512 };

bool api_xml_report_unused(api_xml_reader *reader, const api_xml_vocabulary *vocabulary);
