/* sampling.c - read and check "samples" or "times" of a request: see sampling.h. */
#include "sampling.h"
#include "api/codec/number.h"
#include <math.h>

static bool check_count(const api_query *q, double n, const api_place *at)
{
    size_t limit = q->call->api->limits.rows;
    return n <= (double)limit || api_fail_at(q->problem, at, API_TOO_MANY_ROWS,
                                             "%s samples asked for, the limit is %zu", API_NUMBER_TEXT(n), limit);
}

static bool read_times(api_query *q, const api_node *list, const api_place *at, double least, api_sampling *s)
{
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of times expected",
                           api_node_kind_text(list));
    s->n = api_node_size(list);
    if (s->n == 0)
        return api_fail_at(q->problem, at, API_WRONG_SHAPE, "an empty array given, at least one time expected");
    if (!check_count(q, (double)s->n, at)) return false;
    const double *times = s->times = api_take_numbers(q, list, at, s->n);
    for (size_t n = 0; times && n < s->n; n++) {
        api_place entry_at = api_place_index(at, n);
        if (!(times[n] >= 0 && times[n] <= least))
            return api_fail_at(q->problem, &entry_at, API_BAD_VALUE,
                               "%s s given, a time from 0 to the duration, %s s, expected", API_NUMBER_TEXT(times[n]),
                               API_NUMBER_TEXT(least));
    }
    return times != NULL;
}

bool api_sampling_read(api_query *q, const api_node *fields, double least, const char *of, api_sampling *s)
{
    const api_node *samples = api_node_get(fields, "samples"), *times = api_node_get(fields, "times");
    api_place       at = api_place_key(NULL, "samples"), times_at = api_place_key(NULL, "times");
    double          n = 0;
    *s                = (api_sampling){.n = 0};
    if (times)
        return samples
                   ? api_fail_at(q->problem, &times_at, API_BAD_VALUE, "times given beside samples: give one of them")
                   : read_times(q, times, &times_at, least, s);
    if (!samples)
        return api_fail_at(
            q->problem, &at, API_MISSING_FIELD,
            "%s needs the field samples (a number of equidistant samples) or the field times (their instants)", of);
    if (!api_read_number(q, samples, &at, &n)) return false;
    if (!(n >= 2 && n == floor(n)))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a whole number of at least 2 expected",
                           API_NUMBER_TEXT(n));
    if (!check_count(q, n, &at)) return false;
    s->n = (size_t)n;
    return true;
}
