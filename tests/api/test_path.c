/* test_path.c - checks requests for the coefficients of the dynamics along a path: exact small answers, jumps of
 * friction, requests with the same meaning, refusals. (Values for general robots: tests/e2e/operations/test_path.py.)
 */
#include "tests/api/support/door.h"
#include <stdlib.h>
#include <string.h>

static void same(const char *a, const char *b)
{
    assert_same_answers("arm/path", a, "arm/path", b);
}

/* tau = 1 kg * qdd, so that the coefficients are a = q', b = q'', a' = q'', b' = q'''. */
static void exact_texts(void **state)
{
    (void)state;
    assert_answer("slider/path", "{'q':[1],'qd':[2],'qdd':[3],'qddd':[5]}",
                  "{'tau_a':[2],'tau_b':[3],'tau_c':[0],'tau_d':[0],'dtau_a_ds':[3],'dtau_b_ds':[5],'dtau_c_ds':[0],"
                  "'dtau_d_ds':[0],'smooth_friction':[]}");
    assert_answer("slider/path",
                  "{'q':[1],'qd':[2],'gravity':[0,0,-10],'outputs':['tau_c','joint_wrenches_a','joint_wrenches_c']}",
                  "{'tau_c':[10],'joint_wrenches_a':[[0,0,2,0,0,0]],'joint_wrenches_c':[[0,0,10,0,0,0]]}");
    assert_answer("slider/path", "{'q':[[1],[2]],'qd':[2],'outputs':['tau_a','jumps']}",
                  "{'tau_a':[[2],[2]],'jumps':[[-1],[-1]]}");
}

#define Q "'q':[[0.1,0.2,0.3,0.4],[0.5,-0.2,0.1,0.3],[1,-1,0.2,0.5]]"

static void requests_that_mean_the_same(void **state)
{
    (void)state;
    same("{" Q ",'qd':[1,2,-1,0.5]}",
         "{" Q ",'qd':[[1,2,-1,0.5],[1,2,-1,0.5],[1,2,-1,0.5]],'qdd':[0,0,0,0],'qddd':[0,0,0,0]}");
    same("{" Q ",'qd':[1,2,-1,0.5],'wrenches':[{'link':'grip','force':[0,0,0]}]}", "{" Q ",'qd':[1,2,-1,0.5]}");
}

static void refusals(void **state)
{
    (void)state;
    post("slider/path", "{'q':[1]}");
    assert_problem(422, "missing-field", "/qd", -1);
    post("slider/path", "{'q':[1],'qd':[1],'tau':[1]}");
    assert_problem(422, "unknown-field", "/tau", -1);
    post("slider/path", "{'q':[1],'qd':[[1],[1,2]]}");
    assert_problem(422, "wrong-shape", "/qd/1", 1);
    post("slider/path", "{'q':[1],'qd':[1],'outputs':['tau']}");
    assert_problem(422, "unknown-name", "/outputs/0", -1);
    assert_int_equal(post("slider/path", "{'q':[1],'qd':[1]}")->status, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_texts), cmocka_unit_test(requests_that_mean_the_same),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
