/* step.h - declares the kernel that integrates the motion over one step and differentiates the result, and the kernel
 * that differentiates forward dynamics with held frames.
 *
 * These kernels call other kernels of dyn_kernels. Arrays, lanes and blocks follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"
#include "held_directions.h"

/* Methods of integration over one step of h seconds, with constant tau and wrenches. q * exp(u) displaces positions by
 * u (algorithms/step_displacement.h); a is the acceleration that forward dynamics gives. */
typedef enum dyn_step_method {
    DYN_EXPLICIT_EULER,      /* q+ = q * exp(h qd), qd+ = qd + h a(q, qd) */
    DYN_SEMI_IMPLICIT_EULER, /* qd+ = qd + h a(q, qd), q+ = q * exp(h qd+) */
    DYN_RK4,                 /* the classical method of order 4, on the manifold of positions */
    DYN_IMPLICIT_EULER       /* qd+ = qd + h a(q+, qd+), q+ = q * exp(h qd+) */
} dyn_step_method;

enum { DYN_MAX_HELD = 32 }; /* the largest number of held frames */

enum { DYN_STEP_STRIP = 16 }; /* most columns of derivatives that RK4 propagates at once */

/* A sphere or a disc that rolls on a plane. The material point that touches the plane is held. Its position relative to
 * the frame's origin is s: with the normal n of the plane, out of the ground, the radius r, and the axle a of a disc,
 *
 *     s = -r n (sphere),  s = -r e / |e|, e = n - (n.a) a (the lowest point of a disc's rim).
 *
 * The contact point moves through the material. The velocity is v + w x s, with v and w of the frame; the time
 * derivative of this is dv/dt + dw/dt x s + w x ds/dt, with the geometrical rate ds/dt = 0, or -r (e' - (u.e') u) / |e|
 * with u = e / |e|. A disc that lies flat, |e|^2 <= DYN_FLAT, has no lowest point: s is then not a number. */
#define DYN_FLAT 1e-12
typedef struct dyn_rolling {
    bool   is_disc;
    double radius;     /* r, m */
    double axle[3];    /* a, of unit length, in the axes of the frame */
    double axes[3][3]; /* rows: two tangents of the plane and its normal, of unit length, in world axes */
} dyn_rolling;

/* A frame whose velocity is held along some of its six directions (linear x, y, z, then angular), in world axes or in
 * its own axes. If the frame rolls, the velocity is that of its contact point, along linear directions in the axes of
 * the plane. */
typedef struct dyn_held_frame {
    dyn_frame          frame;
    bool               frame_axes; /* false if the frame rolls */
    size_t             n;          /* number of directions */
    int                axis[6];
    const dyn_rolling *rolling; /* NULL: the velocity of the frame's origin is held */
} dyn_held_frame;

/* Returns the length, m, that converts angular velocities of a held frame to linear ones
 * (dynamics/held_directions.h). */
static inline double dyn_held_reach(const dyn_model *m, const dyn_held_frame *f)
{
    return dyn_point_reach(m, f->frame.body, f->frame.X_bf.p) + (f->rolling ? f->rolling->radius : 0);
}

/* Returns the site of the wrench that holds a frame. Link axes make the derivatives faster. They are chosen if they
 * give the same derivatives: for a frame that is held without damping along all of its linear and angular directions,
 * or along all directions of one kind. */
static inline dyn_wrench_site dyn_held_site(const dyn_held_frame *held, double damping)
{
    int linear = 0;
    for (size_t a = 0; a < held->n; a++)
        linear += held->axis[a] < 3;
    const bool complete = damping == 0 && linear % 3 == 0 && ((int)held->n - linear) % 3 == 0;
    return (dyn_wrench_site){
        .body = held->frame.body, .X_bl = held->frame.X_bf, .world_axes = !held->frame_axes && !complete};
}

/* Gives the accelerations of a mechanism, such as one with closed loops, of whose bodies scene->model knows nothing.
 * The functions compute one block of lanes, as the kernels of dynamics.h do; `mechanism` is their argument. Only the
 * joints, coordinates and number of rows of scene->model are then used. */
typedef struct dyn_step_mechanism {
    /* Computes qdd at (q, qd) and, unless dqdd_dq is NULL, its derivatives with respect to q, qd and tau. Held frames
     * do not accelerate along their directions, and stopping coordinates have qdd = -qd / h. */
    void (*accelerate)(void *mechanism, const dyn_forward_sensitivity *);
    /* Computes dtau_dwrench, or the regressor, at the position of the last call of `accelerate`. */
    void (*differentiate_by_wrenches)(void *mechanism, const dyn_sensitivity *);
    void (*differentiate_by_parameters)(void *mechanism, const dyn_regressor *);
    void *mechanism;
} dyn_step_mechanism;

/* Inputs and outputs of one step of integration, x = (q, qd) to x+ = (q+, qd+). The matrices are derivatives in the
 * tangent space: a change of q, or of q+, has nv entries as in dyn_sensitivity. */
typedef struct dyn_step {
    const double             *q, *qd, *tau, *wrenches;
    dyn_step_method           method;
    double                    h;         /* s */
    const dyn_step_mechanism *mechanism; /* NULL: forward dynamics of scene->model */
    /* [n_held] frames that do not accelerate along their held directions: a and its derivatives are those of the robot
     * with the wrenches that hold the frames. */
    size_t                n_held;
    const dyn_held_frame *held;
    /* [n_wrenches + n_held]: the scene's wrenches, then dyn_held_site of each frame; not read without held frames */
    const dyn_wrench_site *sites;
    /* The damping delta of the contacts, 1/kg and 1/(kg m^2): with the efforts l along the held directions, the
     * accelerations along them are -delta l instead of zero. An impact has no damping. */
    double damping;
    /* Coordinates that stop, in the lanes whose entry of `stops` is not 0: qd+ = 0, and the rows of qd+ in the matrices
     * are zero. The effort that stops them replaces their tau; a and its derivatives are those with this effort. Only
     * for explicit and semi-implicit Euler without impact. */
    size_t        n_stopping;
    const size_t *stopping; /* [n_stopping] coordinates */
    const double *stops;    /* n_stopping */
    /* true: the step begins with a plastic impact, M (v - qd) = J^T p and J v = 0, where J has the rows of the held
     * directions. The step then starts from (q, v). Only with held frames. */
    bool    impact;
    double *q_after, *qd_after; /* nq and nv; must not be NULL */
    double *state_matrix;       /* 2 nv x 2 nv: dx+/dx; NULL: neither matrix is computed */
    double *input_matrix;       /* 2 nv x nv: dx+/dtau; NULL if and only if state_matrix is */
    /* Derivatives with respect to the wrenches of the scene and to the inertial parameters of all bodies
     * (dyn_regressor). NULL: not computed; they need the two matrices above. */
    double *wrench_matrix;    /* n_wrenches x 2 nv x 6: with respect to force and torque, in the axes of the wrench */
    double *parameter_matrix; /* 2 nv x 10 n_rows */
    /* Scratch of one block, whatever the number of blocks: `lanes` times the sum of dyn_step_work, dyn_step_held_work
     * with held or stopping coordinates, and dyn_step_impact_work with an impact. Must not be NULL. */
    double *work;
    double
        *singular; /* 1: the first body at which a mass matrix has a pivot of zero up to rounding, or -1. May be NULL */
    double *unsolved; /* 1: a dyn_step_failure of implicit Euler, whose results are then undefined. May be NULL */
    /* Called before each of Newton's steps of implicit Euler, which take seconds for a long chain; false ends the step
     * with DYN_STEP_STOPPED in all lanes. NULL: never ended. `clock` is its argument. */
    bool (*may_continue)(void *clock);
    void *clock;
    /* 1: 0, or 1 + the first held direction that contradicts those before it (held_directions.h). Directions are
     * numbered frame by frame. */
    double *contradictory;
    /* n_held x 6: with damping, the accelerations that remain along the held directions, at the start of the step or,
     * with implicit Euler, at its end; zeros along other directions. NULL: not computed. */
    double *contact_residual;
} dyn_step;

typedef enum dyn_step_failure {
    DYN_STEP_SOLVED,
    DYN_STEP_SINGULAR,      /* the Jacobian of the implicit equation is singular up to rounding */
    DYN_STEP_NOT_CONVERGED, /* Newton's method did not converge */
    DYN_STEP_STOPPED        /* may_continue returned false */
} dyn_step_failure;

/* Returns the number of inputs with respect to which the step is differentiated: tau, and the columns of wrench_matrix
 * and parameter_matrix if they are requested. */
static inline size_t dyn_step_inputs(const dyn_scene *scene, bool wrenches, bool parameters)
{
    return (size_t)scene->model->nv + (wrenches ? 6 * scene->n_wrenches : 0) +
           (parameters ? 10 * scene->model->n_rows : 0);
}

/* Returns the number of doubles per state of `work` of dyn_step, for the number of inputs that dyn_step_inputs returns.
 * The matrices of derivatives are not in `work`. */
static inline size_t dyn_step_work(const dyn_model *m, dyn_step_method method, size_t inputs)
{
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, columns = 2 * nv + inputs;
    const size_t stages = 8 * nv + 4 * inputs + 8 + 6 * DYN_STEP_STRIP; /* of RK4 */
    const size_t chain  = method == DYN_RK4 ? stages : method == DYN_IMPLICIT_EULER ? nv + 3 * columns : 0;
    const size_t more   = inputs > nv ? 3 * inputs + (inputs - nv) + 3 * nv : 0;
    return (3 * nv + chain + more) * nv + 2 * nq + 9 * nv;
}

/* Returns the number of doubles per state of `work` that held frames and stopping coordinates add; k is the number of
 * held directions plus stopping coordinates. */
static inline size_t dyn_step_held_work(const dyn_model *m, size_t n_wrenches, size_t n_held, size_t k)
{
    size_t nv = (size_t)m->nv;
    return 4 * nv * nv + 7 * k * nv + k * k + 4 * k + 7 * nv + 9 * (n_wrenches + n_held) + (m->has_load ? 7 * nv : 0);
}

/* Returns the number of doubles per state of `work` that an impact adds, after those of held frames. */
static inline size_t dyn_step_impact_work(const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (3 * nv + 10 * m->n_rows) * nv + 3 * nv;
}

/* Analytical derivatives of forward dynamics, like dyn_forward_sensitivity, of a robot with held frames. */
typedef struct dyn_held_sensitivity {
    const double          *q, *qd, *tau, *wrenches;
    size_t                 n_held;
    const dyn_held_frame  *held;                           /* [n_held] */
    const dyn_wrench_site *sites;                          /* see dyn_step.sites */
    double                 damping;                        /* see dyn_step.damping */
    double                *qdd;                            /* nv; must not be NULL */
    double                *dqdd_dq, *dqdd_dqd, *dqdd_dtau; /* nv x nv; must not be NULL */
    double                *dqdd_dwrench;                   /* n_wrenches x nv x 6 */
    double                *work; /* dyn_held_sensitivity_work() times lanes, for one block; not NULL */
    double                *singular, *contradictory; /* see dyn_step; must not be NULL */
} dyn_held_sensitivity;

/* Returns the number of doubles per state of `work` of dyn_held_sensitivity, with k held directions. */
static inline size_t dyn_held_sensitivity_work(const dyn_scene *scene, bool wrenches, size_t n_held, size_t k)
{
    return dyn_step_work(scene->model, DYN_EXPLICIT_EULER, dyn_step_inputs(scene, wrenches, false)) +
           dyn_step_held_work(scene->model, scene->n_wrenches, n_held, k);
}
