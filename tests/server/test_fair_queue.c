/* test_fair_queue.c - checks how the queue shares the time of one worker among clients. The test simulates the worker:
 * the time is the sum of the durations of the jobs, so that no clock is read. */
#include "server/work/fair_queue.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 600 };

typedef struct client {
    srv_flow flow;
    srv_job  job[MOST];
    size_t   pushed, done;
    double   takes;  /* s that each job of the client takes */
    double   served; /* s of work done for the client so far */
} client;

static void push(srv_fair_queue *queue, client *c, double cost)
{
    assert_true(c->pushed < MOST);
    srv_job *job = &c->job[c->pushed++];
    *job         = (srv_job){.flow = &c->flow, .cost = cost};
    srv_queue_admit(queue, job);
    srv_queue_push(queue, job);
}

/* Runs the next job. Returns the client that sent it. */
static client *run_one(srv_fair_queue *queue)
{
    srv_job *job = srv_queue_next(queue);
    assert_non_null(job);
    client *c = (client *)job->flow; /* `flow` is the first member of client */
    assert_true(job == &c->job[c->done]);
    srv_queue_start(queue, job);
    srv_queue_finish(queue, job, c->takes);
    c->done++;
    c->served += c->takes;
    return c;
}

static void test_one_job_behind_five_hundred(void **state)
{
    static client  greedy, polite;
    srv_fair_queue queue = {0};
    greedy               = (client){.takes = 0.02};
    polite               = (client){.takes = 0.02};
    for (int i = 0; i < 500; i++)
        push(&queue, &greedy, 0.02);
    for (int i = 0; i < 10; i++)
        assert_ptr_equal(run_one(&queue), &greedy);
    push(&queue, &polite, 0.02);
    client *first = run_one(&queue), *second = run_one(&queue);
    assert_true(first == &polite || second == &polite);
    for (int i = 0; i < 20; i++) { /* this client has one request at a time, while the other client always has jobs
                                      waiting */
        push(&queue, &polite, 0.02);
        first  = run_one(&queue);
        second = run_one(&queue);
        assert_true(first != second);
    }
}

static void test_equal_shares_of_unequal_jobs(void **state)
{
    static client  large, small;
    srv_fair_queue queue = {0};
    large                = (client){.takes = 0.03};
    small                = (client){.takes = 0.005};
    for (int i = 0; i < 50; i++)
        push(&queue, &large, 0.03);
    for (int i = 0; i < 300; i++)
        push(&queue, &small, 0.005);
    for (int i = 0; i < 210; i++)
        run_one(&queue);
    assert_true(fabs(large.served - small.served) <= 0.03 + 1e-9);
}

/* The queue's virtual time advances when the client with the least served time leaves: a client that arrives then must
   not be served before all others until it has caught up. */
static void test_a_client_that_comes_as_another_leaves_has_no_lead(void **state)
{
    static client  busy, brief, late;
    srv_fair_queue queue = {0};
    busy                 = (client){.takes = 4};
    brief                = (client){.takes = 0.01};
    late                 = (client){.takes = 1};
    push(&queue, &brief, 0.01);
    for (int i = 0; i < 20; i++)
        push(&queue, &busy, 1);
    assert_ptr_equal(run_one(&queue), &busy); /* of clients with equal times the newest is next */
    assert_ptr_equal(run_one(&queue), &brief);
    busy.takes = 1;
    for (int i = 0; i < 10; i++)
        push(&queue, &late, 1);
    for (int i = 0; i < 4; i++) {
        const client *first = run_one(&queue), *second = run_one(&queue);
        assert_true(first != second);
    }
}

/* A client must be charged the time that its jobs take, not the estimated time. */
static void test_estimates_do_not_matter(void **state)
{
    static client  liar, honest;
    srv_fair_queue queue = {0};
    liar                 = (client){.takes = 1};
    honest               = (client){.takes = 0.01};
    for (int i = 0; i < 10; i++)
        push(&queue, &liar, 1e-4);
    for (int i = 0; i < 400; i++)
        push(&queue, &honest, 0.01);
    while (liar.done < 3)
        run_one(&queue);
    assert_true(honest.served >= 2 - 0.01 - 1e-9);
    srv_fair_queue again = {0};
    liar                 = (client){.takes = 0.01};
    honest               = (client){.takes = 0.01};
    for (int i = 0; i < 100; i++) {
        push(&again, &liar, 1e6); /* an estimate that is far too long: only little is charged before the run, and the
                                     excess is refunded */
        push(&again, &honest, 0.01);
    }
    for (int i = 0; i < 100; i++)
        run_one(&again);
    assert_true(fabs(liar.served - honest.served) <= 0.12);
}

/* When a job starts, its client must be charged little of the estimated cost, so that it is not placed behind other
   clients by the whole cost. */
static void test_little_is_charged_before_the_run(void **state)
{
    static client  greedy, polite;
    srv_fair_queue queue = {0};
    greedy               = (client){.takes = 0.02};
    polite               = (client){.takes = 0.02};
    for (int i = 0; i < 10; i++)
        push(&queue, &greedy, 0.02);
    run_one(&queue);
    push(&queue, &polite, 0.02);
    srv_queue_start(&queue, &polite.job[0]);
    assert_true(polite.flow.time - greedy.flow.time <= 0.005 + 1e-9);
    srv_queue_charge(&queue, &polite.job[0], 0.02);
    assert_true(fabs(polite.flow.time - greedy.flow.time - 0.02) < 1e-9);
}

static void test_idle_clients_save_no_time(void **state)
{
    static client  steady, late;
    srv_fair_queue queue = {0};
    steady               = (client){.takes = 0.1};
    late                 = (client){.takes = 0.1};
    for (int i = 0; i < 100; i++)
        push(&queue, &steady, 0.1);
    for (int i = 0; i < 50; i++)
        run_one(&queue);
    for (int i = 0; i < 20; i++)
        push(&queue, &late, 0.1);
    for (int i = 0; i < 20; i++)
        run_one(&queue);
    assert_true(late.done >= 10 && late.done <= 11);
}

/* A client that pauses while others are served returns with the served time that it had before the pause. */
static void test_a_pause_forgives_nothing(void **state)
{
    static client  large, small;
    srv_fair_queue queue = {0};
    large                = (client){.takes = 1};
    small                = (client){.takes = 0.1};
    for (int i = 0; i < 60; i++)
        push(&queue, &small, 0.1);
    for (size_t round = 1; round <= 4; round++) {
        push(&queue, &large, 1);
        while (large.done < round)
            run_one(&queue);
        assert_true(small.served >= large.served - 1 - 1e-9);
    }
    assert_true(small.done >= 30);
}

/* A running job must be charged the time it has taken so far, and later jobs of its client wait accordingly. */
static void test_a_running_job_is_charged(void **state)
{
    static client  slow, other;
    srv_fair_queue queue = {0};
    slow                 = (client){.takes = 1};
    other                = (client){.takes = 0.1};
    push(&queue, &slow, 0.01);
    push(&queue, &slow, 0.01);
    push(&queue, &other, 0.1);
    srv_queue_start(&queue, &slow.job[0]);
    srv_queue_charge(&queue, &slow.job[0], 0.5);
    for (int i = 0; i < 4; i++) {
        push(&queue, &other, 0.1);
        assert_ptr_equal(run_one(&queue), &other);
    }
    srv_queue_finish(&queue, &slow.job[0], 1);
    assert_true(fabs(slow.flow.time - 1) < 1e-9);
}

static void test_sums_return_to_zero(void **state)
{
    static client  one, two;
    srv_fair_queue queue = {0};
    one = two = (client){.takes = 0.1};
    push(&queue, &one, 0.1);
    push(&queue, &one, 0.7);
    push(&queue, &two, 0.3);
    assert_int_equal(queue.n_flows, 2);
    srv_queue_release(&queue, &one.job[1]);
    srv_queue_release(&queue, &one.job[1]); /* each job is released once */
    assert_true(fabs(queue.admitted - 0.4) < 1e-12 && fabs(one.flow.admitted - 0.1) < 1e-12);
    srv_queue_remove(&queue, &one.job[1]);
    srv_queue_finish(&queue, &one.job[1], 0);
    assert_int_equal(queue.n_waiting, 2);
    run_one(&queue);
    run_one(&queue);
    assert_true(queue.admitted == 0 && one.flow.admitted == 0 && two.flow.admitted == 0);
    assert_int_equal(queue.n_flows, 0);
    assert_null(queue.first);
    assert_null(srv_queue_next(&queue));
}

static void test_jobs_leave_from_any_place(void **state)
{
    static client  c;
    srv_fair_queue queue = {0};
    c                    = (client){.takes = 0.1};
    for (int i = 0; i < 5; i++)
        push(&queue, &c, 0.1);
    static const int removed[] = {0, 2, 4};
    for (int i = 0; i < 3; i++)
        srv_queue_remove(&queue, &c.job[removed[i]]);
    assert_ptr_equal(srv_queue_next(&queue), &c.job[1]);
    srv_queue_start(&queue, &c.job[1]);
    assert_ptr_equal(srv_queue_next(&queue), &c.job[3]);
    srv_queue_start(&queue, &c.job[3]);
    assert_null(srv_queue_next(&queue));
    assert_null(c.flow.first);
    assert_null(c.flow.last);
}

/* A job that returns to the queue must be the next of its client, and wait for clients that were served less. */
static void test_a_job_returns(void **state)
{
    static client  slow, other;
    srv_fair_queue queue = {0};
    slow                 = (client){.takes = 1};
    other                = (client){.takes = 0.1};
    push(&queue, &slow, 0.01);
    push(&queue, &slow, 0.01);
    srv_job *job = srv_queue_next(&queue);
    srv_queue_start(&queue, job);
    srv_queue_charge(&queue, job, 0.35);
    assert_true(job->cost == 0.35); /* the job has taken longer than its cost */
    assert_true(fabs(queue.admitted - 0.36) < 1e-12 && fabs(slow.flow.admitted - 0.36) < 1e-12);
    push(&queue, &other, 0.1);
    push(&queue, &other, 0.1);
    srv_queue_charge(&queue, job, 0.45);
    srv_queue_return(&queue, job);
    assert_int_equal(queue.n_waiting, 4);
    assert_ptr_equal(run_one(&queue), &other); /* it began at the queue's virtual time, 0.35 */
    assert_ptr_equal(srv_queue_next(&queue), other.flow.time < slow.flow.time ? &other.job[1] : job);
    run_one(&queue);
    srv_queue_remove(&queue, job);
    assert_ptr_equal(srv_queue_next(&queue), &slow.job[1]);
    srv_queue_finish(&queue, job, 0.5);
    slow.done++;
    run_one(&queue);
    assert_true(queue.admitted == 0);
}

static void test_a_cost_is_reassessed(void **state)
{
    static client  c;
    srv_fair_queue queue = {0};
    c                    = (client){.takes = 1};
    push(&queue, &c, 0.25);
    srv_queue_reassess(&queue, &c.job[0], 8);
    assert_true(queue.admitted == 8 && c.flow.admitted == 8 && c.job[0].cost == 8);
    srv_queue_release(&queue, &c.job[0]);
    srv_queue_reassess(&queue, &c.job[0], 2); /* the job is finished and must not count any more */
    assert_true(queue.admitted == 0 && c.flow.admitted == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_job_behind_five_hundred),
        cmocka_unit_test(test_equal_shares_of_unequal_jobs),
        cmocka_unit_test(test_estimates_do_not_matter),
        cmocka_unit_test(test_little_is_charged_before_the_run),
        cmocka_unit_test(test_idle_clients_save_no_time),
        cmocka_unit_test(test_a_pause_forgives_nothing),
        cmocka_unit_test(test_a_running_job_is_charged),
        cmocka_unit_test(test_sums_return_to_zero),
        cmocka_unit_test(test_jobs_leave_from_any_place),
        cmocka_unit_test(test_a_job_returns),
        cmocka_unit_test(test_a_cost_is_reassessed),
        cmocka_unit_test(test_a_client_that_comes_as_another_leaves_has_no_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
