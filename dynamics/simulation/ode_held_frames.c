/* ode_held_frames.c - simulates held frames (ode_held_frames.h). */
#include "ode_held_frames.h"
#include "dynamics/contact/rolling.h"
#include "dynamics/model/coordinates.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include "dynamics/math/elementary.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 2 /* Newton iterations with one Jacobian; steps are short, so that two reach rounding */ };

#define UNSETTLED 1e4   /* factor of V (held_directions.h) for `velocity`, since stages are less consistent */
#define RESTING   1e-9  /* relative to the joints' contributions: smaller velocities along held axes count as zero */
#define STILL     1e-12 /* absolute, m/s and rad/s: bound of rounding errors of a motion that starts at rest */

struct dyn_ode_held {
    dyn_held_set      fixed;       /* frames and world axes along which the position is kept; fixed.k may be 0 */
    dyn_contact_block velocity;    /* constraint matrices of all held axes */
    dyn_contact_block position;    /* constraint matrices of the axes of `fixed` */
    dyn_frame        *frames;      /* [n] the held frames */
    double           *start_poses; /* in lanes: [n][3] origins, then [n][4] quaternions, at time 0 */
    double           *poses;       /* in lanes: present poses, laid out like start_poses */
    double           *wrenches;    /* in lanes: 6 per frame, the wrench on each */
    double           *residual;    /* in lanes: accelerations along held axes that damping leaves, 6 per frame */
    double           *q, *qd;      /* in lanes: scratch */
    double           *step;        /* in lanes: nv, scratch: change of positions */
    double           *offsets; /* in lanes: fixed.k, displacements from the initial poses along the axes of `fixed` */
};

/* --- opening ---------------------------------------------------------------------------------------------------- */

static void add_axes(dyn_held_frame *place, int first)
{
    for (int i = first; i < first + 3; i++)
        place->axis[place->n++] = i;
}

/* Returns the axes along which the position of a held frame is kept (ode_held_frames.h), given the axes along which its
 * velocity is held. */
static dyn_held_frame fixed_axes_of(const dyn_held_frame *held)
{
    dyn_held_frame place = {.frame = held->frame};
    int            lines = 0, turns = 0;
    if (held->rolling) return (dyn_held_frame){.frame = held->frame, .n = 1, .axis = {2}, .rolling = held->rolling};
    for (size_t i = 0; i < held->n; i++)
        *(held->axis[i] < 3 ? &lines : &turns) += 1;
    if (lines == 3) add_axes(&place, 0);
    for (size_t i = 0; i < held->n; i++)
        if (lines < 3 && held->axis[i] < 3 && !held->frame_axes) place.axis[place.n++] = held->axis[i];
    if (turns == 3) add_axes(&place, 3);
    return place;
}

static bool take_fixed(dyn_memory memory, dyn_ode_held *c, const dyn_held_set *contact)
{
    c->fixed  = (dyn_held_set){.n = contact->n, .frame = dyn_take(memory, contact->n * sizeof *c->fixed.frame)};
    c->frames = dyn_take(memory, contact->n * sizeof *c->frames);
    for (size_t i = 0; c->fixed.frame && c->frames && i < contact->n; i++) {
        c->fixed.frame[i] = fixed_axes_of(&contact->frame[i]);
        c->fixed.k += c->fixed.frame[i].n;
        c->frames[i] = contact->frame[i].frame;
    }
    return c->fixed.frame && c->frames;
}

dyn_ode_held *dyn_ode_held_open(dyn_memory memory, const dyn_robot_ode *ode, const dyn_held_set *contact)
{
    size_t        nq = ode->s->mechanism.nq, nv = ode->s->mechanism.nv;
    bool          room = true;
    dyn_ode_held *c    = dyn_take(memory, sizeof *c);
    if (!c || !take_fixed(memory, c, contact)) return NULL;
    double *velocity = dyn_take_zeroed(memory, dyn_contact_entries(nv, contact) * ode->W, &room);
    double *position = dyn_take_zeroed(memory, dyn_contact_entries(nv, &c->fixed) * ode->W, &room);
    c->start_poses   = dyn_take_zeroed(memory, 7 * contact->n * ode->W, &room);
    c->poses         = dyn_take_zeroed(memory, 7 * contact->n * ode->W, &room);
    c->wrenches      = dyn_take_zeroed(memory, DYN_FRAME_AXES * contact->n * ode->W, &room);
    c->residual      = dyn_take_zeroed(memory, DYN_FRAME_AXES * contact->n * ode->W, &room);
    c->q             = dyn_take_zeroed(memory, nq * ode->W, &room);
    c->qd            = dyn_take_zeroed(memory, nv * ode->W, &room);
    c->step          = dyn_take_zeroed(memory, nv * ode->W, &room);
    c->offsets       = dyn_take_zeroed(memory, c->fixed.k * ode->W, &room);
    if (!room) return NULL;
    c->velocity           = dyn_contact_lay_out(contact, nv, ode->W, velocity);
    c->position           = dyn_contact_lay_out(&c->fixed, nv, ode->W, position);
    c->velocity.unsettled = UNSETTLED;
    c->velocity.damping   = ode->s->damping;
    return c;
}

dyn_contact_block *dyn_ode_held_block(dyn_robot_ode *ode)
{
    return &ode->contact->velocity;
}

const double *dyn_ode_held_wrenches(const dyn_ode_held *c)
{
    return c->wrenches;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

static dyn_contact_states states_of(const dyn_robot_ode *ode, const double *q, const double *qd)
{
    return (dyn_contact_states){
        .kernels = ode->kernels, .scene = ode->s->scene, .workspace = ode->workspace, .q = q, .qd = qd};
}

static void fill(const dyn_robot_ode *ode, const dyn_contact_block *b, const double *q, const double *qd)
{
    const dyn_contact_states states = states_of(ode, q, qd);
    dyn_contact_evaluate(b, &states);
}

static void find_poses(const dyn_robot_ode *ode, const double *q, double *to)
{
    const dyn_ode_held *c  = ode->contact;
    size_t              n  = c->fixed.n;
    dyn_kinematics      io = {
             .q = q, .n_frames = n, .frames = c->frames, .positions = to, .orientations = to + 3 * n * ode->W};
    ode->kernels->kinematics(ode->s->scene, ode->workspace, &io, 1);
}

/* --- the rate --------------------------------------------------------------------------------------------------- */

/* Factors the constraint matrix in all lanes. Driven coordinates are those with a prescribed motion and, if `sticking`,
 * those that stick. */
static void factor_constraint(dyn_robot_ode *ode, dyn_contact_block *b, bool sticking)
{
    const dyn_contact_states states = states_of(ode, NULL, NULL);
    b->decoupled                    = false;
    for (size_t l = 0; l < ode->W; l++) {
        const bool *driven = sticking ? dyn_ode_driven(ode, l) : ode->s->prescribed.mask;
        b->decoupled       = b->decoupled || driven;
        dyn_contact_set_driven(b, driven, l);
    }
    dyn_contact_factor(b, &states);
}

/* Computes the wrenches on the held frames and the change of the accelerations qdd that they cause, in all lanes.
 * `checks`: marks contradictory constraints. */
static void find_constraint_efforts(const dyn_robot_ode *ode, const double *qdd, bool checks)
{
    const dyn_contact_states states = states_of(ode, NULL, NULL);
    const dyn_contact_block *b      = &ode->contact->velocity;
    dyn_contact_find(b, &states, b->jdot_qd, qdd, 1, checks);
}

void dyn_ode_held_rate(dyn_robot_ode *ode, double t, const double *qd, double *qdd)
{
    dyn_ode_held      *c = ode->contact;
    dyn_contact_block *b = &c->velocity;
    fill(ode, b, ode->q, qd);
    factor_constraint(ode, b, true);
    find_constraint_efforts(ode, qdd, true);
    for (size_t l = dyn_robot_ode_first_lane(ode); l < dyn_robot_ode_distinct_lanes(ode); l++) {
        if (!dyn_contact_is_factored(b, l)) continue; /* numbers are too large; then the rate is not finite either */
        dyn_contact_put_wrenches(b, l, c->wrenches);
        if (b->contradictory[l] > 0)
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_CONTRADICTION, t, (size_t)b->contradictory[l]);
        dyn_contact_add_change(b, l, qdd);
    }
    dyn_contact_pad(b, dyn_robot_ode_distinct_lanes(ode), b->nv, qdd);
    dyn_contact_pad(b, dyn_robot_ode_distinct_lanes(ode), DYN_FRAME_AXES * c->fixed.n, c->wrenches);
}

void dyn_ode_held_set_wrenches(dyn_robot_ode *ode, const double *qdd)
{
    dyn_contact_block *b = &ode->contact->velocity;
    factor_constraint(ode, b, false);
    find_constraint_efforts(ode, qdd, false);
    for (size_t l = dyn_robot_ode_first_lane(ode); l < dyn_robot_ode_distinct_lanes(ode); l++)
        if (dyn_contact_is_factored(b, l)) dyn_contact_put_wrenches(b, l, ode->contact->wrenches);
    dyn_contact_pad(b, dyn_robot_ode_distinct_lanes(ode), DYN_FRAME_AXES * ode->contact->fixed.n,
                    ode->contact->wrenches);
}

const double *dyn_ode_held_residual(const dyn_robot_ode *ode)
{
    const dyn_ode_held *c = ode->contact;
    for (size_t l = 0; l < ode->W; l++)
        dyn_contact_put_residual(&c->velocity, ode->s->damping, c->wrenches, l, c->residual);
    return c->residual;
}

void dyn_ode_held_subtract_efforts(const dyn_robot_ode *ode, double *tau)
{
    const dyn_ode_held *c = ode->contact;
    for (size_t l = dyn_robot_ode_first_lane(ode); l < dyn_robot_ode_distinct_lanes(ode); l++)
        dyn_contact_subtract_efforts(&c->velocity, c->wrenches, l, tau);
    dyn_contact_pad(&c->velocity, dyn_robot_ode_distinct_lanes(ode), c->velocity.nv, tau);
}

/* --- projection after a step -------------------------------------------------------------------------------------- */

/* Writes the rotation vector, in world axes, from the orientation b to r, unit quaternions x y z w: 2 atan2(|v|, s)
 * v/|v| with (v, s) = r b^-1. */
static void turn_between(const double *r, const double *b, size_t W, double turn[3])
{
    const double x = r[0], y = r[W], z = r[2 * W], w = r[3 * W], a = b[0], e = b[W], f = b[2 * W], g = b[3 * W];
    double       v[3] = {x * g - w * a - y * f + z * e, y * g - w * e - z * a + x * f, z * g - w * f - x * e + y * a};
    double       s = w * g + x * a + y * e + z * f, length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double       scale = length > 0 ? 2 * dyn_atan2(s < 0 ? -length : length, fabs(s)) / length : 2;
    for (int i = 0; i < 3; i++)
        turn[i] = scale * v[i];
}

/* Returns the height of the contact point of rolling frame i above the plane through the world's origin, in lane l. */
static double find_height(const dyn_robot_ode *ode, const double *poses, size_t i, size_t l)
{
    const dyn_ode_held *c       = ode->contact;
    const dyn_rolling  *rolling = c->fixed.frame[i].rolling;
    const size_t        W = ode->W, turn = (3 * c->fixed.n + 4 * i) * W + l;
    double              s[3], height     = 0;
    double              quaternion[4];
    for (size_t k = 0; k < 4; k++)
        quaternion[k] = poses[turn + k * W];
    dyn_rolling_find_lever(rolling, 1, quaternion, NULL, s, NULL);
    for (size_t k = 0; k < 3; k++)
        height += rolling->axes[2][k] * (poses[(3 * i + k) * W + l] + s[k]);
    return height;
}

/* Writes the displacements of the held frames from their initial poses in lane l to c->offsets, one per row of
 * c->position. */
static void find_offsets(const dyn_robot_ode *ode, size_t l)
{
    const dyn_ode_held *c = ode->contact;
    size_t              W = ode->W, n = c->fixed.n, row = 0;
    for (size_t i = 0; i < n; i++) {
        double offset[DYN_FRAME_AXES];
        for (size_t k = 0; k < 3; k++)
            offset[k] = c->poses[(3 * i + k) * W + l] - c->start_poses[(3 * i + k) * W + l];
        size_t turn = (3 * n + 4 * i) * W + l;
        turn_between(c->poses + turn, c->start_poses + turn, W, offset + 3);
        if (c->fixed.frame[i].rolling)
            offset[2] = find_height(ode, c->poses, i, l) - find_height(ode, c->start_poses, i, l);
        for (size_t k = 0; k < c->fixed.frame[i].n; k++)
            c->offsets[row++ * W + l] = offset[c->fixed.frame[i].axis[k]];
    }
}

void dyn_ode_held_move(const dyn_robot_ode *ode, size_t l, double *to, const double *step)
{
    const dyn_mechanism *m = &ode->s->mechanism;
    for (size_t i = 0; i < m->tree->n_bodies; i++) {
        const dyn_body *body = &m->tree->body[i];
        if (body->joint.mimic || dyn_first_position(m, body) < 0) continue; /* passive: set by closing the loops */
        size_t q = (size_t)dyn_first_position(m, body), v = (size_t)dyn_first_velocity(m, body);
        dyn_coordinates_move(body, to + q * ode->W + l, ode->W, step + v * ode->W + l, 1);
    }
}

static void project_positions(dyn_robot_ode *ode, double t, size_t lanes)
{
    dyn_ode_held            *c      = ode->contact;
    dyn_contact_block       *b      = &c->position;
    const dyn_contact_states states = states_of(ode, NULL, NULL);
    for (int round = 0; round < ROUNDS && b->task.k > 0; round++) {
        dyn_robot_ode_close_loops(ode, t, c->q);
        find_poses(ode, c->q, c->poses);
        if (round == 0) {
            fill(ode, b, c->q, NULL);
            factor_constraint(ode, b, true);
        }
        for (size_t l = 0; l < ode->W; l++)
            find_offsets(ode, l);
        dyn_contact_find(b, &states, c->offsets, NULL, 1, false);
        memset(c->step, 0, b->nv * ode->W * sizeof *c->step);
        for (size_t l = dyn_robot_ode_first_lane(ode); l < lanes; l++) {
            if (!dyn_contact_is_factored(b, l)) continue;
            dyn_contact_add_change(b, l, c->step);
            dyn_ode_held_move(ode, l, c->q, c->step);
        }
        dyn_contact_pad(b, lanes, ode->state.nq, c->q);
    }
}

static void project_velocities(dyn_robot_ode *ode, double t, size_t lanes)
{
    dyn_ode_held            *c      = ode->contact;
    dyn_contact_block       *b      = &c->velocity;
    const dyn_contact_states states = states_of(ode, NULL, NULL);
    dyn_robot_ode_close_loops(ode, t, c->q);
    fill(ode, b, c->q, NULL);
    factor_constraint(ode, b, true);
    dyn_contact_find(b, &states, NULL, c->qd, 1, false);
    for (size_t l = dyn_robot_ode_first_lane(ode); l < lanes; l++)
        if (dyn_contact_is_factored(b, l)) dyn_contact_add_change(b, l, c->qd);
}

void dyn_ode_held_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    dyn_ode_held *c  = ode->contact;
    size_t        nq = ode->state.nq, nv = ode->state.nv, W = ode->W;
    if (ode->s->damping > 0) return; /* contact damping lets frames move along held axes */
    for (size_t l = 0; l < W; l++) {
        size_t from = l < lanes ? l : lanes - 1;
        for (size_t i = 0; i < nq; i++)
            c->q[i * W + l] = y[i * stride + from];
        for (size_t i = 0; i < nv; i++)
            c->qd[i * W + l] = y[(nq + i) * stride + from];
    }
    size_t different = lanes < ode->state.rows ? lanes : dyn_robot_ode_distinct_lanes(ode);
    project_positions(ode, t, different);
    project_velocities(ode, t, different);
    dyn_contact_pad(&c->velocity, different, nq, c->q);
    dyn_contact_pad(&c->velocity, different, nv, c->qd);
    for (size_t l = 0; l < lanes; l++) {
        for (size_t i = 0; i < nq; i++)
            y[i * stride + l] = c->q[i * W + l];
        for (size_t i = 0; i < nv; i++)
            y[(nq + i) * stride + l] = c->qd[i * W + l];
    }
}

/* True if the held frames of one simulation do not move along their held axes, up to rounding. */
static bool is_at_rest(const dyn_robot_ode *ode, size_t l)
{
    const dyn_contact_block *b                             = &ode->contact->velocity;
    const double            *qd                            = ode->state.y + ode->state.nq * ode->W;
    double                   right_side[DYN_MAX_HELD_AXES] = {0};
    dyn_contact_add_jacobian_product(b, qd, l, right_side);
    for (size_t a = 0; a < b->task.k; a++) {
        double size = 0;
        for (size_t v = 0; v < b->nv; v++)
            size += fabs(b->J[(a * b->nv + v) * ode->W + l] * qd[v * ode->W + l]);
        if (!(fabs(right_side[a]) <= RESTING * size + STILL)) return false;
    }
    return true;
}

void dyn_ode_held_start(dyn_robot_ode *ode)
{
    dyn_robot_ode_close_loops(ode, 0, ode->state.y);
    fill(ode, &ode->contact->velocity, ode->state.y, NULL);
    for (size_t l = 0; l < ode->state.rows; l++)
        if (ode->s->damping == 0 && !is_at_rest(ode, l))
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_HELD_MOVES, 0, 0);
    find_poses(ode, ode->state.y, ode->contact->start_poses);
}
