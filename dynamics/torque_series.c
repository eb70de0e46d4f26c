/* torque_series.c - finds the kernel of a target that computes time derivatives of tau (torque_series.h). */
#include "torque_series.h"
#include <string.h>

typedef struct target_series {
    const char               *target;
    dyn_torque_series_kernel *kernel;
} target_series;

/* The Makefile defines DYN_TARGETS(X): X(target) for each target of this build. */
#define X(name) extern dyn_torque_series_kernel dyn_torque_series_##name;
DYN_TARGETS(X)
#undef X

#define X(name) {#name, dyn_torque_series_##name},
static const target_series series[] = {DYN_TARGETS(X)};
#undef X

dyn_torque_series_kernel *dyn_torque_series_kernel_of(const dyn_kernels *kernels)
{
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        if (!strcmp(series[i].target, kernels->target)) return series[i].kernel;
    return NULL;
}
