/* derived_data.c - computes data of each body and of the whole tree that the algorithms need (canonical.h). */
#include "dynamics/math/double_double.h"
#include "canonical.h"
#include <math.h>
#include <string.h>

/* Row and column of the six entries of E, or of any symmetric matrix. */
static const int entries[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

/* Returns an upper bound, kg m^2, of the second moment of the subtree of body b about its parent's origin. With p the
 * offset of b in the parent and r the vectors to the mass points from b's origin, for all directions of r: int |r +
 * p|^2 dm <= (sqrt(int r^2 dm) + sqrt(m) |p|)^2. */
static double subtree_moment_at_parent(const dyn_body *b)
{
    const double *p        = b->joint.kind == DYN_SPHERICAL ? b->pose.before.p : b->pose.p_pc;
    double        distance = dyn_length(dyn_length(p[0], p[1]), p[2]);
    double        reach    = sqrt(b->derived.subtree_moment) + sqrt(b->derived.subtree_mass) * distance;
    return reach * reach;
}

/* Adds the mass moments that lie on the axis of body b (axis_moments) to its parent's moments. The moments are those of
 * a rod along the axis z through the point p, in the parent's frame:
 *     h += m p + h.z z,  E += m p p^T + h.z (p z^T + z p^T) + E.zz z z^T. */
static void move_axis_moments(dyn_body *b, dyn_moments *to)
{
    const double z[3] = {b->pose.sg * b->pose.sa, -b->pose.cg * b->pose.sa, b->pose.ca}, *p = b->pose.p_pc,
                 *axis = b->derived.axis_moments;
    to->mass += axis[0];
    for (int i = 0; i < 3; i++)
        to->h[i] += axis[0] * p[i] + axis[1] * z[i];
    for (int e = 0; e < 6; e++) {
        int i = entries[e][0], j = entries[e][1];
        to->E[e] += axis[0] * p[i] * p[j] + axis[1] * (p[i] * z[j] + z[i] * p[j]) + axis[2] * z[i] * z[j];
    }
}

/* Moves the mass on each revolute axis to the parent, leaves first (see dyn_body_derived.regrouped). */
static void regroup(dyn_model *m, dyn_body *body)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        body[i].derived.regrouped      = (dyn_moments){.mass = body[i].moments.mass};
        body[i].derived.regrouped_mass = 0;
        memcpy(body[i].derived.regrouped.h, body[i].moments.h, sizeof body[i].moments.h);
        memcpy(body[i].derived.regrouped.E, body[i].moments.E, sizeof body[i].moments.E);
    }
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        dyn_body    *b = &body[i], *p = b->tree.parent == DYN_WORLD ? NULL : &body[b->tree.parent];
        dyn_moments *own = &b->derived.regrouped;
        if (b->joint.kind == DYN_REVOLUTE) {
            memcpy(b->derived.axis_moments, (double[3]){own->mass, own->h[2], own->E[5]},
                   sizeof b->derived.axis_moments);
            own->mass = own->h[2] = own->E[5] = 0;
            if (p) move_axis_moments(b, &p->derived.regrouped);
        }
        b->derived.regrouped_mass += own->mass;
        if (p) p->derived.regrouped_mass += b->derived.regrouped_mass;
    }
}

/* Returns the moments about the point p:  h' = h - m p,  E' = E - (h p^T + p h^T) + m p p^T. */
static dyn_moments moments_about(const dyn_moments *moments, const double p[3])
{
    const double *h     = moments->h;
    dyn_moments   about = {.mass = moments->mass};
    for (int i = 0; i < 3; i++)
        about.h[i] = h[i] - moments->mass * p[i];
    for (int e = 0; e < 6; e++) {
        const int i = entries[e][0], j = entries[e][1];
        about.E[e] = moments->E[e] - (h[i] * p[j] + p[i] * h[j]) + moments->mass * p[i] * p[j];
    }
    return about;
}

/* Sets next_origin of each body, the origin of the next body of its run in its frame, and the regrouped moments about
 * this point. Regrouped moments and runs must have been computed. */
static void set_next_origins(const dyn_model *m, dyn_body *body)
{
    for (size_t r = 0; r < m->n_runs; r++) {
        for (int i = m->run[r].first; i < m->run[r].end; i++) {
            dyn_body  *b        = &body[i];
            const bool has_next = m->run[r].plain && i + 1 < m->run[r].end;
            for (int k = 0; k < 3; k++)
                b->derived.next_origin[k] = has_next ? b[1].pose.p_pc[k] : 0;
            b->derived.next_offsets = has_next ? b[1].pose.offsets : 0;
            b->derived.regrouped_at_next =
                has_next ? moments_about(&b->derived.regrouped, b->derived.next_origin) : b->derived.regrouped;
        }
    }
}

/* Sets the flags and numbers of a body that the algorithms test. In a model with mimics no body is ideal, since several
 * joints share one entry of tau. */
static void derive_body_kind(const dyn_model *m, dyn_body *b)
{
    const bool freely = dyn_joint_has_quaternion(b->joint.kind);
    b->pose.form      = freely ? DYN_FORM_FREE : 5 * ((int)b->joint.kind - (int)DYN_REVOLUTE) + (int)b->pose.turn;
    b->pose.rounder   = DYN_ROUNDER + (double)b->pose.frame_quarters;
    b->pose.offsets   = 0;
    for (int k = 0; k < 3; k++)
        if (b->pose.p_pc[k] != 0) b->pose.offsets |= 1U << k;
    if (freely)
        b->pose.to_joint_pose =
            dyn_joint_transforms(m) - (size_t)(b - m->body) + DYN_JOINT_POSE_ENTRIES * (size_t)b->joint.quaternion;
    b->joint.is_ideal = !freely && !b->joint.has_ratio && !b->joint.has_friction && !b->joint.has_spring &&
                        b->joint.rotor_inertia == 0 && !m->has_mimics;
}

static bool is_unit_revolute(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && !b->joint.has_ratio;
}

/* Returns the kind of the parent's joint. The parent's own data must be complete. */
static dyn_parent_joint parent_joint_of(const dyn_body *body, int parent)
{
    if (parent == DYN_WORLD) return DYN_PARENT_WORLD;
    const dyn_body *p = &body[parent];
    if (!is_unit_revolute(p)) return DYN_PARENT_OTHER;
    return p->tree.parent == DYN_WORLD ? DYN_PARENT_GROUNDED : DYN_PARENT_UNIT_REVOLUTE;
}

/* True if the body has the properties of a body in a plain run (dyn_run), on which assume_plain_body in joint.h
 * relies. */
static bool is_plain(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && b->joint.is_ideal && !b->joint.mimic && !b->joint.has_slide_body;
}

static void find_runs(dyn_model *m, dyn_body *body, dyn_run *run)
{
    const int n = (int)m->n_bodies;
    m->n_runs   = 0;
    m->plain    = true;
    for (int i = 0; i < n; i++) {
        const bool plain         = is_plain(&body[i]),
                   extends_run   = i > 0 && body[i].tree.parent == i - 1 && !body[i - 1].tree.has_branch;
        const bool unit          = is_unit_revolute(&body[i]) && !m->has_mimics;
        body[i].tree.carries_run = false;
        m->plain &= plain;
        const bool in_order =
            i > 0 && body[i].joint.q == body[i - 1].joint.q + 1 && body[i].joint.v == body[i - 1].joint.v + 1;
        if (extends_run && plain == run[m->n_runs - 1].plain && (in_order || !plain)) {
            run[m->n_runs - 1].end = i + 1;
            run[m->n_runs - 1].unit_revolute &= unit && in_order;
            continue;
        }
        run[m->n_runs++] = (dyn_run){.first = i, .end = i + 1, .plain = plain, .unit_revolute = unit};
        if (body[i].tree.parent != DYN_WORLD) body[body[i].tree.parent].tree.carries_run = true;
    }
    m->serial = m->n_runs == 1 && m->plain;
    for (int i = 0; i < n; i++)
        m->serial &= body[i].joint.q == i && body[i].joint.v == i;
}

void dyn_derive_data(dyn_model *m, dyn_body *body, dyn_run *run)
{
    m->mass     = 0;
    m->branched = false;
    for (size_t i = 0; i < m->n_bodies; i++) {
        body[i].derived.subtree_mass   = body[i].moments.mass;
        body[i].derived.subtree_moment = fmax(0, body[i].moments.E[0] + body[i].moments.E[3] + body[i].moments.E[5]);
        body[i].tree.is_leaf           = true;
        body[i].tree.has_branch        = false;
        derive_body_kind(m, &body[i]);
        body[i].tree.parent_joint = parent_joint_of(body, body[i].tree.parent);
        m->has_frame_angles |= body[i].pose.frame_angle != 0;
        m->mass += body[i].moments.mass;
    }
    for (int i = (int)m->n_bodies - 1; i >= 0; i--) {
        body[i].tree.is_last_child = body[i].tree.parent != DYN_WORLD && body[body[i].tree.parent].tree.is_leaf;
        m->branched |= body[i].tree.parent != i - 1;
        if (body[i].tree.parent == DYN_WORLD) continue;
        dyn_body *p     = &body[body[i].tree.parent];
        p->tree.is_leaf = false;
        p->tree.has_branch |= body[i].tree.parent != i - 1;
        p->derived.subtree_mass += body[i].derived.subtree_mass;
        if (body[i].joint.kind == DYN_FLOATING)
            m->has_floating_body = true;
        else
            p->derived.subtree_moment += subtree_moment_at_parent(&body[i]);
    }
    find_runs(m, body, run);
    regroup(m, body);
    set_next_origins(m, body);
}
