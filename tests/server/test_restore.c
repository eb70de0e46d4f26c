/* test_restore.c - restore a store on several threads: models, revisions, their order and the problems are those of one
 * thread. */
#include "store_folder.h"
#include "server/store/durable_file.h"
#include "server/store/restore.h"
#include "server/work/parallel.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODELS = 60, TASKS = 1000 };

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
    put_file(record_path("old"), "");
}

static api *open_service(void)
{
    char       message[200];
    api_config config = {.version = "test", .limits = {.models = 2 * MODELS, .links = 10, .nesting = 20, .timeout = 1}};
    api       *service = api_open(&config, message, sizeof message);
    assert_non_null(service);
    return service;
}

/* Restores all records. Returns the archive of the models, and what was told of the files, which the caller frees. */
static char *restore_on(size_t threads, char told[4000])
{
    static const char *const leftover[] = {"old", NULL};
    srv_record_files         files;
    api                     *service = open_service();
    int                      folder  = srv_folder_open(AT_FDCWD, record_path(""));
    size_t                   length, n = 0;
    assert_true(folder >= 0);
    assert_true(srv_records_list(folder, leftover, &files));
    srv_records_restore(folder, service, threads, &files);
    told[0] = '\0';
    for (size_t i = 0; i < files.n; i++) {
        if (i > 0) assert_true(strcmp(files.file[i - 1].name, files.file[i].name) < 0);
        assert_int_equal(files.file[i].good, files.file[i].problem == NULL);
        if (!files.file[i].good)
            n += (size_t)snprintf(told + n, 4000 - n, "%s: %s\n", files.file[i].name, files.file[i].problem);
    }
    assert_int_equal(files.n, MODELS + 4); /* with the bystander */
    srv_records_free(&files);
    close(folder);
    char *archive = api_export(service, &length);
    assert_non_null(archive);
    api_close(service);
    return archive;
}

static void test_threads_do_not_matter(void **state)
{
    static const size_t threads[] = {2, 3, 16, 1000};
    char                first_told[4000], told[4000];
    put_records();
    char *first = restore_on(1, first_told);
    assert_non_null(strstr(first, "\"m59\""));
    assert_non_null(strstr(first_told, "b-torn.json: "));
    assert_non_null(strstr(first_told, "notes.txt: it is not called NAME.json"));
    assert_int_equal(access(record_path("old"), F_OK), -1);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        char *archive = restore_on(threads[i], told);
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
        srv_run_parallel(threads[k], 0, count_call, calls);
        srv_run_parallel(threads[k], TASKS, count_call, calls);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(atomic_load(&calls[i]), (int)k + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_do_not_matter),
                                       cmocka_unit_test(test_every_task_runs_once)};
    return cmocka_run_group_tests(tests, make_base, drop_base);
}
