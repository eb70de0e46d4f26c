/* rollout_loops.c - closes the loops of rollouts from node to node (rollout_loops.h). */
#include "rollout_loops.h"
#include "api/robots/model/model_loops.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

bool api_rollout_loops_open(api_plan *plan, const dyn_kernels *kernels, api_rollout_loops *loops)
{
    const api_query *q = plan->query;
    const dyn_loops *l = q->model->loops;
    const size_t     W = (size_t)kernels->lanes;
    *loops             = (api_rollout_loops){.plan = plan, .W = W};
    loops->share       = api_row_share_none(plan);
    loops->closed      = api_loop_workspace_open(q->pool, q->model, kernels, api_row_share_for_dynamics(&loops->share),
                                                 q->scene.n_wrenches, 0);
    loops->guess       = api_take(q->pool, l->n_passive_q * W * sizeof *loops->guess);
    loops->tree_q      = api_take(q->pool, l->nq * W * sizeof *loops->tree_q);
    plan->tree_q       = api_take_lanes(plan, l->nq);
    return loops->closed && loops->guess && loops->tree_q && plan->tree_q;
}

void api_rollout_loops_start(api_rollout_loops *loops, size_t first)
{
    const size_t left = loops->plan->query->rows - first;
    loops->first      = first;
    loops->live       = left < loops->W ? left : loops->W;
    loops->share      = api_row_share_take(loops->plan, loops->live);
    loops->share      = api_row_share_halve(&loops->share, loops->live);
    memset(loops->lost, 0, sizeof loops->lost);
    for (size_t lane = 0; lane < loops->W; lane++) {
        api_problem_clear(&loops->problem[lane]);
        loops->failures.lane[lane].status = DYN_LOOPS_CLOSED;
    }
}

/* --- a node ------------------------------------------------------------------------------------------------------- */

/* True if a row has no further nodes: its last step failed, or left the range of the kernels. The evaluation of that
 * step reports the problem. */
static bool is_out_of_range(const api_rollout_loops *loops, const double *q, const double *qd, size_t lane)
{
    const api_model *m    = loops->plan->query->model;
    bool             good = loops->failures.lane[lane].status == DYN_LOOPS_CLOSED;
    for (size_t i = 0; i < m->nq; i++)
        good = good && isfinite(q[i * loops->W + lane]);
    for (size_t i = 0; i < m->nv; i++)
        good = good && isfinite(qd[i * loops->W + lane]);
    return !good || api_find_angle_beyond_limit(m, q + lane, loops->W);
}

/* Sets a lost row to the model's reference, at rest. */
static void put_reference(api_rollout_loops *loops, double *q, double *qd, size_t lane)
{
    const api_model *m = loops->plan->query->model;
    const dyn_loops *l = m->loops;
    for (size_t i = 0; i < m->nq; i++)
        q[i * loops->W + lane] = l->reference[l->active_q[i]];
    for (size_t i = 0; i < m->nv; i++)
        qd[i * loops->W + lane] = 0;
    for (size_t i = 0; i < l->n_passive_q; i++)
        loops->guess[i * loops->W + lane] = l->reference[l->passive_q[i]];
}

/* Makes the passive coordinates of the present node the guess of the next one, as if a client had sent them back:
 * quaternions of an answer have w >= 0, and those of a request are normalized. */
static void set_guess(api_rollout_loops *loops)
{
    const api_model *m = loops->plan->query->model;
    const dyn_loops *l = m->loops;
    const size_t     W = loops->W;
    double          *q = loops->tree_q, norm;
    dyn_coordinates_make_quaternions_positive(m->dyn, q, W);
    for (size_t i = 0; i < m->dyn->n_bodies; i++) {
        const dyn_body *body   = &m->dyn->body[i];
        const int       offset = dyn_quaternion_offset(body);
        for (size_t lane = 0; offset >= 0 && api_first_position(m, body) < 0 && lane < W; lane++)
            dyn_quaternion_normalise(&q[(size_t)(body->joint.q + offset) * W + lane], W, &norm);
    }
    for (size_t i = 0; i < l->n_passive_q; i++)
        memcpy(loops->guess + i * W, q + (size_t)l->passive_q[i] * W, W * sizeof *q);
}

/* Closes the loops of all rows at q, from the guess or, at node 0 of a request without one, from the reference. */
static bool close_all(api_rollout_loops *loops, size_t n, const double *q)
{
    const api_plan    *plan  = loops->plan;
    const dyn_approach guess = {.guess = loops->guess};
    return dyn_loop_close(loops->closed, &plan->query->scene, q, n > 0 || plan->guess ? &guess : NULL, loops->live);
}

/* Moves the lost rows (rollout_loops.h), and the lanes that repeat a lost row, to the reference. */
static void put_lost(api_rollout_loops *loops, double *q, double *qd)
{
    for (size_t lane = 0; lane < loops->W; lane++) {
        if (lane >= loops->live) loops->lost[lane] = loops->lost[loops->live - 1];
        if (loops->lost[lane]) put_reference(loops, q, qd, lane);
    }
}

/* Records the rows whose loops are not closed at node n. If the common share of the time has ended, rows whose loops
 * are closed go on without the others. */
static void note_open_rows(api_rollout_loops *loops, size_t n)
{
    const unsigned late = api_loop_late_lanes(loops->closed, loops->live);
    for (size_t lane = 0; lane < loops->live; lane++) {
        const bool stopped = dyn_loop_status_of(loops->closed, lane) == DYN_LOOPS_STOPPED;
        if (stopped && late != 0 && !(late >> lane & 1)) continue;
        if (api_loop_fail(dyn_loop_failure_of(loops->closed, lane), NULL, -1, &loops->problem[lane])) continue;
        loops->lost[lane] = true;
        loops->node[lane] = n;
    }
}

bool api_rollout_loops_close(api_rollout_loops *loops, size_t n, double *q, double *qd)
{
    const api_query *query = loops->plan->query;
    for (size_t lane = 0; lane < loops->live; lane++)
        loops->lost[lane] = loops->lost[lane] || is_out_of_range(loops, q, qd, lane);
    put_lost(loops, q, qd);
    bool closed = close_all(loops, n, q);
    if (!api_deadline_check(query->input->deadline, query->problem))
        return false; /* a search that the deadline cut short is not a problem of the row */
    note_open_rows(loops, n);
    for (size_t again = 0; !closed && again < loops->live; again++) {
        loops->share = api_row_share_renew(loops->plan, loops->live);
        loops->share = api_row_share_halve(&loops->share, loops->live);
        put_lost(loops, q, qd);
        closed = close_all(loops, n, q);
        if (!api_deadline_check(query->input->deadline, query->problem)) return false;
        note_open_rows(loops, n);
    }
    const size_t bytes = query->model->loops->nq * loops->W * sizeof *loops->tree_q;
    memcpy(loops->tree_q, dyn_loop_tree_q(loops->closed), bytes);
    set_guess(loops);
    memcpy(loops->tree_q, dyn_loop_tree_q(loops->closed), bytes);
    return true;
}

/* --- problems ----------------------------------------------------------------------------------------------------- */

bool api_rollout_loops_check(const api_rollout_loops *loops)
{
    const api_evaluation e = api_evaluation_of(loops->plan);
    for (size_t lane = 0; lane < loops->live; lane++) {
        const api_problem *found = &loops->problem[lane];
        const size_t       node  = loops->node[lane];
        api_problem        told;
        if (found->code == API_NO_PROBLEM) continue;
        api_problem_clear(&told);
        api_fail(&told, found->code, NULL, "step %zu: %s", node, found->detail);
        told.fraction = found->fraction;
        if (!api_fail_found(&e, API_Q, (loops->first + lane) * e.query->samples + node, &told)) return false;
    }
    return true;
}
