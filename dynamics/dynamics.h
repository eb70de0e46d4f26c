/* dynamics.h - declares the kernels: functions that compute quantities of a model for W states at a time.
 *
 * Every algorithm has one source (inverse_dynamics.c, forward_dynamics.c, ...), compiled once per target. A target is
 * an instruction set with a vector width W; the W elements of a vector are its lanes. Each target exports one constant
 * table of kernels. Tables of one arithmetic class (dyn_kernels_arithmetic) give the same bits for the same state.
 *
 * To evaluate: build a model (model/model.h), set a scene, choose a table of kernels (dyn_kernels_find, or
 * dyn_kernels_for_one_state), allocate its workspace, put the states into lanes (from_rows), call a kernel, take the
 * results out of the lanes (to_rows). dynamics/samples shows it, and memory/arena.h gives aligned memory.
 *
 * Memory: states are stored in blocks of W, entry by entry: [block][entry][lane]. All block arrays are doubles aligned
 * to DYN_ALIGN bytes. In an array with `n` entries per state, entry e of lane l of block b is a[(b * n + e) * W + l].
 * Unused lanes of the last block must contain a copy of a real state. Matrices are row-major. An input array that is
 * NULL means zeros. An output that is NULL is not computed.
 *
 * With W = 1 an array of lanes is an array of entries, one state after the other. Outputs may not overlap inputs or
 * each other unless a comment allows it.
 *
 * Kernels never allocate, never fail on finite input and keep no state outside the caller's workspace. Threads share
 * models and tables, and have a workspace each; nothing in it lasts from one call to the next. A failure that depends
 * on the state, such as a singular mass matrix, is reported lane by lane in `singular`. Extreme but finite inputs may
 * give infinity or NaN; the caller must check results before it publishes them.
 *
 * Conventions (NOTATION.md): 6-vectors are [linear; angular] = [force; torque]. A wrench acts on the link, by the
 * environment. The equation of motion is M qdd + C qd + g + friction + springs = tau + sum J^T W. */
#pragma once
#include "dynamics/memory/memory.h"
#include "dynamics/model/model.h"
#include <stdint.h>

#define DYN_ALIGN     64
#define DYN_MAX_LANES 8
#define DYN_MAX_ANGLE 1e5 /* rad, largest |joint position| for which sine and cosine are accurate */

/* Optional terms of the equation of motion. A caller may switch each of them on; inertia and Coriolis terms are always
 * included. */
enum { DYN_FRICTION = 1, DYN_SPRINGS = 2, DYN_ALL_TERMS = 3 };

/* The point and the axes of an external wrench. Its 9 values per state are force (3), torque (3) and point (3). */
typedef struct dyn_wrench_site {
    int      body;       /* index of the body; DYN_WORLD: the wrench acts on the fixed base and has no effect */
    dyn_pose X_bl;       /* link frame in the body frame; `point` is a position in the link frame */
    bool     world_axes; /* true: force and torque in world axes; false: in link axes */
    bool     has_axes;   /* true: force and torque have axes of their own; `axes` rotates them to world or link axes */
    double   axes[3][3];
} dyn_wrench_site;

/* A model and its surroundings. The caller keeps it alive during the call. */
typedef struct dyn_scene {
    const dyn_model       *model;
    double                 gravity[3]; /* m/s^2, world axes; kernels do not read model->gravity */
    unsigned               terms;      /* a set of DYN_FRICTION, DYN_SPRINGS: the optional terms that are included */
    size_t                 n_wrenches;
    const dyn_wrench_site *wrench; /* [n_wrenches] */
    /* Kernels of large models check the deadline between parts of their work. If it has passed they return at once, and
     * some outputs are not written: the caller must check the deadline before it uses them. A deadline that has passed
     * must stay passed. */
    dyn_deadline deadline;
} dyn_scene;

/* A frame fixed to a body (or to the world, body = DYN_WORLD). */
typedef struct dyn_frame {
    int      body;
    dyn_pose X_bf; /* pose of the frame in the body frame */
} dyn_frame;

/* Inputs and outputs of inverse dynamics. Entries per state: nq in q; nv each in qd, qdd and tau; 9 * n_wrenches in
 * wrenches. */
typedef struct dyn_inverse_dynamics {
    const double *q, *qd, *qdd, *wrenches;
    double       *tau; /* nv, N m or N */
    /* n_rows x 6, N and N m: wrench that the parent exerts on the body, without the forces of rotor, friction and
     * springs, in the axes of the body's link frame. The moment is about the link frame's origin or, with
     * moment_at_parent_frame, that of the joint frame on the parent */
    double *joint_wrenches;
} dyn_inverse_dynamics;

/* Inputs and outputs of forward dynamics. It may be hybrid: a driven coordinate moves with a prescribed qdd, whatever
 * its tau. */
typedef struct dyn_forward_dynamics {
    const double *q, *qd, *tau, *wrenches;
    /* [nv], the same for all states; NULL: no coordinate is driven. tau of driven coordinates is ignored */
    const bool   *driven;
    const double *driven_qdd; /* nv: prescribed qdd of driven coordinates, 0 for the other coordinates; NULL: zeros */
    double       *qdd;        /* nv, including those of driven coordinates */
    double       *singular;   /* 1: first body whose pivot of the mass matrix is zero up to rounding, or -1 */
} dyn_forward_dynamics;

typedef struct dyn_mass_matrix {
    const double *q;
    bool zeros_are_set;  /* true: both matrices below already hold results of another state of this model. Entries
                            that are zero in every state, such as those between branches, are then not written again */
    double *mass_matrix; /* nv x nv, full, rotor inertia included; must not be NULL */
    double *inverse;     /* nv x nv */
    double *singular;    /* 1: first body whose pivot is zero up to rounding, or -1; set only together with `inverse` */
} dyn_mass_matrix;

typedef struct dyn_bias {
    const double *q, *qd, *wrenches;
    double       *bias;     /* nv: tau at qdd = 0, with all terms of the scene */
    double       *coriolis; /* nv: C(q, qd) qd */
    double       *gravity;  /* nv: g(q) */
    double       *friction; /* nv: joint friction only */
} dyn_bias;

typedef struct dyn_kinematics {
    const double    *q, *qd, *qdd, *qddd;
    size_t           n_frames; /* number of frames for `positions` and `orientations` */
    const dyn_frame *frames;
    double          *positions;    /* n_frames x 3, m, world axes */
    double          *orientations; /* n_frames x 4, unit quaternion x y z w of R_wf, w >= 0 */
    const dyn_frame *frame;        /* the frame of all outputs below; may be NULL if none of them is requested */
    bool             frame_axes;   /* true: components in the axes of `frame`; false: in world axes */
    bool zeros_are_set;            /* true: `jacobian` and `jacobian_dot` already hold results of another state for this
                                      frame, see dyn_mass_matrix */
    double *jacobian;              /* 6 x nv: [velocity of the frame's origin; angular velocity] = J qd */
    double *jacobian_dot;          /* 6 x nv: time derivative of every entry of `jacobian` */
    double *velocity;              /* 6: [linear; angular], m/s and rad/s */
    double *acceleration;          /* 6: classical acceleration without gravity, in the axes of `velocity` */
    double *jerk;                  /* 6: time derivative of the classical acceleration, in the axes of `velocity` */
} dyn_kinematics;

typedef struct dyn_energy {
    const double *q, *qd;
    double       *kinetic;      /* 1, J, kinetic energy including that of the rotors */
    double       *potential;    /* 1, J, potential energy of gravity (zero at the world's origin) and of springs */
    double       *com;          /* 3, m, world axes */
    double       *com_velocity; /* 3, m/s, world axes */
    double       *com_jacobian; /* 3 x nv: com_velocity = com_jacobian * qd */
    double       *momentum;     /* 6: [linear; angular about the centre of mass], world axes, without rotor inertias */
    double       *momentum_matrix; /* 6 x nv: momentum = momentum_matrix * qd */
    /* 3 x 3, kg m^2: inertia tensor of all bodies about the centre of mass with all joints locked, world axes, without
     * rotor inertias and motors on the world */
    double *centroidal_inertia;
} dyn_energy;

/* Inputs and outputs of inverse dynamics with its time derivative. qddd is the jerk. wrench_rates has 6 entries per
 * wrench (rates of force and torque); `point` is constant in the link frame. The outputs are rates of the components
 * that inverse dynamics returns. */
typedef struct dyn_torque_derivative {
    const double *q, *qd, *qdd, *qddd, *wrenches, *wrench_rates;
    double       *tau, *tau_dot;                       /* nv */
    double       *joint_wrenches, *joint_wrench_rates; /* n_rows x 6, axes and points as in dyn_inverse_dynamics */
} dyn_torque_derivative;

/* Analytical derivatives of inverse dynamics. With friction that depends on the load, dtau_dqdd is the mass matrix with
 * its rows scaled (joint/load_friction.h). A derivative with respect to q has nv columns; those of a joint with a
 * quaternion, such as a floating base, are taken along p += R e_v, R <- R exp(e_w). The given components of wrenches,
 * and their points, are constant. */
typedef struct dyn_sensitivity {
    const double *q, *qd, *qdd, *wrenches;
    bool zeros_are_set; /* true: the three matrices below already hold results of another state, see dyn_mass_matrix */
    double *dtau_dq, *dtau_dqd, *dtau_dqdd; /* nv x nv; must not be NULL. dtau_dqdd is the mass matrix */
    double *djoint_wrenches_dq, *djoint_wrenches_dqd, *djoint_wrenches_dqdd; /* n_rows x 6 x nv */
    double *dtau_dwrench;                                                    /* n_wrenches x nv x 6 */
    double *dtau_dgravity;                                                   /* nv x 3 */
} dyn_sensitivity;

/* Time derivatives of dtau_dq, dtau_dqd and dtau_dqdd, entry by entry, along the motion with jerk qddd. The given
 * components of wrenches, and their points, are constant. For joints of one coordinate, derivatives with respect to
 * time and state commute. With ' for the time derivatives,
 *     dtau_dot/dq = dtau_dq',  dtau_dot/dqd = dtau_dqd' + dtau_dq,  dtau_dot/dqdd = dtau_dqdd' + dtau_dqd,
 *     dtau_dot/dqddd = dtau_dqdd. */
typedef struct dyn_sensitivity_rate {
    const double *q, *qd, *qdd, *qddd, *wrenches;
    double       *dtau_dq_dot, *dtau_dqd_dot, *dtau_dqdd_dot; /* nv x nv; must not be NULL */
} dyn_sensitivity_rate;

/* Analytical derivatives of forward dynamics: dqdd/dx = -M^-1 dtau/dx at the qdd that tau produces. The inverse mass
 * matrix is formed only for dqdd_dtau. */
typedef struct dyn_forward_sensitivity {
    const double *q, *qd, *tau, *wrenches;
    bool          zeros_are_set; /* true: the three matrices below already hold results of another state of this
                                    scene, see dyn_mass_matrix */
    double *qdd;                 /* nv; must not be NULL */
    double *dqdd_dq, *dqdd_dqd;  /* nv x nv; must not be NULL */
    double *dqdd_dtau;           /* nv x nv: the inverse mass matrix */
    double *dqdd_dwrench;        /* n_wrenches x nv x 6 */
    double *singular;            /* 1: first body whose pivot of M is zero up to rounding, or -1 */
} dyn_forward_sensitivity;

typedef struct dyn_coriolis {
    const double *q, *qd;
    bool          zeros_are_set; /* true: `coriolis_matrix` already holds the result of another state, see
                                    dyn_mass_matrix */
    double *coriolis_matrix;     /* nv x nv: C(q, qd), with dM/dt - 2C skew-symmetric */
    double *christoffel;         /* nv x nv x nv: C_ij = sum_k christoffel_ijk qd_k */
} dyn_coriolis;

/* Computes tau = M qdd_reference + C(q, qd) qd_reference + g, with the C of dyn_coriolis, plus the friction and damping
 * of the joints at qd_reference and the springs at q, minus sum J^T W. */
typedef struct dyn_reference_dynamics {
    const double *q, *qd, *qd_reference, *qdd_reference, *wrenches;
    double       *tau; /* nv; must not be NULL */
} dyn_reference_dynamics;

/* Regressors: tau = regressor * body parameters + joint_regressor * joint parameters. Coulomb friction is assumed sharp
 * (no coulomb_velocity) and equal in both directions. With a reference, tau is that of dyn_reference_dynamics; qdd is
 * then ignored. Row r of the bodies has the columns 10 r to 10 r + 9, for its parameters m, m c (3), Ixx Ixy Iyy Ixz
 * Iyz Izz, about the origin of its link and in link axes, with the rotors on the link locked. Mover j
 * (dyn_model.n_movers) has the columns 3 j to 3 j + 2, for rotor inertia, viscous friction and Coulomb friction,
 * whatever the terms of the scene. If the mover has a motor, the motor's spin inertia replaces the rotor inertia. If
 * the scene has friction that depends on the load, the columns are the derivatives of tau, which is not linear in the
 * parameters: then there must be no reference, and regressor_dot needs regressor, too. */
typedef struct dyn_regressor {
    const double *q, *qd, *qdd;
    const double *qd_reference, *qdd_reference; /* both NULL: no reference; one of them NULL: zeros */
    const double *wrenches;        /* read only if friction depends on the load, without a reference; NULL: zeros */
    bool          zeros_are_set;   /* true: `regressor` already has the result of another state, see dyn_mass_matrix */
    double       *regressor;       /* nv x 10 n_rows */
    double       *joint_regressor; /* nv x 3 n_movers */
    const double *qddd;            /* jerk, only for regressor_dot */
    double *regressor_dot; /* nv x 10 n_rows: time derivative of every entry of `regressor`; not with a reference */
} dyn_regressor;

typedef struct dyn_frame_pair {
    dyn_frame a, b;
} dyn_frame_pair;

/* The coordinates that move the two frames of a pair relative to each other: the columns of its Jacobian that may
 * differ from zero. The matrices of the pair then have n columns, and begin after 6 x `first` entries. */
typedef struct dyn_pair_columns {
    size_t     first, n;
    const int *column; /* [nv] column of each velocity coordinate; not read for coordinates without a column */
} dyn_pair_columns;

/* Relative motion of frames a and b of each pair: the motion of b as seen from a, in the axes of a. `jacobian` times qd
 * is [rate of `positions`; angular velocity of b minus that of a]. */
typedef struct dyn_closure {
    const double           *q, *qd, *qdd;
    size_t                  n_pairs;
    const dyn_frame_pair   *pairs;
    const dyn_pair_columns *columns;       /* [n_pairs] columns of the matrices; NULL: all nv */
    double                 *positions;     /* n_pairs x 3, m: R_a^T (p_b - p_a) */
    double                 *rotations;     /* n_pairs x 3 x 3: R_a^T R_b */
    double                 *jacobian;      /* n_pairs x 6 x nv */
    double                 *jacobian_dot;  /* n_pairs x 6 x nv: time derivative of every entry of `jacobian` */
    double                 *jacobian_ddot; /* n_pairs x 6 x nv: second time derivative of every entry of `jacobian` */
} dyn_closure;

/* The bound |ratio x + offset| <= most on x, entry number `entry` of a state. */
typedef struct dyn_bound {
    size_t entry;
    double ratio, offset, most;
} dyn_bound;

/* Unaligned rows of n doubles each, one after the other. Number i of a row is entry order[i] of a state, or entry i if
 * `order` is NULL. */
typedef struct dyn_rows {
    const void *begin, *end; /* the first row; an address after the last row, up to which memory may be read */
    size_t      n;
    const int  *order; /* [n], no entry twice */
} dyn_rows;

/* The list of kernels. Each kernel has a struct dyn_name with its arrays, in this header or in the header of its name
 * (step and held_sensitivity in step.h, forward_hessian in hessian.h, constraint_rows and the next four in
 * constraint.h, closure_rows, closure_factor and matrix_product in closure_kernels.h, the gradients in gradient.h,
 * forward_directional and step_directional in directional.h, forward_hessian_product and step_hessian_product in
 * hessian_product.h), and a source file of its name in one of the folders algorithms, adjoint, constraints and momentum
 * (held_sensitivity: step.c). */
/* clang-format off */
#define DYN_KERNELS(X) \
    X(inverse_dynamics) X(forward_dynamics) X(mass_matrix) X(bias) X(kinematics) X(energy) \
    X(torque_derivative) X(sensitivity) X(sensitivity_rate) X(forward_sensitivity) X(coriolis) \
    X(reference_dynamics) X(regressor) X(closure) X(frame_sensitivity) X(torque_series) X(friction_map) \
    X(hessian) X(forward_hessian) X(step) X(held_sensitivity) \
    X(constraint_rows) X(constraint_factor) X(constraint_solution) X(constraint_inertia) X(held_balance) \
    X(gradient) X(forward_gradient) X(directional) X(forward_directional) X(riccati) \
    X(centroidal) X(energy_regressor) X(hessian_product) X(forward_hessian_product) X(friction_gradient) \
    X(closure_rows) X(closure_factor) X(closure_change) X(matrix_product)
/* Kernels that store the factors of all evaluations of forward dynamics in a step, for which they need a larger
 * workspace. */
#define DYN_STEP_KERNELS(X) X(step_gradient) X(step_directional) X(step_hessian_product)
/* clang-format on */

#define X(name) struct dyn_##name;
DYN_KERNELS(X)
DYN_STEP_KERNELS(X)
#undef X

typedef struct dyn_kernels {
    const char *target; /* name: "scalar", "sse2", "fma" ... (targets of the Makefile) */
    int         lanes;  /* W, number of lanes */
    bool        fused;  /* arithmetic class: a b + c is rounded once (fused) or twice (unfused) */
    /* Size in bytes of a workspace that is sufficient for every kernel of DYN_KERNELS on this model, those of step.h,
     * directional.h, energy_regressor.h, frame_sensitivity.h, friction_gradient.h, friction_map.h, gradient.h,
     * hessian.h, hessian_product.h, riccati.h and torque_series.h too, for any number of blocks. The caller allocates
     * the workspace and aligns it to DYN_ALIGN. */
    size_t (*workspace_size)(const dyn_model *model);
    /* Size in bytes of a workspace for the kernels of DYN_KERNELS and DYN_STEP_KERNELS, about twice that of
     * workspace_size. */
    size_t (*step_workspace_size)(const dyn_model *model);
    /* name(scene, workspace, arrays, blocks): evaluates `blocks` blocks of `lanes` states each. */
#define X(name) void (*name)(const dyn_scene *, void *ws, const struct dyn_##name *, size_t blocks);
    DYN_KERNELS(X)
    DYN_STEP_KERNELS(X)
#undef X

    /* These two functions copy states between blocks of lanes, with `entries` numbers per state, and unaligned rows,
     * with n numbers per state. Number i of a row is entry order[i] of the state, or entry i if `order` is NULL. The
     * functions return false if one of the numbers is not finite.
     *     from_rows: copies blocks * lanes rows into the blocks at `to`; a caller whose last block is not full must
     *     repeat a row. Entries of a state that no number of a row belongs to stay unchanged.
     *     to_rows: copies the first `states` states of the blocks at `from` into unaligned rows at `to`. */
    bool (*from_rows)(const dyn_rows *rows, double *to, size_t entries, size_t blocks);
    bool (*to_rows)(const double *from, size_t entries, size_t n, const int *order, void *to, size_t states);
    /* Returns true if all lanes of the blocks satisfy all n bounds; the lanes must be finite. */
    bool (*bounded)(const double *lanes, size_t entries, const dyn_bound *bound, size_t n, size_t blocks);
} dyn_kernels;

/* All tables are constants that are never freed.
 *
 * Returns table number `index` among those that this build contains and this machine can run. The tables are ordered by
 * speed, the fastest last. Returns NULL if `index` is past the end. */
const dyn_kernels *dyn_kernels_at(size_t index);

/* Returns the table whose target has this name, or the fastest table if the name is NULL or "". Returns NULL if there
 * is no such target. */
const dyn_kernels *dyn_kernels_find(const char *target);

/* Returns the table for single states on a machine that uses the table `wide` for batches: the fastest table with one
 * lane and the same arithmetic class, up to `wide` in the order of tables. A table with several lanes would compute a
 * full block for one state. */
const dyn_kernels *dyn_kernels_for_one_state(const dyn_kernels *wide);

/* Returns the table by which constants of models are computed: one lane of the fused class, emulated if necessary, so
 * that the constants have the same bits on every processor. */
const dyn_kernels *dyn_kernels_for_models(void);

/* Returns the name of the arithmetic class, "fused" or "unfused". Tables of one class give the same bits. */
const char *dyn_kernels_arithmetic(const dyn_kernels *kernels);
