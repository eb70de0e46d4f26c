/* signal_value.c - evaluates signals and their derivatives (signal_value.h). */
#include "signal_value.h"
#include "dynamics/math/elementary.h"
#include <float.h>
#include <math.h>
#include <string.h>

size_t dyn_signal_breaks(const dyn_signal *s, double duration, double *breaks)
{
    const double *t = s->spline.knots;
    size_t        n = 0;
    for (size_t i = s->spline.degree + 1; !s->is_sine && i < s->spline.n; i++) {
        double time = (t[i] - t[s->spline.degree]) / (t[s->spline.n] - t[s->spline.degree]) * s->range;
        if (!(time > 0 && time < duration) || t[i] == t[i - 1]) continue;
        if (breaks) breaks[n] = time;
        n++;
    }
    return n;
}

static double fraction_of(const dyn_signal *s, double t)
{
    double fraction = t / s->range;
    return fraction < 1 ? fraction : 1;
}

/* Evaluates a spline with control points c_k and basis functions B_k: d^r value / dt^r = sum_k B_k^(r)(f) c_k /
 * range^r, with the fraction f = t / range. */
static void put_spline(const dyn_signal *s, size_t W, const size_t *row, dyn_moment moment, size_t orders,
                       double *const value[DYN_SIGNAL_ORDERS])
{
    size_t width = s->parts[0].width, first = dyn_spline_first(&s->spline, fraction_of(s, moment.inside));
    double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT], scale = 1;
    dyn_spline_piece(&s->spline, first, fraction_of(s, moment.t), basis);
    for (size_t r = 0; r < orders; r++, scale /= s->range)
        for (size_t l = 0; l < W; l++) {
            const double *points = dyn_points_of(&s->parts[0], row[l]) + first * width;
            for (size_t j = 0; j < width; j++) {
                double sum = 0;
                for (size_t k = 0; k <= s->spline.degree; k++)
                    sum += basis[r][k] * points[k * width + j];
                value[r][j * W + l] = sum * scale;
            }
        }
}

static double part(const dyn_signal *s, dyn_sine_part part, size_t row, size_t j)
{
    return s->parts[part].numbers ? dyn_points_of(&s->parts[part], row)[j] : 0;
}

static void put_sine(const dyn_signal *s, size_t W, const size_t *row, double t, size_t orders,
                     double *const value[DYN_SIGNAL_ORDERS])
{
    for (size_t j = 0; j < s->parts[0].width; j++)
        for (size_t l = 0; l < W; l++) {
            double A = part(s, DYN_SINE_AMPLITUDE, row[l], j), w = part(s, DYN_SINE_FREQUENCY, row[l], j);
            double angle = w * t + part(s, DYN_SINE_PHASE, row[l], j);
            double sine, cosine;
            dyn_sine_cosine(angle, &sine, &cosine);
            sine *= A;
            value[0][j * W + l] = part(s, DYN_SINE_OFFSET, row[l], j) + sine;
            if (orders > 1) value[1][j * W + l] = w * A * cosine;
            if (orders > 2) value[2][j * W + l] = -w * w * sine;
        }
}

void dyn_signal_at(const dyn_signal *s, size_t W, const size_t *row, dyn_moment moment, size_t orders,
                   double *const value[DYN_SIGNAL_ORDERS])
{
    if (s->is_sine)
        put_sine(s, W, row, moment.t, orders, value);
    else
        put_spline(s, W, row, moment, orders, value);
}

void dyn_signal_at_instant(const dyn_signal *s, const dyn_instant *instant, size_t width,
                           double *const value[DYN_SIGNAL_ORDERS], double *const by_duration[2])
{
    const double     t = s->stretches ? instant->fraction : instant->t, stretch = s->stretches ? 1 / instant->T : 1;
    const double     behind = s->is_sine ? t : t + 8 * DBL_EPSILON * s->range;
    const dyn_moment moment = {t, behind};
    dyn_signal_at(s, 1, &instant->row, moment, DYN_SIGNAL_ORDERS, value);
    for (size_t i = 0; i < width; i++) {
        value[1][i] *= stretch;
        value[2][i] *= stretch * stretch;
        by_duration[0][i] = s->stretches ? 0 : instant->fraction * value[1][i];
        by_duration[1][i] = s->stretches ? -value[1][i] / instant->T : instant->fraction * value[2][i];
    }
}
