/* dynamics.h - the kernels: what can be computed about a model, W states at a time.
 *
 * Every algorithm is one text (inverse_dynamics.c, forward_dynamics.c, ...) compiled once per target; a
 * target is a vector width W ("lanes") and an instruction set. Each target exports one constant table of
 * kernels; all tables give the same bits for the same state.
 *
 * Memory: states lie in blocks of W, entry by entry: [block][entry][lane]. All block arrays are doubles
 * aligned to DYN_ALIGN bytes. Entry e of lane l of block b of an array with `n` entries a state is
 * a[(b * n + e) * W + l]. Unused lanes of the last block must hold a copy of a real state.
 * Matrices are row-major. NULL for an input array means zeros; NULL for an output means not asked for, and
 * what is not asked for is not computed.
 *
 * Kernels never allocate, never fail on finite input and keep no state but the caller's workspace. What
 * depends on the state and can go wrong (a singular mass matrix) comes back lane by lane in `singular`.
 * Results may overflow to infinity or NaN for absurd figures: the caller checks before showing them.
 *
 * Conventions (NOTATION.md): 6-vectors are [linear; angular] = [force; torque]; a wrench acts on the link, by
 * the environment; M qdd + C qd + g + friction + springs = tau + sum J^T W. */
#pragma once
#include "dynamics/model/model.h"
#include <stdint.h>

#define DYN_ALIGN     64
#define DYN_MAX_LANES 8
#define DYN_MAX_ANGLE 1e5 /* rad, |joint position| to which sine and cosine are accurate */

/* Which terms beside inertia and Coriolis enter the equation of motion. */
enum { DYN_FRICTION = 1, DYN_SPRINGS = 2, DYN_ALL_TERMS = 3 };

/* Where an external wrench acts. Its values come lane by lane: force (3), torque (3), point (3). */
typedef struct dyn_wrench_site {
    int      body;       /* DYN_WORLD: on the fixed base, without effect */
    dyn_pose X_bl;       /* the link frame in the body frame: `point` and link axes refer to it */
    bool     world_axes; /* force and torque in world axes, else in link axes */
    bool     has_axes;   /* they are given in other axes, fixed in these: x = axes x_given */
    double   axes[3][3];
} dyn_wrench_site;

/* The model and what a request changes of its surroundings. Lives as long as the call. */
typedef struct dyn_scene {
    const dyn_model       *model;
    double                 gravity[3]; /* m/s^2, world axes */
    unsigned               terms;      /* DYN_FRICTION | DYN_SPRINGS */
    size_t                 n_wrenches;
    const dyn_wrench_site *wrench; /* [n_wrenches] */
} dyn_scene;

/* A frame fixed to a body (or to the world, body = DYN_WORLD). */
typedef struct dyn_frame {
    int      body;
    dyn_pose X_bf; /* the frame in the body frame */
} dyn_frame;

/* entries of one state: q nq; qd, qdd, qddd, tau nv; wrenches 9 * n_wrenches */
typedef struct dyn_inverse_dynamics {
    const double *q, *qd, *qdd, *wrenches;
    double       *tau;            /* nv, N m or N */
    double       *joint_wrenches; /* n_rows x 6: by the parent on the body, axes of the body's link frame,
                                   * moment about the joint's origin; rotor, friction, springs excluded */
} dyn_inverse_dynamics;

/* Also hybrid: coordinates may be driven, that is move with a qdd that is given, whatever their tau. */
typedef struct dyn_forward_dynamics {
    const double *q, *qd, *tau, *wrenches;
    const bool   *driven;     /* [nv], of all states; NULL: none is. tau of these is not looked at */
    const double *driven_qdd; /* nv: qdd of the driven, 0 for the others; NULL: zeros */
    double       *qdd;        /* nv, the given ones too */
    double       *singular;   /* 1: index of the body whose pivot was zero but for rounding, or -1 */
} dyn_forward_dynamics;

typedef struct dyn_mass_matrix {
    const double *q;
    bool zeros_are_set;  /* `mass_matrix` holds those of other states of this model already: what is zero in every
                          * state, as between coordinates of different branches, is not written again */
    double *mass_matrix; /* nv x nv, full, rotor inertia included; must not be NULL */
    double *inverse;     /* nv x nv */
    double *singular;    /* 1: body whose pivot was zero but for rounding, or -1; set when `inverse` is asked */
} dyn_mass_matrix;

typedef struct dyn_bias {
    const double *q, *qd, *wrenches;
    double       *bias;     /* nv: tau at qdd = 0, all terms of the scene */
    double       *coriolis; /* nv: C(q, qd) qd */
    double       *gravity;  /* nv: g(q) */
    double       *friction; /* nv: joint friction alone */
} dyn_bias;

typedef struct dyn_kinematics {
    const double    *q, *qd, *qdd, *qddd;
    size_t           n_frames; /* for positions and orientations */
    const dyn_frame *frames;
    double          *positions;    /* n_frames x 3, m, world */
    double          *orientations; /* n_frames x 4, unit quaternion x y z w of R_wf, w >= 0 */
    const dyn_frame *frame;        /* the one frame of the following; may be NULL when none is asked */
    bool             frame_axes;   /* components in the axes of that frame, else of the world */
    double          *jacobian;     /* 6 x nv: [velocity of the frame's origin; angular velocity] = J qd */
    double          *jacobian_dot; /* 6 x nv: time derivative of every entry of `jacobian` */
    double          *velocity;     /* 6 */
    double          *acceleration; /* 6: classical, gravity not included; world vector in the chosen axes */
    double          *jerk;         /* 6: likewise */
} dyn_kinematics;

typedef struct dyn_energy {
    const double *q, *qd;
    double       *kinetic;         /* 1, J, with rotors */
    double       *potential;       /* 1, J, gravity (zero at the world origin) and springs */
    double       *com;             /* 3, m, world */
    double       *com_velocity;    /* 3, m/s, world */
    double       *com_jacobian;    /* 3 x nv */
    double       *momentum;        /* 6: [linear; angular about the centre of mass], world axes, bodies only */
    double       *momentum_matrix; /* 6 x nv: momentum = matrix * qd */
} dyn_energy;

/* What changes with time beside the state: qddd, and the wrenches' components at a rate of 6 each (force, torque);
 * `point` is held. Rates are of the components as given by inverse dynamics. */
typedef struct dyn_torque_derivative {
    const double *q, *qd, *qdd, *qddd, *wrenches, *wrench_rates;
    double       *tau, *tau_dot;                       /* nv */
    double       *joint_wrenches, *joint_wrench_rates; /* n_rows x 6, as in dyn_inverse_dynamics */
} dyn_torque_derivative;

/* Analytical derivatives of inverse dynamics. "With respect to q" has nv columns; for a floating base they are
 * p += R e_v, R <- R exp(e_w). Components of wrenches (in their named axes) and their points are held. */
typedef struct dyn_sensitivity {
    const double *q, *qd, *qdd, *wrenches;
    bool          zeros_are_set;                  /* in the first three results: see dyn_mass_matrix */
    double       *dtau_dq, *dtau_dqd, *dtau_dqdd; /* nv x nv; must not be NULL. dtau_dqdd is the mass matrix */
    double       *djoint_wrenches_dq, *djoint_wrenches_dqd, *djoint_wrenches_dqdd; /* n_rows x 6 x nv */
    double       *dtau_dwrench;                                                    /* n_wrenches x nv x 6 */
    double       *dtau_dgravity;                                                   /* nv x 3 */
} dyn_sensitivity;

/* Time derivatives of the first three of these, entry by entry, along the motion that goes on with qddd; components of
 * wrenches (in their named axes) and their points do not change. Joints of one coordinate given, partial derivatives
 * exchange, so that with ' for these rates
 *     dtau_dot/dq = dtau_dq',  dtau_dot/dqd = dtau_dqd' + dtau_dq,  dtau_dot/dqdd = dtau_dqdd' + dtau_dqd,
 *     dtau_dot/dqddd = dtau_dqdd. */
typedef struct dyn_sensitivity_rate {
    const double *q, *qd, *qdd, *qddd, *wrenches;
    double       *dtau_dq_dot, *dtau_dqd_dot, *dtau_dqdd_dot; /* nv x nv; must not be NULL */
} dyn_sensitivity_rate;

/* Analytical derivatives of forward dynamics, by the implicit form dqdd/dx = -M^-1 dtau/dx at the qdd that tau gives.
 */
typedef struct dyn_forward_sensitivity {
    const double *q, *qd, *tau, *wrenches;
    double       *qdd;                            /* nv; must not be NULL, as the three that follow */
    double       *dqdd_dq, *dqdd_dqd, *dqdd_dtau; /* nv x nv; dqdd_dtau is the inverse mass matrix */
    double       *dqdd_dwrench;                   /* n_wrenches x nv x 6 */
    double       *singular;                       /* 1: body whose pivot was zero but for rounding, or -1 */
} dyn_forward_sensitivity;

typedef struct dyn_coriolis {
    const double *q, *qd;
    double       *coriolis_matrix; /* nv x nv: C qd is the Coriolis vector and dM/dt - 2C is skew */
    double       *christoffel;     /* nv x nv x nv: C_ij = sum_k christoffel_ijk qd_k */
} dyn_coriolis;

/* tau = regressor * parameters + joint_regressor * joint parameters, friction sharp and of equal magnitude both ways.
 * Parameters of a body: m, m c (3), Ixx Ixy Iyy Ixz Iyz Izz about its link's origin, link axes, the rotors on it
 * locked. Of a mover: rotor inertia, viscous, Coulomb; a motor's spin inertia stands in the place of its mover's rotor
 * inertia. */
typedef struct dyn_regressor {
    const double *q, *qd, *qdd;
    double       *regressor;       /* nv x 10 n_rows */
    double       *joint_regressor; /* nv x 3 n_movers */
} dyn_regressor;

typedef struct dyn_frame_pair {
    dyn_frame a, b;
} dyn_frame_pair;

/* Frames against each other: b of each pair as seen from a, in the axes of a. `jacobian` times qd is
 * [d/dt position; angular velocity of b less that of a]. */
typedef struct dyn_closure {
    const double         *q, *qd, *qdd;
    size_t                n_pairs;
    const dyn_frame_pair *pairs;
    double               *positions;     /* n_pairs x 3, m: R_a^T (p_b - p_a) */
    double               *rotations;     /* n_pairs x 3 x 3: R_a^T R_b */
    double               *jacobian;      /* n_pairs x 6 x nv */
    double               *jacobian_dot;  /* n_pairs x 6 x nv: time derivative of every entry of `jacobian` */
    double               *jacobian_ddot; /* n_pairs x 6 x nv: the second */
} dyn_closure;

/* |ratio x + offset| <= most, of entry x of a state. */
typedef struct dyn_bound {
    size_t entry;
    double ratio, offset, most;
} dyn_bound;

typedef struct dyn_kernels {
    const char *target; /* "scalar", "sse2", "neon", "fma", "avx2", "avx512" */
    int         lanes;  /* W */
    /* Bytes of a workspace good for every kernel on this model; the caller aligns it to DYN_ALIGN. */
    size_t (*workspace_size)(const dyn_model *model);
    void (*inverse_dynamics)(const dyn_scene *, void *ws, const dyn_inverse_dynamics *, size_t blocks);
    void (*forward_dynamics)(const dyn_scene *, void *ws, const dyn_forward_dynamics *, size_t blocks);
    void (*mass_matrix)(const dyn_scene *, void *ws, const dyn_mass_matrix *, size_t blocks);
    void (*bias)(const dyn_scene *, void *ws, const dyn_bias *, size_t blocks);
    void (*kinematics)(const dyn_scene *, void *ws, const dyn_kinematics *, size_t blocks);
    void (*energy)(const dyn_scene *, void *ws, const dyn_energy *, size_t blocks);
    void (*torque_derivative)(const dyn_scene *, void *ws, const dyn_torque_derivative *, size_t blocks);
    void (*sensitivity)(const dyn_scene *, void *ws, const dyn_sensitivity *, size_t blocks);
    void (*sensitivity_rate)(const dyn_scene *, void *ws, const dyn_sensitivity_rate *, size_t blocks);
    void (*forward_sensitivity)(const dyn_scene *, void *ws, const dyn_forward_sensitivity *, size_t blocks);
    void (*coriolis)(const dyn_scene *, void *ws, const dyn_coriolis *, size_t blocks);
    void (*regressor)(const dyn_scene *, void *ws, const dyn_regressor *, size_t blocks);
    void (*closure)(const dyn_scene *, void *ws, const dyn_closure *, size_t blocks);

    /* Between lanes, `entries` a state, and numbers as they stand in requests and answers: state after state, n of
     * each, not aligned. Number i of a state is its entry order[i], NULL: i. False when one of them is not finite.
     *     from_rows: blocks * lanes states; nothing at `end` or behind it is read
     *     to_rows:   the first `states` of the blocks at `from`; other lanes are not looked at */
    bool (*from_rows)(const void *from, const void *end, size_t n, const int *order, double *to, size_t entries,
                      size_t blocks);
    bool (*to_rows)(const double *from, size_t entries, size_t n, const int *order, void *to, size_t states);
    /* Whether all n bounds hold for the (finite) lanes of these blocks. */
    bool (*bounded)(const double *lanes, size_t entries, const dyn_bound *bound, size_t n, size_t blocks);
} dyn_kernels;

/* The tables this build holds and this machine can run, the fastest last; NULL past the end. */
const dyn_kernels *dyn_kernels_at(size_t index);

/* The table of that target name; NULL or "" gives the fastest. NULL when there is no such target here. */
const dyn_kernels *dyn_kernels_find(const char *target);

/* For a state that has none beside it, where `wide` is for many: the fastest table of one lane that takes no more of
 * the machine. The other lanes of a block would cost as much as its own. */
const dyn_kernels *dyn_kernels_for_one_state(const dyn_kernels *wide);
