/* postgres_store.h - store the models in a PostgreSQL database that several servers share.
 *
 * A thread of the store's own has the only connection. The thread makes the changes that clients of this server ask
 * for, one at a time, and follows all changes by their numbers: after a NOTIFY, after connecting, and every few
 * seconds. Every server keeps all models in memory, so that evaluation goes on while the database is away; changes are
 * then refused.
 *
 * A change whose connection is lost before the answer may have been committed. The thread asks for the change again
 * with the same token, which changes nothing if it was; after the time limit of a change its outcome is not known, and
 * the problem says so. */
#pragma once
#include "api/api.h"
#include "server/log.h"

typedef struct srv_postgres srv_postgres;

/* True for postgresql:// and postgres://. */
bool srv_postgres_is_url(const char *store);

/* Copies the URL with "***" in place of a password, for messages. */
void srv_postgres_url_print(const char *url, char *text, size_t size);

/* Loads libpq and reads the URL; does not connect. NULL with a message. */
srv_postgres *srv_postgres_open(const char *url, srv_log *log, char *error, size_t error_size);

/* Starts the thread. When the thread has read all models once, it calls api_set_ready. /readyz reports a database that
 * does not answer, and rows that cannot be read. False with a message if no thread could be started. */
bool srv_postgres_start(srv_postgres *store, api *api, char *error, size_t error_size);

/* Waits until all models are read, for a command. False with a message after some seconds. */
bool srv_postgres_wait(srv_postgres *store, char *error, size_t error_size);

/* Number of rows that could not be read, of those that are current. */
size_t srv_postgres_unreadable(srv_postgres *store);

/* The interface for api_set_store; the caller still owns the store. */
api_store srv_postgres_interface(srv_postgres *store);

/* For a hand-over, as the functions of store.h: a change is acknowledged when the other server
 * has applied it, too. */
bool srv_postgres_share(srv_postgres *store, int link, bool loads);
bool srv_postgres_loaded(srv_postgres *store);
bool srv_postgres_is_shared(srv_postgres *store);

/* Ends the thread, which uses the api: call before api_close. NULL is allowed. */
void srv_postgres_close(srv_postgres *store);

/* Shows how many records a command has read, of how many (0: not known), and names those that cannot be read. */
typedef struct srv_read_watch {
    void (*show)(void *arg, size_t done, size_t all); /* NULL: not called */
    void (*damaged)(void *arg, const char *name, const char *problem);
    void *arg;
} srv_read_watch;

/* Reads all models at one moment into the api, which has the bundled models, and follows no changes. `bad` receives the
 * number of rows that cannot be read. False with a message. */
bool srv_postgres_read(const char *url, api *api, const srv_read_watch *watch, size_t *bad, char *error,
                       size_t error_size);

/* Connects to the database and checks that this server can use its tables; changes nothing. False with a message. */
bool srv_postgres_check(const char *url, char *error, size_t error_size);

extern const int srv_postgres_version; /* version of the tables that this server uses */

/* Brings the tables to the version of this server. `from` receives the version before, 0 for none. */
bool srv_postgres_migrate(const char *url, int *from, char *error, size_t error_size);
