/* coordinate_parts.h - cuts the coordinates of a model into parts that move independently: the trees that hang on the
 * world each by a joint of its own. No derivative of an effort or of an acceleration connects two parts, unless frames
 * are held. */
#pragma once
#include "coordinate_tree.h"

/* Returns the end of the part that begins with coordinate `first`: the least one so that no joint from `first` on
 * follows a joint before that end without being before the end itself. The coordinates of a part are consecutive. */
static inline size_t part_end(const dyn_model *m, size_t first)
{
    int end = (int)first + 1;
    if (m->dense || m->n_couplings > 0) return (size_t)m->nv;
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t i = 0; i < m->n_bodies; i++) {
            const dyn_body_joint *joint = &m->body[i].joint;
            const int up = last_coordinate_of(m, m->body[i].tree.parent), last = joint->v + dyn_joint_nv(joint->kind);
            if (joint->mimic || joint->v < (int)first || last <= end) continue;
            if (joint->v >= end && (up < (int)first || up >= end)) continue;
            end   = last;
            grows = true;
        }
    }
    return (size_t)end;
}
