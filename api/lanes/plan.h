/* plan.h - the plan of an evaluation: which kernels, and where the numbers of all states lie in lanes.
 *
 * Where every state is independent, states are read, evaluated and written window by window: the lanes of a window stay
 * in cache, and a larger batch needs no more of them. Where states depend on each other (motions, identification) or
 * loops are closed, the lanes of all states are held at once.
 *
 * All lanes of a window are one piece of memory, from which api_take_lanes cuts. Every slot of a parallel evaluation
 * has such a piece of its own (evaluation.h). */
#pragma once
#include "api/request/operation.h"
#include "api/request/platform.h"

enum { API_CHUNK = 512 /* states between two checks of the deadline */ };

typedef struct api_failed_rows api_failed_rows; /* failed_rows.h */
typedef struct api_vector      api_vector;      /* batch.h */

typedef struct api_plan {
    const api_query   *query;
    const dyn_kernels *target;       /* whose lanes the states are laid out for */
    const dyn_kernels *kernels;      /* what operations call: the target's, or those of a model with loops over them */
    size_t             lanes;        /* W of the target */
    size_t             blocks;       /* of all states */
    size_t             chunk;        /* blocks between two checks of the deadline, at most */
    size_t             window;       /* blocks that are in lanes at a time */
    double            *window_lanes; /* with room for the rows of a block behind; NULL: all states are in lanes */
    size_t             entries, entries_taken; /* of a state in a window: all, and those that are in use */
    size_t             n_batches;
    api_vector        *batches;                 /* [n_batches] what is read window by window */
    double            *state[API_STATE_FIELDS]; /* lanes; NULL: absent */
    double            *guess;                   /* lanes of passive coordinates; NULL: none given */
    double            *passive; /* lanes of the passive coordinates that close the loops; NULL: not known yet */
    double            *platform[API_PLATFORM_PARTS]; /* lanes; NULL: absent */
    double            *wrenches;                     /* lanes, 9 * n_wrenches: force, torque, point; NULL: none */
    double            *wrench_rates;                 /* lanes, 6 * n_wrenches; NULL: no operation takes them */
    api_failed_rows   *failed_rows;                  /* NULL: the problem of a row is the problem of the request */
} api_plan;

/* Chooses the target, lanes and kernels for the number of states. False with a problem. */
bool api_plan_choose_kernels(api_plan *plan);

/* Lays out the window, when the number of states and the outputs are known. False with a problem. */
bool api_plan_open_window(api_plan *plan);

/* Lanes of the states that are held at a time; NULL with a problem when they do not fit. Not cleared. */
double *api_take_lanes(api_plan *plan, size_t entries);

/* Bytes of plan->window_lanes. */
size_t api_window_bytes(const api_plan *plan);

/* Room for the rows of a block, behind the lanes of a window. */
static inline double *api_window_rows(const api_plan *plan, double *window_lanes)
{
    return window_lanes + plan->window * plan->entries * plan->lanes;
}

/* --- reading numbers of the request into lanes; each returns false with a problem ------------------------------------
 */

bool api_fill_state(api_plan *plan);    /* state.c */
bool api_fill_guess(api_plan *plan);    /* guess.c */
bool api_fill_platform(api_plan *plan); /* platform.c: and lanes for the state that follows from the platform */
bool api_fill_wrenches(api_plan *plan); /* wrenches.c */
