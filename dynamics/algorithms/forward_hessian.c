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
 * Only friction that depends on the load makes L other than zero. It also scales the rows of M, which is no longer
 * symmetric. */
#include "kernels.h"
#include "dynamics/hessian.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"
#include <string.h>

enum { PRODUCT_COLUMNS = 8 }; /* of a product that stay in registers */

typedef struct forward_pass {
    const dyn_scene *scene;
    void            *memory; /* workspace of the kernels that this one calls */
    size_t           nv;
    lane            *qdd, *mu;                     /* [nv] */
    lane            *qdd_q, *qdd_qd, *inverse, *N; /* nv x nv; inverse: M^-1 */
    lane            *product;                      /* nv x nv */
    lane            *L;                            /* nv x nv; NULL: zero */
} forward_pass;

/* Outputs for one block, nv x nv each; NULL: not requested. */
typedef struct results {
    lane *q_q, *q_qd, *qd_qd, *q_tau, *qd_tau;
} results;

static forward_pass forward_pass_of(const dyn_scene *scene, void *memory, lane *work)
{
    const size_t nv = (size_t)scene->model->nv, n = nv * nv;
    return (forward_pass){.scene   = scene,
                          .memory  = memory,
                          .nv      = nv,
                          .qdd     = work,
                          .mu      = work + nv,
                          .qdd_q   = work + 2 * nv,
                          .qdd_qd  = work + 2 * nv + n,
                          .inverse = work + 2 * nv + 2 * n,
                          .N       = work + 2 * nv + 3 * n,
                          .product = work + 2 * nv + 4 * n,
                          .L       = scene_has_load(scene) ? work + 2 * nv + 5 * n : NULL};
}

/* Sets some columns of a row of C = A B to the products of a row of A with the columns of B in `panel`. */
LANE_INLINE void multiply_row(const lane *A, const lane *panel, size_t nv, lane *C, const size_t columns)
{
    lane sum[PRODUCT_COLUMNS];
#pragma GCC unroll 8
    for (size_t c = 0; c < columns; c++)
        sum[c] = lane_of(0);
    for (size_t j = 0; j < nv; j++)
#pragma GCC unroll 8
        for (size_t c = 0; c < columns; c++)
            sum[c] = add_mul(sum[c], A[j], panel[j * columns + c]);
#pragma GCC unroll 8
    for (size_t c = 0; c < columns; c++)
        C[c] = sum[c];
}

/* Sets columns k to k + columns - 1 of C = A B, where columns is a constant of the inlined code. Copies them from B
 * first, so that they are close together. */
LANE_INLINE void multiply_columns(const forward_pass *p, const lane *A, const lane *B, lane *C, size_t k,
                                  const size_t columns)
{
    const size_t nv    = p->nv;
    lane        *panel = p->memory;
    for (size_t j = 0; j < nv; j++)
        memcpy(panel + j * columns, B + j * nv + k, columns * sizeof *panel);
    for (size_t i = 0; i < nv && goes_on(p->scene->deadline, nv); i++)
        multiply_row(A + i * nv, panel, nv, C + i * nv + k, columns);
}

/* Sets C = A B for matrices nv x nv. The workspace of the kernels has room for more columns than are copied. */
static void multiply(const forward_pass *p, const lane *A, const lane *B, lane *C)
{
    size_t k = 0;
    for (; k + PRODUCT_COLUMNS <= p->nv; k += PRODUCT_COLUMNS)
        multiply_columns(p, A, B, C, k, PRODUCT_COLUMNS);
    for (; k < p->nv; k++)
        multiply_columns(p, A, B, C, k, 1);
}

/* Sets mu = M^-T m. */
static void solve(const forward_pass *p, const lane *multipliers)
{
    for (size_t i = 0; i < p->nv; i++) {
        p->mu[i] = lane_of(0);
        for (size_t j = 0; j < p->nv; j++)
            p->mu[i] = add_mul(p->mu[i], p->inverse[j * p->nv + i], multipliers[j]);
    }
}

/* Adds the terms with L to those of ID, and writes qd_tau. */
static void add_load_terms(const forward_pass *p, const results *out)
{
    const size_t nv = p->nv, n = nv * nv;
    if (!p->L) {
        clear(out->qd_tau, n);
        return;
    }
    if (out->q_qd) {
        multiply(p, p->L, p->qdd_q, p->product);
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < nv; k++)
                out->q_qd[j * nv + k] += p->product[k * nv + j];
    }
    if (out->qd_qd) {
        multiply(p, p->L, p->qdd_qd, p->product);
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < nv; k++)
                out->qd_qd[j * nv + k] += p->product[j * nv + k] + p->product[k * nv + j];
    }
    if (!out->qd_tau) return;
    multiply(p, p->L, p->inverse, out->qd_tau);
    for (size_t e = 0; e < n; e++)
        out->qd_tau[e] = -out->qd_tau[e];
}

/* Replaces the contracted derivatives of ID by those of m . qdd. */
static void put_results(const forward_pass *p, const results *out)
{
    const size_t nv = p->nv, n = nv * nv;
    if (out->q_q) {
        multiply(p, p->N, p->qdd_q, p->product);
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < nv; k++)
                out->q_q[j * nv + k] = -(out->q_q[j * nv + k] + (p->product[j * nv + k] + p->product[k * nv + j]));
    }
    if (out->q_qd) {
        multiply(p, p->N, p->qdd_qd, p->product);
        for (size_t e = 0; e < n; e++)
            out->q_qd[e] = -(out->q_qd[e] + p->product[e]);
    }
    for (size_t e = 0; out->qd_qd && e < n; e++)
        out->qd_qd[e] = -out->qd_qd[e];
    if (!out->q_tau) return;
    multiply(p, p->N, p->inverse, out->q_tau);
    for (size_t e = 0; e < n; e++)
        out->q_tau[e] = -out->q_tau[e];
}

/* Inputs of one block. */
typedef struct block_state {
    const double *q, *qd, *tau, *wrenches;
} block_state;

/* Computes the derivatives that are contracted with mu. */
static void contract(const forward_pass *p, const block_state *x, const results *out)
{
    LANE_NAME(hessian)
    (p->scene, p->memory,
     &(dyn_hessian){.q           = x->q,
                    .qd          = x->qd,
                    .qdd         = (const double *)p->qdd,
                    .wrenches    = x->wrenches,
                    .multipliers = (const double *)p->mu,
                    .q_q         = (double *)out->q_q,
                    .q_qd        = (double *)out->q_qd,
                    .q_qdd       = (double *)p->N,
                    .qd_qd       = (double *)out->qd_qd,
                    .qd_qdd      = (double *)p->L},
     1);
    add_load_terms(p, out);
    put_results(p, out);
}

/* Computes qdd and its first derivatives. */
static void differentiate(const forward_pass *p, const block_state *x, lane *singular)
{
    LANE_NAME(forward_sensitivity)
    (p->scene, p->memory,
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
    const size_t second = LANE_NAME(hessian_size)(m), first = LANE_NAME(forward_sensitivity_size)(m);
    return second > first ? second : first;
}

void LANE_NAME(forward_hessian)(const dyn_scene *scene, void *memory, const dyn_forward_hessian *io, size_t blocks)
{
    const dyn_model *m = scene->model;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, entries = dyn_forward_hessian_work(m);
    for (size_t block = 0; block < blocks; block++) {
        const forward_pass p = forward_pass_of(scene, memory, block_out(io->work, block, entries));
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
                memcpy(p.mu, p.inverse + i * nv, nv * sizeof(lane)); /* row i of M^-1 */
            contract(&p, &x, &out);
        }
    }
}
