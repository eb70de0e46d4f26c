/* parallel.c - run independent tasks on several threads: see parallel.h. */
#include "parallel.h"
#include "api/base/memory/shortage.h"

typedef struct slot {
    size_t       failed; /* number of the task that failed, or NONE */
    uint64_t     worked; /* ns, total time of this slot's tasks */
    api_problem *problem;
    api_problem  own;
} slot;

typedef struct job {
    api_parallel_task  *run;
    void               *arg;
    size_t              tasks;
    const api_deadline *deadline;
    atomic_size_t       next;
    atomic_size_t       failed; /* number of the first task that failed; all tasks before it were started */
    slot               *slots;
} job;

static const size_t NONE = SIZE_MAX;

static bool run_task(job *j, size_t place, size_t task)
{
    slot    *s     = &j->slots[place];
    uint64_t began = api_now();
    if (place > 0) api_shortage_forget(); /* slot 0 is the thread of the request */
    bool done = api_deadline_check(j->deadline, s->problem) && j->run(j->arg, place, task, s->problem);
    if (api_shortage_check(s->problem)) done = false;
    s->worked += api_now() - began;
    return done;
}

static void note_failed(job *j, size_t task)
{
    size_t first = atomic_load(&j->failed);
    while (task < first && !atomic_compare_exchange_weak(&j->failed, &first, task))
        ;
}

/* Runs the next task in this slot. False when no task is left for the slot. Tasks start in order, so tasks after a
 * failed one need not start, and each slot has at most one failure. */
static bool run_next(void *argument, size_t place)
{
    job   *j    = argument;
    size_t task = atomic_fetch_add(&j->next, 1);
    if (task >= j->tasks || task > atomic_load(&j->failed)) return false;
    if (run_task(j, place, task)) return true;
    j->slots[place].failed = task;
    note_failed(j, task);
    return false;
}

size_t api_parallel_slots(const api_parallel *p, size_t tasks)
{
    size_t most = p->helpers ? p->helpers->most_slots : 1;
    return tasks < most ? (tasks > 0 ? tasks : 1) : most;
}

/* Initialises the slots. Slot 0, on the calling thread, reports into the pool's problem, every other slot into its
 * own. */
static void set_slots(job *j, size_t slots, api_problem *problem)
{
    for (size_t i = 0; i < slots; i++) {
        slot *s    = &j->slots[i];
        s->failed  = NONE;
        s->worked  = 0;
        s->problem = i == 0 ? problem : &s->own;
        if (i > 0) api_problem_clear(&s->own);
    }
}

/* Runs the tasks on several threads. The request is charged the time of its tasks, not the time in which the calling
 * thread waits for the last helper. */
static void run_with_helpers(job *j, size_t slots, const api_parallel *p)
{
    uint64_t began = api_now(), worked = 0;
    p->helpers->run(p->helpers->arg, slots, run_next, j);
    for (size_t i = 0; i < slots; i++)
        worked += j->slots[i].worked;
    *p->helped += (int64_t)(worked - (api_now() - began));
}

static bool run_alone(const api_parallel *p, size_t tasks, api_parallel_task *run, void *arg)
{
    api_problem *problem = p->pool->problem;
    for (size_t task = 0; task < tasks; task++)
        if ((tasks > 1 && !api_deadline_check(p->deadline, problem)) || !run(arg, 0, task, problem)) return false;
    return true;
}

bool api_run_parallel(const api_parallel *p, size_t slots, size_t tasks, api_parallel_task *run, void *arg)
{
    if (slots == 1) return run_alone(p, tasks, run, arg);
    job j   = {.run = run, .arg = arg, .tasks = tasks, .deadline = p->deadline};
    j.slots = api_take(p->pool, slots * sizeof *j.slots);
    if (!j.slots) return false;
    atomic_init(&j.next, 0);
    atomic_init(&j.failed, NONE);
    set_slots(&j, slots, p->pool->problem);
    run_with_helpers(&j, slots, p);
    size_t failed = atomic_load(&j.failed);
    for (size_t i = 1; i < slots && failed != NONE; i++)
        if (j.slots[i].failed == failed) *p->pool->problem = j.slots[i].own;
    return failed == NONE;
}
