/* external_wrenches.h - sums the external wrenches for each body, with the forces that compensate gravity.
 *
 * Each wrench is a force F, a torque T and a point of application. The point is in the link frame. Force and torque are
 * in link axes, in world axes, or in axes with a constant rotation from link or world axes. About the body's origin and
 * in the body's axes the wrench is  f = R F,  n = R T + (p_bl + R_bl point) x f,  where R rotates from the axes of F
 * and T to the body's.
 *
 * The compensation of gravity (dyn_link.gravity_compensation) is such a wrench in world axes: the force -g on each unit
 * of the compensated mass. A body with compensated mass w and first moment h has  f = w R (-g),  n = h x R (-g). */
#pragma once
#include "workspace.h"

/* The world's axes e_x, e_y, e_z in a body's axes: the rows of R_wb. */
typedef struct attitude {
    vec3 row[3];
} attitude;

typedef struct external_wrenches {
    attitude *attitude; /* [n_bodies] attitude of each body */
    wrench   *sum;      /* [n_bodies] sum of the external wrenches on each body */
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

/* Rotates a force or torque from the axes of its site (dyn_wrench_site) to link or world axes, by the site's constant
 * rotation. external_in_given_axes does the inverse. */
LANE_INLINE vec3 external_in_site_axes(const dyn_wrench_site *site, vec3 x)
{
    return site->has_axes ? rotate_const(site->axes, x) : x;
}
LANE_INLINE vec3 external_in_given_axes(const dyn_wrench_site *site, vec3 x)
{
    return site->has_axes ? unrotate_const(site->axes, x) : x;
}

/* A load: an external wrench, or the compensation of a body's gravity, with f = weight F, n = T + arm x F about the
 * body's origin. F and T are in world axes if `world_axes`, else in link axes; `arm` is in body axes. An external
 * wrench has weight 1, and `arm` is its point; a compensation has as `weight` the compensated mass, as `arm` the first
 * moment of this mass. */
typedef struct external_load {
    const dyn_wrench_site *site; /* NULL: compensation of gravity */
    int                    body; /* body that the load acts on; DYN_WORLD: no effect */
    bool                   world_axes;
    double                 weight;
    vec3                   F, T, arm;
} external_load;

/* The loads of a scene are numbered from external_first to external_end - 1. `values` are the numbers of the wrenches
 * (force, torque, point), or NULL. */
static inline size_t external_first(const dyn_scene *scene, const lane *values)
{
    return values ? 0 : scene->n_wrenches;
}
static inline size_t external_end(const dyn_scene *scene)
{
    return scene->n_wrenches + (scene->model->compensated ? scene->model->n_bodies : 0);
}
LANE_INLINE bool scene_has_externals(const dyn_scene *scene, const lane *values)
{
    return values || scene->model->compensated;
}

static inline external_load compensation_of(const dyn_scene *scene, int body)
{
    const dyn_compensation *c    = &scene->model->body[body].compensation;
    const double           *g    = scene->gravity;
    const bool              none = c->mass == 0 && c->h[0] == 0 && c->h[1] == 0 && c->h[2] == 0;
    return (external_load){.body       = none ? DYN_WORLD : body,
                           .world_axes = true,
                           .weight     = c->mass,
                           .F          = {lane_of(-g[0]), lane_of(-g[1]), lane_of(-g[2])},
                           .T          = vec3_zero(),
                           .arm        = vec3_of(c->h)};
}

/* Returns load number k. `values` of an external wrench are force, torque and point. */
static inline external_load external_load_of(const dyn_scene *scene, const lane *values, size_t k)
{
    if (k >= scene->n_wrenches) return compensation_of(scene, (int)(k - scene->n_wrenches));
    const dyn_wrench_site *site  = &scene->wrench[k];
    const lane            *value = values + 9 * k;
    return (external_load){site,
                           site->body,
                           site->world_axes,
                           1,
                           external_in_site_axes(site, load3(value)),
                           external_in_site_axes(site, load3(value + 3)),
                           add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(value + 6)))};
}

/* Rotates a force or torque of a load to body axes. */
LANE_INLINE vec3 external_in_body_axes(const external_load *load, const attitude *att, vec3 x)
{
    const vec3 *e = att->row;
    if (load->world_axes) return add_scaled(add_scaled(scale(e[0], x.x), e[1], x.y), e[2], x.z);
    return rotate_const(load->site->X_bl.R, x);
}

/* Returns force F and torque T of a load in body axes. */
LANE_INLINE wrench external_applied(const external_load *load, const attitude *att)
{
    return (wrench){external_in_body_axes(load, att, load->F), external_in_body_axes(load, att, load->T)};
}

/* Returns the wrench of a load about its body's origin, in body axes. */
LANE_INLINE wrench external_wrench_of(const external_load *load, const attitude *att)
{
    wrench w = external_applied(load, att);
    w.n      = cross_add(w.n, load->arm, w.f);
    w.f      = times(load->weight, w.f);
    return w;
}

/* Returns the rate of the components of a load's wrench, in body axes about the body's origin. w is the body's angular
 * velocity; `rate` has the rates of force and torque of an external wrench, or is NULL. A vector fixed in world axes
 * has the rate -w x vector in body axes. The arm is constant in body axes. */
LANE_INLINE wrench external_wrench_rate_of(const external_load *load, const attitude *att, const lane *rate, vec3 w)
{
    wrench r = {vec3_zero(), vec3_zero()};
    if (rate)
        r = (wrench){external_in_body_axes(load, att, external_in_site_axes(load->site, load3(rate))),
                     external_in_body_axes(load, att, external_in_site_axes(load->site, load3(rate + 3)))};
    if (load->world_axes) {
        const wrench applied = external_applied(load, att);
        r.f                  = sub(r.f, cross(w, applied.f));
        r.n                  = sub(r.n, cross(w, applied.n));
    }
    r.n = cross_add(r.n, load->arm, r.f);
    r.f = times(load->weight, r.f);
    return r;
}

static inline void gather_external_wrenches(const dyn_scene *scene, const joint_transform *XJ, const lane *values,
                                            const external_wrenches *ext)
{
    const dyn_model *m = scene->model;
    attitudes(m, XJ, ext->attitude);
    for (size_t i = 0; i < m->n_bodies; i++)
        ext->sum[i] = (wrench){vec3_zero(), vec3_zero()};
    for (size_t k = external_first(scene, values); k < external_end(scene); k++) {
        const external_load load = external_load_of(scene, values, k);
        if (load.body == DYN_WORLD) continue;
        const wrench w      = external_wrench_of(&load, &ext->attitude[load.body]);
        ext->sum[load.body] = wrench_add(ext->sum[load.body], w);
    }
}
