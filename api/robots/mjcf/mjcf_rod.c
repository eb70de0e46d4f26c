/* mjcf_rod.c - read the ball joint of a rod as three hinges. A rod with a ball joint at one end, whose other end a loop
 * holds by a point, may spin about its axis: no other joint determines this rotation, and nothing drives it. Two hinges
 * across the rod and one along it make the spin a coordinate of its own. The hinges are 0 at the reference of the ball
 * joint. */
#include "api/robots/xml/xml_text.h"
#include "mjcf_reader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HINGES = 3 };

/* True if a body is `root` or one of its descendants. */
static bool hangs_on(const api_mjcf *m, int body, int root)
{
    while (body > root)
        body = m->bodies[body].parent;
    return body == root;
}

/* Finds the axis of a rod in its body: from its ball joint to the only point that a loop holds. False: there is none.
 */
static bool find_rod(const api_mjcf *m, const api_mjcf_joint *joint, double axis[3])
{
    size_t n = 0;
    for (size_t l = 0; l < m->n_loops; l++)
        for (int side = 0; side < 2; side++) {
            const api_mjcf_loop *loop = &m->loops[l];
            if (!hangs_on(m, loop->body[side], joint->body)) continue;
            if (loop->body[side] != joint->body || strcmp(loop->type, "fixed") == 0) return false;
            for (int i = 0; i < 3; i++)
                axis[i] = loop->X[side].p[i] - joint->pos[i];
            n++;
        }
    double length = n == 1 ? sqrt(dyn_dot(axis, axis)) : 0;
    for (int i = 0; i < 3 && length > 0; i++)
        axis[i] /= length;
    return length > 0;
}

/* True if the joint is the ball joint of a rod that carries no other body. */
static bool is_rod(const api_mjcf *m, const api_mjcf_joint *joint, double axis[3])
{
    const api_mjcf_body *body = &m->bodies[joint->body];
    bool free = joint->type == API_MJCF_BALL && joint->passive && !joint->driven && !joint->locked && !joint->pinned;
    for (size_t i = 0; free && i < m->n_bodies; i++)
        free = m->bodies[i].parent != joint->body || !m->bodies[i].moves || m->bodies[i].n_joints == 0;
    return free && body->n_joints == 1 && find_rod(m, joint, axis);
}

/* Sets three axes at right angles, of which the last is given. */
static void make_axes(const double along[3], double axes[HINGES][3])
{
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(along[i]) < fabs(along[least])) least = i;
    double length = sqrt(1 - along[least] * along[least]);
    for (int i = 0; i < 3; i++)
        axes[0][i] = ((i == least) - along[least] * along[i]) / length;
    memcpy(axes[2], along, sizeof axes[2]);
    dyn_cross(axes[2], axes[0], axes[1]);
}

/* Makes hinge `part` of the ball joint `ball`. */
static bool make_hinge(api_mjcf *m, const api_mjcf_joint *ball, int part, const double axis[3], api_mjcf_joint *hinge)
{
    char wanted[300];
    snprintf(wanted, sizeof wanted, "%.250s.%d", ball->name, part);
    *hinge      = *ball;
    hinge->type = API_MJCF_HINGE;
    hinge->ball = ball->name;
    hinge->part = part;
    hinge->name = api_xml_reserve_name(&m->document, m->document.joints, wanted);
    memcpy(hinge->axis, axis, sizeof hinge->axis);
    return hinge->name || api_reader_no_memory(&m->xml.base);
}

/* Replaces joint `index` by three hinges; m->joints has space for them. */
static bool split_ball(api_mjcf *m, size_t index, const double along[3])
{
    const api_mjcf_joint ball = m->joints[index];
    double               axes[HINGES][3];
    make_axes(along, axes);
    memmove(&m->joints[index + HINGES], &m->joints[index + 1], (m->n_joints - index - 1) * sizeof *m->joints);
    m->n_joints += HINGES - 1;
    for (int k = 0; k < HINGES; k++)
        if (!make_hinge(m, &ball, k + 1, axes[k], &m->joints[index + (size_t)k])) return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (m->joints[i].leader > (int)index) m->joints[i].leader += HINGES - 1;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (m->bodies[i].first_joint > index) m->bodies[i].first_joint += HINGES - 1;
    m->bodies[ball.body].n_joints = HINGES;
    return api_xml_report(
        &m->xml, ball.element, "info", "replaced",
        "joint \"%.*s\" of a rod that the loops let spin is three hinges here, \"%.*s.1\" and \"….2\" "
        "across the rod and \"….3\" along it, in which the rod turns one after the other",
        api_text_shown(ball.name), ball.name, api_text_shown(ball.name), ball.name);
}

bool api_mjcf_split_rods(api_mjcf *m)
{
    double axis[3];
    for (size_t i = 0; i < m->n_joints; i++)
        if (is_rod(m, &m->joints[i], axis) && !split_ball(m, i, axis)) return false;
    return true;
}

double api_mjcf_part_angle(const api_mjcf_joint *part, const double quaternion[4])
{
    const api_mjcf_joint *u = part - (part->part - 1);
    const dyn_pose        X = dyn_pose_wxyz(quaternion);
    double                R[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            R[i][j] = 0;
            for (int k = 0; k < 3; k++)
                R[i][j] += u[i].axis[k] * dyn_dot(X.R[k], u[j].axis);
        }
    if (part->part == 1) return atan2(-R[1][2], R[2][2]);
    return part->part == 2 ? atan2(R[0][2], hypot(R[0][0], R[0][1])) : atan2(-R[0][1], R[0][0]);
}
