/* path_timing.h - the outputs and options of the operation path-timing, shared by path_timing.c, which reads requests,
 * and path_search.c, which finds the timings. */
#pragma once
#include "api/requests/motion/motion.h"
#include "path_limits.h"

enum { TIMES, S, SD, SDD, Q, QD, QDD, TAU, ACTIVE, LIMITS, DURATION };

typedef struct api_timing_options {
    api_motion     *motion;    /* the path, with s for the time and a duration of 1 */
    size_t          intervals; /* of the search; divides the number of samples - 1 */
    api_path_limits limits;
    api_selection   path;      /* selection of the operation path: coefficients of the torques */
    dyn_timing_row *rows;      /* [states][limits.rows] */
    double         *durations; /* [rows of the request] s */
} api_timing_options;

/* Finds the timings of all paths and writes the results: `finish` of the operation. */
bool api_path_search(const api_evaluation *e, const api_selection *selected);
