/* test_connection.c - checks the phases of connections and their absolute deadlines, on socket pairs. */
#include "server/net/connection.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static const uint64_t second = 1000000000;

static srv_connections make(void)
{
    srv_connections all = {.now = srv_now()};
    for (int phase = 0; phase < SRV_PHASES; phase++)
        all.time_limit[phase] =
            phase == SRV_WORKING || phase == SRV_CLOSING ? SRV_NEVER : (uint64_t)(phase + 1) * second;
    return all;
}

typedef struct pair {
    int             peer;
    srv_connection *connection;
} pair;

static pair connect_pair(srv_connections *all)
{
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pair p = {.peer = fd[0], .connection = srv_connection_open(all, fd[1])};
    assert_non_null(p.connection);
    return p;
}

static void disconnect(srv_connections *all, pair p)
{
    close(p.connection->fd);
    close(p.peer);
    srv_connection_close(all, p.connection);
}

static bool is_shut(pair p)
{
    char byte;
    return recv(p.peer, &byte, 1, MSG_DONTWAIT) == 0;
}

static void test_each_phase_has_its_deadline(void **state)
{
    srv_connections all = make();
    pair            p   = connect_pair(&all);
    assert_int_equal(p.connection->phase, SRV_ARRIVED);
    for (srv_phase phase = SRV_READING; phase < SRV_CLOSING; phase++) {
        if (phase == SRV_CLIENT_CLOSED) continue; /* has a test of its own */
        srv_connection_enter(&all, p.connection, phase);
        uint64_t next = srv_connections_next(&all);
        if (phase == SRV_WORKING) {
            assert_true(next == SRV_NEVER);
            srv_connections_expire(&all, SRV_NEVER - 1);
        } else {
            assert_true(next == p.connection->since + (uint64_t)(phase + 1) * second);
            srv_connections_expire(&all, next - 1);
        }
        assert_int_equal(p.connection->phase, phase);
        assert_false(is_shut(p));
    }
    srv_connections_expire(&all, srv_connections_next(&all));
    assert_int_equal(p.connection->phase, SRV_CLOSING);
    assert_true(is_shut(p));
    srv_connection_enter(&all, p.connection, SRV_READING); /* buffered input must not revive the connection */
    assert_int_equal(p.connection->phase, SRV_CLOSING);
    assert_true(srv_connections_next(&all) == SRV_NEVER);
    disconnect(&all, p);
    assert_int_equal(all.count, 0);
}

static void test_the_oldest_go_first(void **state)
{
    enum { N = 50 };
    srv_connections all = make();
    pair            p[N];
    for (int i = 0; i < N; i++)
        p[i] = connect_pair(&all);
    for (int i = 0; i < N; i += 2)
        srv_connection_enter(&all, p[i].connection, SRV_WORKING);
    for (int i = 0; i < N; i += 2)
        srv_connection_enter(&all, p[i].connection, SRV_ARRIVED); /* the even connections have entered the phase
                                                                     later */
    for (int i = 0; i < N; i++)
        p[i].connection->since = i % 2 ? 10 * second : 20 * second;
    assert_true(srv_connections_next(&all) == 11 * second);
    srv_connections_expire(&all, 11 * second);
    for (int i = 0; i < N; i++)
        assert_int_equal(is_shut(p[i]), i % 2);
    assert_true(srv_connections_next(&all) == 21 * second);
    for (int i = N - 1; i >= 0; i--)
        disconnect(&all, p[i]);
    assert_int_equal(all.count, 0);
}

static void test_a_request_that_has_arrived_is_not_cut_off(void **state)
{
    srv_connections all   = make();
    pair            quiet = connect_pair(&all), speaking = connect_pair(&all);
    srv_connection_enter(&all, quiet.connection, SRV_IDLE);
    srv_connection_enter(&all, speaking.connection, SRV_IDLE);
    assert_int_equal(send(speaking.peer, "G", 1, 0), 1);
    srv_connections_expire(&all, SRV_NEVER - 1);
    assert_true(is_shut(quiet));
    assert_false(is_shut(speaking));
    disconnect(&all, quiet);
    disconnect(&all, speaking);
}

/* A first request that arrives just before the deadline must get the full time for reading. */
static void test_a_first_request_just_before_the_deadline(void **state)
{
    srv_connections all   = make();
    pair            quiet = connect_pair(&all), speaking = connect_pair(&all);
    assert_int_equal(send(speaking.peer, "G", 1, 0), 1);
    all.now      = srv_connections_next(&all);
    uint64_t end = all.now + all.time_limit[SRV_READING];
    srv_connections_expire(&all, all.now);
    assert_true(is_shut(quiet));
    assert_false(is_shut(speaking));
    assert_int_equal(speaking.connection->phase, SRV_READING);
    assert_true(srv_connections_next(&all) == end);
    disconnect(&all, quiet);
    disconnect(&all, speaking);
}

static void test_a_client_that_ends_its_side(void **state)
{
    srv_connections all     = make();
    pair            working = connect_pair(&all), reading = connect_pair(&all), closing = connect_pair(&all);
    all.time_limit[SRV_CLIENT_CLOSED] = 0;
    srv_connection_enter(&all, reading.connection, SRV_READING);
    srv_connection_enter(&all, working.connection, SRV_WORKING);
    srv_connection_shut(&all, closing.connection);
    srv_connection_note_client_closed(&all, reading.connection);
    srv_connection_note_client_closed(&all, working.connection);
    srv_connection_note_client_closed(&all, closing.connection);
    assert_int_equal(closing.connection->phase, SRV_CLOSING);
    srv_connections_expire(&all, srv_now());
    assert_true(is_shut(reading));
    assert_int_equal(working.connection->phase, SRV_WORKING); /* a connection whose request is evaluated keeps the
                                                                 deadline of its request */
    srv_connection_enter(&all, working.connection, SRV_WRITING);
    srv_connections_expire(&all, srv_now());
    assert_false(is_shut(working)); /* the client still receives its answer */
    srv_connection_enter(&all, working.connection, SRV_IDLE);
    srv_connections_expire(&all, srv_now());
    assert_true(is_shut(working));
    disconnect(&all, working);
    disconnect(&all, reading);
    disconnect(&all, closing);
}

static void test_a_shorter_limit_for_idle_connections(void **state)
{
    srv_connections all  = make();
    pair            idle = connect_pair(&all), arrived = connect_pair(&all), reading = connect_pair(&all);
    srv_connection_enter(&all, idle.connection, SRV_IDLE);
    srv_connection_enter(&all, reading.connection, SRV_READING);
    idle.connection->since = arrived.connection->since = 0;
    srv_connections_limit_idle(&all, second / 4);
    srv_connections_expire(&all, srv_now());
    assert_false(is_shut(idle) || is_shut(arrived)); /* the new limit counts from this instant */
    srv_connections_expire(&all, srv_now() + second / 4);
    assert_true(is_shut(idle) && is_shut(arrived));
    assert_false(is_shut(reading));
    disconnect(&all, idle);
    disconnect(&all, arrived);
    disconnect(&all, reading);
}

static void give(pair p, srv_account *account, size_t connections)
{
    p.connection->peer_account = account;
    p.connection->is_counted   = true;
    atomic_store(&account->connections, connections);
}

static void test_the_longest_silent_of_the_greediest_gives_way(void **state)
{
    static srv_account greedy, other;
    srv_connections    all = make();
    pair               p[6];
    for (int i = 0; i < 6; i++) {
        all.now = (uint64_t)(i + 1) * second;
        p[i]    = connect_pair(&all);
        give(p[i], i % 2 ? &greedy : &other, 10 - (i % 2 == 0));
    }
    srv_connection_enter(&all, p[1].connection, SRV_WORKING);    /* a working connection is not silent */
    srv_connection_enter(&all, p[3].connection, SRV_READING);    /* silent from this instant on */
    assert_false(srv_connections_displace(&all, &greedy, NULL)); /* none of its connections is silent for long enough */
    assert_false(srv_connections_displace(&all, NULL, NULL));    /* the silent client has fewer connections */
    all.now += second;
    assert_true(srv_connections_displace(&all, NULL, NULL));
    assert_true(is_shut(p[3]) != is_shut(p[5]));
    assert_int_equal(all.n_closing, 1);
    assert_int_equal(greedy.connections, 9);
    atomic_store(&greedy.connections, 10);
    assert_true(srv_connections_displace(&all, NULL, NULL));
    assert_true(is_shut(p[3]) && is_shut(p[5]));
    assert_false(srv_connections_displace(&all, &greedy, NULL)); /* this client has no further silent connection */
    assert_int_equal(send(p[0].peer, "G", 1, 0), 1);             /* a request that the server has not read yet */
    assert_true(srv_connections_displace(&all, NULL, p[2].connection));
    assert_int_equal(p[0].connection->phase, SRV_READING);
    assert_true(is_shut(p[4]));
    assert_false(srv_connections_displace(&all, &other, p[2].connection));
    for (int i = 0; i < 6; i++)
        disconnect(&all, p[i]);
    assert_int_equal(all.n_closing, 0);
}

/* A silent connection must be closed even though another client, which reads its answers, has more connections. */
static void test_silent_connections_are_closed_before_slow_readers(void **state)
{
    static srv_account greedy, other;
    srv_connections    all     = make();
    pair               reading = connect_pair(&all), silent = connect_pair(&all);
    give(reading, &greedy, 10);
    give(silent, &other, 2);
    srv_connection_enter(&all, silent.connection, SRV_READING);
    all.now += second / 2;
    srv_connection_enter(&all, reading.connection, SRV_WRITING);
    assert_true(srv_connections_displace(&all, NULL, NULL));
    assert_true(is_shut(silent) && !is_shut(reading));
    disconnect(&all, reading);
    disconnect(&all, silent);
}

/* A client that reads its answer slowly must count as silent after a while, so that its connection can be closed for a
   new one. */
static void test_a_slow_reader_gives_way(void **state)
{
    static srv_account account;
    srv_connections    all = make();
    pair               p   = connect_pair(&all);
    give(p, &account, 1);
    srv_connection_enter(&all, p.connection, SRV_WRITING);
    all.now += second - 1;
    assert_false(srv_connections_displace(&all, NULL, NULL));
    all.now += 1;
    assert_true(srv_connections_displace(&all, NULL, NULL));
    disconnect(&all, p);
}

static void note_late_head(void *arg, const srv_connection *connection)
{
    *(const srv_connection **)arg = connection;
}

/* Only a request whose head does not arrive in time is logged here: other late requests have a log line of their own,
   and silence between requests is normal. */
static void test_a_late_head_is_told(void **state)
{
    srv_connections       all   = make();
    const srv_connection *late  = NULL;
    pair                  other = connect_pair(&all), idle = connect_pair(&all);
    all.on_late_head           = note_late_head;
    all.on_late_head_arg       = &late;
    other.connection->exchange = &all;
    srv_connection_enter(&all, other.connection, SRV_READING);
    srv_connection_enter(&all, idle.connection, SRV_IDLE);
    srv_connections_expire(&all, all.now + 100 * second);
    assert_null(late);
    pair p = connect_pair(&all);
    srv_connection_enter(&all, p.connection, SRV_READING);
    srv_connections_expire(&all, all.now + 100 * second);
    assert_ptr_equal(late, p.connection);
    disconnect(&all, p);
    disconnect(&all, other);
    disconnect(&all, idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_late_head_is_told),
        cmocka_unit_test(test_each_phase_has_its_deadline),
        cmocka_unit_test(test_the_longest_silent_of_the_greediest_gives_way),
        cmocka_unit_test(test_silent_connections_are_closed_before_slow_readers),
        cmocka_unit_test(test_a_slow_reader_gives_way),
        cmocka_unit_test(test_the_oldest_go_first),
        cmocka_unit_test(test_a_request_that_has_arrived_is_not_cut_off),
        cmocka_unit_test(test_a_first_request_just_before_the_deadline),
        cmocka_unit_test(test_a_client_that_ends_its_side),
        cmocka_unit_test(test_a_shorter_limit_for_idle_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
