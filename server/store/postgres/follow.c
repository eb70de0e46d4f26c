/* follow.c - read the changes of all servers from the database, in the order of their numbers, and apply them. */
#include "postgres_private.h"
#include <endian.h>
#include "server/store/checksum.h"
#include "server/work/clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_NS UINT64_C(5000000000) /* time for one answer of the database */

enum { COUNTER, PURGED, NAME, NUMBER, RECORD };

static void report_unreadable(srv_postgres *store, const char *name, const char *problem)
{
    char     subject[100];
    srv_line line;
    snprintf(subject, sizeof subject, "row %s", name);
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_READ}}, 1);
    srv_log_begin(&line, store->log, SRV_WARNING, "unreadable");
    srv_log_text(&line, "row", name);
    srv_log_text(&line, "problem", problem);
    srv_log_end(&line);
    api_set_reason(store->service, subject, "store: the row %.100s is left alone: %s", name, problem);
}

/* Applies the change of one row. False: no memory; the row is read again later. */
static bool apply(srv_postgres *store, const PGresult *rows, int row)
{
    const srv_libpq *pq     = &store->pq;
    size_t           length = (size_t)pq->getlength(rows, row, RECORD);
    uint64_t         number = srv_link_number(&store->link, rows, row, NUMBER);
    char             subject[100], name[80], *record = malloc(length + 1);
    if (!record) return false;
    memcpy(record, pq->getvalue(rows, row, RECORD), length);
    record[length] = '\0';
    snprintf(name, sizeof name, "%s", pq->getvalue(rows, row, NAME));
    snprintf(subject, sizeof subject, "row %s", name);
    api_problem problem;
    api_problem_clear(&problem);
    bool whole = srv_checksum_remove(record, &length);
    bool good  = api_follow(store->service, name, whole ? record : NULL, length, number, &problem);
    free(record);
    if (problem.code == API_MEMORY_FULL) return false;
    api_metric_add(API_METRIC_STORE_CHANGES, API_NO_LABELS, 1);
    if (good) api_clear_reason(store->service, subject);
    if (!good) report_unreadable(store, name, problem.detail);
    pthread_mutex_lock(&store->mutex);
    store->unreadable += !good;
    pthread_mutex_unlock(&store->mutex);
    return true;
}

/* Publishes the number up to which all changes are applied. */
static void set_applied(srv_postgres *store, uint64_t number, bool complete)
{
    pthread_mutex_lock(&store->mutex);
    uint64_t before = store->applied;
    bool     first  = complete && !store->complete;
    if (number > before) store->applied = number;
    if (first) store->complete = true;
    if (first) pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->mutex);
    if (number > before) api_metric_add(API_METRIC_STORE_CHANGE, API_NO_LABELS, (int64_t)(number - before));
    if (number > before || first) api_set_change(store->service, number);
}

/* A database that has fewer changes than this server has lost some, as after a failover to an asynchronous standby or
 * from a backup. */
static bool check_counter(srv_postgres *store, uint64_t counter)
{
    if (counter >= store->applied) return true;
    return srv_link_fail(&store->link, API_STORE_FAULT_LOST,
                         "the database has lost changes: its last one is number %llu, and this server has applied "
                         "number %llu; restart the servers to serve what the database has",
                         (unsigned long long)counter, (unsigned long long)store->applied);
}

/* Removes what was deleted so long ago that the database has no tombstone of it any more. False with link.error. */
static bool forget_deleted(srv_postgres *store)
{
    const srv_query query = {.text = srv_schema_names};
    PGresult       *rows  = srv_link_query(&store->link, &query, srv_now() + ANSWER_NS);
    if (!rows) return false;
    size_t       n     = (size_t)store->pq.ntuples(rows);
    const char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = store->pq.getvalue(rows, (int)i, 0);
    if (names)
        api_forget_deleted(store->service, names, n);
    else
        srv_link_fail(&store->link, API_STORE_FAULT_OTHER, "no memory for the names of the store");
    free(names);
    store->pq.clear(rows);
    return names != NULL;
}

/* Notices that tombstones were removed. The first reading misses none, because the server has no model of the store. */
static bool check_purged(srv_postgres *store, uint64_t purged)
{
    if (purged <= store->purged) return true;
    if (store->complete && !forget_deleted(store)) return false;
    store->purged = purged;
    return true;
}

/* Applies the rows of one answer. `n` receives their number. */
static bool apply_all(srv_postgres *store, const PGresult *rows, int *n)
{
    *n = store->pq.ntuples(rows);
    if (*n == 0) {
        srv_link_fail(&store->link, API_STORE_FAULT_TABLES, "torqued.counter of the database has no row");
        return false;
    }
    uint64_t counter = srv_link_number(&store->link, rows, 0, COUNTER);
    uint64_t purged  = srv_link_number(&store->link, rows, 0, PURGED);
    if (!check_counter(store, counter) || !check_purged(store, purged)) return false;
    if (store->pq.getisnull(rows, 0, NAME)) *n = 0;
    for (int row = 0; row < *n; row++)
        if (!apply(store, rows, row)) {
            srv_link_fail(&store->link, API_STORE_FAULT_OTHER, "no memory for a model of the store");
            return false;
        }
    bool last = *n < SRV_FOLLOW_ROWS;
    set_applied(store, last ? counter : srv_link_number(&store->link, rows, *n - 1, NUMBER), last);
    return true;
}

bool srv_postgres_follow(srv_postgres *store)
{
    srv_link *link     = &store->link;
    int       n        = SRV_FOLLOW_ROWS;
    link->notified     = false;
    store->next_follow = srv_postgres_next_follow();
    while (n == SRV_FOLLOW_ROWS) {
        uint64_t        since = htobe64(store->applied);
        const srv_query query = {
            .text = srv_schema_follow, .n = 1, .values = {(const char *)&since}, .lengths = {sizeof since}};
        PGresult *rows = srv_link_query(link, &query, srv_now() + ANSWER_NS);
        bool      good = rows && apply_all(store, rows, &n);
        store->pq.clear(rows);
        if (!good) return false;
    }
    return true;
}

size_t srv_postgres_unreadable(srv_postgres *store)
{
    pthread_mutex_lock(&store->mutex);
    size_t unreadable = store->unreadable;
    pthread_mutex_unlock(&store->mutex);
    return unreadable;
}
