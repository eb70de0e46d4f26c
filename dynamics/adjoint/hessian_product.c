/* hessian_product.c - computes the rates of the derivatives of multipliers . tau along directions of q, qd and qdd, in
 * O(n) for each direction: the tangent of the passes of virtual_power.h (own derivation).
 *
 * d is the rate of components in the axes of the body, as in tangent_pass.h, which has the rates of motion and wrenches
 * (f, n). With the joint axis z and the direction e of the joint's position, (u, o) has the rates
 *
 *     revolute:   do = R^T do_p + o x e z,   du = R^T (du_p + do_p x p) + u x e z
 *     prismatic:  do = R^T do_p,             du = R^T (du_p + do_p x p) + o x e z
 *
 * A and N are linear in (u, o), and W is linear in w as well. d_ = d + e z x are the rates in axes that do not rotate.
 * The rates of the parent's sums get
 *
 *     A_p += R A,   N_p += R N + p x R A + dp x R A,
 *     W_p += R W + (w_p x p + p') x R A + (dw_p x p + w_p x dp + dp') x R A,
 * where A, N, W are rates d_, but A itself in the last term of N_p and W_p. dp is 0, e z, or R e of a joint with a
 * quaternion. The derivatives (virtual_power.h) are products of motion and sums, and are differentiated by the product
 * rule. load_hessian_product.c has friction that depends on the load. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/hessian_product.h"
#include "dynamics/joint/load_friction.h"
#include "tangent_pass.h"
#include "virtual_power.h"

typedef struct workspace {
    newton_euler_workspace euler;
    tangent_body          *motion;      /* [n_bodies] motion of each body and its rates along a direction */
    power_body            *body, *rate; /* [n_bodies] the virtual motions and sums, and their rates */
} workspace;

typedef struct product_pass {
    tangent_pass  tangent;
    power_pass    power;
    power_body   *rate;
    lane         *by_qdd; /* [nv] products with respect to qdd; those with respect to q and qd are in `out` */
    power_outputs out;
} product_pass;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.euler  = newton_euler_place(a, m, false),
                       .motion = arena_take(a, m->n_bodies, sizeof(tangent_body)),
                       .body   = arena_take(a, m->n_bodies, sizeof(power_body)),
                       .rate   = arena_take(a, m->n_bodies, sizeof(power_body))};
}

size_t LANE_NAME(hessian_product_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_hessian_product_size)(m, a.used);
}

/* --- the virtual motion ------------------------------------------------------------------------------------------- */

static void set_moments(const dyn_body *b, vec3 w, twist u, power_body *to)
{
    if (b->joint.kind == DYN_REVOLUTE)
        virtual_moments(&b->derived.regrouped, w, u, true, to);
    else
        virtual_moments(&b->derived.regrouped, w, u, false, to);
}

/* Adds the terms of external wrenches in world axes to Y of each body or, if `rates`, their rates to Y of p->rate.
 * Relative to a body that rotates by o, such a wrench rotates by -o. */
static void add_turns(const product_pass *p, bool rates)
{
    const dyn_scene              *scene  = p->tangent.scene;
    const newton_euler_workspace *ws     = p->tangent.ws;
    const lane                   *values = p->tangent.io->wrenches;
    for (size_t k = external_first(scene, values); p->tangent.world_fixed && k < external_end(scene); k++) {
        const external_load load = external_load_of(scene, values, k);
        if (load.body == DYN_WORLD || !load.world_axes) continue;
        power_body  *B = &p->power.body[load.body], *D = &p->rate[load.body];
        const vec3   o       = p->tangent.body[load.body].o;
        const wrench applied = external_applied(&load, &ws->ext.attitude[load.body]);
        if (rates)
            D->Y = add_world_turn(add_world_turn(D->Y, applied, &load, D->u),
                                  (wrench){cross(applied.f, o), cross(applied.n, o)}, &load, B->u);
        else
            B->Y = add_world_turn(B->Y, applied, &load, B->u);
    }
}

/* Sets the virtual motions of all bodies, and the sums over their descendants. */
static void set_virtual_motion(const product_pass *p)
{
    const dyn_model    *m    = p->tangent.scene->model;
    const tangent_body *K    = p->tangent.body;
    power_body         *body = p->power.body;
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const motion_state *k = &K[i].state;
        twist               u = parent_virtual_velocity(&p->power, b);
        virtual_joint_step(&p->power, i, &u);
        body[i] = (power_body){.w   = k->motion.w,
                               .wd  = k->motion.wd,
                               .a   = k->motion.a,
                               .U_z = {k->U.xz, k->U.yz, -acceleration_zz(&k->U)},
                               .u   = u,
                               .Y   = vec3_zero()};
        set_moments(b, body[i].w, u, &body[i]);
    }
    add_turns(p, false);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        power_sums      s = {.w = K[i].required, .P = body[i].P, .W = body[i].W, .Y = body[i].Y};
        if (b->tree.parent == DYN_WORLD) continue;
        power_body *P = &body[b->tree.parent];
        WITH_LINK_TRANSFORM(b, &p->tangent.ws->XJ[i], sums_to_parent, P->w, p->tangent.io, &s)
        WITH_LINK_TRANSFORM(b, &p->tangent.ws->XJ[i], turn_to_parent, &s.Y)
        P->P = wrench_add(P->P, s.P);
        P->W = add(P->W, s.W);
        P->Y = add(P->Y, s.Y);
    }
}

/* --- one body, forward ------------------------------------------------------------------------------------------ */

/* Moves the rates d of the virtual velocity from the parent's axes and origin to the body's. */
LANE_INLINE void virtual_rate_to_child(link_transform X, twist *d)
{
    twist_to_child_form(X, d);
}

/* Returns the rates du and do of the virtual velocity of body i, in its axes. */
static twist virtual_rate(const product_pass *p, int i)
{
    const dyn_body *b = &p->tangent.scene->model->body[i];
    const twist     u = p->power.body[i].u;
    twist           d = {vec3_zero(), vec3_zero()};
    if (b->tree.parent != DYN_WORLD) {
        d = twist_at(p->rate[b->tree.parent].u, b->pose.p_pc, b->pose.offsets);
        WITH_LINK_TRANSFORM(b, &p->tangent.ws->XJ[i], virtual_rate_to_child, &d)
    }
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        const twist e = free_rates(b, p->tangent.along.q), rates = free_rates(b, p->power.multipliers);
        const vec3  o = sub(u.w, rates.w);
        return (twist){cross_add(cross_add(d.v, sub(u.v, rates.v), e.w), o, e.v), cross_add(d.w, o, e.w)};
    }
    const lane e = direction_of_joint(&p->tangent, b).e;
    if (b->joint.kind == DYN_PRISMATIC) return (twist){turn_about_z(d.v, u.w, e), d.w};
    return (twist){turn_about_z(d.v, u.v, e), turn_about_z(d.w, u.w, e)};
}

/* Sets the rates of the motion and the virtual motion of body i, and of A, N and W (first comment) of its own mass. */
static void move_virtual(const product_pass *p, int i)
{
    const dyn_body     *b = &p->tangent.scene->model->body[i];
    const tangent_body *K = &p->tangent.body[i];
    power_body         *D = &p->rate[i], product;
    *D                    = (power_body){.w   = K->state.dw,
                                         .wd  = K->state.rate.wdd,
                                         .a   = K->state.rate.ad,
                                         .U_z = {K->state.Ud.xz, K->state.Ud.yz, -acceleration_zz(&K->state.Ud)},
                                         .u   = virtual_rate(p, i),
                                         .Y   = vec3_zero()};
    set_moments(b, p->power.body[i].w, D->u, D);
    set_moments(b, K->state.dw, p->power.body[i].u, &product);
    D->W = add(D->W, product.W);
}

/* --- one body, backward ------------------------------------------------------------------------------------------- */

/* A vector x with its rate along the direction. */
typedef struct rated {
    vec3 x, rate;
} rated;

LANE_INLINE rated rated_add(rated a, rated b)
{
    return (rated){add(a.x, b.x), add(a.rate, b.rate)};
}
LANE_INLINE rated rated_sub(rated a, rated b)
{
    return (rated){sub(a.x, b.x), sub(a.rate, b.rate)};
}
LANE_INLINE rated rated_cross(rated a, rated b)
{
    return (rated){cross(a.x, b.x), cross_add(cross(a.rate, b.x), a.x, b.rate)};
}
/* Returns s + a x b, with its rate. */
LANE_INLINE rated rated_cross_add(rated s, rated a, rated b)
{
    return rated_add(s, rated_cross(a, b));
}

/* The sums A, N, W, f and n over a body and its descendants, and their rates. */
typedef struct rated_sums {
    power_sums s, rate;
} rated_sums;

/* Writes the products for position and rate of a joint with a quaternion: the rates of free_gradients_out. */
LANE_NOINLINE void free_products_out(const product_pass *p, int i, const rated_sums *x)
{
    const dyn_body   *b = &p->tangent.scene->model->body[i];
    const power_body *B = &p->power.body[i], *D = &p->rate[i];
    const twist       u = free_rates(b, p->tangent.io->qd), du = free_rates(b, p->tangent.along.qd),
                a = free_rates(b, p->tangent.io->qdd), da = free_rates(b, p->tangent.along.qdd),
                mu = free_rates(b, p->power.multipliers);
    const rated v = {u.v, du.v}, y = {u.w, du.w}, A = {x->s.P.f, x->rate.P.f}, N = {x->s.P.n, x->rate.P.n},
                W = {x->s.W, x->rate.W}, f = {x->s.w.f, x->rate.w.f}, n = {x->s.w.n, x->rate.w.n}, w = {B->w, D->w},
                k = rated_sub(w, y), two_k = rated_add(k, k), two_W = rated_add(W, W);
    const rated wd0 = rated_sub((rated){sub(B->wd, a.w), sub(D->wd, da.w)}, rated_cross(k, y)),
                a0  = rated_sub((rated){sub(B->a, a.v), sub(D->a, da.v)}, rated_cross(rated_add(two_k, y), v)),
                u0 = {sub(B->u.v, mu.v), D->u.v}, o0 = {sub(B->u.w, mu.w), D->u.w};
    const rated spin = rated_cross_add(two_W, N, k), coriolis = rated_cross(v, A),
                turn = rated_cross(rated_add(spin, rated_add(coriolis, coriolis)), k);
    const rated by_v = rated_cross_add(rated_cross_add(rated_cross(A, wd0), k, rated_cross(k, A)), f, o0);
    const rated by_y =
        rated_cross_add(rated_cross_add(rated_cross_add(rated_cross_add(turn, N, wd0), A, a0), f, u0), n, o0);
    const wrench by_qd = {rated_cross(A, rated_add(w, k)).rate, rated_add(rated_cross_add(spin, N, w), coriolis).rate};
    free_effort_out(b, (wrench){by_v.rate, add(by_y.rate, x->rate.Y)}, p->out.q);
    free_effort_out(b, by_qd, p->out.qd);
    free_effort_out(b, x->rate.P, p->by_qdd);
}

/* Writes the products for position, rate and acceleration of the joint of body i. */
static void products_out(const product_pass *p, int i, const rated_sums *x)
{
    const dyn_model *m = p->tangent.scene->model;
    const dyn_body  *b = &m->body[i];
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        free_products_out(p, i, x);
        return;
    }
    const power_body *B = &p->power.body[i], *D = &p->rate[i];
    power_sums        without_W = x->s; /* W has no factor of the motion in joint_by_qd */
    without_W.W                 = vec3_zero();
    lane by_q                   = joint_by_q(b, D, &x->s) + joint_by_q(b, B, &x->rate);
    if (joint_turns(b)) by_q += x->rate.Y.z;
    coordinate_effort_out(m, b, by_q, p->out.q);
    coordinate_effort_out(m, b, joint_by_qd(b, D, &without_W) + joint_by_qd(b, B, &x->rate), p->out.qd);
    coordinate_effort_out(m, b, effort_along(b, x->rate.P), p->by_qdd);
}

/* Returns the rate, in axes that do not rotate, of a vector x of body b that has `rate` in body axes. */
static vec3 vector_rate_at_rest(const product_pass *p, const dyn_body *b, vec3 x, vec3 rate)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) return cross_add(rate, joint_angular(b, p->tangent.along.q), x);
    return b->joint.kind == DYN_PRISMATIC ? rate : add_spin(rate, x, direction_of_joint(&p->tangent, b).e);
}

/* Returns w x dp + dp': the rate of velocity_of_origin without the term of the parent's own dw. */
LANE_INLINE vec3 velocity_of_origin_rate(link_transform X, vec3 w, const tangent_pass *p)
{
    if (X.joint == DYN_PRISMATIC) {
        double z[3];
        axis_in_parent(X.b, z);
        const vec3 axis = vec3_of(z);
        return add_scaled(cross(w, scale(axis, joint_rate(X.b, p->along.q))), axis, joint_rate(X.b, p->along.qd));
    }
    if (!dyn_joint_has_quaternion(X.joint)) return vec3_zero();
    const twist e = free_rates(X.b, p->along.q);
    const vec3  v = cross_add(joint_linear(X.b, p->along.qd), e.w, joint_linear(X.b, p->io->qd));
    return add(to_parent(X, v), cross(w, to_parent(X, e.v)));
}

/* Moves rates of sums, in axes that do not rotate, to the axes and origin of the parent with angular velocity w. */
LANE_INLINE void rates_to_parent(link_transform X, rated w, const tangent_pass *p, rated_sums *x)
{
    const vec3 A             = to_parent(X, x->s.P.f);
    const vec3 velocity_rate = cross_add(velocity_of_origin_rate(X, w.x, p), w.rate, origin_in_parent(X));
    wrench_to_parent_form(X, &x->rate.w);
    wrench_to_parent_form(X, &x->rate.P);
    x->rate.W = cross_add(to_parent(X, x->rate.W), velocity_of_origin(X, w.x, p->io), x->rate.P.f);
    x->rate.W = cross_add(x->rate.W, velocity_rate, A);
    x->rate.Y = to_parent(X, x->rate.Y);
}

static void add_rates_to_parent(const product_pass *p, int i, rated_sums *x)
{
    const dyn_body *b      = &p->tangent.scene->model->body[i];
    const int       parent = b->tree.parent;
    power_body     *D      = &p->rate[parent];
    tangent_body   *K      = &p->tangent.body[parent];
    x->rate.w              = rate_at_rest(&p->tangent, b, x->s.w, x->rate.w);
    x->rate.P              = rate_at_rest(&p->tangent, b, x->s.P, x->rate.P);
    x->rate.W              = vector_rate_at_rest(p, b, x->s.W, x->rate.W);
    x->rate.Y              = vector_rate_at_rest(p, b, x->s.Y, x->rate.Y);
    const rated w          = {p->power.body[parent].w, D->w};
    WITH_LINK_TRANSFORM(b, &p->tangent.ws->XJ[i], rates_to_parent, w, &p->tangent, x)
    K->rate = wrench_add(K->rate, x->rate.w);
    D->P    = wrench_add(D->P, x->rate.P);
    D->W    = add(D->W, x->rate.W);
    D->Y    = add(D->Y, x->rate.Y);
}

/* --- efforts within joints --------------------------------------------------------------------------------------- */

/* Adds the rates of free_gradients (gradient.c): of J u x w and J v x u of the rotor, and of k G^T o of the spring. */
static void free_force_products(const product_pass *p, const dyn_body *b)
{
    const dyn_scene *scene = p->tangent.scene;
    const twist      u = free_rates(b, p->power.multipliers), g = free_rates(b, p->tangent.along.qd);
    const double     J = b->joint.rotor_inertia;
    if (b->joint.kind == DYN_FLOATING)
        free_add_efforts(b, (wrench){times(J, cross(u.v, g.w)), times(J, cross(g.v, u.v))}, p->out.qd);
    if (!has_free_spring(b, scene->terms)) return;
    const vec3         theta = joint_rotation_vector(p->tangent.io->q + b->joint.q);
    const spring_curve c     = spring_curve_at(dot(theta, theta));
    const vec3         d = spring_turn(theta, c.value, joint_angular(b, p->tangent.along.q)), zero = vec3_zero();
    const vec3 moment = times(b->joint.spring.stiffness, spring_turn_change(sub(zero, theta), c, sub(zero, d), u.w));
    free_add_efforts(b, (wrench){.f = zero, .n = moment}, p->out.q);
}

/* Adds the rates of the derivatives of those springs and dampers that are not linear. */
static void spring_products(const product_pass *p, const dyn_body *b)
{
    if (!b->joint.has_nonlinear_spring || !(p->tangent.scene->terms & DYN_SPRINGS)) return;
    const spring_slopes c    = joint_spring_curvatures(b, p->tangent.io->q, p->tangent.io->qd);
    const lane          rate = joint_rate(b, p->power.multipliers);
    p->out.q[b->joint.v] += coordinate_effort(b, c.by_s * joint_rate(b, p->tangent.along.q) * rate);
    p->out.qd[b->joint.v] += coordinate_effort(b, c.by_sd * joint_rate(b, p->tangent.along.qd) * rate);
}

/* Adds the rates of the derivatives of friction and springs. The derivatives of linear ones are constant. */
static void passive_products(const product_pass *p)
{
    const dyn_scene *scene = p->tangent.scene;
    const dyn_model *m     = scene->model;
    const lane      *qd = p->tangent.io->qd, *along = p->tangent.along.qd, *multipliers = p->power.multipliers;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (has_free_forces(b)) free_force_products(p, b);
        spring_products(p, b);
        if (dyn_joint_has_quaternion(b->joint.kind) || !b->joint.has_friction || !(scene->terms & DYN_FRICTION))
            continue;
        const lane slope = joint_friction_slope_rate(b, joint_rate(b, qd), joint_rate(b, along));
        p->out.qd[b->joint.v] += coordinate_effort(b, slope * joint_rate(b, multipliers));
    }
    if (drive_has_friction(scene)) drives_add_slope_rates(m, qd, along, multipliers, p->out.qd);
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

/* Computes the Hessian-vector products along one direction. */
static void put_direction_products(const product_pass *p)
{
    const dyn_model *m  = p->tangent.scene->model;
    const size_t     nv = (size_t)m->nv;
    clear(p->out.q, nv);
    clear(p->out.qd, nv);
    clear(p->by_qdd, nv);
    for (int i = 0; i < (int)m->n_bodies; i++) {
        move_tangent(&p->tangent, i);
        move_virtual(p, i);
    }
    subtract_turning_wrenches(&p->tangent);
    add_turns(p, true);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const power_body *B = &p->power.body[i], *D = &p->rate[i];
        rated_sums        x = {.s    = {.w = p->tangent.body[i].required, .P = B->P, .W = B->W, .Y = B->Y},
                               .rate = {.w = p->tangent.body[i].rate, .P = D->P, .W = D->W, .Y = D->Y}};
        products_out(p, i, &x);
        if (m->body[i].tree.parent != DYN_WORLD) add_rates_to_parent(p, i, &x);
    }
    passive_products(p);
}

/* Computes the Hessian-vector products along all directions of block `block`. */
static void put_product_block(const dyn_scene *scene, const workspace *ws, const dyn_hessian_product *io, size_t block)
{
    const size_t          nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    const newton_euler_io state = {.q        = block_in(io->q, block, nq),
                                   .qd       = values_or_zeros(&ws->euler, block_in(io->qd, block, nv)),
                                   .qdd      = values_or_zeros(&ws->euler, block_in(io->qdd, block, nv)),
                                   .wrenches = nw ? block_in(io->wrenches, block, 9 * nw) : NULL};
    product_pass          p     = {.tangent = {.scene = scene, .ws = &ws->euler, .body = ws->motion, .io = &state},
                                   .power   = {.euler       = {scene, &ws->euler, &state},
                                               .multipliers = block_in(io->multipliers, block, nv),
                                               .body        = ws->body},
                                   .rate    = ws->rate};
    p.tangent.world_fixed       = scene_has_world_fixed(scene, state.wrenches);
    set_joint_transforms(scene->model, state.q, ws->euler.XJ);
    if (scene_has_externals(scene, state.wrenches))
        gather_external_wrenches(scene, ws->euler.XJ, state.wrenches, &ws->euler.ext);
    set_state(&p.tangent);
    set_virtual_motion(&p);
    for (size_t k = 0; k < io->n && goes_on(scene->deadline, nv); k++) {
        const size_t row = block * io->n + k;
        p.tangent.along  = (direction){values_or_zeros(&ws->euler, block_in(io->direction_q, row, nv)),
                                       values_or_zeros(&ws->euler, block_in(io->direction_qd, row, nv)),
                                       values_or_zeros(&ws->euler, block_in(io->direction_qdd, row, nv))};
        p.out    = (power_outputs){.q = block_out(io->product_q, row, nv), .qd = block_out(io->product_qd, row, nv)};
        p.by_qdd = block_out(io->product_qdd, row, nv);
        put_direction_products(&p);
    }
}

void LANE_NAME(hessian_product)(const dyn_scene *scene, void *memory, const dyn_hessian_product *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_hessian_product)(scene, memory, io, blocks);
        return;
    }
    arena           a  = {.base = memory};
    const workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++)
        put_product_block(scene, &ws, io, block);
}
