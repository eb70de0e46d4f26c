/* contact_events.c - stores and writes the events of rigid contacts (contact_events.h). */
#include "contact_events.h"
#include "api/requests/lanes/failed_rows.h"
#include <string.h>

static const char *const event_names[] = {[DYN_RIGID_IMPACT] = "impact",
                                          [DYN_RIGID_MAKE]   = "make",
                                          [DYN_RIGID_BREAK]  = "break",
                                          [DYN_RIGID_SLIDE]  = "slide",
                                          [DYN_RIGID_STICK]  = "stick"};

bool api_contact_events_take(const api_plan *plan, api_simulation *s)
{
    const api_query    *q      = plan->query;
    api_contact_events *events = api_take(q->pool, sizeof *events);
    if (!events) return false;
    events->n     = api_take(q->pool, q->rows * sizeof *events->n);
    events->event = api_take(q->pool, q->rows * API_MOST_EVENTS * sizeof *events->event);
    if (!events->n || !events->event) return false;
    memset(events->n, 0, q->rows * sizeof *events->n);
    s->contact_events = events;
    return true;
}

void api_contact_events_begin(api_simulated_rows *r)
{
    if (!r->s->contact_events || !r->ode.rigid) return;
    r->ode.rigid->events = (dyn_rigid_events){.most  = API_MOST_EVENTS,
                                              .event = r->s->contact_events->event + r->ode.row[0] * API_MOST_EVENTS};
}

void api_contact_events_store(const api_simulated_rows *r)
{
    if (r->s->contact_events && r->ode.rigid) r->s->contact_events->n[r->ode.row[0]] = r->ode.rigid->events.n;
}

static void emit_event(const api_simulation *s, const dyn_rigid_event *event, api_emit *to)
{
    static const size_t extent[] = {3};
    api_emit_object(to);
    api_emit_number_member(to, "time", event->time);
    api_emit_integer_member(to, "contact", (long long)s->ground.entry[event->contact]);
    api_emit_string_member(to, "event", event_names[event->kind]);
    if (event->kind == DYN_RIGID_IMPACT) {
        api_emit_key(to, "impulse");
        api_emit_numbers(to, event->impulse, 1, extent);
        if (event->factor < 1) api_emit_number_member(to, "restitution_factor", event->factor);
    }
    api_emit_end(to);
}

/* Writes the longest list that a simulation may have. */
static void emit_longest(const api_simulation *s, api_emit *to)
{
    const dyn_rigid_event event = {.kind = DYN_RIGID_IMPACT, .contact = s->ground.n_rigid - 1};
    api_emit_array(to);
    for (size_t i = 0; i < API_MOST_EVENTS; i++)
        emit_event(s, &event, to);
    api_emit_end(to);
}

static void emit_list(const api_simulation *s, size_t row, api_emit *to)
{
    api_emit_array(to);
    for (size_t i = 0; i < s->contact_events->n[row]; i++)
        emit_event(s, &s->contact_events->event[row * API_MOST_EVENTS + i], to);
    api_emit_end(to);
}

void api_contact_events_emit(const api_plan *plan, const api_simulation *s, api_emit *to)
{
    const api_query *q = plan->query;
    if (q->batched) api_emit_array(to);
    for (size_t row = 0; row < api_answered_rows(q); row++)
        if (!s->contact_events)
            emit_longest(s, to);
        else if (api_failed_rows_has(plan->failed_rows, row * q->samples))
            api_emit_null(to);
        else
            emit_list(s, row, to);
    if (q->batched) api_emit_end(to);
}
