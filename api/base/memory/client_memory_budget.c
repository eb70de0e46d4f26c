/* client_memory_budget.c - see client_memory_budget.h. */
#include "client_memory_budget.h"

/* RESERVE: part of the limit for light requests. LIGHT: part of the reserve that one light request uses at most.
 * LITTLE: part of the reserve up to which a client may use its second half. GREED: bytes of a client for each byte that
 * is free. LEAST_FREE: part of the limit; with less free the budget is exhausted. */
enum { RESERVE = 16, LIGHT = 128, LITTLE = 8, GREED = 4, LEAST_FREE = 64 };

/* Returns the bytes for all requests: the limit without the reserve for light requests. */
static size_t open_part(size_t limit)
{
    return limit - limit / RESERVE;
}

size_t api_memory_of_one_client(size_t limit)
{
    return open_part(limit) / (GREED + 1) * GREED + open_part(limit) % (GREED + 1) * GREED / (GREED + 1);
}

static bool fail_alone(const api_share *share, size_t bytes, api_problem *problem)
{
    size_t limit = share->budget->limit;
    if (!share->client)
        return api_fail(problem, API_TOO_MUCH_MEMORY, NULL,
                        "the request needs %zu bytes more than its present %zu; the limit for all requests is %zu",
                        bytes, share->bytes, limit);
    return api_fail(problem, API_TOO_MUCH_MEMORY, NULL,
                    "the request needs %zu bytes more than its present %zu; one client may use %zu, three quarters of "
                    "the limit for all requests",
                    bytes, share->bytes, api_memory_of_one_client(limit));
}

static size_t used_by(const api_client_memory *client)
{
    return atomic_load_explicit(&client->used, memory_order_relaxed);
}

/* True if the claim leaves the client within its share. `used`: bytes of the budget in use. */
static bool is_fair(const api_share *share, size_t bytes, size_t used)
{
    size_t limit = open_part(share->budget->limit);
    return bytes <= limit && used <= limit - bytes && used_by(share->client) + bytes <= GREED * (limit - bytes - used);
}

/* True if the request is light with these bytes, and the reserve for light requests has them free. The second half of
 * the reserve is for clients that use little. */
static bool is_light(const api_share *share, size_t bytes, size_t used)
{
    size_t limit = share->budget->limit, reserve = limit / RESERVE;
    if (bytes > reserve / LIGHT || share->bytes > reserve / LIGHT - bytes || used > limit - bytes) return false;
    return used + bytes <= limit - reserve / 2 || used_by(share->client) + bytes <= reserve / LITTLE;
}

static bool fits(const api_share *share, size_t bytes, size_t used, bool generous)
{
    size_t limit = share->budget->limit;
    if (!share->client) return bytes <= limit && used <= limit - bytes;
    return is_fair(share, bytes, used) || (!generous && is_light(share, bytes, used));
}

/* Adds `bytes` to those in use if they fit. Sets `used` to the bytes that were in use before. Claims of one client on
 * several threads at the same time may exceed its share together, but not the limit of the budget. */
static bool add(api_share *share, size_t bytes, bool generous, size_t *used)
{
    atomic_size_t *all = &share->budget->used;
    *used              = atomic_load_explicit(all, memory_order_relaxed);
    do {
        if (!fits(share, bytes, *used, generous)) return false;
    } while (
        !atomic_compare_exchange_weak_explicit(all, used, *used + bytes, memory_order_relaxed, memory_order_relaxed));
    if (share->client) atomic_fetch_add_explicit(&share->client->used, bytes, memory_order_relaxed);
    share->bytes += bytes;
    return true;
}

static bool fail_full(const api_share *share, size_t bytes, size_t used, api_problem *problem)
{
    size_t limit = share->budget->limit, open = open_part(limit);
    if (share->client)
        atomic_store_explicit(&share->client->wanted, used_by(share->client) + bytes, memory_order_relaxed);
    if (share->client && used <= open && bytes <= open - used)
        return api_fail(problem, API_CLIENT_MEMORY_FULL, NULL,
                        "the request needs %zu bytes more; requests of this client use %zu bytes, its share while %zu "
                        "of %zu bytes are in use",
                        bytes, used_by(share->client), used, limit);
    return api_fail(problem, API_MEMORY_FULL, NULL,
                    "the request needs %zu bytes more; of the budget of %zu bytes, %zu are in use", bytes, limit, used);
}

bool api_claim(api_share *share, size_t bytes, api_problem *problem)
{
    size_t used, limit = share->budget->limit;
    size_t most = share->client ? api_memory_of_one_client(limit) : limit;
    if (share->bytes > most || bytes > most - share->bytes) return fail_alone(share, bytes, problem);
    return add(share, bytes, false, &used) || fail_full(share, bytes, used, problem);
}

size_t api_claim_generously(api_share *share, size_t bytes, size_t generous, api_problem *problem)
{
    size_t used;
    if (generous > bytes && add(share, generous, true, &used)) return generous;
    return api_claim(share, bytes, problem) ? bytes : 0;
}

void api_unclaim(api_share *share, size_t bytes)
{
    atomic_fetch_sub_explicit(&share->budget->used, bytes, memory_order_relaxed);
    if (share->client) atomic_fetch_sub_explicit(&share->client->used, bytes, memory_order_relaxed);
    share->bytes -= bytes;
}

bool api_budget_is_exhausted(const api_budget *budget)
{
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    return used + budget->limit / LEAST_FREE > open_part(budget->limit);
}
