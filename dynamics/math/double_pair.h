/* double_pair.h - products of columns of numbers, two neighbours at a time. No product is fused and the order of sums
 * is fixed, so that every processor gives the same bits. */
#pragma once
#include <stddef.h>

typedef double      double_pair __attribute__((vector_size(16)));
typedef double_pair double_pair_in_array __attribute__((aligned(sizeof(double)), may_alias));

static inline double_pair pair_load(const double *x)
{
    return *(const double_pair_in_array *)(const void *)x;
}
static inline void pair_store(double *x, double_pair y)
{
    *(double_pair_in_array *)(void *)x = y;
}

/* Returns the dot product a . b; the products of even and of odd entries are summed separately. */
static inline double pair_dot(const double *a, const double *b, size_t n)
{
    double_pair sum = {0, 0};
    size_t      i   = 0;
    for (; i + 2 <= n; i += 2)
        sum += pair_load(a + i) * pair_load(b + i);
    return i < n ? (sum[0] + sum[1]) + a[i] * b[i] : sum[0] + sum[1];
}

/* y += a x */
static inline void pair_add_scaled(double *y, double a, const double *x, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2)
        pair_store(y + i, pair_load(y + i) + a * pair_load(x + i));
    if (i < n) y[i] += a * x[i];
}
