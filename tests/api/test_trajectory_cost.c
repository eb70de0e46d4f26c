/* test_trajectory_cost.c - checks the first estimate of a trajectory's time: it must grow with the outputs, the model,
 * the degree of the spline and the free coordinates. */
#include "api/service/http/call.h"
#include "api/requests/operations/operation_list.h"
#include "tests/api/support/models.h"
#include <string.h>

static api_model *panda, *two_link;

static int start(void **state)
{
    panda    = bundled_model("panda");
    two_link = bundled_model("two_link");
    return !panda || !two_link;
}

static int end(void **state)
{
    api_model_release(panda);
    api_model_release(two_link);
    return 0;
}

/* Returns the estimated seconds per state, calibrated so that inverse dynamics takes one second per body. */
static double seconds(api_model *model, const char *body)
{
    static api      service;
    api_call        call     = {.api = &service, .model = model, .content = API_MEDIA_JSON};
    const api_input input    = {.body = body, .length = strlen(body)};
    service.calibration.body = 1;
    return api_trajectory.state_seconds(&call, &input);
}

#define OUTPUTS(list) "{\"degree\":3,\"samples\":9,\"outputs\":[" list "]}"
#define FREE(list)    "{\"degree\":3,\"samples\":9,\"free\":[\"panda_joint2\"],\"outputs\":[" list "]}"

static void torques_have_no_additional_cost(void **state)
{
    assert_true(seconds(panda, "{\"degree\":3,\"samples\":9}") == 0);
    assert_true(seconds(panda, OUTPUTS("\"tau\",\"dtau_dcontrol_points\"")) == 0);
}

static void outputs_cost_more(void **state)
{
    static const char *const lists[] = {OUTPUTS("\"dtau_dot_dduration\""), OUTPUTS("\"d_joint_wrenches_dduration\""),
                                        OUTPUTS("\"dtau_dparameters\""),   OUTPUTS("\"dtau_dknots\""),
                                        OUTPUTS("\"dmotion_dknots\""),     OUTPUTS("\"least_gradients\"")};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_true(seconds(two_link, lists[i]) > 0);
        assert_true(seconds(panda, lists[i]) > seconds(two_link, lists[i]));
    }
    assert_true(seconds(panda, OUTPUTS("\"dtau_dot_dparameters\"")) > seconds(panda, OUTPUTS("\"dtau_dparameters\"")));
    assert_true(seconds(panda, OUTPUTS("\"dtau_dot_dknots\"")) > seconds(panda, OUTPUTS("\"dtau_dknots\"")));
}

static void costs_grow_with_the_degree(void **state)
{
    assert_true(seconds(panda, "{\"degree\":7,\"outputs\":[\"dtau_dknots\"]}") >
                1.9 * seconds(panda, "{\"degree\":3,\"outputs\":[\"dtau_dknots\"]}"));
    assert_true(seconds(panda, "{\"degree\":1e300,\"outputs\":[\"dtau_dknots\"]}") ==
                seconds(panda, "{\"degree\":7,\"outputs\":[\"dtau_dknots\"]}"));
}

static void free_coordinates_cost_more(void **state)
{
    double                   before  = 0;
    static const char *const lists[] = {FREE("\"tau\""), FREE("\"dtau_dduration\""), FREE("\"dtau_dot_dduration\""),
                                        FREE("\"dtau_dparameters\""), FREE("\"dtau_dot_dparameters\"")};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_true(seconds(panda, lists[i]) > before);
        before = seconds(panda, lists[i]);
    }
    assert_true(seconds(panda, FREE("\"dtau_dparameters\"")) > 10 * seconds(panda, OUTPUTS("\"dtau_dparameters\"")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torques_have_no_additional_cost),
        cmocka_unit_test(outputs_cost_more),
        cmocka_unit_test(costs_grow_with_the_degree),
        cmocka_unit_test(free_coordinates_cost_more),
    };
    return cmocka_run_group_tests(tests, start, end);
}
