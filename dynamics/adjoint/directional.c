/* directional.c - computes the rates of tau along directions of q, qd and qdd in O(n) for each direction: the tangent
 * of the Newton-Euler recursion (own derivation; Guarino Lo Bianco 2009 has the case of time derivatives).
 *
 * tangent_pass.h has the rates of motions and wrenches. The rates of friction, springs and drives along a direction are
 * their time derivatives along a motion, with the direction in place of the velocities. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/directional.h"
#include "dynamics/joint/load_friction.h"
#include "tangent_pass.h"

typedef struct workspace {
    newton_euler_workspace euler;
    tangent_body          *body; /* [n_bodies] motion of each body and its rates along a direction */
    load_friction
        *friction; /* [nv] friction as a function of the load; this and T only with friction that depends on the load */
    lane *T;       /* [nv] efforts without friction */
    void *memory;  /* workspace of inverse dynamics */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t loaded = m->has_load ? (size_t)m->nv : 0;
    return (workspace){.euler    = newton_euler_place(a, m, false),
                       .body     = arena_take(a, m->n_bodies, sizeof(tangent_body)),
                       .friction = arena_take(a, loaded, sizeof(load_friction)),
                       .T        = arena_take(a, loaded, sizeof(lane)),
                       .memory   = arena_take(a, LANE_NAME(inverse_dynamics_size)(m), 1)};
}

size_t LANE_NAME(directional_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- one body ------------------------------------------------------------------------------------------- */

/* Returns the rates, along the direction, of the efforts of the rotor, the damper and the spring of a joint with a
 * quaternion: force and torque in its axes. */
static wrench free_tangent_forces(const tangent_pass *p, const dyn_body *b)
{
    const twist u = free_rates(b, p->io->qd), g = free_rates(b, p->along.qd);
    twist       j = free_rates(b, p->along.qdd);
    j.v           = cross_add(cross_add(j.v, g.w, u.v), u.w, g.v);
    wrench sum    = free_efforts(b, p->scene->terms, j, g);
    if (has_free_spring(b, p->scene->terms)) sum.n = add(sum.n, free_spring_rate(b, p->io->q, p->along.q));
    return sum;
}

/* Returns the rate, along the direction, of the friction and of the spring of a joint of one coordinate. */
static lane passive_tangent(const tangent_pass *p, const dyn_body *b)
{
    const lane g    = joint_rate(b, p->along.qd);
    lane       rate = lane_of(0);
    if (b->joint.has_friction && (p->scene->terms & DYN_FRICTION))
        rate = joint_friction_slope(b, joint_rate(b, p->io->qd)) * g;
    if (b->joint.has_spring && (p->scene->terms & DYN_SPRINGS)) {
        const spring_slopes c = joint_spring_slopes(b, p->io->q, p->io->qd);
        rate                  = add_mul(add_mul(rate, c.by_sd, g), c.by_s, joint_rate(b, p->along.q));
    }
    return rate;
}

static void rate_out(const tangent_pass *p, const dyn_body *b, wrench rate, lane *rates)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_effort_out(b, rate, rates);
        if (has_free_forces(b)) free_add_efforts(b, free_tangent_forces(p, b), rates);
        return;
    }
    lane effort = effort_along(b, rate);
    if (b->joint.rotor_inertia != 0) effort = add_mul(effort, b->joint.rotor_inertia, joint_rate(b, p->along.qdd));
    if (b->joint.has_friction || b->joint.has_spring) effort += passive_tangent(p, b);
    coordinate_effort_out(p->scene->model, b, effort, rates);
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

static void put_tangent_rates(const tangent_pass *p, lane *rates)
{
    const dyn_model *m    = p->scene->model;
    tangent_body    *body = p->body;
    clear(rates, (size_t)m->nv);
    for (int i = 0; i < (int)m->n_bodies; i++)
        move_tangent(p, i);
    subtract_turning_wrenches(p);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        rate_out(p, b, body[i].rate, rates);
        if (b->tree.parent == DYN_WORLD) continue;
        wrench rate = rate_at_rest(p, b, body[i].required, body[i].rate);
        WITH_LINK_TRANSFORM(b, &p->ws->XJ[i], wrench_to_parent_of, &rate)
        body[b->tree.parent].rate = wrench_add(body[b->tree.parent].rate, rate);
    }
    couplings_add_rates(p->scene, p->along.q, p->along.qd, rates);
    drives_add_rates(p->scene, p->io->qd, p->along.qd, p->along.qdd, rates);
}

/* Turns the rates T' of the efforts without friction into the rates of tau: a T' + (f' + g' |T|) qd', with a, f and g
 * of load_friction.h and qd' the direction of the velocity. Then adds the rates of the friction of coupled
 * transmissions. */
static void load_rates(const dyn_scene *scene, const workspace *ws, const tangent_pass *p, lane *rates)
{
    for (int v = 0; v < scene->model->nv; v++) {
        const load_friction *f = &ws->friction[v];
        rates[v]               = add_mul(load_factor(f, ws->T[v]) * rates[v], load_slope(f, ws->T[v]), p->along.qd[v]);
    }
    drives_add_friction_rates(scene, p->io->qd, p->along.qd, rates);
}

/* Computes T, the efforts without friction (load_friction.h). */
static void find_transmitted(const dyn_scene *rigid, const workspace *ws, const dyn_directional *io, const lane *qd)
{
    const dyn_inverse_dynamics state = {
        .q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches, .tau = (double *)ws->T};
    LANE_NAME(inverse_dynamics)(rigid, ws->memory, &state, 1);
    load_friction_set(rigid->model, qd, ws->friction);
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_directional directional_block(const dyn_scene *scene, const dyn_directional *io, size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (dyn_directional){.q             = (const double *)block_in(io->q, block, nq),
                             .qd            = (const double *)block_in(io->qd, block, nv),
                             .qdd           = (const double *)block_in(io->qdd, block, nv),
                             .wrenches      = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                             .n             = io->n,
                             .direction_q   = (const double *)block_in(io->direction_q, block, io->n * nv),
                             .direction_qd  = (const double *)block_in(io->direction_qd, block, io->n * nv),
                             .direction_qdd = (const double *)block_in(io->direction_qdd, block, io->n * nv),
                             .rates         = (double *)block_out(io->rates, block, io->n * nv),
                             .tau           = (double *)block_out(io->tau, block, nv)};
}

/* Computes one block. `rigid` is the scene without friction where friction depends on the load, else the same scene. */
static void put_directional_block(const dyn_scene *scene, const dyn_scene *rigid, const workspace *ws,
                                  const dyn_directional *io)
{
    const size_t          nv    = (size_t)scene->model->nv;
    const newton_euler_io state = {.q        = block_in(io->q, 0, 0),
                                   .qd       = values_or_zeros(&ws->euler, block_in(io->qd, 0, 0)),
                                   .qdd      = values_or_zeros(&ws->euler, block_in(io->qdd, 0, 0)),
                                   .wrenches = block_in(io->wrenches, 0, 0)};
    tangent_pass          p     = {.scene       = rigid,
                                   .ws          = &ws->euler,
                                   .body        = ws->body,
                                   .io          = &state,
                                   .world_fixed = scene_has_world_fixed(scene, state.wrenches)};
    set_joint_transforms(scene->model, state.q, ws->euler.XJ);
    if (scene_has_externals(scene, state.wrenches))
        gather_external_wrenches(scene, ws->euler.XJ, state.wrenches, &ws->euler.ext);
    set_state(&p);
    if (rigid != scene) find_transmitted(rigid, ws, io, state.qd);
    for (size_t k = 0; k < io->n && goes_on(scene->deadline, nv); k++) {
        p.along     = (direction){values_or_zeros(&ws->euler, block_in(io->direction_q, k, nv)),
                                  values_or_zeros(&ws->euler, block_in(io->direction_qd, k, nv)),
                                  values_or_zeros(&ws->euler, block_in(io->direction_qdd, k, nv))};
        lane *rates = block_out(io->rates, k, nv);
        put_tangent_rates(&p, rates);
        if (rigid != scene) load_rates(scene, ws, &p, rates);
    }
}

void LANE_NAME(directional)(const dyn_scene *scene, void *memory, const dyn_directional *io, size_t blocks)
{
    arena           a      = {.base = memory};
    const workspace ws     = place(&a, scene->model);
    const dyn_scene rigid  = scene_without_friction(scene);
    const bool      loaded = scene_has_load(scene);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_directional one = directional_block(scene, io, block);
        put_directional_block(scene, loaded ? &rigid : scene, &ws, &one);
        if (one.tau) LANE_NAME(inverse_dynamics)
        (scene, ws.memory,
         &(dyn_inverse_dynamics){.q = one.q, .qd = one.qd, .qdd = one.qdd, .wrenches = one.wrenches, .tau = one.tau},
         1);
    }
}
