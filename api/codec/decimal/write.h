/* write.h - doubles to the shortest decimal numbers that read back as the same double; of several such numbers the
 * nearest one, ties to even. ROUNDING.md proves each bound. After Giulietti 2020. */
#pragma once
#include "powers_of_ten.h"

__extension__ typedef unsigned __int128 api_product;

/* Seventeen digits, the last of them zeros where fewer suffice: 0.d1 d2 ... d17 * 10^point. */
typedef struct api_digits {
    uint64_t all;
    int      point;
} api_digits;

/* Finds the shortest digits of a positive double. */
api_digits api_decimal_shorten_any(uint64_t bits);

/* Keeps the compiler from making a branch of a selection that is unpredictable. */
#define API_NO_BRANCH(mask) __asm__("" : "+r"(mask))

/* Finds the shortest digits of any positive double and of zero, quickly for those from 2^-19 to below 2^52. There
 * 2^q * 10^m < 1 is exact in 64 bits. Hence at most one integer lies within half a unit of c * 2^q * 10^m, and it is
 * the shortest if there is one; else one more digit gives it. */
__attribute__((always_inline)) static inline api_digits api_decimal_shorten(uint64_t bits)
{
    uint64_t zero = (uint64_t)0 - (bits == 0);
    API_NO_BRANCH(zero);
    bits |= zero & (uint64_t)1023 << 52; /* zero is computed like 1, without its digit */
    unsigned place = (unsigned)(bits >> 52) - (1075 + API_SCALE_LEAST);
    if (place >= -API_SCALE_LEAST) return api_decimal_shorten_any(bits);
    uint64_t    c = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52, scale = api_decimal_scales[place];
    api_product product = (api_product)c * scale;
    uint64_t    whole = (uint64_t)(product >> 64), fraction = (uint64_t)product, half = scale / 2;
    api_product tenfold = (api_product)fraction * 10;
    uint64_t    digit = (uint64_t)(tenfold >> 64), odd = digit & 1;
    digit += (uint64_t)tenfold > ((uint64_t)1 << 63) - odd;
    uint64_t up = fraction > -half, longer = (uint64_t)(up | (fraction < half)) - 1;
    API_NO_BRANCH(longer);
    whole += up;
    uint64_t fifteen = (uint64_t)0 - (whole < 1000000000000000);
    API_NO_BRANCH(fifteen);
    uint64_t all = whole * 10 + (digit & longer);
    all += all * 9 & fifteen;
    int point = 16 + (int)fifteen - (((-API_SCALE_LEAST - (int)place) * 1233) >> 12);
    return (api_digits){.all = all & ~zero, .point = point};
}
