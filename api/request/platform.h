/* platform.h - "platform" of a request for a model with loops, in place of q, qd and qdd: a frame, where it is, and how
 * it moves.
 *
 *     {"frame", "position": [3], "orientation": [4]?, "velocity": [6]?, "acceleration": [6]?}
 *
 * All in world axes, rates those of the frame's origin and angular ones, as kinematics has them. Without orientation
 * the frame may turn as it will, and rates are the origin's 3. The answer begins with the q, qd and qdd that were
 * found. */
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

/* Reads all but the numbers into e->platform, which stays NULL when there is none. False with a problem. */
bool api_platform_measure(api_query *q);

/* Whether the answer begins with this field of the state. */
bool api_platform_gives(const api_query *q, api_field field);
