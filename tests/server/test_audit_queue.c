/* test_audit_queue.c - checks the queue of audit lines: order, bound, waiting until the deadline for a free line,
   cancellation. */
#include "server/audit/audit_queue.h"
#include "server/work/clock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 3 };

static srv_audit_queue queue;

static int open_queue(void **state)
{
    return srv_audit_open(&queue) ? 0 : -1;
}

static void append_text(const char *text)
{
    srv_audit_line *line = srv_audit_reserve(&queue, MOST, 0, NULL);
    assert_non_null(line);
    strcpy(line->text, text);
    line->length = strlen(text);
    srv_audit_append(&queue, line);
}

static void test_lines_come_in_their_order(void **state)
{
    append_text("first");
    append_text("second");
    assert_string_equal(srv_audit_first(&queue)->text, "first");
    assert_string_equal(srv_audit_first(&queue)->text, "first"); /* the line stays until srv_audit_remove */
    srv_audit_remove(&queue);
    append_text("third");
    assert_string_equal(srv_audit_first(&queue)->text, "second");
    assert_int_equal(srv_audit_close(&queue), 2);
}

/* A reserved line occupies a place in the queue, as a queued one does, until it is released. */
static void test_a_full_queue_gives_no_line(void **state)
{
    append_text("a");
    srv_audit_line *kept = srv_audit_reserve(&queue, MOST, 0, NULL);
    append_text("b");
    assert_non_null(kept);
    assert_null(srv_audit_reserve(&queue, MOST, 0, NULL));
    srv_audit_line *of_reload = srv_audit_reserve(&queue, MOST + 1, 0, NULL);
    assert_non_null(of_reload);
    srv_audit_release(&queue, of_reload);
    srv_audit_release(&queue, kept);
    append_text("c");
    assert_int_equal(srv_audit_close(&queue), 3);
}

static void test_waiting_ends_at_the_deadline(void **state)
{
    for (int i = 0; i < MOST; i++)
        append_text("x");
    uint64_t began = srv_now();
    assert_null(srv_audit_reserve(&queue, MOST, began + 30000000, NULL));
    assert_true(srv_now() - began >= 30000000);
    srv_audit_close(&queue);
}

static void *remove_line_later(void *arg)
{
    static const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    srv_audit_remove(&queue);
    return arg;
}

static void test_a_line_that_is_written_makes_room(void **state)
{
    pthread_t writer;
    for (int i = 0; i < MOST; i++)
        append_text("x");
    assert_int_equal(pthread_create(&writer, NULL, remove_line_later, NULL), 0);
    srv_audit_line *line = srv_audit_reserve(&queue, MOST, srv_now() + 60000000000, NULL);
    pthread_join(writer, NULL);
    assert_non_null(line);
    srv_audit_release(&queue, line);
    srv_audit_close(&queue);
}

static void *cancel_later(void *arg)
{
    static const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    atomic_store((atomic_bool *)arg, true);
    return NULL;
}

/* The thread of changes stops waiting when the client of the change disconnects. */
static void test_a_cancelled_change_stops_waiting(void **state)
{
    pthread_t   client;
    atomic_bool cancelled = false;
    for (int i = 0; i < MOST; i++)
        append_text("x");
    assert_int_equal(pthread_create(&client, NULL, cancel_later, &cancelled), 0);
    uint64_t began = srv_now();
    assert_null(srv_audit_reserve(&queue, MOST, began + 60000000000, &cancelled));
    pthread_join(client, NULL);
    assert_true(srv_now() - began < 50000000000);
    srv_audit_close(&queue);
}

#define TEST(name) cmocka_unit_test_setup(name, open_queue)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_come_in_their_order),        TEST(test_a_full_queue_gives_no_line),
        TEST(test_waiting_ends_at_the_deadline),     TEST(test_a_line_that_is_written_makes_room),
        TEST(test_a_cancelled_change_stops_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
