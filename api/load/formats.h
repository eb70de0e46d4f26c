/* formats.h - table of the formats in which a model can be read: model documents in JSON, URDF files in XML.
 *
 * PUT of a model chooses a format by Content-Type; a file of unknown type is recognised by its first bytes. A new
 * format is a reader and a row of the table in formats.c; the contract, openapi.yaml, lists its media types. */
#pragma once
#include "api/model/model.h"

typedef struct api_model_format {
    const char *const *media_types; /* ends with NULL; messages name the first */
    /* True for a text in this format, by its first bytes; NULL: any text that no other format claims. */
    bool (*matches)(const char *text, size_t length);
    /* False with a problem (400) unless the query is one that `read` takes. The query is neither NULL nor empty. */
    bool (*check_query)(const char *query, api_problem *problem);
    /* Upper estimate, in bytes, of the memory that reading such a text takes. */
    size_t (*estimate_memory)(const char *text, size_t length);
    /* NULL and a problem, or one reference to the model, the caller's. */
    api_model *(*read)(const api_model_source *source, api_problem *problem);
} api_model_format;

/* By Content-Type (NULL or blank: JSON); NULL when no format has that type, or its charset is not UTF-8. */
const api_model_format *api_model_format_of_content(const char *content_type);

/* By the first bytes of a text; never NULL. */
const api_model_format *api_model_format_of_text(const char *text, size_t length);

enum { API_MODEL_MEDIA_TYPES = 120 }; /* bytes of the list, NUL included */

/* "application/json or application/xml": the first media type of each format, for messages. */
void api_model_media_types(char text[API_MODEL_MEDIA_TYPES]);
