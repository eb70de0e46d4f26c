/* sampling.h - when a motion is looked at: "samples" of a request, evenly spaced from 0 to the duration, or "times". */
#pragma once
#include "api/request/fields.h"

typedef struct api_sampling {
    size_t        n;
    const double *times; /* [n], s, from 0 to the duration; NULL: evenly spaced, n >= 2 */
} api_sampling;

/* One of the two is needed; `least` is the shortest duration, `of` what has it, for the message. False with a problem.
 */
bool api_sampling_read(api_evaluation *e, const api_node *fields, double least, const char *of, api_sampling *sampling);

/* s */
static inline double api_sample_time(const api_sampling *s, size_t n, double duration)
{
    return s->times ? s->times[n] : (double)n / (double)(s->n - 1) * duration;
}
