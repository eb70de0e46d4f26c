/* align.c - body frames about their joints' axes.
 *
 * A revolute body's frame may stand anywhere about its z. Turned by the gamma of a body that hangs on it,
 *     F' = F Rz(gamma):  R_pc' = Rz(gamma_p) Rx(alpha_p) Rz(s + theta), theta = gamma;  x_F' = Rz(gamma)^T x_F,
 * that body's own turn is Rx(alpha) alone: cheaper for every vector and matrix that goes over. Done for quarter turns,
 * for which cosine and sine of s + theta are those of s. Any other theta would round them once more, which all that
 * goes over has in common: the error of a chain of 512 joints was a third larger. */
#include "canonical.h"
#include "pose.h"
#include <math.h>
#include <string.h>

/* sin gamma of the first body on it that is turned by a quarter, +-1; 0: there is none. */
static double chosen(const dyn_model *m, const dyn_body *body, int i)
{
    for (int k = i + 1; k < (int)m->n_bodies; k++) {
        const dyn_body *c       = &body[k];
        bool            quarter = fabs(c->cg) <= KIND_TOLERANCE && fabs(fabs(c->sg) - 1) <= KIND_TOLERANCE;
        if (c->parent == i && c->turn == DYN_TURN_ZX && quarter) return copysign(1, c->sg);
    }
    return 0;
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
static void turn_moments(double s, double E[6])
{
    const double xx = E[0], xz = E[2];
    E[0] = E[3];
    E[1] = -E[1];
    E[2] = s * E[4];
    E[3] = xx;
    E[4] = -s * xz;
}

/* gamma' = gamma - theta */
static void turn_child(double s, const double Rt[3][3], dyn_body *b)
{
    if (dyn_joint_turns_freely(b->joint)) {
        turn_pose(Rt, &b->before);
        b->turn = DYN_TURN_ZX;
        return;
    }
    double cg = b->cg;
    turn_vector(Rt, b->p_pc);
    b->cg = s * b->sg;
    b->sg = -s * cg;
    dyn_canonical_kind(b);
}

static void turn_frame(const dyn_model *m, dyn_body *body, dyn_link_place *link, int i, double s)
{
    const double Rt[3][3] = {{0, s, 0}, {-s, 0, 0}, {0, 0, 1}};
    dyn_body    *b        = &body[i];
    b->theta              = s > 0 ? DYN_QUARTER_PLUS : DYN_QUARTER_MINUS;
    turn_vector(Rt, b->h);
    turn_moments(s, b->E);
    turn_pose(Rt, &b->X_bl);
    for (size_t l = 0; l < m->n_links; l++)
        if (link[l].body == i) turn_pose(Rt, &link[l].X_bl);
    for (size_t k = (size_t)i + 1; k < m->n_bodies; k++)
        if (body[k].parent == i) turn_child(s, Rt, &body[k]);
}

void dyn_canonical_align(const dyn_model *m, dyn_body *body, dyn_link_place *link)
{
    for (int i = 0; i < (int)m->n_bodies; i++) {
        double s = body[i].joint == DYN_REVOLUTE ? chosen(m, body, i) : 0;
        if (s != 0) turn_frame(m, body, link, i, s);
    }
}
