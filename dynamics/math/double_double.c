/* double_double.c - computes with double-double numbers, unevaluated sums of two doubles (Dekker 1971). Sums are exact
 * by Knuth (1997) and Dekker (1971), products by fma. Sine and cosine are Taylor series. The code relies on rounding to
 * nearest and on an fma() that conforms to C. */
#include "double_double.h"
#include <math.h>

/* --- double-double arithmetic ------------------------------------------------------------------------------------ */

/* a + b, exactly */
static dyn_double_double exact_sum(double a, double b)
{
    double s = a + b, b_part = s - a;
    return (dyn_double_double){s, (a - (s - b_part)) + (b - b_part)};
}

/* a b, exactly */
static dyn_double_double exact_product(double a, double b)
{
    double p = a * b;
    return (dyn_double_double){p, fma(a, b, -p)};
}

static dyn_double_double negated(dyn_double_double a)
{
    return (dyn_double_double){-a.high, -a.low};
}

static dyn_double_double plus(dyn_double_double a, dyn_double_double b)
{
    dyn_double_double s = exact_sum(a.high, b.high), t = exact_sum(a.low, b.low);
    s = exact_sum(s.high, s.low + t.high);
    return exact_sum(s.high, s.low + t.low);
}

static dyn_double_double times(dyn_double_double a, dyn_double_double b)
{
    dyn_double_double p = exact_product(a.high, b.high);
    return exact_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static dyn_double_double over(dyn_double_double a, double b)
{
    double            q = a.high / b;
    dyn_double_double r = exact_product(q, b);
    return exact_sum(q, ((a.high - r.high) - r.low + a.low) / b);
}

/* --- sine and cosine -------------------------------------------------------------------------------------------- */

/* Returns angle - k pi/2. pi/2 is a sum of four constants; the first three have 33 bits each, so that their products
 * with k < 2^17 are exact. */
static dyn_double_double reduced(double angle, double k)
{
    dyn_double_double r = exact_sum(angle, k * -0x1.921fb544p+0);
    r                   = plus(r, (dyn_double_double){k * -0x1.0b4611a6p-34, 0});
    r                   = plus(r, (dyn_double_double){k * -0x1.3198a2ep-69, 0});
    return plus(r, exact_product(k, -0x1.b839a252049c1p-104));
}

enum { LAST_POWER = 27 }; /* (pi/4)^28 / 28! < 1e-32 */

/* Sums a Taylor series in r with alternating signs. `first` is the term of power n; the terms of powers n + 2, n + 4,
 * ... up to LAST_POWER are added. */
static dyn_double_double series(dyn_double_double first, int n, dyn_double_double r)
{
    dyn_double_double square = negated(times(r, r)), term = first, sum = first;
    for (n += 2; n <= LAST_POWER; n += 2) {
        term = over(times(term, square), n * (n - 1));
        sum  = plus(sum, term);
    }
    return sum;
}

void dyn_cosine_sine(double angle, dyn_double_double *cosine, dyn_double_double *sine)
{
    double            k = rint(angle * 0x1.45f306dc9c883p-1); /* 2/pi */
    dyn_double_double r = reduced(angle, k), c = series((dyn_double_double){1, 0}, 0, r), s = series(r, 1, r);
    switch ((int)k & 3) {
    case 0: *cosine = c, *sine = s; break;
    case 1: *cosine = negated(s), *sine = c; break;
    case 2: *cosine = negated(c), *sine = negated(s); break;
    default: *cosine = s, *sine = negated(c); break;
    }
}

double dyn_double_double_dot(dyn_double_double a, double x, dyn_double_double b, double y)
{
    return plus(times(a, (dyn_double_double){x, 0}), times(b, (dyn_double_double){y, 0})).high;
}

/* --- angle and length ------------------------------------------------------------------------------------------- */

/* Corrects the result g of atan2() by angle - g = sin(angle - g) = sine cos g - cosine sin g, so that an error of
 * atan2() in the last digits has no effect on the result. */
double dyn_angle(double sine, double cosine)
{
    double            g = atan2(sine, cosine);
    dyn_double_double c, s;
    dyn_cosine_sine(g, &c, &s);
    return g + dyn_double_double_dot(c, sine, negated(s), cosine);
}

/* Takes the square root of the rounded sum of squares and improves it by one Newton step. */
double dyn_length(double x, double y)
{
    int exponent;
    if (isinf(x) || isinf(y)) return INFINITY;
    frexp(fmax(fabs(x), fabs(y)), &exponent);
    x                        = ldexp(x, -exponent);
    y                        = ldexp(y, -exponent);
    dyn_double_double square = plus(exact_product(x, x), exact_product(y, y));
    double            h      = sqrt(square.high);
    if (h == 0) return 0;
    h += plus(square, negated(exact_product(h, h))).high / (2 * h);
    return ldexp(h, exponent);
}
