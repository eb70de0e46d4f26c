/* test_closed.c - evaluates models with closed loops: the same bytes on every target, for single states and batches;
 * requests stay within the memory budget and end at their deadline. */
#include "tests/api/support/door.h"
#include "dynamics/dynamics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 11 };

static void ignore(void *arg, const char *file, const char *problem)
{
    (void)arg, (void)file, (void)problem;
}

static void open_door(const api_limits *limits, const char *target)
{
    door_close();
    door_open_on(limits, target);
    assert_true(api_load_models(door_api(), "models", ignore, NULL));
}

/* Writes a request for all operations of models with loops: `rows` states from `first` on; if `rows` is 0, the single
   state `first`. */
static char *question(const char *model, size_t first, size_t rows)
{
    static const char everything[] =
        "'gravity':[1,2,-9],'operations':{'inverse-dynamics':{'outputs':['tau','joint_wrenches','full']},"
        "'forward-dynamics':{'outputs':['qdd','joint_wrenches']},'mass-matrix':{'outputs':['mass_matrix','inverse']},"
        "'bias':{'outputs':['bias','coriolis','gravity','friction']},"
        "'torque-derivative':{'outputs':['tau','tau_dot','joint_wrench_rates']},"
        "'sensitivity':{'outputs':['dtau_dq','dtau_dqd','d_joint_wrenches_dq','d_joint_wrenches_dqd']},"
        "'forward-sensitivity':{},'coriolis':{'outputs':['coriolis_matrix','christoffel']}}}";
    bool   legs = strcmp(model, "stewart") == 0;
    size_t n    = legs ? 6 : 2;
    char  *text = malloc(64 * 5 * n * (rows + 1) + sizeof everything), *p = text + sprintf(text, "{");
    for (int f = 0; f < 5; f++) {
        static const char *const names[] = {"q", "qd", "qdd", "qddd", "tau"};
        p += sprintf(p, "'%s':%s", names[f], rows ? "[" : "");
        for (size_t r = first; r < first + (rows ? rows : 1); r++) {
            p += sprintf(p, "%s[", r > first ? "," : "");
            for (size_t k = 0; k < n; k++) {
                double position = legs ? 0.97 : k == 0 ? 2 : 1.1, by = 0.01 * (double)((r * 7 + k * 5) % 11);
                p += sprintf(p, "%s%.17g", k > 0 ? "," : "", f == 0 ? position + by : (double)f * by - 0.05);
            }
            p += sprintf(p, "]");
        }
        p += sprintf(p, "%s,", rows ? "]" : "");
    }
    strcpy(p, everything);
    return text;
}

static char *answered(const char *model, size_t first, size_t rows)
{
    char          target[64], *text = question(model, first, rows);
    const answer *a = post((snprintf(target, sizeof target, "%s/evaluate", model), target), text);
    if (a->status != 200) fail_msg("%s: %u %s", model, a->status, a->text);
    free(text);
    return strdup(a->text);
}

static void targets_of_class_agree(const char *model, bool fused)
{
    char *expected = NULL;
    for (size_t t = 0; dyn_kernels_at(t); t++) {
        if (dyn_kernels_at(t)->fused != fused) continue;
        open_door(NULL, dyn_kernels_at(t)->target);
        char *answer_text = answered(model, 0, ROWS);
        if (expected) assert_string_equal(answer_text, expected);
        free(expected);
        expected = answer_text;
    }
    free(expected);
}

static void targets_agree(void **state)
{
    static const char *const models[] = {"five_bar", "stewart"};
    for (int m = 0; m < 2; m++) {
        targets_of_class_agree(models[m], false);
        targets_of_class_agree(models[m], true);
    }
}

/* Each row of a batch must equal the answer to a request of its state only, to the last digit. */
static void rows_equal_single_states(void **state)
{
    open_door(NULL, NULL);
    char   *batch_text = answered("stewart", 0, ROWS);
    json_t *batch      = json_loads(batch_text, 0, NULL);
    for (size_t r = 0; r < ROWS; r++) {
        char       *text  = answered("stewart", r, 0);
        json_t     *alone = json_loads(text, 0, NULL), *operation;
        const char *name, *output;
        json_object_foreach (alone, name, operation) {
            json_t *value;
            json_object_foreach (operation, output, value) {
                const json_t *rows = json_object_get(json_object_get(batch, name), output);
                if (!strcmp(output, "full")) value = json_object_get(value, "G"), rows = json_object_get(rows, "G");
                if (!json_equal(value, json_array_get(rows, r))) fail_msg("%s %s of row %zu", name, output, r);
            }
        }
        json_decref(alone);
        free(text);
    }
    json_decref(batch);
    free(batch_text);
}

static void requests_end_at_their_deadline(void **state)
{
    open_door(NULL, NULL);
    char             *text = question("stewart", 0, ROWS), *body = strdup(text);
    const api_request head = {.method       = "POST",
                              .target       = "/v1/models/stewart/evaluate",
                              .content_type = "application/json",
                              .has_body     = true};
    api_deadline      gone = {.time = 1};
    ask_with(&head, body, strlen(body), &gone);
    assert_problem(504, "deadline-passed", NULL, -1);
    free(body);
    free(text);
}

static void memory_is_budgeted(void **state)
{
    api_limits small = door_limits;
    small.memory     = 400 * 1024;
    open_door(&small, NULL);
    char *text = question("stewart", 0, 0);
    post("stewart/evaluate", text);
    assert_problem(413, "too-much-memory", NULL, -1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_agree),
        cmocka_unit_test(rows_equal_single_states),
        cmocka_unit_test(requests_end_at_their_deadline),
        cmocka_unit_test(memory_is_budgeted),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
