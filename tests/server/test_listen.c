/* test_listen.c - checks the parsing of addresses, and listening sockets on free loopback ports and in a temporary
 * folder. */
#include "server/net/listen.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

static void assert_address(const char *text, const char *host, const char *port)
{
    srv_address address;
    assert_true(srv_address_parse(text, &address));
    assert_string_equal(address.host, host);
    assert_string_equal(address.port, port);
}

static void test_addresses(void **state)
{
    assert_address("127.0.0.1:8088", "127.0.0.1", "8088");
    assert_address("[::1]:0", "::1", "0");
    assert_address("[::]:65535", "::", "65535");
    assert_address("localhost:1", "localhost", "1");
    srv_address address;
    assert_true(srv_address_parse("[::1]:80+plain", &address) && address.plain);
    assert_true(srv_address_parse("[::1]:80", &address) && !address.plain);
}

static void test_bad_addresses(void **state)
{
    static const char *const bad[] = {"",
                                      ":",
                                      ":80",
                                      "host",
                                      "host:",
                                      "host:x",
                                      "host:80x",
                                      "host:80+",
                                      "host:80+tls",
                                      "host:80plain",
                                      "host:-1",
                                      "host:65536",
                                      "host:100000",
                                      "::1:80",
                                      "[::1]",
                                      "[]:80",
                                      "[::1:80",
                                      "::1]:80",
                                      "[::1]80",
                                      "host:8 0",
                                      "a:b:80",
                                      "*:80",
                                      "host:000080",
                                      "host:000000000000080",
                                      "host:4294967376",
                                      "host:18446744073709551696"};
    srv_address              address;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (srv_address_parse(bad[i], &address)) fail_msg("\"%s\" is accepted", bad[i]);
    char text[400];
    memset(text, 'h', sizeof text);
    memcpy(text + sizeof text - 4, ":80", 4);
    assert_false(srv_address_parse(text, &address));
}

static void test_paths(void **state)
{
    srv_address address;
    char        text[200] = "unix:";
    assert_true(srv_address_parse("unix:/run/a b:1.socket", &address));
    assert_string_equal(address.path, "/run/a b:1.socket");
    assert_string_equal(address.host, "");
    assert_false(srv_address_parse("unix:", &address));
    memset(text + 5, 'p', 107); /* the longest path of a sockaddr_un, without its NUL */
    assert_true(srv_address_parse(text, &address));
    text[5 + 107] = 'p';
    assert_false(srv_address_parse(text, &address));
}

static void test_lists(void **state)
{
    srv_address all[SRV_LISTEN_MOST];
    assert_int_equal(srv_addresses_parse("localhost:1", all), 1);
    assert_int_equal(srv_addresses_parse("127.0.0.1:80,unix:/tmp/x,[::1]:8", all), 3);
    assert_string_equal(all[0].port, "80");
    assert_string_equal(all[1].path, "/tmp/x");
    assert_string_equal(all[2].host, "::1");
    static const char *const bad[] = {"", ",", "host:1,", ",host:1", "host:1,,host:2", "host:1,2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(srv_addresses_parse(bad[i], all), 0);
    assert_int_equal(srv_addresses_parse("h:1,h:2,h:3,h:4,h:5,h:6,h:7,h:8", all), 8);
    assert_int_equal(srv_addresses_parse("h:1,h:2,h:3,h:4,h:5,h:6,h:7,h:8,h:9", all), 0);
}

static srv_listener listener; /* the listener opened last */

static bool open_sockets(const char *text, size_t n, int sockets[], char bound[100], char error[300])
{
    listener = (srv_listener){.setting = "--listen"};
    assert_true(srv_address_parse(text, &listener.address));
    if (!srv_listen(&listener, n, 0600, error, 300)) return false;
    memcpy(sockets, listener.sockets, n * sizeof *sockets);
    memcpy(bound, listener.bound, 99);
    bound[99] = 0;
    return true;
}

static void test_a_taken_port_is_named(void **state)
{
    int  first, others[2];
    char bound[100], again[100], error[300];
    assert_true(open_sockets("127.0.0.1:0", 1, &first, bound, error));
    assert_true(strncmp(bound, "127.0.0.1:", 10) == 0 && strcmp(bound, "127.0.0.1:0") != 0);
    for (size_t n = 1; n <= 2; n++) { /* with two sockets a listener uses SO_REUSEPORT and would share the port; it must
                                         be refused as well */
        assert_false(open_sockets(bound, n, others, again, error));
        assert_non_null(strstr(error, strchr(bound, ':') + 1));
        assert_non_null(strstr(error, "--listen"));
    }
    close(first);
    assert_true(open_sockets(bound, 1, &first, again, error)); /* the port is free again */
    close(first);
}

static void test_several_sockets_share_one_port(void **state)
{
    int  sockets[3], other;
    char bound[100], again[100], error[300];
    assert_true(open_sockets("127.0.0.1:0", 3, sockets, bound, error));
    assert_false(open_sockets(bound, 1, &other, again, error));
    int more[3];
    assert_false(open_sockets(bound, 3, more, again, error)); /* other sockets with SO_REUSEPORT are refused too */
    for (int i = 0; i < 3; i++)
        close(sockets[i]);
}

/* If no descriptor is left for the last socket, srv_listen must close the others. */
static void test_sockets_beyond_the_limit_of_descriptors(void **state)
{
    int           sockets[3], free_one = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char          bound[100], error[300];
    struct rlimit before, limit;
    close(free_one);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit          = before;
    limit.rlim_cur = (rlim_t)free_one + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    bool opened = open_sockets("127.0.0.1:0", 3, sockets, bound, error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(opened);
    assert_non_null(strstr(error, strerror(EMFILE)));
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    assert_int_equal(next, free_one);
}

static struct sockaddr_in loopback(const char *bound)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port   = htons((uint16_t)atoi(strrchr(bound, ':') + 1)),
                                .sin_addr   = {htonl(INADDR_LOOPBACK)}};
}

/* A server that closes first leaves its side of the connection in TIME_WAIT; the next server must still get the
 * port. */
static void test_a_port_with_old_connections(void **state)
{
    int  listening, client = socket(AF_INET, SOCK_STREAM, 0);
    char bound[100], again[100], error[300];
    assert_true(open_sockets("127.0.0.1:0", 1, &listening, bound, error));
    struct sockaddr_in where = loopback(bound);
    assert_int_equal(connect(client, (struct sockaddr *)&where, sizeof where), 0);
    int served = accept(listening, NULL, NULL);
    assert_true(served >= 0);
    close(served);
    close(client);
    close(listening);
    assert_true(open_sockets(bound, 1, &listening, again, error));
    close(listening);
}

/* The address [::] must accept IPv4 clients too. */
static void test_ipv6_serves_ipv4(void **state)
{
    int  listening, client = socket(AF_INET, SOCK_STREAM, 0);
    char bound[100], error[300];
    if (!open_sockets("[::1]:0", 1, &listening, bound, error)) skip(); /* a machine without IPv6 */
    close(listening);
    assert_true(open_sockets("[::]:0", 1, &listening, bound, error));
    struct sockaddr_in where = loopback(bound);
    assert_int_equal(connect(client, (struct sockaddr *)&where, sizeof where), 0);
    close(client);
    close(listening);
}

static void test_ipv6(void **state)
{
    int  fd;
    char bound[100], error[300];
    if (!open_sockets("[::1]:0", 1, &fd, bound, error)) skip(); /* a machine without IPv6 */
    assert_memory_equal(bound, "[::1]:", 6);
    close(fd);
}

static void test_impossible_addresses(void **state)
{
    int  fd;
    char bound[100], error[300];
    assert_false(open_sockets("no-such-host.invalid:80", 1, &fd, bound, error));
    assert_non_null(strstr(error, "no-such-host.invalid"));
    assert_false(open_sockets("192.0.2.1:80", 1, &fd, bound, error)); /* not an address of this machine */
    assert_non_null(strstr(error, "192.0.2.1"));
}

/* --- paths ------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/torqued-listen-XXXXXX", path[60], local[80];

static int make_folder(void **state)
{
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(local, sizeof local, "unix:%s", path);
    return 0;
}

static int remove_folder(void **state)
{
    return rmdir(folder); /* fails unless the folder is empty */
}

static bool connects(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int  fd   = socket(AF_UNIX, SOCK_STREAM, 0);
    bool done = connect(fd, (struct sockaddr *)&name, sizeof name) == 0;
    close(fd);
    return done;
}

static void test_a_path_is_shared_and_removed(void **state)
{
    int         sockets[2], other;
    char        bound[100], again[100], error[300];
    struct stat file;
    mode_t      before = umask(0777); /* the umask must not restrict the permissions */
    bool        opened = open_sockets(local, 2, sockets, bound, error);
    umask(before);
    assert_true(opened);
    assert_string_equal(bound, local);
    assert_true(stat(path, &file) == 0 && S_ISSOCK(file.st_mode) && (file.st_mode & 0777) == 0600);
    srv_listener first = listener;
    assert_false(open_sockets(local, 1, &other, again, error)); /* another listener has the path */
    assert_non_null(strstr(error, path));
    close(sockets[0]);
    assert_true(connects()); /* connects through the second socket */
    srv_listener_unlink(&first);
    assert_int_equal(access(path, F_OK), -1);
    close(sockets[1]);
}

static void *listen_locally(void *done)
{
    int  fd;
    char bound[100], error[300];
    if (open_sockets(local, 1, &fd, bound, error)) close(fd);
    atomic_store((atomic_bool *)done, true);
    return NULL;
}

/* If two servers start together, the second must wait for the lock of the folder until the first listens. */
static void test_one_server_at_a_time(void **state)
{
    int         lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    atomic_bool done = false;
    pthread_t   other;
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(pthread_create(&other, NULL, listen_locally, &done), 0);
    usleep(100000);
    assert_false(atomic_load(&done));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(flock(lock, LOCK_UN), 0);
    pthread_join(other, NULL);
    assert_true(atomic_load(&done));
    srv_listener_unlink(&listener);
    close(lock);
}

static void test_a_dead_socket_is_replaced(void **state)
{
    int  dead, fd;
    char bound[100], error[300];
    assert_true(open_sockets(local, 1, &dead, bound, error));
    srv_listener killed = listener;
    close(dead); /* the file of the socket remains, as after SIGKILL */
    assert_true(open_sockets(local, 1, &fd, bound, error));
    assert_true(connects());
    killed.file.st_ino++; /* the recorded inode differs, as if the path named another file now */
    srv_listener_unlink(&killed);
    assert_true(connects());
    srv_listener_unlink(&listener);
    assert_false(connects());
    close(fd);
}

static void test_other_files_are_not_removed(void **state)
{
    int   fd;
    char  bound[100], error[300];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_false(open_sockets(local, 1, &fd, bound, error));
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    assert_false(open_sockets("unix:/no/such/folder/socket", 1, &fd, bound, error));
    assert_non_null(strstr(error, "/no/such/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_bad_addresses),
        cmocka_unit_test(test_a_taken_port_is_named),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_a_path_is_shared_and_removed),
        cmocka_unit_test(test_one_server_at_a_time),
        cmocka_unit_test(test_a_port_with_old_connections),
        cmocka_unit_test(test_ipv6_serves_ipv4),
        cmocka_unit_test(test_a_dead_socket_is_replaced),
        cmocka_unit_test(test_other_files_are_not_removed),
        cmocka_unit_test(test_several_sockets_share_one_port),
        cmocka_unit_test(test_sockets_beyond_the_limit_of_descriptors),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_impossible_addresses),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
