/* cost_feedback.h - how far the estimates of api_estimate_cost are off, learnt from what requests took.
 *
 * An estimate knows the machine and the robot, not the text: numbers of 3 digits or of 17, cold caches, a machine that
 * others use too. For each kind of request a factor moves by a small step up when one took longer than estimated, else
 * down: it settles where half of them do, whatever the few that were interrupted took. Any thread, nothing waits; a
 * step lost between two threads is made up by the next. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>

/* A kind: what is asked, in which encoding it is answered, and how long it should take about. */
enum { API_COST_OPERATIONS = 32, API_COST_MEDIA = 4, API_COST_SIZES = 4 };

typedef struct api_cost_feedback {
    _Atomic float factor[API_COST_OPERATIONS][API_COST_MEDIA][API_COST_SIZES];
} api_cost_feedback;

void api_cost_feedback_init(api_cost_feedback *c); /* all estimates stand */

/* The estimate, in seconds, as corrected. */
double api_cost_feedback_apply(const api_cost_feedback *c, size_t operation, size_t media, double estimated);

/* What was estimated (uncorrected) took so many seconds. */
void api_cost_feedback_update(api_cost_feedback *c, size_t operation, size_t media, double estimated, double took);
