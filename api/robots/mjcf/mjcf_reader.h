/* mjcf_reader.h - types and functions shared by mjcf*.c. An api_mjcf lives while one file is read; the arena of its
 * reader owns all its arrays. */
#pragma once
#include "api/robots/link_shapes/xml_visual.h"
#include "api/robots/mesh_inertia/mesh.h"
#include "api/robots/xml/xml_document.h"
#include "mjcf.h"

/* Elements that have defaults. All kinds of actuators share one entry. */
typedef enum api_mjcf_kind {
    API_MJCF_GEOM,
    API_MJCF_JOINT,
    API_MJCF_SITE,
    API_MJCF_EQUALITY,
    API_MJCF_MESH,
    API_MJCF_TENDON,
    API_MJCF_ACTUATOR,
    API_MJCF_KINDS
} api_mjcf_kind;

enum {
    API_MJCF_NO_CLASS  = -1,
    API_MJCF_OWN       = -2, /* cursor of api_mjcf_next_level before the item's own element */
    API_MJCF_ACTUATORS = 15  /* an upper bound of the number of kinds of actuators */
};

/* A class of defaults: <default class="...">. */
typedef struct api_mjcf_class {
    int            parent;                     /* class that it extends, or API_MJCF_NO_CLASS */
    const xmlNode *element[API_MJCF_ACTUATOR]; /* NULL: the class has no defaults for the kind */
    size_t         n_actuators;
    const xmlNode
        *actuator[API_MJCF_ACTUATORS]; /* [n_actuators], one of each name; a later one replaces earlier ones */
} api_mjcf_class;

/* An element whose attributes may come from its class. */
typedef struct api_mjcf_item {
    const xmlNode *element;
    api_mjcf_kind  kind;
    int            class_index; /* API_MJCF_NO_CLASS: it has no defaults */
} api_mjcf_item;

typedef enum api_mjcf_from_geom { API_FROM_GEOM_NEVER, API_FROM_GEOM_ALWAYS, API_FROM_GEOM_AUTO } api_mjcf_from_geom;

/* The <compiler> settings of a file and of the files that it includes, with MuJoCo's defaults. */
typedef struct api_mjcf_compiler {
    bool        radians, global, auto_limits, balance_inertia;
    char        euler[4];                  /* sequence of axes: lower case turns with the body, upper case stays */
    int         inertia_from_geom;         /* an api_mjcf_from_geom */
    double      inertia_groups[2];         /* groups of geoms that have mass */
    double      bound_mass, bound_inertia; /* least mass and principal moments of bodies */
    double      total_mass;                /* <= 0: masses are not scaled */
    bool        exact_meshes; /* exactmeshinertia, until MuJoCo 3.2: rule "exact" where a mesh states none */
    bool        fit_aabb;     /* shapes fitted to a mesh have its bounding box; false: its inertia box */
    bool        strip_path;   /* names of files are used without their folders */
    const char *mesh_folder, *asset_folder; /* folder of meshes, and of assets whose kind has none; NULL: not stated */
    bool        fuse_static;
    bool        align_free; /* free joints with align="auto" are aligned */
    int         conflict;   /* an api_mjcf_conflict: what becomes of the options of attached models */
} api_mjcf_compiler;

typedef enum api_mjcf_conflict { API_CONFLICT_WARNING, API_CONFLICT_MERGE, API_CONFLICT_ERROR } api_mjcf_conflict;

/* <option>, with MuJoCo's defaults. */
typedef struct api_mjcf_option {
    double gravity[3];
    bool   states_gravity, states_flags; /* true: a file contains gravity, flags */
    bool   no_gravity, no_passive, no_springs, no_dampers, no_constraints, no_friction, no_limits, no_equalities,
        no_control_limits; /* true: disabled by <flag> */
} api_mjcf_option;

typedef struct api_mjcf_joint {
    const xmlNode      *element;
    api_mjcf_item       item;
    const char         *name;       /* unique in the document */
    const char         *given_name; /* NULL: none */
    api_mjcf_joint_type type;
    int                 body;
    double              pos[3], axis[3]; /* in the body frame; axis of length 1 */
    double              ref;
    bool                locked; /* true: an equality holds the joint at `offset` */
    bool                pinned; /* true: a ball joint that replaces a free joint: mjcf_hold.c */
    int                 leader; /* joint that this one follows, or -1: q = multiplier q_leader + offset */
    double              multiplier, offset;
    double              effort[2];   /* least and greatest sum of its actuators' forces, which may be infinite */
    const xmlNode      *effort_from; /* element of the range that limits it; NULL: none */
    bool                has_effort;
    double              most;             /* limit of effort in the document, with has_effort */
    double              motor_armature;   /* kg m^2 or kg: armature of its actuators and tendons, at the joint */
    double              motor_damping;    /* N m s/rad or N s/m: damping of its actuators and tendons, at the joint */
    double              tendon_friction;  /* N m or N: dry friction of its tendons, at the joint */
    double              tendon_stiffness; /* N m/rad or N/m, of the springs of its tendons */
    double              tendon_effort;    /* N m or N: effort of these springs at q = 0, positive if it increases q */
    bool                in_tendon;        /* a transmission of the document has the joint, because of a tendon */
    bool                gravcomp_by_actuators; /* actuatorgravcomp="true" */
    bool                has_springdamper;
    double              springdamper[2]; /* stiffness and damping that `springdamper` asks for */
    size_t              coordinate;      /* first coordinate in mjcf_springdamper.c */
    bool                driven;          /* an actuator acts on it */
    bool                passive;         /* a loop determines it */
    const char         *ball;            /* the ball joint whose hinge number `part` this is; see mjcf_rod.c */
    int                 part;            /* 1 to 3; 0: none */
} api_mjcf_joint;

/* A mesh of <asset>, which is read when the mass of a geom needs it. */
typedef struct api_mjcf_mesh {
    const xmlNode *element;
    api_mjcf_item  item;
    const char    *name;
    bool           is_read;
    const char    *failure;         /* the reason why it cannot be read, as a clause; NULL: it could */
    api_mesh_body  body;            /* with density 1, in the frame of the vertices after refpos, refquat and scale */
    dyn_pose       axes;            /* principal axes at the centre of mass, as MuJoCo finds them, in that frame */
    double         box[3];          /* m, half edges of the box along the axes that has the same inertia */
    double         low[3], high[3]; /* m, bounds of the vertices along the axes */
} api_mjcf_mesh;

/* A geom whose mass or size follows from a mesh. */
typedef struct api_mjcf_mesh_geom {
    api_mjcf_item              item;
    int                        type; /* index of its type in mjcf_geom.c */
    dyn_pose                   X;    /* pose of the geom in the body frame */
    struct api_mjcf_mesh_geom *next;
} api_mjcf_mesh_geom;

/* A visual shape of a body. */
typedef struct api_mjcf_visual {
    api_xml_visual          visual; /* visual.shape.X is the pose in the body */
    struct api_mjcf_visual *next;
} api_mjcf_visual;

typedef struct api_mjcf_body {
    const xmlNode *element, *inertial; /* `inertial` NULL: there is none */
    dyn_pose       X_bi;               /* pose of the frames around `inertial`, in the body */
    const char    *name;               /* name of the body's link, unique in the document */
    const char    *given_name;         /* NULL: none */
    int            parent;             /* -1: the world */
    int            class_index;        /* class of its children */
    dyn_pose       X_pb, X_wb;         /* pose in the parent, and in the world at the reference position */
    dyn_pose       stated;             /* pose in the file, in the frames around the body */
    size_t         first_joint, n_joints;
    bool           moves;       /* the body or an ancestor has joints */
    bool           mocap;       /* <body mocap="true"> */
    bool        fused_to_world; /* fusestatic merges the body into the world, so its mass does not count in the total */
    double      gravcomp;
    dyn_inertia inertia;    /* in the body frame */
    dyn_inertia from_geoms; /* sum over its geoms */
    size_t      n_geoms;    /* geoms in `from_geoms` */
    dyn_pose    principal;  /* inertial frame as the file states it, with has_principal */
    bool        has_principal, aligned;
    api_mjcf_visual    *visuals;    /* list of its shapes, the last one first */
    api_mjcf_mesh_geom *mesh_geoms; /* list of its geoms whose mass follows from a mesh, the last one first */
} api_mjcf_body;

typedef struct api_mjcf_site {
    const xmlNode *element;
    const char    *name, *given_name;
    int            body; /* -1: the world */
    dyn_pose       X_bs;
} api_mjcf_site;

/* A loop of the document: connect or weld. */
typedef struct api_mjcf_loop {
    const xmlNode *element;
    const char    *name;
    const char    *type; /* a loop type of the document */
    int            body[2];
    dyn_pose       X[2]; /* frame a in body[0], frame b in body[1] */
} api_mjcf_loop;

/* A file with the files that it includes: the robot's own, or one that an <asset><model> names. */
typedef struct api_mjcf_submodel {
    const xmlNode        *root;
    const xmlNode        *declared; /* the <model> that names it; NULL: the robot's file */
    size_t                outer;    /* index of the model whose <asset> names it */
    const api_file_entry *entry;    /* NULL: the robot's file, if no other files came with it */
} api_mjcf_submodel;

enum { API_MJCF_MODELS = 100, API_MJCF_COPIES = 65536 /* elements that <replicate> and <attach> make */ };

/* The parsed files. The first is the one that was given; the others must live as long. */
typedef struct api_mjcf_files {
    const api_model_source *source;
    size_t                  n, n_models;
    xmlDoc                 *file[API_XML_FILES];
    const char             *name[API_XML_FILES];     /* name by which the including file refers to it */
    const api_file_entry   *entry[API_XML_FILES];    /* NULL: the first file, if no other files came with it */
    unsigned char           model_of[API_XML_FILES]; /* index of the model that a file belongs to */
    unsigned short    included_by[API_XML_FILES];    /* index of the file whose element names a file; 0 of the first */
    api_mjcf_submodel model[API_MJCF_MODELS];
    size_t            claimed; /* bytes of the request's budget, for the files after the first */
} api_mjcf_files;

typedef struct api_mjcf {
    api_xml_reader          xml;
    const api_model_source *source;
    api_xml_document        document;
    api_mjcf_equality       equality;
    const api_mjcf_files   *files;
    api_mjcf_compiler      *compilers; /* [files->n_models] */
    api_mjcf_option         option;
    json_t                 *class_index; /* map from names of classes to indices */
    json_t                 *shadows;     /* "model name" -> class that elements inherit for it: mjcf_attach_class.c */
    size_t                  n_classes;
    api_mjcf_class         *classes;
    int                     main_class;
    size_t                  n_bodies, n_joints, n_sites, n_loops;
    bool                    generates;    /* a <composite> or <flexcomp> would make bodies that the model lacks */
    size_t                  n_copies;     /* elements that <replicate> and <attach> have made */
    size_t                  n_named;      /* classes that <attach> has compared */
    size_t                  n_fixed;      /* free bodies that an equality holds to the world */
    const char             *undetermined; /* name of a ball or free joint that the loops do not determine; NULL: none */
    api_mjcf_body          *bodies;       /* parents before children, depth-first */
    api_mjcf_joint         *joints;       /* in the order of their bodies */
    api_mjcf_site          *sites;
    api_mjcf_loop          *loops;
    size_t                  n_tendons;
    struct api_mjcf_tendon *tendons;                                            /* mjcf_tendon.h */
    json_t                 *tendon_index;                                       /* map from given names */
    json_t                 *body_index, *joint_index, *site_index, *mesh_index; /* maps from given names */
    json_t                 *material_index; /* map from names of materials to their rgba, where they state one */
    size_t                  n_undrawn;      /* geoms that MuJoCo draws and the document lacks */
    const xmlNode          *undrawn;        /* the first of the undrawn geoms */
    size_t                  n_visuals;      /* shapes of all bodies */
    size_t                  n_meshes, n_mesh_faces; /* n_mesh_faces: of all meshes that were read */
    api_mjcf_mesh          *meshes;
    size_t                  n_unnamed;
    const xmlNode          *unnamed; /* the first body or joint without a name */
} api_mjcf;

/* Opens another file that an element names: the file is in the folder of its model's file or, if that has none, in the
 * folder of the file that names it. NULL with a problem. */
const api_file_entry *api_mjcf_find_file(api_xml_reader *reader, const api_mjcf_files *files, const xmlNode *element,
                                         const char *name);
/* Parses a file that api_mjcf_find_file has found, which the element calls `name`, as a part of a model. The tree
 * shares the names of the first file, so that nodes may move there. NULL with a problem. */
const xmlNode *api_mjcf_parse_file(api_xml_reader *reader, api_mjcf_files *files, const xmlNode *element,
                                   const api_file_entry *found, const char *name, size_t model);
/* Moves the elements of included files into the tree of a model. */
bool api_mjcf_include(api_xml_reader *reader, api_mjcf_files *files, size_t model);

/* Replaces each <attach> by copies from the model that it names. Defaults, assets and all elements that refer to a
 * copied element are copied, too. Called after api_mjcf_include. */
bool api_mjcf_attach(api_mjcf *m, api_mjcf_files *files);

/* Index of the model whose file an element comes from; copies of the element keep it. */
static inline size_t api_mjcf_model_of(const api_mjcf_files *files, const xmlNode *element)
{
    return files->model_of[api_xml_file(element)];
}
/* The <compiler> that applies to an element. */
static inline const api_mjcf_compiler *api_mjcf_compiler_of(const api_mjcf *m, const xmlNode *element)
{
    return &m->compilers[api_mjcf_model_of(m->files, element)];
}

/* Reads all <default> sections. */
bool api_mjcf_read_classes(api_mjcf *m);
/* Sets *class_index to that of the attribute `attribute` of an element; unchanged when it is absent. */
bool api_mjcf_find_class(api_mjcf *m, const xmlNode *element, const char *attribute, int *class_index);
/* Sets *item to an element with its class of defaults: that of its attribute `class`, else `inherited`, the class that
 * its body passes on. False: no such class. */
bool api_mjcf_open_item(api_mjcf *m, const xmlNode *element, api_mjcf_kind kind, int inherited, api_mjcf_item *item);
/* Returns the element with the attribute: the item's own, or that of the nearest class; the item's own if none has. */
const xmlNode *api_mjcf_with(const api_mjcf *m, const api_mjcf_item *item, const char *attribute);
/* Steps through an item's own element and those of its classes; *cursor begins as API_MJCF_OWN. NULL: no more. */
const xmlNode *api_mjcf_next_level(const api_mjcf *m, const api_mjcf_item *item, int *cursor);

enum { API_MJCF_SPAN = 10 }; /* most numbers that api_mjcf_span reads */

/* Read an optional attribute of an item or its classes, like the functions of xml_reader.h. Numbers missing in a span
 * are those of the class, as in MuJoCo: stiffness="1" keeps the higher powers of the class. */
bool api_mjcf_numbers(api_mjcf *m, const api_mjcf_item *item, const char *attribute, double *v, size_t n);
bool api_mjcf_span(api_mjcf *m, const api_mjcf_item *item, const char *attribute, api_xml_span *span);
bool api_mjcf_choice(api_mjcf *m, const api_mjcf_item *item, const char *attribute, const char *const *values,
                     int *index);
bool api_mjcf_has(const api_mjcf *m, const api_mjcf_item *item, const char *attribute);

/* Sets *limits to whether a range limits by itself: its ends are in order. Reports one that does not, but for 0 0. */
bool api_mjcf_range_limits(api_mjcf *m, const xmlNode *element, const char *attribute, const double range[2],
                           bool *limits);

/* Fails if a value that was computed from several of the file is infinite or NaN. `what` names the value. */
bool api_mjcf_check_finite(api_mjcf *m, const xmlNode *element, const char *what, double value);

/* Reads the coefficients of the powers of a polynomial, "damping" or "stiffness": one to three, the others are those of
 * the class, else 0. */
bool api_mjcf_polynomial(api_mjcf *m, const api_mjcf_item *item, const char *attribute, double c[3]);
/* Like api_mjcf_polynomial, where the model has only the linear coefficient, *linear. Reports the others. */
bool api_mjcf_coefficients(api_mjcf *m, const api_mjcf_item *item, const char *attribute, double *linear);

/* Reads <compiler> and <option>. */
bool api_mjcf_read_settings(api_mjcf *m);

/* Replaces each <replicate> by frames with its copies; after the settings, before all other sections. */
bool api_mjcf_expand_replicates(api_mjcf *m);

/* Reads pos and orientation of an item, or its fromto: the pose in the frame that the file means. *length receives half
 * the distance of the ends of fromto, or 0 without fromto. */
bool api_mjcf_read_pose(api_mjcf *m, const api_mjcf_item *item, dyn_pose *X, double *half_length);
/* Reads pos and orientation of an element without defaults and fromto. */
bool api_mjcf_read_plain_pose(api_mjcf *m, const xmlNode *element, dyn_pose *X);
/* Divides a vector by its length; fails for zero. */
bool api_mjcf_normalise(api_mjcf *m, const xmlNode *element, const char *attribute, double *v, size_t n);

/* Reads <worldbody>: bodies, joints, sites, and the inertias of geoms. */
bool api_mjcf_read_bodies(api_mjcf *m);
/* Sets the names of bodies, joints and sites. */
bool api_mjcf_name_all(api_mjcf *m);
/* Sets *name to that of a mesh or height field: stated, or that of its file without folders and ending. NULL: none. */
bool api_mjcf_asset_name(api_mjcf *m, const xmlNode *element, const char **name);
/* Adds a geom's inertia to `from_geoms` of its body, or the geom to `mesh_geoms`. X is the geom's pose in the body;
 * half_length as of fromto. */
bool api_mjcf_add_geom(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, double half_length,
                       api_mjcf_body *body);
/* Reads the solid of a geom with sizes as inertia.h has them; *solid is API_SOLIDS for other geoms. */
bool api_mjcf_read_solid(api_mjcf *m, const api_mjcf_item *geom, double half_length, api_solid *solid, double size[3]);
/* Adds a geom that MuJoCo draws by default to `visuals` of its body. One that a document cannot hold is left out. */
bool api_mjcf_add_visual(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, double half_length,
                         api_mjcf_body *body);
/* Appends the shapes of a body to "visual" of a link or base of the document. */
bool api_mjcf_write_visuals(api_mjcf *m, const api_mjcf_body *body, json_t *owner);
/* Reports how many geoms that MuJoCo draws are not in the document. */
bool api_mjcf_report_visuals(api_mjcf *m);
/* Reads the colours of all materials of <asset>. */
bool api_mjcf_index_materials(api_mjcf *m);
/* Adds the inertias of `mesh_geoms` to `from_geoms`. */
bool api_mjcf_add_meshes(api_mjcf *m, api_mjcf_body *body);
/* Reads the names of all meshes of <asset>. */
bool api_mjcf_index_meshes(api_mjcf *m);
/* Finds the mesh that a geom names, and measures it. If the mesh cannot be measured, *mesh is NULL and *reason a
 * clause. False with a problem that ends the reading. */
bool api_mjcf_read_mesh(api_mjcf *m, const api_mjcf_item *geom, const api_mjcf_mesh **mesh, const char **reason);
/* Reads vertices and faces of a mesh from its file, its element or a built-in shape; without faces the mesh is its
 * convex hull. If it cannot be read, `reason`, which must be "" on entry, receives a clause; false with a problem of
 * the element. */
bool api_mjcf_load_mesh(api_mjcf *m, const api_mjcf_mesh *mesh, api_arena *arena, api_mesh *to, api_mesh_rule *rule,
                        char reason[API_MESH_REASON]);
extern const char *const api_mjcf_mesh_rules[API_MESH_RULES + 1]; /* names of the rules, ended by NULL */

/* Principal moments and axes, in MuJoCo's order and with its choice of axes. `coarse`: ends, as MuJoCo 3.14 does for a
 * mesh, at products of inertia of 1e-7 times the largest entry, which the moments do not contain. */
void api_mjcf_find_axes(const double T[6], bool coarse, dyn_pose *X, double moments[3]);

/* Applies <compiler fusestatic>: marks bodies that lose their masses, and gives fused bodies the gravcomp of those that
 * they are merged into. */
bool api_mjcf_fuse(api_mjcf *m);
/* Aligns free bodies with their inertial frames. */
bool api_mjcf_align(api_mjcf *m);
/* Sets the inertia of every body. */
bool api_mjcf_read_masses(api_mjcf *m);

/* True if an attribute names a body, joint or site that only a <composite> or <flexcomp> can have made. */
bool api_mjcf_names_generated(const api_mjcf *m, const xmlNode *element);

/* Reads <equality>: couples joints and collects loops. */
bool api_mjcf_read_equalities(api_mjcf *m);
/* Pose of a body in the world at the reference position. `body` -1: the world. */
dyn_pose api_mjcf_pose_of(const api_mjcf *m, int body);
/* Replaces the free joint of a body that a loop holds to the world, by a fixed or a ball joint. *done: the joint is
 * replaced, and the loop need not be kept. */
bool api_mjcf_hold_free_body(api_mjcf *m, const api_mjcf_loop *loop, bool *done);
/* Writes <keyframe> to the document: the positions of its keys are configurations. `base`: the body that is the
 * floating base, or NULL. */
bool api_mjcf_write_keyframes(api_mjcf *m, const api_mjcf_body *base);
/* Reads <actuator>: which joints are driven, and their limits of effort. */
bool api_mjcf_read_actuators(api_mjcf *m);

/* Replaces each ball joint of a rod that can spin about its own axis by three hinges. Called by
 * api_mjcf_choose_driven. */
bool api_mjcf_split_rods(api_mjcf *m);
/* Angle of `part`, one of the three hinges that replace a ball joint with the unit quaternion w x y z. */
double api_mjcf_part_angle(const api_mjcf_joint *part, const double quaternion[4]);
/* Chooses the joints of the loops that are actuated in the model; called after the actuators are read. */
bool api_mjcf_choose_driven(api_mjcf *m);

/* Computes the stiffness and damping that `springdamper` asks for; after bodies, masses and actuators. */
bool api_mjcf_read_springdampers(api_mjcf *m);

/* Sets `gravity` to that of the file, minus the share that all bodies compensate alike. */
bool api_mjcf_read_gravity(api_mjcf *m, double gravity[3]);

/* True for ball and free joints. */
bool api_mjcf_has_several(const api_mjcf_joint *joint);
/* Sets *springref to that of a joint with one coordinate, in rad or m. */
bool api_mjcf_read_springref(api_mjcf *m, const api_mjcf_joint *joint, double *springref);
/* Sets *armature to that of a joint and its actuators. */
bool api_mjcf_read_armature(api_mjcf *m, const api_mjcf_joint *joint, double *armature);
/* Returns all fields of a joint in the document but its name, type and origin; *type is its type. NULL with a problem.
 */
json_t *api_mjcf_joint_fields(api_mjcf *m, const api_mjcf_joint *joint, const char **type);
/* Writes armature and damping of a ball or free joint into the fields of the joint or of the base, and reports the
 * forces that a document cannot hold. */
bool api_mjcf_write_several(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields);

/* Writes the document. */
bool api_mjcf_write_document(api_mjcf *m);

/* Reports everything in the file that was not read. */
bool api_mjcf_report_unused(api_mjcf *m);
