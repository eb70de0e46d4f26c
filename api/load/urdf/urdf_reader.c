/* urdf_reader.c - see urdf_reader.h: find elements, read attributes, and name the place of a problem. */
#include "urdf_reader.h"
#include "api/wire/number.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Ignores a default namespace, but an element with a namespace prefix has a different name. */
bool api_urdf_is(const xmlNode *node, const char *name)
{
    bool prefixed = node->ns && node->ns->prefix;
    return node->type == XML_ELEMENT_NODE && !prefixed && strcmp((const char *)node->name, name) == 0;
}

const xmlNode *api_urdf_next(const xmlNode *element, const char *name)
{
    const xmlNode *node = element->next;
    while (node && !api_urdf_is(node, name))
        node = node->next;
    return node;
}

const xmlNode *api_urdf_child(const xmlNode *element, const char *name)
{
    const xmlNode *first = element->children;
    return first && !api_urdf_is(first, name) ? api_urdf_next(first, name) : first;
}

/* --- failures and the report -------------------------------------------------------------------------------------- */

/* Describes the enclosing link, joint or transmission of an element: "joint \"elbow\"", or "<robot>". */
static void describe(const xmlNode *element, char text[100])
{
    while (!api_urdf_is(element, "link") && !api_urdf_is(element, "joint") && element->parent &&
           element->parent->type == XML_ELEMENT_NODE && element->parent->parent->type == XML_ELEMENT_NODE)
        element = element->parent;
    xmlChar *name = xmlGetNoNsProp(element, (const xmlChar *)"name");
    if (name)
        snprintf(text, 100, "%.20s \"%.*s\"", (const char *)element->name, api_text_shown((const char *)name), name);
    else
        snprintf(text, 100, "<%.40s>", (const char *)element->name);
    xmlFree(name);
}

bool api_urdf_fail(api_urdf *urdf, const xmlNode *element, api_code code, const char *format, ...)
{
    char    text[400], subject[100];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    describe(element, subject);
    return api_fail(urdf->reader.problem, code, NULL, "line %lu, %s: %s", api_xml_line(element), subject, text);
}

bool api_urdf_report(api_urdf *urdf, const xmlNode *element, const char *severity, const char *code, const char *format,
                     ...)
{
    char    text[500], where[40];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(where, sizeof where, "line %lu", api_xml_line(element));
    return api_reader_report(&urdf->reader, where, severity, code, "%s", text);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

bool api_urdf_has(const xmlNode *element, const char *attribute)
{
    return xmlHasNsProp((xmlNode *)(uintptr_t)element, (const xmlChar *)attribute, NULL) != NULL;
}

bool api_urdf_text(api_urdf *urdf, const xmlNode *element, const char *attribute, int need, const char **text)
{
    if (!api_urdf_has(element, attribute)) {
        if (need != API_REQUIRED) return true;
        api_urdf_fail(urdf, element, API_MISSING_FIELD, "<%.40s> has no attribute \"%s\"", (const char *)element->name,
                      attribute);
        return false;
    }
    xmlChar *value = xmlGetNoNsProp(element, (const xmlChar *)attribute);
    *text          = value ? api_arena_text(urdf->reader.arena, (const char *)value) : NULL;
    xmlFree(value);
    if (*text) return true;
    api_reader_no_memory(&urdf->reader);
    return false;
}

bool api_urdf_name(api_urdf *urdf, const xmlNode *element, const char *attribute, const char **name)
{
    if (!api_urdf_text(urdf, element, attribute, API_REQUIRED, name)) return false;
    return **name != '\0' || api_urdf_fail(urdf, element, API_BAD_NAME, "<%.40s> has an empty \"%s\"",
                                           (const char *)element->name, attribute);
}

static bool fail_number(api_urdf *urdf, const xmlNode *element, const char *attribute, const char *word, size_t length)
{
    char shown[80]; /* longer than the shown part, so that api_text_shown can cut it between characters */
    snprintf(shown, sizeof shown, "%.*s", (int)(length < sizeof shown ? length : sizeof shown), word);
    return api_urdf_fail(urdf, element, API_WRONG_TYPE, "%s of <%.40s>: \"%.*s\" is not a decimal number%s", attribute,
                         (const char *)element->name, api_text_shown(shown), shown,
                         strchr(shown, '$') ? "; expand xacro macros first" : "");
}

bool api_urdf_numbers(api_urdf *urdf, const xmlNode *element, const char *attribute, int need, double *v, size_t n)
{
    static const char space[] = " \t\r\n";
    const char       *text    = NULL;
    size_t            count   = 0;
    if (!api_urdf_text(urdf, element, attribute, need, &text)) return false;
    if (!text) return true;
    for (text += strspn(text, space); *text; text += strspn(text, space), count++) {
        double value  = 0;
        size_t length = strcspn(text, space);
        if (api_number_read_decimal(text, length, &value) != length)
            return fail_number(urdf, element, attribute, text, length);
        if (!isfinite(value))
            return api_urdf_fail(urdf, element, API_NON_FINITE, "%s of <%.40s>: entry %zu overflows a 64-bit float",
                                 attribute, (const char *)element->name, count + 1);
        if (count < n) v[count] = value + 0.0; /* -0 becomes 0 */
        text += length;
    }
    if (count == n) return true;
    return api_urdf_fail(urdf, element, API_WRONG_SHAPE, "%s of <%.40s>: expected %zu number%s, given %zu", attribute,
                         (const char *)element->name, n, n == 1 ? "" : "s", count);
}

bool api_urdf_read_origin(api_urdf *urdf, const xmlNode *element, double xyz[3], double rpy[3])
{
    const xmlNode *origin = api_urdf_child(element, "origin");
    for (int i = 0; i < 3; i++)
        xyz[i] = rpy[i] = 0;
    if (origin && !(api_urdf_numbers(urdf, origin, "xyz", API_OPTIONAL, xyz, 3) &&
                    api_urdf_numbers(urdf, origin, "rpy", API_OPTIONAL, rpy, 3)))
        return false;
    for (int i = 0; i < 3; i++)
        if (fabs(rpy[i]) > DYN_MAX_ANGLE)
            return api_urdf_fail(urdf, origin, API_ANGLE_TOO_LARGE,
                                 "rpy of <origin>: an angle of %s; angles are limited to %g rad",
                                 API_NUMBER_TEXT(rpy[i]), DYN_MAX_ANGLE);
    return true;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

bool api_urdf_set_field(api_urdf *urdf, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value)) return api_reader_no_memory(&urdf->reader);
    return true;
}

json_t *api_urdf_vector(const double *v, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) {
        if (json_array_append_new(array, json_real(v[i])) == 0) continue;
        json_decref(array);
        return NULL;
    }
    return array;
}
