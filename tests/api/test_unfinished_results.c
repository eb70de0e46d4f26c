/* Tests that results of a kernel which the deadline has ended are not read: api_check_singular then tells of the
 * deadline, and names no joint. */
#include "api/requests/lanes/evaluation.h"
#include "tests/api/support/door.h"
#include <math.h>
#include <stdint.h>

/* Checks one entry of `singular` in a request whose deadline is at `time`, ns. */
static bool check_entry(double singular, uint64_t time, api_problem *problem)
{
    api_deadline   deadline = {.time = time};
    api_input      input    = {.deadline = &deadline};
    api_query      query    = {.input = &input, .rows = 1, .problem = problem};
    api_plan       plan     = {.query = &query};
    api_evaluation e        = {.plan = &plan, .query = &query, .lanes = 1, .problem = problem};
    api_problem_clear(problem);
    return api_check_singular(&e, &singular, 0, 1);
}

static void test_deadline_has_passed(void **state)
{
    (void)state;
    const double left[] = {1e30, NAN, 0, 7};
    api_problem  problem;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        assert_false(check_entry(left[i], 1, &problem));
        assert_int_equal(problem.code, API_DEADLINE_PASSED);
    }
}

static void test_no_body_is_singular(void **state)
{
    (void)state;
    api_problem problem;
    assert_true(check_entry(-1, UINT64_MAX, &problem));
    assert_true(check_entry(-1, 1, &problem)); /* the end of the request tells of the deadline */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deadline_has_passed),
                                       cmocka_unit_test(test_no_body_is_singular)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
