/* model.h - a model as clients know it: names around the core's numbers.
 *
 * Made from a document (document.h), then immutable and shared by reference counting:
 * api_model_share adds a reference, api_model_release takes one back and frees the model with the last. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/memory/arena.h"
#include "api/wire/json.h"
#include "api/wire/names.h"
#include <stdatomic.h>

enum { API_ANGLE_TEXT = 80 }; /* bytes of a message's part about an angle */

typedef struct api_frame_name { /* a link, or a frame of the document */
    const char *name;
    const char *link;  /* name of the link it is fixed to */
    dyn_frame   frame; /* the body and the pose in it */
} api_frame_name;

typedef struct api_joint_name {     /* a moving joint, in coordinate order */
    const char *name, *type, *link; /* link it carries */
    const char *parent;             /* link it hangs on */
    bool        actuated;
    bool        has_position_limits, has_velocity_limit, has_effort_limit, has_effort_rate_limit;
    double      lower, upper, velocity, effort, effort_rate;
    double      pitch; /* m/rad, of a helical joint */
    bool        elastic;
    dyn_spring  elasticity;
    int         body;               /* its last */
    const char *leader;             /* of a mimic: the joint whose coordinate it shares; else NULL */
    double      multiplier, offset; /* of a mimic: its position is multiplier q + offset */
} api_joint_name;

typedef struct api_motor_name {
    const char *joint, *link; /* it turns, it sits on */
    dyn_motor   motor;        /* its own link is not kept: see `link` */
} api_motor_name;

typedef struct api_model {
    atomic_size_t   references;
    char           *name;
    char            revision[33]; /* first 128 bits of SHA-256 of the canonical document without its name, hex */
    dyn_model      *dyn;
    size_t          nq, nv, n_bodies; /* n_bodies: the core's rows */
    const char    **position_names;   /* [nq] */
    const char    **velocity_names;   /* [nv] */
    const char    **body_names;       /* [n_bodies] */
    size_t          n_links;          /* with the base link, document order */
    const char    **link_names;
    size_t          n_frames; /* links (base first, document order), then the document's frames */
    api_frame_name *frames;
    size_t          n_joints; /* moving joints */
    api_joint_name *joints;
    size_t          n_movers;    /* joints, then motor coordinates: what has rotor inertia and friction of its own */
    const char    **mover_names; /* [n_movers] */
    size_t          n_motors;
    api_motor_name *motors; /* [n_motors], document order */
    size_t          n_angles;
    dyn_bound      *angles;         /* [n_angles] where sine and cosine are accurate, of entries of q */
    const struct api_loops *loops;  /* NULL: a tree; else nq, nv and the names are of actuated coordinates (loops.h) */
    json_t                 *report; /* [{"severity","code","where","text"}...] */
    char                   *document; /* canonical, JSON, with its name */
    size_t                  document_length;
    _Atomic(struct api_base *) base[4]; /* base parameters by what joints add; NULL until asked for, then constant */
    api_arena                  arena;   /* owns every array and name above */
} api_model;

/* A text to read a model from, in one of the formats of load/formats.h. */
typedef struct api_model_source {
    const char *text; /* [length] */
    size_t      length;
    const char *name;      /* of the model */
    const char *query;     /* parameters of the format, percent-encoded as in a request's target; NULL: none */
    unsigned    nesting;   /* most levels of elements, arrays or objects */
    size_t      max_links; /* without the base */
} api_model_source;

/* From a parsed model document (schema Document of api/openapi.yaml). `name` comes from the path; the document's own,
 * if different, is replaced and reported. NULL and a problem with a pointer into the document. One reference, the
 * caller's. */
api_model *api_model_from_document(const json_t *document, const char *name, size_t max_links, api_problem *problem);

/* The same from its text, JSON of at most that nesting; syntax errors have an offset. */
api_model *api_model_from_text(const char *text, size_t length, const char *name, unsigned nesting, size_t max_links,
                               api_problem *problem);

api_model *api_model_share(api_model *model);
void       api_model_release(api_model *model); /* NULL is fine */

/* Index in `frames` of a link or frame, or -1. Hash lookup is not needed: a model has at most some hundred. */
int api_model_frame(const api_model *model, const char *name, size_t length);

/* The names of all frames, for a message about one that is not among them. */
api_names api_model_frames(const api_model *model);

/* The first angle of a state that is beyond its bound, or no number; NULL: none. Entries of q are `stride` apart. */
const dyn_bound *api_find_angle_beyond_limit(const api_model *model, const double *q, size_t stride);
/* What is beyond, for a message: the coordinate's value, and the angle if that is another. */
void api_angle_write(const dyn_bound *beyond, double value, char text[API_ANGLE_TEXT]);

/* Where the coordinates of a body, and their rates, begin among the model's nq and nv; -1: loops give them. */
int api_first_position(const api_model *model, const dyn_body *body);
int api_first_velocity(const api_model *model, const dyn_body *body);
