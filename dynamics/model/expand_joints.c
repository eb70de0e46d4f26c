/* expand_joints.c - expands joints and motors into several bodies of one coordinate (NOTATION.md, "Expanded joints").
 *
 * A planar joint becomes two massless bodies that slide along e_x and e_y, then one body that rotates: position p + x
 * e_x + y e_y, rotation R about the axis. e_x and e_y are the x and y axes of the joint frame after the smallest
 * rotation that takes z to the joint axis.
 *
 * A helical joint becomes a massless body that slides along the axis, and the link, which rotates. The position of the
 * slide is pitch times that of the rotation.
 *
 * A motor adds a rotor on the motor's link, with axis a (unit vector), spin inertia J and speed r sd. sd is the rate of
 * the coordinate that the motor drives, r the gear ratio. w is the link's angular velocity and I its inertia, including
 * the whole motor. The kinetic energy is
 *
 *     T = 1/2 w.I w + J r sd (a.w) + 1/2 J r^2 sd^2 = 1/2 w.(I - J a a^T) w + 1/2 J (a.w + r sd)^2,
 *
 * the energy of the link without J a a^T plus that of a massless body of inertia J a a^T that rotates about a on the
 * link (Hua, Poursina, Sanfilippo, eqs. 21-28; the sums of eq. 21 belong under the d/dt on its right side). */
#include "expand_joints.h"
#include "canonical.h"
#include "pose.h"
#include <string.h>

/* Computes the axes e_x and e_y of a planar joint in the joint frame. The smallest rotation that takes e_z to the axis
 * is 1 + [v] + [v]^2 / (1 + c), with v = e_z x axis and c = axis.z. For axis = -e_z it is half a turn about e_x. */
static void plane_axes(const double axis[3], double e_x[3], double e_y[3])
{
    double x = axis[0], y = axis[1], z = axis[2], across = x * x + y * y;
    bool   turned = z < 0 && across == 0;
    double k      = turned  ? 0
                    : z < 0 ? (1 - z) / across
                            : 1 / (1 + z); /* equals (1 - z) / across, which is inaccurate near e_z */
    memcpy(e_x, (double[3]){1 - k * x * x, -k * x * y, -x}, sizeof(double[3]));
    memcpy(e_y, (double[3]){-k * x * y, turned ? -1 : 1 - k * y * y, -y}, sizeof(double[3]));
}

static dyn_link massless_link(const dyn_pose *before, dyn_joint_kind joint, const double axis[3])
{
    dyn_link part = {.joint = joint, .before = *before, .after = pose_identity(), .ratio = 1};
    memcpy(part.axis, axis, sizeof part.axis);
    return part;
}

size_t dyn_expand_planar(const dyn_link *link, dyn_link *part)
{
    dyn_pose here = pose_identity();
    double   e_x[3], e_y[3];
    plane_axes(link->axis, e_x, e_y);
    part[0]        = massless_link(&link->before, DYN_PRISMATIC, e_x);
    part[1]        = massless_link(&here, DYN_PRISMATIC, e_y);
    part[2]        = *link;
    part[2].joint  = DYN_REVOLUTE;
    part[2].before = here;
    return 3;
}

size_t dyn_expand_helical(const dyn_link *link, dyn_link *part)
{
    dyn_link *revolute = &part[link->pitch != 0];
    *revolute          = *link;
    revolute->joint    = DYN_REVOLUTE;
    if (link->pitch == 0) return 1;
    part[0]          = massless_link(&link->before, DYN_PRISMATIC, link->axis);
    part[0].mimic    = true;
    part[0].ratio    = link->pitch * link->ratio;
    part[0].offset   = link->pitch * link->offset;
    revolute->before = pose_identity();
    return 2;
}

size_t dyn_expand_joint(const dyn_link *link, dyn_link part[DYN_MAX_PARTS])
{
    const dyn_joint_type *type = &dyn_joint_types[link->joint];
    if (type->expand) return type->expand(link, part);
    part[0] = *link;
    return 1;
}

size_t dyn_count_parts(const dyn_link *link)
{
    dyn_link part[DYN_MAX_PARTS];
    return link->joint == DYN_FIXED ? 0 : dyn_expand_joint(link, part);
}

bool dyn_link_has_rotor_body(const dyn_link *link)
{
    return link->joint != DYN_FIXED && (link->elastic || link->motor.present);
}

/* Returns the friction of the rotor's joint as a function of the rotor's speed, which is r times the joint's rate, such
 * that f(rate) = r spin_friction(r rate) for the friction f of the motor. */
static dyn_friction spin_friction(const dyn_friction *f, double r)
{
    double size = r < 0 ? -r : r;
    return (dyn_friction){.viscous            = f->viscous / (r * r),
                          .positive           = (r < 0 ? f->negative : f->positive) / size,
                          .negative           = (r < 0 ? f->positive : f->negative) / size,
                          .coulomb_velocity   = f->coulomb_velocity * size,
                          .breakaway_positive = (r < 0 ? f->breakaway_negative : f->breakaway_positive) / size,
                          .breakaway_negative = (r < 0 ? f->breakaway_positive : f->breakaway_negative) / size,
                          .stribeck_velocity  = f->stribeck_velocity * size,
                          .load               = f->load};
}

/* Moves the spin inertia J a a^T from `host`, the body that carries the motor, to the rotor's body. In the rotor's
 * frame, whose z is a, the second moments xx, yy and zz are J/2, J/2 and -J/2. */
static void move_spin_inertia(dyn_body *rotor, dyn_body *host, const dyn_pose *X_bl, const dyn_motor *motor)
{
    const double *a = motor->axis, J = motor->spin_inertia;
    dyn_inertia   removed     = {.about_com = {-J * a[0] * a[0], -J * a[0] * a[1], -J * a[0] * a[2], -J * a[1] * a[1],
                                               -J * a[1] * a[2], -J * a[2] * a[2]}};
    rotor->joint.spin_inertia = J;
    rotor->moments.E[0] = rotor->moments.E[3] = J / 2;
    rotor->moments.E[5]                       = -J / 2;
    if (host) dyn_canonical_inertia(host, X_bl, &removed);
}

void dyn_make_rotor_body(dyn_body *rotor, dyn_body *host, const dyn_link_place *place, const dyn_link *link)
{
    const dyn_motor *motor = &link->motor;
    dyn_pose         here  = {.p = {0}};
    memcpy(here.R, place->X_bl.R, sizeof here.R); /* the rotor's position on the link has no effect */
    dyn_link revolute = massless_link(&here, DYN_REVOLUTE, (const double[3]){0, 0, 1});
    if (motor->present) {
        memcpy(revolute.axis, motor->axis, sizeof revolute.axis);
        revolute.ratio    = motor->gear_ratio * (link->elastic ? 1 : link->ratio);
        revolute.friction = spin_friction(&motor->friction, motor->gear_ratio);
    } else {
        revolute.joint         = link->joint == DYN_PRISMATIC ? DYN_PRISMATIC : DYN_REVOLUTE;
        revolute.rotor_inertia = link->rotor_inertia;
    }
    dyn_canonical_joint(rotor, &revolute, &here);
    rotor->tree.parent     = place->body;
    rotor->joint.has_ratio = true; /* joint_position tests has_ratio first, and returns zero for a rotor */
    rotor->joint.is_rotor  = true;
    if (motor->present) move_spin_inertia(rotor, host, &place->X_bl, motor);
}
