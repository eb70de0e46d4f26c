/* rate.c - see rate.h. */
#include "rate.h"
#include <math.h>

double srv_rate_take(srv_rate *rate, double per_second, uint64_t now)
{
    double passed = now > rate->checked ? 1e-9 * (double)(now - rate->checked) : 0;
    rate->used    = fmax(rate->used - passed * per_second, 0);
    if (now > rate->checked) rate->checked = now;
    if (rate->used + 1 > per_second) return (rate->used + 1 - per_second) / per_second;
    rate->used += 1;
    return 0;
}
