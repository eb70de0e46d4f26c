/* evaluation.h - the state of a running evaluation in one slot (thread). */
#pragma once
#include "plan.h"
#include "row_time.h"

typedef struct api_evaluation {
    const api_plan  *plan;
    const api_query *query; /* plan->query, or own_query */
    api_query *own_query; /* the request with the scene of one row (scene/row_scene.h); NULL: all rows have one scene */
    dyn_payload       *payloads;      /* payloads of the row, with own_query */
    double            *row_numbers;   /* nv + 1, scratch of the row, with own_query */
    dyn_model         *row_model;     /* the model with the payloads of the row, owned by the slot; NULL: none */
    const api_model   *model;         /* query->model */
    const dyn_kernels *kernels;       /* plan->kernels */
    size_t             lanes;         /* plan->lanes */
    api_problem       *problem;       /* problem of the task that runs in the slot */
    void              *workspace;     /* workspace of the kernels */
    double            *spare;         /* scratch lanes of the current operation: operation->spare() entries a state */
    double           **spares;        /* [n_selected] scratch lanes of each selected operation */
    double            *window_lanes;  /* the slot's copy of plan->window_lanes; NULL: all states are in lanes */
    size_t             first;         /* the first block of the window */
    bool               zeros_written; /* results of a whole window are written; their constant zeros stay */
    int                evaluating;    /* index in query->selected of the operation that is evaluated; -1: none */
    api_row_share     *share; /* share of the rows whose loops are closed in the slot; NULL: a model without loops */
} api_evaluation;

/* Returns the evaluation of a plan by one thread, without workspace and scratch lanes; its problem is that of the
 * request. */
static inline api_evaluation api_evaluation_of(const api_plan *plan)
{
    return (api_evaluation){.plan         = plan,
                            .query        = plan->query,
                            .model        = plan->query->model,
                            .kernels      = plan->kernels,
                            .lanes        = plan->lanes,
                            .problem      = plan->query->problem,
                            .window_lanes = plan->window_lanes,
                            .evaluating   = -1};
}

/* Returns the slot's copy of lanes of the plan. */
static inline double *api_slot_lanes(const api_evaluation *e, double *lanes)
{
    return e->window_lanes ? e->window_lanes + (lanes - e->plan->window_lanes) : lanes;
}

/* Returns the lanes after `blocks` blocks with `entries` entries a state. */
static inline double *api_behind(const api_evaluation *e, double *lanes, size_t entries, size_t blocks)
{
    return lanes + blocks * entries * e->lanes;
}

/* Returns block `block`, which must be in the window, of lanes of the plan with `entries` entries a state. NULL if
 * `lanes` is NULL. */
static inline double *api_block(const api_evaluation *e, double *lanes, size_t entries, size_t block)
{
    return lanes ? api_behind(e, api_slot_lanes(e, lanes), entries, block - e->first) : NULL;
}

/* Returns entry 0 of a state in lanes of the plan; the next entry is e->lanes further. */
static inline double *api_state_lane(const api_evaluation *e, double *lanes, size_t entries, size_t state)
{
    return api_block(e, lanes, entries, state / e->lanes) + state % e->lanes;
}
static inline const double *api_state_block(const api_evaluation *e, api_field field, size_t block)
{
    return api_block(e, e->plan->state[field], api_is_position(field) ? e->model->nq : e->model->nv, block);
}
/* Returns block `block` of the derivative of q of this order, from the fifth on; NULL: the request does not have it. */
static inline const double *api_higher_block(const api_evaluation *e, size_t order, size_t block)
{
    return api_block(e, e->plan->higher[order - 5], e->model->nv, block);
}
static inline const double *api_wrench_block(const api_evaluation *e, size_t block)
{
    return api_block(e, e->plan->wrenches, 9 * e->query->scene.n_wrenches, block);
}
static inline const double *api_wrench_rate_block(const api_evaluation *e, size_t block)
{
    return api_block(e, e->plan->wrench_rates, 6 * e->query->scene.n_wrenches, block);
}

/* Returns block `block` of an output; NULL: the output is not selected. */
double *api_result_block(const api_evaluation *e, const api_selection *selected, size_t output, size_t block);

/* For an operation that evaluates one block at a time: returns the output's block or, if the output is not selected,
 * the scratch lanes at *next, and moves *next past them. */
double *api_result_or_spare(const api_evaluation *e, const api_selection *selected, size_t output, size_t block,
                            double **next);

/* --- states that fail --------------------------------------------------------------------------------------------- */

/* Fails a state that cannot be evaluated. The problem points at the row's entry of `field`, or at the field if all
 * rows share it. If the field is absent or < 0, the problem has no pointer. Returns false with e->problem; but if
 * rows fail alone (failed_rows.h), the problem is recorded and the result is true: the caller continues with the
 * next state. */
bool api_fail_state(const api_evaluation *e, api_code code, int field, size_t state, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));

/* Like api_fail_state, with the code, detail, fraction and time of `found`. */
bool api_fail_found(const api_evaluation *e, int field, size_t state, const api_problem *found) __attribute__((cold));

/* Like api_fail_found, but the problem points at entry `row` of the batch at `batch`. Only for a request without
 * samples. */
bool api_fail_entry(const api_evaluation *e, const api_place *batch, size_t row, const api_problem *found)
    __attribute__((cold));

/* Problems of the states of a block, found in several passes over the block. api_lane_problems_tell reports them after
 * the last pass, in the order of the states: which problem a request has must not depend on the number of lanes. */
typedef struct api_lane_problems {
    size_t      block;
    api_problem lane[DYN_MAX_LANES];
} api_lane_problems;

/* Begins with a block of `lanes` states without a problem. */
void api_lane_problems_begin(api_lane_problems *problems, size_t block, size_t lanes);

/* Keeps `found` as the problem of a lane, unless it has one already. If `step` is not negative, the text of the problem
 * begins with it. */
void api_lane_problems_note(api_lane_problems *problems, size_t lane, long long step, const api_problem *found)
    __attribute__((cold));

/* Fails the states of the block that have a problem, except those beyond the `n` states of the request. The result is
 * that of api_fail_state. */
bool api_lane_problems_tell(const api_evaluation *e, const api_lane_problems *problems, size_t n);

/* `singular` has one entry per state: the index of the body at which the mass matrix is singular, or -1. Fails the
 * states of blocks [block, block + blocks) whose entry is not -1. The result is that of api_fail_state. */
bool api_check_singular(const api_evaluation *e, const double *singular, size_t block, size_t blocks);

/* Returns the name of the joint that moves the body, for messages. */
const char *api_joint_of(const api_model *model, int body);
