/* path_frames.h - read the limits of the speeds and accelerations of frames along a path, and write them as limits in
 * the derivatives of s (dynamics/path_timing).
 *
 * With ' for d/ds, the origin of a frame has the velocity p' sd and the acceleration p' sdd + p'' sd^2, and its axes
 * have the angular velocity w sd and the angular acceleration w sdd + w' sd^2. A limit bounds the magnitude of one of
 * them. The limit of a speed is a row, which bounds sd. The limit of an acceleration is a norm, an ellipse in sdd and
 * sd^2. */
#pragma once
#include "api/codec/emit.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/path_timing/smooth_timing.h"

enum { API_MOST_LIMITED_FRAMES = 16 };

typedef enum api_frame_limit_kind {
    API_FRAME_SPEED,
    API_FRAME_ANGULAR_SPEED,
    API_FRAME_ACCELERATION,
    API_FRAME_ANGULAR_ACCELERATION,
    API_FRAME_LIMIT_KINDS
} api_frame_limit_kind;

extern const char *const api_frame_limit_names[API_FRAME_LIMIT_KINDS];

/* The limit of one magnitude of frame number `frame` of the request. */
typedef struct api_frame_limit {
    size_t               frame;
    const char          *name; /* name of the frame */
    api_frame_limit_kind kind;
    double               most; /* m/s, rad/s, m/s^2 or rad/s^2; greater than 0 */
} api_frame_limit;

typedef struct api_path_frames {
    size_t           n, n_limits, n_speeds, n_accelerations;
    const dyn_frame *frame[API_MOST_LIMITED_FRAMES];
    api_frame_limit *limit; /* [n_limits] in the order of the request; those of a frame in the order of the kinds */
} api_path_frames;

/* Where the rows and norms of a place of a smooth timing are written. */
typedef struct api_smooth_limits {
    dyn_smooth_row  *row;
    dyn_smooth_norm *norm;
} api_smooth_limits;

/* True for limits of speeds, which are rows; those of accelerations are norms. */
static inline bool api_frame_limit_is_speed(const api_frame_limit *limit)
{
    return limit->kind == API_FRAME_SPEED || limit->kind == API_FRAME_ANGULAR_SPEED;
}

/* Reads "frame_limits" of the request; NULL: none. Returns false with a problem. */
bool api_path_frames_read(api_query *q, const api_node *list, api_path_frames *frames);

/* Writes "frame", "kind", "lower" and "upper" of each limit, an object each. */
void api_path_frames_emit(const api_path_frames *frames, api_emit *to);

/* Numbers of a state in the lanes that api_path_frames_evaluate writes. */
static inline size_t api_path_frames_entries(const api_path_frames *frames)
{
    return 2 * API_FRAME_AXES * frames->n;
}

/* Writes p', w, p'' and w' of each frame for a block of a path: api_path_frames_entries() numbers in lanes. */
void api_path_frames_evaluate(const api_evaluation *e, const api_path_frames *frames, size_t block, double *lanes);

/* Writes the rows of speeds and the norms of accelerations of a lane. */
void api_path_frames_limits(const api_path_frames *frames, const double *lanes, size_t W, size_t lane,
                            dyn_timing_row *rows, dyn_timing_norm *norms);

/* Like api_path_frames_limits, for a timing with limits of the third order, at the place `where`. */
void api_path_frames_smooth_limits(const api_path_frames *frames, const double *lanes, size_t W, size_t lane,
                                   const dyn_grading *where, api_smooth_limits to);
