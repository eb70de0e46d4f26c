/* search_start.c - chooses starting positions of searches (search_start.h). */
#include "search_start.h"
#include <math.h>
#include <stdint.h>

bool dyn_has_bounds(const dyn_body *b)
{
    return !b->joint.mimic && !dyn_joint_has_quaternion(b->joint.kind);
}

/* Returns a pseudo-random number in [0, 1) that depends on the number of a start and of a coordinate alone (Steele, Lea
 * & Flood 2014). */
static double fraction_of(size_t start, size_t coordinate)
{
    uint64_t x = (uint64_t)start * 0x9e3779b97f4a7c15u + (uint64_t)coordinate * 0xbf58476d1ce4e5b9u;
    x          = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x          = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53;
}

void dyn_search_start(const dyn_search_space *s, size_t start, double *q)
{
    for (size_t i = 0; start > 0 && i < s->tree->n_bodies; i++) {
        const dyn_body *b = &s->tree->body[i];
        if (!dyn_has_bounds(b)) continue;
        const size_t k     = (size_t)b->joint.q;
        const double range = b->joint.kind == DYN_REVOLUTE ? M_PI : s->length;
        const double low   = isfinite(s->lower[k]) ? s->lower[k] : fmin(q[k], s->upper[k]) - range;
        const double high  = isfinite(s->upper[k]) ? s->upper[k] : fmax(q[k], s->lower[k]) + range;
        q[k]               = low + fraction_of(start, k) * (high - low);
    }
}

void dyn_unwind_springs(const dyn_model *m, size_t W, double *q)
{
    for (size_t c = 0; c < m->n_couplings; c++)
        for (size_t lane = 0; lane < W; lane++)
            q[(size_t)m->coupling[c].theta * W + lane] =
                q[(size_t)m->coupling[c].q * W + lane] - m->coupling[c].spring.rest;
}
