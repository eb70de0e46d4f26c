/* test_store.c - checks changes of a store on disk: each system call of a change fails in turn, and the process ends
 * before each call in turn. */
#include "tests/server/support/store_folder.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- faults injected into system calls ------------------------------------------------------------------------- */

/* Describes the injected fault: at call number `call` (0: never), and with `from_there` at all later calls. */
static struct {
    int    call, count, error;
    bool   dies, from_there;
    size_t piece;          /* most bytes that one write accepts; 0: all */
    char   trace[64];      /* one letter per call; D: sync of a folder, f: sync of a file */
    char   synced[8][200]; /* the first folders that were synced, in order */
    int    n_synced;
} fault;

static void note_synced(int fd)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fault.n_synced < 8 && readlink(link, fault.synced[fault.n_synced], sizeof fault.synced[0] - 1) > 0)
        fault.n_synced++;
}

static bool strikes(char letter)
{
    size_t n = strlen(fault.trace);
    if (n + 1 < sizeof fault.trace) fault.trace[n] = letter;
    fault.count++;
    bool now = fault.call != 0 && (fault.count == fault.call || (fault.from_there && fault.count > fault.call));
    if (now && fault.dies) _exit(9);
    if (now) errno = fault.error;
    return now;
}

static void arm(int call, int error, bool dies)
{
    memset(&fault, 0, sizeof fault);
    fault.call  = call;
    fault.error = error;
    fault.dies  = dies;
}

/* These functions replace those of the C library. */
ssize_t write(int fd, const void *bytes, size_t length)
{
    if (fault.piece > 0 && length > fault.piece) length = fault.piece;
    return strikes('w') ? -1 : syscall(SYS_write, fd, bytes, length);
}

int fsync(int fd)
{
    struct stat about;
    bool        folder = fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
    if (folder) note_synced(fd);
    return strikes(folder ? 'D' : 'f') ? -1 : (int)syscall(SYS_fsync, fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
    return strikes('r') ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    return strikes('l') ? -1 : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int unlinkat(int folder, const char *name, int flags)
{
    return strikes('u') ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
}

static int no_fault(void **state)
{
    arm(0, 0, false);
    return clear_folder(state);
}

/* --- changes --------------------------------------------------------------------------------------------------- */

/* Every kind of change, with the record before and after; NULL: no record. */
static const struct {
    const char *before, *after;
} changes[] = {{NULL, NEW}, {OLD, NEW}, {OLD, NULL}, {NULL, NULL}};
enum { CHANGES = 4, CALLS_MOST = 30 };

/* A record's bytes must be on the disk before its name, and its name before the change is acknowledged. */
static void test_order(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        prepare(changes[i].before);
        srv_store *store = open_store();
        arm(0, 0, false);
        assert_int_equal(change(store, "m", changes[i].after), API_NO_PROBLEM);
        const char *bytes = strchr(fault.trace, 'f'), *name = strchr(fault.trace, 'r'),
                   *sync = strchr(fault.trace, 'D');
        bool saves = changes[i].after != NULL, nothing = !saves && !changes[i].before;
        if (!nothing && (!name || !sync || sync < name || strrchr(fault.trace, 'r') > sync))
            fail_msg("%s", fault.trace);
        if (saves && (!bytes || bytes > name || strrchr(fault.trace, 'w') > bytes)) fail_msg("%s", fault.trace);
        srv_store_close(store);
        assert_true(same(content("m.json"), changes[i].after));
        assert_int_equal(start_again().bad, 0);
    }
}

/* Call number `call` fails: the change must be acknowledged and complete, or refused and undone. The same change must
 * succeed afterwards. Returns false if there are fewer calls. */
static bool survive_failure(const char *before, const char *after, int call, int number, api_code refusal)
{
    prepare(before);
    srv_store *store = open_store();
    arm(call, number, false);
    api_code code    = change(store, "m", after);
    bool     reached = fault.count >= call;
    arm(0, 0, false);
    assert_true(code == API_NO_PROBLEM || (reached && code == refusal));
    if (!same(content("m.json"), code == API_NO_PROBLEM ? after : before))
        fail_msg("call %d failed, answer %d, now there is %s", call, code, content("m.json"));
    assert_int_equal(change(store, "m", after), API_NO_PROBLEM);
    srv_store_close(store);
    srv_restored restored = start_again();
    assert_true(restored.bad == 0 && restored.good == 1u + (after != NULL));
    assert_true(same(content("m.json"), after));
    assert_true(same(content("bystander.json"), OLD));
    return reached;
}

static void test_failing_calls(void **state)
{
    static const struct {
        int      number;
        api_code code;
    } errors[] = {
        {EIO, API_STORE_FAILED}, {EROFS, API_STORE_FAILED}, {ENOSPC, API_STORE_FULL}, {EDQUOT, API_STORE_FULL}};
    for (int i = 0; i < CHANGES; i++)
        for (int e = 0; e < 4; e++) {
            int calls = 0;
            while (survive_failure(changes[i].before, changes[i].after, calls + 1, errors[e].number, errors[e].code))
                calls++;
            assert_in_range(calls, 1, CALLS_MOST);
        }
}

/* A write may accept fewer bytes than given (POSIX); the rest must follow. */
static void test_writes_of_a_few_bytes(void **state)
{
    for (size_t piece = 1; piece < 8; piece++) {
        prepare(OLD);
        srv_store *store = open_store();
        arm(0, 0, false);
        fault.piece = piece;
        assert_int_equal(change(store, "m", NEW), API_NO_PROBLEM);
        arm(0, 0, false);
        srv_store_close(store);
        assert_true(same(content("m.json"), NEW));
        assert_int_equal(start_again().bad, 0);
    }
}

/* A disk that keeps failing must refuse every change, and the old records must remain readable. */
static void test_a_dying_disk(void **state)
{
    prepare(OLD);
    srv_store *store = open_store();
    arm(1, EIO, false);
    fault.from_there = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(change(store, "m", NEW), API_STORE_FAILED);
        assert_int_equal(change(store, "m", NULL), API_STORE_FAILED);
    }
    arm(0, 0, false);
    srv_store_close(store);
    assert_true(same(content("m.json"), OLD));
    assert_int_equal(start_again().good, 2);
}

/* Runs `act` in a child process that ends before call number `call`. Returns true if it ended there, false if `act`
 * finished. */
static bool dies_at(int call, void (*act)(const char *argument), const char *argument)
{
    int   status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        arm(call, 0, true);
        act(argument);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9));
    return WEXITSTATUS(status) == 9;
}

static void change_in_child(const char *text)
{
    srv_store *store = srv_store_open(store_folder, &store_log, store_error, sizeof store_error);
    if (!store || change(store, "m", text) != API_NO_PROBLEM) _exit(1);
}

static void test_the_process_ends_at_any_call(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        bool died = true;
        for (int call = 1; died; call++) {
            prepare(changes[i].before);
            died              = dies_at(call, change_in_child, changes[i].after);
            bool is_old       = same(content("m.json"), changes[i].before);
            bool is_new       = same(content("m.json"), changes[i].after);
            bool acknowledged = !died;
            if (!is_new && (acknowledged || !is_old)) fail_msg("call %d: there is %s", call, content("m.json"));
            srv_restored restored = start_again();
            assert_true(restored.bad == 0 && restored.good == 1u + (content("m.json") != NULL));
            assert_true(same(content("bystander.json"), OLD));
            assert_in_range(call, 1, CALLS_MOST);
        }
    }
}

static void open_in_child(const char *path)
{
    if (!srv_store_open(path, &store_log, store_error, sizeof store_error)) _exit(1);
}

static void test_the_process_ends_while_a_store_is_made(void **state)
{
    bool died = true;
    for (int call = 1; died; call++) {
        clear_folder(NULL);
        died = dies_at(call, open_in_child, store_folder);
        assert_int_equal(start_again().bad, 0);
        assert_in_range(call, 1, CALLS_MOST);
    }
}

/* A new folder is on the disk only after the folder above it is synced. So the store must sync each folder above a new
 * one, then its own folders, before it opens. */
static void test_new_folders_are_synced(void **state)
{
    static const char *const folders[] = {"", "/a", "/a/b/models", "/a/b"};
    char                     path[200], above[200];
    snprintf(path, sizeof path, "%s/a/b", store_folder);
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(store_folder, '/') - store_folder), store_folder);
    arm(0, 0, false);
    srv_store_close(srv_store_open(path, &store_log, store_error, sizeof store_error));
    assert_int_equal(fault.n_synced, 5);
    assert_string_equal(fault.synced[0], above);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", store_folder, folders[i]);
        assert_string_equal(fault.synced[i + 1], path);
    }
    snprintf(path, sizeof path, "%s/a/b", store_folder);
    arm(0, 0, false);
    srv_store_close(
        srv_store_open(path, &store_log, store_error, sizeof store_error)); /* existing folders are synced again */
    assert_int_equal(fault.n_synced, 2);
}

/* A store must not open if the disk does not confirm its creation; it must open once the disk works. */
static void test_a_failure_while_a_store_is_made(void **state)
{
    bool reached = true;
    for (int call = 1; reached; call++) {
        clear_folder(NULL);
        arm(call, EIO, false);
        srv_store *store = srv_store_open(store_folder, &store_log, store_error, sizeof store_error);
        reached          = fault.count >= call;
        arm(0, 0, false);
        if (!store == !reached) fail_msg("call %d failed: the store is %s", call, store ? "opened" : "not opened");
        if (reached) assert_non_null(strstr(store_error, strerror(EIO)));
        srv_store_close(store);
        srv_store_close(open_store());
        assert_in_range(call, 1, CALLS_MOST);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, no_fault)
    const struct CMUnitTest tests[] = {
        TEST(test_order),
        TEST(test_failing_calls),
        TEST(test_writes_of_a_few_bytes),
        TEST(test_a_dying_disk),
        TEST(test_the_process_ends_at_any_call),
        TEST(test_the_process_ends_while_a_store_is_made),
        TEST(test_new_folders_are_synced),
        TEST(test_a_failure_while_a_store_is_made),
    };
    return cmocka_run_group_tests(tests, make_base, drop_base);
}
