/* trig.h - computes sine, cosine, tanh and exp(-x^2) in lanes.
 *
 * Library functions for vectors differ between widths and versions, so this file has its own. Sine and cosine:
 * reduction by multiples of pi/2 in three parts, then the minimax polynomials of Sun's fdlibm on [-pi/4, pi/4]. Error
 * at most 1.5 ulp for |x| <= 100; absolute error of order 1e-16 up to |x| = 1e5. tanh is computed from exp(2x) - 1. */
#pragma once
#include "lane.h"
#include "dynamics/model/model.h"

#if defined DYN_EXTENDED
enum { TRIG_ANGLES = 1 };
LANE_INLINE void lane_cosine_sine(const lane *x, const double *d, const double *rounder, lane *cs)
{
    const unsigned quarters = (unsigned)(*rounder - DYN_ROUNDER);
    const lane     sine = sinl(*x) * cosl(*d) + cosl(*x) * sinl(*d), cosine = cosl(*x) * cosl(*d) - sinl(*x) * sinl(*d);
    const lane     quadrants[4] = {sine, cosine, -sine, -cosine};
    cs[0]                       = quadrants[(quarters + 1) % 4];
    cs[1]                       = quadrants[quarters % 4];
}
LANE_INLINE lane lane_tanh(lane x)
{
    return tanhl(x);
}
LANE_INLINE lane lane_gauss(lane x)
{
    return expl(-x * x);
}
#elif defined DYN_COMPLEX
enum { TRIG_ANGLES = 1 };
LANE_INLINE void lane_cosine_sine(const lane *x, const double *d, const double *rounder, lane *cs)
{
    const unsigned quarters = (unsigned)(*rounder - DYN_ROUNDER);
    const lane     sine = csin(*x + *d), cosine = ccos(*x + *d), quadrants[4] = {sine, cosine, -sine, -cosine};
    cs[0] = quadrants[(quarters + 1) % 4];
    cs[1] = quadrants[quarters % 4];
}
LANE_INLINE lane lane_tanh(lane x)
{
    return ctanh(x);
}
LANE_INLINE lane lane_gauss(lane x)
{
    return cexp(-x * x);
}
#else

/* Several angles are computed at once in a vector: with a single double, the bit operations would move numbers between
 * floating-point and integer registers. */
#if LANES == 1 && defined __FMA__ && !defined DYN_UNFUSED
enum { TRIG_ANGLES = 4 };
typedef double   trig __attribute__((vector_size(32)));
typedef uint64_t trig_word __attribute__((vector_size(32)));
#define trig_fma(a, b, c) ((trig)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define trig_of(type, x)  ((type){(x)[0], (x)[1], (x)[2], (x)[3]})
#elif LANES == 1
enum { TRIG_ANGLES = 2 };
typedef double2      trig;
typedef double2_word trig_word;
#ifdef DYN_UNFUSED
#define trig_fma(a, b, c) ((a) * (b) + (c))
#else
#define trig_fma(a, b, c) fma_double2(a, b, c)
#endif
#define trig_of(type, x) ((type){(x)[0], (x)[1]})
#else
enum { TRIG_ANGLES = 1 };
typedef lane      trig;
typedef lane_word trig_word;
#define trig_fma(a, b, c) lane_fma(a, b, c)
#define trig_of(type, x)  ((x)[0] - (type){0})
#endif

/* c + a b as lane_fma computes it; c and b may be scalar constants */
#define trig_add_mul(c, a, b) trig_fma(a, (b) - (trig){0}, (c) - (trig){0})

/* Exchanges sine and cosine in the lanes in which the quadrant k is odd. */
LANE_INLINE void trig_exchange(trig_word k, trig *s, trig *c)
{
#if LANES == 8
    const __mmask8 odd  = _mm512_test_epi64_mask((__m512i)k, _mm512_set1_epi64(1));
    const __m512d  sine = (__m512d)*s;
    *s                  = (trig)_mm512_mask_blend_pd(odd, sine, (__m512d)*c);
    *c                  = (trig)_mm512_mask_blend_pd(odd, (__m512d)*c, sine);
#else
    const trig_word other = ((trig_word)*s ^ (trig_word)*c) & -(k & 1);
    *s                    = (trig)((trig_word)*s ^ other);
    *c                    = (trig)((trig_word)*c ^ other);
#endif
}

/* Computes r = x + d - k pi/2, with k the nearest quadrant. For |x| >= 1, x minus k times the first part of pi/2 is
 * exact, since it is a multiple of 2^-52 below 2. */
LANE_INLINE trig trig_reduced(trig x, trig d, trig k)
{
#ifdef DYN_UNFUSED
    /* The first two parts of pi/2 have 37 bits, so that their products with k < 2^16 are exact. `lost` is the rounding
     * error of r, computed exactly (Dekker). */
    trig first = x - k * 0x1.921fb54440000p+0 + d, part = k * 0x1.68c234c4c0000p-39, r = first - part;
    trig lost = (first - r) - part;
    return r - (k * 0x1.98a2e03707345p-77 - lost);
#else
    trig r                = trig_add_mul(x, k, -1.57079632679489655800e+00) + d;
    r                     = trig_add_mul(r, k, -6.12323399573676603587e-17);
    return trig_add_mul(r, k, 1.49738490485916983294e-33);
#endif
}

/* Computes sine and cosine of x + d + n pi/2 for a number n of quarter turns, with `rounder` = DYN_ROUNDER + n. |d|
 * must be at most pi/4; d is separate because the sum x + d loses digits of d if x is large. */
LANE_INLINE void trig_sincos(trig x, trig d, trig rounder, trig *s, trig *c)
{
    trig      kr = trig_add_mul(rounder, x + d, 0.63661977236758134308);
    trig_word k  = (trig_word)kr; /* k, including the quarter turns of `rounder` */
    trig      r  = trig_reduced(x, d, kr - rounder);

    /* sin r = r + r^3 P(r^2),  cos r = 1 + r^2 (-1/2 + r^2 Q(r^2)) */
    trig z = r * r;
    trig P = trig_add_mul(-2.50507602534068634195e-08, z, 1.58969099521155010221e-10);
    trig Q = trig_add_mul(2.08757232129817482790e-09, z, -1.13596475577881948265e-11);
    P      = trig_add_mul(2.75573137070700676789e-06, z, P);
    Q      = trig_add_mul(-2.75573143513906633035e-07, z, Q);
    P      = trig_add_mul(-1.98412698298579493134e-04, z, P);
    Q      = trig_add_mul(2.48015872894767294178e-05, z, Q);
    P      = trig_add_mul(8.33333333332248946124e-03, z, P);
    Q      = trig_add_mul(-1.38888888888741095749e-03, z, Q);
    P      = trig_add_mul(-1.66666666666666324348e-01, z, P);
    Q      = trig_add_mul(4.16666666666666019037e-02, z, Q);
    *s     = trig_add_mul(r, r * z, P);
    *c     = trig_add_mul(
            1.0, z,
            trig_add_mul(-0.5, z, Q)); /* the rounding error of the inner sum is at most 1/3 of that of the result */

    trig_exchange(k, s, c);
    /* the sign of sine is bit 1 of k, that of cosine bit 1 of k + 1 */
    const trig_word sign = (trig_word){0} + (UINT64_C(1) << 63), ks = k << 62, kc = ks + (UINT64_C(1) << 62);
    *s = (trig)((trig_word)*s ^ (ks & sign));
    *c = (trig)((trig_word)*c ^ (kc & sign));
}

/* Computes cosine and sine of TRIG_ANGLES angles x + d + quarter turns, as trig_sincos does. cs receives a pair
 * (cosine, sine) for each angle. */
LANE_INLINE void lane_cosine_sine(const lane *x, const double *d, const double *rounder, lane *cs)
{
    trig s, c;
    trig_sincos(trig_of(trig, x), trig_of(trig, d), trig_of(trig, rounder), &s, &c);
#if LANES == 1
#pragma GCC unroll 4
    for (int k = 0; k < TRIG_ANGLES; k++)
        *(double2 *)(void *)(cs + 2 * k) = (double2){c[k], s[k]};
#else
    cs[0] = c, cs[1] = s;
#endif
}

/* Returns e^y - 1 for |y| <= 44. With y = k ln 2 + r,  e^y - 1 = 2^k (e^r - 1) + (2^k - 1), where e^r - 1 is a Taylor
 * series, |r| <= 0.35. */
LANE_INLINE lane lane_expm1(lane y)
{
    lane      kr  = add_mul(DYN_ROUNDER, 1.44269504088896338700, y);
    lane_mask k   = lane_bits(kr) - lane_bits(lane_of(DYN_ROUNDER));
    lane      kd  = kr - DYN_ROUNDER;
    lane      r   = sub_mul(sub_mul(y, 6.93147180369123816490e-01, kd), 1.90821492927058770002e-10, kd);
    lane      sum = lane_of(1.0 / 6227020800.0); /* 1/13! */
    sum           = add_mul(1.0 / 479001600.0, r, sum);
    sum           = add_mul(1.0 / 39916800.0, r, sum);
    sum           = add_mul(1.0 / 3628800.0, r, sum);
    sum           = add_mul(1.0 / 362880.0, r, sum);
    sum           = add_mul(1.0 / 40320.0, r, sum);
    sum           = add_mul(1.0 / 5040.0, r, sum);
    sum           = add_mul(1.0 / 720.0, r, sum);
    sum           = add_mul(1.0 / 120.0, r, sum);
    sum           = add_mul(1.0 / 24.0, r, sum);
    sum           = add_mul(1.0 / 6.0, r, sum);
    sum           = add_mul(1.0 / 2.0, r, sum);
    lane small    = add_mul(r, r * r, sum);
    lane power    = lane_from_bits((k + 1023) << 52); /* 2^k */
    return add_mul(power - 1.0, power, small);
}

/* tanh x = (e^2x - 1) / (e^2x + 1). For |x| >= 22 the result rounds to 1. */
LANE_INLINE lane lane_tanh(lane x)
{
    lane a = lane_abs(x);
    a      = lane_select(lane_less(a, lane_of(22)), a, lane_of(22));
    lane e = lane_expm1(a + a);
    lane t = e / (e + 2.0);
    return lane_select(lane_less(x, lane_of(0)), -t, t);
}
/* Returns exp(-x^2) with an absolute error of about 2e-16. For |x| >= 6.6 the value is below this error. */
LANE_INLINE lane lane_gauss(lane x)
{
    lane a = lane_abs(x);
    a      = lane_select(lane_less(a, lane_of(6.6)), a, lane_of(6.6));
    return lane_expm1(-(a * a)) + 1.0;
}
#endif
