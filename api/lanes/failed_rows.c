/* failed_rows.c - record the states that fail and list them in the answer: see failed_rows.h. */
#include "failed_rows.h"
#include "api/memory/arena.h"
#include "api/model/coordinates.h"
#include "api/model/loops.h"
#include "api/request/fields.h"
#include "api/answer/answer_slots.h"
#include "api/request/operation.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct failure {
    struct failure *next;
    size_t          state;
    int             operation; /* index in e->selected; -1: all operations */
    api_code        code;
    const char     *detail, *pointer; /* pointer: NULL for none */
    double          fraction, time;   /* -1: none */
} failure;

struct api_failed_rows {
    pthread_mutex_t mutex;  /* guards the members from `share` to `n` */
    api_share       share;  /* claimed for the arena */
    api_arena       arena;  /* owns the failures */
    failure        *newest; /* first of a list */
    size_t          n;
    const failure **sorted;             /* [n], from api_failed_rows_sort on */
    size_t          states, operations; /* operations */
    unsigned char  *marks;              /* states of each operation, then of all */
    double         *home, *guess;
};

/* --- opening ----------------------------------------------------------------------------------------------------- */

/* *alone: whether the request has "on_error": "row". False with a problem. */
static bool read_choice(const api_evaluation *e, bool *alone)
{
    const api_node *value = e->given[API_ON_ERROR];
    api_place       at    = api_place_key(NULL, api_field_names[API_ON_ERROR]);
    *alone                = false;
    if (!value) return true;
    const char *choice = api_read_string(e, value, &at);
    if (!choice) return false;
    *alone = strcmp(choice, "row") == 0;
    return *alone || strcmp(choice, "request") == 0 ||
           api_fail_at(e, &at, API_BAD_VALUE, "\"%.64s\" given, \"request\" or \"row\" expected", choice);
}

static void put_home(const api_model *m, double *home)
{
    for (size_t i = 0; i < m->nq; i++)
        home[i] = m->loops ? m->loops->reference[m->loops->active_q[i]] : 0;
    for (size_t i = 0; i < m->dyn->n_bodies && !m->loops; i++) {
        int first = api_first_position(m, &m->dyn->body[i]), at = api_quaternion_offset(&m->dyn->body[i]);
        if (first >= 0 && at >= 0) home[first + at + 3] = 1;
    }
}

/* The marks are in the request's pool. The list is not: it grows while several threads work. */
static api_failed_rows *take(api_evaluation *e)
{
    size_t           states = api_states(e), marks = (e->n_selected + 1) * states;
    size_t           n_guess = e->model->loops ? e->model->loops->n_passive_q : 0;
    api_failed_rows *f       = api_take(e->pool, sizeof *f);
    if (!f) return NULL;
    *f = (api_failed_rows){.share = {.budget = e->call->share.budget}, .states = states, .operations = e->n_selected};
    f->marks = api_take(e->pool, marks);
    f->home  = api_take(e->pool, e->model->nq * sizeof *f->home);
    f->guess = api_take(e->pool, n_guess * sizeof *f->guess);
    if (!f->marks || !f->home || !f->guess) return NULL;
    memset(f->marks, 0, marks);
    put_home(e->model, f->home);
    for (size_t i = 0; i < n_guess; i++)
        f->guess[i] = e->model->loops->reference[e->model->loops->passive_q[i]];
    return f;
}

bool api_failed_rows_requested(const api_evaluation *e)
{
    const api_node *value = e->given[API_ON_ERROR];
    return api_node_is(value, API_STRING) && strcmp(api_node_string(value, NULL), "row") == 0;
}

bool api_failed_rows_open(api_evaluation *e)
{
    bool alone;
    if (!read_choice(e, &alone)) return false;
    if (!alone) return true;
    api_failed_rows *f = take(e);
    if (!f) return false;
    if (pthread_mutex_init(&f->mutex, NULL) != 0)
        return api_fail(e->problem, API_MEMORY_FULL, NULL, "no memory for a mutex");
    e->failed_rows = f;
    return true;
}

void api_failed_rows_close(api_failed_rows *f)
{
    if (!f) return;
    pthread_mutex_destroy(&f->mutex);
    free(f->sorted);
    api_arena_free(&f->arena);
    api_unclaim(&f->share, f->share.bytes);
}

const double *api_failed_rows_home(const api_evaluation *e)
{
    return e->failed_rows ? e->failed_rows->home : NULL;
}

const double *api_failed_rows_guess(const api_evaluation *e)
{
    return e->failed_rows ? e->failed_rows->guess : NULL;
}

/* --- recording --------------------------------------------------------------------------------------------------- */

static unsigned char *marks_of(const api_failed_rows *f, int operation)
{
    return f->marks + (operation < 0 ? f->operations : (size_t)operation) * f->states;
}

const unsigned char *api_failed_rows_marks(const api_evaluation *e, int operation)
{
    return e->failed_rows ? marks_of(e->failed_rows, e->combined ? operation : -1) : NULL;
}

bool api_failed_rows_has(const api_evaluation *e, size_t state)
{
    return e->failed_rows && marks_of(e->failed_rows, -1)[state];
}

/* Adds to the list; the caller holds the mutex. */
static bool record(api_failed_rows *f, int operation, size_t state, const api_problem *found, api_problem *problem)
{
    size_t   before = f->arena.bytes;
    failure *r      = api_arena_take(&f->arena, 1, sizeof *r);
    if (r) {
        r->detail  = api_arena_text(&f->arena, found->detail);
        r->pointer = found->has_pointer ? api_arena_text(&f->arena, found->pointer) : NULL;
    }
    if (!api_claim(&f->share, f->arena.bytes - before, problem)) return false;
    if (!r || !r->detail || (found->has_pointer && !r->pointer))
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the errors of rows");
    r->state     = state;
    r->operation = operation;
    r->code      = found->code;
    r->fraction  = found->fraction;
    r->time      = found->time;
    r->next      = f->newest;
    f->newest    = r;
    f->n++;
    return true;
}

bool api_failed_rows_add(const api_evaluation *e, int operation, size_t state, const api_problem *found)
{
    api_failed_rows *f = e->failed_rows;
    if (!e->combined) operation = -1;
    if (marks_of(f, operation)[state]) return true;
    marks_of(f, operation)[state] = 1;
    for (size_t i = 0; operation < 0 && i < f->operations; i++)
        marks_of(f, (int)i)[state] = 1;
    pthread_mutex_lock(&f->mutex);
    bool recorded = record(f, operation, state, found, e->problem);
    pthread_mutex_unlock(&f->mutex);
    return recorded;
}

bool api_failed_rows_add_all(const api_evaluation *e, const api_problem *found)
{
    size_t samples = e->samples > 0 ? e->samples : 1;
    for (size_t row = 0; row < e->rows; row++)
        if (!api_failed_rows_add(e, -1, row * samples, found)) return false;
    return true;
}

/* --- numbers that are not finite ---------------------------------------------------------------------------------- */

/* States [first, first + states) of one array. */
static bool check_array(const api_evaluation *e, const api_answer_array *array, size_t first, size_t states)
{
    api_lanes   a = api_answer_array_lanes(e, array);
    api_problem found;
    size_t      fault, end = first + states;
    while (first < end && api_emit_lanes_find_non_finite(&a, first, end - first, &fault)) {
        api_problem_clear(&found);
        size_t state = api_answer_array_fail(e, array, fault, &found);
        if (!api_failed_rows_add(e, array->operation, state, &found)) return false;
        first = state + 1;
    }
    return true;
}

bool api_failed_rows_check(const api_evaluation *e, size_t begin, size_t end)
{
    size_t first = begin * e->lanes, states = api_states(e) - first;
    if (states > (end - begin) * e->lanes) states = (end - begin) * e->lanes;
    for (size_t i = 0; i < e->n_arrays; i++)
        if (!check_array(e, &e->arrays[i], first, states)) return false;
    return true;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

void api_failed_rows_settle(const api_evaluation *e)
{
    size_t n = e->samples;
    for (size_t operation = 0; n > 0 && operation <= e->failed_rows->operations; operation++) {
        unsigned char *marks = e->failed_rows->marks + operation * e->failed_rows->states;
        for (size_t row = 0; row < e->rows; row++)
            if (memchr(marks + row * n, 1, n)) memset(marks + row * n, 1, n);
    }
}

bool api_failed_rows_all(const api_evaluation *e)
{
    return e->failed_rows && !memchr(marks_of(e->failed_rows, -1), 0, e->failed_rows->states);
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const failure *x = *(const failure *const *)a, *y = *(const failure *const *)b;
    if (x->state != y->state) return x->state < y->state ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

bool api_failed_rows_sort(const api_evaluation *e)
{
    api_failed_rows *f = e->failed_rows;
    size_t           n = 0;
    if (!api_claim(&f->share, f->n * sizeof *f->sorted, e->problem)) return false;
    f->sorted = malloc((f->n + 1) * sizeof *f->sorted);
    if (!f->sorted) return api_fail(e->problem, API_MEMORY_FULL, NULL, "no memory for the errors of rows");
    for (const failure *r = f->newest; r; r = r->next)
        f->sorted[n++] = r;
    qsort(f->sorted, n, sizeof *f->sorted, compare);
    return true;
}

static void emit_failure(const api_evaluation *e, const failure *r, size_t row, api_emit *to)
{
    api_emit_object(to);
    api_emit_integer_member(to, "row", (long long)row);
    if (r->operation >= 0) api_emit_string_member(to, "operation", e->selected[r->operation].operation->name);
    api_emit_string_member(to, "code", api_problem_kind_of(r->code)->code);
    api_emit_string_member(to, "detail", r->detail);
    if (r->pointer) api_emit_string_member(to, "pointer", r->pointer);
    if (r->fraction >= 0) api_emit_number_member(to, "fraction", r->fraction);
    if (r->time >= 0) api_emit_number_member(to, "time", r->time);
    api_emit_end(to);
}

/* A motion may have failed at several samples: only its first failure is listed. */
void api_failed_rows_emit(const api_evaluation *e, api_emit *to)
{
    const api_failed_rows *f       = e->failed_rows;
    size_t                 samples = e->samples > 0 ? e->samples : 1, last = SIZE_MAX;
    api_emit_array(to);
    for (size_t i = 0; i < f->n; i++) {
        size_t row = f->sorted[i]->state / samples;
        if (e->samples == 0 || row != last) emit_failure(e, f->sorted[i], row, to);
        last = row;
    }
    api_emit_end(to);
}
