/* mass_matrix_fast.h - fast path of mass_matrix_columns.h for runs of unit revolute joints.
 *
 * Condition: dyn_run.unit_revolute, a property of the model. Then S_i^T F is n.z of F, and every entry is written once.
 * How much longer the kernel `mass_matrix` takes without each part, in percent with 1, 4 and 8 lanes:
 *
 *     part                  condition                      panda         ur5           humanoid tree  floating humanoid
 *     whole file            dyn_run.unit_revolute          112 118 141   117 125 146    74  72 117     50  54  60
 *     serial model          one run in coordinate order     12  20   3    19  21   0     -   -   -      -   -   -
 *     two columns at once   two bodies with a parent         -   -   -     -   -   -    18  20  15     17  19   3
 *     joint on the world    dyn_body_tree.parent_joint       5   3   8     8   5   8     0   5   5      -   -   - */
#pragma once
#include "mass_matrix_columns.h"

/* Constants of the inlined code. F is the wrench I_c S, composite inertia times joint axis, for the column of body i; G
 * that for the column of body i + 1. */
typedef struct columns_variant {
    bool serial; /* the model is one run, with the coordinates in the order of bodies */
    bool paired; /* F and G are transformed together, which shares the tests and constants of each joint */
} columns_variant;

/* --- the entries of a column with one body ---------------------------------------------------------------------- */

/* Cursor of column v on its way to the base: the wrench F = I_c S_v is in the frame of body b; in_row and in_column
 * point to M_jv and M_vj, with j the first coordinate of the parent of b. */
typedef struct column_cursor {
    const dyn_body        *b;
    const joint_transform *XJ;
    lane                  *in_row, *in_column;
} column_cursor;

LANE_INLINE column_cursor cursor_at(mass_matrix_pass p, size_t v, int i, columns_variant t)
{
    const dyn_body *b = &p.body[i];
    const size_t    j = t.serial ? (size_t)i - 1 : (size_t)p.body[b->tree.parent].joint.v;
    /* cppcheck-suppress returnDanglingLifetime ; p holds pointers to arrays that outlive it */
    return (column_cursor){b, &p.XJ[i], &p.M[j * p.nv + v], &p.M[v * p.nv + j]};
}

/* Moves the cursor to the parent. Returns false if the parent's joint is on the world. In a serial model it need not
 * test this: there is_parent_grounded ends each column. */
LANE_INLINE bool cursor_advance(mass_matrix_pass p, size_t v, column_cursor *s, columns_variant t)
{
    const int j = s->b->tree.parent;
    if (t.serial)
        *s = (column_cursor){s->b - 1, s->XJ - 1, s->in_row - p.nv, s->in_column - 1};
    else if (p.body[j].tree.parent == DYN_WORLD)
        return false;
    else
        *s = cursor_at(p, v, j, t);
    return true;
}

/* True if the parent of b has a unit revolute joint on the world: then S^T F of this joint is the moment n.z of F. */
LANE_INLINE bool is_parent_grounded(mass_matrix_pass p, const dyn_body *b, columns_variant t)
{
    return t.serial ? b == &p.body[1] : b->tree.parent_joint == DYN_PARENT_GROUNDED;
}

LANE_INLINE void put_columns(mass_matrix_pass p, column_cursor s, lane along_F, lane along_G, columns_variant t)
{
    s.in_row[0] = s.in_column[0] = along_F;
    if (t.paired) s.in_row[1] = s.in_column[p.nv] = along_G;
}

/* Stores M_jv = M_vj = S_j^T F and, if paired, M_j,v+1 = M_v+1,j = S_j^T G, with j the joint of the parent of the
 * cursor's body. */
LANE_INLINE void put_joint_entries(mass_matrix_pass p, column_cursor s, wrench F, wrench G, columns_variant t)
{
    if (t.serial || s.b->tree.parent_joint == DYN_PARENT_UNIT_REVOLUTE) {
        put_columns(p, s, F.n.z, G.n.z, t);
        return;
    }
    const dyn_body *b = &p.body[s.b->tree.parent];
    put_entries(p, b, s.in_row, s.in_column, F);
    if (t.paired) put_entries(p, b, s.in_row + 1, s.in_column + p.nv, G);
}

/* --- the columns of one body ------------------------------------------------------------------------------------ */

LANE_INLINE void columns_to_parent_form(link_transform X, wrench *F, wrench *G, columns_variant t)
{
    wrench_to_parent_form(X, F);
    if (t.paired) wrench_to_parent_form(X, G);
}

/* Stores the entries of column v, with wrench F, and if paired those of column v + 1, with wrench G, for all ancestors
 * of the cursor's body. */
LANE_INLINE void columns_to_base(mass_matrix_pass p, size_t v, column_cursor s, wrench F, wrench G, columns_variant t)
{
    do {
        assume_revolute(s.b, t.serial);
        if (is_parent_grounded(p, s.b, t)) {
            WITH_LINK_TRANSFORM(s.b, s.XJ, columns_to_parent_form, &F, &G, t)
            put_columns(p, s, F.n.z, G.n.z, t);
            return;
        }
        WITH_LINK_TRANSFORM(s.b, s.XJ, columns_to_parent_form, &F, &G, t)
        put_joint_entries(p, s, F, G, t);
    } while (cursor_advance(p, v, &s, t));
}

/* Begins the column of body i in the parent's frame: F = X_i^T I_c S_i, I_c = X_i^T I_c X_i in `c`, and if paired G =
 * X_i^T G. */
LANE_INLINE void start_column_form(link_transform X, composite *c, wrench *F, wrench *G, double mass, columns_variant t)
{
    composite_column_form(X, c, F, mass);
    if (t.paired) wrench_to_parent_form(X, G);
}

/* Stores the column of body i, and if paired the rest of the next body's column, whose wrench is G. Transforms the
 * composite c to the parent; if the parent's joint is on the world, only its moment of inertia about z is set. */
LANE_INLINE void columns_of_body(mass_matrix_pass p, int i, composite *c, wrench *G, columns_variant t)
{
    const dyn_body *b    = &p.body[i];
    const double    mass = t.serial ? 0 : b->derived.regrouped_mass; /* 0: regrouped revolute bodies have no mass */
    const size_t    v    = t.serial ? (size_t)i : (size_t)b->joint.v;
    column_cursor   s    = cursor_at(p, v, i, t);
    wrench          F;
    if (is_parent_grounded(p, b, t)) {
        WITH_REVOLUTE_TRANSFORM(b, s.XJ, start_column_form, c, &F, G, mass, t)
        put_columns(p, s, F.n.z, G->n.z, t);
        *c = (composite){.E.xx = c->E.xx, .E.yy = c->E.yy};
        return;
    }
    WITH_REVOLUTE_TRANSFORM(b, s.XJ, start_column_form, c, &F, G, mass, t)
    put_joint_entries(p, s, F, *G, t);
    if (cursor_advance(p, v, &s, t)) columns_to_base(p, v, s, F, *G, t);
}

/* Begins the column of body i with the wrench G = X_i^T I_c S_i, in the frame of the parent, body i - 1. Transforms the
 * composite c to the parent. */
LANE_INLINE void start_second_column(mass_matrix_pass p, int i, composite *c, wrench *G)
{
    const columns_variant t = {0};
    const dyn_body       *b = &p.body[i];
    WITH_REVOLUTE_TRANSFORM(b, &p.XJ[i], start_column_form, c, G, G, b->derived.regrouped_mass, t)
    put_columns(p, cursor_at(p, (size_t)b->joint.v, i, t), G->n.z, G->n.z, t);
}

/* Stores the diagonal entry M_ii = S_i^T I_c S_i + rotor inertia. */
LANE_INLINE void put_own_entry(mass_matrix_pass p, int i, const composite *c, const bool serial)
{
    const dyn_body *b = &p.body[i];
    assume_revolute(b, true);
    p.M[(serial ? (size_t)i : (size_t)b->joint.v) * (p.nv + 1)] = c->E.xx + c->E.yy + b->joint.rotor_inertia;
}

/* Stores the columns of a run, tip to base. Returns the composite of the first body in its parent's frame. */
LANE_INLINE composite unit_run_columns(mass_matrix_pass p, dyn_run run, composite c, const bool serial)
{
    const int first = run.first + (p.body[run.first].tree.parent == DYN_WORLD); /* first body with a parent */
    wrench    G;
    p.has_mimics = false; /* a constant of the inlined code */
    for (int i = run.end - 1;; i--) {
        put_own_entry(p, i, &c, serial);
        if (i < first) return c;
        if (!serial && i > first) {
            start_second_column(p, i, &c, &G);
            c = composite_with_body(&p.body[--i], &c);
            put_own_entry(p, i, &c, serial);
            columns_of_body(p, i, &c, &G, (columns_variant){.paired = true});
        } else {
            columns_of_body(p, i, &c, &G, (columns_variant){.serial = serial});
        }
        if (i == run.first) return c;
        c = composite_with_body(&p.body[i - 1], &c);
    }
}
