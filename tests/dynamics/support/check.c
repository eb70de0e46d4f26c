/* check.c - compares numbers with tolerances (check.h). */
#include "check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double largest(size_t n, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

/* With CHECK_VERBOSE=1 in the environment, prints the error of every comparison in units of its tolerance. The
 * tolerances were chosen that way. */
static void report(const char *what, uint64_t seed, double error, double allowed)
{
    if (getenv("CHECK_VERBOSE"))
        fprintf(stderr, "# %s seed %llu: %.3g of the tolerance\n", what, (unsigned long long)seed, error / allowed);
}

void check_close_scaled(const char *what, uint64_t seed, size_t n, const double *got, const double *expected,
                        double tolerance, double scale)
{
    double size = fmax(largest(n, expected), scale), allowed = tolerance * size, worst = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs(got[i] - expected[i]);
        if (!(error <= allowed))
            fail_msg("%s, seed %llu: entry %zu of %zu is %.17g, expected %.17g (off by %.3g, allowed %.3g)", what,
                     (unsigned long long)seed, i, n, got[i], expected[i], error, allowed);
        worst = fmax(worst, error);
    }
    report(what, seed, worst, allowed);
}

void check_close(const char *what, uint64_t seed, size_t n, const double *got, const double *expected, double tolerance)
{
    check_close_scaled(what, seed, n, got, expected, tolerance, 0);
}

double largest_row_sum(const double *M, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += fabs(M[i * n + j]);
        most = fmax(most, sum);
    }
    return most;
}
