/* kinematics.c - computes poses of frames, and the Jacobian, its rate, velocity, acceleration and jerk of one frame.
 *
 * world_kinematics.h has the recursion over bodies, jacobian_columns.h the columns of the Jacobian. */
#include "kernels.h"
#include "dynamics/recursion/frame_poses.h"

typedef struct kinematics_workspace {
    world_workspace motions;
    column_pose    *poses; /* [n_bodies] poses of bodies, for the Jacobian without rates */
} kinematics_workspace;

static kinematics_workspace place(arena *a, const dyn_model *m)
{
    return (kinematics_workspace){.motions = place_world(a, m),
                                  .poses   = arena_take(a, m->n_bodies, sizeof(column_pose))};
}

size_t LANE_NAME(kinematics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- orientation ------------------------------------------------------------------------------------------ */

/* Writes the unit quaternion of R with w >= 0. The square root is taken of the largest of 4 x^2 = 1 + R_xx - R_yy -
 * R_zz, ..., 4 w^2 (Shepperd 1978), which is chosen in each lane. */
static void quaternion(const mat3 *R, lane out[4])
{
    const lane(*r)[3] = R->m;
    lane one          = lane_of(1);
    lane x4[4]        = {one + r[0][0] - r[1][1] - r[2][2], one - r[0][0] + r[1][1] - r[2][2],
                         one - r[0][0] - r[1][1] + r[2][2], one + r[0][0] + r[1][1] + r[2][2]};
    /* row: 4 w x, 4 w y, 4 w z as differences, and 4 x y, 4 y z, 4 z x as sums of entries of R */
    lane       zy = r[2][1] - r[1][2], xz = r[0][2] - r[2][0], yx = r[1][0] - r[0][1];
    lane       xy = r[0][1] + r[1][0], yz = r[1][2] + r[2][1], zx = r[2][0] + r[0][2];
    const lane rows[4][4] = {{x4[0], xy, zx, zy}, {xy, x4[1], yz, xz}, {zx, yz, x4[2], yx}, {zy, xz, yx, x4[3]}};
    lane       most = x4[3], row[4] = {zy, xz, yx, x4[3]}; /* row: 4 q_max q, with q_max the largest entry of q */
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

static void put_poses(const world_workspace *ws, const dyn_kinematics *io, lane *positions, lane *orientations)
{
    const world_motion rest = world_at_rest();
    for (size_t i = 0; i < io->n_frames; i++) {
        const dyn_frame    *f = &io->frames[i];
        const world_motion *b = motion_of(ws->world, &rest, f->body);
        if (positions) store3(positions + 3 * i, frame_origin(b, f, POSES).p);
        if (orientations) {
            mat3 R = frame_rotation(b, f);
            quaternion(&R, orientations + 4 * i);
        }
    }
}

/* --- one frame -------------------------------------------------------------------------------------------- */

/* Stores a velocity, acceleration or jerk of the frame in the axes that `io` requests: linear, then angular. `out`
 * NULL: not requested. */
static void store_twist(const dyn_kinematics *io, const world_motion *f, vec3 linear, vec3 angular, lane *out)
{
    if (!out) return;
    store3(out, io->frame_axes ? mat3_mul_transposed(&f->R, linear) : linear);
    store3(out + 3, io->frame_axes ? mat3_mul_transposed(&f->R, angular) : angular);
}

static motion_order motion_order_of(const dyn_kinematics *io)
{
    if (io->jerk) return JERKS;
    if (io->acceleration) return ACCELERATIONS;
    return io->velocity || io->jacobian_dot ? VELOCITIES : POSES;
}

static void need_frames(const dyn_model *m, const dyn_kinematics *io, needed_bodies *needed)
{
    need_nothing(m, needed);
    for (size_t i = 0; i < io->n_frames; i++)
        need_body(m, needed, io->frames[i].body);
    if (io->frame) need_body(m, needed, io->frame->body);
    list_needed(m, needed);
}

/* --- poses and the Jacobian in world axes, without rates ----------------------------------------------------- */

static void evaluate_poses(const dyn_model *m, const kinematics_workspace *ws, const dyn_kinematics *io, size_t block)
{
    const size_t      nv        = (size_t)m->nv;
    const column_pose world     = world_columns();
    lane             *positions = block_out(io->positions, block, 3 * io->n_frames),
         *orientations          = block_out(io->orientations, block, 4 * io->n_frames);
    needed_poses(m, block_in(io->q, block, (size_t)m->nq), &ws->motions.needed, ws->motions.XJ, ws->poses);
    for (size_t i = 0; i < io->n_frames; i++) {
        const dyn_frame   *f = &io->frames[i];
        const column_pose *b = f->body == DYN_WORLD ? &world : &ws->poses[f->body];
        if (positions) store3(positions + 3 * i, triple_vec3(frame_point(b, f)));
        if (orientations) {
            const mat3 R = frame_columns(b, f);
            quaternion(&R, orientations + 4 * i);
        }
    }
    if (!io->jacobian) return;
    const int            body = io->frame->body;
    const triple         p    = frame_point(body == DYN_WORLD ? &world : &ws->poses[body], io->frame);
    const jacobian_rates M    = {.J             = block_out(io->jacobian, block, 6 * nv),
                                 .nv            = nv,
                                 .sums          = m->has_mimics,
                                 .zeros_are_set = io->zeros_are_set};
    jacobian_from_poses(m, ws->poses, body, p, &M);
}

/* --- all outputs --------------------------------------------------------------------------------------------- */

static void evaluate_motions(const dyn_model *m, const world_workspace *ws, const dyn_kinematics *io,
                             motion_order order, size_t block)
{
    const size_t           nv    = (size_t)m->nv;
    const world_motion     rest  = world_at_rest();
    const coordinate_rates rates = {block_in(io->qd, block, nv), block_in(io->qdd, block, nv),
                                    block_in(io->qddd, block, nv)};
    needed_motions(m, ws, block_in(io->q, block, (size_t)m->nq), rates, order);
    put_poses(ws, io, block_out(io->positions, block, 3 * io->n_frames),
              block_out(io->orientations, block, 4 * io->n_frames));
    const world_motion *b = motion_of(ws->world, &rest, io->frame->body);
    world_motion        f = frame_origin(b, io->frame, order);
    if (io->frame_axes) f.R = frame_rotation(b, io->frame);
    const jacobian_rates M = {.J             = block_out(io->jacobian, block, 6 * nv),
                              .Jd            = block_out(io->jacobian_dot, block, 6 * nv),
                              .axes          = io->frame_axes ? &f : NULL,
                              .nv            = nv,
                              .sums          = m->has_mimics,
                              .zeros_are_set = io->zeros_are_set};
    if (M.J || M.Jd) jacobian_between(m, ws->world, DYN_WORLD, io->frame->body, &f, &M);
    store_twist(io, &f, f.v, f.w, block_out(io->velocity, block, 6));
    store_twist(io, &f, f.a, f.wd, block_out(io->acceleration, block, 6));
    store_twist(io, &f, f.j, f.wdd, block_out(io->jerk, block, 6));
}

void LANE_NAME(kinematics)(const dyn_scene *scene, void *memory, const dyn_kinematics *io, size_t blocks)
{
    const dyn_model     *m          = scene->model;
    arena                a          = {.base = memory};
    kinematics_workspace ws         = place(&a, m);
    const motion_order   order      = motion_order_of(io);
    const bool           poses_only = order == POSES && !(io->jacobian && io->frame_axes);
    need_frames(m, io, &ws.motions.needed);
    for (size_t block = 0; block < blocks; block++)
        if (poses_only)
            evaluate_poses(m, &ws, io, block);
        else
            evaluate_motions(m, &ws.motions, io, order, block);
}
