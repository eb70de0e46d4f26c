/* results.h - declares the results of all kernels for the states of a trial. */
#pragma once
#include "rows.h"
#include "trial.h"

/* All results as X(name, entries per state) for a trial t, with n = nv, b = bodies, w = wrenches. */
/* clang-format off */
#define RESULTS(X)                                                                               \
    X(tau, n) X(joint_wrenches, 6 * b)                                                           \
    X(tau_beside_rate, n) X(tau_dot, n) X(wrenches_beside_rate, 6 * b) X(wrench_rates, 6 * b)    \
    X(tau_series, 4 * n)                                                                         \
    X(dtau_dq, n * n) X(dtau_dqd, n * n) X(dtau_dqdd, n * n)                                     \
    X(dwrenches_dq, 6 * b * n) X(dwrenches_dqd, 6 * b * n) X(dwrenches_dqdd, 6 * b * n)          \
    X(dtau_dwrench, 6 * w * n) X(dtau_dgravity, 3 * n)                                           \
    X(dtau_dq_dot, n * n) X(dtau_dqd_dot, n * n) X(dtau_dqdd_dot, n * n)                         \
    X(qdd_beside_derivative, n) X(pivot_beside_derivative, 1)                                    \
    X(dqdd_dq, n * n) X(dqdd_dqd, n * n) X(dqdd_dtau, n * n) X(dqdd_dwrench, 6 * w * n)          \
    X(hessian_q_q, n * n) X(hessian_q_qd, n * n) X(hessian_q_qdd, n * n) X(hessian_qd_qd, n * n) \
    X(pivot_beside_hessian, 1) X(forward_q_q, n * n) X(forward_q_qd, n * n)                      \
    X(forward_qd_qd, n * n) X(forward_q_tau, n * n)                                              \
    X(gradient_tau, n) X(gradient_q, n) X(gradient_qd, n) X(gradient_qdd, n)                     \
    X(gradient_parameters, 10 * b) X(gradient_wrenches, 6 * w) X(gradient_gravity, 3)            \
    X(pivot_beside_gradient, 1) X(qdd_beside_gradient, n) X(forward_gradient_q, n)               \
    X(forward_gradient_qd, n) X(forward_gradient_tau, n) X(rk4_gradient_q, n)                    \
    X(rk4_gradient_qd, n) X(rk4_gradient_tau, n)                                                 \
    X(rk4_rates_q, n) X(rk4_rates_qd, n) X(pivot_beside_step_rates, 1)                           \
    X(rk4_product_q, n) X(rk4_product_qd, n) X(rk4_product_tau, n)                               \
    X(rates, n) X(tau_beside_rates, n) X(forward_rates, n) X(qdd_beside_rates, n)                \
    X(pivot_beside_rates, 1)                                                                     \
    X(by_friction, 8 * t->model->n_movers)                                                       \
    X(product_q, n) X(product_qd, n) X(product_qdd, n)                                           \
    X(forward_product_q, n) X(forward_product_qd, n) X(forward_product_tau, n)                   \
    X(rates_beside_product, n) X(qdd_beside_product, n) X(pivot_beside_product, 1)               \
    X(rk4_q, t->nq) X(rk4_qd, n) X(rk4_A, 4 * n * n) X(rk4_B, 2 * n * n)                         \
    X(implicit_q, t->nq) X(implicit_qd, n) X(implicit_A, 4 * n * n) X(implicit_B, 2 * n * n)     \
    X(coriolis_matrix, n * n) X(christoffel, n * n * n)                                          \
    X(regressor, 10 * b * n) X(regressor_dot, 10 * b * n) X(joint_regressor, 3 * t->model->n_movers * n)                      \
    X(reference_tau, n)                                                                          \
    X(reference_regressor, 10 * b * n) X(reference_joint_regressor, 3 * t->model->n_movers * n)  \
    X(qdd, n) X(pivot, 1) X(qdd_beside_driven, n) X(pivot_beside_driven, 1)                      \
    X(mass_matrix, n * n) X(inverse, n * n) X(pivot_of_m, 1)                                     \
    X(bias, n) X(coriolis, n) X(gravity, n) X(friction, n)                                       \
    X(positions, 6) X(orientations, 8) X(jacobian, 6 * n) X(jacobian_dot, 6 * n)                 \
    X(velocity, 6) X(acceleration, 6) X(jerk, 6)                                                 \
    X(turned_jacobian, 6 * n) X(turned_jacobian_dot, 6 * n)                                      \
    X(turned_velocity, 6) X(turned_acceleration, 6) X(turned_jerk, 6)                            \
    X(dvelocity_dq, 12 * n) X(dacceleration_dq, 12 * n) X(dacceleration_dqd, 12 * n)             \
    X(turned_dvelocity_dq, 12 * n) X(turned_dacceleration_dq, 12 * n)                            \
    X(turned_dacceleration_dqd, 12 * n)                                                          \
    X(djacobian_dq, 12 * n * n) X(turned_djacobian_dq, 12 * n * n)                               \
    X(kinetic, 1) X(potential, 1) X(com, 3) X(com_velocity, 3) X(com_jacobian, 3 * n)            \
    X(momentum, 6) X(momentum_matrix, 6 * n) X(centroidal_inertia, 9)                            \
    X(seen_position, 3) X(seen_rotation, 9)                                                      \
    X(seen_jacobian, 6 * n) X(seen_jacobian_dot, 6 * n) X(seen_jacobian_ddot, 6 * n)
/* clang-format on */

/* Robots with more coordinates skip second and higher derivatives and steps, which take too long on emulated
 * targets. */
enum { RESULTS_FEW_COORDINATES = 10 };

typedef struct results {
#define X(name, entries) double *name;
    RESULTS(X)
#undef X
} results;

results results_allocate(const trial *t); /* allocates all arrays; results_free frees them */
void    results_free(results *r);
void    results_evaluate(const dyn_kernels *k, const trial *t, const results *r);
/* Evaluates the results of a step of integration. */
void results_evaluate_steps(const dyn_kernels *k, const trial *t, const results *r);
/* Returns the two frames for kinematics: on the base link and on the last link. */
void results_frames(const trial *t, dyn_frame frames[2]);
