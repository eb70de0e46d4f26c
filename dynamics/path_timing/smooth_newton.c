/* smooth_newton.c - sets up and solves Newton's equations in the search for a smooth timing (smooth_search.h). */
#include "smooth_search.h"

/* Sums over the rows of a sample: gradient and second derivatives, with respect to x, u and u', of the barrier terms. d
 * marks u'. */
typedef struct sums {
    double x, u, du, xx, xu, xd, uu, ud, dd;
} sums;

static inline void add_side(sums *m, double mu, double lambda, double c, const double slopes[3])
{
    const double pull = mu / c, stiff = lambda / c;
    m->x -= pull * slopes[0];
    m->u -= pull * slopes[1];
    m->du -= pull * slopes[2];
    m->xx += stiff * slopes[0] * slopes[0];
    m->xu += stiff * slopes[0] * slopes[1];
    m->xd += stiff * slopes[0] * slopes[2];
    m->uu += stiff * slopes[1] * slopes[1];
    m->ud += stiff * slopes[1] * slopes[2];
    m->dd += stiff * slopes[2] * slopes[2];
}

/* Returns the gradient and second derivatives of the barrier terms of all rows at sample number n. With `convex`,
 * negative curvature of single rows is left out, so that the matrix stays positive semidefinite. */
static sums sum_rows(const search *s, size_t n, const dyn_smooth_state *y, bool convex)
{
    const double *lambda = s->multiplier + 2 * n * s->limits;
    const double  rho    = sqrt(y->x);
    const size_t  rows   = dyn_smooth_rows(s->t);
    sums          m      = {0};
    for (size_t k = 0; k < s->limits; k++, lambda += 2) {
        const room   c     = room_of(s, &s->sample[n], k, y, rho);
        const double curve = -lambda[0] * c.high_xx - lambda[1] * (isinf(c.low) ? 0 : c.low_xx);
        const bool   exact = !convex || k >= rows;
        add_side(&m, s->mu, lambda[0], c.high, (double[]){c.high_x, c.high_u, c.high_du});
        if (!isinf(c.low)) add_side(&m, s->mu, lambda[1], c.low, (double[]){c.low_x, -c.high_u, -c.high_du});
        m.xx += exact ? curve : fmax(curve, 0);
        if (exact) m.xu -= (lambda[0] - lambda[1]) * c.high_xu;
        m.uu -= lambda[0] * c.high_uu;
    }
    return m;
}

/* Adds the sums of a sample to the equations of the interval's four unknowns. */
static void scatter_sums(search *s, size_t i, const weights *w, const sums *m)
{
    for (size_t p = 0; p < LOCAL; p++) {
        const double by_x = m->xx * w->x[p] + m->xu * w->u[p] + m->xd * w->du[p];
        const double by_u = m->xu * w->x[p] + m->uu * w->u[p] + m->ud * w->du[p];
        const double by_d = m->xd * w->x[p] + m->ud * w->u[p] + m->dd * w->du[p];
        s->right[2 * i + p] -= m->x * w->x[p] + m->u * w->u[p] + m->du * w->du[p];
        for (size_t r = 0; r <= p; r++)
            s->band[(2 * i + p) * (HALF_BAND + 1) + HALF_BAND - (p - r)] +=
                by_x * w->x[r] + by_u * w->u[r] + by_d * w->du[r];
    }
}

void dyn_smooth_assemble(search *s, bool convex)
{
    for (size_t k = 0; k < s->n * (HALF_BAND + 1); k++)
        s->band[k] = 0;
    for (size_t k = 0; k < s->n; k++)
        s->right[k] = 0;
    s->duration = 0;
    for (size_t i = 0; i < s->t->intervals && !is_late(s, i); i++)
        for (size_t n = s->first[i]; n < s->first[i + 1]; n++) {
            const dyn_smooth_state y = sample_state(s, i, n);
            sums                   m = sum_rows(s, n, &y, convex);
            const double           t = s->sample[n].share / sqrt(y.x);
            s->duration += t;
            m.x -= 0.5 * t / y.x;
            m.xx += 0.75 * t / (y.x * y.x);
            scatter_sums(s, i, s->sample[n].shape, &m);
        }
}

bool dyn_smooth_newton(search *s)
{
    enum { W = HALF_BAND + 1 };
    double *L = s->band;
    for (size_t p = 0; p < s->n; p++) {
        for (size_t r = p > HALF_BAND ? p - HALF_BAND : 0; r <= p; r++) {
            double sum = L[p * W + HALF_BAND - (p - r)];
            for (size_t k = p > HALF_BAND ? p - HALF_BAND : 0; k < r; k++)
                if (r - k <= HALF_BAND) sum -= L[p * W + HALF_BAND - (p - k)] * L[r * W + HALF_BAND - (r - k)];
            if (r < p)
                L[p * W + HALF_BAND - (p - r)] = sum / L[r * W + HALF_BAND];
            else if (!(sum > 0))
                return false;
            else
                L[p * W + HALF_BAND] = sqrt(sum);
        }
    }
    for (size_t p = 0; p < s->n; p++) {
        double sum = s->right[p];
        for (size_t k = p > HALF_BAND ? p - HALF_BAND : 0; k < p; k++)
            sum -= L[p * W + HALF_BAND - (p - k)] * s->step[k];
        s->step[p] = sum / L[p * W + HALF_BAND];
    }
    for (size_t p = s->n; p-- > 0;) {
        double sum = s->step[p];
        for (size_t k = p + 1; k < s->n && k <= p + HALF_BAND; k++)
            sum -= L[k * W + HALF_BAND - (k - p)] * s->step[k];
        s->step[p] = sum / L[p * W + HALF_BAND];
    }
    return true;
}
