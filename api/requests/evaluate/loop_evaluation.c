/* loop_evaluation.c - close the loops of states and along motions: see loop_evaluation.h. */
#include "loop_evaluation.h"
#include "dynamics/loops/loop_kernels.h"
#include "api/robots/model/model_loops.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/fields/operation.h"
#include "api/requests/lanes/platform_lanes.h"
#include "api/requests/fields/loop_state.h"
#include "dynamics/model/coordinates.h"
#include <string.h>

/* --- evaluating -------------------------------------------------------------------------------------------------- */

/* Counts the entries per state of an output in terms of the tree's coordinates, before it is projected to the
 * actuated ones. Derivatives of joint wrenches need four arrays: with respect to q, qd and qdd of the tree, and one
 * more. */
static size_t tree_entries(const api_evaluation *e, const api_selection *selected, size_t output)
{
    const api_output *o       = &selected->operation->outputs[output];
    size_t            entries = 1, nv = e->model->loops->nv;
    if (strncmp(o->name, "d_joint_wrenches", strlen("d_joint_wrenches")) == 0) return 4 * 6 * e->model->n_bodies * nv;
    if (strncmp(o->name, "d_point", strlen("d_point")) == 0) return dyn_loop_frame_entries(nv);
    for (size_t axis = 0; axis < API_MAX_RANK && o->extent[axis] != 0; axis++)
        entries *= o->extent[axis] == API_NV        ? nv
                   : o->extent[axis] == API_TANGENT ? 2 * nv
                                                    : api_extent(e->model, selected, o->extent[axis]);
    return entries;
}

/* Counts the entries per state of all results that one operation needs from the tree's kernels, before they are
 * projected to the actuated coordinates. */
static size_t extra_of(const api_evaluation *e, const api_selection *selected)
{
    const api_model *m   = e->model;
    size_t           sum = 0;
    if (selected->operation->regresses) return m->loops->nv * (10 * m->n_bodies + 3 * m->n_movers);
    size_t contacts = api_selected_extent(selected, API_CONTACTS);
    if (contacts > 0) /* six entries of dtau_dwrench for each contact */
        return (api_selected_extent(selected, API_REQUEST_WRENCHES) + contacts) * m->loops->nv * 6;
    for (size_t i = 0; api_has_output(selected->operation, i); i++)
        if (selected->outputs & API_BIT(i)) sum += tree_entries(e, selected, i);
    return sum;
}

/* Opens a workspace whose searches end with the share `*share`. */
static dyn_loop_workspace *open_workspace(const api_query *q, const dyn_kernels *tree, const api_row_share *share,
                                          size_t n_wrenches, size_t extra)
{
    const api_platform *p        = q->platform;
    const dyn_deadline  deadline = api_row_share_for_dynamics(share);
    dyn_loop_workspace *c        = api_loop_workspace_open(q->pool, q->model, tree, deadline, n_wrenches, extra);
    if (c && p && !dyn_loop_platform_open(api_pool_memory(q->pool), c, &p->frame, p->rows)) return NULL;
    return c;
}

void *api_loop_open_workspace(api_evaluation *e)
{
    size_t extra = 0, own = 0;
    e->share = api_take(e->query->pool, sizeof *e->share);
    if (!e->share) return NULL;
    *e->share = api_row_share_none(e->plan);
    for (size_t i = 0; i < e->query->n_selected; i++) {
        const api_selection *selected = &e->query->selected[i];
        size_t               more     = extra_of(e, selected);
        size_t wrenches = api_selected_extent(selected, API_HELD_FRAMES) + api_selected_extent(selected, API_CONTACTS);
        if (more > extra) extra = more;
        if (wrenches > own) own = wrenches;
    }
    return open_workspace(e->query, e->plan->target, e->share, e->query->scene.n_wrenches + own, extra);
}

/* Fails a state that is a sample of a motion. */
static bool fail_sample(const api_evaluation *e, int field, size_t state, const api_problem *found)
{
    api_problem told;
    api_problem_clear(&told);
    api_fail(&told, found->code, NULL, "at sample %zu %s", state % e->query->samples, found->detail);
    told.fraction = found->fraction;
    return api_fail_found(e, field, state, &told);
}

/* Fails a state if its loops are not closed. The result is that of api_fail_found. */
static bool check_state(const api_evaluation *e, const dyn_loop_workspace *c, size_t block, size_t lane)
{
    size_t      state = block * e->lanes + lane;
    api_problem found;
    api_problem_clear(&found);
    if (api_loop_fail(dyn_loop_failure_of(c, lane), NULL, -1, &found)) return true;
    if (e->query->platform) return api_platform_fail(e, state, &found);
    if (e->query->samples == 0) return api_fail_found(e, API_Q, state, &found);
    return fail_sample(e, e->query->field[API_CONTROL_POINTS] ? API_CONTROL_POINTS : API_Q, state, &found);
}

/* Fails the states of a block whose loops are not closed. */
static bool check_block(const api_evaluation *e, const dyn_loop_workspace *c, size_t block, size_t live)
{
    if (!api_deadline_check(e->query->input->deadline, e->problem))
        return false; /* a search that the deadline cut short is not a problem of the state */
    for (size_t lane = 0; lane < live; lane++)
        if (!check_state(e, c, block, lane)) return false;
    return true;
}

/* Searches for the closed loops of a block, along the path that the request selects (dyn_approach). Returns true if all
 * are closed. */
static bool close_lanes(const api_evaluation *e, size_t block, size_t live)
{
    dyn_loop_workspace *c = e->workspace;
    size_t              n = e->model->loops->n_passive_q;
    const double       *q = api_state_block(e, API_Q, block),
                 *tree    = api_block(e, e->plan->tree_q, e->model->loops->nq, block);
    if (tree) return dyn_loop_restore(c, &e->query->scene, tree, live);
    const double *passive = api_block(e, e->plan->passive, n, block), *guess = api_block(e, e->plan->guess, n, block);
    dyn_approach  from = {.guess = passive ? NULL : guess, .q = passive ? q : NULL, .passive = passive};
    return dyn_loop_close(c, &e->query->scene, q, &from, live);
}

/* Moves a state to the reference, whose loops are closed. */
static void send_home(const api_evaluation *e, size_t block, size_t lane)
{
    const size_t  n = e->model->loops->n_passive_q, nq = e->model->nq;
    double *const q = api_block(e, e->plan->state[API_Q], nq, block), *guess = api_block(e, e->plan->guess, n, block);
    for (size_t i = 0; i < nq; i++)
        q[i * e->lanes + lane] = api_failed_rows_home(e->plan->failed_rows)[i];
    for (size_t i = 0; guess && i < n; i++)
        guess[i * e->lanes + lane] = api_failed_rows_guess(e->plan->failed_rows)[i];
}

/* Fails the states in the set `late`, and moves them, with the lanes that repeat them, to the reference. */
static bool fail_late_lanes(const api_evaluation *e, size_t block, size_t live, unsigned late)
{
    for (size_t lane = 0; lane < e->lanes; lane++) {
        if (!(late >> (lane < live ? lane : live - 1) & 1)) continue;
        if (lane < live && !check_state(e, e->workspace, block, lane)) return false;
        send_home(e, block, lane);
    }
    return true;
}

/* Takes the share of the states of a block. */
static void take_share(const api_evaluation *e, size_t live, bool again)
{
    *e->share = again ? api_row_share_renew(e->plan, live) : api_row_share_take(e->plan, live);
    *e->share = api_row_share_halve(e->share, live);
}

/* Closes the loops of a block. When the block's share of the time ends, the states whose paths are unfinished fail. The
 * others, which may lack their last iterations, are closed again without the failed ones. */
static bool close_block(const api_evaluation *e, size_t block, size_t live)
{
    const unsigned all    = (2u << (live - 1)) - 1;
    unsigned       failed = 0;
    while (!close_lanes(e, block, live)) {
        const unsigned late = e->plan->row_time ? api_loop_late_lanes(e->workspace, live) & ~failed : 0;
        if (late == 0 || (failed | late) == all) return check_block(e, e->workspace, block, live);
        if (!api_deadline_check(e->query->input->deadline, e->problem) || !fail_late_lanes(e, block, live, late))
            return false;
        failed |= late;
        take_share(e, live, true);
    }
    return true;
}

bool api_loop_close_block(const api_evaluation *e, size_t block)
{
    size_t     left = api_states(e->query) - block * e->lanes, live = left < e->lanes ? left : e->lanes;
    const bool reaches = e->query->platform && !e->plan->tree_q;
    take_share(e, live, false);
    if (reaches && !api_platform_reach(e, e->workspace, block, live) && !check_block(e, e->workspace, block, live))
        return false;
    if (reaches)
        take_share(e, live, true); /* the second search begins at the state that the platform's solution has found */
    const bool done = close_block(e, block, live);
    *e->share       = api_row_share_none(e->plan);
    return done;
}

/* --- motions ----------------------------------------------------------------------------------------------------- */

/* Memory of one slot, a thread's: it closes the loops along one motion after the other, one state at a time. */
typedef struct follower {
    dyn_loop_workspace *closed;
    api_row_share       share; /* share of the motion that is followed */
    double             *q, *from, *passive;
} follower;

typedef struct following {
    const api_plan       *plan;
    const api_loop_curve *curve;
    follower             *slot;
} following;

/* The part of a motion between a sample and the one before it. */
typedef struct segment {
    const api_loop_curve *curve;
    size_t                row, sample; /* row and sample at which the segment ends */
} segment;

static void go_along(const void *arg, size_t lane, double s, double *q)
{
    (void)lane; /* the workspace has only one lane */
    const segment *g = arg;
    g->curve->go(g->curve->arg, g->row, g->sample, s, q);
}

/* Writes the passive coordinates of a state to plan->passive. Those of the last state also fill the rest of its
 * block. */
static void put_passive(const api_evaluation *e, size_t state, const double *passive)
{
    size_t n   = e->model->loops->n_passive_q,
           end = state + 1 == api_states(e->query) ? e->plan->blocks * e->lanes : state + 1;
    for (; state < end; state++)
        for (size_t i = 0; i < n; i++)
            api_state_lane(e, e->plan->passive, n, state)[i * e->lanes] = passive[i];
}

static void get_state(const api_evaluation *e, double *lanes, size_t n, size_t state, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = api_state_lane(e, lanes, n, state)[i * e->lanes];
}

/* Fails a motion whose loops cannot be closed on the way to a sample. The result is that of api_fail_found. */
static bool fail_motion(const api_evaluation *e, const dyn_loop_workspace *c, const api_loop_curve *curve, size_t row,
                        size_t sample)
{
    size_t      state = row * e->query->samples + sample;
    api_problem found, told;
    api_problem_clear(&found);
    api_problem_clear(&told);
    if (!api_deadline_check(e->query->input->deadline, e->problem))
        return false; /* a search that the deadline cut short is not a problem of the state */
    api_loop_fail(dyn_loop_failure_of(c, 0), NULL, -1, &found);
    if (found.fraction < 0 || sample == 0) return fail_sample(e, API_CONTROL_POINTS, state, &found);
    double time = curve->time(curve->arg, row, sample, found.fraction);
    api_fail(&told, found.code, NULL, "before sample %zu, at %.9g s, %s", sample, time, found.detail);
    told.time = time;
    return api_fail_found(e, API_CONTROL_POINTS, state, &told);
}

/* True if a sample of the motion has failed. */
static bool has_failed(const api_evaluation *e, size_t row)
{
    bool failed = false;
    for (size_t n = 0; n < e->query->samples; n++)
        failed = failed || api_failed_rows_has(e->plan->failed_rows, row * e->query->samples + n);
    return failed;
}

/* Sets the passive coordinates of a failed motion to the reference position, from sample `first` on. These samples
 * are evaluated, but the answer has null in their place. */
static void put_home(const api_evaluation *e, size_t row, size_t first)
{
    for (size_t n = first; n < e->query->samples; n++)
        put_passive(e, row * e->query->samples + n, api_failed_rows_guess(e->plan->failed_rows));
}

/* Finds the passive coordinates of all samples of a motion: of the first sample like those of a single state, then
 * by following the motion from each sample to the next. */
static bool follow(void *arg, size_t slot, size_t row, api_problem *problem)
{
    const following    *f = arg;
    api_evaluation      e = api_evaluation_of(f->plan);
    const api_plan     *p = f->plan;
    const dyn_loops    *l = e.model->loops;
    dyn_loop_workspace *c = f->slot[slot].closed;
    double             *q = f->slot[slot].q, *from = f->slot[slot].from, *passive = f->slot[slot].passive;
    size_t              samples = p->query->samples;
    e.problem                   = problem;
    f->slot[slot].share         = api_row_share_take(p, 1);
    if (has_failed(&e, row)) {
        put_home(&e, row, 0);
        return true;
    }
    if (p->guess) get_state(&e, p->guess, l->n_passive_q, row * samples, passive);
    for (size_t n = 0; n < samples; n++) {
        segment      part  = {f->curve, row, n};
        dyn_approach first = {.guess = p->guess ? passive : NULL};
        dyn_approach next  = {.q = from, .passive = passive, .curve = go_along, .arg = &part};
        get_state(&e, p->state[API_Q], e.model->nq, row * samples + n, q);
        if (n > 0) next.length[0] = f->curve->length(f->curve->arg, row, n);
        if (!dyn_loop_close(c, &p->query->scene, q, n == 0 ? &first : &next, 1)) {
            if (!fail_motion(&e, c, f->curve, row, n)) return false;
            put_home(&e, row, n);
            return true;
        }
        for (size_t i = 0; i < l->n_passive_q; i++)
            passive[i] = dyn_loop_tree_q(c)[l->passive_q[i]];
        memcpy(from, q, e.model->nq * sizeof *q);
        put_passive(&e, row * samples + n, passive);
    }
    return true;
}

/* Allocates the memory of one slot. False with a problem. */
static bool open_follower(const api_plan *plan, follower *slot)
{
    const api_query *q  = plan->query;
    const size_t     nq = q->model->nq;
    slot->share         = api_row_share_none(plan); /* the deadline is checked already when the workspace is opened */
    slot->closed        = open_workspace(q, q->call->api->alone, &slot->share, q->scene.n_wrenches, 0);
    slot->q             = api_take(q->pool, nq * sizeof *slot->q);
    slot->from          = api_take(q->pool, nq * sizeof *slot->from);
    slot->passive       = api_take(q->pool, q->model->loops->n_passive_q * sizeof *slot->passive);
    return slot->closed && slot->q && slot->from && slot->passive;
}

bool api_loop_follow(api_plan *plan, const api_loop_curve *curve)
{
    const api_query *q = plan->query;
    if (!q->model->loops) return true;
    api_parallel parallel = api_query_parallel(q);
    size_t       slots    = api_parallel_slots(&parallel, q->rows);
    following    f        = {plan, curve, api_take(q->pool, slots * sizeof *f.slot)};
    plan->passive         = api_take_lanes(plan, q->model->loops->n_passive_q);
    if (!f.slot || !plan->passive) return false;
    for (size_t i = 0; i < slots; i++)
        if (!open_follower(plan, &f.slot[i])) return false;
    api_row_time_begin(plan, q->rows);
    const bool followed = api_run_parallel(&parallel, slots, q->rows, follow, &f);
    api_row_time_end(plan);
    return followed;
}

/* --- the loop state ------------------------------------------------------------------------------------------------
 */

void api_loop_state_put(const api_evaluation *e, const dyn_scene *scene, const dyn_inverse_dynamics *motion,
                        double *lanes, size_t block)
{
    dyn_loop_workspace  *c = e->workspace;
    api_loop_state_part  parts[API_LOOP_STATE_PARTS];
    dyn_inverse_dynamics io = *motion;
    const double        *from[API_LOOP_STATE_PARTS];
    io.tau = io.joint_wrenches = NULL;
    e->kernels->inverse_dynamics(scene, e->workspace, &io, 1);
    dyn_loop_tree_state(c, from);
    api_loop_state_parts(e->model, parts);
    double *q = lanes + parts[0].entries * block * e->lanes;
    for (size_t i = 0; i < API_LOOP_STATE_PARTS; lanes += parts[i++].entries * e->plan->blocks * e->lanes)
        memcpy(lanes + parts[i].entries * block * e->lanes, from[i], parts[i].entries * e->lanes * sizeof *lanes);
    dyn_coordinates_make_quaternions_positive(e->model->dyn, q, e->lanes);
}
