/* sdf_reader.h - types and functions shared by sdf*.c. An api_sdf lives while one file is read; the arena of its reader
 * owns all its arrays. */
#pragma once
#include "api/robots/link_shapes/xml_collision.h"
#include "api/robots/xml/xml_document.h"
#include "api/robots/xml/xml_options.h"
#include "sdf.h"

enum {
    API_SDF_MODEL = 0, /* index of the outermost model among the frames */
    API_SDF_WORLD = -1,
    API_SDF_NONE  = -2
};

typedef enum api_sdf_kind { API_SDF_IS_MODEL, API_SDF_IS_LINK, API_SDF_IS_JOINT, API_SDF_IS_FRAME } api_sdf_kind;

/* A model, link, joint or frame: each has a frame of its own. */
typedef struct api_sdf_frame {
    api_sdf_kind   kind;
    const xmlNode *element;
    const char
        *name;  /* scoped name without that of the outermost model, such as "arm::elbow"; "" for the outermost model */
    int  scope; /* the model that it is in; API_SDF_NONE: it is the outermost */
    bool of_world; /* a joint of the world: the names that it refers to are those of the world */
    bool still;    /* a nested model that is static */
    bool resolved, visiting;
    dyn_pose X;    /* pose in the frame of `scope` */
    int      link; /* the link that the frame is fixed to, or API_SDF_WORLD; of a joint, its child */
    /* The following members belong to a link. */
    dyn_inertia inertia;
    bool        weightless; /* <gravity> is false */
    const char *link_name;  /* name of the link in the document */
} api_sdf_frame;

/* An axis of a joint. */
typedef struct api_sdf_axis {
    const xmlNode *element; /* NULL: the joint has none */
    double         axis[3]; /* unit vector in the joint frame */
} api_sdf_axis;

typedef enum api_sdf_type {
    API_SDF_FIXED,
    API_SDF_REVOLUTE,
    API_SDF_CONTINUOUS,
    API_SDF_PRISMATIC,
    API_SDF_BALL,
    API_SDF_UNIVERSAL,
    API_SDF_REVOLUTE2,
    API_SDF_SCREW,
    API_SDF_GEARBOX
} api_sdf_type;

/* The joint that a part of a joint follows: q = multiplier q_leader + offset. */
typedef struct api_sdf_mimicked {
    int    leader, part; /* joint, or -1: none; and its part */
    double multiplier, offset;
} api_sdf_mimicked;

typedef struct api_sdf_joint {
    int          frame; /* index of its frame */
    api_sdf_type type;
    int          parent, child; /* links, or API_SDF_WORLD */
    api_sdf_axis axis[2];
    double       pitch;          /* m/rad, of a screw joint */
    double       rotor[2];       /* inertia of the rotor of each axis, at the joint, in kg m^2 or kg */
    const char  *name[2];        /* names in the document: of the joint, or of both parts of a joint with two axes */
    bool         used, reversed; /* used: the joint carries a link of the tree, its child or, if reversed, its parent */
    bool         passive[2];     /* true: the loops determine this part from the driven joints */
    api_sdf_mimicked follows[2]; /* mimics of the joint or of both its parts */
} api_sdf_joint;

/* The parsed files. The first is the one that was given; the others must live as long. */
typedef struct api_sdf_files {
    const api_model_source *source;
    size_t                  n;
    xmlDoc                 *file[API_XML_FILES];
    const char             *name[API_XML_FILES];     /* the URI of the include */
    const api_file_entry   *entry[API_XML_FILES];    /* NULL: the first file, if no other files came with it */
    unsigned                includer[API_XML_FILES]; /* number of the file that includes it */
    int                     minor[API_XML_FILES];    /* the file's version is 1.minor */
    size_t                  claimed;                 /* bytes of the request's budget, for the included files */
} api_sdf_files;

typedef struct api_sdf {
    api_xml_reader   xml;
    api_sdf_files   *files;
    api_xml_document document;
    api_sdf_base     base;
    api_sdf_mimic    mimic;
    char             wanted[API_XML_OPTION_TEXT]; /* name of the requested model; "": none */
    bool             loops_open;                  /* loops=open: joints that close loops are left out */
    bool             has_loops;                   /* the model has loops */
    const char      *undetermined;                /* name of a ball joint that the loops do not determine; NULL: none */
    bool             no_zero_limits;              /* zero_limits=none: limits of 0 count as none */
    int              minor;                       /* the version of the first file is 1.minor */
    const xmlNode   *world;                       /* NULL: the file has a model only */
    const xmlNode   *model;
    dyn_pose         X_wm;    /* pose of the model in the world */
    const double    *gravity; /* NULL: not stated */
    double           stated_gravity[3];
    size_t           n_frames, n_joints;
    api_sdf_frame   *frames;
    api_sdf_joint   *joints;
    unsigned         depth;             /* recursion depth of poses that are relative to other poses */
    bool             weighs_collisions; /* true: some link takes its inertia from its collisions */
    json_t          *index;             /* map from names to indices of frames */
} api_sdf;

/* Versions of SDF that change the meaning of a file. */
enum {
    API_SDF_AXES_OF_JOINT =
        5, /* from this version on, axes are in the joint frame; before, in the frame of the outermost model */
    API_SDF_GRAVITY_OF_WORLD = 6, /* from this version on, gravity belongs to the world; before, to its <physics> */
    API_SDF_FRAMES           = 7, /* from this version on, relative_to and expressed_in replace `frame` and
                                     use_parent_model_frame, and links, joints and frames share one name space */
    API_SDF_JOINTS_OF_WORLD = 10,
    API_SDF_LATEST          = 12
};

/* Reads the version of the outermost element of a file as 1.minor. */
bool api_sdf_read_version(api_sdf *sdf, const xmlNode *root, int *minor);
/* Minor version of the file that an element was read from. */
int api_sdf_minor(const api_sdf *sdf, const xmlNode *element);
/* Replaces the includes of the first file by the models of other files. */
bool api_sdf_include(api_sdf *sdf);
/* Moves the elements of an included model into the model that contains it, and removes the included model. */
bool api_sdf_merge(api_sdf *sdf, xmlNode *model);
/* Chooses the model among those in a world or in <sdf>: the only one that is not static, or the requested one. */
bool api_sdf_choose_model(api_sdf *sdf, const xmlNode *in);
/* Reads a pose: the element <pose> in `owner`, identity without it. */
bool api_sdf_read_pose(api_sdf *sdf, const xmlNode *owner, dyn_pose *X);
/* Reads a number or flag: the content of the first element of that name in `owner`, unchanged without it. */
bool api_sdf_number(api_sdf *sdf, const xmlNode *owner, const char *name, double *value);
bool api_sdf_flag(api_sdf *sdf, const xmlNode *owner, const char *name, bool *flag);
/* Reads the content of a needed element in `owner`. */
bool api_sdf_text(api_sdf *sdf, const xmlNode *owner, const char *name, const char **text);

/* Collects all models, links, joints and frames of the model, and resolves their poses and links. */
bool api_sdf_read_frames(api_sdf *sdf);
/* Collects the frames of the model and the joints of the world; *n is the number of frames of the model, which come
 * first. */
bool api_sdf_collect(api_sdf *sdf, size_t *n);
/* Finds the frame that an element of `user` refers to by name: in the model of `user` or, for a joint of the world, in
 * the world. API_SDF_NONE after a problem at `element`; API_SDF_WORLD only for joints of the world. */
int api_sdf_find_frame(api_sdf *sdf, const xmlNode *element, const api_sdf_frame *user, const char *name);
/* True for a link in a nested model that is static: it is fixed to the world. */
bool api_sdf_is_still(const api_sdf *sdf, int link);
/* Pose of a frame in the frame of a model that contains it, which must be resolved. */
dyn_pose api_sdf_pose_in(const api_sdf *sdf, int frame, int model);
/* Pose of a link or joint in the world. */
dyn_pose api_sdf_in_world(const api_sdf *sdf, int frame);

/* Reads the shape in a <geometry> into kind, solid, size, file and scale of `shape`. */
bool api_sdf_read_geometry(api_sdf *sdf, const xmlNode *geometry, api_collision *shape);
/* Reads the pose of a collision or visual in its link; the pose may name another frame than the link's. */
bool api_sdf_read_shape_pose(api_sdf *sdf, const api_sdf_frame *link, const xmlNode *shape, dyn_pose *X);
/* Reads the visuals of a link into "visual" of a document's link or base; those that cannot be read are left out and
 * reported. */
bool api_sdf_read_visuals(api_sdf *sdf, const api_sdf_frame *link, json_t *owner);
/* Writes the entry of a link to the document, with the link's shapes. */
bool api_sdf_write_link(api_sdf *sdf, const api_sdf_frame *link, api_xml_link *entry);

/* Sets the inertia of a link to that of its collisions, for <inertial auto="true">. */
bool api_sdf_read_auto_inertia(api_sdf *sdf, const api_sdf_frame *link, const xmlNode *inertial, dyn_inertia *inertia);
/* Reads the inertias of all links. */
bool api_sdf_read_links(api_sdf *sdf);

/* Reads all joints, and couples those that mimic others or are geared. */
bool api_sdf_read_joints(api_sdf *sdf);
/* Reads mimics and gears, which couple joints. */
bool api_sdf_read_couplings(api_sdf *sdf);
/* Refuses joints of the tree that follow a joint which closes a loop, or each other. */
bool api_sdf_check_leaders(api_sdf *sdf);
/* Reads the rotors of a joint, an extension of Drake. */
bool api_sdf_read_rotors(api_sdf *sdf, api_sdf_joint *joint);
bool api_sdf_has_two_axes(const api_sdf_joint *joint);
/* Sets *has if part 0 or 1 of a joint has a spring. */
bool api_sdf_read_spring(api_sdf *sdf, const api_sdf_joint *joint, int part, bool *has);
/* Writes the fields of part 0 or 1 of a joint, with the axis; NULL with a problem. */
json_t *api_sdf_joint_fields(api_sdf *sdf, const api_sdf_joint *joint, int part);
/* Type in the document of part 0 or 1 of a joint; *parts is the number of parts. */
const char *api_sdf_joint_type(const api_sdf_joint *joint, int *parts);

/* Pose in the world of a link, or of API_SDF_WORLD. */
dyn_pose api_sdf_link_in_world(const api_sdf *sdf, int link);
/* X_ab of two frames, from their poses in the world. Frames at the same pose give the identity without rounding. */
dyn_pose api_sdf_between(const dyn_pose *X_wa, const dyn_pose *X_wb);

/* A link of the tree, in the order in which the links are written. */
typedef struct api_sdf_tree_link {
    int link;  /* frame of the link; API_SDF_WORLD: the world */
    int joint; /* joint that carries it; -1: none */
} api_sdf_tree_link;

typedef struct api_sdf_tree {
    api_sdf           *sdf;
    api_sdf_tree_link *link; /* [n], those nearer to a root first */
    size_t             n;
    int *place;      /* [n_frames + 1] by link + 1: 1 + the index of this link in `link`; 0: not in the tree yet */
    bool balls_last; /* true: a ball joint is followed only to links that no other joint reaches */
} api_sdf_tree;

/* True for a joint that closes a loop: its links are in the tree by other joints. */
bool api_sdf_closes_loop(const api_sdf_joint *joint);
/* Sets `passive` of the joints that follow from the driven ones of the loops. */
bool api_sdf_choose_driven(const api_sdf_tree *t);

/* Writes the document. */
bool api_sdf_write_document(api_sdf *sdf);

/* Reports everything in the file that was not read. */
bool api_sdf_report_unused(api_sdf *sdf);
