/* cut_fields.h - read through which joints a request asks for wrenches, and find what lies beyond each joint. */
#pragma once
#include "api/requests/fields/query.h"
#include "dynamics/wrench_estimation/cut.h"

/* A joint, and the frame with the axes and the point of its wrench. */
typedef struct api_cut {
    int       link; /* index in link_names of the link that the joint carries */
    dyn_frame frame;
} api_cut;

enum { API_MOST_SENSORS = 100 /* entries of each list */ };

/* Reads "force_torque", the list of joints and frames. NULL with a problem. */
api_cut *api_cut_read(api_query *q, const api_node *list, const api_place *where, size_t *n);

/* Checks that a list of sensors is not too long. False with a problem. */
bool api_check_sensors(const api_query *q, size_t n, const api_place *where);

/* Finds the bodies, rotors, payloads and wrenches beyond n joints, when the request has been decoded. False with a
 * problem. */
bool api_cut_prepare(const api_query *q, size_t n, const api_cut *cuts, dyn_cut *prepared);
