/* double_double.h - declares sine, cosine, angle and length with double-double accuracy, for the constants of models.
 * Mathematics libraries round these functions differently between versions and processors. This code uses only
 * operations that IEEE 754 defines exactly, so a document gives the same model on every machine. */
#pragma once

/* A number as the sum high + low, where |low| is at most half a unit in the last place of high. */
typedef struct dyn_double_double {
    double high, low;
} dyn_double_double;

/* Cosine and sine of an angle, |angle| <= DYN_MAX_ANGLE; errors are below 1e-29. */
void dyn_cosine_sine(double angle, dyn_double_double *cosine, dyn_double_double *sine);

/* a x + b y, rounded once. */
double dyn_double_double_dot(dyn_double_double a, double x, dyn_double_double b, double y);

/* The angle of the vector (cosine, sine), which has unit length up to rounding; -pi to pi. */
double dyn_angle(double sine, double cosine);

/* sqrt(x^2 + y^2), without overflow of the squares. */
double dyn_length(double x, double y);
