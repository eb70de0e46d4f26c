/* sensitivity_entries.h - computes the entries of dtau/dq, dtau/dqd and dtau/dqdd for a degree of freedom (dof) a and
 * the joint b of an ancestor, from the partials of a in the ancestor's frame (sensitivity.c): rows d tau_a / db from t,
 * r and k; columns d tau_b / da from F. */
#pragma once
#include "dynamics/recursion/force_partials.h"

/* Outputs for one block. */
typedef struct results {
    lane *dq, *dqd, *dqdd;                      /* nv x nv */
    lane *dwrench_q, *dwrench_qd, *dwrench_qdd; /* n_rows x 6 x nv */
    lane *dgravity;                             /* nv x 3 */
} results;

/* Stores an entry; with mimics several pairs of joints add to one entry. */
LANE_INLINE void put_entry(lane *entry, lane x, bool has_mimics)
{
    *entry = has_mimics ? *entry + x : x;
}
/* Stores entry (row, column). */
LANE_INLINE void put(const dyn_model *m, lane *M, size_t row, size_t column, lane x)
{
    put_entry(&M[row * (size_t)m->nv + column], x, m->has_mimics);
}

/* Computes the entries d tau_a / dq_b and d tau_a / dqd_b for a unit revolute joint b on a moving body. c are the
 * partials of a in the frame of that body. */
LANE_INLINE void unit_revolute_row(const spatial_state *B, const force_partials *c, lane *q, lane *qd)
{
    const vec3 w = B->v.w, u = B->v.v, f = c->t.f, n = c->t.n;
    lane       along = sub_mul(sub_mul(add_mul(u.y * f.x, w.y, n.x), u.x, f.y), w.x, n.y); /* psi' . t */
    *q               = dot(B->Q.v, f) + sub_mul(add_mul(dot(B->Q.w, n), w.y, c->r.x), w.x, c->r.y);
    *qd              = add_mul(c->r.z, 2.0, along);
}
/* Computes the entries d tau_a / dq_b and d tau_a / dqd_b for a unit revolute joint b on the world, where psi' is zero
 * and psi'' is due to gravity only. */
LANE_INLINE void grounded_row(const spatial_state *B, const force_partials *c, lane *q, lane *qd)
{
    *q  = add_mul(B->Q.v.x * c->t.f.x, B->Q.v.y, c->t.f.y);
    *qd = c->r.z;
}
/* Computes the entries d tau_a / dq_b and d tau_a / dqd_b for any joint b of one coordinate. */
LANE_INLINE void joint_row(const dyn_body *b, const spatial_state *B, const force_partials *c, lane *q, lane *qd)
{
    const wrench *t = &c->t;
    const twist   P = psi_dot(b, B);
    *q = dot(B->Q.v, t->f), *qd = lane_of(0);
    if (b->tree.parent != DYN_WORLD) {
        *qd = add_mul(P.v.x * t->f.x, P.v.y, t->f.y);
        if (b->joint.kind == DYN_REVOLUTE) {
            *q += add_mul(add_mul(dot(B->Q.w, t->n), P.w.x, c->r.x), P.w.y, c->r.y);
            *qd = add_mul(add_mul(*qd, P.w.x, t->n.x), P.w.y, t->n.y);
        }
        *qd += *qd;
    }
    if (b->joint.kind == DYN_REVOLUTE) *qd += coordinate_effort(b, c->r.z);
}

/* The entries for a dof a and a joint b of one coordinate: rows d tau_a / dq_b and d tau_a / dqd_b; columns q, qd and
 * t, which are S_b . F(a). */
typedef struct entries {
    lane row_q, row_qd, q, qd, t;
} entries;

LANE_INLINE entries joint_entries(const dyn_body *b, const spatial_state *B, const force_partials *c)
{
    const bool slides = b->joint.kind == DYN_PRISMATIC;
    entries    e      = {.q  = coordinate_effort(b, slides ? c->q.f.z : c->q.n.z),
                         .qd = coordinate_effort(b, slides ? c->qd.f.z : c->qd.n.z),
                         .t  = coordinate_effort(b, slides ? c->t.f.z : c->t.n.z)};
    joint_row(b, B, c, &e.row_q, &e.row_qd);
    if (!slides) e.row_q += coordinate_effort(b, c->k.z);
    return e;
}

LANE_INLINE void put_entries(const results *out, size_t nv, bool has_mimics, size_t a, size_t b, const entries *e)
{
    const size_t row = a * nv + b, column = b * nv + a;
    put_entry(out->dq + row, e->row_q, has_mimics);
    put_entry(out->dqd + row, e->row_qd, has_mimics);
    put_entry(out->dqdd + row, e->t, has_mimics);
    put_entry(out->dq + column, e->q, has_mimics);
    put_entry(out->dqd + column, e->qd, has_mimics);
    put_entry(out->dqdd + column, e->t, has_mimics);
}

LANE_INLINE void wrench_to_array(wrench w, lane x[6])
{
    store3(x, w.f);
    store3(x + 3, w.n);
}

/* Stores the rows d tau_a / db of a dof a for a joint b with a quaternion, all axes at once. For motions u, S and a
 * force f, (u x S) . f = -S . (u x* f). So with psi' = v_p x S, psi'' = a_p x S + v_p x psi', S' = v x S, the entries
 * for the axes S are the components of
 *     q:  v_p x* (v_p x* t) - a_p x* t + (0; r x w_p + k),   qd:  -(v_p + v) x* t + (0; r).
 * If b is on the world, v_p = 0, and a_p is linear. */
LANE_INLINE void free_row_form(const dyn_model *m, const results *out, size_t a, const dyn_body *b,
                               const spatial_state *B, const force_partials *c, const int first)
{
    const wrench t = c->t;
    twist        u = B->v;
    wrench       q = {vec3_zero(), cross_add(c->k, t.f, B->Q.v)};
    lane         dq[6], dqd[6];
    if (b->tree.parent != DYN_WORLD) {
        u   = twist_add(u, B->P);
        q.f = cross(t.f, B->Q.w);
        q.n = cross_add(cross_add(q.n, t.n, B->Q.w), c->r, B->P.w);
        q   = wrench_add(q, twist_cross_wrench(B->P, twist_cross_wrench(B->P, t)));
    }
    wrench_to_array(q, dq);
    wrench_to_array((wrench){cross(t.f, u.w), cross_add(cross_add(c->r, t.n, u.w), t.f, u.v)}, dqd);
    for (int n = first; n < 6; n++) {
        put(m, out->dq, a, (size_t)(b->joint.v + n - first), dq[n]);
        put(m, out->dqd, a, (size_t)(b->joint.v + n - first), dqd[n]);
    }
}

/* Stores the columns d tau_b / da of a dof a, and the entries of the mass matrix, for the axes of a joint b with a
 * quaternion. */
LANE_INLINE void free_column_form(const dyn_model *m, const results *out, size_t a, const dyn_body *b,
                                  const force_partials *c, const int first)
{
    lane q[6], qd[6], t[6];
    wrench_to_array(c->q, q);
    wrench_to_array(c->qd, qd);
    wrench_to_array(c->t, t);
    for (int n = first; n < 6; n++) {
        size_t v = (size_t)(b->joint.v + n - first);
        put(m, out->dq, v, a, q[n]);
        put(m, out->dqd, v, a, qd[n]);
        put(m, out->dqdd, v, a, t[n]);
        put(m, out->dqdd, a, v, t[n]);
    }
}

/* These two functions call free_row_form and free_column_form with the first axis of the joint as a constant. */
static void put_free_row(const dyn_model *m, const results *out, size_t a, const dyn_body *b, const spatial_state *B,
                         const force_partials *c)
{
    if (b->joint.kind == DYN_FLOATING)
        free_row_form(m, out, a, b, B, c, 0);
    else
        free_row_form(m, out, a, b, B, c, 3);
}
static void put_free_column(const dyn_model *m, const results *out, size_t a, const dyn_body *b,
                            const force_partials *c)
{
    if (b->joint.kind == DYN_FLOATING)
        free_column_form(m, out, a, b, c, 0);
    else
        free_column_form(m, out, a, b, c, 3);
}
