/* shown_parameters.c - combines the base parameters that the rows do not tell apart: see shown_parameters.h. */
#include "shown_parameters.h"
#include "estimate_rows.h"
#include <math.h>
#include <string.h>

/* Arrays for the work of dyn_shown_base_find. */
typedef struct tables {
    size_t           count;       /* number of all parameters, with those of friction curves */
    double          *coefficient; /* [count] coefficients of one combination */
    size_t          *order; /* [n] indices of the estimate's base parameters in the order in which they are examined */
    dyn_combinations found;
    double          *scratch;
} tables;

static bool go_on(void *arg)
{
    return dyn_estimate_go_on(arg);
}

static bool take_tables(dyn_memory memory, const dyn_estimate *t, tables *s)
{
    size_t n       = t->n + 1;
    bool   room    = true;
    s->count       = dyn_curve_parameter(t->robot.tree, t->robot.tree->n_movers, 0);
    s->coefficient = dyn_take_zeroed(memory, s->count + 1, &room);
    s->scratch     = dyn_take_zeroed(memory, dyn_qr_combine_scratch(n), &room);
    s->found       = (dyn_combinations){.n = t->n, .K = dyn_take_zeroed(memory, n * n, &room)};
    s->order       = dyn_take(memory, n * sizeof *s->order);
    s->found.kept  = dyn_take(memory, n * sizeof *s->found.kept);
    s->found.order = s->order;
    s->found.go_on = go_on;
    s->found.arg   = (void *)(uintptr_t)t;
    return room && s->order && s->found.kept;
}

/* Returns the position of a parameter in the order in which the parameters of its body are examined. */
static size_t rank_of(const dyn_model *m, size_t parameter)
{
    size_t c = 0;
    while (parameter < DYN_PER_BODY * m->n_rows && dyn_base_order[c] != parameter % DYN_PER_BODY)
        c++;
    return c;
}

/* Lists the base parameters in the order in which they are examined: neighbours that belong to one body are sorted by
 * dyn_base_order. */
static void sort(const dyn_estimate *t, size_t *order)
{
    const size_t *parameter = t->base->parameter, bodies = DYN_PER_BODY * t->robot.tree->n_rows;
    for (size_t k = 0; k < t->n; k++) {
        size_t at = k, body = parameter[k] < bodies ? parameter[k] / DYN_PER_BODY : SIZE_MAX;
        while (at > 0 && body != SIZE_MAX && parameter[order[at - 1]] < bodies &&
               parameter[order[at - 1]] / DYN_PER_BODY == body &&
               rank_of(t->robot.tree, parameter[order[at - 1]]) > rank_of(t->robot.tree, parameter[k])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = k;
    }
}

/* Adds the terms of a base parameter, multiplied by `by`, to the coefficients. */
static void add_group(const dyn_base *base, size_t k, double by, double *coefficient)
{
    coefficient[base->parameter[k]] += by;
    for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
        coefficient[base->term[i].parameter] += by * base->term[i].coefficient;
}

/* Writes the terms of kept base parameter k from the combinations. If `to` is NULL, only counts them. */
static size_t write_terms(const dyn_estimate *t, const tables *s, size_t k, dyn_base_term *to)
{
    size_t n = 0;
    memset(s->coefficient, 0, s->count * sizeof *s->coefficient);
    add_group(t->base, k, 1, s->coefficient);
    for (size_t j = 0; j < t->n; j++)
        if (s->found.K[j * t->n + k] != 0) add_group(t->base, j, s->found.K[j * t->n + k], s->coefficient);
    for (size_t i = 0; i < s->count; i++) {
        if (i == t->base->parameter[k] || s->coefficient[i] == 0) continue;
        if (to) to[n] = (dyn_base_term){i, dyn_base_tidy(s->coefficient[i])};
        n++;
    }
    return n;
}

static bool write_base(dyn_memory memory, const dyn_estimate *t, const tables *s, dyn_shown_base *shown)
{
    dyn_base *b     = &shown->base;
    size_t    terms = 0;
    for (size_t k = 0; k < t->n; k++) {
        if (!dyn_estimate_go_on(t)) return false;
        terms += shown->kept[k] ? write_terms(t, s, k, NULL) : 0;
    }
    b->parameter = dyn_take(memory, (t->n + 1) * sizeof *b->parameter);
    b->first     = dyn_take(memory, (t->n + 1) * sizeof *b->first);
    b->term      = dyn_take(memory, (terms + 1) * sizeof *b->term);
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

bool dyn_shown_base_find(dyn_memory memory, const dyn_estimate *t, dyn_shown_base *shown)
{
    tables s;
    *shown = (dyn_shown_base){.kept = dyn_take(memory, t->n + 1)};
    if (!shown->kept || !take_tables(memory, t, &s)) return false;
    sort(t, s.order);
    if (!dyn_qr_combine(t->R, &s.found, s.scratch)) return false;
    memset(shown->kept, 0, t->n + 1);
    for (size_t k = 0; k < s.found.n_kept; k++)
        shown->kept[s.found.kept[k]] = true;
    return write_base(memory, t, &s, shown);
}

void dyn_base_shows(const dyn_base *base, unsigned char *shown)
{
    for (size_t k = 0; k < base->n; k++) {
        bool combined             = base->first[k + 1] > base->first[k];
        shown[base->parameter[k]] = combined ? DYN_SHOWN_COMBINED : DYN_SHOWN_ALONE;
        for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
            shown[base->term[i].parameter] = DYN_SHOWN_COMBINED;
    }
    for (size_t i = 0; i < base->n_no_effect; i++)
        shown[base->no_effect[i]] = DYN_NOT_SHOWN;
}
