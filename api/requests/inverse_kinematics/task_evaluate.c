/* task_evaluate.c - evaluates inverse kinematics of several tasks (task_evaluate.h). */
#include "task_evaluate.h"
#include "api/requests/lanes/failed_rows.h"
#include "dynamics/math/gather.h"
#include <math.h>
#include <string.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Returns the task problem that all states have in common, without a deadline. */
static dyn_task_problem problem_of(const api_model *m, const api_pose_request *r)
{
    return (dyn_task_problem){.robot       = api_model_mechanism(m),
                              .n           = r->tasks->n,
                              .task        = r->tasks->task,
                              .lower       = r->lower,
                              .upper       = r->upper,
                              .tolerance   = r->problem.tolerance,
                              .length      = r->problem.length,
                              .most_starts = r->problem.most_starts};
}

/* Returns the numbers of two positions of the tree and a guess, rounded up to 8. These are the first in the scratch
 * memory, at offsets that do not depend on the number of lanes. */
static size_t entries_of_positions(const api_model *m)
{
    return (2 * (size_t)m->dyn->nq + (m->loops ? m->loops->n_passive_q : 0) + 7) / 8 * 8;
}

size_t api_task_spare(const api_model *model, const api_pose_request *r)
{
    const dyn_task_problem p = problem_of(model, r);
    return dyn_task_search_entries(&p, 1) + entries_of_positions(model);
}

double api_task_seconds(const api_model *m, const api_pose_request *r)
{
    const double rows = DYN_TASK_ROWS * (double)r->tasks->n, n = (double)m->dyn->nv;
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
    if (status == DYN_TASKS_APART)
        api_fail(&problem, API_OUT_OF_REACH, NULL,
                 "the tasks are met only in another assembly of the loops than that which coordinates of this request "
                 "have: give a guess of the passive coordinates, a nearer q, or more starts");
    else if (status == DYN_TASKS_UNSETTLED)
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
        q[i * e->lanes] = found->q[e->model->loops ? (size_t)e->model->loops->active_q[i] : i];
    for (size_t i = 0; r->tree_q && i < (size_t)e->model->dyn->nq; i++)
        api_state_lane(e, r->tree_q, (size_t)e->model->dyn->nq, state)[i * e->lanes] = found->q[i];
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

/* The scratch of a state: positions of the tree, the guess of passive coordinates, and memory of the search. */
typedef struct task_room {
    double *q, *before, *guess, *search;
} task_room;

static task_room lay_out_search(const api_evaluation *e)
{
    task_room r = {.q = e->spare};
    r.before    = r.q + e->model->dyn->nq;
    r.guess     = r.before + e->model->dyn->nq;
    r.search    = r.q + e->lanes * entries_of_positions(e->model);
    return r;
}

/* Copies the guess of a state. Returns NULL if the request has none. */
static const double *take_guess(const api_evaluation *e, size_t state, double *guess)
{
    const size_t n = e->model->loops ? e->model->loops->n_passive_q : 0;
    if (!e->plan->guess) return NULL;
    dyn_gather(api_state_lane(e, e->plan->guess, n, state), n, e->lanes, 0, guess);
    return guess;
}

/* Searches the coordinates of a state from room->q, which becomes the result. *met tells whether the tasks were met. */
static bool solve_state(const api_evaluation *e, const api_selection *selected, size_t state, const task_room *room,
                        bool *met)
{
    const api_pose_request *r     = selected->options;
    const api_row_share     share = r->sequence ? api_row_share_none(e->plan) : api_row_share_take(e->plan, 1);
    const bool              loops = e->model->loops != NULL;
    dyn_task_problem        p     = problem_of(e->model, r);
    double                  goal[DYN_MOST_TASKS * DYN_TASK_GOAL];
    dyn_task_found          found     = {.q = room->q};
    void *const             workspace = loops ? dyn_loop_tree_workspace(e->workspace) : e->workspace;
    p.deadline                        = api_row_share_for_dynamics(&share);
    p.closed                          = loops ? e->workspace : NULL;
    p.guess                           = take_guess(e, state, room->guess);
    if (loops) *e->share = share; /* the loops are closed within the share of the row */
    api_task_goals(e, r->tasks, state, goal);
    const dyn_task_status status = dyn_task_search(&p, e->plan->target, workspace, room->search, goal, &found);
    *met                         = status == DYN_TASKS_MET;
    write_found(e, selected, state, &found);
    if (loops) *e->share = api_row_share_none(e->plan);
    if (status == DYN_TASKS_LATE) return fail_late(e, r, state);
    return *met || fail_tasks(e, r, state, &found, status);
}

/* Copies the start of a state. For a model with loops it is the position at which the loops were closed. */
static void take_start(const api_evaluation *e, const api_pose_request *r, size_t state, double *q)
{
    double *const start = e->plan->state[API_Q];
    const size_t  nq    = (size_t)e->model->dyn->nq;
    if (e->model->loops)
        dyn_gather(api_state_lane(e, r->closed, nq, state), nq, e->lanes, 0, q);
    else if (start)
        dyn_gather(api_state_lane(e, start, nq, state), nq, e->lanes, 0, q);
    else
        memcpy(q, r->start, nq * sizeof *q);
}

/* Copies the positions of a block with closed loops, because the searches of its states use the same workspace. */
static void store_closed_starts(const api_evaluation *e, const api_pose_request *r, size_t block)
{
    const size_t nq = (size_t)e->model->dyn->nq;
    if (e->model->loops)
        memcpy(api_block(e, r->closed, nq, block), dyn_loop_tree_q(e->workspace), nq * e->lanes * sizeof(double));
}

bool api_task_evaluate(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_pose_request *r     = selected->options;
    const size_t            first = block * e->lanes, left = api_states(e->query) - first;
    const task_room         room = lay_out_search(e);
    bool                    met;
    store_closed_starts(e, r, block);
    for (size_t lane = 0; !r->sequence && lane < (left < e->lanes ? left : e->lanes); lane++) {
        if (e->model->loops && api_failed_rows_has(e->plan->failed_rows, first + lane)) continue;
        take_start(e, r, first + lane, room.q);
        if (!solve_state(e, selected, first + lane, &room, &met)) return false;
    }
    return true;
}

bool api_task_follow(const api_evaluation *e, const api_selection *selected)
{
    const api_pose_request *r     = selected->options;
    const size_t            bytes = (size_t)e->model->dyn->nq * sizeof(double);
    api_evaluation          again = *e;
    bool                    met;
    if (!r->sequence) return true;
    again.problem        = e->query->problem;
    again.spare          = e->spares[selected - e->query->selected];
    const task_room room = lay_out_search(&again);
    take_start(&again, r, 0, room.q);
    for (size_t state = 0; state < api_states(e->query); state++) {
        memcpy(room.before, room.q, bytes);
        if (!solve_state(&again, selected, state, &room, &met)) return false;
        if (!met) memcpy(room.q, room.before, bytes);
    }
    if (e->plan->failed_rows) api_failed_rows_settle(e->plan->failed_rows);
    return true;
}
