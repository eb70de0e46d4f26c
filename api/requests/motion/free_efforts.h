/* free_efforts.h - read "free" and "input" of a trajectory: coordinates whose efforts are given along the motion, and
 * whose accelerations follow from them. The input is {"tau": signal}, with the signals of signal.h. */
#pragma once
#include "motion.h"

typedef struct api_free_efforts {
    const bool *driven; /* [nv] false for free coordinates; NULL: no coordinate is free */
    bool        is_given;
    api_signal  signal; /* the efforts of the free coordinates along the motion; zero unless is_given */
    /* Lanes of nv numbers a state, set by api_free_efforts_sample: the rates of the efforts, and the derivatives of
     * efforts and rates with respect to the duration. NULL: zeros. */
    double *rates, *by_duration, *rates_by_duration;
} api_free_efforts;

/* Reads and checks the fields. False with a problem. */
bool api_free_efforts_read(api_query *q, const api_node *fields, const api_motion *m, api_free_efforts *f);

/* Evaluates the efforts at all samples, into plan->state[API_TAU] and the lanes of f. False with a problem. */
bool api_free_efforts_sample(api_plan *plan, const api_motion *m, api_free_efforts *f);
