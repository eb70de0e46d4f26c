/* world_fixed.h - sums the external wrenches with constant components in world axes over a body and its descendants,
 * and differentiates these sums when the bodies move. world_fixed_body.h computes the sums in body axes. */
#pragma once
#include "external_wrenches.h"
#include "spatial_algebra.h"

/* Sums of the external wrenches that have constant components in world axes, and whose points x_k move with the link.
 * If the body moves with u, its force f changes by u x* f, as if all wrenches in f rotated with the body. Wrenches
 * (F_k, T_k) with constant components do not rotate; f contains them with negative sign, so f also changes by K u =
 * (w_u x F;  w_u x T + sum x_k x (w_u x F_k)). The last sum is tr(X) w_u - X w_u. */
typedef struct world_fixed_wrenches {
    vec3 F, T; /* sums of force and torque about the motions' reference point */
    mat3 X;    /* sum of F x^T, with x the point of application */
} world_fixed_wrenches;

LANE_INLINE wrench world_fixed_mul(const world_fixed_wrenches *k, vec3 w)
{
    lane trace = k->X.m[0][0] + k->X.m[1][1] + k->X.m[2][2];
    return (wrench){.f = cross(w, k->F), .n = mat3_sub_mul(cross_add(scale(w, trace), w, k->T), &k->X, w)};
}
/* Returns the angular part of K^T s, with K of world_fixed_wrenches; the linear part is zero. */
LANE_INLINE vec3 world_fixed_mul_transposed(const world_fixed_wrenches *k, twist s)
{
    lane trace = k->X.m[0][0] + k->X.m[1][1] + k->X.m[2][2];
    vec3 n     = mat3_sub_mul_transposed(scale(s.w, trace), &k->X, s.w);
    return cross_add(cross_add(n, k->F, s.v), k->T, s.w);
}
LANE_INLINE void world_fixed_accumulate(const world_fixed_wrenches *k, world_fixed_wrenches *parent)
{
    parent->F = add(parent->F, k->F);
    parent->T = add(parent->T, k->T);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            parent->X.m[i][j] += k->X.m[i][j];
}

/* True if some load has constant components in world axes, as the compensation of gravity does. */
static inline bool scene_has_world_fixed(const dyn_scene *scene, const lane *values)
{
    for (size_t k = 0; values && k < scene->n_wrenches; k++)
        if (scene->wrench[k].world_axes && scene->wrench[k].body != DYN_WORLD) return true;
    return scene->model->compensated;
}
