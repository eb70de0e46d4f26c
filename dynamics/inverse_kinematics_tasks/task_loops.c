/* task_loops.c - keeps loops closed while a search moves the coordinates of a tree (task_loops.h). */
#include "task_loops.h"
#include "dynamics/inverse_kinematics/search_start.h"
#include "dynamics/math/gather.h"
#include <math.h>
#include <string.h>

#define EXACT 1e-12 /* rad, or parts of the mechanism's length */

size_t dyn_task_loops_entries(const dyn_mechanism *robot)
{
    return robot->loops ? 2 * robot->nq + robot->loops->n_passive_q + robot->loops->nq : 0;
}

void dyn_task_loops_lay_out(dyn_task_loops *t, double *lanes)
{
    t->q       = lanes;
    t->from    = t->q + t->robot->nq * t->W;
    t->passive = t->from + t->robot->nq * t->W;
    t->tree    = t->passive + (t->robot->loops ? t->robot->loops->n_passive_q * t->W : 0);
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

/* Copies chosen entries of the tree's coordinates to all lanes. */
static void put_chosen(const dyn_task_loops *t, const double *tree_q, const int *which, size_t n, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        for (size_t lane = 0; lane < t->W; lane++)
            lanes[i * t->W + lane] = tree_q[which[i]];
}

/* Returns the path to close the loops on: from a position with closed loops, or (NULL) the path of a request. */
static dyn_approach approach_from(const dyn_task_loops *t, const double *from)
{
    const dyn_loops *l = t->robot->loops;
    if (from) {
        put_chosen(t, from, l->active_q, t->robot->nq, t->from);
        put_chosen(t, from, l->passive_q, l->n_passive_q, t->passive);
        return (dyn_approach){.q = t->from, .passive = t->passive};
    }
    for (size_t lane = 0; t->guess && lane < t->W; lane++)
        dyn_scatter(t->guess, l->n_passive_q, t->W, lane, t->passive);
    return (dyn_approach){.guess = t->guess ? t->passive : NULL};
}

bool dyn_task_loops_close(dyn_task_loops *t, const double *from, double *tree_q)
{
    if (!t->closed) return true;
    const dyn_scene    scene = {.model = t->robot->tree};
    const dyn_approach path  = approach_from(t, from);
    put_chosen(t, tree_q, t->robot->loops->active_q, t->robot->nq, t->q);
    if (!dyn_loop_close(t->closed, &scene, t->q, &path, 1)) return false;
    dyn_gather(dyn_loop_tree_q(t->closed), t->robot->loops->nq, t->W, 0, tree_q);
    return true;
}

bool dyn_task_loops_restore(dyn_task_loops *t, const double *tree_q)
{
    if (!t->closed) return true;
    const dyn_scene scene = {.model = t->robot->tree};
    for (size_t lane = 0; lane < t->W; lane++)
        dyn_scatter(tree_q, t->robot->loops->nq, t->W, lane, t->tree);
    return dyn_loop_restore(t->closed, &scene, t->tree, 1);
}

bool dyn_task_loops_are_exact(const dyn_task_loops *t)
{
    return !t->closed || dyn_loop_error(t->closed)[0] <= EXACT;
}

/* --- limits of passive joints ------------------------------------------------------------------------------------- */

/* True if the joint of a body is passive and has a limit. */
static bool is_limited(const dyn_mechanism *robot, const double *lower, const double *upper, const dyn_body *b)
{
    return robot->loops && dyn_has_bounds(b) && b->joint.v >= 0 && dyn_first_velocity(robot, b) < 0 &&
           (isfinite(lower[b->joint.q]) || isfinite(upper[b->joint.q]));
}

size_t dyn_task_loop_rows(const dyn_mechanism *robot, const double *lower, const double *upper)
{
    size_t n = 0;
    for (size_t i = 0; i < robot->tree->n_bodies; i++)
        n += is_limited(robot, lower, upper, &robot->tree->body[i]);
    return n;
}

void dyn_task_loops_write_rows(const dyn_task_loops *t, double *A)
{
    const dyn_model *m = t->robot->tree;
    const size_t     n = (size_t)m->nv, nv = t->robot->nv;
    for (size_t i = 0; t->closed && i < m->n_bodies; i++) {
        if (!is_limited(t->robot, t->lower, t->upper, &m->body[i])) continue;
        const size_t  v = (size_t)m->body[i].joint.v;
        const double *G = dyn_loop_G(t->closed) + v * nv * t->W + t->lane;
        memset(A, 0, n * sizeof *A);
        for (size_t j = 0; j < nv; j++)
            A[t->robot->loops->active_v[j]] = -G[j * t->W];
        A[v] = 1;
        A += n;
    }
}

double dyn_task_loops_excess(const dyn_task_loops *t, const double *tree_q, const double *x)
{
    const dyn_model *m   = t->robot->tree;
    double           sum = 0;
    for (size_t i = 0; t->closed && i < m->n_bodies; i++) {
        if (!is_limited(t->robot, t->lower, t->upper, &m->body[i])) continue;
        const size_t k = (size_t)m->body[i].joint.q;
        const double q = tree_q[k] + (x ? x[m->body[i].joint.v] : 0);
        const double e = fmax(0, fmax(t->lower[k] - q, q - t->upper[k]));
        sum += e * e;
    }
    return sqrt(sum);
}

/* --- Jacobians ---------------------------------------------------------------------------------------------------- */

void dyn_task_loops_fold(const dyn_task_loops *t, size_t rows, double *A)
{
    if (!t->closed) return;
    const dyn_loops *l  = t->robot->loops;
    const double    *G  = dyn_loop_G(t->closed) + t->lane;
    const size_t     nv = t->robot->nv;
    for (size_t r = 0; r < rows; r++, A += l->nv)
        for (size_t i = 0; i < l->n_passive; i++) {
            const size_t v = (size_t)l->passive_v[i];
            for (size_t j = 0; j < nv; j++)
                A[l->active_v[j]] += A[v] * G[(v * nv + j) * t->W];
            A[v] = 0;
        }
}
