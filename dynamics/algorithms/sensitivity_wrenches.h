/* sensitivity_wrenches.h - computes the derivatives of the joint wrenches, and those of tau with respect to external
 * wrenches. Unlike tau, joint wrenches depend on mass that lies on the joint axes. So the composites here are sums of
 * the actual bodies, not of regrouped bodies (model.h). */
#pragma once
#include "sensitivity_pass.h"

/* --- joint wrenches --------------------------------------------------------------------------------------------- */

/* Adds F, the derivative of the force on the composite of body i with respect to coordinate v, to column v of the
 * derivatives of the body's joint wrench. */
static void wrench_entry(const sensitivity_pass *p, size_t i, wrench F, lane *out, size_t v)
{
    const dyn_body *b  = &p->m->body[i];
    size_t          nv = (size_t)p->m->nv, first = 6 * (size_t)b->tree.row;
    lane            x[6];
    if (!out) return;
    wrench_to_array(wrench_at_joint(b, &p->ws->XJ[i], F), x);
    for (size_t r = 0; r < 6; r++)
        out[(first + r) * nv + v] += x[r];
}

static void wrench_entries(const sensitivity_pass *p, size_t i, size_t v, const force_partials *F)
{
    if (p->m->body[i].tree.row < 0) return;
    wrench_entry(p, i, F->q, p->out->dwrench_q, v);
    wrench_entry(p, i, F->qd, p->out->dwrench_qd, v);
    wrench_entry(p, i, F->t, p->out->dwrench_qdd, v);
}

/* Adds the derivatives of body i's wrench with respect to every dof (degree of freedom) of the body and its ancestors,
 * in the frame of body i. wrenches_to_base adds those with respect to dofs of descendants. `subtree` is the composite
 * of i, and K has the sums of its external wrenches in world axes (world_fixed.h), or is NULL. */
static void wrench_by_ancestor_dofs(const sensitivity_pass *p, size_t i, const composite_motion *subtree,
                                    const world_fixed_wrenches *K)
{
    const dyn_body *body = p->m->body, *b = &body[i];
    relative_pose   relative = relative_pose_identity();
    for (int j = (int)i; j != DYN_WORLD; j = body[j].tree.parent) {
        for (size_t k = 0; k < dofs_of(&body[j]); k++) {
            dof            d = dof_in_descendant(&relative, dof_of(&body[j], &p->ws->body[j], k));
            force_partials F = force_partials_of(b->derived.subtree_mass, subtree, K, &d);
            F.q =
                wrench_sub(F.q, twist_cross_wrench(d.S, subtree->f)); /* in the axes of body i the components of f do
                                                                         not change with the rotation: no term S x* f */
            if (j == (int)i && b->joint.moment_at_parent_frame &&
                b->joint.kind == DYN_PRISMATIC) { /* the moment about the joint frame is n + s z x f, which depends on
                                                     the position s */
                vec3 f = times(b->joint.ratio, subtree->f.f);
                F.q.n  = add(F.q.n, (vec3){-f.y, f.x, lane_of(0)});
            }
            wrench_entries(p, i, coordinate_of_dof(p->m, (size_t)j, k), &F);
        }
        relative_pose_from_parent(&body[j], &p->ws->XJ[j], &relative);
    }
}

/* Adds to the derivatives of the joint wrenches of all ancestors those with respect to dof v of body i, whose partials
 * (force_partials.h) are F. */
static void wrenches_to_base(const sensitivity_pass *p, size_t i, size_t v, force_partials F)
{
    for (const dyn_body *b = &p->m->body[i]; b->tree.parent != DYN_WORLD; b = &p->m->body[i]) {
        force_partials_to_parent(b, &p->ws->XJ[i], &F, false); /* false: the row k = K^T S is not needed here */
        i = (size_t)b->tree.parent;
        wrench_entries(p, i, v, &F);
    }
}

/* Sets `subtree` to the composite of body i with the actual inertia of the body, not the regrouped one. */
static void true_composite_of(const sensitivity_pass *p, size_t i, composite_motion *subtree)
{
    const dyn_body      *b  = &p->m->body[i];
    const workspace     *ws = p->ws;
    const spatial_state *B  = &ws->body[i];
    composite_motion_with_body(b->tree.is_leaf ? &ws->children[ZERO] : &ws->other_children[i], &b->moments, B->v, B->a,
                               subtree);
    if (p->wrenches) subtree->f = wrench_sub(subtree->f, ws->ext.sum[i]);
}

/* Computes the derivatives of all joint wrenches with respect to all dofs. */
static void joint_wrench_derivatives(const sensitivity_pass *p)
{
    const workspace *ws = p->ws;
    for (size_t i = p->m->n_bodies; i-- > 0 && goes_on(p->deadline, (size_t)p->m->nv);) {
        const dyn_body             *b = &p->m->body[i];
        const world_fixed_wrenches *K = p->world_fixed ? &ws->world_fixed[i] : NULL;
        composite_motion            subtree;
        true_composite_of(p, i, &subtree);
        for (size_t k = 0; k < dofs_of(b); k++) {
            dof d = dof_of(b, &ws->body[i], k);
            wrenches_to_base(p, i, coordinate_of_dof(p->m, i, k),
                             force_partials_of(b->derived.subtree_mass, &subtree, K, &d));
        }
        if (b->tree.row >= 0) wrench_by_ancestor_dofs(p, i, &subtree, K);
        if (b->tree.parent == DYN_WORLD) continue;
        composite_motion_to_parent(b, &ws->XJ[i], &subtree, b->derived.subtree_mass);
        composite_motion_add_to_parent(p, i, &subtree);
        if (K) world_fixed_to_parent(b, &ws->XJ[i], K, &ws->world_fixed[b->tree.parent]);
    }
}

/* --- external wrenches ------------------------------------------------------------------------------------------ */

/* Adds d tau_a / dg of the forces that compensate gravity. The derivative is the momentum of the compensated mass at
 * unit rate of a, in world axes. */
static void compensation_by_gravity(const dyn_scene *scene, const workspace *ws, lane *out)
{
    const dyn_model *m = scene->model;
    for (size_t i = 0; m->compensated && i < m->n_bodies && goes_on(scene->deadline, (size_t)m->nv); i++) {
        const dyn_compensation *c        = &m->body[i].compensation;
        const vec3             *e        = ws->ext.attitude[i].row;
        relative_pose           relative = relative_pose_identity();
        for (int p = (int)i; p != DYN_WORLD; p = m->body[p].tree.parent) {
            for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
                const twist S   = twist_in_descendant(&relative, dof_of(&m->body[p], &ws->body[p], k).S);
                const vec3  l   = cross_add(times(c->mass, S.v), S.w, vec3_of(c->h));
                lane       *row = out + 3 * coordinate_of_dof(m, (size_t)p, k);
                for (int x = 0; x < 3; x++)
                    row[x] += dot(e[x], l);
            }
            relative_pose_from_parent(&m->body[p], &ws->XJ[p], &relative);
        }
    }
}

/* Computes d tau_a / d wrench for each dof a, in the axes of the wrench: minus the velocity of the point of application
 * and the angular velocity at unit rate of a. */
static void external_wrench_derivatives(const dyn_scene *scene, const workspace *ws, const lane *values, lane *out)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    clear(out, scene->n_wrenches * nv * 6);
    for (size_t n = 0; n < scene->n_wrenches && goes_on(scene->deadline, nv); n++, out += nv * 6, values += 9) {
        const dyn_wrench_site *site     = &scene->wrench[n];
        const attitude        *att      = &ws->ext.attitude[site->body == DYN_WORLD ? 0 : site->body];
        vec3                   x        = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(values + 6)));
        relative_pose          relative = relative_pose_identity();
        for (int p = site->body; p != DYN_WORLD; p = m->body[p].tree.parent) {
            for (size_t k = 0; k < dofs_of(&m->body[p]); k++) {
                twist S     = twist_in_descendant(&relative, dof_of(&m->body[p], &ws->body[p], k).S);
                lane *entry = out + coordinate_of_dof(m, (size_t)p, k) * 6;
                for (int row = 0; row < 2; row++) {
                    vec3 u = row ? S.w : cross_add(S.v, S.w, x);
                    u      = site->world_axes ? (vec3){dot(att->row[0], u), dot(att->row[1], u), dot(att->row[2], u)}
                                              : unrotate_const(site->X_bl.R, u);
                    u      = external_in_given_axes(site, u);
                    store3(entry + 3 * row, sub(load3(entry + 3 * row), u));
                }
            }
            relative_pose_from_parent(&m->body[p], &ws->XJ[p], &relative);
        }
    }
}
