/* changes.c - make the changes that clients of this server ask for. */
#include "postgres_private.h"
#include "server/store/checksum.h"
#include "server/work/clock.h"
#include <endian.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A change takes milliseconds. The limit lets a failover to another host go by without an error, and bounds the time
 * for which a client waits for a database that hangs. */
#define CHANGE_NS UINT64_C(5000000000)
#define PAUSE_NS  UINT64_C(50000000) /* between two attempts to connect */

static const char TOMBSTONE[] = "{\"deleted\":true}";

/* --- on the thread that asks -------------------------------------------------------------------------------------- */

static void free_order(srv_order *order)
{
    if (order) free(order->record);
    free(order);
}

static bool make_token(char token[33])
{
    uint8_t bytes[16];
    if (gnutls_rnd(GNUTLS_RND_NONCE, bytes, sizeof bytes) != 0) return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static srv_order *make_order(const char *name, const char *record, size_t length, const api_numbering *numbering)
{
    srv_order *order = calloc(1, sizeof *order);
    if (!order) return NULL;
    snprintf(order->name, sizeof order->name, "%s", name);
    snprintf(order->revision, sizeof order->revision, "%s", numbering->revision);
    order->base     = numbering->base;
    order->deadline = srv_now() + CHANGE_NS;
    order->record   = srv_checksum_add(record, length, &order->length);
    if (order->record && make_token(order->token)) return order;
    free_order(order);
    return NULL;
}

/* Waits until the order is done, and copies it. At the deadline an order that has not begun is withdrawn, and one that
 * runs is left to the store's thread, which frees it: then `abandoned` of the copy is true. */
static srv_order await(srv_postgres *store, srv_order *order)
{
    struct timespec until = {.tv_sec  = (time_t)(order->deadline / 1000000000u) + 1,
                             .tv_nsec = (long)(order->deadline % 1000000000u)};
    pthread_mutex_lock(&store->mutex);
    store->order = order;
    srv_postgres_wake(store);
    while (!order->done && pthread_cond_timedwait(&store->changed, &store->mutex, &until) == 0)
        continue;
    order->abandoned = !order->done && order->running;
    if (!order->abandoned) store->order = NULL;
    srv_order outcome = *order;
    pthread_mutex_unlock(&store->mutex);
    return outcome;
}

static bool refuse(const srv_postgres *store, const char *name, const char *reason, api_code code, api_problem *problem)
{
    srv_line line;
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_WRITE}}, 1);
    srv_log_begin(&line, store->log, SRV_ERROR, "store");
    srv_log_text(&line, "model", name);
    srv_log_text(&line, "problem", reason);
    srv_log_end(&line);
    return api_fail(problem, code, NULL, "the store cannot change %s: %s", name, reason);
}

/* Tells the api the outcome of an order that is done or has been given up. */
static bool conclude(const srv_postgres *store, const srv_order *order, api_numbering *numbering, api_problem *problem)
{
    char reason[SRV_LINK_ERROR + 100];
    numbering->number   = order->number;
    numbering->outdated = order->outdated;
    if (order->number > 0) return true;
    if (order->outdated) return false;
    snprintf(reason, sizeof reason, "%s; %s", order->done ? order->error : "the database does not answer",
             order->unknown || order->abandoned ? "whether the model has changed is not known yet"
                                                : "nothing has changed");
    return refuse(store, order->name, reason, order->full ? API_STORE_FULL : API_STORE_FAILED, problem);
}

/* Waits until the other server of a hand-over has applied a change. */
static void tell_other_server(srv_postgres *store, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    pthread_mutex_lock(&store->sharing);
    if (!srv_handover_sync_tell(store->sync, text))
        srv_log_message(store->log, SRV_WARNING, "twin-late",
                        "the other process of the hand-over has not confirmed change %s", text);
    pthread_mutex_unlock(&store->sharing);
}

static bool save(void *arg, const char *name, const char *record, size_t length, api_numbering *numbering,
                 api_problem *problem)
{
    srv_postgres *store = arg;
    char          error[SRV_LINK_ERROR + 30];
    pthread_mutex_lock(&store->mutex);
    bool ready = store->connected && !store->order;
    snprintf(error, sizeof error, "%s; nothing has changed", *store->error ? store->error : "the database is away");
    pthread_mutex_unlock(&store->mutex);
    if (!ready) return refuse(store, name, error, API_STORE_FAILED, problem);
    srv_order *order = make_order(name, record, length, numbering);
    if (!order) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for what is to be stored");
    uint64_t  began   = srv_now();
    srv_order outcome = await(store, order);
    bool      saved   = conclude(store, &outcome, numbering, problem);
    if (saved) tell_other_server(store, numbering->number);
    if (saved) api_metric_observe(API_METRIC_STORE_SECONDS, API_NO_LABELS, srv_now() - began);
    if (!outcome.abandoned) free_order(order);
    return saved;
}

static bool erase(void *arg, const char *name, api_numbering *numbering, api_problem *problem)
{
    return save(arg, name, TOMBSTONE, sizeof TOMBSTONE - 1, numbering, problem);
}

api_store srv_postgres_interface(srv_postgres *store)
{
    return (api_store){.save = save, .erase = erase, .arg = store};
}

/* --- on the store's thread ---------------------------------------------------------------------------------------- */

bool srv_postgres_has_order(srv_postgres *store)
{
    pthread_mutex_lock(&store->mutex);
    bool has = store->order && !store->order->done;
    pthread_mutex_unlock(&store->mutex);
    return has;
}

static srv_order *take(srv_postgres *store)
{
    pthread_mutex_lock(&store->mutex);
    srv_order *order = store->order && !store->order->done ? store->order : NULL;
    if (order) order->running = true;
    pthread_mutex_unlock(&store->mutex);
    return order;
}

/* Passes an outcome to the thread that asks, or frees the order if that thread has given up. */
static void finish(srv_postgres *store, srv_order *order, const srv_order *outcome)
{
    pthread_mutex_lock(&store->mutex);
    bool abandoned  = order->abandoned;
    order->number   = outcome->number;
    order->outdated = outcome->outdated;
    order->full     = outcome->full;
    order->unknown  = outcome->unknown;
    memcpy(order->error, outcome->error, sizeof order->error);
    order->done = true;
    if (abandoned) store->order = NULL;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->mutex);
    if (abandoned) free_order(order);
}

/* Sends the change. Sets the outcome and returns true if there is one; false: the connection was lost, and the change
 * may or may not have been made. */
static bool send(srv_postgres *store, const srv_order *order, srv_order *outcome)
{
    srv_link       *link   = &store->link;
    uint64_t        base   = htobe64(order->base);
    const srv_query query  = {.text   = srv_schema_change,
                              .n      = 5,
                              .values = {order->token, order->name, (const char *)&base, order->revision, order->record},
                              .lengths = {(int)strlen(order->token), (int)strlen(order->name), sizeof base,
                                          (int)strlen(order->revision), (int)order->length}};
    PGresult       *result = srv_link_query(link, &query, order->deadline);
    if (!result) {
        outcome->full = strncmp(link->state, "53", 2) == 0; /* insufficient resources, such as a full disk */
        return *link->state != '\0';
    }
    outcome->number   = srv_link_number(link, result, 0, 0);
    outcome->outdated = outcome->number == 0;
    store->pq.clear(result);
    if (!link->unreplicated) return true;
    outcome->number  = 0;
    outcome->unknown = true;
    srv_link_fail(link, API_STORE_FAULT_FROZEN, "no standby has confirmed the change");
    return true;
}

/* Makes a change; after a lost connection asks again with the same token until the deadline. */
static void make_change(srv_postgres *store, const srv_order *order, srv_order *outcome)
{
    bool sent = false;
    while (!atomic_load(&store->closing) && srv_now() < order->deadline) {
        if (srv_postgres_connect(store, order->deadline)) {
            outcome->unknown = false;
            if (send(store, order, outcome)) break;
            sent = true;
        } else {
            uint64_t pause = srv_now() + PAUSE_NS;
            srv_link_wait(&store->link, pause < order->deadline ? pause : order->deadline);
        }
        outcome->unknown = sent;
    }
    snprintf(outcome->error, sizeof outcome->error, "%s", store->link.error);
}

void srv_postgres_run_order(srv_postgres *store)
{
    srv_order *order = take(store);
    if (!order) return;
    srv_order outcome = {.running = true};
    make_change(store, order, &outcome);
    outcome.outdated = outcome.outdated && srv_postgres_follow(store);
    finish(store, order, &outcome);
}

/* --- hand-over ---------------------------------------------------------------------------------------------------- */

/* Waits until a change that the other server has made is applied here; the connection follows by itself. */
static void await_number(void *arg, const char *text)
{
    static const struct timespec pause  = {.tv_nsec = 1000000};
    srv_postgres                *store  = arg;
    uint64_t                     number = strtoull(text, NULL, 10), end = srv_now() + CHANGE_NS;
    bool                         waits = true;
    while (waits && srv_now() < end && !atomic_load(&store->closing)) {
        pthread_mutex_lock(&store->mutex);
        waits = store->applied < number;
        pthread_mutex_unlock(&store->mutex);
        if (waits) nanosleep(&pause, NULL);
    }
}

bool srv_postgres_share(srv_postgres *store, int link, bool loads)
{
    const srv_handover_sync_reader reader = {await_number, store};
    pthread_mutex_lock(&store->sharing);
    srv_handover_sync_close(store->sync);
    store->sync = srv_handover_sync_open(-1, link, loads, &reader);
    bool shares = store->sync != NULL;
    pthread_mutex_unlock(&store->sharing);
    return shares;
}

bool srv_postgres_loaded(srv_postgres *store)
{
    pthread_mutex_lock(&store->sharing);
    bool good = srv_handover_sync_loaded(store->sync);
    pthread_mutex_unlock(&store->sharing);
    return good;
}

bool srv_postgres_is_shared(srv_postgres *store)
{
    return srv_handover_sync_is_alive(store->sync); /* no lock: only the calling thread replaces `sync` */
}
