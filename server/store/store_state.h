/* store_state.h - the state of an open store, for the files of this folder that open, change, probe and restore it. */
#pragma once
#include "record_loader.h"
#include "store.h"
#include "handover_sync.h"
#include "server/work/periodic.h"
#include <pthread.h>

enum { FILE_NAME_SIZE = 256, RECORD_MAX = 1 << 30 };

struct srv_store {
    srv_log           *log;
    api               *service;            /* the api whose models the store has; NULL: not restored yet */
    int                root, models, lock; /* descriptors; -1: not open */
    pthread_mutex_t    mutex;              /* guards the next three fields */
    size_t             refused;  /* bytes of the record whose change was not written; 0: the last change was */
    unsigned           changes;  /* number of changes, written or refused; wraps around */
    bool               faulty;   /* the last check of the probe found a fault */
    unsigned           looks;    /* number of checks by the probe */
    srv_periodic      *probe;    /* NULL: not started */
    pthread_mutex_t    changing; /* held by a change; guards `sync` */
    srv_handover_sync *sync;     /* the other server during a hand-over, perhaps ended; NULL: none */
    bool               joined;   /* another server had the folder first, and may be in a change */
    char               folder[]; /* path, for messages */
};

/* Writes into `error` that an action on the store failed, by errno. Returns false. */
bool srv_store_fail(const srv_store *store, const char *action, char *error, size_t error_size);

/* Writes the process number to the lock file. The number only informs other servers, so a failure is ignored. */
void srv_store_sign_lock(int root);

/* True if the folder that is open still is the one at its path: a change in a folder that was moved away or deleted
 * would be lost. False with errno. */
bool srv_store_is_in_place(const srv_store *store);

/* Subject of the reason in the answer of /readyz about the disk; other subjects are names of files. */
#define SRV_STORE_WRITING "store writes"

/* Names the fault of the disk in /readyz, or forgets it. The begin and the end of a fault are logged. Models of the
 * store are served all the same, and changes are refused. The caller holds the mutex, or no other thread runs yet. */
void srv_store_report_disk(srv_store *store, bool faulty, int error);
