/* base_parameters.h - finds the base parameters of a robot, the combinations of inertial parameters that its motion can
 * distinguish, numerically (Gautier 1991).
 *
 * Torques are linear in the parameters of bodies and joints, tau = Y pi, but the columns of Y are linearly
 * dependent. Columns are examined from the base to the tips; within a body: inertias, first moments, the mass, then
 * the parameters of its joint. A column is kept unless some fixed combination of the columns kept before equals it
 * in every state. Every other column is Y_j = sum_k Y_k K_kj over the kept ones, so that
 *
 *     tau = sum_k Y_k beta_k,   beta_k = pi_k + sum_j K_kj pi_j.
 *
 * The beta_k are the base parameters. The parameter of a column that is always zero has no effect. */
#pragma once
#include "dynamics/memory/memory.h"
#include "parameters.h"

enum { DYN_BASE_MAX_BODIES = 100 }; /* the time grows with the cube of the number of bodies */

/* Flags: which joint parameters are examined in addition to the parameters of the bodies. */
enum { DYN_BASE_ROTORS = 1, DYN_BASE_FRICTION = 2 };

/* The order in which the parameters of a body are examined: inertias first, masses last. Then the effect of a mass is
 * expressed by inertias, with lengths and their squares as coefficients, and never an inertia by masses. */
extern const size_t dyn_base_order[DYN_PER_BODY];

/* Rounds a coefficient of a combination to ten digits if that changes it by no more than rounding error; otherwise
 * returns it unchanged. */
double dyn_base_tidy(double coefficient);

typedef struct dyn_base_term {
    size_t parameter;
    double coefficient;
} dyn_base_term;

typedef struct dyn_base {
    size_t         n;         /* number of base parameters */
    size_t        *parameter; /* [n] index of the kept parameter pi_k */
    size_t        *first;     /* [n + 1] index in `term` of each base parameter's first term */
    dyn_base_term *term;      /* parameter j and coefficient K_kj of each term K_kj pi_j */
    size_t         n_no_effect;
    size_t        *no_effect; /* [n_no_effect] indices of the parameters without effect */
} dyn_base;

/* Functions that close the loops of a sampled state, for a model with loops (loop_kernels.h). */
typedef struct dyn_base_loop_solver {
    void *workspace; /* workspace for the kernels of loops */
    /* Replaces q, in lanes: on entry random steps from the home position, on return coordinates of the tree at which
     * the loops are closed. False if the loops of a state could not be closed. */
    bool (*close_loops)(void *arg, const dyn_scene *scene, double *q);
    /* Returns the joint velocities of the tree at the last kernel call, in lanes. */
    const double *(*tree_velocities)(void *arg);
    void *arg;
} dyn_base_loop_solver;

/* Finds the base parameters at the model's own gravity. `with` is a set of DYN_BASE_ROTORS and DYN_BASE_FRICTION. For a
 * mechanism without loops `kernels` is any table, and `closing` is NULL. For one with loops `kernels` is
 * dyn_loop_kernels, and `closing->workspace` is one that dyn_loop_workspace_open made for both regressor outputs. Every
 * target of an arithmetic class gives the same result; dyn_kernels_for_models gives it on every processor. The model
 * has at most DYN_BASE_MAX_BODIES bodies.
 *
 * Returns NULL if there is no memory, the loops could not be closed, or the deadline has passed; and NULL with
 * *too_large (which must not be NULL) if lengths of the model are so large that values overflow. The result is from
 * malloc, refers to nothing else, and is freed by dyn_base_free. */
dyn_base *dyn_base_find(const dyn_mechanism *mechanism, const dyn_kernels *kernels, const dyn_base_loop_solver *closing,
                        unsigned with, dyn_deadline deadline, bool *too_large);
void      dyn_base_free(dyn_base *base); /* `base` may be NULL */

/* The parameters whose columns are examined, in this order, and the states that are sampled for them. */
typedef struct dyn_base_candidates {
    size_t        n;
    const size_t *parameter; /* [n] indices of parameters */
    size_t        states;    /* enough for n rows of the regressor, a multiple of DYN_MAX_LANES */
    double        gravity[3];
} dyn_base_candidates;

/* Returns the number of states to sample for n candidates. */
size_t dyn_base_candidate_states(const dyn_mechanism *mechanism, size_t n);

/* Like dyn_base_find, but examines only the given parameters, of a model of any size, and at another gravity. */
dyn_base *dyn_base_find_among(const dyn_mechanism *mechanism, const dyn_kernels *kernels,
                              const dyn_base_loop_solver *closing, const dyn_base_candidates *among,
                              dyn_deadline deadline, bool *too_large);

/* Estimates for dyn_base_find: the number of states that it samples, its bytes, and its seconds (without the time
 * for closing the loops of these states). */
size_t dyn_base_sample_count(const dyn_mechanism *mechanism);
size_t dyn_base_estimate_bytes(const dyn_mechanism *mechanism, unsigned with);
double dyn_base_estimate_seconds(const dyn_mechanism *mechanism, unsigned with);

/* Value beta_k of base parameter k, for a robot with the given parameters (numbered as in parameters.h, as
 * dyn_parameters_compute writes them), in the unit of parameter base->parameter[k]. */
double dyn_base_value(const dyn_base *base, size_t k, const double *parameters);
