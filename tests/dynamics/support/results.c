/* results.c - evaluates all kernels for a trial (results.h). */
#include "results.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

results results_allocate(const trial *t)
{
    results r;
    size_t  n = t->nv, b = t->bodies, w = t->scene.n_wrenches;
#define X(name, entries) r.name = trial_array(t, entries);
    RESULTS(X)
#undef X
    return r;
}

void results_free(results *r)
{
#define X(name, entries) free(r->name);
    RESULTS(X)
#undef X
}

void results_frames(const trial *t, dyn_frame frames[2])
{
    const dyn_link_place *last = trial_last_link(t);
    frames[0]                  = (dyn_frame){t->model->base.body, t->model->base.X_bl};
    frames[1]                  = (dyn_frame){last->body, last->X_bl};
}

static void evaluate_forces(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_inverse_dynamics(k, &t->scene, t->rows,
                          (dyn_inverse_dynamics){.q              = t->q,
                                                 .qd             = t->qd,
                                                 .qdd            = t->qdd,
                                                 .wrenches       = t->wrenches,
                                                 .tau            = r->tau,
                                                 .joint_wrenches = r->joint_wrenches});
    rows_forward_dynamics(
        k, &t->scene, t->rows,
        (dyn_forward_dynamics){
            .q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .qdd = r->qdd, .singular = r->pivot});
    rows_mass_matrix(
        k, &t->scene, t->rows,
        (dyn_mass_matrix){.q = t->q, .mass_matrix = r->mass_matrix, .inverse = r->inverse, .singular = r->pivot_of_m});
    rows_bias(k, &t->scene, t->rows,
              (dyn_bias){.q        = t->q,
                         .qd       = t->qd,
                         .wrenches = t->wrenches,
                         .bias     = r->bias,
                         .coriolis = r->coriolis,
                         .gravity  = r->gravity,
                         .friction = r->friction});
}

/* Evaluates hybrid dynamics, with every other coordinate driven. */
static void evaluate_driven(const dyn_kernels *k, const trial *t, const results *r)
{
    bool    driven[DYN_MAX_DOF];
    double *driven_qdd = trial_array(t, t->nv);
    for (size_t i = 0; i < t->rows * t->nv; i++) {
        driven[i % t->nv] = i % t->nv % 2;
        if (driven[i % t->nv]) driven_qdd[i] = t->qdd[i];
    }
    rows_forward_dynamics(k, &t->scene, t->rows,
                          (dyn_forward_dynamics){.q          = t->q,
                                                 .qd         = t->qd,
                                                 .tau        = t->tau,
                                                 .wrenches   = t->wrenches,
                                                 .driven     = driven,
                                                 .driven_qdd = driven_qdd,
                                                 .qdd        = r->qdd_beside_driven,
                                                 .singular   = r->pivot_beside_driven});
    free(driven_qdd);
}

/* Evaluates the closure kernel for the last link relative to the base. */
static void evaluate_closure(const dyn_kernels *k, const trial *t, const results *r)
{
    const dyn_link_place *first = &t->model->base, *last = trial_last_link(t);
    const dyn_frame_pair  pair = {{first->body, first->X_bl}, {last->body, last->X_bl}};
    rows_closure(k, &t->scene, t->rows,
                 (dyn_closure){.q             = t->q,
                               .qd            = t->qd,
                               .qdd           = t->qdd,
                               .n_pairs       = 1,
                               .pairs         = &pair,
                               .positions     = r->seen_position,
                               .rotations     = r->seen_rotation,
                               .jacobian      = r->seen_jacobian,
                               .jacobian_dot  = r->seen_jacobian_dot,
                               .jacobian_ddot = r->seen_jacobian_ddot});
}

static void evaluate_derivatives(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_torque_derivative(k, &t->scene, t->rows,
                           (dyn_torque_derivative){.q                  = t->q,
                                                   .qd                 = t->qd,
                                                   .qdd                = t->qdd,
                                                   .qddd               = t->qddd,
                                                   .wrenches           = t->wrenches,
                                                   .wrench_rates       = t->wrench_rates,
                                                   .tau                = r->tau_beside_rate,
                                                   .tau_dot            = r->tau_dot,
                                                   .joint_wrenches     = r->wrenches_beside_rate,
                                                   .joint_wrench_rates = r->wrench_rates});
    rows_sensitivity(k, &t->scene, t->rows,
                     (dyn_sensitivity){.q                    = t->q,
                                       .qd                   = t->qd,
                                       .qdd                  = t->qdd,
                                       .wrenches             = t->wrenches,
                                       .dtau_dq              = r->dtau_dq,
                                       .dtau_dqd             = r->dtau_dqd,
                                       .dtau_dqdd            = r->dtau_dqdd,
                                       .djoint_wrenches_dq   = r->dwrenches_dq,
                                       .djoint_wrenches_dqd  = r->dwrenches_dqd,
                                       .djoint_wrenches_dqdd = r->dwrenches_dqdd,
                                       .dtau_dwrench         = r->dtau_dwrench,
                                       .dtau_dgravity        = r->dtau_dgravity});
    rows_sensitivity_rate(k, &t->scene, t->rows,
                          (dyn_sensitivity_rate){.q             = t->q,
                                                 .qd            = t->qd,
                                                 .qdd           = t->qdd,
                                                 .qddd          = t->qddd,
                                                 .wrenches      = t->wrenches,
                                                 .dtau_dq_dot   = r->dtau_dq_dot,
                                                 .dtau_dqd_dot  = r->dtau_dqd_dot,
                                                 .dtau_dqdd_dot = r->dtau_dqdd_dot});
}

/* Evaluates tau with three time derivatives, along a motion whose fourth and fifth derivatives are qdd and qd again. */
static void evaluate_series(const dyn_kernels *k, const trial *t, const results *r)
{
    const double *rate[] = {t->qd, t->qdd, t->qddd, t->qdd, t->qd};
    const size_t  n = t->nv, entries = t->nq + 5 * n;
    if (t->nv > RESULTS_FEW_COORDINATES) return;
    double *motion = calloc(t->rows * entries, sizeof *motion);
    assert_non_null(motion);
    for (size_t row = 0; row < t->rows; row++) {
        memcpy(motion + row * entries, t->q + row * t->nq, t->nq * sizeof *motion);
        for (size_t i = 0; i < 5; i++)
            memcpy(motion + row * entries + t->nq + i * n, rate[i] + row * n, n * sizeof *motion);
    }
    rows_torque_series(
        k, &t->scene, t->rows,
        (dyn_torque_series){.order = 3, .motion = motion, .wrenches = t->wrenches, .tau = r->tau_series});
    free(motion);
}

/* Evaluates the gradients, with the random numbers of qddd as multipliers. */
static void evaluate_gradients(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_gradient(k, &t->scene, t->rows,
                  (dyn_gradient){.q                   = t->q,
                                 .qd                  = t->qd,
                                 .qdd                 = t->qdd,
                                 .wrenches            = t->wrenches,
                                 .multipliers         = t->qddd,
                                 .tau                 = r->gradient_tau,
                                 .gradient_q          = r->gradient_q,
                                 .gradient_qd         = r->gradient_qd,
                                 .gradient_qdd        = r->gradient_qdd,
                                 .gradient_parameters = r->gradient_parameters,
                                 .gradient_wrenches   = r->gradient_wrenches,
                                 .gradient_gravity    = r->gradient_gravity});
    rows_forward_gradient(k, &t->scene, t->rows,
                          (dyn_forward_gradient){.q            = t->q,
                                                 .qd           = t->qd,
                                                 .tau          = t->tau,
                                                 .wrenches     = t->wrenches,
                                                 .multipliers  = t->qddd,
                                                 .qdd          = r->qdd_beside_gradient,
                                                 .gradient_q   = r->forward_gradient_q,
                                                 .gradient_qd  = r->forward_gradient_qd,
                                                 .gradient_tau = r->forward_gradient_tau,
                                                 .singular     = r->pivot_beside_gradient});
    rows_friction_gradient(
        k, &t->scene, t->rows,
        (dyn_friction_gradient){.qd = t->qd, .T = t->tau, .multipliers = t->qddd, .gradient = r->by_friction});
}

/* Evaluates directional derivatives along one direction, whose parts are vectors of the state. */
static void evaluate_rates(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_directional(k, &t->scene, t->rows,
                     (dyn_directional){.q             = t->q,
                                       .qd            = t->qd,
                                       .qdd           = t->qdd,
                                       .wrenches      = t->wrenches,
                                       .n             = 1,
                                       .direction_q   = t->qddd,
                                       .direction_qd  = t->tau,
                                       .direction_qdd = t->qdd,
                                       .rates         = r->rates,
                                       .tau           = r->tau_beside_rates});
    rows_forward_directional(k, &t->scene, t->rows,
                             (dyn_forward_directional){.q             = t->q,
                                                       .qd            = t->qd,
                                                       .tau           = t->tau,
                                                       .wrenches      = t->wrenches,
                                                       .n             = 1,
                                                       .direction_q   = t->qddd,
                                                       .direction_qd  = t->qdd,
                                                       .direction_tau = t->tau,
                                                       .rates         = r->forward_rates,
                                                       .qdd           = r->qdd_beside_rates,
                                                       .singular      = r->pivot_beside_rates});
}

/* Evaluates rates of the gradients along one direction. */
static void evaluate_products(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_hessian_product(k, &t->scene, t->rows,
                         (dyn_hessian_product){.q             = t->q,
                                               .qd            = t->qd,
                                               .qdd           = t->qdd,
                                               .wrenches      = t->wrenches,
                                               .multipliers   = t->qddd,
                                               .n             = 1,
                                               .direction_q   = t->tau,
                                               .direction_qd  = t->qdd,
                                               .direction_qdd = t->qddd,
                                               .product_q     = r->product_q,
                                               .product_qd    = r->product_qd,
                                               .product_qdd   = r->product_qdd});
    rows_forward_hessian_product(k, &t->scene, t->rows,
                                 (dyn_forward_hessian_product){.q             = t->q,
                                                               .qd            = t->qd,
                                                               .tau           = t->tau,
                                                               .wrenches      = t->wrenches,
                                                               .multipliers   = t->qddd,
                                                               .n             = 1,
                                                               .direction_q   = t->tau,
                                                               .direction_qd  = t->qdd,
                                                               .direction_tau = t->qddd,
                                                               .product_q     = r->forward_product_q,
                                                               .product_qd    = r->forward_product_qd,
                                                               .product_tau   = r->forward_product_tau,
                                                               .rates         = r->rates_beside_product,
                                                               .qdd           = r->qdd_beside_product,
                                                               .singular      = r->pivot_beside_product});
}

/* Evaluates the second derivatives, contracted with the multipliers qddd. */
static void evaluate_hessians(const dyn_kernels *k, const trial *t, const results *r)
{
    if (t->nv > RESULTS_FEW_COORDINATES) return;
    rows_hessian(k, &t->scene, t->rows,
                 (dyn_hessian){.q           = t->q,
                               .qd          = t->qd,
                               .qdd         = t->qdd,
                               .wrenches    = t->wrenches,
                               .multipliers = t->qddd,
                               .q_q         = r->hessian_q_q,
                               .q_qd        = r->hessian_q_qd,
                               .q_qdd       = r->hessian_q_qdd,
                               .qd_qd       = r->hessian_qd_qd});
    rows_forward_hessian(k, &t->scene, t->rows,
                         (dyn_forward_hessian){.q           = t->q,
                                               .qd          = t->qd,
                                               .tau         = t->tau,
                                               .wrenches    = t->wrenches,
                                               .multipliers = t->qddd,
                                               .q_q         = r->forward_q_q,
                                               .q_qd        = r->forward_q_qd,
                                               .qd_qd       = r->forward_qd_qd,
                                               .q_tau       = r->forward_q_tau,
                                               .singular    = r->pivot_beside_hessian});
}

static void evaluate_matrices(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_forward_sensitivity(k, &t->scene, t->rows,
                             (dyn_forward_sensitivity){.q            = t->q,
                                                       .qd           = t->qd,
                                                       .tau          = t->tau,
                                                       .wrenches     = t->wrenches,
                                                       .qdd          = r->qdd_beside_derivative,
                                                       .dqdd_dq      = r->dqdd_dq,
                                                       .dqdd_dqd     = r->dqdd_dqd,
                                                       .dqdd_dtau    = r->dqdd_dtau,
                                                       .dqdd_dwrench = r->dqdd_dwrench,
                                                       .singular     = r->pivot_beside_derivative});
    rows_coriolis(
        k, &t->scene, t->rows,
        (dyn_coriolis){.q = t->q, .qd = t->qd, .coriolis_matrix = r->coriolis_matrix, .christoffel = r->christoffel});
    rows_regressor(k, &t->scene, t->rows,
                   (dyn_regressor){.q               = t->q,
                                   .qd              = t->qd,
                                   .qdd             = t->qdd,
                                   .qddd            = t->qddd,
                                   .regressor       = r->regressor,
                                   .regressor_dot   = r->regressor_dot,
                                   .joint_regressor = r->joint_regressor});
}

/* Evaluates the passivity-based dynamics at the reference velocity qdd and the reference acceleration qddd. */
static void evaluate_reference(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_reference_dynamics(k, &t->scene, t->rows,
                            (dyn_reference_dynamics){.q             = t->q,
                                                     .qd            = t->qd,
                                                     .qd_reference  = t->qdd,
                                                     .qdd_reference = t->qddd,
                                                     .wrenches      = t->wrenches,
                                                     .tau           = r->reference_tau});
    rows_regressor(k, &t->scene, t->rows,
                   (dyn_regressor){.q               = t->q,
                                   .qd              = t->qd,
                                   .qd_reference    = t->qdd,
                                   .qdd_reference   = t->qddd,
                                   .regressor       = r->reference_regressor,
                                   .joint_regressor = r->reference_joint_regressor});
}

static void evaluate_motions(const dyn_kernels *k, const trial *t, const results *r)
{
    dyn_frame frames[2];
    results_frames(t, frames);
    dyn_kinematics io = {.q            = t->q,
                         .qd           = t->qd,
                         .qdd          = t->qdd,
                         .qddd         = t->qddd,
                         .n_frames     = 2,
                         .frames       = frames,
                         .positions    = r->positions,
                         .orientations = r->orientations,
                         .frame        = &frames[1],
                         .jacobian     = r->jacobian,
                         .jacobian_dot = r->jacobian_dot,
                         .velocity     = r->velocity,
                         .acceleration = r->acceleration,
                         .jerk         = r->jerk};
    rows_kinematics(k, &t->scene, t->rows, io);
    rows_kinematics(k, &t->scene, t->rows,
                    (dyn_kinematics){.q            = t->q,
                                     .qd           = t->qd,
                                     .qdd          = t->qdd,
                                     .qddd         = t->qddd,
                                     .frame        = &frames[1],
                                     .frame_axes   = true,
                                     .jacobian     = r->turned_jacobian,
                                     .jacobian_dot = r->turned_jacobian_dot,
                                     .velocity     = r->turned_velocity,
                                     .acceleration = r->turned_acceleration,
                                     .jerk         = r->turned_jerk});
    rows_energy(k, &t->scene, t->rows,
                (dyn_energy){.q                  = t->q,
                             .qd                 = t->qd,
                             .kinetic            = r->kinetic,
                             .potential          = r->potential,
                             .com                = r->com,
                             .com_velocity       = r->com_velocity,
                             .com_jacobian       = r->com_jacobian,
                             .momentum           = r->momentum,
                             .momentum_matrix    = r->momentum_matrix,
                             .centroidal_inertia = r->centroidal_inertia});
}

static void evaluate_frames(const dyn_kernels *k, const trial *t, const results *r)
{
    dyn_frame frames[2];
    results_frames(t, frames);
    dyn_frame_sensitivity io = {.q                 = t->q,
                                .qd                = t->qd,
                                .qdd               = t->qdd,
                                .n_frames          = 2,
                                .frames            = frames,
                                .dvelocity_dq      = r->dvelocity_dq,
                                .dacceleration_dq  = r->dacceleration_dq,
                                .dacceleration_dqd = r->dacceleration_dqd,
                                .djacobian_dq      = r->djacobian_dq};
    rows_frame_sensitivity(k, &t->scene, t->rows, io);
    io.frame_axes        = true;
    io.dvelocity_dq      = r->turned_dvelocity_dq;
    io.dacceleration_dq  = r->turned_dacceleration_dq;
    io.dacceleration_dqd = r->turned_dacceleration_dqd;
    io.djacobian_dq      = r->turned_djacobian_dq;
    rows_frame_sensitivity(k, &t->scene, t->rows, io);
}

void results_evaluate(const dyn_kernels *k, const trial *t, const results *r)
{
    evaluate_forces(k, t, r);
    evaluate_driven(k, t, r);
    evaluate_derivatives(k, t, r);
    evaluate_series(k, t, r);
    evaluate_gradients(k, t, r);
    evaluate_rates(k, t, r);
    evaluate_products(k, t, r);
    evaluate_hessians(k, t, r);
    results_evaluate_steps(k, t, r);
    evaluate_closure(k, t, r);
    evaluate_matrices(k, t, r);
    evaluate_reference(k, t, r);
    evaluate_motions(k, t, r);
    evaluate_frames(k, t, r);
}
