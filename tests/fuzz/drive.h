/* drive.h - sends the requests of the fuzzers to the service through api.h: no sockets, small limits, one thread. */
#pragma once
#include "api/api.h"

typedef struct drive {
    api        *door;
    api_worker *worker;
    char       *answer; /* body of the last answer, NUL-terminated; freed by the next request */
    size_t      length;
    char        tag[200]; /* its ETag, or "" */
} drive;

drive *drive_open(void);
void   drive_close(drive *d);

/* Sends one whole request and returns the status. Stops the fuzzer if the answer breaks the contract: no status, a body
 * without its type, an error that is not a problem document. */
unsigned drive_request(drive *d, const char *method, const char *target, const char *body, size_t length);

/* Sends a request as drive_request does, with a body of that media type. */
unsigned drive_typed(drive *d, const char *method, const char *target, const char *type, const char *body,
                     size_t length);

/* Checks a model that was accepted, and deletes it: every form of it can be read, its document gives the same revision,
 * and it answers a request. */
void drive_check_model(drive *d, const char *name);

/* Stops the fuzzer with a message unless `holds`. */
void drive_expect(bool holds, const char *what);
