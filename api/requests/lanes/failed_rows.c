/* failed_rows.c - record the states that fail and list them in the answer: see failed_rows.h. */
#include "failed_rows.h"
#include "api/requests/fields/fields.h"
#include "api/base/memory/arena.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/loops/loops.h"
#include "api/requests/fields/fields.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct failure {
    struct failure *next;
    size_t          state;
    int             operation; /* index in query->selected; -1: all operations */
    api_code        code;
    const char     *detail, *pointer; /* texts of the problem; pointer NULL: none */
    double          fraction, time;   /* fraction and time of the problem (api_problem); -1: none */
} failure;

struct api_failed_rows {
    const api_query *query;
    pthread_mutex_t  mutex;  /* guards the members from `share` to `n` */
    api_share        share;  /* memory budget claimed for the arena */
    api_arena        arena;  /* owns the failures */
    failure         *newest; /* first of the list of failures */
    size_t           n;
    const failure  **sorted; /* [n] the failures in the order of rows, after api_failed_rows_sort */
    size_t           states;
    unsigned char   *marks; /* one array of marks [states] for each operation, then one for all operations */
    double          *home, *guess;
};

/* --- opening ----------------------------------------------------------------------------------------------------- */

/* Sets *alone to true if the request has "on_error": "row". False with a problem. */
static bool read_choice(const api_query *q, bool *alone)
{
    const api_node *value = q->field[API_ON_ERROR];
    api_place       at    = api_place_key(NULL, api_field_names[API_ON_ERROR]);
    *alone                = false;
    if (!value) return true;
    const char *choice = api_read_string(q, value, &at);
    if (!choice) return false;
    *alone = strcmp(choice, "row") == 0;
    return *alone || strcmp(choice, "request") == 0 ||
           api_fail_at(q->problem, &at, API_BAD_VALUE, "\"%.64s\" given, \"request\" or \"row\" expected", choice);
}

static void put_home(const api_model *m, double *home)
{
    for (size_t i = 0; i < m->nq; i++)
        home[i] = m->loops ? m->loops->reference[m->loops->active_q[i]] : 0;
    for (size_t i = 0; i < m->dyn->n_bodies && !m->loops; i++) {
        int first = api_first_position(m, &m->dyn->body[i]), at = dyn_quaternion_offset(&m->dyn->body[i]);
        if (first >= 0 && at >= 0) home[first + at + 3] = 1;
    }
}

/* Allocates the marks from the request's pool. The list of failures has an arena of its own: it grows while
 * several threads work. */
static api_failed_rows *take(const api_query *q)
{
    const api_model *m      = q->model;
    size_t           states = api_states(q), marks = (q->n_selected + 1) * states;
    size_t           n_guess = m->loops ? m->loops->n_passive_q : 0;
    api_failed_rows *f       = api_take(q->pool, sizeof *f);
    if (!f) return NULL;
    *f = (api_failed_rows){
        .query = q, .share = {.budget = q->call->share.budget, .client = q->call->share.client}, .states = states};
    f->marks = api_take(q->pool, marks);
    f->home  = api_take(q->pool, m->nq * sizeof *f->home);
    f->guess = api_take(q->pool, n_guess * sizeof *f->guess);
    if (!f->marks || !f->home || !f->guess) return NULL;
    memset(f->marks, 0, marks);
    put_home(m, f->home);
    for (size_t i = 0; i < n_guess; i++)
        f->guess[i] = m->loops->reference[m->loops->passive_q[i]];
    return f;
}

bool api_failed_rows_requested(const api_query *q)
{
    const api_node *value = q->field[API_ON_ERROR];
    return api_node_is(value, API_STRING) && strcmp(api_node_string(value, NULL), "row") == 0;
}

bool api_failed_rows_open(api_plan *plan)
{
    const api_query *q = plan->query;
    bool             alone;
    if (!read_choice(q, &alone)) return false;
    if (!alone) return true;
    api_failed_rows *f = take(q);
    if (!f) return false;
    if (pthread_mutex_init(&f->mutex, NULL) != 0)
        return api_fail(q->problem, API_MEMORY_FULL, NULL, "no memory for a mutex");
    plan->failed_rows = f;
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

const double *api_failed_rows_home(const api_failed_rows *f)
{
    return f ? f->home : NULL;
}

const double *api_failed_rows_guess(const api_failed_rows *f)
{
    return f ? f->guess : NULL;
}

/* --- recording --------------------------------------------------------------------------------------------------- */

static unsigned char *marks_of(const api_failed_rows *f, int operation)
{
    return f->marks + (operation < 0 ? f->query->n_selected : (size_t)operation) * f->states;
}

const unsigned char *api_failed_rows_marks(const api_failed_rows *f, int operation)
{
    return f ? marks_of(f, f->query->combined ? operation : -1) : NULL;
}

bool api_failed_rows_has(const api_failed_rows *f, size_t state)
{
    return f && marks_of(f, -1)[state];
}

/* Adds a failure to the list; the caller holds the mutex. */
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

bool api_failed_rows_add(api_failed_rows *f, int operation, size_t state, const api_problem *found,
                         api_problem *problem)
{
    if (!f->query->combined) operation = -1;
    if (marks_of(f, operation)[state]) return true;
    marks_of(f, operation)[state] = 1;
    for (size_t i = 0; operation < 0 && i < f->query->n_selected; i++)
        marks_of(f, (int)i)[state] = 1;
    pthread_mutex_lock(&f->mutex);
    bool recorded = record(f, operation, state, found, problem);
    pthread_mutex_unlock(&f->mutex);
    return recorded;
}

bool api_failed_rows_add_all(api_failed_rows *f, const api_problem *found, api_problem *problem)
{
    size_t samples = f->query->samples > 0 ? f->query->samples : 1;
    for (size_t row = 0; row < f->query->rows; row++)
        if (!api_failed_rows_add(f, -1, row * samples, found, problem)) return false;
    return true;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

void api_failed_rows_settle(api_failed_rows *f)
{
    const api_query *q = f->query;
    size_t           n = q->samples;
    for (size_t operation = 0; n > 0 && operation <= q->n_selected; operation++) {
        unsigned char *marks = f->marks + operation * f->states;
        for (size_t row = 0; row < q->rows; row++)
            if (memchr(marks + row * n, 1, n)) memset(marks + row * n, 1, n);
    }
}

bool api_failed_rows_all(const api_failed_rows *f)
{
    return f && !memchr(marks_of(f, -1), 0, f->states);
}

bool api_failed_rows_all_late(const api_failed_rows *f)
{
    bool late = api_failed_rows_all(f);
    for (const failure *r = late ? f->newest : NULL; late && r; r = r->next)
        late = r->code == API_DEADLINE_PASSED;
    return late;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const failure *x = *(const failure *const *)a, *y = *(const failure *const *)b;
    if (x->state != y->state) return x->state < y->state ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

bool api_failed_rows_sort(api_failed_rows *f, api_problem *problem)
{
    size_t n = 0;
    if (!api_claim(&f->share, f->n * sizeof *f->sorted, problem)) return false;
    f->sorted = malloc((f->n + 1) * sizeof *f->sorted);
    if (!f->sorted) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the errors of rows");
    for (const failure *r = f->newest; r; r = r->next)
        f->sorted[n++] = r;
    qsort(f->sorted, n, sizeof *f->sorted, compare);
    return true;
}

static void emit_failure(const api_query *q, const failure *r, size_t row, api_emit *to)
{
    api_emit_object(to);
    api_emit_integer_member(to, "row", (long long)row);
    if (r->operation >= 0) api_emit_string_member(to, "operation", q->selected[r->operation].operation->name);
    api_emit_string_member(to, "code", api_problem_kind_of(r->code)->code);
    api_emit_string_member(to, "detail", r->detail);
    if (r->pointer) api_emit_string_member(to, "pointer", r->pointer);
    if (r->fraction >= 0) api_emit_number_member(to, "fraction", r->fraction);
    if (r->time >= 0) api_emit_number_member(to, "time", r->time);
    api_emit_end(to);
}

/* Lists only the first failure of a motion, which may have failed at several samples. */
void api_failed_rows_emit(const api_failed_rows *f, api_emit *to)
{
    const api_query *q       = f->query;
    size_t           samples = q->samples > 0 ? q->samples : 1, last = SIZE_MAX;
    api_emit_array(to);
    for (size_t i = 0; i < f->n; i++) {
        size_t row = f->sorted[i]->state / samples;
        if (q->samples == 0 || row != last) emit_failure(q, f->sorted[i], row, to);
        last = row;
    }
    api_emit_end(to);
}
