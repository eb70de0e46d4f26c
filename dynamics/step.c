/* step.c - finds the kernels of a target that integrate a step and hold frames (step.h). */
#include "step.h"
#include <string.h>

typedef struct target_step {
    const char      *target;
    dyn_step_kernel *kernel;
    dyn_held_kernel *held;
} target_step;

/* The Makefile defines DYN_TARGETS(X): X(target) for each target of this build. */
#define X(name)                                                                                                        \
    extern dyn_step_kernel dyn_step_##name;                                                                            \
    extern dyn_held_kernel dyn_held_sensitivity_##name;
DYN_TARGETS(X)
#undef X

#define X(name) {#name, dyn_step_##name, dyn_held_sensitivity_##name},
static const target_step steps[] = {DYN_TARGETS(X)};
#undef X

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
