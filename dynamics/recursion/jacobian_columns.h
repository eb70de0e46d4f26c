/* jacobian_columns.h - computes the Jacobian of a frame relative to another body, and its first two time derivatives.
 *
 * Let z_j be a joint axis through the point p_j, fixed in a body that moves the frame's origin p, and r = p - p_j. The
 * axis has the column (Lynch & Park 2017, ch. 5) and, by the product rule, its derivatives
 *
 *     revolute:   J_j   = [z_j x r; z_j]                                  prismatic:  J_j   = [z_j; 0]
 *                 J_j'  = [z_j' x r + z_j x r'; z_j']                                 J_j'  = [z_j'; 0]
 *                 J_j'' = [z_j'' x r + 2 z_j' x r' + z_j x r''; z_j'']                J_j'' = [z_j''; 0].
 *
 * A floating body has three prismatic and three revolute axes, fixed in the body; a spherical joint has only the three
 * revolute axes. */
#pragma once
#include "world_kinematics.h"

/* The matrices to compute, 6 x nv each. */
typedef struct jacobian_rates {
    lane *J, *Jd, *Jdd; /* 6 x nv each: the Jacobian, its first and its second time derivative; NULL: not requested */
    const world_motion *axes; /* frame whose axes the components refer to; NULL: world axes */
    size_t              nv;
    const int          *column;        /* [nv] column of each velocity coordinate; NULL: column v for coordinate v */
    bool                sums;          /* true: several joints may add to one column, since the model has mimics */
    bool                zeros_are_set; /* true: the matrices hold results of another state for the same frames */
} jacobian_rates;

LANE_INLINE motion_order jacobian_order(const jacobian_rates *M)
{
    return M->Jdd ? ACCELERATIONS : M->Jd ? VELOCITIES : POSES;
}

/* Returns the components of a world vector x in the axes of frame a, and the time derivatives of the components:
 *     R^T x,   R^T (x' - w x x),   R^T (x'' - wd x x + w x (w x x - 2 x')). */
LANE_INLINE vec3_rates in_axes_of(const world_motion *a, const vec3_rates *x, motion_order order)
{
    vec3_rates r = {.x = mat3_mul_transposed(&a->R, x->x)};
    if (order < VELOCITIES) return r;
    vec3 turn = cross(a->w, x->x);
    r.d       = mat3_mul_transposed(&a->R, sub(x->d, turn));
    if (order < ACCELERATIONS) return r;
    vec3 dd = cross_add(sub(x->dd, cross(a->wd, x->x)), a->w, sub(turn, add(x->d, x->d)));
    r.dd    = mat3_mul_transposed(&a->R, dd);
    return r;
}

/* Adds x to three entries of a column, nv apart, the first one at `entry`. Unless M->sums is set, the entries were
 * zero. */
LANE_INLINE void add_rows(const jacobian_rates *M, lane *entry, vec3 x)
{
    const lane x3[3] = {x.x, x.y, x.z};
    for (size_t k = 0; k < 3; k++)
        entry[k * M->nv] = (M->sums ? entry[k * M->nv] : lane_of(0)) + x3[k];
}

LANE_INLINE void add_vector(const jacobian_rates *M, const vec3_rates *x, size_t row, size_t v)
{
    const vec3_rates c     = M->axes ? in_axes_of(M->axes, x, jacobian_order(M)) : *x;
    const size_t     first = row * M->nv + (M->column ? (size_t)M->column[v] : v);
    if (M->J) add_rows(M, M->J + first, c.x);
    if (M->Jd) add_rows(M, M->Jd + first, c.d);
    if (M->Jdd) add_rows(M, M->Jdd + first, c.dd);
}

/* Returns z x r and its time derivatives, where r is the vector from the origin of body b to the origin of frame f. */
LANE_INLINE vec3_rates velocity_of_turn(const world_motion *f, const world_motion *b, const vec3_rates *z,
                                        motion_order order)
{
    const vec3 r = sub(f->p, b->p);
    vec3_rates u = {.x = cross(z->x, r)};
    if (order < VELOCITIES) return u;
    const vec3 rd = sub(f->v, b->v);
    u.d           = cross_add(cross(z->d, r), z->x, rd);
    if (order < ACCELERATIONS) return u;
    u.dd = cross_add(cross_add(cross(z->dd, r), z->x, sub(f->a, b->a)), add(z->d, z->d), rd);
    return u;
}

/* Adds the columns of the joint of body b to the Jacobian of frame f. `B` is the motion of the body; sign: 1, or -1 if
 * the joint moves the body relative to which the Jacobian is taken. */
LANE_INLINE void add_joint_columns(const dyn_body *b, const world_motion *B, const world_motion *f, int sign,
                                   const jacobian_rates *M)
{
    const motion_order order = jacobian_order(M);
    const bool         free  = dyn_joint_has_quaternion(b->joint.kind);
    const int          first = free ? joint_first_axis(b) : b->joint.kind == DYN_REVOLUTE ? 5 : 2;
    const double       ratio = free ? sign : sign * b->joint.ratio;
    for (int k = first; k < (free ? 6 : first + 1); k++) { /* translation along, or rotation about, axis k % 3 */
        const size_t     v = (size_t)(b->joint.v + k - first);
        const vec3_rates z = fixed_vector(B, times(ratio, mat3_column(&B->R, k % 3)), order);
        if (k < 3) {
            add_vector(M, &z, 0, v);
            continue;
        }
        const vec3_rates u = velocity_of_turn(f, B, &z, order);
        add_vector(M, &u, 0, v);
        add_vector(M, &z, 3, v);
    }
}

/* True if the joints on the path between bodies a and b write all six rows of every column: all are revolute or
 * spherical, and they have all nv coordinates. */
static inline bool joints_fill_columns(const dyn_model *m, int a, int b)
{
    int columns = 0;
    while (a != b) {
        int                 *farther = b > a ? &b : &a;
        const dyn_joint_kind kind    = m->body[*farther].joint.kind;
        if (kind != DYN_REVOLUTE && kind != DYN_SPHERICAL) return false;
        columns += dyn_joint_nv(kind);
        *farther = m->body[*farther].tree.parent;
    }
    return !m->has_mimics && columns == m->nv;
}

/* True if the matrices must be set to zero before the columns of the joints between the bodies a and b are added. */
LANE_INLINE bool columns_need_zeros(const dyn_model *m, int a, int b, const jacobian_rates *M)
{
    return M->sums || M->column || !(M->zeros_are_set || joints_fill_columns(m, a, b));
}

/* Computes the Jacobian of a frame f of body `b` relative to body `a`. The joints between a and the nearest common
 * ancestor of a and b move a, so their columns have negative sign. A parent has a lower index than its children. */
LANE_INLINE void jacobian_between(const dyn_model *m, const world_motion *world, int a, int b, const world_motion *f,
                                  const jacobian_rates *M)
{
    if (columns_need_zeros(m, a, b, M)) {
        clear(M->J, 6 * M->nv);
        clear(M->Jd, 6 * M->nv);
        clear(M->Jdd, 6 * M->nv);
    }
    while (a != b)
        if (b > a) {
            add_joint_columns(&m->body[b], &world[b], f, 1, M);
            b = m->body[b].tree.parent;
        } else {
            add_joint_columns(&m->body[a], &world[a], f, -1, M);
            a = m->body[a].tree.parent;
        }
}
