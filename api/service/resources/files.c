/* files.c - handlers of the embedded files: the console at /, its assets, the reference at /docs, the contract
 * at /openapi.json. */
#include "api/service/http/call.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Finds the file at the path of the call's resource, whose only {segment} is its last one. NULL: no such file. */
static const api_file *find_file(const api_call *call)
{
    const char *pattern = call->route.resource->pattern, *segment = call->route.capture[0];
    size_t      fixed = strcspn(pattern, "{");
    for (const api_file *file = call->api->files; file && file->path; file++)
        if (strncmp(file->path, pattern, fixed) == 0 && strcmp(file->path + fixed, segment) == 0) return file;
    return NULL;
}

bool api_file_exists(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    call->file = find_file(call);
    if (call->file) return true;
    return api_fail(problem, API_NO_SUCH_PATH, NULL, "no file has the path %.*s%s",
                    (int)strcspn(call->route.resource->pattern, "{"), call->route.resource->pattern,
                    call->route.capture[0]);
}

/* The OpenAPI contract as JSON, which the Makefile generates from openapi.yaml and compresses. */
extern const char api_openapi_start[], api_openapi_end[], api_openapi_gzip[], api_openapi_gzip_end[],
    api_openapi_hash[];

/* Returns the number of bytes between two symbols, which the linker places around one text. */
static size_t bytes_between(const char *begin, const char *end)
{
    return (size_t)((uintptr_t)end - (uintptr_t)begin);
}

api_file api_contract_file(void)
{
    return (api_file){
        .path         = "/openapi.json",
        .content_type = "application/json",
        .hash         = api_openapi_hash,
        .gzip         = api_openapi_gzip,
        .gzip_length  = bytes_between(api_openapi_gzip, api_openapi_gzip_end),
        .length       = bytes_between(api_openapi_start, api_openapi_end),
        .content      = api_openapi_start,
    };
}

bool api_find_contract(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input, (void)problem;
    call->file = &call->api->contract;
    return true;
}

bool api_get_file(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    return api_reply_file(call, problem);
}

/* The path / always exists: without a page it answers JSON. */
bool api_find_home(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input, (void)problem;
    call->file = call->wants_page ? find_file(call) : NULL;
    return true;
}

bool api_get_home(api_call *call, const api_input *input, api_problem *problem)
{
    return call->file ? api_reply_file(call, problem) : api_get_service(call, input, problem);
}
