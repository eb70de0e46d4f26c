/* relative_frames.c - computes the relative motion of pairs of frames: the pose of frame b relative to frame a, its
 * Jacobian, and the first two time derivatives of the Jacobian. The constraints of closed loops are built from these:
 * the joint that closes a loop prevents some of the six directions of motion (Khalil 2010, 2.2).
 *
 * With y = R_a^T (p_b - p_a) and w_rel = R_a^T (w_b - w_a), in the axes of a,
 *
 *     [dy/dt; w_rel] = J qd.
 *
 * The columns of J for joints between b and the last common ancestor of a and b are those of the Jacobian of b. The
 * columns of joints between a and that ancestor are the motion of the origin of b as if it moved with a, with negative
 * sign: these joints move frame a. */
#include "kernels.h"
#include "dynamics/recursion/jacobian_columns.h"

size_t LANE_NAME(closure_size)(const dyn_model *m)
{
    arena a = {0};
    place_world(&a, m);
    return a.used;
}

/* Stores the pose of frame b relative to frame a: position R_a^T (p_b - p_a) and rotation R_a^T R_b; NULL: not
 * requested. */
static void put_pose(const world_motion *a, const world_motion *b, lane *position, lane *rotation)
{
    if (position) store3(position, mat3_mul_transposed(&a->R, sub(b->p, a->p)));
    for (int k = 0; rotation && k < 3; k++) {
        lane column[3];
        store3(column, mat3_mul_transposed(&a->R, mat3_column(&b->R, k)));
        for (int i = 0; i < 3; i++)
            rotation[3 * i + k] = column[i];
    }
}

/* Returns the entries of a pair in a block of an output, or NULL if the output is not requested. */
static lane *pair_entries(lane *block, size_t entries, size_t pair)
{
    return block ? block + pair * entries : NULL;
}

/* Returns the place of a pair's Jacobian in a block of an output: its columns follow those of the pairs before it. */
static lane *pair_jacobian(lane *block, const dyn_closure *io, size_t nv, size_t pair)
{
    return pair_entries(block, 6, io->columns ? io->columns[pair].first : nv * pair);
}

/* Returns the number of columns of all pairs together. */
static size_t count_columns(const dyn_closure *io, size_t nv)
{
    const size_t n = io->n_pairs;
    return io->columns && n > 0 ? io->columns[n - 1].first + io->columns[n - 1].n : n * nv;
}

static void need_pairs(const dyn_model *m, const dyn_closure *io, needed_bodies *needed)
{
    need_nothing(m, needed);
    for (size_t k = 0; k < io->n_pairs; k++) {
        need_body(m, needed, io->pairs[k].a.body);
        need_body(m, needed, io->pairs[k].b.body);
    }
    list_needed(m, needed);
}

void LANE_NAME(closure)(const dyn_scene *scene, void *memory, const dyn_closure *io, size_t blocks)
{
    const dyn_model   *m  = scene->model;
    size_t             nq = (size_t)m->nq, nv = (size_t)m->nv, n = io->n_pairs, columns = count_columns(io, nv);
    arena              room  = {.base = memory};
    world_workspace    ws    = place_world(&room, m);
    motion_order       order = io->jacobian_ddot ? ACCELERATIONS : io->jacobian_dot ? VELOCITIES : POSES;
    const world_motion rest  = world_at_rest();
    need_pairs(m, io, &ws.needed);
    for (size_t block = 0; block < blocks; block++) {
        const coordinate_rates rates = {.qd = block_in(io->qd, block, nv), .qdd = block_in(io->qdd, block, nv)};
        lane *position = block_out(io->positions, block, 3 * n), *rotation = block_out(io->rotations, block, 9 * n),
             *J = block_out(io->jacobian, block, 6 * columns), *Jd = block_out(io->jacobian_dot, block, 6 * columns),
             *Jdd = block_out(io->jacobian_ddot, block, 6 * columns);
        needed_motions(m, &ws, block_in(io->q, block, nq), rates, order);
        for (size_t k = 0; k < n; k++) {
            const dyn_frame_pair *pair = &io->pairs[k];
            const world_motion    a    = frame_of(motion_of(ws.world, &rest, pair->a.body), &pair->a, order),
                               b       = frame_of(motion_of(ws.world, &rest, pair->b.body), &pair->b, order);
            const jacobian_rates M     = {.J      = pair_jacobian(J, io, nv, k),
                                          .Jd     = pair_jacobian(Jd, io, nv, k),
                                          .Jdd    = pair_jacobian(Jdd, io, nv, k),
                                          .axes   = &a,
                                          .nv     = io->columns ? io->columns[k].n : nv,
                                          .column = io->columns ? io->columns[k].column : NULL,
                                          .sums   = m->has_mimics};
            put_pose(&a, &b, pair_entries(position, 3, k), pair_entries(rotation, 9, k));
            if (J || Jd || Jdd) jacobian_between(m, ws.world, pair->a.body, pair->b.body, &b, &M);
        }
    }
}
