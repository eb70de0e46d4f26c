/* external.h - external wrenches of a request, gathered body by body.
 *
 * Each wrench is force, torque and point of application, the point in the link frame, force and torque in link or
 * world axes. About the body's origin, in body axes:  f = R F,  n = R T + (p_bl + R_bl point) x f. */
#pragma once
#include "kernels.h"

/* e_x, e_y, e_z of the world in a body's axes: the rows of R_wb */
typedef struct attitude {
    vec3 row[3];
} attitude;

typedef struct external {
    attitude *attitude; /* [n_bodies] */
    wrench   *on;       /* [n_bodies], sum on each body */
} external;

static inline external external_place(arena *a, const dyn_model *m)
{
    return (external){.attitude = arena_take(a, m->n_bodies, sizeof(attitude)),
                      .on       = arena_take(a, m->n_bodies, sizeof(wrench))};
}

LANE_INLINE void attitude_form(const dyn_body *b, joint_at at, const attitude *p, attitude *c, dyn_joint_kind joint,
                               dyn_turn turn)
{
    for (int k = 0; k < 3; k++)
        c->row[k] = to_child(b, at, p->row[k], joint, turn);
}

static inline void attitudes(const dyn_model *m, const lane *q, const joint_at *at, attitude *out)
{
    lane           one = lane_of(1), zero = lane_of(0);
    const attitude world = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}};
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint == DYN_FLOATING) {
            mat3 R = base_rotation(q);
            for (int k = 0; k < 3; k++)
                out[i].row[k] = load3(R.m[k]);
            continue;
        }
        const attitude *p = b->parent == DYN_WORLD ? &world : &out[b->parent];
        BODY_FORMS(b, attitude_form, b, at[i], p, &out[i])
    }
}

/* The wrench about its body's origin, body axes; `value` holds force, torque and point. */
LANE_INLINE wrench external_one(const dyn_wrench_site *site, const attitude *att, const lane *value)
{
    vec3   F = load3(value), T = load3(value + 3), point = load3(value + 6);
    wrench w;
    if (site->world_axes) {
        const vec3 *e = att->row;
        w.f = add(add(scale(e[0], F.x), scale(e[1], F.y)), scale(e[2], F.z));
        w.n = add(add(scale(e[0], T.x), scale(e[1], T.y)), scale(e[2], T.z));
    } else {
        w.f = rotate_const(site->X_bl.R, F);
        w.n = rotate_const(site->X_bl.R, T);
    }
    w.n = cross_add(w.n, add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, point)), w.f);
    return w;
}

static inline void externals_gather(const dyn_scene *scene, const lane *q, const joint_at *at, const lane *values,
                                    const external *ext)
{
    const dyn_model *m = scene->model;
    attitudes(m, q, at, ext->attitude);
    for (size_t i = 0; i < m->n_bodies; i++)
        ext->on[i] = (wrench){vec3_zero(), vec3_zero()};
    for (size_t k = 0; k < scene->n_wrenches; k++) {
        const dyn_wrench_site *site = &scene->wrench[k];
        if (site->body == DYN_WORLD)
            continue;
        wrench w = external_one(site, &ext->attitude[site->body], values + 9 * k);
        ext->on[site->body].f = add(ext->on[site->body].f, w.f);
        ext->on[site->body].n = add(ext->on[site->body].n, w.n);
    }
}
