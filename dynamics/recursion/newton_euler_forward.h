/* newton_euler_forward.h - the forward pass of recursive Newton-Euler: computes the motion of each body from that of
 * its parent, the wrench that each body requires, and the rates of both. The backward pass and the sources are in
 * newton_euler.h. */
#pragma once
#include "external_wrenches.h"
#include "acceleration_matrix.h"

typedef struct motion { /* of a body, in its axes */
    vec3 w, wd;         /* angular velocity and acceleration */
    vec3 a;             /* classical acceleration of the origin, minus gravity */
} motion;

typedef struct motion_rate { /* time derivatives of the components of wd and a */
    vec3 wdd, ad;
} motion_rate;

typedef struct acceleration_matrices { /* U = [wd x] + [w x]^2 of a body, and its rate U' */
    acceleration_matrix U, Ud;
} acceleration_matrices;

typedef struct newton_euler_workspace {
    joint_transform *XJ;
    motion          *motion; /* [n_bodies], set only for bodies with carries_run */
    wrench *required;    /* [n_bodies], inertial minus external wrench of each regrouped body, about next_origin; the
                            backward pass adds the wrenches of runs that begin on the body */
    wrench *axis_wrench; /* [n_bodies], inertial wrench of the mass that each body moved to its parent or the ground,
                            about the body's origin */
    external_wrenches ext;
    motion_rate      *motion_rate; /* rates of motion, required and axis_wrench */
    wrench           *required_rate, *axis_wrench_rate;
    vec3             *w;     /* [n_bodies] angular velocities, only for the rates of external wrenches */
    lane             *zeros; /* [nv], in place of input arrays that are NULL */
} newton_euler_workspace;

static inline newton_euler_workspace newton_euler_place(arena *a, const dyn_model *m, bool rates)
{
    newton_euler_workspace ws = {.XJ          = arena_take_joints(a, m),
                                 .motion      = arena_take(a, m->n_bodies, sizeof(motion)),
                                 .required    = arena_take(a, m->n_bodies, sizeof(wrench)),
                                 .axis_wrench = arena_take(a, m->n_bodies, sizeof(wrench)),
                                 .ext         = external_wrenches_place(a, m),
                                 .zeros       = arena_take(a, (size_t)m->nv, sizeof(lane))};
    for (int v = 0; ws.zeros && v < m->nv; v++)
        ws.zeros[v] = lane_of(0);
    if (rates) {
        ws.motion_rate      = arena_take(a, m->n_bodies, sizeof(motion_rate));
        ws.required_rate    = arena_take(a, m->n_bodies, sizeof(wrench));
        ws.axis_wrench_rate = arena_take(a, m->n_bodies, sizeof(wrench));
        ws.w                = arena_take(a, m->n_bodies, sizeof(vec3));
    }
    return ws;
}

/* Inputs and outputs of one block. */
typedef struct newton_euler_io {
    const lane *q, *qd, *qdd, *qddd, *wrenches, *wrench_rates;
    lane       *tau, *joint_wrenches, *tau_dot, *joint_wrench_rates;
} newton_euler_io;

/* Returns x, or an array of zeros if x is NULL, so that the inner loops need no test. */
LANE_INLINE const lane *values_or_zeros(const newton_euler_workspace *ws, const lane *x)
{
    return x ? x : ws->zeros;
}

/* Returns joint_rate for an array that must not be NULL. */
LANE_INLINE lane joint_rate_of(const dyn_body *b, const lane *qd)
{
    return b->has_ratio ? b->ratio * qd[b->v] : qd[b->v];
}

/* --- motion of a body, and the wrench it requires ------------------------------------------------------------ */

/* rate - sd (z x x): the rate of a vector x without its rotation about z at sd */
LANE_INLINE vec3 subtract_spin(vec3 rate, vec3 x, lane sd)
{
    return (vec3){add_mul(rate.x, sd, x.y), sub_mul(rate.y, sd, x.x), rate.z};
}
/* rate + sd (z x x): the rate of a vector x with an additional rotation about z at sd */
LANE_INLINE vec3 add_spin(vec3 rate, vec3 x, lane sd)
{
    return (vec3){sub_mul(rate.x, sd, x.y), add_mul(rate.y, sd, x.x), rate.z};
}

/* a + U p, where p is the position of the child's origin in the parent. */
LANE_INLINE vec3 acceleration_at_child(link_transform X, vec3 a, const acceleration_matrix *U)
{
    if (X.joint == DYN_PRISMATIC) return acceleration_of_point(a, U, origin_in_parent(X));
    return acceleration_of_offset(a, U, X.b->p_pc, X.b->offsets);
}

/* Replaces the parent's motion k and its rate d by those of the child:
 *     a = R^T (a_p + U_p p) + [prismatic] (sdd z + 2 w x sd z),  w = R^T w_p + [revolute] sd z,
 *     wd = R^T wd_p + [revolute] (sdd z + (R^T w_p) x sd z)
 * `a_at_child`: k->a is already a_p + U_p p, the acceleration of the child's origin. t has the parent's matrices and is
 * not updated. */
LANE_INLINE void forward_form(link_transform X, lane sd, lane sdd, lane sddd, const acceleration_matrices *t, motion *k,
                              motion_rate *d, bool rates, bool a_at_child)
{
    if (rates) {
        if (!a_at_child) d->ad = acceleration_at_child(X, d->ad, &t->Ud);
        if (X.joint == DYN_PRISMATIC) { /* the position p of the child has the rate sd z */
            double z[3];
            axis_in_parent(X.b, z);
            d->ad = acceleration_of_point(d->ad, &t->U, scale(vec3_of(z), sd));
        }
        d->ad  = to_child(X, d->ad);
        d->wdd = to_child(X, d->wdd);
    }
    if (!a_at_child) k->a = acceleration_at_child(X, k->a, &t->U);
    k->a  = to_child(X, k->a);
    k->w  = to_child(X, k->w);
    k->wd = to_child(X, k->wd);
    if (X.joint == DYN_PRISMATIC) {
        const lane twice = sd + sd;
        k->a             = (vec3){add_mul(k->a.x, k->w.y, twice), sub_mul(k->a.y, k->w.x, twice), k->a.z + sdd};
        if (rates) {
            const lane twice_sdd = sdd + sdd;
            d->ad.x              = add_mul(add_mul(d->ad.x, k->wd.y, twice), k->w.y, twice_sdd);
            d->ad.y              = sub_mul(sub_mul(d->ad.y, k->wd.x, twice), k->w.x, twice_sdd);
            d->ad.z += sddd;
        }
    } else {
        if (rates) {
            d->ad  = subtract_spin(d->ad, k->a, sd);
            d->wdd = subtract_spin(d->wdd, k->wd, sd);
        }
        k->wd = (vec3){add_mul(k->wd.x, k->w.y, sd), sub_mul(k->wd.y, k->w.x, sd), k->wd.z + sdd};
        if (rates) {
            d->wdd.x = add_mul(add_mul(d->wdd.x, k->wd.y, sd), k->w.y, sdd);
            d->wdd.y = sub_mul(sub_mul(d->wdd.y, k->wd.x, sd), k->w.x, sdd);
            d->wdd.z += sddd;
        }
        k->w.z += sd;
    }
}

static inline motion world_motion(const double gravity[3])
{
    vec3 zero = vec3_zero();
    return (motion){.w = zero, .wd = zero, .a = {lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])}};
}

static inline motion_rate world_rate(void)
{
    vec3 zero = vec3_zero();
    return (motion_rate){.wdd = zero, .ad = zero};
}

/* Returns U = [wd x] + [w x]^2 of a body, and its time rate if `rates`. */
LANE_INLINE acceleration_matrices acceleration_matrices_of(const motion *k, const motion_rate *d, bool rates)
{
    acceleration_matrices t = {.U = acceleration_matrix_of(k->w, k->wd)};
    if (rates) t.Ud = acceleration_matrix_rate(k->w, k->wd, d->wdd);
    return t;
}

/* Computes the motion of a body whose joint has a quaternion. u and y are the joint's linear and angular velocity in
 * the child's axes. w = R^T w_p, wd and a are those of the parent at the child's origin, in the child's axes. Then
 *     w_c = w + y,  wd_c = wd + yd + w x y,  a_c = a + ud + (2 w + y) x u.
 * For the rates, x = R^T x_p has the rate R^T x_p' - y x x. If the parent is the world, w and its rates are zero. */
LANE_NOINLINE void free_motion(const dyn_body *b, const joint_pose *pose, const newton_euler_io *io,
                               const acceleration_matrices *t, motion *k, motion_rate *d, bool rates)
{
    const mat3 *R       = &pose->R;
    const bool  carried = b->parent != DYN_WORLD;
    const vec3  u = joint_linear(b, io->qd), y = joint_angular(b, io->qd);
    const vec3  ud = joint_linear(b, io->qdd), yd = joint_angular(b, io->qdd);
    vec3        a = k->a, w = vec3_zero(), wd = w, two = y;
    if (carried) {
        a   = acceleration_of_point(a, &t->U, pose->p);
        w   = mat3_mul_transposed(R, k->w);
        wd  = mat3_mul_transposed(R, k->wd);
        two = add(add(w, w), y);
    }
    a = mat3_mul_transposed(R, a);
    if (rates) {
        vec3 wdd = joint_angular(b, io->qddd), ad = vec3_zero(), rate = yd;
        if (carried) {
            const vec3 turned = cross_add(wd, w, y); /* rate of w */
            ad                = mat3_mul_transposed(
                               R, acceleration_of_point(acceleration_of_point(d->ad, &t->Ud, pose->p), &t->U, mat3_mul(R, u)));
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
}

/* A revolute joint on the world: its body rotates about a fixed axis z. Apart from that rotation, only a and its rate
 * are not zero:
 *     a = R^T (-g),  ad = -sd z x a,  and tau needs only n.z. */
LANE_INLINE void grounded_form(link_transform X, vec3 *a)
{
    *a = to_child(X, *a);
}

LANE_INLINE acceleration_matrix acceleration_matrix_about_z(lane squared, lane wd)
{
    lane zero = lane_of(0);
    return (acceleration_matrix){squared, squared, squared, -squared, -wd, wd, zero, zero, zero, zero};
}

LANE_INLINE lane moment_about_z(const dyn_moments *moments, vec3 a, lane wd)
{
    return add_mul(sub_mul(moments->h[0] * a.y, moments->h[1], a.x), moments->E[0] + moments->E[3], wd);
}

LANE_INLINE void grounded_motion(const dyn_body *b, joint_transform XJ, const double gravity[3], lane sd, lane sdd,
                                 lane sddd, acceleration_matrices *t, motion *k, motion_rate *d, bool rates)
{
    lane zero = lane_of(0);
    t->U      = acceleration_matrix_about_z(sd * sd, sdd);
    *k        = (motion){.w = {zero, zero, sd}, .wd = {zero, zero, sdd}};
    k->a      = (vec3){lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])};
    WITH_LINK_TRANSFORM(b, XJ, grounded_form, &k->a)
    if (!rates) return;
    t->Ud = acceleration_matrix_about_z((sd + sd) * sdd, sddd);
    *d    = (motion_rate){.wdd = {zero, zero, sddd}, .ad = {sd * k->a.y, -sd * k->a.x, zero}};
}

/* --- forward pass: motions and required wrenches ------------------------------------------------------------- */

/* The wrench that the motion of a regrouped body requires, about next_origin. `grounded`: the body has a revolute joint
 * on the world; a is the acceleration of the body's origin, and only n.z is computed. */
LANE_INLINE wrench required_wrench(const dyn_body *b, vec3 a, const acceleration_matrix *U, bool grounded)
{
    const lane zero = lane_of(0);
    if (grounded) return (wrench){vec3_zero(), {zero, zero, moment_about_z(&b->regrouped, a, U->yx)}};
    if (b->joint == DYN_REVOLUTE) return inertial_wrench(&b->regrouped_at_next, a, U, true);
    return inertial_wrench(&b->regrouped_at_next, a, U, false);
}

/* The inertial wrench of the mass on the body's axis. `grounded`: the body has a revolute joint on the world; the
 * result includes the components that required_wrench omits for such bodies. */
LANE_INLINE wrench axis_wrench_of(const dyn_body *b, vec3 a, const acceleration_matrix *U, bool grounded)
{
    const wrench axis_wrench = axis_inertial_wrench(b->axis_moments, a, U);
    if (!grounded) return axis_wrench;
    wrench own = inertial_wrench(&b->regrouped, a, U, true);
    own.n.z    = lane_of(0);
    return wrench_add(own, axis_wrench);
}

/* Computes the motion of body i and the wrench it requires. On entry k, d and t are the motion of the parent, its rate
 * and matrices; on return those of body i, with k->a at next_origin. `with_wrenches`: the request has external
 * wrenches, or asks for joint wrenches. with_wrenches, `rates` and `grounded` are constants of the inlined code.
 * `a_at_child`: k->a is already the acceleration of the body's origin. U is used before U' is computed, since both do
 * not fit in registers with the motion and its rates. */
LANE_INLINE void forward_body(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io,
                              int i, const dyn_body *b, acceleration_matrices *t, motion *k, motion_rate *d, bool rates,
                              bool with_wrenches, bool a_at_child, const bool grounded)
{
    if (dyn_joint_has_quaternion(b->joint)) {
        const acceleration_matrices carrying = *t; /* copies, so that t, k and d stay in registers */
        motion                      moved    = *k;
        motion_rate                 gains    = *d;
        free_motion(b, joint_pose_of(ws->XJ[i]), io, &carrying, &moved, &gains, rates);
        *k = moved;
        *d = gains;
    } else {
        lane sd = joint_rate_of(b, io->qd), sdd = joint_rate_of(b, io->qdd);
        lane sddd = rates ? joint_rate_of(b, io->qddd) : sd;
        if (grounded) {
            grounded_motion(b, ws->XJ[i], scene->gravity, sd, sdd, sddd, t, k, d, rates);
        } else {
            WITH_LINK_TRANSFORM(b, ws->XJ[i], forward_form, sd, sdd, sddd, t, k, d, rates, a_at_child)
        }
    }
    if (!grounded) t->U = acceleration_matrix_of(k->w, k->wd);
    if (with_wrenches && io->joint_wrenches) ws->axis_wrench[i] = axis_wrench_of(b, k->a, &t->U, grounded);
    const vec3 a    = k->a;
    k->a            = acceleration_of_offset(k->a, &t->U, b->next_origin, b->next_offsets);
    ws->required[i] = required_wrench(b, grounded ? a : k->a, &t->U, grounded);
    if (with_wrenches && io->wrenches)
        ws->required[i] = wrench_sub(ws->required[i], external_at_next_origin(b, ws->ext.sum[i]));
    if (!rates) return;
    if (!grounded) t->Ud = acceleration_matrix_rate(k->w, k->wd, d->wdd);
    if (with_wrenches && io->joint_wrench_rates) ws->axis_wrench_rate[i] = axis_wrench_of(b, d->ad, &t->Ud, grounded);
    const vec3 ad        = d->ad;
    d->ad                = acceleration_of_offset(d->ad, &t->Ud, b->next_origin, b->next_offsets);
    ws->required_rate[i] = required_wrench(b, grounded ? ad : d->ad, &t->Ud, grounded);
    if (with_wrenches && io->wrenches) ws->w[i] = k->w;
}

/* Starts a run that does not begin with a revolute joint on the world: sets k, d and t to the motion of the run's
 * parent, its rate and matrices. For a plain run, k->a is then the acceleration of the first body's origin. */
LANE_INLINE void start_run(const dyn_scene *scene, const newton_euler_workspace *ws, const dyn_body *b, motion *k,
                           motion_rate *d, acceleration_matrices *t, bool rates, const bool plain)
{
    if (!plain && b->parent == DYN_WORLD) {
        *k = world_motion(scene->gravity);
        if (rates) *d = world_rate();
    } else {
        *k = ws->motion[b->parent];
        if (rates) *d = ws->motion_rate[b->parent];
    }
    *t = acceleration_matrices_of(k, d, rates);
    if (!plain) return;
    k->a = acceleration_of_offset(k->a, &t->U, b->p_pc, b->offsets);
    if (rates) d->ad = acceleration_of_offset(d->ad, &t->Ud, b->p_pc, b->offsets);
}

/* Forward pass along a run; the parent's motion stays in registers. All flags are constants of the inlined code.
 * `serial`: the run is the whole model, which is serial. */
LANE_INLINE void forward_run(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io,
                             dyn_run run, bool rates, bool with_wrenches, const bool plain, const bool serial)
{
    const dyn_body       *body             = scene->model->body;
    const bool            uses_next_origin = plain || (with_wrenches && run.plain);
    int                   i                = run.first;
    motion                k;
    motion_rate           d;
    acceleration_matrices t;
    assume_plain_body(&body[i], plain);
    assume_serial_body(&body[i], (size_t)i, serial);
    if (is_grounded_revolute(&body[i])) {
        forward_body(scene, ws, io, i, &body[i], &t, &k, &d, rates, with_wrenches, uses_next_origin, true);
        i++;
    } else {
        start_run(scene, ws, &body[i], &k, &d, &t, rates, plain);
    }
    for (; i < run.end; i++) {
        assume_plain_body(&body[i], plain);
        assume_serial_body(&body[i], (size_t)i, serial);
        forward_body(scene, ws, io, i, &body[i], &t, &k, &d, rates, with_wrenches,
                     plain || (uses_next_origin && i > run.first), false);
    }
    if (serial || !body[i - 1].carries_run) return;
    ws->motion[i - 1] = k;
    if (rates) ws->motion_rate[i - 1] = d;
}

LANE_INLINE void forward_pass(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io,
                              bool rates, bool with_wrenches)
{
    const dyn_model *m = scene->model;
    if (m->serial && !with_wrenches) {
        forward_run(scene, ws, io, (dyn_run){0, (int)m->n_bodies, true}, rates, false, true, true);
        return;
    }
    for (size_t r = 0; r < m->n_runs; r++)
        if (m->run[r].plain && !with_wrenches)
            forward_run(scene, ws, io, m->run[r], rates, false, true, false);
        else
            forward_run(scene, ws, io, m->run[r], rates, with_wrenches, false, false);
}
