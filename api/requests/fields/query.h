/* query.h - the decoded request for an operation: the first of the stages
 *
 *     query (here)  ->  plan (api/requests/lanes/plan.h)  ->  evaluation (api/requests/lanes/evaluation.h)  ->  answer
 * (api/requests/answer)
 *
 * Each stage has a const pointer to the stage before it. A query holds what the fields of the request say, except the
 * numbers of its states, wrenches and guess: those are read into lanes, as the plan lays them out.
 *
 * All memory is the request's pool, which is released when the request ends. */
#pragma once
#include "api/service/http/call.h"
#include "api/base/memory/pool.h"
#include "api/codec/json.h"
#include "api/codec/nodes/node.h"
#include "api/codec/pointer.h"
#include "api/base/work/parallel.h"

enum { API_FRAME_AXES = 6 /* directions of a frame, rows of its Jacobian */ };
enum { API_MAX_HIGHER = 20 /* vectors in "higher_derivatives": derivatives of q of orders 5 to 24 */ };

/* The fields of requests: constant and name. Which of them a request may contain follows from the operations that it
 * selects: see `needs` and `takes` of api_operation. */

/* Fields that have numbers for every state. */
#define API_STATE_FIELD_LIST(X)                                                                                        \
    X(API_Q, "q")                                                                                                      \
    X(API_QD, "qd")                                                                                                    \
    X(API_QDD, "qdd")                                                                                                  \
    X(API_QDDD, "qddd")                                                                                                \
    X(API_QDDDD, "qdddd")                                                                                              \
    X(API_TAU, "tau")                                                                                                  \
    X(API_WEIGHTS, "weights") /* weights of the rows in the operation identify */                                      \
    X(API_QD_REFERENCE, "qd_reference")                                                                                \
    X(API_QDD_REFERENCE, "qdd_reference")                                                                              \
    X(API_MULTIPLIERS, "multipliers") /* coefficients by which second derivatives are contracted */                    \
    X(API_DISPLACEMENT, "displacement")                                                                                \
    X(API_Q_TARGET, "q_target")

/* Other fields that the operations of an evaluate request share. */
#define API_SHARED_FIELD_LIST(X)                                                                                       \
    X(API_GRAVITY, "gravity")                                                                                          \
    X(API_PAYLOAD, "payload")                                                                                          \
    X(API_WRENCHES, "wrenches")                                                                                        \
    X(API_FRICTION, "friction")                                                                                        \
    X(API_JOINTS, "joints")                                                                                            \
    X(API_GUESS, "guess")                                                                                              \
    X(API_PLATFORM, "platform")                                                                                        \
    X(API_PARAMETERS, "parameters")                 /* a field of requests that may contain payload */                 \
    X(API_LOCKED, "locked")                         /* every request may contain it */                                 \
    X(API_HIGHER_DERIVATIVES, "higher_derivatives") /* derivatives of q from the fifth on */                           \
    X(API_NORMALISE, "normalise")                   /* every request may contain normalise and on_error */             \
    X(API_ON_ERROR, "on_error")

/* Options of one operation; an evaluate request has them in the object of that operation. */
#define API_OPTION_FIELD_LIST(X)                                                                                       \
    X(API_OUTPUTS, "outputs")                                                                                          \
    X(API_FRAMES, "frames")                                                                                            \
    X(API_FRAME, "frame")                                                                                              \
    X(API_REFERENCE, "reference")                                                                                      \
    X(API_AXES, "axes")                                                                                                \
    X(API_DAMPING, "damping")                                                                                          \
    X(API_CONSISTENT, "consistent")                                                                                    \
    X(API_ROTOR, "rotor")                                                                                              \
    X(API_DEGREE, "degree")                                                                                            \
    X(API_DURATION, "duration")                                                                                        \
    X(API_CONTROL_POINTS, "control_points")                                                                            \
    X(API_KNOTS, "knots")                                                                                              \
    X(API_SAMPLES, "samples")                                                                                          \
    X(API_TIMES, "times")                                                                                              \
    X(API_DENSE, "dense")                                                                                              \
    X(API_STEP, "step")                                                                                                \
    X(API_TOLERANCE, "tolerance")                                                                                      \
    X(API_STIFF, "stiff")                                                                                              \
    X(API_INTEGRATOR_FIELD, "integrator")                                                                              \
    X(API_INPUT, "input")                                                                                              \
    X(API_FEET_FIELD, "feet")                                                                                          \
    X(API_PLANE, "plane")                                                                                              \
    X(API_FREE, "free")                                                                                                \
    X(API_CONTACTS_FIELD, "contacts")                                                                                  \
    X(API_HELD_FIELD, "held")                                                                                          \
    X(API_CONTACT_DAMPING, "contact_damping")                                                                          \
    X(API_IMPACT_FIELD, "impact")                                                                                      \
    X(API_PHASES, "phases")                                                                                            \
    X(API_RESTITUTION, "restitution")                                                                                  \
    X(API_FRICTION_AT_REST, "friction_at_rest")                                                                        \
    X(API_PRESCRIBED, "prescribed")                                                                                    \
    X(API_POSITION, "position")                                                                                        \
    X(API_ORIENTATION, "orientation")                                                                                  \
    X(API_DIRECTION, "direction")                                                                                      \
    X(API_AXIS, "axis")                                                                                                \
    X(API_VELOCITY, "velocity")                                                                                        \
    X(API_ACCELERATION, "acceleration")                                                                                \
    X(API_LIMITS, "limits")                                                                                            \
    X(API_STARTS, "starts")                                                                                            \
    X(API_UNKNOWN, "unknown")                                                                                          \
    X(API_PRIOR, "prior")                                                                                              \
    X(API_HUBER, "huber")                                                                                              \
    X(API_TORQUES, "torques")                                                                                          \
    X(API_POINTS_FIELD, "points")                                                                                      \
    X(API_KINDS, "kinds")                                                                                              \
    X(API_TORQUE_MULTIPLIERS, "torque_multipliers")                                                                    \
    X(API_SUPPORTS, "supports")                                                                                        \
    X(API_COST, "cost")                                                                                                \
    X(API_MULTIPLIERS_Q, "multipliers_q")                                                                              \
    X(API_MULTIPLIERS_QD, "multipliers_qd")                                                                            \
    X(API_FRACTION, "fraction")                                                                                        \
    X(API_COUNT, "count")                                                                                              \
    X(API_SEED, "seed")                                                                                                \
    X(API_RANGE, "range")                                                                                              \
    X(API_FORCE_TORQUE, "force_torque")                                                                                \
    X(API_INERTIAL, "inertial")                                                                                        \
    X(API_GAIN, "gain")                                                                                                \
    X(API_NOISE, "noise")                                                                                              \
    X(API_INTERVALS, "intervals")                                                                                      \
    X(API_JOINT_LIMITS_FIELD, "joint_limits")                                                                          \
    X(API_FRAME_LIMITS_FIELD, "frame_limits")                                                                          \
    X(API_FEEDBACK, "feedback")                                                                                        \
    X(API_DIRECTIONS, "directions")                                                                                    \
    X(API_TASKS, "tasks")                                                                                              \
    X(API_SEQUENCE, "sequence")                                                                                        \
    X(API_MOTOR_POSITIONS, "motor_positions")

#define API_FIELD_CONSTANT(constant, name) constant,

typedef enum api_field {
    API_STATE_FIELD_LIST(API_FIELD_CONSTANT) API_STATE_FIELDS,
    API_LAST_STATE_FIELD = API_STATE_FIELDS - 1,
    API_SHARED_FIELD_LIST(API_FIELD_CONSTANT) API_SHARED_FIELDS,
    API_LAST_SHARED_FIELD = API_SHARED_FIELDS - 1,
    API_OPTION_FIELD_LIST(API_FIELD_CONSTANT) API_FIELD_COUNT
} api_field;

extern const char *const api_field_names[API_FIELD_COUNT];

/* True for the fields of the state that have nq entries (q and its references); the others have nv. */
static inline bool api_is_position(api_field field)
{
    return field == API_Q || field == API_Q_TARGET;
}

/* A set of fields or of outputs: bit i stands for member i. */
__extension__ typedef unsigned __int128 api_set;
#define API_BIT(member) ((api_set)1 << (member))
_Static_assert(API_FIELD_COUNT <= 128, "each field has a bit of a set");

/* Returns the least member of a set that is not empty. */
static inline int api_first_member(api_set set)
{
    uint64_t low = (uint64_t)set;
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64));
}

typedef struct api_selection     api_selection; /* operation.h */
typedef struct api_platform      api_platform;  /* platform.h */
typedef struct api_unit_warnings api_unit_warnings;
typedef struct api_row_scenes    api_row_scenes; /* row_scenes.h */

typedef struct api_query {
    api_call        *call;
    const api_input *input;
    api_problem     *problem;          /* problem of the request */
    api_pool        *pool;             /* allocates memory that lasts until the end of the request */
    const api_model *model;            /* the model; with "locked" the reduced one */
    api_model       *reduced;          /* the reduced model, a counted reference; NULL: no joint is locked */
    api_model       *controller_model; /* the model of a controller (api/requests/control/controller_model.h), a counted
                                        * reference; NULL: no controller names one */
    const struct api_operation *const *operations; /* all operations that a request may select; ends with NULL */
    /* True: the request is `evaluate`, and its answer is keyed by operation. */
    bool            combined;
    size_t          n_selected;
    api_selection  *selected;               /* [n_selected] operations, in the order of the request */
    const api_node *field[API_FIELD_COUNT]; /* values of the fields; NULL: absent */
    api_set         present;                /* set of the fields that are not absent */
    /* The model (later with its payload), gravity, and where wrenches act. */
    dyn_scene          scene;
    dyn_model         *loaded; /* the model with the payload, owned; NULL: no payload */
    size_t             n_payloads;
    const dyn_payload *payloads;       /* [n_payloads] bodies added to the model for this request */
    const int         *payload_frames; /* [n_payloads] frame of the model that each is fixed to */
    size_t             rows; /* number of rows of every batch; 1 without a batch, or where batches have no row */
    bool empty;   /* true: every batch has no row; fields are checked for one row, and nothing is evaluated */
    bool batched; /* true if at least one field is a batch */
    /* JSON Pointer of the field that set `rows`, for messages; NULL: none. */
    const char        *rows_from;
    size_t             samples;   /* states per row, an additional axis of the answer; 0: each row is one state */
    const int         *order;     /* [nv] from "joints": entry i of a row is coordinate order[i]; NULL: coordinate i */
    const int         *order_q;   /* [nq] entry i of a row of q is entry order_q[i] of the model; NULL: entry i */
    bool               normalise; /* quaternions of any length are normalised */
    bool              *driven;    /* [nv] false for the coordinates listed in "free"; NULL: the request has no "free" */
    size_t             n_higher;  /* vectors of "higher_derivatives" */
    const api_node    *higher;    /* [n_higher] each has the form of a field of the state; NULL: none */
    api_platform      *platform;  /* given instead of q, qd and qdd; NULL: absent */
    api_unit_warnings *warnings;  /* warnings of the answer (unit_warnings.h); NULL: none */
    api_row_scenes    *row_scenes; /* NULL: `scene` is that of all rows; else it has the values of the first row */
} api_query;

/* Returns the number of states: the rows, or the samples of all rows. */
static inline size_t api_states(const api_query *q)
{
    return q->samples > 0 ? q->rows * q->samples : q->rows;
}

/* api_answered_rows and api_answered_states return the numbers of rows and states in the answer. */
static inline size_t api_answered_rows(const api_query *q)
{
    return q->empty ? 0 : q->rows;
}
static inline size_t api_answered_states(const api_query *q)
{
    return q->empty ? 0 : api_states(q);
}

/* Returns the means to run tasks of the request in parallel: helper threads, deadline, memory, and a counter of
 * time. */
static inline api_parallel api_query_parallel(const api_query *q)
{
    return (api_parallel){q->input->worker->helpers, q->input->deadline, q->pool, &q->call->helped};
}

/* --- decoding: each function reads its fields of the query; false with q->problem -----------------------------------
 */

bool api_select_operations(api_query *q, const api_node *request); /* selected_outputs.c: and reads their fields */
bool api_check_guess(api_query *q);         /* guess_fields.c: refuses "guess" for a model without loops */
bool api_decode_joints(api_query *q);       /* state_fields.c: reads the order of the coordinates */
bool api_decode_surroundings(api_query *q); /* fields.c: reads friction and normalise */
bool api_measure_state(api_query *q);       /* state_fields.c: counts the rows of q, qd, ... */
bool api_measure_guess(api_query *q);       /* guess_fields.c: counts the rows of "guess" and "platform" */
bool api_measure_wrenches(api_query *q);    /* wrench_fields.c: counts rows, reads where wrenches act */
bool api_decode_gravity(api_query *q);      /* row_scenes.c: reads one vector or one for each row */
bool api_measure_payload(api_query *q);     /* payload.c: counts the rows of the numbers of payloads */
bool api_decode_payload(api_query *q);      /* payload.c: adds the payload to the model */
