/* shown_parameters.c - combine the base parameters that rows do not tell apart: see shown_parameters.h. */
#include "shown_parameters.h"
#include "dynamics/identification/estimate_rows.h"
#include <math.h>
#include <string.h>

const char *const api_shown_names[API_SHOWN_KINDS] = {NULL, "none", "combined", "alone"};

/* Tables of api_shown_base_find. */
typedef struct tables {
    size_t           count;       /* number of all parameters, with those of friction curves */
    double          *coefficient; /* [count] of one combination */
    size_t          *order;       /* [n] */
    dyn_combinations found;
    double          *scratch;
} tables;

static bool go_on(void *arg)
{
    return api_estimate_go_on(arg);
}

static bool take_tables(const api_query *q, const api_estimate *t, tables *s)
{
    size_t n       = t->n + 1;
    bool   room    = true;
    s->count       = api_curve_parameter(t->model, t->model->n_movers, 0);
    s->coefficient = api_take_zeroed(q->pool, s->count + 1, &room);
    s->scratch     = api_take_zeroed(q->pool, dyn_qr_combine_scratch(n), &room);
    s->found       = (dyn_combinations){.n = t->n, .K = api_take_zeroed(q->pool, n * n, &room)};
    s->order       = api_take(q->pool, n * sizeof *s->order);
    s->found.kept  = api_take(q->pool, n * sizeof *s->found.kept);
    s->found.order = s->order;
    s->found.go_on = go_on;
    s->found.arg   = (void *)(uintptr_t)t;
    return room && s->order && s->found.kept;
}

/* The place of a parameter among those of its body, in the order in which they are examined. */
static size_t rank_of(const api_model *m, size_t parameter)
{
    size_t c = 0;
    while (parameter < API_PER_BODY * m->n_bodies && api_base_order[c] != parameter % API_PER_BODY)
        c++;
    return c;
}

/* Lists the base parameters in the order in which they are examined: those of neighbouring places that belong to one
 * body are sorted. */
static void sort(const api_estimate *t, size_t *order)
{
    const size_t *parameter = t->base->parameter, bodies = API_PER_BODY * t->model->n_bodies;
    for (size_t k = 0; k < t->n; k++) {
        size_t at = k, body = parameter[k] < bodies ? parameter[k] / API_PER_BODY : SIZE_MAX;
        while (at > 0 && body != SIZE_MAX && parameter[order[at - 1]] < bodies &&
               parameter[order[at - 1]] / API_PER_BODY == body &&
               rank_of(t->model, parameter[order[at - 1]]) > rank_of(t->model, parameter[k])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = k;
    }
}

/* Adds a base parameter, times `by`, to the coefficients. */
static void add_group(const api_base *base, size_t k, double by, double *coefficient)
{
    coefficient[base->parameter[k]] += by;
    for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
        coefficient[base->term[i].parameter] += by * base->term[i].coefficient;
}

/* Writes the terms of kept base parameter k from the combinations. Without `to` it only counts them. */
static size_t write_terms(const api_estimate *t, const tables *s, size_t k, api_base_term *to)
{
    size_t n = 0;
    memset(s->coefficient, 0, s->count * sizeof *s->coefficient);
    add_group(t->base, k, 1, s->coefficient);
    for (size_t j = 0; j < t->n; j++)
        if (s->found.K[j * t->n + k] != 0) add_group(t->base, j, s->found.K[j * t->n + k], s->coefficient);
    for (size_t i = 0; i < s->count; i++) {
        if (i == t->base->parameter[k] || s->coefficient[i] == 0) continue;
        if (to) to[n] = (api_base_term){i, api_base_tidy(s->coefficient[i])};
        n++;
    }
    return n;
}

static bool write_base(const api_query *q, const api_estimate *t, const tables *s, api_shown_base *shown)
{
    api_base *b     = &shown->base;
    size_t    terms = 0;
    for (size_t k = 0; k < t->n; k++) {
        if (!api_estimate_go_on(t)) return false;
        terms += shown->kept[k] ? write_terms(t, s, k, NULL) : 0;
    }
    b->parameter = api_take(q->pool, (t->n + 1) * sizeof *b->parameter);
    b->first     = api_take(q->pool, (t->n + 1) * sizeof *b->first);
    b->term      = api_take(q->pool, (terms + 1) * sizeof *b->term);
    if (!b->parameter || !b->first || !b->term) return false;
    b->first[0] = 0;
    for (size_t k = 0; k < t->n; k++) {
        if (!shown->kept[k]) continue;
        b->parameter[b->n] = t->base->parameter[k];
        b->first[b->n + 1] = b->first[b->n] + write_terms(t, s, k, b->term + b->first[b->n]);
        b->n++;
    }
    return true;
}

bool api_shown_base_find(const api_query *q, const api_estimate *t, api_shown_base *shown)
{
    tables s;
    *shown = (api_shown_base){.kept = api_take(q->pool, t->n + 1)};
    if (!shown->kept || !take_tables(q, t, &s)) return false;
    sort(t, s.order);
    if (!dyn_qr_combine(t->R, &s.found, s.scratch)) return false;
    memset(shown->kept, 0, t->n + 1);
    for (size_t k = 0; k < s.found.n_kept; k++)
        shown->kept[s.found.kept[k]] = true;
    return write_base(q, t, &s, shown);
}

void api_base_shows(const api_base *base, unsigned char *shown)
{
    for (size_t k = 0; k < base->n; k++) {
        bool combined             = base->first[k + 1] > base->first[k];
        shown[base->parameter[k]] = combined ? API_SHOWN_COMBINED : API_SHOWN_ALONE;
        for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
            shown[base->term[i].parameter] = API_SHOWN_COMBINED;
    }
    for (size_t i = 0; i < base->n_no_effect; i++)
        shown[base->no_effect[i]] = API_NOT_SHOWN;
}
