/* xml_reader.c - see xml_reader.h: find elements, read attributes, and name the place of a problem. */
#include "xml_reader.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Ignores a default namespace, but an element with a namespace prefix has a different name. */
bool api_xml_is(const xmlNode *node, const char *name)
{
    bool prefixed = node->ns && node->ns->prefix;
    return node->type == XML_ELEMENT_NODE && !prefixed && strcmp((const char *)node->name, name) == 0;
}

static const char *qualify(const xmlNs *space, const xmlChar *name, char text[API_XML_QUALIFIED])
{
    if (!space || !space->prefix) return (const char *)name;
    snprintf(text, API_XML_QUALIFIED, "%s:%s", (const char *)space->prefix, (const char *)name);
    return text;
}

const char *api_xml_qualified_name(const xmlNode *element, char text[API_XML_QUALIFIED])
{
    return qualify(element->ns, element->name, text);
}

const char *api_xml_qualified_attribute(const xmlAttr *attribute, char text[API_XML_QUALIFIED])
{
    return qualify(attribute->ns, attribute->name, text);
}

const xmlNode *api_xml_qualified_child(const xmlNode *element, const char *name)
{
    char           text[API_XML_QUALIFIED];
    const xmlNode *child = element->children;
    while (child && (child->type != XML_ELEMENT_NODE || strcmp(api_xml_qualified_name(child, text), name) != 0))
        child = child->next;
    return child;
}

const xmlNode *api_xml_next(const xmlNode *element, const char *name)
{
    const xmlNode *node = element->next;
    while (node && !api_xml_is(node, name))
        node = node->next;
    return node;
}

const xmlNode *api_xml_child(const xmlNode *element, const char *name)
{
    const xmlNode *first = element->children;
    return first && !api_xml_is(first, name) ? api_xml_next(first, name) : first;
}

/* --- failures and the report -------------------------------------------------------------------------------------- */

/* Describes the nearest named element around an element: "joint \"elbow\"", or a child of the root, or the root. */
static void describe(const xmlNode *element, char text[100])
{
    while (!api_xml_has(element, "name") && element->parent && element->parent->type == XML_ELEMENT_NODE &&
           element->parent->parent->type == XML_ELEMENT_NODE)
        element = element->parent;
    xmlChar *name = xmlGetNoNsProp(element, (const xmlChar *)"name");
    if (name)
        snprintf(text, 100, "%.20s \"%.*s\"", (const char *)element->name, api_text_shown((const char *)name), name);
    else
        snprintf(text, 100, "<%.40s>", (const char *)element->name);
    xmlFree(name);
}

/* Writes the line of an element, and the name of its file unless that is the file that was given. */
static void locate(const api_xml_reader *reader, const xmlNode *element, char text[120])
{
    unsigned file = api_xml_file(element);
    if (file == 0)
        snprintf(text, 120, "line %lu", api_xml_line(element));
    else
        snprintf(text, 120, "line %lu of %.*s", api_xml_line(element), api_text_shown(reader->files[file]),
                 reader->files[file]);
}

bool api_xml_fail(api_xml_reader *reader, const xmlNode *element, api_code code, const char *format, ...)
{
    char    text[400], subject[100], line[120];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    describe(element, subject);
    locate(reader, element, line);
    return api_fail(reader->base.problem, code, NULL, "%s, %s: %s", line, subject, text);
}

bool api_xml_report(api_xml_reader *reader, const xmlNode *element, const char *severity, const char *code,
                    const char *format, ...)
{
    char    text[500], where[120];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    locate(reader, element, where);
    return api_reader_report(&reader->base, where, severity, code, "%s", text);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

bool api_xml_has(const xmlNode *element, const char *attribute)
{
    return xmlHasNsProp((xmlNode *)(uintptr_t)element, (const xmlChar *)attribute, NULL) != NULL;
}

bool api_xml_text(api_xml_reader *reader, const xmlNode *element, const char *attribute, int need, const char **text)
{
    if (!api_xml_has(element, attribute)) {
        if (need != API_REQUIRED) return true;
        api_xml_fail(reader, element, API_MISSING_FIELD, "<%.40s> has no attribute \"%s\"", (const char *)element->name,
                     attribute);
        return false;
    }
    xmlChar *value = xmlGetNoNsProp(element, (const xmlChar *)attribute);
    *text          = value ? api_arena_text(reader->base.arena, (const char *)value) : NULL;
    xmlFree(value);
    if (*text) return true;
    api_reader_no_memory(&reader->base);
    return false;
}

bool api_xml_name(api_xml_reader *reader, const xmlNode *element, const char *attribute, const char **name)
{
    if (!api_xml_text(reader, element, attribute, API_REQUIRED, name)) return false;
    return **name != '\0' || api_xml_fail(reader, element, API_BAD_NAME, "<%.40s> has an empty \"%s\"",
                                          (const char *)element->name, attribute);
}

bool api_xml_choice(api_xml_reader *reader, const xmlNode *element, const char *attribute, const char *const *values,
                    int *index)
{
    const char *text      = NULL;
    char        list[200] = "";
    if (!api_xml_text(reader, element, attribute, API_OPTIONAL, &text)) return false;
    if (!text) return true;
    for (int i = 0; values[i]; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", values[i]);
        if (strcmp(values[i], text) != 0) continue;
        *index = i;
        return true;
    }
    return api_xml_fail(reader, element, API_BAD_VALUE, "%s of <%.40s> is \"%.*s\"; known are %s", attribute,
                        (const char *)element->name, api_text_shown(text), text, list);
}

static bool fail_number(api_xml_reader *reader, const xmlNode *element, const char *attribute, const char *word,
                        size_t length)
{
    char shown[80]; /* longer than the shown part, so that api_text_shown can cut it between characters */
    snprintf(shown, sizeof shown, "%.*s", (int)(length < sizeof shown ? length : sizeof shown), word);
    return api_xml_fail(reader, element, API_WRONG_TYPE, "%s of <%.40s>: \"%.*s\" is not a decimal number%s", attribute,
                        (const char *)element->name, api_text_shown(shown), shown,
                        strchr(shown, '$') ? "; expand xacro macros first" : "");
}

/* Reads numbers separated by white space from a text, the value of an attribute or the content of an element, which
 * `name` names. Stores the first `max`; *count is the number of all. */
static bool read_numbers(api_xml_reader *reader, const xmlNode *element, const char *name, const char *text,
                         api_xml_span *to)
{
    static const char space[] = " \t\r\n";
    to->count                 = 0;
    for (text += strspn(text, space); *text; text += strspn(text, space), to->count++) {
        double value  = 0;
        size_t length = strcspn(text, space);
        if (api_number_read_decimal(text, length, &value) != length)
            return fail_number(reader, element, name, text, length);
        if (!isfinite(value))
            return api_xml_fail(reader, element, API_NON_FINITE, "%s of <%.40s>: entry %zu overflows a 64-bit float",
                                name, (const char *)element->name, to->count + 1);
        if (to->count < to->max) to->v[to->count] = value + 0.0; /* -0 becomes 0 */
        text += length;
    }
    return true;
}

static bool check_count(api_xml_reader *reader, const xmlNode *element, const char *name, const api_xml_span *span)
{
    if (span->count >= span->min && span->count <= span->max) return true;
    char expected[40];
    if (span->min == span->max)
        snprintf(expected, sizeof expected, "%zu number%s", span->min, span->min == 1 ? "" : "s");
    else
        snprintf(expected, sizeof expected, "%zu to %zu numbers", span->min, span->max);
    return api_xml_fail(reader, element, API_WRONG_SHAPE, "%s of <%.40s>: expected %s, given %zu", name,
                        (const char *)element->name, expected, span->count);
}

bool api_xml_span_read(api_xml_reader *reader, const xmlNode *element, const char *attribute, int need,
                       api_xml_span *span)
{
    const char *text = NULL;
    span->count      = 0;
    if (!api_xml_text(reader, element, attribute, need, &text)) return false;
    return !text ||
           (read_numbers(reader, element, attribute, text, span) && check_count(reader, element, attribute, span));
}

bool api_xml_numbers(api_xml_reader *reader, const xmlNode *element, const char *attribute, int need, double *v,
                     size_t n)
{
    api_xml_span span = {.v = v, .min = n, .max = n};
    return api_xml_span_read(reader, element, attribute, need, &span);
}

/* --- content ------------------------------------------------------------------------------------------------------ */

bool api_xml_content_text(api_xml_reader *reader, const xmlNode *element, const char **text)
{
    static const char space[] = " \t\r\n";
    xmlChar          *content = xmlNodeGetContent(element);
    char             *copy    = content ? api_arena_text(reader->base.arena, (const char *)content) : NULL;
    xmlFree(content);
    if (!copy) return api_reader_no_memory(&reader->base);
    copy += strspn(copy, space);
    size_t length = strlen(copy);
    while (length > 0 && strchr(space, copy[length - 1]))
        length--;
    copy[length] = '\0';
    *text        = copy;
    return true;
}

bool api_xml_content_numbers(api_xml_reader *reader, const xmlNode *element, double *v, size_t n)
{
    api_xml_span span = {.v = v, .min = n, .max = n};
    const char  *text = "";
    return api_xml_content_text(reader, element, &text) && read_numbers(reader, element, "content", text, &span) &&
           check_count(reader, element, "content", &span);
}

bool api_xml_review_angles(api_xml_reader *reader, const xmlNode *element, const char *what, const double angle[3])
{
    for (size_t i = 0; i < 3; i++)
        if (fabs(angle[i]) > API_SUSPICIOUS_ANGLE)
            return api_xml_report(reader, element, "warning", "suspicious",
                                  "%s: %s rad is more than a turn: angles are in radians", what,
                                  API_NUMBER_TEXT(angle[i]));
    return true;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

bool api_xml_set_field(api_xml_reader *reader, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value)) return api_reader_no_memory(&reader->base);
    return true;
}

/* Fails for a value of a field that is computed from several numbers of the file and overflows. */
static bool fail_overflow(api_xml_reader *reader, const char *key)
{
    return api_fail(
        reader->base.problem, API_NON_FINITE, NULL,
        "\"%.64s\", computed from the figures of the file, overflows a 64-bit float: the figures are too large", key);
}

bool api_xml_set_number(api_xml_reader *reader, json_t *object, const char *key, double value)
{
    return isfinite(value) ? api_xml_set_field(reader, object, key, json_real(value)) : fail_overflow(reader, key);
}

bool api_xml_append_numbers(api_xml_reader *reader, json_t *array, const char *key, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) return fail_overflow(reader, key);
        if (json_array_append_new(array, json_real(v[i]))) return api_reader_no_memory(&reader->base);
    }
    return true;
}

bool api_xml_set_vector(api_xml_reader *reader, json_t *object, const char *key, const double *v, size_t n)
{
    json_t *array = json_array();
    return api_xml_set_field(reader, object, key, array) && api_xml_append_numbers(reader, array, key, v, n);
}
