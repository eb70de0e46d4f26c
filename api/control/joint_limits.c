/* joint_limits.c - lists the limits of joints and writes the answer's `limits` and `least_margins` (joint_limits.h). */
#include "joint_limits.h"
#include "api/lanes/failed_rows.h"
#include <math.h>
#include <string.h>

/* --- list --------------------------------------------------------------------------------------------------------- */

static void add(api_joint_limits *limits, api_joint_limit limit)
{
    limits->limit[limits->n++] = limit;
}

/* Returns the velocity index at which the joint's actuator acts; -1: it has no actuator or no effort limit. */
static int effort_of(const api_query *q, const api_actuator_input *input, size_t joint)
{
    for (size_t v = 0; v < q->model->nv; v++)
        if (input->coordinate[v].joint == (int)joint && isfinite(input->effort_limit[v])) return (int)v;
    return -1;
}

static void add_joint(const api_query *q, const api_actuator_input *input, size_t i, api_joint_limits *limits)
{
    const api_joint_name *j     = &q->model->joints[i];
    const dyn_body       *b     = &q->model->dyn->body[j->body];
    int                   v     = effort_of(q, input, i);
    api_joint_limit       limit = {.name = j->name, .n = 1, .weight = {b->joint.mimic ? b->joint.ratio : 1}};
    if (v >= 0) {
        limit.kind     = API_LIMIT_EFFORT;
        limit.entry[0] = (size_t)v;
        limit.lower = -j->limits.effort, limit.upper = j->limits.effort;
        add(limits, limit);
    }
    if (j->has_position_limits) {
        limit.kind     = API_LIMIT_POSITION;
        limit.entry[0] = (size_t)b->joint.q;
        limit.offset   = b->joint.mimic ? b->joint.offset : 0;
        limit.lower = j->lower, limit.upper = j->upper;
        add(limits, limit);
    }
    if (j->limits.has_velocity) {
        limit.kind     = API_LIMIT_VELOCITY;
        limit.entry[0] = (size_t)b->joint.v;
        limit.offset   = 0;
        limit.lower = -j->limits.velocity, limit.upper = j->limits.velocity;
        add(limits, limit);
    }
}

static void add_motor(const api_query *q, const api_actuator_input *input, size_t k, api_joint_limits *limits)
{
    const api_coupled_motor *motor = &q->model->coupled_motors[k];
    const dyn_drive         *drive = motor->drive;
    api_joint_limit          limit = {.name = motor->name, .n = drive->n};
    if (motor->limits.has_effort && api_actuator_input_drives(q->model, input, motor)) {
        limit.kind  = API_LIMIT_EFFORT;
        limit.lower = -motor->limits.effort, limit.upper = motor->limits.effort;
        memcpy(limit.weight, motor->effort, sizeof limit.weight);
        for (size_t j = 0; j < drive->n; j++)
            limit.entry[j] = (size_t)api_model_coordinate(q->model, drive->joint[j]);
        add(limits, limit);
    }
    if (motor->limits.has_velocity) {
        limit.kind  = API_LIMIT_VELOCITY;
        limit.lower = -motor->limits.velocity, limit.upper = motor->limits.velocity;
        memcpy(limit.weight, drive->weight, sizeof limit.weight);
        for (size_t j = 0; j < drive->n; j++)
            limit.entry[j] = (size_t)drive->joint[j];
        add(limits, limit);
    }
}

bool api_joint_limits_list(api_query *q, const api_actuator_input *input, api_joint_limits *limits)
{
    const size_t most = 3 * q->model->n_joints + 2 * q->model->dyn->n_drives;
    *limits           = (api_joint_limits){.limit = api_take(q->pool, (most > 0 ? most : 1) * sizeof *limits->limit)};
    if (!limits->limit) return false;
    for (size_t i = 0; i < q->model->n_joints; i++)
        add_joint(q, input, i, limits);
    for (size_t k = 0; k < q->model->dyn->n_drives; k++)
        add_motor(q, input, k, limits);
    return true;
}

/* --- the answer ------------------------------------------------------------------------------------------------- */

static void emit_one(const api_joint_limit *limit, const api_limit_violation *found, bool margin, api_emit *to)
{
    static const char *const kinds[] = {"effort", "position", "velocity"};
    api_emit_object(to);
    api_emit_string_member(to, "joint", limit->name);
    api_emit_string_member(to, "kind", kinds[limit->kind]);
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
        const api_limit_violation *found   = limits->violation ? limits->violation + row * limits->n : NULL;
        bool                       longest = !found && limits->n == 0 && plan->failed_rows;
        if (longest || (found && api_failed_rows_has(plan->failed_rows, row * plan->query->samples))) {
            api_emit_null(to);
            continue;
        }
        api_emit_array(to);
        for (size_t k = 0; k < limits->n; k++)
            if (!found || margins || found[k].excess > 0)
                emit_one(&limits->limit[k], found ? &found[k] : NULL, margins, to);
        api_emit_end(to);
    }
    if (plan->query->batched) api_emit_end(to);
}
