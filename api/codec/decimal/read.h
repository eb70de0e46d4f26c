/* read.h - decimal digits to the nearest double, ties to even. ROUNDING.md proves each bound. The product with a
 * table of powers is that of Lemire 2021; what it leaves open is compared exactly, as in Clinger 1990. */
#pragma once
#include "powers_of_ten.h"
#include <stdbool.h>
#include <stddef.h>

__extension__ typedef unsigned __int128 api_uint128;

enum { API_DECIMAL_DIGITS = 19 }; /* most digits that surely fit 64 bits */

#define API_BITS_OF_INFINITY 0x7FF0000000000000u

/* Decides how the fraction of a product near one half rounds. `high` and `low` are the upper 128 bits of 192 without
 * the second half of the power; `unit` is the unit of the result in `high`. Returns the product's `high` divided by the
 * unit and rounded. Sets `*decided` to false if the bits of the power do not suffice; the result is then rounded down.
 */
uint64_t api_decimal_round_near_half(uint64_t digits, int exponent, api_uint128 product, int drop, bool *decided);

/* Rounds digits * 10^exponent to the bits of a double; an overflow gives infinity. Returns false if 128 bits of the
 * power of ten do not decide between two neighbours; `*bits` is then the smaller of them. */
__attribute__((always_inline)) static inline bool api_decimal_round(uint64_t digits, int64_t exponent, uint64_t *bits)
{
    bool decided = true;
    *bits        = 0;
    if (digits == 0 || exponent < API_POWER_LEAST) return true;
    *bits = API_BITS_OF_INFINITY;
    if (exponent > 308) return true;
    int         e = (int)exponent, zeros = __builtin_clzll(digits);
    api_uint128 product = (api_uint128)(digits << zeros) * api_powers_of_ten[e - API_POWER_LEAST][0];
    uint64_t    high    = (uint64_t)(product >> 64);
    int         top = (int)(high >> 63), biased = api_log2_of_power(e) + 1086 + top - zeros, drop = 10 + top;
    if (biased <= 0) { /* subnormal: fewer bits remain */
        drop += 1 - biased;
        biased = 1;
        if (drop > 64) {
            *bits = 0;
            return true;
        }
    }
    uint64_t half = (uint64_t)1 << (drop - 1), fraction = high & (half * 2 - 1);
    uint64_t mantissa = (high >> (drop - 1) >> 1) + (fraction > half);
    if (fraction - (half - 1) <= 1) mantissa = api_decimal_round_near_half(digits << zeros, e, product, drop, &decided);
    uint64_t rounded = mantissa + ((uint64_t)(biased - 1) << 52); /* a carry goes to the exponent */
    if (rounded < API_BITS_OF_INFINITY) *bits = rounded;
    return decided;
}

/* Rounds to the bits of the nearest double the number whose decimal digits are text[0..length), a point among them left
 * out, times 10^exponent. There may be any number of digits; at least one is not 0, or the result is 0. */
uint64_t api_decimal_read(const char *text, size_t length, int64_t exponent);
