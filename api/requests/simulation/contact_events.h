/* contact_events.h - stores the events of rigid contacts of simulations (dynamics/rigid_contact/ode_rigid.h), and
 * writes the output contact_events. */
#pragma once
#include "api/codec/emit.h"
#include "dynamics/rigid_contact/ode_rigid.h"
#include "simulated_rows.h"

enum { API_MOST_EVENTS = 256 /* most events of one simulation whose list is requested */ };

/* The events of all simulations. */
struct api_contact_events {
    size_t          *n;     /* [rows] number of events of each simulation */
    dyn_rigid_event *event; /* [rows][API_MOST_EVENTS] the events in the order of time */
};

/* Allocates the lists of events for all rows of the plan. Returns false with a problem. */
bool api_contact_events_take(const api_plan *plan, api_simulation *s);

/* Makes the simulation of the ODE record its events in the list of its row, if the request selects them. */
void api_contact_events_begin(api_simulated_rows *r);

/* Stores the number of events of the ODE's simulation in the list of its row. */
void api_contact_events_store(const api_simulated_rows *r);

/* Writes [{"time", "contact", "event", "impulse"?, "restitution_factor"?}...] in the order of time; for a batch an
 * array of such arrays. A failed simulation gives null. Before the simulation the function writes as many events as
 * there may be, to measure the length of the answer. */
void api_contact_events_emit(const api_plan *plan, const api_simulation *s, api_emit *to);
