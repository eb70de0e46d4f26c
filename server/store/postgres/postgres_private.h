/* postgres_private.h - private to this folder: the parts of a store in PostgreSQL. */
#pragma once
#include "postgres_store.h"
#include "schema.h"
#include "server/store/handover_sync.h"
#include "api/metrics.h"
#include <pthread.h>

/* A change that a client of this server asks for. The change belongs to the thread that asks, which waits for it, and
 * then to the store's thread if the first one has given up meanwhile. */
typedef struct srv_order {
    char     token[33];
    char     name[65], revision[33]; /* name and revision of the model; revision "": deleted */
    char    *record;                 /* record of the model, with its checksum */
    size_t   length;
    uint64_t base;     /* `base` of api_numbering */
    uint64_t deadline; /* ns */
    bool     running, done, abandoned;
    /* The outcome, when `done`: the number of the change, 0: none was made. */
    uint64_t number;
    bool     outdated, full, unknown; /* unknown: the change may have been made */
    char     error[SRV_LINK_ERROR];
} srv_order;

struct srv_postgres {
    srv_libpq   pq;
    srv_log    *log;
    api        *service;
    pthread_t   thread;
    bool        started;
    atomic_bool closing;

    /* Used by the store's thread alone. */
    srv_link  link;
    uint64_t  next_follow; /* ns */
    uint64_t  purged;      /* tombstones up to this number may have been removed from the database */
    bool      counted;     /* true: the metrics count the database as connected */
    bool      faulty;      /* true: `fault` is in the metrics, in /readyz and in the log */
    srv_fault fault;
    srv_fault limit_fault;
    char      limit[SRV_LINK_ERROR]; /* the reason why a connected database makes no changes; "": it makes them */
    bool      ready;                 /* true: api_set_ready was called */

    /* Set before the thread starts: the bundled models, as the statements of schema.h take them. */
    char  digest[33];
    char *bundled_names, *bundled_revisions;

    /* Guarded by the mutex. `changed` is signalled when an order is done and when all models are read. */
    pthread_mutex_t mutex;
    pthread_cond_t  changed;
    srv_order      *order;     /* NULL: none */
    bool            connected; /* at the last iteration of the store's thread the database was connected */
    bool            complete;  /* all models have been read once */
    uint64_t        applied;   /* all changes up to this number are in effect */
    size_t          unreadable;
    char            error[SRV_LINK_ERROR]; /* the reason why it is not connected */

    pthread_mutex_t    sharing; /* held by a change; guards `sync` */
    srv_handover_sync *sync;    /* the other server of a hand-over, perhaps ended; NULL: none */

    char url[];
};

void srv_postgres_wake(srv_postgres *store); /* wakes the store's thread */

/* Connects, checks the tables and reads all changes, if that is necessary. False with link.error. */
bool srv_postgres_connect(srv_postgres *store, uint64_t deadline);

/* Reads and applies all changes since the last one applied. False with link.error. In follow.c. */
bool     srv_postgres_follow(srv_postgres *store);
uint64_t srv_postgres_next_follow(void);

/* Lists the bundled models, before any model of the store is read. False: no memory. In bundled.c. */
bool srv_postgres_list_bundled(srv_postgres *store);

/* Registers the bundled models of this server in the database, after connecting. False with link.error. */
bool srv_postgres_register_bundled(srv_postgres *store);

/* Names in /readyz the bundled models that differ from those of other servers, if any. False with link.error. */
bool srv_postgres_compare_bundled(srv_postgres *store);

/* Finds out whether the user of the connection may make changes, and sets `limit`. False with link.error. In
 * database_state.c. */
bool srv_postgres_check_rights(srv_postgres *store);

/* Publishes whether the database is connected, and the beginning or end of a fault, in /readyz, the metrics and the
 * log. A fault of the connection is link.fault and link.error. */
void srv_postgres_publish(srv_postgres *store, bool connected);
void srv_postgres_unpublish(srv_postgres *store); /* removes its state from the metrics, at the end */

/* Makes the change that is asked for, if there is one. In changes.c. */
void srv_postgres_run_order(srv_postgres *store);
bool srv_postgres_has_order(srv_postgres *store);
