/* inverse_dynamics.c - recursive Newton-Euler: tau and the joint wrenches from q, qd, qdd.
 *
 * Classical accelerations in body frames, after Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31,
 * gravity as an acceleration -g of the world. Prismatic row (21) and branches as there; checked against a dense
 * world-frame reference. U = [wd x] + [w x]^2 maps a point of the body to its acceleration relative to the origin. */
#include "external.h"

typedef struct motion { /* of a body, in its axes */
    vec3 w, wd;         /* angular velocity and acceleration */
    vec3 a;             /* acceleration of the origin, less gravity */
    mat3 U;
} motion;

typedef struct workspace {
    joint_at *at;
    motion   *motion; /* of bodies on which other than the next body hangs */
    wrench   *on;     /* needed on each body: inertial - external, then with what its children need */
    external  ext;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.at     = arena_take(a, m->n_bodies, sizeof(joint_at)),
                       .motion = arena_take(a, m->n_bodies, sizeof(motion)),
                       .on     = arena_take(a, m->n_bodies, sizeof(wrench)),
                       .ext    = external_place(a, m)};
}

size_t LANE_NAME(inverse_dynamics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

LANE_INLINE mat3 angular(vec3 w, vec3 wd)
{
    lane xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z, xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    return (mat3){{{-yy - zz, xy - wd.z, xz + wd.y}, {xy + wd.z, -xx - zz, yz - wd.x}, {xz - wd.y, yz + wd.x, -xx - yy}}};
}

/* f = m a + U h;  n = h x a + int r x (U r) dm, whose entries are those of U E - (U E)^T */
LANE_INLINE wrench inertial(const dyn_body *b, const motion *k)
{
    const double *h = b->h, *E = b->E; /* E: xx xy xz yy yz zz */
    const lane(*U)[3] = k->U.m;
    wrench w;
    w.f   = mat3_const_add(times(b->mass, k->a), &k->U, h);
    w.n.x = (U[2][2] - U[1][1]) * E[4] + U[2][0] * E[1] - U[1][0] * E[2] + U[2][1] * E[3] - U[1][2] * E[5];
    w.n.y = (U[0][0] - U[2][2]) * E[2] + U[0][1] * E[4] - U[2][1] * E[1] + U[0][2] * E[5] - U[2][0] * E[0];
    w.n.z = (U[1][1] - U[0][0]) * E[1] + U[1][2] * E[2] - U[0][2] * E[4] + U[1][0] * E[0] - U[0][1] * E[3];
    w.n   = const_cross_add(w.n, h, k->a);
    return w;
}

/* Motion of a child from its parent's, k becoming the child's:
 *   a = R^T (a_p + U_p p) + [prismatic] (sdd z + 2 w x sd z),  w = R^T w_p + [revolute] sd z,
 *   wd = R^T wd_p + [revolute] (sdd z + (R^T w_p) x sd z) */
LANE_INLINE void outward_form(const dyn_body *b, joint_at at, lane sd, lane sdd, motion *k, dyn_joint_kind joint,
                              dyn_turn turn)
{
    vec3 a = k->a;
    if (joint == DYN_PRISMATIC)
        a = add(a, mat3_mul(&k->U, origin_in_parent(b, at, joint)));
    else if (b->shifted)
        a = mat3_const_add(a, &k->U, b->p_pc);
    k->a  = to_child(b, at, a, joint, turn);
    k->w  = to_child(b, at, k->w, joint, turn);
    k->wd = to_child(b, at, k->wd, joint, turn);
    if (joint == DYN_PRISMATIC) {
        k->a.x += 2.0 * (k->w.y * sd);
        k->a.y -= 2.0 * (k->w.x * sd);
        k->a.z += sdd;
    } else {
        k->wd.x += k->w.y * sd;
        k->wd.y -= k->w.x * sd;
        k->wd.z += sdd;
        k->w.z += sd;
    }
    k->U = angular(k->w, k->wd);
}

static motion world_motion(const double gravity[3])
{
    vec3 zero = vec3_zero();
    return (motion){.w = zero, .wd = zero, .a = {lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])},
                    .U = angular(zero, zero)};
}

/* a = vd + w x v - R^T g, in base axes */
static motion base_motion(const double gravity[3], const lane *q, const lane *qd, const lane *qdd)
{
    mat3   R = base_rotation(q);
    vec3   g = mat3_mul_transposed(&R, vec3_of(gravity)), v = qd ? load3(qd) : vec3_zero();
    motion k = {.w = qd ? load3(qd + 3) : vec3_zero(), .wd = qdd ? load3(qdd + 3) : vec3_zero()};
    k.a      = cross_add(sub(qdd ? load3(qdd) : vec3_zero(), g), k.w, v);
    k.U      = angular(k.w, k.wd);
    return k;
}

/* To the link frame's axes, moment about its origin; or, standard DH, about frame j-1, which a prismatic joint leaves
 * behind by s z. */
static void joint_wrench_out(const dyn_body *b, joint_at at, wrench w, lane *out)
{
    if (!b->near_end)
        w.n = cross_add(w.n, w.f, vec3_of(b->X_bl.p));
    else if (b->joint == DYN_PRISMATIC)
        w.n = (vec3){w.n.x - at.c * w.f.y, w.n.y + at.c * w.f.x, w.n.z};
    store3(out, unrotate_const(b->X_bl.R, w.f));
    store3(out + 3, unrotate_const(b->X_bl.R, w.n));
}

/* Outward: motions, and what each body needs. Along an unbranched chain the parent's motion stays in registers. */
static void outward(const dyn_scene *scene, const workspace *ws, const lane *q, const lane *qd, const lane *qdd,
                    const lane *wrenches)
{
    const dyn_model *m     = scene->model;
    const motion     world = world_motion(scene->gravity);
    motion           k     = world;
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->parent != i - 1)
            k = b->parent == DYN_WORLD ? world : ws->motion[b->parent];
        if (b->joint == DYN_FLOATING) {
            k = base_motion(scene->gravity, q, qd, qdd);
        } else {
            lane sd = joint_rate(b, qd), sdd = joint_rate(b, qdd);
            BODY_FORMS(b, outward_form, b, ws->at[i], sd, sdd, &k)
        }
        if (b->forks)
            ws->motion[i] = k;
        ws->on[i] = inertial(b, &k);
        if (wrenches) {
            ws->on[i].f = sub(ws->on[i].f, ws->ext.on[i].f);
            ws->on[i].n = sub(ws->on[i].n, ws->ext.on[i].n);
        }
    }
}

/* tau_s = S^T wrench + rotor sdd + friction + spring */
LANE_INLINE void effort_out(const dyn_scene *scene, const dyn_body *b, const wrench *w, const lane *q, const lane *qd,
                            const lane *qdd, lane *tau)
{
    if (b->joint == DYN_FLOATING) {
        store3(tau, w->f);
        store3(tau + 3, w->n);
        return;
    }
    lane effort = b->joint == DYN_PRISMATIC ? w->f.z : w->n.z;
    if (b->rotor_inertia != 0)
        effort += b->rotor_inertia * joint_rate(b, qdd);
    if (b->rough || b->sprung)
        effort += joint_passive(b, scene->terms, q, qd);
    effort    = coordinate_effort(b, effort);
    tau[b->v] = scene->model->coupled ? tau[b->v] + effort : effort;
}

static void inward(const dyn_scene *scene, const workspace *ws, const lane *q, const lane *qd, const lane *qdd, lane *tau,
                   lane *joint_wrenches)
{
    const dyn_model *m = scene->model;
    wrench           w = {vec3_zero(), vec3_zero()}; /* what the child just done needs of this body */
    for (int v = 0; tau && m->coupled && v < m->nv; v++)
        tau[v] = lane_of(0);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        w = (wrench){add(w.f, ws->on[i].f), add(w.n, ws->on[i].n)};
        if (tau)
            effort_out(scene, b, &w, q, qd, qdd, tau);
        if (joint_wrenches)
            joint_wrench_out(b, ws->at[i], w, joint_wrenches + 6 * i);
        if (b->parent != DYN_WORLD) {
            BODY_FORMS(b, wrench_to_parent_form, b, ws->at[i], &w)
            if (b->parent == i - 1)
                continue;
            wrench *p = &ws->on[b->parent];
            *p        = (wrench){add(p->f, w.f), add(p->n, w.n)};
        }
        w = (wrench){vec3_zero(), vec3_zero()};
    }
}

void LANE_NAME(inverse_dynamics)(const dyn_scene *scene, void *memory, const dyn_inverse_dynamics *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a  = {.base = memory};
    workspace        ws = place(&a, m);
    const double    *wrenches = scene->n_wrenches ? io->wrenches : NULL;
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv), *qdd = block_in(io->qdd, block, nv);
        const lane *values = block_in(wrenches, block, 9 * scene->n_wrenches);
        joints_place(m, q, ws.at);
        if (values)
            externals_gather(scene, q, ws.at, values, &ws.ext);
        outward(scene, &ws, q, qd, qdd, values);
        inward(scene, &ws, q, qd, qdd, block_out(io->tau, block, nv), block_out(io->joint_wrenches, block, 6 * m->n_bodies));
    }
}
