/* read.c - read the models of a database as they are at one moment, for a command; see postgres_store.h.
 *
 * One transaction of the level REPEATABLE READ sees the tables as they were at its first statement (PostgreSQL 15
 * documentation, section 13.2.2), however many changes other connections make meanwhile. */
#include "postgres_private.h"
#include "server/store/checksum.h"
#include "server/work/clock.h"
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_NS UINT64_C(30000000000) /* time for one answer of the database */

enum { COUNTER, PURGED, NAME, NUMBER, RECORD, HOSTS_MOST = 8 };

typedef struct reading {
    srv_postgres         *store;
    api                  *service;
    const srv_read_watch *watch;
    uint64_t              read_to; /* number of the last change that was read */
    size_t                good, bad;
} reading;

/* Reads the row of one model. False: no memory. */
static bool read_model_row(reading *r, const PGresult *rows, int row)
{
    const srv_libpq *pq     = &r->store->pq;
    size_t           length = (size_t)pq->getlength(rows, row, RECORD);
    const char      *name   = pq->getvalue(rows, row, NAME);
    char            *record = malloc(length + 1);
    api_problem      problem;
    if (!record) return false;
    memcpy(record, pq->getvalue(rows, row, RECORD), length);
    record[length] = '\0';
    api_problem_clear(&problem);
    r->read_to = srv_link_number(&r->store->link, rows, row, NUMBER);
    bool whole = srv_checksum_remove(record, &length);
    bool good  = api_follow(r->service, name, whole ? record : NULL, length, r->read_to, &problem);
    free(record);
    if (problem.code == API_MEMORY_FULL) return false;
    r->good += good;
    r->bad += !good;
    if (!good) r->watch->damaged(r->watch->arg, name, problem.detail);
    if (r->watch->show) r->watch->show(r->watch->arg, r->good + r->bad, 0);
    return true;
}

/* Reads up to SRV_FOLLOW_ROWS rows. `n` receives their number. False with link.error. */
static bool read_model_rows(reading *r, int *n)
{
    srv_link       *link  = &r->store->link;
    uint64_t        since = htobe64(r->read_to);
    const srv_query query = {
        .text = srv_schema_follow, .n = 1, .values = {(const char *)&since}, .lengths = {sizeof since}};
    PGresult *rows = srv_link_query(link, &query, srv_now() + ANSWER_NS);
    if (!rows) return false;
    bool good = true;
    *n        = r->store->pq.ntuples(rows);
    if (*n > 0 && r->store->pq.getisnull(rows, 0, NAME)) *n = 0;
    for (int row = 0; good && row < *n; row++)
        good = read_model_row(r, rows, row);
    if (!good) snprintf(link->error, sizeof link->error, "no memory for a model of the store");
    r->store->pq.clear(rows);
    return good;
}

static bool read_all_models(reading *r)
{
    srv_link *link = &r->store->link;
    bool      open = false;
    int       n    = SRV_FOLLOW_ROWS;
    for (size_t host = 0; !open && host < HOSTS_MOST; host++)
        open = srv_link_open(link, srv_now() + ANSWER_NS);
    bool good = open && srv_schema_check(link, srv_now() + ANSWER_NS) &&
                srv_link_run(link, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", srv_now() + ANSWER_NS);
    while (good && n == SRV_FOLLOW_ROWS)
        good = read_model_rows(r, &n);
    return good && srv_link_run(link, "COMMIT", srv_now() + ANSWER_NS);
}

bool srv_postgres_read(const char *url, api *service, const srv_read_watch *watch, size_t *bad, char *error,
                       size_t size)
{
    reading r = {.store = srv_postgres_open(url, NULL, error, size), .service = service, .watch = watch};
    if (!r.store) return false;
    bool good = read_all_models(&r);
    if (!good) snprintf(error, size, "cannot read the store: %s", r.store->link.error);
    srv_link_close(&r.store->link);
    srv_postgres_close(r.store);
    *bad = r.bad;
    return good;
}
