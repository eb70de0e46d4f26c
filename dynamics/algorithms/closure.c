/* closure.c - computes the relative motion of pairs of frames: the pose of frame b relative to frame a, its Jacobian,
 * and the first two time derivatives of the Jacobian. The constraints of closed loops are built from these: the joint
 * that closes a loop prevents some of the six directions of motion (Khalil 2010, 2.2).
 *
 * With y = R_a^T (p_b - p_a) and w_rel = R_a^T (w_b - w_a), in the axes of a,
 *
 *     [dy/dt; w_rel] = J qd.
 *
 * J has the columns of the joints between b and the last common ancestor of a and b, as they move the origin of b. It
 * also has those of the joints between a and that ancestor, with negative sign: these joints rotate frame a. A world
 * vector x has, in axes that rotate with w_a, the derivatives
 *
 *     first:  x' - w_a x x,      second:  x'' - 2 w_a x x' - wd_a x x + w_a x (w_a x x). */
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

size_t LANE_NAME(closure_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Outputs for one pair of frames in one block. */
typedef struct results {
    lane *J, *Jd, *Jdd; /* Jacobian and its rates, 6 x nv each; NULL if not requested */
} results;

/* Adds x and its derivatives, in the axes of frame a, whose motion is k, to column v of each matrix, in the three rows
 * from `row` on. With mimics several joints add to one column. */
static void add_in_frame_a(const frame_motion *k, const vec3_rates *x, size_t row, size_t nv, size_t v,
                           const results *out)
{
    lane in_a[3];
    vec3 turn = cross(k->w, x->x);
    if (out->J) {
        store3(in_a, mat3_mul_transposed(&k->R, x->x));
        for (size_t i = 0; i < 3; i++)
            out->J[(row + i) * nv + v] += in_a[i];
    }
    if (out->Jd) {
        store3(in_a, mat3_mul_transposed(&k->R, sub(x->d, turn)));
        for (size_t i = 0; i < 3; i++)
            out->Jd[(row + i) * nv + v] += in_a[i];
    }
    if (out->Jdd) {
        vec3 dd = cross_add(sub(x->dd, cross(k->wd, x->x)), k->w, sub(turn, add(x->d, x->d)));
        store3(in_a, mat3_mul_transposed(&k->R, dd));
        for (size_t i = 0; i < 3; i++)
            out->Jdd[(row + i) * nv + v] += in_a[i];
    }
}

/* Adds the column of a joint whose axis z is fixed in body b: the velocity that unit joint rate gives a point with
 * motion p. `turns`: the joint rotates about z, else it slides along z. */
static void add_column(const frame_motion *a, const vec3_rates *p, const world_motion *b, vec3 z, bool turns,
                       double factor, size_t nv, size_t v, motion_order order, const results *out)
{
    vec3_rates axis = fixed_in(b, times(factor, z), order), linear = axis;
    if (turns) {
        vec3_rates arm = {.x = sub(p->x, b->p)};
        linear.x       = cross(axis.x, arm.x);
        if (order >= VELOCITIES) {
            arm.d    = sub(p->d, b->v);
            linear.d = cross_add(cross(axis.d, arm.x), axis.x, arm.d);
        }
        if (order >= ACCELERATIONS) {
            arm.dd    = sub(p->dd, b->a);
            linear.dd = cross_add(cross_add(cross(axis.dd, arm.x), axis.x, arm.dd), add(axis.d, axis.d), arm.d);
        }
        add_in_frame_a(a, &axis, 3, nv, v, out);
    }
    add_in_frame_a(a, &linear, 0, nv, v, out);
}

static void add_joint(const dyn_model *m, const workspace *ws, const frame_motion *a, const vec3_rates *p, int i,
                      int sign, motion_order order, const results *out)
{
    const dyn_body     *b  = &m->body[i];
    const world_motion *B  = &ws->world[i];
    size_t              nv = (size_t)m->nv, v = (size_t)b->joint.v;
    if (!dyn_joint_has_quaternion(b->joint.kind)) {
        add_column(a, p, B, mat3_column(&B->R, 2), b->joint.kind == DYN_REVOLUTE, sign * b->joint.ratio, nv, v, order,
                   out);
        return;
    }
    for (int k = joint_first_axis(b); k < 6; k++, v++)
        add_column(a, p, B, mat3_column(&B->R, k % 3), k >= 3, sign, nv, v, order, out);
}

/* Walks up from both frames to the last common ancestor; a parent has a lower number than its children. */
static void jacobians(const dyn_model *m, const workspace *ws, const dyn_frame_pair *pair, const frame_motion *a,
                      const frame_motion *b, motion_order order, const results *out)
{
    int up_a = pair->a.body, up_b = pair->b.body;
    while (up_a != up_b) {
        if (up_b > up_a) {
            add_joint(m, ws, a, &b->p, up_b, 1, order, out);
            up_b = m->body[up_b].tree.parent;
        } else {
            add_joint(m, ws, a, &b->p, up_a, -1, order, out);
            up_a = m->body[up_a].tree.parent;
        }
    }
}

static void put_pose(const frame_motion *a, const frame_motion *b, lane *position, lane *rotation)
{
    if (position) store3(position, mat3_mul_transposed(&a->R, sub(b->p.x, a->p.x)));
    for (int k = 0; rotation && k < 3; k++) {
        lane column[3];
        store3(column, mat3_mul_transposed(&a->R, mat3_column(&b->R, k)));
        for (int i = 0; i < 3; i++)
            rotation[3 * i + k] = column[i];
    }
}

static lane *pair_entries(lane *block, size_t entries, size_t pair)
{
    return block ? block + pair * entries : NULL;
}

static lane *zeroed(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
    return M;
}

void LANE_NAME(closure)(const dyn_scene *scene, void *memory, const dyn_closure *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv, n = io->n_pairs;
    arena            room  = {.base = memory};
    workspace        ws    = place(&room, m);
    motion_order     order = io->jacobian_ddot ? ACCELERATIONS : io->jacobian_dot ? VELOCITIES : POSES;
    for (size_t block = 0; block < blocks; block++) {
        const lane *q        = block_in(io->q, block, nq);
        lane       *position = block_out(io->positions, block, 3 * n), *turned = block_out(io->rotations, block, 9 * n);
        lane *J = block_out(io->jacobian, block, 6 * nv * n), *Jd = block_out(io->jacobian_dot, block, 6 * nv * n);
        lane *Jdd = block_out(io->jacobian_ddot, block, 6 * nv * n);
        set_joint_transforms(m, q, ws.XJ);
        world_motions(m, ws.XJ, block_in(io->qd, block, nv), block_in(io->qdd, block, nv), NULL, ws.world, order);
        for (size_t k = 0; k < n; k++) {
            frame_motion a = frame_of(ws.world, &io->pairs[k].a, order), b = frame_of(ws.world, &io->pairs[k].b, order);
            results      out = {.J   = zeroed(pair_entries(J, 6 * nv, k), 6 * nv),
                                .Jd  = zeroed(pair_entries(Jd, 6 * nv, k), 6 * nv),
                                .Jdd = zeroed(pair_entries(Jdd, 6 * nv, k), 6 * nv)};
            put_pose(&a, &b, pair_entries(position, 3, k), pair_entries(turned, 9, k));
            if (J || Jd || Jdd) jacobians(m, &ws, &io->pairs[k], &a, &b, order, &out);
        }
    }
}
