/* task_evaluate.h - evaluate inverse kinematics of several tasks (dynamics/inverse_kinematics_tasks/task_search.h). */
#pragma once
#include "pose_request.h"

/* Scratch numbers of a state. */
size_t api_task_spare(const api_model *model, const api_pose_request *r);

/* Expected seconds of the search of a state. */
double api_task_seconds(const api_model *model, const api_pose_request *r);

/* Evaluates a block of states, one after the other. False with e->problem. */
bool api_task_evaluate(const api_evaluation *e, const api_selection *selected, size_t block);

/* Evaluates the rows of a sequence, each from the result of the row before; of other requests nothing. A row that fails
 * leaves the start as it is. False with the query's problem. */
bool api_task_follow(const api_evaluation *e, const api_selection *selected);
