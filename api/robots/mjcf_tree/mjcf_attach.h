/* mjcf_attach.h - types shared by mjcf_attach*.c, which replace <attach> by copies.
 *
 * A copy keeps the file of its elements, so that the <compiler> of its model still applies (api_mjcf_compiler_of).
 * Names of what is copied get the prefix. Names of classes and assets get it, too, if they come from another model: the
 * outermost <default> of that model becomes a class of its own, which inherits nothing from those of the robot. Classes
 * of one name stay apart. (MuJoCo 3.14, XML reference, body/attach.) */
#pragma once
#include "api/robots/mjcf/mjcf_reader.h"

typedef struct attachment {
    api_mjcf       *m;
    api_mjcf_files *files;
    xmlNode        *element;  /* the <attach> */
    size_t          to, from; /* indices of the target model and of the source model; equal for a copy within a model */
    const char     *prefix;
    const char *main_class; /* prefixed name of the default class of `from`, for elements without `class`; NULL: `from`
                               has no classes */
    json_t *names;          /* set of "kind name" of all that is copied and may be referred to */
    json_t *classes; /* map from the names of the classes of `from` to their names in `to`; used if `from` is another
                        model */
    xmlNode *copy;   /* the body or frame, not yet in a tree */
} attachment;

/* Copies an element with its descendants, and adds the prefix to the names of the copies; NULL with a problem. */
xmlNode *mjcf_attach_copy(attachment *a, const xmlNode *element);
/* Collects the names of an element and of its descendants. */
bool mjcf_attach_collect(attachment *a, const xmlNode *element);
/* Sets an attribute of a copy. */
bool mjcf_attach_set(attachment *a, xmlNode *copy, const char *attribute, const char *value);
/* Returns prefix and name as one text in the reader's arena; NULL with a problem. */
const char *mjcf_attach_prefixed(attachment *a, const xmlNode *element, const char *name);
/* Returns two texts as one in the reader's arena; NULL with a problem. */
const char *mjcf_attach_join(attachment *a, const xmlNode *element, const char *first, const char *second);

/* Chooses names in `to` for the classes of `from`, another model. */
bool mjcf_attach_name_classes(attachment *a);
/* Sets `class` of an element that inherits its class, if an earlier <attach> has brought a class of the inherited
 * name. */
bool mjcf_attach_inherit(api_mjcf *m, size_t model, xmlNode *element, const char *inherited);
/* Returns the name in `to` of a class of `from`; NULL with a problem. */
const char *mjcf_attach_class(attachment *a, const xmlNode *element, const char *name);

/* Copies the sections of the model outside <worldbody>: classes and assets if it is another model, and each element
 * that refers to copied elements only. */
bool mjcf_attach_sections(attachment *a);
