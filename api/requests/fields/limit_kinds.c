/* limit_kinds.c - see limit_kinds.h: read the kinds of limits, and write their list. */
#include "limit_kinds.h"
#include "fields.h"

/* Reads the kinds that the request names into `chosen`. */
static bool read_kinds(const api_query *q, const api_node *list, const api_place *where, bool chosen[DYN_LIMIT_KINDS])
{
    api_names known = api_names_from_array(api_limit_names, DYN_LIMIT_KINDS);
    for (size_t i = 0; i < DYN_LIMIT_KINDS; i++)
        chosen[i] = !list;
    if (!list) return true;
    if (!api_check_names(q, list, where,
                         "of position, velocity, effort, effort_rate, acceleration, jerk, effort_speed"))
        return false;
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, where, i, &name);
        int       k     = api_read_choice(q, &name, &entry, "a kind of limits", &known);
        if (k < 0) return false;
        if (chosen[k])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "%s is listed twice", api_limit_names[k]);
        chosen[k] = true;
    }
    return true;
}

/* Refuses limits of acceleration and jerk for models with loops: these quantities of passive joints are not computed.
 */
static bool check_motion(const api_query *q, const api_limit_list *limits, const api_place *where)
{
    return !q->model->loops ||
           (!api_limits_have(limits, DYN_LIMIT_ACCELERATION) && !api_limits_have(limits, DYN_LIMIT_JERK)) ||
           api_fail_at(q->problem, where, API_NOT_FOR_LOOPS,
                       "limits of acceleration and jerk are for models without loops: list other kinds");
}

bool api_limits_read(api_query *q, const api_node *kinds, const api_place *where, api_limit_list *limits)
{
    bool           chosen[DYN_LIMIT_KINDS];
    dyn_limit_kind listed[DYN_LIMIT_KINDS];
    size_t         n = 0;
    if (!read_kinds(q, kinds, where, chosen)) return false;
    for (dyn_limit_kind k = 0; k < DYN_LIMIT_KINDS; k++)
        if (chosen[k]) listed[n++] = k;
    return api_limits_list(q->pool, q->model, listed, n, limits) && check_motion(q, limits, where);
}

bool api_limits_check_loops(const api_query *q, const api_limit_list *limits, const api_place *where)
{
    return !q->model->loops || !api_limits_have(limits, DYN_LIMIT_EFFORT_RATE) ||
           api_fail_at(q->problem, where, API_NOT_FOR_LOOPS,
                       "gradients of effort rates are for models without loops: list other kinds");
}

void api_limits_emit_entries(const api_limit_list *limits, api_emit *to)
{
    for (size_t i = 0; i < limits->n; i++) {
        const dyn_limit *l = &limits->limit[i];
        api_emit_object(to);
        api_emit_string_member(to, "joint", limits->owner[i].name);
        api_emit_string_member(to, "kind", api_limit_names[l->kind]);
        api_emit_number_member(to, "lower", l->lower);
        api_emit_number_member(to, "upper", l->upper);
        if (l->kind == DYN_LIMIT_EFFORT_SPEED) api_emit_number_member(to, "slope", l->slope);
        api_emit_end(to);
    }
}

void api_limits_emit(const api_limit_list *limits, api_emit *to)
{
    api_emit_array(to);
    api_limits_emit_entries(limits, to);
    api_emit_end(to);
}
