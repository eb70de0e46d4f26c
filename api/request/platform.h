/* platform.h - "platform" of a request for a model with loops, in place of q, qd and qdd: a frame, where it is, and how
 * it moves.
 *
 *     {"frame", "position": [3], "orientation": [4]?, "velocity": [6]?, "acceleration": [6]?}
 *
 * All in world axes, rates those of the frame's origin and angular ones, as kinematics has them. Without orientation
 * the frame may turn as it will, and rates are the origin's 3. The answer begins with the q, qd and qdd that were
 * found. */
#pragma once
#include "api/loops/loop_kernels.h"
#include "api/lanes/evaluation.h"

typedef enum api_platform_part {
    API_PLATFORM_POSITION,
    API_PLATFORM_ORIENTATION,
    API_PLATFORM_VELOCITY,
    API_PLATFORM_ACCELERATION,
    API_PLATFORM_PARTS
} api_platform_part;

struct api_platform {
    dyn_frame frame;
    size_t    rows; /* 6; without orientation 3 */
    bool      given[API_PLATFORM_PARTS];
    double   *lanes[API_PLATFORM_PARTS];
};

/* Reads all but the numbers into e->platform, which stays NULL when there is none. False with a problem. */
bool api_platform_measure(api_evaluation *e);

/* The numbers; and lanes for the state that follows from them. */
bool api_platform_decode(api_evaluation *e);

/* Whether the answer begins with this field of the state. */
bool api_platform_gives(const api_evaluation *e, api_field field);

/* Fails e->problem for a row whose platform cannot be where it is said to be: at that entry of the first part that is a
 * batch. */
bool api_platform_fail(const api_evaluation *e, size_t row, const api_problem *found) __attribute__((cold));

/* The state of a block, into its lanes. False when there is none: the workspace knows why. */
bool api_platform_reach(const api_evaluation *e, api_loop_workspace *c, size_t block, size_t live);
