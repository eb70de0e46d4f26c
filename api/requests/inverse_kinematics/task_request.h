/* task_request.h - read the field "tasks" of inverse kinematics and of its differential form: goals of several frames
 * and of the centre of mass, with weights and priorities.
 *
 *     {"frame", "position"?, "orientation"? | "direction"? with "axis"?, "weight"?, "priority"?}
 *     {"com", "weight"?, "priority"?}
 *
 * The goals of the differential form are velocities: "velocity" of a frame, or "com_velocity". */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/inverse_kinematics_tasks/task_search.h"

/* The most velocities of a model that takes tasks: a step takes time with their third power. */
enum { API_TASK_MOST_VELOCITIES = 128 };

/* The vectors of a goal. A velocity has 3 or 6 numbers: those of an angular velocity alone are at DYN_TASK_GOAL 3. */
typedef struct api_task_goal {
    const api_node *given[2]; /* position or velocity; orientation or direction; NULL: absent */
    size_t          entries[2];
    double         *lanes[2];
    api_place       at, where[2]; /* places of the task and of its vectors */
    size_t          index;        /* index of the task in the request */
} api_task_goal;

typedef struct api_task_request {
    size_t          n;
    dyn_frame_task *task; /* [n] in the order of priorities; equal ones in the order of the request */
    api_task_goal  *goal; /* [n] goals, in the order of `task` */
    api_place       list; /* place of the field */
    bool            velocities;
} api_task_request;

/* Reads the list. `velocities`: of the differential form. NULL with a problem. */
api_task_request *api_task_request_read(api_query *q, const api_node *list, const api_place *up, bool velocities);

/* Return the number of entries per state for which api_task_request_fill reserves lanes; reserve and fill these lanes.
 * api_task_request_fill returns false with a problem. */
size_t api_task_request_entries(const api_task_request *r);
bool   api_task_request_fill(api_plan *plan, api_task_request *r);

/* Gathers the goals of a state: DYN_TASK_GOAL numbers for each task. */
void api_task_goals(const api_evaluation *e, const api_task_request *r, size_t state, double *goal);

/* Fails a state, with a pointer to its row of the first vector that is a batch. Results are those of api_fail_found. */
bool api_task_fail(const api_evaluation *e, const api_task_request *r, size_t state, const api_problem *found)
    __attribute__((cold));
