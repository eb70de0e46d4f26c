/* coordinate_parts.h - cuts the coordinates of a model into parts that move independently, and lists the coordinates of
 * the bodies that one joint moves or that move it.
 *
 * The parts are the trees that hang on the world each by a joint of its own. No derivative of an effort or of an
 * acceleration connects two parts, unless frames are held. */
#pragma once
#include "coordinate_tree.h"
#include <string.h>

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

/* Lists the relatives of the coordinates first to end - 1, in ascending order: those of the same joints, of their
 * ancestors and of their descendants. In M and in its derivatives the coordinates have nonzero entries with relatives
 * only. Returns the number of relatives. */
static inline size_t list_relatives(const dyn_model *m, size_t first, size_t end, int list[DYN_MAX_DOF])
{
    bool   below[DYN_MAX_DOF], marked[DYN_MAX_DOF];
    size_t n = 0;
    memset(below, 0, (size_t)m->nv);
    memset(marked, 0, (size_t)m->nv);
    for (size_t i = 0; !m->dense && i < m->n_bodies; i++) {
        const dyn_body_joint *joint = &m->body[i].joint;
        const int             last  = joint->v + dyn_joint_nv(joint->kind);
        const bool            own   = joint->v < (int)end && last > (int)first;
        int                   up    = last_coordinate_of(m, m->body[i].tree.parent);
        if (joint->mimic || !(own || (up >= 0 && below[up]))) continue;
        for (int v = joint->v; v < last; v++)
            below[v] = marked[v] = true;
        for (int a = m->body[i].tree.parent; own && a != DYN_WORLD; a = m->body[a].tree.parent)
            for (int k = 0; k < dyn_joint_nv(m->body[a].joint.kind); k++)
                marked[m->body[a].joint.v + k] = true;
    }
    for (int v = 0; v < m->nv; v++)
        if (m->dense || marked[v]) list[n++] = v;
    return n;
}
