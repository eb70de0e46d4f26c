/* cut.c - computes the wrench through a joint, and the readings of inertial sensors (cut.h). */
#include "cut.h"
#include "dynamics/math/geometry.h"
#include <string.h>

enum {
    POSE   = 7,
    MOTION = 12, /* velocity and acceleration */
    LOOK   = 64  /* wrenches between two checks of the deadline */
};

/* --- vectors ------------------------------------------------------------------------------------------------------ */

/* to += R x; with `back` R^T x. */
static void add_rotated(const double R[3][3], bool back, const double x[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            to[i] += (back ? R[k][i] : R[i][k]) * x[k];
}

static void add_multiple(double k, const double x[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] += k * x[i];
}

/* to += a x b */
static void add_moment(const double a[3], const double b[3], double to[3])
{
    double product[3];
    dyn_cross(a, b, product);
    add_multiple(1, product, to);
}

/* to += I x, for the entries xx xy xz yy yz zz of I. */
static void add_tensor_product(const double I[6], const double x[3], double to[3])
{
    to[0] += I[0] * x[0] + I[1] * x[1] + I[2] * x[2];
    to[1] += I[1] * x[0] + I[3] * x[1] + I[4] * x[2];
    to[2] += I[2] * x[0] + I[4] * x[1] + I[5] * x[2];
}

/* --- the cut ------------------------------------------------------------------------------------------------------ */

void dyn_cut_add_inertia(dyn_cut *cut, const dyn_inertia *inertia, const dyn_pose *X)
{
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2},
                     entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double c[3]                  = {X->p[0], X->p[1], X->p[2]};
    add_rotated(X->R, false, inertia->com, c);
    const double square = dyn_dot(c, c);
    for (int e = 0; e < 6; e++) {
        double turned = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                turned += X->R[row[e]][i] * inertia->about_com[entry[i][k]] * X->R[column[e]][k];
        cut->I[e] += turned + inertia->mass * ((row[e] == column[e] ? square : 0) - c[row[e]] * c[column[e]]);
    }
    cut->mass += inertia->mass;
    add_multiple(inertia->mass, c, cut->h);
}

void dyn_cut_add_compensation(dyn_cut *cut, double mass, const double h[3], const dyn_pose *X)
{
    cut->compensated_mass += mass;
    add_rotated(X->R, false, h, cut->compensated_h);
    add_multiple(mass, X->p, cut->compensated_h);
}

size_t dyn_cut_entries(const dyn_cut *cut)
{
    return MOTION + POSE * (1 + 2 * cut->n_children);
}

/* The poses of the frames, and the motion of the first one in its own axes, in lanes of W. */
typedef struct motion {
    size_t  W, n;
    double *positions, *orientations, *velocity, *acceleration;
} motion;

static motion place_motion(size_t n, size_t W, double *room)
{
    return (motion){W, n, room, room + 3 * n * W, room + POSE * n * W, room + (POSE * n + 6) * W};
}

static void move_frames(const dyn_cut_states *s, const dyn_frame *frames, const motion *m)
{
    dyn_kinematics io = {.q            = s->q,
                         .qd           = s->qd,
                         .qdd          = s->qdd,
                         .n_frames     = m->n,
                         .frames       = frames,
                         .positions    = m->positions,
                         .orientations = m->orientations,
                         .frame        = frames,
                         .frame_axes   = true,
                         .velocity     = m->velocity,
                         .acceleration = m->acceleration};
    s->kernels->kinematics(s->scene, s->workspace, &io, 1);
}

static dyn_pose frame_pose_at(const motion *m, size_t frame, size_t lane)
{
    double       r[4];
    const size_t first = 4 * frame;
    for (size_t i = 0; i < 4; i++)
        r[(i + 1) % 4] = m->orientations[(first + i) * m->W + lane];
    dyn_pose X = dyn_pose_wxyz(r);
    dyn_get3(m->positions + 3 * frame * m->W + lane, m->W, 1, X.p);
    return X;
}

/* The motion of the frame F of the rigid part behind the cut (cut.h), in the axes of F: angular velocity w,
 * acceleration a of the origin minus gravity, angular acceleration alpha, and gravity g. */
typedef struct frame_motion {
    double w[3], a[3], alpha[3], g[3];
} frame_motion;

static frame_motion frame_motion_at(const dyn_cut_states *s, const motion *m, const dyn_pose *X, size_t lane)
{
    frame_motion x;
    const double fall[3] = {-s->scene->gravity[0], -s->scene->gravity[1], -s->scene->gravity[2]};
    memset(x.g, 0, sizeof x.g);
    add_rotated(X->R, true, s->scene->gravity, x.g);
    dyn_get3(m->velocity + 3 * m->W + lane, m->W, 1, x.w);
    dyn_get3(m->acceleration + lane, m->W, 1, x.a);
    dyn_get3(m->acceleration + 3 * m->W + lane, m->W, 1, x.alpha);
    add_rotated(X->R, true, fall, x.a);
    return x;
}

static void add_rigid_part(const dyn_cut *cut, const frame_motion *x, double f[3], double n[3])
{
    double across[3], spin[3] = {0};
    dyn_cross(x->w, cut->h, across);
    add_multiple(cut->mass, x->a, f);
    add_moment(x->alpha, cut->h, f);
    add_moment(x->w, across, f);
    add_moment(cut->h, x->a, n);
    add_multiple(cut->compensated_mass, x->g, f);
    add_moment(cut->compensated_h, x->g, n);
    add_tensor_product(cut->I, x->alpha, n);
    add_tensor_product(cut->I, x->w, spin);
    add_moment(x->w, spin, n);
}

static void add_rotors(const dyn_cut *cut, const dyn_cut_states *s, const frame_motion *x, size_t lane, double n[3])
{
    const size_t W = (size_t)s->kernels->lanes;
    for (size_t i = 0; i < cut->n_rotors; i++) {
        const dyn_cut_rotor *r    = &cut->rotors[i];
        const double         rate = s->qd ? r->ratio * s->qd[r->v * W + lane] : 0;
        double               turn[3];
        dyn_cross(x->w, r->u, turn);
        add_multiple(s->qdd ? r->spin_inertia * r->ratio * s->qdd[r->v * W + lane] : 0, r->u, n);
        add_multiple(r->spin_inertia * rate, turn, n);
    }
}

/* Adds sign times a wrench to `sum`, a wrench in the axes and about the origin of the frame with pose X_wf. Force and
 * moment of the wrench have components in axes R (relative to the world), about the point p of the world. */
static void add_world_wrench(const dyn_pose *X_wf, const double R[3][3], const double p[3], const double *wrench,
                             double sign, double sum[6])
{
    double world[2][3] = {{0}}, turned_part[2][3] = {{0}}, arm[3], lever[3] = {0};
    for (int i = 0; i < 3; i++)
        arm[i] = p[i] - X_wf->p[i];
    for (int part = 0; part < 2; part++) {
        add_rotated(R, false, wrench + 3 * part, world[part]);
        add_rotated(X_wf->R, true, world[part], turned_part[part]);
    }
    add_rotated(X_wf->R, true, arm, lever);
    add_multiple(sign, turned_part[0], sum);
    add_multiple(sign, turned_part[1], sum + 3);
    dyn_cross(lever, turned_part[0], arm);
    add_multiple(sign, arm, sum + 3);
}

static void add_moving_children(const dyn_cut *cut, const dyn_cut_states *s, const motion *m, const dyn_pose *X,
                                size_t lane, double sum[6])
{
    for (size_t i = 0; i < cut->n_children; i++) {
        const dyn_pose axes = frame_pose_at(m, 1 + 2 * i, lane), point = frame_pose_at(m, 2 + 2 * i, lane);
        double         wrench[6];
        for (size_t k = 0; k < 6; k++)
            wrench[k] = s->joint_wrenches[(6 * cut->rows[i] + k) * m->W + lane];
        add_world_wrench(X, axes.R, point.p, wrench, 1, sum);
    }
}

/* Rotates force and moment of a wrench from the axes of its site to the axes of the link or of the world. */
static void turn_site(const dyn_wrench_site *site, double *wrench)
{
    for (int part = 0; site->has_axes && part < 2; part++) {
        double turned[3] = {0};
        add_rotated(site->axes, false, wrench + 3 * part, turned);
        for (int i = 0; i < 3; i++)
            wrench[3 * part + i] = turned[i];
    }
}

static void subtract_pushes(const dyn_cut *cut, const dyn_cut_states *s, const dyn_pose *X, size_t lane, double sum[6])
{
    const size_t W = (size_t)s->kernels->lanes;
    for (size_t i = 0; i < cut->n_pushes && (i % LOOK > 0 || dyn_may_continue(s->scene->deadline)); i++) {
        const dyn_cut_push    *push        = &cut->pushes[i];
        const dyn_wrench_site *site        = &s->scene->wrench[push->index];
        const dyn_pose         link        = dyn_pose_compose(X, &push->X_fl);
        static const double    world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        double                 value[9], p[3] = {link.p[0], link.p[1], link.p[2]};
        for (size_t k = 0; k < 9; k++)
            value[k] = s->wrenches[(9 * push->index + k) * W + lane];
        turn_site(site, value);
        add_rotated(link.R, false, value + 6, p);
        add_world_wrench(X, site->world_axes ? world : link.R, p, value, -1, sum);
    }
}

static void put_vector(const double x[3], size_t W, double *to)
{
    for (size_t i = 0; i < 3; i++)
        to[i * W] = x[i];
}

void dyn_cut_evaluate(const dyn_cut *cut, const dyn_cut_states *states, double *room, double *wrench)
{
    const size_t W = (size_t)states->kernels->lanes;
    const motion m = place_motion(1 + 2 * cut->n_children, W, room);
    move_frames(states, cut->frames, &m);
    for (size_t lane = 0; lane < W; lane++) {
        const dyn_pose     X      = frame_pose_at(&m, 0, lane);
        const frame_motion x      = frame_motion_at(states, &m, &X, lane);
        double             sum[6] = {0};
        add_rigid_part(cut, &x, sum, sum + 3);
        add_rotors(cut, states, &x, lane, sum + 3);
        add_moving_children(cut, states, &m, &X, lane, sum);
        subtract_pushes(cut, states, &X, lane, sum);
        put_vector(sum, W, wrench + lane);
        put_vector(sum + 3, W, wrench + 3 * W + lane);
    }
}

size_t dyn_inertial_entries(void)
{
    return MOTION + POSE;
}

void dyn_inertial_evaluate(const dyn_frame *frame, const dyn_cut_states *states, double *room,
                           const dyn_inertial_reading *reading)
{
    const size_t W = (size_t)states->kernels->lanes;
    const motion m = place_motion(1, W, room);
    move_frames(states, frame, &m);
    for (size_t lane = 0; lane < W; lane++) {
        const dyn_pose     X = frame_pose_at(&m, 0, lane);
        const frame_motion x = frame_motion_at(states, &m, &X, lane);
        if (reading->specific_force) put_vector(x.a, W, reading->specific_force + lane);
        if (reading->angular_velocity) put_vector(x.w, W, reading->angular_velocity + lane);
    }
}
