/* model.h - defines the model of a robot that the algorithms use.
 *
 * Two structures:
 *     dyn_description  the links of a document, as plain numbers; written by the caller;
 *     dyn_model        the canonical tree that the kernels use: fixed joints are merged into their parents, every
 *                      moving axis is its body's z, constant parts of joint transforms are separate.
 * A dyn_model is one allocation, immutable, and shared by all threads. The caller of dyn_model_build or
 * dyn_model_with_payload owns it and frees it with dyn_model_free.
 *
 * Units are SI and radians. Symbols and frames: NOTATION.md. 3x3 matrices are row-major. Method: Featherstone (2008),
 * ch. 4; Khalil & Kleinfinger (1986) for the two-angle form of a joint transform. */
#pragma once
#include "joint_types.h"
#include <stdint.h>

#define DYN_MAX_DOF    512  /* largest number of velocity coordinates of a model */
#define DYN_WORLD      (-1) /* index of the fixed world, in place of a body or link */
#define DYN_MAX_DRIVEN 8    /* largest number of joints that one motor of a coupled transmission drives */

/* X_ab: pose of frame b in frame a. A point transforms as x_a = R x_b + p. */
typedef struct dyn_pose {
    double R[3][3];
    double p[3]; /* m, origin of frame b in frame a */
} dyn_pose;

/* Inertia of a rigid body in the axes and about the origin of a frame, such as the link frame (dyn_link.inertia). */
typedef struct dyn_inertia {
    double mass;         /* kg */
    double com[3];       /* m, position of the centre of mass in the frame */
    double about_com[6]; /* kg m^2, tensor entries xx xy xz yy yz zz about the centre of mass */
} dyn_inertia;

/* tau_f = viscous qd + coulomb sign(qd), with a Coulomb magnitude for each sign of qd. With coulomb_velocity > 0,
 * sign(qd) is replaced by tanh(qd / coulomb_velocity); the magnitude is still chosen by the sign of qd. With
 * stribeck_velocity > 0 the magnitude falls from breakaway at rest to coulomb in fast motion (Stribeck's curve,
 * Armstrong-Hélouvry et al. 1994, with exponent 2):
 *
 *     magnitude(qd) = coulomb + (breakaway - coulomb) exp(-(qd / stribeck_velocity)^2)
 *
 * With load > 0, load |T| sense(qd) is added, where sense is the sign(qd) or the tanh above and T the effort of the
 * coordinate without friction: tau = T + friction (Hamon, Gautier & Garrec 2010). joint/load_friction.h has the
 * equations. */
typedef struct dyn_friction {
    double viscous;          /* N m s/rad or N s/m */
    double positive;         /* N m or N, Coulomb magnitude for qd > 0 */
    double negative;         /* N m or N, Coulomb magnitude for qd < 0 */
    double coulomb_velocity; /* rad/s or m/s, width of the smoothed sign(qd); 0: sharp, with sign(0) = 0 */
    double breakaway_positive, breakaway_negative; /* N m or N, magnitudes at rest; 0 without stribeck_velocity */
    double stribeck_velocity;                      /* rad/s or m/s; 0: the magnitudes do not depend on the speed */
    double load; /* no unit, from 0 to less than 1: friction for each N m or N of |T|. 0 for a mimic; joint and motor
                    together have less than 1 */
} dyn_friction;

/* Force of a spring and damper on the left side of the equation of motion, with x = q - rest and v = qd:
 *
 *     tau_s = stiffness x + stiffness2 x^2 + stiffness3 x^3 + damping v + damping2 v |v| + damping3 v^3
 *
 * A floating joint has only the damping, a spherical joint also the stiffness: joint/free_joint_spring.h. An elastic
 * joint has no coefficients of higher powers. */
typedef struct dyn_spring {
    double stiffness, damping, rest;
    double stiffness2, stiffness3; /* N m/rad^2 and N m/rad^3, or N/m^2 and N/m^3 */
    double damping2, damping3;     /* N m s^2/rad^2 and N m s^3/rad^3, or N s^2/m^2 and N s^3/m^3 */
} dyn_spring;

/* True if the effort of the spring or of the damper is not linear. */
static inline bool dyn_spring_is_nonlinear(const dyn_spring *s)
{
    return s->stiffness2 != 0 || s->stiffness3 != 0 || s->damping2 != 0 || s->damping3 != 0;
}

/* The motor of a joint: a body of revolution that spins about an axis fixed in some link, at gear_ratio times the
 * joint's rate, or times the rate of the motor coordinate for an elastic joint. The link's inertia includes the motor
 * with its rotor locked. */
typedef struct dyn_motor {
    bool         present;
    int          link;    /* the link that carries the motor, any link of the description; DYN_WORLD: the base link */
    double       axis[3]; /* unit vector of the spin axis, in the frame of the motor's link */
    double       gear_ratio;   /* not 0 */
    double       spin_inertia; /* kg m^2, about the axis */
    dyn_friction friction;     /* function of the rate of the joint, or of the motor coordinate; not of the spin rate */
} dyn_motor;

/* A link with the joint that connects it to its parent. At joint position s, the link frame is
 *     parent link frame * before * motion(axis, s) * after,    s = ratio * q + offset.
 * A link of zeros is not valid: `before` and `after` need rotations (dyn_pose_identity of math/geometry.h), `ratio` is
 * 1 unless joint and coordinate differ, and a joint with an axis needs a unit vector. Other members may be zero. */
typedef struct dyn_link {
    int            parent; /* index of an earlier link, or DYN_WORLD for the base link */
    dyn_joint_kind joint;
    dyn_pose       before;  /* joint frame in the parent's link frame */
    double         axis[3]; /* unit vector in the joint frame; unused for fixed joints and joints with a quaternion */
    dyn_pose       after;   /* link frame in the moved joint frame */
    double         pitch;   /* m/rad, of helical joints */
    double         ratio;   /* joint position per coordinate, not 0; 1 except for screws with a scaled axis */
    double         offset;  /* rad or m, joint position at q = 0 */
    bool           mimic;   /* true: the joint has no coordinate of its own; its q is that of link `leader` */
    int            leader;  /* index of a moving link that is not a mimic itself, anywhere in the description */
    bool moment_at_parent_frame; /* true: the joint wrench's moment is about the origin of the joint frame on the
                                    parent's side (standard DH: frame j-1); false: about the origin of the link frame */
    dyn_inertia inertia;         /* in the link frame */
    double gravity_compensation; /* share s of the link's weight that a force -s m g at its centre of mass offsets */
    double rotor_inertia;        /* kg m^2 or kg, reflected to the joint; with a quaternion: free_joint_forces.h */
    dyn_friction friction;
    dyn_spring   spring; /* friction and spring depend on the joint's own position s and rate */
    bool elastic; /* true: a spring connects the joint's coordinate q and the motor coordinate theta. theta has the unit
                     of q and follows all joint coordinates.  R = k (q - theta - rest) + d (qd - theta_d)  is added to
                     the left side of q's equation of motion, -R to theta's. rotor_inertia belongs to theta */
    dyn_spring elasticity; /* k, d and rest of the spring of an elastic joint */
    dyn_motor  motor;      /* if a motor is present, rotor_inertia must be 0 */
} dyn_link;

/* A motor of a coupled transmission, which drives several joints. Its rate is a combination of joint rates, sd = sum of
 * weight qd, so it adds weight (rotor_inertia sdd + friction(sd)) to the left side of each joint's equation of motion.
 * As with dyn_link.rotor_inertia, the kinetic energy of the rotor is rotor_inertia sd^2 / 2. */
typedef struct dyn_drive {
    size_t n;                      /* number of joints, at most DYN_MAX_DRIVEN */
    int    joint[DYN_MAX_DRIVEN];  /* in a dyn_description: index of the joint's link; in a dyn_model: entry in qd */
    double weight[DYN_MAX_DRIVEN]; /* motor rate per rate of the joint's coordinate */
    double rotor_inertia;          /* kg m^2 or kg, in terms of the motor's rate */
    dyn_friction friction;         /* function of the motor's rate */
} dyn_drive;

typedef struct dyn_description {
    bool             floating;                  /* true: the base link is body 0 and moves freely */
    dyn_inertia      base_inertia;              /* inertia of the base link, in its frame; no effect on a fixed base */
    double           base_gravity_compensation; /* gravity_compensation of the base link, see dyn_link */
    double           base_rotor_inertia;        /* kg and kg m^2, of a floating base: free_joint_forces.h */
    double           base_damping;              /* N s/m and N m s/rad, of a floating base: free_joint_forces.h */
    double           gravity[3];                /* m/s^2, world axes */
    size_t           n_links;                   /* number of links without the base link */
    const dyn_link  *links; /* [n_links], parents before children; coordinates have the order of the moving links */
    size_t           n_drives;
    const dyn_drive *drives; /* [n_drives] motors of coupled transmissions */
} dyn_description;

/* The constant rotation of a joint, R_pc(0) = Rz(gamma) Rx(beta). A special case is used only if the computed matrix
 * equals it to 2e-16, so that it changes no result beyond rounding. */
typedef enum dyn_turn {
    DYN_TURN_NONE,    /* identity */
    DYN_TURN_X_PLUS,  /* Rx(+90 deg) */
    DYN_TURN_X_MINUS, /* Rx(-90 deg) */
    DYN_TURN_X,       /* Rx(beta) */
    DYN_TURN_ZX       /* Rz(gamma) Rx(beta) */
} dyn_turn;

/* Flags of the components of p_pc that are not zero; most robots have one or two. A component of at most 2e-16 of the
 * length of p_pc is set to zero. */
#define DYN_ALONG_X 1U
#define DYN_ALONG_Y 2U
#define DYN_ALONG_Z 4U

enum { DYN_JOINT_POSE_ENTRIES = 6 }; /* entries of a joint_pose, in units of a joint_transform (joint.h) */
enum { DYN_MOST_ANGLES = 4 };        /* the largest TRIG_ANGLES of all targets (trig.h) */
enum { DYN_FORM_FREE = 10 };         /* value of dyn_body_pose.form for joints with a quaternion */

#define DYN_ROUNDER 0x1.8p52 /* 1.5 2^52: the low bits of x + DYN_ROUNDER are x rounded to an integer */

/* Kind of the joint of a body's parent, by which a backward pass selects code to transmit the body's wrench to the
 * parent. n.z is the moment of the parent's wrench about the parent's joint axis. */
typedef enum dyn_parent_joint {
    DYN_PARENT_WORLD,         /* the parent is the world: there is no joint */
    DYN_PARENT_GROUNDED,      /* unit revolute joint on the world: its tau is n.z, and the recursion ends there */
    DYN_PARENT_UNIT_REVOLUTE, /* unit revolute joint (ratio 1, offset 0) on a body: its tau is n.z */
    DYN_PARENT_OTHER          /* any other joint */
} dyn_parent_joint;

/* Mass with its first and second moments about the origin of some frame. */
typedef struct dyn_moments {
    double mass; /* kg */
    double h[3]; /* kg m, first moment m c */
    double E[6]; /* kg m^2, second moment int r r^T dm: xx xy xz yy yz zz */
} dyn_moments;

/* Masses of a body whose gravity is compensated: sums of gravity_compensation m and gravity_compensation m c over its
 * links and payloads. The force -g mass and the moment h x (-g) act on the body; their potential is part of that of
 * gravity. */
typedef struct dyn_compensation {
    double mass;    /* kg */
    double h[3];    /* kg m, about the body's origin, body frame */
    double share;   /* gravity_compensation of the links that have mass, or of the moving link if none has */
    bool   weighed; /* some link of the body has mass */
    bool   mixed;   /* links of the body differ in gravity_compensation: the body's weight is not (1 - share) m g,
                       and tau is not linear in the body's parameters alone */
} dyn_compensation;

/* The sub-structs of dyn_body are in the order in which dyn_model_build fills them: canonical.c writes
 * tree, joint, pose and moments, align_frames.c changes pose and moments, derived_data.c writes the rest. */

/* Place of a body in the tree. Unit and frame: none. */
typedef struct dyn_body_tree {
    int              parent;       /* index of an earlier body, or DYN_WORLD */
    int              link;         /* index of its link in the description, or DYN_WORLD: the base */
    int              row;          /* index among the rows of outputs per body, or -1: none */
    dyn_parent_joint parent_joint; /* kind of the parent's joint */
    bool             is_leaf;      /* has no children */
    bool             has_branch;   /* has a child other than the next body */
    bool             carries_run;  /* true: a run begins at one of its children, see dyn_run */
    bool is_last_child;            /* true: its index is the highest of its siblings; a backward pass visits it first */
} dyn_body_tree;

/* The joint between a body and its parent. */
typedef struct dyn_body_joint {
    dyn_joint_kind kind;       /* never DYN_FIXED */
    int            q, v;       /* first entries of the joint in q and in qd */
    int            dof;        /* index of its first degree of freedom; degrees of freedom of mimic joints count too */
    int            quaternion; /* index of its quaternion among those of the model; set for joints with a quaternion */
    int            mover;      /* index among the movers, or -1; see dyn_model.n_movers */
    int            rotor;      /* index of the rotor of its motor, if that is on this body or its parent; else -1 */
    bool           is_ideal;   /* one coordinate, without ratio, friction, spring, rotor inertia or mimics */
    bool           has_ratio;  /* ratio != 1 or offset != 0 */
    bool           has_friction;
    bool           has_spring;           /* has a spring or damper */
    bool           has_nonlinear_spring; /* its spring or damper has coefficients of higher powers */
    bool moment_at_parent_frame; /* the joint wrench is about the joint frame on the parent, not about the link frame */
    bool mimic;                  /* its coordinate is that of another joint */
    bool is_rotor;               /* the body is the rotor of a motor: its position has no effect and is taken as zero */
    bool is_multi_dof;           /* several coordinates, no friction; rotor and damper only with a quaternion */
    bool has_slide_body;         /* helical joint: the previous body is the sliding part */
    double       ratio;          /* joint position per coordinate */
    double       offset;         /* rad or m, joint position at q = 0 */
    double       rotor_inertia;  /* kg m^2 or kg, reflected to the joint */
    double       spin_inertia;   /* kg m^2, if is_rotor: included in E, and subtracted from the parent's E */
    dyn_friction friction;       /* a function of the joint's rate sd, not of qd */
    dyn_spring   spring;         /* a function of s and sd, not of q and qd */
} dyn_body_joint;

/* The constant part of the pose of a body in its parent's frame, and the poses of frames on the body. */
typedef struct dyn_body_pose {
    dyn_turn turn;
    int      form;           /* kind of the joint and `turn` as one number, for WITH_LINK_TRANSFORM in joint.h */
    unsigned offsets;        /* set of DYN_ALONG_x: components of p_pc that are not zero */
    double   ca, sa, cg, sg; /* cosine and sine of beta, of gamma */
    double   frame_angle;    /* rad, theta without its quarter turns (align_frames.c); 0 if not revolute */
    uint64_t frame_quarters; /* quarter turns of theta, 0 to 3 */
    double   rounder;        /* DYN_ROUNDER + frame_quarters */
    double   p_pc[3];        /* m, origin of the body frame in the parent's body frame, at s = 0 */
    dyn_pose before; /* only for a joint with a quaternion: constant pose of the joint frame in the parent's body frame,
                        in place of p_pc. `turn` is then NONE if its rotation is the identity, else ZX */
    size_t to_joint_pose; /* for a joint with a quaternion: distance, in entries, from the body's joint transform to
                             its joint_pose, see joint_pose_of in joint.h */
    dyn_pose X_bl;        /* link frame in the body frame; joint wrenches are in its axes and, unless
                             moment_at_parent_frame, about its origin */
} dyn_body_pose;

/* Data derived from the whole tree. Vectors and tensors are in the body frame.
 *
 * A mass on the axis of a revolute joint moves in the same way with both bodies of the joint. To transfer it from one
 * body to the other changes no joint effort (Gautier & Khalil 1990). `regrouped` are the moments of the body after the
 * mass on each revolute axis is moved to the parent, leaves first. A regrouped revolute body has m = h.z = E.zz = 0. */
typedef struct dyn_body_derived {
    dyn_moments regrouped;         /* about the body's origin */
    dyn_moments regrouped_at_next; /* about next_origin: a backward pass adds the child's wrench at that point before
                                      it shifts the sum to the body's origin, which saves operations */
    double   next_origin[3];       /* m, origin of the next body in a plain run, else of this body */
    unsigned next_offsets;         /* DYN_ALONG_x flags: components of next_origin that are not zero */
    double   axis_moments[3];      /* kg, kg m, kg m^2: m, h.z and E.zz that a revolute body passed to its parent or the
                                      ground; zero for other joints */
    double regrouped_mass;         /* kg, regrouped mass of the body and its descendants */
    double subtree_mass;           /* kg, mass of the body and its descendants */
    double subtree_moment; /* kg m^2, upper bound of int r^2 dm of the body and its descendants, about the body's
                              origin, for all joint angles; with prismatic joints at zero, without floating
                              descendants */
} dyn_body_derived;

/* A moving rigid body. The origin of the body frame is the origin of the moved joint frame, and z is the joint axis.
 * The angle about z, and the origin of revolute bodies along z, are chosen to suit the children (align_frames.c). For a
 * joint with a quaternion the body frame is the moved joint frame. */
typedef struct dyn_body {
    dyn_body_tree    tree;
    dyn_body_joint   joint;
    dyn_body_pose    pose;
    dyn_moments      moments; /* about the body's origin, body frame; the inertia tensor is trace(E) 1 - E */
    dyn_compensation compensation;
    dyn_body_derived derived;
} dyn_body;

/* True if the body rotates about its axis and its angle has an effect; the angle of a motor's rotor has none. */
static inline bool dyn_body_has_angle(const dyn_body *body)
{
    return body->joint.kind == DYN_REVOLUTE && !body->joint.is_rotor;
}

/* A run: consecutive bodies, each of which is the only child of the one before; only the last may have other children.
 * Along a run, results of the previous body stay in registers. `plain`: all bodies of the run are revolute and ideal,
 * none is a mimic or has a slide, and their coordinates are consecutive. A body without these properties is never in
 * one run with bodies that have them. `unit_revolute`: all bodies of the run are revolute with ratio 1 and offset 0,
 * their coordinates are consecutive, and the model has no mimics. */
typedef struct dyn_run {
    int  first, end;
    bool plain;
    bool unit_revolute;
} dyn_run;

/* The place of a link of the description in the tree. */
typedef struct dyn_link_place {
    int      body; /* the moving body that contains the link, or DYN_WORLD */
    dyn_pose X_bl; /* link frame in that body's frame (in the world for DYN_WORLD) */
} dyn_link_place;

/* The coupling between a joint's coordinate and its motor coordinate, see dyn_link.elastic. */
typedef struct dyn_coupling {
    int        q, theta, v, v_theta; /* indices of the joint's and the motor's entries in q; in qd */
    dyn_spring spring;
} dyn_coupling;

/* The canonical model. Bodies that exist only for the algorithms (NOTATION.md, "Expanded joints") have no row. */
typedef struct dyn_model {
    size_t n_bodies; /* moving bodies; a floating base is the first */
    size_t n_rows;   /* rows in outputs with one row per body: number of bodies that are links */
    size_t n_movers; /* number of movers: things with rotor inertia and friction of their own. Joints in the order of
                        rows, then motor coordinates, then drives; joint_regressor has 3 columns for each */
    size_t n_links;  /* links of the description */
    int    nq, nv;
    size_t n_dofs;            /* degrees of freedom of all joints, including mimics */
    size_t n_quaternions;     /* joints with a quaternion */
    bool   floating;          /* body 0 is the base link and moves freely */
    bool   has_floating_body; /* some body has a floating joint on a moving body */
    bool   branched;          /* some body is not a child of the previous body */
    bool   has_frame_angles;  /* some frame_angle is not zero */
    bool   has_mimics;        /* some body is a mimic, so that several joints may share a coordinate */
    bool   dense; /* some mimic is neither a joint's `rotor` nor its slide, or a drive couples two branches: M
                     may have no zeros, and forward dynamics is not O(n) */
    bool                  has_load;    /* the friction of some joint or motor depends on its load */
    bool                  compensated; /* the gravity of some body is compensated */
    bool                  plain;       /* all runs are plain */
    bool                  serial;      /* one plain run with q and v in the order of bodies: an arm */
    double                gravity[3];  /* m/s^2, world axes, of the description; kernels use dyn_scene.gravity */
    double                mass;        /* kg, total */
    dyn_link_place        base;        /* place of the base link */
    const dyn_body       *body;        /* [n_bodies] parents before children */
    const dyn_link_place *link;        /* [n_links] where each link of the description is */
    size_t                n_couplings;
    const dyn_coupling   *coupling; /* [n_couplings] couplings of elastic joints */
    size_t                n_drives;
    const dyn_drive      *drive;    /* [n_drives] motors of coupled transmissions */
    const int            *row_body; /* [n_rows] the body of each row: a floating base, then the moving links in order */
    size_t                n_runs;
    const dyn_run        *run;   /* [n_runs] the runs cover all bodies, in order */
    size_t                bytes; /* size of the allocation */
} dyn_model;

/* Returns the index of drive k among the movers (dyn_model.n_movers). */
static inline size_t dyn_drive_mover(const dyn_model *m, size_t k)
{
    return m->n_movers - m->n_drives + k;
}

/* True if forward dynamics must solve with the mass matrix: its inertias connect joints beyond those of a tree. */
static inline bool dyn_model_is_coupled(const dyn_model *m)
{
    return m->dense || m->n_drives > 0;
}

/* Returns the number of joint transforms in an array for all bodies. Kernels with one lane write cosine and sine of
 * DYN_MOST_ANGLES bodies at once, even if a model has fewer. The poses of joints with a quaternion follow these
 * entries. */
static inline size_t dyn_joint_transforms(const dyn_model *m)
{
    return m->n_bodies < DYN_MOST_ANGLES ? DYN_MOST_ANGLES : m->n_bodies;
}

typedef enum dyn_status {
    DYN_OK,
    DYN_NO_MEMORY,
    DYN_TOO_MANY_DOF, /* more than DYN_MAX_DOF */
    DYN_BAD_PARENT,   /* link `where`: parent is not an earlier link */
    DYN_BAD_LEADER,   /* link `where`: the joint or its leader does not have exactly one coordinate, or the leader is a
                         mimic itself or no link */
    DYN_BAD_MOTOR, /* link `where`: elastic joint without exactly one coordinate of its own; motor on an unknown link,
                      of a joint without exactly one coordinate, or together with rotor_inertia */
    DYN_BAD_DRIVE, /* drive `where`: a joint is no link, has not exactly one coordinate, is elastic or a mimic; or no
                      joints, too many, or one twice; or the drive has a load coefficient */
    DYN_BAD_NUMBER /* link `where`: a number is not finite, a ratio is 0, an axis is not of unit length, or a load
                      coefficient is out of range or on a mimic, or on the joint of an elastic joint in place of its
                      motor. Also a number of a drive; then `where` is DYN_WORLD */
} dyn_status;

/* Builds the canonical model; the caller frees *model. It keeps no pointer into the description. On failure *model is
 * unchanged, and *where (if not NULL) is the index of the link or drive that dyn_status names, or DYN_WORLD for the
 * base link. Not checked: whether inertias are physically possible, and whether the matrices of poses are rotations. */
dyn_status dyn_model_build(const dyn_description *description, dyn_model **model, int *where);

/* A rigid body to be attached to a model. `inertia` is in a frame F fixed to body `body`. A payload on the world has no
 * effect. */
typedef struct dyn_payload {
    int         body; /* index, or DYN_WORLD */
    dyn_pose    X_bf; /* pose of the frame F in the body frame */
    dyn_inertia inertia;
    double      gravity_compensation; /* share of the weight that is compensated, as in dyn_link */
} dyn_payload;
/* Copies a model with the payloads added; the caller frees *loaded. Returns DYN_BAD_NUMBER if a body is unknown or an
 * inertia is not finite. */
dyn_status dyn_model_with_payload(const dyn_model *model, size_t n, const dyn_payload *payload, dyn_model **loaded);

void dyn_model_free(dyn_model *model); /* NULL is allowed */

/* Returns the reach, in m, of a point `p` (m, body frame) of body `body` (or DYN_WORLD): the sum of the distances
 * between the joints from the base to the point; 1 if this sum is zero. Prismatic joints count as at 0. */
double dyn_point_reach(const dyn_model *model, int body, const double p[3]);
