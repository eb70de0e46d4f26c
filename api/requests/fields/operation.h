/* operation.h - describes an operation on a model by one constant; api/requests/operations/operation_list.h lists all
 * operations.
 *
 * The constant says which fields the operation takes and which outputs it has. From the constant, common code reads the
 * request, lays the states out in lanes, and measures and writes the answer. The operation's own code calls a
 * kernel. */
#pragma once
#include "api/codec/emit.h"
#include "api/codec/names.h"
#include "query.h"

enum { API_MAX_OUTPUTS = 48, API_MAX_RANK = 4, API_OWN_VECTORS = 32 };

/* Types of the later stages of a request, on which the functions of an operation work. */
typedef struct api_plan       api_plan;       /* api/requests/lanes/plan.h */
typedef struct api_evaluation api_evaluation; /* api/requests/lanes/evaluation.h */

/* Codes for lengths of output axes that depend on the model or on the request. */
enum {
    API_NV               = -1,
    API_NQ               = -2,
    API_BODIES           = -3,
    API_BODY_PARAMETERS  = -4, /* 10 inertial parameters of each body */
    API_JOINT_PARAMETERS = -5, /* 3 parameters of each joint: friction and rotor */
    API_LOOP_STATE       = -6, /* output `full`: an object of arrays, for models with loops */
    API_STRUCTURED       = -7, /* the output is no array of numbers: the operation's `emit` writes it */
    API_TANGENT          = -8, /* 2 nv: changes of q on its tangent space, then changes of qd */
    /* The codes below are lengths that depend on the request; api_selected_extent returns the length. */
    API_REQUEST_WRENCHES = -9,
    API_SELECTED_FRAMES  = -10, /* poses of the selected frames, an object with a member for each frame */
    API_SELECTED_AXES    = -11,
    API_BASE_PARAMETERS  = -12,
    API_SUPPORT          = -13, /* control points with respect to which an output is differentiated */
    API_CONTACTS         = -14, /* feet, or 1 for the base if there are no feet; contacts of a simulation */
    API_HELD_FRAMES      = -15,
    API_FIXED_POINTS     = -16,
    API_JOINT_LIMITS     = -17, /* limits of joints that an operation lists */
    API_SPLINE_KNOTS     = -18, /* knots of a motion */
    API_ROLLOUT_STEPS    = -19, /* steps of a rollout in one array of its row */
    API_COUPLED_MOTORS   = -20, /* motors of coupled transmissions: this length depends on the model only */
    API_CUT_JOINTS       = -21, /* joints through which the wrench is computed */
    API_SENSED_FRAMES    = -22,
    API_GIVEN_DIRECTIONS = -23, /* directions of derivatives that the request gives */
    API_REQUEST_TASKS    = -24, /* tasks of inverse kinematics */
    API_REQUEST_EXTENTS  = 16,
    API_MOVERS           = -25 /* joints, motors of elastic joints and of coupled transmissions; of the model only */
};

/* An operation that the request selects, with its outputs and options. */
struct api_selection {
    const struct api_operation *operation;
    api_set                     outputs; /* bit i: outputs[i] of the operation is selected */
    void                       *options; /* data private to the operation; NULL: it has no options */
    size_t                      extent[API_REQUEST_EXTENTS]; /* read by api_selected_extent */
    bool                        one_by_one;                  /* true: evaluate one block of states at a time */
    bool                        shares_time; /* true: the time of a state depends on its values (row_time.h) */
    bool all_in_lanes; /* true: an output of a state depends on other states, so that all are in lanes at once */
    /* Result lanes of all states; NULL: the output is not selected. */
    double *result[API_MAX_OUTPUTS];
};

/* Returns the length of an output axis that depends on the request; `extent` is a code such as API_SELECTED_FRAMES. */
static inline size_t api_selected_extent(const api_selection *selected, int extent)
{
    return selected->extent[API_REQUEST_WRENCHES - extent];
}
static inline void api_set_extent(api_selection *selected, int extent, size_t length)
{
    selected->extent[API_REQUEST_WRENCHES - extent] = length;
}

typedef struct api_output {
    const char *name;
    bool        by_default;
    /* Lengths of the axes for one state: numbers, or codes such as API_NV; ends with 0. */
    int extent[API_MAX_RANK];
} api_output;

typedef struct api_operation {
    const char *name;                     /* name in the URL */
    api_set     needs, takes;             /* fields that a request must have, and other fields that it may have */
    api_set     needs_options;            /* those options in `takes` that a request must have */
    api_output  outputs[API_MAX_OUTPUTS]; /* ends with a NULL name if shorter */
    bool        wrench_rates;             /* wrenches may have force_rate and torque_rate */
    bool        wrench_signals;           /* force and torque of wrenches may be signals, which the options read */
    api_set     tree_outputs;             /* outputs that models with loops do not have */
    bool        alone;         /* cannot be part of `evaluate`: its rows differ from those of other operations */
    bool        one_by_one;    /* evaluates a block at a time, to need fewer scratch lanes */
    bool        load_in_trees; /* takes friction that depends on the load in models without loops only */
    bool        row_scenes;    /* true: takes gravity and payloads that differ from row to row (row_scenes.h) */
    bool        regresses;     /* true: calls the regressor kernel, whose results are not outputs */
    bool        step_kernels;  /* true: calls kernels of DYN_STEP_KERNELS, which need a larger workspace */
    double      weight, square_weight; /* cost of a state: weight * bodies + square_weight * nv^2, where inverse
                                        * dynamics costs 1 per body */
    /* Estimate the seconds of work that the weights do not cover, per state and per request, from a peek at the body
     * before it is decoded (api/requests/cost/peek.h). NULL: none. */
    double (*state_seconds)(const api_call *call, const api_input *input);
    double (*request_seconds)(const api_call *call, const api_input *input);
    /* Estimates the seconds of the decoded request, when `options` has been read. NULL: none. */
    double (*decoded_seconds)(const api_query *q, const api_selection *selected);
    double least_seconds; /* lower bound of the estimated time, s */
    /* Reads the options, except "outputs"; the names of all options are checked before. False with a problem. NULL: the
     * operation has no options. */
    bool (*options)(api_query *q, api_selection *selected, const api_node *options, const api_place *up);
    /* Returns how many numbers of a state `prepare` takes lanes for, from at most API_OWN_VECTORS vectors. NULL: none.
     */
    size_t (*own_entries)(const api_selection *selected);
    /* Called when all fields are in lanes; may set lanes in selected->result. False with a problem. NULL: nothing to
     * prepare. */
    bool (*prepare)(api_plan *plan, api_selection *selected);
    /* Returns how many scratch numbers one state needs. NULL: none. */
    size_t (*spare)(const api_model *model, const api_selection *selected);
    /* Estimates the seconds to compute data for outputs that are not default; the model keeps such data for later
     * requests. NULL: there are none. */
    double (*once)(const api_model *model);
    /* Returns the name of frame `i` of an output of extent API_SELECTED_FRAMES. NULL: the operation has no such
     * output. */
    const char *(*frame_name)(const api_model *model, const api_selection *selected, size_t i);
    /* Emits an output of extent API_STRUCTURED, once for all states. Also called before the evaluation, to measure the
     * answer: that call must emit the same names and as many numbers. NULL: the operation has no such output. */
    void (*emit)(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to);
    /* Called before the first block, when all results have their lanes: computes data that a state needs from other
     * states. False with a problem. NULL: states are independent. */
    bool (*begin)(api_plan *plan, const api_selection *selected);
    /* Evaluates blocks [block, block + blocks) into selected->result. False with e->problem. */
    bool (*evaluate)(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks);
    /* Called after the last block, by operations with one result for all states; one thread evaluates such states in
     * order, unless `unordered`. False with e->problem, or with the query's problem if `unordered`. NULL: every state
     * has its own result. */
    bool (*finish)(const api_evaluation *e, const api_selection *selected);
    bool
        unordered; /* `finish` is only for selections that are all_in_lanes; threads may evaluate states in any order */
} api_operation;

/* Returns the operation with this name in a table that ends with NULL; NULL if no operation has the name. */
const api_operation *api_operation_named(const api_operation *const *operations, const char *name);

/* Returns the number of an operation in a table that ends with NULL, from 1. `operation` NULL, `evaluate`: the number
 * after all others. */
unsigned api_operation_number(const api_operation *const *operations, const api_operation *operation);

/* Returns the names of all operations in the table, with "evaluate" appended, for a message. */
api_names api_operation_names(const api_operation *const *operations);

static inline bool api_has_output(const api_operation *operation, size_t output)
{
    return output < API_MAX_OUTPUTS && operation->outputs[output].name;
}

/* Returns the number of entries that one state has along an output axis: `extent` itself, or the length for its
 * code. */
size_t api_extent(const api_model *model, const api_selection *selected, int extent);
/* Fails with API_BAD_VALUE. The problem points at the entry of "outputs" that names the output; `fields` are the
 * options that contain "outputs", and `up` is their place. */
bool api_fail_output(const api_query *q, const api_selection *selected, size_t output, const api_node *fields,
                     const api_place *up, const char *text) __attribute__((cold));

size_t api_output_entries(const api_model *model, const api_selection *selected, size_t output);

/* Returns the entries per state of those outputs from `first` to `last` that are not selected. A kernel that computes
 * these outputs in any case writes them to scratch lanes. */
size_t api_missing_entries(const api_model *model, const api_selection *selected, size_t first, size_t last);
