/* world_fixed_body.h - computes the sums of world_fixed.h in the axes of each body, about its origin. */
#pragma once
#include "rotate_matrix.h"
#include "world_fixed.h"

/* Sets F, T and X of each body (world_fixed.h) to the sums over its external wrenches in world axes. */
static inline void world_fixed_gather(const dyn_scene *scene, const external_wrenches *ext, const lane *values,
                                      world_fixed_wrenches *k)
{
    const vec3                 o    = vec3_zero();
    const world_fixed_wrenches none = {.F = o, .T = o, .X = {{{o.x, o.x, o.x}, {o.x, o.x, o.x}, {o.x, o.x, o.x}}}};
    for (size_t i = 0; i < scene->model->n_bodies; i++)
        k[i] = none;
    for (size_t n = external_first(scene, values); n < external_end(scene); n++) {
        const external_load load = external_load_of(scene, values, n);
        if (load.body == DYN_WORLD || !load.world_axes) continue;
        const wrench         applied = external_applied(&load, &ext->attitude[load.body]);
        world_fixed_wrenches one     = {.F = times(load.weight, applied.f), .T = applied.n};
        store3(one.X.m[0], scale(load.arm, applied.f.x));
        store3(one.X.m[1], scale(load.arm, applied.f.y));
        store3(one.X.m[2], scale(load.arm, applied.f.z));
        world_fixed_accumulate(&one, &k[load.body]);
    }
}

/* Moves the reference point of X = sum F x^T, with the points of application x, by -r: X += F r^T. F must already be in
 * the parent's axes. */
LANE_INLINE void world_fixed_shift(mat3 *X, vec3 F, vec3 r)
{
    store3(X->m[0], add_scaled(load3(X->m[0]), r, F.x));
    store3(X->m[1], add_scaled(load3(X->m[1]), r, F.y));
    store3(X->m[2], add_scaled(load3(X->m[2]), r, F.z));
}

LANE_INLINE void world_fixed_form(link_transform X, world_fixed_wrenches *k)
{
    k->F = to_parent(X, k->F);
    k->T = to_parent(X, k->T);
    k->X = dyn_joint_has_quaternion(X.joint) ? mat3_rotate(&X.pose->R, &k->X) : mat3_to_parent(X, k->X, false);
    world_fixed_shift(&k->X, k->F, origin_in_parent(X));
}

static inline void world_fixed_to_parent(const dyn_body *b, const joint_transform *XJ, const world_fixed_wrenches *k,
                                         world_fixed_wrenches *parent)
{
    world_fixed_wrenches x = *k;
    WITH_LINK_TRANSFORM(b, XJ, world_fixed_form, &x)
    world_fixed_accumulate(&x, parent);
}
