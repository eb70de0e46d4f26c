/* test_refusals.c - checks the limits of lines about refused requests: for each client and status, with a bounded
 * table, and reports that count every omitted line. */
#include "server/audit/refusals.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const uint64_t second = 1000000000;

typedef struct reported {
    size_t   n;
    uint64_t omitted;
    double   seconds;
    char     client[SRV_REFUSED_NAME];
} reported;

static void note_report(void *arg, const srv_refusal *refusal, double seconds)
{
    reported *r = arg;
    r->n++;
    r->omitted += refusal->omitted;
    r->seconds = seconds;
    strcpy(r->client, refusal->client);
}

static int open_table(void **state)
{
    *state = srv_refusals_open();
    return *state ? 0 : -1;
}

static int close_table(void **state)
{
    srv_refusals_close(*state);
    return 0;
}

/* Three lines a second at 7 refusals a second: the first second has the three of the full bucket. */
static void test_lines_and_omitted_ones_are_all_refusals(void **state)
{
    srv_refusals *r     = *state;
    uint64_t      lines = 0, now = 5 * second;
    reported      found = {0};
    for (int i = 0; i < 7 * 30; i++, now += second / 7) {
        lines += srv_refusals_admit(r, "client:a", 401, 3, now);
        srv_refusals_review(r, now, false, note_report, &found);
    }
    assert_int_equal(found.n, 2); /* lines after 10 and 20 s; the third is not due yet */
    assert_true(found.seconds >= 10 && found.seconds < 10.5);
    srv_refusals_review(r, now, true, note_report, &found);
    assert_int_equal(found.n, 3);
    assert_int_equal(lines + found.omitted, 7 * 30);
    assert_true(lines >= 90 && lines <= 93);
}

static void test_clients_and_statuses_have_lines_of_their_own(void **state)
{
    srv_refusals *r = *state;
    assert_true(srv_refusals_admit(r, "client:a", 401, 1, second));
    assert_false(srv_refusals_admit(r, "client:a", 401, 1, second));
    assert_true(srv_refusals_admit(r, "client:a", 404, 1, second));
    assert_true(srv_refusals_admit(r, "client:b", 401, 1, second));
}

/* A client that was silent for a period leaves the table; one whose omitted lines are not reported stays. */
static void test_silent_clients_are_forgotten(void **state)
{
    srv_refusals *r     = *state;
    reported      found = {0};
    srv_refusals_admit(r, "client:a", 401, 1, second);
    srv_refusals_admit(r, "client:b", 401, 1, second);
    srv_refusals_admit(r, "client:b", 401, 1, 9 * second / 8);
    assert_int_equal(srv_refusals_review(r, 2 * second, false, note_report, &found), 2);
    assert_int_equal(found.n, 0);
    assert_int_equal(srv_refusals_review(r, 11 * second, false, note_report, &found), 1);
    assert_int_equal(srv_refusals_review(r, 12 * second, false, note_report, &found), 0);
    assert_int_equal(found.n, 1);
    assert_string_equal(found.client, "client:b");
}

/* More clients than the table remembers share the lines that one client may have, and each refusal is counted. */
static void test_clients_beyond_the_table_share_an_entry(void **state)
{
    srv_refusals *r     = *state;
    size_t        lines = 0, clients = 3 * SRV_REFUSALS_REMEMBERED;
    reported      found = {0};
    for (size_t i = 0; i < clients; i++)
        for (int twice = 0; twice < 2; twice++) {
            char name[40];
            snprintf(name, sizeof name, "address:192.0.2.%zu", i);
            lines += srv_refusals_admit(r, name, 404, 1, second);
        }
    assert_int_equal(lines, SRV_REFUSALS_REMEMBERED + 1);
    assert_int_equal(srv_refusals_review(r, 2 * second, true, note_report, &found), SRV_REFUSALS_REMEMBERED + 1);
    assert_int_equal(lines + found.omitted, 2 * clients);
    assert_int_equal(found.n, SRV_REFUSALS_REMEMBERED + 1);
    assert_string_equal(found.client, "other clients");
    assert_int_equal(srv_refusals_review(r, 12 * second, false, note_report, &found), 0);
    assert_true(srv_refusals_admit(r, "client:new", 404, 1, 12 * second));
}

/* Statuses beyond the shared entries are counted by the last of them. */
static void test_many_statuses_of_clients_beyond_the_table(void **state)
{
    srv_refusals *r     = *state;
    size_t        lines = 0, refusals = 0;
    reported      found = {0};
    for (unsigned status = 0; status < 600; status++)
        for (size_t i = 0; i < 4; i++, refusals++) {
            char name[40];
            snprintf(name, sizeof name, "client:%u-%zu", status, i);
            lines += srv_refusals_admit(r, name, status, 1, second);
        }
    srv_refusals_review(r, second, true, note_report, &found);
    assert_int_equal(lines + found.omitted, refusals);
    assert_true(lines <= SRV_REFUSALS_REMEMBERED + 64);
}

/* A name that is too long for an entry is truncated the same way each time, so that it finds its entry again. */
static void test_long_names(void **state)
{
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_true(srv_refusals_admit(*state, name, 401, 1, second));
    assert_false(srv_refusals_admit(*state, name, 401, 1, second));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_table, close_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_and_omitted_ones_are_all_refusals),
        TEST(test_clients_and_statuses_have_lines_of_their_own),
        TEST(test_silent_clients_are_forgotten),
        TEST(test_clients_beyond_the_table_share_an_entry),
        TEST(test_many_statuses_of_clients_beyond_the_table),
        TEST(test_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
