/* frame_sensitivity.c - finds the kernel of a target that differentiates the motion of frames (frame_sensitivity.h). */
#include "frame_sensitivity.h"
#include <string.h>

typedef struct target_frames {
    const char       *target;
    dyn_frame_kernel *kernel;
} target_frames;

/* The Makefile defines DYN_TARGETS(X): X(target) for each target of this build. */
#define X(name) extern dyn_frame_kernel dyn_frame_sensitivity_##name;
DYN_TARGETS(X)
#undef X

#define X(name) {#name, dyn_frame_sensitivity_##name},
static const target_frames frames[] = {DYN_TARGETS(X)};
#undef X

dyn_frame_kernel *dyn_frame_kernel_of(const dyn_kernels *kernels)
{
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if (!strcmp(frames[i].target, kernels->target)) return frames[i].kernel;
    return NULL;
}
