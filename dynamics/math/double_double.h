/* double_double.h - sine, cosine, angle and length for the constants of models, rounded from twice the digits. A
 * mathematics library rounds these as it may, and differently between versions and processors; here nothing but
 * operations that IEEE 754 rounds in one way is used, so that a document gives the same model on every machine. */
#pragma once

/* A number as a sum, of which the second is at most half a unit of the first's last digit. */
typedef struct dyn_double_double {
    double high, low;
} dyn_double_double;

/* Of an angle, |angle| <= DYN_MAX_ANGLE; errors are below 1e-29. */
void dyn_cosine_sine(double angle, dyn_double_double *cosine, dyn_double_double *sine);

/* a x + b y, rounded once. */
double dyn_double_double_dot(dyn_double_double a, double x, dyn_double_double b, double y);

/* The angle of the direction (cosine, sine), a vector of unit length but for rounding, -pi to pi. */
double dyn_angle(double sine, double cosine);

/* sqrt(x^2 + y^2), without overflow of the squares. */
double dyn_length(double x, double y);
