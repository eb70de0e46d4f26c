/* jet.h - computes with truncated power series in time, x(t) = c0 + c1 t + c2 t^2 + c3 t^3.
 *
 * Forward kinematics over such series gives position, velocity, acceleration and jerk, and the rate of every Jacobian
 * entry, without any formula for a derivative. So the tests do not depend on the formulas of the kernels. Coefficients
 * are long double, so that rounding in the reference is far below the tolerances. Method: Griewank & Walther 2008, ch.
 * 13. */
#pragma once
#include <math.h>

typedef long double real;

enum { JET_TERMS = 4 };

typedef struct jet {
    real c[JET_TERMS]; /* c[k]: k-th derivative / k! */
} jet;

typedef struct jet3 {
    jet e[3];
} jet3;

typedef struct jet33 {
    jet e[3][3];
} jet33;

static inline jet jet_constant(real x)
{
    return (jet){{x, 0, 0, 0}};
}

/* Returns the series of a quantity from its value and its first three time derivatives. */
static inline jet jet_path(real x, real rate, real second, real third)
{
    return (jet){{x, rate, second / 2, third / 6}};
}

/* Returns the k-th derivative at t = 0. */
static inline real jet_derivative(jet x, int k)
{
    const real factorial[JET_TERMS] = {1, 1, 2, 6};
    return x.c[k] * factorial[k];
}

/* Returns the series of dx/dt; its last coefficient is unknown and set to zero. */
static inline jet jet_rate(jet x)
{
    return (jet){{x.c[1], 2 * x.c[2], 3 * x.c[3], 0}};
}

static inline jet jet_add(jet x, jet y)
{
    for (int k = 0; k < JET_TERMS; k++)
        x.c[k] += y.c[k];
    return x;
}

static inline jet jet_scale(real s, jet x)
{
    for (int k = 0; k < JET_TERMS; k++)
        x.c[k] *= s;
    return x;
}

static inline jet jet_sub(jet x, jet y)
{
    return jet_add(x, jet_scale(-1, y));
}

/* Multiplies two series (Cauchy product): z_k = sum_i x_i y_(k-i). */
static inline jet jet_mul(jet x, jet y)
{
    jet z = jet_constant(0);
    for (int k = 0; k < JET_TERMS; k++)
        for (int i = 0; i <= k; i++)
            z.c[k] += x.c[i] * y.c[k - i];
    return z;
}

/* Computes the series of sine and cosine. From s' = c x', c' = -s x': k s_k = sum_i i x_i c_(k-i), k c_k = -sum_i i x_i
 * s_(k-i). */
static inline void jet_sincos(jet x, jet *s, jet *c)
{
    *s = jet_constant(sinl(x.c[0]));
    *c = jet_constant(cosl(x.c[0]));
    for (int k = 1; k < JET_TERMS; k++) {
        for (int i = 1; i <= k; i++) {
            s->c[k] += (real)i * x.c[i] * c->c[k - i];
            c->c[k] -= (real)i * x.c[i] * s->c[k - i];
        }
        s->c[k] /= (real)k;
        c->c[k] /= (real)k;
    }
}

static inline jet3 jet3_constant(const double x[3])
{
    return (jet3){{jet_constant(x[0]), jet_constant(x[1]), jet_constant(x[2])}};
}

static inline jet33 jet33_constant(const double x[3][3])
{
    jet33 m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.e[i][j] = jet_constant(x[i][j]);
    return m;
}

static inline jet3 jet3_add(jet3 a, jet3 b)
{
    for (int i = 0; i < 3; i++)
        a.e[i] = jet_add(a.e[i], b.e[i]);
    return a;
}

static inline jet3 jet3_scale(jet s, jet3 a)
{
    for (int i = 0; i < 3; i++)
        a.e[i] = jet_mul(s, a.e[i]);
    return a;
}

static inline jet3 jet3_rate(jet3 a)
{
    for (int i = 0; i < 3; i++)
        a.e[i] = jet_rate(a.e[i]);
    return a;
}

static inline jet3 jet3_cross(jet3 a, jet3 b)
{
    jet3 c;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c.e[i] = jet_sub(jet_mul(a.e[j], b.e[k]), jet_mul(a.e[k], b.e[j]));
    }
    return c;
}

static inline jet3 jet33_apply(const jet33 *m, jet3 a)
{
    jet3 b;
    for (int i = 0; i < 3; i++) {
        b.e[i] = jet_constant(0);
        for (int j = 0; j < 3; j++)
            b.e[i] = jet_add(b.e[i], jet_mul(m->e[i][j], a.e[j]));
    }
    return b;
}

static inline jet33 jet33_transpose(const jet33 *m)
{
    jet33 t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t.e[i][j] = m->e[j][i];
    return t;
}

static inline jet33 jet33_mul(const jet33 *a, const jet33 *b)
{
    jet33 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            c.e[i][j] = jet_constant(0);
            for (int k = 0; k < 3; k++)
                c.e[i][j] = jet_add(c.e[i][j], jet_mul(a->e[i][k], b->e[k][j]));
        }
    return c;
}
