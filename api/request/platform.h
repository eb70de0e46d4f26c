/* platform.h - "platform" of a request for a model with loops, given instead of q, qd and qdd: the pose of a frame and
 * its motion.
 *
 *     {"frame", "position": [3], "orientation": [4]?, "velocity": [6]?, "acceleration": [6]?}
 *
 * All vectors are in world axes. Rates are those of the frame's origin and the angular ones, as in the operation
 * kinematics. Without orientation the orientation of the frame is free, and rates have the 3 entries of the origin. The
 * answer begins with the q, qd and qdd that were found. */
#pragma once
#include "query.h"

typedef enum api_platform_part {
    API_PLATFORM_POSITION,
    API_PLATFORM_ORIENTATION,
    API_PLATFORM_VELOCITY,
    API_PLATFORM_ACCELERATION,
    API_PLATFORM_PARTS
} api_platform_part;

/* The members of "platform" that are numbers. */
extern const char *const api_platform_part_names[API_PLATFORM_PARTS];

struct api_platform {
    dyn_frame frame;
    size_t    rows; /* 6; without orientation 3 */
    bool      given[API_PLATFORM_PARTS];
};

/* Reads everything but the numbers into q->platform, which stays NULL without a platform. False with a problem. */
bool api_platform_measure(api_query *q);

/* True if this field of the state follows from the platform; the answer then begins with it. */
bool api_platform_gives(const api_query *q, api_field field);
