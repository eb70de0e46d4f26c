/* base_parameters.h - the inertial parameters that a robot's motion tells apart, found numerically (Gautier 1991).
 *
 * Torques are linear in the 10 parameters of every body, tau = Y pi, but columns of Y depend on each other. From the
 * base to the tips (of one body: inertias, then first moments, then the mass) a column is kept if no combination of
 * those kept before equals it at every state; each other one is Y_j = sum_k Y_k K_kj over the kept, so that
 *
 *     tau = sum_k Y_k beta_k,   beta_k = pi_k + sum_j K_kj pi_j.
 *
 * The beta_k are the base parameters. A column that is always zero belongs to a parameter without effect. */
#pragma once
#include "model.h"

enum { API_BASE_MAX_BODIES = 100 }; /* the effort grows with the cube of the bodies */

typedef struct api_base {
    size_t  n;        /* base parameters */
    size_t *column;   /* [n] of the regressor */
    json_t *grouping; /* [{"parameter", "with": [{"parameter", "coefficient"}...]}...] */
} api_base;

/* At the model's own gravity; the same for every target. At most API_BASE_MAX_BODIES bodies. NULL: no memory. The
 * caller frees. */
api_base *api_base_find(const api_model *model, const dyn_kernels *kernels);
void      api_base_free(api_base *base); /* NULL is fine */

/* What api_base_find takes, about: bytes while it works, and seconds. */
size_t api_base_bytes(const api_model *model);
double api_base_seconds(const api_model *model);
