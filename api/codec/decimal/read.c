/* read.c - decimal digits to the nearest double where 128 bits of a power of ten are not enough, see read.h. */
#include "read.h"
#include <string.h>

enum { EXACT_POWER = 55 }; /* 10^e has at most 128 bits, without its trailing zeros, up to this e */

uint64_t api_decimal_round_near_half(uint64_t digits, int exponent, api_uint128 product, int drop, bool *decided)
{
    api_uint128 rest  = (api_uint128)digits * api_powers_of_ten[exponent - API_POWER_LEAST][1];
    bool        exact = exponent >= 0 && exponent <= EXACT_POWER;
    product += rest >> 64;
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product, half = (uint64_t)1 << (drop - 1);
    uint64_t mantissa = high >> (drop - 1) >> 1, fraction = high & (half * 2 - 1);
    if (fraction > half) return mantissa + 1;
    if (fraction < half) {
        *decided = exact || fraction < half - 1 || low != UINT64_MAX;
        return mantissa;
    }
    bool tie = exact && low == 0 && (uint64_t)rest == 0;
    return mantissa + (tie ? mantissa & 1 : 1);
}

/* --- comparison of integers of any length --------------------------------------------------------------------------
 */

/* ROUNDING.md: no integer here has more than 2732 bits. Limb 0 is the least. */
enum { LIMBS = 44, MOST_DIGITS = 780 };

typedef struct integer {
    uint64_t limb[LIMBS];
    size_t   length; /* limbs in use; the last is not 0 */
} integer;

/* x = x * factor + more */
static void multiply(integer *x, uint64_t factor, uint64_t more)
{
    for (size_t i = 0; i < x->length; i++) {
        api_uint128 product = (api_uint128)x->limb[i] * factor + more;
        x->limb[i]          = (uint64_t)product;
        more                = (uint64_t)(product >> 64);
    }
    if (more > 0 && x->length < LIMBS) x->limb[x->length++] = more;
}

static void multiply_by_power_of_five(integer *x, int64_t exponent)
{
    enum { STEP = 27 }; /* 5^27 < 2^63 */
    static const uint64_t step = 7450580596923828125;
    for (; exponent >= STEP; exponent -= STEP)
        multiply(x, step, 0);
    for (; exponent > 0; exponent--)
        multiply(x, 5, 0);
}

static void shift_left(integer *x, int64_t bits)
{
    size_t limbs = (size_t)bits / 64;
    multiply(x, (uint64_t)1 << bits % 64, 0);
    if (x->length + limbs > LIMBS) limbs = LIMBS - x->length;
    memmove(x->limb + limbs, x->limb, x->length * sizeof *x->limb);
    memset(x->limb, 0, limbs * sizeof *x->limb);
    x->length += limbs;
}

static int compare(const integer *a, const integer *b)
{
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    for (size_t i = a->length; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* Compares digits * 10^exponent with the point half way between the double of `bits` and the next one. */
static int compare_with_halfway(integer *digits, int64_t exponent, uint64_t bits)
{
    uint64_t biased = bits >> 52, mantissa = bits & (((uint64_t)1 << 52) - 1);
    if (biased > 0) mantissa |= (uint64_t)1 << 52;
    integer halfway = {.limb = {2 * mantissa + 1}, .length = 1};
    int64_t binary  = (biased > 0 ? (int64_t)biased - 1075 : -1074) - 1;
    multiply_by_power_of_five(exponent >= 0 ? digits : &halfway, exponent >= 0 ? exponent : -exponent);
    if (exponent >= binary)
        shift_left(digits, exponent - binary);
    else
        shift_left(&halfway, binary - exponent);
    return compare(digits, &halfway);
}

/* --- digits of a text -----------------------------------------------------------------------------------------------
 */

/* The digits of a text without the leading zeros and the point. */
typedef struct cursor {
    const char *next, *end;
} cursor;

/* Takes up to `most` digits into an integer of 64 bits and returns how many there were. */
static size_t take_digits(cursor *c, size_t most, uint64_t *value)
{
    size_t n = 0;
    *value   = 0;
    for (; c->next < c->end && n < most; c->next++) {
        if (*c->next == '.') continue;
        *value = *value * 10 + (uint64_t)(*c->next - '0');
        n++;
    }
    return n;
}

static size_t count_digits(const cursor *c)
{
    const size_t n = (size_t)(c->end - c->next);
    return n - (n > 0 && memchr(c->next, '.', n));
}

/* Rounds the number at `digits` given that the result is the double of `lower` or the next one. */
static uint64_t round_exactly(cursor digits, int64_t exponent, uint64_t lower)
{
    integer  x = {.length = 0};
    uint64_t piece;
    for (size_t taken = 0, n; taken < MOST_DIGITS; taken += n) {
        n = take_digits(&digits, MOST_DIGITS - taken < API_DECIMAL_DIGITS ? MOST_DIGITS - taken : API_DECIMAL_DIGITS,
                        &piece);
        if (n == 0) break;
        multiply(&x, api_integer_powers[n], piece);
    }
    size_t more = count_digits(&digits);
    bool   any  = false; /* of the remaining digits it only matters whether all are 0 */
    for (const char *p = digits.next; p < digits.end; p++)
        any |= *p != '.' && *p != '0';
    exponent += (int64_t)more;
    if (any) {
        multiply(&x, 10, 1);
        exponent--;
    }
    int side = compare_with_halfway(&x, exponent, lower);
    return lower + (side > 0 || (side == 0 && (lower & 1)));
}

uint64_t api_decimal_read(const char *text, size_t length, int64_t exponent)
{
    cursor   all = {text, text + length};
    uint64_t first, bits, above;
    while (all.next < all.end && (*all.next == '0' || *all.next == '.'))
        all.next++;
    cursor rest = all;
    take_digits(&rest, API_DECIMAL_DIGITS, &first);
    size_t more    = count_digits(&rest);
    bool   decided = api_decimal_round(first, exponent + (int64_t)more, &bits);
    if (more > 0) { /* the number lies between first and first + 1 */
        decided &= api_decimal_round(first + 1, exponent + (int64_t)more, &above);
        decided &= bits == above;
    }
    return decided ? bits : round_exactly(all, exponent, bits);
}
