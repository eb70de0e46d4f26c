/* motion_options.h - reads the options of operations that compute efforts from a motion: "free" coordinates, or "held"
 * frames. */
#pragma once
#include "held_fields.h"
#include "held_efforts.h"

typedef struct api_motion_options {
    const bool       *driven; /* [nv] true: the coordinate is not free; NULL: the request has no field "free" */
    api_held_efforts *held;   /* the held frames; NULL: the request has no field "held" */
} api_motion_options;

/* Outputs of the operation: qdd exists only with free coordinates, contact_wrenches only with held frames. */
typedef struct api_motion_outputs {
    size_t qdd, contact_wrenches;
} api_motion_outputs;

/* Reads both fields into selected->options. False with a problem. */
bool api_motion_options_read(api_query *q, api_selection *selected, const api_node *options, const api_place *up,
                             const api_motion_outputs *outputs);

static inline const api_motion_options *api_motion_options_of(const api_selection *selected)
{
    return selected->options;
}

/* Returns the held frames; NULL: none. */
static inline const dyn_held_set *api_motion_contact_of(const api_selection *selected)
{
    const api_held_efforts *efforts = api_motion_options_of(selected)->held;
    return efforts ? efforts->choice.contact : NULL;
}

/* Checks, when all fields are read, that tau is used, and prepares the held frames. False with a problem. */
bool api_motion_options_prepare(const api_plan *plan, const api_selection *selected);
