/* mimic_efforts.c - see mimic_efforts.h: compute the efforts of mimic joints in the uncoupled tree. */
#include "mimic_efforts.h"
#include "api/requests/scene/row_scenes.h"
#include <string.h>

/* --- the uncoupled tree ------------------------------------------------------------------------------------------- */

/* Gives mimic joint k coordinates of its own: the bodies of its joint, and the rotor of its motor. */
static void uncouple(const api_mimics *f, size_t k, int link, dyn_model *m, dyn_body *bodies)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        if (bodies[i].tree.link != link) continue;
        bodies[i].joint.q = (int)(f->nq + k);
        bodies[i].joint.v = (int)(f->nv + k);
    }
    m->nq++;
    m->nv++;
}

bool api_mimics_open(const api_query *q, const api_limit_list *limits, api_mimics *f)
{
    const dyn_model *from = q->scene.model;
    const size_t     n    = limits->n_followers;
    *f = (api_mimics){.n = n, .nq = (size_t)from->nq, .nv = (size_t)from->nv, .model_nv = q->model->nv};
    if (n == 0) return true;
    if (q->row_scenes && q->row_scenes->n > 0)
        return api_fail_row_scenes(q, q->row_scenes->bodies, "a limit of the effort of a mimic joint");
    dyn_model *copy   = api_take(q->pool, sizeof *copy);
    dyn_body  *bodies = api_take(q->pool, from->n_bodies * sizeof *bodies);
    f->q              = api_take(q->pool, n * sizeof *f->q);
    f->v              = api_take(q->pool, n * sizeof *f->v);
    f->multiplier     = api_take(q->pool, n * sizeof *f->multiplier);
    if (!copy || !bodies || !f->q || !f->v || !f->multiplier) return false;
    memcpy(bodies, from->body, from->n_bodies * sizeof *bodies);
    *copy      = *from;
    copy->body = bodies;
    for (size_t k = 0; k < n; k++) {
        const api_joint_name *joint = &q->model->joints[limits->follower[k]];
        const dyn_body       *b     = &from->body[joint->body];
        f->q[k]                     = (size_t)b->joint.q;
        f->v[k]                     = (size_t)b->joint.v;
        f->multiplier[k]            = joint->multiplier;
        uncouple(f, k, b->tree.link, copy, bodies);
    }
    f->uncoupled = copy;
    return true;
}

/* --- room --------------------------------------------------------------------------------------------------------- */

/* Returns numbers per state that cover the workspace of every table of kernels. */
static size_t workspace_entries(const dyn_model *m)
{
    size_t most = 0;
    for (size_t i = 0; dyn_kernels_at(i); i++) {
        const dyn_kernels *kernels = dyn_kernels_at(i);
        const size_t       line = DYN_ALIGN / sizeof(double), bytes = kernels->workspace_size(m) + DYN_ALIGN;
        const size_t       entries = (bytes / sizeof(double) / (size_t)kernels->lanes / line + 1) * line;
        if (entries > most) most = entries;
    }
    return most;
}

size_t api_mimics_room(const api_mimics *f, bool derivatives)
{
    const size_t nq = f->nq + f->n, nv = f->nv + f->n;
    const size_t of_loops = 3 * f->n * f->nv + f->n + 3 * f->model_nv * f->model_nv;
    if (f->n == 0) return 0;
    return workspace_entries(f->uncoupled) + nq + 5 * nv + (derivatives ? 6 * nv * nv + of_loops : 0);
}

api_mimic_block api_mimic_block_of(const api_evaluation *e, const api_mimics *f, double *room)
{
    return (api_mimic_block){.followers = f,
                             .tree      = e->model->loops ? dyn_loop_tree_kernels(e->workspace) : e->kernels,
                             .loops     = e->model->loops ? e->workspace : NULL,
                             .scene     = &e->query->scene,
                             .room      = room};
}

/* The arrays in `room`, in lanes, for the uncoupled tree. */
typedef struct arrays {
    size_t  W;
    void   *workspace;
    double *q, *qd, *qdd, *qddd, *tau, *tau_dot, *matrices;
    double *of_loops; /* scratch for the derivatives of a model with loops */
} arrays;

static arrays lay_out(const api_mimic_block *b)
{
    const api_mimics *f = b->followers;
    const size_t      W = (size_t)b->tree->lanes, nv = (f->nv + f->n) * W;
    arrays            a = {.W = W};
    a.workspace         = (void *)(((uintptr_t)b->room + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN);
    a.q                 = b->room + workspace_entries(f->uncoupled) * W;
    a.qd                = a.q + (f->nq + f->n) * W;
    a.qdd               = a.qd + nv;
    a.qddd              = a.qdd + nv;
    a.tau               = a.qddd + nv;
    a.tau_dot           = a.tau + nv;
    a.matrices          = a.tau_dot + nv;
    a.of_loops          = a.matrices + 6 * (f->nv + f->n) * nv;
    return a;
}

/* --- the motion --------------------------------------------------------------------------------------------------- */

/* Copies x, n numbers a state, to `to`, and appends the entries of the leaders of the mimic joints. x NULL: returns
 * NULL. */
static const double *extend(const api_mimics *f, const double *x, size_t n, const size_t *leader, size_t W, double *to)
{
    if (!x) return NULL;
    memcpy(to, x, n * W * sizeof *to);
    for (size_t k = 0; k < f->n; k++)
        memcpy(to + (n + k) * W, x + leader[k] * W, W * sizeof *to);
    return to;
}

/* Returns `scene` with the uncoupled tree, and sets `io` to the motion in it. `tree` is the motion of the tree. */
static dyn_scene uncouple_motion(const api_mimics *f, const arrays *a, const dyn_scene *scene,
                                 const dyn_torque_derivative *tree, dyn_torque_derivative *io)
{
    dyn_scene uncoupled = *scene;
    *io                 = (dyn_torque_derivative){.q            = extend(f, tree->q, f->nq, f->q, a->W, a->q),
                                                  .qd           = extend(f, tree->qd, f->nv, f->v, a->W, a->qd),
                                                  .qdd          = extend(f, tree->qdd, f->nv, f->v, a->W, a->qdd),
                                                  .qddd         = extend(f, tree->qddd, f->nv, f->v, a->W, a->qddd),
                                                  .wrenches     = tree->wrenches,
                                                  .wrench_rates = tree->wrench_rates};
    uncoupled.model     = f->uncoupled;
    return uncoupled;
}

static void put_efforts(const api_mimics *f, size_t W, const double *tau, double *efforts)
{
    for (size_t k = 0; efforts && k < f->n; k++)
        for (size_t lane = 0; lane < W; lane++)
            efforts[k * W + lane] = tau[(f->nv + k) * W + lane] / f->multiplier[k];
}

/* Computes the efforts, and their rates unless NULL, at the motion of the tree in a scene. */
static void find(const api_mimic_block *b, const dyn_scene *scene, const dyn_torque_derivative *tree, double *efforts,
                 double *rates)
{
    const arrays          a = lay_out(b);
    dyn_torque_derivative io;
    const dyn_scene       uncoupled = uncouple_motion(b->followers, &a, scene, tree, &io);
    dyn_inverse_dynamics  plain     = {.q = io.q, .qd = io.qd, .qdd = io.qdd, .wrenches = io.wrenches, .tau = a.tau};
    io.tau                          = a.tau;
    io.tau_dot                      = a.tau_dot;
    if (rates)
        b->tree->torque_derivative(&uncoupled, a.workspace, &io, 1);
    else
        b->tree->inverse_dynamics(&uncoupled, a.workspace, &plain, 1);
    put_efforts(b->followers, a.W, a.tau, efforts);
    put_efforts(b->followers, a.W, a.tau_dot, rates);
}

void api_mimic_efforts(const api_mimic_block *b, const dyn_torque_derivative *motion, double *efforts, double *rates)
{
    dyn_torque_derivative tree  = *motion;
    dyn_scene             scene = *b->scene;
    if (b->loops) scene = dyn_loop_tree_motion(b->loops, b->scene, motion, rates != NULL, &tree);
    find(b, &scene, &tree, efforts, rates);
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

/* Copies the rows of the mimic joints from a matrix of the uncoupled tree, and adds the columns of mimic joints to
 * those of their leaders. */
static void put_rows(const api_mimics *f, size_t W, const double *matrix, double *to)
{
    const size_t nv = f->nv, columns = nv + f->n;
    for (size_t k = 0; k < f->n; k++) {
        const double *row = matrix + (nv + k) * columns * W;
        memcpy(to + k * nv * W, row, nv * W * sizeof *to);
        for (size_t j = 0; j < f->n; j++)
            for (size_t lane = 0; lane < W; lane++)
                to[(k * nv + f->v[j]) * W + lane] += row[(nv + j) * W + lane];
        for (size_t i = 0; i < nv * W; i++)
            to[k * nv * W + i] /= f->multiplier[k];
    }
}

/* Computes the derivatives with respect to the tree's coordinates, n x (nv of the tree), at the motion of the tree in a
 * scene. */
static void differentiate(const api_mimic_block *b, const dyn_scene *scene, const dyn_torque_derivative *tree,
                          double *const by[3], double *const rates_by[3])
{
    const api_mimics     *f = b->followers;
    const arrays          a = lay_out(b);
    dyn_torque_derivative io;
    const dyn_scene       uncoupled = uncouple_motion(f, &a, scene, tree, &io);
    double               *at[6];
    for (size_t i = 0; i < 6; i++)
        at[i] = a.matrices + i * (f->nv + f->n) * (f->nv + f->n) * a.W;
    dyn_sensitivity      plain = {.q         = io.q,
                                  .qd        = io.qd,
                                  .qdd       = io.qdd,
                                  .wrenches  = io.wrenches,
                                  .dtau_dq   = at[0],
                                  .dtau_dqd  = at[1],
                                  .dtau_dqdd = at[2]};
    dyn_sensitivity_rate rate  = {.q             = io.q,
                                  .qd            = io.qd,
                                  .qdd           = io.qdd,
                                  .qddd          = io.qddd,
                                  .wrenches      = io.wrenches,
                                  .dtau_dq_dot   = at[3],
                                  .dtau_dqd_dot  = at[4],
                                  .dtau_dqdd_dot = at[5]};
    b->tree->sensitivity(&uncoupled, a.workspace, &plain, 1);
    for (size_t i = 0; i < 3; i++)
        put_rows(f, a.W, at[i], by[i]);
    if (!rates_by) return;
    b->tree->sensitivity_rate(&uncoupled, a.workspace, &rate, 1);
    for (size_t i = 0; i < 3; i++)
        put_rows(f, a.W, at[3 + i], rates_by[i]);
}

/* Functions for the fields differentiate and find of dyn_loop_results. */
static void differentiate_in_loops(void *arg, const dyn_scene *scene, const dyn_torque_derivative *motion,
                                   double *const D[3])
{
    differentiate(arg, scene, motion, D, NULL);
}

static void find_at_rest(void *arg, const dyn_scene *scene, const dyn_torque_derivative *rest, double *results)
{
    find(arg, scene, rest, results, NULL);
}

static void differentiate_with_loops(const api_mimic_block *b, const dyn_torque_derivative *motion, double *const by[3])
{
    const api_mimics *f    = b->followers;
    const arrays      a    = lay_out(b);
    const size_t      size = f->n * f->nv * a.W, square = f->model_nv * f->model_nv * a.W;
    api_mimic_block   own = *b;
    dyn_loop_results  r   = {.rows          = f->n,
                             .differentiate = differentiate_in_loops,
                             .find          = find_at_rest,
                             .arg           = &own,
                             .to            = {by[0], by[1], by[2]}};
    for (size_t i = 0; i < 4; i++)
        r.room[i] = a.of_loops + i * size;
    double         *dtau = r.room[3] + f->n * a.W;
    dyn_sensitivity io   = {.q         = motion->q,
                            .qd        = motion->qd,
                            .qdd       = motion->qdd,
                            .wrenches  = motion->wrenches,
                            .dtau_dq   = dtau,
                            .dtau_dqd  = dtau + square,
                            .dtau_dqdd = dtau + 2 * square};
    dyn_loop_results_sensitivity(b->loops, b->scene, &io, &r);
}

void api_mimic_sensitivity(const api_mimic_block *b, const dyn_torque_derivative *motion, double *const by[3],
                           double *const rates_by[3])
{
    if (b->loops)
        differentiate_with_loops(b, motion, by);
    else
        differentiate(b, b->scene, motion, by, rates_by);
}
