/* test_trajectory.c - checks requests for trajectories: exact small answers, batches, options, equal bits on all
 * targets, refusals. (Values of gradients: tests/e2e/motion/test_trajectory.py.) */
#include "tests/api/support/door.h"
#include "dynamics/dynamics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answered(const char *body, const char *expected)
{
    assert_answer("slider/trajectory", body, expected);
}

static void same(const char *a, const char *b)
{
    assert_same_answers("arm/trajectory", a, "arm/trajectory", b);
}

/* tau = 1 kg * qdd, so that all results are known: a parabola from 0 to 4 m in 2 s, q = t^2. */
#define PARABOLA "'degree':2,'control_points':[[0],[0],[4]],'duration':2"

static void exact_texts(void **state)
{
    answered("{" PARABOLA ",'samples':3}",
             "{'times':[0,1,2],'q':[[0],[1],[4]],'qd':[[0],[2],[4]],'qdd':[[2],[2],[2]],'qddd':[[0],[0],[0]],"
             "'tau':[[2],[2],[2]],'tau_dot':[[0],[0],[0]]}");
    answered("{" PARABOLA ",'times':[1.5],'outputs':['q','dtau_dcontrol_points','dtau_dduration']}",
             "{'q':[[2.25]],'first_control_point':[0],'dtau_dcontrol_points':[[[[0.5],[-1],[0.5]]]],"
             "'dtau_dduration':[[-2]]}");
    answered("{'degree':1,'control_points':[[0],[1],[3]],'duration':1,'samples':3,'outputs':['qd','basis']}",
             "{'qd':[[2],[4],[4]],'first_control_point':[0,1,1],"
             "'basis':[[[1,0],[-2,2],[0,0],[0,0]],[[1,0],[-2,2],[0,0],[0,0]],[[0,1],[-2,2],[0,0],[0,0]]]}");
    answered("{'degree':1,'control_points':[[0],[1],[3]],'duration':1,'times':[0.75],'dense':true,'outputs':['basis']}",
             "{'basis':[[[0,0.5,0.5],[0,-2,2],[0,0,0],[0,0,0]]]}");
    answered(
        "{'degree':1,'control_points':[[[0],[1]],[[1],[3]]],'duration':[1,2],'samples':2,'outputs':['times','q','qd']}",
        "{'times':[[0,1],[0,2]],'q':[[[0],[1]],[[1],[3]]],'qd':[[[1],[1]],[[1],[1]]]}");
    answered("{'degree':1,'control_points':[[0],[2]],'duration':[1,2],'times':[1],'outputs':['q','dtau_dduration']}",
             "{'q':[[[2]],[[1]]],'dtau_dduration':[[[-0]],[[-0]]]}");
}

#define POINTS                                                                                                         \
    "[[0.1,0.2,0.3,0.4],[0.5,-0.2,0.1,0.3],[1,-1,0.2,0.5],[0.7,0.3,-0.4,0.1],[0.2,0.9,0.6,-0.3],[0.4,0.1,0.2,0.3]]"
#define OTHERS                                                                                                         \
    "[[0.3,0.1,0.2,0.2],[0.1,-0.4,0.5,0.7],[0.2,-1,0.1,0.2],[0.6,0.2,-0.3,0.4],[0.5,0.8,0.1,-0.2],[0.9,0.4,0.3,0.1]]"
#define MOTION "'degree':3,'duration':1.5"
#define ALL                                                                                                            \
    "'outputs':['times','q','qd','qdd','qddd','tau','tau_dot','joint_wrenches','first_control_point','basis',"         \
    "'dtau_dcontrol_points','dtau_dduration','dtau_dot_dcontrol_points','dtau_dot_dduration',"                         \
    "'d_joint_wrenches_dcontrol_points','d_joint_wrenches_dduration']"
#define WRENCH(force) ",'wrenches':[{'link':'grip','point':[0.1,0,0.2],'force':" force "}]"

static void requests_that_mean_the_same(void **state)
{
    same("{" MOTION ",'samples':4,'control_points':" POINTS "," ALL "}",
         "{" MOTION ",'samples':4,'control_points':" POINTS "," ALL ",'dense':false,'wrenches':[],"
         "'knots':[0,0,0,0,0.3333333333333333,0.6666666666666666,1,1,1,1]}");
    same("{" MOTION ",'samples':4,'control_points':" POINTS "," ALL "}",
         "{" MOTION ",'times':[0,0.5,1,1.5],'control_points':" POINTS "," ALL "}");
    /* A knot vector that is scaled by a power of two and shifted must give exactly the same answer. */
    same("{" MOTION ",'samples':5,'control_points':" POINTS "," ALL ",'knots':[0,0,0,0,0.25,0.5,1,1,1,1]}",
         "{" MOTION ",'samples':5,'control_points':" POINTS "," ALL ",'knots':[8,8,8,8,10,12,16,16,16,16]}");
    same("{" MOTION ",'samples':3,'control_points':[" POINTS "]," ALL                WRENCH("[[1,2,3]]") "}",
         "{'degree':3,'duration':[1.5],'samples':3,'control_points':" POINTS "," ALL WRENCH("[1,2,3]") "}");
}

/* Row `row` of every output of a batch must equal the answer to a request with this motion only. */
static void expect_row(const char *batch, const char *alone, size_t row)
{
    char   *text = evaluated("trajectory", "arm", batch), *single = evaluated("trajectory", "arm", alone);
    json_t *all = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL),
           *one = json_loads(single, JSON_DECODE_INT_AS_REAL, NULL);
    const char *key;
    json_t     *value;
    assert_int_equal(json_object_size(all), json_object_size(one));
    json_object_foreach (one, key, value)
        if (!json_equal(json_array_get(json_object_get(all, key), row), value))
            fail_msg("%s of row %zu differs", key, row);
    json_decref(all);
    json_decref(one);
    free(text);
    free(single);
}

static void batches(void **state)
{
    const char                                                                 *batch =
        "{" MOTION ",'samples':5,'control_points':[" POINTS "," OTHERS "]," ALL WRENCH("[[1,2,3],[3,2,1]]") "}";
    expect_row(batch, "{" MOTION ",'samples':5,'control_points':" POINTS "," ALL WRENCH("[1,2,3]") "}", 0);
    expect_row(batch, "{" MOTION ",'samples':5,'control_points':" OTHERS "," ALL WRENCH("[3,2,1]") "}", 1);
    batch = "{'degree':3,'duration':[1.5,0.7,3],'times':[0.1,0.65,0.7],'control_points':" OTHERS "," ALL "}";
    expect_row(batch, "{'degree':3,'duration':0.7,'times':[0.1,0.65,0.7],'control_points':" OTHERS "," ALL "}", 1);
    expect_row(batch, "{'degree':3,'duration':3,'times':[0.1,0.65,0.7],'control_points':" OTHERS "," ALL "}", 2);
}

static void same_bits_on_all_targets(void **state)
{
    const char                                                                  *body =
        "{" MOTION ",'samples':19,'control_points':[" POINTS "," OTHERS "]," ALL WRENCH("[[1,2,3],[3,2,1]]") "}";
    char *expected[2] = {NULL, NULL}; /* expected texts by arithmetic class */
    for (size_t i = 0; dyn_kernels_at(i); i++) {
        char **of_class = &expected[dyn_kernels_at(i)->fused];
        door_close();
        door_open_on(NULL, dyn_kernels_at(i)->target);
        char *text = evaluated("trajectory", "arm", body);
        if (!*of_class) *of_class = strdup(text);
        assert_string_equal(text, *of_class);
        free(text);
    }
    free(expected[0]);
    free(expected[1]);
    door_close();
    door_open(NULL);
}

/* torque-derivative, an operation on states, must give the same bits for the sampled states. */
static void samples_equal_torque_derivative(void **state)
{
    char  *text  = evaluated("trajectory", "arm",
                             "{" MOTION ",'samples':7,'control_points':" POINTS
                             ",'outputs':['q','qd','qdd','qddd']" WRENCH("[1,2,3]") "}");
    char  *alone = evaluated("trajectory", "arm",
                             "{" MOTION ",'samples':7,'control_points':" POINTS
                             ",'outputs':['tau','tau_dot','joint_wrenches']" WRENCH("[1,2,3]") "}");
    size_t size  = strlen(text) + 200;
    char  *body  = malloc(size);
    assert_non_null(body);
    snprintf(body, size, "%.*s" WRENCH("[1,2,3]") ",'outputs':['tau','tau_dot','joint_wrenches']}",
             (int)strlen(text) - 1, text);
    assert_string_equal(post("arm/torque-derivative", body)->text, alone);
    free(body);
    free(text);
    free(alone);
}

static double entry(const char *output, size_t i, const char *between, size_t j)
{
    char path[100];
    snprintf(path, sizeof path, "%s/1/%zu%s/%zu", output, i, between, j);
    return number_at(path);
}

/* Joints in another order must permute the numbers and change none. */
static void order_of_joints(void **state)
{
    const size_t order[] = {3, 1, 0, 2};
    double       slope[4][4], wrench[4];
    free(evaluated("trajectory", "arm", "{" MOTION ",'samples':3,'control_points':" POINTS "," ALL "}"));
    for (size_t i = 0; i < 4; i++) {
        wrench[i] = entry("d_joint_wrenches_dcontrol_points", 2, "/4/2", order[i]);
        for (size_t j = 0; j < 4; j++)
            slope[i][j] = entry("dtau_dot_dcontrol_points", order[i], "/2", order[j]);
    }
    free(evaluated("trajectory", "arm",
                   "{" MOTION ",'samples':3,'control_points':[[0.4,0.2,0.1,0.3],[0.3,-0.2,0.5,0.1],[0.5,-1,1,0.2],"
                   "[0.1,0.3,0.7,-0.4],[-0.3,0.9,0.2,0.6],[0.3,0.1,0.4,0.2]],"
                   "'joints':['hip','elbow','shoulder','grasp']," ALL "}"));
    for (size_t i = 0; i < 4; i++) {
        assert_true(entry("d_joint_wrenches_dcontrol_points", 2, "/4/2", i) == wrench[i]);
        for (size_t j = 0; j < 4; j++)
            assert_true(entry("dtau_dot_dcontrol_points", i, "/2", j) == slope[i][j]);
    }
}

static void refuse(unsigned status, const char *body, const char *code, const char *pointer, long long row,
                   const char *words)
{
    post("slider/trajectory", body);
    assert_problem(status, code, pointer, row);
    assert_detail(words);
}

#define LINE "'degree':1,'control_points':[[0],[1],[2]]"

static void bad_motions(void **state)
{
    refuse(422, "{'duration':1,'control_points':[[0]],'samples':2}", "missing-field", "/degree", -1, "needs degree");
    refuse(422, "{'degree':1,'control_points':[[0]],'samples':2}", "missing-field", "/duration", -1, "needs duration");
    refuse(422, "{'degree':1,'duration':1,'samples':2}", "missing-field", "/control_points", -1,
           "needs control_points");
    refuse(422, "{'degree':'3','duration':1,'control_points':[[0]],'samples':2}", "wrong-type", "/degree", -1,
           "a number");
    refuse(422, "{'degree':1.5,'duration':1,'control_points':[[0]],'samples':2}", "bad-value", "/degree", -1,
           "from 1 to 7");
    refuse(422, "{'degree':8,'duration':1,'control_points':[[0]],'samples':2}", "bad-value", "/degree", -1,
           "from 1 to 7");
    refuse(422, "{'degree':3,'duration':1,'control_points':[[0],[1],[2]],'samples':2}", "wrong-shape",
           "/control_points", -1, "3 control points given, at least 4 expected for degree 3");
    refuse(422, "{'degree':1,'duration':1,'control_points':[],'samples':2}", "wrong-shape", "/control_points", -1,
           "at least 2");
    refuse(422, "{'degree':1,'duration':1,'control_points':{},'samples':2}", "wrong-type", "/control_points", -1,
           "an array");
    refuse(422, "{'degree':1,'duration':1,'control_points':[0,1],'samples':2}", "wrong-type", "/control_points/0", -1,
           "an array");
    refuse(422, "{'degree':1,'duration':1,'control_points':[[0],[1,2]],'samples':2}", "wrong-shape",
           "/control_points/1", -1, "2 entries given, 1 expected (nv of slider)");
    refuse(422, "{'degree':1,'duration':1,'control_points':[[0],['1']],'samples':2}", "wrong-type",
           "/control_points/1/0", -1, "a string");
    refuse(422, "{'degree':1,'duration':1,'control_points':[[[0],[1]],[[0],[1],[2]]],'samples':2}", "wrong-shape",
           "/control_points/1", 1, "the first row has 2");
    refuse(422, "{'degree':1,'duration':1,'control_points':[[[0],[1]],[[0],[1,2]]],'samples':2}", "wrong-shape",
           "/control_points/1/1", 1, "2 entries");
    refuse(422, "{'degree':1,'duration':[1,2,3],'control_points':[[[0],[1]],[[0],[1]]],'samples':2}", "wrong-shape",
           "/duration", -1, "3 rows given, but /control_points has 2");
}

static void bad_times(void **state)
{
    refuse(422, "{" LINE ",'duration':0,'samples':2}", "bad-value", "/duration", -1, "greater than 0");
    refuse(422, "{" LINE ",'duration':-1,'samples':2}", "bad-value", "/duration", -1, "greater than 0");
    refuse(422, "{" LINE ",'duration':1e-200,'samples':2}", "bad-value", "/duration", -1, "so short");
    refuse(422, "{" LINE ",'duration':'1','samples':2}", "wrong-type", "/duration", -1, "a number");
    refuse(422, "{" LINE ",'duration':[],'samples':2}", "wrong-shape", "/duration", -1, "a time for each motion");
    refuse(422, "{" LINE ",'duration':[1,0],'samples':2}", "bad-value", "/duration/1", 1, "greater than 0");
    refuse(422, "{" LINE ",'duration':1}", "missing-field", "/samples", -1, "or the field times");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'times':[0]}", "bad-value", "/times", -1, "one of them");
    refuse(422, "{" LINE ",'duration':1,'samples':1}", "bad-value", "/samples", -1, "at least 2");
    refuse(413, "{" LINE ",'duration':1,'samples':1e300}", "too-many-rows", "/samples", -1, "the limit is");
    refuse(422, "{" LINE ",'duration':1,'samples':2.5}", "bad-value", "/samples", -1, "whole number");
    refuse(422, "{" LINE ",'duration':1,'times':[]}", "wrong-shape", "/times", -1, "at least one");
    refuse(422, "{" LINE ",'duration':1,'times':[0,1.5]}", "bad-value", "/times/1", -1, "from 0 to the duration, 1 s");
    refuse(422, "{" LINE ",'duration':[2,1],'times':[1.5]}", "bad-value", "/times/0", -1, "1 s");
    refuse(422, "{" LINE ",'duration':1,'times':[-0.1]}", "bad-value", "/times/0", -1, "from 0");
    refuse(422, "{" LINE ",'duration':1,'times':[[0]]}", "wrong-type", "/times/0", -1, "a number");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'dense':1}", "wrong-type", "/dense", -1, "true or false");
}

static void bad_knots(void **state)
{
    refuse(422, "{" LINE ",'duration':1,'samples':2,'knots':[0,0,1,1]}", "wrong-shape", "/knots", -1,
           "4 knots given, 5 expected");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'knots':[0,0,2,1,3]}", "bad-value", "/knots/3", -1, "sort them");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'knots':[0,0,0,1,1]}", "bad-value", "/knots/2", -1,
           "at the ends 2");
    refuse(422, "{'degree':1,'control_points':[[0],[1],[2],[3]],'duration':1,'samples':2,'knots':[0,0,1,1,2,2]}",
           "bad-value", "/knots/3", -1, "at most 1");
    refuse(422, "{'degree':1,'control_points':[[0],[1]],'duration':1,'samples':2,'knots':[-1e308,0,1,1e308]}",
           "bad-value", "/knots/3", -1, "from -1e+308 to 1e+308");
    refuse(422, "{'degree':1,'control_points':[[0],[1]],'duration':1,'samples':2,'knots':[0,0,5e-324,5e-324]}",
           "bad-value", "/knots/2", -1, "5e-324 given after 0: knots that differ must be at least 1e-100 apart");
    refuse(422, "{'degree':1,'control_points':[[0],[1]],'duration':1,'samples':2,'knots':[0,1,1,2]}", "bad-value",
           "/knots", -1, "a range of at least 1e-100");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'knots':{}}", "wrong-type", "/knots", -1, "an array");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'knots':[0,0,'1',1,1]}", "wrong-type", "/knots/2", -1, "a string");
}

static void other_refusals(void **state)
{
    refuse(422, "{" LINE ",'duration':1,'samples':2,'q':[0]}", "unknown-field", "/q", -1, "there are: ");
    refuse(422, "{" LINE ",'duration':1,'samples':2,'outputs':['dtau_duration']}", "unknown-name", "/outputs/0", -1,
           "dtau_dduration");
    refuse(422, "{'degree':1,'control_points':[[1e300],[-1e300]],'duration':1e-90,'samples':2}", "result-not-finite",
           NULL, -1, "qd[0] of sample 0");
    post("arm/trajectory", "{" MOTION ",'samples':9,'control_points':[" POINTS
                           ",[[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,1e6,0,0],[0,1e6,0,0],[0,0,0,0]]]}");
    assert_problem(422, "angle-too-large", "/control_points/1", 1);
    assert_detail("elbow");
    post("arm/evaluate", "{'q':[0,0,0,0],'operations':{'bias':{},'trajectory':{}}}");
    assert_problem(422, "bad-value", "/operations/trajectory", -1);
}

static void limits(void **state)
{
    refuse(413, "{" LINE ",'duration':1,'samples':20001}", "too-many-rows", "/samples", -1, "the limit is 20000");
    refuse(413, "{" LINE ",'duration':1,'samples':1e300}", "too-many-rows", "/samples", -1, "the limit is 20000");
    refuse(413, "{" LINE ",'duration':[1,2,3],'samples':7000}", "too-many-rows", "/duration", -1, "3 times 7000");
    post("arm/trajectory", "{" MOTION ",'samples':20000,'control_points':" POINTS "," ALL "}");
    assert_problem(413, "answer-too-large", NULL, -1);
    assert_detail("samples fit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_texts),
        cmocka_unit_test(requests_that_mean_the_same),
        cmocka_unit_test(batches),
        cmocka_unit_test(same_bits_on_all_targets),
        cmocka_unit_test(samples_equal_torque_derivative),
        cmocka_unit_test(order_of_joints),
        cmocka_unit_test(bad_motions),
        cmocka_unit_test(bad_times),
        cmocka_unit_test(bad_knots),
        cmocka_unit_test(other_refusals),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
