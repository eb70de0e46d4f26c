/* configuration.c - adds displacements to configurations, and subtracts configurations (configuration.h). */
#include "configuration.h"
#include "dynamics/math/elementary.h"
#include "dynamics/math/geometry.h"
#include <math.h>

/* --- rotations -------------------------------------------------------------------------------------------------- */

/* Functions of a rotation vector w with t = |w|: B, C and b of configuration.h; half_sine is sin(t/2) / t, half_cosine
 * cos(t/2). */
typedef struct turn {
    double w[3], B, C, b, half_sine, half_cosine;
} turn;

enum { TERMS = 9 /* terms of the series; for t < 1 the last one is below 1e-17 of the first */ };

/* Returns the sum of (-s)^k / (2k + shift)! over k, for 0 <= s < 1. */
static double sine_series(double s, int shift)
{
    double term = 1, sum = 0;
    for (int k = 2; k <= shift; k++)
        term /= k;
    for (int k = 0; k < TERMS; k++) {
        sum += term;
        term *= -s / ((2 * k + shift + 1) * (2 * k + shift + 2));
    }
    return sum;
}

static turn turn_along(const double w[3])
{
    double s = dyn_dot(w, w), t = sqrt(s), sine;
    turn   r = {.w = {w[0], w[1], w[2]}};
    dyn_sine_cosine(0.5 * t, &sine, &r.half_cosine);
    if (s < 1) {
        r.C         = sine_series(s, 3);
        r.b         = sine_series(s, 4);
        r.B         = 0.5 - s * r.b;
        r.half_sine = 0.5 * (1 - 0.25 * s * sine_series(0.25 * s, 3));
        return r;
    }
    r.half_sine = sine / t;
    r.B         = 2 * r.half_sine * r.half_sine;
    r.C         = (1 - 2 * r.half_sine * r.half_cosine) / s;
    r.b         = (0.5 - r.B) / s;
    return r;
}

/* Sets to = x + a (w x x) + c (w x (w x x)), with the rotation vector w. */
static void apply_turn(const turn *r, double a, double c, const double x[3], double to[3])
{
    double first[3], second[3];
    dyn_cross(r->w, x, first);
    dyn_cross(r->w, first, second);
    for (int i = 0; i < 3; i++)
        to[i] = x[i] + a * first[i] + c * second[i];
}

/* Sets to = R x, or with `back` to = R^T x, with the rotation R of the unit quaternion r = (x y z w). */
static void rotate(const double r[4], bool back, const double x[3], double to[3])
{
    double k[3] = {back ? -r[0] : r[0], back ? -r[1] : r[1], back ? -r[2] : r[2]}, first[3], second[3];
    dyn_cross(k, x, first);
    dyn_cross(k, first, second);
    for (int i = 0; i < 3; i++)
        to[i] = x[i] + 2 * (r[3] * first[i] + second[i]);
}

/* Sets to = a b for quaternions x y z w, or with `inverse` to = a^-1 b. */
static void multiply_quaternions(const double a[4], bool inverse, const double b[4], double to[4])
{
    double k[3] = {inverse ? -a[0] : a[0], inverse ? -a[1] : a[1], inverse ? -a[2] : a[2]}, u[3];
    dyn_cross(k, b, u);
    for (int i = 0; i < 3; i++)
        to[i] = a[3] * b[i] + b[3] * k[i] + u[i];
    to[3] = a[3] * b[3] - dyn_dot(k, b);
}

static void make_unit(double r[4])
{
    double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (r[3] < 0) norm = -norm;
    for (int i = 0; i < 4; i++)
        r[i] /= norm;
}

/* Sets w to the rotation vector of a unit quaternion (x y z w) whose last entry is not negative. */
static void rotation_vector_of(const double r[4], double w[3])
{
    double sine  = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    double scale = sine > 0 ? 2 * dyn_atan2(sine, r[3]) / sine : 2;
    for (int i = 0; i < 3; i++)
        w[i] = scale * r[i];
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

static void get_entries(const double *from, size_t stride, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i * stride];
}

static void put_strided(const double *from, size_t stride, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i * stride] = from[i];
}

/* Returns the number of linear entries of a joint: those before the quaternion in q and before w in u. 3 for a floating
 * joint, else 0. */
static size_t linear(const dyn_chart *joint)
{
    return joint->kind == DYN_FLOATING ? 3 : 0;
}

void dyn_configuration_integrate(const dyn_chart *joint, const double *q, const double *u, double part, size_t stride,
                                 double *q_after)
{
    const double *from = q + joint->q * stride, *step_by = u + joint->v * stride;
    double       *to = q_after + joint->q * stride;
    if (!dyn_joint_has_quaternion(joint->kind)) {
        *to = *from + part * *step_by;
        return;
    }
    const size_t first = linear(joint);
    double       r[4], w[3], k[4], after[4];
    get_entries(from + first * stride, stride, 4, r);
    dyn_get3(step_by + first * stride, stride, part, w);
    const turn t = turn_along(w);
    if (first > 0) {
        double p[3], v[3], shift[3], moved[3];
        get_entries(from, stride, 3, p);
        dyn_get3(step_by, stride, part, v);
        apply_turn(&t, t.B, t.C, v, shift);
        rotate(r, false, shift, moved);
        for (int i = 0; i < 3; i++)
            p[i] += moved[i];
        put_strided(p, stride, 3, to);
    }
    for (int i = 0; i < 3; i++)
        k[i] = t.half_sine * w[i];
    k[3] = t.half_cosine;
    multiply_quaternions(r, false, k, after);
    make_unit(after);
    put_strided(after, stride, 4, to + first * stride);
}

void dyn_configuration_difference(const dyn_chart *joint, const double *q, const double *target, size_t stride,
                                  double *u)
{
    const double *from = q + joint->q * stride, *goal = target + joint->q * stride;
    double       *to = u + joint->v * stride;
    if (!dyn_joint_has_quaternion(joint->kind)) {
        *to = *goal - *from;
        return;
    }
    const size_t first = linear(joint);
    double       r[4], s[4], between[4], w[3];
    get_entries(from + first * stride, stride, 4, r);
    get_entries(goal + first * stride, stride, 4, s);
    multiply_quaternions(r, true, s, between);
    make_unit(between);
    rotation_vector_of(between, w);
    put_strided(w, stride, 3, to + first * stride);
    if (first == 0) return;
    const turn t = turn_along(w);
    double     p[3], d[3], in_own_axes[3], v[3];
    get_entries(from, stride, 3, p);
    get_entries(goal, stride, 3, d);
    for (int i = 0; i < 3; i++)
        d[i] -= p[i];
    rotate(r, true, d, in_own_axes);
    apply_turn(&t, -0.5, (t.C - 2 * t.b) / (2 * t.B), in_own_axes, v);
    put_strided(v, stride, 3, to);
}

void dyn_configuration_normalise(const dyn_chart *joint, const double *q, size_t stride, double *unit)
{
    const size_t n = (size_t)dyn_joint_nq(joint->kind), first = linear(joint);
    double       entries[7];
    get_entries(q + joint->q * stride, stride, n, entries);
    if (dyn_joint_has_quaternion(joint->kind)) make_unit(entries + first);
    put_strided(entries, stride, n, unit + joint->q * stride);
}
