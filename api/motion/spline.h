/* spline.h - B-splines: the basis functions of a knot vector at a point, and their derivatives.
 *
 * With knots t_0 <= t_1 <= ..., functions of degree d that are not zero between t_i and t_i+1 are B_i-d,d to B_i,d:
 *
 *     w_k = B_k,d-1 / (t_k+d - t_k),   B_k,d = (u - t_k) w_k + (t_k+d+1 - u) w_k+1,   B'_k,d = d (w_k - w_k+1)
 *
 * (Cox 1972, de Boor 1972; Piegl & Tiller 1997, eqs. 2.5 and 2.7.) The recursion's denominators are never
 * zero there. Written here because the library for it (GSL) is under the GPL, and this product is not. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
    API_SPLINE_DEGREE  = 7, /* the highest */
    API_SPLINE_SUPPORT = API_SPLINE_DEGREE + 1,
    API_SPLINE_ORDERS  = 4 /* values and three derivatives */
};

/* A function is the sum of n basis functions, each times its control point; from t_degree to t_n. */
typedef struct api_spline {
    size_t  degree, n;
    double *knots; /* [n + degree + 1], not decreasing, t_degree < t_n */
} api_spline;

/* Knots that make the spline begin in its first control point and end in its last, from 0 to 1, evenly spaced. */
void api_spline_clamp(const api_spline *s);

/* The least index of a knot at which the vector is no good, and in `what` why; false: all are good. */
typedef enum api_knots { API_KNOTS_FALL, API_KNOTS_NO_RANGE, API_KNOTS_REPEATED } api_knots;
bool api_spline_knots_fail(const api_spline *s, size_t *at, api_knots *what);

/* At a fraction 0 <= f <= 1 of the way from t_degree to t_n: row r holds the derivative of order r by the fraction, of
 * the degree + 1 functions from the returned one on; all others are zero there. On a knot, what jumps has the value
 * behind it, at the very end the one before it. */
size_t api_spline_basis(const api_spline *s, double fraction, double basis[API_SPLINE_ORDERS][API_SPLINE_SUPPORT]);

/* The same, of the polynomials that are the functions where the first of them that is not zero is `first`, which
 * api_spline_first says of a fraction: up to both ends of such a piece, what jumps there has the values inside. */
size_t api_spline_first(const api_spline *s, double fraction);
void   api_spline_piece(const api_spline *s, size_t first, double fraction,
                        double basis[API_SPLINE_ORDERS][API_SPLINE_SUPPORT]);
