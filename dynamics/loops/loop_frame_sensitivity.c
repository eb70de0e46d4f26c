/* loop_frame_sensitivity.c - differentiates the motion of frames of a model with loops (loop_kernels.h), one block of
 * states.
 *
 * Let k be an actuated coordinate. As in loop_sensitivity.c, the tree's coordinates change with q_k along G_k, column k
 * of G in qd_tree = G qd, and the tree's rates change by dqd/dq_k and dqdd/dq_k. Let v, a be velocity and acceleration
 * of the frame, v_q, a_q and a_qd their derivatives with respect to the tree's coordinates and rates, and J the frame's
 * Jacobian in the tree. Then
 *
 *     dv/dq_k = v_q G_k + J dqd/dq_k,   da/dq_k = a_q G_k + a_qd dqd/dq_k + J dqdd/dq_k,
 *                                       da/dqd_k = a_qd G_k + J dqdd/dqd_k
 *
 * and the Jacobian J G of the model has the derivative (dJ along G_k) G + J dG/dq_k. */
#include "loop_workspace.h"
#include <string.h>

/* The Jacobian J of one frame of the tree, and derivatives of the frame's velocity v, acceleration a and J with respect
 * to the tree's coordinates q and rates qd: 6 x nvt each; J_q is 6 x nvt x nvt. */
typedef struct tree_frame {
    double *J, *v_q, *a_q, *a_qd;
    double *turned, *column; /* scratch: 6 x nvt */
    double *J_q;
} tree_frame;

static tree_frame lay_out(const dyn_loop_workspace *c)
{
    const size_t n = 6 * c->nvt * c->W;
    return (tree_frame){.J      = c->jacobian_work[0],
                        .a_qd   = c->jacobian_work[1],
                        .v_q    = c->extra,
                        .a_q    = c->extra + n,
                        .turned = c->extra + 2 * n,
                        .column = c->extra + 3 * n,
                        .J_q    = c->extra + 4 * n};
}

static bool differentiates_motion(const dyn_frame_sensitivity *io)
{
    return io->dvelocity_dq || io->dacceleration_dq || io->dacceleration_dqd;
}

static void evaluate_tree(const dyn_loop_workspace *c, const dyn_scene *scene, const dyn_frame_sensitivity *io,
                          const dyn_frame *frame, const tree_frame *t)
{
    dyn_kinematics        kinematics = {.q = c->q, .frame = frame, .frame_axes = io->frame_axes, .jacobian = t->J};
    dyn_frame_sensitivity inner      = {.q                 = c->q,
                                        .qd                = c->qd,
                                        .qdd               = c->qdd,
                                        .n_frames          = 1,
                                        .frames            = frame,
                                        .frame_axes        = io->frame_axes,
                                        .dvelocity_dq      = io->dvelocity_dq ? t->v_q : NULL,
                                        .dacceleration_dq  = io->dacceleration_dq ? t->a_q : NULL,
                                        .dacceleration_dqd = io->dacceleration_dq || io->dacceleration_dqd ? t->a_qd : NULL,
                                        .djacobian_dq      = io->djacobian_dq ? t->J_q : NULL};
    c->tree->kinematics(scene, c->workspace, &kinematics, 1);
    c->tree->frame_sensitivity(scene, c->workspace, &inner, 1);
}

/* Sets to = X Y, or with add = 1 to += X Y; X is 6 x nvt, Y is nvt x nv. */
static void multiply(const dyn_loop_workspace *c, const double *X, const double *Y, int add, double *to)
{
    dyn_matrix_mul(&c->lanes, 6, c->nvt, c->nv, X, Y, add, to);
}

static void differentiate_jacobian(dyn_loop_workspace *c, const dyn_scene *scene, const tree_frame *t, double *to)
{
    double *G_k = c->vector[0], *dG = c->wide[5];
    for (size_t k = 0; k < c->nv && dyn_loop_may_continue(c); k++) {
        dyn_loop_get_column(c, c->nvt, c->nv, c->G, k, G_k);
        dyn_loop_differentiate_G(c, scene, G_k, dG);
        dyn_matrix_mul(&c->lanes, 6 * c->nvt, c->nvt, 1, t->J_q, G_k, 0, t->turned);
        multiply(c, t->turned, c->G, 0, t->column);
        multiply(c, t->J, dG, 1, t->column);
        dyn_loop_put_column(c, 6 * c->nv, c->nv, t->column, k, to);
    }
}

static void differentiate_motion(const dyn_loop_workspace *c, const tree_frame *t, double *dv, double *da,
                                 double *da_dqd)
{
    const double *dqd_dq = c->wide[1], *dqdd_dq = c->wide[2], *dqdd_dqd = c->wide[3];
    if (dv) multiply(c, t->v_q, c->G, 0, dv);
    if (dv) multiply(c, t->J, dqd_dq, 1, dv);
    if (da) multiply(c, t->a_q, c->G, 0, da);
    if (da) multiply(c, t->a_qd, dqd_dq, 1, da);
    if (da) multiply(c, t->J, dqdd_dq, 1, da);
    if (da_dqd) multiply(c, t->a_qd, c->G, 0, da_dqd);
    if (da_dqd) multiply(c, t->J, dqdd_dqd, 1, da_dqd);
}

/* Returns the entries of frame i in an output, or NULL if the output is not requested. */
static double *entries_of(double *output, size_t entries, size_t i)
{
    return output ? output + i * entries : NULL;
}

void dyn_loop_frame_sensitivity(const dyn_scene *scene, void *ws, const dyn_frame_sensitivity *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c    = ws;
    const tree_frame    t    = lay_out(c);
    const size_t        size = 6 * c->nv * c->W;
    dyn_loop_find_accelerations(c, scene, io->qd, io->qdd);
    memset(c->lambda, 0, c->nr * c->W * sizeof *c->lambda); /* constraint forces have no effect on the motion */
    if (differentiates_motion(io)) dyn_loop_find_directions(c, scene);
    for (size_t i = 0; i < io->n_frames; i++) {
        evaluate_tree(c, scene, io, &io->frames[i], &t);
        differentiate_motion(c, &t, entries_of(io->dvelocity_dq, size, i), entries_of(io->dacceleration_dq, size, i),
                             entries_of(io->dacceleration_dqd, size, i));
        if (io->djacobian_dq) differentiate_jacobian(c, scene, &t, io->djacobian_dq + i * size * c->nv);
    }
}
