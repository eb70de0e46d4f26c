/* sdf_write.h - types shared by sdf_write*.c, which write a document as an SDF file. */
#pragma once
#include "api/robots/formats.h"
#include "api/robots/xml/xml_writer.h"

/* Writes a document as the text of an SDF file, which the caller frees; adds what it cannot hold to the reader's
 * report. NULL with a problem. */
char *api_sdf_write(const api_document *document, const api_model_heading *heading, api_reader *reader, size_t *length);

typedef struct api_sdf_writer {
    api_xml_writer w;
    xmlNode       *model;
    const char    *base; /* name in the file of the base link, "world" if the file has no link for it */
    const char   **link; /* [n_links] names in the file */
    const char   **joint,
        **frame;   /* [n_links], [n_frames]; the joint of link i, the last of several joints; NULL for a free link */
    json_t *taken; /* set of the names in the file: links, joints and frames share one set */
    bool    newer; /* the file has version 1.11, which has mimics, else 1.9 */
} api_sdf_writer;

/* A joint of the file. */
typedef struct api_sdf_part {
    const char    *name, *parent, *child; /* names in the file */
    dyn_pose       X;                     /* pose of the joint in the parent */
    dyn_joint_kind kind;
    double         axis[3], pitch;
} api_sdf_part;

/* Reserves a name that the file does not have yet: `name` itself, or one made from it by `suffix`. The names "world"
 * and "__...__", the characters "::" and blanks that readers leave out are not used. "" after a failure. */
const char *api_sdf_take_name(api_sdf_writer *s, const char *name, const char *suffix);

/* Does what api_sdf_take_name does for a `kind` of thing ("link", "joint", "frame"), which is also the suffix, and
 * reports a name that differs from `name` at `where`. */
const char *api_sdf_take_reported_name(api_sdf_writer *s, const char *kind, const char *where, const char *name);

/* Appends an element with a text, or with numbers, as its content. */
void api_sdf_put(api_sdf_writer *s, xmlNode *parent, const char *name, const char *text);
void api_sdf_put_number(api_sdf_writer *s, xmlNode *parent, const char *name, double value);
/* Appends <pose> in the frame of that name; in the frame of the model if the name is "world". */
void api_sdf_put_pose(api_sdf_writer *s, xmlNode *parent, const char *relative_to, const dyn_pose *X);
/* Appends <pose> in the frame of the element around. */
void api_sdf_put_own_pose(api_sdf_writer *s, xmlNode *parent, const dyn_pose *X);
/* Appends <link> with its pose and inertia; NULL: without mass. Returns the element. */
xmlNode *api_sdf_put_link(api_sdf_writer *s, const char *name, const char *relative_to, const dyn_pose *X,
                          const dyn_inertia *inertia);

/* Appends the shapes of a link to its element. */
void api_sdf_put_visuals(api_sdf_writer *s, xmlNode *link, const api_document_visuals *visuals);

/* Name in the file of the link that a joint or frame is fixed to; DYN_WORLD: the base link. */
const char *api_sdf_link_name(const api_sdf_writer *s, int link);

/* Appends the joint that carries a link. If SDF lacks its type, appends several joints with massless links between
 * them. */
void api_sdf_put_joint(api_sdf_writer *s, size_t i);
/* Name of the joint of the file whose child is the link. */
const char *api_sdf_last_part_name(api_sdf_writer *s, const api_document_link *link);
/* True for a link that moves freely in the world: it has no joint in the file. */
bool api_sdf_is_free(const api_document *document, const api_document_link *link);
/* Appends a joint without limits; returns its <axis>, NULL if it has none. */
xmlNode *api_sdf_put_part(api_sdf_writer *s, const api_sdf_part *part, const char *type);

/* Appends the joints that close loops, and reports those that the file cannot hold. */
void api_sdf_put_loops(api_sdf_writer *s);
