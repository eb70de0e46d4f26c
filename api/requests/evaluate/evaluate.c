/* evaluate.c - decode a request, evaluate its states on all free threads and write the answer: see evaluate.h. */
#include "evaluate.h"
#include "decoded_cost.h"
#include "api/requests/answer/answer.h"
#include "api/requests/lanes/vector_reader.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/fields/rows.h"
#include "api/requests/fields/unit_warnings.h"
#include "api/codec/nodes/node_read.h"
#include "loop_evaluation.h"
#include "api/requests/scene/row_scene.h"
#include <string.h>

/* --- slots ------------------------------------------------------------------------------------------------------ */

/* Returns the number of blocks that an operation evaluates at a time: all, or one. */
static size_t step_of(const api_selection *selected, size_t blocks)
{
    return selected->operation->one_by_one || selected->one_by_one ? 1 : blocks;
}

/* Reserves lanes for the outputs. If rows may fail alone (failed_rows.h), the lanes are zeroed, because a failed state
 * need not write its results. */
static bool take_results(api_plan *plan, api_selection *selected)
{
    for (size_t i = 0; api_has_output(selected->operation, i); i++) {
        if (!(selected->outputs & API_BIT(i)) || selected->result[i]) continue;
        size_t entries      = api_output_entries(plan->query->model, selected, i);
        selected->result[i] = api_take_lanes(plan, entries);
        if (!selected->result[i]) return false;
        if (plan->failed_rows) memset(selected->result[i], 0, plan->window * plan->lanes * entries * sizeof(double));
    }
    return true;
}

/* Reserves the scratch lanes of every operation. */
static bool take_spares(api_evaluation *e)
{
    const api_query *q      = e->query;
    const api_plan  *plan   = e->plan;
    size_t           blocks = plan->window < plan->chunk ? plan->window : plan->chunk;
    e->spares               = api_take(q->pool, q->n_selected * sizeof *e->spares);
    if (!e->spares) return false;
    for (size_t i = 0; i < q->n_selected; i++) {
        const api_selection *selected = &q->selected[i];
        e->spares[i]                  = NULL;
        if (!selected->operation->spare) continue;
        size_t entries = selected->operation->spare(e->model, selected) * step_of(selected, blocks);
        e->spares[i]   = api_take(q->pool, entries * e->lanes * sizeof(double));
        if (!e->spares[i]) return false;
    }
    return true;
}

/* Allocates a workspace for the kernels of models without loops. */
static void *take_workspace(const api_evaluation *e)
{
    const api_query *q            = e->query;
    bool             step_kernels = false;
    for (size_t i = 0; i < q->n_selected; i++)
        step_kernels = step_kernels || q->selected[i].operation->step_kernels;
    return api_take(q->pool, step_kernels ? e->kernels->step_workspace_size(q->scene.model)
                                          : e->kernels->workspace_size(q->scene.model));
}

/* Allocates the scratch memory of kernels and operations. */
static bool take_room(api_evaluation *e)
{
    e->workspace = e->model->loops ? api_loop_open_workspace(e) : take_workspace(e);
    return e->workspace && take_spares(e);
}

/* Gives a slot its own copy of the plan's window, which already contains the fields that are the same for all rows. */
static bool take_window(api_evaluation *e)
{
    if (!e->window_lanes) return true;
    e->window_lanes = api_take(e->query->pool, api_window_bytes(e->plan));
    if (!e->window_lanes) return false;
    memcpy(e->window_lanes, e->plan->window_lanes, api_window_bytes(e->plan));
    return true;
}

/* Returns the evaluations of n slots: `one` if n is 1, else an array from the pool. NULL with a problem. */
static api_evaluation *take_slots(const api_plan *plan, size_t n, api_evaluation *one)
{
    api_evaluation *slots = n == 1 ? one : api_take(plan->query->pool, n * sizeof *slots);
    for (size_t i = 0; slots && i < n; i++) {
        slots[i] = api_evaluation_of(plan);
        if ((n > 1 && !take_window(&slots[i])) || !api_row_scene_open(&slots[i]) || !take_room(&slots[i])) return NULL;
    }
    return slots;
}

static void close_slots(api_evaluation *slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        api_row_scene_close(&slots[i]);
}

/* --- chunks ----------------------------------------------------------------------------------------------------- */

static bool evaluate_in_scene(api_evaluation *e, size_t begin, size_t end)
{
    const api_query *q = e->query;
    for (size_t i = 0; i < q->n_selected; i++) {
        const api_selection *selected = &q->selected[i];
        size_t               step     = step_of(selected, end - begin);
        e->evaluating                 = (int)i;
        e->spare                      = e->spares[i];
        for (size_t block = begin; block < end; block += step) {
            /* An operation that evaluates single blocks may take long. */
            if (block > begin && !api_deadline_check(q->input->deadline, e->problem)) return false;
            if (!selected->operation->evaluate(e, selected, block, step)) return false;
        }
    }
    e->evaluating = -1;
    return true;
}

/* Evaluates blocks [begin, end). If rows have different scenes, a block is one state, and is evaluated in the scene of
 * its row. */
static bool evaluate_blocks(api_evaluation *e, size_t begin, size_t end)
{
    if (!e->own_query) return evaluate_in_scene(e, begin, end);
    for (size_t block = begin; block < end; block++) {
        if (block > begin && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        if (!api_row_scene_set(e, block * e->lanes) || !evaluate_in_scene(e, block, block + 1)) return false;
    }
    return true;
}

/* Data that the tasks of all slots share. */
typedef struct job {
    api_answer     *answer;
    api_evaluation *slots;
    _Atomic uint64_t
        share[3]; /* ns that the measured windows took to be read, evaluated and written, summed over all threads */
} job;

static size_t end_of_chunk(const api_plan *plan, size_t chunk)
{
    size_t end = (chunk + 1) * plan->chunk;
    return end < plan->blocks ? end : plan->blocks;
}

/* True if an operation sums over the states. Then one slot evaluates all states in order. */
static bool needs_order(const api_query *q)
{
    for (size_t i = 0; i < q->n_selected; i++)
        if (q->selected[i].operation->finish && !q->selected[i].operation->unordered) return true;
    return false;
}

/* Returns the number of blocks between two checks of the deadline within a chunk: fewer for a large model. All of them
 * if an operation sums over the states of a chunk, and looks at the deadline itself. */
static size_t blocks_at_once(const api_plan *plan)
{
    enum { BODIES = 32768 /* bodies times states between two checks: about a millisecond of inverse dynamics */ };
    const size_t fit = BODIES / (plan->lanes * (plan->query->model->n_bodies + 1));
    return needs_order(plan->query) ? plan->chunk : fit > 0 ? fit : 1;
}

/* Evaluates all operations for some blocks of a model without loops. */
static bool evaluate_in_parts(api_evaluation *e, size_t begin, size_t end)
{
    const size_t part = blocks_at_once(e->plan);
    for (size_t block = begin; block < end; block += part) {
        if (block > begin && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        if (!evaluate_blocks(e, block, end - block < part ? end : block + part)) return false;
    }
    return true;
}

/* Evaluates all operations for the states of a chunk. The loops of each state are closed once for all operations. */
static bool evaluate_chunk(void *arg, size_t slot, size_t chunk, api_problem *problem)
{
    api_evaluation *e     = &((const job *)arg)->slots[slot];
    size_t          begin = chunk * e->plan->chunk, end = end_of_chunk(e->plan, chunk);
    e->problem = problem;
    if (!e->model->loops) return evaluate_in_parts(e, begin, end);
    for (size_t block = begin; block < end; block++) {
        bool good = api_loop_close_block(e, block) && evaluate_blocks(e, block, block + 1);
        if (!api_deadline_check(e->query->input->deadline, problem) || !good)
            return false; /* a search that the deadline cut short must not count as a result */
    }
    return true;
}

static bool begin(api_plan *plan)
{
    const api_query *q = plan->query;
    for (size_t i = 0; i < q->n_selected; i++)
        if (q->selected[i].operation->begin && !q->selected[i].operation->begin(plan, &q->selected[i])) return false;
    return true;
}

static bool finish(const api_evaluation *e)
{
    const api_query *q = e->query;
    for (size_t i = 0; i < q->n_selected; i++)
        if (q->selected[i].operation->finish && !q->selected[i].operation->finish(e, &q->selected[i])) return false;
    return true;
}

static bool fill_chunk(void *arg, size_t slot, size_t chunk, api_problem *problem)
{
    (void)slot;
    const job     *j = arg;
    api_evaluation e = api_evaluation_of(j->answer->plan);
    e.problem        = problem;
    return api_answer_fill(j->answer, &e, chunk, chunk * e.plan->chunk, end_of_chunk(e.plan, chunk));
}

static bool check_chunk(void *arg, size_t slot, size_t chunk, api_problem *problem)
{
    (void)slot;
    const job     *j = arg;
    api_evaluation e = api_evaluation_of(j->answer->plan);
    e.problem        = problem;
    return api_answer_check(j->answer, &e, chunk * e.plan->chunk, end_of_chunk(e.plan, chunk));
}

/* Checks all results before anything is written: a motion of which any sample fails is null from its first sample
 * on. */
static bool check_all(job *j, size_t slots, size_t chunks)
{
    const api_plan *plan     = j->answer->plan;
    api_parallel    parallel = api_query_parallel(plan->query);
    if (!plan->failed_rows) return true;
    if (!api_run_parallel(&parallel, slots, chunks, check_chunk, j)) return false;
    api_failed_rows_settle(plan->failed_rows);
    return true;
}

/* Begins the phase in which states are evaluated: each has a share for the closing of its loops, and one for each
 * operation whose time depends on the state. A sum over the states must not depend on the time that they take. */
static void begin_shares(const api_plan *plan)
{
    const api_query *q      = plan->query;
    size_t           shares = q->model->loops ? 1 : 0;
    if (needs_order(q)) return;
    for (size_t i = 0; i < q->n_selected; i++)
        shares += q->selected[i].shares_time;
    api_row_time_begin(plan, shares * api_states(q));
}

/* Evaluates a request whose states are all in lanes at once: first evaluates all states, then writes the answer. */
static bool evaluate_all(api_plan *plan, api_answer *answer, size_t bound)
{
    api_parallel   parallel = api_query_parallel(plan->query);
    size_t         chunks = (plan->blocks + plan->chunk - 1) / plan->chunk, n = api_parallel_slots(&parallel, chunks);
    size_t         evaluating = needs_order(plan->query) ? 1 : n;
    api_evaluation one;
    job            j = {.answer = answer};
    if (!begin(plan) || !(j.slots = take_slots(plan, evaluating, &one))) return false;
    begin_shares(plan);
    const bool evaluated = api_run_parallel(&parallel, evaluating, chunks, evaluate_chunk, &j);
    close_slots(j.slots, evaluating);
    api_row_time_end(plan);
    if (!evaluated || !check_all(&j, n, chunks) || !finish(j.slots)) return false;
    plan->query->call->stamps.evaluated = api_now();
    return api_answer_open(answer, bound, n > 1) && api_run_parallel(&parallel, n, chunks, fill_chunk, &j);
}

enum {
    LOOK = 8192 /* least numbers between two checks of the deadline; a chunk of a large model has many more */
};

/* True if a single window holds all states. */
static bool is_one_window(const api_plan *plan)
{
    return plan->window == plan->blocks;
}

/* Reads, evaluates and writes the window from block e->first to `last`. `stamps`, unless NULL, receives the times when
 * it was read and when it was evaluated. */
static bool pass_window(const job *j, api_evaluation *e, size_t chunk, size_t last, api_stamps *stamps)
{
    if (!api_vectors_read_blocks(e, e->first, last)) return false;
    if (stamps) stamps->decoded = api_now();
    if (!evaluate_blocks(e, e->first, last) ||
        (e->plan->failed_rows && !api_answer_check(j->answer, e, e->first, last)))
        return false;
    if (stamps) stamps->evaluated = api_now();
    return api_answer_fill(j->answer, e, chunk, e->first, last);
}

/* Passes the first window of a chunk and measures its steps. */
static bool pass_first_window(job *j, api_evaluation *e, size_t chunk, size_t last)
{
    if (is_one_window(e->plan)) return pass_window(j, e, chunk, last, &e->query->call->stamps);
    api_stamps stamps = {.began = api_now()};
    if (!pass_window(j, e, chunk, last, &stamps)) return false;
    const uint64_t share[] = {stamps.decoded - stamps.began, stamps.evaluated - stamps.decoded,
                              api_now() - stamps.evaluated};
    for (size_t step = 0; step < 3; step++)
        atomic_fetch_add_explicit(&j->share[step], share[step], memory_order_relaxed);
    return true;
}

/* Reads, evaluates and writes a chunk window by window. */
static bool pass_chunk(void *arg, size_t slot, size_t chunk, api_problem *problem)
{
    job            *j    = arg;
    api_evaluation *e    = &j->slots[slot];
    const api_plan *plan = e->plan;
    size_t          end = end_of_chunk(plan, chunk), begin = chunk * plan->chunk;
    e->problem = problem;
    e->first   = begin;
    for (size_t since = 0; e->first < end; e->first += plan->window) {
        size_t last = e->first + plan->window < end ? e->first + plan->window : end;
        if (since >= LOOK && !api_deadline_check(e->query->input->deadline, problem)) return false;
        since       = (since < LOOK ? since : 0) + (last - e->first) * e->lanes * plan->entries;
        bool passed = e->first == begin ? pass_first_window(j, e, chunk, last) : pass_window(j, e, chunk, last, NULL);
        if (!passed) return false;
        e->zeros_written = e->zeros_written || last - e->first == plan->window;
    }
    return true;
}

/* Divides the time since the request was decoded among reading, evaluating and writing, in the proportions of the
 * measured windows. */
static void divide_time(api_stamps *stamps, const job *j)
{
    double read = (double)j->share[0], evaluate = (double)j->share[1], all = read + evaluate + (double)j->share[2];
    double passed     = (double)(api_now() - stamps->decoded) / (all > 0 ? all : 1);
    stamps->evaluated = stamps->decoded + (uint64_t)(passed * (read + evaluate));
    stamps->decoded += (uint64_t)(passed * read);
}

static bool evaluate_windows(const api_plan *plan, api_answer *answer, size_t bound)
{
    api_parallel   parallel = api_query_parallel(plan->query);
    size_t         chunks = (plan->blocks + plan->chunk - 1) / plan->chunk, n = api_parallel_slots(&parallel, chunks);
    api_evaluation one;
    job            j = {.answer = answer};
    begin_shares(plan);
    bool done = api_answer_open(answer, bound, n > 1) && (j.slots = take_slots(plan, n, &one)) &&
                api_run_parallel(&parallel, n, chunks, pass_chunk, &j);
    if (j.slots) close_slots(j.slots, n);
    if (!is_one_window(plan)) divide_time(&plan->query->call->stamps, &j);
    return done;
}

/* If all rows have failed for lack of time, the request fails. */
static bool check_time(const api_plan *plan)
{
    return !api_failed_rows_all_late(plan->failed_rows) ||
           api_fail(plan->query->problem, API_DEADLINE_PASSED, NULL,
                    "no row was complete in its share of the time: give more time in Request-Timeout");
}

static bool evaluate(api_plan *plan, api_answer *answer, size_t *bound)
{
    const api_query *q = plan->query;
    for (size_t i = 0; i < q->n_selected; i++)
        if (!take_results(plan, &q->selected[i])) return false;
    return api_answer_list(answer) &&
           (plan->window_lanes ? evaluate_windows(plan, answer, *bound) : evaluate_all(plan, answer, *bound)) &&
           check_time(plan) && api_answer_close(answer, bound);
}

/* Answers a request whose batches have no rows: every array of the answer has none either. */
static bool answer_nothing(const api_plan *plan, api_answer *answer, size_t *bound)
{
    plan->query->call->stamps.evaluated = api_now();
    return api_answer_list(answer) && api_answer_open(answer, *bound, false) && api_answer_close(answer, bound);
}

/* Refuses operations that sum over the rows for batches without rows. */
static bool check_empty(const api_query *q)
{
    for (size_t i = 0; q->empty && i < q->n_selected; i++)
        if (q->selected[i].operation->finish && !q->selected[i].operation->unordered)
            return api_fail(q->problem, API_WRONG_SHAPE, q->rows_from, "0 rows given, %s needs at least one",
                            q->selected[i].operation->name);
    return true;
}

/* --- the request ------------------------------------------------------------------------------------------------ */

static bool check_rows(const api_query *q)
{
    size_t limit = q->call->api->limits.rows;
    if (api_states(q) <= limit) return true;
    if (q->samples > 0)
        return api_fail(q->problem, API_TOO_MANY_ROWS, q->rows_from,
                        "%zu times %zu samples asked for, the limit is %zu states", q->rows, q->samples, limit);
    return api_fail(q->problem, API_TOO_MANY_ROWS, q->rows_from, "%zu rows given, the limit is %zu", q->rows, limit);
}

static bool prepare(api_plan *plan)
{
    const api_query *q = plan->query;
    for (size_t i = 0; i < q->n_selected; i++)
        if (q->selected[i].operation->prepare && !q->selected[i].operation->prepare(plan, &q->selected[i]))
            return false;
    return true;
}

/* Decodes and checks the request before anything is evaluated, except for the numbers of batches that are read
 * window by window. */
static bool decode(api_query *q, const api_node *request, api_plan *plan, api_answer *answer, size_t *bound)
{
    if (!api_select_operations(q, request) || !api_check_guess(q) || !api_decode_joints(q) ||
        !api_decode_surroundings(q) || !api_measure_state(q) || !api_measure_guess(q) || !api_measure_wrenches(q) ||
        !api_decode_gravity(q) || !api_measure_payload(q) || !check_empty(q) || !check_rows(q) ||
        !api_plan_choose_kernels(plan) || !api_plan_open_window(plan) || !api_failed_rows_open(plan) ||
        !api_row_time_open(plan))
        return false;
    return api_unit_warnings_find(q) && api_answer_bound(answer, bound) && api_decode_payload(q) &&
           api_fill_state(plan) && api_fill_guess(plan) && api_fill_platform(plan) && api_fill_wrenches(plan) &&
           prepare(plan);
}

/* If the numbers of the request have a problem, reports that one instead of the problem that evaluation found later. */
static bool fail_first(const api_plan *plan, const api_node *request)
{
    api_problem *problem = plan->query->problem;
    api_problem  late    = *problem;
    api_problem_clear(problem);
    if (!api_check_members_finite(problem, request->items,
                                  api_node_is(request, API_OBJECT) ? api_node_size(request) : 0))
        problem->row = api_row_of_pointer(problem->pointer);
    else if (api_vectors_check(plan))
        *problem = late;
    return false;
}

/* Checks the deadline at the end. If it has passed, parts of the work may have been cut short, and the request fails
 * with this problem in place of its answer or of another problem. */
static bool is_in_time(const api_query *q)
{
    api_problem late;
    api_problem_clear(&late);
    if (api_deadline_check(q->input->deadline, &late)) return true;
    *q->problem = late;
    return false;
}

bool api_evaluate(api_query *q, const api_node *request, api_buffer *body, size_t *bytes)
{
    api_plan   plan   = {.query = q};
    api_answer answer = {.plan = &plan, .body = body};
    bool       done   = decode(q, request, &plan, &answer, bytes);
    if (done && !api_admit_decoded(&plan)) {
        api_failed_rows_close(plan.failed_rows);
        return false;
    }
    if (done) {
        q->call->states         = api_answered_states(q);
        q->call->stamps.decoded = api_now();
        done                    = q->empty ? answer_nothing(&plan, &answer, bytes) : evaluate(&plan, &answer, bytes);
    }
    bool rows = plan.failed_rows != NULL; /* `rows`: numbers that are not finite fail their rows, not the request */
    api_failed_rows_close(plan.failed_rows);
    if (!is_in_time(q)) return false;
    return done || (!rows && fail_first(&plan, request));
}
