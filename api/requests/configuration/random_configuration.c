/* random_configuration.c - draws configurations within the position limits of the joints (random_configuration.h). */
#include "random_configuration.h"
#include "api/requests/fields/fields.h"
#include "api/robots/model/limits.h"
#include "dynamics/math/elementary.h"
#include "dynamics/model/coordinates.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* Narrows the bounds of the coordinate that a limit of positions bounds. */
static bool narrow_interval(const api_query *q, const api_limit_list *limits, size_t i, double *lower, double *upper)
{
    const dyn_limit *limit = &limits->limit[i];
    const size_t     k     = limit->entry[0];
    const double     one   = (limit->lower - limit->offset) / limit->weight[0],
                 other     = (limit->upper - limit->offset) / limit->weight[0];
    lower[k]               = fmax(lower[k], fmin(one, other));
    upper[k]               = fmin(upper[k], fmax(one, other));
    return lower[k] <= upper[k] ||
           api_fail(q->problem, API_BAD_VALUE, NULL,
                    "no position of %.64s is within its limits and those of the joints coupled with it by mimic",
                    limits->owner[i].name);
}

/* Sets half the widths of the intervals of coordinates without limits: pi for an angle, else `range`. Whether a
 * coordinate is an angle depends on its own joint, not on joints that follow it. */
static void set_half_widths(const api_model *m, double range, double *half)
{
    for (size_t k = 0; k < m->nq; k++)
        half[k] = range;
    for (size_t i = 0; i < m->n_joints; i++) {
        const api_joint_name *joint = &m->joints[i];
        const int             link  = m->dyn->body[joint->body].tree.link;
        for (int b = joint->body; !joint->leader && b >= 0 && m->dyn->body[b].tree.link == link; b--) {
            const dyn_body *part  = &m->dyn->body[b];
            const int       place = api_first_position(m, part);
            if (place >= 0 && dyn_body_has_angle(part)) half[place] = pi;
        }
    }
}

static void close_interval(double half, double *lower, double *upper)
{
    if (isinf(*lower) && isinf(*upper))
        *lower = -half, *upper = half;
    else if (isinf(*lower))
        *lower = *upper - 2 * half;
    else if (isinf(*upper))
        *upper = *lower + 2 * half;
}

bool api_random_configuration_prepare(api_query *q, double range, api_random_configuration *r)
{
    static const dyn_limit_kind positions[] = {DYN_LIMIT_POSITION};
    const api_model            *m           = q->model;
    api_limit_list              limits;
    double                     *lower = api_take(q->pool, m->nq * sizeof *lower);
    double                     *upper = api_take(q->pool, m->nq * sizeof *upper);
    double                     *half  = api_take(q->pool, m->nq * sizeof *half);
    if (!lower || !upper || !half || !api_limits_list(q->pool, m, positions, 1, &limits)) return false;
    for (size_t k = 0; k < m->nq; k++)
        lower[k] = -INFINITY, upper[k] = INFINITY;
    for (size_t i = 0; i < limits.n; i++)
        if (!narrow_interval(q, &limits, i, lower, upper)) return false;
    set_half_widths(m, range, half);
    for (size_t k = 0; k < m->nq; k++)
        close_interval(half[k], &lower[k], &upper[k]);
    r->lower = lower;
    r->upper = upper;
    return true;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Returns x after the output function of SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Returns a number from 0 to less than 1. */
static double uniform_number(const api_random_configuration *r, size_t row, size_t entry)
{
    const uint64_t step = 0x9e3779b97f4a7c15u, stream = mix(mix(r->seed + step) + step * ((uint64_t)row + 1));
    return (double)(mix(stream + step * ((uint64_t)entry + 1)) >> 11) * 0x1p-53;
}

/* Draws a quaternion from the numbers of its first three entries. */
static void draw_rotation(const api_random_configuration *r, size_t row, size_t entry, size_t stride,
                          double *quaternion)
{
    const double u = uniform_number(r, row, entry), small = sqrt(1 - u), large = sqrt(u);
    double       sine[2], cosine[2];
    for (size_t i = 0; i < 2; i++)
        dyn_sine_cosine(2 * pi * uniform_number(r, row, entry + 1 + i), &sine[i], &cosine[i]);
    const double x[4] = {small * sine[0], small * cosine[0], large * sine[1], large * cosine[1]};
    for (size_t i = 0; i < 4; i++)
        quaternion[i * stride] = x[3] < 0 ? -x[i] : x[i];
}

void api_random_configuration_draw(const api_random_configuration *r, const api_model *model, size_t row, size_t stride,
                                   double *q)
{
    const dyn_model *m = model->dyn;
    for (size_t k = 0; k < model->nq; k++) {
        const double u = uniform_number(r, row, k);
        q[k * stride]  = fmin(r->lower[k] * (1 - u) + r->upper[k] * u, r->upper[k]);
    }
    for (size_t i = 0; i < m->n_bodies; i++) {
        const int    offset = dyn_quaternion_offset(&m->body[i]);
        const size_t first  = (size_t)(m->body[i].joint.q + offset);
        if (offset >= 0) draw_rotation(r, row, first, stride, q + first * stride);
    }
    for (size_t i = 0; i < m->n_couplings; i++)
        q[(size_t)m->coupling[i].theta * stride] = q[(size_t)m->coupling[i].q * stride] - m->coupling[i].spring.rest;
}
