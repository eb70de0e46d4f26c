/* ground_request.h - what a request for ground reactions says: feet, plane, and which link is the base. */
#pragma once
#include "ground.h"
#include "api/evaluate/evaluation.h"

typedef struct api_ground_request {
    api_ground       ground;
    bool             normal_given; /* else it is that of gravity */
    dyn_wrench_site *sites;        /* the request's wrenches, then the contacts */
} api_ground_request;

/* Reads "feet" and "plane"; without `needed`, feet may be absent. NULL with a problem. */
api_ground_request *api_ground_request_read(api_evaluation *e, const api_node *options, const api_place *at,
                                            bool needed);

/* What depends on the rest of the request: the plane's normal, the robot's weight, where wrenches act. */
bool api_ground_request_prepare(api_evaluation *e, api_ground_request *g);
