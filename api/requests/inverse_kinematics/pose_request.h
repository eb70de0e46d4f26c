/* pose_request.h - read the fields of inverse-kinematics: frame, position, orientation or direction, velocity and
 * acceleration of the frame, and options of the search. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/robots/model/limits.h"
#include "dynamics/inverse_kinematics/pose_solver.h"
#include "task_request.h"

/* The largest number of starting positions of a search, and the number without "starts". */
enum { API_POSE_MOST_STARTS = 1000, API_POSE_USUAL_STARTS = 10 };

/* The outputs. */
enum { Q, QD, QDD, DISTANCE, ANGLE, ITERATIONS, STARTS_NEEDED, AT_LIMITS, TASK_ERRORS };

typedef enum api_pose_part {
    API_POSE_POSITION,
    API_POSE_ORIENTATION,
    API_POSE_DIRECTION,
    API_POSE_VELOCITY,
    API_POSE_ACCELERATION,
    API_POSE_PARTS
} api_pose_part;

/* The decoded fields; memory of the request's pool. */
typedef struct api_pose_request {
    dyn_pose_problem  problem;
    const api_node   *given[API_POSE_PARTS];   /* NULL: absent */
    size_t            entries[API_POSE_PARTS]; /* numbers in a state */
    double           *lanes[API_POSE_PARTS];   /* NULL: absent */
    api_limit_list    limits;                  /* limits of positions that the search keeps */
    api_task_request *tasks;                   /* NULL: the goal of one frame */
    bool              sequence;                /* each row of tasks begins at the result of the row before */
    double           *closed; /* lanes of the tree's nq: starts with closed loops; NULL: a model without loops */
    double
        *tree_q;   /* lanes of the tree's nq: results of tasks of a model with loops, for at_limits; NULL: not needed */
    double *start; /* [tree nq] start of states without q, and the model's bounds below */
    double *lower, *upper;
} api_pose_request;

/* Reads the options. NULL with a problem. */
api_pose_request *api_pose_request_read(api_query *q, const api_node *options, const api_place *up);

/* For vectors: checks quaternions, and normalises directions. */
bool api_check_orientation(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                           const api_place *row);
bool api_check_direction(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                         const api_place *row);

/* Counts the numbers of a state that api_pose_request_fill takes lanes for. */
size_t api_pose_request_entries(const api_pose_request *r);

/* Reads the vectors into lanes. False with a problem. */
bool api_pose_request_fill(api_plan *plan, api_pose_request *r);

/* Fails a state, with a pointer to its row of the first vector that is a batch. Results are those of api_fail_found. */
bool api_pose_request_fail(const api_evaluation *e, const api_pose_request *r, size_t state, const api_problem *found)
    __attribute__((cold));
