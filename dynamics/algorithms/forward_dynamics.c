/* forward_dynamics.c - computes qdd from q, qd and tau with the articulated body algorithm, in O(n).
 *
 * Featherstone (2008), table 7.1, in body frames, in two parts. First the forward pass of Newton-Euler with qdd = 0
 * gives the accelerations due to gravity and velocities, and the wrench f0 that they require of each body
 * (newton_euler.h). The other two passes compute the remaining accelerations alpha, without velocities: the joint of a
 * body transmits f = I^A alpha + p^A to it, where I^A and p^A include its descendants, and p^A of a single body is f0.
 *
 * Driven coordinates (hybrid dynamics, Featherstone 2008, ch. 9.2) have their prescribed qdd in the first part. In the
 * second part they are locked: a driven joint passes on I^A and p^A of its body unchanged. Joints with a quaternion are
 * in articulated_free_joint.h, joints of several bodies in geared_joint.h; articulated_fast.h only makes it faster.
 *
 * The same algorithm as printed in the book is book_aba of tests/dynamics/book/algorithms.c. Differences: W states in
 * lanes; canonical body frames, whose zeros are skipped; velocities in the first part alone, as wrenches f0; joints of
 * several coordinates eliminated axis by axis; friction that grows with the load taken off tau first. */
#include "kernels.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/articulated_fast.h"
#include "dynamics/recursion/articulated_free_joint.h"
#include "dynamics/recursion/geared_joint.h"

/* --- second pass, leaves to base: articulated inertias --------------------------------------------------------- */

/* Ways in which a joint passes I^A and p^A of its body to the parent. */
typedef enum elimination { SINGLE_AXIS, LOCKED, GEARED, FREE } elimination;

LANE_INLINE elimination elimination_of(const articulated_pass *p, const dyn_body *b)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) return FREE;
    if (is_driven(p, b->joint.v) || is_joint_part(b)) return LOCKED;
    return is_geared_joint(b) ? GEARED : SINGLE_AXIS;
}

/* Eliminates the joint of body i with one axis S from the articulated inertia I^A and wrench p^A:
 *  U = I^A S, D = S^T U + rotor inertia, u = tau - S^T p^A, I^a = I^A - U U^T / D, p^a = p^A + U u / D. */
LANE_INLINE void eliminate_joint(const articulated_pass *p, int i, articulated_body *body)
{
    const dyn_body       *b   = &p->scene->model->body[i];
    const lane            tau = net_effort(p, b);
    const wrench          U   = articulated_along(&body->I, b->joint.kind);
    const lane            D   = effort_along(b, U) + b->joint.rotor_inertia;
    const joint_solution *s   = solve_joint(p, i, &(joint_equation){U, D, tau - effort_along(b, body->p)});
    if (b->tree.parent == DYN_WORLD) return;
    body->p = articulated_add_effort(body->p, &U, s->g);
    articulated_project(&body->I, b, &U, &s->G);
}

/* Adds I^a and p^a of each body of a run, moved to the parent, to I^A and p^A of the parent; X is the motion transform
 * from the parent: I_p^A += X^T I^a X, p_p^A += X^T p^a. Each body of a run is the only child of the previous body. */
LANE_INLINE void articulated_run(const articulated_pass *p, dyn_run run)
{
    int              i    = run.end - 1;
    articulated_body body = articulated_body_of(p, i);
    for (;; i--) {
        const dyn_body   *b    = &p->scene->model->body[i];
        const elimination kind = elimination_of(p, b);
        if (kind == SINGLE_AXIS) {
            eliminate_joint(p, i, &body);
        } else if (kind != LOCKED) {
            const articulated_body in = {body.I, body.p}, out = kind == FREE ? eliminate_free_joint(p, i, in)
                                                                             : eliminate_geared_joint(p, i, in);
            body.I = out.I; /* copies, so that the compiler keeps `body` in registers */
            body.p = out.p;
        }
        if (b->tree.parent == DYN_WORLD) return;
        /* without rotor inertia S^T I^a = 0, so that the row of a revolute joint in I^a is zero */
        const bool axis_row_is_zero =
            kind == SINGLE_AXIS && b->joint.kind == DYN_REVOLUTE && b->joint.rotor_inertia == 0;
        articulated_to_parent(b, &p->ws->euler.XJ[i], &body, axis_row_is_zero);
        if (i == run.first) break;
        body.I = articulated_with_rigid(body.I, b - 1);
        body.p = wrench_add(body.p, p->ws->euler.required[i - 1]);
    }
    add_to_parent(p, &p->scene->model->body[i], &body);
}

LANE_INLINE void inertia_pass(const articulated_pass *p)
{
    const dyn_model *m = p->scene->model;
    for (size_t r = m->n_runs; r-- > 0;)
        if (!m->run[r].plain)
            articulated_run(p, m->run[r]);
        else if (p->driven)
            articulated_driven_plain_run(p, m->run[r]);
        else
            articulated_plain_run(p, m->run[r], false);
}

/* --- third pass, base to leaves: accelerations ----------------------------------------------------------------- */

/* Computes qdd of a joint, and replaces `alpha`, on entry the acceleration alpha' = X alpha_p of the parent in the
 * body's frame, by that of the body: qdd = (u - U^T alpha') / D, alpha = alpha' + S qdd, with U, D and u of
 * eliminate_joint. A driven joint has alpha = alpha', because the forward pass contains its qdd. The slide of a helical
 * joint has alpha = alpha' too, because the next body adds S qdd, and so has a rotor, whose alpha is not used. */
LANE_INLINE void accelerate_joint(const articulated_pass *p, int i, twist *alpha)
{
    const dyn_body *b      = &p->scene->model->body[i];
    const bool      driven = is_driven(p, b->joint.v);
    if (driven && !is_joint_part(b)) p->qdd[b->joint.v] = p->io->qdd[b->joint.v];
    if (driven || is_joint_part(b)) return;
    const lane sdd = joint_acceleration(&p->ws->link[i].joint, *alpha);
    if (b->joint.kind == DYN_PRISMATIC)
        alpha->v.z += sdd;
    else
        alpha->w.z += sdd;
    if (b->joint.has_slide_body) alpha->v.z = add_mul(alpha->v.z, slide_ratio(b), sdd);
    p->qdd[b->joint.v] = b->joint.has_ratio ? sdd / b->joint.ratio : sdd;
}

/* Computes the acceleration alpha (first comment) of each body of a run, base to tip, from that of the run's parent. */
LANE_INLINE void acceleration_run(const articulated_pass *p, dyn_run run)
{
    const dyn_body *body = p->scene->model->body;
    twist alpha          = {vec3_zero(), vec3_zero()}; /* the world does not accelerate; alpha: see the first comment */
    if (body[run.first].tree.parent != DYN_WORLD) alpha = p->ws->link[body[run.first].tree.parent].alpha;
    for (int i = run.first; i < run.end; i++) {
        const dyn_body *b = &body[i];
        if (b->tree.parent != DYN_WORLD) {
            alpha = twist_at(alpha, b->pose.p_pc, b->pose.offsets);
            WITH_LINK_TRANSFORM(b, &p->ws->euler.XJ[i], twist_to_child_form, &alpha)
        }
        if (dyn_joint_has_quaternion(b->joint.kind))
            alpha = accelerate_free_joint(p, b, (twist){alpha.v, alpha.w});
        else
            accelerate_joint(p, i, &alpha);
    }
    if (body[run.end - 1].tree.carries_run) p->ws->link[run.end - 1].alpha = alpha;
}

LANE_INLINE void acceleration_pass(const articulated_pass *p)
{
    const dyn_model *m = p->scene->model;
    for (size_t r = 0; r < m->n_runs; r++)
        if (!m->run[r].plain)
            acceleration_run(p, m->run[r]);
        else if (p->driven)
            acceleration_driven_plain_run(p, m->run[r]);
        else
            acceleration_plain_run(p, m->run[r], false);
}

/* --- the kernel ------------------------------------------------------------------------------------------------ */

static articulated_workspace place(arena *a, const dyn_model *m)
{
    return (articulated_workspace){.euler      = newton_euler_place(a, m, false),
                                   .link       = arena_take(a, m->n_bodies, sizeof(articulated_link)),
                                   .free_joint = arena_take(a, m->n_quaternions, sizeof(free_joint_solution)),
                                   .tau        = arena_take(a, m->n_couplings ? (size_t)m->nv : 0, sizeof(lane))};
}

size_t LANE_NAME(forward_dynamics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_size)(m, 0, dyn_model_is_coupled(m) ? LANE_NAME(forward_coupled_size)(m) : a.used);
}

/* Returns tau without the efforts that springs and dampers of elastic joints have between joint and motor. */
static const lane *subtract_couplings(const dyn_scene *scene, const articulated_workspace *ws, const lane *q,
                                      const lane *qd, const lane *tau)
{
    const dyn_model *m = scene->model;
    if (m->n_couplings == 0) return tau;
    for (int v = 0; v < m->nv; v++)
        ws->tau[v] = tau[v];
    couplings_add(scene, q, qd, -1, ws->tau);
    return ws->tau;
}

/* Runs the forward pass with external wrenches. External wrenches are rare, so the function is not inlined. */
LANE_NOINLINE void forward_pass_with_wrenches(const newton_euler_pass *p)
{
    gather_external_wrenches(p->scene, p->ws->XJ, p->io->wrenches, &p->ws->ext);
    forward_pass(p, (newton_euler_variant){.wrenches = true});
}

static void articulated_body_algorithm(const dyn_scene *scene, const articulated_workspace *ws,
                                       const dyn_forward_dynamics *io)
{
    const newton_euler_workspace *euler      = &ws->euler;
    lane                          singular   = lane_of(-1);
    const newton_euler_io         first_io   = {.q        = block_in(io->q, 0, 0),
                                                .qd       = values_or_zeros(euler, block_in(io->qd, 0, 0)),
                                                .qdd      = values_or_zeros(euler, block_in(io->driven_qdd, 0, 0)),
                                                .wrenches = block_in(io->wrenches, 0, 0)};
    const lane                   *tau        = values_or_zeros(euler, block_in(io->tau, 0, 0));
    const newton_euler_pass       first_pass = {scene, euler, &first_io};
    const articulated_pass        p          = {.scene    = scene,
                                                .ws       = ws,
                                                .io       = &first_io,
                                                .tau      = subtract_couplings(scene, ws, first_io.q, first_io.qd, tau),
                                                .driven   = io->driven,
                                                .qdd      = block_out(io->qdd, 0, 0),
                                                .singular = &singular};
    set_joint_transforms(scene->model, first_io.q, euler->XJ);
    if (scene_has_externals(scene, first_io.wrenches))
        forward_pass_with_wrenches(&first_pass);
    else
        forward_pass(&first_pass, (newton_euler_variant){.rates = false});
    inertia_pass(&p);
    acceleration_pass(&p);
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
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_forward_dynamics)(scene, memory, io, blocks);
        return;
    }
    arena                 a  = {.base = memory};
    articulated_workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        dyn_forward_dynamics one = block_io(scene, io, block);
        if (dyn_model_is_coupled(scene->model))
            LANE_NAME(forward_coupled)(scene, memory, &one);
        else
            articulated_body_algorithm(scene, &ws, &one);
    }
}

/* --- at rest ---------------------------------------------------------------------------------------------------- */

/* I^A, U and D do not depend on efforts (Featherstone 2008, ch. 7). So with the pivots that are in the workspace, only
 * the wrenches p^A and the accelerations are computed again, without gravity, friction, springs and external wrenches.
 * p^A of a single body is zero, and a joint passes on p^a = p^A + U u / D = p^A + G u. */

/* Sets g of the axes of a joint with a quaternion, one axis after another as eliminate_free_joint does. Returns p^a; w
 * is p^A. */
LANE_NOINLINE wrench wrench_through_free_joint(const articulated_pass *p, const dyn_body *b, wrench w)
{
    free_joint_solution *s     = &p->ws->free_joint[b->joint.quaternion];
    const int            first = joint_first_axis(b);
    lane                 pA[6];
    store3(pA, w.f);
    store3(pA + 3, w.n);
    for (int k = first; k < 6; k++) {
        const lane u = p->tau[b->joint.v + k - first] - pA[k];
        s->g[k]      = u * s->d[k];
        for (int j = 0; j < 6; j++)
            pA[j] = add_mul(pA[j], s->G[k][j], u);
    }
    return (wrench){load3(pA), load3(pA + 3)};
}

/* Sets g of the joint of body i, whose p^A is w. Returns p^a. */
LANE_INLINE wrench wrench_through_joint(const articulated_pass *p, int i, wrench w)
{
    const dyn_body *b = &p->scene->model->body[i];
    joint_solution *s = &p->ws->link[i].joint;
    if (dyn_joint_has_quaternion(b->joint.kind)) return wrench_through_free_joint(p, b, w);
    if (is_joint_part(b)) return w;
    lane u = joint_effort(b, p->tau) - effort_along(b, w);
    if (b->joint.has_slide_body) u -= slide_ratio(b) * w.f.z;
    s->g = u * s->d;
    return articulated_add_effort(w, &s->G, u);
}

LANE_INLINE void wrench_to_parent_at_rest(link_transform X, wrench *w)
{
    wrench_to_parent_form(X, w);
}

/* Computes p^a of all joints, leaves to base. */
static inline void wrenches_at_rest(const articulated_pass *p)
{
    const dyn_model *m = p->scene->model;
    wrench           w = {vec3_zero(), vec3_zero()};
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        if (b->tree.is_leaf)
            w = (wrench){vec3_zero(), vec3_zero()};
        else if (b->tree.carries_run)
            w = p->ws->link[i].children.p;
        w = wrench_through_joint(p, i, w);
        if (b->tree.parent == DYN_WORLD) continue;
        WITH_LINK_TRANSFORM(b, &p->ws->euler.XJ[i], wrench_to_parent_at_rest, &w)
        wrench *sum = &p->ws->link[b->tree.parent].children.p;
        if (m->body[b->tree.parent].tree.carries_run) *sum = b->tree.is_last_child ? w : wrench_add(*sum, w);
    }
}

void LANE_NAME(accelerate_at_rest)(const dyn_scene *scene, void *memory, const lane *effort, lane *qdd)
{
    void *inner = scene_has_load(scene) ? LANE_NAME(load_memory)(scene->model, memory) : memory;
    if (dyn_model_is_coupled(scene->model)) {
        LANE_NAME(accelerate_coupled_at_rest)(scene->model, inner, effort, qdd);
        return;
    }
    arena                       a  = {.base = inner};
    const articulated_workspace ws = place(&a, scene->model);
    const articulated_pass      p  = {.scene = scene, .ws = &ws, .tau = effort, .qdd = qdd};
    wrenches_at_rest(&p);
    acceleration_pass(&p);
}
