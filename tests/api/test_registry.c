/* test_registry.c - puts, deletes, lists and evaluates models in several threads at once; checks the limits of
 * models. */
#include "tests/api/support/door.h"
#include "api/robots/registry/registry.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 300 };

/* Writes the document of a prismatic joint with that mass in kg: tau = mass * qdd. */
static size_t document(char *text, size_t size, int mass)
{
    return (size_t)snprintf(
        text, size,
        "{\"gravity\":[0,0,0],\"links\":[{\"name\":\"c\",\"parent\":\"base\",\"joint\":{\"name\":\"j\","
        "\"type\":\"prismatic\",\"axis\":[0,0,1]},\"inertial\":{\"mass\":%d}}]}",
        mass);
}

static unsigned run(api_worker *worker, const api_request *head, const char *body, char *reply, size_t size)
{
    api_call *call = api_begin(door_api(), head);
    if (api_wants_body(call)) api_run(call, worker, body, strlen(body), NULL);
    unsigned status = api_reply_of(call)->status;
    snprintf(reply, size, "%s", api_reply_of(call)->body ? api_reply_of(call)->body : "");
    api_end(call);
    return status;
}

/* Runs one client among several and counts inconsistent answers. */
static void *client(void *arg)
{
    uintptr_t   me = (uintptr_t)arg, wrong = 0;
    api_worker *worker = api_worker_open();
    char        text[300], reply[2000];
    api_request put     = {.method = "PUT", .target = "/v1/models/shared"},
                list    = {.method = "GET", .target = "/v1/models"};
    api_request drop    = {.method = "DELETE", .target = "/v1/models/shared"};
    api_request ask_tau = {.method = "POST", .target = "/v1/models/shared/inverse-dynamics"};
    for (int i = 0; i < ROUNDS; i++) {
        document(text, sizeof text, 1 + (int)((uintptr_t)i + me) % 3);
        unsigned status = run(worker, &put, text, reply, sizeof reply);
        wrong += status != 200 && status != 201;
        status = run(worker, &ask_tau, "{\"q\":[0],\"qdd\":[1]}", reply, sizeof reply);
        bool one_of_three =
            !strcmp(reply, "{\"tau\":[1]}") || !strcmp(reply, "{\"tau\":[2]}") || !strcmp(reply, "{\"tau\":[3]}");
        wrong += status != 404 && (status != 200 || !one_of_three);
        wrong += run(worker, &list, "", reply, sizeof reply) != 200;
        if (i % 3 == 0) status = run(worker, &drop, "", reply, sizeof reply);
        wrong += i % 3 == 0 && status != 204 && status != 404;
    }
    api_worker_close(worker);
    return (void *)wrong;
}

static void clients_at_once(void **state)
{
    pthread_t thread[THREADS];
    door_open(NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, client, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    door_close();
}

/* Runs one of several creators with If-None-Match: *, of which exactly one must succeed. */
static void *creator(void *arg)
{
    char        text[300], reply[2000];
    api_worker *worker = api_worker_open();
    api_request put    = {.method = "PUT", .target = arg, .if_none_match = "*"};
    document(text, sizeof text, 1);
    uintptr_t created = run(worker, &put, text, reply, sizeof reply) == 201;
    api_worker_close(worker);
    return (void *)created;
}

static void one_creator_wins(void **state)
{
    door_open(NULL);
    for (int round = 0; round < 50; round++) {
        pthread_t thread[THREADS];
        uintptr_t winners = 0;
        char      target[40];
        snprintf(target, sizeof target, "/v1/models/new%d", round);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, creator, target), 0);
        for (int i = 0; i < THREADS; i++) {
            void *created;
            pthread_join(thread[i], &created);
            winners += (uintptr_t)created;
        }
        assert_int_equal(winners, 1);
    }
    door_close();
}

static void lists_are_sorted(void **state)
{
    static const char *const names[] = {"zeta", "a", "B", "m.1", "m-1", "m_1", "0"};
    char                     text[300], target[40];
    const char              *before = "";
    door_open(NULL);
    document(text, sizeof text, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(target, sizeof target, "/v1/models/%s", names[i]);
        assert_int_equal(ask("PUT", target, text)->status, 201);
    }
    const json_t *models = json_object_get(ask("GET", "/v1/models", NULL)->json, "models");
    assert_int_equal(json_array_size(models), 3 + sizeof names / sizeof *names);
    for (size_t i = 0; i < json_array_size(models); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(models, i), "name"));
        assert_true(strcmp(before, name) < 0);
        before = name;
    }
    door_close();
}

/* A tombstone (the mark of a deleted model) must no longer count its model in the limit of models; deleting again, or
   deleting a name without a model, must not change the count. */
static void tombstones_and_the_limit(void **state)
{
    static const api_preconditions any;
    api_problem                    problem;
    api_registry                  *r = api_registry_new(2, 0);
    char                           text[300], name[2] = "a";
    api_model                     *model[4];
    api_problem_clear(&problem);
    for (int i = 0; i < 4; i++, name[0]++) {
        model[i] = api_model_from_text(text, document(text, sizeof text, 1 + i), name, 20, 10, &problem);
        assert_non_null(model[i]);
    }
    assert_int_equal(api_registry_put(r, model[0], &any, NULL, &problem), API_CREATED);
    assert_int_equal(api_registry_put(r, model[1], &any, NULL, &problem), API_CREATED);
    assert_int_equal(api_registry_put(r, model[2], &any, NULL, &problem), API_REGISTRY_FULL);
    assert_int_equal(api_registry_put(r, model[1], &any, NULL, &problem), API_REPLACED);
    assert_int_equal(api_registry_put_tombstone(r, "a", &problem), API_DELETED);
    assert_int_equal(api_registry_put_tombstone(r, "a", &problem), API_MODEL_NOT_FOUND);
    assert_int_equal(api_registry_put_tombstone(r, "z", &problem), API_DELETED); /* a tombstone for a name without a
                                                                                    model */
    assert_null(api_registry_find(r, "a"));
    assert_int_equal(api_registry_put(r, model[2], &any, NULL, &problem), API_CREATED);
    assert_int_equal(api_registry_put(r, model[3], &any, NULL, &problem), API_REGISTRY_FULL);
    assert_int_equal(api_registry_delete(r, "b", &any, NULL, &problem), API_DELETED);
    assert_int_equal(api_registry_delete(r, "a", &any, NULL, &problem), API_MODEL_NOT_FOUND);
    assert_int_equal(api_registry_put(r, model[0], &any, NULL, &problem), API_CREATED);
    assert_int_equal(api_registry_put(r, model[3], &any, NULL, &problem), API_REGISTRY_FULL);
    api_registry_free(r);
    for (int i = 0; i < 4; i++)
        api_model_release(model[i]);
}

/* Simulates a shared store: while it saves a change of this server, a model of another server arrives. */
typedef struct busy_store {
    api_registry *registry;
    api_model    *arriving;
    api_problem   problem; /* problem of the arriving model */
} busy_store;

static bool save_while_busy(void *arg, const char *name, const char *record, size_t length, api_numbering *numbering,
                            api_problem *problem)
{
    busy_store *s = arg;
    api_problem_clear(&s->problem);
    api_registry_load(s->registry, s->arriving->name, s->arriving, (api_origin){.number = 1}, &s->problem);
    numbering->number = 2;
    return true;
}

/* A change that waits for the store must keep its reserved memory: a model that arrives meanwhile must not take it. */
static void memory_is_reserved_while_the_store_saves(void **state)
{
    static const api_preconditions any;
    api_problem                    problem;
    char                           text[300], name[2] = "a";
    api_model                     *model[3];
    api_problem_clear(&problem);
    for (int i = 0; i < 3; i++, name[0]++) {
        model[i] = api_model_from_text(text, document(text, sizeof text, 1), name, 20, 10, &problem);
        assert_non_null(model[i]);
    }
    size_t          room  = api_model_bytes(model[0]) * 2;
    api_registry   *r     = api_registry_new(9, room);
    busy_store      busy  = {.registry = r, .arriving = model[1]};
    const api_store store = {.save = save_while_busy, .arg = &busy};
    assert_int_equal(api_registry_put(r, model[0], &any, NULL, &problem), API_CREATED);
    api_registry_set_store(r, &store);
    assert_int_equal(api_registry_put(r, model[2], &any, NULL, &problem), API_CREATED);
    assert_int_equal(busy.problem.code, API_INSUFFICIENT_STORAGE);
    assert_null(api_registry_find(r, "b"));
    assert_int_equal(api_registry_delete(r, "a", &any, NULL, &problem), API_DELETED);
    assert_int_equal(api_registry_put(r, model[2], &any, NULL, &problem), API_REPLACED); /* a model of the same size */
    assert_int_equal(busy.problem.code, API_NO_PROBLEM);
    assert_int_equal(api_registry_put(r, model[0], &any, NULL, &problem), API_NOT_STORED);
    assert_int_equal(problem.code, API_INSUFFICIENT_STORAGE);
    api_registry_free(r);
    for (int i = 0; i < 3; i++)
        api_model_release(model[i]);
}

typedef struct told {
    size_t good, bad;
    char   problems[4][900];
} told;

static void tell(void *arg, const char *file, const char *problem)
{
    told *t = arg;
    if (!problem)
        t->good++;
    else if (t->bad < 4)
        snprintf(t->problems[t->bad++], sizeof t->problems[0], "%s: %s", file, problem);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void folders_are_loaded_under_their_file_names(void **state)
{
    char dir[] = "/tmp/torqued-models-XXXXXX", text[300], command[100];
    told t     = {0};
    assert_non_null(mkdtemp(dir));
    document(text, sizeof text, 2);
    write_file(dir, "good.json", text);
    write_file(dir, "bad.json", "{\"links\":[{}]}");
    write_file(dir, "torn.json", "{\"links\":");
    write_file(dir, "-name.json", text);
    write_file(dir, "README.md", "not a model");
    write_file(dir, ".hidden.json", text);
    door_open(NULL);
    assert_true(api_load_models(door_api(), dir, tell, &t));
    assert_int_equal(t.good, 1);
    assert_int_equal(t.bad, 3);
    assert_non_null(strstr(t.problems[0], "-name.json: "));
    assert_non_null(strstr(t.problems[1], "bad.json: "));
    assert_non_null(strstr(t.problems[1], " at /links/0"));
    assert_non_null(strstr(t.problems[2], "torn.json: "));
    assert_int_equal(ask("GET", "/v1/models/good", NULL)->status, 200);
    assert_string_equal(json_string_value(json_object_get(ask("GET", "/v1/models/good/document", NULL)->json, "name")),
                        "good");
    assert_false(api_load_models(door_api(), "/nowhere", tell, &t));
    door_close();
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* A bundled file of exactly the limit's length must be read, one byte more must be refused. */
static void bundled_files_have_a_limit(void **state)
{
    char       dir[]  = "/tmp/torqued-models-XXXXXX", text[4098], command[100];
    told       t      = {0};
    api_limits limits = door_limits;
    limits.body       = sizeof text - 2;
    assert_non_null(mkdtemp(dir));
    document(text, sizeof text, 2);
    memset(text + strlen(text), ' ', sizeof text - strlen(text));
    text[limits.body] = '\0';
    write_file(dir, "fits.json", text);
    text[limits.body]     = ' ';
    text[limits.body + 1] = '\0';
    write_file(dir, "large.json", text);
    door_open(&limits);
    assert_true(api_load_models(door_api(), dir, tell, &t));
    assert_int_equal(t.good, 1);
    assert_int_equal(t.bad, 1);
    assert_non_null(strstr(t.problems[0], "large.json: 4097 bytes; the limit is 4096"));
    door_close();
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_at_once),
        cmocka_unit_test(one_creator_wins),
        cmocka_unit_test(lists_are_sorted),
        cmocka_unit_test(folders_are_loaded_under_their_file_names),
        cmocka_unit_test(tombstones_and_the_limit),
        cmocka_unit_test(memory_is_reserved_while_the_store_saves),
        cmocka_unit_test(bundled_files_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
