/* triple.h - defines `triple`: the x, y and z components of a vector, computed together.
 *
 * With several lanes a triple is a vec3. With one lane, on processors with fused operations on vectors of four doubles,
 * it is one such vector, so that one state fills the vector registers too. Operations act on each component by itself,
 * so that the type changes no bits of the results. */
#pragma once
#include "spatial.h"

#if LANES == 1 && defined __FMA__ && !defined DYN_UNFUSED && !defined LANE_FOR_TESTS

typedef double triple __attribute__((vector_size(32))); /* the fourth component has no meaning */

LANE_INLINE triple triple_of(vec3 a)
{
    return (triple){a.x, a.y, a.z, 0};
}
LANE_INLINE vec3 triple_vec3(triple a)
{
    return (vec3){a[0], a[1], a[2]};
}
LANE_INLINE triple triple_add(triple a, triple b)
{
    return a + b;
}
LANE_INLINE triple triple_sub(triple a, triple b)
{
    return a - b;
}
LANE_INLINE triple triple_negative(triple a)
{
    return -a;
}
/* Returns a triple with k in every component; k - 0 keeps the sign of k = -0. */
LANE_INLINE triple triple_same(lane k)
{
    return k - (triple){0};
}
LANE_INLINE triple triple_scale(triple a, lane k)
{
    return a * triple_same(k);
}
/* s + k a */
LANE_INLINE triple triple_add_scaled(triple s, triple a, lane k)
{
    return (triple)_mm256_fmadd_pd((__m256d)triple_same(k), (__m256d)a, (__m256d)s);
}
/* s - k a */
LANE_INLINE triple triple_sub_scaled(triple s, triple a, lane k)
{
    return (triple)_mm256_fnmadd_pd((__m256d)triple_same(k), (__m256d)a, (__m256d)s);
}
/* (a.y, a.z, a.x) */
LANE_INLINE triple triple_next(triple a)
{
    return (triple)_mm256_permute4x64_pd((__m256d)a, _MM_SHUFFLE(3, 0, 2, 1));
}
/* (a.z, a.x, a.y) */
LANE_INLINE triple triple_previous(triple a)
{
    return (triple)_mm256_permute4x64_pd((__m256d)a, _MM_SHUFFLE(3, 1, 0, 2));
}
LANE_INLINE triple triple_cross(triple a, triple b)
{
    const triple product = triple_next(a) * triple_previous(b);
    return (triple)_mm256_fnmadd_pd((__m256d)triple_previous(a), (__m256d)triple_next(b), (__m256d)product);
}

#else

typedef vec3       triple;
LANE_INLINE triple triple_of(vec3 a)
{
    return a;
}
LANE_INLINE vec3 triple_vec3(triple a)
{
    return a;
}
LANE_INLINE triple triple_add(triple a, triple b)
{
    return add(a, b);
}
LANE_INLINE triple triple_sub(triple a, triple b)
{
    return sub(a, b);
}
LANE_INLINE triple triple_negative(triple a)
{
    return (triple){-a.x, -a.y, -a.z};
}
LANE_INLINE triple triple_scale(triple a, lane k)
{
    return scale(a, k);
}
/* s + k a */
LANE_INLINE triple triple_add_scaled(triple s, triple a, lane k)
{
    return add_scaled(s, a, k);
}
/* s - k a */
LANE_INLINE triple triple_sub_scaled(triple s, triple a, lane k)
{
    return (triple){sub_mul(s.x, k, a.x), sub_mul(s.y, k, a.y), sub_mul(s.z, k, a.z)};
}
LANE_INLINE triple triple_cross(triple a, triple b)
{
    return cross(a, b);
}

#endif
