/* test_handover_sync.c - checks the messages by which two servers of one store report changes to each other during a
   hand-over: changes made while the other server loads are reported in order once it has loaded, later changes at once,
   and none after it has ended. */
#include "server/store/handover_sync.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

enum { MOST = 300, NAME = 80 };

/* The names of the models that a server has read again, in order. */
typedef struct reader {
    pthread_mutex_t mutex;
    size_t          n;
    char            name[MOST][NAME];
} reader;

static void note_change(void *arg, const char *name)
{
    reader *r = arg;
    pthread_mutex_lock(&r->mutex);
    if (r->n < MOST) snprintf(r->name[r->n++], NAME, "%s", name);
    pthread_mutex_unlock(&r->mutex);
}

static size_t count_changes(reader *r)
{
    pthread_mutex_lock(&r->mutex);
    const size_t n = r->n;
    pthread_mutex_unlock(&r->mutex);
    return n;
}

/* Opens both ends for two servers whose database orders their changes. If `loads`, the second server is still
   loading. */
static void open_pair(srv_handover_sync *pair[2], reader readers[2], bool loads)
{
    int link[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link), 0);
    for (int i = 0; i < 2; i++) {
        readers[i].n = 0;
        pthread_mutex_init(&readers[i].mutex, NULL);
        pair[i] = srv_handover_sync_open(-1, link[i], loads && i == 0,
                                         &(srv_handover_sync_reader){.read = note_change, .arg = &readers[i]});
        assert_non_null(pair[i]);
    }
}

/* There are more changes than one message holds, so that the server waits for confirmations between messages. */
static void test_changes_while_the_other_loads_are_told_in_their_order(void **state)
{
    enum { CHANGES = 200 };
    static reader      readers[2];
    srv_handover_sync *pair[2];
    char               name[NAME];
    (void)state;
    open_pair(pair, readers, true);
    for (int i = 0; i < CHANGES; i++) {
        snprintf(name, sizeof name, "model-%d", i);
        assert_true(srv_handover_sync_tell(pair[0], name));
    }
    assert_int_equal(count_changes(&readers[1]), 0);
    assert_true(srv_handover_sync_loaded(pair[0]));
    assert_int_equal(count_changes(&readers[1]), CHANGES);
    for (int i = 0; i < CHANGES; i++) {
        snprintf(name, sizeof name, "model-%d", i);
        assert_string_equal(readers[1].name[i], name);
    }
    assert_true(srv_handover_sync_tell(pair[0], "later")); /* waits for the confirmation */
    assert_int_equal(count_changes(&readers[1]), CHANGES + 1);
    assert_string_equal(readers[1].name[CHANGES], "later");
    srv_handover_sync_close(pair[0]);
    srv_handover_sync_close(pair[1]);
}

static void test_both_directions_end_with_one_server(void **state)
{
    static reader      readers[2];
    srv_handover_sync *pair[2];
    (void)state;
    open_pair(pair, readers, false);
    assert_true(srv_handover_sync_tell(pair[0], "arm"));
    assert_true(srv_handover_sync_tell(pair[1], "leg"));
    assert_int_equal(count_changes(&readers[0]), 1);
    assert_int_equal(count_changes(&readers[1]), 1);
    assert_string_equal(readers[0].name[0], "leg");
    assert_string_equal(readers[1].name[0], "arm");
    srv_handover_sync_close(pair[1]);
    assert_true(srv_handover_sync_tell(pair[0], "hand"));
    assert_false(srv_handover_sync_is_alive(pair[0]));
    assert_int_equal(count_changes(&readers[0]), 1);
    srv_handover_sync_close(pair[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_while_the_other_loads_are_told_in_their_order),
        cmocka_unit_test(test_both_directions_end_with_one_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
