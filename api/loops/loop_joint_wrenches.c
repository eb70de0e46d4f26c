/* loop_joint_wrenches.c - differentiates the wrenches in the joints of a model with loops (see loop_sensitivity.c).
 *
 * Each derivative has two parts. The first is that of the tree along its motion, with the loops' wrenches acting on the
 * links, constant in the axes of the links. The second is caused by the change of the loops' wrenches, with lambda and
 * with the geometry of the loops. It equals the joint wrenches of a tree at rest, without mass, on which only that
 * change acts. */
#include "loop_workspace.h"
#include <string.h>

/* Inputs and result of the derivatives of the joint wrenches with respect to q, qd or qdd. */
typedef struct change {
    const double *forces; /* nvt x nv: derivatives of the tree's tau at constant lambda */
    bool          moves;  /* true for q: the geometry of the loops changes */
    double       *to;     /* n_bodies x 6 x nv: the derivatives; NULL: not wanted */
} change;

static void get_column(const api_loop_workspace *c, const double *X, size_t k, double *column)
{
    for (size_t i = 0; i < c->nvt; i++)
        memcpy(column + i * c->W, X + (i * c->nv + k) * c->W, c->W * sizeof *X);
}

/* Copies the wrench rates (force, torque) to the wrench values (force, torque, point of application). The points become
 * the origins of the wrenches' frames. */
static void put_values(api_loop_workspace *c, size_t sites)
{
    size_t W = c->W;
    for (size_t i = 0; i < sites; i++) {
        memcpy(c->wrenches + 9 * i * W, c->wrench_rates + 6 * i * W, 6 * W * sizeof(double));
        memset(c->wrenches + (9 * i + 6) * W, 0, 3 * W * sizeof(double));
    }
}

/* Adds to column k the joint wrenches that the change of the loops' wrenches along coordinate k causes. */
static void add_column(api_loop_workspace *c, const dyn_scene *still, const change *by, size_t k, double *borne)
{
    double *left = c->vector[0], *along = c->vector[1];
    size_t  W = c->W, rows = 6 * c->model->n_bodies, given = still->n_wrenches - 2 * c->loops->n;
    get_column(c, by->forces, k, left);
    get_column(c, c->G, k, along);
    if (by->moves) api_closure_rate(&c->closure, still, along, c->Jk);
    api_loop_find_force_rates(c, left, by->moves ? c->Jk : NULL);
    api_loop_add_wrench_rates(c, given, NULL, by->moves ? along : NULL);
    put_values(c, still->n_wrenches);
    dyn_inverse_dynamics io = {.q = c->q, .wrenches = c->wrenches, .joint_wrenches = borne};
    c->tree->inverse_dynamics(still, c->workspace, &io, 1);
    for (size_t r = 0; r < rows; r++)
        for (size_t lane = 0; lane < W; lane++)
            by->to[(r * c->nv + k) * W + lane] += borne[r * W + lane];
}

/* Applies the chain rule, to = sum_i D_i X_i: D_i are derivatives of the joint wrenches by q, qd or qdd of the tree,
 * X_i the derivatives of these by a coordinate or rate of the model. */
static void put_parts(const api_loop_workspace *c, const double *const *D, const double *const *X, size_t n, double *to)
{
    for (size_t i = 0; to && i < n; i++)
        api_matrix_mul(c->W, 6 * c->model->n_bodies, c->nvt, c->nv, D[i], X[i], i > 0, to);
}

void api_loop_joint_wrenches(api_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io)
{
    size_t          size = 6 * c->model->n_bodies * c->nvt * c->W;
    double         *D[3] = {c->extra, c->extra + size, c->extra + 2 * size}, *borne = c->extra + 3 * size;
    dyn_scene       pushed = api_loop_add_wrenches(c, scene, io->wrenches), still = pushed;
    dyn_sensitivity inner = {.q                    = c->q,
                             .qd                   = c->qd,
                             .qdd                  = c->qdd,
                             .wrenches             = c->wrenches,
                             .dtau_dq              = c->square[0],
                             .dtau_dqd             = c->square[1],
                             .dtau_dqdd            = c->square[2],
                             .djoint_wrenches_dq   = D[0],
                             .djoint_wrenches_dqd  = D[1],
                             .djoint_wrenches_dqdd = D[2]};
    c->tree->sensitivity(&pushed, c->workspace, &inner, 1);
    put_parts(c, (const double *[]){D[0], D[1], D[2]}, (const double *[]){c->G, c->wide[1], c->wide[2]}, 3,
              io->djoint_wrenches_dq);
    put_parts(c, (const double *[]){D[1], D[2]}, (const double *[]){c->G, c->wide[3]}, 2, io->djoint_wrenches_dqd);
    put_parts(c, (const double *[]){D[2]}, (const double *[]){c->G}, 1, io->djoint_wrenches_dqdd);

    still.terms = 0;
    memset(still.gravity, 0, sizeof still.gravity);
    const change changes[] = {{c->wide[5], true, io->djoint_wrenches_dq},
                              {c->wide[6], false, io->djoint_wrenches_dqd},
                              {c->wide[7], false, io->djoint_wrenches_dqdd}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (size_t k = 0; changes[i].to && k < c->nv && api_loop_may_continue(c); k++)
            add_column(c, &still, &changes[i], k, borne);
}
