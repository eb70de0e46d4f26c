/* path_limits.h - read the limits of a path's timing, and write them as rows in the derivatives of s
 * (dynamics/path_timing).
 *
 * The limits are those of the model, of the kinds that the request lists. "joint_limits" replaces them, for each kind
 * that it names, by one limit for each coordinate. */
#pragma once
#include "api/requests/fields/limit_kinds.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/path_timing/smooth_timing.h"

typedef struct api_path_limits {
    api_limit_list list;
    size_t         rows;                       /* rows of a place without the third derivative of s (timing.h) */
    size_t        *owner;                      /* [rows] index of the limit of each row */
    bool           smooth;                     /* true: a limit contains the third derivative of s */
    size_t         second, third;              /* rows of a place with it (smooth_timing.h), one for each limit */
    size_t        *smooth_owner;               /* [second + third] index of the limit of each row */
    double        *replacing[DYN_LIMIT_KINDS]; /* [nv] of joint_limits, in the order of the request; NULL: not given */
} api_path_limits;

/* Path derivatives of a block, nv entries in lanes: of q, and coefficients of the torques. */
typedef struct api_path_lanes {
    const double *q, *dq, *d2q, *d3q;
    const double *a, *b, *c, *d;
    const double *da, *db, *dc, *dd; /* NULL: not needed */
} api_path_lanes;

/* Reads "kinds" and "joint_limits" of the request and lists the limits; the bounds of joint_limits are set by
 * api_path_limits_order. Returns false with a problem. */
bool api_path_limits_read(api_query *q, const api_node *fields, api_path_limits *limits);

/* Sets the bounds of joint_limits, once the order of "joints" is read. */
void api_path_limits_order(const api_query *q, api_path_limits *limits);

/* Returns the limit of position that a lane violates; NULL: none. */
const dyn_limit *api_path_position_violated(const api_path_limits *limits, const api_path_lanes *p, size_t W,
                                            size_t lane);

/* Writes the rows of a lane. */
void api_path_limits_rows(const api_path_limits *limits, const api_path_lanes *p, size_t W, size_t lane,
                          dyn_timing_row *rows);

/* Writes the rows with the third derivative of s of a lane whose place is `at`. */
void api_path_limits_smooth_rows(const api_path_limits *limits, const api_path_lanes *p, size_t W, size_t lane,
                                 const dyn_grading *where, dyn_smooth_row *rows);
