/* libpq.h - load libpq, the client library of PostgreSQL, when a store in a database is named.
 *
 * A server with a folder needs neither libpq nor the libraries behind it (OpenSSL, Kerberos, LDAP); so libpq is not
 * linked, but opened by dlopen. The header of libpq gives the types. PostgreSQL 15 documentation, chapter 34. */
#pragma once
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

/* X(result, name without PQ, arguments) */
#define SRV_LIBPQ_FUNCTIONS(X)                                                                                         \
    X(PGconn *, connectStartParams, (const char *const *, const char *const *, int))                                   \
    X(PostgresPollingStatusType, connectPoll, (PGconn *))                                                              \
    X(ConnStatusType, status, (const PGconn *))                                                                        \
    X(int, socket, (const PGconn *))                                                                                   \
    X(char *, errorMessage, (const PGconn *))                                                                          \
    X(int, setnonblocking, (PGconn *, int))                                                                            \
    X(void, finish, (PGconn *))                                                                                        \
    X(int, sendQuery, (PGconn *, const char *))                                                                        \
    X(int, sendQueryParams,                                                                                            \
      (PGconn *, const char *, int, const Oid *, const char *const *, const int *, const int *, int))                  \
    X(int, flush, (PGconn *))                                                                                          \
    X(int, consumeInput, (PGconn *))                                                                                   \
    X(int, isBusy, (PGconn *))                                                                                         \
    X(PGresult *, getResult, (PGconn *))                                                                               \
    X(PGnotify *, notifies, (PGconn *))                                                                                \
    X(void, freemem, (void *))                                                                                         \
    X(int, serverVersion, (const PGconn *))                                                                            \
    X(PGVerbosity, setErrorVerbosity, (PGconn *, PGVerbosity))                                                         \
    X(PQnoticeReceiver, setNoticeReceiver, (PGconn *, PQnoticeReceiver, void *))                                       \
    X(ExecStatusType, resultStatus, (const PGresult *))                                                                \
    X(char *, resultErrorField, (const PGresult *, int))                                                               \
    X(int, ntuples, (const PGresult *))                                                                                \
    X(int, getisnull, (const PGresult *, int, int))                                                                    \
    X(int, getlength, (const PGresult *, int, int))                                                                    \
    X(char *, getvalue, (const PGresult *, int, int))                                                                  \
    X(void, clear, (PGresult *))                                                                                       \
    X(PQconninfoOption *, conninfoParse, (const char *, char **))                                                      \
    X(void, conninfoFree, (PQconninfoOption *))

typedef struct srv_libpq {
#define X(result, name, arguments) result(*name) arguments;
    SRV_LIBPQ_FUNCTIONS(X)
#undef X
} srv_libpq;

/* Opens libpq and finds its functions. False with a message if there is none. */
bool srv_libpq_load(srv_libpq *pq, char *error, size_t error_size);
