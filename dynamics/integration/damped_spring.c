/* damped_spring.c - integrates the deflection of a spring with a damper: see damped_spring.h.
 *
 * With z = h / a and u = (t - t0) / h, a load of coefficients c_m u^m gives
 *
 *     e(t0 + h) = exp(-z) e(t0) + 1/stiffness sum_m c_m J_m,    J_m = z int_0^1 exp(-z (1 - u)) u^m du.
 *
 * If a is longer than the whole motion, the variable that is integrated is e, and each derivative follows from the one
 * below: e^(m+1) = (f^(m) - stiffness e^(m)) / damping. Otherwise the variable is e^(r), which obeys the same equation
 * with the load f^(r), and each derivative follows from the one above: e^(m) = f^(m) / stiffness - a e^(m+1). So no
 * derivative is a small difference of large numbers, however stiff the spring is. */
#include "damped_spring.h"
#include <math.h>
#include <string.h>

enum { TERMS = 6 /* coefficients of a polynomial of degree 5 */ };

/* True if the deflection itself is integrated, not its highest derivative. */
static bool integrates_deflection(const dyn_damped_spring *s)
{
    return s->damping / s->stiffness > s->span;
}

static void derive_upwards(const dyn_damped_spring *s, dyn_spring_instant *i)
{
    for (size_t m = 0; m < s->order; m++)
        i->e[m + 1] = (i->load[m] - s->stiffness * i->e[m]) / s->damping;
}

static void derive_downwards(const dyn_damped_spring *s, dyn_spring_instant *i)
{
    for (size_t m = s->order; m-- > 0;)
        i->e[m] = (i->load[m] - s->damping * i->e[m + 1]) / s->stiffness;
}

void dyn_damped_spring_settle(const dyn_damped_spring *s, dyn_spring_instant *i)
{
    i->e[s->order] = i->load[s->order] / s->stiffness;
    derive_downwards(s, i);
}

/* Writes the coefficients of the polynomial of u, 0 <= u <= 1, with the values and the first two derivatives with
 * respect to time y0 and y1 [3] at both ends of an interval of h seconds. */
static void fit_polynomial(double h, const double *y0, const double *y1, double c[TERMS])
{
    c[0]           = y0[0];
    c[1]           = h * y0[1];
    c[2]           = h * h * y0[2] / 2;
    const double d = y1[0] - y0[0] - c[1] - c[2], v = h * y1[1] - c[1] - 2 * c[2], a = h * h * y1[2] - 2 * c[2];
    c[3] = 10 * d - 4 * v + a / 2;
    c[4] = -15 * d + 7 * v - a;
    c[5] = 6 * d - 3 * v + a / 2;
}

/* Computes J_m. For small z, J_m = z exp(-z) sum_j z^j / (j! (m + j + 1)), a sum of positive terms; for large z the
 * recurrence J_m = 1 - m J_(m-1) / z, which reduces errors as long as m < z. */
static void find_moments(double z, double J[TERMS])
{
    enum { SMALL = 8, LAST = 48 /* the terms of a sum after this one are below rounding for z < SMALL */ };
    if (z >= SMALL) {
        J[0] = 1 - exp(-z);
        for (int m = 1; m < TERMS; m++)
            J[m] = 1 - m * J[m - 1] / z;
        return;
    }
    for (int m = 0; m < TERMS; m++) {
        double term = z * exp(-z);
        J[m]        = 0;
        for (int j = 0; j <= LAST; j++) {
            J[m] += term / (m + j + 1);
            term *= z / (j + 1);
        }
    }
}

void dyn_damped_spring_advance(const dyn_damped_spring *s, const dyn_spring_instant *begin, dyn_spring_instant *end)
{
    const double h = end->t - begin->t, z = h * (s->stiffness / s->damping);
    const size_t r = s->order;
    double       c[TERMS], J[TERMS], sum = 0;
    find_moments(z, J);
    if (integrates_deflection(s)) {
        fit_polynomial(h, begin->load, end->load, c);
        for (int m = 0; m < TERMS; m++)
            sum += c[m] * J[m];
        end->e[0] = exp(-z) * begin->e[0] + sum / s->stiffness;
        derive_upwards(s, end);
        return;
    }
    fit_polynomial(h, begin->load + r - 2, end->load + r - 2, c);
    for (int m = 2; m < TERMS; m++) /* the second derivative of the polynomial */
        sum += m * (m - 1) * c[m] / (h * h) * J[m - 2];
    end->e[r] = exp(-z) * begin->e[r] + sum / s->stiffness;
    derive_downwards(s, end);
}

/* Returns the difference of the second derivatives of two deflections at one instant under the same load. It follows
 * from the difference of the integrated variable, e or e^(r). */
static double acceleration_difference(const dyn_damped_spring *s, const dyn_spring_instant *i,
                                      const dyn_spring_instant *other)
{
    const double a = s->damping / s->stiffness, order = (double)s->order;
    return integrates_deflection(s) ? fabs(i->e[0] - other->e[0]) / (a * a)
                                    : fabs(i->e[s->order] - other->e[s->order]) * pow(a, order - 2);
}

/* Returns instant n of a motion with its load. */
static dyn_spring_instant instant_of(const dyn_damped_spring *s, const dyn_damped_motion *m, size_t n)
{
    dyn_spring_instant found = {.t = m->times[n]};
    memcpy(found.load, m->series + n * (s->order + 1), (s->order + 1) * sizeof *found.load);
    return found;
}

static void store_deflection(const dyn_damped_spring *s, const dyn_damped_motion *m, size_t n,
                             const dyn_spring_instant *i)
{
    memcpy(m->series + n * (s->order + 1), i->e, (s->order + 1) * sizeof *i->e);
}

/* Returns the first instant with its deflection. */
static dyn_spring_instant begin_motion(const dyn_damped_spring *s, const dyn_damped_motion *m)
{
    dyn_spring_instant first = instant_of(s, m, 0);
    if (m->start) {
        first.e[0] = *m->start;
        derive_upwards(s, &first);
    } else
        dyn_damped_spring_settle(s, &first);
    return first;
}

bool dyn_damped_spring_integrate(const dyn_damped_spring *s, const dyn_damped_motion *m, dyn_deadline deadline)
{
    enum { LOOK = 1024 /* instants between two checks of the deadline */ };
    dyn_spring_instant now = begin_motion(s, m), pair = now; /* pair: state of a second integration, over every
                                                                other instant */
    store_deflection(s, m, 0, &now);
    m->errors[0] = 0;
    for (size_t n = 1; n < m->n; n++) {
        if (n % LOOK == 0 && !dyn_may_continue(deadline)) return false;
        dyn_spring_instant next = instant_of(s, m, n), pair_next = next;
        dyn_damped_spring_advance(s, &now, &next);
        store_deflection(s, m, n, &next);
        m->errors[n] = m->errors[n - 1];
        if (n % 2 == 0) {
            dyn_damped_spring_advance(s, &pair, &pair_next);
            m->errors[n] = m->errors[n - 1] = acceleration_difference(s, &next, &pair_next);
            pair                            = pair_next;
        }
        now = next;
    }
    return true;
}
