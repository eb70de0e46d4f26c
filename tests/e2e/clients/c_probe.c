/* c_probe.c - makes one call of the C client and prints the result as lines "name value".
 * Usage: c_probe URL ROUNDS [option value]..., with the options token, token_file, ca_file, unix_socket, timeout,
 * retries, options; with "put" it puts a model instead. */
#include "api/clients/c/torqued.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAILING_ALLOCATION
/* Replace the C library's functions: allocation number $FAIL fails, and all later ones if $STICKY is set. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
static long  left = -1;
static int   sticky;

static int fails(void)
{
    if (left < 0) return 0;
    if (left > 0) left--;
    if (left > 0) return 0;
    if (!sticky) left = -1;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}
#endif

static int report(const torqued_problem *problem)
{
    printf("status %d\nhttp %d\nrow %ld\nretry_after %g\ncode %s\npointer %s\ndetail %s\nrequest_id %s\n",
           (int)problem->status, problem->http, problem->row, problem->retry_after, problem->code, problem->pointer,
           problem->detail, problem->request_id);
    return 0;
}

int main(int count, char **arguments)
{
    double          q[2][3] = {{0.1, 0.2, 0.3}, {1, -2, 1e-300}}, tau[6], ignored[4];
    torqued_input   in[]    = {{"q", *q, {2, 3}}, {"qd", *q, {3}}, {"$f", *q, {1, 2, 3}}};
    torqued_output  out     = {"tau", tau, 6};
    torqued_call    call    = {"a model", "inverse-dynamics", NULL, in, 3, &out, 1};
    torqued_server  server  = {.url = arguments[1]};
    torqued_problem problem;
    const char     *model_text = NULL;
    for (int i = 3; i + 1 < count; i += 2) {
        const char *value = arguments[i + 1];
        if (strcmp(arguments[i], "token") == 0) server.token = value;
        if (strcmp(arguments[i], "token_file") == 0) server.token_file = value;
        if (strcmp(arguments[i], "ca_file") == 0) server.ca_file = value;
        if (strcmp(arguments[i], "certificate_file") == 0) server.certificate_file = value;
        if (strcmp(arguments[i], "key_file") == 0) server.key_file = value;
        if (strcmp(arguments[i], "unix_socket") == 0) server.unix_socket = value;
        if (strcmp(arguments[i], "timeout") == 0) server.timeout = strtod(value, NULL);
        if (strcmp(arguments[i], "retries") == 0) server.retries = atoi(value);
        if (strcmp(arguments[i], "put") == 0) model_text = value;
        if (strcmp(arguments[i], "options") == 0) call.options = value;
    }
#ifdef FAILING_ALLOCATION
    /* Initialises libcurl and its TLS library first, whose thousands of allocations must not count. */
    torqued_client *first = torqued_open(NULL, NULL);

    left   = atol(getenv("FAIL"));
    sticky = getenv("STICKY") != NULL;
#endif
    torqued_client *client = torqued_open(&server, &problem);
    if (!client) return report(&problem);
    for (int rounds = atoi(arguments[2]); rounds > 0; rounds--) {
        /* Functions that read an answer must not read beyond its end, whatever path they are given. */
        torqued_status status = model_text ? torqued_put_model(client, "a model", model_text, strlen(model_text), NULL)
                                           : torqued_evaluate(client, &call);
        problem               = *torqued_last_problem(client);
        char                     text[16];
        size_t                   length;
        torqued_model            model;
        static const char *const paths[] = {"", "tau", "errors/0/row", "name", "poses/tip/position", "0/1"};
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
            torqued_numbers(client, paths[i], ignored, 4, &length);
            torqued_text(client, paths[i], text, sizeof text);
            torqued_length(client, paths[i], &length);
        }
        if (status == TORQUED_BAD_ANSWER) torqued_describe(client, "a model", &model);
    }
#ifdef FAILING_ALLOCATION
    if (left > 0) problem.status = (torqued_status)99; /* no allocation failed, since the call made fewer than $FAIL */
    left = -1;
    torqued_close(first);
#endif
    report(&problem);
    torqued_close(client);
    return 0;
}
