/* smooth_samples.c - lists the samples of the search for a smooth timing: places, and both sides of the knots of the
 * path (smooth_search.h). */
#include "smooth_search.h"

/* Returns the number of instants that are sides of knots. */
static size_t count_sides(const dyn_smooth *t)
{
    size_t n = 0;
    for (size_t k = 0; k < t->between.first[t->intervals * t->parts]; k++)
        n += t->between.side[k] != 0;
    return n;
}

size_t dyn_smooth_work(const dyn_smooth *t)
{
    const size_t n = 2 * (t->intervals + 1), sides = count_sides(t), samples = t->intervals * (t->parts + 1) + sides;
    return n * (HALF_BAND + 1) + 2 * n + 4 * samples * dyn_smooth_limits(t) +
           ((t->parts + 1 + sides) * sizeof(weights) + samples * sizeof(sample) + (t->intervals + 1) * sizeof(size_t)) /
               sizeof(double);
}

/* Adds the sides of knots behind a place of interval i to the samples. `shape`: the next free weights. */
static void add_sides(search *s, size_t i, size_t place, weights **shape)
{
    const dyn_smooth         *t = s->t;
    const dyn_smooth_between *b = &t->between;
    for (size_t k = b->first[place]; k < b->first[place + 1]; k++) {
        if (b->side[k] == 0) continue;
        const double fraction   = ((double)(place - i * t->parts) + b->fraction[k]) / (double)t->parts;
        **shape                 = weights_at(fraction, 1 / (double)t->intervals);
        s->sample[s->samples++] = (sample){.shape = (*shape)++,
                                           .row   = &b->row[k * dyn_smooth_rows(t)],
                                           .norm  = &b->norm[k * t->norms],
                                           .place = place};
    }
}

/* Lists the samples of all intervals. */
static void list_samples(search *s)
{
    const dyn_smooth *t     = s->t;
    const double      part  = 1 / (double)(t->intervals * t->parts);
    weights          *shape = s->shape + t->parts + 1;
    s->samples              = 0;
    for (size_t i = 0; i < t->intervals; i++) {
        s->first[i] = s->samples;
        for (size_t j = 0; j <= t->parts; j++) {
            const size_t place      = i * t->parts + j;
            s->sample[s->samples++] = (sample){.shape = &s->shape[j],
                                               .row   = &t->row[place * dyn_smooth_rows(t)],
                                               .norm  = &t->norm[place * t->norms],
                                               .place = place,
                                               .share = j == 0 || j == t->parts ? part / 2 : part};
            if (j < t->parts) add_sides(s, i, place, &shape);
        }
    }
    s->first[t->intervals] = s->samples;
}

search dyn_smooth_lay_out(dyn_smooth *t)
{
    const size_t sides = count_sides(t), samples = t->intervals * (t->parts + 1) + sides;
    search       s = {.t = t, .n = 2 * (t->intervals + 1), .limits = dyn_smooth_limits(t)};
    s.band         = t->work;
    s.right        = s.band + s.n * (HALF_BAND + 1);
    s.step         = s.right + s.n;
    s.multiplier   = s.step + s.n;
    s.change       = s.multiplier + 2 * samples * s.limits;
    s.shape        = (weights *)(void *)(s.change + 2 * samples * s.limits);
    s.sample       = (sample *)(void *)(s.shape + t->parts + 1 + sides);
    s.first        = (size_t *)(void *)(s.sample + samples);
    for (size_t j = 0; j <= t->parts; j++)
        s.shape[j] = weights_at((double)j / (double)t->parts, 1 / (double)t->intervals);
    list_samples(&s);
    return s;
}
