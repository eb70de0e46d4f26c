/* swing.c - finds the rotation between two directions (swing.h). */
#include "swing.h"
#include "dynamics/math/elementary.h"
#include "dynamics/math/geometry.h"
#include <math.h>

/* Writes a unit vector n perpendicular to the unit vector d. */
static void perpendicular(const double d[3], double n[3])
{
    double e[3]                 = {0}, length;
    e[fabs(d[0]) < 0.6 ? 0 : 1] = 1;
    dyn_cross(d, e, n);
    length = dyn_norm(n);
    for (int i = 0; i < 3; i++)
        n[i] /= length;
}

void dyn_swing_between(const double d[3], const double a[3], double vector[3])
{
    double n[3], sine, cosine = dyn_dot(d, a);
    dyn_cross(d, a, n);
    sine         = dyn_norm(n);
    double angle = dyn_atan2(sine, cosine);
    if (sine == 0) perpendicular(d, n);
    for (int i = 0; i < 3; i++)
        vector[i] = n[i] * (sine == 0 ? angle : angle / sine);
}
