/* ode_sampling.c - holds the efforts of a controller between its samples (ode_input.h). */
#include "ode_input.h"
#include <float.h>
#include <string.h>

struct dyn_ode_sampling {
    size_t  taken, arrived;  /* number of samples taken so far; number of those whose efforts have begun to act */
    size_t  length;          /* largest number of samples that wait for their delay */
    double *tau, *unclipped; /* length x nv: efforts of sample k, in row k % length; before clipping */
    double *acting[2];       /* nv each: the efforts that act now, and these before clipping */
};

/* Writes the times k period + after between 0 and `last` to `times` (NULL: only counts). Returns their number. */
static size_t put_times(double period, double after, double last, double *times)
{
    size_t n = 0;
    for (size_t k = after > 0 ? 0 : 1; (double)k * period + after < last; k++, n++)
        if (times) times[n] = (double)k * period + after;
    return n;
}

size_t dyn_ode_sampling_times(dyn_sampling sampling, double last, double *times)
{
    if (!(sampling.period > 0)) return 0;
    const size_t n = put_times(sampling.period, 0, last, times);
    return n + (sampling.delay > 0 ? put_times(sampling.period, sampling.delay, last, times ? times + n : NULL) : 0);
}

bool dyn_ode_sampling_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_sampling d    = ode->s->input.sampling;
    const size_t       n    = ode->s->mechanism.nv * ode->W;
    bool               room = true;
    if (!(d.period > 0)) return true;
    dyn_ode_sampling *s = ode->sampling = dyn_take(memory, sizeof *s);
    if (!s) return false;
    *s           = (dyn_ode_sampling){.length = 2 + (size_t)(d.delay / d.period)};
    s->tau       = dyn_take_zeroed(memory, s->length * n, &room);
    s->unclipped = dyn_take_zeroed(memory, s->length * n, &room);
    s->acting[0] = dyn_take_zeroed(memory, n, &room);
    s->acting[1] = dyn_take_zeroed(memory, n, &room);
    return room;
}

static void let_act(const dyn_robot_ode *ode, size_t sample)
{
    const dyn_ode_sampling *s = ode->sampling;
    const size_t            n = ode->state.nv * ode->W, place = sample % s->length * n;
    memcpy(s->acting[0], s->tau + place, n * sizeof *s->tau);
    memcpy(s->acting[1], s->unclipped + place, n * sizeof *s->tau);
}

/* Evaluates the controller at ode->state.y, stores its efforts and advances the integrals of the errors. */
static void take_sample(dyn_robot_ode *ode, double t)
{
    dyn_ode_sampling *s = ode->sampling;
    const size_t      n = ode->state.nv * ode->W, place = s->taken % s->length * n;
    const size_t      states = (ode->state.nq + ode->state.nv) * ode->W;
    double           *rate   = ode->state.stage_rate[0];
    dyn_robot_ode_control(ode, t, ode->state.y, rate);
    memcpy(s->tau + place, ode->tau, n * sizeof *s->tau);
    memcpy(s->unclipped + place, ode->unclipped, n * sizeof *s->tau);
    for (size_t i = 0; i < dyn_ode_input_states(ode->s) * ode->W; i++)
        ode->state.y[states + i] += ode->s->input.sampling.period * rate[states + i];
    s->taken++;
}

void dyn_ode_sampling_renew(dyn_robot_ode *ode, double t)
{
    dyn_ode_sampling  *s     = ode->sampling;
    const dyn_sampling d     = ode->s->input.sampling;
    const double       close = 16 * DBL_EPSILON * ode->s->duration; /* boundaries within rounding are one */
    if (!s) return;
    if ((double)s->taken * d.period <= t + close) take_sample(ode, t);
    for (; s->arrived < s->taken && (double)s->arrived * d.period + d.delay <= t + close; s->arrived++)
        let_act(ode, s->arrived);
}

void dyn_ode_sampling_start(dyn_robot_ode *ode)
{
    dyn_ode_sampling *s = ode->sampling;
    s->taken = s->arrived = 0;
    dyn_ode_sampling_renew(ode, 0);
    let_act(ode, 0);
}

void dyn_ode_sampling_apply(const dyn_robot_ode *ode, double *rate)
{
    const size_t n = ode->state.nv * ode->W;
    memcpy(ode->tau, ode->sampling->acting[0], n * sizeof *ode->tau);
    memcpy(ode->unclipped, ode->sampling->acting[1], n * sizeof *ode->tau);
    memset(rate + n, 0, dyn_ode_input_states(ode->s) * ode->W * sizeof *rate);
}
