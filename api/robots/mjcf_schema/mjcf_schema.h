/* mjcf_schema.h - the table of all elements and attributes of MJCF 3.14, with what the reader makes of them.
 *
 * An attribute that is not in the row of its element, and an element without a row, is unknown and reported as such. */
#pragma once
#include <stddef.h>

/* Classes of elements and attributes, by what the reader makes of them. */
typedef enum api_mjcf_use {
    API_MJCF_HELD,       /* the model contains it */
    API_MJCF_EXPANDED,   /* applied while the file is read: classes, frames, sections */
    API_MJCF_SILENT,     /* irrelevant to dynamics, and not in the report: names, colours */
    API_MJCF_IRRELEVANT, /* irrelevant to dynamics */
    API_MJCF_CONTACT,    /* an element or attribute of contacts, which a model does not have */
    API_MJCF_SOFTNESS,   /* one of soft constraints; the constraints of a model are exact */
    API_MJCF_CONTROL,    /* one of the law by which an actuator uses its control */
    API_MJCF_REPORTED,   /* without effect in the model; where an effect is lost, the reader of the element reports or
                            refuses it */
    API_MJCF_NOT_HELD,   /* without effect in the model, which a warning reports */
    API_MJCF_OLD,        /* one of earlier versions; read, or irrelevant */
    API_MJCF_USES
} api_mjcf_use;

/* Rows with the same parents and names do not exist. Lists of names have a space before and after each name. A parent
 * may be "outer/parent", where elements of one name in different places hold different ones. */
typedef struct api_mjcf_known {
    const char  *in, *names;                /* names of the parents, and of the elements */
    api_mjcf_use use;                       /* use of the elements */
    const char  *effect;                    /* API_MJCF_NOT_HELD: more words for the report; NULL: none */
    const char  *attributes[API_MJCF_USES]; /* NULL: none */
} api_mjcf_known;

/* Returns the table, of *n rows. */
const api_mjcf_known *api_mjcf_schema(size_t *n);

/* Name of the class that the documentation gives a use: "held", "expanded", "irrelevant" or "not held". */
const char *api_mjcf_use_name(api_mjcf_use use);
