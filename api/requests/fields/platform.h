/* platform.h - read "platform" of a request for a model with loops. It is given instead of q, qd and qdd: the pose of a
 * frame and its motion.
 *
 *     {"frame", "position": [3], "orientation": [4]?, "velocity": [6]?, "acceleration": [6]?}
 *
 * All vectors are in world axes. Velocity and acceleration have the entries of the frame's origin first, then the
 * angular ones, as in the operation kinematics. Without "orientation" the orientation of the frame is free, and
 * velocity and acceleration have only the 3 entries of the origin. The answer begins with the q, qd and qdd that were
 * computed. */
#pragma once
#include "query.h"

typedef enum api_platform_part {
    API_PLATFORM_POSITION,
    API_PLATFORM_ORIENTATION,
    API_PLATFORM_VELOCITY,
    API_PLATFORM_ACCELERATION,
    API_PLATFORM_PARTS
} api_platform_part;

/* Names of the members of "platform" that contain numbers. */
extern const char *const api_platform_part_names[API_PLATFORM_PARTS];

struct api_platform {
    dyn_frame frame;
    size_t    rows; /* number of pose coordinates that are given: 6, or 3 without orientation */
    bool      given[API_PLATFORM_PARTS];
};

/* Reads "platform", except its numbers, into q->platform, which stays NULL if the request has none. False with a
 * problem. */
bool api_platform_measure(api_query *q);

/* True if the field (q, qd or qdd) is computed from the platform; the answer then begins with that field. */
bool api_platform_gives(const api_query *q, api_field field);
