/* test_clients.c - checks the file of clients: its syntax, the messages of refusals, and how clients are found. */
#include "server/access/clients.h"
#include "server/access/token.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* SHA-256 of "abc" (example of FIPS 180-4). */
#define ABC  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"

static char path[] = "/tmp/torqued-clients-XXXXXX";
static char error[600];

static int make_file(void **state)
{
    int fd = mkstemp(path);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static int remove_file(void **state)
{
    return unlink(path);
}

static srv_clients *read_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    *error = '\0';
    return srv_clients_read(path, error, sizeof error);
}

static void assert_refused(const char *text, const char *reason)
{
    srv_clients *clients = read_text(text);
    if (clients || !strstr(error, reason)) fail_msg("%s: %s", text, clients ? "accepted" : error);
    assert_null(strstr(error, "torqued_" ABC)); /* the message must not contain the token, a secret */
}

static void test_a_file(void **state)
{
    srv_clients *clients =
        read_text("# all kinds\n\n"
                  "planner evaluate,observe sha256:" ABC " models=cell-*,x expires=2033-05-18T03:33:20Z\n"
                  "  boss\tadmin certificate:boss.example\r\n"
                  "nginx evaluate uid:33\nusers observe gid:100");
    assert_non_null(clients);
    assert_int_equal(srv_clients_count(clients), 4);
    api_identity found = srv_clients_by_token(clients, "abc", 1999999999);
    assert_string_equal(found.name, "planner");
    assert_int_equal(found.roles, API_ROLE_EVALUATE | API_ROLE_OBSERVE);
    assert_string_equal(found.models, "cell-*,x");
    assert_null(found.refused);
    found = srv_clients_by_token(clients, "abc", 2000000000);
    assert_string_equal(found.name, "planner");
    assert_string_equal(found.refused, "the token has expired");
    found = srv_clients_by_token(clients, "abd", 0);
    assert_null(found.name);
    assert_non_null(found.refused);
    found = srv_clients_by_certificate(clients, "boss.example", 0);
    assert_string_equal(found.name, "boss");
    assert_int_equal(found.roles, API_ROLE_ADMIN);
    assert_null(found.models);
    assert_null(srv_clients_by_certificate(clients, "boss.example.org", 0).name);
    assert_string_equal(srv_clients_by_uid(clients, 33, 0).name, "nginx");
    assert_null(srv_clients_by_uid(clients, 100, 0).name);
    assert_string_equal(srv_clients_by_gid(clients, 100, 0).name, "users");
    assert_null(srv_clients_by_gid(clients, 33, 0).name);
    srv_clients_free(clients);
}

static void test_refusals(void **state)
{
    assert_refused("a/b admin sha256:" ABC "\n", "line 1 has \"a/b\" where it needs a name");
    assert_refused("# x\na\n", "line 2 has \"\" where it needs roles");
    assert_refused("a admin,root sha256:" ABC, "\"admin,root\" where it needs roles");
    assert_refused("a admin, sha256:" ABC, "where it needs roles");
    assert_refused("a admin", "where it needs sha256:");
    assert_refused("a admin sha256:12", "where it needs sha256:");
    assert_refused("a admin sha256:" ABC "00", "where it needs sha256:");
    assert_refused("a admin certificate:", "where it needs sha256:");
    assert_refused("a admin uid:", "where it needs sha256:");
    assert_refused("a admin uid:root", "where it needs sha256:");
    assert_refused("a admin uid:4294967295", "where it needs sha256:");
    assert_refused("a admin token", "where it needs sha256:");
    assert_refused("a admin torqued_" ABC, "line 1 has a token itself");
    assert_refused("a torqued_" ABC, "line 1 has a token itself");
    assert_refused("torqued_" ABC, "line 1 has a token itself");
    assert_refused("a admin sha256:torqued_" ABC, "line 1 has a token itself");
    assert_refused("a admin 0123456789abcdefghijklmnopqrstuv", "line 1 has a token itself");
    assert_refused("a admin sha256:" ABC " expires=2033-02-30T00:00:00Z", "where it needs expires=");
    assert_refused("a admin sha256:" ABC " expires=2033-02-28", "where it needs expires=");
    assert_refused("a admin sha256:" ABC " models=", "where it needs expires=");
    assert_refused("a admin sha256:" ABC " models=a,,b", "where it needs expires=");
    assert_refused("a admin sha256:" ABC " models=[a-z]", "where it needs expires=");
    assert_refused("a admin sha256:" ABC " models=a models=b", "each once");
    assert_refused("a admin sha256:" ABC " role=b", "where it needs expires=");
    assert_refused("a admin sha256:" ABC "\nb evaluate sha256:" ABC,
                   "line 2 (b) has the credential of an earlier line");
    assert_refused("a admin uid:1\nb evaluate uid:01", "line 2 (b)");
    assert_non_null(strstr(error, path));
}

static void test_files(void **state)
{
    /* A file without clients would refuse every request: it is empty by mistake. */
    assert_null(read_text(""));
    assert_non_null(strstr(error, "it names no client"));
    assert_null(read_text("# none\n\n"));
    assert_null(srv_clients_read("/nonexistent", error, sizeof error));
    assert_non_null(strstr(error, "No such file"));
    assert_null(srv_clients_read("/tmp", error, sizeof error));
    assert_non_null(strstr(error, "it is a folder; expected a regular file"));
    assert_null(srv_clients_read("/dev/zero", error, sizeof error));
    assert_non_null(strstr(error, "it is a device"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* an ordinary open of a FIFO would wait for a writer; there is none */
    assert_null(srv_clients_read(path, error, sizeof error));
    assert_non_null(strstr(error, "it is a FIFO"));
    unlink(path);
    srv_clients_free(read_text("a admin uid:1\n"));
    assert_int_equal(chmod(path, 0666), 0);
    assert_null(srv_clients_read(path, error, sizeof error));
    assert_non_null(strstr(error, "chmod o-w"));
    assert_int_equal(chmod(path, 0600), 0);
}

static void test_tokens(void **state)
{
    char    first[SRV_TOKEN_SIZE], second[SRV_TOKEN_SIZE], line[300];
    uint8_t hash[SRV_TOKEN_HASH];
    assert_true(srv_token_make(first) && srv_token_make(second));
    assert_int_equal(strlen(first), SRV_TOKEN_SIZE - 1);
    assert_int_equal(strspn(first + strlen(SRV_TOKEN_PREFIX), "0123456789abcdef"), 64);
    assert_string_not_equal(first, second);
    assert_true(srv_token_hash(first, hash));
    /* The hash of another token may begin with the same bytes: all bytes must be compared. */
    int n = snprintf(line, sizeof line, "other admin sha256:%02x%02x%02x%02x%.56s\na admin sha256:", hash[0], hash[1],
                     hash[2], hash[3], ZERO);
    for (int i = 0; i < SRV_TOKEN_HASH; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%02X", hash[i]);
    srv_clients *clients = read_text(line);
    assert_string_equal(srv_clients_by_token(clients, first, 0).name, "a");
    assert_null(srv_clients_by_token(clients, second, 0).name);
    first[SRV_TOKEN_SIZE - 2] ^= 1;
    assert_null(srv_clients_by_token(clients, first, 0).name);
    srv_clients_free(clients);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
