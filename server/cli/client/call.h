/* call.h - evaluate an operation of the server for the states of a file or of the command line. */
#pragma once
#include "states.h"

/* Receives the answer, part by part in the order of the rows. */
typedef struct cli_sink {
    void *arg;
    /* CLI_JSON: the answer in JSON is passed to `raw` as it came, if the request was sent in one piece. CLI_CBOR or
     * CLI_MSGPACK: the request is sent in one piece, and the answer is passed so. CLI_NO_FORMAT: never. */
    cli_format takes;
    bool (*raw)(void *arg, const char *answer, size_t length);
    bool (*add)(void *arg, const cli_batch *part);
} cli_sink;

/* The operands of the command line. */
typedef struct cli_call {
    const cli_arguments *arguments;
    const char          *model, *operation;
    const char          *file;    /* path of a file of states; NULL: the command line has all fields */
    cli_format           format;  /* format of the file; CLI_NO_FORMAT: from its name or first byte */
    json_t              *options; /* FIELD=JSON of the command line */
    size_t               chunk;   /* most rows of one request */
    cli_connection       connection;
    cli_coordinates      coordinates; /* empty until a request needs them */
} cli_call;

/* Reads the arguments and opens the connection. Returns 0, or the exit status after printing an error; close it in both
 * cases. */
int  cli_call_open(cli_call *call, const cli_arguments *arguments);
void cli_call_close(cli_call *call);

/* Asks for the names of the coordinates, once, and pins the revision of the model that has them: the server then
 * refuses to evaluate another one. False after printing an error. */
bool cli_call_coordinates(cli_call *call);

/* True for an operation whose answer is about all rows together. */
bool cli_call_answers_once(const cli_call *call);

/* Sends the states and passes the answers on. All parts are of one revision of the model: the first answer pins it.
 * False after printing an error. */
bool cli_call_run(cli_call *call, const cli_sink *sink);
