/* account.h - keep an account of each client: its waiting jobs, requests and connections.
 *
 * A client is named by a text, such as "client:planner", "uid:1000" or "address:192.0.2.7". All loops share one table.
 * An account lives while it has references or an unfinished job; then the table keeps it for its next connection, until
 * too many newer ones are kept. If memory is short, clients share one account.
 *
 * The functions lock the table. The flows are guarded by the mutexes of their pools. */
#pragma once
#include "fair_queue.h"
#include "rate.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SRV_ACCOUNT_NAME = 96, SRV_ACCOUNT_BUCKETS = 1024 /* a power of 2 */, SRV_ACCOUNTS_KEPT = 4096 };

/* Pools that run jobs of clients: evaluations, and changes of models. */
typedef enum srv_pool_kind { SRV_EVALUATIONS, SRV_CHANGES, SRV_POOLS } srv_pool_kind;

typedef struct srv_account {
    struct srv_account *next;          /* next account of the hash bucket */
    struct srv_account *newer, *older; /* neighbours among the accounts without references */
    size_t              references;
    srv_flow            flow[SRV_POOLS];
    srv_rate            refusals;    /* rate of refusals that are answered at once; guarded by the mutex of the table */
    srv_rate            repeats;     /* rate of refusals over a longer time; guarded by the mutex of the table */
    srv_rate            requests;    /* rate of requests; guarded by the mutex of the table */
    api_client_memory   memory;      /* memory of the client's requests in flight */
    atomic_ullong       yield;       /* number of the last order to give memory back; 0: none */
    atomic_size_t       connections; /* number of open connections of the address or user */
    char                name[SRV_ACCOUNT_NAME];
} srv_account;

typedef struct srv_accounts {
    pthread_mutex_t mutex;
    atomic_ullong   yields;          /* number of orders to give memory back, see srv_account_want_memory */
    uint64_t        next_order;      /* ns, time from which the next order may be given; guarded by the mutex */
    size_t          n_kept;          /* number of accounts without references */
    srv_account    *newest, *oldest; /* list of the accounts without references */
    srv_account     shared;          /* account of all clients for whose own accounts there is no memory */
    srv_account    *bucket[SRV_ACCOUNT_BUCKETS];
} srv_accounts;

void srv_accounts_open(srv_accounts *accounts);
void srv_accounts_close(srv_accounts *accounts); /* call when no account has references */

/* Finds the account of a name, or creates it, and adds a reference. */
srv_account *srv_account_take(srv_accounts *accounts, const char *name);

/* Counts one request at the time `now`, ns. Returns 0, or, if the client sends more than `per_second`, the seconds
 * after which it may send the next. */
double srv_account_request(srv_accounts *accounts, srv_account *account, size_t per_second, uint64_t now);

/* Counts one refusal at the time `now`, ns, of the account and of the loop that sends it. Returns the seconds by which
 * its answer must be delayed: 0 unless the client is refused very often, or is refused again and again while the loop
 * has many others to refuse. */
double srv_account_refusal(srv_accounts *accounts, srv_account *account, srv_rate *of_loop, uint64_t now);

/* Notes at the time `now`, ns, that a request of the account was refused for lack of memory. If the client would have
 * held no more than an equal part of the memory `limit`, bytes, and another holds more than such a part, the account
 * that holds most gets an order to give memory back: its `yield` is the number of the order. Loops look for new orders
 * by `yields` of the table. */
void srv_account_want_memory(srv_accounts *accounts, srv_account *account, size_t limit, uint64_t now);

/* An api_memory_holders of the accounts, `source`. */
void srv_accounts_read_memory(void *source, api_client_reader *read, void *arg);

/* Ends one reference. NULL is allowed. No job of the account that this reference has brought may be unfinished. */
void srv_account_leave(srv_accounts *accounts, srv_account *account);
