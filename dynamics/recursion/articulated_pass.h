/* articulated_pass.h - declares the memory of the articulated body algorithm (forward_dynamics.c), and the steps that
 * its general path and its fast path have in common. */
#pragma once
#include "articulated_inertia.h"
#include "newton_euler.h"

/* The equation of motion of a joint with one coordinate: D sdd = u - U^T alpha', where alpha' = X alpha_p is the
 * acceleration of the parent at the body's origin, in the body's axes (symbols: NOTATION.md). */
typedef struct joint_equation {
    wrench U;
    lane   D, u;
} joint_equation;

/* The solution of this equation for sdd:  sdd = g - G^T alpha'. */
typedef struct joint_solution {
    wrench G; /* U / D */
    lane   g; /* u / D */
    lane   d; /* 1 / D */
} joint_solution;

/* G = U / D, g = u / D and d = 1 / D of each axis of a joint with a quaternion. */
typedef struct free_joint_solution {
    lane G[6][6], g[6], d[6];
} free_joint_solution;

typedef struct articulated_link {
    joint_solution   joint;    /* set only for joints of one coordinate */
    twist            alpha;    /* set only for bodies with carries_run (dyn_body_tree) */
    articulated_body children; /* sums of X^T I^a X and X^T p^a of the children; only for bodies with carries_run */
} articulated_link;

typedef struct articulated_workspace {
    newton_euler_workspace euler;
    articulated_link      *link;
    free_joint_solution   *free_joint; /* [n_quaternions] solutions of joints with a quaternion */
    lane                  *tau;        /* [nv] tau minus the efforts of elastic joints */
} articulated_workspace;

/* Inputs and outputs of one block. */
typedef struct articulated_pass {
    const dyn_scene             *scene;
    const articulated_workspace *ws;
    const newton_euler_io       *io; /* io of the Newton-Euler forward pass; its qdd are the prescribed accelerations */
    const lane                  *tau;    /* [nv] tau minus the efforts of elastic joints */
    const bool                  *driven; /* [nv] true: the coordinate's qdd is prescribed; NULL: none is */
    lane                        *qdd, *singular;
} articulated_pass;

/* True if coordinate v is driven. */
LANE_INLINE bool is_driven(const articulated_pass *p, int v)
{
    return p->driven && p->driven[v];
}

/* Sets *singular to i in the lanes in which the pivot of body i is zero up to rounding and no other body is
 * recorded. */
LANE_INLINE void record_singular(lane pivot, double floor, int i, lane *singular)
{
    lane_mask good = lane_positive(pivot) & lane_less(lane_of(floor), pivot);
    lane_mask fine = good | lane_less(lane_of(-1), *singular);
    *singular      = lane_select(fine, *singular, lane_of(i));
}

/* Returns tau of a joint minus the efforts of its friction and spring. */
LANE_NOINLINE lane net_effort(const articulated_pass *p, const dyn_body *b)
{
    lane effort = joint_effort(b, p->tau);
    if (b->joint.has_friction || b->joint.has_spring) effort -= joint_passive(b, p->scene->terms, p->io->q, p->io->qd);
    return effort;
}

/* Returns the articulated inertia and wrench of body i: I^A = I + sum of X^T I^a X, p^A = f0 + sum of X^T p^a over the
 * children. I is the inertia of the body, but f0 is that of the regrouped body (model.h): qdd depends on all f0 only
 * through the efforts  sum of J^T f0,  which regrouping does not change. */
LANE_INLINE articulated_body articulated_body_of(const articulated_pass *p, int i)
{
    const dyn_body         *b        = &p->scene->model->body[i];
    const articulated_body *children = &p->ws->link[i].children;
    const wrench            own      = p->ws->euler.required[i];
    if (b->tree.is_leaf) return (articulated_body){articulated_rigid(b), own};
    return (articulated_body){articulated_with_rigid(children->I, b), wrench_add(children->p, own)};
}

/* Divides the equation of motion of the joint of body i by its pivot D. Stores and returns G and g for the last
 * pass. */
LANE_INLINE const joint_solution *solve_joint(const articulated_pass *p, int i, const joint_equation *e)
{
    const dyn_body *b = &p->scene->model->body[i];
    joint_solution *s = &p->ws->link[i].joint;
    const lane      d = 1.0 / e->D;
    record_singular(e->D, pivot_floor(b, b->joint.kind == DYN_PRISMATIC), i, p->singular);
    s->G = (wrench){scale(e->U.f, d), scale(e->U.n, d)};
    s->g = e->u * d;
    s->d = d;
    return s;
}

/* Returns p^a = p^A + U g, with g = u / D: the wrench that the joint transmits to the parent. */
LANE_INLINE wrench articulated_add_effort(wrench p, const wrench *U, lane g)
{
    return (wrench){add_scaled(p.f, U->f, g), add_scaled(p.n, U->n, g)};
}

/* Adds x = (X^T I^a X, X^T p^a) of body b to the sums over the children of its parent. The last child is visited first
 * and sets the sums. */
LANE_INLINE void add_to_parent(const articulated_pass *p, const dyn_body *b, const articulated_body *x)
{
    articulated_body *sum = &p->ws->link[b->tree.parent].children;
    sum->I                = b->tree.is_last_child ? x->I : articulated_add(&sum->I, &x->I);
    sum->p                = b->tree.is_last_child ? x->p : wrench_add(sum->p, x->p);
}

/* Returns sdd = (u - U^T alpha') / D of a joint. alpha' is the acceleration of the parent at the body's origin, in the
 * body's axes. The three sums do not depend on each other, so the processor can overlap them. */
LANE_INLINE lane joint_acceleration(const joint_solution *s, twist alpha)
{
    const wrench *G      = &s->G;
    const lane    along  = sub_mul(sub_mul(s->g, G->n.z, alpha.w.z), G->f.z, alpha.v.z);
    const lane    across = add_mul(G->n.x * alpha.w.x, G->n.y, alpha.w.y);
    const lane    linear = add_mul(G->f.x * alpha.v.x, G->f.y, alpha.v.y);
    return (along - across) - linear;
}
