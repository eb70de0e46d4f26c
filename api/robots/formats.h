/* formats.h - describe a format in which a model can be read by one constant; API_MODEL_FORMATS lists all of them.
 *
 * PUT of a model chooses a format by Content-Type; a file of unknown type is recognised by its first bytes. To add a
 * format, write the file that reads it and defines its constant, add its row here, and list its media types in
 * openapi.yaml. */
#pragma once
#include "api/robots/document/document.h"
#include "api/robots/model/model.h"

/* The rows: X(name) stands for the constant api_model_format_<name>. The first is the format of a text without a
 * Content-Type, the last that of XML files of any kind: it hands them to the format of their outermost element. */
#define API_MODEL_FORMATS(X)                                                                                           \
    X(json)                                                                                                            \
    X(urdf)                                                                                                            \
    X(mjcf)                                                                                                            \
    X(sdf)                                                                                                             \
    X(zip)                                                                                                             \
    X(tar)                                                                                                             \
    X(gzip)                                                                                                            \
    X(form)                                                                                                            \
    X(xml)

/* Heading of a file that is written. */
typedef struct api_model_heading {
    const char *name;    /* the robot's */
    const char *version; /* version of the format; NULL: its default */
} api_model_heading;

typedef struct api_model_format {
    const char        *name;        /* name in `torqued convert --to`; NULL: the format is only read */
    const char *const *media_types; /* media types of the format; NULL ends the list, messages name the first */
    const char *const *versions;    /* versions that can be chosen, the default first; NULL: there is no choice */
    const char        *root;        /* an XML format: name of the outermost element; NULL: any, or no XML */
    const char *const
        *endings; /* endings of file names, such as ".urdf"; NULL ends the list. NULL: any, or an archive */
    /* Returns false with a problem (status 400) unless `read` accepts the query, which is neither NULL nor empty. */
    bool (*check_query)(const char *query, api_problem *problem);
    /* Returns an upper estimate, in bytes, of the memory that reading the text takes. */
    size_t (*estimate_memory)(const char *text, size_t length);
    /* Builds the model. The caller owns the one reference to it. NULL with a problem. */
    api_model *(*read)(const api_model_source *source, api_problem *problem);
    /* Writes a document as the text of a file, which the caller frees; adds what the format cannot hold to the reader's
     * report. NULL with a problem. The pointer itself is NULL if the format is only read, or is the document. */
    char *(*write)(const api_document *document, const api_model_heading *heading, api_reader *reader, size_t *length);
    /* Enlarges inertias that simulators of the format refuse, and reports each change (inertia_bounds/bound.h); false
     * with a problem. NULL if `write` is NULL. */
    bool (*bound)(api_document *document, api_reader *reader);
} api_model_format;

#define API_MODEL_FORMAT_CONSTANT(name) extern const api_model_format api_model_format_##name;
API_MODEL_FORMATS(API_MODEL_FORMAT_CONSTANT)

/* Returns the format for a Content-Type (JSON if NULL or blank). NULL: no format has that type, or its charset is
 * not UTF-8. */
const api_model_format *api_model_format_of_content(const char *content_type);

/* Returns the format that the first bytes of a text show: an archive, XML, else JSON. */
const api_model_format *api_model_format_of_text(const char *text, size_t length);

/* Returns the XML format whose outermost element has this name of `length` bytes. NULL: there is none. */
const api_model_format *api_model_format_of_root(const char *name, size_t length);

/* Returns the format that is written under this name. NULL: there is none. */
const api_model_format *api_model_format_named(const char *name);

/* Bytes, NUL included, of the texts that api_model_format_names and api_model_media_types write. */
enum { API_MODEL_FORMAT_NAMES = 60, API_MODEL_MEDIA_TYPES = 240 };

/* Writes the names of the formats that can be written, for messages: "document, urdf, mjcf". */
void api_model_format_names(char text[API_MODEL_FORMAT_NAMES]);

/* Writes the first media type of each format, for messages: "application/json or application/xml". */
void api_model_media_types(char text[API_MODEL_MEDIA_TYPES]);
