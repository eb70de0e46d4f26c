/* document.h - read a model document (schema Document of api/openapi.yaml): check it, convert its values to the
 * terms of dynamics/, and write its canonical form. A document lives only while a model is built. The reader's arena
 * owns everything in it except `canonical`, which the owner of the document releases. */
#pragma once
#include "api/codec/names.h"
#include "document_entry.h"
#include "drive_limits.h"
#include "dynamics/loops/loops.h"
#include "dynamics/math/geometry.h"
#include "inertia.h"

/* A visual shape of a link, without effect on the dynamics. */
typedef struct api_document_visual {
    api_solid   solid;    /* API_SOLIDS: a mesh */
    double      size[3];  /* sizes of a solid, m */
    const char *mesh;     /* name of the mesh's file; NULL: a solid */
    double      scale[3]; /* factors of the coordinates of a mesh */
    dyn_pose    X;        /* pose in the link frame of the solid's centre and axes, or of the mesh's frame */
    bool        has_rgba;
    double      rgba[4]; /* red, green, blue, opacity, 0 to 1 */
} api_document_visual;

typedef struct api_document_visuals {
    size_t               n;
    api_document_visual *list; /* [n] */
} api_document_visuals;

typedef struct api_document_link {
    const char      *name, *parent; /* names of links */
    const char      *joint, *type;  /* name and type of the joint that carries the link */
    bool             actuated;
    bool             has_position_limits;
    double           lower, upper; /* limits of position, if it has any */
    api_drive_limits limits;
    bool             has_home;
    double           home[7];      /* home position of the joint, an entry per coordinate */
    int              parent_index; /* index of the parent in `links`, DYN_WORLD: the base link */
    int              core_index;   /* index in `order`, which is also the index of this link in dynamics/ */
    const char      *mimicked;     /* if dyn.mimic: the joint that this one mimics, as the document names it */
    int              leader; /* if dyn.mimic: index in `links` of the independent joint at the end of the mimic chain */
    dyn_link         dyn;    /* dyn.parent and dyn.leader are set when the description is built */
    api_document_visuals visuals;
    const char *const *lost; /* a locked joint, now fixed: suffixes of the position coordinates that it had; or NULL */
    const double      *held; /* position of a joint that "locked" names; NULL: none, or a joint that mimics one */
    bool               motor_lost; /* the motor coordinate of the joint is locked */
} api_document_link;

enum { API_LOCK_VALUES = 7 /* most coordinates of a joint */ };

/* A joint, or the motor coordinate of an elastic joint, that "locked" holds at a position. */
typedef struct api_document_lock {
    const char *name;
    size_t      n;                      /* number of values */
    bool        is_array;               /* the document gives an array */
    double      value[API_LOCK_VALUES]; /* in the units of the coordinates */
} api_document_lock;

typedef struct api_document_frame {
    const char *name;
    const char *link_name; /* name of the link that the frame is fixed to */
    int         link;      /* index of that link in `links`, DYN_WORLD: the base link */
    dyn_pose    X_lf;      /* pose of the frame in the link frame */
} api_document_frame;

typedef struct api_document_loop {
    const char        *name, *frame_a, *frame_b;
    const char        *type; /* a string literal */
    dyn_loop_kind      kind;
    double             axis[3], pitch;
    double             axis_b[3];        /* axis fixed in frame b of a universal joint */
    bool               has_own_frame[2]; /* [0], [1] true: the loop itself defines frame a, b */
    api_document_frame own_frame[2];     /* frames a and b that the loop defines */
} api_document_loop;

/* A motor, as an entry of "motors" gives it. */
typedef struct api_document_motor {
    const char *joint, *link_name; /* names of the driven joint and of the link that carries the motor */
    dyn_motor   dyn;               /* dyn.link: index of the carrying link in `links`, until the description is built */
    dyn_inertia inertia;    /* inertia of the whole motor with the rotor locked, in the frame of the carrying link */
    int         joint_link; /* index in `links` of the link of the driven joint */
} api_document_motor;

/* A motor of a coupled transmission. */
typedef struct api_document_coupled_motor {
    const char      *name;
    double           rotor_inertia; /* kg m^2 or kg, in terms of the motor's rate */
    dyn_friction     friction;      /* function of the motor's rate */
    api_drive_limits limits;
} api_document_coupled_motor;

/* A coupled transmission: rates of joints = matrix times rates of motors. */
typedef struct api_document_transmission {
    size_t      n; /* number of joints and of motors */
    const char *joint[DYN_MAX_DRIVEN];
    int         link[DYN_MAX_DRIVEN]; /* indices in `links` of the links of the joints */
    double      matrix[DYN_MAX_DRIVEN * DYN_MAX_DRIVEN], inverse[DYN_MAX_DRIVEN * DYN_MAX_DRIVEN]; /* n x n */
    api_document_coupled_motor motor[DYN_MAX_DRIVEN];
} api_document_transmission;

/* A position of the robot that has a name. */
typedef struct api_document_configuration {
    const char   *name;
    const json_t *positions; /* an object from names of coordinates to numbers, of the document that was read */
} api_document_configuration;

typedef struct api_document {
    json_t              *canonical;   /* canonical document; its name is that of the request path */
    const char          *description; /* NULL: none */
    const char          *base;        /* name of the base link */
    bool                 floating;
    bool                 accepts_indefinite; /* bodies may have negative principal moments: reported, not refused */
    dyn_inertia          base_inertia;
    api_document_visuals base_visuals;
    double               base_rotor_inertia, base_damping, base_gravity_compensation; /* values of a floating base */
    double               gravity[3];
    bool                 from_screws; /* true: the document has "screws", so no pointer may refer to "links" */
    size_t               n_links;     /* number of links without the base link */
    api_document_link   *links;
    int                 *order; /* [n_links] indices of links, depth-first, children in document order */
    size_t               n_motors;
    api_document_motor  *motors;
    size_t               n_transmissions;
    api_document_transmission *transmissions;
    size_t                     n_frames, n_listed; /* all frames; the first n_listed of them are not defined by loops */
    api_document_frame        *frames;
    size_t                     n_loops;
    api_document_loop         *loops;
    size_t                     n_configurations;
    api_document_configuration *configurations;
    size_t                      n_locks;
    api_document_lock          *locks;
    bool                        has_tip; /* true: "screws" gives the frame `tip`, the last listed frame */
    api_document_frame          tip;
} api_document;

/* Reads and checks a whole document. On failure the reader's problem is set. The caller releases
 * `document->canonical` in either case. */
bool api_document_read(api_document *document, api_reader *reader, const json_t *in, const char *name,
                       size_t max_links);

/* The following functions read parts of a document. Each returns false after setting the reader's problem. */

/* Reads "joint" of a link. api_document_build_tree checks that the joint's name is unique. */
bool api_document_read_joint(const api_entry *link_node, api_document_link *link);

/* Reads the axis at `key` of a joint, a loop or a motor, and normalises it to length 1. The canonical document keeps
 * the axis as given, so that reading the canonical document gives the same bits. */
bool api_document_read_axis(const api_entry *owner, const char *key, double axis[3]);

/* Reads "velocity", "effort", "effort_rate", "acceleration", "jerk" and "effort_speed" of the entry "limits" of a joint
 * or of a motor.
 */
bool api_document_read_drive_limits(const api_entry *entry, api_drive_limits *limits);

bool api_document_read_configurations(const api_entry *root, api_document *document);

/* Reads "locked". When the tree is built, api_document_lock_joints fixes these joints and those that mimic them, and
 * takes their motors and transmissions away; it reports each. */
bool api_document_read_locked(const api_entry *root, api_document *document);
bool api_document_lock_joints(api_document *document, api_reader *reader);
/* True if `coordinate` is a position coordinate that a locked joint or motor had. */
bool api_document_has_lost(const api_document *document, const char *coordinate);

/* Read "friction" of a joint or motor, and "spring" and "elastic" of a joint. A floating base has the spring of a
 * floating joint. */
bool api_document_read_friction(const api_entry *owner, dyn_friction *friction);
bool api_document_read_spring(const api_entry *joint, dyn_joint_kind kind, dyn_spring *spring);
bool api_document_read_elastic(const api_entry *joint, dyn_link *link);

/* Checks the load coefficients of the friction of all joints and motors, when the motors are attached: a mimic has
 * none, an elastic joint has that of its motor, and models with loops have none. */
bool api_document_check_loads(const api_document *document, api_reader *reader);

/* Reads "motors". After the tree is built, api_document_attach_motors adds each motor's inertia to the link that
 * carries the motor, and its rotor to the joint that it drives. */
bool api_document_read_motors(const api_entry *root, api_document *document, size_t max_links);
bool api_document_attach_motors(api_document *document, api_reader *reader);

/* Reads "transmissions". After the tree is built and the joints are found, api_document_check_transmissions refuses
 * joints that cannot be in one, and names that are taken. */
bool api_document_read_transmissions(const api_entry *root, api_document *document);
bool api_document_check_transmissions(const api_document *document, api_reader *reader);

/* Reads "origin" of a joint into link->before and link->after, the constant poses before and after the joint's
 * motion. *dh is true for the Denavit-Hartenberg forms, whose joint axis is z. */
bool api_document_read_origin(const api_entry *joint_node, dyn_link *link, bool *dh);

/* Reads "modified_dh" of an origin or of a loop's frame: the pose at joint coordinate zero. */
bool api_document_read_modified_dh(const api_entry *owner, dyn_pose *X);

/* Checks that the matrix T (4x4, row-major) at `place` is a rigid transform, and writes it to X. A rotation that
 * differs from an orthogonal matrix by more than 1e-12 is orthonormalised and reported, by more than 1e-6 refused. */
bool api_document_check_transform(const api_entry *place, const double *T, dyn_pose *X);

/* Reads "inertial" of a link: values, or a homogeneous solid. Without the field the link has no mass. An indefinite
 * tensor is refused if the inertia is `alone`; otherwise it is that of a link, for api_document_check_bodies. */
bool api_document_read_inertial(const api_entry *link_node, const char *link, dyn_inertia *inertia, bool alone);
/* Reads "solid" and "size" of an entry: a box, cylinder, sphere, ellipsoid or capsule. */
bool api_document_read_solid(const api_entry *entry, api_solid *solid, double size[3]);

enum { API_MOST_VISUALS = 1000 /* shapes of one link */, API_MOST_SHAPES = 10000 /* shapes of all links together */ };

/* Reads "visual" of a link or base: the shapes that it looks like. */
bool api_document_read_visuals(const api_entry *owner, api_document_visuals *visuals);

/* Refuses an inertia that is not physical, and reports a suspicious one. `link` is the name of the link. */
bool api_document_check_inertia(const api_entry *place, const char *link, const dyn_inertia *inertia);

/* Refuses links and a base with indefinite tensors unless the document accepts them. Reports links whose own tensor is
 * indefinite while their body, with the links that are fixed to it, is accepted. */
bool api_document_check_bodies(const api_document *document, api_reader *reader);
/* Sums inertias of bodies: sum[i + 1], of n_links + 1, is that of link i with the links fixed to it, in its frame, and
 * sum[0] that of the base. */
void api_document_sum_bodies(const api_document *document, dyn_inertia *sum);
/* A body, and whether it is a point mass: without inertia about an axis about which it turns. */
typedef struct api_document_point {
    bool is_point;
    bool on_axis; /* true: the point has inertia about other axes */
    bool all;     /* true: the point turns about all axes */
    int  joint;   /* index of the link whose joint rotates the point mass; DYN_WORLD: the floating base */
} api_document_point;

/* Sets points[i + 1], of n_links + 1, for link i, and points[0] for the base, from their sums of inertias. In
 * document_points.c. */
bool api_document_find_points(const api_document *document, api_reader *reader, const dyn_inertia *sum,
                              api_document_point *points);

/* Reads "loops". api_loops_build checks that the frames of the loops exist. */
bool api_document_read_loops(const api_entry *root, api_document *document);

/* Reads "screws": the whole chain of links, and the frame `tip`. */
bool api_document_read_screws(const api_entry *root, api_document *document, size_t max_links);

/* Builds the tree: checks that names are unique and parents exist without a cycle, and finds the depth-first order
 * and the links of frames. */
bool api_document_build_tree(api_document *document, api_reader *reader);

/* Names of all joints, for a message about an unknown joint name. */
api_names api_document_joint_names(const api_document *document);

/* Finds the independent joint at the end of each chain of mimic joints, and composes the ratios and offsets. */
bool api_document_resolve_mimics(api_document *document, api_reader *reader);

/* Adds entries to the report about the finished tree: merged links, values without effect, suspicious values. */
bool api_document_review(const api_document *document, api_reader *reader);

/* Reports lengths, angles, masses and inertias that are valid, but implausible for a robot of this size. */
bool api_document_check_figures(const api_document *document, api_reader *reader);

enum { API_COORDINATE_NAME = 272 }; /* bytes of a coordinate's name, NUL included */

/* Suffixes that form the names of a joint's coordinates, "" for the joint's own name; NULL ends the list. */
const char *const *api_joint_coordinate_suffixes(const api_document_link *link, bool velocities);

/* Names of the coordinates of a floating base, in the order of q and of qd. */
extern const char *const api_base_position_names[7];
extern const char *const api_base_velocity_names[6];
