/* test_worker.c - checks the worker pool: the limits of queued time, order, withdrawal, deadlines and help by idle
 * workers. `done` runs on the worker's thread, so a job whose `done` waits keeps its worker busy. */
#include "server/work/worker.h"
#include "server/work/pool_private.h"
#include "server/work/clock.h"
#include "server/work/cores.h"
#include "api/metrics.h"
#include "tests/target.h"
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct task {
    srv_job  job; /* must be the first member */
    sem_t    begun, go;
    bool     waits;
    int      place; /* position in the order of finishing, from 1 */
    uint64_t end;   /* ns */
} task;

static atomic_int finished;
static srv_flow   client; /* client of all tasks for which no other one is given */
static api       *service;

static void done(srv_job *job)
{
    task *t = (task *)job;
    sem_post(&t->begun);
    if (t->waits) sem_wait(&t->go);
    t->end   = srv_now();
    t->place = atomic_fetch_add(&finished, 1) + 1;
}

static task *make_task(double cost, bool waits)
{
    const api_request request = {.method = "POST", .target = "/v1/models/none/inverse-dynamics"};
    task             *t       = calloc(1, sizeof *t);
    assert_non_null(t);
    t->job.call          = api_begin(service, &request); /* answered 404: api_run does nothing */
    t->job.deadline.time = SRV_NEVER;
    t->job.cost          = cost;
    t->job.flow          = &client;
    t->job.done          = done;
    t->waits             = waits;
    sem_init(&t->begun, 0, 0);
    sem_init(&t->go, 0, 0);
    return t;
}

static srv_pool *open_pool(size_t workers, double queue)
{
    const srv_work_limits limits = {.queue = queue, .client = queue};
    srv_pool             *pool   = srv_pool_open("test", workers, &limits);
    assert_non_null(pool);
    return pool;
}

static void free_task(task *t)
{
    api_end(t->job.call);
    sem_destroy(&t->begun);
    sem_destroy(&t->go);
    free(t);
}

static int open_service(void **state)
{
    char       error[200];
    api_config config = {.version = "test",
                         .target  = test_target(),
                         .limits  = {.body    = 1 << 20,
                                     .answer  = 1 << 20,
                                     .memory  = 1 << 24,
                                     .rows    = 1000,
                                     .nesting = 16,
                                     .models  = 4,
                                     .links   = 16,
                                     .timeout = 10}};
    service           = api_open(&config, error, sizeof error);
    if (service) api_set_ready(service);
    return service ? 0 : -1;
}

static int close_service(void **state)
{
    api_close(service);
    return 0;
}

/* A wait equal to the limit must be refused. */
static void test_at_the_bound(void **state)
{
    srv_pool *pool = open_pool(2, 1.0);
    double    wait;
    task     *first = make_task(1.9375, true), *second = make_task(0.0625, true), *third = make_task(0.0625, true);
    assert_int_equal(srv_pool_admit(pool, &first->job, &wait), SRV_ADMITTED);
    assert_int_equal(srv_pool_admit(pool, &second->job, &wait), SRV_ADMITTED);
    assert_true(wait == 0.96875);
    assert_int_equal(srv_pool_admit(pool, &third->job, &wait), SRV_QUEUE_FULL);
    assert_true(wait == 1);
    srv_pool_push(pool, &first->job);
    srv_pool_push(pool, &second->job);
    sem_post(&first->go);
    sem_post(&second->go);
    srv_pool_close(pool);
    free_task(first);
    free_task(second);
    free_task(third);
    atomic_store(&finished, 0);
}

static void test_bound_in_time(void **state)
{
    srv_pool *pool = open_pool(2, 1.0);
    double    wait;
    assert_non_null(pool);
    task *long_one = make_task(5.0, true), *second = make_task(0.1, true), *third = make_task(0.1, true);
    assert_int_equal(srv_pool_admit(pool, &long_one->job, &wait),
                     SRV_ADMITTED); /* longer than the limit, but the queue is empty */
    assert_true(wait == 0);
    assert_int_equal(srv_pool_admit(pool, &second->job, &wait), SRV_QUEUE_FULL); /* 5 s on two workers */
    assert_true(wait == 2.5);
    srv_pool_push(pool, &long_one->job);
    sem_post(&long_one->go);
    while (atomic_load(&finished) < 1)
        ;
    assert_int_equal(srv_pool_admit(pool, &third->job, &wait), SRV_ADMITTED); /* the first job has finished */
    assert_true(wait == 0);
    srv_pool_push(pool, &third->job);
    sem_post(&third->go);
    srv_pool_close(pool);
    assert_int_equal(third->place, 2);
    free_task(long_one);
    free_task(second);
    free_task(third);
    atomic_store(&finished, 0);
}

/* Two clients must have half of the queue each: the second is admitted though the first has filled the queue. */
static void test_clients_share_the_limit(void **state)
{
    enum { FEW = 8, CROWD = 13, N = FEW + CROWD + 1 };
    static srv_flow     other, third, more[N];
    static const double cost[FEW] = {1, 1, 0.25, 0.25, 0.25, 1, 8, 1};
    srv_flow *const     flow[FEW] = {&client, &client, &other, &other, &other, &client, &third, &other};
    const srv_admission told[FEW] = {SRV_ADMITTED,          SRV_QUEUE_FULL,        SRV_ADMITTED, SRV_ADMITTED,
                                     SRV_CLIENT_QUEUE_FULL, SRV_CLIENT_QUEUE_FULL, SRV_ADMITTED, SRV_CLIENT_QUEUE_FULL};
    srv_pool           *pool      = open_pool(1, 1);
    double              wait;
    task               *t[N];
    /* s: the client's own queued work times the number of clients */
    static const double waits[FEW] = {0, 1, 0.125, 0.5, 1, 1.5, 0.25, 1.5};
    srv_admission       verdict[N];
    double              waited[N];
    for (int i = 0; i < N; i++) {
        t[i]           = make_task(i < FEW ? cost[i] : 0.125, false);
        t[i]->job.flow = i < FEW ? flow[i] : &more[i];
        verdict[i]     = srv_pool_admit(pool, &t[i]->job, &wait);
        waited[i]      = wait;
    }
    for (int i = 0; i < N; i++)
        if (t[i]->job.admitted) srv_pool_push(pool, &t[i]->job);
    srv_pool_close(pool);
    for (int i = 0; i < N; i++)
        free_task(t[i]);
    atomic_store(&finished, 0);
    /* Asserts only after all jobs have ended: a job that waits for ever would stop the tests that follow. */
    for (int i = 0; i < N; i++) {
        srv_admission expected = i < FEW ? told[i] : i < N - 1 ? SRV_ADMITTED : SRV_QUEUE_FULL;
        if (verdict[i] != expected) fail_msg("job %d: verdict %d, expected %d", i, (int)verdict[i], (int)expected);
        if (i < FEW && waited[i] != waits[i]) fail_msg("job %d: %g s ahead, expected %g s", i, waited[i], waits[i]);
    }
    assert_true(wait == 2);
}

/* The limit of a client must hold even while no other client waits. A job that its client has abandoned must no longer
 * count against the limit, though it still runs. */
static void test_limit_of_a_client(void **state)
{
    const srv_work_limits limits = {.queue = 10, .client = 0.5};
    srv_pool             *pool   = srv_pool_open("test", 1, &limits);
    double                wait;
    task                 *t[3];
    for (int i = 0; i < 3; i++)
        t[i] = make_task(0.5, i == 0);
    assert_int_equal(srv_pool_admit(pool, &t[0]->job, &wait), SRV_ADMITTED);
    assert_int_equal(srv_pool_admit(pool, &t[1]->job, &wait), SRV_CLIENT_QUEUE_FULL);
    srv_pool_push(pool, &t[0]->job);
    sem_wait(&t[0]->begun);
    assert_false(srv_pool_withdraw(pool, &t[0]->job));
    assert_int_equal(srv_pool_admit(pool, &t[2]->job, &wait), SRV_ADMITTED);
    srv_pool_push(pool, &t[2]->job);
    sem_post(&t[0]->go);
    srv_pool_close(pool);
    for (int i = 0; i < 3; i++)
        free_task(t[i]);
    atomic_store(&finished, 0);
}

/* A running job that costs more than estimated must be admitted anew with the new cost, not counted against itself. */
static void test_a_running_job_is_admitted_again(void **state)
{
    enum { N = 4 };
    static const double cost[N] = {0.0625, 1.25, 0.875, 0.25};
    static srv_flow     flow;
    srv_pool           *pool = open_pool(1, 1);
    double              wait;
    task               *t[N];
    srv_worker          self = {.pool = pool};
    for (int i = 0; i < N; i++) {
        t[i]           = make_task(cost[i], false);
        t[i]->job.flow = &flow;
        assert_int_equal(srv_pool_admit(pool, &t[i]->job, &wait), SRV_ADMITTED);
        if (i != 1) continue;
        self.job = &t[1]->job;
        assert_true(srv_pool_readmit(&self, 0.03125));
        assert_true(t[1]->job.cost == 0.03125 && flow.admitted == 0.09375);
    }
    assert_true(flow.admitted == 1.21875);
    assert_false(srv_pool_readmit(&self, 0.0625));
    assert_true(t[1]->job.refused && flow.admitted == 1.25);
    const uint64_t end      = t[1]->job.deadline.time;
    t[1]->job.deadline.time = srv_now() + 500000000; /* its deadline ends it soon, so it cannot cost more */
    assert_false(srv_pool_readmit(&self, 40));
    assert_true(t[1]->job.cost <= 0.5 && flow.admitted == 1.1875 + t[1]->job.cost);
    t[1]->job.deadline.time = end;
    for (int i = 0; i < N; i++)
        srv_pool_push(pool, &t[i]->job);
    srv_pool_close(pool);
    for (int i = 0; i < N; i++)
        free_task(t[i]);
    atomic_store(&finished, 0);
}

/* The first job blocks the only worker; the others are queued, and must be withdrawn from any position. */
static void test_order_and_withdrawal(void **state)
{
    enum { N = 8 };
    srv_pool *pool = open_pool(1, 100);
    double    wait;
    task     *t[N];
    for (int i = 0; i < N; i++) {
        t[i] = make_task(1, i == 0);
        assert_int_equal(srv_pool_admit(pool, &t[i]->job, &wait), SRV_ADMITTED);
        srv_pool_push(pool, &t[i]->job);
    }
    sem_wait(&t[0]->begun);
    assert_int_equal(api_metric_value(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS), N - 1);
    static const int withdrawn[] = {1, 4, N - 1}; /* first, middle and last in the queue */
    for (int i = 0; i < 3; i++)
        assert_true(srv_pool_withdraw(pool, &t[withdrawn[i]]->job));
    assert_false(srv_pool_withdraw(pool, &t[0]->job)); /* the job has started, so `done` will be called */
    task *probe = make_task(1, false);
    assert_int_equal(srv_pool_admit(pool, &probe->job, &wait), SRV_ADMITTED);
    assert_true(wait == N - 4); /* the running job's cost is subtracted before `done`; three jobs were withdrawn */
    srv_pool_push(pool, &probe->job);
    assert_int_equal(api_metric_value(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS), N - 3);
    sem_post(&t[0]->go);
    srv_pool_close(pool);
    assert_int_equal(api_metric_value(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS), 0);
    assert_int_equal(t[0]->place, 1);
    assert_int_equal(t[2]->place, 2);
    assert_int_equal(t[3]->place, 3);
    assert_int_equal(t[5]->place, 4);
    assert_int_equal(t[6]->place, 5);
    assert_int_equal(probe->place, 6);
    for (int i = 0; i < 3; i++)
        assert_int_equal(t[withdrawn[i]]->place, 0);
    for (int i = 0; i < N; i++)
        free_task(t[i]);
    free_task(probe);
    atomic_store(&finished, 0);
}

static void test_deadline_before_the_work(void **state)
{
    const api_request request = {.method = "PUT", .target = "/v1/models/late", .has_body = true};
    api_worker       *worker  = api_worker_open();
    task             *t       = make_task(1, false);
    api_end(t->job.call);
    t->job.call          = api_begin(service, &request); /* a request that needs evaluation */
    t->job.deadline.time = srv_now();
    srv_job_run(&t->job, worker);
    assert_int_equal(api_reply_of(t->job.call)->status, 504);
    api_worker_close(worker);
    free_task(t);
}

/* --- help by idle workers ---------------------------------------------------------------------------------------- */

enum { HELPERS = 3 };

/* Tasks of a job, one for each helper; the job's own thread waits until each helper has taken one. */
typedef struct shared_tasks {
    sem_t      ended;
    atomic_int taken;
    double     spent[HELPERS + 1]; /* s of processor time, by slot */
} shared_tasks;

/* Computes for 5 ms of processor time times the slot number. */
static bool take_task(void *arg, size_t slot)
{
    shared_tasks *tasks = arg;
    if (slot == 0) {
        for (int i = 0; i < HELPERS; i++)
            sem_wait(&tasks->ended);
        return false;
    }
    const double began = srv_processor_time();
    if (atomic_fetch_add(&tasks->taken, 1) >= HELPERS) return false;
    while (srv_processor_time() - began < 0.005 * (double)slot)
        ;
    tasks->spent[slot] += srv_processor_time() - began;
    sem_post(&tasks->ended);
    return true;
}

/* The processor time of all helpers must be added to that of the job that they help. */
static void test_help_is_charged(void **state)
{
    shared_tasks tasks = {0};
    srv_pool    *pool  = open_pool(HELPERS, 100);
    srv_worker   self  = {.pool = pool, .helped = 0.5};
    double       least = 0.5;
    sem_init(&tasks.ended, 0, 0);
    srv_pool_run_with_helpers(&self, HELPERS + 1, take_task, &tasks);
    for (int slot = 1; slot <= HELPERS; slot++)
        least += tasks.spent[slot];
    assert_true(least >= 0.515);
    assert_true(self.helped >= least);
    assert_true(self.helped < least + 0.1);
    sem_destroy(&tasks.ended);
    srv_pool_close(pool);
}

/* Returns the processor time of all threads in s. */
static double process_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A job of many simulations of a pendulum. */
static task *make_simulations(void)
{
    enum { ROWS = 400 };
    static const char pendulum[] =
        "{\"links\":[{\"name\":\"rod\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":\"revolute\","
        "\"axis\":[0,1,0]},\"inertial\":{\"mass\":1,\"com\":[0,0,-1],\"inertia\":{\"xx\":1,\"yy\":1,\"zz\":1}}}]}";
    static char       body[4 * ROWS + 100];
    const api_request request = {.method       = "POST",
                                 .target       = "/v1/models/pendulum/simulate",
                                 .content_type = "application/json",
                                 .has_body     = true};
    char             *p       = body + sprintf(body, "{\"q\":[");
    api_problem       problem;
    task             *many = make_task(1, false);
    api_problem_clear(&problem);
    const api_model_file file = {.name = "pendulum", .text = pendulum, .length = sizeof pendulum - 1};
    assert_true(api_load_file(service, &file, NULL, &problem));
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%s[1]", i > 0 ? "," : "");
    sprintf(p, "],\"duration\":16,\"step\":0.001,\"samples\":2,\"outputs\":[\"q\"]}");
    api_end(many->job.call);
    many->job.call   = api_begin(service, &request);
    many->job.body   = body;
    many->job.length = strlen(body);
    return many;
}

/* One of two workers runs many simulations and the other helps. A short job must then start at once, not after all
 * simulations. */
static void test_helpers_leave_for_a_job(void **state)
{
    double    wait;
    task     *many = make_simulations(), *one = make_task(1, false);
    srv_pool *pool = open_pool(2, 100);
    assert_int_equal(srv_pool_admit(pool, &many->job, &wait), SRV_ADMITTED);
    assert_int_equal(srv_pool_admit(pool, &one->job, &wait), SRV_ADMITTED);
    const double began = process_time();
    srv_pool_push(pool, &many->job);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* until both workers are busy */
    uint64_t pushed = srv_now();
    srv_pool_push(pool, &one->job);
    srv_pool_close(pool);
    const double spent = process_time() - began;
    assert_int_equal(api_reply_of(many->job.call)->status, 200);
    assert_true(many->job.charged > 0.8 * spent); /* the job must be charged the processor time of both workers */
    assert_true(many->job.charged <= spent);
    assert_true(many->end - pushed > 20000000); /* ns; the simulations must still have run for so long, otherwise the
                                                   comparison is meaningless */
    assert_true(one->end - pushed < (many->end - pushed) / 2);
    free_task(many);
    free_task(one);
    atomic_store(&finished, 0);
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The watchdog must detect a worker that exceeds its time, also after its job was interrupted for a job of another
   client and continued. */
static void test_a_job_that_gave_way_is_watched(void **state)
{
    static srv_flow greedy, polite;
    double          wait;
    task           *many = make_simulations(), *one = make_task(1, false);
    srv_pool       *pool    = open_pool(1, 100);
    const uint64_t  late    = srv_now() + 3600000000000;
    many->job.flow          = &greedy;
    many->job.deadline.time = late;
    one->job.flow           = &polite;
    assert_int_equal(srv_pool_admit(pool, &many->job, &wait), SRV_ADMITTED);
    assert_int_equal(srv_pool_admit(pool, &one->job, &wait), SRV_ADMITTED);
    srv_pool_push(pool, &many->job);
    while (srv_pool_overdue(pool, late + 1) == 0)
        rest();
    for (int i = 0; i < 20; i++) /* meanwhile this job's client is served more than the other client */
        rest();
    srv_pool_push(pool, &one->job);
    sem_wait(&one->begun);
    while (sem_trywait(&many->begun) != 0 && srv_pool_overdue(pool, late + 1) == 0)
        rest();
    assert_int_equal(srv_pool_overdue(pool, late + 1), 1);
    atomic_store(&many->job.deadline.cancelled, true);
    srv_pool_close(pool);
    free_task(many);
    free_task(one);
    atomic_store(&finished, 0);
}

static void test_quotas(void **state)
{
    assert_true(srv_parse_cpu_max("150000 100000\n") == 1.5);
    assert_true(srv_parse_cpu_max("max 100000\n") == 0);
    assert_true(srv_parse_cpu_max("-1\n 100000\n") == 0); /* cgroup v1: no limit */
    assert_true(srv_parse_cpu_max("") == 0 && srv_parse_cpu_max("100000 0") == 0);
    assert_true(srv_usable_cores() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_the_bound),
        cmocka_unit_test(test_bound_in_time),
        cmocka_unit_test(test_clients_share_the_limit),
        cmocka_unit_test(test_limit_of_a_client),
        cmocka_unit_test(test_a_running_job_is_admitted_again),
        cmocka_unit_test(test_order_and_withdrawal),
        cmocka_unit_test(test_deadline_before_the_work),
        cmocka_unit_test(test_help_is_charged),
        cmocka_unit_test(test_helpers_leave_for_a_job),
        cmocka_unit_test(test_a_job_that_gave_way_is_watched),
        cmocka_unit_test(test_quotas),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
