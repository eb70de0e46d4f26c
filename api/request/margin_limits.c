/* margin_limits.c - lists the limits of joints (margin_limits.h). */
#include "margin_limits.h"
#include "api/model/actuation.h"
#include "fields.h"

const char *const api_margin_names[API_MARGIN_KINDS] = {"position", "velocity", "effort", "effort_rate"};

typedef struct limit_list {
    bool              chosen[API_MARGIN_KINDS];
    size_t            n;
    api_margin_limit *limit; /* [n] */
} limit_list;

static bool read_kinds(const api_query *q, const api_node *list, const api_place *at, limit_list *o)
{
    api_names known = api_names_from_array(api_margin_names, API_MARGIN_KINDS);
    for (size_t i = 0; i < API_MARGIN_KINDS; i++)
        o->chosen[i] = !list;
    if (!list) return true;
    if (!api_check_list(q, list, at, "of position, velocity, effort, effort_rate")) return false;
    for (size_t i = 0; i < api_node_size(list); i++) {
        api_node  name;
        api_place entry = api_place_index(at, i);
        int k = api_node_item(list, i, &name) ? api_read_choice(q, &name, &entry, "a kind of limits", &known) : -1;
        if (k < 0) return false;
        if (o->chosen[k])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "%s is listed twice", api_margin_names[k]);
        o->chosen[k] = true;
    }
    return true;
}

static void add(limit_list *o, api_margin_limit one)
{
    if (o->chosen[one.kind]) o->limit[o->n++] = one;
}

/* Lists the limits of a coordinate. An elastic joint has the effort of its motor. */
static void add_coordinate(const api_model *m, const api_coordinate *c, size_t v, limit_list *o)
{
    const api_joint_name *j      = &m->joints[c->joint];
    api_margin_limit      one    = {.joint = j->name, .v = v};
    size_t                effort = c->motor >= 0 ? (size_t)c->motor : v;
    if (j->has_position_limits) {
        one.kind = API_MARGIN_POSITION, one.entry = (size_t)c->position, one.lower = j->lower, one.upper = j->upper;
        add(o, one);
    }
    one.entry = v;
    if (j->limits.has_velocity) {
        one.kind = API_MARGIN_VELOCITY, one.lower = -j->limits.velocity, one.upper = j->limits.velocity;
        add(o, one);
    }
    one.entry = effort;
    if (j->limits.has_effort && (c->actuated || c->motor >= 0)) {
        one.kind = API_MARGIN_EFFORT, one.lower = -j->limits.effort, one.upper = j->limits.effort;
        add(o, one);
    }
    if (j->limits.has_effort_rate && (c->actuated || c->motor >= 0)) {
        one.kind = API_MARGIN_EFFORT_RATE, one.lower = -j->limits.effort_rate, one.upper = j->limits.effort_rate;
        add(o, one);
    }
}

/* True for the velocity coordinate of a joint with one coordinate, and not for that of its motor. */
static bool is_joint(const api_model *m, const api_coordinate *all, size_t v)
{
    if (all[v].joint < 0 || all[v].position < 0) return false;
    for (size_t i = 0; i < m->nv; i++)
        if (all[i].motor == (int)v) return false;
    return true;
}

static bool list_all(api_query *q, limit_list *o, const api_place *at)
{
    const api_model *m   = q->model;
    api_coordinate  *all = api_take(q->pool, m->nv * sizeof *all);
    o->limit             = api_take(q->pool, API_MARGIN_KINDS * m->nv * sizeof *o->limit);
    if (!all || !o->limit) return false;
    api_coordinates_describe(m, all);
    for (size_t v = 0; v < m->nv; v++)
        if (is_joint(m, all, v)) add_coordinate(m, &all[v], v, o);
    return o->n > 0 || api_fail_at(q->problem, at, API_BAD_VALUE, "%s has no limits of these kinds", m->name);
}

bool api_margin_limits_list(api_query *q, const api_node *kinds, const api_place *at, api_margin_limits *limits)
{
    limit_list list = {.n = 0};
    if (!read_kinds(q, kinds, at, &list) || !list_all(q, &list, at)) return false;
    *limits = (api_margin_limits){list.n, list.limit};
    return true;
}

void api_margin_limits_emit(const api_margin_limits *limits, api_emit *to)
{
    api_emit_array(to);
    for (size_t i = 0; i < limits->n; i++) {
        const api_margin_limit *l = &limits->limit[i];
        api_emit_object(to);
        api_emit_string_member(to, "joint", l->joint);
        api_emit_string_member(to, "kind", api_margin_names[l->kind]);
        api_emit_number_member(to, "lower", l->lower);
        api_emit_number_member(to, "upper", l->upper);
        api_emit_end(to);
    }
    api_emit_end(to);
}
