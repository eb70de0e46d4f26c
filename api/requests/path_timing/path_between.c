/* path_between.c - evaluates the limits of instants between the places of a path (path_between.h). */
#include "path_between.h"
#include "api/requests/fields/fields.h"
#include "api/requests/operations/operation_list.h"
#include <math.h>

enum { INNER = DYN_SMOOTH_INNER, BISECTIONS = 60, LOOK = 64 /* places between two checks of the deadline */ };

#define SIDE 1e-12 /* distance in s of an instant from the knot that it is next to */
#define SAME 1e-9  /* fraction of a part within which a knot counts as one with the place there */

/* --- instants ----------------------------------------------------------------------------------------------------- */

/* The instants between one place and the next, in their order. */
typedef struct instants {
    size_t n; /* more than DYN_SMOOTH_CHECKS: not all are listed */
    double fraction[DYN_SMOOTH_CHECKS];
    int    side[DYN_SMOOTH_CHECKS]; /* -1: just before a knot, 1: just after it, else 0 */
} instants;

static void add_instant(instants *to, double fraction, int side)
{
    if (to->n < DYN_SMOOTH_CHECKS) {
        to->fraction[to->n] = fraction;
        to->side[to->n]     = side;
    }
    to->n++;
}

/* Returns r of s = g(r). */
static double rate_parameter_at(double s, bool resting)
{
    double low = 0, high = 1;
    for (int k = 0; k < BISECTIONS; k++) {
        const double r                                     = (low + high) / 2;
        *(dyn_grading_of(r, resting).s < s ? &low : &high) = r;
    }
    return (low + high) / 2;
}

/* Returns the fraction of the part behind `place` at which knot number k is; it may be outside of the part. */
static double knot_fraction(const dyn_spline *s, size_t k, const api_timing_options *o, double place, double parts)
{
    const double range = s->knots[s->n] - s->knots[s->degree];
    return rate_parameter_at((s->knots[k] - s->knots[s->degree]) / range, o->resting) * parts - place;
}

/* Adds the instants between two fractions of a part. */
static void add_inner(instants *to, double from, double end)
{
    for (size_t k = 1; k <= INNER; k++)
        add_instant(to, from + (end - from) * (double)k / (INNER + 1), 0);
}

/* Lists the instants of a part whose knots begin at knot number *knot, and moves *knot to the next part. Ends early
 * with more than DYN_SMOOTH_CHECKS instants, which are refused. */
static instants instants_behind(const api_timing_options *o, size_t place, size_t parts, size_t *knot)
{
    const dyn_spline *s    = &o->motion->path.spline;
    instants          list = {0};
    double            from = 0, f = 0;
    for (; *knot < s->n && list.n <= DYN_SMOOTH_CHECKS; ++*knot, from = fmax(f, 0)) {
        f = knot_fraction(s, *knot, o, (double)place, (double)parts);
        if (f > 1 + SAME) break;
        if (f > SAME && s->knots[*knot] > s->knots[*knot - 1]) {
            add_inner(&list, from, fmin(f, 1));
            add_instant(&list, fmin(f, 1), -1);
        }
        if (f > 1 - SAME) return list; /* the other side belongs to the next part */
        if (s->knots[*knot] < s->knots[*knot + 1]) add_instant(&list, fmax(f, 0), 1);
    }
    add_inner(&list, from, 1);
    return list;
}

/* Counts all instants, and sets b->most and b->first. False with a problem. */
static bool count_instants(const api_query *q, const api_timing_options *o, api_path_between *b)
{
    const size_t parts = q->samples - 1;
    size_t       knot  = o->motion->path.spline.degree + 1;
    b->first[0]        = 0;
    for (size_t place = 0; place < parts; place++) {
        if (place % LOOK == 0 && !api_deadline_check(q->input->deadline, q->problem)) return false;
        const instants list = instants_behind(o, place, parts, &knot);
        if (list.n > DYN_SMOOTH_CHECKS) {
            const api_place where = api_place_key(NULL, "samples");
            return api_fail_at(q->problem, &where, API_BAD_VALUE,
                               "more than %d knots are between places %zu and %zu of %zu: with limits of jerk or "
                               "effort_rate take more samples",
                               (DYN_SMOOTH_CHECKS - INNER) / (INNER + 2), place, place + 1, q->samples);
        }
        b->first[place + 1] = b->first[place] + list.n;
        b->most             = list.n > b->most ? list.n : b->most;
    }
    return true;
}

/* Writes fraction, side and s of all instants. False with a problem. */
static bool set_instants(const api_query *q, const api_timing_options *o)
{
    const size_t            parts = q->samples - 1;
    const api_path_between *b     = &o->between;
    size_t                  knot  = o->motion->path.spline.degree + 1;
    for (size_t k = 0; k < b->most * (parts + 1); k++)
        b->s[k] = 1;
    for (size_t place = 0; place < parts; place++) {
        if (place % LOOK == 0 && !api_deadline_check(q->input->deadline, q->problem)) return false;
        const instants list = instants_behind(o, place, parts, &knot);
        for (size_t c = 0; c < list.n; c++) {
            const double r                   = ((double)place + list.fraction[c]) / (double)parts;
            const double s                   = dyn_grading_of(r, o->resting).s + list.side[c] * SIDE;
            b->fraction[b->first[place] + c] = list.fraction[c];
            b->side[b->first[place] + c]     = (signed char)list.side[c];
            b->s[c * (parts + 1) + place]    = fmin(fmax(s, 0), 1);
        }
    }
    return true;
}

bool api_path_between_open(const api_query *q, api_timing_options *o)
{
    api_path_between *b     = &o->between;
    const size_t      parts = q->samples - 1, rows = o->limits.second + o->limits.third;
    *b = (api_path_between){.first = api_take(q->pool, q->samples * sizeof *b->first)};
    if (!b->first || !count_instants(q, o, b)) return false;
    const size_t n = b->first[parts], norms = o->limits.frames.n_accelerations;
    b->fraction = api_take(q->pool, n * sizeof *b->fraction);
    b->side     = api_take(q->pool, n);
    b->s        = api_take(q->pool, b->most * q->samples * sizeof *b->s);
    b->rows     = api_take(q->pool, q->rows * n * rows * sizeof *b->rows);
    b->norms    = api_take(q->pool, q->rows * n * norms * sizeof *b->norms);
    if (!b->fraction || !b->side || !b->s || !b->rows || !b->norms) return false;
    return set_instants(q, o);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Returns true if instant c behind the place of a state exists, and its number among those of all paths. */
static bool find_instant(const api_evaluation *e, const api_timing_options *o, size_t state, size_t c, size_t *found)
{
    const api_path_between *b = &o->between;
    const size_t            n = e->query->samples, place = state % n;
    if (state >= api_states(e->query) || place == n - 1 || c >= b->first[place + 1] - b->first[place]) return false;
    *found = state / n * b->first[n - 1] + b->first[place] + c;
    return true;
}

/* Writes the rows of instant c behind the places of a block. */
static void write_instant_rows(const api_evaluation *e, const api_timing_options *o, const api_path_lanes *lanes,
                               size_t block, size_t c)
{
    const api_path_limits  *limits = &o->limits;
    const api_path_between *b      = &o->between;
    const size_t            rows = limits->second + limits->third, norms = limits->frames.n_accelerations;
    for (size_t lane = 0; lane < e->lanes; lane++) {
        const size_t state = block * e->lanes + lane, n = e->query->samples;
        size_t       instant;
        if (!find_instant(e, o, state, c, &instant)) continue;
        const double      r     = ((double)(state % n) + b->fraction[instant % b->first[n - 1]]) / (double)(n - 1);
        const dyn_grading where = dyn_grading_of(r, o->resting);
        api_path_limits_smooth_rows(limits, lanes, e->lanes, lane, &where,
                                    (api_smooth_limits){b->rows + instant * rows, b->norms + instant * norms});
    }
}

/* True if a place of a block has more than c instants behind it. */
static bool has_instant(const api_evaluation *e, const api_timing_options *o, size_t block, size_t c)
{
    size_t instant;
    for (size_t lane = 0; lane < e->lanes; lane++)
        if (find_instant(e, o, block * e->lanes + lane, c, &instant)) return true;
    return false;
}

bool api_path_between_evaluate(const api_evaluation *e, const api_timing_options *o, const api_path_lanes *lanes,
                               size_t block)
{
    api_motion shifted = *o->motion;
    for (size_t c = 0; c < o->between.most && has_instant(e, o, block, c); c++) {
        shifted.path.times = o->between.s + c * e->query->samples;
        api_motion_sample_block(e, &shifted, block);
        if (!api_path.evaluate(e, &o->path, block, 1)) return false;
        api_path_frames_evaluate(e, &o->limits.frames, block, e->spare);
        write_instant_rows(e, o, lanes, block, c);
    }
    api_motion_sample_block(e, o->motion, block);
    return true;
}

dyn_smooth_between api_path_between_of(const api_timing_options *o, size_t row)
{
    const api_path_between *b     = &o->between;
    const size_t            first = row * b->first[o->motion->path.samples - 1];
    return (dyn_smooth_between){.first    = b->first,
                                .fraction = b->fraction,
                                .side     = b->side,
                                .row      = b->rows + first * (o->limits.second + o->limits.third),
                                .norm     = b->norms + first * o->limits.frames.n_accelerations};
}
