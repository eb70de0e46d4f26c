/* drive.c - sends the requests of the fuzzers (drive.h). */
#include "drive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE = 3 /* time limit of one request in s, since some requests ask for years of simulation */ };

void drive_expect(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz: does not hold: %s\n", what);
    abort();
}

drive *drive_open(void)
{
    api_config config = {.version = "fuzz",
                         .limits  = {.body    = 1 << 20,
                                     .answer  = 4 << 20,
                                     .memory  = 256 << 20,
                                     .rows    = 1000,
                                     .nesting = 32,
                                     .models  = 16,
                                     .links   = 200,
                                     .timeout = 60}};
    char       error[200];
    drive     *d = calloc(1, sizeof *d);
    drive_expect(d != NULL, "memory");
    d->door = api_open(&config, error, sizeof error);
    drive_expect(d->door != NULL, error);
    api_set_ready(d->door);
    d->worker = api_worker_open();
    drive_expect(d->worker != NULL, "the worker opens");
    return d;
}

void drive_close(drive *d)
{
    api_worker_close(d->worker);
    api_close(d->door);
    free(d->answer);
    free(d);
}

static void keep_answer(drive *d, const api_reply *reply)
{
    d->tag[0] = 0;
    for (size_t i = 0; i < reply->n_headers; i++)
        if (!strcmp(reply->header[i].name, "ETag")) snprintf(d->tag, sizeof d->tag, "%s", reply->header[i].value);
    d->length = reply->body ? reply->length : 0;
    free(d->answer);
    d->answer = malloc(d->length + 1);
    drive_expect(d->answer != NULL, "memory");
    if (d->length) memcpy(d->answer, reply->body, d->length);
    d->answer[d->length] = 0;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned send(drive *d, const api_request *request, const char *body, size_t length)
{
    api_call *call = api_begin(d->door, request);
    drive_expect(call != NULL, "memory");
    if (api_wants_body(call)) {
        /* the body in an allocation of exactly its length: the sanitizer notices a read beyond it */
        char *bytes = malloc(length ? length : 1);
        drive_expect(bytes != NULL, "memory");
        if (length) memcpy(bytes, body, length);
        api_deadline deadline = {.time = now() + PATIENCE * (uint64_t)1000000000};
        if (api_reserve(call, length)) api_run(call, d->worker, bytes, length, &deadline);
        free(bytes);
    }
    const api_reply *reply  = api_reply_of(call);
    unsigned         status = reply->status;
    drive_expect(status >= 200 && status < 600, "every answer has a status");
    drive_expect(status != 500, "no answer is 500");
    drive_expect(!reply->body || reply->content_type, "an answer with a body has a media type");
    if (status >= 400)
        drive_expect(!strcmp(reply->content_type, "application/problem+json"), "an error is a problem document");
    keep_answer(d, reply);
    api_end(call);
    return status;
}

unsigned drive_request(drive *d, const char *method, const char *target, const char *body, size_t length)
{
    api_request request = {
        .method = method, .target = target, .content_type = "application/json", .has_body = body != NULL};
    if (!body) request.content_type = NULL;
    return send(d, &request, body, length);
}

unsigned drive_typed(drive *d, const char *method, const char *target, const char *type, const char *body,
                     size_t length)
{
    api_request request = {.method = method, .target = target, .content_type = type, .has_body = true};
    return send(d, &request, body, length);
}

/* Writes a model in every format; the text must be XML unless memory ran out. */
static void write_files(const drive *d, const char *name)
{
    static const char *const formats[] = {"urdf", "mjcf", "sdf"};
    for (size_t i = 0; i < 2 * sizeof formats / sizeof *formats; i++) {
        const api_model_form form    = {.format = formats[i / 2], .bound = i % 2};
        api_problem          problem = {.offset = -1};
        size_t               length  = 0;
        char                *text    = api_write_model(d->door, name, &form, NULL, &length, &problem);
        drive_expect(text && length == strlen(text) && !strncmp(text, "<?xml", 5), "the model can be written");
        free(text);
    }
}

void drive_check_model(drive *d, const char *name)
{
    char model[80], target[120], revision[sizeof d->tag];
    snprintf(model, sizeof model, "/v1/models/%s", name);
    drive_expect(drive_request(d, "GET", model, NULL, 0) == 200, "the model can be read");
    snprintf(target, sizeof target, "%s/document", model);
    drive_expect(drive_request(d, "GET", target, NULL, 0) == 200, "the document can be read");
    char  *document = strdup(d->answer);
    size_t length   = d->length;
    drive_expect(document != NULL, "memory");
    memcpy(revision, d->tag, sizeof revision);
    drive_expect(drive_request(d, "PUT", model, document, length) == 200, "the service accepts its own document");
    drive_expect(!strcmp(revision, d->tag), "the same document has the same revision");
    free(document);

    write_files(d, name);
    snprintf(target, sizeof target, "%s/inverse-dynamics", model);
    drive_request(d, "POST", target, "{\"q\":[0]}", 9);
    drive_expect(drive_request(d, "DELETE", model, NULL, 0) == 204, "the model can be deleted");
}
