/* operation.h - what can be asked about a model: one constant per operation, all in one
 * table (api/operations/table.c).
 *
 * An operation says in its constant which fields it takes and what it returns; reading the request, laying the
 * states out in lanes, sizing and writing the answer follow from that alone. Its own code calls a kernel. */
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
    const char *name;                     /* as in the URL */
    api_set     needs, takes;             /* fields; `takes` beside what it needs */
    api_set     needs_options;            /* of `takes`, the options without which there is no answer */
    api_output  outputs[API_MAX_OUTPUTS]; /* ends with a NULL name if shorter */
    bool        wrench_rates;             /* takes force_rate and torque_rate of wrenches, too */
    bool        wrench_signals;           /* its options read force and torque of wrenches that are signals */
    api_set     tree_outputs;             /* not for models with loops */
    bool        alone;                    /* stands in no `evaluate`: its rows are not those of others */
    bool        one_by_one;               /* evaluates a block at a time: its scratch lanes are many */
    bool        regresses;                /* asks for regressors, which are no outputs of their own */
    double      weight, square_weight;    /* cost of a state: weight * bodies + square_weight * nv^2, where inverse
                                           * dynamics costs 1 per body */
    double least_seconds;                 /* that it may take whatever a glance at the request says */
    /* Reads options beside "outputs"; their names are known already. NULL: there are none. */
    bool (*options)(api_query *q, api_selection *selected, const api_node *options, const api_place *at);
    /* When all fields are read: the last look at the request. It may set lanes in selected->result. NULL: nothing to
     * do.
     */
    bool (*prepare)(api_plan *plan, api_selection *selected);
    /* Entries a state of scratch lanes; NULL: none. */
    size_t (*spare)(const api_model *model, const api_selection *selected);
    /* Seconds of what is found once for a model, for outputs other than the default ones. NULL: nothing. */
    double (*once)(const api_model *model);
    /* The name of frame `i` of an output of extent API_SELECTED_FRAMES. NULL: there is no such output. */
    const char *(*frame_name)(const api_model *model, const api_selection *selected, size_t i);
    /* Emits an output of extent API_STRUCTURED, once for all states; also before anything is read or evaluated, to
     * measure the answer: with the same names and as many numbers. NULL: there is none. */
    void (*emit)(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to);
    /* Before the first block, when all results have their lanes: what states have to do with each other. False with a
     * problem. NULL: nothing. */
    bool (*begin)(api_plan *plan, const api_selection *selected);
    /* Evaluates blocks [block, block + blocks) into selected->result. False with e->problem. */
    bool (*evaluate)(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks);
    /* After the last block, of operations that make one result of all states: these are evaluated in order, on one
     * thread. False with e->problem. NULL: every state has its own. */
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
/* Fails e->problem with API_BAD_VALUE where `given`, the options at `up`, name that output. */
bool api_fail_output(const api_query *q, const api_selection *selected, size_t output, const api_node *given,
                     const api_place *up, const char *text) __attribute__((cold));

size_t api_output_entries(const api_model *model, const api_selection *selected, size_t output);

/* Entries a state of the outputs from `first` to `last` that are not selected: for outputs that a kernel cannot do
 * without, in scratch lanes. */
size_t api_missing_entries(const api_model *model, const api_selection *selected, size_t first, size_t last);
