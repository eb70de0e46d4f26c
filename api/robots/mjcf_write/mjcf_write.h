/* mjcf_write.h - types shared by mjcf_write*.c, which write a document as an MJCF file. */
#pragma once
#include "api/robots/inertia_bounds/bound.h"
#include "api/robots/formats.h"
#include "api/robots/xml/xml_writer.h"
#include "api/robots/mjcf_schema/mjcf_joint_types.h"

/* Writes a document as the text of an MJCF file, which the caller frees; adds what it cannot hold to the reader's
 * report. NULL with a problem. */
char *api_mjcf_write(const api_document *document, const api_model_heading *heading, api_reader *reader,
                     size_t *length);

/* Enlarges the inertias of a document that MuJoCo would refuse, and reports each change. A link without mass that
 * becomes a joint of another body keeps no mass, unless that body would have too many joints. False when memory is
 * short. */
bool api_mjcf_bound(api_document *document, api_reader *reader);

/* A link in MJCF's tree of bodies: its children, and whether a frame or loop refers to it. */
typedef struct api_mjcf_link {
    int  n_children, child; /* number of children; index of the last child */
    bool referenced;        /* a frame or loop needs the link as a body */
} api_mjcf_link;

/* The links that become bodies. MuJoCo refuses moving bodies that are not sound (inertia_bounds/bound.h). */
typedef struct api_mjcf_bodies {
    const api_document *document;
    api_mjcf_link      *link; /* [n_links] */
    api_sound_links     sound;
} api_mjcf_bodies;

enum { API_MJCF_MOST_COORDINATES = 6 }; /* most coordinates of one body in MuJoCo */

/* False when memory is short. */
bool api_mjcf_find_bodies(api_mjcf_bodies *bodies, const api_document *document, api_reader *reader);
/* True for a link that becomes a joint of its child's body. */
bool api_mjcf_is_absorbed(const api_mjcf_bodies *bodies, int i);
/* Coordinates in the file of the joint that carries a link. */
int api_mjcf_coordinates(const dyn_link *dyn);

/* Joints of one body. In MJCF their axes are given in the frame of the body in the reference position:
 *
 *     X_pb prod_k C_k M_k(q_k - ref_k) C_k^-1,    C_k = X_pb^-1 J_k,
 *
 * where J_k is the pose of joint frame k, moved, in the parent body. */
typedef struct api_mjcf_chain {
    api_xml_writer *w;
    xmlNode        *body;
    size_t          n;
    int            *links; /* [n] links of the joints, from the parent on; the last is the body itself */
    dyn_pose       *J;     /* [n] */
    dyn_pose        X_pb;
    bool            free; /* true: the one joint is a free joint of the world */
} api_mjcf_chain;

/* Writes pos and quat where they are not those of the parent. */
void api_mjcf_put_pose(api_xml_writer *w, xmlNode *element, const dyn_pose *X);

bool api_mjcf_has_inertia(const dyn_inertia *inertia);
/* True if one of the shapes is a solid. */
bool api_mjcf_is_shaped(const api_document_visuals *visuals);
/* Writes the shapes of a link as geoms without mass and contacts, in MuJoCo's group for visuals. Meshes are left out:
 * MuJoCo takes them only with their files. */
void api_mjcf_put_visuals(api_xml_writer *w, xmlNode *body, const api_document_visuals *visuals);
/* Writes <inertial>, by the principal moments: MuJoCo computes them from a full tensor to 1e-8 only. A body without
 * mass has none, unless it is `shaped`: MuJoCo would take its mass from its geoms, which have none. */
void api_mjcf_put_inertial(api_xml_writer *w, xmlNode *body, const dyn_inertia *inertia, bool shaped);

/* Reports a body that MuJoCo refuses. `undetermined`: it moves, and neither it nor a body that is fixed to it is sound.
 */
void api_mjcf_report_refused(api_xml_writer *w, const char *name, const dyn_inertia *inertia, bool undetermined);

/* Reference position of a joint with one coordinate: its home; that of a mimic joint follows from its leader's home. */
double api_mjcf_reference_of(const api_document *document, const api_document_link *link);

/* Motion of a joint from zero to its reference. */
dyn_pose api_mjcf_reference_motion(const api_document *document, const api_document_link *link);

/* Writes the joints of a body, and reports the properties of joints that MJCF cannot express, such as limits of
 * velocity. */
void api_mjcf_put_joints(const api_mjcf_chain *chain);

/* Positions of a joint of the file in a configuration; `_private` of its element points to it. */
typedef struct api_mjcf_position {
    api_mjcf_joint_type type;
    const char *name; /* coordinate of a hinge or slide in the document; for other joints the name without suffix */
    double      scale, offset; /* position of a hinge or slide = scale coordinate + offset */
    dyn_pose    C;             /* axes of a ball in the body */
} api_mjcf_position;

/* Writes a free joint; `coordinate`: the name of its coordinates without suffix. */
typedef struct api_mjcf_free {
    const char *name, *coordinate;
    double      damping, rotor_inertia;
} api_mjcf_free;
void api_mjcf_put_free(api_xml_writer *w, xmlNode *body, const api_mjcf_free *free);

/* Writes the configurations of a document, when `world` has all joints. */
void api_mjcf_put_keyframes(api_xml_writer *w, xmlNode *root, const xmlNode *world);

/* Writes the equalities of mimic and helical joints. */
void api_mjcf_put_couplings(api_xml_writer *w, xmlNode *equality);

/* Writes motors for joints with a limit of effort, and in a model with loops for all driven joints. */
void api_mjcf_put_motors(api_xml_writer *w, xmlNode *root);

/* Axes of the plane of a planar joint, in its frame (dynamics/model/expand_joints.c). */
void api_mjcf_plane_axes(const double axis[3], double e_x[3], double e_y[3]);
