/* check.h - declares the comparisons of the tests in this folder, and includes cmocka with the headers it needs. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Checks |got - expected| <= tolerance * max(|expected|, scale), with the largest entry of `expected`; NaN never
 * passes. `what` and `seed` identify the case in the message. */
void check_close_scaled(const char *what, uint64_t seed, size_t n, const double *got, const double *expected,
                        double tolerance, double scale);

/* Checks |got - expected| <= tolerance * max |expected|: check_close_scaled with scale 0. */
void check_close(const char *what, uint64_t seed, size_t n, const double *got, const double *expected,
                 double tolerance);

/* Returns the largest magnitude among n entries. */
double largest(size_t n, const double *x);

/* Returns the norm of M (n x n) that is the largest sum of magnitudes along a row. */
double largest_row_sum(const double *M, size_t n);
