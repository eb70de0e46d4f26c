/* mass_matrix_columns.h - the composite rigid body algorithm: computes M(q) from the joint transforms. mass_matrix.c
 * calls it, and mass_matrix_fast.h only makes it faster.
 *
 * Featherstone (2008), table 6.2. For each body i, tips first, with I_c the inertia of the body and its descendants and
 * X_i the motion transform from the parent's frame to that of body i,
 *
 *     F = I_c S_i,   M_ii = S_i^T F,   I_c of the parent += X_i^T I_c X_i,
 *     j = i;   while the parent of j is a body:   F = X_j^T F,   j = parent of j,   M_ij = M_ji = S_j^T F.
 *
 * S_i is an axis of the body's frame times the joint's ratio, or all six axes, or the last three. The same algorithm as
 * printed in the book is book_crba of tests/dynamics/book/algorithms.c. Differences: W states in lanes; canonical body
 * frames, whose zeros are skipped; composites as mass and moments instead of 6x6 matrices. */
#pragma once
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/recursion/composite_inertia.h"

/* Inputs of the recursion. Passed by value, so that stores to M leave its fields in registers. */
typedef struct mass_matrix_pass {
    const dyn_body        *body;
    const joint_transform *XJ;
    lane                  *M; /* [nv x nv] result */
    size_t                 nv;
    bool                   has_mimics; /* several joints add to one entry, so M is cleared first */
} mass_matrix_pass;

LANE_INLINE void put_single(mass_matrix_pass p, lane *entry, lane x)
{
    *entry = p.has_mimics ? *entry + x : x;
}
/* Stores x as M_ij and M_ji. A pair of joints with the same coordinate adds twice to a diagonal entry. */
LANE_INLINE void put_pair(mass_matrix_pass p, lane *ij, lane *ji, lane x)
{
    put_single(p, ij, x);
    put_single(p, ji, x);
}

/* --- the column of one coordinate ----------------------------------------------------------------------------- */

LANE_INLINE void wrench_to_entries(wrench F, lane along[6])
{
    store3(along, F.f);
    store3(along + 3, F.n);
}

/* Stores M_ij = M_ji = S_j^T F for the coordinates of body b, with number j. F is the wrench of column i in the frame
 * of b. in_row and in_column point to M_ji and M_ij of the first coordinate of the body. */
LANE_INLINE void put_entries(mass_matrix_pass p, const dyn_body *b, lane *in_row, lane *in_column, wrench F)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        lane along[6];
        wrench_to_entries(F, along);
        for (int k = joint_first_axis(b); k < 6; k++, in_row += p.nv, in_column++)
            put_pair(p, in_row, in_column, along[k]);
    } else {
        put_pair(p, in_row, in_column, coordinate_effort(b, b->joint.kind == DYN_PRISMATIC ? F.f.z : F.n.z));
    }
}

/* Stores the entries of coordinate v with body j and all its ancestors. `start`: the wrench F = I_c S_v in the frame of
 * body j. */
LANE_NOINLINE void column_to_base(mass_matrix_pass p, size_t v, int j, const wrench *start)
{
    wrench F = *start;
    for (;;) {
        const dyn_body *b  = &p.body[j];
        const size_t    vj = (size_t)b->joint.v;
        put_entries(p, b, &p.M[vj * p.nv + v], &p.M[v * p.nv + vj], F);
        if (b->tree.parent == DYN_WORLD) return;
        WITH_LINK_TRANSFORM(b, &p.XJ[j], wrench_to_parent_form, &F)
        j = b->tree.parent;
    }
}

/* --- the columns of one body ------------------------------------------------------------------------------------ */

/* Stores the column of the mass matrix of a joint with one coordinate, and transforms the composite c to the parent.
 * With S_i = ratio e_z, M_ii = ratio^2 (e_z^T I_c e_z + rotor inertia),   F = ratio X_i^T I_c e_z,   I_c = X_i^T I_c
 * X_i. The composite c holds I_c. For an angular e_z, e_z^T I_c e_z = E_xx + E_yy, with E the second moment of the
 * composite about the body's origin. */
static void joint_column(mass_matrix_pass p, int i, composite *c)
{
    const dyn_body *b       = &p.body[i];
    const size_t    v       = (size_t)b->joint.v;
    const double    mass    = b->derived.regrouped_mass;
    const lane      inertia = b->joint.kind == DYN_PRISMATIC ? lane_of(mass) : c->E.xx + c->E.yy;
    put_single(p, &p.M[v * (p.nv + 1)], coordinate_effort(b, coordinate_effort(b, inertia + b->joint.rotor_inertia)));
    if (b->tree.parent == DYN_WORLD) return;
    wrench F;
    WITH_LINK_TRANSFORM(b, &p.XJ[i], composite_column_form, c, &F, mass)
    if (b->joint.has_ratio) F = (wrench){times(b->joint.ratio, F.f), times(b->joint.ratio, F.n)};
    column_to_base(p, v, b->tree.parent, &F);
}

/* Stores the columns of the mass matrix of a joint with a quaternion, whose axes are e_k with first <= k < 6. `first`
 * is a constant of the inlined code. */
LANE_INLINE void free_columns_form(mass_matrix_pass p, int i, const composite *c, const int first)
{
    const dyn_body *b = &p.body[i];
    const size_t    v = (size_t)(b->joint.v - first); /* axis k has the coordinate v + k */
    for (int k = first; k < 6; k++) {
        lane along[6];
        wrench_to_entries(composite_column(b, c, k), along);
        for (int l = first; l < 6; l++)
            p.M[(v + (size_t)l) * p.nv + v + (size_t)k] = along[l];
    }
    if (b->joint.rotor_inertia != 0) free_add_diagonal(b, p.nv, b->joint.rotor_inertia, p.M);
    if (b->tree.parent == DYN_WORLD) return;
    for (int k = first; k < 6; k++) {
        wrench F = composite_column(b, c, k);
        wrench_to_parent_form(free_transform_of(b, &p.XJ[i]), &F);
        column_to_base(p, v + (size_t)k, b->tree.parent, &F);
    }
}

LANE_NOINLINE void free_columns(mass_matrix_pass p, int i, composite *c)
{
    const dyn_body *b = &p.body[i];
    if (b->joint.kind == DYN_FLOATING)
        free_columns_form(p, i, c, 0);
    else
        free_columns_form(p, i, c, 3);
    if (b->tree.parent != DYN_WORLD) composite_form(free_transform_of(b, &p.XJ[i]), c, b->derived.regrouped_mass);
}

/* Stores the columns of a run, given the composite of its last body. Returns the composite of the first one, in the
 * frame of its parent. */
static composite run_columns(mass_matrix_pass p, dyn_run run, composite c)
{
    for (int i = run.end - 1;; i--) {
        if (dyn_joint_has_quaternion(p.body[i].joint.kind))
            free_columns(p, i, &c);
        else
            joint_column(p, i, &c);
        if (i == run.first) return c;
        c = composite_with_body(&p.body[i - 1], &c);
    }
}
