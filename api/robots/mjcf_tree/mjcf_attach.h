/* mjcf_attach.h - types shared by mjcf_attach*.c, which replace <attach> by copies.
 *
 * A copy keeps the file of its elements, so that the <compiler> of its model goes on to count (api_mjcf_compiler_of).
 * Names of what is copied get the prefix. So do the names of classes and assets if they come from another model: its
 * outermost <default> becomes a class of its own, which takes nothing from those of the robot. Classes of one name stay
 * apart. (MuJoCo 3.14, XML reference, body/attach.) */
#pragma once
#include "api/robots/mjcf/mjcf_reader.h"

typedef struct attachment {
    api_mjcf       *m;
    api_mjcf_files *files;
    xmlNode        *element;  /* the <attach> */
    size_t          to, from; /* models; the same: a copy within a model */
    const char     *prefix;
    const char *main_class; /* class of elements of `from` that name none, with prefix; NULL: there are no classes */
    json_t     *names;      /* set of "kind name" of all that is copied and may be referred to */
    json_t     *classes;    /* names of the classes of `from`, if it is another model, to those in `to` */
    xmlNode    *copy;       /* the body or frame, not yet in a tree */
} attachment;

/* Copies an element with all inside, and gives the copies their prefixes; NULL with a problem. */
xmlNode *mjcf_attach_copy(attachment *a, const xmlNode *element);
/* Collects the names of an element and of those inside. */
bool mjcf_attach_collect(attachment *a, const xmlNode *element);
/* Sets an attribute of a copy. */
bool mjcf_attach_set(attachment *a, xmlNode *copy, const char *attribute, const char *value);
/* Returns prefix and name as one text in the reader's arena; NULL with a problem. */
const char *mjcf_attach_prefixed(attachment *a, const xmlNode *element, const char *name);
/* Returns two texts as one in the reader's arena; NULL with a problem. */
const char *mjcf_attach_join(attachment *a, const xmlNode *element, const char *first, const char *second);

/* Chooses names in `to` for the classes of `from`, another model. */
bool mjcf_attach_name_classes(attachment *a);
/* Sets the class of an element that inherits one, if an attachment before it has brought a class of this name. */
bool mjcf_attach_inherit(api_mjcf *m, size_t model, xmlNode *element, const char *inherited);
/* Returns the name in `to` of a class of `from`; NULL with a problem. */
const char *mjcf_attach_class(attachment *a, const xmlNode *element, const char *name);

/* Copies the sections of the model outside <worldbody>: classes and assets if it is another one, and all elements that
 * refer to what is copied and to nothing else. */
bool mjcf_attach_sections(attachment *a);
