/* held_partials.h - completes the derivatives of inverse dynamics with those of the wrenches on held frames
 * (dynamics/held/held_rates.h): part of sensitivity. */
#pragma once
#include "motion_options.h"

/* The outputs of one block that depend on the contact wrenches. NULL: not selected; the derivatives with respect to q,
 * qd and qdd must not be NULL. */
typedef struct api_held_partials {
    double *tau, *joint_wrenches, *contact_wrenches; /* nv; bodies x 6; frames x 6: values with the contact wrenches */
    double *dtau_dparameters; /* nv x (10 bodies): derivatives of tau with respect to inertial parameters */
    double *wrenches_dq, *wrenches_dqd, *wrenches_dqdd; /* frames x 6 x nv each: derivatives of contact wrenches */
} api_held_partials;

/* Returns the scratch entries of a state for api_held_partials_evaluate. */
size_t api_held_partials_entries(const api_model *model, const api_selection *selected);

/* Evaluates one block. `io` has the state and the outputs of the kernel sensitivity, without joint wrenches; `next` is
 * scratch memory. Returns false with a problem. */
bool api_held_partials_evaluate(const api_evaluation *e, const api_selection *selected, size_t block,
                                dyn_sensitivity *io, const api_held_partials *partials, double *next);
