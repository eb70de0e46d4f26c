/* connection.h - send requests to a running server, one after the other on a connection that is kept open. */
#pragma once
#include "curl.h"
#include "server/cli/options.h"
#include "text.h"

enum { CLI_REVISION_SIZE = 80 }; /* bytes of a revision, with its NUL; a longer one is not pinned */

typedef struct cli_connection {
    cli_curl           curl;
    CURL              *handle;
    struct curl_slist *headers; /* headers of the current request */
    char              *base;    /* "http://127.0.0.1:8088", without a slash at the end */
    char              *listen;  /* the --listen of a server that would answer here, for messages */
    char              *token;   /* NULL: none */
    double             timeout; /* s, for one request */
    bool               quiet;   /* true: errors are not printed */
    char change[24]; /* the last change of this client in a shared store, which later requests name; "": none */
    char pinned[CLI_REVISION_SIZE]; /* the one revision that models of requests must have (If-Match); "": any */

    /* the answer to the last request */
    cli_text body;
    long     status;
    double   retry_after;                 /* s; negative: the head has no Retry-After */
    double   seconds;                     /* from sending the request to the last byte of the answer */
    char     revision[CLI_REVISION_SIZE]; /* revision of the model that was evaluated; "": the head has none */
} cli_connection;

typedef struct cli_request {
    const char *method, *path;         /* path: percent-encoded, with query */
    const char *content_type, *accept; /* NULL: the field is absent */
    const void *body;                  /* NULL: none */
    size_t      length;
    bool        waits; /* an answer 503 with Retry-After is waited for, within the timeout */
} cli_request;

/* Reads the options of the connection and loads libcurl; nothing is sent. Returns 0, or the exit status after printing
 * an error: 2 for an invalid option, else 1. */
int  cli_connection_open(cli_connection *c, const cli_arguments *arguments);
void cli_connection_close(cli_connection *c);

/* Sends a request and waits for its answer, of any status. False after printing an error: no answer has come. */
bool cli_connection_send(cli_connection *c, const cli_request *request);

/* Like cli_connection_send; prints an answer of status 400 or more as an error, too, and returns false. */
bool cli_connection_ask(cli_connection *c, const cli_request *request);

/* Where the rows of a request come from, for messages. */
typedef struct cli_origin {
    const char   *file;
    size_t        first_row; /* first row of the request, in the file */
    const size_t *lines;     /* line of each row of the request; NULL: the file has no lines */
    size_t        rows;
} cli_origin;

/* Prints the problem of the last answer. `origin` may be NULL: the rows are those of the request. */
void cli_connection_report(cli_connection *c, const cli_origin *origin);

/* Writes "/v1/models/MODEL" + rest with MODEL percent-encoded. False if it does not fit or memory is short. */
bool cli_model_path(cli_connection *c, const char *model, const char *rest, char *path, size_t size);
