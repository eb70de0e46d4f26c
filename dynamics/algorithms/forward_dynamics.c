/* forward_dynamics.c - computes qdd from q, qd and tau with the articulated body algorithm, in O(n).
 *
 * Featherstone (2008), ch. 7, in body frames, in two parts. First the forward pass of Newton-Euler with qdd = 0 gives
 * the accelerations by gravity and velocities, and the wrench f0 that they require of each body
 * (newton_euler.h). The second part computes the remaining accelerations alpha, without velocities: with  alpha
 * = X alpha_p + S qdd  and  f = I alpha + p,
 *
 *     U = I S,  D = S^T U + rotor,  u = tau - S^T p,  I_p += X^T (I - U U^T / D) X,  p_p += X^T (p + U u / D),
 *     qdd = (u - U^T X alpha_p) / D.
 *
 * p is f0 initially. The index p marks quantities of the parent.
 *
 * Driven coordinates (hybrid dynamics, Featherstone 2008, ch. 9.2) have their prescribed qdd in the first part. In the
 * second part they are locked: a driven joint passes on I and p of its body unchanged. Joints with a quaternion are in
 * articulated_free_joint.h, joints of several bodies in geared_joint.h. */
#include "kernels.h"
#include "dynamics/recursion/geared_joint.h"
#include "dynamics/recursion/newton_euler.h"
#include "dynamics/recursion/articulated_free_joint.h"

typedef struct link_state {
    wrench      G;    /* U / D, with U = I S and the pivot D */
    lane        g;    /* u / D, with u = tau - S^T p */
    vec3        w, v; /* angular and linear part of alpha; only for bodies with carries_run */
    wrench      p;    /* p and I that the runs on the body have passed to it; only for bodies with carries_run */
    articulated I;
} link_state;

typedef struct workspace {
    newton_euler_workspace  euler;
    link_state             *body;
    lane                   *tau;    /* [nv] tau minus the efforts of elastic joints */
    articulated_free_joint *freely; /* [n_quaternions] */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.euler  = newton_euler_place(a, m, false),
                       .body   = arena_take(a, m->n_bodies, sizeof(link_state)),
                       .tau    = arena_take(a, m->n_couplings ? (size_t)m->nv : 0, sizeof(lane)),
                       .freely = arena_take(a, m->n_quaternions, sizeof(articulated_free_joint))};
}

size_t LANE_NAME(forward_dynamics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return m->dense ? LANE_NAME(forward_coupled_size)(m) : a.used;
}

/* --- backward pass: articulated inertias ----------------------------------------------------------------------- */

/* Computes I and p of the last body of a run: its own plus those that the runs on it have passed on. */
LANE_INLINE void gather_children(const dyn_body *b, const link_state *B, const wrench *own, articulated *I, wrench *p)
{
    *I = b->tree.carries_run ? articulated_with_rigid(B->I, b) : articulated_rigid(b);
    *p = b->tree.carries_run ? wrench_add(B->p, *own) : *own;
}

/* Transforms I and p from body b to the previous body and adds those of the previous body. `own` is the wrench that the
 * previous body requires; with `uses_next_origin` it is about the origin of b (dyn_body_derived.next_origin). */
LANE_INLINE void hand_to_previous_body(const dyn_body *b, const joint_transform *XJ, const wrench *own, articulated *I,
                                       wrench *p, bool whole, bool uses_next_origin)
{
    if (uses_next_origin) {
        assume_plain_body(b, true);
        articulated_to_parent(b, XJ, I, p, own, whole);
    } else {
        articulated_to_parent(b, XJ, I, p, NULL, whole);
        *p = wrench_add(*p, *own);
    }
    *I = articulated_with_rigid(*I, b - 1);
}

/* tau at the joint minus friction and spring. */
LANE_NOINLINE lane net_effort(const dyn_scene *scene, const dyn_body *b, const newton_euler_io *io, const lane *tau)
{
    lane effort = joint_effort(b, tau);
    if (b->joint.has_friction || b->joint.has_spring) effort -= joint_passive(b, scene->terms, io->q, io->qd);
    return effort;
}

/* Computes the pivot D, and G = U / D and g = u / D for the acceleration pass. */
LANE_INLINE lane pivot_of(const dyn_body *b, lane effort, const wrench *U, const wrench *p, link_state *B,
                          const bool plain)
{
    bool along = b->joint.kind == DYN_PRISMATIC;
    lane pivot = along ? U->f.z : U->n.z;
    if (!plain) pivot += b->joint.rotor_inertia;
    lane d = 1.0 / pivot;
    B->G   = (wrench){scale(U->f, d), scale(U->n, d)};
    B->g   = (effort - (along ? p->f.z : p->n.z)) * d;
    return pivot;
}

/* Eliminates a joint of one coordinate: records a zero pivot, and sets I and p to what the joint passes on. */
LANE_INLINE void eliminate_joint(const dyn_body *b, int i, lane effort, articulated *I, wrench *p, link_state *B,
                                 lane *singular, const bool plain)
{
    wrench U     = articulated_along(I, b->joint.kind);
    lane   pivot = pivot_of(b, effort, &U, p, B, plain);
    note_pivot(pivot, pivot_floor(b, b->joint.kind == DYN_PRISMATIC), i, singular);
    if (b->tree.parent == DYN_WORLD) return;
    *p = (wrench){add_scaled(p->f, U.f, B->g), add_scaled(p->n, U.n, B->g)};
    articulated_project(I, &U, &B->G, b, plain);
}

/* Eliminates a geared joint: records a zero pivot, and replaces I and p, which are in `outer`, by what the joint passes
 * on. */
LANE_NOINLINE articulated_body eliminate_geared_joint(const dyn_scene *scene, const workspace *ws,
                                                      const newton_euler_io *io, int i, const lane *tau,
                                                      articulated_body outer, lane *singular)
{
    const dyn_body *b = &scene->model->body[i];
    link_state     *B = &ws->body[i];
    geared_joint    c = geared_joint_of(scene, &ws->euler, io, i, net_effort(scene, b, io, tau), &outer.I, &outer.p);
    lane            d = 1.0 / c.pivot;
    B->G              = (wrench){scale(c.U.f, d), scale(c.U.n, d)};
    B->g              = c.u * d;
    note_pivot(c.pivot, pivot_floor(b, b->joint.kind == DYN_PRISMATIC), i, singular);
    if (b->tree.parent == DYN_WORLD) return outer;
    outer.p = (wrench){add_scaled(outer.p.f, c.U.f, B->g), add_scaled(outer.p.n, c.U.n, B->g)};
    articulated_subtract(&outer.I, &c.U, &B->G);
    return outer;
}

/* Ways in which a joint passes I and p of its body to the parent. */
typedef enum elimination { SINGLE_AXIS, LOCKED, GEARED, FREE } elimination;

LANE_INLINE elimination elimination_of(const dyn_body *b, const bool *driven)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) return FREE;
    if (is_driven(driven, b->joint.v) || is_joint_part(b)) return LOCKED;
    return is_geared_joint(b) ? GEARED : SINGLE_AXIS;
}

LANE_INLINE void hand_on(const dyn_body *b, const articulated *I, const wrench *p, link_state *P)
{
    P->I = b->tree.is_last_child ? *I : articulated_add(&P->I, I);
    P->p = b->tree.is_last_child ? *p : wrench_add(P->p, *p);
}

/* Backward pass along a run; I and p stay in registers. `plain`, a constant of the inlined code: the run is plain and
 * no coordinate is driven. */
LANE_INLINE void articulated_run(const dyn_scene *scene, const workspace *ws, const newton_euler_io *io,
                                 const lane *tau, const bool *driven, lane *singular, dyn_run run, const bool plain)
{
    const dyn_body *body = scene->model->body;
    int             i    = run.end - 1;
    articulated     I;
    wrench          p;
    bool            whole;
    gather_children(&body[i], &ws->body[i], &ws->euler.required[i], &I, &p);
    for (;; i--) {
        const dyn_body *b = &body[i];
        link_state     *B = &ws->body[i];
        assume_plain_body(b, plain);
        const elimination r = plain || (b->joint.is_ideal && !driven) ? SINGLE_AXIS : elimination_of(b, driven);
        if (r == SINGLE_AXIS) {
            const lane left = b->joint.is_ideal ? tau[b->joint.v] : net_effort(scene, b, io, tau);
            eliminate_joint(b, i, left, &I, &p, B, singular, plain);
        } else if (r != LOCKED) {
            const articulated_body outer =
                r == FREE ? eliminate_free_joint(b, i, tau, driven, (articulated_body){I, p},
                                                 &ws->freely[b->joint.quaternion], singular)
                          : eliminate_geared_joint(scene, ws, io, i, tau, (articulated_body){I, p}, singular);
            I = outer.I;
            p = outer.p;
        }
        whole = !plain && (r != SINGLE_AXIS || b->joint.rotor_inertia != 0);
        if (i == run.first) break;
        hand_to_previous_body(b, &ws->euler.XJ[i], &ws->euler.required[i - 1], &I, &p, whole, plain || run.plain);
    }
    if (body[i].tree.parent == DYN_WORLD) return;
    assume_plain_body(&body[i], plain);
    articulated_to_parent(&body[i], &ws->euler.XJ[i], &I, &p, NULL, whole);
    hand_on(&body[i], &I, &p, &ws->body[body[i].tree.parent]);
}

LANE_INLINE void articulated_pass(const dyn_scene *scene, const workspace *ws, const newton_euler_io *io,
                                  const lane *tau, const bool *driven, lane *singular)
{
    const dyn_model *m = scene->model;
    for (size_t r = m->n_runs; r-- > 0;)
        if (m->run[r].plain && !driven)
            articulated_run(scene, ws, io, tau, NULL, singular, m->run[r], true);
        else
            articulated_run(scene, ws, io, tau, driven, singular, m->run[r], false);
}

/* --- acceleration pass: base to leaves ------------------------------------------------------------------------- */

/* X alpha: transforms alpha from the parent's axes to the child's. */
LANE_INLINE void acceleration_form(link_transform X, vec3 *w, vec3 *v)
{
    if (dyn_joint_has_quaternion(X.joint)) *v = cross_add(*v, *w, X.pose->p);
    *w = to_child(X, *w);
    *v = to_child(X, *v);
    if (X.joint == DYN_PRISMATIC) { /* adds w x s z */
        v->x = add_mul(v->x, w->y, X.J.c);
        v->y = sub_mul(v->y, w->x, X.J.c);
    }
}

/* Replaces alpha = (w, v) of the parent by that of the body; returns sdd of its joint. */
LANE_INLINE lane acceleration(const dyn_body *b, const joint_transform *XJ, const link_state *B, bool locked, vec3 *w,
                              vec3 *v)
{
    const double *p = b->pose.p_pc;
    if (b->pose.offsets & DYN_ALONG_X) *v = (vec3){v->x, add_mul(v->y, p[0], w->z), sub_mul(v->z, p[0], w->y)};
    if (b->pose.offsets & DYN_ALONG_Y) *v = (vec3){sub_mul(v->x, p[1], w->z), v->y, add_mul(v->z, p[1], w->x)};
    if (b->pose.offsets & DYN_ALONG_Z) *v = (vec3){add_mul(v->x, p[2], w->y), sub_mul(v->y, p[2], w->x), v->z};
    WITH_LINK_TRANSFORM(b, XJ, acceleration_form, w, v)
    if (locked) return lane_of(0);
    lane along  = sub_mul(sub_mul(B->g, B->G.n.z, w->z), B->G.f.z, v->z);
    lane across = add_mul(B->G.n.x * w->x, B->G.n.y, w->y), linear = add_mul(B->G.f.x * v->x, B->G.f.y, v->y);
    lane sdd = (along - across) - linear;
    if (b->joint.kind == DYN_PRISMATIC)
        v->z += sdd;
    else
        w->z += sdd;
    return sdd;
}

/* Sets alpha = (w, v) of a body on the world, where alpha_p = 0; returns sdd of its joint. */
LANE_INLINE lane grounded_acceleration(const dyn_body *b, const link_state *B, bool locked, vec3 *w, vec3 *v)
{
    lane sdd = locked ? lane_of(0) : B->g;
    if (b->joint.kind == DYN_PRISMATIC)
        v->z = sdd;
    else
        w->z = sdd;
    return sdd;
}

/* Replaces alpha = (w, v) of the parent by that of a body whose joint has a quaternion; computes qdd of the joint. */
LANE_INLINE void free_acceleration(const dyn_body *b, const joint_transform *XJ, const articulated_free_joint *r,
                                   const bool *driven, const lane *driven_qdd, vec3 *w, vec3 *v, lane *qdd)
{
    if (b->tree.parent != DYN_WORLD) acceleration_form(free_transform_of(b, XJ), w, v);
    twist alpha = accelerate_free_joint(b, r, driven, driven_qdd, (twist){*v, *w}, qdd);
    *v          = alpha.v;
    *w          = alpha.w;
}

typedef struct accelerations { /* qdd of one block, and the data it is computed from */
    const dyn_model *m;
    const workspace *ws;
    const bool      *driven;
    const lane      *driven_qdd;
    lane            *qdd;
} accelerations;

/* Computes qdd of body i, and replaces alpha = (w, v) of its parent by that of the body. `ground`: the parent is the
 * world. `ground` and `plain` are constants of the inlined code. */
LANE_INLINE void accelerate(const accelerations *pass, const dyn_body *b, int i, vec3 *w, vec3 *v, const bool ground,
                            const bool plain)
{
    const workspace  *ws     = pass->ws;
    const link_state *B      = &ws->body[i];
    const bool        simple = plain || (b->joint.is_ideal && !pass->driven);
    const bool        locked = !simple && (is_driven(pass->driven, b->joint.v) || is_joint_part(b));
    assume_plain_body(b, plain);
    if (!simple && dyn_joint_has_quaternion(b->joint.kind)) {
        free_acceleration(b, &ws->euler.XJ[i], &ws->freely[b->joint.quaternion], pass->driven, pass->driven_qdd, w, v,
                          pass->qdd);
        return;
    }
    lane sdd = ground ? grounded_acceleration(b, B, locked, w, v) : acceleration(b, &ws->euler.XJ[i], B, locked, w, v);
    if (b->joint.has_slide_body) v->z = add_mul(v->z, slide_ratio(b), sdd);
    if (simple)
        pass->qdd[b->joint.v] = sdd;
    else if (!locked)
        pass->qdd[b->joint.v] = b->joint.has_ratio ? sdd / b->joint.ratio : sdd;
    else if (!is_joint_part(b))
        pass->qdd[b->joint.v] = pass->driven_qdd[b->joint.v];
}

/* Acceleration pass along a run; the parent's alpha stays in registers. */
LANE_INLINE void acceleration_run(accelerations pass, dyn_run run, const bool plain)
{
    const dyn_body *body = pass.m->body;
    int             i = run.first, parent = body[i].tree.parent;
    vec3            w = vec3_zero(), v = vec3_zero();
    if (parent == DYN_WORLD) {
        accelerate(&pass, &body[i], i, &w, &v, true, plain);
        i++;
    } else {
        w = pass.ws->body[parent].w;
        v = pass.ws->body[parent].v;
    }
    for (; i < run.end; i++)
        accelerate(&pass, &body[i], i, &w, &v, false, plain);
    if (!body[i - 1].tree.carries_run) return;
    pass.ws->body[i - 1].w = w;
    pass.ws->body[i - 1].v = v;
}

LANE_INLINE void acceleration_pass(const dyn_model *m, const workspace *ws, const bool *driven, const lane *driven_qdd,
                                   lane *qdd)
{
    for (size_t r = 0; r < m->n_runs; r++)
        if (m->run[r].plain && !driven)
            acceleration_run((accelerations){m, ws, NULL, driven_qdd, qdd}, m->run[r], true);
        else
            acceleration_run((accelerations){m, ws, driven, driven_qdd, qdd}, m->run[r], false);
}

/* --- the kernel ------------------------------------------------------------------------------------------------ */

/* tau minus the efforts of elastic joints. */
static const lane *subtract_couplings(const dyn_scene *scene, const workspace *ws, const lane *q, const lane *qd,
                                      const lane *tau)
{
    const dyn_model *m = scene->model;
    if (m->n_couplings == 0) return tau;
    for (int v = 0; v < m->nv; v++)
        ws->tau[v] = tau[v];
    couplings_add(scene, q, qd, -1, ws->tau);
    return ws->tau;
}

/* Not inlined, like passes_with_wrenches of newton_euler.h: external wrenches are rare. */
LANE_NOINLINE void forward_pass_with_wrenches(const newton_euler_pass *p)
{
    gather_external_wrenches(p->scene, p->ws->XJ, p->io->wrenches, &p->ws->ext);
    forward_pass(p, (newton_euler_variant){.wrenches = true});
}

static void articulated_body_algorithm(const dyn_scene *scene, const workspace *ws, const dyn_forward_dynamics *io)
{
    lane           *qdd = block_out(io->qdd, 0, 0), singular = lane_of(-1);
    newton_euler_io rest = {.q        = block_in(io->q, 0, 0),
                            .qd       = values_or_zeros(&ws->euler, block_in(io->qd, 0, 0)),
                            .qdd      = values_or_zeros(&ws->euler, block_in(io->driven_qdd, 0, 0)),
                            .wrenches = block_in(io->wrenches, 0, 0)};
    const lane     *tau =
        subtract_couplings(scene, ws, rest.q, rest.qd, values_or_zeros(&ws->euler, block_in(io->tau, 0, 0)));
    set_joint_transforms(scene->model, rest.q, ws->euler.XJ);
    const newton_euler_pass pass = {scene, &ws->euler, &rest};
    if (rest.wrenches)
        forward_pass_with_wrenches(&pass);
    else
        forward_pass(&pass, (newton_euler_variant){.rates = false});
    articulated_pass(scene, ws, &rest, tau, io->driven, &singular);
    acceleration_pass(scene->model, ws, io->driven, rest.qdd, qdd);
    if (io->singular) *block_out(io->singular, 0, 1) = singular;
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_forward_dynamics block_io(const dyn_scene *scene, const dyn_forward_dynamics *io, size_t block)
{
    size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = 9 * scene->n_wrenches;
    return (dyn_forward_dynamics){.q          = (const double *)block_in(io->q, block, nq),
                                  .qd         = (const double *)block_in(io->qd, block, nv),
                                  .tau        = (const double *)block_in(io->tau, block, nv),
                                  .wrenches   = nw ? (const double *)block_in(io->wrenches, block, nw) : NULL,
                                  .driven     = io->driven,
                                  .driven_qdd = (const double *)block_in(io->driven_qdd, block, nv),
                                  .qdd        = (double *)block_out(io->qdd, block, nv),
                                  .singular   = (double *)block_out(io->singular, block, 1)};
}

void LANE_NAME(forward_dynamics)(const dyn_scene *scene, void *memory, const dyn_forward_dynamics *io, size_t blocks)
{
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        dyn_forward_dynamics one = block_io(scene, io, block);
        if (scene->model->dense)
            LANE_NAME(forward_coupled)(scene, memory, &one);
        else
            articulated_body_algorithm(scene, &ws, &one);
    }
}
