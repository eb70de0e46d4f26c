/* double_double.h - sine, cosine, angle and length for the constants of models, rounded from twice the digits. A
 * mathematics library rounds these as it may, and differently between versions and processors; here nothing but
 * operations that IEEE 754 rounds in one way is used, so that a document gives the same model on every machine. */
#pragma once

/* A number as a sum, of which the second is at most half a unit of the first's last digit. */
typedef struct dyn_digits {
    double high, low;
} dyn_digits;

/* Of an angle, |angle| <= DYN_MAX_ANGLE; errors are below 1e-29. */
void dyn_cosine_sine(double angle, dyn_digits *cosine, dyn_digits *sine);

/* a x + b y, rounded once. */
double dyn_digits_dot(dyn_digits a, double x, dyn_digits b, double y);

/* The angle of the direction (cosine, sine), a vector of unit length but for rounding, -pi to pi. */
double dyn_angle(double sine, double cosine);

/* sqrt(x^2 + y^2), without overflow of the squares. */
double dyn_length(double x, double y);
