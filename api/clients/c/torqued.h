/* torqued.h - call a torqued server from C: arrays of doubles in, arrays of doubles out.
 *
 * Compile torqued.c with the program and link libcurl (7.85 or later): cc one.c torqued.c -lcurl -lpthread
 *
 *     torqued_client *client = torqued_open(NULL, NULL);
 *     double q[6] = {0, 0.5, 3, 0, 0.5, 0}, tau[6];
 *     torqued_input  in  = {"q", q, {6}};
 *     torqued_output out = {"tau", tau, 6};
 *     torqued_call   call = {"puma560", "inverse-dynamics", NULL, &in, 1, &out, 1};
 *     if (torqued_evaluate(client, &call) != TORQUED_OK)
 *         fprintf(stderr, "%s\n", torqued_last_problem(client)->detail);
 *     torqued_close(client);
 *
 * Units are SI and radians; frames, signs and the order of coordinates are those of the server's contract (/docs of
 * every server): q in rad or m, qd and qdd in rad/s and rad/s^2 or m/s and m/s^2, tau in N m or N, vectors [x,y,z] in
 * world axes, quaternions [x,y,z,w], 6-vectors [linear; angular]. Arrays of several dimensions are row-major: row i of
 * a batch of n coordinates is values[i * n] ... values[i * n + n - 1]. Numbers cross the network as 64-bit floats (CBOR
 * typed arrays), so no digit is lost in either direction.
 *
 * Threads: one client is used by one thread at a time; different clients are independent.
 *
 * Memory: a client keeps its connection and buffers. From the second call of a shape on, torqued_evaluate calls neither
 * malloc nor free: libcurl's own requests for memory are served from blocks that earlier calls returned. This needs
 * torqued_open to initialise libcurl; in a program that called curl_global_init before, libcurl keeps its allocator and
 * allocates some eighty times a call. TLS libraries allocate for themselves.
 *
 * Network: proxies of the environment are not used, redirects are not followed. A connection that the server has closed
 * is opened again. Programs that use TLS should ignore SIGPIPE, as libcurl asks. */
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct torqued_client torqued_client;

typedef enum torqued_status {
    TORQUED_OK,
    TORQUED_REFUSED,      /* the server answered with a problem: http, code, pointer, row and detail say which */
    TORQUED_UNREACHABLE,  /* no answer: no connection, timeout, TLS; detail has libcurl's reason */
    TORQUED_BAD_ANSWER,   /* the answer lacks an output, or an output has another size than the caller's array */
    TORQUED_BAD_ARGUMENT, /* an argument is missing or malformed; nothing was sent */
    TORQUED_NO_MEMORY     /* memory is short, or the answer exceeds `answer_limit` */
} torqued_status;

/* The failure of the last call. Texts that do not fit are cut. */
typedef struct torqued_problem {
    torqued_status status;
    int            http;            /* HTTP status of the answer; 0 without an answer */
    long           row;             /* row of the batch, from 0, that the server refused; -1: none named */
    double         retry_after;     /* s, after which to try again when the server was busy (503); -1: not said */
    char           code[64];        /* of the server, such as "wrong-shape"; /problems/{code} explains it */
    char           pointer[256];    /* RFC 6901 pointer to the refused field of the request, such as "/q/3" */
    char           detail[512];     /* what was found and what was expected */
    char           request_id[128]; /* under which the server logged the request */
} torqued_problem;

/* Which server, and how to reach it. Zero and NULL mean the default. torqued_open copies what it keeps. */
typedef struct torqued_server {
    const char *url; /* scheme, host and port; default "http://127.0.0.1:8088". https:// for TLS (1.2 or later) */
    const char *unix_socket;      /* path of the server's socket; `url` then only names the host */
    const char *token;            /* bearer token, sent in the head of each request; never part of `url` */
    const char *token_file;       /* file that holds the token; read once, at torqued_open */
    const char *ca_file;          /* certificates (PEM) that may sign the server's; default: those of the system */
    const char *certificate_file; /* the client's own certificate (PEM), for mutual TLS */
    const char *key_file;         /* its key (PEM) */
    double      timeout;          /* s, of one call, connecting and repetitions included; default 60 */
    size_t      answer_limit;     /* bytes of the largest answer accepted; default 1 GiB */
    int         retries; /* how often a call is repeated while the server is busy; default 2; negative: never */
} torqued_server;

/* Makes a client; connects at its first call. `server` NULL: all defaults. NULL on failure, with the reason in
 * `problem` unless that is NULL: TORQUED_BAD_ARGUMENT (a URL with user, query or other scheme; an unreadable or
 * malformed token), TORQUED_NO_MEMORY. The caller ends the client with torqued_close. */
torqued_client *torqued_open(const torqued_server *server, torqued_problem *problem);
void            torqued_close(torqued_client *client); /* NULL is allowed */

/* The problem of the last call; all zero with row and retry_after -1 after a success. Lives until the next call. */
const torqued_problem *torqued_last_problem(const torqued_client *client);

/* An array of the request. The caller keeps `values`, which is read during the call only. */
typedef struct torqued_input {
    const char   *name;     /* field of the request, such as "q"; or "$name", see `options` of torqued_call */
    const double *values;   /* unit and frame by the field; finite */
    size_t        shape[4]; /* {n}: one state; {rows, n}: a batch; up to four dimensions, none of size 0 */
} torqued_input;

/* An array of the answer. */
typedef struct torqued_output {
    /* Members of the answer down to the array, separated by "/": "tau", or "kinematics/poses/tip/position" of
     * `evaluate`. A "/" inside a name is written ~1, a "~" is ~0. */
    const char *name;
    double     *values; /* the caller's; written only if the whole call succeeds */
    size_t      count;  /* numbers that `values` holds; the answer must have exactly as many */
} torqued_output;

/* One evaluation. The struct and all it names are the caller's and are read during the call only. */
typedef struct torqued_call {
    const char *model;     /* name of the robot: GET /v1/models lists them */
    const char *operation; /* such as "inverse-dynamics": GET /v1 lists them */
    /* The remaining fields as a JSON object, such as {"frame": "tool", "outputs": ["jacobian"]}; NULL: none. $name,
     * outside of strings, stands for the input of that name: {"wrenches": [{"link": "tool", "force": $f}]} with the
     * input "$f". With {"on_error": "row"} a row that fails is NaN in all outputs, and `errors` of the answer lists it.
     */
    const char           *options;
    const torqued_input  *inputs;
    size_t                input_count;
    const torqued_output *outputs;
    size_t                output_count;
} torqued_call;

/* Sends one request and copies the outputs. An evaluation changes nothing on the server and may be repeated: after 429
 * and 503 the client sends it again when Retry-After says, unless that is beyond the timeout. So it does with GET. */
torqued_status torqued_evaluate(torqued_client *client, const torqued_call *call);

/* Numbers of coordinates of a robot, by which a client sizes its arrays. */
typedef struct torqued_model {
    size_t nq;           /* entries of q */
    size_t nv;           /* entries of qd, qdd and tau */
    char   revision[33]; /* hash of the document: equal revisions give equal answers */
} torqued_model;

/* Describes the robot `name`. All other members of GET /v1/models/{name} can be read from the answer, for example the
 * name of the second joint: torqued_text(client, "velocity_names/1", text, sizeof text). */
torqued_status torqued_describe(torqued_client *client, const char *name, torqued_model *model);

/* Creates or replaces the robot `name` from `length` bytes of text: XML (URDF, MJCF or SDF) if it starts with "<", else
 * JSON. `model` may be NULL. The answer's report: "report/0/text" and so on. Refused text leaves the robot as it was.
 */
torqued_status torqued_put_model(torqued_client *client, const char *name, const char *text, size_t length,
                                 torqued_model *model);
torqued_status torqued_delete_model(torqued_client *client, const char *name);

/* GET of any other path, such as "/v1". */
torqued_status torqued_get(torqued_client *client, const char *path);

/* Readers of the last successful answer, by a path as in `name` of torqued_output; array entries by number:
 * "errors/0/row". TORQUED_BAD_ANSWER if there is no such member, or a member of another kind. */

/* Copies up to `capacity` numbers, of arrays of any dimensions row by row; `count` gets how many there are. */
torqued_status torqued_numbers(torqued_client *client, const char *path, double *values, size_t capacity,
                               size_t *count);
/* Copies a text with its final NUL; TORQUED_BAD_ARGUMENT if it needs more than `size` bytes. */
torqued_status torqued_text(torqued_client *client, const char *path, char *text, size_t size);
/* Counts the entries of an array, or the members of an object. "" is the whole answer. */
torqued_status torqued_length(torqued_client *client, const char *path, size_t *length);

#ifdef __cplusplus
}
#endif
