/* audit_queue.h - keep the lines about changes until they are written: none of them is dropped for other lines.
 *
 * A change reserves its line before it is made, and waits for that, or is refused. So the queue is bounded, and an
 * acknowledged change always has a line. The thread that writes takes the lines in their order. */
#pragma once
#include "line_writer.h"
#include <pthread.h>
#include <stdbool.h>

/* Lines that are reserved or wait to be written. A reload has more room than changes, so that it can repair a log that
 * takes no lines. */
enum { SRV_AUDIT_LINES = 256, SRV_AUDIT_LINES_OF_RELOADS = 1024 };

typedef struct srv_audit_line {
    struct srv_audit_line *next;
    size_t                 length;
    char                   text[SRV_LINE_SIZE];
} srv_audit_line;

typedef struct srv_audit_queue {
    pthread_mutex_t mutex;
    pthread_cond_t  changed; /* signalled when a line is appended or released, and by srv_audit_wake */
    size_t          n;       /* number of lines that are reserved or queued */
    srv_audit_line *first, *last;
    void (*wake)(void *arg); /* called when a line was appended; NULL: no other thread is woken */
    void *arg;
} srv_audit_queue;

bool srv_audit_open(srv_audit_queue *queue); /* false: no memory */

/* Frees the lines that are left; returns their number. No line may be reserved any more. */
size_t srv_audit_close(srv_audit_queue *queue);

/* Reserves a line, if there are fewer than `most`. Waits for that until the time `deadline`, ns of srv_now, or until
 * `*cancelled` is set (NULL: never). NULL: there was no room, or no memory. */
srv_audit_line *srv_audit_reserve(srv_audit_queue *queue, size_t most, uint64_t deadline, const atomic_bool *cancelled);
void            srv_audit_release(srv_audit_queue *queue, srv_audit_line *line); /* a reserved line that is not used */
void            srv_audit_append(srv_audit_queue *queue, srv_audit_line *line); /* a reserved line, which is complete */

/* Returns the first line, which stays in the queue until srv_audit_remove; NULL: there is none. For one thread. */
srv_audit_line *srv_audit_first(srv_audit_queue *queue);
void            srv_audit_remove(srv_audit_queue *queue);

/* Waits until there is a line, srv_audit_wake is called, or the time `end`, ns, is reached. */
void srv_audit_wait(srv_audit_queue *queue, uint64_t end);
void srv_audit_wake(srv_audit_queue *queue);
