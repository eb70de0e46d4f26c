/* loop_kernels.c - computes the dynamics of a model with loops from those of its tree (loop_kernels.h), one block of
 * states. */
#include "loop_workspace.h"
#include <float.h>
#include <lapacke.h>
#include <string.h>

/* --- mass matrix ------------------------------------------------------------------------------------------------- */

/* Copies the upper triangle to the lower one, so that the matrix is symmetric to the last bit. */
void dyn_loop_mirror(size_t W, size_t n, double *M)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            memcpy(M + (i * n + j) * W, M + (j * n + i) * W, W * sizeof *M);
}

/* Sets to = G^T X G for a symmetric matrix X of the tree (nvt x nvt), with qd_tree = G qd. */
static void project_symmetric(dyn_loop_workspace *c, const double *X, double *to)
{
    dyn_matrix_mul(&c->lanes, c->nvt, c->nvt, c->nv, X, c->G, 0, c->wide[0]);
    dyn_loop_project(c, c->nv, c->wide[0], to);
    dyn_loop_mirror(c->W, c->nv, to);
}

/* Finds the mass matrix M = G^T M_tree G (nv x nv), with qd_tree = G qd. Leaves M_tree in square[0]. */
static void find_mass_matrix(dyn_loop_workspace *c, const dyn_scene *scene, double *M)
{
    dyn_mass_matrix io = {.q = c->q, .mass_matrix = c->square[0]};
    c->tree->mass_matrix(scene, c->workspace, &io, 1);
    project_symmetric(c, c->square[0], M);
}

/* Returns, as a number for `singular`, the index of the body whose joint has the actuated velocity v. */
static double body_of(const dyn_loop_workspace *c, size_t v)
{
    const dyn_model *m = c->mechanism.tree;
    size_t           i = 0;
    while (i + 1 < m->n_bodies && (m->body[i].joint.mimic || m->body[i].joint.v != c->loops->active_v[v]))
        i++;
    return (double)i;
}

bool dyn_loop_factor_mass(dyn_loop_workspace *c, const double *M, size_t lane, double *where)
{
    lapack_int n = (lapack_int)c->nv;
    double    *L = c->dense, *diagonal = L + c->nv * c->nv;
    for (size_t i = 0; i < c->nv * c->nv; i++)
        L[i] = M[i * c->W + lane];
    for (size_t i = 0; i < c->nv; i++)
        diagonal[i] = L[i * (c->nv + 1)];
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n);
    size_t     at   = info > 0 ? (size_t)info - 1 : c->nv;
    for (size_t i = 0; i < at && info == 0; i++)
        if (!(L[i * (c->nv + 1)] * L[i * (c->nv + 1)] > 8 * DBL_EPSILON * (double)c->nvt * diagonal[i])) at = i;
    *where = at < c->nv ? body_of(c, at) : -1;
    return at == c->nv;
}

void dyn_loop_put_inverse(dyn_loop_workspace *c, size_t lane, double *inverse)
{
    size_t n = c->nv;
    LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, c->dense, (lapack_int)n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            inverse[(i * n + j) * c->W + lane] = inverse[(j * n + i) * c->W + lane] = c->dense[j * n + i];
}

void dyn_loop_mass_matrix(const dyn_scene *scene, void *ws, const dyn_mass_matrix *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c = ws;
    find_mass_matrix(c, scene, io->mass_matrix);
    for (size_t lane = 0; io->inverse && lane < c->closure.live && dyn_closure_may_continue(&c->closure); lane++)
        if (dyn_loop_factor_mass(c, io->mass_matrix, lane, &io->singular[lane]))
            dyn_loop_put_inverse(c, lane, io->inverse);
    if (!io->inverse) return;
    dyn_closure_pad(&c->closure, c->nv * c->nv, io->inverse);
    dyn_closure_pad(&c->closure, 1, io->singular);
}

/* --- inverse and forward dynamics -------------------------------------------------------------------------------- */

void dyn_loop_tree_torques(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches)
{
    dyn_inverse_dynamics io = {.q = c->q, .qd = c->qd, .qdd = c->qdd, .wrenches = wrenches, .tau = c->tau};
    c->tree->inverse_dynamics(scene, c->workspace, &io, 1);
}

void dyn_loop_inverse_dynamics(const dyn_scene *scene, void *ws, const dyn_inverse_dynamics *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c = ws;
    dyn_loop_find_accelerations(c, scene, io->qd, io->qdd);
    dyn_loop_tree_torques(c, scene, io->wrenches);
    dyn_loop_find_forces(c);
    if (io->tau) dyn_loop_project(c, 1, c->tau, io->tau);
    if (io->tau) dyn_loop_add_load(c, scene, io->qd, io->tau);
    if (!io->joint_wrenches) return;
    dyn_scene            pushed = dyn_loop_add_wrenches(c, scene, io->wrenches);
    dyn_inverse_dynamics inner  = {
         .q = c->q, .qd = c->qd, .qdd = c->qdd, .wrenches = c->wrenches, .joint_wrenches = io->joint_wrenches};
    c->tree->inverse_dynamics(&pushed, c->workspace, &inner, 1);
}

/* Replaces the rows of driven coordinates in one lane's system M x = b by x = given, and moves their columns times
 * `given` to the right side. */
static void fix_driven(const dyn_loop_workspace *c, size_t lane, const bool *driven, const double *given, double *M,
                       double *b)
{
    size_t W = c->W, n = c->nv;
    for (size_t k = 0; k < n; k++) {
        if (!driven[k]) continue;
        double x = given ? given[k * W + lane] : 0;
        for (size_t i = 0; i < n; i++) {
            if (!driven[i]) b[i] -= M[(i * n + k) * W + lane] * x;
            M[(i * n + k) * W + lane] = M[(k * n + i) * W + lane] = i == k;
        }
        b[k] = x;
    }
}

void dyn_loop_forward_dynamics(const dyn_scene *scene, void *ws, const dyn_forward_dynamics *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c = ws;
    size_t              W = c->W;
    double             *h = c->tau_dot, *M = c->square[1];
    const double       *R = dyn_loop_remove_load(c, scene, io->qd, io->tau);
    if (!dyn_closure_may_continue(&c->closure)) return;
    dyn_loop_find_accelerations(c, scene, io->qd, NULL);
    dyn_loop_tree_torques(c, scene, io->wrenches);
    dyn_loop_project(c, 1, c->tau, h);
    find_mass_matrix(c, scene, M);
    for (size_t lane = 0; lane < c->closure.live && dyn_closure_may_continue(&c->closure); lane++) {
        double *solved = c->solution;
        for (size_t i = 0; i < c->nv; i++)
            solved[i] = (R ? R[i * W + lane] : 0) - h[i * W + lane];
        if (io->driven) fix_driven(c, lane, io->driven, io->driven_qdd, M, solved);
        if (dyn_loop_factor_mass(c, M, lane, &io->singular[lane]))
            LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (lapack_int)c->nv, 1, c->dense, (lapack_int)c->nv, solved,
                                (lapack_int)c->nv);
        for (size_t i = 0; i < c->nv; i++)
            io->qdd[i * W + lane] = solved[i];
    }
    dyn_closure_pad(&c->closure, c->nv, io->qdd);
    dyn_closure_pad(&c->closure, 1, io->singular);
}

/* --- terms of the equation of motion ------------------------------------------------------------------------------ */

/* Adds to the friction without load the friction that depends on the load at qdd = 0. On entry c->qdd holds the tree's
 * accelerations for qdd = 0. */
static void add_load_at_rest(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_bias *io)
{
    double *R = c->vector[0], *tau = c->vector[1];
    dyn_loop_tree_torques(c, scene, io->wrenches);
    dyn_loop_project(c, 1, c->tau, R);
    memcpy(tau, R, c->nv * c->W * sizeof *tau);
    dyn_loop_add_load(c, scene, io->qd, tau);
    for (size_t i = 0; i < c->nv * c->W; i++)
        io->friction[i] += tau[i] - R[i];
}

void dyn_loop_bias(const dyn_scene *scene, void *ws, const dyn_bias *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c     = ws;
    dyn_scene           still = {.model = scene->model};
    dyn_loop_find_accelerations(c, scene, io->qd, NULL);
    if (io->bias) {
        dyn_loop_tree_torques(c, scene, io->wrenches);
        dyn_loop_project(c, 1, c->tau, io->bias);
        dyn_loop_add_load(c, scene, io->qd, io->bias);
    }
    if (io->coriolis) {
        dyn_loop_tree_torques(c, &still, NULL);
        dyn_loop_project(c, 1, c->tau, io->coriolis);
    }
    dyn_bias inner = {
        .q = c->q, .qd = c->qd, .gravity = io->gravity ? c->tau : NULL, .friction = io->friction ? c->tau_dot : NULL};
    if (!inner.gravity && !inner.friction) return;
    c->tree->bias(scene, c->workspace, &inner, 1);
    if (io->gravity) dyn_loop_project(c, 1, c->tau, io->gravity);
    if (io->friction) dyn_loop_project(c, 1, c->tau_dot, io->friction);
    if (io->friction) add_load_at_rest(c, scene, io);
}

/* Sets to = X G, with X rows x nvt and qd_tree = G qd. */
static void times_G(const dyn_loop_workspace *c, size_t rows, const double *X, double *to)
{
    dyn_matrix_mul(&c->lanes, rows, c->nvt, c->nv, X, c->G, 0, to);
}

/* The frame Jacobian is J G and its rate J' G + J G', with J the frame Jacobian of the tree and qd_tree = G qd. */
void dyn_loop_kinematics(const dyn_scene *scene, void *ws, const dyn_kinematics *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c     = ws;
    dyn_kinematics      inner = *io;
    if (io->jerk)
        dyn_loop_find_jerks(c, scene, io->qd, io->qdd, io->qddd);
    else if (io->acceleration || io->jacobian_dot)
        dyn_loop_find_accelerations(c, scene, io->qd, io->qdd);
    else
        dyn_loop_find_velocities(c, io->qd);
    inner.q            = c->q;
    inner.qd           = c->qd;
    inner.qdd          = c->qdd;
    inner.qddd         = c->qddd;
    inner.jacobian     = io->jacobian || io->jacobian_dot ? c->jacobian_work[0] : NULL;
    inner.jacobian_dot = io->jacobian_dot ? c->jacobian_work[1] : NULL;
    c->tree->kinematics(scene, c->workspace, &inner, 1);
    if (io->jacobian) times_G(c, 6, c->jacobian_work[0], io->jacobian);
    if (!io->jacobian_dot) return;
    dyn_loop_find_G_rate(c);
    times_G(c, 6, c->jacobian_work[1], io->jacobian_dot);
    dyn_matrix_mul(&c->lanes, 6, c->nvt, c->nv, c->jacobian_work[0], c->Gd, 1, io->jacobian_dot);
}

void dyn_loop_energy(const dyn_scene *scene, void *ws, const dyn_energy *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c     = ws;
    dyn_energy          inner = *io;
    dyn_loop_find_velocities(c, io->qd);
    inner.q               = c->q;
    inner.qd              = c->qd;
    inner.com_jacobian    = io->com_jacobian ? c->jacobian_work[0] : NULL;
    inner.momentum_matrix = io->momentum_matrix ? c->jacobian_work[1] : NULL;
    c->tree->energy(scene, c->workspace, &inner, 1);
    if (io->com_jacobian) times_G(c, 3, c->jacobian_work[0], io->com_jacobian);
    if (io->momentum_matrix) times_G(c, 6, c->jacobian_work[1], io->momentum_matrix);
}

/* Computes the energy regressor of the tree at the tree's velocities: the inertial parameters of a mechanism are those
 * of its tree. */
void dyn_loop_energy_regressor(const dyn_scene *scene, void *ws, const dyn_energy_regressor *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace  *c     = ws;
    dyn_energy_regressor inner = *io;
    dyn_loop_find_velocities(c, io->qd);
    inner.q  = c->q;
    inner.qd = c->qd;
    c->tree->energy_regressor(scene, c->workspace, &inner, 1);
}

/* The rate of the momentum matrix is A' G + A G', with A the momentum matrix of the tree. Models with loops have no
 * derivatives of it with respect to the state; these outputs must be NULL. */
void dyn_loop_centroidal(const dyn_scene *scene, void *ws, const dyn_centroidal *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c     = ws;
    dyn_centroidal      inner = *io;
    if (io->com_jerk)
        dyn_loop_find_jerks(c, scene, io->qd, io->qdd, io->qddd);
    else
        dyn_loop_find_accelerations(c, scene, io->qd, io->qdd);
    inner.q                   = c->q;
    inner.qd                  = c->qd;
    inner.qdd                 = c->qdd;
    inner.qddd                = c->qddd;
    inner.momentum_matrix_dot = io->momentum_matrix_dot ? c->jacobian_work[1] : NULL;
    c->tree->centroidal(scene, c->workspace, &inner, 1);
    if (!io->momentum_matrix_dot) return;
    dyn_loop_find_G_rate(c);
    c->tree->energy(scene, c->workspace, &(dyn_energy){.q = c->q, .momentum_matrix = c->jacobian_work[0]}, 1);
    times_G(c, 6, c->jacobian_work[1], io->momentum_matrix_dot);
    dyn_matrix_mul(&c->lanes, 6, c->nvt, c->nv, c->jacobian_work[0], c->Gd, 1, io->momentum_matrix_dot);
}

/* Finds the loops' wrenches and their rates from the tree's efforts c->tau and their rates c->tau_dot, which are
 * overwritten. The motion is that of the last call of dyn_loop_find_jerks. Returns the scene with the loops' wrenches
 * added. */
static dyn_scene push_rates(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches, const double *rates)
{
    double *left = c->tau_dot;
    dyn_loop_find_forces(c);
    dyn_closure_times_transposed(&c->closure, c->Jd, c->lambda, -1, left);
    dyn_loop_find_force_rates(c, left, c->Jd);
    dyn_scene pushed = dyn_loop_add_wrenches(c, scene, wrenches);
    dyn_loop_add_wrench_rates(c, scene->n_wrenches, rates, c->qd);
    return pushed;
}

dyn_scene dyn_loop_tree_motion(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_torque_derivative *motion,
                               bool rates, dyn_torque_derivative *tree)
{
    *tree = (dyn_torque_derivative){.q = c->q, .qd = c->qd, .qdd = c->qdd, .wrenches = motion->wrenches};
    dyn_scene pushed;
    if (rates) {
        dyn_loop_find_jerks(c, scene, motion->qd, motion->qdd, motion->qddd);
        tree->qddd         = c->qddd;
        tree->wrench_rates = motion->wrench_rates;
        tree->tau          = c->tau;
        tree->tau_dot      = c->tau_dot;
        c->tree->torque_derivative(scene, c->workspace, tree, 1);
        pushed             = push_rates(c, scene, motion->wrenches, motion->wrench_rates);
        tree->wrench_rates = c->wrench_rates;
    } else {
        dyn_loop_find_accelerations(c, scene, motion->qd, motion->qdd);
        dyn_loop_tree_torques(c, scene, motion->wrenches);
        dyn_loop_find_forces(c);
        pushed = dyn_loop_add_wrenches(c, scene, motion->wrenches);
    }
    tree->wrenches = c->wrenches;
    tree->tau = tree->tau_dot = NULL;
    return pushed;
}

/* Computes tau = G^T tau_tree and its rate tau' = G'^T tau_tree + G^T tau_tree', with qd_tree = G qd. */
void dyn_loop_torque_derivative(const dyn_scene *scene, void *ws, const dyn_torque_derivative *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c = ws;
    dyn_loop_find_jerks(c, scene, io->qd, io->qdd, io->qddd);
    dyn_torque_derivative inner = *io;
    inner.q                     = c->q;
    inner.qd                    = c->qd;
    inner.qdd                   = c->qdd;
    inner.qddd                  = c->qddd;
    inner.tau                   = c->tau;
    inner.tau_dot               = c->tau_dot;
    inner.joint_wrenches = inner.joint_wrench_rates = NULL;
    c->tree->torque_derivative(scene, c->workspace, &inner, 1);
    if (io->tau) dyn_loop_project(c, 1, c->tau, io->tau);
    if (io->tau_dot) {
        dyn_loop_find_G_rate(c);
        dyn_loop_project(c, 1, c->tau_dot, io->tau_dot);
        dyn_matrix_mul_transposed(&c->lanes, c->nv, c->nvt, 1, c->Gd, c->tau, 1, io->tau_dot);
        dyn_loop_project(c, 1, c->tau, c->vector[0]);
        dyn_loop_add_load_rate(c, scene, io, c->vector[0]);
    }
    if (io->tau) dyn_loop_add_load(c, scene, io->qd, io->tau);
    if (!io->joint_wrenches && !io->joint_wrench_rates) return;
    dyn_scene pushed         = push_rates(c, scene, io->wrenches, io->wrench_rates);
    inner.qddd               = c->qddd;
    inner.tau                = NULL;
    inner.tau_dot            = NULL;
    inner.wrenches           = c->wrenches;
    inner.wrench_rates       = c->wrench_rates;
    inner.joint_wrenches     = io->joint_wrenches;
    inner.joint_wrench_rates = io->joint_wrench_rates;
    c->tree->torque_derivative(&pushed, c->workspace, &inner, 1);
}

/* Finds the reference motion of the tree, qd_r,tree = G qd_r and qdd_r,tree = G qdd_r + G' qd_r with G' at qd. The
 * Coriolis matrix of the model is C = G^T (C_tree G + M_tree G'), so that G^T times the tree's efforts for this motion
 * contains M qdd_r + C qd_r. */
static void find_reference(dyn_loop_workspace *c, const double *qd_r, const double *qdd_r, double *qd_tree,
                           double *qdd_tree)
{
    const size_t bytes = c->nvt * c->W * sizeof *qd_tree;
    memset(qd_tree, 0, bytes);
    memset(qdd_tree, 0, bytes);
    if (qd_r) dyn_matrix_mul(&c->lanes, c->nvt, c->nv, 1, c->G, qd_r, 0, qd_tree);
    if (qdd_r) dyn_matrix_mul(&c->lanes, c->nvt, c->nv, 1, c->G, qdd_r, 0, qdd_tree);
    if (!qd_r) return;
    dyn_loop_find_G_rate(c);
    dyn_matrix_mul(&c->lanes, c->nvt, c->nv, 1, c->Gd, qd_r, 1, qdd_tree);
}

void dyn_model_loops_dynamics(const dyn_scene *scene, void *ws, const dyn_reference_dynamics *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace    *c     = ws;
    dyn_reference_dynamics inner = {.q             = c->q,
                                    .qd            = c->qd,
                                    .qd_reference  = c->vector[0],
                                    .qdd_reference = c->vector[1],
                                    .wrenches      = io->wrenches,
                                    .tau           = c->tau};
    dyn_loop_find_accelerations(c, scene, io->qd, NULL);
    find_reference(c, io->qd_reference, io->qdd_reference, c->vector[0], c->vector[1]);
    c->tree->reference_dynamics(scene, c->workspace, &inner, 1);
    dyn_loop_project(c, 1, c->tau, io->tau);
    dyn_loop_add_load(c, scene, io->qd_reference, io->tau);
}

/* Sets `to` to the rate of the regressor, G'^T Y_tree + G^T Y_tree', at the motion that dyn_loop_find_jerks found.
 * `tree` is scratch for Y_tree. */
static void find_regressor_rate(dyn_loop_workspace *c, const dyn_scene *scene, double *tree, double *to)
{
    const size_t  columns = 10 * c->mechanism.tree->n_rows;
    dyn_regressor inner   = {.q = c->q, .qd = c->qd, .qdd = c->qdd, .qddd = c->qddd, .regressor = tree};
    c->tree->regressor(scene, c->workspace, &inner, 1);
    dyn_loop_find_G_rate(c);
    dyn_matrix_mul_transposed(&c->lanes, c->nv, c->nvt, columns, c->Gd, tree, 0, to);
    inner.regressor     = NULL;
    inner.regressor_dot = tree;
    c->tree->regressor(scene, c->workspace, &inner, 1);
    dyn_matrix_mul_transposed(&c->lanes, c->nv, c->nvt, columns, c->G, tree, 1, to);
}

static void add_load_to_rows(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_regressor *io)
{
    if (!c->loops->loaded) return;
    dyn_loop_tree_torques(c, scene, io->wrenches);
    dyn_loop_load_rows(c, scene, io->qd, 10 * c->mechanism.tree->n_rows, io->regressor);
}

/* Computes the regressor G^T Y_tree: tau = G^T Y_tree p, with Y_tree the regressor of the tree and p its inertial
 * parameters. G, of qd_tree = G qd, does not depend on p. */
void dyn_loop_regressor(const dyn_scene *scene, void *ws, const dyn_regressor *io, size_t blocks)
{
    (void)blocks; /* always 1: the workspace holds one block */
    dyn_loop_workspace *c      = ws;
    size_t              bodies = 10 * c->mechanism.tree->n_rows, joints = 3 * c->mechanism.n_movers;
    dyn_regressor       inner = {.q = c->q, .qd = c->qd, .qdd = c->qdd};
    inner.regressor           = io->regressor ? c->extra : NULL;
    inner.joint_regressor     = io->joint_regressor ? c->extra + (io->regressor ? c->nvt * bodies * c->W : 0) : NULL;
    if (io->regressor_dot) {
        dyn_loop_find_jerks(c, scene, io->qd, io->qdd, io->qddd);
        find_regressor_rate(c, scene, c->extra, io->regressor_dot);
        if (!io->regressor && !io->joint_regressor) return;
    }
    dyn_loop_find_accelerations(c, scene, io->qd, io->qdd);
    if (io->qd_reference || io->qdd_reference) {
        find_reference(c, io->qd_reference, io->qdd_reference, c->vector[0], c->vector[1]);
        inner.qd_reference  = c->vector[0];
        inner.qdd_reference = c->vector[1];
    }
    c->tree->regressor(scene, c->workspace, &inner, 1);
    if (io->regressor) dyn_loop_project(c, bodies, inner.regressor, io->regressor);
    if (io->regressor) add_load_to_rows(c, scene, io);
    if (io->joint_regressor) dyn_loop_project(c, joints, inner.joint_regressor, io->joint_regressor);
}

/* --- constraints -------------------------------------------------------------------------------------------------- */

/* The tree's kernel factors the mass matrix of the model with loops, since io->dense tells it that this is not the
 * tree's matrix. A mass matrix counts as singular by the rule of dyn_loop_mass_matrix. */
void dyn_loop_constraint_factor(const dyn_scene *scene, void *ws, const dyn_constraint_factor *io, size_t blocks)
{
    dyn_loop_workspace *c = ws;
    c->tree->constraint_factor(scene, c->workspace, io, blocks);
    for (size_t lane = 0; !io->driven && lane < c->W && dyn_closure_may_continue(&c->closure); lane++)
        dyn_loop_factor_mass(c, io->mass_matrix, lane, &io->singular[lane]);
}

void dyn_loop_constraint_solution(const dyn_scene *scene, void *ws, const dyn_constraint_solution *io, size_t blocks)
{
    dyn_loop_workspace *c = ws;
    c->tree->constraint_solution(scene, c->workspace, io, blocks);
}

void dyn_loop_constraint_inertia(const dyn_scene *scene, void *ws, const dyn_constraint_inertia *io, size_t blocks)
{
    dyn_loop_workspace *c = ws;
    c->tree->constraint_inertia(scene, c->workspace, io, blocks);
}
