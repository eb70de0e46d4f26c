/* path_timing.h - the outputs and options of the operation path-timing, shared by path_timing.c, which reads requests,
 * and path_search.c, which finds the timings. */
#pragma once
#include "api/requests/motion/motion.h"
#include "path_limits.h"

enum {
    TIMES,
    S,
    SD,
    SDD,
    Q,
    QD,
    QDD,
    TAU,
    ACTIVE,
    LIMITS,
    DURATION,
    SDDD,
    QDDD,
    TAU_DOT,
    SECOND_ORDER,
    SLOPES,
    CONTACT_WRENCHES
};
#define OF_THIRD (API_BIT(SDDD) | API_BIT(QDDD) | API_BIT(TAU_DOT) | API_BIT(SECOND_ORDER))

/* With limits of the third order: the instants between the places at which limits are checked (path_between.h). */
typedef struct api_path_between {
    size_t           most;     /* most instants behind one place; 0: no limits of the third order */
    size_t          *first;    /* [places] the first instant behind a place; of the last place their number */
    double          *fraction; /* [instants] parts of the way in r to the next place, 0 to 1 */
    signed char     *side;     /* [instants] -1: before a knot, 1: behind it, else 0 */
    double          *s;        /* [most][places] s of the instants behind all places; 1 where there is none */
    dyn_smooth_row  *rows;     /* [rows of the request][instants][limits.second + limits.third] */
    dyn_smooth_norm *norms;    /* [rows of the request][instants][accelerations of frames] */
} api_path_between;

typedef struct api_timing_options {
    api_motion      *motion;    /* the path, with s for the time and a duration of 1 */
    size_t           intervals; /* number of intervals of the search; divides the number of samples - 1 */
    api_path_limits  limits;
    bool             resting; /* true, with limits of the third order: q' and q'' of all paths are zero at both ends */
    bool             jumps;   /* true: places where sharp friction jumps are looked for */
    api_selection    path;    /* selection of the operation path: coefficients of the torques */
    dyn_timing_row  *rows;    /* [states][limits.rows] */
    dyn_timing_norm *norms;   /* [states][accelerations of frames] */
    dyn_smooth_row  *smooth_rows;  /* [states][limits.second + limits.third]; NULL: no limit of the third order */
    dyn_smooth_norm *smooth_norms; /* [states][accelerations of frames]; NULL likewise */
    api_path_between between;
    double *durations, *bounds; /* [rows of the request] s: of the timing, and without limits of the third order */
    double *slopes;             /* [rows of the request][limits] s per unit of the limit; NULL: not selected */
    double *tau; /* lanes, nv: the output tau, or with held frames the efforts if it is not selected; NULL: neither */
} api_timing_options;

/* Finds the timings of all paths and writes the results: `finish` of the operation. */
bool api_path_search(const api_evaluation *e, const api_selection *selected);
