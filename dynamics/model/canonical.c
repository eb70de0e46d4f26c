/* canonical.c - converts a link of the description into its moving body (model.h): joint transform and inertia.
 *
 * The axis of each moving joint becomes the z axis of its body. Let A be a rotation with A e_z = axis, and R_pj the
 * rotation of the joint frame in the parent body. R = R_pj A is factored as Rz(gamma) Rx(beta) Rz(theta), the "zxz"
 * Euler angles. theta rotates about the joint axis and is absorbed in the body frame; the joint transform at position s
 * is then Rz(gamma) Rx(beta) Rz(s). */
#include "canonical.h"
#include "dynamics/math/double_double.h"
#include "pose.h"
#include <math.h>
#include <string.h>

/* --- inertia ---------------------------------------------------------------------------------------------- */

void dyn_canonical_inertia(dyn_body *b, const dyn_pose *X, const dyn_inertia *I)
{
    const double *t       = I->about_com;
    double        T[3][3] = {{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}};
    double        RT[3][3], Rt[3][3], Tb[3][3], c[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            Rt[i][j] = X->R[j][i];
    mat_mul(X->R, T, RT);
    mat_mul(RT, Rt, Tb);
    mat_vec(X->R, I->com, c);
    for (int i = 0; i < 3; i++) {
        c[i] += X->p[i];
        b->moments.h[i] += I->mass * c[i];
    }
    b->moments.mass += I->mass;
    double           half          = 0.5 * (t[0] + t[3] + t[5]);
    static const int entries[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    for (int e = 0; e < 6; e++) {
        int i = entries[e][0], j = entries[e][1];
        b->moments.E[e] += (i == j ? half : 0) - Tb[i][j] + I->mass * c[i] * c[j];
    }
}

void dyn_canonical_compensation(dyn_body *b, const dyn_pose *X, const dyn_inertia *I, double share)
{
    double c[3];
    mat_vec(X->R, I->com, c);
    for (int i = 0; i < 3; i++)
        b->compensation.h[i] += share * (I->mass * (c[i] + X->p[i]));
    b->compensation.mass += share * I->mass;
}

/* --- joint transform -------------------------------------------------------------------------------------- */

/* Sets A to a rotation with A e_z = axis. The x axis of A is the coordinate axis that is least parallel to the joint
 * axis, made perpendicular to it. The result is exact if the joint axis is a coordinate axis. */
static void frame_about(const double axis[3], double A[3][3])
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double z[3]   = {axis[0] / length, axis[1] / length, axis[2] / length};
    int    least  = fabs(z[1]) < fabs(z[0]) ? 1 : 0;
    if (fabs(z[2]) < fabs(z[least])) least = 2;
    double x[3], norm = sqrt(1 - z[least] * z[least]);
    for (int i = 0; i < 3; i++)
        x[i] = ((i == least) - z[least] * z[i]) / norm;
    double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
    for (int i = 0; i < 3; i++) {
        A[i][0] = x[i];
        A[i][1] = y[i];
        A[i][2] = z[i];
    }
}

static bool is_near(double x, double kind)
{
    return fabs(x - kind) <= KIND_TOLERANCE;
}

/* Sets beta and gamma from R e_z = (sg sa, -cg sa, ca) for R = Rz(gamma) Rx(beta) Rz(theta): cg, sg are cosine and sine
 * of gamma, ca, sa those of beta, the angle between the axes. The sign of sa is chosen so that cg >= 0; then gamma is
 * zero for every rotation about +-x. */
static void set_constant_turn(dyn_body *b, const double R[3][3])
{
    double sa = dyn_length(R[0][2], R[1][2]), norm = dyn_length(sa, R[2][2]);
    b->pose.cg = 1;
    b->pose.sg = 0;
    if (sa > KIND_TOLERANCE) {
        b->pose.sg = R[0][2] / sa;
        b->pose.cg = -R[1][2] / sa;
        if (b->pose.cg < 0) {
            sa         = -sa;
            b->pose.sg = -b->pose.sg;
            b->pose.cg = -b->pose.cg;
        }
    } else {
        sa = 0;
    }
    b->pose.sa = sa / norm;
    b->pose.ca = R[2][2] / norm;
    dyn_canonical_kind(b);
}

void dyn_canonical_kind(dyn_body *b)
{
    if (is_near(b->pose.sg, 0) && is_near(b->pose.cg, 1)) {
        b->pose.turn = is_near(b->pose.ca, 1) && is_near(b->pose.sa, 0)    ? DYN_TURN_NONE
                       : is_near(b->pose.ca, 0) && is_near(b->pose.sa, 1)  ? DYN_TURN_X_PLUS
                       : is_near(b->pose.ca, 0) && is_near(b->pose.sa, -1) ? DYN_TURN_X_MINUS
                                                                           : DYN_TURN_X;
        b->pose.cg   = 1;
        b->pose.sg   = 0;
        if (b->pose.turn != DYN_TURN_X) {
            b->pose.ca = b->pose.turn == DYN_TURN_NONE;
            b->pose.sa = (b->pose.turn == DYN_TURN_X_PLUS) - (b->pose.turn == DYN_TURN_X_MINUS);
        }
    } else {
        b->pose.turn = DYN_TURN_ZX;
    }
}

void dyn_canonical_offsets(dyn_body *b)
{
    const double least = KIND_TOLERANCE * dyn_length(dyn_length(b->pose.p_pc[0], b->pose.p_pc[1]), b->pose.p_pc[2]);
    for (int k = 0; k < 3; k++)
        if (fabs(b->pose.p_pc[k]) <= least) b->pose.p_pc[k] = 0;
}

/* Computes Rz(theta) = (Rz(gamma) Rx(beta))^T R. The last row of R gives theta as well; but gamma is inaccurate if beta
 * is tiny, and only this product compensates the error of gamma exactly. */
static void theta_of(const dyn_body *b, const double R[3][3], double Rz[3][3])
{
    double x[3] = {R[0][0], R[1][0], R[2][0]}, y[3] = {R[0][1], R[1][1], R[2][1]}; /* columns of R */
    double cx = b->pose.cg * x[0] + b->pose.sg * x[1],
           sx = b->pose.ca * (b->pose.cg * x[1] - b->pose.sg * x[0]) + b->pose.sa * x[2];
    double sy = b->pose.cg * y[0] + b->pose.sg * y[1],
           cy = b->pose.ca * (b->pose.cg * y[1] - b->pose.sg * y[0]) + b->pose.sa * y[2];
    double c = 0.5 * (cx + cy), s = 0.5 * (sx - sy), norm = dyn_length(c, s);
    c /= norm;
    s /= norm;
    memcpy(Rz, (double[3][3]){{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, sizeof(double[3][3]));
}

/* Sets the transform of a joint with a quaternion, which has no axis: its body frame is the moved joint frame. */
static void set_free_joint(dyn_body *b, const dyn_link *l, const dyn_pose *X_bj)
{
    b->pose.ca = b->pose.cg = 1;
    b->pose.before          = *X_bj;
    b->pose.X_bl            = l->after;
    b->pose.turn            = DYN_TURN_NONE;
    for (int e = 0; e < 9; e++)
        if (X_bj->R[e / 3][e % 3] != (e % 4 == 0)) b->pose.turn = DYN_TURN_ZX;
}

static void set_axis_joint(dyn_body *b, const dyn_link *l, const dyn_pose *X_bj)
{
    double A[3][3], R[3][3], Rz[3][3];
    frame_about(l->axis, A);
    mat_mul(X_bj->R, A, R);
    set_constant_turn(b, R);
    theta_of(b, R, Rz);
    memcpy(b->pose.p_pc, X_bj->p, sizeof b->pose.p_pc);
    dyn_canonical_offsets(b);
    /* X_bj2: pose of A's frame, moved with the joint, in the body frame: Rz(theta) A^T. Times `after` of dyn_link it
     * gives the link frame. */
    dyn_pose X_bj2 = pose_identity();
    double   At[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            At[i][j] = A[j][i];
    mat_mul(Rz, At, X_bj2.R);
    b->pose.X_bl = pose_mul(&X_bj2, &l->after);
}

void dyn_canonical_joint(dyn_body *b, const dyn_link *l, const dyn_pose *X_bj)
{
    const dyn_friction *f = &l->friction;
    b->joint.kind         = l->joint;
    if (dyn_joint_has_quaternion(l->joint))
        set_free_joint(b, l, X_bj);
    else
        set_axis_joint(b, l, X_bj);
    b->joint.ratio                  = l->ratio;
    b->joint.offset                 = l->offset;
    b->joint.has_ratio              = l->ratio != 1 || l->offset != 0;
    b->joint.moment_at_parent_frame = l->moment_at_parent_frame;
    b->joint.rotor_inertia          = l->rotor_inertia;
    b->joint.friction               = *f;
    b->joint.spring                 = l->spring;
    b->joint.has_friction =
        f->viscous != 0 || f->positive != 0 || f->negative != 0 || f->stribeck_velocity > 0 || f->load > 0;
    b->joint.has_nonlinear_spring = dyn_spring_is_nonlinear(&l->spring);
    b->joint.has_spring           = l->spring.stiffness != 0 || l->spring.damping != 0 || b->joint.has_nonlinear_spring;
}
