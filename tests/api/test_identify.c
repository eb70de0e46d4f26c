/* test_identify.c - checks how much memory identify claims, and the limit of its answer. (Its results:
 * test_parameters.c, test_sequential_qr.c, test_consistent_parameters.c, and
 * tests/e2e/identification/test_identify.py.) */
#include "tests/api/support/door.h"
#include "tests/api/support/draws.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes n random rows of the robot `arm`; the torques need not fit. */
static char *rows_of_arm(size_t n)
{
    char    *body = malloc(200 + 4 * n * 100), *to = body;
    uint64_t seed = 1;
    for (int f = 0; f < 4; f++) {
        static const char *const names[] = {"q", "qd", "qdd", "tau"};
        to += sprintf(to, "%s'%s':[", f ? "," : "{", names[f]);
        for (size_t i = 0; i < n; i++)
            to += sprintf(to, "%s[%.3f,%.3f,%.3f,%.3f]", i ? "," : "", draw(&seed), draw(&seed), draw(&seed),
                          draw(&seed));
        to += sprintf(to, "]");
    }
    strcpy(to, "}");
    return body;
}

static void memory_is_counted(void **state)
{
    char      *body  = rows_of_arm(200);
    api_limits tight = door_limits;
    size_t     least = 0, most = door_limits.memory;
    while (most - least > most / 50) { /* bisects for the least memory with which the request is answered */
        tight.memory = (least + most) / 2;
        door_open(&tight);
        unsigned status = post("arm/identify", body)->status;
        if (status != 200) assert_problem(413, "too-much-memory", NULL, -1);
        *(status == 200 ? &most : &least) = tight.memory;
        door_close();
    }
    assert_in_range(most, 150 * 1024, 4 * 1024 * 1024); /* bytes; more lanes need more */
    free(body);
}

static void long_answers_are_refused_early(void **state)
{
    char      *body  = rows_of_arm(200);
    api_limits tight = door_limits;
    door_open(NULL);
    assert_int_equal(post("arm/identify", body)->status, 200);
    tight.answer = ask("POST", "/v1/models/arm/identify", body)->length / 2;
    door_close();
    door_open(&tight);
    post("arm/identify", body);
    assert_problem(413, "answer-too-large", NULL, -1);
    door_close();
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(long_answers_are_refused_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
