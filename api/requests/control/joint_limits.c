/* joint_limits.c - lists the limits of joints and writes the answer's `limits` and `least_margins` (joint_limits.h). */
#include "joint_limits.h"
#include "api/requests/lanes/failed_rows.h"

/* --- list --------------------------------------------------------------------------------------------------------- */

/* True if limit i can be compared. The effort of a motor can be, if the input drives all of the motor's joints. */
static bool is_compared(const api_query *q, const api_actuator_input *input, const api_limit_list *list, size_t i)
{
    const api_coupled_motor *motor         = list->owner[i].motor;
    const dyn_limit_kind     kind          = list->limit[i].kind;
    const bool               bounds_effort = kind == DYN_LIMIT_EFFORT || kind == DYN_LIMIT_EFFORT_SPEED;
    return !motor || !bounds_effort || api_actuator_input_drives(q->model, input, motor);
}

bool api_joint_limits_list(api_query *q, const api_actuator_input *input, api_joint_limits *limits)
{
    static const dyn_limit_kind kinds[] = {DYN_LIMIT_EFFORT, DYN_LIMIT_POSITION, DYN_LIMIT_VELOCITY,
                                           DYN_LIMIT_EFFORT_SPEED};
    api_limit_list             *list    = &limits->list;
    size_t                      n       = 0;
    *limits                             = (api_joint_limits){.violation = NULL};
    if (!api_limits_list(q->pool, q->model, kinds, sizeof kinds / sizeof *kinds, list)) return false;
    for (size_t i = 0; i < list->n; i++) {
        if (!is_compared(q, input, list, i)) continue;
        list->limit[n]   = list->limit[i];
        list->owner[n++] = list->owner[i];
    }
    list->n = n;
    return true;
}

/* --- the answer ------------------------------------------------------------------------------------------------- */

static void emit_one(const api_limit_list *list, size_t i, const api_limit_violation *found, bool margin, api_emit *to)
{
    api_emit_object(to);
    api_emit_string_member(to, "joint", list->owner[i].name);
    api_emit_string_member(to, "kind", api_limit_names[list->limit[i].kind]);
    api_emit_number_member(to, "limit", found ? found->limit : 0);
    api_emit_number_member(to, margin ? "margin" : "excess", !found ? 0 : margin ? 0 - found->excess : found->excess);
    api_emit_number_member(to, "time", found ? found->time : 0);
    api_emit_end(to);
}

void api_joint_limits_emit(const api_plan *plan, const api_joint_limits *limits, bool margins, api_emit *to)
{
    if (plan->query->batched) api_emit_array(to);
    for (size_t row = 0; row < api_answered_rows(plan->query); row++) {
        /* The longest answer, which is measured before the simulation, has null in place of an empty list. */
        const api_limit_violation *found   = limits->violation ? limits->violation + row * limits->list.n : NULL;
        bool                       longest = !found && limits->list.n == 0 && plan->failed_rows;
        if (longest || (found && api_failed_rows_has(plan->failed_rows, row * plan->query->samples))) {
            api_emit_null(to);
            continue;
        }
        api_emit_array(to);
        for (size_t k = 0; k < limits->list.n; k++)
            if (!found || margins || found[k].excess > 0)
                emit_one(&limits->list, k, found ? &found[k] : NULL, margins, to);
        api_emit_end(to);
    }
    if (plan->query->batched) api_emit_end(to);
}
