/* external_wrenches.h - sums the external wrenches for each body.
 *
 * Each wrench is a force F, a torque T and a point of application. The point is in the link frame. Force and torque are
 * in link axes, in world axes, or in axes with a constant rotation from link or world axes. About the body's origin and
 * in the body's axes the wrench is  f = R F,  n = R T + (p_bl + R_bl point) x f,  where R rotates from the given axes
 * to the body's. */
#pragma once
#include "workspace.h"

/* The world's axes e_x, e_y, e_z in a body's axes: the rows of R_wb. */
typedef struct attitude {
    vec3 row[3];
} attitude;

typedef struct external_wrenches {
    attitude *attitude; /* [n_bodies] attitude of each body */
    wrench   *sum;      /* [n_bodies] sum of the wrenches on each body */
} external_wrenches;

static inline external_wrenches external_wrenches_place(arena *a, const dyn_model *m)
{
    return (external_wrenches){.attitude = arena_take(a, m->n_bodies, sizeof(attitude)),
                               .sum      = arena_take(a, m->n_bodies, sizeof(wrench))};
}

LANE_INLINE void attitude_form(link_transform X, const attitude *p, attitude *c)
{
    for (int k = 0; k < 3; k++)
        c->row[k] = to_child(X, p->row[k]);
}

static inline void attitudes(const dyn_model *m, const joint_transform *XJ, attitude *out)
{
    lane           one = lane_of(1), zero = lane_of(0);
    const attitude world = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}};
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        const attitude *p = b->tree.parent == DYN_WORLD ? &world : &out[b->tree.parent];
        WITH_LINK_TRANSFORM(b, &XJ[i], attitude_form, p, &out[i])
    }
}

/* Rotates a force or torque from the axes of its site to link or world axes. external_in_given_axes
 * rotates it back. */
LANE_INLINE vec3 external_in_site_axes(const dyn_wrench_site *site, vec3 x)
{
    return site->has_axes ? rotate_const(site->axes, x) : x;
}
LANE_INLINE vec3 external_in_given_axes(const dyn_wrench_site *site, vec3 x)
{
    return site->has_axes ? unrotate_const(site->axes, x) : x;
}

/* Rotates a force or torque from the axes of its site to body axes. */
LANE_INLINE vec3 external_in_body_axes(const dyn_wrench_site *site, const attitude *att, vec3 x)
{
    const vec3 *e = att->row;
    x             = external_in_site_axes(site, x);
    if (site->world_axes) return add_scaled(add_scaled(scale(e[0], x.x), e[1], x.y), e[2], x.z);
    return rotate_const(site->X_bl.R, x);
}

/* Returns one wrench about its body's origin, in body axes; `value` is force, torque and point. */
LANE_INLINE wrench external_wrench_of(const dyn_wrench_site *site, const attitude *att, const lane *value)
{
    vec3   arm = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(value + 6)));
    wrench w   = {external_in_body_axes(site, att, load3(value)), external_in_body_axes(site, att, load3(value + 3))};
    w.n        = cross_add(w.n, arm, w.f);
    return w;
}

/* Rate of the components of one wrench in body axes, about the body's origin. w is the body's angular velocity. A
 * vector fixed in world axes has the rate -w x vector in body axes. The point is constant in the link frame. */
LANE_INLINE wrench external_wrench_rate_of(const dyn_wrench_site *site, const attitude *att, const lane *value,
                                           const lane *rate, vec3 w)
{
    vec3   arm = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(value + 6)));
    wrench r   = {vec3_zero(), vec3_zero()};
    if (rate)
        r = (wrench){external_in_body_axes(site, att, load3(rate)), external_in_body_axes(site, att, load3(rate + 3))};
    if (site->world_axes) {
        r.f = sub(r.f, cross(w, external_in_body_axes(site, att, load3(value))));
        r.n = sub(r.n, cross(w, external_in_body_axes(site, att, load3(value + 3))));
    }
    r.n = cross_add(r.n, arm, r.f);
    return r;
}

static inline void gather_external_wrenches(const dyn_scene *scene, const joint_transform *XJ, const lane *values,
                                            const external_wrenches *ext)
{
    const dyn_model *m = scene->model;
    attitudes(m, XJ, ext->attitude);
    for (size_t i = 0; i < m->n_bodies; i++)
        ext->sum[i] = (wrench){vec3_zero(), vec3_zero()};
    for (size_t k = 0; k < scene->n_wrenches; k++) {
        const dyn_wrench_site *site = &scene->wrench[k];
        if (site->body == DYN_WORLD) continue;
        wrench w             = external_wrench_of(site, &ext->attitude[site->body], values + 9 * k);
        ext->sum[site->body] = wrench_add(ext->sum[site->body], w);
    }
}
