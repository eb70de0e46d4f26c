/* test_client_metrics.c - checks which clients keep their counters, and that the memory of the figures is fixed. */
#include "api/client_metrics.h"
#include "api/exemplars.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef struct listing {
    size_t n;
    char   client[API_CLIENTS_SHOWN][API_CLIENT_NAME];
    double value[API_CLIENTS_SHOWN];
} listing;

static void list_client(void *arg, const char *client, double value)
{
    listing *l = arg;
    assert_true(l->n < API_CLIENTS_SHOWN);
    snprintf(l->client[l->n], API_CLIENT_NAME, "%s", client);
    l->value[l->n++] = value;
}

static listing list_of(api_client_measure measure)
{
    listing l = {0};
    api_client_read(measure, list_client, &l);
    return l;
}

static void use(const char *client, uint64_t work, uint64_t requests, uint64_t refusals)
{
    const api_client_figures figures = {
        {[API_CLIENT_WORK] = work, [API_CLIENT_REQUESTS] = requests, [API_CLIENT_REFUSALS] = refusals}};
    api_client_count(client, &figures);
}

/* For each measure (requests, work, ...) the figures list the clients with the greatest values, the greatest first, in
   the measure's unit. */
static void test_figures(void **state)
{
    use("client:planner", 2500000000, 3, 0);
    use("address:192.0.2.7", 4000000, 7, 2);
    use("client:planner", 500000000, 1, 0);
    listing work = list_of(API_CLIENT_WORK), requests = list_of(API_CLIENT_REQUESTS),
            refusals = list_of(API_CLIENT_REFUSALS);
    assert_int_equal(work.n, 2);
    assert_string_equal(work.client[0], "client:planner");
    assert_true(work.value[0] == 3 && work.value[1] == 0.004);
    assert_string_equal(requests.client[0], "address:192.0.2.7");
    assert_true(requests.value[0] == 7 && requests.value[1] == 4);
    assert_int_equal(refusals.n, 1);
    assert_true(refusals.value[0] == 2);
}

/* A million addresses with one refusal each share a fixed number of counters, and each new address takes over the
 * counter of another. Twenty-five clients each cause more than 1/256 of the refusals, for which the sketch guarantees a
 * counter. The figures of the twenty greatest are exact, since they had a free counter. */
static void test_a_million_addresses(void **state)
{
    enum { ADDRESSES = 1000000, HEAVY = 25, LEAST = 9000 };
    char name[API_CLIENT_NAME];
    for (int i = 0; i < HEAVY; i++) {
        snprintf(name, sizeof name, "client:heavy-%d", i);
        use(name, 0, 0, (uint64_t)LEAST + 100 * (uint64_t)i);
    }
    for (int i = 0; i < ADDRESSES; i++) {
        snprintf(name, sizeof name, "address:10.%d.%d.%d", i >> 16, i >> 8 & 255, i & 255);
        use(name, 0, 0, 1);
    }
    listing l = list_of(API_CLIENT_REFUSALS);
    assert_int_equal(l.n, API_CLIENTS_SHOWN);
    for (int i = 0; i < API_CLIENTS_SHOWN; i++) {
        snprintf(name, sizeof name, "client:heavy-%d", HEAVY - 1 - i);
        assert_string_equal(l.client[i], name);
        assert_true(l.value[i] == LEAST + 100 * (HEAVY - 1 - i));
    }
}

/* A client that takes over a counter must begin at its own figures, without those of the client that had the counter.
 */
static void test_a_counter_that_is_taken_over(void **state)
{
    char name[API_CLIENT_NAME];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "address:198.51.100.%d", i);
        use(name, 0, 1000, 0);
    }
    use("client:late", 0, 7, 0);
    use("client:late", 0, 100000, 0);
    listing l = list_of(API_CLIENT_REQUESTS);
    assert_string_equal(l.client[0], "client:late");
    assert_true(l.value[0] == 100007);
    assert_true(l.value[1] == 1000);
}

static void test_long_names(void **state)
{
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    use(name, UINT64_C(90000000000), 0, 0);
    use(name, UINT64_C(90000000000), 0, 0);
    listing l = list_of(API_CLIENT_WORK);
    assert_int_equal(strlen(l.client[0]), API_CLIENT_NAME - 1);
    assert_true(l.value[0] == 180);
}

/* Among the bounds of the buckets are 2.5 ms and 5 ms. */
static void test_exemplars(void **state)
{
    const char *trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    char        longer[API_EXEMPLAR_ID + 1];
    memset(longer, 'i', API_EXEMPLAR_ID);
    longer[API_EXEMPLAR_ID] = '\0';
    api_exemplar_note(3, 3000000, NULL, "first");
    api_exemplar_note(3, 4000000, trace, "second");
    api_exemplar_note(3, 4500000, NULL, longer);
    api_exemplar_note(4, UINT64_C(3600000000000), NULL, "hour");
    for (size_t i = 0; i <= API_BOUNDS; i++) {
        api_exemplar e = api_exemplar_of(3, i);
        assert_int_equal(*e.id != 0, i == 7);
        if (i < 7) assert_true(api_metric_bound(API_METRIC_REQUEST_SECONDS, i) <= 0.003);
        if (i != 7) continue;
        assert_string_equal(e.id, trace);
        assert_true(e.is_trace && e.seconds > 0.00399 && e.seconds < 0.00401 && e.time > 1.7e9);
    }
    assert_string_equal(api_exemplar_of(4, API_BOUNDS).id, "hour");
    assert_false(api_exemplar_of(4, API_BOUNDS).is_trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_a_million_addresses),
        cmocka_unit_test(test_a_counter_that_is_taken_over),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_exemplars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
