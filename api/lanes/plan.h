/* window.h - which states are in lanes at a time. Where every state stands for itself, some are read, evaluated and
 * written before the next: their lanes stay in cache, and are not more for a larger batch. Where states have to do with
 * each other (motions, identification) or loops are closed, all are held.
 *
 * What goes in and out of a window is one piece of memory, of which api_take_lanes cuts; every seat has its own. */
#pragma once
#include "evaluation.h"

/* When it is known how many states there are and what is asked for: e->window, and its memory. */
bool api_window_open(api_evaluation *e);

/* Makes the lanes of `seat`, a copy of e with operations of its own, its own: with what is in those of e. */
bool api_window_copy(api_evaluation *e, api_evaluation *seat);

/* Where a seat has what stands at `lanes` of e; NULL stays NULL. */
static inline double *api_window_own(const api_evaluation *e, const api_evaluation *seat, const double *lanes)
{
    return lanes ? seat->held + (lanes - e->held) : NULL;
}

/* Room for the rows of a block. */
static inline double *api_window_rows(const api_evaluation *e)
{
    return api_behind(e, e->held, e->entries, e->window);
}
