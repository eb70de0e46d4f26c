/* account.c - see account.h. */
#include "account.h"
#include <math.h>
#include "priority.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The FNV-1a hash of a name, as an index of a bucket. */
static size_t bucket_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % SRV_ACCOUNT_BUCKETS;
}

void srv_accounts_open(srv_accounts *accounts)
{
    *accounts                   = (srv_accounts){.n_kept = 0};
    accounts->shared.references = 1; /* never freed */
    srv_mutex_init(&accounts->mutex);
}

void srv_accounts_close(srv_accounts *accounts)
{
    for (size_t i = 0; i < SRV_ACCOUNT_BUCKETS; i++)
        for (srv_account *account = accounts->bucket[i], *next; account; account = next) {
            next = account->next;
            free(account);
        }
    pthread_mutex_destroy(&accounts->mutex);
}

/* Takes an account out of the list of those without references. */
static void unlink_kept(srv_accounts *accounts, srv_account *account)
{
    *(account->newer ? &account->newer->older : &accounts->newest) = account->older;
    *(account->older ? &account->older->newer : &accounts->oldest) = account->newer;
    accounts->n_kept--;
}

static void keep(srv_accounts *accounts, srv_account *account)
{
    account->newer                                                     = NULL;
    account->older                                                     = accounts->newest;
    *(accounts->newest ? &accounts->newest->newer : &accounts->oldest) = account;
    accounts->newest                                                   = account;
    accounts->n_kept++;
}

static void forget_oldest(srv_accounts *accounts)
{
    srv_account  *account = accounts->oldest;
    srv_account **link    = &accounts->bucket[bucket_of(account->name)];
    while (*link != account)
        link = &(*link)->next;
    *link = account->next;
    unlink_kept(accounts, account);
    free(account);
}

static srv_account *find_or_open(srv_accounts *accounts, const char *name)
{
    srv_account **bucket = &accounts->bucket[bucket_of(name)], *account = *bucket;
    while (account && strcmp(account->name, name) != 0)
        account = account->next;
    if (account && account->references == 0) unlink_kept(accounts, account);
    if (account) return account;
    account = calloc(1, sizeof *account);
    if (!account) return &accounts->shared;
    snprintf(account->name, sizeof account->name, "%s", name);
    account->next = *bucket;
    *bucket       = account;
    return account;
}

srv_account *srv_account_take(srv_accounts *accounts, const char *name)
{
    pthread_mutex_lock(&accounts->mutex);
    srv_account *account = find_or_open(accounts, name);
    account->references++;
    pthread_mutex_unlock(&accounts->mutex);
    return account;
}

double srv_account_request(srv_accounts *accounts, srv_account *account, size_t per_second, uint64_t now)
{
    if (per_second == 0) return 0;
    pthread_mutex_lock(&accounts->mutex);
    double wait = srv_rate_take(&account->requests, (double)per_second, now);
    pthread_mutex_unlock(&accounts->mutex);
    return wait;
}

/* A refusal takes a loop about 35 us. The refusals of one client may take a twentieth of a core. Together, those that a
 * loop sends to clients that are refused more than once a second may take a fourteenth of it. Neither may take more
 * than 2 ms at once. */
double srv_account_refusal(srv_accounts *accounts, srv_account *account, srv_rate *of_loop, uint64_t now)
{
    static const srv_pace of_client  = {.burst = 50, .per_second = 1000, .longest = 1};
    static const srv_pace patience   = {.burst = 20, .per_second = 1, .longest = 1};
    static const srv_pace of_crowd   = {.burst = 50, .per_second = 2000, .longest = 1};
    const double          loop_delay = srv_rate_delay(of_loop, &of_crowd, now);
    pthread_mutex_lock(&accounts->mutex);
    double     delay  = srv_rate_delay(&account->refusals, &of_client, now);
    const bool repeat = srv_rate_delay(&account->repeats, &patience, now) > 0;
    pthread_mutex_unlock(&accounts->mutex);
    return repeat ? fmax(delay, loop_delay) : delay;
}

/* Finds the account with the most memory. Returns the number of accounts with more than a little of it. */
static size_t find_greatest(const srv_accounts *accounts, size_t little, srv_account **greatest)
{
    size_t n = 0, most = 0;
    *greatest = NULL;
    for (size_t i = 0; i < SRV_ACCOUNT_BUCKETS; i++)
        for (srv_account *account = accounts->bucket[i]; account; account = account->next) {
            size_t used = atomic_load(&account->memory.used);
            n += used > little;
            if (used <= most) continue;
            most      = used;
            *greatest = account;
        }
    return n;
}

void srv_account_want_memory(srv_accounts *accounts, srv_account *account, size_t limit, uint64_t now)
{
    static const uint64_t interval = 20000000; /* ns between two orders: the search takes 10 to 100 us */
    size_t       wanted = atomic_exchange(&account->memory.wanted, 0), used = atomic_load(&account->memory.used);
    srv_account *greatest;
    pthread_mutex_lock(&accounts->mutex);
    if (wanted > 0 && now >= accounts->next_order) {
        accounts->next_order = now + interval;
        size_t n             = find_greatest(accounts, limit / 64, &greatest) + (used <= limit / 64);
        if (greatest && greatest != account && wanted <= limit / n && atomic_load(&greatest->memory.used) > limit / n)
            atomic_store(&greatest->yield, atomic_fetch_add(&accounts->yields, 1) + 1);
    }
    pthread_mutex_unlock(&accounts->mutex);
}

/* The memory of an account. */
typedef struct holder {
    char   name[SRV_ACCOUNT_NAME];
    size_t bytes;
} holder;

/* Inserts a holder into a list that is sorted by bytes, the greatest first. Returns the new length of the list. */
static size_t insert_holder(holder list[API_CLIENTS_SHOWN], size_t n, const srv_account *account, size_t bytes)
{
    size_t place = n;
    while (place > 0 && list[place - 1].bytes < bytes)
        place--;
    if (place == API_CLIENTS_SHOWN) return n;
    size_t length = n < API_CLIENTS_SHOWN ? n + 1 : n;
    memmove(&list[place + 1], &list[place], (length - place - 1) * sizeof *list);
    list[place].bytes = bytes;
    memcpy(list[place].name, account->name, sizeof list[place].name);
    return length;
}

void srv_accounts_read_memory(void *source, api_client_reader *read, void *arg)
{
    srv_accounts *accounts = source;
    holder        list[API_CLIENTS_SHOWN];
    size_t        n = 0;
    pthread_mutex_lock(&accounts->mutex);
    for (size_t i = 0; i < SRV_ACCOUNT_BUCKETS; i++)
        for (const srv_account *account = accounts->bucket[i]; account; account = account->next) {
            size_t bytes = atomic_load(&account->memory.used);
            if (bytes > 0) n = insert_holder(list, n, account, bytes);
        }
    pthread_mutex_unlock(&accounts->mutex);
    for (size_t i = 0; i < n; i++)
        read(arg, list[i].name, (double)list[i].bytes);
}

void srv_account_leave(srv_accounts *accounts, srv_account *account)
{
    if (!account) return;
    pthread_mutex_lock(&accounts->mutex);
    if (--account->references == 0) keep(accounts, account);
    if (accounts->n_kept > SRV_ACCOUNTS_KEPT) forget_oldest(accounts);
    pthread_mutex_unlock(&accounts->mutex);
}
