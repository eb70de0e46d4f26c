/* elementary.c - computes sine and cosine by including trig.h with separate multiply and add, and the arc tangent by
 * the polynomial of Sun's fdlibm (elementary.h). */
#include "elementary.h"
#define LANES 1
#define DYN_UNFUSED
#include "trig.h"

#define MOST_ANGLE 1e5 /* rad: range of the argument reduction in trig.h, equal to DYN_MAX_ANGLE */

void dyn_sine_cosine(double angle, double *sine, double *cosine)
{
    const double x[TRIG_ANGLES] = {angle}, none[TRIG_ANGLES] = {-0.0},
                 rounder[TRIG_ANGLES] = {DYN_ROUNDER, DYN_ROUNDER};
    double cs[2 * TRIG_ANGLES] __attribute__((aligned(16)));
    if (!(fabs(angle) <= MOST_ANGLE) || angle == 0) {
        *sine   = sin(angle);
        *cosine = cos(angle);
        return;
    }
    lane_cosine_sine(x, none, rounder, cs);
    *cosine = cs[0];
    *sine   = cs[1];
}

/* atan(t) - t for |t| <= 7/16 */
static double tangent_excess(double t)
{
    static const double a[] = {3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
                               -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
                               6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
                               -3.65315727442169155270e-02, 1.62858201153657823623e-02};
    double              z = t * t, sum = 0;
    for (size_t i = sizeof a / sizeof *a; i-- > 0;)
        sum = a[i] + z * sum;
    return -t * (z * sum);
}

/* Returns atan(t) for 0 <= t <= 1. The nearest of the angles whose tangents are 0, 1/2 and 1 is subtracted, so that the
 * polynomial is evaluated for a small argument. */
static double arc_tangent(double t)
{
    if (t < 0.4375) return t + tangent_excess(t);
    const double half = 4.63647609000806093515e-01, half_rest = 2.26987774529616870924e-17;
    const double one = 7.85398163397448278999e-01, one_rest = 3.06161699786838301793e-17;
    double       rest;
    if (t < 0.6875) {
        rest = (2 * t - 1) / (2 + t);
        return half + ((tangent_excess(rest) + half_rest) + rest);
    }
    rest = (t - 1) / (t + 1);
    return one + ((tangent_excess(rest) + one_rest) + rest);
}

double dyn_atan2(double y, double x)
{
    const double pi_2 = 1.57079632679489655800e+00, pi_2_rest = 6.12323399573676603587e-17;
    double       height = fabs(y), width = fabs(x);
    if (!(height > 0 && width > 0 && height < INFINITY && width < INFINITY))
        return atan2(y, x); /* a multiple of pi/4 or NaN, the same in every library */
    double angle = height <= width ? arc_tangent(height / width) : pi_2 - (arc_tangent(width / height) - pi_2_rest);
    if (x < 0) angle = 2 * pi_2 - (angle - 2 * pi_2_rest);
    return copysign(angle, y);
}

double dyn_acos(double x)
{
    return dyn_atan2(sqrt((1 - x) * (1 + x)), x);
}
