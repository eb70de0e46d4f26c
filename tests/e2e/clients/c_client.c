/* c_client.c - tests the C client against the server at TORQUED_URL, which test_c_client.py starts. */
#include "api/clients/c/torqued.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 2000, JOINTS = 7 };

static torqued_client *client;
static double          q[ROWS][JOINTS], qd[ROWS][JOINTS], tau[ROWS][JOINTS];

#ifdef COUNT_ALLOCATIONS
/* Replace the C library's functions, so that the test counts the allocations of the program, of libcurl and of libc
 * itself. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
static long  allocations;

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}
#endif

static torqued_client *open_client(void)
{
    torqued_server  server = {.url = getenv("TORQUED_URL")};
    torqued_problem problem;
    torqued_client *opened = torqued_open(&server, &problem);
    if (!opened) fail_msg("%s", problem.detail);
    return opened;
}

static void assert_call(torqued_client *c, torqued_status expected, torqued_status actual)
{
    if (actual != expected) fail_msg("status %d: %s", (int)actual, torqued_last_problem(c)->detail);
    assert_int_equal(torqued_last_problem(c)->status, expected);
}

static int set_up(void **state)
{
    (void)state;
    client = open_client();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < JOINTS; j++) {
            q[i][j]  = sin(1.0 + 7.0 * i + j);
            qd[i][j] = cos(3.0 * i - j);
        }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    torqued_close(client);
    torqued_close(NULL);
    return 0;
}

/* Requests inverse dynamics of the panda at `count` states from `first`; 0: one state. */
static torqued_status ask(torqued_client *c, size_t first, size_t count, double *to)
{
    torqued_input  in[] = {{"q", q[first], {count ? count : JOINTS, count ? JOINTS : 0}},
                           {"qd", qd[first], {count ? count : JOINTS, count ? JOINTS : 0}}};
    torqued_output out  = {"tau", to, (count ? count : 1) * JOINTS};
    torqued_call   call = {"panda", "inverse-dynamics", NULL, in, 2, &out, 1};
    return torqued_evaluate(c, &call);
}

static void a_batch_has_the_bits_of_single_states(void **state)
{
    double one[JOINTS];
    assert_call(client, TORQUED_OK, ask(client, 0, ROWS, *tau));
    for (size_t i = 0; i < ROWS; i += 97) {
        assert_call(client, TORQUED_OK, ask(client, i, 0, one));
        assert_memory_equal(one, tau[i], sizeof one);
    }
}

static void options_and_nested_outputs(void **state)
{
    double         position[3], orientation[4], matrix[JOINTS][JOINTS], kinetic;
    torqued_input  in[]   = {{"q", q[1], {JOINTS}}, {"qd", qd[1], {JOINTS}}};
    torqued_output outs[] = {{"kinematics/poses/panda_flange/position", position, 3},
                             {"kinematics/poses/panda_flange/orientation", orientation, 4},
                             {"mass-matrix/mass_matrix", *matrix, (size_t)JOINTS * JOINTS},
                             {"energy/kinetic", &kinetic, 1}};
    torqued_call   call   = {"panda",
                             "evaluate",
                             " { \"operations\" : { \"kinematics\": {\"frames\": [\"panda_flange\"]},"
                                 "\"mass-matrix\":{}, \"energy\":{\"outputs\":[\"kinetic\"]} } } ",
                             in,
                             2,
                             outs,
                             4};
    assert_call(client, TORQUED_OK, torqued_evaluate(client, &call));
    double energy = 0, norm = 0;
    for (int i = 0; i < JOINTS; i++)
        for (int j = 0; j < JOINTS; j++)
            energy += qd[1][i] * matrix[i][j] * qd[1][j] / 2;
    for (int i = 0; i < 4; i++)
        norm += orientation[i] * orientation[i];
    assert_true(fabs(energy - kinetic) < 1e-12);
    assert_true(fabs(norm - 1) < 1e-14);
    assert_true(fabs(position[0]) + fabs(position[1]) + fabs(position[2]) > 0.1);
}

/* A force on the last link must change the torques; each row has a force of its own. */
static void arrays_inside_options(void **state)
{
    double         force[2][3] = {{0, 0, 0}, {0, 0, 10}}, loaded[2][JOINTS];
    torqued_input  in[]        = {{"q", q[0], {JOINTS}}, {"$force", *force, {2, 3}}};
    torqued_output out         = {"tau", *loaded, 2 * (size_t)JOINTS};
    torqued_call   call        = {
                 "panda", "inverse-dynamics", "{\"wrenches\": [{\"link\": \"panda_link7\", \"force\": $force}]}", in, 2, &out,
                 1};
    assert_call(client, TORQUED_OK, torqued_evaluate(client, &call));
    assert_true(fabs(loaded[0][1] - loaded[1][1]) > 1);
}

static void rows_that_fail_alone(void **state)
{
    double         angles[3][6] = {{0.1}, {1e9}, {0.2}}, torques[3][6], row;
    char           code[32];
    size_t         count;
    torqued_input  in   = {"q", *angles, {3, 6}};
    torqued_output out  = {"tau", *torques, 18};
    torqued_call   call = {"puma560", "inverse-dynamics", "{\"on_error\": \"row\"}", &in, 1, &out, 1};
    assert_call(client, TORQUED_OK, torqued_evaluate(client, &call));
    assert_true(isfinite(torques[0][1]) && isnan(torques[1][1]) && isfinite(torques[2][1]));
    assert_call(client, TORQUED_OK, torqued_length(client, "errors", &count));
    assert_int_equal(count, 1);
    assert_call(client, TORQUED_OK, torqued_numbers(client, "errors/0/row", &row, 1, &count));
    assert_true(count == 1 && row == 1);
    assert_call(client, TORQUED_OK, torqued_text(client, "errors/0/code", code, sizeof code));
    assert_string_equal(code, "angle-too-large");
    call.options = NULL;
    assert_call(client, TORQUED_REFUSED, torqued_evaluate(client, &call));
    const torqued_problem *problem = torqued_last_problem(client);
    assert_int_equal(problem->http, 422);
    assert_int_equal(problem->row, 1);
    assert_string_equal(problem->code, "angle-too-large");
    assert_string_equal(problem->pointer, "/q/1/0");
    assert_true(strlen(problem->detail) > 10 && strlen(problem->request_id) == 16);
    assert_true(problem->retry_after == -1.0);
    assert_int_equal(torqued_text(client, "tau", code, sizeof code),
                     TORQUED_BAD_ANSWER); /* a problem must leave no results */
    assert_call(client, TORQUED_OK, ask(client, 0, 0, *tau));
    assert_int_equal(problem->row, -1);
    assert_string_equal(problem->detail, "");
}

static void outputs_of_another_size(void **state)
{
    double         small[6] = {1, 2, 3, 4, 5, 6}, large[8] = {8};
    torqued_input  in     = {"q", q[0], {JOINTS}};
    torqued_output outs[] = {{"tau", *tau, JOINTS}, {"tau", small, 6}};
    torqued_call   call   = {"panda", "inverse-dynamics", NULL, &in, 1, outs, 2};
    tau[0][0]             = 77;
    assert_call(client, TORQUED_BAD_ANSWER, torqued_evaluate(client, &call));
    assert_string_equal(torqued_last_problem(client)->detail, "\"tau\" has 7 numbers, and the caller's array 6");
    assert_true(tau[0][0] == 77 && small[0] == 1);
    outs[1] = (torqued_output){"tau", large, 8};
    assert_call(client, TORQUED_BAD_ANSWER, torqued_evaluate(client, &call));
    outs[1] = (torqued_output){"tau/0", large, 1};
    assert_call(client, TORQUED_BAD_ANSWER, torqued_evaluate(client, &call));
    outs[1] = (torqued_output){"torque", large, 7};
    assert_call(client, TORQUED_BAD_ANSWER, torqued_evaluate(client, &call));
    assert_string_equal(torqued_last_problem(client)->detail, "the answer has no numbers \"torque\"");
    assert_true(tau[0][0] == 77 && large[0] == 8);
}

static void arguments_that_are_refused(void **state)
{
    static const torqued_input ins[] = {{NULL, q[0], {7}},
                                        {"", q[0], {7}},
                                        {"q", NULL, {7}},
                                        {"q", q[0], {0}},
                                        {"q", q[0], {7, 0, 1}},
                                        {"q", q[0], {0, 7}},
                                        {"q", q[0], {SIZE_MAX / 8, 7}}};
    torqued_output             out   = {"tau", *tau, JOINTS};
    torqued_call               call  = {"panda", "inverse-dynamics", NULL, NULL, 1, &out, 1};
    for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++) {
        call.inputs = &ins[i];
        assert_call(client, TORQUED_BAD_ARGUMENT, torqued_evaluate(client, &call));
    }
    torqued_input good = {"q", q[0], {7}};
    call.inputs        = &good;
    char long_name[4000];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *names[]             = {NULL, "", long_name};
    for (size_t i = 0; i < 3; i++) {
        call.model = names[i];
        assert_call(client, TORQUED_BAD_ARGUMENT, torqued_evaluate(client, &call));
        call.model     = "panda";
        call.operation = names[i];
        assert_call(client, TORQUED_BAD_ARGUMENT, torqued_evaluate(client, &call));
        call.operation = "inverse-dynamics";
    }
    call.outputs = NULL;
    assert_call(client, TORQUED_BAD_ARGUMENT, torqued_evaluate(client, &call));
    assert_call(client, TORQUED_BAD_ARGUMENT, torqued_evaluate(client, NULL));
    assert_int_equal(torqued_evaluate(NULL, &call), TORQUED_BAD_ARGUMENT);
    assert_string_equal(torqued_last_problem(NULL)->detail, "there is no client");
    assert_call(client, TORQUED_BAD_ARGUMENT, torqued_get(client, "v1"));
    assert_call(client, TORQUED_BAD_ARGUMENT, torqued_put_model(client, "x", NULL, 0, NULL));
}

/* Names with any characters must reach the server as one segment of the path. */
static void strange_names(void **state)
{
    for (const char *const *name = (const char *const[]){"..", ".", "a/b", "a b", "a%2Fb", "é", "a?b#c", NULL}; *name;
         name++) {
        torqued_status status = torqued_describe(client, *name, &(torqued_model){0});
        assert_call(client, TORQUED_REFUSED, status);
        assert_int_equal(torqued_last_problem(client)->http / 100, 4);
    }
}

/* In a path, ~1 stands for / and ~0 for ~. */
static void names_in_paths(void **state)
{
    static const char document[] =
        "{\"links\": [{\"name\": \"a/b\", \"parent\": \"base\", \"joint\": {\"name\": \"j\", "
        "\"type\": \"revolute\", \"axis\": [0,1,0]}, \"inertial\": {\"mass\": 2}}], \"frames\": ["
        "{\"name\": \"a~b\", \"link\": \"a/b\", \"xyz\": [2,0,0]}, {\"name\": \"a~1b\", \"link\": \"a/b\", \"xyz\": "
        "[3,0,0]}, {\"name\": \"~/\", \"link\": \"a/b\", \"xyz\": [4,0,0]}]}";
    static const char *const paths[] = {"poses/a~1b/position", "poses/a~0b/position", "poses/a~01b/position",
                                        "poses/~0~1/position"};
    double                   zero = 0, at[3] = {0};
    torqued_input            in = {"q", &zero, {1}};
    assert_call(client, TORQUED_OK, torqued_put_model(client, "c_names", document, sizeof document - 1, NULL));
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        torqued_output out  = {paths[i], at, 3};
        torqued_call   call = {
              "c_names", "kinematics", "{\"frames\": [\"a/b\", \"a~b\", \"a~1b\", \"~/\"]}", &in, 1, &out, 1};
        assert_call(client, TORQUED_OK, torqued_evaluate(client, &call));
        assert_true(at[0] == (i == 0 ? 0.0 : (double)i + 1));
    }
    assert_call(client, TORQUED_OK, torqued_delete_model(client, "c_names"));
}

/* Options that are no object in JSON. */
static const char *const malformed_texts[] = {
    "",
    "1",
    "[]",
    "{",
    "{}}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{\"a\":01}",
    "{\"a\":1.2.3}",
    "{\"a\":+1}",
    "{\"a\":.5}",
    "{\"a\":1e999}",
    "{\"a\":nan}",
    "{\"a\":tru}",
    "{\"a\":\"x}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"\\u12\"}",
    "{\"a\":\"\\ud800\"}",
    "{\"a\":\"\\udc00\"}",
    "{\"a\":\"\\ud800\\u0041\"}",
    "{\"a\":\"\n\"}",
    "{\"a\":$b}",
    "{\"a\":[1 2]}",
    "{\"a\":0x10}",
    "{\"a\":-}",
    "{a:1}",
    "{\"a\":'x'}",
};

static void malformed_options(void **state)
{
    torqued_input  in   = {"q", q[0], {JOINTS}};
    torqued_output out  = {"tau", *tau, JOINTS};
    torqued_call   call = {"panda", "inverse-dynamics", NULL, &in, 1, &out, 1};
    for (size_t i = 0; i < sizeof malformed_texts / sizeof malformed_texts[0]; i++) {
        call.options = malformed_texts[i];
        if (torqued_evaluate(client, &call) != TORQUED_BAD_ARGUMENT) fail_msg("%s is accepted", malformed_texts[i]);
        assert_non_null(strstr(torqued_last_problem(client)->detail, "options: expected "));
    }
    char deep[400] = "{\"a\":";
    memset(deep + 5, '[', 300);
    call.options = deep;
    assert_call(client, TORQUED_BAD_ARGUMENT, torqued_evaluate(client, &call));
    call.options = "{\"q\": [1]}"; /* the field twice in one request: the server refuses it */
    assert_call(client, TORQUED_REFUSED, torqued_evaluate(client, &call));
    assert_string_equal(torqued_last_problem(client)->code, "duplicate-key");
}

static void models(void **state)
{
    static const char document[] = "{\"links\": [{\"name\": \"rod\", \"parent\": \"base\", \"joint\": {\"name\": "
                                   "\"hinge\", \"type\": \"revolute\","
                                   "\"axis\": [0,1,0]}, \"inertial\": {\"solid\": \"box\", \"size\": [0.1,0.1,1], "
                                   "\"mass\": 2, \"xyz\": [0,0,-0.5]}}]}";
    static const char urdf[] =
        "\n<robot name=\"r\"><link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/>"
        "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link><joint name=\"j\" "
        "type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 1\"/></joint></robot>";
    torqued_model put, described;
    char          text[64], tiny[3];
    size_t        count;
    assert_call(client, TORQUED_OK, torqued_put_model(client, "c_rod", document, sizeof document - 1, &put));
    assert_call(client, TORQUED_OK, torqued_text(client, "report/0/code", text, sizeof text));
    assert_string_equal(text, "assumed");
    assert_call(client, TORQUED_OK, torqued_describe(client, "c_rod", &described));
    assert_memory_equal(&put, &described, sizeof put);
    assert_true(put.nq == 1 && put.nv == 1 && strlen(put.revision) == 32);
    assert_call(client, TORQUED_OK, torqued_text(client, "velocity_names/0", text, sizeof text));
    assert_string_equal(text, "hinge");
    assert_int_equal(torqued_text(client, "velocity_names/0", tiny, sizeof tiny), TORQUED_BAD_ARGUMENT);
    assert_string_equal(tiny, "hi");
    assert_int_equal(torqued_text(client, "velocity_names/1", text, sizeof text), TORQUED_BAD_ANSWER);
    assert_int_equal(torqued_length(client, "gravity", &count), TORQUED_OK);
    assert_int_equal(count, 3);
    assert_call(client, TORQUED_OK, torqued_put_model(client, "c_rod", urdf, sizeof urdf - 1, &put));
    assert_string_not_equal(put.revision, described.revision);
    assert_call(client, TORQUED_REFUSED, torqued_put_model(client, "c_rod", "{}", 2, NULL));
    assert_call(client, TORQUED_REFUSED, torqued_put_model(client, "c_rod", "", 0, NULL));
    assert_call(client, TORQUED_OK, torqued_delete_model(client, "c_rod"));
    assert_call(client, TORQUED_REFUSED, torqued_describe(client, "c_rod", &put));
    assert_int_equal(torqued_last_problem(client)->http, 404);
    assert_call(client, TORQUED_OK, torqued_get(client, "/v1"));
    assert_call(client, TORQUED_OK, torqued_text(client, "version", text, sizeof text));
    assert_call(client, TORQUED_OK, torqued_length(client, "operations", &count));
    assert_true(count > 10);
    assert_call(client, TORQUED_OK, torqued_length(client, "", &count));
    assert_true(count > 3);
}

static void addresses_and_tokens_that_are_refused(void **state)
{
    const torqued_server servers[] = {
        {.url = "ftp://127.0.0.1"},
        {.url = "127.0.0.1:8088"},
        {.url = "http://user:secret@127.0.0.1"},
        {.url = "http://h/?token=1"},
        {.token = ""},
        {.token = "a b"},
        {.token = "a\r\nDELETE: x"},
        {.token_file = "/no/such/file"},
        {.token_file = "/dev/null"},
        {.timeout = -1},
        {.timeout = NAN},
        {.timeout = 1e9},
    };
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        torqued_problem problem;
        if (torqued_open(&servers[i], &problem)) fail_msg("server %zu is accepted", i);
        assert_int_equal(problem.status, TORQUED_BAD_ARGUMENT);
        assert_true(strlen(problem.detail) > 10);
        assert_null(strstr(problem.detail, "secret"));
    }
    torqued_server  nobody = {.url = "http://127.0.0.1:1"};
    torqued_client *lonely = torqued_open(&nobody, NULL);
    assert_call(lonely, TORQUED_UNREACHABLE, ask(lonely, 0, 0, *tau));
    assert_int_equal(torqued_last_problem(lonely)->http, 0);
    torqued_close(lonely);
}

static void an_answer_beyond_the_limit(void **state)
{
    torqued_server  server = {.url = getenv("TORQUED_URL"), .answer_limit = 10000};
    torqued_client *small  = torqued_open(&server, NULL);
    assert_call(small, TORQUED_NO_MEMORY, ask(small, 0, ROWS, *tau));
    assert_call(small, TORQUED_OK, ask(small, 0, 100, *tau));
    torqued_close(small);
}

static void *ask_often(void *argument)
{
    torqued_client *own_client = open_client();
    double         *to         = argument;
    for (int i = 0; i < 200; i++)
        if (ask(own_client, (size_t)i, 0, to) != TORQUED_OK) *to = NAN;
    torqued_close(own_client);
    return NULL;
}

static void clients_of_several_threads(void **state)
{
    pthread_t threads[4];
    double    torques[4][JOINTS];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, torques[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_call(client, TORQUED_OK, ask(client, 199, 0, *tau));
    for (int i = 0; i < 4; i++)
        assert_memory_equal(torques[i], tau, sizeof torques[i]);
}

#ifdef COUNT_ALLOCATIONS
static void nothing_is_allocated_in_the_steady_state(void **state)
{
    torqued_client *own_client = open_client();
    for (int i = 0; i < 2; i++) {
        assert_call(own_client, TORQUED_OK, ask(own_client, 0, ROWS, *tau));
        assert_call(own_client, TORQUED_OK, ask(own_client, 0, 0, *tau));
    }
    long before = allocations;
    for (size_t i = 0; i < 500; i++)
        if (ask(own_client, i, 0, *tau) != TORQUED_OK) fail();
    for (size_t i = 0; i < 20; i++)
        if (ask(own_client, i, ROWS - i, *tau) != TORQUED_OK) fail();
    assert_int_equal(allocations - before, 0);
    torqued_close(own_client);
    assert_true(before > 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_has_the_bits_of_single_states),
        cmocka_unit_test(options_and_nested_outputs),
        cmocka_unit_test(arrays_inside_options),
        cmocka_unit_test(rows_that_fail_alone),
        cmocka_unit_test(outputs_of_another_size),
        cmocka_unit_test(arguments_that_are_refused),
        cmocka_unit_test(strange_names),
        cmocka_unit_test(names_in_paths),
        cmocka_unit_test(malformed_options),
        cmocka_unit_test(models),
        cmocka_unit_test(addresses_and_tokens_that_are_refused),
        cmocka_unit_test(an_answer_beyond_the_limit),
        cmocka_unit_test(clients_of_several_threads),
#ifdef COUNT_ALLOCATIONS
        cmocka_unit_test(nothing_is_allocated_in_the_steady_state),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
