/* loop_tree.h - a mechanism at its reference position, the input for the choice of its coordinates: bodies in a tree,
 * their joints, and loops, each a constraint between frames of two bodies. The reader of a format fills it. */
#pragma once
#include "api/robots/xml/xml_reader.h"
#include "dynamics/math/geometry.h"

typedef enum api_loop_motion {
    API_LOOP_TURNS,
    API_LOOP_SLIDES,
    API_LOOP_SCREWS, /* turns, and slides by `pitch` for each radian */
    API_LOOP_BALL,
    API_LOOP_FREE /* moves, then turns about the axes of the body */
} api_loop_motion;

typedef struct api_loop_joint {
    const xmlNode  *element;
    const char     *name;
    api_loop_motion motion;
    int             body;            /* the body that it moves */
    double          pos[3], axis[3]; /* position of the joint, and its axis of length 1, in the frame of that body */
    double          pitch;           /* m/rad, of a screw */
    bool            locked;          /* true: an equality constraint fixes the joint */
    int leader; /* index of the joint that this one follows, or -1: its rate is `multiplier` times that of the leader */
    double multiplier;
    bool   has_spring;
    bool   in_loop; /* true: the joint is between the bodies of a loop; the choice also sets it for a leader outside the
                       loops */
    bool driven;    /* input: an actuator acts on the joint; output: the joint is a coordinate of the mechanism */
} api_loop_joint;

typedef struct api_loop_body {
    int      parent;     /* -1: the world */
    dyn_pose X_pb, X_wb; /* pose in the parent, and in the world */
    size_t   first_joint, n_joints;
} api_loop_body;

/* A direction in which the two frames of a loop may move against each other. */
typedef struct api_loop_free {
    api_loop_motion motion;  /* API_LOOP_TURNS, _SLIDES or _SCREWS */
    double          axis[3]; /* unit vector of the direction, in both frames of the loop at the reference position */
    double          pitch;
} api_loop_free;

/* A constraint: two frames coincide except for the free directions; with is_point only their origins coincide. */
typedef struct api_loop {
    int           body[2]; /* -1: the world */
    dyn_pose      X[2];    /* pose of each frame in its body */
    bool          is_point;
    size_t        n_free;
    api_loop_free free[2];
} api_loop;

/* Clauses of the report about joints of the loops, which follow the name of the joint. */
typedef struct api_loop_words {
    const char *follows; /* clause about a driven joint that follows from the others */
    const char *free;    /* clause about a joint that nothing drives and that does not follow */
} api_loop_words;

typedef struct api_loop_tree {
    api_xml_reader *xml;
    size_t          n_bodies, n_joints, n_loops;
    api_loop_body  *bodies; /* parents before children */
    api_loop_joint *joints; /* joints of one body are consecutive, the one next to the parent first */
    api_loop       *loops;
    bool        guesses; /* true: `driven` of the joints is a guess, which is used only if they determine the loops */
    const char *undetermined;    /* output: name of a ball or free joint that the loops do not determine; or NULL */
    const api_loop_words *words; /* NULL: the choice reports nothing */
} api_loop_tree;
