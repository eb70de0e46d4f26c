/* test_rate.c - checks the token bucket with a virtual clock. */
#include "server/work/rate.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const uint64_t second = 1000000000;

static int taken(srv_rate *rate, double per_second, uint64_t now, int attempts)
{
    int n = 0;
    for (int i = 0; i < attempts; i++)
        n += srv_rate_take(rate, per_second, now) == 0;
    return n;
}

static void test_a_burst_and_then_the_rate(void **state)
{
    srv_rate rate = {0};
    uint64_t now  = 5 * second;
    assert_int_equal(taken(&rate, 10, now, 100), 10);
    assert_true(fabs(srv_rate_take(&rate, 10, now) - 0.1) < 1e-9);
    for (int i = 0; i < 50; i++) {
        now += second / 10 + 1;
        assert_int_equal(taken(&rate, 10, now, 3), 1);
    }
    now += second / 2;
    assert_int_equal(taken(&rate, 10, now, 100), 5);
    now += 100 * second; /* a long pause must save the tokens of one second, no more */
    assert_int_equal(taken(&rate, 10, now, 100), 10);
}

static void test_one_per_second(void **state)
{
    srv_rate rate = {0};
    assert_int_equal(taken(&rate, 1, second, 5), 1);
    assert_true(fabs(srv_rate_take(&rate, 1, second + second / 4) - 0.75) < 1e-9);
    assert_int_equal(taken(&rate, 1, 2 * second + 1, 5), 1);
}

static void test_a_clock_that_stands_still(void **state)
{
    srv_rate rate = {0};
    assert_int_equal(taken(&rate, 4, 3 * second, 4), 4);
    assert_true(srv_rate_take(&rate, 4, 2 * second) > 0); /* the time lies a little in the past, as if another thread
                                                             had read its clock earlier */
    assert_true(srv_rate_take(&rate, 4, 3 * second) > 0);
}

static void test_delays_grow_to_the_longest(void **state)
{
    const srv_pace pace = {.burst = 3, .per_second = 10, .longest = 2};
    srv_rate       rate = {0};
    for (int i = 0; i < 3; i++)
        assert_true(srv_rate_delay(&rate, &pace, second) == 0);
    for (int i = 1; i <= 20; i++)
        assert_true(fabs(srv_rate_delay(&rate, &pace, second) - 0.1 * i) < 1e-9);
    assert_true(fabs(srv_rate_delay(&rate, &pace, second) - 2) < 1e-9); /* the longest delay */
    assert_true(fabs(srv_rate_delay(&rate, &pace, 2 * second) - 1.1) < 1e-9);
    assert_true(srv_rate_delay(&rate, &pace, 9 * second) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_burst_and_then_the_rate),
        cmocka_unit_test(test_one_per_second),
        cmocka_unit_test(test_a_clock_that_stands_still),
        cmocka_unit_test(test_delays_grow_to_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
