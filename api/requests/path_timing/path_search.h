/* path_search.h - the search for the timing of one path, shared by path_search.c, which finds it, and path_results.c,
 * which writes the results. */
#pragma once
#include "path_timing.h"

/* Time derivatives of s at a place. */
typedef struct api_path_rates {
    double sd, sdd, sddd;
} api_path_rates;

/* One path and memory that all paths of a request use one after the other. */
typedef struct api_path_search_of {
    const api_evaluation     *e;
    const api_selection      *selected;
    const api_timing_options *o;
    size_t                    first; /* the path's first state */
    dyn_timing timing; /* the timing without limits of the third order; if there are such limits, it has an interval to
                          each place */
    dyn_smooth smooth; /* the timing with limits of the third order */
    double    *time;   /* [places] s */
    double    *s;      /* [places] */
    double    *by_bound, *scratch; /* arrays of dyn_timing_slopes or dyn_smooth_slopes; NULL: not selected */
} api_path_search_of;

/* Writes the results of the path, whose timing and times are found. Returns false past the deadline. */
bool api_path_write_results(const api_path_search_of *p);
