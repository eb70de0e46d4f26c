/* formats.c - see formats.h: list the formats, and choose one by Content-Type or by the first bytes of a text. */
#include "formats.h"
#include "api/http/negotiate.h"
#include "api/wire/json.h"
#include <stdio.h>
#include <string.h>

static bool refuse_document_query(const char *query, api_problem *problem)
{
    return api_fail(problem, API_UNKNOWN_PARAMETER, NULL,
                    "a model in JSON states its base and its mimic joints itself: it takes no query parameters, given "
                    "?%.64s",
                    query);
}

static api_model *read_document(const api_model_source *s, api_problem *problem)
{
    return api_model_from_text(s->text, s->length, s->name, s->nesting, s->max_links, problem);
}

static const char *const json_types[] = {"application/json", NULL};

const api_model_format api_model_format_json = {
    .media_types     = json_types,
    .check_query     = refuse_document_query,
    .estimate_memory = api_json_estimate_memory,
    .read            = read_document,
};

#define ROW(name) &api_model_format_##name,

static const api_model_format *const formats[] = {API_MODEL_FORMATS(ROW)};

enum { FORMATS = sizeof formats / sizeof *formats };

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
    for (size_t i = 1; i < FORMATS; i++)
        if (formats[i]->matches(text, length)) return formats[i];
    return formats[0];
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
