/* loop_sensitivity.c - differentiates the dynamics of a model with loops (loop_kernels.h), one block of states.
 *
 * Actuated efforts are those of the tree minus the constraint forces, tau_a = tau_tree,a - J_a^T lambda. Efforts of
 * passive joints vanish. Multiplication by G^T removes the derivatives of lambda, because J G = 0. With the derivatives
 * T_q, T_qd, T_qdd of the tree's efforts with respect to the tree's coordinates and rates:
 *
 *     d tau = G^T (d tau_tree - dJ^T lambda),
 *     d tau_tree = T_q dq + T_qd dqd + T_qdd dqdd
 *
 * Take the derivative along actuated coordinate k: dq = G_k is column k of G, and J_k is the derivative of J along G_k.
 * The derivatives of J qd = 0 and J qdd + J' qd = 0, whose actuated parts are zero, give
 *
 *     with respect to q:    J_p dqd  = -J_k qd,      J_p dqdd = -(J_k qdd + J' dqd + (dJ') qd)
 *     with respect to qd:   dqd = G_k,               J_p dqdd = -(J_k qd + J' G_k)
 *     with respect to qdd:  dqdd = G_k
 *
 * Here dJ' is the derivative of J'(q, qd) along dq and dqd. It is found from second rates J''(v, a) of J at velocity v
 * and acceleration a, with d2J the second derivative of J, v = qd and d = dq:
 *
 *     J''(v + d, a) - J''(v - d, -a) = 4 d2J[v, d] + 2 J'(a). */
#include "loop_workspace.h"
#include "dynamics/model/coordinates.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

void dyn_loop_get_column(const dyn_loop_workspace *c, size_t rows, size_t n, const double *X, size_t k, double *column)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(column + i * c->W, X + (i * n + k) * c->W, c->W * sizeof *X);
}

void dyn_loop_put_column(const dyn_loop_workspace *c, size_t rows, size_t n, const double *column, size_t k, double *X)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(X + (i * n + k) * c->W, column + i * c->W, c->W * sizeof *X);
}

/* Derivatives of the tree's coordinates and rates along one actuated coordinate k; nvt each, in lanes. */
typedef struct direction {
    double *dq, *dqd;             /* column k of G; derivative of qd_tree with respect to q_k */
    double *dqdd_dq, *dqdd_dqd;   /* derivatives of qdd_tree with respect to q_k and qd_k */
    double *twist;                /* J_k^T lambda: change of the efforts of the constraint forces with the geometry */
    double *plus, *minus, *extra; /* scratch */
    double *J_k, *other;          /* size of J: derivative of the constraint Jacobian along coordinate k; scratch */
} direction;

/* Sets `factor` to the ratio of the largest entries of v and d in each lane, rounded to a power of two; 1 if one of
 * them is zero. With d scaled by it, the sums v + d and v - d lose no digits of either. */
static void find_scale(const dyn_loop_workspace *c, const double *v, const double *d, double factor[DYN_MAX_LANES])
{
    for (size_t lane = 0; lane < c->W; lane++) {
        double vv = 0, dd = 0;
        for (size_t i = 0; i < c->nvt; i++) {
            vv = fmax(vv, fabs(v[i * c->W + lane]));
            dd = fmax(dd, fabs(d[i * c->W + lane]));
        }
        factor[lane] = vv > 0 && dd > 0 && isfinite(vv / dd) ? exp2(nearbyint(log2(vv / dd))) : 1;
    }
}

/* Sets `brackets` to the Lie bracket [a, b] of two velocity vectors a, b of the tree, joint by joint; only joints with
 * a quaternion have a bracket other than zero. */
static void find_brackets(const dyn_loop_workspace *c, const double *a, const double *b, double *brackets)
{
    const dyn_model *m = c->mechanism.tree;
    for (size_t i = 0; i < m->n_bodies; i++) {
        size_t at = (size_t)m->body[i].joint.v * c->W;
        for (size_t lane = 0; lane < c->W && !m->body[i].joint.mimic; lane++)
            dyn_coordinates_bracket(&m->body[i], c->W, a + at + lane, b + at + lane, brackets + at + lane);
    }
}

/* Adds (dJ') qd to `rows`, by the difference of second rates at the top of this file. dJ' is the change of the rate J'
 * of the constraint Jacobian when q changes along d->dq and qd along d->dqd. */
static void add_second(dyn_loop_workspace *c, const dyn_scene *scene, const direction *d, double *rows)
{
    size_t W = c->W, n = c->nvt;
    double factor[DYN_MAX_LANES];
    find_scale(c, c->qd, d->dq, factor);
    find_brackets(c, d->dq, c->qd, d->extra);
    for (size_t i = 0; i < n; i++)
        for (size_t lane = 0; lane < W; lane++) {
            size_t at     = i * W + lane;
            double scaled = factor[lane] * d->dq[at];
            d->plus[at]   = c->qd[at] + scaled;
            d->minus[at]  = c->qd[at] - scaled;
            d->extra[at]  = 2 * factor[lane] * (d->dqd[at] + 0.5 * d->extra[at]);
        }
    dyn_closure_second_rate(&c->closure, scene, d->plus, d->extra, d->other);
    for (size_t i = 0; i < n * W; i++)
        d->extra[i] = -d->extra[i];
    double *sum = c->rows[1];
    dyn_closure_times(&c->closure, d->other, 1, c->qd, 0, sum);
    dyn_closure_second_rate(&c->closure, scene, d->minus, d->extra, d->other);
    dyn_closure_times(&c->closure, d->other, 1, c->qd, -1, sum);
    for (size_t i = 0; i < c->nr; i++)
        for (size_t lane = 0; lane < W; lane++)
            rows[i * W + lane] += 0.25 / factor[lane] * sum[i * W + lane];
}

static void clear(const dyn_loop_workspace *c, double *x)
{
    memset(x, 0, c->nvt * c->W * sizeof *x);
}

static void find_direction(dyn_loop_workspace *c, const dyn_scene *scene, size_t k, direction *d)
{
    double *rows = c->rows[0];
    dyn_loop_get_column(c, c->nvt, c->nv, c->G, k, d->dq);
    dyn_closure_rate(&c->closure, scene, d->dq, d->J_k);
    clear(c, d->twist);
    dyn_closure_times_transposed(&c->closure, d->J_k, c->lambda, 1, d->twist);

    clear(c, d->dqd);
    dyn_closure_times(&c->closure, d->J_k, 1, c->qd, 0, rows);
    dyn_loop_subtract_passive(c, 1, rows, d->dqd);

    clear(c, d->dqdd_dqd);
    dyn_closure_times(&c->closure, c->Jd, 1, d->dq, 1, rows);
    dyn_loop_subtract_passive(c, 1, rows, d->dqdd_dqd);

    clear(c, d->dqdd_dq);
    dyn_closure_times(&c->closure, d->J_k, 1, c->qdd, 0, rows);
    dyn_closure_times(&c->closure, c->Jd, 1, d->dqd, 1, rows);
    add_second(c, scene, d, rows);
    dyn_loop_subtract_passive(c, 1, rows, d->dqdd_dq);
}

void dyn_loop_find_directions(dyn_loop_workspace *c, const dyn_scene *scene)
{
    direction d      = {.J_k = c->Jdd, .other = c->Jk};
    double  **part[] = {&d.dq, &d.dqd, &d.dqdd_dq, &d.dqdd_dqd, &d.twist, &d.plus, &d.minus, &d.extra};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i] = c->vector[i];
    for (size_t k = 0; k < c->nv && dyn_loop_may_continue(c); k++) {
        find_direction(c, scene, k, &d);
        dyn_loop_put_column(c, c->nvt, c->nv, d.dqd, k, c->wide[1]);
        dyn_loop_put_column(c, c->nvt, c->nv, d.dqdd_dq, k, c->wide[2]);
        dyn_loop_put_column(c, c->nvt, c->nv, d.dqdd_dqd, k, c->wide[3]);
        dyn_loop_put_column(c, c->nvt, c->nv, d.twist, k, c->wide[4]);
    }
}

/* --- inverse dynamics -------------------------------------------------------------------------------------------- */

/* Sets to = T G for a matrix T of the tree (nvt x nvt), with qd_tree = G qd. */
static void multiply_G(const dyn_loop_workspace *c, const double *T, double *to)
{
    dyn_matrix_mul(&c->lanes, c->nvt, c->nvt, c->nv, T, c->G, 0, to);
}

/* Adds T X to `to`, for a matrix T of the tree (nvt x nvt) and X (nvt x nv). */
static void add_tree_product(const dyn_loop_workspace *c, const double *T, const double *X, double *to)
{
    dyn_matrix_mul(&c->lanes, c->nvt, c->nvt, c->nv, T, X, 1, to);
}

static void find_matrices(dyn_loop_workspace *c, const dyn_sensitivity *io)
{
    const double *T_q = c->square[0], *T_qd = c->square[1], *T_qdd = c->square[2];
    double       *by_q = c->wide[5], *by_qd = c->wide[6], *by_qdd = c->wide[7];
    size_t        n = c->nvt * c->nv * c->W;
    multiply_G(c, T_qdd, by_qdd);
    dyn_loop_project(c, c->nv, by_qdd, io->dtau_dqdd);
    dyn_loop_mirror(c->W, c->nv, io->dtau_dqdd);

    multiply_G(c, T_qd, by_qd);
    add_tree_product(c, T_qdd, c->wide[3], by_qd);
    dyn_loop_project(c, c->nv, by_qd, io->dtau_dqd);

    multiply_G(c, T_q, by_q);
    add_tree_product(c, T_qd, c->wide[1], by_q);
    add_tree_product(c, T_qdd, c->wide[2], by_q);
    for (size_t i = 0; i < n; i++)
        by_q[i] -= c->wide[4][i];
    dyn_loop_project(c, c->nv, by_q, io->dtau_dq);
}

/* Differentiates the efforts tau with respect to q, qd and qdd, without the friction that depends on the load. */
static void differentiate_efforts(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io)
{
    size_t n = c->nvt * c->W;
    if (!dyn_closure_may_continue(&c->closure)) return;
    dyn_loop_find_accelerations(c, scene, io->qd, io->qdd);
    dyn_loop_tree_torques(c, scene, io->wrenches);
    dyn_loop_find_forces(c);
    dyn_loop_find_directions(c, scene);
    dyn_sensitivity inner = {.q             = c->q,
                             .qd            = c->qd,
                             .qdd           = c->qdd,
                             .wrenches      = io->wrenches,
                             .dtau_dq       = c->square[0],
                             .dtau_dqd      = c->square[1],
                             .dtau_dqdd     = c->square[2],
                             .dtau_dgravity = io->dtau_dgravity ? c->extra : NULL,
                             .dtau_dwrench  = io->dtau_dwrench ? c->extra + (io->dtau_dgravity ? 3 * n : 0) : NULL};
    if (!dyn_closure_may_continue(&c->closure)) return;
    c->tree->sensitivity(scene, c->workspace, &inner, 1);
    find_matrices(c, io);
    if (io->dtau_dgravity) dyn_loop_project(c, 3, inner.dtau_dgravity, io->dtau_dgravity);
    for (size_t w = 0; io->dtau_dwrench && w < scene->n_wrenches; w++)
        dyn_loop_project(c, 6, inner.dtau_dwrench + 6 * w * n, io->dtau_dwrench + 6 * w * c->nv * c->W);
    if (io->djoint_wrenches_dq || io->djoint_wrenches_dqd || io->djoint_wrenches_dqdd)
        dyn_loop_joint_wrenches(c, scene, io);
}

void dyn_loop_results_sensitivity(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io,
                                  const dyn_loop_results *results)
{
    differentiate_efforts(c, scene, io);
    dyn_loop_differentiate_results(c, scene, io->wrenches, results);
}

void dyn_loop_sensitivity(const dyn_scene *scene, void *ws, const dyn_sensitivity *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    differentiate_efforts(ws, scene, io);
    dyn_loop_load_sensitivity(ws, scene, io);
}

/* --- forward dynamics -------------------------------------------------------------------------------------------- */

/* Replaces X (nv x columns) by -M^-1 X in one lane, with the Cholesky factor of the mass matrix M in c->dense. */
static void solve_columns(dyn_loop_workspace *c, size_t lane, size_t columns, double *X)
{
    enum { LOOK = 8 }; /* columns between two checks of the deadline: less than a millisecond */
    lapack_int n = (lapack_int)c->nv;
    for (size_t k = 0; k < columns && (k % LOOK > 0 || dyn_closure_may_continue(&c->closure)); k++) {
        for (size_t i = 0; i < c->nv; i++)
            c->solution[i] = -X[(i * columns + k) * c->W + lane];
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, 1, c->dense, n, c->solution, n);
        for (size_t i = 0; i < c->nv; i++)
            X[(i * columns + k) * c->W + lane] = c->solution[i];
    }
}

void dyn_loop_forward_sensitivity(const dyn_scene *scene, void *ws, const dyn_forward_sensitivity *io, size_t blocks)
{
    dyn_loop_workspace  *c       = ws;
    double              *M       = io->dqdd_dtau ? io->dqdd_dtau : c->wide[0];
    dyn_forward_dynamics forward = {
        .q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd, .singular = io->singular};
    dyn_sensitivity inverse = {.q            = io->q,
                               .qd           = io->qd,
                               .qdd          = io->qdd,
                               .wrenches     = io->wrenches,
                               .dtau_dq      = io->dqdd_dq,
                               .dtau_dqd     = io->dqdd_dqd,
                               .dtau_dqdd    = M,
                               .dtau_dwrench = io->dqdd_dwrench};
    dyn_loop_forward_dynamics(scene, ws, &forward, blocks);
    differentiate_efforts(c, scene, &inverse);
    dyn_loop_load_slopes(c, scene, io->qd, io->tau, io->dqdd_dqd);
    for (size_t lane = 0; lane < c->closure.live && dyn_closure_may_continue(&c->closure); lane++) {
        if (!dyn_loop_factor_mass(c, M, lane, &io->singular[lane])) continue;
        solve_columns(c, lane, c->nv, io->dqdd_dq);
        solve_columns(c, lane, c->nv, io->dqdd_dqd);
        for (size_t w = 0; io->dqdd_dwrench && w < scene->n_wrenches; w++)
            solve_columns(c, lane, 6, io->dqdd_dwrench + 6 * w * c->nv * c->W);
        if (io->dqdd_dtau && dyn_closure_may_continue(&c->closure)) dyn_loop_put_inverse(c, lane, io->dqdd_dtau);
    }
    if (io->dqdd_dtau) dyn_loop_load_columns(c, scene, io->dqdd_dtau);
}

/* --- Coriolis matrix --------------------------------------------------------------------------------------------- */

void dyn_loop_differentiate_G(dyn_loop_workspace *c, const dyn_scene *scene, const double *G_k, double *dG)
{
    dyn_closure_rate(&c->closure, scene, G_k, c->Jk);
    memset(dG, 0, c->nvt * c->nv * c->W * sizeof *dG);
    dyn_closure_times(&c->closure, c->Jk, c->nv, c->G, 0, c->row_matrix);
    dyn_loop_subtract_passive(c, c->nv, c->row_matrix, dG);
}

/* Writes the Christoffel symbols Gamma_ijk of coordinate k: Gamma_ijk = G_i^T (Gamma_tree G_k) G_j + G_i^T M dG_j/dq_k,
 * with the tree's symbols Gamma_tree and mass matrix M, and G_k column k of G. */
static void put_christoffel(dyn_loop_workspace *c, const dyn_scene *scene, size_t k, const double *tree, double *to)
{
    size_t  n = c->nvt, nv = c->nv;
    double *G_k = c->vector[0], *christoffel_k = c->square[1], *dG = c->wide[1], *all = c->square[2];
    dyn_loop_get_column(c, n, nv, c->G, k, G_k);
    dyn_loop_differentiate_G(c, scene, G_k, dG);
    dyn_matrix_mul(&c->lanes, n * n, n, 1, tree, G_k, 0, christoffel_k);
    dyn_matrix_mul(&c->lanes, n, n, nv, christoffel_k, c->G, 0, c->wide[0]);
    dyn_matrix_mul(&c->lanes, n, n, nv, c->square[0], dG, 1, c->wide[0]);
    dyn_loop_project(c, nv, c->wide[0], all);
    dyn_loop_put_column(c, nv * nv, nv, all, k, to);
}

/* Computes the Coriolis matrix C = G^T (M G' + C_tree G), with M and C_tree of the tree and qd_tree = G qd. With it,
 * dM/dt - 2 C of the model is skew-symmetric. */
void dyn_loop_coriolis(const dyn_scene *scene, void *ws, const dyn_coriolis *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c    = ws;
    dyn_mass_matrix     mass = {.q = c->q, .mass_matrix = c->square[0]};
    dyn_loop_find_accelerations(c, scene, io->qd, NULL);
    dyn_loop_find_G_rate(c);
    c->tree->mass_matrix(scene, c->workspace, &mass, 1);
    dyn_coriolis inner = {.q               = c->q,
                          .qd              = c->qd,
                          .coriolis_matrix = io->coriolis_matrix ? c->square[1] : NULL,
                          .christoffel     = io->christoffel ? c->extra : NULL};
    c->tree->coriolis(scene, c->workspace, &inner, 1);
    if (io->coriolis_matrix) {
        multiply_G(c, c->square[1], c->wide[0]);
        add_tree_product(c, c->square[0], c->Gd, c->wide[0]);
        dyn_loop_project(c, c->nv, c->wide[0], io->coriolis_matrix);
    }
    for (size_t k = 0; io->christoffel && k < c->nv && dyn_loop_may_continue(c); k++)
        put_christoffel(c, scene, k, c->extra, io->christoffel);
}
