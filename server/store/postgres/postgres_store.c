/* postgres_store.c - see postgres_store.h: opening and closing, and the thread. */
#include "postgres_private.h"
#include "server/work/clock.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static const char *const schemes[] = {"postgresql://", "postgres://"};

bool srv_postgres_is_url(const char *store)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncmp(store, schemes[i], strlen(schemes[i])) == 0) return true;
    return false;
}

void srv_postgres_url_print(const char *url, char *text, size_t size)
{
    static const char parameter[] = "password=";
    const char       *user        = strstr(url, "://");
    const char       *host        = user ? user + 3 + strcspn(user + 3, "@/?") : url;
    const char       *colon       = user && *host == '@' ? memchr(user + 3, ':', (size_t)(host - user - 3)) : NULL;
    const char       *hidden      = strstr(host, parameter);
    const char       *rest        = hidden ? hidden + strcspn(hidden, "&") : "";
    int               start       = (int)(colon ? colon - url : host - url);
    int               end         = (int)(hidden ? (size_t)(hidden - host) + strlen(parameter) : strlen(host));
    snprintf(text, size, "%.*s%s%.*s%s%s", start, url, colon ? ":***" : "", end, host, hidden ? "***" : "", rest);
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

static bool check_url(srv_postgres *store, char *error, size_t size)
{
    char             *message = NULL;
    PQconninfoOption *options = store->pq.conninfoParse(store->url, &message);
    if (!options)
        snprintf(error, size, "the URL of the store is not valid: %.*s", (int)strcspn(message ? message : "", "\n"),
                 message ? message : "no memory");
    store->pq.conninfoFree(options);
    store->pq.freemem(message);
    return options != NULL;
}

static bool init(srv_postgres *store, const char *url, srv_log *log)
{
    pthread_condattr_t monotonic;
    store->log       = log;
    store->link.wake = -1;
    strcpy(store->url, url);
    if (pthread_mutex_init(&store->mutex, NULL) != 0) return false;
    pthread_mutex_init(&store->sharing, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&store->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    store->link = (srv_link){.pq      = &store->pq,
                             .url     = store->url,
                             .closing = &store->closing,
                             .wake    = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    return store->link.wake >= 0;
}

srv_postgres *srv_postgres_open(const char *url, srv_log *log, char *error, size_t size)
{
    srv_postgres *store = calloc(1, sizeof *store + strlen(url) + 1);
    if (!store) {
        snprintf(error, size, "no memory");
        return NULL;
    }
    if (!init(store, url, log)) {
        snprintf(error, size, "cannot open the store: %s", strerror(errno));
        free(store);
        return NULL;
    }
    if (srv_libpq_load(&store->pq, error, size) && check_url(store, error, size)) return store;
    srv_postgres_close(store);
    return NULL;
}

void srv_postgres_wake(srv_postgres *store)
{
    const uint64_t one = 1;
    (void)!write(store->link.wake, &one, sizeof one);
}

void srv_postgres_close(srv_postgres *store)
{
    if (!store) return;
    atomic_store(&store->closing, true);
    srv_postgres_wake(store);
    srv_handover_sync_close(store->sync);
    if (store->started) pthread_join(store->thread, NULL);
    pthread_mutex_destroy(&store->sharing);
    close(store->link.wake);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->mutex);
    free(store->bundled_names);
    free(store->bundled_revisions);
    free(store);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

enum { FOLLOW_SECONDS = 5, SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000 };

bool srv_postgres_connect(srv_postgres *store, uint64_t deadline)
{
    srv_link *link = &store->link;
    if (link->connection) return true;
    bool ready = srv_link_open(link, deadline) && srv_schema_check(link, deadline) &&
                 srv_postgres_register_bundled(store) && srv_postgres_compare_bundled(store) &&
                 srv_postgres_check_rights(store) && srv_postgres_follow(store);
    if (!ready) srv_link_close(link);
    return ready;
}

static uint64_t pause_of(unsigned failures)
{
    uint64_t ms = SHORTEST_PAUSE_MS;
    for (; failures > 1 && ms < LONGEST_PAUSE_MS; failures--)
        ms *= 2;
    return (ms < LONGEST_PAUSE_MS ? ms : LONGEST_PAUSE_MS) * 1000000;
}

/* One iteration of the store's thread: connects, makes the change that is asked for, reads changes, waits. */
static void turn(srv_postgres *store, unsigned *failures)
{
    srv_link *link   = &store->link;
    uint64_t  now    = srv_now();
    bool      before = link->connection != NULL;
    bool      there  = srv_postgres_connect(store, now + 10 * SECOND);
    srv_postgres_run_order(store);
    bool due = now >= store->next_follow;
    if (there && before && (link->notified || due)) there = srv_postgres_follow(store);
    if (there && before && due && link->connection)
        there = srv_postgres_compare_bundled(store) && srv_postgres_check_rights(store);
    there = there && link->connection;
    if (!there) srv_link_close(link);
    if (!atomic_load(&store->closing)) srv_postgres_publish(store, there);
    *failures = there ? 0 : *failures + 1;
    if (!srv_postgres_has_order(store))
        srv_link_wait(link, there ? store->next_follow : srv_now() + pause_of(*failures));
}

static void *run(void *arg)
{
    srv_postgres *store    = arg;
    unsigned      failures = 0;
    while (!atomic_load(&store->closing))
        turn(store, &failures);
    srv_link_close(&store->link);
    srv_postgres_unpublish(store);
    return NULL;
}

bool srv_postgres_start(srv_postgres *store, api *service, char *error, size_t size)
{
    store->service = service;
    if (!srv_postgres_list_bundled(store)) {
        snprintf(error, size, "no memory for the names of the models");
        return false;
    }
    store->started = pthread_create(&store->thread, NULL, run, store) == 0;
    if (!store->started) snprintf(error, size, "cannot start the thread of the store: %s", strerror(EAGAIN));
    return store->started;
}

uint64_t srv_postgres_next_follow(void)
{
    return srv_now() + FOLLOW_SECONDS * SECOND;
}

/* --- for commands ------------------------------------------------------------------------------------------------- */

bool srv_postgres_wait(srv_postgres *store, char *error, size_t size)
{
    struct timespec until;
    uint64_t        deadline = srv_now() + 10 * SECOND;
    until.tv_sec             = (time_t)(deadline / SECOND);
    until.tv_nsec            = (long)(deadline % SECOND);
    pthread_mutex_lock(&store->mutex);
    while (!(store->complete && store->connected) &&
           pthread_cond_timedwait(&store->changed, &store->mutex, &until) == 0)
        continue;
    bool complete = store->complete && store->connected;
    if (!complete) snprintf(error, size, "cannot read the store: %s", store->error);
    pthread_mutex_unlock(&store->mutex);
    return complete;
}

const int srv_postgres_version = SRV_SCHEMA_VERSION;

/* Connects to the host that takes changes, of the few that a URL names. */
static bool open_any_host(srv_link *link, uint64_t deadline)
{
    bool open = false;
    for (size_t host = 0; !open && host < 8; host++)
        open = srv_link_open(link, deadline);
    return open;
}

bool srv_postgres_check(const char *url, char *error, size_t size)
{
    srv_postgres *store = srv_postgres_open(url, NULL, error, size);
    if (!store) return false;
    srv_link *link     = &store->link;
    uint64_t  deadline = srv_now() + 10 * SECOND;
    bool      good     = open_any_host(link, deadline) && srv_schema_check(link, deadline);
    if (!good) snprintf(error, size, "cannot use the database of --store: %s", link->error);
    srv_link_close(link);
    srv_postgres_close(store);
    return good;
}

bool srv_postgres_migrate(const char *url, int *from, char *error, size_t size)
{
    srv_postgres *store = srv_postgres_open(url, NULL, error, size);
    if (!store) return false;
    srv_link *link     = &store->link;
    uint64_t  deadline = srv_now() + 60 * SECOND;
    bool      done     = open_any_host(link, deadline) && srv_schema_migrate(link, from, deadline);
    if (!done) snprintf(error, size, "cannot migrate the database: %s", link->error);
    srv_link_close(link);
    srv_postgres_close(store);
    return done;
}
