/* friction_gradient.c - computes the derivatives of multipliers . tau with respect to the parameters of friction.
 *
 * With the rate s of a joint or motor, its sense t = sign(s) or tanh(s / v) and Stribeck's factor G = exp(-(s / w)^2),
 * the friction of joint_forces.h is f = viscous s + (c + (b - c) G) t, where c and b are the magnitudes for the
 * direction of motion. So the derivatives with respect to c and b are (1 - G) t and G t, and those with respect to v
 * and w are
 *
 *     -(c + (b - c) G) (1 - t^2) s / v^2,   2 (b - c) G t s^2 / w^3.
 *
 * Friction that depends on the load, load |T| t of load_friction.h, acts at the coordinate. The derivative with respect
 * to `load` is |T| t times the sign of the ratio; t depends on v, too. The effort at the coordinate is `ratio` times
 * the effort at the joint. So the multiplier of the effort at the joint is `ratio` times that of the coordinate. A
 * joint without friction counts as one with all parameters zero. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/friction_gradient.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

enum { VISCOUS, POSITIVE, NEGATIVE, COULOMB_VELOCITY, BREAKAWAY_POSITIVE, BREAKAWAY_NEGATIVE, STRIBECK_VELOCITY, LOAD };

/* The workspace is nv zeros, which stand in for qd where io->qd is NULL. */
size_t LANE_NAME(friction_gradient_size)(const dyn_model *m)
{
    return (size_t)m->nv * sizeof(lane);
}

/* Returns the derivative of the smoothed sign tanh(s / v) with respect to v; zero for sharp friction. */
LANE_INLINE lane sense_by_width(const dyn_friction *f, lane s, friction_sense sense)
{
    if (!(f->coulomb_velocity > 0)) return lane_of(0);
    return -(sense.slope * s) / f->coulomb_velocity;
}

/* Writes the derivatives with respect to all friction parameters but `load`, at the rate s, times `multiplier`. */
static void curve_gradient(const dyn_friction *f, lane s, lane multiplier, lane *to)
{
    const friction_sense sense    = sense_of(f, s);
    const lane_mask      negative = lane_less(s, lane_of(0));
    const lane           zero = lane_of(0), t = multiplier * sense.value;
    lane                 G = zero, excess = zero;
    if (f->stribeck_velocity > 0) {
        G      = lane_gauss(s / f->stribeck_velocity);
        excess = stribeck_excess(f, s);
    }
    const lane c = sub_mul(t, G, t), b = G * t, u = s / f->stribeck_velocity;
    to[VISCOUS]            = multiplier * s;
    to[POSITIVE]           = lane_select(negative, zero, c);
    to[NEGATIVE]           = lane_select(negative, c, zero);
    to[COULOMB_VELOCITY]   = multiplier * sense_by_width(f, s, sense) * (coulomb_magnitude(f, s) + excess);
    to[BREAKAWAY_POSITIVE] = lane_select(negative, zero, b);
    to[BREAKAWAY_NEGATIVE] = lane_select(negative, b, zero);
    to[STRIBECK_VELOCITY]  = f->stribeck_velocity > 0 ? 2.0 * excess * t * u * u / f->stribeck_velocity : zero;
    to[LOAD]               = zero;
}

/* Adds the derivatives of load |T| t with respect to `load` and to the velocity v of the smoothed sign. `size` is the
 * multiplier times |T| and the sign of the ratio. */
static void add_load_gradient(const dyn_friction *f, lane s, lane size, lane *to)
{
    const friction_sense sense = sense_of(f, s);
    to[LOAD]                   = size * sense.value;
    to[COULOMB_VELOCITY]       = add_mul(to[COULOMB_VELOCITY], f->load * size, sense_by_width(f, s, sense));
}

/* Returns the friction of the motor of an elastic joint as a function of the rate of the motor coordinate. The rotor's
 * body stores it as a function of the spin rate (spin_friction of expand_joints.c); this function converts it back. */
static dyn_friction motor_friction(const dyn_body *b)
{
    const dyn_friction *f = &b->joint.friction;
    const double        r = b->joint.ratio, size = r < 0 ? -r : r;
    return (dyn_friction){.viscous            = f->viscous * r * r,
                          .positive           = (r < 0 ? f->negative : f->positive) * size,
                          .negative           = (r < 0 ? f->positive : f->negative) * size,
                          .coulomb_velocity   = f->coulomb_velocity / size,
                          .breakaway_positive = (r < 0 ? f->breakaway_negative : f->breakaway_positive) * size,
                          .breakaway_negative = (r < 0 ? f->breakaway_positive : f->breakaway_negative) * size,
                          .stribeck_velocity  = f->stribeck_velocity / size,
                          .load               = f->load};
}

/* Writes the derivatives with respect to the friction parameters of a joint, or of the motor of an elastic joint. */
static void mover_gradient(const dyn_body *b, const lane *qd, const lane *T, const lane *multipliers, lane *to)
{
    const bool         motor = b->joint.is_rotor;
    const int          v     = b->joint.v;
    const dyn_friction f     = motor ? motor_friction(b) : b->joint.friction;
    const lane         s     = motor ? qd[v] : joint_rate(b, qd);
    const lane         size  = (!motor && b->joint.ratio < 0 ? -1.0 : 1.0) * multipliers[v] * lane_abs(T[v]);
    curve_gradient(&f, s, motor ? multipliers[v] : joint_rate(b, multipliers), to);
    if (!b->joint.mimic) add_load_gradient(&f, s, size, to);
}

static void friction_block(const dyn_model *m, const lane *qd, const lane *T, const lane *multipliers, lane *to)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mover < 0 || b->joint.is_multi_dof || (b->joint.is_rotor && b->joint.mimic)) continue;
        mover_gradient(b, qd, T, multipliers, to + DYN_FRICTION_PARAMETERS * (size_t)b->joint.mover);
    }
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d = &m->drive[k];
        curve_gradient(&d->friction, drive_sum(d, qd), drive_sum(d, multipliers),
                       to + DYN_FRICTION_PARAMETERS * dyn_drive_mover(m, k));
    }
}

void LANE_NAME(friction_gradient)(const dyn_scene *scene, void *memory, const dyn_friction_gradient *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    const size_t     nv = (size_t)m->nv, n = DYN_FRICTION_PARAMETERS * m->n_movers;
    clear(memory, nv);
    for (size_t block = 0; block < blocks; block++) {
        lane *to = block_out(io->gradient, block, n);
        clear(to, n);
        if (scene->terms & DYN_FRICTION)
            friction_block(m, io->qd ? block_in(io->qd, block, nv) : memory, block_in(io->T, block, nv),
                           block_in(io->multipliers, block, nv), to);
    }
}
