/* plan.h - the plan of an evaluation: which kernels evaluate it, and where the numbers of all states lie in lanes.
 *
 * If all states are independent, they are read, evaluated and written window by window: the lanes of a window stay
 * in cache, and a larger batch needs no more of them. If states depend on each other (motions, identification) or
 * loops are closed, the lanes of all states are held at once.
 *
 * All lanes of a window are one piece of memory, which api_take_lanes divides among the arrays. Every slot of a
 * parallel evaluation has such a piece of its own (evaluation.h). */
#pragma once
#include "api/requests/fields/operation.h"
#include "api/requests/fields/platform.h"

enum { API_CHUNK = 512 /* states between two checks of the deadline */ };

typedef struct api_failed_rows api_failed_rows; /* failed_rows.h */
typedef struct api_vector      api_vector;      /* vector_reader.h */
typedef struct api_row_time    api_row_time;    /* row_time.h */

typedef struct api_plan {
    const api_query   *query;
    const dyn_kernels *target;       /* kernels of the target; states are laid out for its number of lanes */
    const dyn_kernels *kernels;      /* `target`, or the kernels of a model with loops (loop_kernels.h) */
    size_t             lanes;        /* number of lanes of the target */
    size_t             blocks;       /* number of blocks of all states */
    size_t             chunk;        /* blocks between two checks of the deadline, at most */
    size_t             window;       /* blocks that are in lanes at a time */
    double            *window_lanes; /* a window, then space for the rows of a block; NULL: all states are in lanes */
    size_t             entries, entries_taken; /* numbers per state of a window: in all, and in use */
    size_t             n_batches;
    api_vector        *batches;                 /* [n_batches] vectors that are read window by window */
    double            *state[API_STATE_FIELDS]; /* lanes of each field; NULL: the field is absent */
    double            *higher[API_MAX_HIGHER];  /* lanes of each vector of "higher_derivatives"; NULL: not given */
    double            *guess;                   /* lanes of passive coordinates; NULL: none given */
    double            *passive; /* lanes of the passive coordinates that close the loops; NULL: not known yet */
    double *tree_q; /* lanes of the tree's coordinates with closed loops, for dyn_loop_restore; NULL: not kept */
    double *platform[API_PLATFORM_PARTS]; /* lanes of each part of the platform's pose and motion; NULL: the part is
                                             absent */
    double *wrenches;                     /* lanes, 9 * n_wrenches: force, torque, point; NULL: no wrenches */
    double *wrench_rates; /* rates of the wrenches: lanes, 6 * n_wrenches; NULL: no selected operation uses them */
    api_failed_rows *failed_rows; /* NULL: the problem of a row is the problem of the request */
    api_row_time    *row_time;    /* NULL: rows have no shares of the time */
} api_plan;

/* Chooses the target, lanes and kernels for the number of states. False with a problem. */
bool api_plan_choose_kernels(api_plan *plan);

/* Lays out the window, when the number of states and the outputs are known. False with a problem. */
bool api_plan_open_window(api_plan *plan);

/* Reserves lanes with `entries` entries a state for the states that are in lanes at a time. The lanes are not zeroed.
 * NULL with a problem if memory is short. */
double *api_take_lanes(api_plan *plan, size_t entries);

/* Returns the bytes of plan->window_lanes. */
size_t api_window_bytes(const api_plan *plan);

/* Returns the memory for the rows of a block, which follows the lanes of a window. */
static inline double *api_window_rows(const api_plan *plan, double *window_lanes)
{
    return window_lanes + plan->window * plan->entries * plan->lanes;
}

/* --- read fields of the request into lanes; false with a problem ------------------------------------------------- */

bool api_fill_state(api_plan *plan);    /* state.c */
bool api_fill_guess(api_plan *plan);    /* guess.c */
bool api_fill_platform(api_plan *plan); /* platform_lanes.c; also takes lanes for the state that follows */
bool api_fill_wrenches(api_plan *plan); /* wrenches.c */
