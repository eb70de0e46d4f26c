/* refusals.c - limits and counts the lines about refused requests (refusals.h). */
#include "refusals.h"
#include "server/work/priority.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 512 /* a power of 2 */, STATUSES = 64 };

static const uint64_t period = 10000000000; /* ns, between two reports of a client and status */

/* The entries from SRV_REFUSALS_REMEMBERED on count the refusals of all clients without an entry of their own, one for
 * each status. */
struct srv_refusals {
    pthread_mutex_t mutex;
    size_t          n; /* number of entries in the chains */
    size_t          bucket[BUCKETS];
    size_t          unused; /* list of free entries; index + 1, 0: none */
    srv_refusal     entry[SRV_REFUSALS_REMEMBERED];
    size_t          n_shared;
    srv_refusal     shared[STATUSES];
};

srv_refusals *srv_refusals_open(void)
{
    srv_refusals *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    srv_mutex_init(&r->mutex);
    for (size_t i = 0; i < SRV_REFUSALS_REMEMBERED; i++)
        r->entry[i].next = i + 1 < SRV_REFUSALS_REMEMBERED ? i + 2 : 0;
    r->unused = 1;
    return r;
}

void srv_refusals_close(srv_refusals *r)
{
    if (!r) return;
    pthread_mutex_destroy(&r->mutex);
    free(r);
}

/* The FNV-1a hash of a client and a status, as an index of a bucket. */
static size_t bucket_of_refusal(const char *client, unsigned status)
{
    uint32_t hash = 2166136261u ^ status;
    for (; *client; client++)
        hash = (hash ^ (unsigned char)*client) * 16777619u;
    return hash % BUCKETS;
}

static void begin_refusal(srv_refusal *e, const char *client, unsigned status, uint64_t now)
{
    *e = (srv_refusal){.status = status, .since = now, .last = now};
    snprintf(e->client, sizeof e->client, "%s", client);
}

/* Returns the entry that all clients beyond the table share for a status; the last entry is for all other statuses. */
static srv_refusal *find_shared(srv_refusals *r, unsigned status, uint64_t now)
{
    size_t i = 0;
    while (i < r->n_shared && r->shared[i].status != status)
        i++;
    if (i == STATUSES) return &r->shared[STATUSES - 1];
    if (i == r->n_shared) begin_refusal(&r->shared[r->n_shared++], "other clients", status, now);
    return &r->shared[i];
}

/* Finds the entry of a client and status, or creates it. The caller holds the mutex. */
static srv_refusal *find_refusal(srv_refusals *r, const char *client, unsigned status, uint64_t now)
{
    size_t *head = &r->bucket[bucket_of_refusal(client, status)];
    for (size_t i = *head; i > 0; i = r->entry[i - 1].next)
        if (r->entry[i - 1].status == status && strcmp(r->entry[i - 1].client, client) == 0) return &r->entry[i - 1];
    if (r->unused == 0) return find_shared(r, status, now);
    size_t       index = r->unused;
    srv_refusal *e     = &r->entry[index - 1];
    r->unused          = e->next;
    begin_refusal(e, client, status, now);
    e->next = *head;
    *head   = index;
    r->n++;
    return e;
}

bool srv_refusals_admit(srv_refusals *r, const char *client, unsigned status, double per_second, uint64_t now)
{
    char name[SRV_REFUSED_NAME];
    snprintf(name, sizeof name, "%s", client);
    pthread_mutex_lock(&r->mutex);
    srv_refusal *e   = find_refusal(r, name, status, now);
    bool         may = srv_rate_take(&e->rate, per_second, now) == 0;
    if (!may && e->omitted++ == 0) e->since = now;
    if (now > e->last) e->last = now;
    pthread_mutex_unlock(&r->mutex);
    return may;
}

static uint64_t time_between(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}

/* Reports an entry if that is due. True if its client was silent for a period: the entry may be forgotten. */
static bool review_refusal(srv_refusal *e, uint64_t now, bool all, srv_refusals_report *report, void *arg)
{
    if (e->omitted > 0 && (all || time_between(e->since, now) >= period)) {
        report(arg, e, 1e-9 * (double)time_between(e->since, now));
        e->omitted = 0;
        e->since   = now;
    }
    return e->omitted == 0 && time_between(e->last, now) >= period;
}

static void forget_refusal(srv_refusals *r, size_t *link)
{
    size_t index             = *link;
    *link                    = r->entry[index - 1].next;
    r->entry[index - 1].next = r->unused;
    r->unused                = index;
    r->n--;
}

size_t srv_refusals_review(srv_refusals *r, uint64_t now, bool all, srv_refusals_report *report, void *arg)
{
    bool silent = true;
    pthread_mutex_lock(&r->mutex);
    for (size_t b = 0; b < BUCKETS && r->n > 0; b++)
        for (size_t *link = &r->bucket[b]; *link > 0;)
            if (review_refusal(&r->entry[*link - 1], now, all, report, arg))
                forget_refusal(r, link);
            else
                link = &r->entry[*link - 1].next;
    for (size_t i = 0; i < r->n_shared; i++)
        silent &= review_refusal(&r->shared[i], now, all, report, arg);
    if (silent) r->n_shared = 0;
    size_t left = r->n + r->n_shared;
    pthread_mutex_unlock(&r->mutex);
    return left;
}
