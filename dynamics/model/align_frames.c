/* align_frames.c - rotates and shifts body frames about and along their joints' axes, so that joint transforms have
 * more zeros.
 *
 * Rotation. The frame F of a revolute body may have any angle about its z. Let theta be the angle gamma of one child,
 * and gamma_p, beta_p the angles of the body's own joint transform. Then
 *     F' = F Rz(theta):  R_pc' = Rz(gamma_p) Rx(beta_p) Rz(s + theta),  x_F' = Rz(theta)^T x_F,
 * and the child's own constant rotation is Rx(beta) alone, which makes every transform to and from the child cheaper.
 * Half a turn more makes it Rx(-beta), because  Rz(pi) Rx(beta) Rz(s) = Rx(-beta) Rz(s) Rz(pi);  the last factor
 * rotates the child's frame. So Rx(90 deg) can become Rx(-90 deg), which costs nothing after a rotation about z
 * (joint.h).
 *
 * theta is stored as a number of quarter turns, which exchange cosine and sine of s (trig.h), and a remainder
 * `frame_angle`, which is added to the angle. All constants are rotated by the cosine and sine of the stored theta, not
 * by those of gamma. So errors do not accumulate along a chain of 512 joints.
 *
 * Shift. The origin of a revolute body's frame may be anywhere on its z. If the origin moves by d z, the offset p_pc of
 * a child becomes p_pc - d z, which can make one component zero. The body's own p_pc becomes p_pc + d R_pc e_z. This
 * change costs nothing if beta is general and p_pc has three components anyway. */
#include "dynamics/math/double_double.h"
#include "canonical.h"
#include "pose.h"
#include <math.h>
#include <string.h>

/* A rotation about z by theta = angle + quarters pi/2, with cosine c and sine s of theta. c and s are double-double, so
 * that gamma - theta of a child cancels exactly. */
typedef struct z_rotation {
    double            angle;
    unsigned          quarters;
    dyn_double_double c, s;
} z_rotation;

static z_rotation quarter_turns(unsigned n)
{
    static const double c[4] = {1, 0, -1, 0};
    return (z_rotation){.quarters = n, .c = {c[n], 0}, .s = {c[(n + 3) % 4], 0}};
}

static dyn_double_double negated(dyn_double_double x)
{
    return (dyn_double_double){-x.high, -x.low};
}

/* Returns the rotation with cosine c and sine s, as quarter turns and a remaining angle of at most pi/4. */
static z_rotation z_rotation_of(double c, double s)
{
    const unsigned n              = fabs(s) > fabs(c) ? (s > 0 ? 1 : 3) : (c < 0 ? 2 : 0);
    const double   quadrant[4][2] = {{c, s}, {s, -c}, {-c, -s}, {-s, c}},
                 angle            = dyn_angle(quadrant[n][1], quadrant[n][0]);
    dyn_double_double cosine, sine;
    dyn_cosine_sine(angle, &cosine, &sine);
    const dyn_double_double quadrants[4] = {cosine, negated(sine), negated(cosine), sine};
    return (z_rotation){.angle = angle, .quarters = n, .c = quadrants[n], .s = quadrants[(n + 3) % 4]};
}

static bool is_near(double x, double y)
{
    return fabs(x - y) <= KIND_TOLERANCE;
}

/* Returns the rotation theta for body i: gamma of its first child with gamma = +-90 deg; otherwise gamma of the first
 * child with gamma != 0; otherwise no rotation. */
static z_rotation choose_rotation(const dyn_model *m, const dyn_body *body, int i)
{
    z_rotation other = quarter_turns(0);
    for (int k = i + 1; k < (int)m->n_bodies; k++) {
        const dyn_body *c = &body[k];
        if (c->tree.parent != i || c->pose.turn != DYN_TURN_ZX || dyn_joint_has_quaternion(c->joint.kind)) continue;
        if (is_near(c->pose.cg, 0) && is_near(fabs(c->pose.sg), 1)) return quarter_turns(c->pose.sg > 0 ? 1 : 3);
        if (other.angle == 0 && !is_near(c->pose.cg, -1))
            other = z_rotation_of(c->pose.cg, c->pose.sg); /* gamma = 180 deg is treated by absorb_half_turn */
    }
    return other;
}

/* Replaces the cosine and sine of gamma by those of gamma - theta. */
static void subtract_rotation(z_rotation t, double *cg, double *sg)
{
    const double c = *cg, s = *sg;
    *cg = dyn_double_double_dot(t.c, c, t.s, s);
    *sg = dyn_double_double_dot(t.c, s, t.s, -c);
}

/* True if, after a rotation of the frame of body i by t, more of its children have the constant rotation Rx(90 deg)
 * than Rx(-90 deg). */
static bool has_more_plus_turns(const dyn_model *m, const dyn_body *body, int i, z_rotation t)
{
    int more = 0;
    for (int k = i + 1; k < (int)m->n_bodies; k++) {
        const dyn_body *b  = &body[k];
        double          cg = b->pose.cg, sg = b->pose.sg;
        subtract_rotation(t, &cg, &sg);
        if (b->tree.parent != i || dyn_joint_has_quaternion(b->joint.kind) || !is_near(b->pose.ca, 0) ||
            !is_near(sg, 0))
            continue;
        more += (b->pose.sa > 0) == (cg > 0) ? 1 : -1;
    }
    return more > 0;
}

static z_rotation add_half_turn(z_rotation t)
{
    return (z_rotation){.angle = t.angle, .quarters = (t.quarters + 2) % 4, .c = negated(t.c), .s = negated(t.s)};
}

static void turn_vector(const double Rt[3][3], double v[3])
{
    double x[3];
    memcpy(x, v, sizeof x);
    mat_vec(Rt, x, v);
}

static void turn_pose(const double Rt[3][3], dyn_pose *X)
{
    const dyn_pose turn = {.R = {{Rt[0][0], Rt[0][1], 0}, {Rt[1][0], Rt[1][1], 0}, {0, 0, 1}}};
    *X                  = pose_mul(&turn, X);
}

/* Sets the second moments E to Rz^T E Rz, their values after the body frame is rotated by t about z. */
static void turn_moments(z_rotation t, double E[6])
{
    const double c = t.c.high, s = t.s.high, xx = E[0], xy = E[1], xz = E[2], yy = E[3], yz = E[4];
    E[0] = c * c * xx + 2 * c * s * xy + s * s * yy;
    E[1] = c * s * (yy - xx) + (c * c - s * s) * xy;
    E[2] = c * xz + s * yz;
    E[3] = s * s * xx - 2 * c * s * xy + c * c * yy;
    E[4] = c * yz - s * xz;
}

/* Adapts the pose of a child b to the rotation of its parent's frame by theta about z: gamma' = gamma - theta. */
static void turn_child(z_rotation t, const double Rt[3][3], dyn_body *b)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        turn_pose(Rt, &b->pose.before);
        b->pose.turn = DYN_TURN_ZX;
        return;
    }
    turn_vector(Rt, b->pose.p_pc);
    dyn_canonical_offsets(b);
    subtract_rotation(t, &b->pose.cg, &b->pose.sg);
    dyn_canonical_kind(b);
}

/* Replaces the frame F of body i by F Rz(theta), and transforms all quantities in that frame and the poses of the
 * children. */
static void turn_frame(const dyn_model *m, dyn_body *body, dyn_link_place *link, int i, z_rotation t)
{
    const double c = t.c.high, s = t.s.high, Rt[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    dyn_body    *b = &body[i];
    turn_vector(Rt, b->moments.h);
    turn_vector(Rt, b->compensation.h);
    turn_moments(t, b->moments.E);
    turn_pose(Rt, &b->pose.X_bl);
    for (size_t l = 0; l < m->n_links; l++)
        if (link[l].body == i) turn_pose(Rt, &link[l].X_bl);
    for (size_t k = (size_t)i + 1; k < m->n_bodies; k++)
        if (body[k].tree.parent == i) turn_child(t, Rt, &body[k]);
}

/* Replaces Rz(pi) Rx(beta) in the joint of body i by Rx(-beta) and rotates the frame of body i by pi. */
static void absorb_half_turn(const dyn_model *m, dyn_body *body, dyn_link_place *link, int i)
{
    dyn_body *b = &body[i];
    if (b->pose.turn != DYN_TURN_ZX || dyn_joint_has_quaternion(b->joint.kind) || !is_near(b->pose.cg, -1) ||
        !is_near(b->pose.sg, 0))
        return;
    b->pose.cg = 1;
    b->pose.sa = -b->pose.sa;
    dyn_canonical_kind(b);
    turn_frame(m, body, link, i, quarter_turns(2));
}

static bool origin_may_slide(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && !b->joint.moment_at_parent_frame && !b->joint.has_slide_body;
}

static int count_axes(const double p[3])
{
    return (p[0] != 0) + (p[1] != 0) + (p[2] != 0);
}

/* Adds d z to p_pc, where z is the joint's axis in the parent's axes. */
static void move_along_axis(dyn_body *b, double d)
{
    b->pose.p_pc[0] += d * (b->pose.sg * b->pose.sa);
    b->pose.p_pc[1] -= d * (b->pose.cg * b->pose.sa);
    b->pose.p_pc[2] += d * b->pose.ca;
    dyn_canonical_offsets(b);
}

/* Returns the number of components of p_pc, of body i and its children, that become zero minus those that become
 * nonzero if the origin of body i moves by d z. */
static int count_axes_saved(const dyn_model *m, const dyn_body *body, int i, double d)
{
    const dyn_body *b     = &body[i];
    int             saved = 0;
    for (int k = i + 1; k < (int)m->n_bodies; k++)
        if (body[k].tree.parent == i && !dyn_joint_has_quaternion(body[k].joint.kind))
            saved += (body[k].pose.p_pc[2] != 0) - (body[k].pose.p_pc[2] != d);
    if (b->tree.parent == DYN_WORLD) return saved;
    dyn_body moved = *b;
    move_along_axis(&moved, d);
    return saved + count_axes(b->pose.p_pc) - count_axes(moved.pose.p_pc);
}

/* Moves the origin of body i's frame by d z, and transforms all quantities in that frame and the poses of the children:
 *     h' = h - m d z (also of the compensated mass),  E' = E - d (h z^T + z h^T) + m d^2 z z^T. */
static void move_frame(const dyn_model *m, dyn_body *body, dyn_link_place *link, int i, double d)
{
    dyn_body *b = &body[i];
    b->moments.E[2] -= d * b->moments.h[0];
    b->moments.E[4] -= d * b->moments.h[1];
    b->moments.E[5] -= d * (2 * b->moments.h[2] - b->moments.mass * d);
    b->moments.h[2] -= b->moments.mass * d;
    b->compensation.h[2] -= b->compensation.mass * d;
    b->pose.X_bl.p[2] -= d;
    move_along_axis(b, d);
    for (size_t l = 0; l < m->n_links; l++)
        if (link[l].body == i) link[l].X_bl.p[2] -= d;
    for (size_t k = (size_t)i + 1; k < m->n_bodies; k++) {
        if (body[k].tree.parent != i) continue;
        *(dyn_joint_has_quaternion(body[k].joint.kind) ? &body[k].pose.before.p[2] : &body[k].pose.p_pc[2]) -= d;
        dyn_canonical_offsets(&body[k]);
    }
}

/* Moves the origin of body i along z to the height of the first child with p_pc.z != 0, if the offsets p_pc of body i
 * and its children then have fewer nonzero components. */
static void move_origin(const dyn_model *m, dyn_body *body, dyn_link_place *link, int i)
{
    if (!origin_may_slide(&body[i])) return;
    for (int k = i + 1; k < (int)m->n_bodies; k++) {
        const double d = body[k].pose.p_pc[2];
        if (body[k].tree.parent != i || dyn_joint_has_quaternion(body[k].joint.kind) || d == 0) continue;
        if (count_axes_saved(m, body, i, d) > 0) move_frame(m, body, link, i, d);
        return;
    }
}

void dyn_canonical_align(const dyn_model *m, dyn_body *body, dyn_link_place *link)
{
    for (int i = 0; i < (int)m->n_bodies; i++) {
        dyn_body *b = &body[i];
        absorb_half_turn(m, body, link, i);
        if (b->joint.kind != DYN_REVOLUTE) continue;
        z_rotation t = choose_rotation(m, body, i);
        if (has_more_plus_turns(m, body, i, t)) t = add_half_turn(t);
        b->pose.frame_angle    = t.angle;
        b->pose.frame_quarters = t.quarters;
        if (t.angle != 0 || t.quarters != 0) turn_frame(m, body, link, i, t);
    }
    for (int i = (int)m->n_bodies - 1; i >= 0; i--)
        move_origin(m, body, link, i);
}
