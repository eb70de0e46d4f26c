/* client_changes.c - collects the names of clients that a reload changes, and divides them among lines
 * (client_changes.h). */
#include "client_changes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_OF_A_LINE = 3000 /* bytes of names in one line, at most */, KINDS = 3 };

typedef struct collection {
    FILE *out[KINDS];
} collection;

static void collect_name(void *arg, const char *name, srv_client_change change)
{
    collection *c = arg;
    fprintf(c->out[change], "%s ", name);
}

/* Returns how many bytes of names fit a line, whole names only; each is followed by a blank. */
static size_t first_names(const char *names, size_t length)
{
    if (length <= NAMES_OF_A_LINE) return length;
    size_t fits = NAMES_OF_A_LINE;
    while (fits > 0 && names[fits - 1] != ' ')
        fits--;
    return fits;
}

static bool reserve_lines(srv_client_changes *changes, srv_audit_queue *queue)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t done = 0; done < changes->length[kind];) {
            srv_audit_line *line = srv_audit_reserve(queue, SRV_AUDIT_LINES_OF_RELOADS, 0, NULL);
            if (!line) return false;
            line->next     = changes->lines;
            changes->lines = line;
            done += first_names(changes->names[kind] + done, changes->length[kind] - done);
        }
    return true;
}

bool srv_client_changes_list(srv_client_changes *changes, srv_audit_queue *queue, const srv_clients *last,
                             const srv_clients *next)
{
    collection c;
    bool       good = true;
    for (int kind = 0; kind < KINDS; kind++)
        good &= (c.out[kind] = open_memstream(&changes->names[kind], &changes->length[kind])) != NULL;
    if (good) srv_clients_compare(last, next, collect_name, &c);
    for (int kind = 0; kind < KINDS; kind++)
        if (c.out[kind]) {
            good &= !ferror(c.out[kind]);
            good &= fclose(c.out[kind]) == 0;
        }
    return good && reserve_lines(changes, queue);
}

static void log_names(srv_client_changes *changes, srv_log *log, const char *kind, const char *names, size_t length)
{
    char            text[NAMES_OF_A_LINE + 1];
    srv_line        line;
    srv_audit_line *reserved = changes->lines;
    changes->lines           = reserved->next;
    snprintf(text, sizeof text, "%.*s", (int)length - 1, names); /* without the last blank */
    srv_log_begin(&line, log, SRV_AUDIT, "clients");
    srv_log_text(&line, kind, text);
    srv_log_end_audit(&line, reserved);
}

void srv_client_changes_log(srv_client_changes *changes, srv_log *log)
{
    static const char *const kinds[] = {
        [SRV_CLIENT_ADDED] = "added", [SRV_CLIENT_CHANGED] = "changed", [SRV_CLIENT_REMOVED] = "removed"};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t done = 0, length; done < changes->length[kind]; done += length) {
            length = first_names(changes->names[kind] + done, changes->length[kind] - done);
            log_names(changes, log, kinds[kind], changes->names[kind] + done, length);
        }
    srv_client_changes_free(changes, &log->audit);
}

void srv_client_changes_free(srv_client_changes *changes, srv_audit_queue *queue)
{
    for (srv_audit_line *line = changes->lines, *next; line; line = next) {
        next = line->next;
        srv_audit_release(queue, line);
    }
    for (int kind = 0; kind < KINDS; kind++)
        free(changes->names[kind]);
    *changes = (srv_client_changes){.lines = NULL};
}
