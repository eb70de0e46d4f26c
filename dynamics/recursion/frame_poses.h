/* frame_poses.h - computes poses of bodies and frames, and the Jacobian of one frame in world axes, without any rates.
 *
 * world_kinematics.h and jacobian_columns.h compute the same quantities and their rates, with the same bits. Here a
 * body's pose is three columns and an origin, and nothing else is stored. A rotation about a joint axis combines whole
 * columns of R_wp with coefficients that are the same in all three rows. */
#pragma once
#include "jacobian_columns.h"
#include "dynamics/math/triple.h"

/* Pose of a body or of a frame: the columns of R and the origin, in world axes. */
typedef struct column_pose {
    triple x, y, z, p;
} column_pose;

static inline column_pose world_columns(void)
{
    const lane one = lane_of(1), zero = lane_of(0);
    return (column_pose){.x = triple_of((vec3){one, zero, zero}),
                         .y = triple_of((vec3){zero, one, zero}),
                         .z = triple_of((vec3){zero, zero, one}),
                         .p = triple_of(vec3_zero())};
}

/* Returns x a + y b + z c: the product of R, with columns x, y, z, and the vector (a, b, c). */
LANE_INLINE triple columns_mul(const column_pose *R, lane a, lane b, lane c)
{
    return triple_add_scaled(triple_add_scaled(triple_scale(R->x, a), R->y, b), R->z, c);
}

/* Rotates two columns by an angle with cosine c and sine s: replaces a by c a + s b, and b by c b - s a. */
LANE_INLINE void turn_columns(triple *a, triple *b, lane c, lane s)
{
    const triple x = triple_add_scaled(triple_scale(*a, c), *b, s);
    *b             = triple_sub_scaled(triple_scale(*b, c), *a, s);
    *a             = x;
}

/* Replaces the columns of R_wp by those of R_wc = R_wp R_pc, for a joint with one coordinate, with the same operations
 * as to_child. */
LANE_INLINE void child_columns(link_transform X, column_pose *C)
{
    const dyn_body_pose *k = &X.b->pose;
    const triple         x = C->x, y = C->y, z = C->z;
    if (X.joint == DYN_REVOLUTE && X.turn == DYN_TURN_X_MINUS) {
        C->x = triple_sub_scaled(triple_scale(x, X.J.c), z, X.J.s);
        C->y = triple_sub_scaled(triple_negative(triple_scale(z, X.J.c)), x, X.J.s);
        C->z = y;
        return;
    }
    if (X.turn == DYN_TURN_ZX) turn_columns(&C->x, &C->y, lane_of(k->cg), lane_of(k->sg));
    if (X.turn == DYN_TURN_X || X.turn == DYN_TURN_ZX)
        turn_columns(&C->y, &C->z, lane_of(k->ca), lane_of(k->sa));
    else if (X.turn == DYN_TURN_X_PLUS)
        C->y = z, C->z = triple_negative(y);
    else if (X.turn == DYN_TURN_X_MINUS)
        C->y = triple_negative(z), C->z = y;
    if (X.joint == DYN_REVOLUTE) turn_columns(&C->x, &C->y, X.J.c, X.J.s);
}

/* Replaces the pose of the parent by the pose of its child, whose joint has one coordinate. Zero components of p_pc
 * cost nothing. */
LANE_INLINE void child_pose(link_transform X, column_pose *C)
{
    const dyn_body_pose *k = &X.b->pose;
    triple               d = triple_of(vec3_zero());
    if (k->offsets & DYN_ALONG_X) d = triple_add_scaled(d, C->x, lane_of(k->p_pc[0]));
    if (k->offsets & DYN_ALONG_Y) d = triple_add_scaled(d, C->y, lane_of(k->p_pc[1]));
    if (k->offsets & DYN_ALONG_Z) d = triple_add_scaled(d, C->z, lane_of(k->p_pc[2]));
    child_columns(X, C);
    if (X.joint == DYN_PRISMATIC) d = triple_add_scaled(d, C->z, X.J.c);
    C->p = triple_add(C->p, d);
}

/* Returns the pose of a body whose joint has a quaternion; X is its pose in the parent, P the parent's pose. */
LANE_INLINE column_pose free_child_pose(const joint_pose *X, const column_pose *P)
{
    return (column_pose){.x = columns_mul(P, X->R.m[0][0], X->R.m[1][0], X->R.m[2][0]),
                         .y = columns_mul(P, X->R.m[0][1], X->R.m[1][1], X->R.m[2][1]),
                         .z = columns_mul(P, X->R.m[0][2], X->R.m[1][2], X->R.m[2][2]),
                         .p = triple_add(P->p, columns_mul(P, X->p.x, X->p.y, X->p.z))};
}

/* Computes the poses of the bodies in a range; each parent is in the range or has its pose in `bodies`. The pose of a
 * body stays in registers for the next body. */
LANE_INLINE void range_poses(const dyn_model *m, const joint_transform *XJ, body_range range, column_pose *bodies)
{
    column_pose own = world_columns();
    int         at  = DYN_WORLD; /* number of the body whose pose is `own` */
    for (size_t i = range.first; i < range.end; i++) {
        const dyn_body *b = &m->body[i];
        if (b->tree.parent != at) own = b->tree.parent == DYN_WORLD ? world_columns() : bodies[b->tree.parent];
        if (dyn_joint_has_quaternion(b->joint.kind))
            own = free_child_pose(joint_pose_of(b, &XJ[i]), &own);
        else
            WITH_LINK_TRANSFORM(b, &XJ[i], child_pose, &own)
        bodies[i] = own;
        at        = (int)i;
    }
}

/* Computes the poses of the needed bodies at the positions q. */
static inline void needed_poses(const dyn_model *m, const lane *q, const needed_bodies *needed, joint_transform *XJ,
                                column_pose *bodies)
{
    for (size_t n = 0; n < needed->n; n++) {
        const body_range range = needed->range[n];
        set_some_transforms(m, q, XJ, range.first, range.end);
        range_poses(m, XJ, range, bodies);
    }
}

/* Returns the origin of frame f in world axes: p_f = p + R_wb p_bf, with the pose of its body. */
LANE_INLINE triple frame_point(const column_pose *b, const dyn_frame *f)
{
    const double *p = f->X_bf.p;
    return triple_add(b->p, columns_mul(b, lane_of(p[0]), lane_of(p[1]), lane_of(p[2])));
}

/* Returns the rotation of frame f in world axes: R_wf = R_wb R_bf. */
LANE_INLINE mat3 frame_columns(const column_pose *b, const dyn_frame *f)
{
    mat3 R;
    for (int j = 0; j < 3; j++) {
        const double(*B)[3] = f->X_bf.R;
        const vec3 column   = triple_vec3(columns_mul(b, lane_of(B[0][j]), lane_of(B[1][j]), lane_of(B[2][j])));
        R.m[0][j] = column.x, R.m[1][j] = column.y, R.m[2][j] = column.z;
    }
    return R;
}

/* --- Jacobian --------------------------------------------------------------------------------------------------- */

/* Adds x to three entries of a column, `nv` apart, the first one at `entry`. `sums`, a constant of the inlined code:
 * several joints may add to the column; otherwise the entries were zero. */
LANE_INLINE void add_to_column(lane *entry, size_t nv, triple x, const bool sums)
{
    const vec3 a          = triple_vec3(sums ? x : triple_add(triple_of(vec3_zero()), x));
    const lane entries[3] = {a.x, a.y, a.z};
    for (int k = 0; k < 3; k++, entry += nv)
        *entry = sums ? *entry + entries[k] : entries[k];
}

/* Adds to the Jacobian column of a frame at p_f the unit rotation about the axis z through the point p. */
LANE_INLINE void add_rotation(lane *column, size_t nv, triple z, triple p_f, triple p, const bool sums)
{
    add_to_column(column, nv, triple_cross(z, triple_sub(p_f, p)), sums);
    add_to_column(column + 3 * nv, nv, z, sums);
}

/* Adds the Jacobian columns, for a frame at p_f, of the joint of body b, whose pose is B. */
LANE_INLINE void add_pose_columns(const dyn_body *b, const column_pose *B, triple p_f, lane *column, size_t nv,
                                  const bool sums)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        const triple axis[3] = {B->x, B->y, B->z};
        for (int k = joint_first_axis(b); k < 3; k++)
            add_to_column(column++, nv, axis[k], sums);
        for (int k = 0; k < 3; k++)
            add_rotation(column++, nv, axis[k], p_f, B->p, sums);
        return;
    }
    const triple z = b->joint.has_ratio ? triple_scale(B->z, lane_of(b->joint.ratio)) : B->z;
    if (b->joint.kind == DYN_REVOLUTE)
        add_rotation(column, nv, z, p_f, B->p, sums);
    else
        add_to_column(column, nv, z, sums);
}

/* Adds the columns of all joints that move body b to the Jacobian M->J of a frame of b with the origin p_f. */
LANE_INLINE void add_chain_columns(const dyn_model *m, const column_pose *bodies, int b, triple p_f,
                                   const jacobian_rates *M, const bool sums)
{
    const size_t nv = M->nv;
    for (; b != DYN_WORLD; b = m->body[b].tree.parent)
        add_pose_columns(&m->body[b], &bodies[b], p_f, M->J + m->body[b].joint.v, nv, sums);
}

/* Computes the Jacobian M->J of a frame of body b with the origin p_f, in world axes. */
LANE_INLINE void jacobian_from_poses(const dyn_model *m, const column_pose *bodies, int b, triple p_f,
                                     const jacobian_rates *M)
{
    if (columns_need_zeros(m, DYN_WORLD, b, M)) clear(M->J, 6 * M->nv);
    if (M->sums)
        add_chain_columns(m, bodies, b, p_f, M, true);
    else
        add_chain_columns(m, bodies, b, p_f, M, false);
}
