/* description.c - checks a description (model.h): finite numbers, parents before children, valid leaders and followers
 * of mimics, valid motors. */
#include "description.h"
#include <math.h>

#define UNIT_TOLERANCE                                                                                                 \
    1e-9 /* tolerance of the length of an axis; a larger error is a mistake of the caller, a smaller one is rounding   \
          */

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static bool pose_is_finite(const dyn_pose *X)
{
    return all_finite(&X->R[0][0], 9) && all_finite(X->p, 3);
}

bool dyn_inertia_is_finite(const dyn_inertia *I)
{
    return isfinite(I->mass) && all_finite(I->com, 3) && all_finite(I->about_com, 6);
}

static bool is_unit(const double axis[3])
{
    return fabs(sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]) - 1) <= UNIT_TOLERANCE;
}

static bool friction_is_finite(const dyn_friction *f)
{
    return all_finite((const double[]){f->viscous, f->positive, f->negative, f->coulomb_velocity, f->breakaway_positive,
                                       f->breakaway_negative, f->stribeck_velocity, f->load},
                      8);
}

static bool spring_is_finite(const dyn_spring *s)
{
    return all_finite(
        (const double[]){s->stiffness, s->damping, s->rest, s->stiffness2, s->stiffness3, s->damping2, s->damping3}, 7);
}

/* True if the link has no property that only joints of one coordinate may have. A joint with a quaternion may have
 * rotor inertia and damping, a spherical joint also stiffness; these must be finite. */
static bool has_no_axis_data(const dyn_link *l)
{
    const dyn_friction *f         = &l->friction;
    const dyn_spring   *s         = &l->spring;
    const bool          turns     = dyn_joint_has_quaternion(l->joint);
    const double        numbers[] = {l->offset,
                              turns ? 0 : l->rotor_inertia,
                                     l->pitch,
                                     f->viscous,
                                     f->positive,
                                     f->negative,
                                     f->coulomb_velocity,
                              l->joint == DYN_SPHERICAL ? 0 : s->stiffness,
                              turns ? 0 : s->damping,
                                     s->rest,
                                     s->stiffness2,
                                     s->stiffness3,
                                     s->damping2,
                                     s->damping3,
                                     f->breakaway_positive,
                                     f->breakaway_negative,
                                     f->stribeck_velocity,
                                     f->load};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != 0) return false;
    return l->ratio == 1 && !l->moment_at_parent_frame && isfinite(l->rotor_inertia) && isfinite(s->damping) &&
           isfinite(s->stiffness);
}

static bool joint_numbers_valid(const dyn_link *l)
{
    const double numbers[] = {l->offset, l->rotor_inertia, l->pitch};
    if (dyn_joint_nv(l->joint) > 1)
        return has_no_axis_data(l) && (!dyn_joint_types[l->joint].has_axis || is_unit(l->axis));
    return all_finite(numbers, sizeof numbers / sizeof *numbers) && isfinite(l->ratio) && l->ratio != 0 &&
           friction_is_finite(&l->friction) && spring_is_finite(&l->spring) && is_unit(l->axis);
}

static bool motor_numbers_valid(const dyn_motor *m)
{
    return !m->present || (isfinite(m->gear_ratio) && m->gear_ratio != 0 && isfinite(m->spin_inertia) &&
                           friction_is_finite(&m->friction) && is_unit(m->axis));
}

/* True for joints of one coordinate. Only these joints can be a mimic, the leader of a mimic, or have a motor. */
static bool has_one_coordinate(const dyn_link *l)
{
    return dyn_joint_nv(l->joint) == 1;
}

static bool is_leader_valid(const dyn_description *d, const dyn_link *l)
{
    return has_one_coordinate(l) && l->leader >= 0 && (size_t)l->leader < d->n_links &&
           has_one_coordinate(&d->links[l->leader]) && !d->links[l->leader].mimic;
}

static bool is_motor_valid(const dyn_description *d, const dyn_link *l)
{
    if (l->elastic && (!has_one_coordinate(l) || l->mimic)) return false;
    if (!l->motor.present) return true;
    return has_one_coordinate(l) && l->motor.link >= DYN_WORLD && l->motor.link < (int)d->n_links &&
           l->rotor_inertia == 0;
}

/* True if the load coefficients of a joint and its motor add up to less than 1, so that the friction grows by less than
 * the load that causes it and forward dynamics has exactly one solution. */
static bool is_load_valid(const dyn_link *l)
{
    const double own = l->friction.load, motor = l->motor.present ? l->motor.friction.load : 0;
    return own >= 0 && motor >= 0 && own + motor < 1 && (own == 0 || !(l->mimic || l->elastic)) &&
           (motor == 0 || !l->mimic);
}

/* True if `link` may be the joint of a drive: rigid, with one coordinate of its own. */
static bool is_drivable(const dyn_description *d, int link)
{
    if (link < 0 || (size_t)link >= d->n_links) return false;
    const dyn_link *l = &d->links[link];
    return has_one_coordinate(l) && !l->mimic && !l->elastic;
}

static bool is_drive_valid(const dyn_description *d, const dyn_drive *drive)
{
    if (drive->n == 0 || drive->n > DYN_MAX_DRIVEN) return false;
    for (size_t j = 0; j < drive->n; j++) {
        if (!is_drivable(d, drive->joint[j])) return false;
        for (size_t k = 0; k < j; k++)
            if (drive->joint[k] == drive->joint[j]) return false;
    }
    return true;
}

/* Checks the motors of coupled transmissions. A drive must have no load coefficient: friction that depends on the load
 * is computed for each coordinate by itself, but the friction of a drive acts on several coordinates. */
static dyn_status check_drives(const dyn_description *d, int *where)
{
    for (size_t k = 0; k < d->n_drives; k++) {
        const dyn_drive *drive = &d->drives[k];
        *where                 = (int)k;
        if (drive->friction.load != 0 || !is_drive_valid(d, drive)) return DYN_BAD_DRIVE;
        *where = DYN_WORLD;
        if (!all_finite(drive->weight, drive->n) || !isfinite(drive->rotor_inertia) ||
            !friction_is_finite(&drive->friction))
            return DYN_BAD_NUMBER;
    }
    return DYN_OK;
}

dyn_status dyn_description_check(const dyn_description *d, int *where)
{
    size_t dof = d->floating ? 6 : 0;
    *where     = DYN_WORLD;
    if (!all_finite(d->gravity, 3) || !dyn_inertia_is_finite(&d->base_inertia) || !isfinite(d->base_rotor_inertia) ||
        !isfinite(d->base_damping) || !isfinite(d->base_gravity_compensation))
        return DYN_BAD_NUMBER;
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *l = &d->links[i];
        *where            = (int)i;
        if (l->parent < DYN_WORLD || l->parent >= (int)i) return DYN_BAD_PARENT;
        if ((unsigned)l->joint >= DYN_JOINT_KINDS) return DYN_BAD_NUMBER;
        bool moving = l->joint != DYN_FIXED;
        if (moving && l->mimic && !is_leader_valid(d, l)) return DYN_BAD_LEADER;
        if (!pose_is_finite(&l->before) || !pose_is_finite(&l->after) || !dyn_inertia_is_finite(&l->inertia) ||
            !isfinite(l->gravity_compensation) || (moving && !joint_numbers_valid(l)) ||
            !motor_numbers_valid(&l->motor) || !spring_is_finite(&l->elasticity) || (moving && !is_load_valid(l)))
            return DYN_BAD_NUMBER;
        if (!is_motor_valid(d, l)) return DYN_BAD_MOTOR;
        if ((dof += (l->mimic ? 0 : (size_t)dyn_joint_nv(l->joint)) + l->elastic) > DYN_MAX_DOF)
            return DYN_TOO_MANY_DOF;
    }
    return check_drives(d, where);
}
