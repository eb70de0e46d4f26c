/* write.c - the shortest decimal number of any positive double, see write.h. */
#include "write.h"
#include <stdbool.h>

/* The factor 2^(q + 1) / 10^k of a double c * 2^q: 128 bits and the power of two. */
typedef struct factor {
    uint64_t high, low;
    int      shift;
} factor;

/* Returns floor(x * f) with the lowest bit set if the product is no integer, so that comparisons with even numbers stay
 * exact. */
static uint64_t multiply_to_odd(uint64_t x, const factor *f)
{
    x <<= f->shift;
    api_product low = (api_product)x * f->low, high = (api_product)x * f->high + (uint64_t)(low >> 64);
    bool        integer = (uint64_t)high == 0 && (uint64_t)low >> 61 == 0;
    return (uint64_t)(high >> 64) | !integer;
}

static factor factor_of(int q, int k)
{
    const uint64_t *power = api_powers_of_ten[-k - API_POWER_LEAST];
    factor          f     = {.high = power[0], .low = power[1] + 1, .shift = q + api_log2_of_power(-k) + 1};
    f.high += f.low == 0;
    return f;
}

/* Moves the first digit of significand * 10^exponent to the place of the first of seventeen. */
static api_digits align(uint64_t significand, int exponent)
{
    int digits = (64 - __builtin_clzll(significand)) * 1233 >> 12; /* about log10(2) = 1233 / 4096 */
    digits += significand >= api_integer_powers[digits];
    return (api_digits){.all = significand * api_integer_powers[17 - digits], .point = exponent + digits};
}

api_digits api_decimal_shorten_any(uint64_t bits)
{
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1), biased = bits >> 52;
    uint64_t c      = biased > 0 ? mantissa | (uint64_t)1 << 52 : mantissa;
    int      q      = biased > 0 ? (int)biased - 1075 : -1074;
    bool     uneven = mantissa == 0 && biased > 1; /* the next double below is half as far away as the next above */
    int      k      = (q * 1262611 - (uneven ? 524031 : 0)) >> 22; /* floor(log10(distance of the neighbours)) */
    factor   f      = factor_of(q, k);
    uint64_t odd    = c & 1;
    uint64_t value  = multiply_to_odd(4 * c, &f);                    /* the value in quarters of 10^k */
    uint64_t least  = multiply_to_odd(4 * c - 2 + uneven, &f) + odd, /* an odd mantissa excludes the ends */
        most        = multiply_to_odd(4 * c + 2, &f) - odd;
    uint64_t s = value / 4, tens = s / 10;
    /* A branch on the candidates between the neighbours could not be predicted, so there is none. */
    uint64_t low = least <= 4 * s, high = 4 * s + 4 <= most, nearest = value + (s & 1) > 4 * s + 2;
    uint64_t low_ten = least <= 40 * tens, high_ten = 40 * tens + 40 <= most;
    uint64_t single = (uint64_t)0 - (low ^ high), shorter = (uint64_t)0 - (low_ten ^ high_ten);
    API_NO_BRANCH(single);
    API_NO_BRANCH(shorter);
    uint64_t significand = s + (nearest ^ ((nearest ^ high) & single));
    significand ^= (significand ^ (10 * (tens + high_ten))) & shorter;
    return align(significand, k);
}
