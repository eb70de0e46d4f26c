/* memory_watch.c - tells exhaustion of memory and returns freed memory to the system, once a second. */
#include "memory_watch.h"
#include "api/metrics.h"
#include "server/work/clock.h"
#include <malloc.h>

/* LIGHT: bytes that requests hold while the server counts as idle. WORTHWHILE: kept bytes that an idle server returns.
 */
enum { LIGHT = 1 << 20, WORTHWHILE = 64 << 20, MOST_KEPT_PART = 4 };
static const uint64_t interval = 1000000000, patience = 5000000000, busy_interval = 2000000000; /* ns */

static size_t model_bytes(void)
{
    int64_t bytes = api_metric_value(API_METRIC_MODEL_BYTES, API_NO_LABELS);
    return bytes > 0 ? (size_t)bytes : 0;
}

static size_t less(size_t a, size_t b)
{
    return a > b ? a - b : 0;
}

void srv_memory_watch_begin(srv_memory_watch *w, api *service, srv_log *log, size_t limit)
{
    *w = (srv_memory_watch){.api   = service,
                            .log   = log,
                            .limit = limit,
                            .base  = less(api_resident_memory(), model_bytes()),
                            .next  = srv_now()};
}

static void tell(srv_memory_watch *w, bool exhausted)
{
    size_t used = api_memory_used(w->api);
    if (exhausted == w->is_exhausted) return;
    w->is_exhausted = exhausted;
    api_metric_add(API_METRIC_MEMORY_EXHAUSTED, API_NO_LABELS, exhausted ? 1 : -1);
    if (exhausted) {
        api_set_unready(w->api, "memory",
                        "requests in flight have held nearly all of the memory for %g s: %zu of %zu bytes (--memory)",
                        1e-9 * (double)patience, used, w->limit);
        srv_log_message(w->log, SRV_ERROR, "memory-exhausted",
                        "requests in flight have held nearly all of the memory for %g s: %zu of %zu bytes (--memory)",
                        1e-9 * (double)patience, used, w->limit);
    } else {
        api_clear_reason(w->api, "memory");
        srv_log_message(w->log, SRV_WARNING, "recovered", "requests find memory again: %zu of %zu bytes are in use",
                        used, w->limit);
    }
}

static void check_exhaustion(srv_memory_watch *w, uint64_t now)
{
    if (!api_memory_is_exhausted(w->api))
        w->exhausted_since = 0;
    else if (w->exhausted_since == 0)
        w->exhausted_since = now;
    tell(w, w->exhausted_since > 0 && now - w->exhausted_since >= patience);
}

/* Bytes that malloc keeps: those of the process that neither requests nor models nor the process itself have. */
static size_t kept_bytes(const srv_memory_watch *w)
{
    return less(api_resident_memory(), w->base + model_bytes() + api_memory_used(w->api));
}

/* Notes since when the server is idle. Returns true if it has been for long enough. */
static bool is_idle(srv_memory_watch *w, uint64_t now)
{
    if (api_memory_used(w->api) > LIGHT) {
        w->idle_since = 0;
        w->is_trimmed = false;
        w->left       = 0;
    } else if (w->idle_since == 0) {
        w->idle_since = now;
    }
    return w->idle_since > 0 && now - w->idle_since >= patience;
}

static void return_memory(srv_memory_watch *w, size_t kept)
{
    malloc_trim(0);
    srv_log_message(w->log, SRV_DEBUG, "memory-returned", "%zu bytes of freed memory returned to the system",
                    less(kept, kept_bytes(w)));
}

/* Returns true if the memory has grown since it was returned: requests have come and gone between two checks. The
 * server then counts as idle from now on. */
static bool waits_again(srv_memory_watch *w, uint64_t now)
{
    if (!w->is_trimmed) return false;
    w->is_trimmed = false;
    w->idle_since = now;
    return true;
}

static void check_kept(srv_memory_watch *w, uint64_t now)
{
    size_t kept = kept_bytes(w);
    if (is_idle(w, now)) {
        if (kept <= w->left + WORTHWHILE || waits_again(w, now)) return;
        return_memory(w, kept);
        w->is_trimmed = true;
        w->left       = kept_bytes(w);
        w->unreturned = 0;
    } else if (kept > w->unreturned + w->limit / MOST_KEPT_PART && now >= w->next_trim) {
        return_memory(w, kept);
        w->unreturned = kept_bytes(w);
        w->next_trim  = now + busy_interval;
    }
}

void srv_memory_watch_check(srv_memory_watch *w)
{
    uint64_t now = srv_now();
    if (now < w->next) return;
    w->next = now + interval;
    check_exhaustion(w, now);
    check_kept(w, now);
}
