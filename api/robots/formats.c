/* formats.c - see formats.h: list the formats, and choose one by Content-Type or by the first bytes of a text. */
#define _GNU_SOURCE /* memmem */
#include "formats.h"
#include "api/robot_files.h"
#include "api/archive/archive.h"
#include "api/archive/container.h"
#include "api/codec/negotiate.h"
#include "api/codec/utf8.h"
#include "api/robots/xml/xml_text.h"
#include "api/codec/json.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool refuse_document_query(const char *query, api_problem *problem)
{
    return api_fail(problem, API_UNKNOWN_PARAMETER, NULL,
                    "a model in JSON states its base and its mimic joints itself: it takes no query parameters, given "
                    "?%.64s",
                    query);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

#define ROW(name) &api_model_format_##name,

static const api_model_format *const formats[] = {API_MODEL_FORMATS(ROW)};

enum { FORMATS = sizeof formats / sizeof *formats };

/* True if the text does not begin with { or [ and contains the outermost element of a robot's XML format. */
static bool hides_element(const char *text, size_t length)
{
    size_t first = 0;
    while (first < length && strchr(" \t\r\n", text[first]) && text[first])
        first++;
    if (first == length || text[first] == '{' || text[first] == '[') return false;
    for (size_t i = 0; i < FORMATS; i++) {
        char element[64];
        if (!formats[i]->root) continue;
        const int n = snprintf(element, sizeof element, "<%s", formats[i]->root);
        if (memmem(text, length, element, (size_t)n)) return true;
    }
    return false;
}

static api_model *read_document(const api_model_source *s, api_problem *problem)
{
    size_t      offset;
    const char *fault = api_container_fault(s->text, s->length, &offset);
    if (fault) {
        api_fail(problem, API_BAD_JSON, NULL, "the body %s", fault);
        problem->offset = (long long)offset;
        return NULL;
    }
    size_t good = api_utf8_prefix(s->text, s->length);
    if (good < s->length) {
        api_fail(problem, API_BAD_JSON, NULL,
                 "byte 0x%02x at offset %zu: the text is not UTF-8 (iconv -f ISO-8859-1 -t UTF-8 converts Latin-1)",
                 (unsigned char)s->text[good], good);
        problem->offset = (long long)good;
        return NULL;
    }
    if (!api_xml_begins(s->text, s->length) && hides_element(s->text, s->length))
        return api_fail(problem, API_BAD_XML, NULL,
                        "the file begins with other text than its XML: remove what stands before the first <"),
               NULL;
    return api_model_from_text(s->text, s->length, s->name, s->nesting, s->max_links, problem);
}

static const char *const json_types[] = {"application/json", NULL};

const api_model_format api_model_format_json = {
    .name            = "document",
    .media_types     = json_types,
    .check_query     = refuse_document_query,
    .estimate_memory = api_json_estimate_memory,
    .read            = read_document,
};

/* --- XML of any kind ---------------------------------------------------------------------------------------------- */

static const api_model_format *format_of_root(const char *text, size_t length);
static bool                    check_xml_query(const char *query, api_problem *problem);

static api_model *read_xml(const api_model_source *source, api_problem *problem)
{
    return format_of_root(source->text, source->length)->read(source, problem);
}

static const char *const xml_types[] = {"application/xml", "text/xml", NULL};

const api_model_format api_model_format_xml = {
    .media_types     = xml_types,
    .check_query     = check_xml_query,
    .estimate_memory = api_xml_estimate_memory,
    .read            = read_xml,
};

/* --- formats by content ------------------------------------------------------------------------------------------- */

const api_model_format *api_model_format_of_content(const char *content_type)
{
    if (!content_type || content_type[strspn(content_type, " \t")] == '\0') return formats[0];
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *type = formats[i]->media_types; *type; type++)
            if (api_content_type_is(content_type, *type)) return formats[i];
    return NULL;
}

const api_model_format *api_model_format_of_text(const char *text, size_t length)
{
    switch (api_archive_kind_of(text, length)) {
    case API_NO_ARCHIVE: break;
    case API_ARCHIVE_ZIP: return &api_model_format_zip;
    case API_ARCHIVE_TAR: return &api_model_format_tar;
    case API_ARCHIVE_GZIP: return &api_model_format_gzip;
    case API_ARCHIVE_FORM: return &api_model_format_form;
    }
    return api_xml_begins(text, length) ? format_of_root(text, length) : formats[0];
}

/* Accepts a query that one of the XML formats accepts; the format of the body checks it again. The problem is that of
 * the first XML format in the table that knows the parameters, else of the first. */
static bool check_xml_query(const char *query, api_problem *problem)
{
    api_problem known = {.code = API_NO_PROBLEM};
    for (size_t i = FORMATS; i-- > 0;) {
        if (!formats[i]->root) continue;
        api_problem_clear(problem);
        if (formats[i]->check_query(query, problem)) return true;
        if (problem->code != API_UNKNOWN_PARAMETER) known = *problem;
    }
    if (known.code != API_NO_PROBLEM) *problem = known;
    return false;
}

/* A file with an unknown outermost element goes to the reader of URDF, which says so. */
static const api_model_format *format_of_root(const char *text, size_t length)
{
    size_t                  n      = 0;
    const char             *root   = api_xml_root_name(text, length, &n);
    const api_model_format *format = root ? api_model_format_of_root(root, n) : NULL;
    return format ? format : &api_model_format_urdf;
}

const api_model_format *api_model_format_of_root(const char *name, size_t length)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->root && strlen(formats[i]->root) == length && memcmp(formats[i]->root, name, length) == 0)
            return formats[i];
    return NULL;
}

bool api_has_robot_ending(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *ending = formats[i]->root ? formats[i]->endings : NULL; ending && *ending; ending++) {
            const size_t n = strlen(*ending);
            if (length > n && strcasecmp(name + length - n, *ending) == 0) return true;
        }
    return false;
}

const api_model_format *api_model_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->name && strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

void api_model_format_names(char text[API_MODEL_FORMAT_NAMES])
{
    size_t length = 0;
    for (size_t i = 0; i < FORMATS && length < API_MODEL_FORMAT_NAMES; i++)
        if (formats[i]->name)
            length += (size_t)snprintf(text + length, API_MODEL_FORMAT_NAMES - length, "%s%s", length > 0 ? ", " : "",
                                       formats[i]->name);
}

void api_model_media_types(char text[API_MODEL_MEDIA_TYPES])
{
    size_t length = 0;
    for (size_t i = 0; i < FORMATS && length < API_MODEL_MEDIA_TYPES; i++)
        length += (size_t)snprintf(text + length, API_MODEL_MEDIA_TYPES - length, "%s%s",
                                   i == 0            ? ""
                                   : i + 1 < FORMATS ? ", "
                                                     : " or ",
                                   formats[i]->media_types[0]);
}
