/* evaluation.c - the way of one request for dynamics: see evaluation.h. */
#include "api/lanes/evaluation.h"
#include "api/wire/nodes/node_read.h"
#include "api/lanes/batch.h"
#include "loop_evaluation.h"
#include "api/lanes/failed_rows.h"
#include "api/request/operation.h"
#include "api/work/parallel.h"
#include "api/request/unit_warnings.h"
#include "api/lanes/plan.h"
#include <string.h>

/* --- results ---------------------------------------------------------------------------------------------------- */

/* Blocks that an operation evaluates at a time. */
static size_t step_of(const api_selection *selected, size_t blocks)
{
    return selected->operation->one_by_one || selected->one_by_one ? 1 : blocks;
}

/* Zeros where rows may fail: a failed state need not write its results. */
static bool take_results(api_evaluation *e, api_selection *selected)
{
    for (size_t i = 0; api_has_output(selected->operation, i); i++) {
        if (!(selected->outputs & API_BIT(i)) || selected->result[i]) continue;
        size_t entries      = api_output_entries(e->model, selected, i);
        selected->result[i] = api_take_lanes(e, entries);
        if (!selected->result[i]) return false;
        if (e->failed_rows) memset(selected->result[i], 0, e->window * e->lanes * entries * sizeof(double));
    }
    return true;
}

static bool take_spare(api_evaluation *e, api_selection *selected)
{
    const api_operation *operation = selected->operation;
    if (!operation->spare) return true;
    size_t entries = operation->spare(e->model, selected), blocks = e->window < e->chunk ? e->window : e->chunk;
    selected->spare = api_take(e->pool, entries * step_of(selected, blocks) * e->lanes * sizeof(double));
    return selected->spare != NULL;
}

/* What a kernel writes on while it works: of each seat. */
static bool take_room(api_evaluation *e, api_evaluation *seat)
{
    seat->workspace =
        e->model->loops ? api_loop_open_workspace(e) : api_take(e->pool, e->kernels->workspace_size(e->scene.model));
    if (!seat->workspace) return false;
    for (size_t i = 0; i < e->n_selected; i++)
        if (!take_spare(e, &seat->selected[i])) return false;
    return true;
}

/* A copy of the evaluation for each seat; the first is itself. */
static bool take_seats(api_evaluation *e, size_t n, api_evaluation **seats)
{
    if (n == 1) return take_room(e, *seats = e);
    *seats = api_take(e->pool, n * sizeof **seats);
    if (!*seats) return false;
    for (size_t i = 0; i < n; i++) {
        api_evaluation *seat = &(*seats)[i];
        *seat                = *e;
        seat->selected       = api_take(e->pool, e->n_selected * sizeof *e->selected);
        if (!seat->selected) return false;
        memcpy(seat->selected, e->selected, e->n_selected * sizeof *e->selected);
        if (e->held && !api_window_copy(e, seat)) return false;
        if (!take_room(e, seat)) return false;
    }
    return true;
}

const char *api_joint_of(const api_model *m, int body)
{
    const dyn_body *b = &m->dyn->body[body];
    if (b->mover >= 0) return m->mover_names[b->mover];
    for (size_t i = 0; i < m->n_joints; i++) /* one of the bodies that its joint is made of */
        if (m->dyn->body[m->joints[i].body].link == b->link) return m->joints[i].name;
    return "the floating base";
}

bool api_check_singular(const api_evaluation *e, const double *singular, size_t block, size_t blocks)
{
    size_t first = block * e->lanes, rows = blocks * e->lanes;
    if (rows > e->rows - first) rows = e->rows - first;
    for (size_t i = 0; i < rows; i++) {
        if (singular[i] < 0) continue;
        if (!api_fail_state(e, API_SINGULAR_MASS_MATRIX, API_Q, first + i,
                            "the mass matrix is singular at %.64s: what moves there has no mass or inertia that counts",
                            api_joint_of(e->model, (int)singular[i])))
            return false;
    }
    return true;
}

static bool evaluate_blocks(api_evaluation *e, size_t begin, size_t end)
{
    for (size_t i = 0; i < e->n_selected; i++) {
        const api_operation *operation = e->selected[i].operation;
        size_t               step      = step_of(&e->selected[i], end - begin);
        e->evaluating                  = (int)i;
        for (size_t block = begin; block < end; block += step) {
            if (block > begin && !api_deadline_check(e->input->deadline, e->problem)) return false; /* one by one */
            if (!operation->evaluate(e, &e->selected[i], block, step)) return false;
        }
    }
    e->evaluating = -1;
    return true;
}

/* Chunk `part` of every operation. Loops are closed once for all of them. */
static bool evaluate_chunk(void *arg, size_t place, size_t part, api_problem *problem)
{
    api_evaluation *e     = (api_evaluation *)arg + place;
    size_t          begin = part * e->chunk, end = begin + e->chunk < e->blocks ? begin + e->chunk : e->blocks;
    e->problem = problem;
    if (!e->model->loops) return evaluate_blocks(e, begin, end);
    for (size_t block = begin; block < end; block++) {
        bool good = api_loop_close_block(e, block) && evaluate_blocks(e, block, block + 1);
        if (!api_deadline_check(e->input->deadline, problem) || !good)
            return false; /* the first speaks for what it cut short */
    }
    return true;
}

static bool begin(api_evaluation *e)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (e->selected[i].operation->begin && !e->selected[i].operation->begin(e, &e->selected[i])) return false;
    return true;
}

static bool finish(api_evaluation *e)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (e->selected[i].operation->finish && !e->selected[i].operation->finish(e, &e->selected[i])) return false;
    return true;
}

/* What sums up over the states takes them in order, on one seat. */
static bool in_order(const api_evaluation *e)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (e->selected[i].operation->finish) return true;
    return false;
}

/* All states are held: evaluated first, then written. */
static bool fill_chunk(void *arg, size_t place, size_t part, api_problem *problem)
{
    (void)place;
    const api_evaluation *e     = arg;
    size_t                begin = part * e->chunk, end = begin + e->chunk < e->blocks ? begin + e->chunk : e->blocks;
    return api_answer_fill(e, part, begin, end, problem);
}

static bool check_chunk(void *arg, size_t place, size_t part, api_problem *problem)
{
    (void)place;
    api_evaluation own   = *(const api_evaluation *)arg;
    size_t         begin = part * own.chunk, end = begin + own.chunk < own.blocks ? begin + own.chunk : own.blocks;
    own.problem = problem;
    return api_failed_rows_check(&own, begin, end);
}

/* A motion whose last sample fails is null from its first: failures must be known before anything is written. */
static bool check_held(api_evaluation *e, size_t seats, size_t chunks)
{
    if (!e->failed_rows) return true;
    if (!api_run_parallel(e, seats, chunks, check_chunk, e)) return false;
    api_failed_rows_settle(e);
    return true;
}

static bool evaluate_held(api_evaluation *e, size_t bound)
{
    size_t          chunks = (e->blocks + e->chunk - 1) / e->chunk, seats = api_parallel_slots(e, chunks);
    size_t          n = in_order(e) ? 1 : seats;
    api_evaluation *each;
    return begin(e) && take_seats(e, n, &each) && api_run_parallel(e, n, chunks, evaluate_chunk, each) && finish(e) &&
           check_held(e, seats, chunks) && api_answer_open(e, bound, seats > 1) &&
           api_run_parallel(e, seats, chunks, fill_chunk, e);
}

enum { LOOK = 8192 /* numbers between two looks at the deadline within a chunk: those of large models take long */ };

/* Read, evaluated and written window by window. */
static bool pass_chunk(void *arg, size_t place, size_t part, api_problem *problem)
{
    api_evaluation *e     = (api_evaluation *)arg + place;
    size_t          begin = part * e->chunk, end = begin + e->chunk < e->blocks ? begin + e->chunk : e->blocks;
    e->problem = problem;
    e->first   = begin;
    for (size_t since = 0; e->first < end; e->first += e->window) {
        size_t last = e->first + e->window < end ? e->first + e->window : end;
        if (since >= LOOK && !api_deadline_check(e->input->deadline, problem)) return false;
        since = (since < LOOK ? since : 0) + (last - e->first) * e->lanes * e->entries;
        if (!api_batch_read_blocks(e, e->first, last) || !evaluate_blocks(e, e->first, last) ||
            (e->failed_rows && !api_failed_rows_check(e, e->first, last)) ||
            !api_answer_fill(e, part, e->first, last, problem))
            return false;
        e->stands = e->stands || last - e->first == e->window;
    }
    return true;
}

static bool evaluate_windows(api_evaluation *e, size_t bound)
{
    size_t          chunks = (e->blocks + e->chunk - 1) / e->chunk, seats = api_parallel_slots(e, chunks);
    api_evaluation *each;
    return api_answer_open(e, bound, seats > 1) && take_seats(e, seats, &each) &&
           api_run_parallel(e, seats, chunks, pass_chunk, each);
}

static bool evaluate(api_evaluation *e, size_t *bound)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (!take_results(e, &e->selected[i])) return false;
    return api_answer_list(e) && (e->held ? evaluate_windows(e, *bound) : evaluate_held(e, *bound)) &&
           api_answer_close(e, bound);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static bool check_rows(const api_evaluation *e)
{
    size_t limit = e->call->api->limits.rows;
    if (api_states(e) <= limit) return true;
    if (e->samples > 0)
        return api_fail(e->problem, API_TOO_MANY_ROWS, e->rows_from,
                        "%zu times %zu samples asked for, the limit is %zu states", e->rows, e->samples, limit);
    return api_fail(e->problem, API_TOO_MANY_ROWS, e->rows_from, "%zu rows given, the limit is %zu", e->rows, limit);
}

static bool prepare(api_evaluation *e)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (e->selected[i].operation->prepare && !e->selected[i].operation->prepare(e, &e->selected[i])) return false;
    return true;
}

/* A state alone takes one lane: the same bits for less than a block costs. */
static bool choose_kernels(api_evaluation *e)
{
    const api *a = e->call->api;
    e->target    = api_states(e) == 1 ? a->alone : a->kernels;
    e->lanes     = (size_t)e->target->lanes;
    e->kernels   = api_loop_kernels_of(e);
    return e->kernels != NULL;
}

/* Everything that can be wrong with the request is found here, before anything is evaluated, but for the numbers of
 * batches that are read window by window. */
static bool decode(api_evaluation *e, const api_node *request, size_t *answer_bytes)
{
    if (!api_decode_asked(e, request) || !api_loop_check_request(e) || !api_decode_joints(e) ||
        !api_decode_surroundings(e) || !api_measure_state(e) || !api_loop_measure_guess(e) ||
        !api_measure_wrenches(e) || !check_rows(e) || !choose_kernels(e) || !api_window_open(e) ||
        !api_failed_rows_open(e))
        return false;
    return api_unit_warnings_find(e) && api_answer_bound(e, answer_bytes) && api_decode_payload(e) &&
           api_decode_state(e) && api_loop_decode_guess(e) && api_decode_wrenches(e) && prepare(e);
}

/* What is wrong with the numbers of a request goes before all else that is found later: it has been there first. */
static bool fail_first(api_evaluation *e, const api_node *request)
{
    api_problem  late    = *e->problem;
    api_problem *problem = e->problem;
    api_problem_clear(problem);
    if (!api_check_members_finite(problem, request->items,
                                  api_node_is(request, API_OBJECT) ? api_node_size(request) : 0))
        problem->row = api_pointer_row(problem->pointer);
    else if (api_batch_check(e))
        *problem = late;
    return false;
}

bool api_evaluate(api_evaluation *e, const api_node *request, size_t *bytes)
{
    bool done = decode(e, request, bytes) && evaluate(e, bytes);
    if (done || e->failed_rows) return done; /* numbers that are not finite fail rows, not the request */
    return fail_first(e, request);
}
