/* exchange_private.h - the state of an exchange. Private to exchange.c, exchange_body.c, exchange_run.c and
 * exchange_expiry.c. */
#pragma once
#include "exchange.h"
#include "response.h"

/* An unwanted body of up to this many bytes is read and discarded, so that the connection can stay open. */
enum { MAX_DISCARDED = 1 << 20 };

/* A body or an answer that holds more memory than this many bytes must keep --transfer-rate. */
enum { UNHURRIED = 65536 };

/* The progress of a body or an answer that must keep --transfer-rate. */
typedef struct srv_progress {
    uint64_t end;   /* ns, when the present interval ends; 0: the rate does not matter yet */
    uint64_t bytes; /* bytes that had passed when the interval began */
} srv_progress;

typedef enum srv_exchange_stage {
    OPENED,     /* the headers are not complete */
    RECEIVING,  /* the body is being received */
    DISCARDING, /* the reply is complete; the rest of the body is read and discarded */
    AWAITING,   /* suspended until this server has applied the change that the request names */
    SUSPENDED,  /* the pool owns the job */
    DELAYED,    /* the reply is complete and is sent later, or the client has left */
    FINISHED,   /* a worker has finished the job */
    ANSWERED
} srv_exchange_stage;

struct srv_exchange {
    srv_job                job; /* first member: the pool returns its address */
    srv_loop              *loop;
    srv_connection        *connection;
    struct MHD_Connection *mhd;
    srv_exchange_stage     stage;
    uint64_t               began;
    uint64_t               arrived;          /* ns, when the request was complete; 0: it is not */
    uint64_t               send_at;          /* ns, when to send a delayed reply */
    bool                   leaves;           /* the job has held the loop for too long */
    uint64_t               queued;           /* ns, when the job was given to the pool; 0: it ran on this thread */
    uint64_t               number;           /* number of the request on its connection, from 1 */
    char                  *body;             /* the received part of job.body; moves when it grows */
    size_t                 capacity;         /* bytes allocated at `body` */
    size_t                 claimed;          /* bytes of `body` that are claimed from the memory budget */
    size_t                 announced_length; /* Content-Length; 0 for a chunked body */
    size_t                 max_length;       /* bytes of the largest body that is accepted */
    uint64_t               received;
    srv_progress           progress;    /* progress of the body, then of the answer */
    bool                   is_slow;     /* the client reads its answer too slowly: the connection ends */
    unsigned               retry_after; /* s, replaces Retry-After; 0: keep the api's value */
    srv_pool              *pool;        /* the pool that runs the job */
    srv_account           *account;     /* account of the client; NULL: not known yet */
    const char            *refused;    /* reason, a literal, why the client's credential is not accepted; NULL: it is */
    srv_audit_line        *audit_line; /* reserved for the change that the request makes; NULL: none */
    bool                   audited;    /* the change has its line in the audit log */
    char forwarded[SRV_IP_TEXT];       /* address of the client that a trusted proxy has sent; "": none has */
    char client[SRV_CLIENT_NAME];      /* name of the client, for the log; "": not recognised */
    char method[16];
    char target[]; /* target of the request, for the log */
};

/* Sends the complete reply; 503 if there is no memory for it. */
enum MHD_Result srv_exchange_answer(srv_exchange *x);

/* --- exchange_body.c ---------------------------------------------------------------------------------------------- */

/* Makes room for the start of the body. False: there is no memory, and the reply is complete. */
bool srv_exchange_begin_body(srv_exchange *x);
void srv_exchange_refuse_body(srv_exchange *x); /* completes the reply for a body that is too large */

/* Frees the body and its share of the memory budget when the reply is complete; a slow reader must not keep them. */
void srv_exchange_free_body(srv_exchange *x);

/* Makes a client that holds more than an equal part of the memory give some back, if this request was refused for lack
 * of it. */
void srv_exchange_want_memory(const srv_exchange *x);

/* Answers in the middle of a body, where libmicrohttpd cannot, by writing to the socket. The connection must end. */
void srv_exchange_answer_directly(srv_exchange *x);

/* --- exchange_run.c ----------------------------------------------------------------------------------------------- */

enum MHD_Result srv_exchange_evaluate(srv_exchange *x);        /* runs the complete request */
enum MHD_Result srv_exchange_answer_finished(srv_exchange *x); /* answers a request that a worker has finished */
enum MHD_Result
srv_exchange_send_refusal(srv_exchange *x); /* sends the refusal now, or later if this client is refused often */

/* Ends the waiting for a change. */
void srv_exchange_stop_awaiting(srv_exchange *x, srv_exchange_stage next);

/* --- exchange_expiry.c -------------------------------------------------------------------------------------------- */

/* Makes the loop check for expired requests at `time` (ns) at the latest. */
void srv_schedule_expiry(srv_loop *loop, uint64_t time);

/* Begins to measure the rate at which a body arrives or an answer is read. `bytes`: that have passed so far. */
void srv_exchange_watch_progress(srv_exchange *x, uint64_t bytes);

/* The earlier of the request's own deadline and the deadline for receiving any request, ns. */
uint64_t srv_exchange_receive_deadline(const srv_exchange *x);
