/* task_evaluate.c - evaluates inverse kinematics of several tasks (task_evaluate.h). */
#include "task_evaluate.h"
#include "api/requests/lanes/failed_rows.h"
#include <math.h>
#include <string.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

size_t api_task_spare(const api_model *model, size_t n)
{
    return dyn_task_search_entries(model->nq, model->nv, n, 1) + 2 * model->nq;
}

double api_task_seconds(const api_model *m, const api_pose_request *r)
{
    const double rows = DYN_TASK_ROWS * (double)r->tasks->n, n = (double)m->nv;
    const double iteration = 10e-6 + 60e-9 * n * n + 12e-9 * rows * rows * n;
    return (20 + 2 * (double)r->problem.most_starts) * iteration;
}

/* --- a state ------------------------------------------------------------------------------------------------------ */

/* Fails a state whose tasks were not met. */
static bool fail_tasks(const api_evaluation *e, const api_pose_request *r, size_t state, const dyn_task_found *found,
                       dyn_task_status status)
{
    const api_task_request *tasks = r->tasks;
    size_t                  worst = 0;
    api_problem             problem;
    api_problem_clear(&problem);
    for (size_t i = 0; i < tasks->n && tasks->task[i].priority == 0; i++)
        if (fmax(found->error[i][0], found->error[i][1]) > fmax(found->error[worst][0], found->error[worst][1]))
            worst = i;
    if (status == DYN_TASKS_UNSETTLED)
        api_fail(&problem, API_OUT_OF_REACH, NULL,
                 "the tasks of later priorities did not settle in %d iterations: give a nearer q, or fewer tasks",
                 DYN_TASK_MOST_ITERATIONS);
    else
        api_fail(
            &problem, API_OUT_OF_REACH, NULL,
            "task %zu came no nearer than %.3g m and %.3g rad, from %zu starting position%s: the tasks of priority 0 "
            "are out of reach together, or give a nearer q, more starts, or the priority 1",
            tasks->goal[worst].index, found->error[worst][0], found->error[worst][1], found->starts,
            found->starts == 1 ? "" : "s");
    return api_pose_request_fail(e, r, state, &problem);
}

static bool fail_late(const api_evaluation *e, const api_pose_request *r, size_t state)
{
    api_problem problem;
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    api_problem_clear(&problem);
    api_row_share_problem(e->plan, &problem);
    return api_pose_request_fail(e, r, state, &problem);
}

static void write_one(const api_evaluation *e, const api_selection *selected, size_t output, size_t state, double value)
{
    double *lanes = selected->result[output];
    if (lanes) *api_state_lane(e, lanes, 1, state) = value;
}

static void write_found(const api_evaluation *e, const api_selection *selected, size_t state,
                        const dyn_task_found *found)
{
    const api_pose_request *r = selected->options;
    const size_t            n = r->tasks->n;
    double *const q = selected->result[Q] ? api_state_lane(e, selected->result[Q], e->model->nq, state) : NULL;
    double *const each =
        selected->result[TASK_ERRORS] ? api_state_lane(e, selected->result[TASK_ERRORS], 2 * n, state) : NULL;
    double distance = 0, angle = 0;
    for (size_t i = 0; q && i < e->model->nq; i++)
        q[i * e->lanes] = found->q[i];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; each && k < 2; k++)
            each[(2 * r->tasks->goal[i].index + k) * e->lanes] = found->error[i][k];
        if (r->tasks->task[i].priority > 0) continue;
        distance = fmax(distance, found->error[i][0]);
        angle    = fmax(angle, found->error[i][1]);
    }
    write_one(e, selected, DISTANCE, state, distance);
    write_one(e, selected, ANGLE, state, angle);
    write_one(e, selected, ITERATIONS, state, (double)found->iterations);
    write_one(e, selected, STARTS_NEEDED, state, (double)found->starts);
}

/* Searches the coordinates of a state from q, which becomes the result. *met tells whether the tasks were met. */
static bool solve_state(const api_evaluation *e, const api_selection *selected, size_t state, double *q, bool *met)
{
    const api_pose_request *r     = selected->options;
    const api_row_share     share = r->sequence ? api_row_share_none(e->plan) : api_row_share_take(e->plan, 1);
    const dyn_task_problem  p     = {.robot       = r->problem.robot,
                                     .n           = r->tasks->n,
                                     .task        = r->tasks->task,
                                     .lower       = r->lower,
                                     .upper       = r->upper,
                                     .tolerance   = r->problem.tolerance,
                                     .length      = r->problem.length,
                                     .most_starts = r->problem.most_starts,
                                     .deadline    = api_row_share_for_dynamics(&share)};
    double                  goal[DYN_MOST_TASKS * DYN_TASK_GOAL];
    dyn_task_found          found = {.q = q};
    api_task_goals(e, r->tasks, state, goal);
    const dyn_task_status status = dyn_task_search(&p, e->plan->target, e->workspace, e->spare, goal, &found);
    *met                         = status == DYN_TASKS_MET;
    write_found(e, selected, state, &found);
    if (status == DYN_TASKS_LATE) return fail_late(e, r, state);
    return *met || fail_tasks(e, r, state, &found, status);
}

/* Copies the start of a state. */
static void take_start(const api_evaluation *e, const api_pose_request *r, size_t state, double *q)
{
    double *start = e->plan->state[API_Q];
    for (size_t i = 0; i < e->model->nq; i++)
        q[i] = start ? api_state_lane(e, start, e->model->nq, state)[i * e->lanes] : r->start[i];
}

static double *room_of_q(const api_evaluation *e, const api_pose_request *r)
{
    return e->spare + dyn_task_search_entries(e->model->nq, e->model->nv, r->tasks->n, e->lanes);
}

bool api_task_evaluate(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_pose_request *r     = selected->options;
    const size_t            first = block * e->lanes, left = api_states(e->query) - first;
    double *const           q = room_of_q(e, r);
    bool                    met;
    for (size_t lane = 0; lane < (left < e->lanes ? left : e->lanes); lane++) {
        take_start(e, r, first + lane, q);
        if (!solve_state(e, selected, first + lane, q, &met)) return false;
    }
    return true;
}

bool api_task_follow(const api_evaluation *e, const api_selection *selected)
{
    const api_pose_request *r     = selected->options;
    api_evaluation          again = *e;
    if (!r->sequence) return true;
    again.problem   = e->query->problem;
    again.spare     = e->spares[selected - e->query->selected];
    double *const q = room_of_q(&again, r), *const before = q + e->model->nq;
    bool met;
    take_start(&again, r, 0, q);
    for (size_t state = 0; state < api_states(e->query); state++) {
        memcpy(before, q, e->model->nq * sizeof *q);
        if (!solve_state(&again, selected, state, q, &met)) return false;
        if (!met) memcpy(q, before, e->model->nq * sizeof *q);
    }
    if (e->plan->failed_rows) api_failed_rows_settle(e->plan->failed_rows);
    return true;
}
