/* stiction.c - lists joints and motors that sharp friction can hold (stiction.h). */
#include "stiction.h"
#include <math.h>

/* Returns the sharp friction f against motion in the direction `side` at the rate `rate` of a coordinate. The joint
 * that has the friction moves `ratio` times as fast as the coordinate, hence the factor |ratio|. */
static double curve(const dyn_friction *f, double ratio, int side, double rate)
{
    const double r       = fabs(ratio);
    const bool   forward = (ratio > 0) == (side > 0);
    const double fast    = forward ? f->positive : f->negative;
    if (!(f->stribeck_velocity > 0)) return r * fast;
    const double slow = forward ? f->breakaway_positive : f->breakaway_negative, u = r * rate / f->stribeck_velocity;
    return r * (fast + (slow - fast) * exp(-u * u));
}

/* Returns the derivative of `curve` with respect to the magnitude of `rate`. */
static double curve_slope(const dyn_friction *f, double ratio, int side, double rate)
{
    const double r       = fabs(ratio);
    const bool   forward = (ratio > 0) == (side > 0);
    if (!(f->stribeck_velocity > 0)) return 0;
    const double excess = forward ? f->breakaway_positive - f->positive : f->breakaway_negative - f->negative;
    const double u      = r * fabs(rate) / f->stribeck_velocity;
    return -2 * r * r * u * excess * exp(-u * u) / f->stribeck_velocity;
}

/* Returns the sharp friction of a body's joint, as an effort on its coordinate. */
static double magnitude(const dyn_body *b, int side, double rate)
{
    return curve(&b->joint.friction, b->joint.ratio, side, rate);
}

/* Adds the friction of a body to the entry of its coordinate in `joints`, which has n entries so far. Returns the new
 * number of entries. */
static size_t add_joint_friction(dyn_stiction_joint *joints, size_t n, const dyn_body *b)
{
    size_t k = 0;
    while (k < n && joints[k].v != (size_t)b->joint.v)
        k++;
    if (k == n) joints[n++] = (dyn_stiction_joint){.v = (size_t)b->joint.v, .tree_v = (size_t)b->joint.v};
    joints[k].positive += magnitude(b, 1, 0);
    joints[k].negative += magnitude(b, -1, 0);
    joints[k].load += b->joint.friction.load;
    joints[k].stribeck |= b->joint.friction.stribeck_velocity > 0;
    return n;
}

/* Returns the friction limit of a motor at rest against motion in the direction `side`. */
static double motor_magnitude(const dyn_friction *f, int side)
{
    if (f->stribeck_velocity > 0) return side > 0 ? f->breakaway_positive : f->breakaway_negative;
    return side > 0 ? f->positive : f->negative;
}

size_t dyn_stiction_list_joints(const dyn_model *m, dyn_stiction_joint *joints)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (dyn_stiction_is_possible(&m->body[i])) n = add_joint_friction(joints, n, &m->body[i]);
    for (size_t k = 0; k < m->n_drives; k++)
        if (dyn_stiction_is_possible_of(&m->drive[k]))
            joints[n++] = (dyn_stiction_joint){.v        = DYN_NO_COORDINATE,
                                               .drive    = &m->drive[k],
                                               .positive = motor_magnitude(&m->drive[k].friction, 1),
                                               .negative = motor_magnitude(&m->drive[k].friction, -1),
                                               .stribeck = m->drive[k].friction.stribeck_velocity > 0};
    return n;
}

/* Solves f = coulomb + load |T| for the friction limit f >= 0, with T = u - f the effort that the joint transmits, u
 * its effort without friction, and `load` the growth of the limit per unit of |T|. */
static double limit_at(double coulomb, double load, double u)
{
    const double net = u - coulomb;
    return coulomb + load * fabs(net / (net < 0 ? 1 - load : 1 + load));
}

dyn_stiction_joint dyn_stiction_limit_at(const dyn_stiction_joint *joint, double u)
{
    dyn_stiction_joint limited = *joint;
    limited.positive           = limit_at(joint->positive, joint->load, u);
    limited.negative           = limit_at(joint->negative, joint->load, -u);
    return limited;
}

double dyn_stiction_sliding(const dyn_model *m, const dyn_stiction_joint *joint, int side, double rate)
{
    const size_t v        = joint->tree_v;
    double       friction = joint->drive ? curve(&joint->drive->friction, 1, side, rate) : 0;
    if (joint->drive) return side > 0 ? friction : -friction;
    for (size_t i = 0; i < m->n_bodies; i++)
        if ((size_t)m->body[i].joint.v == v && dyn_stiction_is_possible(&m->body[i]))
            friction += magnitude(&m->body[i], side, rate);
    return side > 0 ? friction : -friction;
}

double dyn_stiction_slope(const dyn_model *m, const dyn_stiction_joint *joint, int side, double rate)
{
    const size_t v     = joint->tree_v;
    double       slope = 0;
    if (joint->drive) return curve_slope(&joint->drive->friction, 1, side, rate);
    for (size_t i = 0; i < m->n_bodies; i++)
        if ((size_t)m->body[i].joint.v == v && dyn_stiction_is_possible(&m->body[i]))
            slope += curve_slope(&m->body[i].joint.friction, m->body[i].joint.ratio, side, rate);
    return slope;
}
