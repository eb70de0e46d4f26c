/* centroidal.c - computes the motion of the centre of mass, the rate of the momentum about it, and derivatives of both.
 *
 * All 6-vectors are spatial vectors in world axes about the point O that coincides with the centre of mass c at this
 * instant. S is an axis of joint j, v the velocity of its body, v_p and a_p the velocity and spatial acceleration of
 * the parent. I, B, h and f = h' are inertia, Coriolis matrix (spatial_algebra.h), momentum and force of the body with
 * its descendants. A column of the momentum matrix is I S (Orin & Goswami 2008). A displacement along S moves the
 * descendants with their own motion, while the parent keeps its motion. In the displaced axes, v_p and a_p change by -S
 * x v_p and -S x a_p:
 *
 *     A'     = 2 B S - S x* h + I (v x S),
 *     dh/dq  = S x* h - I (S x v_p),
 *     df/dq  = S x* f - I (S x a_p - (S x v_p) x v_p) - 2 B (S x v_p),
 *     df/dqd = 2 B S - I (S x (v_p + v)).
 *
 * A' is the rate of the column I S. For moments about c instead of O, c' x (linear part) is subtracted in A', and dc/dq
 * x (linear part of the whole robot) in the derivatives with respect to q (Wensing & Orin 2016; Singh, Russell &
 * Wensing 2022). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/centroidal.h"
#include "dynamics/recursion/composite_inertia.h"
#include "dynamics/recursion/spatial_algebra.h"
#include "dynamics/recursion/world_kinematics.h"

/* Sums over a body and its descendants, about O in world axes: first moment h, linear momentum l, second moment E,
 * moment of velocities C (spatial_algebra.h), momentum and force. v and a are the velocity and spatial acceleration of
 * the body. */
typedef struct moving_composite {
    vec3   h, l;
    sym3   E;
    mat3   C;
    wrench momentum, force;
    twist  v, a;
} moving_composite;

typedef struct workspace {
    joint_transform  *XJ;
    world_motion     *world;
    moving_composite *composite;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ        = arena_take_joints(a, m),
                       .world     = arena_take(a, m->n_bodies, sizeof(world_motion)),
                       .composite = arena_take(a, m->n_bodies, sizeof(moving_composite))};
}

size_t LANE_NAME(centroidal_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- the centre of mass ------------------------------------------------------------------------------------------- */

/* Returns the centre of mass and its time derivatives in world axes, as sums of m p + R h over the bodies, divided by
 * the total mass. */
static vec3_rates moving_centre_of_mass(const dyn_model *m, const workspace *ws, motion_order order)
{
    vec3_rates sum = {vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()};
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b    = &m->body[i];
        const world_motion *B    = &ws->world[i];
        const lane          mass = lane_of(b->moments.mass);
        const vec3_rates    h    = fixed_vector(B, mat3_mul(&B->R, vec3_of(b->moments.h)), order);
        sum.x                    = add(sum.x, add_scaled(h.x, B->p, mass));
        sum.d                    = add(sum.d, add_scaled(h.d, B->v, mass));
        sum.dd                   = add(sum.dd, add_scaled(h.dd, B->a, mass));
        if (order >= JERKS) sum.ddd = add(sum.ddd, add_scaled(h.ddd, B->j, mass));
    }
    const double k = 1 / m->mass;
    return (vec3_rates){times(k, sum.x), times(k, sum.d), times(k, sum.dd), times(k, sum.ddd)};
}

/* --- composites --------------------------------------------------------------------------------------------------- */

/* Returns x y^T + y x^T. */
LANE_INLINE sym3 symmetric_product(vec3 x, vec3 y)
{
    return (sym3){2.0 * x.x * y.x, add_mul(x.x * y.y, x.y, y.x), add_mul(x.x * y.z, x.z, y.x),
                  2.0 * x.y * y.y, add_mul(x.y * y.z, x.z, y.y), 2.0 * x.z * y.z};
}

/* Returns the quantities of one body about O, without its descendants; r is the vector from O to the body's origin. */
static moving_composite own_of(const dyn_body *b, const world_motion *B, vec3 c)
{
    const vec3       r = sub(B->p, c), h = mat3_mul(&B->R, vec3_of(b->moments.h));
    moving_composite s = {.h = add_scaled(h, r, lane_of(b->moments.mass))};
    /* second moment about O: E + r h^T + h r^T + m r r^T, where the last three are r (h + m r / 2)^T + (h + m r / 2)
     * r^T */
    const sym3 shift = symmetric_product(r, add_scaled(h, r, lane_of(0.5 * b->moments.mass)));
    s.E              = sym3_add(sym3_rotate(&B->R, sym3_of(b->moments.E)), shift);
    s.v              = (twist){cross_add(B->v, r, B->w), B->w};
    s.a.v            = cross_add(cross_add(B->a, r, B->wd), B->v, B->w);
    s.a.w            = B->wd;
    s.momentum       = inertia_mul(b->moments.mass, s.h, s.E, s.v);
    s.l              = s.momentum.f;
    s.C              = velocity_moment(s.v, s.h, s.E);
    s.force          = wrench_add(inertia_mul(b->moments.mass, s.h, s.E, s.a), twist_cross_wrench(s.v, s.momentum));
    return s;
}

static void add_moving_composite(moving_composite *to, const moving_composite *from)
{
    to->h        = add(to->h, from->h);
    to->l        = add(to->l, from->l);
    to->E        = sym3_add(to->E, from->E);
    to->momentum = wrench_add(to->momentum, from->momentum);
    to->force    = wrench_add(to->force, from->force);
    for (int i = 0; i < 3; i++)
        store3(to->C.m[i], add(load3(to->C.m[i]), load3(from->C.m[i])));
}

/* Sets ws->composite of all bodies, from the tips to the base. Returns the sums of the whole robot. */
static moving_composite sum_bodies(const dyn_model *m, const workspace *ws, vec3 c)
{
    moving_composite all = {.h = vec3_zero(), .l = vec3_zero(), .momentum = {vec3_zero(), vec3_zero()}};
    all.force            = all.momentum;
    all.E                = (sym3){all.h.x, all.h.x, all.h.x, all.h.x, all.h.x, all.h.x};
    for (int i = 0; i < 3; i++)
        store3(all.C.m[i], vec3_zero());
    for (size_t i = 0; i < m->n_bodies; i++)
        ws->composite[i] = own_of(&m->body[i], &ws->world[i], c);
    for (size_t i = m->n_bodies; i-- > 0;) {
        const int parent = m->body[i].tree.parent;
        add_moving_composite(parent == DYN_WORLD ? &all : &ws->composite[parent], &ws->composite[i]);
    }
    return all;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

typedef struct columns {
    const dyn_model        *m;
    const workspace        *ws;
    const moving_composite *all;
    vec3                    c, c_dot;
    lane                   *matrix_dot, *momentum_by_q, *rate_by_q, *rate_by_qd;
} columns;

/* Returns F about a point that moves relative to O by d: subtracts d x f, with the linear part f, from the moment. */
LANE_INLINE wrench about_moving_centre(wrench F, vec3 d, vec3 f)
{
    return (wrench){F.f, cross_add(F.n, f, d)};
}

/* Adds `ratio` F to column v of a matrix of 6 x nv; `matrix` NULL: not requested. */
LANE_INLINE void add_centroidal_column(const columns *k, lane *matrix, size_t v, double ratio, wrench F)
{
    const size_t nv = (size_t)k->m->nv;
    lane         column[6];
    if (!matrix) return;
    store3(column, F.f);
    store3(column + 3, F.n);
    for (size_t r = 0; r < 6; r++) /* with mimics several joints add to one column */
        matrix[r * nv + v] = add_mul(matrix[r * nv + v], ratio, column[r]);
}

/* Adds the columns of body i's axis S, which moves coordinate v, to all requested matrices. */
static void axis_columns(const columns *k, size_t i, twist S, size_t v, double ratio)
{
    const dyn_body         *b      = &k->m->body[i];
    const moving_composite *s      = &k->ws->composite[i];
    const double            mass   = b->derived.subtree_mass;
    const int               parent = b->tree.parent;
    const twist zero = {vec3_zero(), vec3_zero()}, v_p = parent == DYN_WORLD ? zero : k->ws->composite[parent].v,
                a_p    = parent == DYN_WORLD ? zero : k->ws->composite[parent].a;
    const twist  moved = twist_cross(S, v_p);
    const wrench IS = inertia_mul(mass, s->h, s->E, S), BS = twice_coriolis_mul(s->l, &s->C, S.w),
                 dh    = wrench_sub(twist_cross_wrench(S, s->momentum), inertia_mul(mass, s->h, s->E, moved));
    const twist  da    = twist_sub(twist_cross(S, a_p), twist_cross(moved, v_p));
    const wrench df    = wrench_sub(wrench_sub(twist_cross_wrench(S, s->force), inertia_mul(mass, s->h, s->E, da)),
                                    twice_coriolis_mul(s->l, &s->C, moved.w));
    const wrench A_dot = wrench_add(wrench_sub(BS, twist_cross_wrench(S, s->momentum)),
                                    inertia_mul(mass, s->h, s->E, twist_cross(s->v, S)));
    const wrench by_qd = wrench_sub(BS, inertia_mul(mass, s->h, s->E, twist_cross(S, twist_add(v_p, s->v))));
    const vec3   dc    = times(1 / k->m->mass, IS.f);
    add_centroidal_column(k, k->matrix_dot, v, ratio, about_moving_centre(A_dot, k->c_dot, IS.f));
    add_centroidal_column(k, k->momentum_by_q, v, ratio, about_moving_centre(dh, dc, k->all->momentum.f));
    add_centroidal_column(k, k->rate_by_q, v, ratio, about_moving_centre(df, dc, k->all->force.f));
    add_centroidal_column(k, k->rate_by_qd, v, ratio, by_qd);
}

/* Returns the unit motion, about O in world axes, along or (`turns`) about an axis through the origin of body i. */
LANE_INLINE twist axis_through(const columns *k, size_t i, vec3 axis, bool turns)
{
    const vec3 r = sub(k->ws->world[i].p, k->c);
    return turns ? (twist){cross(r, axis), axis} : (twist){axis, vec3_zero()};
}

static void all_columns(const columns *k)
{
    for (size_t i = 0; i < k->m->n_bodies; i++) {
        const dyn_body *b = &k->m->body[i];
        const mat3     *R = &k->ws->world[i].R;
        if (!dyn_joint_has_quaternion(b->joint.kind)) {
            const twist S = axis_through(k, i, mat3_column(R, 2), b->joint.kind == DYN_REVOLUTE);
            axis_columns(k, i, S, (size_t)b->joint.v, b->joint.ratio);
            continue;
        }
        for (int e = joint_first_axis(b), v = b->joint.v; e < 6; e++, v++)
            axis_columns(k, i, axis_through(k, i, mat3_column(R, e % 3), e >= 3), (size_t)v, 1);
    }
}

static lane *cleared(double *matrix, size_t block, size_t nv)
{
    lane *to = block_out(matrix, block, 6 * nv);
    for (size_t e = 0; to && e < 6 * nv; e++)
        to[e] = lane_of(0);
    return to;
}

void LANE_NAME(centroidal)(const dyn_scene *scene, void *memory, const dyn_centroidal *io, size_t blocks)
{
    const dyn_model   *m  = scene->model;
    const size_t       nq = (size_t)m->nq, nv = (size_t)m->nv;
    const motion_order order          = io->com_jerk ? JERKS : ACCELERATIONS;
    arena              a              = {.base = memory};
    const workspace    ws             = place(&a, m);
    const bool         columns_needed = io->momentum_matrix_dot || io->momentum_by_q || io->rate_by_q || io->rate_by_qd;
    for (size_t block = 0; block < blocks; block++) {
        const coordinate_rates rates = {.qd   = block_in(io->qd, block, nv),
                                        .qdd  = block_in(io->qdd, block, nv),
                                        .qddd = block_in(io->qddd, block, nv)};
        set_joint_transforms(m, block_in(io->q, block, nq), ws.XJ);
        if (order == JERKS)
            world_motions(m, &(world_workspace){.XJ = ws.XJ, .world = ws.world}, rates, JERKS);
        else
            world_motions(m, &(world_workspace){.XJ = ws.XJ, .world = ws.world}, rates, ACCELERATIONS);
        const vec3_rates c = moving_centre_of_mass(m, &ws, order);
        if (io->com_acceleration) store3(block_out(io->com_acceleration, block, 3), c.dd);
        if (io->com_jerk) store3(block_out(io->com_jerk, block, 3), c.ddd);
        if (!io->momentum_rate && !columns_needed) continue;
        const moving_composite all = sum_bodies(m, &ws, c.x);
        if (io->momentum_rate) {
            store3(block_out(io->momentum_rate, block, 6), all.force.f);
            store3(block_out(io->momentum_rate, block, 6) + 3, all.force.n);
        }
        const columns k = {.m             = m,
                           .ws            = &ws,
                           .all           = &all,
                           .c             = c.x,
                           .c_dot         = c.d,
                           .matrix_dot    = cleared(io->momentum_matrix_dot, block, nv),
                           .momentum_by_q = cleared(io->momentum_by_q, block, nv),
                           .rate_by_q     = cleared(io->rate_by_q, block, nv),
                           .rate_by_qd    = cleared(io->rate_by_qd, block, nv)};
        if (columns_needed) all_columns(&k);
    }
}
