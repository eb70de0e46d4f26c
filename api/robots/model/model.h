/* model.h - a robot model: the numbers of dynamics/ with the names of links, joints, frames and coordinates.
 *
 * A model is built from a document (document.h), then immutable and shared by reference counting: api_model_share
 * adds a reference, api_model_release removes one and frees the model with the last. */
#pragma once
#include "api/api.h"
#include "dynamics/dynamics.h"
#include "dynamics/loops/mechanism.h"
#include "api/robots/document/drive_limits.h"
#include "api/robots/files.h"
#include "api/base/memory/arena.h"
#include "api/base/memory/client_memory_budget.h"
#include "api/codec/json.h"
#include "api/codec/names.h"
#include <stdatomic.h>

enum {
    API_ANGLE_TEXT      = 80,  /* bytes of the text about an angle in a message, NUL included */
    API_DESCRIPTION_MAX = 2000 /* bytes of a description in the list of models */
};

typedef struct api_frame_name { /* a link, or a frame of the document */
    const char *name;
    const char *link;  /* name of the link it is fixed to */
    dyn_frame   frame; /* body that the frame is fixed to, and pose of the frame in the body */
} api_frame_name;

typedef struct api_joint_name {          /* a moving joint, in the order of coordinates */
    const char      *name, *type, *link; /* `link`: the link that the joint carries */
    dyn_joint_kind   kind;               /* kind in the document, which may be planar or helical */
    const char      *parent;             /* name of the link that the joint is attached to */
    bool             actuated;
    bool             has_position_limits;
    double           lower, upper; /* rad or m, of a joint that has_position_limits */
    api_drive_limits limits;
    bool             has_pitch;
    double           pitch; /* m/rad, of a joint that has_pitch */
    bool             elastic;
    bool             motor_lost; /* an elastic joint whose motor coordinate is locked: it has a spring instead */
    dyn_spring       elasticity;
    int              body;   /* index of the joint's last body: a joint with several coordinates is a chain of bodies */
    const char      *leader; /* mimic joint: the independent joint whose coordinate it follows; else NULL */
    double           multiplier, offset; /* mimic joint: its position is multiplier q + offset */
} api_joint_name;

/* A link with the joint that carries it. The links that fixed joints connect are one body of dynamics/, and the record
 * keeps what each of these joints carries. */
typedef struct api_attached_body {
    const char *joint;  /* NULL: the base link */
    int         parent; /* index of the link that carries the joint, -1 for the base link */
    bool        fixed;
    int    row; /* row of a joint that moves, or of a floating base, in outputs with one row for each body; else -1 */
    bool   at_parent;    /* the moment of the joint wrench is about `point`, not about the origin of the link */
    double point[3];     /* m, in the frame of the parent */
    dyn_inertia inertia; /* inertia of the link and all links fixed to it beyond the joint, in its frame; motors with
                            rotors locked */
    dyn_compensation compensation; /* the masses and first moments of these links that are compensated, in the same
                                      frame; `share` is that of the link itself */
} api_attached_body;

typedef struct api_motor_name {
    const char *joint, *link; /* driven joint, and link that carries the motor */
    dyn_motor   motor;        /* motor.link is not valid: see `link` */
} api_motor_name;

typedef struct api_transmission {      /* a coupled transmission: rates of joints = matrix times rates of motors */
    size_t      n;                     /* number of joints and of motors */
    size_t      drive;                 /* index of its first motor in dyn->drive, after which the others follow */
    const char *joint[DYN_MAX_DRIVEN]; /* names */
    double      matrix[DYN_MAX_DRIVEN * DYN_MAX_DRIVEN]; /* n x n */
} api_transmission;

/* The motor of a coupled transmission. Its rate is the sum of drive->weight times the rates of the joints, and its
 * effort the sum of `effort` times their efforts: with the rates = W qd of all motors, tau = W^T efforts. The
 * coordinate of joint j in dynamics/ is drive->joint[j]; api_model_coordinate returns that of the model. */
typedef struct api_coupled_motor {
    const char      *name;
    const dyn_drive *drive;
    double           effort[DYN_MAX_DRIVEN]; /* [drive->n] */
    api_drive_limits limits;
} api_coupled_motor;

typedef struct api_named_configuration {
    const char *name;
    double     *q; /* [nq] */
} api_named_configuration;

enum {
    API_REVISION_SIZE = 33, /* bytes of a revision with its NUL */
    API_REMEDY_BYTES  = 260
};

typedef struct api_model {
    atomic_size_t references;
    char         *name;
    const char   *description; /* the first API_DESCRIPTION_MAX bytes of the document's; NULL: none */
    /* First 128 bits, in hex, of SHA-256 of the canonical document without its name. */
    char               revision[API_REVISION_SIZE];
    dyn_model         *dyn;
    size_t             nq, nv, n_bodies; /* n_bodies: rows of outputs per body in dynamics/ */
    const char       **position_names;   /* [nq] */
    const char       **velocity_names;   /* [nv] */
    const char       **body_names;       /* [n_bodies] */
    size_t             n_links;          /* the base link included; the arrays of links are in document order */
    const char       **link_names;
    api_attached_body *attached; /* [n_links] in the order of link_names */
    size_t             n_frames; /* links (base first, in document order), then the document's frames */
    api_frame_name    *frames;
    size_t             n_joints; /* moving joints */
    api_joint_name    *joints;
    size_t n_movers; /* joints, motor coordinates, motors of transmissions: all that have rotor inertia and friction */
    const char             **mover_names; /* [n_movers] */
    size_t                   n_motors;
    api_motor_name          *motors; /* [n_motors], document order */
    size_t                   n_transmissions;
    api_transmission        *transmissions;  /* [n_transmissions], document order */
    api_coupled_motor       *coupled_motors; /* [dyn->n_drives], the motors of all transmissions */
    size_t                   n_configurations;
    api_named_configuration *configurations;
    size_t                   n_angles;
    dyn_bound               *angles; /* [n_angles] bounds on entries of q, within which sine and cosine are accurate */
    const dyn_loops         *loops;  /* NULL: the model is a tree; else nq, nv and the names are those of the actuated
                                               coordinates (loops.h) */
    size_t    n_loaded;
    dyn_body *loaded; /* [n_loaded] of a model with loops: the tree's bodies with friction, if the friction of some
                         actuated joint depends on its load; the bodies of `dyn` have no load coefficients then */
    char loop_remedy[API_REMEDY_BYTES]; /* a clause for problems of the loops that the client can follow in the file's
                                           format; "": none */
    json_t *report;                     /* [{"severity","code","where","text"}...] */
    char   *document;                   /* the canonical document as JSON, with the model's name */
    size_t  document_length;
    _Atomic(struct dyn_base *)
              base[4]; /* base parameters, indexed by flags DYN_BASE_*; NULL until first computed, then constant */
    api_arena arena;   /* owns every array and name of this struct */
} api_model;

/* A text to read a model from, in one of the formats of robots/formats.h. */
typedef struct api_model_source {
    const char *text; /* [length] */
    size_t      length;
    const char *name;      /* name that the model gets */
    const char *query;     /* parameters of the format, percent-encoded as in a request's target; NULL: none */
    unsigned    nesting;   /* most levels of arrays and objects; elements of XML have API_XML_NESTING */
    size_t      max_links; /* most links, not counting the base */
    const api_files
               *files; /* files that the text may include, with the text's own file; NULL: there are no other files */
    const char *path;  /* path of the text among the files */
    size_t      most;  /* bytes that the text may unpack to, if it is an archive */
    api_share  *share; /* from which memory of included files is claimed; NULL: there is no budget */
} api_model_source;

/* Builds a model from a parsed document (schema Document of api/openapi.yaml). `name` comes from the request path; a
 * different name in the document is replaced and reported. NULL and a problem with a pointer into the document. The
 * caller owns the one reference. */
api_model *api_model_from_document(const json_t *document, const char *name, size_t max_links, api_problem *problem);

/* Builds a model from JSON text with at most `nesting` levels, like api_model_from_document. A syntax problem has
 * the offset of the error in the text. */
api_model *api_model_from_text(const char *text, size_t length, const char *name, unsigned nesting, size_t max_links,
                               api_problem *problem);

size_t api_model_bytes(const api_model *model); /* memory of the model in bytes, without data that is computed when a
                                                   request asks for it */
api_model *api_model_share(api_model *model);
void       api_model_release(api_model *model); /* NULL is fine */

/* Index in `frames` of the link or frame of that name, or -1. Linear search: a model has at most some hundred
 * frames. */
int api_model_frame(const api_model *model, const char *name, size_t length);

/* Names of all frames, for a message about an unknown frame name. */
api_names api_model_frames(const api_model *model);

/* Returns the bound of the first angle of a state that is outside its bound or NaN; NULL if all angles are good.
 * Entries of q are `stride` apart. */
const dyn_bound *api_find_angle_beyond_limit(const api_model *model, const double *q, size_t stride);
/* Writes the coordinate's value, and the joint's angle if that differs, for a message. */
void api_angle_write(const dyn_bound *beyond, double value, char text[API_ANGLE_TEXT]);

/* Index of a body's first coordinate in the model's q, and of its first rate in qd; -1: the coordinate is passive
 * (loops.h). */
int api_first_position(const api_model *model, const dyn_body *body);
int api_first_velocity(const api_model *model, const dyn_body *body);
/* Index in the model's qd of the velocity coordinate `v` of dynamics/; -1: the coordinate is passive. */
int api_model_coordinate(const api_model *model, int v);

/* Returns the model in the form that the functions of dynamics/ take; its pointers refer to the model's memory. */
dyn_mechanism api_model_mechanism(const api_model *model);
