/* step_results.c - evaluates the kernels of one step of integration for a trial (results.h). */
#include "results.h"
#include <stdlib.h>

/* Evaluates steps of two methods; the duration is short enough for Newton's method in every state. */
static void evaluate_matrices(const dyn_kernels *k, const trial *t, const results *r)
{
    dyn_step io = {.q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .method = DYN_RK4, .h = 1e-4};
    if (t->nv > RESULTS_FEW_COORDINATES) return;
    io.q_after      = r->rk4_q;
    io.qd_after     = r->rk4_qd;
    io.state_matrix = r->rk4_A;
    io.input_matrix = r->rk4_B;
    rows_step(k, &t->scene, t->rows, io);
    io.method       = DYN_IMPLICIT_EULER;
    io.q_after      = r->implicit_q;
    io.qd_after     = r->implicit_qd;
    io.state_matrix = r->implicit_A;
    io.input_matrix = r->implicit_B;
    rows_step(k, &t->scene, t->rows, io);
}

/* Evaluates the gradient of a step, with the random numbers of qdd and qddd as multipliers of q+ and qd+. */
static void evaluate_gradient(const dyn_kernels *k, const trial *t, const results *r)
{
    double *unsolved = trial_array(t, 1);
    rows_step_gradient(k, &t->scene, t->rows,
                       (dyn_step_gradient){.q              = t->q,
                                           .qd             = t->qd,
                                           .tau            = t->tau,
                                           .wrenches       = t->wrenches,
                                           .multipliers_q  = t->qdd,
                                           .multipliers_qd = t->qddd,
                                           .method         = DYN_RK4,
                                           .h              = 1e-3,
                                           .gradient_q     = r->rk4_gradient_q,
                                           .gradient_qd    = r->rk4_gradient_qd,
                                           .gradient_tau   = r->rk4_gradient_tau,
                                           .singular       = r->pivot_beside_gradient,
                                           .unsolved       = unsolved});
    free(unsolved);
}

/* Evaluates rates of the state after a step along one direction. */
static void evaluate_rates(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_step_directional(k, &t->scene, t->rows,
                          (dyn_step_directional){.q             = t->q,
                                                 .qd            = t->qd,
                                                 .tau           = t->tau,
                                                 .wrenches      = t->wrenches,
                                                 .method        = DYN_RK4,
                                                 .h             = 1e-3,
                                                 .n             = 1,
                                                 .direction_q   = t->qddd,
                                                 .direction_qd  = t->qdd,
                                                 .direction_tau = t->tau,
                                                 .rates_q       = r->rk4_rates_q,
                                                 .rates_qd      = r->rk4_rates_qd,
                                                 .singular      = r->pivot_beside_step_rates});
}

/* Evaluates rates of the gradient of a step along one direction. The rates of the multipliers are qdd and tau. */
static void evaluate_products(const dyn_kernels *k, const trial *t, const results *r)
{
    double *unsolved = trial_array(t, 1), *pivot = trial_array(t, 1);
    double *gradient[] = {trial_array(t, t->nv), trial_array(t, t->nv), trial_array(t, t->nv)};
    rows_step_hessian_product(k, &t->scene, t->rows,
                              (dyn_step_hessian_product){.gradient            = {.q              = t->q,
                                                                                 .qd             = t->qd,
                                                                                 .tau            = t->tau,
                                                                                 .wrenches       = t->wrenches,
                                                                                 .multipliers_q  = t->qdd,
                                                                                 .multipliers_qd = t->qddd,
                                                                                 .method         = DYN_RK4,
                                                                                 .h              = 1e-3,
                                                                                 .gradient_q     = gradient[0],
                                                                                 .gradient_qd    = gradient[1],
                                                                                 .gradient_tau   = gradient[2],
                                                                                 .singular       = pivot,
                                                                                 .unsolved       = unsolved},
                                                         .n                   = 1,
                                                         .direction_q         = t->tau,
                                                         .direction_qd        = t->qdd,
                                                         .direction_tau       = t->qddd,
                                                         .multiplier_rates_q  = t->qdd,
                                                         .multiplier_rates_qd = t->tau,
                                                         .product_q           = r->rk4_product_q,
                                                         .product_qd          = r->rk4_product_qd,
                                                         .product_tau         = r->rk4_product_tau});
    for (int i = 0; i < 3; i++)
        free(gradient[i]);
    free(unsolved), free(pivot);
}

void results_evaluate_steps(const dyn_kernels *k, const trial *t, const results *r)
{
    evaluate_matrices(k, t, r);
    evaluate_gradient(k, t, r);
    evaluate_rates(k, t, r);
    evaluate_products(k, t, r);
}
