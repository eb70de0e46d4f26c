/* cost_feedback.h - correct the estimates of api_estimate_cost by the measured times of earlier requests.
 *
 * An estimate does not know the number of digits in the text, the state of the caches, or the load of other
 * programs. Therefore each kind of request has a factor. It grows by a small step after a request that took longer
 * than estimated, and shrinks otherwise. It converges to the median, so that a few interrupted requests have little
 * effect. The functions may be called from any thread without locks; a step lost between two threads does no lasting
 * harm. */
#pragma once
#include "api/codec/negotiate.h"
#include <stdatomic.h>
#include <stddef.h>

/* A kind of request is a triple: operation, format of the answer, class of estimated time. */
enum { API_COST_OPERATIONS = 64, API_COST_FORMATS = API_FORMAT_COUNT, API_COST_SIZES = 4 };

typedef struct api_cost_feedback {
    _Atomic float factor[API_COST_OPERATIONS][API_COST_FORMATS][API_COST_SIZES];
} api_cost_feedback;

void api_cost_feedback_init(api_cost_feedback *c); /* sets all factors to 1 */

/* Returns the estimated seconds times the factor of this kind of request. */
double api_cost_feedback_apply(const api_cost_feedback *c, size_t operation, size_t format, double estimated);

/* Updates the factor: a request whose uncorrected estimate was `estimated` seconds took `took` seconds. */
void api_cost_feedback_update(api_cost_feedback *c, size_t operation, size_t format, double estimated, double took);
