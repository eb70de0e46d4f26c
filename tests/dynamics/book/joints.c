/* joints.c - sets the transform and the motion subspace of each joint (Featherstone 2008, tables 4.1 and 4.4), and adds
 * the forces of friction and springs (book.h). */
#include "book.h"
#include <math.h>
#include <string.h>

/* Rodrigues: R = 1 + sin(s) [ax] + (1 - cos(s)) [ax]^2. */
static void rotation_about(const double axis[3], double s, double R[3][3])
{
    double a[3][3];
    skew3(axis, a);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            R[i][j] = (i == j) + sin(s) * a[i][j];
            for (int k = 0; k < 3; k++)
                R[i][j] += (1 - cos(s)) * a[i][k] * a[k][j];
        }
}

static void quaternion_rotation(const double q[4], double R[3][3])
{
    const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double x = q[0] / norm, y = q[1] / norm, z = q[2] / norm, w = q[3] / norm;
    const double value[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(R, value, sizeof value);
}

/* Sets R to the smallest rotation that takes e_z to the axis: its first two columns span the plane. */
static void plane_rotation(const double axis[3], double R[3][3])
{
    const double across = hypot(axis[0], axis[1]), half_turn[3] = {1, 0, 0};
    if (across == 0) {
        rotation_about(half_turn, axis[2] < 0 ? M_PI : 0, R);
        return;
    }
    const double normal[3] = {-axis[1] / across, axis[0] / across, 0};
    rotation_about(normal, atan2(across, axis[2]), R);
}

/* Slides along e_x and e_y, then rotates: S of the slides is R^T e in the axes of the moved frame. The part S' qd of
 * their rate is -(axis x R^T e) times both speeds. */
static void place_planar(book_body *b, const double *q, const double *qd, dyn_pose *X_J)
{
    double plane[3][3], axis[3][3];
    plane_rotation(b->axis, plane);
    rotation_about(b->axis, q[2], X_J->R);
    skew3(b->axis, axis);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            X_J->p[i] += q[k] * plane[i][k];
            for (int j = 0; j < 3; j++)
                b->S[k].e[3 + i] += X_J->R[j][i] * plane[j][k];
        }
    for (int k = 0; qd && k < 2; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                b->c_J.e[3 + i] -= qd[2] * qd[k] * axis[i][j] * b->S[k].e[3 + j];
    memcpy(b->S[2].e, b->axis, sizeof b->axis);
}

/* Columns of a free joint are in the axes of the moved frame: three linear ones if it floats, then three angular ones.
 */
static void place_free(book_body *b, const double *q, dyn_pose *X_J)
{
    const int linear = b->type == DYN_FLOATING ? 3 : 0;
    quaternion_rotation(q + linear, X_J->R);
    for (int i = 0; i < linear; i++) {
        X_J->p[i]        = q[i];
        b->S[i].e[3 + i] = 1;
    }
    for (int i = 0; i < 3; i++)
        b->S[linear + i].e[i] = 1;
}

/* Sets X_J and S of one joint; q and qd are the joint's own entries, qd may be NULL. */
static dyn_pose place_joint(book_body *b, const double *q, const double *qd)
{
    dyn_pose     X_J = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const double s   = b->n == 1 ? b->ratio * q[0] + b->offset : 0;
    memset(b->S, 0, sizeof b->S);
    b->c_J = (vec6){{0}};
    switch (b->type) {
    case DYN_FIXED:
    case DYN_JOINT_KINDS: break;
    case DYN_PLANAR: place_planar(b, q, qd, &X_J); break;
    case DYN_SPHERICAL:
    case DYN_FLOATING: place_free(b, q, &X_J); break;
    case DYN_REVOLUTE:
    case DYN_PRISMATIC:
    case DYN_HELICAL:
        if (b->type != DYN_PRISMATIC) rotation_about(b->axis, s, X_J.R);
        for (int i = 0; i < 3; i++) {
            const double slide = b->type == DYN_PRISMATIC ? 1 : b->type == DYN_HELICAL ? b->pitch : 0;
            X_J.p[i]           = slide * s * b->axis[i];
            b->S[0].e[i]       = b->type == DYN_PRISMATIC ? 0 : b->ratio * b->axis[i];
            b->S[0].e[3 + i]   = b->ratio * slide * b->axis[i];
        }
    }
    return X_J;
}

void book_place(book_tree *tree, const double *q, const double *qd)
{
    for (int i = 1; i <= tree->NB; i++) {
        book_body     *b   = &tree->body[i];
        const dyn_pose X_J = place_joint(b, q + b->q, qd ? qd + b->v : NULL);
        const mat6     XJ  = transform6(&X_J);
        b->X               = product6(&XJ, &b->X_T);
        b->X_0             = product6(&b->X, &tree->body[b->lambda].X_0);
        b->v_J             = (vec6){{0}};
        for (int k = 0; qd && k < b->n; k++)
            b->v_J = add6(b->v_J, scale6(qd[b->v + k], b->S[k]));
    }
}

/* --- forces of the joints ---------------------------------------------------------------------------------------- */

static double friction_force(const dyn_friction *f, double sd)
{
    const double sign = f->coulomb_velocity > 0 ? tanh(sd / f->coulomb_velocity) : (sd > 0) - (sd < 0);
    const double fast = sd > 0 ? f->positive : f->negative,
                 slow = sd > 0 ? f->breakaway_positive : f->breakaway_negative;
    const double u    = f->stribeck_velocity > 0 ? sd / f->stribeck_velocity : 0;
    return f->viscous * sd + (f->stribeck_velocity > 0 ? fast + (slow - fast) * exp(-u * u) : fast) * sign;
}

static double spring_force(const dyn_spring *spring, double s, double sd)
{
    const double x = s - spring->rest;
    return ((spring->stiffness3 * x + spring->stiffness2) * x + spring->stiffness) * x +
           ((spring->damping3 * fabs(sd) + spring->damping2) * fabs(sd) + spring->damping) * sd;
}

/* Adds friction and springs of one joint and its motor to tau. They act on the last coordinate, the angle of a planar
 * joint. */
static void add_forces_of_joint(const book_tree *tree, int link, const book_scene *scene, const double *q,
                                const double *qd, double *tau)
{
    const dyn_link  *l = &tree->description->links[link];
    const book_body *b = &tree->body[book_body_of(tree, link)];
    const int        v = b->v + b->n - 1;
    const double     s = l->ratio * q[b->q + b->n - 1] + l->offset, sd = l->ratio * qd[v];
    if (scene->springs) tau[v] += l->ratio * spring_force(&l->spring, s, sd);
    if (scene->friction) tau[v] += l->ratio * friction_force(&l->friction, sd);
    if (scene->friction && l->motor.present && !l->elastic) tau[v] += l->ratio * friction_force(&l->motor.friction, sd);
    if (!l->elastic) return;
    const int theta = tree->theta[link];
    if (scene->friction && l->motor.present) tau[theta] += friction_force(&l->motor.friction, qd[theta]);
    if (!scene->springs) return;
    const double R = spring_force(&l->elasticity, q[b->q] - q[tree->q_theta[link]], qd[v] - qd[theta]);
    tau[v] += R;
    tau[theta] -= R;
}

/* Adds to tau the damper and spring of a joint with a quaternion, and rotor (w x v) of its linear rates v, whose
 * derivatives in the axes of the parent are R (v' + w x v). */
static void add_forces_of_free_joint(const book_body *b, bool springs, const double *q, const double *qd, double *tau)
{
    const double *v = qd + b->v, *w = v + 3, *r = q + b->q;
    const double  sine = b->stiffness != 0 ? sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) : 0;
    for (int i = 0; springs && sine > 0 && i < 3; i++) /* the smaller one of the two rotations of the quaternion */
        tau[b->v + i] += b->stiffness * 2 * atan2(r[3] < 0 ? -sine : sine, fabs(r[3])) * r[i] / sine;
    for (int k = 0; k < b->n; k++)
        tau[b->v + k] += springs ? b->damping * v[k] : 0;
    for (int i = 0; b->type == DYN_FLOATING && i < 3; i++)
        tau[b->v + i] += b->rotor * (w[(i + 1) % 3] * v[(i + 2) % 3] - w[(i + 2) % 3] * v[(i + 1) % 3]);
}

void book_joint_forces(const book_tree *tree, const book_scene *scene, const double *q, const double *qd, double *tau)
{
    const dyn_description *d = tree->description;
    for (int i = 1; i <= tree->NB; i++)
        if (dyn_joint_has_quaternion(tree->body[i].type))
            add_forces_of_free_joint(&tree->body[i], scene->springs, q, qd, tau);
    for (int i = 0; i < (int)d->n_links; i++) {
        const dyn_joint_kind type = d->links[i].joint;
        if (type != DYN_FIXED && !dyn_joint_has_quaternion(type)) add_forces_of_joint(tree, i, scene, q, qd, tau);
    }
    for (size_t k = 0; scene->friction && k < d->n_drives; k++) {
        double rate = 0;
        for (size_t j = 0; j < d->drives[k].n; j++)
            rate += d->drives[k].weight[j] * qd[tree->body[book_body_of(tree, d->drives[k].joint[j])].v];
        for (size_t j = 0; j < d->drives[k].n; j++)
            tau[tree->body[book_body_of(tree, d->drives[k].joint[j])].v] +=
                d->drives[k].weight[j] * friction_force(&d->drives[k].friction, rate);
    }
}
