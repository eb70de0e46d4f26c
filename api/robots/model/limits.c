/* limits.c - lists the limits of joints and motors (limits.h). */
#include "limits.h"
#include "dynamics/loops/loops.h"
#include <string.h>

const char *const api_limit_names[DYN_LIMIT_KINDS] = {"position",     "velocity", "effort",      "effort_rate",
                                                      "acceleration", "jerk",     "effort_speed"};

/* --- joints ------------------------------------------------------------------------------------------------------- */

/* Returns the tree's velocity coordinate on which the drive of a joint acts: that of the motor of an elastic joint. */
static int driven_coordinate(const api_model *m, const dyn_body *b)
{
    for (size_t c = 0; c < m->dyn->n_couplings; c++)
        if (m->dyn->coupling[c].v == b->joint.v) return m->dyn->coupling[c].v_theta;
    return b->joint.v;
}

/* Sets the entry of efforts that belongs to joint i. The efforts of mimic joints follow those of the coordinates; a
 * passive joint has none. */
static void set_effort_entry(const api_model *m, size_t i, api_limit_list *limits, dyn_limit *limit)
{
    const int v = api_model_coordinate(m, driven_coordinate(m, &m->dyn->body[m->joints[i].body]));
    limit->n    = 1;
    if (m->joints[i].leader) {
        size_t k = 0;
        while (k < limits->n_followers && limits->follower[k] != i)
            k++;
        if (k == limits->n_followers) limits->follower[limits->n_followers++] = i;
        limit->entry[0] = m->nv + k;
    } else if (v >= 0) {
        limit->entry[0] = (size_t)v;
    } else {
        limit->n = 0;
    }
}

static void set_symmetric(dyn_limit *limit, double most)
{
    limit->lower = -most;
    limit->upper = most;
}

/* Sets the rate, acceleration or jerk of a joint as the quantity. */
static void set_motion_entry(const dyn_body *b, double ratio, dyn_limit *limit)
{
    limit->entry[0]  = (size_t)b->joint.v;
    limit->weight[0] = ratio;
}

/* Sets the torque-speed line of a drive; the effort must have been set. */
static void set_line(const api_drive_limits *drive, dyn_limit *limit)
{
    set_symmetric(limit, drive->stall_effort);
    limit->slope = drive->speed_slope;
}

static void set_joint_line(const api_model *m, size_t i, api_limit_list *limits, dyn_limit *limit)
{
    const api_joint_name *j = &m->joints[i];
    const dyn_body       *b = &m->dyn->body[j->body];
    if (!j->limits.has_effort_speed) return;
    set_effort_entry(m, i, limits, limit);
    set_line(&j->limits, limit);
    limit->n_speed         = 1;
    limit->speed[0]        = (size_t)(j->leader ? b->joint.v : driven_coordinate(m, b));
    limit->speed_weight[0] = j->leader ? j->multiplier : 1;
}

/* Sets the quantity and the bounds of a joint's limit of limit->kind. Returns false if the joint has no such limit. */
static bool set_joint_limit(const api_model *m, size_t i, api_limit_list *limits, dyn_limit *limit)
{
    const api_joint_name *j     = &m->joints[i];
    const dyn_body       *b     = &m->dyn->body[j->body];
    const double          ratio = j->leader ? j->multiplier : 1;
    switch (limit->kind) {
    case DYN_LIMIT_POSITION:
        limit->entry[0]  = (size_t)b->joint.q;
        limit->v         = (size_t)b->joint.v;
        limit->weight[0] = ratio;
        limit->offset    = j->leader ? j->offset : 0;
        limit->lower = j->lower, limit->upper = j->upper;
        return j->has_position_limits;
    case DYN_LIMIT_VELOCITY:
        set_motion_entry(b, ratio, limit);
        set_symmetric(limit, j->limits.velocity);
        return j->limits.has_velocity;
    case DYN_LIMIT_EFFORT:
        if (j->limits.has_effort) set_effort_entry(m, i, limits, limit);
        set_symmetric(limit, j->limits.effort);
        return j->limits.has_effort;
    case DYN_LIMIT_EFFORT_RATE:
        if (j->limits.has_effort_rate) set_effort_entry(m, i, limits, limit);
        set_symmetric(limit, j->limits.effort_rate);
        return j->limits.has_effort_rate;
    case DYN_LIMIT_ACCELERATION:
        set_motion_entry(b, ratio, limit);
        set_symmetric(limit, j->limits.acceleration);
        return j->limits.has_acceleration;
    case DYN_LIMIT_JERK:
        set_motion_entry(b, ratio, limit);
        set_symmetric(limit, j->limits.jerk);
        return j->limits.has_jerk;
    case DYN_LIMIT_EFFORT_SPEED: set_joint_line(m, i, limits, limit); return j->limits.has_effort_speed;
    case DYN_LIMIT_KINDS: break;
    }
    return false;
}

/* --- motors ------------------------------------------------------------------------------------------------------- */

/* Sets the efforts of the joints that a motor drives as entries. Returns false if one of the joints is passive. */
static bool set_motor_efforts(const api_model *m, const api_coupled_motor *motor, dyn_limit *limit)
{
    memcpy(limit->weight, motor->effort, sizeof limit->weight);
    for (size_t j = 0; j < limit->n; j++) {
        const int v = api_model_coordinate(m, motor->drive->joint[j]);
        if (v < 0) return false;
        limit->entry[j] = (size_t)v;
    }
    return true;
}

/* Sets the rate, acceleration or jerk of a motor as the quantity. */
static void set_motor_motion(const api_coupled_motor *motor, dyn_limit *limit)
{
    memcpy(limit->weight, motor->drive->weight, sizeof limit->weight);
    for (size_t j = 0; j < limit->n; j++)
        limit->entry[j] = (size_t)motor->drive->joint[j];
}

/* Sets the quantity and the bounds of a motor's limit of limit->kind. Returns false if the motor has no such limit. */
static bool set_motor_limit(const api_model *m, const api_coupled_motor *motor, dyn_limit *limit)
{
    const api_drive_limits *drive = &motor->limits;
    switch (limit->kind) {
    case DYN_LIMIT_VELOCITY:
        set_motor_motion(motor, limit);
        set_symmetric(limit, drive->velocity);
        return drive->has_velocity;
    case DYN_LIMIT_EFFORT:
        set_symmetric(limit, drive->effort);
        return drive->has_effort && set_motor_efforts(m, motor, limit);
    case DYN_LIMIT_EFFORT_RATE:
        set_symmetric(limit, drive->effort_rate);
        return drive->has_effort_rate && set_motor_efforts(m, motor, limit);
    case DYN_LIMIT_ACCELERATION:
        set_motor_motion(motor, limit);
        set_symmetric(limit, drive->acceleration);
        return drive->has_acceleration;
    case DYN_LIMIT_JERK:
        set_motor_motion(motor, limit);
        set_symmetric(limit, drive->jerk);
        return drive->has_jerk;
    case DYN_LIMIT_EFFORT_SPEED:
        set_line(drive, limit);
        set_motor_motion(motor, limit);
        limit->n_speed = limit->n;
        memcpy(limit->speed, limit->entry, sizeof limit->speed);
        memcpy(limit->speed_weight, limit->weight, sizeof limit->speed_weight);
        return drive->has_effort_speed && set_motor_efforts(m, motor, limit);
    case DYN_LIMIT_POSITION:
    case DYN_LIMIT_KINDS: break;
    }
    return false;
}

/* --- the list ----------------------------------------------------------------------------------------------------- */

static void append_limit(api_limit_list *limits, const dyn_limit *limit, api_limit_owner owner)
{
    limits->limit[limits->n]   = *limit;
    limits->owner[limits->n++] = owner;
}

bool api_limits_list(api_pool *pool, const api_model *m, const dyn_limit_kind *kinds, size_t n_kinds,
                     api_limit_list *limits)
{
    const size_t most = n_kinds * (m->n_joints + m->dyn->n_drives);
    *limits           = (api_limit_list){.limit    = api_take(pool, (most + 1) * sizeof *limits->limit),
                                         .owner    = api_take(pool, (most + 1) * sizeof *limits->owner),
                                         .follower = api_take(pool, (m->n_joints + 1) * sizeof *limits->follower)};
    if (!limits->limit || !limits->owner || !limits->follower) return false;
    for (size_t i = 0; i < m->n_joints; i++)
        for (size_t k = 0; k < n_kinds; k++) {
            dyn_limit limit = {.kind = kinds[k], .n = 1, .weight = {1}};
            if (set_joint_limit(m, i, limits, &limit))
                append_limit(limits, &limit, (api_limit_owner){m->joints[i].name, NULL});
        }
    for (size_t i = 0; i < m->dyn->n_drives; i++)
        for (size_t k = 0; k < n_kinds; k++) {
            const api_coupled_motor *motor = &m->coupled_motors[i];
            dyn_limit                limit = {.kind = kinds[k], .n = motor->drive->n};
            if (set_motor_limit(m, motor, &limit)) append_limit(limits, &limit, (api_limit_owner){motor->name, motor});
        }
    return true;
}

bool api_limits_have(const api_limit_list *limits, dyn_limit_kind kind)
{
    for (size_t i = 0; i < limits->n; i++)
        if (limits->limit[i].kind == kind) return true;
    return false;
}

bool api_limits_bound_efforts(const api_limit_list *limits)
{
    return api_limits_have(limits, DYN_LIMIT_EFFORT) || api_limits_have(limits, DYN_LIMIT_EFFORT_SPEED);
}
