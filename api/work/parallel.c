/* parallel.c - see parallel.h. */
#include "parallel.h"

typedef struct seat {
    size_t       failed; /* the part, or NONE */
    uint64_t     worked; /* ns */
    api_problem *problem;
    api_problem  own;
} seat;

typedef struct run {
    api_parallel_task  *work;
    void               *arg;
    size_t              parts;
    const api_deadline *deadline;
    atomic_size_t       next;
    atomic_size_t       failed; /* the first part that has; those before it are begun */
    seat               *seats;
} run;

static const size_t NONE = SIZE_MAX;

static bool do_part(run *r, size_t place, size_t part)
{
    seat    *s     = &r->seats[place];
    uint64_t began = api_now();
    bool     done  = api_deadline_check(r->deadline, s->problem) && r->work(r->arg, place, part, s->problem);
    s->worked += api_now() - began;
    return done;
}

static void note_failed(run *r, size_t part)
{
    size_t first = atomic_load(&r->failed);
    while (part < first && !atomic_compare_exchange_weak(&r->failed, &first, part))
        ;
}

/* Parts are begun in order, so that whoever finds a failed part before its own has nothing more to do, and nobody fails
 * twice. */
static bool do_next(void *argument, size_t place)
{
    run   *r    = argument;
    size_t part = atomic_fetch_add(&r->next, 1);
    if (part >= r->parts || part > atomic_load(&r->failed)) return false;
    if (do_part(r, place, part)) return true;
    r->seats[place].failed = part;
    note_failed(r, part);
    return false;
}

size_t api_parallel_slots(const api_evaluation *e, size_t parts)
{
    const api_helpers *helpers = e->input->worker->helpers;
    size_t             most    = helpers ? helpers->most_slots : 1;
    return parts < most ? (parts > 0 ? parts : 1) : most;
}

/* The worker's own seat tells the evaluation's problem. */
static void set_seats(run *r, size_t seats, api_problem *problem)
{
    for (size_t i = 0; i < seats; i++) {
        seat *s    = &r->seats[i];
        s->failed  = NONE;
        s->worked  = 0;
        s->problem = i == 0 ? problem : &s->own;
        if (i > 0) api_problem_clear(&s->own);
    }
}

/* What is done side by side, and not waiting for the last helper, is what the request costs. */
static void run_with_helpers(run *r, size_t seats, const api_helpers *helpers, api_call *call)
{
    uint64_t began = api_now(), worked = 0;
    helpers->run(helpers->arg, seats, do_next, r);
    for (size_t i = 0; i < seats; i++)
        worked += r->seats[i].worked;
    call->helped += (int64_t)(worked - (api_now() - began));
}

static bool do_alone(const api_evaluation *e, size_t parts, api_parallel_task *work, void *arg)
{
    for (size_t part = 0; part < parts; part++)
        if ((parts > 1 && !api_deadline_check(e->input->deadline, e->problem)) || !work(arg, 0, part, e->problem))
            return false;
    return true;
}

bool api_run_parallel(api_evaluation *e, size_t seats, size_t parts, api_parallel_task *work, void *arg)
{
    const api_helpers *helpers = e->input->worker->helpers;
    if (seats == 1) return do_alone(e, parts, work, arg);
    run r   = {.work = work, .arg = arg, .parts = parts, .deadline = e->input->deadline};
    r.seats = api_take(e->pool, seats * sizeof *r.seats);
    if (!r.seats) return false;
    atomic_init(&r.next, 0);
    atomic_init(&r.failed, NONE);
    set_seats(&r, seats, e->problem);
    run_with_helpers(&r, seats, helpers, e->call);
    size_t failed = atomic_load(&r.failed);
    for (size_t i = 1; i < seats && failed != NONE; i++)
        if (r.seats[i].failed == failed) *e->problem = r.seats[i].own;
    return failed == NONE;
}
