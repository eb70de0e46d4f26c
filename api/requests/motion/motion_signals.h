/* motion_signals.h - evaluate signals at the samples of a motion, with the derivatives by the duration of motion.h. */
#pragma once
#include "motion.h"

/* A sample of a motion. */
typedef struct api_instant {
    size_t row;
    double t, T, fraction; /* time and duration of the motion, s; t / T */
} api_instant;

/* Returns the sample of a state among all states of the plan; unused lanes have the last state's. motion->time must be
 * filled. */
api_instant api_instant_of(const api_evaluation *e, const api_motion *m, size_t state);

/* Writes the value of a signal with `width` numbers and its first two derivatives by time, and the derivatives of the
 * value and of its rate by the duration. A sample within rounding of a jump of the signal gets the value after the
 * jump. */
void api_instant_signal(const api_signal *s, const api_instant *at, size_t width,
                        double *const value[API_SIGNAL_ORDERS], double *const by_duration[2]);
