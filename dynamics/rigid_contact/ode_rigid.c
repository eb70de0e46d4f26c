/* ode_rigid.c - simulates rigid contacts between their events (ode_rigid.h). */
#include "ode_rigid.h"
#include "dynamics/math/geometry.h"
#include "dynamics/simulation/ode_held_frames.h"
#include <math.h>
#include <string.h>

#define LONGEST_STEP 1e-2 /* s: in a longer step a point could touch a plane unnoticed */
#define TURNED       0.5  /* cosine: if its velocity turns by more in a step, a point may be stopping, and d is kept */

enum { ROUNDS = 2 /* Newton iterations with one Jacobian; steps are short, so that two reach rounding */ };

double dyn_ode_rigid_longest_step(void)
{
    return LONGEST_STEP;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Sets the axes of a plane: two tangents and the normal, right-handed. */
static void set_axes(const double normal[3], double axes[3][3])
{
    int    least   = 0;
    double unit[3] = {0};
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) < fabs(normal[least])) least = i;
    unit[least] = 1;
    dyn_cross(normal, unit, axes[1]);
    const double size = dyn_norm(axes[1]);
    for (int i = 0; i < 3; i++) {
        axes[1][i] /= size;
        axes[2][i] = normal[i];
    }
    dyn_cross(axes[1], normal, axes[0]);
}

static bool take_contacts(dyn_memory memory, dyn_ode_rigid *r)
{
    r->held =
        (dyn_held_set){.n = r->n, .k = DYN_RIGID_ROWS * r->n, .frame = dyn_take(memory, r->n * sizeof *r->held.frame)};
    r->plane  = dyn_take(memory, r->n * sizeof *r->plane);
    r->frames = dyn_take(memory, r->n * sizeof *r->frames);
    if (!r->held.frame || !r->plane || !r->frames) return false;
    for (size_t i = 0; i < r->n; i++) {
        r->plane[i] = (dyn_rolling){.radius = 0};
        set_axes(r->contact[i].normal, r->plane[i].axes);
        r->frames[i] = r->contact[i].frame;
        r->held.frame[i] =
            (dyn_held_frame){.frame = r->frames[i], .n = DYN_RIGID_ROWS, .axis = {0, 1, 2}, .rolling = &r->plane[i]};
    }
    return true;
}

bool dyn_ode_rigid_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_simulation *s  = ode->s;
    const size_t          nq = s->mechanism.nq, nv = s->mechanism.nv, W = ode->W;
    bool                  room = true;
    if (s->n_rigid == 0) return true;
    dyn_ode_rigid *r = ode->rigid = dyn_take(memory, sizeof *r);
    if (!r) return false;
    *r = (dyn_ode_rigid){.n = s->n_rigid, .contact = s->rigid, .problem = {.nv = nv}};
    if (!take_contacts(memory, r)) return false;
    double *lanes   = dyn_take_zeroed(memory, dyn_contact_entries(nv, &r->held) * W, &room);
    double *problem = dyn_take_zeroed(memory, dyn_rigid_problem_entries(nv, r->n), &room);
    r->positions    = dyn_take_zeroed(memory, 3 * r->n * W, &room);
    r->forces       = dyn_take_zeroed(memory, 3 * r->n * W, &room);
    r->power        = dyn_take_zeroed(memory, W, &room);
    r->q            = dyn_take_zeroed(memory, nq * W, &room);
    r->qd           = dyn_take_zeroed(memory, nv * W, &room);
    r->step         = dyn_take_zeroed(memory, nv * W, &room);
    if (!room) return false;
    r->block = dyn_contact_lay_out(&r->held, nv, W, lanes);
    dyn_rigid_problem_lay_out(&r->problem, r->n, problem);
    return true;
}

void dyn_ode_rigid_reset(dyn_ode_rigid *r)
{
    r->events.n = 0;
    memset(r->mode, 0, sizeof r->mode);
    memset(r->direction, 0, sizeof r->direction);
}

/* --- contacts ----------------------------------------------------------------------------------------------------- */

void dyn_ode_rigid_evaluate(dyn_robot_ode *ode, const double *q, const double *qd)
{
    const dyn_ode_rigid     *r      = ode->rigid;
    const dyn_contact_states states = {
        .kernels = ode->kernels, .scene = ode->s->scene, .workspace = ode->workspace, .q = q, .qd = qd};
    const dyn_kinematics io = {.q = q, .n_frames = r->n, .frames = r->frames, .positions = r->positions};
    dyn_contact_evaluate(&r->block, &states);
    ode->kernels->kinematics(ode->s->scene, ode->workspace, &io, 1);
}

double dyn_ode_rigid_gap(const dyn_ode_rigid *r, size_t i, size_t lane)
{
    double gap = 0;
    for (size_t k = 0; k < 3; k++)
        gap += r->contact[i].normal[k] * (r->positions[(3 * i + k) * r->block.W + lane] - r->contact[i].point[k]);
    return gap;
}

void dyn_ode_rigid_velocity(const dyn_ode_rigid *r, size_t i, size_t lane, const double *x, double to[DYN_RIGID_ROWS])
{
    const size_t nv = r->block.nv, W = r->block.W;
    for (size_t a = 0; a < DYN_RIGID_ROWS; a++) {
        const double *row = r->block.J + (DYN_RIGID_ROWS * i + a) * nv * W + lane;
        to[a]             = 0;
        for (size_t v = 0; v < nv; v++)
            to[a] += row[v * W] * x[v * W + lane];
    }
}

size_t dyn_ode_rigid_list_closed(dyn_ode_rigid *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->mode[i] != DYN_RIGID_OPEN) r->list[n++] = i;
    return n;
}

bool dyn_ode_rigid_gather(dyn_robot_ode *ode, size_t n, size_t lane)
{
    dyn_ode_rigid           *r  = ode->rigid;
    dyn_rigid_problem       *p  = &r->problem;
    const dyn_contact_block *b  = &r->block;
    const size_t             nv = b->nv, W = b->W;
    p->n = n;
    for (size_t e = 0; e < nv * nv; e++)
        p->L[e] = b->M[e * W + lane];
    for (size_t k = 0; k < n; k++) {
        const size_t i     = r->list[k];
        p->mode[k]         = r->mode[i];
        p->friction[k]     = r->contact[i].friction;
        p->direction[k][0] = r->direction[i][0];
        p->direction[k][1] = r->direction[i][1];
        for (size_t e = 0; e < DYN_RIGID_ROWS * nv; e++)
            p->X[DYN_RIGID_ROWS * nv * k + e] = b->J[(DYN_RIGID_ROWS * nv * i + e) * W + lane];
    }
    return dyn_rigid_problem_factor(p);
}

/* --- the rate ----------------------------------------------------------------------------------------------------- */

/* Sets the direction d of sliding contact k of the problem to that of its velocity v, unless the component of v along
 * the old d is below DYN_RIGID_SLOW. */
static void turn_with_velocity(dyn_rigid_problem *p, size_t k, const double v[DYN_RIGID_ROWS])
{
    const double speed = hypot(v[0], v[1]), along = v[0] * p->direction[k][0] + v[1] * p->direction[k][1];
    if (p->mode[k] != DYN_RIGID_SLIDES || !(along > DYN_RIGID_SLOW)) return;
    p->direction[k][0] = v[0] / speed;
    p->direction[k][1] = v[1] / speed;
}

/* Writes the force of contact k of the problem, in world axes, to r->forces, and adds its power to r->power. */
static void put_force(dyn_ode_rigid *r, size_t k, size_t lane, const double v[DYN_RIGID_ROWS])
{
    const size_t  W = r->block.W, i = r->list[k];
    const double *f = r->problem.force + DYN_RIGID_ROWS * k;
    for (size_t x = 0; x < 3; x++)
        for (size_t a = 0; a < DYN_RIGID_ROWS; a++)
            r->forces[(3 * i + x) * W + lane] += r->plane[i].axes[a][x] * f[a];
    for (size_t a = 0; a < DYN_RIGID_ROWS; a++)
        r->power[lane] += f[a] * v[a];
}

/* Replaces qdd of one lane by the accelerations under the forces of the n contacts in r->list. Returns false if no
 * forces are found. */
static bool accelerate_lane(dyn_robot_ode *ode, size_t n, size_t lane, const double *qd, double *qdd)
{
    dyn_ode_rigid     *r = ode->rigid;
    dyn_rigid_problem *p = &r->problem;
    const size_t       W = ode->W;
    double             v[DYN_MAX_RIGID][DYN_RIGID_ROWS];
    if (!dyn_ode_rigid_gather(ode, n, lane)) return false;
    for (size_t k = 0; k < n; k++) {
        const size_t i = r->list[k];
        dyn_ode_rigid_velocity(r, i, lane, qd, v[k]);
        turn_with_velocity(p, k, v[k]);
        dyn_ode_rigid_velocity(r, i, lane, qdd, p->b + DYN_RIGID_ROWS * k);
        for (size_t a = 0; a < DYN_RIGID_ROWS; a++)
            p->b[DYN_RIGID_ROWS * k + a] += r->block.jdot_qd[(DYN_RIGID_ROWS * i + a) * W + lane];
    }
    if (!dyn_rigid_problem_solve(p, ode->state.deadline)) return false;
    dyn_rigid_problem_add_change(p, qdd + lane, W);
    for (size_t k = 0; k < n; k++)
        put_force(r, k, lane, v[k]);
    return true;
}

void dyn_ode_rigid_rate(dyn_robot_ode *ode, double t, const double *qd, double *qdd)
{
    dyn_ode_rigid *r    = ode->rigid;
    const size_t   last = dyn_robot_ode_distinct_lanes(ode), n = dyn_ode_rigid_list_closed(r);
    memset(r->forces, 0, 3 * r->n * ode->W * sizeof *r->forces);
    memset(r->power, 0, ode->W * sizeof *r->power);
    dyn_ode_rigid_evaluate(ode, ode->q, qd);
    for (size_t l = dyn_robot_ode_first_lane(ode); n > 0 && l < last; l++)
        if (!accelerate_lane(ode, n, l, qd, qdd) && dyn_may_continue(ode->state.deadline)) /* else: it has passed */
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_RIGID, t, r->list[0]);
    dyn_contact_pad(&r->block, last, ode->state.nv, qdd);
    dyn_contact_pad(&r->block, last, 3 * r->n, r->forces);
    dyn_contact_pad(&r->block, last, 1, r->power);
}

/* --- correction after a step -------------------------------------------------------------------------------------- */

/* Sets b of the problem to the displacements that a correction must remove, in m: along the tangents the distance from
 * the place where the contact sticks, along the normal the gap. */
static void find_displacements(dyn_ode_rigid *r)
{
    for (size_t k = 0; k < r->problem.n; k++) {
        const size_t i  = r->list[k];
        double      *to = r->problem.b + DYN_RIGID_ROWS * k;
        for (size_t a = 0; a < 2; a++) {
            to[a] = 0;
            for (size_t x = 0; x < 3; x++)
                to[a] += r->plane[i].axes[a][x] * (r->positions[(3 * i + x) * r->block.W] - r->place[i][x]);
        }
        to[2] = dyn_ode_rigid_gap(r, i, 0);
    }
}

static void correct_positions(dyn_robot_ode *ode, double t, size_t n)
{
    dyn_ode_rigid     *r = ode->rigid;
    dyn_rigid_problem *p = &r->problem;
    const size_t       W = ode->W;
    for (int round = 0; round < ROUNDS; round++) {
        dyn_robot_ode_close_loops(ode, t, r->q);
        dyn_ode_rigid_evaluate(ode, r->q, NULL);
        if (!dyn_ode_rigid_gather(ode, n, 0)) return;
        find_displacements(r);
        if (!dyn_rigid_problem_hold(p)) return;
        memset(r->step, 0, p->nv * W * sizeof *r->step);
        dyn_rigid_problem_add_change(p, r->step, W);
        dyn_contact_pad(&r->block, 1, p->nv, r->step);
        for (size_t l = 0; l < W; l++)
            dyn_ode_held_move(ode, l, r->q, r->step);
    }
}

/* Sets the direction d of a sliding contact to that of its velocity after a step, unless the contact may be about to
 * stop. */
static void renew_direction(dyn_ode_rigid *r, size_t i)
{
    double  v[DYN_RIGID_ROWS];
    double *d = r->direction[i];
    dyn_ode_rigid_velocity(r, i, 0, r->qd, v);
    const double speed = hypot(v[0], v[1]);
    if (r->mode[i] != DYN_RIGID_SLIDES || !(speed > DYN_RIGID_SLOW) || !(v[0] * d[0] + v[1] * d[1] > TURNED * speed))
        return;
    d[0] = v[0] / speed;
    d[1] = v[1] / speed;
}

void dyn_ode_rigid_correct(dyn_robot_ode *ode, double t)
{
    dyn_ode_rigid     *r = ode->rigid;
    dyn_rigid_problem *p = &r->problem;
    const size_t       n = dyn_ode_rigid_list_closed(r);
    if (n == 0) return;
    correct_positions(ode, t, n);
    dyn_robot_ode_close_loops(ode, t, r->q);
    dyn_ode_rigid_evaluate(ode, r->q, NULL);
    if (!dyn_ode_rigid_gather(ode, n, 0)) return;
    for (size_t k = 0; k < n; k++)
        dyn_ode_rigid_velocity(r, r->list[k], 0, r->qd, p->b + DYN_RIGID_ROWS * k);
    if (!dyn_rigid_problem_hold(p)) return;
    dyn_rigid_problem_add_change(p, r->qd, ode->W);
    dyn_contact_pad(&r->block, 1, p->nv, r->qd);
    for (size_t k = 0; k < n; k++)
        renew_direction(r, r->list[k]);
}

void dyn_ode_rigid_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    dyn_ode_rigid *r  = ode->rigid;
    const size_t   nq = ode->state.nq, nv = ode->state.nv, W = ode->W;
    if (dyn_ode_rigid_list_closed(r) == 0) return;
    for (size_t l = 0; l < W; l++) {
        for (size_t i = 0; i < nq; i++)
            r->q[i * W + l] = y[i * stride];
        for (size_t i = 0; i < nv; i++)
            r->qd[i * W + l] = y[(nq + i) * stride];
    }
    dyn_ode_rigid_correct(ode, t);
    for (size_t l = 0; l < lanes; l++) {
        for (size_t i = 0; i < nq; i++)
            y[i * stride + l] = r->q[i * W];
        for (size_t i = 0; i < nv; i++)
            y[(nq + i) * stride + l] = r->qd[i * W];
    }
}
