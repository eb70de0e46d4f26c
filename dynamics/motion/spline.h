/* spline.h - evaluates the basis functions of B-splines and their derivatives.
 *
 * With knots t_0 <= t_1 <= ..., the functions of degree d that are not zero between t_i and t_i+1 are B_i-d,d to B_i,d:
 *
 *     w_k = B_k,d-1 / (t_k+d - t_k),   B_k,d = (u - t_k) w_k + (t_k+d+1 - u) w_k+1,   B'_k,d = d (w_k - w_k+1)
 *
 * (Cox 1972, de Boor 1972; Piegl & Tiller 1997, eqs. 2.5 and 2.7.) The denominators of these functions are never zero.
 * The GNU Scientific Library offers B-splines too, but its license, the GPL, does not suit this product. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
    DYN_SPLINE_DEGREE  = 7,                     /* the highest degree */
    DYN_SPLINE_SUPPORT = DYN_SPLINE_DEGREE + 1, /* largest number of basis functions that are not zero at a point */
    DYN_SPLINE_ORDERS  = 4                      /* a basis function and its first three derivatives */
};

/* A spline is the sum of n basis functions, each times its control point, defined from knot t_degree to knot t_n. */
typedef struct dyn_spline {
    size_t  degree, n;
    double *knots; /* [n + degree + 1], not decreasing, t_degree < t_n */
} dyn_spline;

/* Sets clamped knots from 0 to 1, evenly spaced inside: the spline begins at its first control point and ends at its
 * last. */
void dyn_spline_clamp(const dyn_spline *s);

/* Limits of the distances between knots, so that third powers of these distances and of their inverses neither overflow
 * nor underflow. NEAR is the least distance of neighbouring knots that differ, and the least t_n - t_degree; FAR is the
 * largest distance from the first knot to the last. */
#define DYN_SPLINE_NEAR 1e-100
#define DYN_SPLINE_FAR  1e100

/* Returns true if the knot vector is invalid. *at is then the index of the first invalid knot, and *what the reason:
 * the knot is less than the knot before, repeats too often, is too near to the knot before, is the last one and too far
 * from the first, or is t_n and too near to t_degree. */
typedef enum dyn_knots {
    DYN_KNOTS_FALL,
    DYN_KNOTS_REPEATED,
    DYN_KNOTS_NEAR,
    DYN_KNOTS_FAR,
    DYN_KNOTS_NO_RANGE
} dyn_knots;
bool dyn_spline_knots_fail(const dyn_spline *s, size_t *at, dyn_knots *what);

/* Evaluates the basis at a fraction 0 <= f <= 1 of the range from t_degree to t_n. Returns the index k of the first of
 * the degree + 1 functions that are not zero. basis[r][i] is the derivative of order r, with respect to f, of function
 * k + i. At a knot where a derivative jumps, its value is the limit from above; at the end of the range the limit from
 * below. */
size_t dyn_spline_basis(const dyn_spline *s, double fraction, double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT]);

/* dyn_spline_first returns the index of the first function that is not zero at a fraction. dyn_spline_piece evaluates
 * the polynomials of the span whose first nonzero function is `first`, like dyn_spline_basis. At both ends of the span
 * its values are the limits from inside. */
size_t dyn_spline_first(const dyn_spline *s, double fraction);
void   dyn_spline_piece(const dyn_spline *s, size_t first, double fraction,
                        double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT]);

/* Evaluates the derivatives of the results of dyn_spline_piece with respect to knot `knot`, at a constant fraction. If
 * knots coincide, the derivatives are those of the span's polynomials while knot `knot` moves away from the others. */
void dyn_spline_piece_by_knot(const dyn_spline *s, size_t first, double fraction, size_t knot,
                              double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT]);
