/* store_folder.c - opens, changes and inspects a store in a temporary folder (store_folder.h). */
#include "store_folder.h"
#include "server/store/checksum.h"
#include "server/store/durable_file.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char        store_folder[60], store_error[600];
static char base[40];
srv_log     store_log = {
        .level = SRV_ERROR, .json = true, .length = SRV_LOG_CAPACITY}; /* a log whose buffer is full and that has no writer
                                                                          thread, so     that all lines are dropped */

static void remove_tree(const char *path)
{
    char line[100];
    snprintf(line, sizeof line, "rm -rf %s", path);
    assert_int_equal(system(line), 0);
}

int make_base(void **state)
{
    /* a folder in memory if the system has one, where thousands of syncs take no time */
    snprintf(base, sizeof base, "%s/torqued-store-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(base)) return -1;
    snprintf(store_folder, sizeof store_folder, "%s/store", base);
    return 0;
}

int drop_base(void **state)
{
    remove_tree(base);
    return 0;
}

int clear_folder(void **state)
{
    remove_tree(store_folder);
    return 0;
}

srv_store *open_store(void)
{
    srv_store *store = srv_store_open(store_folder, &store_log, store_error, sizeof store_error);
    if (!store) fail_msg("%s", store_error);
    return store;
}

api_code change(srv_store *store, const char *name, const char *text)
{
    api_store   s = srv_store_interface(store);
    api_problem problem;
    api_problem_clear(&problem);
    api_numbering none = {0};
    bool done = text ? s.save(s.arg, name, text, strlen(text), &none, &problem) : s.erase(s.arg, name, &none, &problem);
    assert_int_equal(done, problem.code == API_NO_PROBLEM);
    return problem.code;
}

char *record_path(const char *file)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/models/%s", store_folder, file);
    return path;
}

const char *content(const char *file)
{
    static char *text;
    size_t       length;
    free(text);
    text = srv_file_read(AT_FDCWD, record_path(file), 1 << 20, &length);
    if (text) assert_true(srv_checksum_remove(text, &length));
    return text;
}

bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static api *open_api(void)
{
    char       message[200];
    api_config config  = {.version = "test",
                          .limits  = {.body    = 1 << 20,
                                      .answer  = 1 << 20,
                                      .memory  = 1 << 24,
                                      .rows    = 10,
                                      .nesting = 20,
                                      .models  = 10,
                                      .links   = 10,
                                      .timeout = 1}};
    api       *service = api_open(&config, message, sizeof message);
    assert_non_null(service);
    return service;
}

srv_restored start_again(void)
{
    srv_restored restored;
    api         *service = open_api();
    srv_store   *store   = open_store();
    if (!srv_store_restore(store, service, &restored, store_error, sizeof store_error)) fail_msg("%s", store_error);
    srv_store_close(store);
    api_close(service);
    assert_int_equal(access(record_path(".next"), F_OK), -1);
    assert_int_equal(access(record_path(".previous"), F_OK), -1);
    return restored;
}

void prepare(const char *before)
{
    clear_folder(NULL);
    srv_store *store = open_store();
    if (before) assert_int_equal(change(store, "m", before), API_NO_PROBLEM);
    assert_int_equal(change(store, "bystander", OLD), API_NO_PROBLEM);
    srv_store_close(store);
}
