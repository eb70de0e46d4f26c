/* reference_motion.h - computes the motion of every body at a reference velocity and acceleration, from which C(q, qd)
 * qd_r follows without the matrix C. The reference velocity qd_r and acceleration qdd_r are those of Slotine and Li's
 * controllers, not a measured or desired motion.
 *
 * With S' = v x S of the axes S of spatial_world.h at the velocity qd, body and parent (p) have the reference motions
 *
 *     v_r = v_r,p + S qd_r,   a_r = a_r,p + S qdd_r + S' qd_r.
 *
 * A point x of the body has the velocity v(x) at qd. The force that C assigns to its mass is that of the acceleration
 *
 *     alpha(x) = a_r + wd_r x x + w_r x v(x)
 *
 * where w_r and wd_r are the angular parts of v_r and a_r (Slotine & Li 1987; Echeandia & Wensing 2021). At qd_r = qd
 * it is the acceleration of the point. */
#pragma once
#include "spatial_world.h"

/* Reference velocity v_r, and reference acceleration a_r minus gravity, in world axes about the reference point of
 * spatial_world.h. */
typedef struct reference_motion {
    twist v, a;
} reference_motion;

/* Adds S qd_r to the reference velocity, and S qdd_r and S' qd_r to the reference acceleration, for degree of freedom
 * d. qd_r or qdd_r NULL: zero. */
LANE_INLINE void reference_add(const dof *d, const lane *qd_r, const lane *qdd_r, reference_motion *r)
{
    if (qd_r) {
        r->v = twist_add_scaled(r->v, d->S, *qd_r);
        r->a = twist_add_scaled(r->a, twist_sub(d->psi_d_plus_S_d, d->psi_d), *qd_r);
    }
    if (qdd_r) r->a = twist_add_scaled(r->a, d->S, *qdd_r);
}

/* Computes the reference motions of all bodies from the degrees of freedom that spatial_motions has set. */
static inline void reference_motions(const dyn_scene *scene, const dof *dofs, const lane *qd_r, const lane *qdd_r,
                                     reference_motion *out)
{
    const dyn_model       *m     = scene->model;
    const double          *g     = scene->gravity;
    const vec3             o     = vec3_zero();
    const reference_motion world = {.v = {o, o}, .a = {{lane_of(-g[0]), lane_of(-g[1]), lane_of(-g[2])}, o}};
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body  *b = &m->body[i];
        reference_motion r = b->tree.parent == DYN_WORLD ? world : out[b->tree.parent];
        for (size_t k = 0; k < dofs_of(b); k++) {
            const size_t v = (size_t)b->joint.v + k;
            reference_add(&dofs[dof_first(m, i) + k], qd_r ? qd_r + v : NULL, qdd_r ? qdd_r + v : NULL, &r);
        }
        out[i] = r;
    }
}
