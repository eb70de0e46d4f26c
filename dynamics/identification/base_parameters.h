/* base_parameters.h - find the base parameters of a robot, the combinations of inertial parameters that its motion
 * can distinguish, numerically (Gautier 1991).
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
#include "api/base/work/deadline.h"
#include "api/codec/emit.h"
#include "parameters.h"

enum { API_BASE_MAX_BODIES = 100 }; /* the time grows with the cube of the number of bodies */

/* Flags: which joint parameters are examined in addition to the parameters of the bodies. */
enum { API_BASE_ROTORS = 1, API_BASE_FRICTION = 2 };

/* The order in which the parameters of a body are examined: inertias first, masses last. The effect of a mass is then
 * expressed by inertias, with lengths and their squares as coefficients, and not the reverse. */
extern const size_t api_base_order[API_PER_BODY];

/* Rounds a coefficient of a combination to ten digits if that changes it by no more than rounding error; otherwise
 * returns it unchanged. */
double api_base_tidy(double coefficient);

typedef struct api_base_term {
    size_t parameter;
    double coefficient;
} api_base_term;

typedef struct api_base {
    size_t         n;         /* number of base parameters */
    size_t        *parameter; /* [n] index of the kept parameter pi_k */
    size_t        *first;     /* [n + 1] index in `term` of each base parameter's first term */
    api_base_term *term;      /* the terms K_kj pi_j of each base parameter */
    size_t         n_no_effect;
    size_t        *no_effect; /* [n_no_effect] indices of the parameters without effect */
} api_base;

/* Functions that close the loops of a sampled state, for a model with loops (loop_kernels.h). */
typedef struct api_base_loop_solver {
    void *workspace; /* workspace for the kernels */
    /* Replaces q, in lanes: on entry random steps from the home position, on return coordinates of the tree at which
     * the loops are closed. False if the loops of a state could not be closed. */
    bool (*close_loops)(void *arg, const dyn_scene *scene, double *q);
    /* Returns the joint velocities of the tree at the last kernel call, in lanes. */
    const double *(*tree_velocities)(void *arg);
    void *arg;
} api_base_loop_solver;

/* Finds the base parameters at the model's own gravity; every target of an arithmetic class gives the same result. The
 * model has at most API_BASE_MAX_BODIES bodies. `closing` is NULL for a model without loops, `deadline` may be NULL.
 * Returns NULL if there is no memory or the loops could not be closed, and NULL with a problem if the request has ended
 * or values overflow. The caller frees the result. */
api_base *api_base_find(const api_model *model, const dyn_kernels *kernels, const api_base_loop_solver *closing,
                        unsigned with, const api_deadline *deadline, api_problem *problem);
void      api_base_free(api_base *base); /* NULL is fine */

/* The parameters whose columns are examined, in this order, and the states that are sampled for them. */
typedef struct api_base_candidates {
    size_t        n;
    const size_t *parameter; /* [n] */
    size_t        states;    /* a multiple of DYN_MAX_LANES; at least n rows */
    double        gravity[3];
} api_base_candidates;

/* Returns the number of states to sample for n candidates. */
size_t api_base_candidate_states(const api_model *model, size_t n);

/* Like api_base_find, among some parameters of a model of any size, and at another gravity. */
api_base *api_base_find_among(const api_model *model, const dyn_kernels *kernels, const api_base_loop_solver *closing,
                              const api_base_candidates *among, const api_deadline *deadline, api_problem *problem);

/* Estimates for api_base_find: the number of states that it samples, its bytes, and its seconds (without the time
 * for closing the loops of these states). */
size_t api_base_sample_count(const api_model *model);
size_t api_base_estimate_bytes(const api_model *model, unsigned with);
double api_base_estimate_seconds(const api_model *model, unsigned with);

/* Value beta_k of base parameter k, for a robot with the given parameters (numbered as in parameters.h). */
double api_base_value(const api_base *base, size_t k, const double *parameters);

/* Writes base parameter k as {"parameter", "with": [{"parameter", "coefficient"}...]}. */
void api_base_emit(api_emit *to, const api_model *model, const api_base *base, size_t k);
