/* operation.h - describe an operation on a model by one constant; api/operations/table.c lists all of them.
 *
 * The constant says which fields the operation takes and which outputs it has. Reading the request, laying the states
 * out in lanes, and measuring and writing the answer follow from that. The operation's own code calls a kernel. */
#pragma once
#include "api/wire/emit.h"
#include "api/wire/names.h"
#include "query.h"

enum { API_MAX_OUTPUTS = 16, API_MAX_RANK = 4 };

/* The later stages, which operations work on. */
typedef struct api_plan       api_plan;       /* api/lanes/plan.h */
typedef struct api_evaluation api_evaluation; /* api/lanes/evaluation.h */

/* Extents of outputs that are no constants. */
enum {
    API_NV               = -1,
    API_NQ               = -2,
    API_BODIES           = -3,
    API_BODY_PARAMETERS  = -4, /* 10 of each body */
    API_JOINT_PARAMETERS = -5, /* 3 of each joint */
    API_LOOP_STATE       = -6, /* the object `full` of a model with loops */
    API_STRUCTURED       = -7, /* no array of numbers: the operation's `emit` writes the output */
    /* Extents that the request decides: api_selected_extent. */
    API_REQUEST_WRENCHES = -8,
    API_SELECTED_FRAMES  = -9, /* an object of poses, one for each frame */
    API_SELECTED_AXES    = -10,
    API_BASE_PARAMETERS  = -11,
    API_SUPPORT          = -12, /* control points in a gradient */
    API_CONTACTS         = -13, /* feet, or the base in their place */
    API_HELD_FRAMES      = -14,
    API_REQUEST_EXTENTS  = 7
};

/* An operation that the request selects, with its outputs and options. */
struct api_selection {
    const struct api_operation *operation;
    api_set                     outputs;                     /* the operation's */
    void                       *options;                     /* private to the operation; NULL: it has none */
    size_t                      extent[API_REQUEST_EXTENTS]; /* see api_selected_extent */
    bool                        one_by_one;                  /* evaluated a block at a time, whatever the operation */
    double                     *result[API_MAX_OUTPUTS];     /* lanes of all states; NULL: the output is not selected */
};

/* One of the extents that the request decides. */
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
    int         extent[API_MAX_RANK]; /* of one state, row-major: a number, or one of the above; 0: no more axes */
} api_output;

typedef struct api_operation {
    const char *name;                     /* in the URL */
    api_set     needs, takes;             /* fields that a request must have, and other fields that it may have */
    api_set     needs_options;            /* options, of `takes`, that a request must have */
    api_output  outputs[API_MAX_OUTPUTS]; /* ends with a NULL name if shorter */
    bool        wrench_rates;             /* wrenches may have force_rate and torque_rate */
    bool        wrench_signals;           /* force and torque of wrenches may be signals, which the options read */
    api_set     tree_outputs;             /* not for models with loops */
    bool        alone;      /* cannot be part of `evaluate`: its rows differ from those of other operations */
    bool        one_by_one; /* evaluates a block at a time, to need fewer scratch lanes */
    bool        regresses;  /* calls the regressor kernel, whose results are not outputs */
    double      weight, square_weight; /* cost of a state: weight * bodies + square_weight * nv^2, where inverse
                                        * dynamics costs 1 per body */
    double least_seconds;              /* lower bound of the estimated time, s */
    /* Reads the options except "outputs", whose names have been checked. False with a problem. NULL: no options. */
    bool (*options)(api_query *q, api_selection *selected, const api_node *options, const api_place *at);
    /* Called when all fields are in lanes; may set lanes in selected->result. False with a problem. NULL: nothing to
     * do. */
    bool (*prepare)(api_plan *plan, api_selection *selected);
    /* Entries a state of the scratch lanes. NULL: none. */
    size_t (*spare)(const api_model *model, const api_selection *selected);
    /* Seconds to find what is kept with the model from then on, for outputs that are not default. NULL: nothing. */
    double (*once)(const api_model *model);
    /* The name of frame `i` of an output of extent API_SELECTED_FRAMES. NULL: there is no such output. */
    const char *(*frame_name)(const api_model *model, const api_selection *selected, size_t i);
    /* Emits an output of extent API_STRUCTURED, once for all states. The function is also called before anything is
     * evaluated, to measure the answer: with the same names and as many numbers. NULL: no such output. */
    void (*emit)(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to);
    /* Called before the first block, when all results have their lanes: computes what one state needs from others.
     * False with a problem. NULL: nothing. */
    bool (*begin)(api_plan *plan, const api_selection *selected);
    /* Evaluates blocks [block, block + blocks) into selected->result. False with e->problem. */
    bool (*evaluate)(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks);
    /* Called after the last block, for operations with one result for all states. Their states are evaluated in order,
     * by one thread. False with e->problem. NULL: every state has its own result. */
    bool (*finish)(const api_evaluation *e, const api_selection *selected);
} api_operation;

extern const api_operation api_inverse_dynamics, api_forward_dynamics, api_mass_matrix, api_bias, api_kinematics,
    api_energy, api_torque_derivative, api_sensitivity, api_forward_sensitivity, api_coriolis, api_regressor,
    api_impact, api_task_space, api_trajectory, api_identify, api_simulate, api_ground_reaction;

extern const api_operation *const api_operations[]; /* ends with NULL */

/* The operation of that name in a table that ends with NULL; NULL: there is none. */
const api_operation *api_operation_named(const api_operation *const *operations, const char *name);

/* The names of all operations of the table and "evaluate" as the last, for a message. */
api_names api_operation_names(const api_operation *const *operations);

static inline bool api_has_output(const api_operation *operation, size_t output)
{
    return output < API_MAX_OUTPUTS && operation->outputs[output].name;
}

/* Numbers of one state in an extent or in a whole output. */
size_t api_extent(const api_model *model, const api_selection *selected, int extent);
/* Fails with API_BAD_VALUE at the entry of "outputs", in the options `given` at the place `up`, that names the output.
 */
bool api_fail_output(const api_query *q, const api_selection *selected, size_t output, const api_node *given,
                     const api_place *up, const char *text) __attribute__((cold));

size_t api_output_entries(const api_model *model, const api_selection *selected, size_t output);

/* Entries a state of the outputs from `first` to `last` that are not selected: for outputs that a kernel cannot do
 * without, in scratch lanes. */
size_t api_missing_entries(const api_model *model, const api_selection *selected, size_t first, size_t last);
