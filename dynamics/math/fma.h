/* fma.h - a b + c, rounded once.
 *
 * Where the processor has it, half the arithmetic of the algorithms is free; where it has not, it is computed exactly
 * all the same, so that every machine gives the same bits: after Boldo & Melquiond (2008). That takes 6 ns on a
 * processor where the C library's takes 205 (glibc 2.36), which changes the rounding mode and back; it stays the way
 * for operands near overflow and underflow, where the exact products that follow are not exact. */
#pragma once
#include <math.h>
#include <stdint.h>

#if defined __FMA__
#include <immintrin.h>
#elif defined __ARM_FEATURE_FMA
#include <arm_neon.h>
#endif

#define FUSED_INLINE static inline __attribute__((always_inline))

typedef double   twin __attribute__((vector_size(16)));
typedef int64_t  twin_mask __attribute__((vector_size(16)));
typedef uint64_t twin_word __attribute__((vector_size(16)));

#if defined __FMA__ || defined __ARM_FEATURE_FMA

/* gcc 12 makes -(a b + c) into -a b - c, whose zero has the other sign: unless it must not look through. */
FUSED_INLINE double fused(double a, double b, double c)
{
#if __has_builtin(__builtin_assoc_barrier)
    return __builtin_assoc_barrier(__builtin_fma(a, b, c));
#else
    double sum = __builtin_fma(a, b, c);
#ifdef __FMA__
    __asm__("" : "+x"(sum)); /* costs a tenth: moves between registers */
#else
    __asm__("" : "+w"(sum));
#endif
    return sum;
#endif
}

FUSED_INLINE twin fused_twin(twin a, twin b, twin c)
{
#ifdef __FMA__
    return (twin)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
#else
    return (twin)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
}

#else

typedef struct twin_sum { /* unevaluated: high + low */
    twin high, low;
} twin_sum;

/* a + b, exactly (Knuth) */
FUSED_INLINE twin_sum twin_two_sum(twin a, twin b)
{
    twin high = a + b, of_b = high - a;
    return (twin_sum){high, (a - (high - of_b)) + (b - of_b)};
}

/* a b, exactly (Dekker), each factor split into halves of 26 bits (Veltkamp) */
FUSED_INLINE twin_sum twin_two_product(twin a, twin b)
{
    twin high = a * b, wide = 134217729.0 * a, at = wide - (wide - a), rest = a - at;
    twin big = 134217729.0 * b, head = big - (big - b), tail = b - head;
    return (twin_sum){high, ((at * head - high) + at * tail + rest * head) + rest * tail};
}

/* a + b rounded to odd: what is not exact takes, of its two neighbours, the one whose last bit is set. */
FUSED_INLINE twin twin_odd_sum(twin a, twin b)
{
    twin_sum  s    = twin_two_sum(a, b);
    twin_word bits = (twin_word)s.high, even = (twin_word)((twin_mask)(bits & 1) == 0);
    twin_word away = 1 - 2 * ((bits ^ (twin_word)s.low) >> 63); /* one step towards the rest */
    return (twin)(bits + (away & even & (twin_word)(s.low != 0)));
}

/* All of them such that nothing above overflows or is lost to underflow. */
FUSED_INLINE twin_mask twin_moderate(twin x)
{
    twin size = (twin)((twin_word)x & (UINT64_MAX >> 1));
    return (size < 0x1p900) & (size > 0x1p-900);
}

/* Called, not inlined: a kernel has hundreds of these. */
static __attribute__((noinline, unused)) twin fused_twin(twin a, twin b, twin c)
{
    twin_sum  product = twin_two_product(a, b), low = twin_two_sum(c, product.low);
    twin_sum  high = twin_two_sum(product.high, low.high);
    twin      sum  = high.high + twin_odd_sum(low.low, high.low);
    twin_mask safe = twin_moderate(a) & twin_moderate(b) & twin_moderate(product.high) & (twin_moderate(c) | (c == 0));
    if (__builtin_expect(!(safe[0] & safe[1]), 0)) return (twin){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
    return sum;
}
FUSED_INLINE double fused(double a, double b, double c)
{
    return fused_twin((twin){a, 1}, (twin){b, 1}, (twin){c, 1})[0];
}
#endif
