/* forward_hessian.c - computes second derivatives of forward dynamics, contracted with multipliers m of qdd: own
 * derivation, by differentiating forward_sensitivity.c once more.
 *
 * tau = ID(q, qd, qdd) remains true under any variation. With x, y among q, qd and tau, and dID/dqdd = M,
 *
 *     d2ID/dx dy + d2ID/dx dqdd qdd_y + (d2ID/dy dqdd qdd_x)^T + M qdd_xy = 0,
 *
 * where ID does not depend on tau. Contract it with mu = M^-T m, and let N = mu . d2ID/dq dqdd and L = mu . d2ID/dqd
 * dqdd. Then m . qdd has the second derivatives
 *
 *     q_q:   -(mu . d2ID/dq dq + N qdd_q + (N qdd_q)^T),        q_tau:  -N M^-1,
 *     q_qd:  -(mu . d2ID/dq dqd + N qdd_qd + (L qdd_q)^T),      qd_tau: -L M^-1,
 *     qd_qd: -(mu . d2ID/dqd dqd + L qdd_qd + (L qdd_qd)^T).
 *
 * Only friction that depends on the load makes L other than zero. This friction also scales the rows of M, which is no
 * longer symmetric. */
#include "kernels.h"
#include "dynamics/hessian.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/coordinate_tree.h"
#include "row_products.h"
#include <string.h>

enum { GROUP = 4 }; /* most rows of a group */

/* Adjacent rows of N and L. All have their nonzero entries in the same columns, the relatives of these rows: the
 * coordinates themselves, their ancestors and their descendants (coordinate_tree.h). */
typedef struct row_group {
    size_t first, n, n_relatives;
    int   *relatives;            /* [n_relatives] the columns in which these rows may be nonzero */
    size_t part_first, part_end; /* first and end column of the part of the model that they belong to */
} row_group;

typedef struct workspace {
    size_t     n;
    row_group *group;     /* [nv] the groups of the rows of N and L */
    int       *relatives; /* [nv x nv] memory for the relatives of all groups */
    void      *memory;    /* workspace of the kernels that this one calls */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv, second = LANE_NAME(hessian_size)(m),
                 first = LANE_NAME(forward_sensitivity_size)(m);
    return (workspace){.group     = arena_take(a, nv, sizeof(row_group)),
                       .relatives = arena_take(a, nv * nv, sizeof(int)),
                       .memory    = arena_take(a, second > first ? second : first, 1)};
}

/* Sets the groups, which depend on the model only. */
static void prepare_groups(const dyn_model *m, workspace *ws)
{
    const size_t nv = (size_t)m->nv;
    for (size_t part = 0, end; part < nv; part = end) {
        end = part_end(m, part);
        for (size_t i = part; i < end; i += GROUP) {
            row_group *group   = &ws->group[ws->n++];
            *group             = (row_group){.first = i, .part_first = part, .part_end = end};
            group->n           = end - i < GROUP ? end - i : GROUP;
            group->relatives   = ws->relatives + i * nv;
            group->n_relatives = list_relatives(m, i, i + group->n, group->relatives);
        }
    }
}

typedef struct forward_pass {
    const dyn_scene *scene;
    workspace        ws;
    size_t           nv;
    lane            *qdd, *mu;                 /* [nv] accelerations; mu = M^-T m, multipliers of inverse dynamics */
    lane            *qdd_q, *qdd_qd, *inverse; /* nv x nv each: derivatives of qdd with respect to q and qd; M^-1 */
    lane            *product;                  /* nv x nv, scratch: product of N or L and a matrix */
    lane            *minus_N, *minus_L;        /* nv x nv: -N and -L; L NULL: zero */
} forward_pass;

/* Outputs for one block, nv x nv each; NULL: not requested. */
typedef struct results {
    lane *q_q, *q_qd, *qd_qd, *q_tau, *qd_tau;
} results;

static forward_pass forward_pass_of(const dyn_scene *scene, workspace ws, lane *work)
{
    const size_t nv = (size_t)scene->model->nv, n = nv * nv;
    return (forward_pass){.scene   = scene,
                          .ws      = ws,
                          .nv      = nv,
                          .qdd     = work,
                          .mu      = work + nv,
                          .qdd_q   = work + 2 * nv,
                          .qdd_qd  = work + 2 * nv + n,
                          .inverse = work + 2 * nv + 2 * n,
                          .minus_N = work + 2 * nv + 3 * n,
                          .product = work + 2 * nv + 4 * n,
                          .minus_L = scene_has_load(scene) ? work + 2 * nv + 5 * n : NULL};
}

/* Replaces the matrix M (nv x nv) by -M. */
static void negate(const forward_pass *p, lane *M)
{
    for (size_t e = 0; e < p->nv * p->nv; e++)
        M[e] = -M[e];
}

/* Sets C = A B for matrices nv x nv, where A is N or L and minus_A is -A. No entry of B connects two parts of the model
 * (coordinate_tree.h). Entries of C that connect two parts are not written; the caller has set them to zero. */
static void multiply(const forward_pass *p, const lane *minus_A, const lane *B, lane *C)
{
    const size_t nv = p->nv;
    for (size_t g = 0; g < p->ws.n && goes_on(p->scene->deadline, nv); g++) {
        const row_group  *group   = &p->ws.group[g];
        const row_product product = {.A      = minus_A + group->first * nv,
                                     .A_row  = nv,
                                     .A_term = 1,
                                     .X      = B,
                                     .stride = nv,
                                     .n      = group->n_relatives,
                                     .terms  = group->relatives,
                                     .Y      = C + group->first * nv,
                                     .Y_row  = nv};
        multiply_rows(&product, group->n, group->part_first, group->part_end);
    }
}

/* Sets mu = M^-T m, with m the caller's `multipliers` of qdd (nv). */
static void solve(const forward_pass *p, const lane *multipliers)
{
    for (size_t i = 0; i < p->nv; i++) {
        p->mu[i] = lane_of(0);
        for (size_t j = 0; j < p->nv; j++)
            p->mu[i] = add_mul(p->mu[i], p->inverse[j * p->nv + i], multipliers[j]);
    }
}

/* Adds the terms with L to the second derivatives of inverse dynamics, and writes qd_tau. */
static void add_load_terms(const forward_pass *p, const results *out)
{
    const size_t nv = p->nv, n = nv * nv;
    if (!p->minus_L) {
        clear(out->qd_tau, n);
        return;
    }
    if (out->q_qd) {
        multiply(p, p->minus_L, p->qdd_q, p->product);
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < nv; k++)
                out->q_qd[j * nv + k] += p->product[k * nv + j];
    }
    if (out->qd_qd) {
        multiply(p, p->minus_L, p->qdd_qd, p->product);
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < nv; k++)
                out->qd_qd[j * nv + k] += p->product[j * nv + k] + p->product[k * nv + j];
    }
    if (!out->qd_tau) return;
    clear(out->qd_tau, n);
    multiply(p, p->minus_L, p->inverse, out->qd_tau);
    for (size_t e = 0; e < n; e++)
        out->qd_tau[e] = -out->qd_tau[e];
}

/* Converts the second derivatives of inverse dynamics, contracted with mu, to those of m . qdd (formulas at the top of
 * this file). */
static void put_results(const forward_pass *p, const results *out)
{
    const size_t nv = p->nv, n = nv * nv;
    if (out->q_q) {
        multiply(p, p->minus_N, p->qdd_q, p->product);
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < nv; k++)
                out->q_q[j * nv + k] = -(out->q_q[j * nv + k] + (p->product[j * nv + k] + p->product[k * nv + j]));
    }
    if (out->q_qd) {
        multiply(p, p->minus_N, p->qdd_qd, p->product);
        for (size_t e = 0; e < n; e++)
            out->q_qd[e] = -(out->q_qd[e] + p->product[e]);
    }
    for (size_t e = 0; out->qd_qd && e < n; e++)
        out->qd_qd[e] = -out->qd_qd[e];
    if (!out->q_tau) return;
    clear(out->q_tau, nv * nv);
    multiply(p, p->minus_N, p->inverse, out->q_tau);
    for (size_t e = 0; e < n; e++)
        out->q_tau[e] = -out->q_tau[e];
}

/* Inputs of one block of states; NULL means zeros. */
typedef struct block_state {
    const double *q, *qd, *tau, *wrenches;
} block_state;

/* Computes the second derivatives of mu . ID(q, qd, qdd), among them N and L, and converts them in `out` to those of m
 * . qdd. */
static void contract(const forward_pass *p, const block_state *x, const results *out)
{
    LANE_NAME(hessian)
    (p->scene, p->ws.memory,
     &(dyn_hessian){.q           = x->q,
                    .qd          = x->qd,
                    .qdd         = (const double *)p->qdd,
                    .wrenches    = x->wrenches,
                    .multipliers = (const double *)p->mu,
                    .q_q         = (double *)out->q_q,
                    .q_qd        = (double *)out->q_qd,
                    .q_qdd       = (double *)p->minus_N,
                    .qd_qd       = (double *)out->qd_qd,
                    .qd_qdd      = (double *)p->minus_L},
     1);
    negate(p, p->minus_N);
    if (p->minus_L) negate(p, p->minus_L);
    add_load_terms(p, out);
    put_results(p, out);
}

/* Computes qdd, its derivatives with respect to q and qd, and M^-1. */
static void differentiate(const forward_pass *p, const block_state *x, lane *singular)
{
    clear(p->product, p->nv * p->nv);
    LANE_NAME(forward_sensitivity)
    (p->scene, p->ws.memory,
     &(dyn_forward_sensitivity){.q         = x->q,
                                .qd        = x->qd,
                                .tau       = x->tau,
                                .wrenches  = x->wrenches,
                                .qdd       = (double *)p->qdd,
                                .dqdd_dq   = (double *)p->qdd_q,
                                .dqdd_dqd  = (double *)p->qdd_qd,
                                .dqdd_dtau = (double *)p->inverse,
                                .singular  = (double *)singular},
     1);
}

static results results_of(const dyn_forward_hessian *io, size_t index, size_t n)
{
    return (results){block_out(io->q_q, index, n), block_out(io->q_qd, index, n), block_out(io->qd_qd, index, n),
                     block_out(io->q_tau, index, n), block_out(io->qd_tau, index, n)};
}

size_t LANE_NAME(forward_hessian_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

void LANE_NAME(forward_hessian)(const dyn_scene *scene, void *memory, const dyn_forward_hessian *io, size_t blocks)
{
    const dyn_model *m = scene->model;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, entries = dyn_forward_hessian_work(m);
    arena        a  = {.base = memory};
    workspace    ws = place(&a, m);
    prepare_groups(m, &ws);
    for (size_t block = 0; block < blocks; block++) {
        const forward_pass p = forward_pass_of(scene, ws, block_out(io->work, block, entries));
        const block_state  x = {(const double *)block_in(io->q, block, nq), (const double *)block_in(io->qd, block, nv),
                                (const double *)block_in(io->tau, block, nv),
                               nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL};
        const lane        *multipliers = block_in(io->multipliers, block, nv);
        differentiate(&p, &x, block_out(io->singular, block, 1));
        for (size_t i = io->first, end = multipliers ? i + 1 : i + io->n; i < end && goes_on(scene->deadline, nv);
             i++) {
            const results out = results_of(io, multipliers ? block : block * nv + i, nv * nv);
            if (multipliers)
                solve(&p, multipliers);
            else
                memcpy(p.mu, p.inverse + i * nv, nv * sizeof(lane)); /* mu for m a unit vector: row i of M^-1 */
            contract(&p, &x, &out);
        }
    }
}
