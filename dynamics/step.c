/* step.c - finds the kernels of a target that integrate a step and hold frames (step.h). */
#include "step.h"
#include <string.h>

typedef struct target_step {
    const char      *target;
    dyn_step_kernel *kernel;
    dyn_held_kernel *held;
} target_step;

/* The Makefile defines HAVE_TARGET_x for each target that it compiles. */
#define X(name)                                                                                                        \
    extern dyn_step_kernel dyn_step_##name;                                                                            \
    extern dyn_held_kernel dyn_held_sensitivity_##name;
X(scalar)
X(sse2)
X(scalar_unfused)
X(sse2_unfused)
X(neon)
X(fma)
X(avx2)
X(avx512)
#undef X

static const target_step steps[] = {
#ifdef HAVE_TARGET_scalar
    {"scalar", dyn_step_scalar, dyn_held_sensitivity_scalar},
#endif
#ifdef HAVE_TARGET_sse2
    {"sse2", dyn_step_sse2, dyn_held_sensitivity_sse2},
#endif
#ifdef HAVE_TARGET_scalar_unfused
    {"scalar_unfused", dyn_step_scalar_unfused, dyn_held_sensitivity_scalar_unfused},
#endif
#ifdef HAVE_TARGET_sse2_unfused
    {"sse2_unfused", dyn_step_sse2_unfused, dyn_held_sensitivity_sse2_unfused},
#endif
#ifdef HAVE_TARGET_neon
    {"neon", dyn_step_neon, dyn_held_sensitivity_neon},
#endif
#ifdef HAVE_TARGET_fma
    {"fma", dyn_step_fma, dyn_held_sensitivity_fma},
#endif
#ifdef HAVE_TARGET_avx2
    {"avx2", dyn_step_avx2, dyn_held_sensitivity_avx2},
#endif
#ifdef HAVE_TARGET_avx512
    {"avx512", dyn_step_avx512, dyn_held_sensitivity_avx512},
#endif
};

static const target_step *step_of(const dyn_kernels *kernels)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(steps[i].target, kernels->target)) return &steps[i];
    return NULL;
}

dyn_step_kernel *dyn_step_kernel_of(const dyn_kernels *kernels)
{
    const target_step *found = step_of(kernels);
    return found ? found->kernel : NULL;
}

dyn_held_kernel *dyn_held_kernel_of(const dyn_kernels *kernels)
{
    const target_step *found = step_of(kernels);
    return found ? found->held : NULL;
}
