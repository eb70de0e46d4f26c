/* hessian.c - finds the kernels of a target that compute second derivatives (hessian.h). */
#include "hessian.h"
#include <string.h>

typedef struct target_hessian {
    const char                 *target;
    dyn_hessian_kernel         *inverse;
    dyn_forward_hessian_kernel *forward;
} target_hessian;

/* The Makefile defines HAVE_TARGET_x for each target that it compiles. */
#define X(name)                                                                                                        \
    extern dyn_hessian_kernel         dyn_hessian_##name;                                                              \
    extern dyn_forward_hessian_kernel dyn_forward_hessian_##name;
X(scalar)
X(sse2)
X(scalar_unfused)
X(sse2_unfused)
X(neon)
X(fma)
X(avx2)
X(avx512)
#undef X

static const target_hessian targets[] = {
#ifdef HAVE_TARGET_scalar
    {"scalar", dyn_hessian_scalar, dyn_forward_hessian_scalar},
#endif
#ifdef HAVE_TARGET_sse2
    {"sse2", dyn_hessian_sse2, dyn_forward_hessian_sse2},
#endif
#ifdef HAVE_TARGET_scalar_unfused
    {"scalar_unfused", dyn_hessian_scalar_unfused, dyn_forward_hessian_scalar_unfused},
#endif
#ifdef HAVE_TARGET_sse2_unfused
    {"sse2_unfused", dyn_hessian_sse2_unfused, dyn_forward_hessian_sse2_unfused},
#endif
#ifdef HAVE_TARGET_neon
    {"neon", dyn_hessian_neon, dyn_forward_hessian_neon},
#endif
#ifdef HAVE_TARGET_fma
    {"fma", dyn_hessian_fma, dyn_forward_hessian_fma},
#endif
#ifdef HAVE_TARGET_avx2
    {"avx2", dyn_hessian_avx2, dyn_forward_hessian_avx2},
#endif
#ifdef HAVE_TARGET_avx512
    {"avx512", dyn_hessian_avx512, dyn_forward_hessian_avx512},
#endif
};

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
