/* lane.h - defines `lane`, the number type of the algorithms: a vector of LANES numbers, one for each of LANES states.
 *
 * With LANES = 1 a lane is a double, otherwise a vector of the target's width. + - * / act on each element, and so do
 * add_mul() and sub_mul(), which round once, or with DYN_UNFUSED twice: the product and the sum. With DYN_COMPLEX
 * (tests only, LANES = 1) a lane is a complex number, for derivatives by the complex step: the imaginary part of f(x +
 * i h) is h df/dx. Comparisons then use the real part. With DYN_EXTENDED (tests only, LANES = 1) a lane is a long
 * double, for measuring rounding errors.
 *
 * No operation mixes lanes. Only add_mul(), sub_mul() and functions built on them are fused (-ffp-contract=off), since
 * compilers would fuse differently at each width. So all widths of an arithmetic class, fused or unfused, give the same
 * bits. */
#pragma once
#include "fma.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANE_INLINE static inline __attribute__((always_inline))
/* For functions that handle rare cases. If they were inlined, they would take registers from the common path. */
#define LANE_NOINLINE    static __attribute__((noinline, unused))
#define LANE_JOIN_(a, b) a##_##b
#define LANE_JOIN(a, b)  LANE_JOIN_(a, b)
#define LANE_NAME(name)  LANE_JOIN(dyn_##name, TARGET) /* for example dyn_bias_avx2 */

#ifdef DYN_COMPLEX
#include <complex.h>
#undef complex /* <complex.h> defines `complex`, which is here the name of a target for tests */
#undef I       /* algorithms use I for inertias */
typedef double _Complex lane;
typedef int64_t lane_mask; /* 0 or -1 in every lane */
#define LANE_FOR_TESTS
#define lane_real(x) creal(x)
#define lane_root(x) csqrt(x)
#elif defined DYN_EXTENDED
typedef long double lane;
typedef int64_t     lane_mask;
#define LANE_FOR_TESTS
#define lane_real(x) (x)
#define lane_root(x) sqrtl(x)
#elif LANES == 1
typedef double   lane;
typedef int64_t  lane_mask;
typedef uint64_t lane_word; /* unsigned, for shifts into the sign bit */
#else
typedef double   lane __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t  lane_mask __attribute__((vector_size(LANES * sizeof(int64_t))));
typedef uint64_t lane_word __attribute__((vector_size(LANES * sizeof(uint64_t))));
#endif

/* Number of vector registers of the processor. */
#if defined __AVX512F__ || defined __aarch64__
enum { LANE_REGISTERS = 32 };
#else
enum { LANE_REGISTERS = 16 };
#endif

/* Returns x in every lane. The difference x - 0 keeps the sign of x = -0; the sum 0 + x would not. */
LANE_INLINE lane lane_of(double x)
{
    return x - (lane){0};
}

LANE_INLINE lane lane_same(lane x)
{
    return x;
}

#if defined LANE_FOR_TESTS || defined DYN_UNFUSED
LANE_INLINE lane                      lane_fma(lane a, lane b, lane c)
{
    return a * b + c;
}
#elif LANES == 1
LANE_INLINE lane lane_fma(lane a, lane b, lane c)
{
    return fma_double(a, b, c);
}
#elif LANES == 2
LANE_INLINE lane lane_fma(lane a, lane b, lane c)
{
    return fma_double2(a, b, c);
}
#elif LANES == 4
LANE_INLINE lane lane_fma(lane a, lane b, lane c)
{
    return (lane)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
LANE_INLINE lane lane_fnma(lane a, lane b, lane c)
{
    return (lane)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#else
LANE_INLINE lane lane_fma(lane a, lane b, lane c)
{
    return (lane)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
LANE_INLINE lane lane_fnma(lane a, lane b, lane c)
{
    return (lane)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#endif
/* Returns c - a b. An own function for it keeps the compiler from computing -b and holding it in a register, if the
 * processor has an instruction for c - a b. */
#ifdef DYN_UNFUSED
LANE_INLINE lane lane_fnma(lane a, lane b, lane c)
{
    return c - a * b;
}
#elif LANES < 4
LANE_INLINE lane lane_fnma(lane a, lane b, lane c)
{
    return lane_fma(a, -b, c);
}
#endif

/* c + a b, c - a b and -c - a b: one rounding in the fused class. Each argument is a lane or a constant of the model.
 */
#define LANE(x)              _Generic((x), lane : lane_same, default : lane_of)(x)
#define add_mul(c, a, b)     lane_fma(LANE(a), LANE(b), LANE(c))
#define sub_mul(c, a, b)     lane_fnma(LANE(a), LANE(b), LANE(c))
#define neg_sub_mul(c, a, b) lane_fnma(LANE(a), LANE(b), -LANE(c))

#ifdef LANE_FOR_TESTS
LANE_INLINE lane_mask lane_less(lane a, lane b)
{
    return -(int64_t)(lane_real(a) < lane_real(b));
}
LANE_INLINE lane lane_select(lane_mask m, lane x, lane y)
{
    return m ? x : y;
}
LANE_INLINE lane lane_sqrt(lane x)
{
    return lane_root(x);
}
#elif LANES == 1
LANE_INLINE lane_mask lane_less(lane a, lane b)
{
    return -(int64_t)(a < b);
}
LANE_INLINE lane_mask lane_bits(lane x)
{
    union {
        lane      x;
        lane_mask m;
    } u = {.x = x};
    return u.m;
}
LANE_INLINE lane lane_from_bits(lane_mask m)
{
    union {
        lane_mask m;
        lane      x;
    } u = {.m = m};
    return u.x;
}
LANE_INLINE lane lane_sqrt(lane x)
{
    return __builtin_sqrt(x);
}
#else
LANE_INLINE lane_mask lane_less(lane a, lane b)
{
    return (lane_mask)(a < b);
}
LANE_INLINE lane_mask lane_bits(lane x)
{
    return (lane_mask)x;
}
LANE_INLINE lane lane_from_bits(lane_mask m)
{
    return (lane)m;
}
#if LANES == 8
LANE_INLINE lane lane_sqrt(lane x)
{
    return (lane)_mm512_sqrt_pd((__m512d)x);
}
#elif LANES == 4
LANE_INLINE lane lane_sqrt(lane x)
{
    return (lane)_mm256_sqrt_pd((__m256d)x);
}
#else
LANE_INLINE lane lane_sqrt(lane x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = __builtin_sqrt(x[l]);
    return x;
}
#endif
#endif

#ifndef LANE_FOR_TESTS
/* m ? x : y, lane by lane */
LANE_INLINE lane lane_select(lane_mask m, lane x, lane y)
{
    return lane_from_bits((lane_bits(x) & m) | (lane_bits(y) & ~m));
}
#endif

/* True if the mask is set in some lane. */
LANE_INLINE bool lane_any(lane_mask m)
{
#if LANES == 1
    return m != 0;
#else
    for (int l = 0; l < LANES; l++)
        if (m[l]) return true;
    return false;
#endif
}

LANE_INLINE lane lane_abs(lane x)
{
    return lane_select(lane_less(x, lane_of(0)), -x, x);
}

/* lane_greater returns a < b ? b : a, and lane_size the absolute value of x (0 for -0), in one or two instructions. */
#if defined      LANE_FOR_TESTS
LANE_INLINE lane lane_greater(lane a, lane b)
{
    return lane_select(lane_less(a, b), b, a);
}
LANE_INLINE lane lane_size(lane x)
{
    return lane_abs(x);
}
#elif LANES == 1
LANE_INLINE lane lane_greater(lane a, lane b)
{
    return a < b ? b : a;
}
LANE_INLINE lane lane_size(lane x)
{
    return __builtin_fabs(x);
}
#else
LANE_INLINE lane lane_greater(lane a, lane b)
{
#if LANES == 8
    return (lane)_mm512_max_pd((__m512d)b, (__m512d)a);
#elif LANES == 4
    return (lane)_mm256_max_pd((__m256d)b, (__m256d)a);
#else
    return lane_select(lane_less(a, b), b, a);
#endif
}
LANE_INLINE lane lane_size(lane x)
{
    return lane_from_bits(lane_bits(x) & INT64_MAX);
}
#endif

/* sign(0) = 0 */
LANE_INLINE lane lane_sign(lane x)
{
    lane zero = lane_of(0);
    return lane_select(lane_less(zero, x), lane_of(1), lane_select(lane_less(x, zero), lane_of(-1), zero));
}

/* c + a b with an error of at most one unit in the last place of the result, even if c and a b cancel. */
#ifdef DYN_UNFUSED
/* Sets a = head + tail with at most 26 bits each, so that products of such parts are exact (Veltkamp, in Dekker
 * 1971). */
LANE_INLINE void lane_split(lane a, lane *head, lane *tail)
{
    lane wide = 134217729.0 * a;
    *head     = wide - (wide - a);
    *tail     = a - *head;
}
/* Adds the rounding errors of the product (Dekker 1971) and of the sum (Knuth 1997) at the end. These errors are not
 * finite above 1e300, where lane_split overflows. */
LANE_INLINE lane lane_add_product(lane c, lane a, lane b)
{
    lane head_a, tail_a, head_b, tail_b, product = a * b, sum = product + c, of_c = sum - product;
    lane_split(a, &head_a, &tail_a);
    lane_split(b, &head_b, &tail_b);
    lane lost  = ((head_a * head_b - product) + head_a * tail_b + tail_a * head_b) + tail_a * tail_b;
    lane error = lost + ((product - (sum - of_c)) + (c - of_c));
    return sum + lane_select(lane_less(lane_abs(error), lane_of(INFINITY)), error, lane_of(0));
}
#else
LANE_INLINE lane lane_add_product(lane c, lane a, lane b)
{
    return lane_fma(a, b, c);
}
#endif

/* 0 < x < infinity; false for NaN */
LANE_INLINE lane_mask lane_positive(lane x)
{
    return lane_less(lane_of(0), x) & lane_less(x, lane_of(INFINITY));
}
