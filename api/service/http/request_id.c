/* request_id.c - names a request by the client's Request-Id or by a new one. */
#include "call.h"

/* True for 1 to 128 visible ASCII characters, which are safe in a header and in a log line. */
static bool is_sane_id(const char *id)
{
    size_t n = 0;
    while (id[n] > ' ' && id[n] < 0x7F)
        n++;
    return id[n] == '\0' && n >= 1 && n <= 128;
}

/* The digits are a counter that starts at the current time, permuted by the finaliser of SplitMix64 (Steele, Lea, Flood
 * 2014), a bijection that maps only 0 to 0. */
void api_make_id(api *a, char id[API_ID_SIZE])
{
    unsigned long long z = atomic_fetch_add_explicit(&a->next_id, 1, memory_order_relaxed);
    z                    = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z                    = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    for (int i = 15; i >= 0; i--, z >>= 4)
        id[i] = "0123456789abcdef"[z & 15];
    id[16] = '\0';
}

void api_reply_request_id(api_call *call, const char *id)
{
    char made[API_ID_SIZE];
    if (!id || !is_sane_id(id)) {
        api_make_id(call->api, made);
        id = made;
    }
    api_reply_header(call, "Request-Id", id);
}
