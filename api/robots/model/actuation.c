/* actuation.c - see actuation.h: map the coordinates of bodies to joints and motors. */
#include "actuation.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/loops/loops.h"

/* Index of the joint that carries a link of the description; -1: the floating base, which no joint carries. */
static int joint_of_link(const api_model *m, int link)
{
    for (size_t i = 0; i < m->n_joints; i++)
        if (m->dyn->body[m->joints[i].body].tree.link == link) return (int)i;
    return -1;
}

/* Describes the coordinates of one body's joint. The motor of an elastic joint is a body of its own (`is_rotor`). */
static void describe_body(const api_model *m, const dyn_body *b, api_coordinate *to)
{
    int  v = api_first_velocity(m, b), q = api_first_position(m, b), joint = joint_of_link(m, b->tree.link);
    bool single = dyn_quaternion_offset(b) < 0, elastic = joint >= 0 && m->joints[joint].elastic;
    for (int k = 0; k < dyn_joint_nv(b->joint.kind); k++)
        to[v + k] =
            (api_coordinate){.joint    = joint,
                             .position = single ? q + k : -1,
                             .motor    = -1,
                             .actuated = joint >= 0 && m->joints[joint].actuated && elastic == b->joint.is_rotor};
}

void api_coordinates_describe(const api_model *m, api_coordinate *to)
{
    const dyn_model *dyn = m->dyn;
    for (size_t i = 0; i < dyn->n_bodies; i++)
        if (!dyn->body[i].joint.mimic && api_first_velocity(m, &dyn->body[i]) >= 0) describe_body(m, &dyn->body[i], to);
    for (size_t c = 0; c < dyn->n_couplings; c++) {
        int v = dyn->coupling[c].v, motor = dyn->coupling[c].v_theta;
        if (m->loops) v = m->loops->active_index_v[v];
        if (m->loops) motor = m->loops->active_index_v[motor];
        if (v >= 0) to[v].motor = motor;
    }
}

const char *api_coordinate_joint(const api_model *m, const api_coordinate *coordinate)
{
    return coordinate->joint >= 0 ? m->joints[coordinate->joint].name : "the floating base";
}
