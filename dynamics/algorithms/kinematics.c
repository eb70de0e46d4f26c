/* kinematics.c - computes poses of frames, and the Jacobian, its rate, velocity, acceleration and jerk of one frame.
 *
 * Columns of the geometric Jacobian: revolute [z x (p_f - p_i); z], prismatic [z; 0] (Lynch & Park, Modern Robotics,
 * ch. 5); their rates follow from z' = w_i x z. A floating body has three prismatic and three revolute axes, fixed in
 * the body; a spherical joint has the three revolute ones. */
#include "kernels.h"
#include "dynamics/recursion/world_kinematics.h"

typedef struct workspace {
    joint_transform *XJ;
    world_motion    *world;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ = arena_take_joints(a, m), .world = arena_take(a, m->n_bodies, sizeof(world_motion))};
}

size_t LANE_NAME(kinematics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- orientation ------------------------------------------------------------------------------------------ */

/* Unit quaternion of R with w >= 0. The largest of 4 x^2 = 1 + R_xx - R_yy - R_zz, ..., 4 w^2 gives the square root
 * (Shepperd 1978), chosen lane by lane. */
static void quaternion(const mat3 *R, lane out[4])
{
    const lane(*r)[3] = R->m;
    lane       one    = lane_of(1);
    lane       x4[4]  = {one + r[0][0] - r[1][1] - r[2][2], one - r[0][0] + r[1][1] - r[2][2],
                         one - r[0][0] - r[1][1] + r[2][2], one + r[0][0] + r[1][1] + r[2][2]};
    lane       zy = r[2][1] - r[1][2], xz = r[0][2] - r[2][0], yx = r[1][0] - r[0][1];
    lane       xy = r[0][1] + r[1][0], yz = r[1][2] + r[2][1], zx = r[2][0] + r[0][2];
    const lane rows[4][4] = {{x4[0], xy, zx, zy}, {xy, x4[1], yz, xz}, {zx, yz, x4[2], yx}, {zy, xz, yx, x4[3]}};
    lane       most = x4[3], row[4] = {zy, xz, yx, x4[3]}; /* row: the quaternion q times 4 times its largest entry */
    for (int i = 0; i < 3; i++) {
        lane_mask larger = lane_less(most, x4[i]);
        most             = lane_select(larger, x4[i], most);
        for (int k = 0; k < 4; k++)
            row[k] = lane_select(larger, rows[i][k], row[k]);
    }
    lane k = 0.5 / lane_sqrt(most);
    k      = lane_select(lane_less(row[3], lane_of(0)), -k, k);
    for (int i = 0; i < 4; i++)
        out[i] = row[i] * k;
}

static void poses(const workspace *ws, size_t n, const dyn_frame *frames, lane *positions, lane *orientations)
{
    const world_motion rest = world_at_rest();
    for (size_t i = 0; i < n; i++) {
        const dyn_frame    *f = &frames[i];
        const world_motion *b = f->body == DYN_WORLD ? &rest : &ws->world[f->body];
        if (positions) store3(positions + 3 * i, add(b->p, mat3_mul(&b->R, vec3_of(f->X_bf.p))));
        if (orientations) {
            mat3 R = frame_rotation(&b->R, f);
            quaternion(&R, orientations + 4 * i);
        }
    }
}

/* --- one frame -------------------------------------------------------------------------------------------- */

static void store_twist(const dyn_kinematics *io, const frame_motion *k, lane *out, vec3 linear, vec3 angular)
{
    store3(out, io->frame_axes ? mat3_mul_transposed(&k->R, linear) : linear);
    store3(out + 3, io->frame_axes ? mat3_mul_transposed(&k->R, angular) : angular);
}

/* Adds x to column v of M; with mimics several joints add to one column. */
static void add_column(lane *M, size_t nv, size_t v, const lane x[6])
{
    for (size_t r = 0; r < 6; r++)
        M[r * nv + v] += x[r];
}

/* Adds the column for an axis of body b, and its rate. `turns`: the joint rotates about the axis, else it slides along
 * it. In the frame's own axes the rate of a column c is (R^T c)' = R^T (c' - w_f x c), with w_f the frame's angular
 * velocity. */
static void jacobian_column(const dyn_kinematics *io, const frame_motion *k, const world_motion *b, int axis,
                            bool turns, double ratio, size_t nv, size_t v, lane *J, lane *Jd)
{
    lane column[6];
    vec3 arm = sub(k->p.x, b->p), z = times(ratio, mat3_column(&b->R, axis));
    vec3 linear = turns ? cross(z, arm) : z, angular = turns ? z : vec3_zero();
    if (J) {
        store_twist(io, k, column, linear, angular);
        add_column(J, nv, v, column);
    }
    if (!Jd) return;
    vec3 zd       = cross(b->w, z);
    vec3 linear_d = turns ? cross_add(cross(zd, arm), z, sub(k->p.d, b->v)) : zd, angular_d = turns ? zd : vec3_zero();
    if (io->frame_axes) {
        linear_d  = sub(linear_d, cross(k->w, linear));
        angular_d = sub(angular_d, cross(k->w, angular));
    }
    store_twist(io, k, column, linear_d, angular_d);
    add_column(Jd, nv, v, column);
}

static void jacobian(const dyn_model *m, const workspace *ws, const dyn_kinematics *io, const frame_motion *k, lane *J,
                     lane *Jd)
{
    size_t nv = (size_t)m->nv;
    for (size_t e = 0; e < 6 * nv; e++) {
        if (J) J[e] = lane_of(0);
        if (Jd) Jd[e] = lane_of(0);
    }
    for (int i = io->frame->body; i != DYN_WORLD; i = m->body[i].tree.parent) {
        const dyn_body     *b = &m->body[i];
        const world_motion *B = &ws->world[i];
        if (!dyn_joint_has_quaternion(b->joint.kind)) {
            jacobian_column(io, k, B, 2, b->joint.kind == DYN_REVOLUTE, b->joint.ratio, nv, (size_t)b->joint.v, J, Jd);
            continue;
        }
        for (int c = joint_first_axis(b), v = b->joint.v; c < 6; c++, v++)
            jacobian_column(io, k, B, c % 3, c >= 3, 1, nv, (size_t)v, J, Jd);
    }
}

static motion_order motion_order_of(const dyn_kinematics *io)
{
    if (io->jerk) return JERKS;
    if (io->acceleration) return ACCELERATIONS;
    return io->velocity || io->jacobian_dot ? VELOCITIES : POSES;
}

void LANE_NAME(kinematics)(const dyn_scene *scene, void *memory, const dyn_kinematics *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a     = {.base = memory};
    workspace        ws    = place(&a, m);
    motion_order     order = motion_order_of(io);
    bool             one   = io->jacobian || io->jacobian_dot || io->velocity || io->acceleration || io->jerk;
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq);
        set_joint_transforms(m, q, ws.XJ);
        world_motions(m, ws.XJ, block_in(io->qd, block, nv), block_in(io->qdd, block, nv),
                      block_in(io->qddd, block, nv), ws.world, order);
        poses(&ws, io->n_frames, io->frames, block_out(io->positions, block, 3 * io->n_frames),
              block_out(io->orientations, block, 4 * io->n_frames));
        if (!one) continue;
        frame_motion k = frame_of(ws.world, io->frame, order);
        if (io->jacobian || io->jacobian_dot)
            jacobian(m, &ws, io, &k, block_out(io->jacobian, block, 6 * nv),
                     block_out(io->jacobian_dot, block, 6 * nv));
        if (io->velocity) store_twist(io, &k, block_out(io->velocity, block, 6), k.p.d, k.w);
        if (io->acceleration) store_twist(io, &k, block_out(io->acceleration, block, 6), k.p.dd, k.wd);
        if (io->jerk) store_twist(io, &k, block_out(io->jerk, block, 6), k.p.ddd, k.wdd);
    }
}
