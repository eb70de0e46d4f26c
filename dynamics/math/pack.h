/* pack.h - defines `pack`, a vector of neighbouring entries of an array of lanes, which are computed together.
 *
 * With several lanes a pack is one lane. With one lane it is a vector of PACK doubles, so that one state fills the
 * vector registers too. Operations act on each entry by itself, so that results have the same bits for every PACK. */
#pragma once
#include "lane.h"

#if LANES > 1 || defined LANE_FOR_TESTS
enum { PACK = 1 };
typedef lane  pack;
#elif defined __AVX2__
enum { PACK = 4 };
typedef double pack __attribute__((vector_size(32)));
#else
enum { PACK = 2 };
typedef double2 pack;
#endif

/* A pack at an address that is aligned for a lane, but not necessarily for the whole pack. */
typedef pack pack_in_array __attribute__((aligned(sizeof(lane)), may_alias));

LANE_INLINE pack pack_load(const lane *entries)
{
    return *(const pack_in_array *)(const void *)entries;
}

LANE_INLINE void pack_store(lane *entries, pack x)
{
    *(pack_in_array *)(void *)entries = x;
}

LANE_INLINE pack pack_zero(void)
{
#if LANES > 1 || defined LANE_FOR_TESTS
    return lane_of(0);
#else
    return (pack){0};
#endif
}

/* Load or store the first `entries` entries of a pack, at most PACK; entries that are not loaded are zero. */
LANE_INLINE pack pack_load_some(const lane *from, int entries)
{
    if (PACK == 1 || entries >= PACK) return pack_load(from);
    pack x = pack_zero();
#if LANES == 1 && !defined LANE_FOR_TESTS
    for (int e = 0; e < PACK - 1; e++)
        if (e < entries) x[e] = from[e];
#endif
    return x;
}
LANE_INLINE void pack_store_some(lane *to, pack x, int entries)
{
    if (PACK == 1 || entries >= PACK) {
        pack_store(to, x);
        return;
    }
#if LANES == 1 && !defined LANE_FOR_TESTS
    for (int e = 0; e < PACK - 1; e++)
        if (e < entries) to[e] = x[e];
#endif
}

/* Stores the first `entries` entries of a pack to addresses `stride` lanes apart. */
LANE_INLINE void pack_scatter(lane *to, size_t stride, pack x, int entries)
{
#if LANES == 1 && !defined LANE_FOR_TESTS
    for (int e = 0; e < PACK; e++)
        if (e < entries) to[(size_t)e * stride] = x[e];
#else
    (void)stride, (void)entries;
    *to = x;
#endif
}

/* Returns a pack with x in every entry. */
LANE_INLINE pack pack_of(lane x)
{
#if LANES > 1 || defined LANE_FOR_TESTS
    return x;
#else
    return x - (pack){0}; /* keeps the sign of -0 */
#endif
}

/* c + a b, entry by entry, rounded as add_mul() rounds */
LANE_INLINE pack pack_add_mul(pack c, pack a, pack b)
{
#if LANES > 1 || defined LANE_FOR_TESTS
    return lane_fma(a, b, c);
#elif defined DYN_UNFUSED
    return a * b + c;
#elif defined __AVX2__
    return (pack)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return fma_double2(a, b, c);
#endif
}

/* c - a b, entry by entry, rounded as sub_mul() rounds */
LANE_INLINE pack pack_sub_mul(pack c, pack a, pack b)
{
#if LANES > 1 || defined LANE_FOR_TESTS
    return lane_fnma(a, b, c);
#elif defined DYN_UNFUSED
    return c - a * b;
#elif defined __AVX2__
    return (pack)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return fma_double2(a, -b, c);
#endif
}
