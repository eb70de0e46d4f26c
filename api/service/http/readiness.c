/* readiness.c - keep the faults that GET /readyz names, although the server is ready or because it is not: see
 * api_set_reason and api_set_unready (api.h). */
#include "call.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct api_reason {
    struct api_reason *next;
    bool               unready; /* true: the fault prevents service */
    char               text[API_REASON_MAX];
    char               subject[];
};

/* Unlinks and frees the reason about a subject. The caller holds the lock. Returns where a new one belongs: in its
 * place, or at the end. */
static struct api_reason **remove_reason(api *a, const char *subject)
{
    struct api_reason **link = &a->reasons;
    while (*link && strcmp((*link)->subject, subject) != 0)
        link = &(*link)->next;
    struct api_reason *found = *link;
    if (found) *link = found->next;
    free(found);
    return link;
}

static void set_reason(api *a, const char *subject, bool unready, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
static void set_reason(api *a, const char *subject, bool unready, const char *format, va_list args)
{
    size_t             size   = strlen(subject) + 1;
    struct api_reason *reason = malloc(sizeof *reason + size);
    if (!reason) return; /* memory is short: the reason is in the log only */
    memcpy(reason->subject, subject, size);
    reason->unready = unready;
    vsnprintf(reason->text, sizeof reason->text, format, args);
    pthread_mutex_lock(&a->reasons_lock);
    struct api_reason **link = remove_reason(a, subject);
    reason->next             = *link;
    *link                    = reason;
    pthread_mutex_unlock(&a->reasons_lock);
}

void api_set_reason(api *a, const char *subject, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_reason(a, subject, false, format, args);
    va_end(args);
}

void api_set_unready(api *a, const char *subject, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_reason(a, subject, true, format, args);
    va_end(args);
}

void api_clear_reason(api *a, const char *subject)
{
    pthread_mutex_lock(&a->reasons_lock);
    remove_reason(a, subject);
    pthread_mutex_unlock(&a->reasons_lock);
}

void api_reasons_free(api *a)
{
    while (a->reasons)
        remove_reason(a, a->reasons->subject);
    pthread_mutex_destroy(&a->reasons_lock);
}

/* Copies a reason with '?' in place of bytes that are not printable ASCII: reasons contain file names. */
static void copy_reason(char text[API_REASON_MAX], const char *reason)
{
    snprintf(text, API_REASON_MAX, "%s", reason);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
}

static void emit_reason(api_emit *e, const char *reason)
{
    char text[API_REASON_MAX];
    copy_reason(text, reason);
    api_emit_string(e, text);
}

bool api_reasons_first(api *a, char text[API_REASON_MAX])
{
    pthread_mutex_lock(&a->reasons_lock);
    bool known = a->reasons != NULL;
    if (known) copy_reason(text, a->reasons->text);
    pthread_mutex_unlock(&a->reasons_lock);
    return known;
}

bool api_reasons_unready(api *a, char text[API_REASON_MAX])
{
    pthread_mutex_lock(&a->reasons_lock);
    const struct api_reason *r = a->reasons;
    while (r && !r->unready)
        r = r->next;
    if (r) copy_reason(text, r->text);
    pthread_mutex_unlock(&a->reasons_lock);
    return r != NULL;
}

size_t api_reasons_count(api *a)
{
    size_t n = 0;
    pthread_mutex_lock(&a->reasons_lock);
    for (const struct api_reason *r = a->reasons; r; r = r->next)
        n++;
    pthread_mutex_unlock(&a->reasons_lock);
    return n;
}

void api_reasons_emit(api *a, api_emit *e)
{
    char   more[64];
    size_t n = 0;
    api_emit_array(e);
    pthread_mutex_lock(&a->reasons_lock);
    for (const struct api_reason *r = a->reasons; r; r = r->next)
        if (n++ < API_REASONS_SHOWN) emit_reason(e, r->text);
    pthread_mutex_unlock(&a->reasons_lock);
    snprintf(more, sizeof more, "and %zu more, in the log", n - API_REASONS_SHOWN);
    if (n > API_REASONS_SHOWN) api_emit_string(e, more);
    api_emit_end(e);
}
