/* held_ranges.h - read which frames the steps of a request hold: the same frames in all steps, or others from phase to
 * phase of a rollout. */
#pragma once
#include "api/requests/held/held_fields.h"

/* Consecutive nodes of a rollout whose steps hold the same frames. */
typedef struct api_held_range {
    size_t                 first;   /* first node of the range, which ends before the first node of the next one */
    const dyn_held_set    *contact; /* NULL: no frame is held */
    const dyn_wrench_site *sites;   /* sites of the request's wrenches, then of the held frames */
    bool                   impact;  /* the steps begin with an impact, as dyn_step.impact */
} api_held_range;

typedef struct api_held_ranges {
    double          damping; /* contact damping of all ranges; 0: none */
    size_t          n;       /* number of ranges, at least 1; range 0 begins at node 0 */
    api_held_range *range;
} api_held_ranges;

/* Reads "held", "impact" and "contact_damping": one range. False with a problem. */
bool api_held_read(api_query *q, const api_node *given, const api_place *up, api_held_ranges *ranges);

/* Reads "phases", whose steps must add up to `nodes`, and "contact_damping". A phase that holds a direction which the
 * phase before does not hold begins with a node with an impact, which is a range of its own. False with a problem. */
bool api_phases_read(api_query *q, const api_node *given, const api_place *up, size_t nodes, api_held_ranges *ranges);

/* Refuses ranges with held frames for a model with loops; `what` names the result that the operation computes. False
 * with a problem at `at`. */
bool api_held_check_loops(const api_query *q, const api_held_ranges *ranges, const api_place *at, const char *what);

/* Lists the sites of the request's wrenches and of held frames, when the wrenches are known. False with a problem. */
bool api_held_prepare(const api_query *q, api_held_ranges *ranges);

/* Returns the entries of dyn_step.work that the range with most of them adds. Models with loops need none. */
size_t api_held_work(const api_query *q, const api_held_ranges *ranges);

/* Returns the range of a node. */
const api_held_range *api_held_range_of(const api_held_ranges *ranges, size_t node);
