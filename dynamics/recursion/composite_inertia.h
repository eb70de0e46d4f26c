/* composite_inertia.h - computes composite inertias: the inertia of each regrouped body (model.h) with its descendants
 * when all joints are locked. A composite is in the body's frame and has a mass (a constant of the model), first moment
 * h and second moment E about the body's origin. The mass that regrouping moves from a revolute body to its parent lies
 * on the joint's axis, and does not resist rotation about it. So columns of M, and momenta along joint axes, equal
 * those computed with the original bodies.
 *
 * Second moments rotate like any symmetric tensor. If the reference point moves by -r, they change by E += r h^T + h
 * r^T + m r r^T. This is cheaper than for inertia tensors, which are trace(E) 1 - E. */
#pragma once
#include "rotate_matrix.h"
#include "workspace.h"

typedef struct composite {
    sym3 E;
    vec3 h;
} composite;

LANE_INLINE sym3 sym3_of(const double e[6]) /* xx xy xz yy yz zz */
{
    return (sym3){lane_of(e[0]), lane_of(e[1]), lane_of(e[2]), lane_of(e[3]), lane_of(e[4]), lane_of(e[5])};
}

/* Returns (trace(E) 1 - E) w: the inertia tensor times w, for a second moment E that is a constant of the model. */
LANE_INLINE vec3 tensor_const_mul(const double e[6], vec3 w)
{
    const double xx = e[3] + e[5], yy = e[0] + e[5], zz = e[0] + e[3];
    return (vec3){sub_mul(sub_mul(xx * w.x, e[1], w.y), e[2], w.z), sub_mul(sub_mul(yy * w.y, e[1], w.x), e[4], w.z),
                  sub_mul(sub_mul(zz * w.z, e[2], w.x), e[4], w.y)};
}

/* Moves the reference point of a composite and of the wrench F by -r, where r is a constant of the model:
 * h' = h + m r,  E' = E + r h^T + h' r^T,  n' = n + r x f. `along`: flags of the components of r that are not zero
 * (DYN_ALONG_X ...). */
LANE_INLINE void composite_shift(composite *c, wrench *F, const double r[3], unsigned along, double mass)
{
    vec3 h = c->h, moved = mass != 0 ? (vec3){h.x + mass * r[0], h.y + mass * r[1], h.z + mass * r[2]} : h;
    if (along & DYN_ALONG_X) {
        F->n    = offset_cross_add(F->n, r, DYN_ALONG_X, F->f);
        c->E.xx = add_mul(c->E.xx, r[0], h.x + moved.x);
        c->E.xy = add_mul(c->E.xy, r[0], h.y);
        c->E.xz = add_mul(c->E.xz, r[0], h.z);
    }
    if (along & DYN_ALONG_Y) {
        F->n    = offset_cross_add(F->n, r, DYN_ALONG_Y, F->f);
        c->E.yy = add_mul(c->E.yy, r[1], h.y + moved.y);
        c->E.xy = add_mul(c->E.xy, r[1], moved.x);
        c->E.yz = add_mul(c->E.yz, r[1], h.z);
    }
    if (along & DYN_ALONG_Z) {
        F->n    = offset_cross_add(F->n, r, DYN_ALONG_Z, F->f);
        c->E.zz = add_mul(c->E.zz, r[2], h.z + moved.z);
        c->E.xz = add_mul(c->E.xz, r[2], moved.x);
        c->E.yz = add_mul(c->E.yz, r[2], moved.y);
    }
    c->h = moved;
}

/* Moves the reference point of a composite by -r; r depends on the state: h' = h + m r,  E' = E + r h^T + h' r^T. */
LANE_INLINE void composite_slide(composite *c, vec3 r, double mass)
{
    vec3 h = c->h, moved = {add_mul(h.x, mass, r.x), add_mul(h.y, mass, r.y), add_mul(h.z, mass, r.z)};
    c->E.xx = add_mul(c->E.xx, r.x, h.x + moved.x);
    c->E.yy = add_mul(c->E.yy, r.y, h.y + moved.y);
    c->E.zz = add_mul(c->E.zz, r.z, h.z + moved.z);
    c->E.xy = add_mul(add_mul(c->E.xy, r.x, h.y), r.y, moved.x);
    c->E.xz = add_mul(add_mul(c->E.xz, r.x, h.z), r.z, moved.x);
    c->E.yz = add_mul(add_mul(c->E.yz, r.y, h.z), r.z, moved.y);
    c->h    = moved;
}

/* Returns the wrench that accelerates the composite at 1 m/s^2 or rad/s^2 along its joint from rest. With the inertia
 * tensor I, revolute joint: n = I z, f = z x h; prismatic joint: f = m z, n = h x z. */
LANE_INLINE wrench composite_along_joint(const dyn_body *b, const composite *c)
{
    lane zero = lane_of(0);
    if (b->joint.kind == DYN_PRISMATIC)
        return (wrench){{zero, zero, lane_of(b->derived.regrouped_mass)}, {c->h.y, -c->h.x, zero}};
    return (wrench){{-c->h.y, c->h.x, zero}, {-c->E.xz, -c->E.yz, c->E.xx + c->E.yy}};
}

/* Transforms a composite to the parent's axes and origin. `mass` is the mass of the composite. */
LANE_INLINE void composite_form(link_transform X, composite *c, double mass)
{
    c->E = sym3_to_parent(X, c->E);
    c->h = to_parent(X, c->h);
    if (X.joint != DYN_REVOLUTE)
        composite_slide(c, origin_in_parent(X), mass);
    else
        composite_shift(c, &(wrench){0}, X.b->pose.p_pc, X.b->pose.offsets,
                        mass); /* here for F = 0; the compiler removes the products with it */
}

/* Returns Rz(gamma) Rx(beta) (x, y, 0)^T, with the constant angles of the joint. */
LANE_INLINE vec3 rotate_xy_by_constant(link_transform X, lane x, lane y)
{
    if (X.turn != DYN_TURN_X && X.turn != DYN_TURN_ZX) return rotate_by_constant(X, (vec3){x, y, lane_of(0)});
    const vec3 v = {x, X.b->pose.ca * y, X.b->pose.sa * y};
    return X.turn == DYN_TURN_X ? v : turn_z(v, lane_of(X.b->pose.cg), lane_of(X.b->pose.sg));
}

/* Transforms a composite as composite_form does, and sets F to the wrench composite_along_joint in the parent's frame.
 * For a revolute joint, F is computed after the composite is rotated about the axis, so that F itself needs no such
 * rotation. */
LANE_INLINE void composite_column_form(link_transform X, composite *c, wrench *F, double mass)
{
    if (X.joint != DYN_REVOLUTE) {
        *F = composite_along_joint(X.b, c);
        wrench_to_parent_form(X, F);
        composite_form(X, c, mass);
        return;
    }
    const lane about = c->E.xx + c->E.yy; /* Izz, which is invariant under rotation about z */
    if (X.turn == DYN_TURN_X_MINUS) {     /* the joint axis is e_y of the parent: f = e_y x h, n = I e_y */
        c->E = sym3_turn_z_minus(c->E, X.J.c, X.J.s);
        c->h = to_parent(X, c->h);
        *F   = (wrench){{c->h.z, lane_of(0), -c->h.x}, {-c->E.xy, about, -c->E.yz}};
    } else { /* f = z x h and n = I z after the rotation about z, then Rz(gamma) Rx(beta) */
        c->E = sym3_turn_z(c->E, X.J.c, X.J.s);
        c->h = turn_z(c->h, X.J.c, X.J.s);
        *F   = (wrench){rotate_xy_by_constant(X, -c->h.y, c->h.x),
                        rotate_by_constant(X, (vec3){-c->E.xz, -c->E.yz, about})};
        c->E = sym3_rotate_by_constant(X, c->E);
        c->h = rotate_by_constant(X, c->h);
    }
    composite_shift(c, F, X.b->pose.p_pc, X.b->pose.offsets, mass);
}

LANE_INLINE composite composite_add(composite a, composite b)
{
    return (composite){sym3_add(a.E, b.E), add(a.h, b.h)};
}

/* Returns the composite of body b in its frame: that of its descendants plus the regrouped moments of the body. */
LANE_INLINE composite composite_with_body(const dyn_body *b, const composite *descendants)
{
    const double *E = b->derived.regrouped.E, *h = b->derived.regrouped.h;
    composite     c = {{descendants->E.xx + E[0], descendants->E.xy + E[1], descendants->E.xz + E[2],
                        descendants->E.yy + E[3], descendants->E.yz + E[4], descendants->E.zz},
                       {descendants->h.x + h[0], descendants->h.y + h[1], descendants->h.z}};
    if (b->joint.kind != DYN_REVOLUTE) { /* E.zz and h.z are zero for revolute bodies */
        c.E.zz = c.E.zz + E[5];
        c.h.z  = c.h.z + h[2];
    }
    return c;
}

/* Returns the composite of body i, in its frame; all bodies after i must have been visited. `next_body`: the composite
 * of body i + 1 in the frame of its parent, used if that is body i; zeros for the last body. `other_children`
 * [n_bodies]: for each body, the sum of the composites of its children without the next body. `branched`:
 * dyn_model.branched, or true. */
LANE_INLINE composite composite_gather(const dyn_model *m, const composite *other_children, const composite *next_body,
                                       size_t i, const bool branched)
{
    const dyn_body *b = &m->body[i];
    composite       c;
    if (!branched || (i + 1 < m->n_bodies && b[1].tree.parent == (int)i))
        c = composite_with_body(b, next_body);
    else
        c = (composite){sym3_of(b->derived.regrouped.E), vec3_of(b->derived.regrouped.h)};
    return branched && b->tree.has_branch ? composite_add(c, other_children[i]) : c;
}
/* Adds `own`, the composite of body i in the frame of its parent, to the parent's entry of `other_children`, unless the
 * parent is the previous body. The last child is visited first and sets the entry. */
LANE_INLINE void composite_add_to_parent(const dyn_body *b, composite *other_children, const composite *own, size_t i)
{
    if (b->tree.parent == (int)i - 1) return;
    composite *sum = &other_children[b->tree.parent];
    *sum           = b->tree.is_last_child ? *own : composite_add(*sum, *own);
}

/* Returns column `k`, linear axes first, of the inertia matrix [m 1, -[h]; [h], I] of a composite, for a joint with a
 * quaternion. The column of a linear axis e is (m e; h x e), that of an angular axis (e x h; I e), with I = trace(E) 1
 * - E. */
LANE_INLINE wrench composite_column(const dyn_body *b, const composite *c, int k)
{
    lane        zero = lane_of(0), m = lane_of(b->derived.regrouped_mass);
    const vec3  h = c->h;
    const sym3 *E = &c->E;
    switch (k) {
    case 0: return (wrench){{m, zero, zero}, {zero, h.z, -h.y}};
    case 1: return (wrench){{zero, m, zero}, {-h.z, zero, h.x}};
    case 2: return (wrench){{zero, zero, m}, {h.y, -h.x, zero}};
    case 3: return (wrench){{zero, -h.z, h.y}, {E->yy + E->zz, -E->xy, -E->xz}};
    case 4: return (wrench){{h.z, zero, -h.x}, {-E->xy, E->xx + E->zz, -E->yz}};
    default: return (wrench){{-h.y, h.x, zero}, {-E->xz, -E->yz, E->xx + E->yy}};
    }
}
