/* xml_findings.h - count what a file contains but its reader does not use, and report each kind once. */
#pragma once
#include "xml_reader.h"

/* Severity, code and text of an entry of the report. */
typedef struct api_xml_words {
    const char *severity, *code, *text;
} api_xml_words;

/* Findings with the same words, name and name of the element around are of one kind. */
typedef struct api_xml_finding {
    const api_xml_words *words;
    bool                 attribute; /* false: it is an element */
    const xmlNode       *in;        /* the first element that contains the finding */
    const char          *prefix;    /* NULL: the name has none */
    const char          *name;      /* name of the element or attribute; owned by libxml2, as is the prefix */
    const char          *effect;    /* NULL, or what the model lacks without it */
    size_t               times;
} api_xml_finding;

enum {
    API_XML_FINDINGS = 64 /* number of kinds that the report lists, in file order; further ones are only counted */
};

typedef struct api_xml_findings {
    size_t          n, not_listed; /* n: entries in `kind`; not_listed: occurrences of further kinds */
    api_xml_finding kind[API_XML_FINDINGS];
} api_xml_findings;

void api_xml_count_finding(api_xml_findings *findings, const api_xml_finding *found);

bool api_xml_report_findings(api_xml_reader *reader, const api_xml_findings *findings);
