/* loop_rates.c - finds the rates of the tree's coordinates and the constraint forces of a closed state
 * (loop_kernels.h). */
#include "loop_workspace.h"
#include <string.h>

void dyn_loop_subtract_passive(const dyn_loop_workspace *c, size_t columns, const double *b, double *x)
{
    dyn_closure_apply(&c->closure, columns, b, -1, x);
}

/* --- rates ------------------------------------------------------------------------------------------------------- */

static void apply_G(const dyn_loop_workspace *c, const double *x, double *to)
{
    if (x)
        dyn_matrix_mul(&c->lanes, c->nvt, c->nv, 1, c->G, x, 0, to);
    else
        memset(to, 0, c->nvt * c->W * sizeof *to);
}

void dyn_loop_find_velocities(dyn_loop_workspace *c, const double *qd)
{
    apply_G(c, qd, c->qd);
}

void dyn_loop_find_accelerations(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *qdd)
{
    dyn_loop_find_velocities(c, qd);
    dyn_closure_rate(&c->closure, scene, c->qd, c->Jd);
    apply_G(c, qdd, c->qdd);
    dyn_closure_times(&c->closure, c->Jd, 1, c->qd, 0, c->rows[0]);
    dyn_loop_subtract_passive(c, 1, c->rows[0], c->qdd);
}

void dyn_loop_find_G_rate(dyn_loop_workspace *c)
{
    memset(c->Gd, 0, c->nvt * c->nv * c->W * sizeof *c->Gd);
    dyn_closure_times(&c->closure, c->Jd, c->nv, c->G, 0, c->row_matrix);
    dyn_loop_subtract_passive(c, c->nv, c->row_matrix, c->Gd);
}

void dyn_loop_find_jerks(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *qdd,
                         const double *qddd)
{
    size_t n = c->nr * c->W;
    dyn_loop_find_accelerations(c, scene, qd, qdd);
    dyn_closure_second_rate(&c->closure, scene, c->qd, c->qdd, c->Jdd);
    apply_G(c, qddd, c->qddd);
    dyn_closure_times(&c->closure, c->Jd, 1, c->qdd, 0, c->rows[0]);
    for (size_t i = 0; i < n; i++)
        c->rows[0][i] *= 2;
    dyn_closure_times(&c->closure, c->Jdd, 1, c->qd, 1, c->rows[0]);
    dyn_loop_subtract_passive(c, 1, c->rows[0], c->qddd);
}

void dyn_loop_project(const dyn_loop_workspace *c, size_t columns, const double *x, double *to)
{
    dyn_matrix_mul_transposed(&c->lanes, c->nv, c->nvt, columns, c->G, x, 0, to);
}

const double *dyn_loop_tree_velocities(dyn_loop_workspace *c, const double *qd)
{
    dyn_loop_find_velocities(c, qd);
    return c->qd;
}

const double *dyn_loop_velocity_matrix(const dyn_loop_workspace *c)
{
    return c->G;
}

/* Writes d(G qd)/dq, column by column. The passive rows of column k are -K J_k qd_tree, with J_k the derivative of J
 * along column k of G; its actuated rows are zero. */
void dyn_loop_velocities_by_q(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, double *by_q)
{
    double *G_k = c->vector[0], *column = c->vector[1];
    dyn_loop_find_velocities(c, qd);
    for (size_t k = 0; k < c->nv && dyn_loop_may_continue(c); k++) {
        dyn_loop_get_column(c, c->nvt, c->nv, c->G, k, G_k);
        dyn_closure_rate(&c->closure, scene, G_k, c->Jk);
        dyn_closure_times(&c->closure, c->Jk, 1, c->qd, 0, c->rows[0]);
        memset(column, 0, c->nvt * c->W * sizeof *column);
        dyn_loop_subtract_passive(c, 1, c->rows[0], column);
        dyn_loop_put_column(c, c->nvt, c->nv, column, k, by_q);
    }
}

/* --- forces ------------------------------------------------------------------------------------------------------ */

void dyn_loop_find_forces(dyn_loop_workspace *c)
{
    dyn_closure_apply_transposed(&c->closure, c->tau, 0, c->lambda);
}

/* Finds the rate of the constraint forces lambda. They have the form lambda = J_p z, where J_p^T J_p z = tau_p and z =
 * K lambda (K the pseudoinverse of J_p, index p the passive columns and efforts), so that
 *
 *     lambda' = K^T (tau_p' - J_p'^T lambda) + (1 - J_p K) J_p' z */
void dyn_loop_find_force_rates(dyn_loop_workspace *c, const double *left, const double *Jd)
{
    size_t  W = c->W;
    double *x = c->vector[7], *turned = c->rows[0], *again = c->rows[1];
    dyn_closure_apply_transposed(&c->closure, left, 0, c->lambda_dot);
    if (!Jd) return;
    memset(x, 0, c->nvt * W * sizeof *x);
    dyn_closure_apply(&c->closure, 1, c->lambda, 0, x);
    dyn_closure_times(&c->closure, Jd, 1, x, 0, turned);
    memset(x, 0, c->nvt * W * sizeof *x);
    dyn_loop_subtract_passive(c, 1, turned, x);
    memcpy(again, turned, c->nr * W * sizeof *again);
    dyn_closure_times(&c->closure, c->J, 1, x, 1, again);
    for (size_t i = 0; i < c->nr * W; i++)
        c->lambda_dot[i] += again[i];
}
