/* test_account.c - checks the table of accounts, one for each client with its limits and use: a client that returns
   finds its account, and the table drops the oldest unused ones. */
#include "server/work/account.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static srv_accounts accounts;

static void test_a_name_has_one_account(void **state)
{
    srv_accounts_open(&accounts);
    srv_account *a = srv_account_take(&accounts, "address:192.0.2.1"), *b = srv_account_take(&accounts, "client:b");
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(srv_account_take(&accounts, "address:192.0.2.1"), a);
    assert_int_equal(a->references, 2);
    srv_account_leave(&accounts, a);
    srv_account_leave(&accounts, a);
    assert_int_equal(accounts.n_kept, 1);
    assert_ptr_equal(srv_account_take(&accounts, "address:192.0.2.1"), a); /* kept for the client's next connection */
    assert_int_equal(accounts.n_kept, 0);
    srv_account_leave(&accounts, a);
    srv_account_leave(&accounts, b);
    srv_account_leave(&accounts, NULL);
    srv_accounts_close(&accounts);
}

/* Checks the delay of one client's refusals: 50 are answered at once and then 1000 in a second, later ones are delayed.
 */
static void test_many_refusals(void **state)
{
    int      at_once = 0;
    double   delay   = 0;
    srv_rate loop    = {0};
    srv_accounts_open(&accounts);
    srv_account *a = srv_account_take(&accounts, "address:192.0.2.1"), *b = srv_account_take(&accounts, "client:b");
    for (int i = 0; i < 500; i++) {
        double next = srv_account_refusal(&accounts, a, &loop, 7000000000);
        at_once += next == 0;
        assert_true(next <= delay + 0.001 + 1e-9); /* answered one by one, not all together */
        delay = next;
    }
    assert_int_equal(at_once, 50);
    assert_true(fabs(delay - 0.45) < 1e-9);
    assert_true(srv_account_refusal(&accounts, b, &loop, 7000000000) == 0);
    assert_true(srv_account_refusal(&accounts, a, &loop, 7500000000) == 0);
    srv_account_leave(&accounts, a);
    srv_account_leave(&accounts, b);
    srv_accounts_close(&accounts);
}

static srv_account *take_number(int i)
{
    char name[40];
    snprintf(name, sizeof name, "address:%d", i);
    return srv_account_take(&accounts, name);
}

/* Checks the delay of refusals to many clients: 500 clients that repeat their request after each refusal get no more
   than 2000 answers a second from one event loop, while a client that is rarely refused gets its answer at once. */
static void test_refusals_of_a_crowd(void **state)
{
    enum { CLIENTS = 500 };
    srv_account *crowd[CLIENTS], *polite;
    uint64_t     next[CLIENTS] = {0};
    srv_rate     loop          = {0};
    int          answers       = 0;
    srv_accounts_open(&accounts);
    polite = srv_account_take(&accounts, "client:polite");
    for (int i = 0; i < CLIENTS; i++)
        crowd[i] = take_number(i);
    for (uint64_t now = 1000000; now < 4000000000; now += 1000000) {
        for (int i = 0; i < CLIENTS; i++)
            if (next[i] <= now) {
                next[i] = now + (uint64_t)(1e9 * srv_account_refusal(&accounts, crowd[i], &loop, now));
                answers += now > 2000000000;
            }
        if (now % 1000000000 == 0) assert_true(srv_account_refusal(&accounts, polite, &loop, now) == 0);
    }
    assert_true(answers > 3800 && answers < 4200);
    for (int i = 0; i < CLIENTS; i++)
        srv_account_leave(&accounts, crowd[i]);
    srv_account_leave(&accounts, polite);
    srv_accounts_close(&accounts);
}

static size_t count_all(void)
{
    size_t n = 0;
    for (size_t i = 0; i < SRV_ACCOUNT_BUCKETS; i++)
        for (const srv_account *account = accounts.bucket[i]; account; account = account->next)
            n++;
    return n;
}

static void test_the_oldest_account_is_forgotten(void **state)
{
    srv_accounts_open(&accounts);
    srv_account *used = take_number(0), *back;
    for (int i = 1; i < 3 * SRV_ACCOUNTS_KEPT; i++)
        srv_account_leave(&accounts, take_number(i));
    assert_int_equal(accounts.n_kept, SRV_ACCOUNTS_KEPT);
    assert_int_equal(count_all(), SRV_ACCOUNTS_KEPT + 1);
    assert_string_equal(used->name, "address:0"); /* this account is in use, so the table kept it */
    back = take_number(3 * SRV_ACCOUNTS_KEPT - 1);
    assert_int_equal(count_all(), SRV_ACCOUNTS_KEPT + 1); /* the newest account was still in the table */
    back = (srv_account_leave(&accounts, back), take_number(1));
    assert_int_equal(count_all(), SRV_ACCOUNTS_KEPT + 2); /* the first account was not */
    srv_account_leave(&accounts, back);
    srv_account_leave(&accounts, used);
    srv_accounts_close(&accounts);
}

enum { LIMIT = 1000 }; /* bytes of memory that the accounts share */

/* Sets the memory that an account uses, and the total that it would have used with the claim that was refused. */
static void set_memory(srv_account *account, size_t used, size_t wanted)
{
    account->memory.used   = used;
    account->memory.wanted = wanted;
}

/* The account that uses the most memory must release some for another account only if it uses more than an equal share,
   and the other one would use no more than such a share. */
static void test_the_greediest_account_gives_memory_back(void **state)
{
    uint64_t now = 1000000000, later = 20000000;
    srv_accounts_open(&accounts);
    srv_account *a = srv_account_take(&accounts, "a"), *b = srv_account_take(&accounts, "b");
    srv_account *c = srv_account_take(&accounts, "c");
    set_memory(a, 600, 0);
    set_memory(b, 300, 0);
    set_memory(c, 10, 334);
    srv_account_want_memory(&accounts, c, LIMIT, now += later); /* c would use more than a third, an equal share of
                                                                   three */
    assert_true(a->yield == 0 && b->yield == 0 && accounts.yields == 0);
    assert_int_equal(c->memory.wanted, 0);
    set_memory(c, 10, 333);
    srv_account_want_memory(&accounts, c, LIMIT, now += later);
    assert_true(a->yield == 1 && b->yield == 0 && c->yield == 0 && accounts.yields == 1);
    set_memory(c, 10, 333);
    srv_account_want_memory(&accounts, c, LIMIT, now + later - 1); /* too soon after the last request to release
                                                                      memory */
    assert_int_equal(accounts.yields, 1);
    set_memory(a, 333, 0);
    set_memory(c, 10, 333);
    srv_account_want_memory(&accounts, c, LIMIT, now += later); /* no account uses more than a third */
    srv_account_want_memory(&accounts, c, LIMIT, now += later); /* c was refused nothing since */
    assert_int_equal(accounts.yields, 1);
    set_memory(a, 600, 700);
    srv_account_want_memory(&accounts, a, LIMIT, now += later); /* a is itself the account that uses the most */
    assert_int_equal(accounts.yields, 1);
    set_memory(b, 700, 0);
    set_memory(a, 10, 400); /* c uses so little that it does not count: an equal share is now a half */
    set_memory(c, 10, 0);
    srv_account_want_memory(&accounts, a, LIMIT, now += later);
    assert_true(b->yield == 2 && accounts.yields == 2);
    srv_account_leave(&accounts, a);
    srv_account_leave(&accounts, b);
    srv_account_leave(&accounts, c);
    srv_accounts_close(&accounts);
}

typedef struct told {
    size_t n;
    double bytes[API_CLIENTS_SHOWN + 1];
    char   first[SRV_ACCOUNT_NAME];
} told;

static void note_holder(void *arg, const char *client, double value)
{
    told *t = arg;
    if (t->n == 0) snprintf(t->first, sizeof t->first, "%s", client);
    t->bytes[t->n++] = value;
}

/* srv_accounts_read_memory names the 20 of 30 clients that hold most memory, the greatest first. */
static void test_who_holds_memory(void **state)
{
    enum { CLIENTS = 30 };
    srv_account *taken[CLIENTS];
    told         t = {.n = 0};
    srv_accounts_open(&accounts);
    for (int i = 0; i < CLIENTS; i++) {
        taken[i] = take_number(i);
        set_memory(taken[i], (size_t)((7 * i) % CLIENTS), 0);
    }
    srv_accounts_read_memory(&accounts, note_holder, &t);
    assert_int_equal(t.n, API_CLIENTS_SHOWN);
    for (int i = 0; i < API_CLIENTS_SHOWN; i++)
        assert_true(t.bytes[i] == CLIENTS - 1 - i);
    assert_string_equal(t.first, taken[17]->name); /* 7 * 17 = 119 = 3 * 30 + 29 */
    for (int i = 0; i < CLIENTS; i++)
        srv_account_leave(&accounts, taken[i]);
    srv_accounts_close(&accounts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_has_one_account), cmocka_unit_test(test_the_oldest_account_is_forgotten),
        cmocka_unit_test(test_many_refusals),          cmocka_unit_test(test_refusals_of_a_crowd),
        cmocka_unit_test(test_who_holds_memory),       cmocka_unit_test(test_the_greediest_account_gives_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
