/* loop_joint_wrenches.c - differentiates results of the tree that depend on the wrenches of the loops, such as the
 * wrenches in the joints of a model with loops (see loop_sensitivity.c).
 *
 * Each derivative has two parts. The first is the derivative of the tree's result along the motion of the tree, with
 * the loops' wrenches constant in the axes of the links. The second comes from the change of the loops' wrenches, with
 * lambda and with the geometry of the loops. The second part equals the result of a massless tree at rest on which only
 * that change acts. */
#include "loop_workspace.h"
#include <string.h>

/* Inputs and result of the derivatives with respect to one of q, qd and qdd. */
typedef struct change {
    const double *forces; /* nvt x nv: derivatives of tau_tree - J^T lambda at constant lambda */
    bool          moves;  /* true for q: the geometry of the loops changes */
    double       *to;     /* rows x nv: the derivatives; NULL: not wanted */
} change;

static void get_column(const dyn_loop_workspace *c, const double *X, size_t k, double *column)
{
    for (size_t i = 0; i < c->nvt; i++)
        memcpy(column + i * c->W, X + (i * c->nv + k) * c->W, c->W * sizeof *X);
}

/* Sets the wrenches (force, torque, point of application) to the wrench rates (force, torque), applied at the origins
 * of the wrenches' frames. */
static void put_values(dyn_loop_workspace *c, size_t sites)
{
    size_t W = c->W;
    for (size_t i = 0; i < sites; i++) {
        memcpy(c->wrenches + 9 * i * W, c->wrench_rates + 6 * i * W, 6 * W * sizeof(double));
        memset(c->wrenches + (9 * i + 6) * W, 0, 3 * W * sizeof(double));
    }
}

/* Adds to column k of the derivatives by->to the part that comes from the change of the loops' wrenches along
 * coordinate k. */
static void add_column(dyn_loop_workspace *c, const dyn_scene *still, const dyn_loop_results *r, const change *by,
                       size_t k)
{
    double *left = c->vector[0], *along = c->vector[1];
    size_t  W = c->W, given = still->n_wrenches - 2 * c->loops->n;
    get_column(c, by->forces, k, left);
    get_column(c, c->G, k, along);
    if (by->moves) dyn_closure_rate(&c->closure, still, along, c->Jk);
    dyn_loop_find_force_rates(c, left, by->moves ? c->Jk : NULL);
    dyn_loop_add_wrench_rates(c, given, NULL, by->moves ? along : NULL);
    put_values(c, still->n_wrenches);
    const dyn_torque_derivative rest = {.q = c->q, .wrenches = c->wrenches};
    r->find(r->arg, still, &rest, r->room[3]);
    for (size_t i = 0; i < r->rows; i++)
        for (size_t lane = 0; lane < W; lane++)
            by->to[(i * c->nv + k) * W + lane] += r->room[3][i * W + lane];
}

/* Applies the chain rule, to = sum_i D_i X_i. D_i (rows x nvt) are derivatives of the results with respect to q, qd or
 * qdd of the tree; X_i (nvt x nv) are derivatives of these with respect to q, qd or qdd of the model. */
static void put_parts(const dyn_loop_workspace *c, size_t rows, const double *const *D, const double *const *X,
                      size_t n, double *to)
{
    for (size_t i = 0; to && i < n; i++)
        dyn_matrix_mul(&c->lanes, rows, c->nvt, c->nv, D[i], X[i], i > 0, to);
}

void dyn_loop_differentiate_results(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches,
                                    const dyn_loop_results *r)
{
    double *const              *D      = r->room;
    dyn_scene                   pushed = dyn_loop_add_wrenches(c, scene, wrenches), still = pushed;
    const dyn_torque_derivative motion = {.q = c->q, .qd = c->qd, .qdd = c->qdd, .wrenches = c->wrenches};
    r->differentiate(r->arg, &pushed, &motion, D);
    put_parts(c, r->rows, (const double *[]){D[0], D[1], D[2]}, (const double *[]){c->G, c->wide[1], c->wide[2]}, 3,
              r->to[0]);
    put_parts(c, r->rows, (const double *[]){D[1], D[2]}, (const double *[]){c->G, c->wide[3]}, 2, r->to[1]);
    put_parts(c, r->rows, (const double *[]){D[2]}, (const double *[]){c->G}, 1, r->to[2]);

    still.terms = 0;
    memset(still.gravity, 0, sizeof still.gravity);
    const change changes[] = {
        {c->wide[5], true, r->to[0]}, {c->wide[6], false, r->to[1]}, {c->wide[7], false, r->to[2]}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (size_t k = 0; changes[i].to && k < c->nv && dyn_loop_may_continue(c); k++)
            add_column(c, &still, r, &changes[i], k);
}

/* --- joint wrenches ----------------------------------------------------------------------------------------------- */

static void differentiate_joint_wrenches(void *arg, const dyn_scene *scene, const dyn_torque_derivative *motion,
                                         double *const D[3])
{
    dyn_loop_workspace *c     = arg;
    dyn_sensitivity     inner = {.q                    = motion->q,
                                 .qd                   = motion->qd,
                                 .qdd                  = motion->qdd,
                                 .wrenches             = motion->wrenches,
                                 .dtau_dq              = c->square[0],
                                 .dtau_dqd             = c->square[1],
                                 .dtau_dqdd            = c->square[2],
                                 .djoint_wrenches_dq   = D[0],
                                 .djoint_wrenches_dqd  = D[1],
                                 .djoint_wrenches_dqdd = D[2]};
    c->tree->sensitivity(scene, c->workspace, &inner, 1);
}

static void find_joint_wrenches(void *arg, const dyn_scene *scene, const dyn_torque_derivative *rest, double *results)
{
    dyn_loop_workspace  *c  = arg;
    dyn_inverse_dynamics io = {.q = rest->q, .wrenches = rest->wrenches, .joint_wrenches = results};
    c->tree->inverse_dynamics(scene, c->workspace, &io, 1);
}

void dyn_loop_joint_wrenches(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io)
{
    const size_t           rows = 6 * c->mechanism.tree->n_rows, size = rows * c->nvt * c->W;
    const dyn_loop_results r = {.rows          = rows,
                                .differentiate = differentiate_joint_wrenches,
                                .find          = find_joint_wrenches,
                                .arg           = c,
                                .room          = {c->extra, c->extra + size, c->extra + 2 * size, c->extra + 3 * size},
                                .to = {io->djoint_wrenches_dq, io->djoint_wrenches_dqd, io->djoint_wrenches_dqdd}};
    dyn_loop_differentiate_results(c, scene, io->wrenches, &r);
}
