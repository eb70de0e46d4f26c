/* path_friction.c - see path_friction.h. */
#include "path_friction.h"
#include <string.h>

/* True if the friction contains the sign of the motion. */
static bool is_coulomb(const dyn_friction *f)
{
    return f->positive != 0 || f->negative != 0 || f->stribeck_velocity > 0 || f->load > 0;
}

static bool is_sharp(const dyn_friction *f)
{
    return is_coulomb(f) && !(f->coulomb_velocity > 0);
}

/* True if the friction that does not depend on the load is a constant for each direction of motion, and so a term of c.
 */
static bool is_constant(const dyn_friction *f)
{
    return is_sharp(f) && !(f->stribeck_velocity > 0);
}

/* Returns the friction of a body's joint; NULL: none. */
static const dyn_friction *friction_of(const dyn_body *body)
{
    return body->joint.has_friction ? &body->joint.friction : NULL;
}

/* Returns the rate of a body's joint per rate of its coordinate. */
static double ratio_of(const dyn_body *body)
{
    return body->joint.has_ratio ? body->joint.ratio : 1;
}

static bool has_friction(const api_query *q)
{
    return q->scene.terms & DYN_FRICTION;
}

/* Returns the Coulomb friction at a rate; only the sign of the rate matters. */
static double constant_at(const dyn_friction *f, double rate)
{
    return rate > 0 ? f->positive : rate < 0 ? 0 - f->negative : 0;
}

/* Returns the rate of a motor in a lane from the rates dq of the coordinates. */
static double motor_rate(const dyn_drive *d, const double *dq, size_t W, size_t lane)
{
    double sum = 0;
    for (size_t j = 0; j < d->n; j++)
        sum += d->weight[j] * dq[(size_t)d->joint[j] * W + lane];
    return sum;
}

static void add_coulomb_of_motor(const dyn_drive *d, size_t W, const double *dq, double *c)
{
    for (size_t lane = 0; is_constant(&d->friction) && lane < W; lane++) {
        const double effort = constant_at(&d->friction, motor_rate(d, dq, W, lane));
        for (size_t j = 0; j < d->n; j++)
            c[(size_t)d->joint[j] * W + lane] += d->weight[j] * effort;
    }
}

void api_path_add_coulomb(const api_evaluation *e, const double *dq, double *c)
{
    const dyn_model *m = e->query->scene.model;
    const size_t     W = e->lanes;
    if (!has_friction(e->query) || !dq) return;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_friction *f = friction_of(&m->body[i]);
        const size_t        v = (size_t)m->body[i].joint.v;
        const double        r = ratio_of(&m->body[i]);
        for (size_t lane = 0; f && is_constant(f) && lane < W; lane++)
            c[v * W + lane] += r * constant_at(f, r * dq[v * W + lane]);
    }
    for (size_t k = 0; k < m->n_drives; k++)
        add_coulomb_of_motor(&m->drive[k], W, dq, c);
}

/* Emits the friction of a joint that moves at `ratio` times the rate of the coordinate, or of a motor with ratio 1.
 * Constant magnitudes are terms of c, and 0 here. */
static void emit_smooth(const dyn_friction *f, const char *name, double ratio, api_emit *to)
{
    const bool   against = ratio < 0;
    const double r = against ? 0 - ratio : ratio, factor = is_constant(f) ? 0 : r;
    if (!is_coulomb(f) || (is_constant(f) && !(f->load > 0))) return;
    api_emit_object(to);
    api_emit_string_member(to, "joint", name);
    api_emit_number_member(to, "positive", factor * (against ? f->negative : f->positive));
    api_emit_number_member(to, "negative", factor * (against ? f->positive : f->negative));
    api_emit_number_member(to, "velocity", f->coulomb_velocity / r);
    if (f->stribeck_velocity > 0) {
        api_emit_number_member(to, "breakaway_positive", r * (against ? f->breakaway_negative : f->breakaway_positive));
        api_emit_number_member(to, "breakaway_negative", r * (against ? f->breakaway_positive : f->breakaway_negative));
        api_emit_number_member(to, "stribeck_velocity", f->stribeck_velocity / r);
    }
    if (f->load > 0) api_emit_number_member(to, "load", f->load);
    api_emit_end(to);
}

void api_path_emit_smooth_friction(const api_query *q, api_emit *to)
{
    const dyn_model *m = q->model->dyn;
    api_emit_array(to);
    for (size_t i = 0; has_friction(q) && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (friction_of(b)) emit_smooth(friction_of(b), q->model->velocity_names[b->joint.v], ratio_of(b), to);
    }
    for (size_t k = 0; has_friction(q) && k < m->n_drives; k++)
        emit_smooth(&m->drive[k].friction, q->model->coupled_motors[k].name, 1, to);
    api_emit_end(to);
}

/* Returns where a rate changes its sign between this row and the next, as a fraction of the way to the next row; -1:
 * nowhere. The arguments are the rates in the row before, in this row and in the row after. */
static double find_jump(double before, double here, double after)
{
    if (here == 0) return before != 0 || after != 0 ? 0 : -1;
    return (here < 0 && after > 0) || (here > 0 && after < 0) ? here / (here - after) : -1;
}

/* Writes for each row of a block where a rate changes its sign (find_jump). The rate is a weighted sum of entries of
 * q': that of a motor, or a single entry. */
static void find_jumps_of(const api_evaluation *e, size_t block, const dyn_drive *rate, double *jumps)
{
    const size_t W = e->lanes, nv = e->model->nv, last = api_states(e->query) - 1;
    double      *dq = e->plan->state[API_QD];
    for (size_t lane = 0; lane < W; lane++) {
        const size_t row    = block * W + lane < last ? block * W + lane : last;
        const double here   = motor_rate(rate, api_state_lane(e, dq, nv, row), W, 0);
        const double before = row > 0 ? motor_rate(rate, api_state_lane(e, dq, nv, row - 1), W, 0) : here;
        const double after  = row < last ? motor_rate(rate, api_state_lane(e, dq, nv, row + 1), W, 0) : here;
        jumps[lane]         = find_jump(before, here, after);
    }
}

void api_path_find_jumps(const api_evaluation *e, size_t block, double *jumps)
{
    const dyn_model *m = e->query->scene.model;
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        jumps[i] = -1;
    for (size_t i = 0; has_friction(e->query) && e->plan->state[API_QD] && i < m->n_bodies; i++) {
        const dyn_friction *f    = friction_of(&m->body[i]);
        const dyn_drive     rate = {.n = 1, .joint = {m->body[i].joint.v}, .weight = {1}};
        if (f && is_sharp(f)) find_jumps_of(e, block, &rate, jumps + (size_t)rate.joint[0] * e->lanes);
    }
}

void api_path_find_motor_jumps(const api_evaluation *e, size_t block, double *jumps)
{
    const dyn_model *m = e->query->scene.model;
    for (size_t i = 0; i < m->n_drives * e->lanes; i++)
        jumps[i] = -1;
    for (size_t k = 0; has_friction(e->query) && e->plan->state[API_QD] && k < m->n_drives; k++)
        if (is_sharp(&m->drive[k].friction)) find_jumps_of(e, block, &m->drive[k], jumps + k * e->lanes);
}

bool api_path_has_coulomb(const api_query *q)
{
    const dyn_model *m       = q->scene.model;
    bool             coulomb = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        coulomb |= friction_of(&m->body[i]) && is_coulomb(friction_of(&m->body[i]));
    for (size_t k = 0; k < m->n_drives; k++)
        coulomb |= is_coulomb(&m->drive[k].friction);
    return coulomb && has_friction(q);
}

static bool is_smooth(const dyn_friction *f)
{
    return is_coulomb(f) && (!is_constant(f) || f->load > 0);
}

bool api_path_has_smooth(const api_query *q)
{
    const dyn_model *m      = q->scene.model;
    bool             smooth = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        smooth |= friction_of(&m->body[i]) && is_smooth(friction_of(&m->body[i]));
    for (size_t k = 0; k < m->n_drives; k++)
        smooth |= is_smooth(&m->drive[k].friction);
    return smooth && has_friction(q);
}

bool api_path_has_curved_damping(const api_query *q)
{
    const dyn_model *m      = q->scene.model;
    bool             curved = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        curved |= m->body[i].joint.spring.damping2 != 0 || m->body[i].joint.spring.damping3 != 0;
    return curved;
}

bool api_path_is_damped(const api_query *q)
{
    const dyn_model *m      = q->scene.model;
    const unsigned   terms  = q->scene.terms;
    bool             damped = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        damped |= (terms & DYN_FRICTION && m->body[i].joint.has_friction && m->body[i].joint.friction.viscous != 0) ||
                  (m->body[i].joint.has_spring && m->body[i].joint.spring.damping != 0);
    for (size_t i = 0; i < m->n_couplings; i++)
        damped |= m->coupling[i].spring.damping != 0;
    for (size_t k = 0; k < m->n_drives; k++)
        damped |= terms & DYN_FRICTION && m->drive[k].friction.viscous != 0;
    return damped;
}

const dyn_model *api_path_without_coulomb(const api_query *q)
{
    const dyn_model *m      = q->scene.model;
    dyn_model       *copy   = api_take(q->pool, sizeof *copy);
    dyn_body        *bodies = api_take(q->pool, m->n_bodies * sizeof *bodies);
    dyn_drive       *drives = api_take(q->pool, (m->n_drives > 0 ? m->n_drives : 1) * sizeof *drives);
    if (!copy || !bodies || !drives) return NULL;
    *copy          = *m;
    copy->body     = bodies;
    copy->drive    = drives;
    copy->has_load = false;
    memcpy(bodies, m->body, m->n_bodies * sizeof *bodies);
    for (size_t i = 0; i < m->n_bodies; i++)
        bodies[i].joint.friction = (dyn_friction){.viscous = m->body[i].joint.friction.viscous};
    for (size_t k = 0; k < m->n_drives; k++) {
        drives[k]          = m->drive[k];
        drives[k].friction = (dyn_friction){.viscous = m->drive[k].friction.viscous};
    }
    return copy;
}
