/* wrench_signals.c - reads wrenches that are signals (wrench_signals.h). */
#include "wrench_signals.h"

enum { PARTS = 2 };

static const char *const parts[PARTS] = {"force", "torque"};

/* Returns the signal given as the force or torque of wrench `index`; NULL: this part is an array of numbers or absent.
 */
static const api_node *find(const api_node *list, size_t index, size_t part, api_node *wrench)
{
    if (!api_node_item(list, index, wrench) || !api_node_is(wrench, API_OBJECT)) return NULL;
    const api_node *value = api_node_get(wrench, parts[part]);
    return api_node_is(value, API_OBJECT) ? value : NULL;
}

static bool read(api_query *q, const api_node *value, const api_signal_form *form, api_wrench_signal *s)
{
    s->list_at   = api_place_key(NULL, "wrenches");
    s->wrench_at = api_place_index(&s->list_at, s->wrench);
    s->at        = api_place_key(&s->wrench_at, parts[s->part]);
    return api_signal_read(q, value, &s->at, form, &s->signal);
}

bool api_wrench_signals_read(api_query *q, double duration, double reach, api_wrench_signals *signals)
{
    api_signal_form form = {.width = 3, .duration = duration, .reach = reach};
    const api_node *list = q->field[API_WRENCHES];
    size_t          n    = list && api_node_is(list, API_ARRAY) ? api_node_size(list) : 0;
    *signals             = (api_wrench_signals){.n = 0};
    if (n > 0 && !(signals->signal = api_take(q->pool, PARTS * n * sizeof *signals->signal))) return false;
    for (size_t i = 0; i < PARTS * n; i++) {
        api_node           wrench;
        const api_node    *value = find(list, i / PARTS, i % PARTS, &wrench);
        api_wrench_signal *s     = &signals->signal[signals->n];
        if (!value) continue;
        s->wrench = i / PARTS;
        s->part   = i % PARTS;
        if (!read(q, value, &form, s)) return false;
        signals->n++;
    }
    return true;
}

bool api_wrench_signals_load(const api_query *q, api_wrench_signals *signals)
{
    for (size_t i = 0; i < signals->n; i++)
        if (!api_signal_load(q, &signals->signal[i].at, &signals->signal[i].signal)) return false;
    return true;
}
