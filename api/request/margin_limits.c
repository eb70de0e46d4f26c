/* margin_limits.c - lists the limits of joints and motors (margin_limits.h). */
#include "margin_limits.h"
#include "api/model/actuation.h"
#include "fields.h"
#include <string.h>

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

/* Adds a limit in both directions. */
static void add_symmetric(limit_list *o, api_margin_limit one, api_margin_kind kind, double most)
{
    one.kind = kind, one.lower = -most, one.upper = most;
    add(o, one);
}

/* Lists the limits of a coordinate. An elastic joint has the effort of its motor. */
static void add_coordinate(const api_model *m, const api_coordinate *c, size_t v, limit_list *o)
{
    const api_joint_name   *j         = &m->joints[c->joint];
    const api_drive_limits *limits    = &j->limits;
    const bool              has_drive = c->actuated || c->motor >= 0;
    api_margin_limit        one       = {.name = j->name, .v = v, .n = 1, .weight = {1}};
    if (j->has_position_limits) {
        one.kind = API_MARGIN_POSITION, one.entry[0] = (size_t)c->position, one.lower = j->lower, one.upper = j->upper;
        add(o, one);
    }
    one.entry[0] = v;
    if (limits->has_velocity) add_symmetric(o, one, API_MARGIN_VELOCITY, limits->velocity);
    one.entry[0] = c->motor >= 0 ? (size_t)c->motor : v;
    if (limits->has_effort && has_drive) add_symmetric(o, one, API_MARGIN_EFFORT, limits->effort);
    if (limits->has_effort_rate && has_drive) add_symmetric(o, one, API_MARGIN_EFFORT_RATE, limits->effort_rate);
}

/* Lists the limits of the motor of a coupled transmission, unless it drives a passive joint. */
static void add_motor(const api_model *m, const api_coupled_motor *motor, limit_list *o)
{
    const api_drive_limits *limits = &motor->limits;
    api_margin_limit        one    = {.name = motor->name, .n = motor->drive->n};
    for (size_t j = 0; j < one.n; j++) {
        const int v = api_model_coordinate(m, motor->drive->joint[j]);
        if (v < 0) return;
        one.entry[j]  = (size_t)v;
        one.weight[j] = motor->drive->weight[j];
    }
    if (limits->has_velocity) add_symmetric(o, one, API_MARGIN_VELOCITY, limits->velocity);
    memcpy(one.weight, motor->effort, sizeof one.weight);
    if (limits->has_effort) add_symmetric(o, one, API_MARGIN_EFFORT, limits->effort);
    if (limits->has_effort_rate) add_symmetric(o, one, API_MARGIN_EFFORT_RATE, limits->effort_rate);
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
    o->limit             = api_take(q->pool, API_MARGIN_KINDS * (m->nv + m->dyn->n_drives) * sizeof *o->limit);
    if (!all || !o->limit) return false;
    api_coordinates_describe(m, all);
    for (size_t v = 0; v < m->nv; v++)
        if (is_joint(m, all, v)) add_coordinate(m, &all[v], v, o);
    for (size_t k = 0; k < m->dyn->n_drives; k++)
        add_motor(m, &m->coupled_motors[k], o);
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
        api_emit_string_member(to, "joint", l->name);
        api_emit_string_member(to, "kind", api_margin_names[l->kind]);
        api_emit_number_member(to, "lower", l->lower);
        api_emit_number_member(to, "upper", l->upper);
        api_emit_end(to);
    }
    api_emit_end(to);
}

double api_margin_quantity(const api_margin_limit *l, const double *x, size_t W, size_t lane)
{
    double sum = x ? l->weight[0] * x[l->entry[0] * W + lane] : 0;
    for (size_t j = 1; x && j < l->n; j++)
        sum += l->weight[j] * x[l->entry[j] * W + lane];
    return sum;
}
