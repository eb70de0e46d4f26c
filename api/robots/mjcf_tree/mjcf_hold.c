/* mjcf_hold.c - replace the free joint of a body that an equality constrains to the world: <weld> fixes the body there,
 * as a robot in a gantry, and <connect> leaves it a ball joint at the constrained point. Neither is a loop then. */
#include "api/robots/mjcf/mjcf_reader.h"
#include <string.h>

dyn_pose api_mjcf_pose_of(const api_mjcf *m, int body)
{
    return body < 0 ? dyn_pose_identity() : m->bodies[body].X_wb;
}

/* Returns the free joint of a body that an equality constrains to the world; NULL: none. */
static api_mjcf_joint *free_joint_of(api_mjcf *m, int body, int other)
{
    bool still = other < 0 || !m->bodies[other].moves;
    if (!still || body < 0 || m->bodies[body].n_joints == 0) return NULL;
    api_mjcf_joint *joint = &m->joints[m->bodies[body].first_joint];
    return joint->type == API_MJCF_FREE && !joint->locked ? joint : NULL;
}

/* Finds the world poses X_wb of body `first` and of its descendants, which follow it in the list, from their parents'
 * poses. */
static void place_bodies(api_mjcf *m, int first)
{
    for (size_t b = (size_t)first; b < m->n_bodies && (b == (size_t)first || m->bodies[b].parent >= first); b++) {
        const dyn_pose parent = api_mjcf_pose_of(m, m->bodies[b].parent);
        m->bodies[b].X_wb     = dyn_pose_compose(&parent, &m->bodies[b].X_pb);
    }
}

/* Fixes the body to the world. */
static bool fix_body(api_mjcf *m, const api_mjcf_loop *loop, int side, api_mjcf_joint *joint)
{
    api_mjcf_body *body = &m->bodies[loop->body[side]];
    dyn_pose       X = api_mjcf_pose_of(m, loop->body[1 - side]), away = dyn_pose_inverse(&loop->X[side]);
    X             = dyn_pose_compose(&X, &loop->X[1 - side]);
    body->X_pb    = dyn_pose_compose(&X, &away); /* the parent of a body with a free joint is the world */
    joint->locked = true;
    m->n_fixed++;
    place_bodies(m, loop->body[side]);
    return api_xml_report(&m->xml, loop->element, "info", "assumed",
                          "the weld fixes the free body \"%.*s\" to the world", api_text_shown(body->name), body->name);
}

/* Sets *has to true if a free joint has forces, which would act on the ball joint in another way. */
static bool find_free_forces(api_mjcf *m, const api_mjcf_joint *joint, bool *has)
{
    static const char *const names[] = {"stiffness", "damping", "frictionloss", "armature", "springdamper"};
    *has                             = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double       v[3] = {0};
        api_xml_span span = {.v = v, .min = 1, .max = 3};
        if (!api_mjcf_span(m, &joint->item, names[i], &span)) return false;
        *has |= v[0] != 0 || v[1] != 0 || v[2] != 0;
    }
    return true;
}

/* Makes the free joint a ball joint at the point that the <connect> holds. The body moves there without a rotation. */
static bool pin_body(api_mjcf *m, const api_mjcf_loop *loop, int side, api_mjcf_joint *joint)
{
    api_mjcf_body *body  = &m->bodies[loop->body[side]];
    dyn_pose       other = api_mjcf_pose_of(m, loop->body[1 - side]), to = dyn_pose_compose(&other, &loop->X[1 - side]),
             from = dyn_pose_compose(&body->X_wb, &loop->X[side]);
    for (int i = 0; i < 3; i++)
        body->X_pb.p[i] += to.p[i] - from.p[i];
    joint->type   = API_MJCF_BALL;
    joint->pinned = true;
    memcpy(joint->pos, loop->X[side].p, sizeof joint->pos);
    m->n_fixed++;
    place_bodies(m, loop->body[side]);
    return api_xml_report(&m->xml, loop->element, "info", "assumed",
                          "the connect holds a point of the free body \"%.*s\" to the world: its joint is a ball joint "
                          "at this point",
                          api_text_shown(body->name), body->name);
}

bool api_mjcf_hold_free_body(api_mjcf *m, const api_mjcf_loop *loop, bool *done)
{
    const bool weld = strcmp(loop->type, "fixed") == 0;
    bool       has_forces;
    *done = true;
    for (int side = 0; side < 2; side++) {
        api_mjcf_joint *joint = free_joint_of(m, loop->body[side], loop->body[1 - side]);
        if (joint && weld) return fix_body(m, loop, side, joint);
        if (!joint) continue;
        if (!find_free_forces(m, joint, &has_forces)) return false;
        if (!has_forces) return pin_body(m, loop, side, joint);
    }
    *done = false;
    return true;
}
