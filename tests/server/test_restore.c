/* test_restore.c - restores a store on several threads: models, revisions, their order and the problems must be those
 * of one thread. */
#include "tests/server/support/store_folder.h"
#include "server/store/durable_file.h"
#include "server/store/record_loader.h"
#include "server/work/startup_tasks.h"
#include "tests/target.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODELS = 60, LINKS = 400, TASKS = 1000, TOLD = 10000, MEMORY = 800000 };

static void put_records(void)
{
    char name[40], text[400];
    prepare(NULL);
    srv_store *store = open_store();
    for (int i = 0; i < MODELS; i++) {
        snprintf(name, sizeof name, "m%d", i * 37 % MODELS);
        snprintf(text, sizeof text,
                 "{\"document\":{\"links\":[{\"name\":\"a\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":"
                 "\"revolute\",\"axis\":["
                 "0,0,1]},"
                 "\"inertial\":{\"mass\":%d,\"inertia\":{\"xx\":1,\"yy\":1,\"zz\":1}}}]},\"report\":[]}",
                 i + 1);
        assert_int_equal(change(store, name, text), API_NO_PROBLEM);
    }
    srv_store_close(store);
    put_file(record_path("z-torn.json"), "{\"document\":");
    put_file(record_path("b-torn.json"), "{\"document\":7}");
    put_file(record_path("notes.txt"), "");
    put_file(record_path(SRV_RECORD_NEXT), "");
}

/* Opens a service. `memory`: bytes for all models; 0: no limit. */
static api *open_service(size_t memory)
{
    char       message[200];
    api_config config = {
        .version = "test",
        .target  = test_target(),
        .limits  = {.models = 2 * MODELS, .links = LINKS, .nesting = 20, .timeout = 1, .model_memory = memory}};
    api *service = api_open(&config, message, sizeof message);
    assert_non_null(service);
    return service;
}

/* Restores all records. Returns the archive of the models, which the caller frees, and the reported problems with files
   in `told`. */
static char *restore_on(size_t threads, size_t memory, char told[TOLD])
{
    srv_record_files files;
    api             *service = open_service(memory);
    int              folder  = srv_folder_open(AT_FDCWD, record_path(""));
    size_t           length, n = 0;
    assert_true(folder >= 0);
    assert_true(srv_records_list(folder, true, &files));
    srv_records_restore(folder, service, threads, &files);
    told[0] = '\0';
    for (size_t i = 0; i < files.n; i++) {
        if (i > 0) assert_true(strcmp(files.file[i - 1].name, files.file[i].name) < 0);
        assert_int_equal(files.file[i].good, files.file[i].problem == NULL);
        if (!files.file[i].good)
            n += (size_t)snprintf(told + n, TOLD - n, "%s: %s\n", files.file[i].name, files.file[i].problem);
    }
    srv_records_free(&files);
    close(folder);
    api_problem problem;
    api_problem_clear(&problem);
    char *archive = api_export(service, "2026-11-28T22:00:00Z", &length, &problem);
    assert_non_null(archive);
    api_close(service);
    return archive;
}

static void test_threads_do_not_matter(void **state)
{
    static const size_t threads[] = {2, 3, 16, 1000};
    char                first_told[TOLD], told[TOLD];
    put_records();
    char *first = restore_on(1, 0, first_told);
    assert_non_null(strstr(first, "\"m59\""));
    assert_non_null(strstr(first_told, "b-torn.json: "));
    assert_non_null(strstr(first_told, "notes.txt: it is not called NAME.json"));
    assert_int_equal(access(record_path(SRV_RECORD_NEXT), F_OK), -1);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        char *archive = restore_on(threads[i], 0, told);
        assert_string_equal(archive, first);
        assert_string_equal(told, first_told);
        free(archive);
    }
    free(first);
}

/* Stores a chain of links, which takes longer to restore than other records. */
static void put_long_chain(const char *name)
{
    static char text[LINKS * 200];
    size_t      n     = (size_t)sprintf(text, "{\"document\":{\"links\":[");
    srv_store  *store = open_store();
    for (int i = 0; i < LINKS; i++)
        n += (size_t)sprintf(
            text + n,
            "%s{\"name\":\"l%d\",\"parent\":\"%s%.0d\",\"joint\":{\"name\":\"j%d\",\"type\":\"revolute\","
            "\"axis\":[0,0,1]},\"inertial\":{\"mass\":1,\"inertia\":{\"xx\":1,\"yy\":1,\"zz\":1}}}",
            i ? "," : "", i + 1, i ? "l" : "base", i, i);
    sprintf(text + n, "]},\"report\":[]}");
    assert_int_equal(change(store, name, text), API_NO_PROBLEM);
    srv_store_close(store);
}

/* If not all models fit, the first ones in the order of their names must be served, however long each takes to
   restore. */
static void test_the_first_by_name_fit(void **state)
{
    static const size_t threads[] = {2, 3, 16, 1000};
    char                first_told[TOLD], told[TOLD];
    put_records();
    put_long_chain("a-long");
    char *first = restore_on(1, MEMORY, first_told);
    assert_non_null(strstr(first, "\"a-long\""));
    assert_non_null(strstr(first, "\"m0\""));
    assert_non_null(strstr(first_told, "m9.json: the model needs "));
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        char *archive = restore_on(threads[i], MEMORY, told);
        assert_string_equal(archive, first);
        assert_string_equal(told, first_told);
        free(archive);
    }
    free(first);
}

static atomic_int calls[TASKS];

static void count_call(void *arg, size_t i)
{
    assert_ptr_equal(arg, calls);
    atomic_fetch_add(&calls[i], 1);
}

static void test_every_task_runs_once(void **state)
{
    static const size_t threads[] = {0, 1, 2, 5, 10000};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        srv_run_startup_tasks(threads[k], 0, count_call, calls);
        srv_run_startup_tasks(threads[k], TASKS, count_call, calls);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(atomic_load(&calls[i]), (int)k + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_do_not_matter),
                                       cmocka_unit_test(test_the_first_by_name_fit),
                                       cmocka_unit_test(test_every_task_runs_once)};
    return cmocka_run_group_tests(tests, make_base, drop_base);
}
