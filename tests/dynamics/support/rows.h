/* rows.h - calls a kernel on plain rows of states: one state after another in every array, no blocks, no lanes.
 *
 * The structs are those of dynamics.h, with the same meaning of NULL. The functions copy the rows into blocks of the
 * target's width; unused lanes get copies of the last state. They set results and workspace to NaN first and check the
 * memory behind these afterwards, so that a test notices a missing result, or a byte written beyond the end. */
#pragma once
#include "dynamics/centroidal.h"
#include "dynamics/energy_regressor.h"
#include "dynamics/directional.h"
#include "dynamics/frame_sensitivity.h"
#include "dynamics/friction_gradient.h"
#include "dynamics/gradient.h"
#include "dynamics/hessian.h"
#include "dynamics/hessian_product.h"
#include "dynamics/step.h"
#include "dynamics/torque_series.h"

void rows_inverse_dynamics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_inverse_dynamics io);
void rows_forward_dynamics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_dynamics io);
void rows_mass_matrix(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_mass_matrix io);
void rows_bias(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_bias io);
void rows_kinematics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_kinematics io);
void rows_torque_derivative(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_torque_derivative io);
void rows_energy(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_energy io);
void rows_energy_regressor(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_energy_regressor io);
void rows_centroidal(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_centroidal io);
void rows_sensitivity(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_sensitivity io);
void rows_sensitivity_rate(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_sensitivity_rate io);
void rows_forward_sensitivity(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_sensitivity io);
void rows_hessian(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_hessian io);
/* Calls the kernel, with an io.work that the function allocates. */
void rows_forward_hessian(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_hessian io);
/* Calls the kernel, with an io.work that the function allocates. */
void rows_torque_series(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_torque_series io);
/* Returns the number of doubles per state of io.work, which rows_step allocates. */
size_t step_work(const dyn_scene *scene, const dyn_step *io);
void   rows_step(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step io);
void   rows_coriolis(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_coriolis io);
void   rows_reference_dynamics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_reference_dynamics io);
void   rows_regressor(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_regressor io);
void   rows_closure(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_closure io);
void   rows_frame_sensitivity(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_frame_sensitivity io);
void   rows_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_gradient io);
void   rows_forward_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_gradient io);
void   rows_directional(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_directional io);
void   rows_forward_directional(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_directional io);
void   rows_friction_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_friction_gradient io);
void   rows_hessian_product(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_hessian_product io);
void   rows_forward_hessian_product(const dyn_kernels *k, const dyn_scene *scene, size_t rows,
                                    dyn_forward_hessian_product io);
/* Calls the kernel, with an io.work that the function allocates. */
void rows_step_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step_gradient io);
void rows_step_directional(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step_directional io);
void rows_step_hessian_product(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step_hessian_product io);
