/* database_state.c - publishes the state of the database: in /readyz, in the metrics and in the log. */
#include "postgres_private.h"
#include "server/work/clock.h"
#include <stdio.h>
#include <string.h>

#define ANSWER_NS UINT64_C(5000000000) /* time for one answer of the database */

#define DATABASE "database" /* subject of a reason in the answer of /readyz */

bool srv_postgres_check_rights(srv_postgres *store)
{
    const srv_libpq *pq     = &store->pq;
    const srv_query  query  = {.text = srv_schema_rights};
    PGresult        *result = srv_link_query(&store->link, &query, srv_now() + ANSWER_NS);
    if (!result) return false;
    const char *missing  = pq->getvalue(result, 0, 0);
    bool        no_write = srv_link_number(&store->link, result, 0, 1) != 0;
    store->limit[0]      = '\0';
    store->limit_fault   = no_write ? API_STORE_FAULT_READ_ONLY : API_STORE_FAULT_RIGHTS;
    if (no_write)
        snprintf(store->limit, sizeof store->limit, "the session is read-only");
    else if (*missing)
        snprintf(store->limit, sizeof store->limit, "missing are %s", missing);
    pq->clear(result);
    return true;
}

static void log_state(srv_postgres *store, srv_level level, const char *event, const char *problem)
{
    char     url[300];
    srv_line line;
    srv_postgres_url_print(store->url, url, sizeof url);
    srv_log_begin(&line, store->log, level, event);
    srv_log_text(&line, "store", url);
    if (problem) srv_log_text(&line, "fault", api_store_fault_name(store->fault));
    srv_log_text(&line, "problem", problem);
    srv_log_end(&line);
}

static void count_fault(srv_fault fault, int sign)
{
    api_metric_add(API_METRIC_STORE_FAULT, (api_label_values){{fault}}, sign);
}

static void name_fault(srv_postgres *store, bool connected, const char *error)
{
    const char *remedy = srv_fault_remedy(store->fault);
    api_set_reason(store->service, DATABASE, "store: %s, so no model can be changed%s: %.200s%s%s",
                   srv_fault_title(store->fault), connected ? "" : ", and changes of other servers do not arrive",
                   error, *remedy ? "; " : "", remedy);
}

/* Publishes the fault of the database, or its end. */
static void set_fault(srv_postgres *store, bool connected)
{
    bool        faulty = !connected || *store->limit, before = store->faulty;
    srv_fault   fault = connected ? store->limit_fault : store->link.fault;
    const char *error = connected ? store->limit : store->link.error;
    bool        same  = before == faulty && (!faulty || store->fault == fault);
    if (before && !same) count_fault(store->fault, -1);
    store->faulty = faulty;
    store->fault  = fault;
    if (faulty && !same) count_fault(fault, 1);
    if (faulty)
        name_fault(store, connected, error);
    else
        api_clear_reason(store->service, DATABASE);
    if (faulty && !same) log_state(store, SRV_WARNING, connected ? "database-limited" : "database-away", error);
    if (before && !faulty) log_state(store, SRV_INFO, "database", NULL);
}

void srv_postgres_publish(srv_postgres *store, bool connected)
{
    pthread_mutex_lock(&store->mutex);
    store->connected = connected;
    snprintf(store->error, sizeof store->error, "%s", connected ? "" : store->link.error);
    if (connected) pthread_cond_broadcast(&store->changed); /* a command may wait for it */
    pthread_mutex_unlock(&store->mutex);
    set_fault(store, connected);
    if (connected && !store->ready) {
        api_set_ready(store->service); /* a client may now make changes, too */
        log_state(store, SRV_INFO, "ready", NULL);
    }
    store->ready = store->ready || connected;
    if (store->counted != connected) api_metric_add(API_METRIC_STORE_CONNECTED, API_NO_LABELS, connected ? 1 : -1);
    store->counted = connected;
}

void srv_postgres_unpublish(srv_postgres *store)
{
    if (store->counted) api_metric_add(API_METRIC_STORE_CONNECTED, API_NO_LABELS, -1);
    if (store->faulty) count_fault(store->fault, -1);
}
