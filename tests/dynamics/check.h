/* check.h - what the tests of this folder compare with, and cmocka with what it needs. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* |got - expected| <= tolerance * max(|expected|, scale) for the largest entry of `expected`; NaN never passes.
 * `what` and `seed` name the case when it does not. */
void check_close_scaled(const char *what, uint64_t seed, size_t n, const double *got, const double *expected,
                        double tolerance, double scale);

/* The same with scale 0: relative to the largest expected entry alone. */
void check_close(const char *what, uint64_t seed, size_t n, const double *got, const double *expected,
                 double tolerance);

/* The largest magnitude among n entries. */
double largest(size_t n, const double *x);

/* The largest sum of magnitudes along a row of M, n x n. */
double largest_row_sum(const double *M, size_t n);
