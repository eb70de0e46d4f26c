/* loop_evaluation.c - see loop_evaluation.h. */
#include "loop_evaluation.h"
#include "api/loops/loop_kernels.h"
#include "api/lanes/batch.h"
#include "api/lanes/failed_rows.h"
#include "api/request/operation.h"
#include "api/work/parallel.h"
#include "api/request/platform.h"
#include <string.h>

/* --- what is for whom -------------------------------------------------------------------------------------------- */

/* A tree knows nothing of loops, a model with loops not all that trees do. */
bool api_loop_takes_output(const api_evaluation *e, const api_operation *operation, size_t output, const api_place *at)
{
    const api_output *o = &operation->outputs[output];
    if (!e->model->loops && o->extent[0] == API_LOOP_STATE)
        return api_fail_at(e, at, API_BAD_VALUE,
                           "full is for models with loops: the coordinates of %s are all there is", e->model->name);
    return !e->model->loops || !(operation->tree_outputs & API_BIT(output)) ||
           api_fail_at(e, at, API_NOT_FOR_LOOPS, "the output %s is not for models with loops, which %s has", o->name,
                       e->model->name);
}

bool api_loop_check_request(api_evaluation *e)
{
    if (!e->model->loops)
        return !e->given[API_GUESS] || api_fail(e->problem, API_BAD_VALUE, "/guess",
                                                "guess is for models with loops; %s has none", e->model->name);
    for (size_t i = 0; i < e->n_selected; i++)
        e->selected[i].one_by_one = true;
    return true;
}

const dyn_kernels *api_loop_kernels_of(api_evaluation *e)
{
    if (!e->model->loops) return e->target;
    dyn_kernels *table = api_take(e->pool, sizeof *table);
    if (table) *table = api_loop_kernels(e->target);
    return table;
}

/* --- evaluating -------------------------------------------------------------------------------------------------- */

/* Entries of an output before it is projected. Derivatives of joint wrenches come from those by q, qd and qdd of the
 * tree, and one more. */
static size_t tree_entries(const api_evaluation *e, const api_selection *selected, size_t output)
{
    const api_output *o       = &selected->operation->outputs[output];
    size_t            entries = 1, nv = e->model->loops->nv;
    if (strncmp(o->name, "d_joint_wrenches", strlen("d_joint_wrenches")) == 0) return 4 * 6 * e->model->n_bodies * nv;
    for (size_t axis = 0; axis < API_MAX_RANK && o->extent[axis] != 0; axis++)
        entries *= o->extent[axis] == API_NV ? nv : api_extent(e->model, selected, o->extent[axis]);
    return entries;
}

/* What the tree's kernels write before it is projected. */
static size_t extra_of(const api_evaluation *e, const api_selection *selected)
{
    const api_model *m   = e->model;
    size_t           sum = 0;
    if (selected->operation->regresses) return m->loops->nv * (10 * m->n_bodies + 3 * m->n_movers);
    size_t contacts = api_selected_extent(selected, API_CONTACTS);
    if (contacts > 0) /* dtau_dwrench */
        return (api_selected_extent(selected, API_REQUEST_WRENCHES) + contacts) * m->loops->nv * 6;
    for (size_t i = 0; api_has_output(selected->operation, i); i++)
        if (selected->outputs & API_BIT(i)) sum += tree_entries(e, selected, i);
    return sum;
}

static api_loop_workspace *open_workspace(api_evaluation *e, const dyn_kernels *tree, size_t n_wrenches, size_t extra)
{
    api_loop_workspace *c = api_loop_workspace_open(e->pool, e->model, tree, e->input->deadline, n_wrenches, extra);
    if (c && e->platform && !api_loop_platform_open(e->pool, c, &e->platform->frame, e->platform->rows)) return NULL;
    return c;
}

void *api_loop_open_workspace(api_evaluation *e)
{
    size_t extra = 0, own = 0;
    for (size_t i = 0; i < e->n_selected; i++) {
        const api_selection *selected = &e->selected[i];
        size_t               more     = extra_of(e, selected);
        size_t wrenches = api_selected_extent(selected, API_HELD_FRAMES) + api_selected_extent(selected, API_CONTACTS);
        if (more > extra) extra = more;
        if (wrenches > own) own = wrenches;
    }
    return open_workspace(e, e->target, e->scene.n_wrenches + own, extra);
}

/* Fails a state that is a sample of a motion. */
static bool fail_sample(const api_evaluation *e, int field, size_t state, const api_problem *found)
{
    api_problem told;
    api_problem_clear(&told);
    api_fail(&told, found->code, NULL, "at sample %zu %s", state % e->samples, found->detail);
    told.fraction = found->fraction;
    return api_fail_found(e, field, state, &told);
}

/* Fails a state whose loops are not closed (api_fail_found). */
static bool check_state(const api_evaluation *e, const api_loop_workspace *c, size_t block, size_t lane)
{
    size_t      state = block * e->lanes + lane;
    api_problem found;
    api_problem_clear(&found);
    if (api_loop_fail(c, lane, NULL, -1, &found)) return true;
    if (e->platform) return api_platform_fail(e, state, &found);
    if (e->samples == 0) return api_fail_found(e, API_Q, state, &found);
    return fail_sample(e, e->given[API_CONTROL_POINTS] ? API_CONTROL_POINTS : API_Q, state, &found);
}

/* Fails the states of a block whose loops are not closed. */
static bool check_block(const api_evaluation *e, const api_loop_workspace *c, size_t block, size_t live)
{
    if (!api_deadline_check(e->input->deadline, e->problem)) return false; /* the search was given up */
    for (size_t lane = 0; lane < live; lane++)
        if (!check_state(e, c, block, lane)) return false;
    return true;
}

bool api_loop_close_block(const api_evaluation *e, size_t block)
{
    api_loop_workspace *c = e->workspace;
    size_t              n = e->model->loops->n_passive_q, left = api_states(e) - block * e->lanes;
    size_t              live    = left < e->lanes ? left : e->lanes;
    const double       *q       = api_state_block(e, API_Q, block);
    const double       *passive = api_block(e, e->passive, n, block), *guess = api_block(e, e->guess, n, block);
    api_approach        from = {.guess = passive ? NULL : guess, .q = passive ? q : NULL, .passive = passive};
    if (e->platform && !api_platform_reach(e, c, block, live) && !check_block(e, c, block, live)) return false;
    return api_loop_close(c, &e->scene, q, &from, live) || check_block(e, c, block, live);
}

/* --- motions ----------------------------------------------------------------------------------------------------- */

/* One motion after the other, in one lane. */
typedef struct following {
    api_evaluation       *e;
    const api_loop_curve *curve;
    struct {
        api_loop_workspace *closed;
        double             *q, *from, *passive;
    } * seat;
} following;

/* From one sample to the next. */
typedef struct segment {
    const api_loop_curve *curve;
    size_t                row, sample; /* the one it ends at */
} segment;

static void go_along(const void *arg, size_t lane, double s, double *q)
{
    (void)lane; /* there is one */
    const segment *g = arg;
    g->curve->go(g->curve->arg, g->row, g->sample, s, q);
}

/* The last state fills its block. */
static void put_passive(const api_evaluation *e, size_t state, const double *passive)
{
    size_t n = e->model->loops->n_passive_q, end = state + 1 == api_states(e) ? e->blocks * e->lanes : state + 1;
    for (; state < end; state++)
        for (size_t i = 0; i < n; i++)
            api_state_lane(e, e->passive, n, state)[i * e->lanes] = passive[i];
}

static void get_state(const api_evaluation *e, double *lanes, size_t n, size_t state, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = api_state_lane(e, lanes, n, state)[i * e->lanes];
}

/* Fails a motion that cannot be followed to a sample (api_fail_found). */
static bool fail_motion(const api_evaluation *e, const api_loop_workspace *c, const api_loop_curve *curve, size_t row,
                        size_t sample)
{
    size_t      state = row * e->samples + sample;
    api_problem found, told;
    api_problem_clear(&found);
    api_problem_clear(&told);
    if (!api_deadline_check(e->input->deadline, e->problem)) return false; /* it was given up */
    api_loop_fail(c, 0, NULL, -1, &found);
    if (found.fraction < 0 || sample == 0) return fail_sample(e, API_CONTROL_POINTS, state, &found);
    double time = curve->time(curve->arg, row, sample, found.fraction);
    api_fail(&told, found.code, NULL, "before sample %zu, at %.9g s, %s", sample, time, found.detail);
    told.time = time;
    return api_fail_found(e, API_CONTROL_POINTS, state, &told);
}

/* Whether a sample of the motion cannot be evaluated. */
static bool has_failed(const api_evaluation *e, size_t row)
{
    bool failed = false;
    for (size_t n = 0; n < e->samples; n++)
        failed = failed || api_failed_rows_has(e, row * e->samples + n);
    return failed;
}

/* Puts the samples from `first` on of a failed motion at the reference. They are evaluated, but not shown. */
static void put_home(const api_evaluation *e, size_t row, size_t first)
{
    for (size_t n = first; n < e->samples; n++)
        put_passive(e, row * e->samples + n, api_failed_rows_guess(e));
}

/* The first sample is a row; the motion goes on from each to the next. */
static bool follow(void *arg, size_t place, size_t row, api_problem *problem)
{
    const following    *f   = arg;
    api_evaluation      one = *f->e;
    const api_loops    *l   = one.model->loops;
    api_loop_workspace *c   = f->seat[place].closed;
    double             *q = f->seat[place].q, *from = f->seat[place].from, *passive = f->seat[place].passive;
    one.problem = problem;
    if (has_failed(&one, row)) {
        put_home(&one, row, 0);
        return true;
    }
    if (one.guess) get_state(&one, one.guess, l->n_passive_q, row * one.samples, passive);
    for (size_t n = 0; n < one.samples; n++) {
        segment      part  = {f->curve, row, n};
        api_approach first = {.guess = one.guess ? passive : NULL};
        api_approach next  = {.q = from, .passive = passive, .curve = go_along, .arg = &part};
        get_state(&one, one.state[API_Q], one.model->nq, row * one.samples + n, q);
        if (n > 0) next.length[0] = f->curve->length(f->curve->arg, row, n);
        if (!api_loop_close(c, &one.scene, q, n == 0 ? &first : &next, 1)) {
            if (!fail_motion(&one, c, f->curve, row, n)) return false;
            put_home(&one, row, n);
            return true;
        }
        for (size_t i = 0; i < l->n_passive_q; i++)
            passive[i] = api_loop_tree_q(c)[l->passive_q[i]];
        memcpy(from, q, one.model->nq * sizeof *q);
        put_passive(&one, row * one.samples + n, passive);
    }
    return true;
}

bool api_loop_follow(api_evaluation *e, const api_loop_curve *curve)
{
    if (!e->model->loops) return true;
    size_t    seats = api_parallel_slots(e, e->rows), nq = e->model->nq;
    following f = {e, curve, api_take(e->pool, seats * sizeof *f.seat)};
    e->passive  = api_take_lanes(e, e->model->loops->n_passive_q);
    if (!f.seat || !e->passive) return false;
    for (size_t i = 0; i < seats; i++) {
        f.seat[i].closed  = open_workspace(e, e->call->api->alone, e->scene.n_wrenches, 0);
        f.seat[i].q       = api_take(e->pool, nq * sizeof *f.seat[i].q);
        f.seat[i].from    = api_take(e->pool, nq * sizeof *f.seat[i].from);
        f.seat[i].passive = api_take(e->pool, e->model->loops->n_passive_q * sizeof *f.seat[i].passive);
        if (!f.seat[i].closed || !f.seat[i].q || !f.seat[i].from || !f.seat[i].passive) return false;
    }
    return api_run_parallel(e, seats, e->rows, follow, &f);
}
