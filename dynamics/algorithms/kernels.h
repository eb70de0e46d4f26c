/* kernels.h - declares the kernels of one target; private to dynamics/. */
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/math/lane.h"

/* The kernels of a table. Each has a function name_size that returns the bytes of its workspace. */
#define X(name)                                                                                                        \
    size_t LANE_NAME(name##_size)(const dyn_model *);                                                                  \
    void   LANE_NAME(name)(const dyn_scene *, void *, const struct dyn_##name *, size_t);
DYN_KERNELS(X)
DYN_STEP_KERNELS(X)
#undef X

/* Kernels of models with friction that depends on the load. A kernel of DYN_KERNELS calls its counterpart here if
 * friction depends on the load; the counterpart calls the kernel with a scene without friction. load_size returns the
 * bytes of a workspace for a kernel that needs `inner` bytes itself, and `matrices` matrices of nv x nv lanes.
 * load_gradient_size and load_hessian_product_size: the same for loaded_gradient and loaded_hessian_product. */
size_t LANE_NAME(load_size)(const dyn_model *, size_t matrices, size_t inner);
void  *LANE_NAME(load_memory)(const dyn_model *, void *memory); /* workspace of the kernel without friction */
size_t LANE_NAME(load_gradient_size)(const dyn_model *, size_t inner);
size_t LANE_NAME(load_hessian_product_size)(const dyn_model *, size_t inner);
#define X(name) void LANE_NAME(loaded_##name)(const dyn_scene *, void *, const struct dyn_##name *, size_t);
X(inverse_dynamics)
X(forward_dynamics)
X(torque_derivative)
X(sensitivity)
X(sensitivity_rate)
X(reference_dynamics)
X(regressor)
X(hessian)
X(gradient)
X(hessian_product)
#undef X

/* Copies between lanes and the rows of callers: from_rows, to_rows and the checks of dyn_kernels (dynamics.h). */
bool LANE_NAME(from_rows)(const dyn_rows *, double *, size_t, size_t);
bool LANE_NAME(to_rows)(const double *, size_t, size_t, const int *, void *, size_t);
bool LANE_NAME(bounded)(const double *, size_t, const dyn_bound *, size_t, size_t);

/* Forward dynamics of one block of a coupled model (dyn_model_is_coupled). */
size_t LANE_NAME(forward_coupled_size)(const dyn_model *);
void   LANE_NAME(forward_coupled)(const dyn_scene *, void *, const struct dyn_forward_dynamics *);

/* Computes M^-1 effort for the positions of the block for which forward_dynamics, without driven coordinates, was
 * called last with this scene and this memory: nothing else may have used the memory since then. The two arrays must
 * differ. */
void LANE_NAME(accelerate_at_rest)(const dyn_scene *, void *memory, const lane *effort, lane *qdd);
void LANE_NAME(accelerate_coupled_at_rest)(const dyn_model *, void *memory, const lane *effort, lane *qdd);

/* Variants of three kernels for one block of which forward_dynamics has already computed io->qdd, with the workspace
 * `factors`. The variants reuse the pivots in `factors`, and leave these pivots unchanged. */
#define X(name) void LANE_NAME(name##_from)(const dyn_scene *, void *memory, void *factors, const struct dyn_##name *);
X(forward_gradient)
X(forward_directional)
X(forward_hessian_product)
#undef X
