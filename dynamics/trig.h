/* trig.h - sine, cosine and tanh in lanes.
 *
 * Library vector mathematics differs between widths and versions; these few polynomials do not. Sine and cosine:
 * reduction by multiples of pi/2 in three parts (each product with k < 2^20 is exact), then the minimax
 * polynomials of Sun's fdlibm on [-pi/4, pi/4]. Error up to 1.5 ulp for |x| <= 100; absolute error of order
 * 1e-16 to |x| <= 1e6. tanh by exp(2x) - 1. */
#pragma once
#include "lane.h"

#ifdef DYN_COMPLEX
enum { TRIG_ANGLES = 1 };
LANE_INLINE void lane_turns(const lane *x, const double *d, const uint64_t *quarters, lane *cs)
{
    const lane sine = csin(*x + *d), cosine = ccos(*x + *d), of[4] = {sine, cosine, -sine, -cosine};
    cs[0] = of[(*quarters + 1) % 4];
    cs[1] = of[*quarters % 4];
}
LANE_INLINE lane lane_tanh(lane x)
{
    return ctanh(x);
}
#else

#define LANE_ROUNDER 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to an integer, kept in the low bits */

/* The bits of a single lane would go through other registers and back: there, several angles go together. */
#if LANES == 1 && defined __FMA__
enum { TRIG_ANGLES = 4 };
typedef double   trig __attribute__((vector_size(32)));
typedef uint64_t trig_word __attribute__((vector_size(32)));
#define trig_fused(a, b, c) ((trig)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define trig_of(type, x)    ((type){(x)[0], (x)[1], (x)[2], (x)[3]})
#elif LANES == 1
enum { TRIG_ANGLES = 2 };
typedef twin      trig;
typedef twin_word trig_word;
#define trig_fused(a, b, c) fused_twin(a, b, c)
#define trig_of(type, x)    ((type){(x)[0], (x)[1]})
#else
enum { TRIG_ANGLES = 1 };
typedef lane      trig;
typedef lane_word trig_word;
#define trig_fused(a, b, c) lane_fused(a, b, c)
#define trig_of(type, x)    ((x)[0] - (type){0})
#endif

/* c + a b with one rounding, c and b constants or not */
#define trig_add_mul(c, a, b) trig_fused(a, (b) - (trig){0}, (c) - (trig){0})

/* Of x + d and so many quarter turns, |d| < pi; a sum would lose digits of d to a large x. */
LANE_INLINE void trig_sincos(trig x, trig d, trig_word quarters, trig *s, trig *c)
{
    /* x + d = k pi/2 + r */
    trig      kr = trig_add_mul(LANE_ROUNDER, x + d, 0.63661977236758134308);
    trig_word k  = (trig_word)kr + quarters;
    trig      kd = kr - LANE_ROUNDER;
    trig      r  = trig_add_mul(x, kd, -1.57079632673412561417e+00) + d;
    r            = trig_add_mul(r, kd, -6.07710050630396597660e-11);
    r            = trig_add_mul(r, kd, -2.02226624879595063154e-21);

    /* sin r = r + r^3 P(r^2),  cos r = 1 + r^2 (-1/2 + r^2 Q(r^2)) */
    trig z = r * r, z2 = z * z;
    trig P     = trig_add_mul(-2.50507602534068634195e-08, z, 1.58969099521155010221e-10);
    P          = trig_add_mul(trig_add_mul(-1.98412698298579493134e-04, z, 2.75573137070700676789e-06), z2, P);
    P          = trig_add_mul(trig_add_mul(-1.66666666666666324348e-01, z, 8.33333333332248946124e-03), z2, P);
    trig Q     = trig_add_mul(2.08757232129817482790e-09, z, -1.13596475577881948265e-11);
    Q          = trig_add_mul(trig_add_mul(2.48015872894767294178e-05, z, -2.75573143513906633035e-07), z2, Q);
    Q          = trig_add_mul(trig_add_mul(4.16666666666666019037e-02, z, -1.38888888888741095749e-03), z2, Q);
    trig sin_r = trig_add_mul(r, r * z, P);
    trig cos_r = trig_add_mul(1.0, z, trig_add_mul(-0.5, z, Q)); /* what is rounded inside is at most 1/3 of the end */

    /* quadrant k mod 4: odd ones exchange the two; bit 1 of k, of k + 1, is the sign */
    const trig_word sign = (trig_word){0} + (UINT64_C(1) << 63);
    trig_word       bs = (trig_word)sin_r, bc = (trig_word)cos_r, other = (bs ^ bc) & -(k & 1), ks = k << 62;
    *s = (trig)((bs ^ other) ^ (ks & sign));
    *c = (trig)((bc ^ other) ^ ((ks + (UINT64_C(1) << 62)) & sign));
}

/* Cosine and sine of each of TRIG_ANGLES such angles, one behind the other. */
LANE_INLINE void lane_turns(const lane *x, const double *d, const uint64_t *quarters, lane *cs)
{
    trig s, c;
    trig_sincos(trig_of(trig, x), trig_of(trig, d), trig_of(trig_word, quarters), &s, &c);
#if LANES == 1
#pragma GCC unroll 4
    for (int k = 0; k < TRIG_ANGLES; k++)
        *(twin *)(void *)(cs + 2 * k) = (twin){c[k], s[k]};
#else
    cs[0] = c, cs[1] = s;
#endif
}

/* e^y - 1 for |y| <= 44: y = k ln 2 + r, e^y - 1 = 2^k (e^r - 1) + (2^k - 1), Taylor's series on |r| <= 0.35 */
LANE_INLINE lane lane_expm1(lane y)
{
    lane      kr  = add_mul(LANE_ROUNDER, 1.44269504088896338700, y);
    lane_mask k   = lane_bits(kr) - lane_bits(lane_of(LANE_ROUNDER));
    lane      kd  = kr - LANE_ROUNDER;
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

/* tanh x = (e^2x - 1) / (e^2x + 1); beyond |x| = 22 it is 1 to the last bit */
LANE_INLINE lane lane_tanh(lane x)
{
    lane a = lane_abs(x);
    a      = lane_select(lane_less(a, lane_of(22)), a, lane_of(22));
    lane e = lane_expm1(a + a);
    lane t = e / (e + 2.0);
    return lane_select(lane_less(x, lane_of(0)), -t, t);
}
#endif
