/* regressor.c - computes inverse dynamics as a matrix Y times inertial parameters (Atkeson, An & Hollerbach 1986).
 *
 * In the frame of link i, with the acceleration a of its origin minus gravity, h = m c, and J about the origin, the
 * wrench that moves the link is linear in its parameters phi = (m, h, J):
 *
 *     [f; n] = A phi,   f = m a + wd x h + w x (w x h),   n = h x a + J wd + w x J w.
 *
 * A degree of freedom with axis S_j, between link i and the base, has the effort S_j^T A phi, so Y_ji = S_j^T A.
 *
 * The parameters of a motor's link are those with the rotor locked. In addition, a rotor of unit spin inertia with axis
 * z and rate sd, on a link with angular velocity w, requires the moment  n = sdd z + sd w x z  on the link, and the
 * effort sdd + wd . z about the spin axis.
 *
 * With a reference velocity, the acceleration alpha(x) of reference_motion.h replaces that of each point:
 *
 *     f = m alpha(0) + wd_r x h + w_r x (w x h),   n = h x alpha(0) + J wd_r + w x J w_r - tr(J) w x w_r / 2,
 *
 * and the rotor requires  n = sdd_r z + (sd_r w + sd w_r) x z / 2  and the effort  sdd_r + (wd_r - w x w_r / 2) . z.
 *
 * The time derivative of Y is  S_r^T A + S^T A_r, with the rates of the components of S and A in the frame of the link.
 * A link whose gravity is compensated has a + share g in place of a. A is linear in a and wd and, symmetrised, bilinear
 * in w and w_r; so A_r is the sum of A at (a_r, wd_r, wd, w) and at (0, 0, w, wd). */
#include "kernels.h"
#include "dynamics/math/clear_large.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/reference_motion.h"
#include "dynamics/recursion/spatial_rate.h"

enum { PARAMETERS = 10 };

typedef struct workspace {
    joint_transform  *XJ;
    spatial_body     *body;
    dof              *dof;
    reference_motion *reference; /* reference motion of each body; NULL: none */
    body_rate        *body_rate; /* [n_bodies] rates of the motions, for regressor_dot */
    dof              *dof_rate;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ        = arena_take_joints(a, m),
                       .body      = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .dof       = arena_take(a, dof_count(m), sizeof(dof)),
                       .reference = arena_take(a, m->n_bodies, sizeof(reference_motion)),
                       .body_rate = arena_take(a, m->n_bodies, sizeof(body_rate)),
                       .dof_rate  = arena_take(a, dof_count(m), sizeof(dof))};
}

size_t LANE_NAME(regressor_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_size)(m, 0, a.used);
}

typedef struct link_motion { /* motion of the link frame, in its axes */
    mat3 R;                  /* R_wl: rotates link axes to world axes */
    vec3 x;                  /* origin of the link frame, from the reference point of spatial_world.h */
    vec3 a, w, wd; /* acceleration of the origin minus gravity; angular velocity; angular acceleration. a and wd are the
                      reference's if there is one */
    vec3 w_r;      /* angular velocity of the reference; without one, w */
    vec3 half_turn; /* w x w_r / 2; without a reference, zero */
} link_motion;

/* Returns share g in world axes: the part of gravity that the body's gravity compensation cancels. */
static vec3 compensated_gravity(const dyn_scene *scene, const dyn_body *b)
{
    return times(b->compensation.share, vec3_of(scene->gravity));
}

/* Returns the motion of the frame of the link of body i. `reference` may be NULL. */
static link_motion link_motion_of(const dyn_scene *scene, size_t i, const spatial_body *B,
                                  const reference_motion *reference)
{
    const dyn_body        *b = &scene->model->body[i];
    const reference_motion r = reference ? *reference : (reference_motion){B->v, B->a};
    link_motion            k; /* R_wl = R_wb R_bl, row by row */
    for (int row = 0; row < 3; row++)
        store3(k.R.m[row], unrotate_const(b->pose.X_bl.R, load3(B->R.m[row])));
    k.x = add(B->p, mat3_mul(&B->R, vec3_of(b->pose.X_bl.p)));
    /* v: velocity of the point x. a: its acceleration a + wd x x + w_r x v, from the spatial acceleration (a, wd) of
     * the body */
    vec3 v = cross_add(B->v.v, B->v.w, k.x);
    vec3 a = cross_add(cross_add(r.a.v, r.a.w, k.x), r.v.w, v);
    if (b->compensation.share != 0) a = add(a, compensated_gravity(scene, b));
    k.a         = mat3_mul_transposed(&k.R, a);
    k.w         = mat3_mul_transposed(&k.R, B->v.w);
    k.wd        = mat3_mul_transposed(&k.R, r.a.w);
    k.w_r       = reference ? mat3_mul_transposed(&k.R, r.v.w) : k.w;
    k.half_turn = reference ? times(0.5, cross(k.w, k.w_r)) : vec3_zero();
    return k;
}

/* The matrix A, whose columns are the wrenches of unit parameters in the link frame:
 *     m: [a; 0],   h along e: [H e; e x a] with H = [wd] + [w_r][w],   entry of J: [0; n]. */
typedef struct unit_wrenches {
    vec3 a;
    mat3 H;
    vec3 n[6]; /* moments for unit Ixx Ixy Iyy Ixz Iyz Izz */
} unit_wrenches;

/* Sets the moments n = J wd + w x J w_r - tr(J) w x w_r / 2 for J with one unit entry; an entry off the diagonal and
 * its mirror image are both 1. */
static void unit_moments(const link_motion *k, vec3 n[6])
{
    const vec3 w = k->w, r = k->w_r, wd = k->wd, d = sub(wd, k->half_turn);
    const lane xy = 0.5 * (w.x * r.y + w.y * r.x), xz = 0.5 * (w.x * r.z + w.z * r.x),
               yz = 0.5 * (w.y * r.z + w.z * r.y);
    n[0]          = (vec3){d.x, xz, -xy};
    n[1]          = (vec3){sub_mul(wd.y, w.z, r.x), add_mul(wd.x, w.z, r.y), sub_mul(w.x * r.x, w.y, r.y)};
    n[2]          = (vec3){-yz, d.y, xy};
    n[3]          = (vec3){add_mul(wd.z, w.y, r.x), sub_mul(w.z * r.z, w.x, r.x), sub_mul(wd.x, w.y, r.z)};
    n[4]          = (vec3){sub_mul(w.y * r.y, w.z, r.z), sub_mul(wd.z, w.x, r.y), add_mul(wd.y, w.x, r.z)};
    n[5]          = (vec3){yz, -xz, d.z};
}

/* Returns the wrenches of unit parameters. H = [wd] + [w_r][w], with [w_r][w] = w w_r^T - (w . w_r) 1 written entry by
 * entry. */
static unit_wrenches unit_wrenches_of(const link_motion *k)
{
    const vec3    w = k->w, r = k->w_r, wd = k->wd;
    const lane    xx = w.x * r.x, yy = w.y * r.y;
    unit_wrenches A = {.a = k->a,
                       .H = {{{neg_sub_mul(yy, w.z, r.z), w.x * r.y - wd.z, add_mul(wd.y, w.x, r.z)},
                              {add_mul(wd.z, w.y, r.x), neg_sub_mul(xx, w.z, r.z), w.y * r.z - wd.x},
                              {w.z * r.x - wd.y, add_mul(wd.x, w.z, r.y), -xx - yy}}}};
    unit_moments(k, A.n);
    return A;
}

/* Velocities and accelerations of a state, and of its reference motion. NULL means zeros. */
typedef struct rates {
    const lane *qd, *qdd;     /* velocity; acceleration, of the reference if there is one */
    const lane *qd_reference; /* velocity of the reference; without a reference, qd */
    const lane *qddd;
} rates;

/* Transforms an axis from world axes about the reference point (spatial_world.h) to the axes of a link about its
 * origin. */
LANE_INLINE twist link_axis(const link_motion *k, twist S)
{
    return (twist){mat3_mul_transposed(&k->R, cross_add(S.v, S.w, k->x)), mat3_mul_transposed(&k->R, S.w)};
}

/* Sets `row` to S^T A, the effort of an axis S for unit parameters. Products with entries of A that are always zero are
 * left out. */
LANE_INLINE void effort_row(const unit_wrenches *A, twist S, lane row[PARAMETERS])
{
    row[0] = dot(A->a, S.v);
    store3(row + 1, cross_add(mat3_mul_transposed(&A->H, S.v), A->a, S.w));
    for (int c = 0; c < 6; c++)
        row[4 + c] = dot(A->n[c], S.w);
}

/* Stores the columns of body i in Y: Y_ji = S_j^T A for every degree of freedom j between body i and the base. With
 * mimic joints Y_ji is a sum. */
static void body_columns(const dyn_scene *scene, const workspace *ws, size_t i, lane *Y)
{
    const dyn_model        *m         = scene->model;
    const reference_motion *reference = ws->reference ? &ws->reference[i] : NULL;
    const size_t            columns = PARAMETERS * m->n_rows, first = PARAMETERS * (size_t)m->body[i].tree.row;
    const link_motion       k = link_motion_of(scene, i, &ws->body[i], reference);
    const unit_wrenches     A = unit_wrenches_of(&k);
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent)
        for (size_t j = 0; j < dofs_of(&m->body[p]); j++) {
            const twist S  = ws->dof[dof_first(m, (size_t)p) + j].S;
            lane       *to = Y + ((size_t)m->body[p].joint.v + j) * columns + first, row[PARAMETERS];
            effort_row(&A, link_axis(&k, S), row);
            for (int c = 0; c < PARAMETERS; c++)
                to[c] = m->has_mimics ? to[c] + row[c] : row[c];
        }
}

/* --- time derivative -------------------------------------------------------------------------------------------- */

/* Returns (a_r, wd_r, wd, w), at which the first comment evaluates A, for link k without a reference motion. a_r and
 * wd_r are the rates of the components of a and wd in link axes. With the velocity v of its origin x, the spatial
 * acceleration (a, wd) and its rate (j, wj), all in world axes, and a_0 = -g the acceleration of the world,
 *     a_r = j + wj x x + 2 wd x v + a_0 x w,   wd_r = wj - w x wd.
 * A body whose gravity is compensated has a_0 = -(1 - share) g. */
static link_motion link_rate_of(const spatial_body *B, const body_rate *B_r, vec3 a_0, const link_motion *k)
{
    const vec3  w = B->v.w, v = cross_add(B->v.v, w, k->x), turned = times(2, cross(B->a.w, v));
    const vec3  a    = add(cross_add(cross_add(B_r->j.v, B_r->j.w, k->x), a_0, w), turned);
    link_motion rate = {.R = k->R, .x = k->x, .w = k->wd, .w_r = k->w, .half_turn = times(0.5, cross(k->wd, k->w))};
    rate.a           = mat3_mul_transposed(&k->R, a);
    rate.wd          = mat3_mul_transposed(&k->R, sub(B_r->j.w, cross(w, B->a.w)));
    return rate;
}

/* Returns the time derivative of the unit wrenches A, from the rates of the link's motion, and from A at (0, 0, w, wd)
 * (first comment). */
static unit_wrenches unit_wrench_rates(const link_motion *k, const link_motion *rate)
{
    const vec3          o    = vec3_zero();
    const link_motion   back = {.R         = k->R,
                                .x         = k->x,
                                .a         = o,
                                .w         = k->w,
                                .wd        = o,
                                .w_r       = k->wd,
                                .half_turn = scale(rate->half_turn, lane_of(-1))};
    unit_wrenches       A    = unit_wrenches_of(rate);
    const unit_wrenches B    = unit_wrenches_of(&back);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A.H.m[i][j] += B.H.m[i][j];
    for (int e = 0; e < 6; e++)
        A.n[e] = add(A.n[e], B.n[e]);
    return A;
}

/* Returns the rate of the components of a joint axis S, in link axes and about the origin x of link frame k. S changes
 * at the rate S_r in world axes. S moves x with the velocity v(S) = S.v + S.w x x, whose rate in world axes is v(S_r) +
 * S.w x v(x). The link axes rotate at w, which subtracts w x v(S). */
static twist axis_rate(const spatial_body *B, const link_motion *k, twist S, twist S_r)
{
    const vec3 w = B->v.w, x_r = cross_add(B->v.v, w, k->x), linear = cross_add(S.v, S.w, k->x);
    const vec3 v = sub(cross_add(cross_add(S_r.v, S_r.w, k->x), S.w, x_r), cross(w, linear));
    return (twist){mat3_mul_transposed(&k->R, v), mat3_mul_transposed(&k->R, sub(S_r.w, cross(w, S.w)))};
}

/* Stores the time derivative S_r^T A + S^T A_r of the entries that body_columns stores, for every degree of freedom
 * between body i and the base. a_0: acceleration of the world, -g. */
static void body_column_rates(const dyn_scene *scene, const workspace *ws, vec3 a_0, size_t i, lane *Y)
{
    const dyn_model    *m       = scene->model;
    const size_t        columns = PARAMETERS * m->n_rows, first = PARAMETERS * (size_t)m->body[i].tree.row;
    const spatial_body *B  = &ws->body[i];
    const link_motion   k  = link_motion_of(scene, i, B, NULL);
    const link_motion rate = link_rate_of(B, &ws->body_rate[i], add(a_0, compensated_gravity(scene, &m->body[i])), &k);
    const unit_wrenches A = unit_wrenches_of(&k), A_r = unit_wrench_rates(&k, &rate);
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent)
        for (size_t j = 0; j < dofs_of(&m->body[p]); j++) {
            const size_t d  = dof_first(m, (size_t)p) + j;
            lane        *to = Y + ((size_t)m->body[p].joint.v + j) * columns + first, row[PARAMETERS], more[PARAMETERS];
            effort_row(&A, axis_rate(B, &k, ws->dof[d].S, ws->dof_rate[d].S), row);
            effort_row(&A_r, link_axis(&k, ws->dof[d].S), more);
            for (int c = 0; c < PARAMETERS; c++)
                to[c] = m->has_mimics ? to[c] + (row[c] + more[c]) : row[c] + more[c];
        }
}

/* Writes the time derivative of the regressor, from the motions in ws->body and ws->dof. */
static void regressor_rate(const dyn_scene *scene, const workspace *ws, const rates *at, lane *Y)
{
    const dyn_model        *m     = scene->model;
    const spatial_body      world = spatial_world(scene->gravity);
    const spatial_rate_pass pass  = {at->qd, at->qdd, at->qddd, ws->body, ws->dof, ws->body_rate, ws->dof_rate};
    clear_large(scene->deadline, Y, (size_t)m->nv * PARAMETERS * m->n_rows);
    for (size_t i = 0; i < m->n_bodies && goes_on(scene->deadline, (size_t)m->nv); i++) {
        spatial_motion_rates(m, &pass, &world, i);
        if (m->body[i].tree.row >= 0) body_column_rates(scene, ws, world.a.v, i, Y);
    }
}

/* --- joints ------------------------------------------------------------------------------------------------------ */

/* Adds the column of the spin inertia of the motor with rotor body i. joint_columns sets the term of the rotor's own
 * rate. */
static void spin_column(const dyn_model *m, const workspace *ws, size_t i, const rates *at, lane *Y)
{
    const dyn_body     *b       = &m->body[i];
    const spatial_body *P       = &ws->body[b->tree.parent];
    size_t              columns = 3 * m->n_movers, column = 3 * (size_t)b->joint.mover;
    vec3                z = mat3_column(&ws->body[i].R, 2), wd = P->a.w, turn = scale(P->v.w, joint_rate(b, at->qd));
    if (ws->reference) {
        const reference_motion *r = &ws->reference[b->tree.parent];
        turn = times(0.5, add(scale(P->v.w, joint_rate(b, at->qd_reference)), scale(r->v.w, joint_rate(b, at->qd))));
        wd   = sub(r->a.w, times(0.5, cross(P->v.w, r->v.w)));
    }
    vec3 n = cross_add(scale(z, joint_rate(b, at->qdd)), turn, z);
    Y[(size_t)b->joint.v * columns + column] += coordinate_effort(b, dot(wd, z));
    for (int p = b->tree.parent; p != DYN_WORLD; p = m->body[p].tree.parent)
        for (size_t j = 0; j < dofs_of(&m->body[p]); j++)
            Y[((size_t)m->body[p].joint.v + j) * columns + column] += dot(ws->dof[dof_first(m, (size_t)p) + j].S.w, n);
}

/* Stores the column of the rotor inertia of a joint with a quaternion, which has no friction parameters. */
static void free_column(const dyn_body *b, const rates *x, size_t columns, lane *Y)
{
    const twist a = free_reference(b, x->qd, x->qd_reference, x->qdd);
    lane        column[6];
    store3(column, a.v);
    store3(column + 3, a.w);
    for (int k = joint_first_axis(b), v = b->joint.v; k < 6; k++, v++)
        Y[(size_t)v * columns + 3 * (size_t)b->joint.mover] = column[k];
}

/* Stores the columns of rotor inertia, viscous and Coulomb friction of each joint: sdd, sd, sign(sd), with the joint's
 * rate sd. If the joint has a motor, the column of rotor inertia becomes that of the motor's spin inertia. The motor's
 * friction acts on the joint's coordinate, or for an elastic joint on the motor coordinate. */
static void joint_columns(const dyn_model *m, const rates *x, lane *Y)
{
    const lane *qd = x->qd_reference, *qdd = x->qdd;
    size_t      columns = 3 * m->n_movers;
    clear(Y, (size_t)m->nv * columns);
    for (size_t i = m->floating; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mover >= 0 && dyn_joint_has_quaternion(b->joint.kind)) free_column(b, x, columns, Y);
        if (b->joint.mover < 0 || b->joint.is_multi_dof)
            continue; /* joints without these parameters have zero columns */
        lane *row = Y + (size_t)b->joint.v * columns + 3 * (size_t)b->joint.mover;
        row[0]    = coordinate_effort(b, joint_rate(b, qdd));
        if (b->joint.is_rotor && b->joint.mimic) continue;
        /* friction of a motor is a function of qd, not of the rate of its spin, ratio qd */
        lane sd = b->joint.is_rotor && qd ? qd[b->joint.v] : joint_rate(b, qd);
        row[1]  = b->joint.is_rotor ? sd : coordinate_effort(b, sd);
        row[2]  = b->joint.is_rotor ? lane_sign(sd) : coordinate_effort(b, lane_sign(sd));
    }
}

/* Adds the columns of the motors of coupled transmissions, with weights w and motor rate sd = w . qd: w sdd, w sd, w
 * sign(sd). */
static void drive_columns(const dyn_model *m, const lane *qd, const lane *qdd, lane *Y)
{
    const size_t columns = 3 * m->n_movers;
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d     = &m->drive[k];
        const lane       sd    = drive_sum(d, qd);
        lane            *first = Y + 3 * dyn_drive_mover(m, k);
        drive_put(d, drive_sum(d, qdd), columns, first);
        drive_put(d, sd, columns, first + 1);
        drive_put(d, lane_sign(sd), columns, first + 2);
    }
}

/* True for a rotor on a moving body. For a rotor on the world only its own rate has an effect. */
static bool is_carried_rotor(const dyn_body *b)
{
    return b->joint.is_rotor && b->tree.parent != DYN_WORLD;
}

static bool carries_rotors(const dyn_model *m)
{
    for (size_t i = m->n_bodies; i > 0 && m->body[i - 1].joint.is_rotor; i--) /* rotors are the last bodies */
        if (is_carried_rotor(&m->body[i - 1])) return true;
    return false;
}

static void spin_columns(const dyn_model *m, const workspace *ws, const rates *at, lane *Y)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        if (is_carried_rotor(&m->body[i])) spin_column(m, ws, i, at, Y);
}

void LANE_NAME(regressor)(const dyn_scene *scene, void *memory, const dyn_regressor *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_regressor)(scene, memory, io, blocks);
        return;
    }
    const dyn_model *m = scene->model;
    size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, ny = nv * PARAMETERS * m->n_rows, nj = nv * 3 * m->n_movers;
    arena      a     = {.base = memory};
    workspace  ws    = place(&a, m);
    const bool spins = io->joint_regressor && carries_rotors(m), reference = io->qd_reference || io->qdd_reference;
    if (!reference) ws.reference = NULL;
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd_r = block_in(io->qd_reference, block, nv);
        const rates at = {.qd           = block_in(io->qd, block, nv),
                          .qdd          = block_in(reference ? io->qdd_reference : io->qdd, block, nv),
                          .qd_reference = reference ? qd_r : block_in(io->qd, block, nv),
                          .qddd         = block_in(io->qddd, block, nv)};
        lane       *Y = block_out(io->regressor, block, ny), *J = block_out(io->joint_regressor, block, nj);
        lane       *Y_dot = block_out(io->regressor_dot, block, ny);
        if (J) joint_columns(m, &at, J);
        if (J) drive_columns(m, at.qd_reference, at.qdd, J);
        if (!Y && !Y_dot && !spins) continue;
        set_joint_transforms(m, q, ws.XJ);
        const spatial_task task = {at.qd, reference ? NULL : at.qdd, .accelerations = true,
                                   .forces = Y_dot != NULL}; /* computes psi'', which the rates need */
        spatial_motions(scene, ws.XJ, task, ws.body, ws.dof);
        if (reference) reference_motions(scene, ws.dof, qd_r, at.qdd, ws.reference);
        if (spins) spin_columns(m, &ws, &at, J);
        if (Y_dot) regressor_rate(scene, &ws, &at, Y_dot);
        if (!Y) continue;
        if (m->has_mimics || !io->zeros_are_set) clear_large(scene->deadline, Y, ny);
        for (size_t i = 0; i < m->n_bodies && goes_on(scene->deadline, nv); i++)
            if (m->body[i].tree.row >= 0) body_columns(scene, &ws, i, Y);
    }
}
