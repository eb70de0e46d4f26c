/* ground_request.h - reads the ground of a request: the feet, the plane, and the link that is the robot's base. */
#pragma once
#include "ground.h"
#include "api/lanes/evaluation.h"

typedef struct api_ground_request {
    api_ground       ground;
    bool             normal_given; /* false: the normal is opposite to gravity */
    dyn_wrench_site *sites;        /* sites of the request's wrenches, then of the contacts */
} api_ground_request;

/* Reads the fields "feet" and "plane" of `options`. `needed`: a requested output needs feet, so that the field is
 * required. Returns NULL with a problem. */
api_ground_request *api_ground_request_read(api_query *q, const api_node *options, const api_place *up, bool needed);

/* Completes the request after all fields are read: the plane's normal, the robot's weight, the sites of wrenches.
 * Returns false with a problem. */
bool api_ground_request_prepare(const api_query *q, api_ground_request *g);
