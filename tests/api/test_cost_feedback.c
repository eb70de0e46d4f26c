/* test_cost_feedback.c - feeds measured times that differ from the estimates by a factor, some of them prolonged by
 * interruptions: the factor must be found, within bounds, for each kind of request separately. */
#include "api/requests/cost/cost_feedback.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static api_cost_feedback feedback;

static int start(void **state)
{
    api_cost_feedback_init(&feedback);
    return 0;
}

static void test_first_estimates_are_unchanged(void **state)
{
    assert_true(api_cost_feedback_apply(&feedback, 0, 0, 3e-5) == 3e-5);
    assert_true(api_cost_feedback_apply(&feedback, API_COST_OPERATIONS - 1, API_COST_FORMATS - 1, 7) == 7);
}

/* Every tenth request takes a hundred times as long, as if it had been interrupted, and its time is reported like any
   other. */
static void test_a_factor_is_found(void **state)
{
    static const double factors[] = {0.2, 0.5, 1, 3, 9};
    for (size_t i = 0; i < 5; i++) {
        api_cost_feedback_init(&feedback);
        for (int request = 0; request < 200; request++)
            api_cost_feedback_update(&feedback, 1, 0, 4e-5, 4e-5 * factors[i] * (request % 10 == 9 ? 100 : 1));
        double found = api_cost_feedback_apply(&feedback, 1, 0, 4e-5) / 4e-5;
        if (fabs(log(found / factors[i])) > 3 * log(1.05)) fail_msg("%g instead of %g", found, factors[i]);
    }
}

static void test_it_is_bounded(void **state)
{
    for (int request = 0; request < 1000; request++) {
        api_cost_feedback_update(&feedback, 1, 0, 1e-5, 1);
        api_cost_feedback_update(&feedback, 2, 0, 1e-5, 0);
    }
    assert_true(fabs(api_cost_feedback_apply(&feedback, 1, 0, 1e-5) - 16e-5) < 1e-12);
    assert_true(fabs(api_cost_feedback_apply(&feedback, 2, 0, 1e-5) - 1e-5 / 16) < 1e-12);
}

static void test_kinds_do_not_mix(void **state)
{
    for (int request = 0; request < 100; request++)
        api_cost_feedback_update(&feedback, 3, 1, 5e-3, 1);
    assert_true(api_cost_feedback_apply(&feedback, 3, 1, 5e-3) > 50e-3);
    assert_true(api_cost_feedback_apply(&feedback, 3, 1, 5e-4) == 5e-4);
    assert_true(api_cost_feedback_apply(&feedback, 3, 0, 5e-3) == 5e-3);
    assert_true(api_cost_feedback_apply(&feedback, 2, 1, 5e-3) == 5e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_first_estimates_are_unchanged, start),
        cmocka_unit_test_setup(test_a_factor_is_found, start),
        cmocka_unit_test_setup(test_it_is_bounded, start),
        cmocka_unit_test_setup(test_kinds_do_not_mix, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
