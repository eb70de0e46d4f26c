/* drive.h - requests to the door, as the fuzzers send them: no sockets, small limits, one thread. */
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

/* One whole request; returns the status. Stops the fuzzer if the answer breaks the contract: no status, a body
 * without its type, an error that is not a problem document. */
unsigned drive_request(drive *d, const char *method, const char *target, const char *body, size_t length);

/* The same with a body of that media type. */
unsigned drive_typed(drive *d, const char *method, const char *target, const char *type, const char *body,
                     size_t length);

/* Checks a model that was taken, and deletes it: it can be read in every form, its document gives the same revision,
 * and it answers a request. */
void drive_check_model(drive *d, const char *name);

/* Stops the fuzzer with a message unless `holds`. */
void drive_expect(bool holds, const char *what);
