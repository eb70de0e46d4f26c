/* series.h - computes with truncated power series in time, x(t) = x_0 + x_1 t + ... + x_(n-1) t^(n-1).
 *
 * A series is an array of n lanes; x_k is the k-th derivative at t = 0 over k!. A vector is three series one after the
 * other, a matrix nine, row by row. Method: Griewank & Walther (2008), ch. 13. */
#pragma once
#include "trig.h"

static inline void series_clear(size_t n, lane *z)
{
    for (size_t k = 0; k < n; k++)
        z[k] = lane_of(0);
}

/* z += factor x; the factor is a constant of the model */
static inline void series_add_scaled(size_t n, const lane *x, double factor, lane *z)
{
    for (size_t k = 0; k < n && factor != 0; k++)
        z[k] = add_mul(z[k], factor, x[k]);
}

/* Returns `sum` plus coefficient k of the product x y (Cauchy's product): sum_i x_i y_(k-i). */
LANE_INLINE lane series_add_term(size_t k, lane sum, const lane *x, const lane *y)
{
    for (size_t i = 0; i <= k; i++)
        sum = add_mul(sum, x[i], y[k - i]);
    return sum;
}
LANE_INLINE lane series_subtract_term(size_t k, lane sum, const lane *x, const lane *y)
{
    for (size_t i = 0; i <= k; i++)
        sum = sub_mul(sum, x[i], y[k - i]);
    return sum;
}

/* z += x y, or z -= x y; z must be neither x nor y. */
static inline void series_add_product(size_t n, const lane *x, const lane *y, lane *z)
{
    for (size_t k = 0; k < n; k++)
        z[k] = series_add_term(k, z[k], x, y);
}
static inline void series_subtract_product(size_t n, const lane *x, const lane *y, lane *z)
{
    for (size_t k = 0; k < n; k++)
        z[k] = series_subtract_term(k, z[k], x, y);
}

/* z = x', the time derivative. n coefficients of x' need n + 1 coefficients of x. z may be x. */
static inline void series_rate(size_t n, const lane *x, lane *z)
{
    for (size_t k = 0; k < n; k++)
        z[k] = (double)(k + 1) * x[k + 1];
}

/* Returns coefficient k of the integral of x' y, sum_i i x_i y_(k-i) / k, from coefficients 1 to k of x and 0 to k - 1
 * of y. */
LANE_INLINE lane series_integral(size_t k, const lane *x, const lane *y)
{
    lane sum = lane_of(0);
    for (size_t i = 1; i <= k; i++)
        sum = add_mul(sum, (double)i * x[i], y[k - i]);
    return sum / (double)k;
}

/* Computes coefficients 1 to n - 1 of c = cos(x + constant) and s = sin(x + constant) from coefficient 0 of each, by c'
 * = -s x' and s' = c x'. */
static inline void series_cosine_sine(size_t n, const lane *x, lane *c, lane *s)
{
    for (size_t k = 1; k < n; k++) {
        c[k] = -series_integral(k, x, s);
        s[k] = series_integral(k, x, c);
    }
}

/* exp(y) for 0 <= y <= 44. */
LANE_INLINE lane series_exp(lane y)
{
#if defined DYN_EXTENDED
    return expl(y);
#elif defined DYN_COMPLEX
    return cexp(y);
#else
    return lane_expm1(y) + 1.0;
#endif
}

/* Returns min(x, bound). Sets *factor to 1 if x < bound, else to 0. */
LANE_INLINE lane series_bounded(lane x, double bound, lane *factor)
{
    const lane_mask within = lane_less(x, lane_of(bound));
    *factor                = lane_select(within, lane_of(1), lane_of(0));
    return lane_select(within, x, lane_of(bound));
}

/* Computes t = tanh x by t' = u x', u' = -2 t t', with u = 1 - t^2 = 4 e^2|x| / (1 + e^2|x|)^2. In this form u keeps
 * all digits if t rounds to 1, which matters since higher derivatives grow with powers of x'. `u` is scratch for n
 * coefficients. */
static inline void series_tanh(size_t n, const lane *x, lane *u, lane *t)
{
    lane factor, a = series_bounded(lane_abs(x[0]), 22, &factor), e = series_exp(a + a), sum = e + 1.0;
    t[0] = lane_tanh(x[0]);
    u[0] = factor * (4.0 * (e / (sum * sum)));
    for (size_t k = 1; k < n; k++) {
        t[k] = series_integral(k, x, u);
        u[k] = -2.0 * series_integral(k, t, t);
    }
}

/* Computes g = exp(-x^2) by g' = (-x^2)' g. `square` receives the series of -x^2. */
static inline void series_gauss(size_t n, const lane *x, lane *square, lane *g)
{
    lane factor, a = series_bounded(lane_abs(x[0]), 6.6, &factor);
    series_clear(n, square);
    series_subtract_product(n, x, x, square);
    g[0] = factor / series_exp(a * a);
    for (size_t k = 1; k < n; k++)
        g[k] = series_integral(k, square, g);
}

/* --- vectors and matrices --------------------------------------------------------------------------------------- */

/* Number of coefficients that are computed, and distance in memory, in lanes, between the series of two entries of a
 * vector or matrix. */
typedef struct series_size {
    size_t n, stride;
} series_size;

/* y += M x; x is a constant of the model */
static inline void series_add_rotated_const(series_size z, const lane *M, const double x[3], lane *y)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            series_add_scaled(z.n, M + (3 * i + j) * z.stride, x[j], y + i * z.stride);
}

/* y += M x */
static inline void series_add_rotated(series_size z, const lane *M, const lane *x, lane *y)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            series_add_product(z.n, M + (3 * i + j) * z.stride, x + j * z.stride, y + i * z.stride);
}

/* y += a x b */
static inline void series_add_cross(series_size z, const lane *a, const lane *b, lane *y)
{
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3 * z.stride, k = (i + 2) % 3 * z.stride;
        series_add_product(z.n, a + j, b + k, y + i * z.stride);
        series_subtract_product(z.n, a + k, b + j, y + i * z.stride);
    }
}

/* Adds to y the axial vector of the skew-symmetric matrix A B^T - B A^T. With A = B' it is twice the angular velocity
 * of the axes B. With A = R'' and B = R E, where E is the second moment of a body, it is the integral of x cross x''
 * over the mass at x = R r. */
static inline void series_add_axial(series_size z, const lane *A, const lane *B, lane *y)
{
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3, k = (i + 2) % 3;
        for (size_t l = 0; l < 3; l++) {
            series_add_product(z.n, A + (3 * k + l) * z.stride, B + (3 * j + l) * z.stride, y + i * z.stride);
            series_subtract_product(z.n, A + (3 * j + l) * z.stride, B + (3 * k + l) * z.stride, y + i * z.stride);
        }
    }
}
