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
 * effort sdd + wd . z about the spin axis. */
#include "kernels.h"
#include "dynamics/recursion/spatial_world.h"

enum { PARAMETERS = 10 };

typedef struct workspace {
    joint_transform *XJ;
    spatial_body    *body;
    dof             *dof;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ   = arena_take_joints(a, m),
                       .body = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .dof  = arena_take(a, dof_count(m), sizeof(dof))};
}

size_t LANE_NAME(regressor_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

typedef struct link_motion { /* motion of the link frame, in its axes */
    mat3 R;                  /* R_wl */
    vec3 x;                  /* origin of the link frame, from the reference point of spatial_world.h */
    vec3 a, w, wd;
} link_motion;

static link_motion link_motion_of(const dyn_body *b, const spatial_body *B)
{
    link_motion k; /* R_wl = R_wb R_bl, row by row */
    for (int i = 0; i < 3; i++)
        store3(k.R.m[i], unrotate_const(b->pose.X_bl.R, load3(B->R.m[i])));
    k.x = add(B->p, mat3_mul(&B->R, vec3_of(b->pose.X_bl.p)));
    /* velocity of the point x, and from the spatial acceleration its classical acceleration a + wd x x + w x v(x) */
    vec3 v = cross_add(B->v.v, B->v.w, k.x);
    vec3 a = cross_add(cross_add(B->a.v, B->a.w, k.x), B->v.w, v);
    k.a    = mat3_mul_transposed(&k.R, a);
    k.w    = mat3_mul_transposed(&k.R, B->v.w);
    k.wd   = mat3_mul_transposed(&k.R, B->a.w);
    return k;
}

static vec3 unit(int i)
{
    return (vec3){lane_of(i == 0), lane_of(i == 1), lane_of(i == 2)};
}

/* J wd + w x J w for J = e_i e_j^T + e_j e_i^T, or J = e_i e_i^T if i = j */
static vec3 inertial_moment(const link_motion *k, int i, int j)
{
    const lane w[3] = {k->w.x, k->w.y, k->w.z}, wd[3] = {k->wd.x, k->wd.y, k->wd.z};
    vec3       Jw = scale(unit(i), w[j]), Jwd = scale(unit(i), wd[j]);
    if (i != j) {
        Jw  = add(Jw, scale(unit(j), w[i]));
        Jwd = add(Jwd, scale(unit(j), wd[i]));
    }
    return cross_add(Jwd, k->w, Jw);
}

/* Computes the columns of A, in the link frame:
 *     m: [a; 0],   h along e: [wd x e + w x (w x e); e x a],   entry ij of J: [0; inertial_moment]. */
static void unit_wrenches(const link_motion *k, wrench A[PARAMETERS])
{
    static const int entry[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}}; /* Ixx Ixy Iyy Ixz Iyz Izz */
    A[0]                         = (wrench){k->a, vec3_zero()};
    for (int c = 0; c < 3; c++) {
        vec3 e   = unit(c);
        A[1 + c] = (wrench){cross_add(cross(k->wd, e), k->w, cross(k->w, e)), cross(e, k->a)};
    }
    for (int c = 0; c < 6; c++)
        A[4 + c] = (wrench){vec3_zero(), inertial_moment(k, entry[c][0], entry[c][1])};
}

/* Adds Y_ji = S_j^T A for every degree of freedom j between body i and the base. */
static void body_columns(const dyn_model *m, const workspace *ws, size_t i, lane *Y)
{
    size_t      columns = PARAMETERS * m->n_rows, first = PARAMETERS * (size_t)m->body[i].tree.row;
    link_motion k = link_motion_of(&m->body[i], &ws->body[i]);
    wrench      A[PARAMETERS];
    unit_wrenches(&k, A);
    for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent)
        for (size_t j = 0; j < dofs_of(&m->body[p]); j++) {
            const dof *d = &ws->dof[dof_first(m, (size_t)p) + j];
            twist S   = {mat3_mul_transposed(&k.R, cross_add(d->S.v, d->S.w, k.x)), mat3_mul_transposed(&k.R, d->S.w)};
            lane *row = Y + ((size_t)m->body[p].joint.v + j) * columns + first;
            for (int c = 0; c < PARAMETERS; c++)
                row[c] += power(S, A[c]);
        }
}

/* Adds the column of the spin inertia of rotor i. joint_columns has set the term of the rotor's own rate. */
static void spin_column(const dyn_model *m, const workspace *ws, size_t i, const lane *qd, const lane *qdd, lane *Y)
{
    const dyn_body     *b       = &m->body[i];
    const spatial_body *P       = &ws->body[b->tree.parent];
    size_t              columns = 3 * m->n_movers, column = 3 * (size_t)b->joint.mover;
    vec3                z = mat3_column(&ws->body[i].R, 2);
    vec3                n = cross_add(scale(z, joint_rate(b, qdd)), scale(P->v.w, joint_rate(b, qd)), z);
    Y[(size_t)b->joint.v * columns + column] += coordinate_effort(b, dot(P->a.w, z));
    for (int p = b->tree.parent; p != DYN_WORLD; p = m->body[p].tree.parent)
        for (size_t j = 0; j < dofs_of(&m->body[p]); j++)
            Y[((size_t)m->body[p].joint.v + j) * columns + column] += dot(ws->dof[dof_first(m, (size_t)p) + j].S.w, n);
}

/* Columns of rotor inertia, viscous and Coulomb friction of each joint: sdd, sd, sign(sd). With a motor, the rotor
 * inertia's column is that of the spin inertia. The motor's friction acts on the joint's coordinate, or for an elastic
 * joint on the motor coordinate. */
static void joint_columns(const dyn_model *m, const lane *qd, const lane *qdd, lane *Y)
{
    size_t columns = 3 * m->n_movers;
    clear(Y, (size_t)m->nv * columns);
    for (size_t i = m->floating; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
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

static void spin_columns(const dyn_model *m, const workspace *ws, const lane *qd, const lane *qdd, lane *Y)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        if (is_carried_rotor(&m->body[i])) spin_column(m, ws, i, qd, qdd, Y);
}

void LANE_NAME(regressor)(const dyn_scene *scene, void *memory, const dyn_regressor *io, size_t blocks)
{
    const dyn_model *m = scene->model;
    size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, ny = nv * PARAMETERS * m->n_rows, nj = nv * 3 * m->n_movers;
    arena      a     = {.base = memory};
    workspace  ws    = place(&a, m);
    const bool spins = io->joint_regressor && carries_rotors(m);
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv),
                   *qdd = block_in(io->qdd, block, nv);
        lane *Y = block_out(io->regressor, block, ny), *J = block_out(io->joint_regressor, block, nj);
        if (J) joint_columns(m, qd, qdd, J);
        if (!Y && !spins) continue;
        set_joint_transforms(m, q, ws.XJ);
        spatial_motions(scene, ws.XJ, qd, qdd, ws.body, ws.dof);
        if (spins) spin_columns(m, &ws, qd, qdd, J);
        if (!Y) continue;
        clear(Y, ny);
        for (size_t i = 0; i < m->n_bodies; i++)
            if (m->body[i].tree.row >= 0) body_columns(m, &ws, i, Y);
    }
}
