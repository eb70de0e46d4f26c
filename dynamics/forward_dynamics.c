/* forward_dynamics.c - the articulated body algorithm: qd' from q, qd, tau in O(n).
 *
 * Featherstone (2008), ch. 7, in body frames; the same three passes as Khalil (2010), eqs. 32-44. Inertias are blocks
 *     [n; f] = [A H; H^T Q] [wd; a] + [p.n; p.f]
 * with spatial (not classical) accelerations, gravity as an acceleration -g of the world. Rotor inertia adds to the
 * pivot D alone: with it the handle inertia keeps rho = rotor / D of the joint's own row instead of losing it whole. */
#include "composite.h"
#include "external.h"

typedef struct handle { /* articulated inertia about the body's origin */
    sym3 A, Q;
    mat3 H;
} handle;

typedef struct link_state {
    vec3   w, v; /* velocity; of bodies that fork, and of the base, in the last pass: acceleration */
    wrench p;    /* bias force */
    handle I;    /* sum of the children's articulated inertias, by the time the body's turn comes */
    wrench U;    /* I S */
    lane   u, d; /* u = tau - S^T p, d = 1 / D */
} link_state;

typedef struct workspace {
    joint_at   *at;
    link_state *body;
    external    ext;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.at   = arena_take(a, m->n_bodies, sizeof(joint_at)),
                       .body = arena_take(a, m->n_bodies, sizeof(link_state)),
                       .ext  = external_place(a, m)};
}

size_t LANE_NAME(forward_dynamics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return m->coupled ? LANE_NAME(forward_coupled_size)(m) : a.used;
}

/* --- first pass, outward: velocities and bias forces ------------------------------------------------------- */

/* A motion of the parent, felt at the child's origin and in its axes. */
LANE_INLINE void motion_to_child(const dyn_body *b, joint_at at, vec3 *w, vec3 *v, dyn_joint_kind joint, dyn_turn turn)
{
    if (joint == DYN_PRISMATIC)
        *v = cross_add(*v, *w, origin_in_parent(b, at, joint));
    else if (b->shifted)
        *v = cross_const_add(*v, *w, b->p_pc);
    *w = to_child(b, at, *w, joint, turn);
    *v = to_child(b, at, *v, joint, turn);
}

LANE_INLINE void velocity_form(const dyn_body *b, joint_at at, lane sd, vec3 *w, vec3 *v, dyn_joint_kind joint,
                               dyn_turn turn)
{
    motion_to_child(b, at, w, v, joint, turn);
    if (joint == DYN_PRISMATIC)
        v->z += sd;
    else
        w->z += sd;
}

/* Momentum l = m v + w x h, k = I w + h x v; its rate in moving axes n = w x k + v x l, f = w x l. */
LANE_INLINE wrench bias_force(const dyn_body *b, vec3 w, vec3 v)
{
    const double *E   = b->E;
    double        Ixx = E[3] + E[5], Iyy = E[0] + E[5], Izz = E[0] + E[3];
    vec3          k = {Ixx * w.x - E[1] * w.y - E[2] * w.z, Iyy * w.y - E[1] * w.x - E[4] * w.z,
                       Izz * w.z - E[2] * w.x - E[4] * w.y};
    vec3          l = cross_const_add(times(b->mass, v), w, b->h);
    k               = const_cross_add(k, b->h, v);
    return (wrench){.f = cross(w, l), .n = cross_add(cross(w, k), v, l)};
}

static void outward(const dyn_scene *scene, const workspace *ws, const lane *q, const lane *qd, const lane *wrenches)
{
    const dyn_model *m = scene->model;
    vec3             w = vec3_zero(), v = vec3_zero();
    joints_place(m, q, ws->at);
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->parent != i - 1) {
            w = b->parent == DYN_WORLD ? vec3_zero() : ws->body[b->parent].w;
            v = b->parent == DYN_WORLD ? vec3_zero() : ws->body[b->parent].v;
        }
        if (b->joint == DYN_FLOATING) {
            v = load3_from(qd, 0);
            w = load3_from(qd, 3);
        } else {
            lane sd = joint_rate(b, qd);
            BODY_FORMS(b, velocity_form, b, ws->at[i], sd, &w, &v)
        }
        ws->body[i].w = w;
        ws->body[i].v = v;
        ws->body[i].p = bias_force(b, w, v);
    }
    if (!wrenches) return;
    externals_gather(scene, q, ws->at, wrenches, &ws->ext);
    for (size_t i = 0; i < m->n_bodies; i++)
        ws->body[i].p = (wrench){sub(ws->body[i].p.f, ws->ext.on[i].f), sub(ws->body[i].p.n, ws->ext.on[i].n)};
}

/* --- second pass, inward: articulated inertias ------------------------------------------------------------- */

LANE_INLINE handle rigid(const dyn_body *b)
{
    const double *E = b->E, *h = b->h;
    lane          zero = lane_of(0), m = lane_of(b->mass);
    return (handle){.A = {lane_of(E[3] + E[5]), lane_of(-E[1]), lane_of(-E[2]), lane_of(E[0] + E[5]), lane_of(-E[4]),
                          lane_of(E[0] + E[3])},
                    .Q = {m, zero, zero, m, zero, m},
                    .H = {{{zero, lane_of(-h[2]), lane_of(h[1])},
                           {lane_of(h[2]), zero, lane_of(-h[0])},
                           {lane_of(-h[1]), lane_of(h[0]), zero}}}};
}

LANE_INLINE handle handle_add(const handle *a, const handle *b)
{
    handle sum = {.A = sym3_add(a->A, b->A), .Q = sym3_add(a->Q, b->Q)};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum.H.m[i][j] = a->H.m[i][j] + b->H.m[i][j];
    return sum;
}

/* The body's own inertia with what its children have handed on. */
LANE_INLINE handle articulated(const dyn_body *b, const link_state *B)
{
    handle own = rigid(b);
    return b->leaf ? own : handle_add(&own, &B->I);
}

/* I - U U^T / D, which leaves rho = rotor / D of the row and column along the joint. */
LANE_INLINE void project(handle *I, const wrench *U, lane d, double rotor, dyn_joint_kind joint)
{
    vec3 gn = scale(U->n, d), gf = scale(U->f, d);
    lane rho = rotor * d;
    I->A.xx -= gn.x * U->n.x;
    I->A.xy -= gn.x * U->n.y;
    I->A.yy -= gn.y * U->n.y;
    I->Q.xx -= gf.x * U->f.x;
    I->Q.xy -= gf.x * U->f.y;
    I->Q.yy -= gf.y * U->f.y;
    if (joint == DYN_REVOLUTE) { /* the row along the joint is U itself: exact where the difference would not be */
        I->A.xz = rho * U->n.x;
        I->A.yz = rho * U->n.y;
        I->A.zz = rho * U->n.z;
        I->Q.xz -= gf.x * U->f.z;
        I->Q.yz -= gf.y * U->f.z;
        I->Q.zz -= gf.z * U->f.z;
    } else {
        I->A.xz -= gn.x * U->n.z;
        I->A.yz -= gn.y * U->n.z;
        I->A.zz -= gn.z * U->n.z;
        I->Q.xz = rho * U->f.x;
        I->Q.yz = rho * U->f.y;
        I->Q.zz = rho * U->f.z;
    }
    const lane f[3] = {U->f.x, U->f.y, U->f.z}, n[3] = {U->n.x, U->n.y, U->n.z}, g[3] = {gn.x, gn.y, gn.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            bool along   = joint == DYN_REVOLUTE ? i == 2 : j == 2;
            lane kept    = joint == DYN_REVOLUTE ? rho * f[j] : rho * n[i];
            I->H.m[i][j] = along ? kept : I->H.m[i][j] - g[i] * f[j];
        }
}

/* What the parent must bear beside I a_p: p + I c + U u / D, c = (w x sd z, v x sd z), prismatic (0, w x sd z). */
LANE_INLINE wrench carried(const link_state *B, const handle *I, lane sd, dyn_joint_kind joint)
{
    lane   cx = B->w.y * sd, cy = -B->w.x * sd, g = B->u * B->d; /* c has no component along z */
    wrench p = {add(B->p.f, scale(B->U.f, g)), add(B->p.n, scale(B->U.n, g))};
    if (joint == DYN_REVOLUTE) {
        p.n = add(p.n, sym3_mul_xy(&I->A, cx, cy));
        p.f = add(p.f, mat3_mul_transposed_xy(&I->H, cx, cy));
        cx  = B->v.y * sd;
        cy  = -B->v.x * sd;
    }
    p.n = add(p.n, mat3_mul_xy(&I->H, cx, cy));
    p.f = add(p.f, sym3_mul_xy(&I->Q, cx, cy));
    return p;
}

/* R H R^T: rows, then columns, as vectors */
LANE_INLINE mat3 mat3_to_parent(const dyn_body *b, joint_at at, mat3 H, dyn_joint_kind joint, dyn_turn turn)
{
    vec3 row[3], column[3];
    for (int i = 0; i < 3; i++)
        row[i] = to_parent(b, at, load3(H.m[i]), joint, turn);
    column[0] = to_parent(b, at, (vec3){row[0].x, row[1].x, row[2].x}, joint, turn);
    column[1] = to_parent(b, at, (vec3){row[0].y, row[1].y, row[2].y}, joint, turn);
    column[2] = to_parent(b, at, (vec3){row[0].z, row[1].z, row[2].z}, joint, turn);
    return (mat3){{{column[0].x, column[1].x, column[2].x},
                   {column[0].y, column[1].y, column[2].y},
                   {column[0].z, column[1].z, column[2].z}}};
}

/* About an origin moved by -r: H' = H + [r] Q, A' = A - H [r] + [r] H'^T */
LANE_INLINE void handle_shift(handle *I, vec3 r)
{
    const sym3 Q  = I->Q;
    const mat3 H  = I->H;
    vec3       c0 = cross(r, (vec3){Q.xx, Q.xy, Q.xz}), c1 = cross(r, (vec3){Q.xy, Q.yy, Q.yz}),
         c2 = cross(r, (vec3){Q.xz, Q.yz, Q.zz});
    mat3 G  = {{{H.m[0][0] + c0.x, H.m[0][1] + c1.x, H.m[0][2] + c2.x},
                {H.m[1][0] + c0.y, H.m[1][1] + c1.y, H.m[1][2] + c2.y},
                {H.m[2][0] + c0.z, H.m[2][1] + c1.z, H.m[2][2] + c2.z}}};
    /* row i of -H [r] is r x (row i of H); column j of [r] G^T is r x (row j of G) */
    vec3 h0 = cross(r, load3(H.m[0])), h1 = cross(r, load3(H.m[1])), h2 = cross(r, load3(H.m[2]));
    vec3 g0 = cross(r, load3(G.m[0])), g1 = cross(r, load3(G.m[1])), g2 = cross(r, load3(G.m[2]));
    I->A.xx += h0.x + g0.x;
    I->A.xy += h0.y + g1.x;
    I->A.xz += h0.z + g2.x;
    I->A.yy += h1.y + g1.y;
    I->A.yz += h1.z + g2.y;
    I->A.zz += h2.z + g2.z;
    I->H = G;
}

LANE_INLINE void articulate_form(const dyn_body *b, joint_at at, lane sd, const link_state *B, handle *I, link_state *P,
                                 dyn_joint_kind joint, dyn_turn turn)
{
    project(I, &B->U, B->d, b->rotor_inertia, joint);
    wrench p = carried(B, I, sd, joint);
    wrench_to_parent_form(b, at, &p, joint, turn);
    handle J = {.A = sym3_to_parent(b, at, I->A, joint, turn),
                .Q = sym3_to_parent(b, at, I->Q, joint, turn),
                .H = mat3_to_parent(b, at, I->H, joint, turn)};
    if (origin_shifted(b, joint)) handle_shift(&J, origin_in_parent(b, at, joint));
    P->p = (wrench){add(P->p.f, p.f), add(P->p.n, p.n)};
    P->I = b->first ? J : handle_add(&P->I, &J);
}

static void note_pivot(lane pivot, double floor, int i, lane *singular)
{
    lane_mask good = lane_positive(pivot) & lane_less(lane_of(floor), pivot);
    lane_mask fine = good | lane_less(lane_of(-1), *singular);
    *singular      = lane_select(fine, *singular, lane_of(i));
}

static void inward(const dyn_scene *scene, const workspace *ws, const lane *q, const lane *qd, const lane *tau,
                   lane *singular)
{
    const dyn_model *m = scene->model;
    for (int i = (int)m->n_bodies - 1; i >= m->floating; i--) {
        const dyn_body *b     = &m->body[i];
        link_state     *B     = &ws->body[i];
        handle          I     = articulated(b, B);
        bool            along = b->joint == DYN_PRISMATIC;
        B->U        = along ? (wrench){.f = {I.Q.xz, I.Q.yz, I.Q.zz}, .n = {I.H.m[0][2], I.H.m[1][2], I.H.m[2][2]}}
                            : (wrench){.f = {I.H.m[2][0], I.H.m[2][1], I.H.m[2][2]}, .n = {I.A.xz, I.A.yz, I.A.zz}};
        lane pivot  = (along ? B->U.f.z : B->U.n.z) + b->rotor_inertia;
        lane effort = joint_effort(b, tau);
        if (b->rough || b->sprung) effort -= joint_passive(b, scene->terms, q, qd);
        note_pivot(pivot, pivot_floor(b, along), i, singular);
        B->d = 1.0 / pivot;
        B->u = effort - (along ? B->p.f.z : B->p.n.z);
        if (b->parent != DYN_WORLD) {
            lane sd = joint_rate(b, qd);
            BODY_FORMS(b, articulate_form, b, ws->at[i], sd, B, &I, &ws->body[b->parent])
        }
    }
}

/* --- the floating base: I a = tau - p, six equations ------------------------------------------------------- */

/* Solves S x = y for symmetric positive S by S = L D L^T; marks a pivot that is not positive. */
static void solve6(const dyn_body *base, lane S[6][6], lane x[6], lane *singular)
{
    for (int k = 0; k < 6; k++) {
        note_pivot(S[k][k], pivot_floor(base, k < 3), 0, singular);
        for (int i = k + 1; i < 6; i++) {
            lane f = S[k][i] / S[k][k];
            for (int j = i; j < 6; j++)
                S[i][j] -= f * S[k][j];
            x[i] -= f * x[k];
            S[i][k] = f; /* L */
        }
    }
    for (int k = 5; k >= 0; k--) {
        x[k] = x[k] / S[k][k];
        for (int i = k + 1; i < 6; i++)
            x[k] -= S[i][k] * x[i];
    }
}

/* qdd = a + R^T g, where I a = tau - p: as if the base fell with the world. Q comes first in the elimination, which is
 * mass and well apart from zero. */
static void base_acceleration(const dyn_scene *scene, link_state *B, const lane *q, const lane *tau, lane *qdd,
                              lane *singular)
{
    const dyn_body *b       = &scene->model->body[0];
    handle          I       = articulated(b, B);
    lane            S[6][6] = {{I.Q.xx, I.Q.xy, I.Q.xz, I.H.m[0][0], I.H.m[1][0], I.H.m[2][0]},
                               {I.Q.xy, I.Q.yy, I.Q.yz, I.H.m[0][1], I.H.m[1][1], I.H.m[2][1]},
                               {I.Q.xz, I.Q.yz, I.Q.zz, I.H.m[0][2], I.H.m[1][2], I.H.m[2][2]},
                               {I.H.m[0][0], I.H.m[0][1], I.H.m[0][2], I.A.xx, I.A.xy, I.A.xz},
                               {I.H.m[1][0], I.H.m[1][1], I.H.m[1][2], I.A.xy, I.A.yy, I.A.yz},
                               {I.H.m[2][0], I.H.m[2][1], I.H.m[2][2], I.A.xz, I.A.yz, I.A.zz}};
    vec3            f = B->p.f, n = B->p.n;
    lane            x[6] = {-f.x, -f.y, -f.z, -n.x, -n.y, -n.z};
    for (int k = 0; k < 6; k++)
        x[k] += tau ? tau[k] : lane_of(0);
    solve6(b, S, x, singular);
    mat3 R = base_rotation(q);
    vec3 a = load3(x), g = mat3_mul_transposed(&R, vec3_of(scene->gravity));
    B->v = a;
    B->w = load3(x + 3);
    store3(qdd, add(a, g));
    store3(qdd + 3, B->w);
}

/* --- third pass, outward: accelerations -------------------------------------------------------------------- */

/* w, v: the parent's acceleration, then the body's; B->w, B->v are its velocity. */
LANE_INLINE void acceleration_form(const dyn_body *b, joint_at at, lane sd, const link_state *B, vec3 *w, vec3 *v,
                                   lane *sdd, dyn_joint_kind joint, dyn_turn turn)
{
    motion_to_child(b, at, w, v, joint, turn);
    if (joint == DYN_PRISMATIC) {
        v->x += B->w.y * sd;
        v->y -= B->w.x * sd;
    } else {
        w->x += B->w.y * sd;
        w->y -= B->w.x * sd;
        v->x += B->v.y * sd;
        v->y -= B->v.x * sd;
    }
    *sdd = (B->u - dot(B->U.n, *w) - dot(B->U.f, *v)) * B->d;
    if (joint == DYN_PRISMATIC)
        v->z += *sdd;
    else
        w->z += *sdd;
}

/* Along an unbranched chain the parent's acceleration stays in registers. */
static void accelerations(const dyn_scene *scene, const workspace *ws, const lane *qd, lane *qdd)
{
    const dyn_model *m    = scene->model;
    const double    *g    = scene->gravity;
    const vec3       fall = {lane_of(-g[0]), lane_of(-g[1]), lane_of(-g[2])};
    vec3             w = vec3_zero(), v = fall;
    if (m->floating) {
        w = ws->body[0].w;
        v = ws->body[0].v;
    }
    for (int i = m->floating; i < (int)m->n_bodies; i++) {
        const dyn_body *b  = &m->body[i];
        link_state     *B  = &ws->body[i];
        lane            sd = joint_rate(b, qd), sdd;
        if (b->parent == DYN_WORLD) {
            w = vec3_zero();
            v = fall;
        } else if (b->parent != i - 1) {
            w = ws->body[b->parent].w;
            v = ws->body[b->parent].v;
        }
        BODY_FORMS(b, acceleration_form, b, ws->at[i], sd, B, &w, &v, &sdd)
        qdd[b->v] = b->geared ? sdd / b->ratio : sdd;
        if (b->forks) {
            B->w = w;
            B->v = v;
        }
    }
}

static void articulated_body(const dyn_scene *scene, const workspace *ws, const dyn_forward_dynamics *io)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    const lane      *q = block_in(io->q, 0, nq), *qd = block_in(io->qd, 0, nv), *tau = block_in(io->tau, 0, nv);
    lane            *qdd = block_out(io->qdd, 0, nv), singular = lane_of(-1);
    outward(scene, ws, q, qd, block_in(io->wrenches, 0, 9 * scene->n_wrenches));
    inward(scene, ws, q, qd, tau, &singular);
    if (m->floating) base_acceleration(scene, &ws->body[0], q, tau, qdd, &singular);
    accelerations(scene, ws, qd, qdd);
    if (io->singular) *block_out(io->singular, 0, 1) = singular;
}

/* io with its arrays at that block */
static dyn_forward_dynamics at_block(const dyn_scene *scene, const dyn_forward_dynamics *io, size_t block)
{
    size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = 9 * scene->n_wrenches;
    return (dyn_forward_dynamics){.q        = (const double *)block_in(io->q, block, nq),
                                  .qd       = (const double *)block_in(io->qd, block, nv),
                                  .tau      = (const double *)block_in(io->tau, block, nv),
                                  .wrenches = nw ? (const double *)block_in(io->wrenches, block, nw) : NULL,
                                  .qdd      = (double *)block_out(io->qdd, block, nv),
                                  .singular = (double *)block_out(io->singular, block, 1)};
}

void LANE_NAME(forward_dynamics)(const dyn_scene *scene, void *memory, const dyn_forward_dynamics *io, size_t blocks)
{
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        dyn_forward_dynamics one = at_block(scene, io, block);
        if (scene->model->coupled)
            LANE_NAME(forward_coupled)(scene, memory, &one);
        else
            articulated_body(scene, &ws, &one);
    }
}
