/* client_changes.h - write in the audit log which clients a reload has added, changed and removed. */
#pragma once
#include "server/access/clients.h"
#include "server/log.h"

typedef struct srv_client_changes {
    char           *names[3];  /* by srv_client_change: names, with blanks between; NULL: not listed */
    size_t          length[3]; /* bytes of the names */
    srv_audit_line *lines;     /* list of reserved lines, as many as are needed */
} srv_client_changes;

/* Lists the changes from `last` to `next`, and reserves their lines. False: there is no room or no memory;
 * srv_client_changes_free ends what was begun. `changes` must be zero. */
bool srv_client_changes_list(srv_client_changes *changes, srv_audit_queue *queue, const srv_clients *last,
                             const srv_clients *next);

void srv_client_changes_log(srv_client_changes *changes, srv_log *log); /* writes the lines, and ends `changes` */
void srv_client_changes_free(srv_client_changes *changes, srv_audit_queue *queue);
