/* hessian.c - finds the kernels of a target that compute second derivatives (hessian.h). */
#include "hessian.h"
#include <string.h>

typedef struct target_hessian {
    const char                 *target;
    dyn_hessian_kernel         *inverse;
    dyn_forward_hessian_kernel *forward;
} target_hessian;

/* The Makefile defines DYN_TARGETS(X): X(target) for each target of this build. */
#define X(name)                                                                                                        \
    extern dyn_hessian_kernel         dyn_hessian_##name;                                                              \
    extern dyn_forward_hessian_kernel dyn_forward_hessian_##name;
DYN_TARGETS(X)
#undef X

#define X(name) {#name, dyn_hessian_##name, dyn_forward_hessian_##name},
static const target_hessian targets[] = {DYN_TARGETS(X)};
#undef X

static const target_hessian *hessian_of(const dyn_kernels *kernels)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].target, kernels->target)) return &targets[i];
    return NULL;
}

dyn_hessian_kernel *dyn_hessian_kernel_of(const dyn_kernels *kernels)
{
    const target_hessian *found = hessian_of(kernels);
    return found ? found->inverse : NULL;
}

dyn_forward_hessian_kernel *dyn_forward_hessian_kernel_of(const dyn_kernels *kernels)
{
    const target_hessian *found = hessian_of(kernels);
    return found ? found->forward : NULL;
}
