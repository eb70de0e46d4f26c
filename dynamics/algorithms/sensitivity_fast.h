/* sensitivity_fast.h - fast path of sensitivity_pairs.h for unit revolute joints: revolute, with ratio 1 and offset 0.
 *
 * In each body's frame S = e_z, so S_b . F(a) is n.z of F(a), and psi' is read from the velocity of the body.
 *
 * Condition: that of each part in the table, a property of the model, and no external wrench in world axes; never the
 * state. How much longer the kernel `sensitivity` takes without each part, in percent with 1, 4 and 8 lanes:
 *
 *     part                      condition                    panda         humanoid tree   floating humanoid
 *     whole file                is_unit_revolute              56  75 107    39  52  84      21  29  41
 *     force partials            is_unit_revolute              31  18  23    22  17  21      16  14  14
 *     entries of ancestors      is_unit_revolute              24  27  59    18  20  54      12  15  27
 *     joint on the world        dyn_body_tree.parent_joint    17  20  20     8   9  12       -   -   -
 *     serial model              dyn_model.serial              10   7   3     -   -   -       -   -   -
 *     composites                is_unit_revolute               6   4   4     3   1   5       1   1   2
 *     floating base or link     body 0 floats                  -   -   -     -   -   -       6   6   7
 *
 * Composites and force partials are in force_partials_fast.h. Of a joint on the world only quantities about its axis
 * are computed. In a serial model (dyn_model.serial) indices follow from the number of the body. Degrees of freedom of
 * other joints also use put_ancestors_fast. */
#pragma once
#include "sensitivity_pairs.h"
#include "dynamics/recursion/force_partials_fast.h"

/* --- entries of a dof a with the unit revolute joint b of an ancestor --------------------------------------------- */

/* Sets q, qd to d tau_a / dq_b, d tau_a / dqd_b. B is the motion of the body of joint b; c are the partials of a
 * (force_partials.h) in the frame of that body. */
LANE_INLINE void unit_revolute_row(const spatial_state *B, const force_partials *c, lane *q, lane *qd)
{
    const vec3 w = B->v.w, u = B->v.v, f = c->t.f, n = c->t.n;
    lane       along =
        sub_mul(sub_mul(add_mul(u.y * f.x, w.y, n.x), u.x, f.y), w.x, n.y); /* psi' . t, with psi' of the joint */
    *q  = dot(B->psi_dd.v, f) + sub_mul(add_mul(dot(B->psi_dd.w, n), w.y, c->r.x), w.x, c->r.y);
    *qd = add_mul(c->r.z, 2.0, along);
}
/* Sets q, qd to d tau_a / dq_b, d tau_a / dqd_b for a joint b on the world: psi' is zero, and psi'' is due to gravity
 * alone, since the world does not move. */
LANE_INLINE void grounded_row(const spatial_state *B, const force_partials *c, lane *q, lane *qd)
{
    *q  = add_mul(B->psi_dd.v.x * c->t.f.x, B->psi_dd.v.y, c->t.f.y);
    *qd = c->r.z;
}

/* Stores the entries of a dof a with all axes b of a floating base, which is body 0. There v_p = 0, a_p is linear, and
 * F are the partials of a in the frame of the base. */
LANE_NOINLINE void put_floating_base(const sensitivity_pass *p, size_t a, const force_partials *F)
{
    const results       *out = p->out;
    const spatial_state *B   = &p->ws->body[0];
    const wrench         t   = F->t;
    lane                 rows[2][6], columns[3][6];
    wrench_to_array((wrench){vec3_zero(), cross(t.f, B->a_p.v)}, rows[0]);
    wrench_to_array((wrench){cross(t.f, B->v.w), cross_add(cross_add(F->r, t.n, B->v.w), t.f, B->v.v)}, rows[1]);
    wrench_to_array(F->q, columns[0]);
    wrench_to_array(F->qd, columns[1]);
    wrench_to_array(t, columns[2]);
    for (size_t b = 0; b < 6; b++) {
        put(p->m, out->dtau_dq, a, b, rows[0][b]);
        put(p->m, out->dtau_dqd, a, b, rows[1][b]);
        put(p->m, out->dtau_dqdd, a, b, columns[2][b]);
        put(p->m, out->dtau_dq, b, a, columns[0][b]);
        put(p->m, out->dtau_dqd, b, a, columns[1][b]);
        put(p->m, out->dtau_dqdd, b, a, columns[2][b]);
    }
}

/* --- from body to body ------------------------------------------------------------------------------------------ */

/* Transforms the partials of a dof to a parent with a unit revolute joint on the world. Only the components that
 * grounded_row and the parent's columns need are set. */
LANE_INLINE void force_partials_to_grounded_form(link_transform X, const force_partials *c, force_partials *to)
{
    force_partials x = *c;
    force_partials_turn_form(X, &x, false);
    force_partials_shift_offsets(X.b, &x);
    to->q.n.z  = x.q.n.z;
    to->qd.n.z = x.qd.n.z;
    to->t.n.z  = x.t.n.z;
    to->t.f.x  = x.t.f.x;
    to->t.f.y  = x.t.f.y;
    to->r.z    = x.r.z;
}

/* Transforms the partials of dof `a`, of body i, to the base and stores the entries with every dof on the way.
 * `serial`, a constant of the inlined code: the model is serial. */
LANE_INLINE void entries_to_base(const sensitivity_pass *p, size_t i, size_t a, const force_partials *start,
                                 const bool serial)
{
    const workspace *ws         = p->ws;
    const bool       has_mimics = !serial && p->m->has_mimics;
    const dyn_body  *b          = &p->m->body[i];
    force_partials   c;
    force_partials_copy(&c, start);
    while (serial || b->tree.parent_joint != DYN_PARENT_WORLD) {
        const size_t           parent = serial ? i - 1 : (size_t)b->tree.parent;
        const joint_transform *XJ     = &ws->XJ[i];
        const dyn_parent_joint above  = !serial  ? b->tree.parent_joint
                                        : i == 1 ? DYN_PARENT_GROUNDED
                                                 : DYN_PARENT_UNIT_REVOLUTE;
        entries                e;
        assume_revolute(b, serial);
        if (above == DYN_PARENT_GROUNDED) {
            force_partials first;
            WITH_LINK_TRANSFORM(b, XJ, force_partials_to_grounded_form, &c, &first)
            e = (entries){.q = first.q.n.z, .qd = first.qd.n.z, .t = first.t.n.z};
            grounded_row(&ws->body[parent], &first, &e.row_q, &e.row_qd);
            put_row(p, a, serial ? parent : (size_t)p->m->body[parent].joint.v, &e, has_mimics);
            put_column(p, a, serial ? parent : (size_t)p->m->body[parent].joint.v, &e, has_mimics);
            return;
        }
        WITH_LINK_TRANSFORM(b, XJ, force_partials_turn_form, &c, false)
        force_partials_shift_offsets(b, &c);
        i = parent;
        b = &p->m->body[i];
        if (above == DYN_PARENT_UNIT_REVOLUTE) {
            e = (entries){.q = c.q.n.z, .qd = c.qd.n.z, .t = c.t.n.z};
            unit_revolute_row(&ws->body[i], &c, &e.row_q, &e.row_qd);
            put_row(p, a, serial ? i : (size_t)b->joint.v, &e, has_mimics);
            put_column(p, a, serial ? i : (size_t)b->joint.v, &e, has_mimics);
        } else {
            const force_partials here = c; /* a copy, so that the compiler keeps `c` in registers */
            if (i == 0 && p->m->body[0].joint.kind == DYN_FLOATING) {
                put_floating_base(p, a, &here);
                return;
            }
            put_pairs(p, a, i, &here, false);
        }
    }
}

/* Transforms a composite to a parent with a unit revolute joint on the world. Only the quantities that
 * pairs_of_grounded uses are set. */
LANE_INLINE void composite_to_grounded(const dyn_body *b, const joint_transform *XJ, composite_motion S,
                                       composite_motion *to)
{
    WITH_LINK_TRANSFORM(b, XJ, composite_motion_form, &S, b->derived.regrouped_mass)
    composite_motion_shift_offsets(b, &S, b->derived.regrouped_mass);
    to->c.h.x     = S.c.h.x;
    to->c.h.y     = S.c.h.y;
    to->c.E.xx    = S.c.E.xx;
    to->c.E.yy    = S.c.E.yy;
    to->C.m[0][0] = S.C.m[0][0];
    to->C.m[1][1] = S.C.m[1][1];
}

/* Stores the entries of dof a of body i, whose joint may be of any type, with the dofs of all ancestors. F are the
 * partials of a. */
LANE_NOINLINE void put_ancestors_fast(const sensitivity_pass *p, size_t i, size_t a, force_partials *F)
{
    entries_to_base(p, i, a, F, false);
}

/* --- one body --------------------------------------------------------------------------------------------------- */

/* Stores the diagonal entries of a unit revolute joint on the world. They depend only on h.x, h.y, E.xx + E.yy and
 * C.xx + C.yy of its composite. The body's own C.xx + C.yy is zero. */
LANE_INLINE void pairs_of_grounded(const sensitivity_pass *p, size_t i, const composite_motion *children)
{
    const dyn_body    *b   = &p->m->body[i];
    const dyn_moments *own = &b->derived.regrouped;
    const lane         x = children->c.h.x + own->h[0], y = children->c.h.y + own->h[1],
               z = children->C.m[0][0] + children->C.m[1][1];
    force_partials c;
    c.t.f     = (vec3){-y, x, lane_of(0)};
    c.r.z     = z + z;
    entries e = {.t = (children->c.E.xx + children->c.E.yy) + (own->E[0] + own->E[3])};
    grounded_row(&p->ws->body[i], &c, &e.row_q, &e.row_qd);
    put_row(p, (size_t)b->joint.v, (size_t)b->joint.v, &e, p->m->has_mimics);
    put_gravity(p, i, (size_t)b->joint.v, &c.t);
}

/* Stores the entries of a unit revolute joint on a moving body with itself and with the joints of all ancestors. */
LANE_INLINE void pairs_of_revolute(const sensitivity_pass *p, size_t i, const composite_motion *children,
                                   const bool serial)
{
    const dyn_body      *b  = &p->m->body[i];
    const workspace     *ws = p->ws;
    const spatial_state *B  = &ws->body[i];
    assume_serial_body(b, i, serial);
    composite_motion S = composite_motion_with_revolute(children, &b->derived.regrouped, B->v, B->a);
    if (p->wrenches) S.f = wrench_sub(S.f, ws->ext.sum[i]);
    if (serial
            ? i == 1
            : b->tree.parent_joint == DYN_PARENT_GROUNDED && b->tree.parent == (int)i - 1 && !b[-1].tree.has_branch) {
        composite_to_grounded(b, &ws->XJ[i], S, &ws->children[NEXT_BODY]);
    } else {
        composite_motion x = S;
        WITH_LINK_TRANSFORM(b, &ws->XJ[i], composite_motion_form, &x, b->derived.regrouped_mass)
        composite_motion_shift_offsets(b, &x, b->derived.regrouped_mass);
        if (b->tree.parent == (int)i - 1) {
            ws->children[NEXT_BODY] = x;
        } else {
            const composite_motion here = x; /* a copy, so that the compiler keeps x in registers */
            composite_motion_add_to_parent(p, i, &here);
        }
    }
    const force_partials c = force_partials_about_z(b->derived.regrouped_mass, &S, B);
    entries              e = {.t = c.t.n.z};
    unit_revolute_row(B, &c, &e.row_q, &e.row_qd);
    put_row(p, (size_t)b->joint.v, (size_t)b->joint.v, &e, !serial && p->m->has_mimics);
    put_gravity(p, i, (size_t)b->joint.v, &c.t);
    entries_to_base(p, i, serial ? i : (size_t)b->joint.v, &c, serial);
}

/* Computes all entries of a serial model (dyn_model.serial), from the last body to the first. */
static void pairs_of_arm(const sensitivity_pass *p)
{
    const size_t            n        = p->m->n_bodies;
    const composite_motion *children = p->ws->children;
    for (size_t i = n; i-- > 1 && goes_on(p->deadline, n);)
        pairs_of_revolute(p, i, &children[i + 1 == n ? ZERO : NEXT_BODY], true);
    pairs_of_grounded(p, 0, &children[n == 1 ? ZERO : NEXT_BODY]);
}
