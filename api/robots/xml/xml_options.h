/* xml_options.h - read the query parameters that choose how an XML file is read. */
#pragma once
#include "api/problem.h"

enum {
    API_XML_OPTION_VALUES = 4,
    API_XML_OPTION_TEXT   = 256 /* bytes of a value, NUL included; a longer one is cut, and then is an unknown one */
};

/* A parameter and its values; NULL ends a shorter list. */
typedef struct api_xml_option {
    const char *name;
    const char *values[API_XML_OPTION_VALUES];
    double     *number; /* a parameter whose value is a number above 0; NULL: it is one of `values` */
    char       *text;   /* [API_XML_OPTION_TEXT], a parameter whose value is a text; NULL: it is one of `values` */
} api_xml_option;

/* Reads a query such as "base=floating&mimic=coupled" (NULL: empty), percent-encoded, of parameters in the table
 * `known` of `n` rows. Sets chosen[i] to the index of the value of parameter i, and leaves it unchanged when the query
 * does not have it. False with a problem for any other parameter or value; `what` is the subject of that sentence:
 * "a URDF file". */
bool api_xml_options_read(const char *query, const char *what, const api_xml_option *known, size_t n, int *chosen,
                          api_problem *problem);
