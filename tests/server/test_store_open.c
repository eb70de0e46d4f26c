/* test_store_open.c - checks the opening of a store: lock, format, unreadable files, full and read-only disks. */
#define _GNU_SOURCE
#include "tests/server/support/store_folder.h"
#include "server/store/durable_file.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- opening --------------------------------------------------------------------------------------------------- */

static void assert_not_opened(const char *path, const char *said)
{
    assert_null(srv_store_open(path, &store_log, store_error, sizeof store_error));
    if (!strstr(store_error, said) || !strstr(store_error, path))
        fail_msg("\"%s\" does not say \"%s\" and where", store_error, said);
}

static void test_one_server_at_a_time(void **state)
{
    char       process[40];
    srv_store *store = open_store();
    snprintf(process, sizeof process, "(process %ld)", (long)getpid());
    assert_not_opened(store_folder, process);
    assert_non_null(strstr(store_error, "in use by another torqued"));
    assert_int_equal(change(store, "m", NEW), API_NO_PROBLEM);
    srv_store_close(store);
    store = open_store();
    srv_store_close(store);
}

static void test_folders_are_made(void **state)
{
    static const char *const below[] = {"", "/", "/a/b//c/", "/a/b/d"};
    char                     path[200];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", store_folder, below[i]);
        srv_store *store = srv_store_open(path, &store_log, store_error, sizeof store_error);
        if (!store) fail_msg("%s", store_error);
        srv_store_close(store);
    }
    snprintf(path, sizeof path, "%s/format/x", store_folder);
    assert_not_opened(path, "Not a directory");
    snprintf(path, sizeof path, "%s/format", store_folder);
    assert_not_opened(path, "Not a directory");
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_null(srv_store_open(long_path, &store_log, store_error, sizeof store_error));
    assert_non_null(strstr(store_error, "too long"));
}

static void test_other_formats_are_left_alone(void **state)
{
    static const char *const formats[] = {"torqued-store 2\n", "", "torqued-store 1", "torqued-store 10\n"};
    char                     path[100];
    prepare(OLD);
    snprintf(path, sizeof path, "%s/format", store_folder);
    for (int i = 0; i < 4; i++) {
        put_file(path, formats[i]);
        assert_not_opened(store_folder, "has the format");
        size_t length;
        char  *text = srv_file_read(AT_FDCWD, path, 100, &length);
        assert_string_equal(text, formats[i]);
        free(text);
    }
}

static void test_unreadable_files_are_kept(void **state)
{
    static const char *const names[] = {"torn.json", "empty.json", "notes.txt", ".hidden", "-bad.json", ".json"};
    enum { NAMES = sizeof names / sizeof names[0] };
    prepare(OLD);
    for (int i = 0; i < NAMES; i++)
        put_file(record_path(names[i]), i == 1 ? "" : "{\"document\":{\"li");
    assert_int_equal(mkfifo(record_path("pipe.json"), 0600), 0);
    assert_int_equal(mkdir(record_path("folder.json"), 0700), 0);
    assert_int_equal(symlink("nowhere", record_path("link.json")), 0);
    for (int round = 0; round < 2; round++) {
        srv_restored restored = start_again();
        assert_int_equal(restored.good, 2);
        assert_int_equal(restored.bad, NAMES + 3);
        for (int i = 0; i < NAMES; i++)
            assert_string_equal(content(names[i]), i == 1 ? "" : "{\"document\":{\"li");
    }
    srv_store *store = open_store();
    assert_int_equal(change(store, "torn", NEW),
                     API_NO_PROBLEM); /* a new model of that name replaces the unreadable file */
    srv_store_close(store);
    assert_int_equal(start_again().bad, NAMES + 2);
}

/* A symbolic link in the folder must not make the server write elsewhere. */
static void test_links_are_not_followed(void **state)
{
    char path[100];
    prepare(OLD);
    srv_store *store = open_store();
    snprintf(path, sizeof path, "%s/elsewhere", store_folder);
    put_file(path, "precious");
    assert_int_equal(symlink(path, record_path(".next")), 0);
    assert_int_equal(change(store, "m", NEW), API_STORE_FAILED);
    size_t length;
    char  *text = srv_file_read(AT_FDCWD, path, 100, &length);
    assert_string_equal(text, "precious");
    free(text);
    assert_true(same(content("m.json"), OLD));
    assert_int_equal(change(store, "m", NEW), API_NO_PROBLEM); /* the link has been removed */
    assert_true(same(content("m.json"), NEW));
    srv_store_close(store);
}

/* A file as long as the limit must be refused: one byte is kept for the NUL. */
static void test_files_are_read_below_a_limit(void **state)
{
    char   path[100];
    size_t length = 0;
    prepare(OLD);
    snprintf(path, sizeof path, "%s/some", store_folder);
    put_file(path, "12345678");
    char *text = srv_file_read(AT_FDCWD, path, 9, &length);
    assert_string_equal(text, "12345678");
    assert_int_equal(length, 8);
    free(text);
    errno = 0;
    assert_null(srv_file_read(AT_FDCWD, path, 8, &length));
    assert_int_equal(errno, EFBIG);
}

/* --- disks ----------------------------------------------------------------------------------------------------- */

/* A change that exceeds the limit of the file size must be refused, and the old record must stay. */
static void test_a_record_too_large(void **state)
{
    char          large[5000];
    struct rlimit before, limit;
    prepare(OLD);
    memset(large, ' ', sizeof large - 1);
    memcpy(large + sizeof large - 3, "{}", sizeof "{}");
    srv_store *store = open_store();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit          = before;
    limit.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    api_code code = change(store, "m", large);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, API_STORE_FULL);
    assert_true(same(content("m.json"), OLD));
    assert_int_equal(change(store, "m", large), API_NO_PROBLEM);
    srv_store_close(store);
}

/* Mounts a file system that only this process sees and that disappears when it ends. */
static bool mount_disk(const char *options)
{
    static bool alone;
    if (!alone && (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)) return false;
    alone = true;
    assert_true(mkdir(store_folder, 0700) == 0 || errno == EEXIST);
    return mount("none", store_folder, "tmpfs", 0, options) == 0;
}

static void test_a_full_disk(void **state)
{
    char name[20];
    int  taken = 0;
    if (!mount_disk("size=128k")) skip();
    srv_store *store = open_store();
    api_code   code;
    for (;; taken++) {
        snprintf(name, sizeof name, "m%d", taken);
        code = change(store, name, OLD);
        if (code != API_NO_PROBLEM) break;
    }
    assert_int_equal(code, API_STORE_FULL);
    assert_in_range(taken, 5, 100);
    assert_int_equal(change(store, "m0", NULL), API_NO_PROBLEM); /* erasing a record frees space, so that the next
                                                                    change succeeds */
    assert_int_equal(change(store, name, NEW), API_NO_PROBLEM);
    assert_int_equal(change(store, "more", NEW), API_STORE_FULL);
    srv_store_close(store);
    srv_restored restored = start_again();
    assert_true(restored.bad == 0 && restored.good == (size_t)taken);
    assert_int_equal(umount(store_folder), 0);
}

static void test_a_read_only_disk(void **state)
{
    if (!mount_disk("size=1m")) skip();
    srv_store *store = open_store();
    assert_int_equal(change(store, "m", OLD), API_NO_PROBLEM);
    srv_store_close(store); /* a file system with files open for writing cannot be remounted read-only */
    assert_false(start_again().read_only);
    assert_int_equal(mount("none", store_folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    srv_restored found = start_again();
    assert_int_equal(found.good, 1); /* the models of a read-only store are served */
    assert_true(found.read_only);
    store = open_store();
    assert_not_opened(store_folder, "in use");
    assert_int_equal(change(store, "m", NEW), API_STORE_FAILED);
    assert_int_equal(change(store, "new", NEW), API_STORE_FAILED);
    assert_int_equal(change(store, "m", NULL), API_STORE_FAILED);
    srv_store_close(store);
    assert_true(same(content("m.json"), OLD));
    assert_int_equal(umount(store_folder), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_one_server_at_a_time),
        TEST(test_folders_are_made),
        TEST(test_other_formats_are_left_alone),
        TEST(test_unreadable_files_are_kept),
        TEST(test_links_are_not_followed),
        TEST(test_files_are_read_below_a_limit),
        TEST(test_a_record_too_large),
        TEST(test_a_full_disk),
        TEST(test_a_read_only_disk),
    };
    return cmocka_run_group_tests(tests, make_base, drop_base);
}
