/* link.c - see link.h. */
#include "link.h"
#include "server/work/clock.h"
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPT_NS 3000000000u /* time for one host to accept a connection and authenticate */

/* --- errors ------------------------------------------------------------------------------------------------------- */

bool srv_link_fail(srv_link *link, srv_fault fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(link->error, sizeof link->error, format, args);
    va_end(args);
    link->fault = fault;
    return false;
}

/* Keeps the first line of a message of libpq. */
static bool fail(srv_link *link, srv_fault fault, const char *message)
{
    return srv_link_fail(link, fault, "%.*s", (int)strcspn(message, "\n"), message);
}

static bool lose(srv_link *link, srv_fault fault, const char *message)
{
    fail(link, fault, message);
    link->state[0] = '\0';
    srv_link_close(link);
    return false;
}

/* Ends a connection of which libpq says that it has failed. The message of a server that refuses a connection has its
 * SQLSTATE; without one the server was not reached, or the connection has ended. */
static bool lose_by_message(srv_link *link)
{
    char        state[SRV_SQLSTATE];
    const char *message = link->pq->errorMessage(link->connection);
    srv_fault_find_state(message, state);
    return lose(link, strstr(message, "session is read-only") ? API_STORE_FAULT_READ_ONLY : srv_fault_of_state(state),
                message);
}

void srv_link_close(srv_link *link)
{
    if (link->connection) link->pq->finish(link->connection);
    link->connection = NULL;
}

/* Notices a commit that PostgreSQL acknowledges although it gave up waiting for a synchronous standby, because a user
 * cancelled the wait (PostgreSQL 15 documentation, section 27.2.8.2). */
static void on_notice(void *arg, const PGresult *notice)
{
    srv_link   *link  = arg;
    const char *state = link->pq->resultErrorField(notice, PG_DIAG_SQLSTATE);
    if (state && (strcmp(state, "57014") == 0 || strcmp(state, "57P01") == 0)) link->unreplicated = true;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static bool is_closing(const srv_link *link)
{
    return atomic_load(link->closing);
}

/* Waits until the socket is ready for `events` or `wake` is written. Returns the events of the socket; -1 when the
 * deadline has passed or the store closes. `woken`, unless NULL, tells that `wake` was written. */
static int wait_socket(srv_link *link, short events, uint64_t deadline, bool *woken)
{
    for (;;) {
        uint64_t now = srv_now();
        if (is_closing(link) || now >= deadline) return -1;
        struct pollfd sets[2] = {{.fd = link->wake, .events = POLLIN},
                                 {.fd = link->connection ? link->pq->socket(link->connection) : -1, .events = events}};
        uint64_t      left    = (deadline - now + 999999) / 1000000;
        int           n       = poll(sets, 2, left > 60000 ? 60000 : (int)left);
        uint64_t      count;
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0 && sets[0].revents) {
            (void)!read(link->wake, &count, sizeof count);
            if (woken) *woken = true;
            if (woken && !sets[1].revents) return 0;
        }
        if (n > 0 && sets[1].revents) return sets[1].revents;
    }
}

/* --- connecting --------------------------------------------------------------------------------------------------- */

/* Returns entry number `index` of a list with commas, in turn; false if there is no list. */
static bool pick(const char *list, size_t index, char *entry, size_t size)
{
    size_t n = 1;
    if (!list || !*list) return false;
    for (const char *c = list; *c; c++)
        n += *c == ',';
    for (size_t i = index % n; i > 0; i--)
        list += strcspn(list, ",") + 1;
    snprintf(entry, size, "%.*s", (int)strcspn(list, ","), list);
    return true;
}

static const char *option_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0) return options->val;
    return NULL;
}

/* Begins to connect to one of the hosts: libpq itself would go on to the next host only when the first one answers. The
 * URL overrides the values before it, and the chosen host overrides the URL. */
static bool begin_connection(srv_link *link)
{
    char              host[256] = "", port[32] = "", *message = NULL;
    PQconninfoOption *options   = link->pq->conninfoParse(link->url, &message);
    const char       *addresses = option_of(options, "hostaddr");
    bool              several   = !addresses && pick(option_of(options, "host"), link->attempts, host, sizeof host);
    if (several) pick(option_of(options, "port"), link->attempts, port, sizeof port);
    const char *const keywords[] = {"target_session_attrs",  "tcp_user_timeout",    "keepalives_idle",
                                    "application_name",      "client_encoding",     "dbname",
                                    several ? "host" : NULL, *port ? "port" : NULL, NULL};
    const char *const values[]   = {"read-write", "5000", "5", "torqued", "UTF8", link->url, host, port, NULL};
    link->connection             = link->pq->connectStartParams(keywords, values, 1);
    link->pq->conninfoFree(options);
    link->pq->freemem(message);
    link->attempts++;
    if (link->connection)
        link->pq->setErrorVerbosity(link->connection, PQERRORS_VERBOSE); /* messages contain the SQLSTATE */
    return link->connection || fail(link, API_STORE_FAULT_OTHER, "no memory for a connection");
}

bool srv_link_open(srv_link *link, uint64_t deadline)
{
    uint64_t attempt = srv_now() + ATTEMPT_NS;
    if (attempt < deadline) deadline = attempt;
    if (!begin_connection(link)) return false;
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    link->pq->setNoticeReceiver(link->connection, on_notice, link);
    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED || link->pq->status(link->connection) == CONNECTION_BAD)
            return lose_by_message(link);
        if (wait_socket(link, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline, NULL) < 0)
            return lose(link, API_STORE_FAULT_FROZEN, "the host does not answer");
        status = link->pq->connectPoll(link->connection);
    }
    return link->pq->setnonblocking(link->connection, 1) == 0 ||
           lose(link, API_STORE_FAULT_OTHER, "no memory for a connection");
}

/* --- statements --------------------------------------------------------------------------------------------------- */

static void collect_notifications(srv_link *link)
{
    for (PGnotify *n; (n = link->pq->notifies(link->connection)); link->pq->freemem(n))
        link->notified = true;
}

static bool consume(srv_link *link)
{
    if (!link->pq->consumeInput(link->connection)) return lose_by_message(link);
    collect_notifications(link);
    return true;
}

/* Sends what libpq has buffered; receives meanwhile, so that neither side waits for the other. */
static bool send_all(srv_link *link, uint64_t deadline)
{
    int left;
    while ((left = link->pq->flush(link->connection)) > 0) {
        int events = wait_socket(link, POLLIN | POLLOUT, deadline, NULL);
        if (events < 0) return lose(link, API_STORE_FAULT_FROZEN, "the database does not answer");
        if ((events & POLLIN) && !consume(link)) return false;
    }
    return left == 0 || lose_by_message(link);
}

/* Receives the results of a query and keeps the last one. */
static PGresult *receive(srv_link *link, uint64_t deadline)
{
    PGresult *last = NULL;
    for (;;) {
        while (link->pq->isBusy(link->connection)) {
            bool arrived = wait_socket(link, POLLIN, deadline, NULL) >= 0;
            if (arrived && consume(link)) continue;
            if (!arrived) lose(link, API_STORE_FAULT_FROZEN, "the database does not answer");
            link->pq->clear(last);
            return NULL;
        }
        PGresult *next = link->pq->getResult(link->connection);
        if (!next) {
            collect_notifications(link); /* one may have arrived with the end of the answer */
            return last;
        }
        bool failed = last && link->pq->resultStatus(last) == PGRES_FATAL_ERROR;
        link->pq->clear(failed ? next : last);
        last = failed ? last : next;
    }
}

static PGresult *check_result(srv_link *link, PGresult *result)
{
    if (!link->connection || !result) return NULL;
    ExecStatusType status = link->pq->resultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return result;
    const char *state   = link->pq->resultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = link->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    fail(link, srv_fault_of_state(state ? state : ""), message ? message : "the query failed");
    snprintf(link->state, sizeof link->state, "%s", state ? state : "");
    link->pq->clear(result);
    if (!state || link->pq->status(link->connection) == CONNECTION_BAD) {
        link->state[0] = '\0';
        srv_link_close(link);
    }
    return NULL;
}

PGresult *srv_link_query(srv_link *link, const srv_query *query, uint64_t deadline)
{
    static const int binary[SRV_QUERY_PARAMETERS] = {1, 1, 1, 1, 1};
    link->unreplicated                            = false;
    link->state[0]                                = '\0';
    if (!link->pq->sendQueryParams(link->connection, query->text, query->n, query->types, query->values, query->lengths,
                                   binary, 1)) {
        lose_by_message(link);
        return NULL;
    }
    return send_all(link, deadline) ? check_result(link, receive(link, deadline)) : NULL;
}

bool srv_link_run(srv_link *link, const char *statements, uint64_t deadline)
{
    if (!link->pq->sendQuery(link->connection, statements)) return lose_by_message(link);
    PGresult *result = send_all(link, deadline) ? check_result(link, receive(link, deadline)) : NULL;
    link->pq->clear(result);
    return result != NULL;
}

bool srv_link_wait(srv_link *link, uint64_t deadline)
{
    bool woken = false;
    while (!link->notified && !woken) {
        int events = wait_socket(link, POLLIN, deadline, &woken);
        if (events < 0) return true;
        if (events > 0 && !consume(link)) return false;
    }
    return true;
}

uint64_t srv_link_number(const srv_link *link, const PGresult *result, int row, int column)
{
    uint64_t number = 0;
    if (link->pq->getlength(result, row, column) == sizeof number)
        memcpy(&number, link->pq->getvalue(result, row, column), sizeof number);
    return be64toh(number);
}
