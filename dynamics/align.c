/* align.c - body frames about their joints' axes.
 *
 * A revolute body's frame may stand anywhere about its z. Turned by the gamma of a body that hangs on it,
 *     F' = F Rz(gamma):  R_pc' = Rz(gamma_p) Rx(alpha_p) Rz(s + theta), theta = gamma;  x_F' = Rz(gamma)^T x_F,
 * that body's own turn is Rx(alpha) alone: cheaper for every vector and matrix that goes over. Where theta is a quarter
 * turn, cosine and sine of s + theta are those of s; any other theta, a body's `twist`, is added to the angle
 * (trig.h). All constants are turned by the cosine and sine of theta as it is stored, not by those that gamma was found
 * from, so that along a chain of 512 joints no more is lost than without. */
#include "canonical.h"
#include "pose.h"
#include <math.h>
#include <string.h>

/* A body's theta, its cosine and sine: with more digits than a child's, of which the difference is to be nothing. */
typedef struct about_z {
    double      theta;
    long double c, s;
} about_z;

/* gamma of the first body on it that is turned by a quarter, else of the first that is turned at all; 0: none is. */
static about_z chosen(const dyn_model *m, const dyn_body *body, int i)
{
    double gamma = 0;
    for (int k = i + 1; k < (int)m->n_bodies; k++) {
        const dyn_body *c       = &body[k];
        bool            quarter = fabs(c->cg) <= KIND_TOLERANCE && fabs(fabs(c->sg) - 1) <= KIND_TOLERANCE;
        if (c->parent != i || c->turn != DYN_TURN_ZX || dyn_joint_turns_freely(c->joint)) continue;
        if (quarter) return (about_z){.theta = copysign(M_PI_2, c->sg), .c = 0, .s = copysign(1, c->sg)};
        if (gamma == 0) gamma = atan2(c->sg, c->cg);
    }
    return (about_z){.theta = gamma, .c = cosl(gamma), .s = sinl(gamma)};
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

/* E' = Rz^T E Rz */
static void turn_moments(about_z t, double E[6])
{
    const double c = (double)t.c, s = (double)t.s, xx = E[0], xy = E[1], xz = E[2], yy = E[3], yz = E[4];
    E[0] = c * c * xx + 2 * c * s * xy + s * s * yy;
    E[1] = c * s * (yy - xx) + (c * c - s * s) * xy;
    E[2] = c * xz + s * yz;
    E[3] = s * s * xx - 2 * c * s * xy + c * c * yy;
    E[4] = c * yz - s * xz;
}

/* gamma' = gamma - theta */
static void turn_child(about_z t, const double Rt[3][3], dyn_body *b)
{
    if (dyn_joint_turns_freely(b->joint)) {
        turn_pose(Rt, &b->before);
        b->turn = DYN_TURN_ZX;
        return;
    }
    const double cg = b->cg, sg = b->sg;
    turn_vector(Rt, b->p_pc);
    b->cg = (double)(t.c * cg + t.s * sg);
    b->sg = (double)(t.c * sg - t.s * cg);
    dyn_canonical_kind(b);
}

static void turn_frame(const dyn_model *m, dyn_body *body, dyn_link_place *link, int i, about_z t)
{
    const double c = (double)t.c, s = (double)t.s, Rt[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    dyn_body    *b = &body[i];
    if (t.c == 0)
        b->theta = t.s > 0 ? DYN_QUARTER_PLUS : DYN_QUARTER_MINUS;
    else
        b->twist = t.theta;
    turn_vector(Rt, b->h);
    turn_moments(t, b->E);
    turn_pose(Rt, &b->X_bl);
    for (size_t l = 0; l < m->n_links; l++)
        if (link[l].body == i) turn_pose(Rt, &link[l].X_bl);
    for (size_t k = (size_t)i + 1; k < m->n_bodies; k++)
        if (body[k].parent == i) turn_child(t, Rt, &body[k]);
}

void dyn_canonical_align(const dyn_model *m, dyn_body *body, dyn_link_place *link)
{
    for (int i = 0; i < (int)m->n_bodies; i++) {
        if (body[i].joint != DYN_REVOLUTE) continue;
        about_z t = chosen(m, body, i);
        if (t.theta != 0) turn_frame(m, body, link, i, t);
    }
}
