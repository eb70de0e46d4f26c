/* base_parameters.h - the parameters that a robot's motion tells apart, found numerically (Gautier 1991).
 *
 * Torques are linear in the parameters of bodies and joints, tau = Y pi, but columns of Y depend on each other. From
 * the base to the tips (of one body: inertias, first moments, the mass, then what its joint has) a column is kept if
 * no combination of those kept before equals it at every state; each other one is Y_j = sum_k Y_k K_kj over the kept,
 * so that
 *
 *     tau = sum_k Y_k beta_k,   beta_k = pi_k + sum_j K_kj pi_j.
 *
 * The beta_k are the base parameters. A column that is always zero belongs to a parameter without effect. */
#pragma once
#include "api/work/deadline.h"
#include "api/wire/emit.h"
#include "parameters.h"

enum { API_BASE_MAX_BODIES = 100 }; /* the effort grows with the cube of the bodies */

/* Which parameters of joints are looked at beside those of the bodies: a set of these. */
enum { API_BASE_ROTORS = 1, API_BASE_FRICTION = 2 };

typedef struct api_base_term {
    size_t parameter;
    double coefficient;
} api_base_term;

typedef struct api_base {
    size_t         n;         /* base parameters */
    size_t        *parameter; /* [n] that is kept: pi_k */
    size_t        *first;     /* [n + 1] where the parts of each begin */
    api_base_term *term;      /* the K_kj pi_j that go with it */
    size_t         n_no_effect;
    size_t        *no_effect; /* [n_no_effect] parameters without effect */
} api_base;

/* How kernels of a model with loops are asked (loop_kernels.h). */
typedef struct api_base_loop_solver {
    void *workspace; /* theirs */
    /* Lanes of steps from home become lanes of coordinates where the loops close. */
    bool (*close_loops)(void *arg, const dyn_scene *scene, double *q);
    /* The velocities of the tree when a kernel was asked last, in lanes. */
    const double *(*tree_velocities)(void *arg);
    void *arg;
} api_base_loop_solver;

/* At the model's own gravity; the same for every target. At most API_BASE_MAX_BODIES bodies. `closing` is NULL without
 * loops. NULL: no memory, loops that were not closed, or, with a problem, nobody waits (`deadline` may be NULL)
 * or figures overflow. The
 * caller frees. */
api_base *api_base_find(const api_model *model, const dyn_kernels *kernels, const api_base_loop_solver *closing,
                        unsigned with, const api_deadline *deadline, api_problem *problem);
void      api_base_free(api_base *base); /* NULL is fine */

/* What api_base_find takes, about: bytes while it works, and seconds, but for closing the loops of so many states. */
size_t api_base_sample_count(const api_model *model);
size_t api_base_estimate_bytes(const api_model *model, unsigned with);
double api_base_estimate_seconds(const api_model *model, unsigned with);

/* beta_k of a robot with these parameters. */
double api_base_value(const api_base *base, size_t k, const double *parameters);

/* {"parameter", "with": [{"parameter", "coefficient"}...]} */
void api_base_emit(api_emit *to, const api_model *model, const api_base *base, size_t k);
