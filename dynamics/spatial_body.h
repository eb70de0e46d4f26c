/* spatial_body.h - what spatial_world.h holds, in each body's own axes about its own origin: there a joint's axis is
 * e_z, the body's inertia a constant, and what hangs on it is handed to the parent joint by joint.
 *
 * For a revolute joint  psi' = (w.y, -w.x, 0),  for its linear part the same of v;
 * psi'' = a_p x e_z + v_p x psi'. A prismatic joint has these in the linear part. A joint that turns freely has as axes
 * the unit vectors of six dimensions, or the last three of them, so that sums over its axes are read from whole
 * vectors. */
#pragma once
#include "articulated.h"
#include "spatial_world.h"

typedef struct spatial_state {
    twist     v, a; /* a less gravity */
    twist     P, Q; /* psi', psi'' of its joint, times the ratio; where it turns freely, v_p and a_p instead */
    composite c;    /* these and the following: of the body, then of all that hangs on it */
    vec3      l;
    mat3      C;
    wrench    f;
} spatial_state;

/* --- motions, base to leaves --------------------------------------------------------------------------------- */

LANE_INLINE void to_child_form(const dyn_body *b, joint_at at, twist *u, dyn_joint_kind joint, dyn_turn turn)
{
    if (dyn_joint_turns_freely(joint)) u->v = cross_add(u->v, u->w, joint_posed(at)->p);
    u->w = to_child(b, at, u->w, joint, turn);
    u->v = to_child(b, at, u->v, joint, turn);
    if (joint == DYN_PRISMATIC) { /* w x s z */
        u->v.x = add_mul(u->v.x, u->w.y, at.c);
        u->v.y = sub_mul(u->v.y, u->w.x, at.c);
    }
}

/* At the child's origin p: v + w x p. */
LANE_INLINE twist twist_at(twist u, const double p[3], unsigned along)
{
    if (along & DYN_ALONG_X) u.v = (vec3){u.v.x, add_mul(u.v.y, p[0], u.w.z), sub_mul(u.v.z, p[0], u.w.y)};
    if (along & DYN_ALONG_Y) u.v = (vec3){sub_mul(u.v.x, p[1], u.w.z), u.v.y, add_mul(u.v.z, p[1], u.w.x)};
    if (along & DYN_ALONG_Z) u.v = (vec3){add_mul(u.v.x, p[2], u.w.y), sub_mul(u.v.y, p[2], u.w.x), u.v.z};
    return u;
}

LANE_INLINE void twists_to_child_form(const dyn_body *b, joint_at at, twist *v, twist *a, dyn_joint_kind joint,
                                      dyn_turn turn)
{
    to_child_form(b, at, v, joint, turn);
    to_child_form(b, at, a, joint, turn);
}

/* v, a: the parent's, in the child's axes at its origin, then the child's; v += S qd, a += S qdd + psi' qd. */
LANE_INLINE void joint_motion(const dyn_body *b, lane sd, lane sdd, twist *v, twist *a, twist *P, twist *Q)
{
    const vec3 w = v->w, u = v->v, o = vec3_zero();
    const vec3 p = {w.y, -w.x, lane_of(0)};
    const vec3 q = {add_mul(a->w.y, w.z, w.x), add_mul(-a->w.x, w.z, w.y), -add_mul(w.x * w.x, w.y, w.y)};
    if (b->joint == DYN_PRISMATIC) {
        *P = (twist){.v = p, .w = o};
        *Q = (twist){.v = q, .w = o};
        v->v.z += sd;
        a->v.z += sdd;
    } else {
        lane across = add_mul(w.x * u.x, w.y, u.y);
        *P          = (twist){.v = {u.y, -u.x, lane_of(0)}, .w = p};
        *Q = (twist){.v = {add_mul(add_mul(a->v.y, w.z, u.x), u.z, w.x), add_mul(add_mul(-a->v.x, w.z, u.y), u.z, w.y),
                           -(across + across)},
                     .w = q};
        v->w.z += sd;
        a->w.z += sdd;
        a->w.x = add_mul(a->w.x, p.x, sd);
        a->w.y = add_mul(a->w.y, p.y, sd);
    }
    a->v.x = add_mul(a->v.x, P->v.x, sd);
    a->v.y = add_mul(a->v.y, P->v.y, sd);
    if (!b->geared) return;
    *P = twist_scale(*P, lane_of(b->ratio));
    *Q = twist_scale(*Q, lane_of(b->ratio));
}

/* The same of a joint that turns freely: v += S qd, a += S qdd + v_p x S qd. */
LANE_INLINE void free_joint_motion(const dyn_body *b, const lane *qd, const lane *qdd, twist *v, twist *a, twist *P,
                                   twist *Q)
{
    const twist own   = {joint_linear(b, qd), joint_angular(b, qd)},
                own_a = {joint_linear(b, qdd), joint_angular(b, qdd)};
    *P                = *v;
    *Q                = *a;
    *a                = twist_add(twist_add(*a, own_a), twist_cross(*v, own));
    *v                = twist_add(*v, own);
}

/* The body's own:  l = m v + w x h,  C = v h^T + [w] E,  f = I a + (w x l; tr(C) w - C w). */
LANE_INLINE void own_inertia(const dyn_body *b, twist v, twist a, spatial_state *B)
{
    const double *h = b->h, *E = b->E;
    const vec3    w = v.w, u = v.v;
    mat3         *C = &B->C;
    B->l            = cross_const_add(times(b->mass, u), w, h);
    const vec3 c[3] = {cross_const_add(times(h[0], u), w, (const double[3]){E[0], E[1], E[2]}),
                       cross_const_add(times(h[1], u), w, (const double[3]){E[1], E[3], E[4]}),
                       cross_const_add(times(h[2], u), w, (const double[3]){E[2], E[4], E[5]})};
    *C              = (mat3){{{c[0].x, c[1].x, c[2].x}, {c[0].y, c[1].y, c[2].y}, {c[0].z, c[1].z, c[2].z}}};
    lane xx = C->m[0][0], yy = C->m[1][1], zz = C->m[2][2];
    vec3 n = tensor_const_mul(E, a.w);
    vec3 m = {dot3(yy + zz, -C->m[0][1], -C->m[0][2], w), dot3(-C->m[1][0], xx + zz, -C->m[1][2], w),
              dot3(-C->m[2][0], -C->m[2][1], xx + yy, w)};
    n      = add(const_cross_add(n, h, a.v), m);
    B->f   = (wrench){.f = cross_add(cross_const_add(times(b->mass, a.v), a.w, h), w, B->l), .n = n};
    B->c   = (composite){sym3_of(E), vec3_of(h)};
}

static inline void spatial_states(const dyn_scene *scene, const joint_at *at, const lane *qd, const lane *qdd,
                                  spatial_state *body)
{
    const dyn_model *m = scene->model;
    const double    *g = scene->gravity;
    const twist rest = {vec3_zero(), vec3_zero()}, fall = {{lane_of(-g[0]), lane_of(-g[1]), lane_of(-g[2])}, rest.w};
    twist       v = rest, a = fall;
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        spatial_state  *B = &body[i];
        if (b->parent != i - 1) {
            v = b->parent == DYN_WORLD ? rest : body[b->parent].v;
            a = b->parent == DYN_WORLD ? fall : body[b->parent].a;
        }
        v = twist_at(v, b->p_pc, b->offsets);
        a = twist_at(a, b->p_pc, b->offsets);
        BODY_FORMS(b, twists_to_child_form, b, at[i], &v, &a)
        if (dyn_joint_turns_freely(b->joint))
            free_joint_motion(b, qd, qdd, &v, &a, &B->P, &B->Q);
        else
            joint_motion(b, joint_rate(b, qd), joint_rate(b, qdd), &v, &a, &B->P, &B->Q);
        B->v = v;
        B->a = a;
        own_inertia(b, v, a, B);
    }
}

/* --- what hangs on a body, to its parent --------------------------------------------------------------------- */

/* A moment of points, int F r^T: about an origin moved by -r it grows by F r^T, F turned already. */
LANE_INLINE void moment_shift(const dyn_body *b, joint_at at, mat3 *C, vec3 F)
{
    const lane f[3] = {F.x, F.y, F.z};
    if (b->joint != DYN_REVOLUTE) {
        vec3 r = origin_in_parent(b, at, b->joint);
        for (int i = 0; i < 3; i++)
            store3(C->m[i], add_scaled(load3(C->m[i]), r, f[i]));
        return;
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; (b->offsets & 1U << k) && i < 3; i++)
            C->m[i][k] = add_mul(C->m[i][k], b->p_pc[k], f[i]);
}

LANE_APART mat3 mat3_rotate_apart(const mat3 *R, mat3 C)
{
    return mat3_rotate(R, &C);
}

LANE_INLINE void mat3_to_parent_form(const dyn_body *b, joint_at at, mat3 *C, dyn_joint_kind joint, dyn_turn turn)
{
    if (dyn_joint_turns_freely(joint)) {
        *C = mat3_rotate_apart(&joint_posed(at)->R, *C);
        return;
    }
    *C = mat3_to_parent(b, at, *C, false, joint, turn);
}

LANE_INLINE void spatial_to_parent_form(const dyn_body *b, joint_at at, spatial_state *B, dyn_joint_kind joint,
                                        dyn_turn turn)
{
    composite_form(b, at, &B->c, b->subtree_mass, joint, turn);
    wrench_to_parent_form(b, at, &B->f, joint, turn);
    B->l = to_parent(b, at, B->l, joint, turn);
    mat3_to_parent_form(b, at, &B->C, joint, turn);
}

LANE_INLINE mat3 mat3_add(const mat3 *a, const mat3 *b)
{
    mat3 sum;
    for (int i = 0; i < 3; i++)
        store3(sum.m[i], add(load3(a->m[i]), load3(b->m[i])));
    return sum;
}

LANE_INLINE void spatial_to_parent(const dyn_body *b, joint_at at, const spatial_state *B, spatial_state *P)
{
    spatial_state x = {.c = B->c, .l = B->l, .C = B->C, .f = B->f};
    BODY_FORMS(b, spatial_to_parent_form, b, at, &x)
    moment_shift(b, at, &x.C, x.l);
    P->c = (composite){sym3_add(P->c.E, x.c.E), add(P->c.h, x.c.h)};
    P->l = add(P->l, x.l);
    P->f = wrench_add(P->f, x.f);
    P->C = mat3_add(&P->C, &x.C);
}

/* --- wrenches held in world axes, as in spatial_world.h ------------------------------------------------------- */

LANE_INLINE void held_form(const dyn_body *b, joint_at at, held_wrenches *k, dyn_joint_kind joint, dyn_turn turn)
{
    k->F = to_parent(b, at, k->F, joint, turn);
    k->T = to_parent(b, at, k->T, joint, turn);
    mat3_to_parent_form(b, at, &k->X, joint, turn);
}

static inline void held_to_parent(const dyn_body *b, joint_at at, const held_wrenches *k, held_wrenches *parent)
{
    held_wrenches x = *k;
    BODY_FORMS(b, held_form, b, at, &x)
    moment_shift(b, at, &x.X, x.F);
    held_gather(&x, parent);
}

/* Takes the wrenches from the bodies' forces; `k` (NULL when none is in world axes) gathers what is held. */
static inline void spatial_loads(const dyn_scene *scene, const external *ext, const lane *values, spatial_state *body,
                                 held_wrenches *k)
{
    const vec3          o    = vec3_zero();
    const held_wrenches none = {.F = o, .T = o, .X = {{{o.x, o.x, o.x}, {o.x, o.x, o.x}, {o.x, o.x, o.x}}}};
    for (size_t i = 0; i < scene->model->n_bodies; i++) {
        body[i].f = wrench_sub(body[i].f, ext->on[i]);
        if (k) k[i] = none;
    }
    for (size_t n = 0; k && n < scene->n_wrenches; n++) {
        const dyn_wrench_site *site = &scene->wrench[n];
        const lane            *x    = values + 9 * n;
        if (site->body == DYN_WORLD || !site->world_axes) continue;
        const attitude *att = &ext->attitude[site->body];
        vec3            F = external_axes(site, att, load3(x)), T = external_axes(site, att, load3(x + 3));
        vec3            r   = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(x + 6)));
        held_wrenches   one = {.F = F, .T = T};
        store3(one.X.m[0], scale(r, F.x));
        store3(one.X.m[1], scale(r, F.y));
        store3(one.X.m[2], scale(r, F.z));
        held_gather(&one, &k[site->body]);
    }
}

/* --- a body in the frame of one before it ---------------------------------------------------------------------- */

typedef struct sight {
    mat3 R;
    vec3 p;
} sight;

static inline sight sight_own(void)
{
    lane one = lane_of(1), zero = lane_of(0);
    return (sight){.R = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}}, .p = vec3_zero()};
}

/* A motion of that one, in the body's axes at its origin. */
LANE_INLINE twist twist_seen(const sight *s, twist u)
{
    return (twist){mat3_mul_transposed(&s->R, cross_add(u.v, u.w, s->p)), mat3_mul_transposed(&s->R, u.w)};
}

LANE_INLINE dof dof_seen(const sight *s, dof d)
{
    return (dof){twist_seen(s, d.S), twist_seen(s, d.P), twist_seen(s, d.Q), twist_seen(s, d.D)};
}

LANE_INLINE void sight_form(const dyn_body *b, joint_at at, sight *s, dyn_joint_kind joint, dyn_turn turn)
{
    for (int k = 0; k < 3; k++) {
        vec3 e       = to_parent(b, at, mat3_column(&s->R, k), joint, turn);
        s->R.m[0][k] = e.x;
        s->R.m[1][k] = e.y;
        s->R.m[2][k] = e.z;
    }
    s->p = add(origin_in_parent(b, at, joint), to_parent(b, at, s->p, joint, turn));
}

/* From b, by one further towards the base. */
static inline void sight_from_parent(const dyn_body *b, joint_at at, sight *s){BODY_FORMS(b, sight_form, b, at, s)}

/* --- a dof, and how the force on its subtree changes ----------------------------------------------------------- */

LANE_INLINE vec3 unit(int k)
{
    return (vec3){lane_of(k == 0), lane_of(k == 1), lane_of(k == 2)};
}

/* Dof k of a body, in its axes. */
static inline dof dof_of(const dyn_body *b, const spatial_state *B, size_t k)
{
    const vec3 o = vec3_zero();
    if (!dyn_joint_turns_freely(b->joint)) {
        vec3 z = times(b->ratio, unit(2));
        return (dof){.S = b->joint == DYN_PRISMATIC ? (twist){z, o} : (twist){o, z},
                     .P = B->P,
                     .Q = B->Q,
                     .D = twist_add(B->P, B->P)};
    }
    const int axis = joint_first_axis(b) + (int)k;
    vec3      e    = unit(axis % 3);
    dof       d    = {.S = axis < 3 ? (twist){e, o} : (twist){o, e}};
    d.P            = twist_cross(B->P, d.S);
    d.Q            = twist_add(twist_cross(B->Q, d.S), twist_cross(B->P, d.P));
    d.D            = twist_add(d.P, twist_cross(B->v, d.S));
    return d;
}

typedef struct change { /* of one dof, in the axes of the body it has come to, about its origin */
    wrench q, qd, t;
    vec3   r, k; /* moments: r and k have no other part */
} change;

LANE_INLINE change change_of(double mass, const spatial_state *B, const held_wrenches *held, const dof *d)
{
    const vec3 h = B->c.h, o = vec3_zero();
    const sym3 E = B->c.E;
    change     c = {.t = inertia_mul(mass, h, E, d->S), .r = coriolis_mul_transposed(B->l, &B->C, d->S), .k = o};
    c.qd         = wrench_add(coriolis_mul(B->l, &B->C, d->S.w), inertia_mul(mass, h, E, d->D));
    c.q          = wrench_add(coriolis_mul(B->l, &B->C, d->P.w), inertia_mul(mass, h, E, d->Q));
    c.q          = wrench_add(c.q, twist_cross_wrench(d->S, B->f));
    if (!held) return c;
    c.q = wrench_add(c.q, held_mul(held, d->S.w));
    c.k = held_mul_transposed(held, d->S);
    return c;
}

/* The same for a revolute joint's own axis e_z, without the zeros of S and psi'. */
LANE_INLINE change change_about_z(double mass, const spatial_state *B, const held_wrenches *held)
{
    const vec3  h = B->c.h, l = B->l, Q = B->Q.v, R = B->Q.w;
    const sym3 *E     = &B->c.E;
    const lane(*C)[3] = B->C.m;
    const wrench f    = B->f;
    const lane   px = B->P.v.x, py = B->P.v.y, ax = B->P.w.x, ay = B->P.w.y;
    const lane   Ixx = E->yy + E->zz, Iyy = E->xx + E->zz, Izz = E->xx + E->yy;
    change       c = {.t = {.f = {-h.y, h.x, lane_of(0)}, .n = {-E->xz, -E->yz, Izz}}, .k = vec3_zero()};
    lane         x = -C[2][0], y = -C[2][1], z = C[0][0] + C[1][1]; /* B^T S */
    c.r = (vec3){x + x, y + y, z + z};
    /* F_qd / 2 = B S + I psi' */
    c.qd.f = (vec3){add_mul(add_mul(-l.y, mass, px), ay, h.z), sub_mul(add_mul(l.x, mass, py), ax, h.z),
                    sub_mul(ax * h.y, ay, h.x)};
    c.qd.n = (vec3){sub_mul(sub_mul(add_mul(-C[0][2], Ixx, ax), E->xy, ay), h.z, py),
                    add_mul(sub_mul(add_mul(-C[1][2], Iyy, ay), E->xy, ax), h.z, px),
                    sub_mul(sub_mul(sub_mul(add_mul(z, h.x, py), h.y, px), E->xz, ax), E->yz, ay)};
    c.qd   = wrench_add(c.qd, c.qd);
    /* B psi' */
    vec3 bf = {ay * l.z, -(ax * l.z), sub_mul(ax * l.y, ay, l.x)};
    vec3 bn = {sub_mul((C[1][1] + C[2][2]) * ax, C[0][1], ay), sub_mul((C[0][0] + C[2][2]) * ay, C[1][0], ax),
               -add_mul(C[2][0] * ax, C[2][1], ay)};
    /* I psi'' + z x* f */
    c.q.f = cross_add(times(mass, Q), R, h);
    c.q.n = cross_add((vec3){dot3(Ixx, -E->xy, -E->xz, R), dot3(-E->xy, Iyy, -E->yz, R), dot3(-E->xz, -E->yz, Izz, R)},
                      h, Q);
    c.q.f = add(c.q.f, (vec3){(bf.x + bf.x) - f.f.y, (bf.y + bf.y) + f.f.x, bf.z + bf.z});
    c.q.n = add(c.q.n, (vec3){(bn.x + bn.x) - f.n.y, (bn.y + bn.y) + f.n.x, bn.z + bn.z});
    if (!held) return c;
    const dof d = {.S = {vec3_zero(), {lane_of(0), lane_of(0), lane_of(1)}}};
    c.q         = wrench_add(c.q, held_mul(held, d.S.w));
    c.k         = held_mul_transposed(held, d.S);
    return c;
}
