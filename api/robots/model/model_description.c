/* model_description.c - see model_description.h: links, joints, loops, motors and limits of a model. */
#include "model_description.h"
#include "api/codec/json.h"
#include "dynamics/loops/loops.h"
#include <string.h>

static const char *base_name_of(const api_model *model)
{
    return model->dyn->floating ? "floating" : "fixed";
}

static void identify(api_emit *e, const api_model *m)
{
    api_emit_string_member(e, "name", m->name);
    api_emit_string_member(e, "revision", m->revision);
    api_emit_integer_member(e, "nq", (long long)m->nq);
    api_emit_integer_member(e, "nv", (long long)m->nv);
}

static void emit_report(api_emit *e, const api_model *m)
{
    api_emit_key(e, "report");
    api_json_emit(e, m->report);
}

void api_model_emit_put_result(api_emit *e, const api_model *m)
{
    identify(e, m);
    emit_report(e, m);
}

void api_model_emit_summary(api_emit *e, const api_model *m)
{
    identify(e, m);
    if (m->description) api_emit_string_member(e, "description", m->description);
    api_emit_integer_member(e, "bodies", (long long)m->n_bodies);
    api_emit_string_member(e, "base", base_name_of(m));
}

/* --- description -------------------------------------------------------------------------------------------------- */

/* Writes every frame, links included, with the link that it is fixed to. */
static void emit_frames(api_emit *e, const api_model *m)
{
    api_emit_key(e, "frames");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_frames; i++) {
        const api_frame_name *frame = &m->frames[i];
        api_emit_object(e);
        api_emit_string_member(e, "name", frame->name);
        api_emit_string_member(e, "link", frame->link);
        api_emit_end(e);
    }
    api_emit_end(e);
}

/* Writes a tensor with the entries xx xy xz yy yz zz. */
static void emit_tensor(api_emit *e, const double tensor[6])
{
    static const char *const names[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};
    api_emit_key(e, "inertia");
    api_emit_object(e);
    for (size_t i = 0; i < 6; i++)
        api_emit_number_member(e, names[i], tensor[i]);
    api_emit_end(e);
}

/* Writes the fixed joints and what they carry. */
static void emit_attached_bodies(api_emit *e, const api_model *m)
{
    api_emit_key(e, "attached_bodies");
    api_emit_array(e);
    for (size_t i = 1; i < m->n_links; i++) {
        const api_attached_body *body = &m->attached[i];
        if (!body->fixed) continue;
        api_emit_object(e);
        api_emit_string_member(e, "joint", body->joint);
        api_emit_string_member(e, "parent", m->link_names[body->parent]);
        api_emit_string_member(e, "link", m->link_names[i]);
        api_emit_number_member(e, "mass", body->inertia.mass);
        api_emit_key(e, "com");
        api_emit_numbers(e, body->inertia.com, 1, (size_t[]){3});
        emit_tensor(e, body->inertia.about_com);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void emit_drive_limits(api_emit *e, const api_drive_limits *limits)
{
    if (limits->has_velocity) api_emit_number_member(e, "velocity", limits->velocity);
    if (limits->has_effort) api_emit_number_member(e, "effort", limits->effort);
    if (limits->has_effort_rate) api_emit_number_member(e, "effort_rate", limits->effort_rate);
    if (limits->has_acceleration) api_emit_number_member(e, "acceleration", limits->acceleration);
    if (limits->has_jerk) api_emit_number_member(e, "jerk", limits->jerk);
    if (!limits->has_effort_speed) return;
    api_emit_key(e, "effort_speed");
    api_emit_object(e);
    api_emit_number_member(e, "stall_effort", limits->stall_effort);
    api_emit_number_member(e, "slope", limits->speed_slope);
    api_emit_end(e);
}

static void emit_limits(api_emit *e, const api_joint_name *joint)
{
    api_emit_key(e, "limits");
    api_emit_object(e);
    if (joint->has_position_limits) {
        api_emit_key(e, "position");
        api_emit_numbers(e, (double[]){joint->lower, joint->upper}, 1, (size_t[]){2});
    }
    emit_drive_limits(e, &joint->limits);
    api_emit_end(e);
}

static void emit_mimic(api_emit *e, const api_joint_name *joint)
{
    if (!joint->leader) return;
    api_emit_key(e, "mimic");
    api_emit_object(e);
    api_emit_string_member(e, "joint", joint->leader);
    api_emit_number_member(e, "multiplier", joint->multiplier);
    api_emit_number_member(e, "offset", joint->offset);
    api_emit_end(e);
}

static void emit_elastic(api_emit *e, const api_joint_name *joint)
{
    if (!joint->elastic) return;
    api_emit_key(e, "elastic");
    api_emit_object(e);
    api_emit_number_member(e, "stiffness", joint->elasticity.stiffness);
    api_emit_number_member(e, "damping", joint->elasticity.damping);
    api_emit_number_member(e, "rest", joint->elasticity.rest);
    api_emit_end(e);
}

static void emit_joints(api_emit *e, const api_model *m)
{
    api_emit_key(e, "joints");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_joints; i++) {
        const api_joint_name *joint = &m->joints[i];
        api_emit_object(e);
        api_emit_string_member(e, "name", joint->name);
        api_emit_string_member(e, "type", joint->type);
        api_emit_string_member(e, "parent", joint->parent);
        api_emit_string_member(e, "link", joint->link);
        api_emit_key(e, "actuated");
        api_emit_boolean(e, joint->actuated);
        emit_limits(e, joint);
        if (joint->has_pitch) api_emit_number_member(e, "pitch", joint->pitch);
        emit_elastic(e, joint);
        emit_mimic(e, joint);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void emit_chosen(api_emit *e, const char *key, const double *values, const int *order, size_t n)
{
    api_lanes a = {
        .values = values, .kernels = dyn_kernels_at(0), .states = 1, .rank = 1, .extent = {n}, .order = order};
    size_t fault;
    api_emit_key(e, key);
    api_emit_lanes_begin(e, &a);
    if (api_emit_lanes_states(e, &a, 0, 1, &fault)) api_emit_lanes_end(e, &a);
}

static void emit_loops(api_emit *e, const api_model *m)
{
    const dyn_loops *l = m->loops;
    if (!l) return;
    api_emit_key(e, "loops");
    api_emit_array(e);
    for (size_t i = 0; i < l->n; i++) {
        api_emit_object(e);
        api_emit_string_member(e, "name", l->loop[i].name);
        api_emit_string_member(e, "type", l->loop[i].type);
        api_emit_string_member(e, "frame_a", l->loop[i].frame_a);
        api_emit_string_member(e, "frame_b", l->loop[i].frame_b);
        api_emit_end(e);
    }
    api_emit_end(e);
    api_emit_names(e, "passive_names", l->passive_names, l->n_passive_q);
    api_emit_key(e, "reference");
    api_emit_object(e);
    emit_chosen(e, "q", l->reference, l->active_q, m->nq);
    emit_chosen(e, "passive", l->reference, l->passive_q, l->n_passive_q);
    api_emit_end(e);
    api_emit_key(e, "tree");
    api_emit_object(e);
    api_emit_names(e, "position_names", l->position_names, l->nq);
    api_emit_names(e, "velocity_names", l->velocity_names, l->nv);
    api_emit_end(e);
}

static void emit_motors(api_emit *e, const api_model *m)
{
    api_emit_key(e, "motors");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_motors; i++) {
        const api_motor_name *motor = &m->motors[i];
        api_emit_object(e);
        api_emit_string_member(e, "joint", motor->joint);
        api_emit_string_member(e, "link", motor->link);
        api_emit_key(e, "axis");
        api_emit_numbers(e, motor->motor.axis, 1, (size_t[]){3});
        api_emit_number_member(e, "gear_ratio", motor->motor.gear_ratio);
        api_emit_number_member(e, "spin_inertia", motor->motor.spin_inertia);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void emit_transmission(api_emit *e, const api_model *m, const api_transmission *t)
{
    api_emit_object(e);
    api_emit_names(e, "joints", (const char *const *)t->joint, t->n);
    api_emit_key(e, "matrix");
    api_emit_numbers(e, t->matrix, 2, (size_t[]){t->n, t->n});
    api_emit_key(e, "motors");
    api_emit_array(e);
    for (size_t k = t->drive; k < t->drive + t->n; k++) {
        const api_coupled_motor *motor = &m->coupled_motors[k];
        api_emit_object(e);
        api_emit_string_member(e, "name", motor->name);
        api_emit_number_member(e, "rotor_inertia", motor->drive->rotor_inertia);
        api_emit_key(e, "limits");
        api_emit_object(e);
        emit_drive_limits(e, &motor->limits);
        api_emit_end(e);
        api_emit_end(e);
    }
    api_emit_end(e);
    api_emit_end(e);
}

static void emit_configurations(api_emit *e, const api_model *m)
{
    if (m->n_configurations == 0) return;
    api_emit_key(e, "configurations");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_configurations; i++) {
        api_emit_object(e);
        api_emit_string_member(e, "name", m->configurations[i].name);
        api_emit_key(e, "q");
        api_emit_numbers(e, m->configurations[i].q, 1, (size_t[]){m->nq});
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void emit_transmissions(api_emit *e, const api_model *m)
{
    if (m->n_transmissions == 0) return;
    api_emit_key(e, "transmissions");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_transmissions; i++)
        emit_transmission(e, m, &m->transmissions[i]);
    api_emit_end(e);
}

void api_model_emit_description(api_emit *e, const api_model *m)
{
    identify(e, m);
    api_emit_string_member(e, "base", base_name_of(m));
    api_emit_names(e, "position_names", m->position_names, m->nq);
    api_emit_names(e, "velocity_names", m->velocity_names, m->nv);
    api_emit_names(e, "links", m->link_names, m->n_links);
    api_emit_names(e, "bodies", m->body_names, m->n_bodies);
    emit_frames(e, m);
    emit_joints(e, m);
    emit_attached_bodies(e, m);
    emit_loops(e, m);
    emit_motors(e, m);
    emit_transmissions(e, m);
    emit_configurations(e, m);
    api_emit_key(e, "gravity");
    api_emit_numbers(e, m->dyn->gravity, 1, (size_t[]){3});
    api_emit_number_member(e, "mass", m->dyn->mass);
    emit_report(e, m);
}
