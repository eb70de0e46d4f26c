/* ground_request.h - reads the ground of a request: the feet, the plane, and the link that is the robot's base. */
#pragma once
#include "dynamics/contact/ground_reaction.h"
#include "api/requests/lanes/evaluation.h"

typedef struct api_ground_request {
    dyn_ground         ground;
    bool               normal_given;    /* false: the normal is opposite to gravity */
    const dyn_support *supports;        /* the support of all rows, or one for each row; NULL: both feet */
    bool               supports_differ; /* true: `supports` has one entry for each row */
    dyn_wrench_site   *sites;           /* sites of the request's wrenches, then of the contacts */
} api_ground_request;

/* Returns the feet that carry a row. */
static inline dyn_support api_ground_support(const api_ground_request *g, size_t row)
{
    return g->supports ? g->supports[g->supports_differ ? row : 0] : DYN_BOTH_FEET;
}

/* Reads the fields "feet", "supports" and "plane" of `options`. `needed`: a requested output needs feet, so that the
 * field is required. Returns NULL with a problem. */
api_ground_request *api_ground_request_read(api_query *q, const api_node *options, const api_place *up, bool needed);

/* Completes the request after all fields are read: the plane's normal, the robot's weight, the sites of wrenches.
 * Returns false with a problem. */
bool api_ground_request_prepare(const api_query *q, api_ground_request *g);
