/* xml_reader.h - read elements and attributes of a robot's XML file, report on them, and name the place of a problem.
 * Shared by the readers of all XML formats. */
#pragma once
#include "api/robots/document/document_entry.h"
#include "xml.h"

enum { API_XML_QUALIFIED = 80 }; /* bytes of a qualified name; longer ones are cut */

typedef struct api_xml_reader {
    api_reader         base;
    size_t             max_links;
    const xmlNode     *root;
    const char *const *files; /* names of files, indexed by api_xml_file; NULL: there is one file */
} api_xml_reader;

/* The first child element of that name, NULL when there is none. api_xml_report_unused reports further children of
 * that name. */
const xmlNode *api_xml_child(const xmlNode *element, const char *name);
const xmlNode *api_xml_next(const xmlNode *element, const char *name); /* the next sibling of that name */
bool api_xml_is(const xmlNode *node, const char *name); /* true for an element of that name without a prefix */

/* The name of an element as the file writes it: "drake:joint" for a declared or undeclared prefix. `text` holds the
 * result if the name has a prefix. */
const char    *api_xml_qualified_name(const xmlNode *element, char text[API_XML_QUALIFIED]);
const char    *api_xml_qualified_attribute(const xmlAttr *attribute, char text[API_XML_QUALIFIED]);
const xmlNode *api_xml_qualified_child(const xmlNode *element,
                                       const char    *name); /* first child with this qualified name */

/* Read an attribute; the copy is in the reader's arena. *text is unchanged when an optional attribute is absent. */
bool api_xml_text(api_xml_reader *reader, const xmlNode *element, const char *attribute, int need, const char **text);
bool api_xml_name(api_xml_reader *reader, const xmlNode *element, const char *attribute,
                  const char **name); /* fails for "" */
bool api_xml_has(const xmlNode *element, const char *attribute);

/* Reads an optional attribute that is one of `values` (NULL ends them) as the index of its value. *index is unchanged
 * if the attribute is absent. */
bool api_xml_choice(api_xml_reader *reader, const xmlNode *element, const char *attribute, const char *const *values,
                    int *index);

/* Reads an attribute of `n` numbers separated by white space. */
bool api_xml_numbers(api_xml_reader *reader, const xmlNode *element, const char *attribute, int need, double *v,
                     size_t n);

/* Numbers of an attribute that may have more or fewer of them. */
typedef struct api_xml_span {
    double *v; /* [max] entries beyond `count` are unchanged */
    size_t  min, max, count;
} api_xml_span;

/* Reads an attribute of span->min to span->max numbers; sets span->count, 0 when the attribute is absent. */
bool api_xml_span_read(api_xml_reader *reader, const xmlNode *element, const char *attribute, int need,
                       api_xml_span *span);

/* Read the content of an element: `n` numbers separated by white space, or a text in the reader's arena without white
 * space around it. */
bool api_xml_content_numbers(api_xml_reader *reader, const xmlNode *element, double *v, size_t n);
bool api_xml_content_text(api_xml_reader *reader, const xmlNode *element, const char **text);

/* Sets a field of a JSON object. Takes over the reference to `value`, which may be NULL when memory is short. */
bool api_xml_set_field(api_xml_reader *reader, json_t *object, const char *key, json_t *value);

/* Reports the first of three angles of more than one revolution (7 rad): such values are usually degrees. `what` names
 * them: "rpy of <origin>". For angles that the document does not hold as they are; the document reviews its own.
 */
bool api_xml_review_angles(api_xml_reader *reader, const xmlNode *element, const char *what, const double angle[3]);

/* Set a field of a JSON object to a number or to an array of n numbers. A number that is not finite, which comes from
 * an overflow in the reader, is refused as `non-finite`. */
bool api_xml_set_number(api_xml_reader *reader, json_t *object, const char *key, double value);
bool api_xml_set_vector(api_xml_reader *reader, json_t *object, const char *key, const double *v, size_t n);

/* Appends n numbers to the array that is, or is part of, the value of field `key`. Refuses numbers that are not
 * finite. */
bool api_xml_append_numbers(api_xml_reader *reader, json_t *array, const char *key, const double *v, size_t n);

/* Set the reader's problem and return false. The message begins with the line and the nearest element with a name:
 * "line 12, joint "elbow": ...". */
bool api_xml_fail(api_xml_reader *reader, const xmlNode *element, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds an entry to the report; its `where` is the line. */
bool api_xml_report(api_xml_reader *reader, const xmlNode *element, const char *severity, const char *code,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
