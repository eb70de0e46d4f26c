/* document.h - a model document (schema Document of api/openapi.yaml) after reading: checked, its figures turned into
 * the core's terms, its canonical twin beside it. Lives only while a model is made. Everything in it belongs to the
 * reader's arena but `canonical`, which the owner of the document releases. */
#pragma once
#include "api/wire/names.h"
#include "document_entry.h"
#include "geometry.h"
#include "inertia.h"

typedef struct api_document_link {
    const char *name, *parent; /* of links */
    const char *joint, *type;  /* joint's name and type */
    bool        actuated;
    bool        has_position_limits, has_velocity_limit, has_effort_limit, has_effort_rate_limit;
    double      lower, upper, velocity, effort, effort_rate;
    bool        has_home;
    double      home[7];      /* of its coordinates */
    int         parent_index; /* parent's place in `links`, DYN_WORLD: base link */
    int         core_index;   /* place in `order`: the core's index of this link */
    const char *mimicked;     /* joint whose coordinate this one shares, if dyn.mimic */
    int         leader;       /* place in `links` of the independent joint at the end of the chain, if dyn.mimic */
    dyn_link    dyn;          /* dyn.parent and leader are set when the description is made */
} api_document_link;

typedef struct api_document_frame {
    const char *name;
    const char *link_name; /* name of the link it is fixed to */
    int         link;      /* that link's place in `links`, DYN_WORLD: base link */
    dyn_pose    X_lf;      /* in the link frame */
} api_document_frame;

/* What it holds: loops.h */
typedef enum api_loop_kind {
    API_LOOP_FIXED,
    API_LOOP_SPHERICAL,
    API_LOOP_REVOLUTE,
    API_LOOP_PRISMATIC,
    API_LOOP_PLANAR,
    API_LOOP_HELICAL,
    API_LOOP_CYLINDRICAL,
    API_LOOP_UNIVERSAL
} api_loop_kind;

typedef struct api_document_loop {
    const char        *name, *frame_a, *frame_b;
    const char        *type; /* a literal */
    api_loop_kind      kind;
    double             axis[3], pitch;
    double             axis_b[3];        /* of a universal joint: its axis in frame b */
    bool               has_own_frame[2]; /* whether frame a, frame b is given in the loop, */
    api_document_frame own_frame[2];     /* here; becomes a frame of the document */
} api_document_loop;

/* A motor: everything but its place among the links, which stands in the link of its joint. */
typedef struct api_document_motor {
    const char *joint, *link_name; /* names of the joint it turns, of the link it sits on */
    dyn_motor   dyn;               /* dyn.link: that link's place in `links`, until the description is made */
    dyn_inertia inertia;           /* of the whole, rotor locked, in the link's frame */
    int         joint_link;        /* place in `links` of the joint's link */
} api_document_motor;

typedef struct api_document {
    json_t             *canonical; /* with the name of the path */
    const char         *base;      /* name of the base link */
    bool                floating;
    dyn_inertia         base_inertia;
    double              gravity[3];
    bool                from_screws; /* given as "screws": there is no "links" to point into */
    size_t              n_links;     /* without the base link, in the document's order */
    api_document_link  *links;
    int                *order; /* [n_links]: links depth-first, children in document order */
    size_t              n_motors;
    api_document_motor *motors;
    size_t              n_frames, n_listed; /* all; those of "frames" and of screws, the first */
    api_document_frame *frames;
    size_t              n_loops;
    api_document_loop  *loops;
    bool                has_tip; /* of screws; becomes the last frame */
    api_document_frame  tip;
} api_document;

/* Reads and checks everything. On failure the reader's problem is filled; `document->canonical` is to be released
 * either way. */
bool api_document_read(api_document *document, api_reader *reader, const json_t *in, const char *name,
                       size_t max_links);

/* The parts, in the order in which api_document_read uses them. */

/* "joint" of a link: everything but names' uniqueness. */
bool api_document_read_joint(const api_entry *link_node, api_document_link *link);

/* The axis at `key` of a joint, a loop or a motor. Normalised here; kept as given in the canonical document, so that
 * reading that again gives the same bits. */
bool api_document_read_axis(const api_entry *owner, const char *key, double axis[3]);

/* "friction", "spring", "elastic" of a joint, the first also of a motor. */
bool api_document_read_friction(const api_entry *owner, dyn_friction *friction);
bool api_document_read_spring(const api_entry *joint, dyn_spring *spring);
bool api_document_read_elastic(const api_entry *joint, dyn_link *link);

/* "motors": each by itself; then, when the tree is there, each on its link and at its joint. */
bool api_document_read_motors(const api_entry *root, api_document *document, size_t max_links);
bool api_document_attach_motors(api_document *document, api_reader *reader);

/* "origin" of a joint into before and after; *dh when it is one of the DH forms, whose axis is z. */
bool api_document_read_origin(const api_entry *joint_node, dyn_link *link, bool *dh);

/* "modified_dh" of an origin or of a loop's frame: the pose for a joint coordinate of zero. */
bool api_document_read_modified_dh(const api_entry *owner, dyn_pose *X);

/* Checks that T (4x4, row-major), found at `place`, is a rigid transform; one off by more than 1e-12 is mended and
 * reported. */
bool api_document_check_transform(const api_entry *place, const double *T, dyn_pose *X);

/* "inertial", given, as a solid, or absent (massless). */
bool api_document_read_inertial(const api_entry *link_node, const char *link, dyn_inertia *inertia);
/* Refuses what is not physical, reports what is suspicious of the link of that name. */
bool api_document_check_inertia(const api_entry *place, const char *link, const dyn_inertia *inertia);

/* "loops": all but whether their frames are there. */
bool api_document_read_loops(const api_entry *root, api_document *document);

/* "screws": the whole chain of links, and the frame `tip`. */
bool api_document_read_screws(const api_entry *root, api_document *document, size_t max_links);

/* Makes a tree of the links: unique names, parents, circles, depth-first order, frames' links. */
bool api_document_build_tree(api_document *document, api_reader *reader);

/* The names of all joints, for a message about one that is not among them. */
api_names api_document_joint_names(const api_document *document);

/* Joints that share another's coordinate: finds the joint at the end of each chain, and composes the factors. */
bool api_document_resolve_mimics(api_document *document, api_reader *reader);

/* Reports what was merged, has no effect, or cannot be right in the finished tree. */
bool api_document_review(const api_document *document, api_reader *reader);

enum { API_COORDINATE_NAME = 272 }; /* bytes of a coordinate's name, NUL included */

/* Endings of the names of a joint's coordinates, "" for the joint's own name; NULL ends. */
const char *const *api_joint_coordinate_suffixes(const api_document_link *link, bool velocities);

/* Names of a floating base's coordinates, in the order of q and of qd. */
extern const char *const api_base_position_names[7];
extern const char *const api_base_velocity_names[6];
