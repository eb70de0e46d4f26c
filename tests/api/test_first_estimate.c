/* test_first_estimate.c - checks the estimates of a request's time before it is read. The time of a trajectory grows
 * with the outputs, the model, the degree of the spline and the free coordinates; the numbers that estimates need are
 * found in a body of every format. */
#include "api/codec/emit.h"
#include "api/requests/cost/peek.h"
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

static const double positions[] = {0.5, -2.5, 1.25, 0.75, 7.5, 0};

/* Writes {"starts": 20, "duration": 2.5, "q": [[0.5, -2.5, 1.25], [0.75, 7.5, 0]]}. */
static void write_peeked_request(api_media media, api_buffer *body)
{
    api_emit e;
    api_buffer_init(body, 1 << 12);
    api_emit_init(&e, media, body);
    api_emit_object(&e);
    api_emit_integer_member(&e, "starts", 20);
    api_emit_number_member(&e, "duration", 2.5);
    api_emit_key(&e, "q");
    api_emit_numbers(&e, positions, 2, (size_t[]){2, 3});
    api_emit_end(&e);
    assert_true(api_emit_done(&e));
}

static void numbers_are_found_in_every_format(void **state)
{
    for (api_media media = API_MEDIA_JSON; media < API_FORMAT_COUNT; media++) {
        const api_call call = {.content = media};
        api_buffer     body;
        write_peeked_request(media, &body);
        const api_input input = {.body = body.data, .length = body.length};
        assert_true(api_peek_number(&call, &input, API_STARTS) == 20);
        assert_true(api_peek_number(&call, &input, API_DURATION) == 2.5);
        assert_true(api_peek_number(&call, &input, API_STEP) == 0);
        assert_true(api_peek_largest(&call, &input, API_Q, 3) == 2.5);
        assert_true(api_peek_largest(&call, &input, API_Q, 6) == 7.5);
        assert_true(api_peek_largest(&call, &input, API_QD, 6) == 0);
        assert_true(api_body_mentions(&input, "duration") && !api_body_mentions(&input, "integrator"));
        api_buffer_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torques_have_no_additional_cost),   cmocka_unit_test(outputs_cost_more),
        cmocka_unit_test(costs_grow_with_the_degree),        cmocka_unit_test(free_coordinates_cost_more),
        cmocka_unit_test(numbers_are_found_in_every_format),
    };
    return cmocka_run_group_tests(tests, start, end);
}
