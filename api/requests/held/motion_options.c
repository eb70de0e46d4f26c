/* motion_options.c - reads free coordinates or held frames of a given motion (motion_options.h). */
#include "motion_options.h"
#include "api/requests/evaluate/free_motion.h"

bool api_motion_options_read(api_query *q, api_selection *selected, const api_node *options, const api_place *up,
                             const api_motion_outputs *outputs)
{
    const api_place     place = api_place_key(up, "held");
    api_motion_options *o     = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (api_motion_options){.held = NULL};
    if (!api_free_read(q, selected, options, up, outputs->qdd)) return false;
    o->driven         = selected->options;
    selected->options = o;
    if (!api_held_efforts_read(q, selected, outputs->contact_wrenches, options, up, &o->held)) return false;
    return !o->driven || !o->held ||
           api_fail_at(q->problem, &place, API_BAD_VALUE,
                       "held cannot be combined with \"free\": the accelerations of free coordinates follow from "
                       "forward-dynamics with held");
}

bool api_motion_options_prepare(const api_plan *plan, const api_selection *selected)
{
    const api_motion_options *o = selected->options;
    return api_free_check_tau(plan, selected, o->driven) &&
           (!o->held || api_held_efforts_prepare(plan->query, o->held));
}
