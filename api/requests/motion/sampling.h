/* sampling.h - read the times at which a motion is evaluated: "samples", a number of times evenly spaced from 0 to the
 * duration, or "times", a list. */
#pragma once
#include "api/requests/fields/fields.h"

typedef struct api_sampling {
    size_t        n;     /* number of samples */
    const double *times; /* [n], s, from 0 to the duration; NULL: evenly spaced, n >= 2 */
} api_sampling;

/* Reads "samples" or "times"; exactly one of them is required. `least` is the shortest duration, in s. `of` names the
 * motion in messages, for example "a trajectory". Returns false with a problem. */
bool api_sampling_read(api_query *q, const api_node *fields, double least, const char *of, api_sampling *sampling);

/* Returns the time of sample n of a motion, in s. */
static inline double api_sample_time(const api_sampling *s, size_t n, double duration)
{
    return s->times ? s->times[n] : (double)n / (double)(s->n - 1) * duration;
}
