/* newton_euler.h - recursive Newton-Euler: tau and the joint wrenches from q, qd, qdd, and, with `rates`, their time
 * derivatives from qddd too. inverse_dynamics.c and torque_derivative.c are this text.
 *
 * Classical accelerations in body frames, after Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31,
 * gravity as an acceleration -g of the world. U = [wd x] + [w x]^2 maps a point of the body to its acceleration
 * relative to the origin. The rates are the derivatives of the components, equation by equation, as in Guarino Lo
 * Bianco (2009), here for trees, any base, friction, rotors and wrenches on any link. What turns with a revolute joint,
 * x_c = R^T x, has the rate R^T x' - sd z x x_c. Checked against a dense world-frame reference. */
#pragma once
#include "external.h"
#include "turning.h"

typedef struct motion { /* of a body, in its axes */
    vec3    w, wd;      /* angular velocity and acceleration */
    vec3    a;          /* acceleration of the origin, less gravity */
    turning U;
} motion;

typedef struct motion_rate { /* d/dt of the components of wd, a, U */
    vec3    wdd, ad;
    turning Ud;
} motion_rate;

typedef struct euler_workspace {
    joint_at    *at;
    motion      *motion; /* of bodies on which other than the next body hangs */
    wrench      *on;     /* needed on each grouped body: inertial - external, then with what its children need */
    wrench      *given;  /* needed by what it gave its parent */
    external     ext;
    motion_rate *motion_rate; /* the same for the rates */
    wrench      *on_rate, *given_rate;
    vec3        *w;     /* of every body, for the rates of wrenches */
    lane        *still; /* [nv] zeros, for what is not given */
} euler_workspace;

static inline euler_workspace euler_place(arena *a, const dyn_model *m, bool rates)
{
    euler_workspace ws = {.at     = joints_take(a, m),
                          .motion = arena_take(a, m->n_bodies, sizeof(motion)),
                          .on     = arena_take(a, m->n_bodies, sizeof(wrench)),
                          .given  = arena_take(a, m->n_bodies, sizeof(wrench)),
                          .ext    = external_place(a, m),
                          .still  = arena_take(a, (size_t)m->nv, sizeof(lane))};
    for (int v = 0; ws.still && v < m->nv; v++)
        ws.still[v] = lane_of(0);
    if (rates) {
        ws.motion_rate = arena_take(a, m->n_bodies, sizeof(motion_rate));
        ws.on_rate     = arena_take(a, m->n_bodies, sizeof(wrench));
        ws.given_rate  = arena_take(a, m->n_bodies, sizeof(wrench));
        ws.w           = arena_take(a, m->n_bodies, sizeof(vec3));
    }
    return ws;
}

/* One block. */
typedef struct euler_io {
    const lane *q, *qd, *qdd, *qddd, *wrenches, *wrench_rates;
    lane       *tau, *joint_wrenches, *tau_dot, *joint_wrench_rates;
} euler_io;

/* x [nv], or zeros where it is not given: nobody has to ask again, body by body. */
LANE_INLINE const lane *euler_given(const euler_workspace *ws, const lane *x)
{
    return x ? x : ws->still;
}

/* joint_rate of an array that is given */
LANE_INLINE lane euler_rate(const dyn_body *b, const lane *qd)
{
    return b->geared ? b->ratio * qd[b->v] : qd[b->v];
}

/* --- a body's motion and what it needs --------------------------------------------------------------------- */

/* x' - sd z x x */
LANE_INLINE vec3 unspin(vec3 rate, vec3 x, lane sd)
{
    return (vec3){add_mul(rate.x, sd, x.y), sub_mul(rate.y, sd, x.x), rate.z};
}
/* x' + sd z x x */
LANE_INLINE vec3 spin(vec3 rate, vec3 x, lane sd)
{
    return (vec3){sub_mul(rate.x, sd, x.y), add_mul(rate.y, sd, x.x), rate.z};
}

/* a + U p, p being the way to the child's origin */
LANE_INLINE vec3 at_child(const dyn_body *b, joint_at at, vec3 a, const turning *U, dyn_joint_kind joint)
{
    if (joint == DYN_PRISMATIC) return turning_add(a, U, origin_in_parent(b, at, joint));
    return turning_add_offset(a, U, b->p_pc, b->offsets);
}

/* Motion of a child from its parent's, k becoming the child's:
 *   a = R^T (a_p + U_p p) + [prismatic] (sdd z + 2 w x sd z),  w = R^T w_p + [revolute] sd z,
 *   wd = R^T wd_p + [revolute] (sdd z + (R^T w_p) x sd z) */
LANE_INLINE void outward_form(const dyn_body *b, joint_at at, lane sd, lane sdd, lane sddd, motion *k, motion_rate *d,
                              bool rates, dyn_joint_kind joint, dyn_turn turn)
{
    if (rates) {
        vec3 ad = at_child(b, at, d->ad, &d->Ud, joint);
        if (joint == DYN_PRISMATIC) { /* p' = sd z */
            double z[3];
            axis_in_parent(b, z);
            ad = turning_add(ad, &k->U, scale(vec3_of(z), sd));
        }
        d->ad  = to_child(b, at, ad, joint, turn);
        d->wdd = to_child(b, at, d->wdd, joint, turn);
    }
    k->a  = to_child(b, at, at_child(b, at, k->a, &k->U, joint), joint, turn);
    k->w  = to_child(b, at, k->w, joint, turn);
    k->wd = to_child(b, at, k->wd, joint, turn);
    if (joint == DYN_PRISMATIC) {
        const lane twice = sd + sd;
        k->a             = (vec3){add_mul(k->a.x, k->w.y, twice), sub_mul(k->a.y, k->w.x, twice), k->a.z + sdd};
        if (rates) {
            const lane of = sdd + sdd;
            d->ad.x       = add_mul(add_mul(d->ad.x, k->wd.y, twice), k->w.y, of);
            d->ad.y       = sub_mul(sub_mul(d->ad.y, k->wd.x, twice), k->w.x, of);
            d->ad.z += sddd;
        }
    } else {
        if (rates) {
            d->ad  = unspin(d->ad, k->a, sd);
            d->wdd = unspin(d->wdd, k->wd, sd);
        }
        k->wd = (vec3){add_mul(k->wd.x, k->w.y, sd), sub_mul(k->wd.y, k->w.x, sd), k->wd.z + sdd};
        if (rates) {
            d->wdd.x = add_mul(add_mul(d->wdd.x, k->wd.y, sd), k->w.y, sdd);
            d->wdd.y = sub_mul(sub_mul(d->wdd.y, k->wd.x, sd), k->w.x, sdd);
            d->wdd.z += sddd;
        }
        k->w.z += sd;
    }
    k->U = angular(k->w, k->wd);
    if (rates) d->Ud = angular_rate(k->w, k->wd, d->wdd);
}

static inline motion world_motion(const double gravity[3])
{
    vec3 zero = vec3_zero();
    return (motion){.w  = zero,
                    .wd = zero,
                    .a  = {lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])},
                    .U  = angular(zero, zero)};
}

static inline motion_rate world_rate(void)
{
    vec3 zero = vec3_zero();
    return (motion_rate){.wdd = zero, .ad = zero, .Ud = angular(zero, zero)};
}

/* A joint that turns freely, whose own velocity is u, linear, and y, angular, in the child's axes: there, with the
 * parent's motion at the child's origin, w = R^T w_p and so on,
 *   w_c = w + y,  wd_c = wd + yd + w x y,  a_c = a + ud + (2 w + y) x u,
 * and the rates of these, where x = R^T x_p has the rate R^T x_p' - y x x. On the ground w and its rates are zero. */
LANE_APART void free_motion(const dyn_body *b, const joint_pose *at, const euler_io *io, motion *k, motion_rate *d,
                            bool rates)
{
    const mat3 *R       = &at->R;
    const bool  carried = b->parent != DYN_WORLD;
    const vec3  u = joint_linear(b, io->qd), y = joint_angular(b, io->qd);
    const vec3  ud = joint_linear(b, io->qdd), yd = joint_angular(b, io->qdd);
    vec3        a = k->a, w = vec3_zero(), wd = w, two = y;
    if (carried) {
        a   = turning_add(a, &k->U, at->p);
        w   = mat3_mul_transposed(R, k->w);
        wd  = mat3_mul_transposed(R, k->wd);
        two = add(add(w, w), y);
    }
    a = mat3_mul_transposed(R, a);
    if (rates) {
        vec3 wdd = joint_angular(b, io->qddd), ad = vec3_zero(), rate = yd;
        if (carried) {
            const vec3 turned = cross_add(wd, w, y); /* w' */
            ad   = mat3_mul_transposed(R, turning_add(turning_add(d->ad, &d->Ud, at->p), &k->U, mat3_mul(R, u)));
            wdd  = add(wdd, mat3_mul_transposed(R, d->wdd));
            wdd  = cross_add(cross_add(cross_add(wdd, wd, y), turned, y), w, yd);
            rate = add(add(turned, turned), yd);
        }
        ad     = cross_add(ad, a, y);
        d->wdd = wdd;
        d->ad  = cross_add(cross_add(add(ad, joint_linear(b, io->qddd)), rate, u), two, ud);
    }
    k->a  = cross_add(add(a, ud), two, u);
    k->w  = add(w, y);
    k->wd = carried ? cross_add(add(wd, yd), w, y) : yd;
    k->U  = angular(k->w, k->wd);
    if (rates) d->Ud = angular_rate(k->w, k->wd, d->wdd);
}

/* A revolute joint on the ground: what turns there turns about z alone. Of the rest, only a and its rate are not zero:
 *     a = R^T (-g),  ad = -sd z x a,  and the effort needs no more than n.z. */
LANE_INLINE void first_form(const dyn_body *b, joint_at at, vec3 *a, dyn_joint_kind joint, dyn_turn turn)
{
    *a = to_child(b, at, *a, joint, turn);
}

LANE_INLINE turning about_z(lane squared, lane wd)
{
    lane zero = lane_of(0);
    return (turning){squared, squared, zero, -wd, wd, zero, zero, zero, zero};
}

LANE_INLINE lane moment_about_z(const dyn_moments *of, vec3 a, lane wd)
{
    return add_mul(sub_mul(of->h[0] * a.y, of->h[1], a.x), of->E[0] + of->E[3], wd);
}

LANE_INLINE void first_motion(const dyn_body *b, joint_at at, const double gravity[3], lane sd, lane sdd, lane sddd,
                              motion *k, motion_rate *d, bool rates)
{
    lane zero = lane_of(0);
    *k        = (motion){.w = {zero, zero, sd}, .wd = {zero, zero, sdd}, .U = about_z(sd * sd, sdd)};
    k->a      = (vec3){lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])};
    BODY_FORMS(b, first_form, b, at, &k->a)
    if (!rates) return;
    *d = (motion_rate){
        .wdd = {zero, zero, sddd}, .ad = {sd * k->a.y, -sd * k->a.x, zero}, .Ud = about_z((sd + sd) * sdd, sddd)};
}

/* --- outward: motions, and what each body needs ------------------------------------------------------------- */

LANE_INLINE wrench needs(const dyn_body *b, vec3 a, const turning *U, bool first, bool whole)
{
    wrench on = {vec3_zero(), vec3_zero()};
    if (first) {
        if (whole) on = inertial(&b->grouped, a, U, true);
        on.n.z = moment_about_z(&b->grouped, a, U->yx);
        return on;
    }
    if (b->joint == DYN_REVOLUTE) return inertial(&b->grouped, a, U, true);
    return inertial(&b->grouped, a, U, false);
}

/* Along an unbranched chain the parent's motion stays in registers. `loads`: with external wrenches or joint wrenches,
 * a constant of the inlined text as `rates` is. */
LANE_INLINE void outward(const dyn_scene *scene, const euler_workspace *ws, const euler_io *io, bool rates, bool loads,
                         const bool serial)
{
    const dyn_model  *m     = scene->model;
    const motion      world = world_motion(scene->gravity);
    const motion_rate still = world_rate();
    motion            k     = world;
    motion_rate       d     = still;
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        body_known(b, (size_t)i, serial);
        const bool first = serial ? i == 0 : is_first(b);
        if (b->parent != i - 1) {
            k = b->parent == DYN_WORLD ? world : ws->motion[b->parent];
            if (rates) d = b->parent == DYN_WORLD ? still : ws->motion_rate[b->parent];
        }
        if (dyn_joint_turns_freely(b->joint)) {
            motion      moved = k; /* copies: what others have stays in registers */
            motion_rate gains = d;
            free_motion(b, joint_posed(ws->at[i]), io, &moved, &gains, rates);
            k = moved;
            d = gains;
        } else {
            lane sd = euler_rate(b, io->qd), sdd = euler_rate(b, io->qdd), sddd = rates ? euler_rate(b, io->qddd) : sd;
            if (first) {
                first_motion(b, ws->at[i], scene->gravity, sd, sdd, sddd, &k, &d, rates);
            } else {
                BODY_FORMS(b, outward_form, b, ws->at[i], sd, sdd, sddd, &k, &d, rates)
            }
        }
        if (b->forks) ws->motion[i] = k;
        ws->on[i] = needs(b, k.a, &k.U, first, loads);
        if (loads && io->joint_wrenches) ws->given[i] = inertial_axis(b->given, k.a, &k.U);
        if (loads && io->wrenches) ws->on[i] = wrench_sub(ws->on[i], ws->ext.on[i]);
        if (!rates) continue;
        if (b->forks) ws->motion_rate[i] = d;
        ws->on_rate[i] = needs(b, d.ad, &d.Ud, first, loads);
        if (loads && io->joint_wrench_rates) ws->given_rate[i] = inertial_axis(b->given, d.ad, &d.Ud);
        if (loads && io->wrenches) ws->w[i] = k.w;
    }
}

/* --- inward: efforts and joint wrenches --------------------------------------------------------------------- */

static inline void joint_wrench_out(const dyn_body *b, joint_at at, wrench w, lane *out)
{
    w = wrench_at_joint(b, at, w);
    store3(out, w.f);
    store3(out + 3, w.n);
}

/* tau = S^T wrench of a joint that turns freely; linear: so also of rates. */
LANE_INLINE void free_effort_out(const dyn_body *b, const wrench *w, lane *tau)
{
    lane *out = tau + b->v;
    if (b->joint == DYN_FLOATING) store3(out, w->f);
    store3(b->joint == DYN_FLOATING ? out + 3 : out, w->n);
}

/* tau_s = S^T wrench + rotor sdd + friction + spring */
LANE_INLINE void effort_out(const dyn_scene *scene, const dyn_body *b, const wrench *w, const euler_io *io)
{
    lane effort = b->joint == DYN_PRISMATIC ? w->f.z : w->n.z;
    if (b->bare) {
        io->tau[b->v] = effort;
        return;
    }
    if (dyn_joint_turns_freely(b->joint)) {
        free_effort_out(b, w, io->tau);
        return;
    }
    if (b->rotor_inertia != 0) effort = add_mul(effort, b->rotor_inertia, euler_rate(b, io->qdd));
    if (b->rough || b->sprung) effort += joint_passive(b, scene->terms, io->q, io->qd);
    effort        = coordinate_effort(b, effort);
    io->tau[b->v] = scene->model->coupled ? io->tau[b->v] + effort : effort;
}

LANE_INLINE void effort_rate_out(const dyn_scene *scene, const dyn_body *b, const wrench *rate, const euler_io *io)
{
    lane effort = b->joint == DYN_PRISMATIC ? rate->f.z : rate->n.z;
    if (b->bare) {
        io->tau_dot[b->v] = effort;
        return;
    }
    if (dyn_joint_turns_freely(b->joint)) {
        free_effort_out(b, rate, io->tau_dot);
        return;
    }
    if (b->rotor_inertia != 0) effort = add_mul(effort, b->rotor_inertia, euler_rate(b, io->qddd));
    if (b->rough || b->sprung) effort += joint_passive_rate(b, scene->terms, io->qd, io->qdd);
    effort            = coordinate_effort(b, effort);
    io->tau_dot[b->v] = scene->model->coupled ? io->tau_dot[b->v] + effort : effort;
}

/* The rate of what the parent needs, once `w` is in its axes: p x f' , and sd z x f where p moves. */
LANE_INLINE void rate_to_parent_form(const dyn_body *b, joint_at at, lane sd, wrench *w, wrench *rate,
                                     dyn_joint_kind joint, dyn_turn turn)
{
    if (joint == DYN_REVOLUTE)
        *rate = (wrench){spin(rate->f, w->f, sd), spin(rate->n, w->n, sd)};
    else if (joint == DYN_PRISMATIC)
        rate->n = spin(rate->n, w->f, sd);
    wrench_to_parent_form(b, at, rate, joint, turn);
    wrench_to_parent_form(b, at, w, joint, turn);
}

/* The same for a joint that turns freely, before the turn: f' + y x f, n' + y x n + u x f. */
LANE_APART void free_rate(const dyn_body *b, const lane *qd, const wrench *w, wrench *rate)
{
    const vec3 u = joint_linear(b, qd), y = joint_angular(b, qd);
    *rate = (wrench){cross_add(rate->f, y, w->f), cross_add(cross_add(rate->n, y, w->n), u, w->f)};
}

LANE_INLINE void wrench_to_parent(const dyn_body *b, joint_at at, const lane *qd, wrench *w, wrench *rate, bool rates)
{
    if (rates) {
        const bool free = dyn_joint_turns_freely(b->joint);
        const lane sd   = free ? lane_of(0) : euler_rate(b, qd);
        if (free) {
            const wrench whole = *w;
            wrench       gains = *rate;
            free_rate(b, qd, &whole, &gains);
            *rate = gains;
        }
        BODY_FORMS(b, rate_to_parent_form, b, at, sd, w, rate)
    } else {
        BODY_FORMS(b, wrench_to_parent_form, b, at, w)
    }
}

static inline void clear_shared(const dyn_model *m, lane *tau)
{
    for (int v = 0; tau && m->coupled && v < m->nv; v++)
        tau[v] = lane_of(0);
}

/* What the joint carries in truth: also what the body gave away. */
LANE_INLINE wrench carried(wrench w, const dyn_body *b, const wrench *given)
{
    return b->joint == DYN_REVOLUTE ? wrench_add(w, *given) : w;
}

LANE_INLINE void results_out(const dyn_scene *scene, const euler_workspace *ws, int i, const wrench *w,
                             const wrench *rate, const euler_io *io, bool rates, bool loads)
{
    const dyn_body *b = &scene->model->body[i];
    if (io->tau) effort_out(scene, b, w, io);
    if (loads && io->joint_wrenches && b->row >= 0)
        joint_wrench_out(b, ws->at[i], carried(*w, b, &ws->given[i]), io->joint_wrenches + 6 * b->row);
    if (!rates) return;
    if (io->tau_dot) effort_rate_out(scene, b, rate, io);
    if (loads && io->joint_wrench_rates && b->row >= 0) {
        wrench r = carried(*rate, b, &ws->given_rate[i]);
        if (b->near_end && b->joint == DYN_PRISMATIC) r.n = spin(r.n, w->f, euler_rate(b, io->qd));
        joint_wrench_out(b, ws->at[i], r, io->joint_wrench_rates + 6 * b->row);
    }
}

LANE_INLINE void inward(const dyn_scene *scene, const euler_workspace *ws, const euler_io *io, bool rates, bool loads,
                        const bool serial)
{
    const dyn_model *m    = scene->model;
    const wrench     none = {vec3_zero(), vec3_zero()};
    wrench           w = none, rate = none; /* what the child just done needs of this body */
    clear_shared(m, io->tau);
    clear_shared(m, io->tau_dot);
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        const dyn_body *b = &m->body[i];
        body_known(b, (size_t)i, serial);
        w = wrench_add(w, ws->on[i]);
        if (rates) rate = wrench_add(rate, ws->on_rate[i]);
        results_out(scene, ws, i, &w, &rate, io, rates, loads);
        if (b->parent != DYN_WORLD) {
            wrench_to_parent(b, ws->at[i], io->qd, &w, &rate, rates);
            if (b->parent == i - 1) continue;
            ws->on[b->parent] = wrench_add(ws->on[b->parent], w);
            if (rates) ws->on_rate[b->parent] = wrench_add(ws->on_rate[b->parent], rate);
        }
        w = rate = none;
    }
}

LANE_APART void with_loads(const dyn_scene *scene, const euler_workspace *ws, const euler_io *io, bool rates)
{
    if (io->wrenches) externals_gather(scene, ws->at, io->wrenches, &ws->ext);
    outward(scene, ws, io, rates, true, false);
    if (rates && io->wrenches)
        externals_take_rates(scene, &ws->ext, io->wrenches, io->wrench_rates, ws->w, ws->on_rate);
    inward(scene, ws, io, rates, true, false);
}

LANE_INLINE void newton_euler(const dyn_scene *scene, const euler_workspace *ws, euler_io *io, bool rates)
{
    io->qd  = euler_given(ws, io->qd);
    io->qdd = euler_given(ws, io->qdd);
    if (rates) io->qddd = euler_given(ws, io->qddd);
    joints_place(scene->model, io->q, ws->at);
    if (io->wrenches || io->joint_wrenches || io->joint_wrench_rates) {
        with_loads(scene, ws, io, rates);
    } else if (is_serial(scene->model)) {
        outward(scene, ws, io, rates, false, true);
        inward(scene, ws, io, rates, false, true);
    } else {
        outward(scene, ws, io, rates, false, false);
        inward(scene, ws, io, rates, false, false);
    }
    if (io->tau) couplings_add(scene, io->q, io->qd, 1, io->tau);
    if (rates && io->tau_dot) couplings_add_rates(scene, io->qd, io->qdd, io->tau_dot);
}
