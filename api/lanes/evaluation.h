/* evaluation.h - one request for dynamics on its way through: read into lanes, evaluated, written.
 *
 *     decode (selected_outputs.c, fields.c, state.c, wrenches.c, payload.c)  ->  lanes  ->  kernels (one file per
 * operation)
 *     ->  lanes  ->  answer.c
 *
 * States that have nothing to do with each other go this way a window at a time (window.h), so that lanes stay in
 * cache.
 *
 * Everything lies in the request's pool, and goes when the request ends. */
#pragma once
#include "api/http/call.h"
#include "api/memory/pool.h"
#include "api/wire/json.h"
#include "api/wire/nodes/node.h"
#include "api/wire/pointer.h"

enum { API_MAX_OUTPUTS = 16, API_MAX_RANK = 4, API_CHUNK = 512 /* states between two looks at the deadline */ };
enum { API_FRAME_AXES = 6 /* directions of a frame, rows of its Jacobian */ };

/* Fields of a request; their names are api_field_names'. First the state, then what `evaluate` shares among its
 * operations, then what belongs to one operation. */
typedef enum api_field {
    API_Q,
    API_QD,
    API_QDD,
    API_QDDD,
    API_TAU,
    API_WEIGHTS, /* of the rows, identify */
    API_STATE_FIELDS,
    API_GRAVITY = API_STATE_FIELDS,
    API_PAYLOAD,
    API_WRENCHES,
    API_FRICTION,
    API_JOINTS,
    API_GUESS,
    API_PLATFORM,
    API_ON_ERROR,
    API_SHARED_FIELDS,
    API_OUTPUTS = API_SHARED_FIELDS,
    API_FRAMES,
    API_FRAME,
    API_REFERENCE,
    API_AXES,
    API_DAMPING,
    API_CONSISTENT,
    API_ROTOR,
    API_DEGREE,
    API_DURATION,
    API_CONTROL_POINTS,
    API_KNOTS,
    API_SAMPLES,
    API_TIMES,
    API_DENSE,
    API_STEP,
    API_TOLERANCE,
    API_STIFF,
    API_INPUT,
    API_FEET_FIELD,
    API_PLANE,
    API_FREE,
    API_HELD_FIELD,
    API_RESTITUTION,
    API_FRICTION_AT_REST,
    API_PRESCRIBED,
    API_FIELD_COUNT
} api_field;

extern const char *const api_field_names[API_FIELD_COUNT];

/* A set of fields, or of outputs. */
typedef uint64_t api_set;
#define API_BIT(member) ((api_set)1 << (member))

typedef struct api_selection   api_selection; /* operation.h */
typedef struct api_platform    api_platform;
typedef struct api_failed_rows api_failed_rows;

typedef struct api_evaluation {
    api_call                          *call;
    const api_input                   *input;
    api_problem                       *problem;
    api_pool                          *pool; /* memory until the end of the request */
    const api_model                   *model;
    const struct api_operation *const *operations; /* all that may be asked for; ends with NULL */
    const dyn_kernels                 *target;     /* whose lanes the states are laid out for, */
    const dyn_kernels *kernels; /* and what is called: these, or those of a model with loops, which call them */
    dyn_scene          scene;
    dyn_model         *loaded; /* the model with the request's payload, freed in the end; NULL: none */
    size_t             lanes;  /* W of the target */
    size_t             rows;
    size_t             samples; /* states of every row, one more dimension of the answer; 0: a row is a state */
    size_t             blocks;  /* of all states */
    size_t             chunk;   /* blocks between two looks at the deadline, at most */
    size_t             window;  /* blocks that lanes hold, */
    size_t             first;   /* which begin with this one */
    bool               stands;  /* a window of results is there: zeros of every state need no writing */
    double            *held;    /* lanes of a window, with room for a block's rows behind (window.h); NULL: all states
                                 * are held, wherever */
    const double *held_by_all;  /* `held` of the evaluation that seats are copies of: the answer's arrays point there */
    size_t        entries, entries_held; /* of a state in it: that there are, and that are in use */
    size_t        n_batches;
    struct api_vector *batches;                /* [n_batches] what is read window by window */
    const api_node    *given[API_FIELD_COUNT]; /* the request's fields; NULL: absent */
    api_set            there;                  /* which of them there are */
    bool               batched;                /* whether any input was */
    const char        *rows_from;              /* pointer of the field that set `rows`, for messages */
    bool              *driven;                 /* [nv] coordinates that are not "free"; NULL: no "free" */
    const int         *order; /* [nv] "joints": place i of the request is coordinate order[i]; NULL: as the model */
    double            *state[API_STATE_FIELDS]; /* lanes; NULL: absent */
    double            *guess;                   /* lanes of passive coordinates; NULL: none given */
    double            *passive;                 /* lanes of those that close the loops; NULL: not known yet */
    api_platform      *platform;                /* in place of a state; NULL: none */
    double            *wrenches;                /* lanes, 9 * scene.n_wrenches; NULL: none */
    struct api_unit_warnings *warnings;         /* NULL: there are none */
    double                   *wrench_rates;     /* lanes, 6 * scene.n_wrenches; NULL: no operation takes them */
    void                     *workspace;
    size_t                    n_selected;
    api_selection            *selected;   /* [n_selected] */
    bool                      combined;   /* `evaluate`: the answer is keyed by operation */
    int                       evaluating; /* index in `selected` of the operation that is evaluated; -1: none */
    api_failed_rows *failed_rows;    /* rows that fail alone (failed_rows.h); NULL: a row's problem is the request's */
    struct api_answer_array *arrays; /* [n_arrays] of the answer, to be checked before they are written; NULL: rows do
                                      * not fail alone */
    size_t             n_arrays;     /* in the answer, */
    struct api_answer *answer;       /* of which this is the plan, */
    api_buffer         body;         /* and this what is sent */
} api_evaluation;

/* Decodes `request`, evaluates, and writes the answer into e->body, for which `*bytes` are claimed of the memory
 * budget. The caller owns the evaluation, its body included, whatever happens. False with a problem. */
bool api_evaluate(api_evaluation *e, const api_node *request, size_t *bytes);

/* Lanes of the states that are held (window.h); NULL with a problem when they do not fit. Not cleared. */
double *api_take_lanes(api_evaluation *e, size_t entries);

/* States of the request: its rows, or the samples of all of them. */
static inline size_t api_states(const api_evaluation *e)
{
    return e->samples > 0 ? e->rows * e->samples : e->rows;
}

/* What stands behind so many blocks of lanes with so many entries a state. */
static inline double *api_behind(const api_evaluation *e, double *lanes, size_t entries, size_t blocks)
{
    return lanes + blocks * entries * e->lanes;
}

/* Block `block`, one of those that are held, of lanes with so many entries a state; NULL stays NULL. */
static inline double *api_block(const api_evaluation *e, double *lanes, size_t entries, size_t block)
{
    return lanes ? api_behind(e, lanes, entries, block - e->first) : NULL;
}
/* Entry 0 of a state in lanes of all states, none of which is a window's: the next entry is e->lanes further. */
static inline double *api_state_lane(const api_evaluation *e, double *lanes, size_t entries, size_t state)
{
    return api_block(e, lanes, entries, state / e->lanes) + state % e->lanes;
}
static inline const double *api_state_block(const api_evaluation *e, api_field field, size_t block)
{
    return api_block(e, e->state[field], field == API_Q ? e->model->nq : e->model->nv, block);
}
static inline const double *api_wrench_block(const api_evaluation *e, size_t block)
{
    return api_block(e, e->wrenches, 9 * e->scene.n_wrenches, block);
}
static inline const double *api_wrench_rate_block(const api_evaluation *e, size_t block)
{
    return api_block(e, e->wrench_rates, 6 * e->scene.n_wrenches, block);
}

/* The joint that carries body `body`, for messages. */
const char *api_joint_of(const api_model *model, int body);

/* Fails the states of these blocks whose lane of `singular` is not -1: the index of the body at which the mass matrix
 * is singular. False with a problem naming row and joint, unless rows fail alone (api_fail_state). */
bool api_check_singular(const api_evaluation *e, const double *singular, size_t block, size_t blocks);

/* --- decoding: each reads its fields, e->given, and fails e->problem ------------------------------------------ */

bool api_decode_asked(api_evaluation *e, const api_node *request); /* selected_outputs.c */
bool api_decode_surroundings(api_evaluation *e);                   /* fields.c: gravity and friction */
bool api_decode_payload(api_evaluation *e);                        /* payload.c */
bool api_decode_joints(api_evaluation *e);                         /* state.c */
bool api_measure_state(api_evaluation *e);                         /* state.c: batched? how many rows? */
bool api_decode_state(api_evaluation *e);
bool api_measure_wrenches(api_evaluation *e); /* wrenches.c; reads the sites, too */
bool api_decode_wrenches(api_evaluation *e);

/* --- the answer ------------------------------------------------------------------------------------------------- */

/* Most bytes of the answer; false (413) when that is over the limit. */
bool api_answer_bound(api_evaluation *e, size_t *bytes);
/* Lists e->arrays, where rows fail alone and all results have their lanes. */
bool api_answer_list(api_evaluation *e);
/* Claims memory of that size, for e->body, and puts everything into it but the arrays, each of which gets the room it
 * may need at most. `apart`: chunks will be filled in any order. */
bool api_answer_open(api_evaluation *e, size_t bytes, bool apart);
/* Fills in blocks [begin, end), which are held, of chunk `chunk`; those of a chunk in order. Different chunks may be
 * filled in at the same time. False at a number that is not finite. */
bool api_answer_fill(const api_evaluation *e, size_t chunk, size_t begin, size_t end, api_problem *problem);
/* Moves together what did not need all of its room, and where rows fail alone appends their errors, which add to
 * `*bytes`. False with a problem: the answer is too large with them, or there is no memory. */
bool api_answer_close(api_evaluation *e, size_t *bytes);
