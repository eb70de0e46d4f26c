/* model.h - the robot as the algorithms see it.
 *
 * Two structures:
 *   dyn_description  what a document says, link by link, in plain figures; written by the caller;
 *   dyn_model        the canonical tree the kernels walk: fixed joints merged into their parents, every
 *                    moving axis turned to its body's local z, constant parts of each joint transform kept
 *                    apart. One allocation, immutable, shared by all threads. Ownership: whoever called
 *                    dyn_model_build or dyn_model_with_payload frees it with dyn_model_free.
 *
 * Units are SI and radians. Symbols and frames: NOTATION.md. 3x3 matrices are row-major.
 * Method: Featherstone (2008), ch. 4; Khalil & Kleinfinger (1986) for the
 * two-angle form of a joint transform. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DYN_MAX_DOF 512  /* most velocity coordinates of one model */
#define DYN_WORLD   (-1) /* "body" of whatever does not move */

/* X_ab: the pose of frame b in frame a; a point transforms as x_a = R x_b + p. */
typedef struct dyn_pose {
    double R[3][3];
    double p[3]; /* m */
} dyn_pose;

/* A rigid body's inertia in the axes of some frame F. */
typedef struct dyn_inertia {
    double mass;         /* kg */
    double com[3];       /* m, centre of mass in F */
    double about_com[6]; /* kg m^2, tensor entries xx xy xz yy yz zz about the centre of mass, axes of F */
} dyn_inertia;

typedef enum dyn_joint_kind {
    DYN_FIXED,     /* merged into the parent; nq 0, nv 0 */
    DYN_REVOLUTE,  /* about the axis, also "continuous"; nq 1, nv 1 */
    DYN_PRISMATIC, /* along the axis; nq 1, nv 1 */
    DYN_PLANAR,    /* in the plane across the axis: along its e_x, its e_y, then about the axis; nq 3, nv 3. Of a
                    * description; a body's joint has one coordinate, and several bodies are made of such a link */
    DYN_HELICAL,   /* about the axis, and `pitch` along it; nq 1, nv 1. Of a description */
    DYN_SPHERICAL, /* turns freely; nq 4 (qx qy qz qw), nv 3 (w) */
    DYN_FLOATING   /* turns and moves freely; nq 7 (x y z qx qy qz qw), nv 6 (v w) */
} dyn_joint_kind;
/* Of the last two, q is the pose of the moved joint frame in the joint frame, the quaternion of unit length; qd its
 * velocity relative to the parent, of its origin and angular, in the moved frame's axes; tau the force and moment about
 * that origin in these axes. They have neither axis, ratio, offset, mimics, rotor, friction nor spring. */

static inline int dyn_joint_nv(dyn_joint_kind joint)
{
    switch (joint) {
    case DYN_FIXED: return 0;
    case DYN_SPHERICAL:
    case DYN_PLANAR: return 3;
    case DYN_FLOATING: return 6;
    default: return 1;
    }
}
/* Whether a quaternion is among the joint's coordinates: the last four of them. */
static inline bool dyn_joint_has_quaternion(dyn_joint_kind joint)
{
    return joint == DYN_SPHERICAL || joint == DYN_FLOATING;
}
static inline int dyn_joint_nq(dyn_joint_kind joint)
{
    return dyn_joint_nv(joint) + dyn_joint_has_quaternion(joint);
}

/* tau_f = viscous qd + coulomb sign(qd); the magnitude depends on the sign of qd. With velocity > 0,
 * sign(qd) becomes tanh(qd / velocity) (and the magnitude that of the sign of qd). */
typedef struct dyn_friction {
    double viscous;          /* N m s/rad or N s/m */
    double positive;         /* N m or N, Coulomb magnitude for qd > 0 */
    double negative;         /* N m or N, Coulomb magnitude for qd < 0 */
    double coulomb_velocity; /* rad/s or m/s, 0: sharp sign with sign(0) = 0 */
} dyn_friction;

/* tau_s = stiffness (q - rest) + damping qd, on the left side of the equation of motion. */
typedef struct dyn_spring {
    double stiffness, damping, rest;
} dyn_spring;

/* The motor that turns a joint: a body of revolution that spins about an axis fixed in some link, at gear_ratio times
 * the joint's rate (an elastic joint's: the motor coordinate's). What it weighs, rotor locked, is that link's. */
typedef struct dyn_motor {
    bool         present;
    int          link;         /* it sits on, anywhere in the description, or DYN_WORLD: the base link */
    double       axis[3];      /* unit vector in that link's frame */
    double       gear_ratio;   /* not 0 */
    double       spin_inertia; /* kg m^2 about the axis */
    dyn_friction friction;     /* on the joint's position and rate, or the motor coordinate's: not on the spin */
} dyn_motor;

/* One link with the joint that carries it. The link frame at joint position s is
 *     parent link frame * before * motion(axis, s) * after,    s = ratio * q + offset. */
typedef struct dyn_link {
    int            parent; /* index of an earlier link, or DYN_WORLD for the base link */
    dyn_joint_kind joint;
    dyn_pose       before;      /* joint frame in the parent's link frame */
    double         axis[3];     /* unit vector in the joint frame; unused when fixed or turning freely */
    dyn_pose       after;       /* link frame in the moved joint frame */
    double         pitch;       /* m/rad, of a helical joint */
    double         ratio;       /* joint position per coordinate, not 0; 1 but for screws of other length */
    double         offset;      /* rad or m, joint position at q = 0 */
    bool           mimic;       /* has no coordinate of its own: q is that of link `leader`, a moving link that is */
    int            leader;      /* no mimic itself, anywhere in the description */
    bool           near_end;    /* joint wrench's moment about the joint frame's origin on the parent's side
                                 * (standard DH: frame j-1) instead of the link frame's origin */
    dyn_inertia  inertia;       /* in the link frame */
    double       rotor_inertia; /* kg m^2 or kg, reflected to the joint */
    dyn_friction friction;
    dyn_spring   spring;   /* friction and spring act on the joint's own position s and rate */
    bool         elastic;  /* between the joint's coordinate q and its motor's, theta, which is in the units of q and
                            * stands behind all joints' coordinates:  R = k (q - theta - rest) + d (qd - theta_d)
                            * joins the left side of q's equation, and -R that of theta's. rotor_inertia is theta's. */
    dyn_spring elasticity; /* k, d, rest */
    dyn_motor  motor;      /* none with a rotor_inertia */
} dyn_link;

typedef struct dyn_description {
    bool            floating;     /* the base link moves freely: body 0 */
    dyn_inertia     base_inertia; /* of the base link, in its frame; without effect on a fixed base */
    double          gravity[3];   /* m/s^2, world axes */
    size_t          n_links;      /* without the base link */
    const dyn_link *links;        /* parents first; order of coordinates = order of moving links */
} dyn_description;

/* Constant rotation of a joint, R_pc(0) = Rz(gamma) Rx(alpha). The special kinds are taken only when the
 * computed matrix equals the kind's to 2e-16: figures are never rounded. */
typedef enum dyn_turn {
    DYN_TURN_NONE,    /* identity */
    DYN_TURN_X_PLUS,  /* Rx(+90 deg) */
    DYN_TURN_X_MINUS, /* Rx(-90 deg) */
    DYN_TURN_X,       /* Rx(alpha) */
    DYN_TURN_ZX       /* Rz(gamma) Rx(alpha) */
} dyn_turn;

/* The way to a body's origin is along one or two axes in most robots: along any by no more than 2e-16 of its length is
 * not at all. */
#define DYN_ALONG_X 1U
#define DYN_ALONG_Y 2U
#define DYN_ALONG_Z 4U

enum { DYN_FORM_FREE = 10 }; /* see dyn_body.form */

#define DYN_ROUNDER 0x1.8p52 /* 1.5 2^52: adding it rounds to an integer, kept in the low bits */

/* What moves what a body hangs on, in the terms of a wrench that goes on to it. */
typedef enum dyn_parent_joint {
    DYN_PARENT_WORLD,    /* nothing */
    DYN_PARENT_GROUNDED, /* a revolute joint on the world at the rate of its coordinate: takes n.z, and the rest ends
                          * there
                          */
    DYN_PARENT_UNIT_REVOLUTE, /* any other such joint: takes n.z */
    DYN_PARENT_OTHER          /* another one */
} dyn_parent_joint;

/* Mass and its first two moments about the origin of some frame. */
typedef struct dyn_moments {
    double mass; /* kg */
    double h[3]; /* kg m, first moment m c */
    double E[6]; /* kg m^2, second moment int r r^T dm: xx xy xz yy yz zz */
} dyn_moments;

/* A moving rigid body. Its body frame: origin on the moved joint frame's origin, z along the joint axis; about z, and
 * of revolute joints along z, as suits the first body that hangs on it (align_frames.c). Where a joint turns freely:
 * the moved joint frame. */
typedef struct dyn_body {
    int              parent; /* earlier body, or DYN_WORLD */
    dyn_joint_kind   joint;  /* none FIXED */
    dyn_turn         turn;
    dyn_parent_joint parent_joint;  /* of the parent's joint */
    int              form;          /* joint's and turn's kind in one number, for BODY_FORMS in joint.h */
    unsigned         offsets;       /* DYN_ALONG_x where p_pc is not zero */
    bool             is_leaf;       /* no body hangs on it */
    bool             has_branch;    /* some body other than the next one hangs on it */
    bool             carries_run;   /* a run of bodies begins on it: see dyn_run */
    bool             is_last_child; /* the last-numbered child of its parent: the first a backward pass meets */
    bool     is_ideal;  /* one coordinate, its effort that of bodies alone: none of the next three, no rotor, mimics */
    bool     has_ratio; /* ratio != 1 or offset != 0 */
    bool     has_friction;   /* has friction */
    bool     has_spring;     /* has a spring or damper */
    bool     near_end;       /* see dyn_link */
    bool     mimic;          /* q and v are those of another body's joint */
    bool     is_rotor;       /* a rotor, alike in every position: that is not read, and zero */
    bool     is_in_line;     /* hangs on the body before it, whose coordinate follows that of its own parent */
    int      row;            /* among the published bodies, or -1: see dyn_model */
    int      mover;          /* among what has rotor inertia and friction of its own, or -1: see dyn_model */
    bool     is_multi_dof;   /* of a joint with more than one coordinate, where friction and the like have no place */
    bool     has_slide_body; /* the body before it is the slide of its helical joint */
    int      rotor;          /* body of its motor, if that sits on the body itself or on its parent, else -1 */
    int      q, v;           /* first entries in q and in qd */
    int      dof;            /* its joint's first among all joints' degrees of freedom, mimics' own included */
    int      quaternion;     /* number among the model's, if its joint turns freely */
    int      link;           /* index in the description of the link the joint carries, DYN_WORLD: base */
    double   ca, sa, cg, sg; /* cosines and sines of alpha and gamma */
    double   frame_angle;    /* rad, the body frame is turned further, about z; of revolute joints only */
    uint64_t frame_quarters; /* the same by so many quarter turns, 0 to 3 */
    double   rounder;        /* DYN_ROUNDER and these */
    double   p_pc[3];        /* m, body frame's origin in the parent's body frame, at s = 0 */
    double   ratio, offset;
    double   mass; /* kg */
    double   h[3]; /* kg m, first moment m c, body frame */
    double   E[6]; /* kg m^2, second moment int r r^T dm about the body origin: xx xy xz yy yz zz;
                    * the inertia tensor about the origin is trace(E) 1 - E */
    /* Mass on a revolute joint's axis moves alike with both bodies that the joint connects, so it may belong to either:
     * the efforts of all joints stay the same (Gautier & Khalil 1990). `grouped` is the body with what its children
     * have so given it, and without what it gives its own parent, or the ground: `given`, the mass, h.z and E.zz of a
     * revolute body, zero of others. A revolute body keeps h.x, h.y and E but for E.zz. `ahead` is the same about
     * another point, next_origin: in a plain run where the next body hangs, so that what this needs is added before the
     * wrench is brought to the body's own origin, which are fewer operations; else the body's own origin. */
    dyn_moments regrouped, regrouped_at_next;
    double      next_origin[3]; /* m, body frame */
    unsigned    next_offsets;   /* DYN_ALONG_x where that is not zero */
    double      axis_moments[3];
    double      regrouped_mass; /* kg, of grouped bodies: of the body and all that hangs on it */
    double      subtree_mass;   /* kg, of the body and all that hangs on it */
    double      subtree_moment; /* kg m^2, its second moment int r^2 dm about the body origin at most, wherever the
                                 * joints stand; prismatic ones at zero, without what floats on it */
    double       rotor_inertia;
    double       spin_inertia; /* kg m^2, of a rotor: in E, and taken from what its parent has */
    dyn_friction friction;
    dyn_spring   spring;
    dyn_pose     X_bl; /* link frame in the body frame: axes of joint wrenches, and their point
                        * unless near_end */
    dyn_pose before;   /* where the joint turns freely, the joint frame in the parent's body frame, which has neither
                        * p_pc nor turn but NONE, for R = 1, or ZX then */
} dyn_body;

/* Whether the body's position is an angle that is read. */
static inline bool dyn_body_has_angle(const dyn_body *body)
{
    return body->joint == DYN_REVOLUTE && !body->is_rotor;
}

/* Bodies of which each hangs on the one before it, and none but the last bears others: what one needs of the body
 * before stays in registers. `plain`: revolute ones, all bare, none a mimic or on a slide, their coordinates in the
 * same order; a run is that as a whole or nowhere. */
typedef struct dyn_run {
    int  first, end;
    bool plain;
} dyn_run;

/* Where a link of the description went. */
typedef struct dyn_link_place {
    int      body; /* moving body it belongs to, or DYN_WORLD */
    dyn_pose X_bl; /* link frame in that body's frame (in the world for DYN_WORLD) */
} dyn_link_place;

/* What is between a joint's coordinate and its motor's: see dyn_link. */
typedef struct dyn_coupling {
    int        q, theta, v, v_theta; /* positions' places in q, velocities' in qd */
    dyn_spring spring;
} dyn_coupling;

/* Some bodies are there for the algorithms alone (NOTATION.md, "What is expanded"): they have no row. */
typedef struct dyn_model {
    size_t n_bodies; /* moving bodies, floating base first */
    size_t n_rows;   /* published ones: what is given body by body has so many rows */
    size_t n_movers; /* joints, in the order of their bodies' rows, then motor coordinates: 3 columns each of
                      * a joint_regressor */
    size_t                n_links; /* of the description */
    int                   nq, nv;
    size_t                n_dofs;            /* of all joints, mimics' own included */
    size_t                n_quaternions;     /* joints that turn freely */
    bool                  floating;          /* body 0 is the base link, moving freely */
    bool                  has_floating_body; /* some body floats on one that moves */
    bool                  branched;          /* some body hangs on other than the one before it */
    bool                  has_frame_angles;  /* some body has a twist */
    bool                  has_mimics;        /* some body is a mimic: coordinates move several joints */
    bool                  dense;      /* some mimic is no joint's `rotor` or slide: forward dynamics is not O(n) */
    bool                  plain;      /* all runs are */
    bool                  serial;     /* an arm: one plain run, whose coordinates are in the order of bodies */
    double                gravity[3]; /* m/s^2, world axes */
    double                mass;       /* kg, of all bodies */
    dyn_link_place        base;       /* the base link */
    const dyn_body       *body;       /* [n_bodies] */
    const dyn_link_place *link;       /* [n_links] */
    size_t                n_couplings;
    const dyn_coupling   *coupling; /* [n_couplings] of elastic joints */
    const int            *row_body; /* [n_rows] the body that a row is of */
    size_t                n_runs;
    const dyn_run        *run;   /* [n_runs] all bodies, in order */
    size_t                bytes; /* of the allocation */
} dyn_model;

typedef enum dyn_status {
    DYN_OK,
    DYN_NO_MEMORY,
    DYN_TOO_MANY_DOF, /* more than DYN_MAX_DOF */
    DYN_BAD_PARENT,   /* link `where`: parent not an earlier link */
    DYN_BAD_LEADER,   /* link `where`: leader not a moving link with one coordinate of its own, or no joint to follow it
                       */
    DYN_BAD_MOTOR, /* link `where`: an elastic joint without one coordinate of its own; a motor on no link, of a joint
                    * that has not one coordinate, or beside a rotor_inertia */
    DYN_BAD_NUMBER /* link `where`: something not finite, a ratio of 0, an axis not of unit length */
} dyn_status;

/* Builds the canonical model. `where` (may be NULL) gets the index of the offending link, DYN_WORLD for the
 * base link. Inertias are taken as given: whether they are physical is for the caller to judge. */
dyn_status dyn_model_build(const dyn_description *description, dyn_model **model, int *where);

/* The same robot with rigid bodies fixed to its bodies. `inertia` is in a frame F of body `body`. A payload on the
 * world has no effect. */
typedef struct dyn_payload {
    int         body; /* or DYN_WORLD */
    dyn_pose    X_bf; /* F in the body frame */
    dyn_inertia inertia;
} dyn_payload;
dyn_status dyn_model_with_payload(const dyn_model *model, size_t n, const dyn_payload *payload, dyn_model **loaded);

void dyn_model_free(dyn_model *model); /* NULL is fine */
