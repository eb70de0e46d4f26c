/* frame_sensitivity.c - finds the kernel of a target that differentiates the motion of frames (frame_sensitivity.h). */
#include "frame_sensitivity.h"
#include <string.h>

typedef struct target_frames {
    const char       *target;
    dyn_frame_kernel *kernel;
} target_frames;

/* The Makefile defines HAVE_TARGET_x for each target that it compiles. */
#define X(name) extern dyn_frame_kernel dyn_frame_sensitivity_##name;
X(scalar)
X(sse2)
X(scalar_unfused)
X(sse2_unfused)
X(neon)
X(fma)
X(avx2)
X(avx512)
#undef X

static const target_frames frames[] = {
#ifdef HAVE_TARGET_scalar
    {"scalar", dyn_frame_sensitivity_scalar},
#endif
#ifdef HAVE_TARGET_sse2
    {"sse2", dyn_frame_sensitivity_sse2},
#endif
#ifdef HAVE_TARGET_scalar_unfused
    {"scalar_unfused", dyn_frame_sensitivity_scalar_unfused},
#endif
#ifdef HAVE_TARGET_sse2_unfused
    {"sse2_unfused", dyn_frame_sensitivity_sse2_unfused},
#endif
#ifdef HAVE_TARGET_neon
    {"neon", dyn_frame_sensitivity_neon},
#endif
#ifdef HAVE_TARGET_fma
    {"fma", dyn_frame_sensitivity_fma},
#endif
#ifdef HAVE_TARGET_avx2
    {"avx2", dyn_frame_sensitivity_avx2},
#endif
#ifdef HAVE_TARGET_avx512
    {"avx512", dyn_frame_sensitivity_avx512},
#endif
};

dyn_frame_kernel *dyn_frame_kernel_of(const dyn_kernels *kernels)
{
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if (!strcmp(frames[i].target, kernels->target)) return frames[i].kernel;
    return NULL;
}
