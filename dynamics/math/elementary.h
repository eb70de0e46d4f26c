/* elementary.h - declares sine, cosine and inverse functions of single angles with the same bits on every processor.
 * Mathematics libraries choose their code by the processor: those of glibc 2.36 differ in the last bit between
 * processors with and without fused multiply-add. Errors are at most 2 units in the last place. */
#pragma once

/* Computes sine and cosine of `angle`, in rad. Beyond 1e5 rad the results are those of the C library, which depend on
 * the processor. */
void dyn_sine_cosine(double angle, double *sine, double *cosine);

/* The angle of the vector (x, y), from -pi to pi; the special cases are those of atan2(). */
double dyn_atan2(double y, double x);

/* The angle between 0 and pi whose cosine is x; NaN for |x| > 1. */
double dyn_acos(double x);
