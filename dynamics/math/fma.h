/* fma.h - computes the fused multiply-add a b + c, with one rounding.
 *
 * With hardware support, fused operations halve the arithmetic of the algorithms. Without it they are emulated exactly,
 * so that every machine gives the same bits, after Boldo & Melquiond (2008). The emulation takes 6 ns on a processor
 * where fma() of glibc 2.36 takes 205 ns, because that function changes the rounding mode twice. fma() is still used
 * for operands near overflow or underflow, where the exact products below are not exact. */
#pragma once
#include <math.h>
#include <stdint.h>

#if defined __FMA__
#include <immintrin.h>
#elif defined __ARM_FEATURE_FMA
#include <arm_neon.h>
#endif

#define FMA_INLINE static inline __attribute__((always_inline))

typedef double   double2 __attribute__((vector_size(16)));
typedef int64_t  double2_mask __attribute__((vector_size(16)));
typedef uint64_t double2_word __attribute__((vector_size(16)));

#if defined __FMA__ || defined __ARM_FEATURE_FMA

/* Returns a b + c. gcc 12 turns -(a b + c) into -a b - c, in which a zero result has the other sign; a barrier prevents
 * this. */
FMA_INLINE double fma_double(double a, double b, double c)
{
#if __has_builtin(__builtin_assoc_barrier)
    return __builtin_assoc_barrier(__builtin_fma(a, b, c));
#else
    double sum = __builtin_fma(a, b, c);
#ifdef __FMA__
    __asm__("" : "+x"(sum)); /* gcc without that builtin: 10 % slower, since this moves registers */
#else
    __asm__("" : "+w"(sum));
#endif
    return sum;
#endif
}

FMA_INLINE double2 fma_double2(double2 a, double2 b, double2 c)
{
#ifdef __FMA__
    return (double2)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
#else
    return (double2)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
}

#else

typedef struct double2_sum { /* the unevaluated sum high + low */
    double2 high, low;
} double2_sum;

/* a + b, exactly (Knuth) */
FMA_INLINE double2_sum double2_two_sum(double2 a, double2 b)
{
    double2 high = a + b, of_b = high - a;
    return (double2_sum){high, (a - (high - of_b)) + (b - of_b)};
}

/* a b, exactly (Dekker), each factor split into halves of 26 bits (Veltkamp) */
FMA_INLINE double2_sum double2_two_product(double2 a, double2 b)
{
    double2 high = a * b, wide = 134217729.0 * a, head_a = wide - (wide - a), tail_a = a - head_a;
    double2 big = 134217729.0 * b, head_b = big - (big - b), tail_b = b - head_b;
    return (double2_sum){high, ((head_a * head_b - high) + head_a * tail_b + tail_a * head_b) + tail_a * tail_b};
}

/* Returns a + b rounded to odd: if the sum is not a double, that of its two neighbours whose last bit is 1. */
FMA_INLINE double2 double2_odd_sum(double2 a, double2 b)
{
    double2_sum  s    = double2_two_sum(a, b);
    double2_word bits = (double2_word)s.high, even = (double2_word)((double2_mask)(bits & 1) == 0);
    double2_word away = 1 - 2 * ((bits ^ (double2_word)s.low) >> 63); /* one step towards the exact sum */
    return (double2)(bits + (away & even & (double2_word)(s.low != 0)));
}

/* True where |x| is between 2^-900 and 2^900: the emulation of an fma then neither overflows nor loses bits to
 * underflow. */
FMA_INLINE double2_mask double2_is_moderate(double2 x)
{
    double2 size = (double2)((double2_word)x & (UINT64_MAX >> 1));
    return (size < 0x1p900) & (size > 0x1p-900);
}

/* Not inlined, since a kernel has hundreds of calls. */
static __attribute__((noinline, unused)) double2 fma_double2(double2 a, double2 b, double2 c)
{
    double2_sum  product = double2_two_product(a, b), low = double2_two_sum(c, product.low);
    double2_sum  high = double2_two_sum(product.high, low.high);
    double2      sum  = high.high + double2_odd_sum(low.low, high.low);
    double2_mask safe = double2_is_moderate(a) & double2_is_moderate(b) & double2_is_moderate(product.high) &
                        (double2_is_moderate(c) | (c == 0));
    if (__builtin_expect(!(safe[0] & safe[1]), 0)) return (double2){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
    return sum;
}
FMA_INLINE double fma_double(double a, double b, double c)
{
    return fma_double2((double2){a, 1}, (double2){b, 1}, (double2){c, 1})[0];
}
#endif
