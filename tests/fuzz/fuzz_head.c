/* fuzz_head.c - sends arbitrary request heads: one header per line, in the order of the fields below, the target
 * first. */
#include "drive.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the next line of *text, or NULL if the line is empty or missing. */
static const char *line(char **text)
{
    char *start = *text;
    if (!start) return NULL;
    *text = strchr(start, '\n');
    if (*text) *(*text)++ = 0;
    return *start ? start : NULL;
}

/* With access control, a client without a credential must reach no resource under /v1. OPTIONS, methods that a resource
 * lacks, and unknown operations are answered without asking for a credential. */
static void check_stranger(drive *d, api_request request)
{
    const api_identity nobody = {0};
    request.identity          = &nobody;
    api_call *call            = api_begin(d->door, &request);
    drive_expect(call != NULL, "memory");
    unsigned status = api_reply_of(call)->status;
    drive_expect(!api_wants_body(call), "the service asks for no body of a client without a credential");
    const char *route   = api_call_route(call);
    bool        unnamed = status == 404 && strcmp(route, "/v1/models/{model}/{operation}") == 0;
    drive_expect(strncmp(route, "/v1", 3) != 0 || status == 204 || status == 405 || unnamed,
                 "a client without a credential reaches no resource under /v1");
    api_end(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static drive            *d;
    static const char *const methods[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "get"};
    if (!d) d = drive_open();
    if (size < 2) return 0;
    char *text = malloc(size);
    drive_expect(text != NULL, "memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;

    char       *lines   = text;
    api_request request = {.method = methods[data[0] % 8], .has_body = data[0] & 8};
    request.target      = line(&lines);
    if (!request.target) request.target = "/";
    request.accept           = line(&lines);
    request.content_type     = line(&lines);
    request.content_encoding = line(&lines);
    request.if_match         = line(&lines);
    request.if_none_match    = line(&lines);
    request.request_timeout  = line(&lines);
    request.request_id       = line(&lines);
    request.accept_encoding  = line(&lines);
    api_call *call           = api_begin(d->door, &request);
    drive_expect(call != NULL, "memory");
    if (api_wants_run(call)) api_run(call, d->worker, "{}", 2, NULL);
    drive_expect(api_reply_of(call)->status >= 200, "every answer has a status");
    api_end(call);
    check_stranger(d, request);
    free(text);
    return 0;
}
