/* test_store.c - the store on disk, with every system call that changes something failing in turn, and the process
 * ending before each of them; locks, formats, unreadable files, full and read-only disks. */
#define _GNU_SOURCE
#include "server/store.h"
#include "server/files.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include <cmocka.h>

/* --- system calls in between ----------------------------------------------------------------------------------- */

/* What happens at the call number `at` from now on (0: nothing, ever), and with `from_there` at all after it. */
static struct {
    int  at, count, error;
    bool dies, from_there;
    char trace[64]; /* one letter per call; D is the sync of a folder */
} fault;

static bool strikes(char letter)
{
    size_t n = strlen(fault.trace);
    if (n + 1 < sizeof fault.trace) fault.trace[n] = letter;
    fault.count++;
    bool now = fault.at != 0 && (fault.count == fault.at || (fault.from_there && fault.count > fault.at));
    if (now && fault.dies) _exit(9);
    if (now) errno = fault.error;
    return now;
}

static void arm(int at, int error, bool dies)
{
    memset(&fault, 0, sizeof fault);
    fault.at    = at;
    fault.error = error;
    fault.dies  = dies;
}

/* The program's own definitions go before the C library's. */
ssize_t write(int fd, const void *bytes, size_t length)
{
    return strikes('w') ? -1 : syscall(SYS_write, fd, bytes, length);
}

int fsync(int fd)
{
    struct stat about;
    bool        folder = fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
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

/* --- a store in a folder of its own ---------------------------------------------------------------------------- */

static char    base[40], folder[60], error[600];
static srv_log silent = {.level = SRV_ERROR, .json = true, .fd = -1};

static void remove_tree(const char *path)
{
    char line[100];
    snprintf(line, sizeof line, "rm -rf %s", path);
    assert_int_equal(system(line), 0);
}

static int make_base(void **state)
{
    silent.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    /* in memory, where there is such a folder: thousands of syncs take no time there */
    snprintf(base, sizeof base, "%s/torqued-store-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(base)) return -1;
    snprintf(folder, sizeof folder, "%s/store", base);
    return 0;
}

static int drop_base(void **state)
{
    remove_tree(base);
    return close(silent.fd);
}

static int clear_folder(void **state)
{
    arm(0, 0, false);
    remove_tree(folder);
    return 0;
}

static srv_store *open_store(void)
{
    srv_store *store = srv_store_open(folder, &silent, error, sizeof error);
    if (!store) fail_msg("%s", error);
    return store;
}

/* With `text` NULL it is erased. What the store answered. */
static api_code change(srv_store *store, const char *name, const char *text)
{
    api_store   s = srv_store_interface(store);
    api_problem problem;
    api_problem_clear(&problem);
    bool done = text ? s.save(s.arg, name, text, strlen(text), &problem) : s.erase(s.arg, name, &problem);
    assert_int_equal(done, problem.code == API_NO_PROBLEM);
    return problem.code;
}

static char *record_path(const char *file)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/models/%s", folder, file);
    return path;
}

/* The bytes of a file of models/; NULL: none. Valid until the next call. */
static const char *content(const char *file)
{
    static char *text;
    size_t       length;
    free(text);
    text = srv_file_read(AT_FDCWD, record_path(file), 1 << 20, &length);
    return text;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void put_file(const char *path, const char *text)
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

/* As at the next start: the lock is free, leftovers go, every record is read. */
static srv_restored start_again(void)
{
    srv_restored restored;
    api         *service = open_api();
    srv_store   *store   = open_store();
    if (!srv_store_restore(store, service, &restored, error, sizeof error)) fail_msg("%s", error);
    srv_store_close(store);
    api_close(service);
    assert_int_equal(access(record_path(".next"), F_OK), -1);
    assert_int_equal(access(record_path(".previous"), F_OK), -1);
    return restored;
}

/* --- changes --------------------------------------------------------------------------------------------------- */

#define OLD "{\"deleted\":true}"
#define NEW "{\"deleted\":true }"

/* Every kind of change: from what to what; NULL is no record. */
static const struct {
    const char *before, *after;
} changes[] = {{NULL, NEW}, {OLD, NEW}, {OLD, NULL}, {NULL, NULL}};
enum { CHANGES = 4, CALLS_MOST = 30 };

static void prepare(const char *before)
{
    clear_folder(NULL);
    srv_store *store = open_store();
    if (before) assert_int_equal(change(store, "m", before), API_NO_PROBLEM);
    assert_int_equal(change(store, "bystander", OLD), API_NO_PROBLEM);
    srv_store_close(store);
}

/* A record's bytes are on the disk before it gets its name, and the name is before the change is acknowledged. */
static void test_order(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        prepare(changes[i].before);
        srv_store *store = open_store();
        arm(0, 0, false);
        assert_int_equal(change(store, "m", changes[i].after), API_NO_PROBLEM);
        const char *bytes = strchr(fault.trace, 'f'), *name = strchr(fault.trace, 'r'),
                   *rest = strchr(fault.trace, 'D');
        bool saves = changes[i].after != NULL, nothing = !saves && !changes[i].before;
        if (!nothing && (!name || !rest || rest < name || strrchr(fault.trace, 'r') > rest))
            fail_msg("%s", fault.trace);
        if (saves && (!bytes || bytes > name || strrchr(fault.trace, 'w') > bytes)) fail_msg("%s", fault.trace);
        srv_store_close(store);
        assert_true(same(content("m.json"), changes[i].after));
        assert_int_equal(start_again().bad, 0);
    }
}

/* With call number `at` failing, the change has happened and is acknowledged, or it is refused and has not. Then it
 * works again. False: there are fewer calls. */
static bool survive_failure(const char *before, const char *after, int at, int number, api_code refusal)
{
    prepare(before);
    srv_store *store = open_store();
    arm(at, number, false);
    api_code code    = change(store, "m", after);
    bool     reached = fault.count >= at;
    arm(0, 0, false);
    assert_true(code == API_NO_PROBLEM || (reached && code == refusal));
    if (!same(content("m.json"), code == API_NO_PROBLEM ? after : before))
        fail_msg("call %d failed, answer %d, now there is %s", at, code, content("m.json"));
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

/* A disk that fails and does not recover refuses everything, and what it held before can still be read. */
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

/* Runs `act` in a process that ends before call number `at`. True: it ended there; false: it came to its end. */
static bool dies_at(int at, void (*act)(const char *argument), const char *argument)
{
    int   status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        arm(at, 0, true);
        act(argument);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9));
    return WEXITSTATUS(status) == 9;
}

static void change_in_child(const char *text)
{
    srv_store *store = srv_store_open(folder, &silent, error, sizeof error);
    if (!store || change(store, "m", text) != API_NO_PROBLEM) _exit(1);
}

static void test_the_process_ends_at_any_call(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        bool died = true;
        for (int at = 1; died; at++) {
            prepare(changes[i].before);
            died              = dies_at(at, change_in_child, changes[i].after);
            bool is_old       = same(content("m.json"), changes[i].before);
            bool is_new       = same(content("m.json"), changes[i].after);
            bool acknowledged = !died;
            if (!is_new && (acknowledged || !is_old)) fail_msg("call %d: there is %s", at, content("m.json"));
            srv_restored restored = start_again();
            assert_true(restored.bad == 0 && restored.good == 1u + (content("m.json") != NULL));
            assert_true(same(content("bystander.json"), OLD));
            assert_in_range(at, 1, CALLS_MOST);
        }
    }
}

static void open_in_child(const char *path)
{
    if (!srv_store_open(path, &silent, error, sizeof error)) _exit(1);
}

static void test_the_process_ends_while_a_store_is_made(void **state)
{
    bool died = true;
    for (int at = 1; died; at++) {
        clear_folder(NULL);
        died = dies_at(at, open_in_child, folder);
        assert_int_equal(start_again().bad, 0);
        assert_in_range(at, 1, CALLS_MOST);
    }
}

/* --- opening --------------------------------------------------------------------------------------------------- */

static void assert_not_opened(const char *path, const char *said)
{
    assert_null(srv_store_open(path, &silent, error, sizeof error));
    if (!strstr(error, said) || !strstr(error, path)) fail_msg("\"%s\" does not say \"%s\" and where", error, said);
}

static void test_one_server_at_a_time(void **state)
{
    char       process[40];
    srv_store *store = open_store();
    snprintf(process, sizeof process, "(process %ld)", (long)getpid());
    assert_not_opened(folder, process);
    assert_non_null(strstr(error, "in use by another torqued"));
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
        snprintf(path, sizeof path, "%s%s", folder, below[i]);
        srv_store *store = srv_store_open(path, &silent, error, sizeof error);
        if (!store) fail_msg("%s", error);
        srv_store_close(store);
    }
    snprintf(path, sizeof path, "%s/format/x", folder);
    assert_not_opened(path, "Not a directory");
    snprintf(path, sizeof path, "%s/format", folder);
    assert_not_opened(path, "Not a directory");
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_null(srv_store_open(long_path, &silent, error, sizeof error));
    assert_non_null(strstr(error, "too long"));
}

static void test_other_formats_are_left_alone(void **state)
{
    static const char *const formats[] = {"torqued-store 2\n", "", "torqued-store 1", "torqued-store 10\n"};
    char                     path[100];
    prepare(OLD);
    snprintf(path, sizeof path, "%s/format", folder);
    for (int i = 0; i < 4; i++) {
        put_file(path, formats[i]);
        assert_not_opened(folder, "has the format");
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
    assert_int_equal(change(store, "torn", NEW), API_NO_PROBLEM); /* putting a model of that name settles it */
    srv_store_close(store);
    assert_int_equal(start_again().bad, NAMES + 2);
}

/* --- disks ----------------------------------------------------------------------------------------------------- */

/* A file may not grow beyond a limit: the record does not fit, the old one stays. */
static void test_a_record_too_large(void **state)
{
    char          large[5000];
    struct rlimit before, limit;
    prepare(OLD);
    memset(large, ' ', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    srv_store *store        = open_store();
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

/* A disk of our own, seen by this process alone; it goes with the process. */
static bool mount_disk(const char *options)
{
    static bool alone;
    if (!alone && (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)) return false;
    alone = true;
    assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
    return mount("none", folder, "tmpfs", 0, options) == 0;
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
    assert_int_equal(change(store, "m0", NULL), API_NO_PROBLEM); /* erasing makes room */
    assert_int_equal(change(store, name, NEW), API_NO_PROBLEM);
    assert_int_equal(change(store, "more", NEW), API_STORE_FULL);
    srv_store_close(store);
    srv_restored restored = start_again();
    assert_true(restored.bad == 0 && restored.good == (size_t)taken);
    assert_int_equal(umount(folder), 0);
}

static void test_a_read_only_disk(void **state)
{
    if (!mount_disk("size=1m")) skip();
    srv_store *store = open_store();
    assert_int_equal(change(store, "m", OLD), API_NO_PROBLEM);
    srv_store_close(store); /* what is open for writing cannot become read-only */
    assert_int_equal(mount("none", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_int_equal(start_again().good, 1); /* its models are served */
    store = open_store();
    assert_not_opened(folder, "in use");
    assert_int_equal(change(store, "m", NEW), API_STORE_FAILED);
    assert_int_equal(change(store, "new", NEW), API_STORE_FAILED);
    assert_int_equal(change(store, "m", NULL), API_STORE_FAILED);
    srv_store_close(store);
    assert_true(same(content("m.json"), OLD));
    assert_int_equal(umount(folder), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_order),
        TEST(test_failing_calls),
        TEST(test_a_dying_disk),
        TEST(test_the_process_ends_at_any_call),
        TEST(test_the_process_ends_while_a_store_is_made),
        TEST(test_one_server_at_a_time),
        TEST(test_folders_are_made),
        TEST(test_other_formats_are_left_alone),
        TEST(test_unreadable_files_are_kept),
        TEST(test_a_record_too_large),
        TEST(test_a_full_disk),
        TEST(test_a_read_only_disk),
    };
    return cmocka_run_group_tests(tests, make_base, drop_base);
}
